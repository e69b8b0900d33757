//! Which bytes of a protected range are encrypted.

use std::ops::Range;

use lanelock_cenc::Scheme;

/// Bytes of a block of AES.
pub(super) const BLOCK: usize = 16;

/// Which bytes of a protected range are encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CryptRuns {
    /// A last, partial block is encrypted too.
    partial: bool,
    /// Bytes of a run, and from one run to the next; both 0 without pattern.
    run: usize,
    step: usize,
}

impl CryptRuns {
    pub(crate) fn new(scheme: Scheme, crypt_blocks: u8, skip_blocks: u8) -> Self {
        let (crypt, skip) = (usize::from(crypt_blocks), usize::from(skip_blocks));
        let pattern = scheme.has_pattern() && crypt > 0 && skip > 0;
        let (run, step) = if pattern { (BLOCK * crypt, BLOCK * (crypt + skip)) } else { (0, 0) };
        Self { partial: scheme == Scheme::Cenc, run, step }
    }

    /// The encrypted runs of a range of `len` bytes. A last run that is cut short is left out:
    /// whether it is encrypted depends on who did it.
    pub(super) fn of(self, len: usize) -> impl Iterator<Item = Range<usize>> {
        let whole = self.whole(len);
        let (step, run) =
            if self.step == 0 { (whole.max(1), whole) } else { (self.step, self.run) };
        (0..whole).step_by(step).map(move |at| at..at + run).filter(move |run| run.end <= whole)
    }

    /// Encrypted bytes of a range.
    pub(crate) fn bytes(self, len: usize) -> usize {
        match self.whole(len) {
            whole if self.step == 0 => whole,
            whole => {
                whole / self.step * self.run + self.run * usize::from(whole % self.step >= self.run)
            }
        }
    }

    /// The last block that is encrypted in a range: 16 bytes, or what there is.
    pub(super) fn last_block(self, len: usize) -> Range<usize> {
        let end = match self.whole(len) {
            whole if self.step == 0 => whole,
            whole if whole % self.step >= self.run => whole / self.step * self.step + self.run,
            whole => (whole / self.step * self.step).saturating_sub(self.step - self.run),
        };
        end.saturating_sub(BLOCK)..end
    }

    /// Whether the first byte of a range is encrypted.
    pub(crate) fn covers_first(self, len: usize) -> bool {
        self.bytes(len) > 0
    }

    /// Whether the last byte of a range is encrypted.
    pub(crate) fn covers_last(self, len: usize) -> bool {
        let whole = self.whole(len);
        whole == len && len > 0 && (self.step == 0 || whole % self.step == self.run)
    }

    /// Bytes that the pattern counts.
    fn whole(self, len: usize) -> usize {
        if self.partial { len } else { len / BLOCK * BLOCK }
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "runs")]
mod tests {
    use super::*;

    #[test]
    fn runs() {
        let of = |runs: CryptRuns, len| runs.of(len).collect::<Vec<_>>();
        let pattern = CryptRuns::new(Scheme::Cbcs, 1, 9);
        assert_eq!(of(pattern, 350), [0..16, 160..176, 320..336]);
        assert_eq!(of(pattern, 335), [0..16, 160..176]);
        assert!(pattern.covers_last(176) && !pattern.covers_last(192) && !pattern.covers_last(177));
        let all = CryptRuns::new(Scheme::Cbcs, 0, 0);
        assert_eq!(of(all, 35), [0..32]);
        assert!(all.covers_last(32) && !all.covers_last(35) && !all.covers_first(15));
        let cenc = CryptRuns::new(Scheme::Cenc, 0, 0);
        assert_eq!(of(cenc, 35), [0..35]);
        assert!(cenc.covers_last(35) && cenc.covers_first(1) && !cenc.covers_first(0));
        let short = CryptRuns::new(Scheme::Cens, 3, 2);
        assert_eq!(of(short, 16 * 7), [0..48]);
        // Without clear blocks there is no pattern, and nothing to cut short.
        assert_eq!(CryptRuns::new(Scheme::Cbcs, 10, 0), all);
        for runs in [pattern, all, cenc, short] {
            for len in 0..700 {
                let bytes: usize = runs.of(len).map(|run| run.len()).sum();
                assert_eq!(runs.bytes(len), bytes, "{runs:?} {len}");
                let end = runs.of(len).last().map_or(0, |run| run.end);
                let block = runs.last_block(len);
                assert_eq!(block, end.saturating_sub(BLOCK)..end, "{runs:?} {len}");
                let last = end == len;
                assert_eq!(runs.covers_last(len), last && len > 0, "{runs:?} {len}");
            }
        }
    }
}
