//! Encrypting and decrypting the protected ranges of access units, in place.
//!
//! Rules of ISO/IEC 23001-7, clause 10:
//!
//! | | state at the start of an access unit | between its subsamples | the last, partial block |
//! |---|---|---|---|
//! | `cenc` | counter block = IV | key stream goes on | encrypted |
//! | `cens` | counter block = IV | counter goes on, pattern restarts | clear |
//! | `cbc1` | chain starts with the IV | chain goes on | clear |
//! | `cbcs` | chain starts with the IV | chain and pattern restart | clear |
//!
//! Only the low 64 bits of a counter block count; they wrap without carry (9.3). An access unit, which
//! fits the memory, has fewer blocks than they have values.

use core::ops::Range;

use lanelock_core::{
    Aes128, CounterBits, CtrStream, Pattern,
    lanes::{self, Job},
};
use thiserror::Error;

use crate::{Scheme, map::Subsample};

/// A key with the scheme and the pattern it is used in. The [crate documentation](crate) has an example.
#[derive(Debug)]
pub struct Cipher {
    scheme: Scheme,
    pattern: Pattern,
    key: Aes128,
}

impl Cipher {
    /// `scheme` under `key`, without pattern: every whole block.
    pub fn new(scheme: Scheme, key: Aes128) -> Self {
        Self { scheme, pattern: Pattern::ALL, key }
    }

    /// Sets the pattern `crypt`:`skip` in blocks; where either is 0 there is none, and every whole
    /// block is encrypted. Schemes without a pattern ignore it.
    #[must_use]
    pub fn with_pattern(mut self, crypt: u8, skip: u8) -> Self {
        self.pattern = Pattern::new(crypt, skip);
        self
    }

    /// Encrypts the whole blocks of a last crypt run that is cut short, as Shaka Packager 3.8,
    /// Bento4 and GPAC do. Without it they stay clear, as clause 9.6.1 says and FFmpeg and mp4ff do. For
    /// 1:9, for N:0, and without pattern, there is no difference.
    #[must_use]
    pub fn encrypt_truncated_runs(mut self) -> Self {
        self.pattern = self.pattern.encrypt_truncated_runs();
        self
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}

/// How many of the `protected` bytes of one protected range become ciphertext; the others stay
/// clear: skipped blocks, a partial last block, a truncated crypt run.
///
/// ```
/// use lanelock_core::Pattern;
/// use lanelock_cenc::{Scheme, ciphertext_bytes};
///
/// assert_eq!(ciphertext_bytes(Scheme::Cenc, Pattern::ALL, 1000), 1000);
/// assert_eq!(ciphertext_bytes(Scheme::Cbc1, Pattern::ALL, 1000), 992); // whole blocks
/// assert_eq!(ciphertext_bytes(Scheme::Cbcs, Pattern::new(1, 9), 1000), 7 * 16);
/// ```
#[must_use]
pub fn ciphertext_bytes(scheme: Scheme, pattern: Pattern, protected: u32) -> u32 {
    let pattern = if scheme.has_pattern() { pattern } else { Pattern::ALL };
    if scheme == Scheme::Cenc {
        return protected;
    }
    let blocks = pattern.encrypted_blocks(protected as usize / 16);
    u32::try_from(blocks * 16).unwrap_or(protected) // never more than `protected`
}

/// An access unit in a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessUnit {
    /// Its bytes in the buffer.
    pub range: Range<usize>,
    /// Its subsamples, in the list that goes with the buffer; none means that the whole unit is
    /// protected.
    pub subsamples: Range<usize>,
    /// The IV; one of 8 bytes in the first half, zeros in the second.
    pub iv: [u8; 16],
    /// Its cipher, in the list that goes with the buffer.
    pub cipher: usize,
}

/// Why the units of a buffer could not be encrypted or decrypted. Nothing was changed then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// An access unit ends behind the buffer.
    #[error("access unit {unit} of the buffer ends behind it")]
    OutOfBuffer {
        /// Its number, from 0.
        unit: usize,
    },
    /// Two access units share bytes: encrypting one would change the other.
    #[error("access unit {unit} of the buffer shares bytes with another one")]
    Overlap {
        /// The number of the later one, from 0.
        unit: usize,
    },
    /// The subsamples of a unit do not add up to its length.
    #[error("the subsamples of access unit {unit} cover {covered} of its {length} bytes")]
    SubsampleSum {
        /// Its number, from 0.
        unit: usize,
        /// The sum.
        covered: u64,
        /// The length of the unit.
        length: usize,
    },
    /// A protected range of `cbc1` with subsamples is not whole blocks.
    #[error("a protected range of access unit {unit} has {length} bytes, not whole blocks of 16")]
    PartialBlock {
        /// Its number, from 0.
        unit: usize,
        /// The length of the range.
        length: u32,
    },
    /// A cipher or subsample that is not in its list.
    #[error("access unit {unit} names a cipher or subsamples that do not exist")]
    UnknownReference {
        /// Its number, from 0.
        unit: usize,
    },
}

/// Encrypts the protected ranges of `units` in `buffer`.
pub fn encrypt(
    buffer: &mut [u8],
    units: &[AccessUnit],
    subsamples: &[Subsample],
    ciphers: &[Cipher],
) -> Result<(), ApplyError> {
    let mut ranges = split(buffer, units, subsamples, ciphers)?;
    // Serial chains first become jobs; a second range of a `cbc1` unit goes on with the state that
    // the first one leaves, so it waits for the next wave.
    let mut wave = 0;
    loop {
        let mut jobs = Vec::new();
        let mut owners = Vec::new();
        for (owner, range) in ranges.iter_mut().enumerate() {
            let cipher = &ciphers[range.cipher];
            let number = if cipher.scheme == Scheme::Cbc1 { range.number } else { 0 };
            if !cipher.scheme.is_ctr() && number == wave {
                let pattern =
                    if cipher.scheme == Scheme::Cbc1 { Pattern::ALL } else { cipher.pattern };
                jobs.push(Job::new(&cipher.key, range.iv, pattern, &mut *range.data));
                owners.push(owner);
            }
        }
        if jobs.is_empty() {
            break;
        }
        lanes::encrypt(&mut jobs);
        let ivs: Vec<_> = jobs.into_iter().map(|job| job.iv).collect();
        for (owner, iv) in owners.into_iter().zip(ivs) {
            let unit = ranges[owner].unit;
            if let Some(next) = ranges.get_mut(owner + 1)
                && next.unit == unit
                && ciphers[next.cipher].scheme == Scheme::Cbc1
            {
                next.iv = iv;
            }
        }
        wave += 1;
    }
    apply_counters(&mut ranges, ciphers);
    Ok(())
}

/// Decrypts the protected ranges of `units` in `buffer`.
pub fn decrypt(
    buffer: &mut [u8],
    units: &[AccessUnit],
    subsamples: &[Subsample],
    ciphers: &[Cipher],
) -> Result<(), ApplyError> {
    let mut ranges = split(buffer, units, subsamples, ciphers)?;
    let mut chain = (usize::MAX, [0; 16]);
    for range in &mut ranges {
        let Cipher { scheme, pattern, key } = &ciphers[range.cipher];
        match scheme {
            Scheme::Cbcs => key.cbcs_decrypt(&mut range.iv, *pattern, range.data),
            Scheme::Cbc1 => {
                let mut iv = if chain.0 == range.unit { chain.1 } else { range.iv };
                key.cbcs_decrypt(&mut iv, Pattern::ALL, range.data);
                chain = (range.unit, iv);
            }
            Scheme::Cenc | Scheme::Cens => {}
        }
    }
    apply_counters(&mut ranges, ciphers);
    Ok(())
}

/// A protected range.
struct ProtectedRange<'b> {
    data: &'b mut [u8],
    iv: [u8; 16],
    cipher: usize,
    unit: usize,
    /// Its number among the protected ranges of its unit.
    number: usize,
}

/// Cuts the protected ranges out of the buffer, those of a unit side by side.
fn split<'b>(
    buffer: &'b mut [u8],
    units: &[AccessUnit],
    subsamples: &[Subsample],
    ciphers: &[Cipher],
) -> Result<Vec<ProtectedRange<'b>>, ApplyError> {
    for (unit, AccessUnit { range, subsamples: list, cipher, .. }) in units.iter().enumerate() {
        if range.start > range.end || range.end > buffer.len() {
            return Err(ApplyError::OutOfBuffer { unit });
        }
        let (Some(list), Some(cipher)) = (subsamples.get(list.clone()), ciphers.get(*cipher))
        else {
            return Err(ApplyError::UnknownReference { unit });
        };
        let sum = |s: &Subsample| u64::from(s.clear) + u64::from(s.protected);
        let covered: u64 = list.iter().map(sum).sum();
        if !list.is_empty() && covered != range.len() as u64 {
            return Err(ApplyError::SubsampleSum { unit, covered, length: range.len() });
        }
        let partial = list.iter().map(|s| s.protected).find(|length| length % 16 != 0);
        if let (Scheme::Cbc1, Some(length)) = (cipher.scheme, partial) {
            return Err(ApplyError::PartialBlock { unit, length });
        }
    }
    // Units of several tracks need not come in the order of their bytes.
    let mut order: Vec<usize> = (0..units.len()).filter(|&i| !units[i].range.is_empty()).collect();
    order.sort_by_key(|&unit| units[unit].range.start);
    if let Some(pair) =
        order.windows(2).find(|pair| units[pair[1]].range.start < units[pair[0]].range.end)
    {
        return Err(ApplyError::Overlap { unit: pair[1] });
    }
    let mut ranges = Vec::with_capacity(subsamples.len().max(units.len()));
    let (mut rest, mut at) = (buffer, 0);
    let mut cut = |start: usize, len: usize| {
        let (_, tail) = core::mem::take(&mut rest).split_at_mut(start - at);
        let (piece, tail) = tail.split_at_mut(len);
        (rest, at) = (tail, start + len);
        piece
    };
    for unit in order {
        let AccessUnit { range, subsamples: list, iv, cipher } = &units[unit];
        let (iv, cipher) = (*iv, *cipher);
        if list.is_empty() {
            let data = cut(range.start, range.len());
            ranges.push(ProtectedRange { data, iv, cipher, unit, number: 0 });
        }
        let (mut at, mut number) = (range.start, 0);
        for Subsample { clear, protected } in &subsamples[list.clone()] {
            let (start, len) = (at + usize::from(*clear), *protected as usize);
            if len > 0 {
                let data = cut(start, len);
                ranges.push(ProtectedRange { data, iv, cipher, unit, number });
                number += 1;
            }
            at = start + len;
        }
    }
    Ok(ranges)
}

/// Applies the key streams of the CTR schemes: encryption and decryption are the same.
fn apply_counters(ranges: &mut [ProtectedRange<'_>], ciphers: &[Cipher]) {
    for unit in ranges.chunk_by_mut(|a, b| a.unit == b.unit) {
        let Cipher { scheme, pattern, key } = &ciphers[unit[0].cipher];
        let mut stream = CtrStream::new(key, CounterBits::Bits64, unit[0].iv);
        for range in unit {
            match scheme {
                Scheme::Cenc => stream.apply(range.data),
                Scheme::Cens => stream.apply_pattern(*pattern, range.data),
                Scheme::Cbc1 | Scheme::Cbcs => Ok(()),
            }
            .expect("a unit in memory has fewer blocks than a counter of 64 bits has values");
        }
    }
}
