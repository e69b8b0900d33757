//! Access units and the codec rules that walk over them.

use core::ops::Range;

use super::error::Fault;
use super::{MapError, Runs};

/// The bytes of an access unit, as far as a map asks for them: a slice, or a file of which only
/// the heads of NAL units are to be read.
///
/// A map asks for the heads of the units that its codec divides an access unit into, in order. One
/// whose header does not end in what was asked for is asked for again, twice as much. A range may
/// reach into the next unit. What stands elsewhere is asked for by itself: the sizes of tiles (AV1),
/// the index at the end (VP9).
#[expect(clippy::len_without_is_empty, reason = "a map asks for the length alone")]
pub trait UnitBytes {
    /// Why bytes cannot be had, or why they cannot be mapped.
    type Error: From<MapError>;

    /// The length of the access unit.
    fn len(&self) -> usize;

    /// How many bytes of a NAL unit, an OBU or a frame to ask for at first, besides its length field. The
    /// default covers nearly all headers; slice headers may have more entry points or weights.
    fn head(&self) -> usize {
        256
    }

    /// The bytes of `range`, neither more nor fewer. The range lies in the access unit.
    ///
    /// # Errors
    /// When the bytes cannot be had; the map ends with this error.
    fn get(&mut self, range: Range<usize>) -> Result<&[u8], Self::Error>;
}

/// A unit in memory: it is read in one piece.
impl UnitBytes for &[u8] {
    type Error = MapError;

    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn head(&self) -> usize {
        usize::MAX
    }

    fn get(&mut self, range: Range<usize>) -> Result<&[u8], MapError> {
        Ok(&self[range])
    }
}

/// Codec rules: the walk over one access unit.
///
/// Implementations report the unit's bytes to `runs` from first to last, each exactly once. They
/// may carry state (parameter sets) from one unit to the next and must not panic on any input.
/// What they report, learn and refuse does not depend on [`UnitBytes::head`].
pub trait AccessUnitMap {
    /// Reports the clear and the protected runs of `unit`.
    ///
    /// # Errors
    /// When the unit cannot be read to the point where its protected bytes are certain. What was
    /// reported to `runs` by then is discarded; state learnt from the unit may remain.
    fn walk<U: UnitBytes>(&mut self, unit: &mut U, runs: &mut Runs<'_>) -> Result<(), U::Error>;

    /// Whether protected bytes surely begin with a CABAC offset (ITU-T H.264 and H.265, 9.3): a
    /// decrypter can tell some wrong keys by it.
    fn is_cabac(&self) -> bool {
        false
    }
}

/// `len` bytes of the access unit.
pub(super) fn get<U: UnitBytes>(
    unit: &mut U,
    offset: usize,
    len: usize,
) -> Result<&[u8], U::Error> {
    let bytes = unit.get(offset..offset + len)?;
    assert_eq!(bytes.len(), len, "`UnitBytes::get` returns the bytes it is asked for");
    Ok(bytes)
}

/// What `read` makes of the beginning of the `len` bytes at `start`: of the head, or of more where it
/// says [`Fault::Truncated`], until it has all of them.
pub(super) fn read_head<U: UnitBytes, T>(
    unit: &mut U,
    start: usize,
    len: usize,
    mut read: impl FnMut(&[u8]) -> Result<T, Fault>,
) -> Result<Result<T, Fault>, U::Error> {
    let mut asked = unit.head().min(len);
    loop {
        match read(get(unit, start, asked)?) {
            Err(Fault::Truncated) if asked < len => {
                asked = asked.saturating_mul(2).clamp(1, len);
            }
            answer => return Ok(answer),
        }
    }
}
