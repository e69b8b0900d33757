//! The frames that headers depend on, and which of them a frame refers to, by their places in the order
//! of output.

use super::params::Segmentation;
use crate::map::error::Fault;

/// What headers depend on of a frame that they refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) key_frame: bool,
    /// `RefUpscaledWidth` and `RefFrameHeight`.
    pub(super) size: (u32, u32),
    pub(super) order_hint: u32,
    pub(super) segmentation: Segmentation,
}

/// The reference frames; none where the frame has not been seen.
pub(super) type Slots = [Option<Slot>; 8];

/// `get_relative_dist` (AV1, 5.9.3): how far `a` comes behind `b`.
const fn relative(a: u32, b: u32, bits: u32) -> i32 {
    let shift = u32::BITS - bits;
    (a.wrapping_sub(b) << shift).cast_signed() >> shift
}

/// How far the frame in each slot comes behind the current one.
pub(super) fn hints(slots: &Slots, current: u32, bits: u32) -> Result<[i32; 8], Fault> {
    let mut hints = [0; 8];
    for (number, (hint, slot)) in hints.iter_mut().zip(slots).enumerate() {
        let slot = slot.ok_or(Fault::NoReference(number))?;
        *hint = relative(slot.order_hint, current, bits);
    }
    Ok(hints)
}

/// The set frame refs process (AV1, 7.8): `ref_frame_idx` from two of them.
pub(super) fn frame_refs(hints: &[i32; 8], last: usize, gold: usize) -> Result<[usize; 7], Fault> {
    // Places in `ref_frame_idx`.
    const LAST2: usize = 1;
    const LAST3: usize = 2;
    const GOLDEN: usize = 3;
    const BWDREF: usize = 4;
    const ALTREF2: usize = 5;
    const ALTREF: usize = 6;
    if hints[last] >= 0 {
        return Err(Fault::Invalid("last_frame_idx"));
    }
    if hints[gold] >= 0 {
        return Err(Fault::Invalid("gold_frame_idx"));
    }
    let mut free = [true; 8];
    let mut refs = [None; 7];
    for (place, slot) in [(0, last), (GOLDEN, gold)] {
        refs[place] = Some(slot);
        free[slot] = false;
    }
    let is_backward = |slot: usize| hints[slot] >= 0;
    // Of equal hints, the search for the latest takes the last slot, that for the earliest the first.
    let latest = |free: &[bool; 8], backward: bool| {
        let slots = (0..8).filter(|&slot| free[slot] && is_backward(slot) == backward);
        slots.max_by_key(|&slot| hints[slot])
    };
    let earliest_backward = |free: &[bool; 8]| {
        let slots = (0..8).filter(|&slot| free[slot] && is_backward(slot));
        slots.min_by_key(|&slot| hints[slot])
    };
    let mut take = |place: usize, find: &dyn Fn(&[bool; 8]) -> Option<usize>| {
        if refs[place].is_none()
            && let Some(slot) = find(&free)
        {
            refs[place] = Some(slot);
            free[slot] = false;
        }
    };
    take(ALTREF, &|free| latest(free, true));
    take(BWDREF, &earliest_backward);
    take(ALTREF2, &earliest_backward);
    for place in [LAST2, LAST3, BWDREF, ALTREF2, ALTREF] {
        take(place, &|free| latest(free, false));
    }
    let earliest = (0..8).min_by_key(|&slot| hints[slot]).unwrap_or_default();
    Ok(refs.map(|slot| slot.unwrap_or(earliest)))
}

/// `skipModeAllowed` of an inter frame with compound references (AV1, 5.9.22): there is a frame in
/// front of it, and one behind it or another one in front.
pub(super) fn is_skip_mode_allowed(
    slots: &Slots,
    named: &[usize; 7],
    current: u32,
    bits: u32,
) -> Result<bool, Fault> {
    let mut hints = [0; 7];
    for (hint, &slot) in hints.iter_mut().zip(named) {
        *hint = slots[slot].ok_or(Fault::NoReference(slot))?.order_hint;
    }
    let forward = |hint: &&u32| relative(**hint, current, bits) < 0;
    let Some(nearest) = hints
        .iter()
        .filter(forward)
        .copied()
        .reduce(|nearest, hint| if relative(hint, nearest, bits) > 0 { hint } else { nearest })
    else {
        return Ok(false);
    };
    Ok(hints
        .iter()
        .any(|&hint| relative(hint, current, bits) > 0 || relative(hint, nearest, bits) < 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_wrap() {
        assert_eq!(relative(1, 14, 4), 3);
        assert_eq!(relative(14, 1, 4), -3);
        assert_eq!(relative(8, 0, 4), -8);
        assert_eq!(relative(0, 1, 1), -1);
    }

    #[test]
    fn skip_mode() {
        let allowed = |hints: [u32; 7]| {
            let slot = |&order_hint: &u32| {
                let segmentation = Segmentation::default();
                Some(Slot { key_frame: false, size: (64, 64), order_hint, segmentation })
            };
            let mut slots = Slots::default();
            for (to, hint) in slots.iter_mut().zip(&hints) {
                *to = slot(hint);
            }
            is_skip_mode_allowed(&slots, &[0, 1, 2, 3, 4, 5, 6], 20, 6)
        };
        assert_eq!(allowed([20; 7]), Ok(false), "none in front");
        assert_eq!(allowed([21; 7]), Ok(false));
        assert_eq!(allowed([19; 7]), Ok(false), "one in front");
        assert_eq!(allowed([20, 20, 20, 20, 20, 20, 19]), Ok(false));
        assert_eq!(allowed([19, 19, 19, 19, 19, 19, 18]), Ok(true), "two in front");
        assert_eq!(allowed([19, 20, 20, 20, 20, 20, 21]), Ok(true), "one in front, one behind");
        // Six bits: 60 comes in front of 20.
        assert_eq!(allowed([60, 19, 19, 19, 19, 19, 19]), Ok(true));
        assert_eq!(is_skip_mode_allowed(&[None; 8], &[3; 7], 20, 6), Err(Fault::NoReference(3)),);
    }
}
