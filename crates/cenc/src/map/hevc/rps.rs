//! Short-term reference picture sets (ITU-T H.265 clauses 7.3.7 and 7.4.8).

use crate::map::bits::BitReader;
use crate::map::error::Fault;

/// `st_ref_pic_set()`: the picture order differences of a set, nearest first on each side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ShortTermSet {
    negative: Side,
    positive: Side,
    /// Pictures used by the current picture.
    pub(super) used: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Side {
    deltas: [i32; MAX_PICTURES],
    len: usize,
}

impl Side {
    fn pictures(&self) -> &[i32] {
        &self.deltas[..self.len]
    }

    fn push(&mut self, delta: i32) -> Result<(), Fault> {
        *self.deltas.get_mut(self.len).ok_or(TOO_MANY)? = delta;
        self.len += 1;
        Ok(())
    }
}

impl ShortTermSet {
    /// Reads the set with index `earlier.len()`; `in_slice` when it stands in a slice header.
    pub(super) fn read(
        r: &mut BitReader<'_>,
        earlier: &[Self],
        in_slice: bool,
    ) -> Result<Self, Fault> {
        let set = if !earlier.is_empty() && r.flag()? {
            let back = if in_slice { r.ue()? } else { 0 }; // delta_idx_minus1
            let reference = usize::try_from(back)
                .ok()
                .and_then(|back| earlier.iter().rev().nth(back))
                .ok_or(Fault::Invalid("delta_idx_minus1"))?;
            Self::read_predicted(r, reference)?
        } else {
            Self::read_explicit(r)?
        };
        if set.negative.len + set.positive.len > MAX_PICTURES { Err(TOO_MANY) } else { Ok(set) }
    }

    fn read_explicit(r: &mut BitReader<'_>) -> Result<Self, Fault> {
        let mut set = Self::default();
        let negative = r.ue_max(MAX_PER_SIDE, "num_negative_pics")?;
        let positive = r.ue_max(MAX_PER_SIDE, "num_positive_pics")?;
        for (side, pictures, sign) in
            [(&mut set.negative, negative, -1), (&mut set.positive, positive, 1)]
        {
            let mut delta = 0;
            for _ in 0..pictures {
                let step = 1 + r.ue_max(MAX_DELTA, "delta_poc_minus1")?;
                delta += sign * step.cast_signed();
                side.push(delta)?;
                set.used += u8::from(r.flag()?);
            }
        }
        Ok(set)
    }

    /// Prediction from `reference`: equations 7-61 and 7-62.
    fn read_predicted(r: &mut BitReader<'_>, reference: &Self) -> Result<Self, Fault> {
        let negative_sign = r.flag()?; // delta_rps_sign
        let magnitude = 1 + r.ue_max(MAX_DELTA, "abs_delta_rps_minus1")?.cast_signed();
        let shift = if negative_sign { -magnitude } else { magnitude };

        // Flags come in the order negative, positive, reference picture itself (difference 0).
        let mut set = Self::default();
        let mut kept = [false; MAX_PICTURES + 1];
        let (before, after) = (reference.negative.pictures(), reference.positive.pictures());
        for (keep, delta) in kept.iter_mut().zip(before.iter().chain(after).chain(&[0])) {
            let used = r.flag()?;
            *keep = used || r.flag()?; // use_delta_flag
            set.used += u8::from(used && delta + shift != 0);
        }
        let moved = |(delta, &keep): (&i32, &bool)| keep.then_some(delta + shift);
        let itself = kept[before.len() + after.len()].then_some(shift);
        let (kept_before, kept_after) = kept.split_at(before.len());
        let before = before.iter().zip(kept_before).filter_map(moved);
        let after = after.iter().zip(&kept_after[..after.len()]).filter_map(moved);
        // Nearest first: pictures that crossed over come reversed, then the reference picture,
        // then those that were on this side already.
        for delta in after.clone().rev().chain(itself).chain(before.clone()) {
            if delta < 0 {
                set.negative.push(delta)?;
            }
        }
        for delta in before.rev().chain(itself).chain(after) {
            if delta > 0 {
                set.positive.push(delta)?;
            }
        }
        Ok(set)
    }
}

const TOO_MANY: Fault = Fault::Invalid("number of pictures in st_ref_pic_set");

/// `sps_max_dec_pic_buffering_minus1` is at most 15 (clause A.4.2); one spare.
const MAX_PICTURES: usize = 16;
const MAX_PER_SIDE: u32 = 16;

/// `delta_poc_s0_minus1`, `delta_poc_s1_minus1`, `abs_delta_rps_minus1`.
const MAX_DELTA: u32 = (1 << 15) - 1;
