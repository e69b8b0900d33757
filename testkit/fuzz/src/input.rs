//! What all targets read from an input: lengths and choices, each from a byte or two, so that a change of
//! one byte is a change of one thing.

use arbitrary::{Result, Unstructured};
use lanelock::AesLevel;
use lanelock_testkit::{Rng, pattern};

/// Changes bytes in some way, which may be that of libFuzzer.
pub type Change<'a> = dyn FnMut(&mut Vec<u8>) + 'a;

/// A length up to `most`. Half of them are near a multiple of 16, where blocks and vectors begin and end.
pub(crate) fn length(u: &mut Unstructured<'_>, most: usize) -> Result<usize> {
    let length = u.int_in_range(0..=most)?;
    Ok(match u.arbitrary::<u8>()? % 8 {
        0 => length / 16 * 16,
        1 => length / 64 * 64,
        2 => (length / 16 * 16 + 1).min(most),
        3 => (length / 16 * 16).saturating_sub(1),
        _ => length,
    })
}

/// So many bytes: of one value, a pattern, or pseudo-random. What they are matters little to a cipher, so an
/// input says it in four bytes.
pub(crate) fn filled(u: &mut Unstructured<'_>, length: usize) -> Result<Vec<u8>> {
    let seed: u32 = u.arbitrary()?;
    Ok(match seed % 8 {
        0 => vec![0; length],
        1 => vec![0xff; length],
        2 => pattern(length),
        _ => Rng::new(seed.into()).bytes(length),
    })
}

/// Up to `most` bytes.
pub(crate) fn bytes(u: &mut Unstructured<'_>, most: usize) -> Result<Vec<u8>> {
    let length = length(u, most)?;
    filled(u, length)
}

/// An array, such as a key or an IV.
pub(crate) fn array<const N: usize>(u: &mut Unstructured<'_>) -> Result<[u8; N]> {
    let bytes = filled(u, N)?;
    Ok(std::array::from_fn(|at| bytes[at]))
}

/// `data` in pieces, whose lengths an input says: all multiples of `unit` but the last.
pub(crate) fn cuts<'a>(
    u: &mut Unstructured<'_>,
    data: &'a [u8],
    unit: usize,
) -> Result<Vec<&'a [u8]>> {
    let (mut pieces, mut rest) = (Vec::new(), data);
    for _ in 0..u.int_in_range(0..=6)? {
        let (piece, later) = rest.split_at(length(u, rest.len())? / unit * unit);
        pieces.push(piece);
        rest = later;
    }
    pieces.push(rest);
    Ok(pieces)
}

/// One of the levels that the processor has, in one of its forms.
pub(crate) fn level(u: &mut Unstructured<'_>) -> Result<AesLevel> {
    let forms: Vec<_> = AesLevel::available().into_iter().flat_map(AesLevel::forms).collect();
    Ok(*u.choose(&forms)?)
}
