//! The curves of NIST SP 800-186, 3.2.1: all have the coefficient a = -3 and a prime order.

use std::sync::OnceLock;

use lanelock_isa::LimbLevel;

use super::{
    multiply::{Job, Multiply, Work},
    scalars::{Divide, Scalars, Side},
    table,
    weierstrass::Weierstrass,
};
use crate::field::{
    Modulus, digits_of,
    order::{OrderP256, OrderP384, OrderP521},
    p256::FieldP256,
    p384::FieldP384,
    p521::FieldP521,
};

/// P-256 (`secp256r1`): SP 800-186, 3.2.1.3.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct P256;

/// P-384 (`secp384r1`): SP 800-186, 3.2.1.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct P384;

/// P-521 (`secp521r1`): SP 800-186, 3.2.1.5.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct P521;

impl Weierstrass<5> for P256 {
    type Field = FieldP256;
    type Order = OrderP256;
    const BITS: usize = 256;
    const B: [u64; 5] =
        digits_of("5ac635d8 aa3a93e7 b3ebbd55 769886bc 651d06b0 cc53b0f6 3bce3c3e 27d2604b");
    const BASE: [[u64; 5]; 2] = [
        digits_of("6b17d1f2 e12c4247 f8bce6e5 63a440f2 77037d81 2deb33a0 f4a13945 d898c296"),
        digits_of("4fe342e2 fe1a7f9b 8ee7eb4a 7c0f9e16 2bce3357 6b315ece cbb64068 37bf51f5"),
    ];
    const BASE_WINDOW: usize = 6;
}

impl Weierstrass<8> for P384 {
    type Field = FieldP384;
    type Order = OrderP384;
    const BITS: usize = 384;
    const B: [u64; 8] = digits_of(
        "b3312fa7 e23ee7e4 988e056b e3f82d19 181d9c6e fe814112 \
         0314088f 5013875a c656398d 8a2ed19d 2a85c8ed d3ec2aef",
    );
    const BASE: [[u64; 8]; 2] = [
        digits_of(
            "aa87ca22 be8b0537 8eb1c71e f320ad74 6e1d3b62 8ba79b98 \
             59f741e0 82542a38 5502f25d bf55296c 3a545e38 72760ab7",
        ),
        digits_of(
            "3617de4a 96262c6f 5d9e98bf 9292dc29 f8f41dbd 289a147c \
             e9da3113 b5f0b8c0 0a60b1ce 1d7e819d 7a431d7c 90ea0e5f",
        ),
    ];
    const BASE_WINDOW: usize = 5;
}

impl Weierstrass<11> for P521 {
    type Field = FieldP521;
    type Order = OrderP521;
    const BITS: usize = 521;
    const B: [u64; 11] = digits_of(
        "0051 953eb961 8e1c9a1f 929a21a0 b68540ee a2da725b 99b315f3 b8b48991 8ef109e1 \
         56193951 ec7e937b 1652c0bd 3bb1bf07 3573df88 3d2c34f1 ef451fd4 6b503f00",
    );
    const BASE: [[u64; 11]; 2] = [
        digits_of(
            "00c6 858e06b7 0404e9cd 9e3ecb66 2395b442 9c648139 053fb521 f828af60 6b4d3dba \
             a14b5e77 efe75928 fe1dc127 a2ffa8de 3348b3c1 856a429b f97e7e31 c2e5bd66",
        ),
        digits_of(
            "0118 39296a78 9a3bc004 5c8a5fb4 2c7d1bd9 98f54449 579b4468 17afbd17 273e662c \
             97ee7299 5ef42640 c550b901 3fad0761 353c7086 a272c240 88be9476 9fd16650",
        ),
    ];
    const BASE_WINDOW: usize = 5;
}

/// The arithmetic of a curve, on numbers whose size only its implementation knows.
pub trait Arithmetic: Copy + Eq + core::fmt::Debug + Send + Sync + 'static {
    /// A number in digits.
    type Number: Copy
        + Eq
        + core::fmt::Debug
        + Send
        + Sync
        + AsRef<[u64]>
        + AsMut<[u64]>
        + zeroize::Zeroize;
    /// The curve as a value.
    const CURVE: Self;
    /// 0
    const ZERO: Self::Number;
    /// 1
    const ONE: Self::Number;
    /// The prime of the field.
    const PRIME: Self::Number;
    /// The order of the group.
    const ORDER: Self::Number;
    /// Bits of both.
    const BITS: usize;

    /// Multiplies points.
    fn multiply(level: LimbLevel, work: Work, jobs: &mut [Job<Self::Number>]);
    /// Computes with scalars.
    fn divide(level: LimbLevel, side: Side, jobs: &mut [Scalars<Self::Number>]);
    /// Whether a point, whose coordinates are below the prime, is on the curve.
    fn on_curve(point: [&Self::Number; 2]) -> bool;
    /// y by x, which is below the prime, and by the lowest bit of y.
    fn y_of(x: &Self::Number, odd: bool) -> Option<Self::Number>;
}

macro_rules! arithmetic {
    ($curve:ident, $order:ident, $digits:literal) => {
        impl Arithmetic for $curve {
            type Number = [u64; $digits];
            const CURVE: Self = Self;
            const ZERO: Self::Number = [0; $digits];
            const ONE: Self::Number = {
                let mut one = [0; $digits];
                one[0] = 1;
                one
            };
            const PRIME: Self::Number =
                <<Self as Weierstrass<$digits>>::Field as Modulus<$digits>>::NUMBER;
            const ORDER: Self::Number =
                <<Self as Weierstrass<$digits>>::Order as Modulus<$digits>>::NUMBER;
            const BITS: usize = <Self as Weierstrass<$digits>>::BITS;

            fn multiply(level: LimbLevel, work: Work, jobs: &mut [Job<Self::Number>]) {
                static TABLE: OnceLock<Vec<u64>> = OnceLock::new();
                let table = match work {
                    Work::Point => &[][..],
                    Work::Base | Work::Both => TABLE.get_or_init(|| table::multiples_of_base(Self)),
                };
                level.run(Multiply { curve: Self, work, table, jobs });
            }

            fn divide(level: LimbLevel, side: Side, jobs: &mut [Scalars<Self::Number>]) {
                let order = $order;
                level.run(Divide { order, side, jobs });
            }

            fn on_curve(point: [&Self::Number; 2]) -> bool {
                table::on_curve(Self, point)
            }

            fn y_of(x: &Self::Number, odd: bool) -> Option<Self::Number> {
                table::y_of(Self, x, odd)
            }
        }
    };
}

arithmetic!(P256, OrderP256, 5);
arithmetic!(P384, OrderP384, 8);
arithmetic!(P521, OrderP521, 11);
