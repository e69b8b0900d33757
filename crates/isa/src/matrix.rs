//! Matrices over GF(2) in software, for levels without an instruction for them.

use crate::Block;

/// [`times_matrix`](crate::Clmul::times_matrix) of one block.
pub(crate) fn times_matrix(block: &Block, matrix: &Block) -> Block {
    let mut product = [0; 16];
    for (at, to) in product.iter_mut().enumerate() {
        for bit in 0..8 {
            let row = matrix[at / 8 * 8 + 7 - bit];
            *to |= u8::from((block[at] & row).count_ones() % 2 == 1) << bit;
        }
    }
    product
}
