//! The S-box of AES and its inverse, as Boolean circuits on bit planes.

/// Eight bit planes, lowest bit first.
pub(super) type Planes = [u64; 8];

/// The S-box on all bytes: inversion in GF(2^8) and the affine map, as the circuit of J. Boyar and
/// R. Peralta, "A depth-16 circuit for the AES S-box" (2011). Names are the paper's; `x0` is the
/// highest bit.
pub(super) fn sub_bytes(p: &mut Planes) {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = *p;
    // Linear input layer.
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;
    // Inversion in a tower of fields.
    let t2 = y12 & y15;
    let t4 = (y3 & y6) ^ t2;
    let t6 = (y4 & x7) ^ t2;
    let t7 = y13 & y16;
    let t9 = (y5 & y1) ^ t7;
    let t11 = (y2 & y7) ^ t7;
    let t12 = y9 & y11;
    let t14 = (y14 & y17) ^ t12;
    let t16 = (y8 & y10) ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let t31 = t22 ^ t26;
    let t33 = (t31 & (t23 ^ t24)) ^ t24;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t23 ^ t33;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ (t29 & t38);
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;
    // Linear output layer.
    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let s0 = t59 ^ t63;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;
    *p = [s7, s6, s5, s4, s3, s2, s1, s0];
}

/// Undoes the affine map of the S-box: bit *i* = bits *i* + 2, *i* + 5, *i* + 7, plus 0x05.
fn inv_affine(p: &mut Planes) {
    let q = *p;
    for i in 0..8 {
        p[i] = q[(i + 2) % 8] ^ q[(i + 5) % 8] ^ q[(i + 7) % 8];
    }
    p[0] = !p[0];
    p[2] = !p[2];
}

/// The inverse S-box. With A the affine map, S = A after inversion, so inversion = A⁻¹ after S, and
/// S⁻¹ = inversion after A⁻¹ = A⁻¹ after S after A⁻¹.
pub(super) fn inv_sub_bytes(p: &mut Planes) {
    inv_affine(p);
    sub_bytes(p);
    inv_affine(p);
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "test input")]
mod tests {
    use super::super::planes::tests::{multiply, on_bytes};
    use super::*;
    use crate::Block;

    /// The S-box by its definition (FIPS 197, 5.1.1).
    fn s_box(x: u8) -> u8 {
        let inverse = (0..=255).find(|&y| multiply(x, y) == 1).unwrap_or(0);
        let bit = |i: u32| inverse.rotate_right(i);
        bit(0) ^ bit(4) ^ bit(5) ^ bit(6) ^ bit(7) ^ 0x63
    }

    #[test]
    fn s_box_is_its_definition() {
        for quarter in 0..4_u8 {
            let input: [Block; 4] = core::array::from_fn(|i| {
                core::array::from_fn(|j| quarter * 64 + (i * 16 + j) as u8)
            });
            let output = on_bytes(sub_bytes, input);
            for (x, s) in input.as_flattened().iter().zip(output.as_flattened()) {
                assert_eq!(*s, s_box(*x), "S-box of {x:#x}");
            }
            assert_eq!(on_bytes(inv_sub_bytes, output), input);
        }
    }
}
