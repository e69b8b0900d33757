//! Which blocks of a protected range are encrypted.

/// A `crypt:skip` pattern of 16-byte blocks (ISO/IEC 23001-7, 9.6.1): `crypt` blocks encrypted, `skip`
/// blocks clear, repeated from the start of the range.
///
/// - Bytes after the last whole block stay clear.
/// - A last run of fewer than `crypt` whole blocks stays clear, as the standard says and FFmpeg and
///   mp4ff do; [`encrypt_truncated_runs`](Self::encrypt_truncated_runs) selects what Shaka Packager,
///   Bento4 and GPAC do. With `crypt` = 1 there is no difference.
/// - `crypt` = 0 or `skip` = 0 means no pattern: every whole block is encrypted, so that no run can
///   be truncated. Shaka Packager 3.8, Bento4, GPAC and mp4ff read N:0 so; FFmpeg leaves the blocks
///   behind the last multiple of `crypt` clear.
///
/// ```
/// use lanelock::Pattern;
///
/// assert_eq!(Pattern::new(1, 9).encrypted_blocks(25), 3); // blocks 0, 10 and 20
/// assert_eq!(Pattern::new(5, 5).encrypted_blocks(23), 10); // the run at 20 is cut short
/// assert_eq!(Pattern::new(5, 5).encrypt_truncated_runs().encrypted_blocks(23), 13);
/// assert_eq!(Pattern::ALL.encrypted_blocks(25), 25);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    run: u16,
    period: u16,
    truncated: bool,
}

impl Pattern {
    /// No pattern: every whole block.
    pub const ALL: Self = Self { run: 1, period: 1, truncated: false };

    /// `crypt` blocks encrypted, `skip` blocks clear.
    pub const fn new(crypt: u8, skip: u8) -> Self {
        if crypt == 0 || skip == 0 {
            return Self::ALL;
        }
        let run = crypt as u16;
        Self { run, period: run + skip as u16, truncated: false }
    }

    /// Encrypts the whole blocks of a last run that is shorter than `crypt`.
    #[must_use]
    pub const fn encrypt_truncated_runs(self) -> Self {
        Self { truncated: true, ..self }
    }

    /// How many of the first `blocks` whole blocks of a range are encrypted.
    #[must_use]
    pub fn encrypted_blocks(self, blocks: usize) -> usize {
        self.runs(blocks) * self.run() + self.truncated_run(blocks).1
    }

    /// Blocks encrypted in a row.
    pub(crate) fn run(self) -> usize {
        self.run.into()
    }

    /// Blocks from the start of one run to the start of the next.
    pub(crate) fn period(self) -> usize {
        self.period.into()
    }

    /// Complete runs in `blocks` whole blocks.
    pub(crate) fn runs(self, blocks: usize) -> usize {
        if self.period == 1 {
            return blocks;
        }
        // A last run is complete even if the clear blocks behind it are cut short.
        let runs = blocks + usize::from(self.period - self.run);
        match u32::try_from(runs) {
            // The shorter division takes half the time.
            Ok(runs) => (runs / u32::from(self.period)) as usize,
            Err(_) => runs / self.period(),
        }
    }

    /// The place of encrypted block number `n`, and how many whole blocks there have to be for it to be encrypted.
    pub(crate) fn nth(self, n: usize) -> (usize, usize) {
        let (start, inside) = (n / self.run() * self.period(), n % self.run());
        (start + inside, start + if self.truncated { inside + 1 } else { self.run() })
    }

    /// The blocks of the truncated run at the end of `blocks` whole blocks that this pattern
    /// encrypts, as (first, count).
    pub(crate) fn truncated_run(self, blocks: usize) -> (usize, usize) {
        if !self.truncated {
            return (blocks, 0); // before a division, which costs as much as ten AES rounds
        }
        let first = (self.runs(blocks) * self.period()).min(blocks);
        (first, blocks - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks encrypted, by walking the pattern as the standard describes it; without `skip`
    /// there is no pattern.
    fn walk(crypt: usize, skip: usize, blocks: usize, truncated: bool) -> Vec<usize> {
        if skip == 0 {
            return (0..blocks).collect();
        }
        let mut at = 0;
        let mut encrypted = Vec::new();
        while at < blocks {
            let run = crypt.min(blocks - at);
            if run == crypt || truncated {
                encrypted.extend(at..at + run);
            }
            at += crypt + skip;
        }
        encrypted
    }

    #[test]
    fn runs_are_those_of_the_walk() {
        for crypt in 1..=15_u8 {
            for skip in 0..=15_u8 {
                for blocks in 0..70 {
                    let pattern = Pattern::new(crypt, skip).encrypt_truncated_runs();
                    let mut mine: Vec<usize> = (0..pattern.runs(blocks))
                        .flat_map(|u| (0..pattern.run()).map(move |k| u * pattern.period() + k))
                        .collect();
                    assert_eq!(mine, walk(crypt.into(), skip.into(), blocks, false));
                    let (first, count) = pattern.truncated_run(blocks);
                    mine.extend(first..first + count);
                    assert_eq!(mine, walk(crypt.into(), skip.into(), blocks, true));
                    assert_eq!(pattern.encrypted_blocks(blocks), mine.len());
                    let whole = Pattern::new(crypt, skip);
                    for (pattern, truncated) in [(whole, false), (pattern, true)] {
                        let all = (0..).map(|n| pattern.nth(n));
                        let there = all.take_while(|(_, least)| *least <= blocks);
                        let mine: Vec<_> = there.map(|(at, _)| at).collect();
                        assert_eq!(mine, walk(crypt.into(), skip.into(), blocks, truncated));
                    }
                }
            }
        }
        assert_eq!(Pattern::new(0, 0), Pattern::ALL);
        assert_eq!(Pattern::new(0, 9), Pattern::ALL);
        assert_eq!(Pattern::new(10, 0), Pattern::ALL);
    }
}
