//! Bytes and blocks that are read in one place and written in another, or in the same.
//!
//! The crate `inout` has the unsafe code for that. These types wrap it, so that a new version of it
//! does not change this crate's interface, except for the RustCrypto traits (features), which name
//! its types.

use core::fmt;

use hybrid_array::{Array, sizes::U16};
use inout::InOutBuf;
use lanelock_isa::Block;

use crate::Error;

/// Bytes to read and as many to write: the same bytes (in place), or others that do not overlap them.
///
/// ```
/// use lanelock::{Aes128, CounterBits, InOut};
/// # fn main() -> Result<(), lanelock::Error> {
/// let (text, mut encrypted) = ([7; 100], [0; 100]);
/// let key = Aes128::new(&[1; 16])?;
/// key.ctr_inout(CounterBits::Bits64, &[0; 16], InOut::new(&text, &mut encrypted)?)?;
/// key.ctr_inout(CounterBits::Bits64, &[0; 16], InOut::from(&mut encrypted[..]))?; // in place
/// assert_eq!(encrypted, text);
/// # Ok(())
/// # }
/// ```
pub struct InOut<'i, 'o>(InOutBuf<'i, 'o, u8>);

impl<'i, 'o> InOut<'i, 'o> {
    /// Reads `input` and writes `output`.
    ///
    /// # Errors
    /// [`Error::OutputLength`] if they are not equally long.
    #[inline(always)]
    pub fn new(input: &'i [u8], output: &'o mut [u8]) -> Result<Self, Error> {
        InOutBuf::new(input, output).map(Self).map_err(|_| Error::OutputLength)
    }

    /// Bytes to read, and to write.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is to be read, as long as nothing is written there.
    #[inline(always)]
    pub fn get_in(&self) -> &[u8] {
        self.0.get_in()
    }

    /// Where to write.
    #[inline(always)]
    pub fn get_out(&mut self) -> &mut [u8] {
        self.0.get_out()
    }

    /// The first `at` of them, and the others.
    #[inline(always)]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Self(a), Self(b))
    }

    /// The same, for a shorter time.
    #[inline(always)]
    pub fn reborrow(&mut self) -> InOut<'_, '_> {
        InOut(self.0.reborrow())
    }

    /// Byte by byte.
    #[inline(always)]
    pub fn into_bytes(self) -> impl Iterator<Item = ::inout::InOut<'i, 'o, u8>> {
        self.0.into_iter()
    }

    /// Output = input ^ `stream`, which is as long as they are.
    #[inline(always)]
    pub fn xor_in2out(&mut self, stream: &[u8]) {
        self.0.xor_in2out(stream);
    }
}

impl<'a> From<&'a mut [u8]> for InOut<'a, 'a> {
    /// In place.
    #[inline(always)]
    fn from(data: &'a mut [u8]) -> Self {
        Self(data.into())
    }
}

#[cfg(feature = "rustcrypto")]
impl<'i, 'o> From<InOutBuf<'i, 'o, u8>> for InOut<'i, 'o> {
    #[inline(always)]
    fn from(data: InOutBuf<'i, 'o, u8>) -> Self {
        Self(data)
    }
}

impl fmt::Debug for InOut<'_, '_> {
    /// The length, never the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InOut({} bytes)", self.len())
    }
}

/// Blocks to read and as many to write: the same blocks (in place), or others that do not overlap
/// them.
pub struct InOutBlocks<'i, 'o>(InOutBuf<'i, 'o, Array<u8, U16>>);

impl<'i, 'o> InOutBlocks<'i, 'o> {
    /// The whole blocks of `data`, and the bytes behind them.
    #[inline(always)]
    pub fn split(data: InOut<'i, 'o>) -> (Self, InOut<'i, 'o>) {
        let (blocks, rest) = data.0.into_chunks();
        (Self(blocks), InOut(rest))
    }

    /// Blocks to read, and to write.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is to be read, as long as nothing is written there.
    #[inline(always)]
    pub fn input(&self) -> &[Block] {
        Array::cast_slice_to_core(self.0.get_in())
    }

    /// Where to write.
    #[inline(always)]
    pub fn output(&mut self) -> &mut [Block] {
        Array::cast_slice_to_core_mut(self.0.get_out())
    }

    /// The first `at` of them, and the others.
    #[inline(always)]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Self(a), Self(b))
    }

    /// The same, for a shorter time.
    #[inline(always)]
    pub fn reborrow(&mut self) -> InOutBlocks<'_, '_> {
        InOutBlocks(self.0.reborrow())
    }
}

#[cfg(feature = "cipher")]
impl<'i, 'o> From<InOutBuf<'i, 'o, Array<u8, U16>>> for InOutBlocks<'i, 'o> {
    #[inline(always)]
    fn from(blocks: InOutBuf<'i, 'o, Array<u8, U16>>) -> Self {
        Self(blocks)
    }
}

impl<'a> From<&'a mut [Block]> for InOutBlocks<'a, 'a> {
    #[inline(always)]
    fn from(blocks: &'a mut [Block]) -> Self {
        Self(Array::cast_slice_from_core_mut(blocks).into())
    }
}
