//! From runs to `senc` entries (ISO/IEC 23001-7 clause 7.2): clear runs join the next entry, clear
//! runs of more than 65535 bytes are split, a trailing clear run gets an entry of its own.

use super::{Alignment, Subsample};

const BLOCK: u32 = 16;

/// Collects the runs of one access unit, in order, and appends the entries they make.
#[derive(Debug)]
pub struct Runs<'a> {
    alignment: Alignment,
    out: &'a mut Vec<Subsample>,
    start: usize,
    /// Clear bytes that no entry holds yet.
    clear: usize,
}

impl<'a> Runs<'a> {
    /// Collects into `out`, behind what is there.
    pub const fn new(alignment: Alignment, out: &'a mut Vec<Subsample>) -> Self {
        let start = out.len();
        Self { alignment, out, start, clear: 0 }
    }

    /// The next `bytes` bytes are clear.
    pub const fn clear(&mut self, bytes: usize) {
        self.clear += bytes;
    }

    /// The next `bytes` bytes are the data of one slice or tile, to be protected as far as the
    /// alignment lets them.
    pub fn protect(&mut self, bytes: u32) {
        let lead = match self.alignment {
            Alignment::Exact => 0,
            Alignment::Blocks => bytes % BLOCK,
        };
        self.clear(lead as usize);
        if bytes > lead {
            self.push(bytes - lead);
        }
    }

    /// The next `bytes` bytes are data of which whole blocks alone are protected: the first ones
    /// (`cbcs`), or the last ones.
    pub(super) fn protect_blocks(&mut self, bytes: u32) {
        match self.alignment {
            Alignment::Exact => {
                let rest = bytes % BLOCK;
                if bytes > rest {
                    self.protect(bytes - rest);
                }
                self.clear(rest as usize);
            }
            Alignment::Blocks => self.protect(bytes),
        }
    }

    /// A NAL unit of `length` bytes behind a length field of `lead` bytes: `clear` bytes of it are
    /// clear, the rest is slice data.
    pub(super) fn nal(&mut self, lead: usize, length: u32, clear: usize) {
        self.clear(lead + clear);
        let clear = u32::try_from(clear).expect("no more than `length`");
        self.protect(length - clear);
    }

    /// Ends the unit and returns the number of its entries.
    pub fn finish(mut self) -> usize {
        if self.clear > 0 {
            self.push(0);
        }
        self.out.len() - self.start
    }

    fn push(&mut self, protected: u32) {
        let clear = loop {
            if let Ok(clear) = u16::try_from(self.clear) {
                break clear;
            }
            self.out.push(Subsample { clear: u16::MAX, protected: 0 });
            self.clear -= usize::from(u16::MAX);
        };
        self.out.push(Subsample { clear, protected });
        self.clear = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(alignment: Alignment, runs: &[(usize, u32)]) -> Vec<(u16, u32)> {
        let mut out = vec![Subsample::default()];
        let mut r = Runs::new(alignment, &mut out);
        for &(clear, protected) in runs {
            r.clear(clear);
            r.protect(protected);
        }
        assert_eq!(r.finish(), out.len() - 1);
        out[1..].iter().map(|s| (s.clear, s.protected)).collect()
    }

    #[test]
    fn exact() {
        let e = |r| entries(Alignment::Exact, r);
        assert_eq!(e(&[]), []);
        assert_eq!(e(&[(0, 5)]), [(0, 5)]);
        assert_eq!(e(&[(10, 0), (7, 3), (4, 0), (1, 0)]), [(17, 3), (5, 0)]);
        assert_eq!(e(&[(65_535, 1)]), [(65_535, 1)]);
        assert_eq!(e(&[(65_536, 1)]), [(65_535, 0), (1, 1)]);
        assert_eq!(e(&[(131_070, 0)]), [(65_535, 0), (65_535, 0)]);
        assert_eq!(e(&[(70_000, 0), (70_000, 9)]), [(65_535, 0), (65_535, 0), (8_930, 9)]);
    }

    #[test]
    fn blocks() {
        let e = |r| entries(Alignment::Blocks, r);
        assert_eq!(e(&[(5, 15), (5, 16)]), [(25, 16)]);
        assert_eq!(e(&[(5, 47), (6, 3)]), [(20, 32), (9, 0)]);
        assert_eq!(e(&[(65_530, 31)]), [(65_535, 0), (10, 16)]);
    }
}
