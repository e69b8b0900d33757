//! Where the secret numbers of a key lie.

use alloc::{sync::Arc, vec, vec::Vec};
use core::{fmt, ops::Deref};

use memmap2::MmapMut;
use zeroize::{Zeroize, Zeroizing};

use crate::Error;

/// Words that are secret: wiped when dropped, on the heap or in memory that is never written to a disk.
#[derive(Clone)]
pub(crate) enum Secret {
    Heap(Zeroizing<Vec<u64>>),
    Locked(Arc<Locked>),
}

impl Secret {
    /// The words in pages of their own, which the system neither swaps out nor writes to a core dump.
    pub(crate) fn lock(&self) -> Result<Self, Error> {
        Ok(match self {
            Self::Heap(words) => Self::Locked(Arc::new(Locked::new(words)?)),
            Self::Locked(words) => Self::Locked(words.clone()),
        })
    }
}

impl From<Zeroizing<Vec<u64>>> for Secret {
    fn from(words: Zeroizing<Vec<u64>>) -> Self {
        Self::Heap(words)
    }
}

impl Deref for Secret {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        match self {
            Self::Heap(words) => words,
            Self::Locked(words) => words,
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Secret bytes, of whole words.
#[derive(Clone)]
pub(crate) struct SecretBytes<const N: usize>(Secret);

impl<const N: usize> SecretBytes<N> {
    /// These bytes.
    pub(crate) fn new(bytes: &[u8; N]) -> Self {
        const { assert!(N.is_multiple_of(8)) }
        let mut words = Zeroizing::new(vec![0; N / 8]);
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
        Self(words.into())
    }

    /// As [`Secret::lock`].
    pub(crate) fn lock(&self) -> Result<Self, Error> {
        self.0.lock().map(Self)
    }
}

impl<const N: usize> Deref for SecretBytes<N> {
    type Target = [u8; N];

    fn deref(&self) -> &[u8; N] {
        bytemuck::cast_slice(&self.0).try_into().expect("as many bytes as it began with")
    }
}

/// Words in locked pages.
pub(crate) struct Locked {
    pages: MmapMut,
    words: usize,
}

impl Locked {
    fn new(words: &[u64]) -> Result<Self, Error> {
        let mut pages = MmapMut::map_anon(8 * words.len().max(1)).map_err(Error::locked)?;
        pages.lock().map_err(Error::locked)?;
        #[cfg(target_os = "linux")]
        pages.advise(memmap2::Advice::DontDump).map_err(Error::locked)?;
        for (to, word) in pages.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        Ok(Self { pages, words: words.len() })
    }
}

impl Deref for Locked {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &bytemuck::cast_slice(&self.pages)[..self.words]
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.pages.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_words_are_the_same() {
        let words: Vec<u64> = (0..1000).collect();
        let heap = Secret::from(Zeroizing::new(words.clone()));
        let locked = heap.lock().unwrap();
        assert_eq!(&locked[..], &words[..]);
        assert_eq!(&locked.lock().unwrap()[..], &words[..]);
        assert_eq!(alloc::format!("{locked:?} {heap:?}"), "Secret Secret");
        assert!(Secret::from(Zeroizing::new(vec![])).lock().unwrap().is_empty());
    }

    /// What the kernel says of the pages: locked (`lo`), and not in a core dump (`dd`).
    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_knows() {
        let locked = Secret::from(Zeroizing::new(vec![7; 100])).lock().unwrap();
        let address = locked.as_ptr().addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        let mut flags = None;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let bound = |text| usize::from_str_radix(text, 16);
            if let Some((Ok(from), Ok(to))) = range.map(|(from, to)| (bound(from), bound(to))) {
                inside = (from..to).contains(&address);
            } else if let Some(text) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                flags = Some(text);
            }
        }
        let flags: Vec<&str> = flags.expect("a mapping").split_whitespace().collect();
        assert!(flags.contains(&"lo") && flags.contains(&"dd"), "{flags:?}");
    }
}
