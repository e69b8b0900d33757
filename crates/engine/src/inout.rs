//! Blocks that are read in one place and written in another, or in the same.

use hybrid_array::{Array, sizes::U16};
use inout::InOutBuf;
use lanelock_isa::Block;

/// Blocks to read and as many to write: the same blocks (in place), or others that do not overlap
/// them.
pub(crate) struct InOutBlocks<'i, 'o>(InOutBuf<'i, 'o, Array<u8, U16>>);

impl<'i, 'o> InOutBlocks<'i, 'o> {
    /// The whole blocks of `data`, and the bytes behind them.
    #[inline(always)]
    pub(crate) fn split(data: InOutBuf<'i, 'o, u8>) -> (Self, InOutBuf<'i, 'o, u8>) {
        let (blocks, rest) = data.into_chunks();
        (Self(blocks), rest)
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is to be read, as long as nothing is written there.
    #[inline(always)]
    pub(crate) fn input(&self) -> &[Block] {
        Array::cast_slice_to_core(self.0.get_in())
    }

    /// Where to write.
    #[inline(always)]
    pub(crate) fn output(&mut self) -> &mut [Block] {
        Array::cast_slice_to_core_mut(self.0.get_out())
    }

    #[inline(always)]
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        let (a, b) = self.0.split_at(at);
        (Self(a), Self(b))
    }

    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> InOutBlocks<'_, '_> {
        InOutBlocks(self.0.reborrow())
    }
}

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
