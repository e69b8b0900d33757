//! `universal-hash` 0.6: GHASH and POLYVAL.

use ::universal_hash::{
    Block, Key, KeyInit, ParBlocks, Reset, UhfBackend, UhfClosure,
    common::{BlockSizeUser, KeySizeUser, ParBlocksSizeUser},
    consts::{U16, U32},
};
use hybrid_array::Array;

use crate::{Ghash, Polyval, UniversalHash};
use lanelock_core::parts::detected_level;

impl<const REVERSED: bool> KeySizeUser for UniversalHash<REVERSED> {
    type KeySize = U16;
}

impl KeyInit for Ghash {
    fn new(key: &Key<Self>) -> Self {
        Self::with_level(key.as_ref(), detected_level())
    }
}

impl KeyInit for Polyval {
    fn new(key: &Key<Self>) -> Self {
        Self::with_level(key.as_ref(), detected_level())
    }
}

impl<const REVERSED: bool> BlockSizeUser for UniversalHash<REVERSED> {
    type BlockSize = U16;
}

impl<const REVERSED: bool> ::universal_hash::UniversalHash for UniversalHash<REVERSED> {
    fn update_with_backend(&mut self, closure: impl UhfClosure<BlockSize = U16>) {
        closure.call(&mut HashBackend(self));
    }

    fn update(&mut self, blocks: &[Block<Self>]) {
        self.update(Array::cast_slice_to_core(blocks).as_flattened());
    }

    fn finalize(mut self) -> Block<Self> {
        self.finish().into()
    }
}

impl<const REVERSED: bool> Reset for UniversalHash<REVERSED> {
    fn reset(&mut self) {
        self.reset();
    }
}

/// 32 blocks a call, so that the cost of the call itself is small beside the work.
struct HashBackend<'a, const REVERSED: bool>(&'a mut UniversalHash<REVERSED>);

impl<const REVERSED: bool> BlockSizeUser for HashBackend<'_, REVERSED> {
    type BlockSize = U16;
}

impl<const REVERSED: bool> ParBlocksSizeUser for HashBackend<'_, REVERSED> {
    type ParBlocksSize = U32;
}

impl<const REVERSED: bool> UhfBackend for HashBackend<'_, REVERSED> {
    fn proc_block(&mut self, block: &Block<Self>) {
        self.0.update(block);
    }

    fn proc_par_blocks(&mut self, blocks: &ParBlocks<Self>) {
        self.0.update(Array::cast_slice_to_core(blocks).as_flattened());
    }
}
