//! Multiples of the base point of edwards25519, which is that of Curve25519 too, by a table that all lanes share.

use alloc::{boxed::Box, vec, vec::Vec};
use std::sync::OnceLock;

use lanelock_isa::{LimbKernel, LimbLevel, Limbs, MOST_LIMBS, PortableLimbs, StackDepth};
use zeroize::Zeroizing;

use super::edwards::{Affine, Extended};
use super::edwards_scalar::{
    MULTIPLES, Scalar, WINDOW_BITS, WINDOWS, digit, reduced_wide, shifted_right, to_words, windows,
};
use crate::field::p25519::{DIGITS, Element};
use crate::field::words::LaneWords;
use crate::level::lane_groups;

/// The coordinates of the base point.
const BASE: [[u64; DIGITS]; 2] = [
    [
        0x6_2d60_8f25_d51a,
        0x4_12a4_b4f6_592a,
        0x7_5b71_71a4_b31d,
        0x1_ff60_5271_18fe,
        0x2_1693_6d3c_d6e5,
    ],
    [
        0x6_6666_6666_6658,
        0x4_cccc_cccc_cccc,
        0x1_9999_9999_9999,
        0x3_3333_3333_3333,
        0x6_6666_6666_6666,
    ],
];

/// Windows that have a table: every other one.
const TABLES: usize = WINDOWS.div_ceil(2);

/// y + x, y - x and 2 d x y of [`MULTIPLES`] points: each digit of all of them side by side.
type Multiples = [[[u64; MULTIPLES]; DIGITS]; 3];

/// Which coordinate of a point is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// The encoding of RFC 8032.
    Edwards,
    /// The coordinate u of RFC 7748.
    Montgomery,
}

/// Multiples of the base point, and the scalars below its order.
pub(crate) struct BaseMultiples {
    pub(crate) points: Vec<[u8; 32]>,
    pub(crate) scalars: Zeroizing<Vec<[u8; 32]>>,
}

/// The multiples of the base point by these scalars, of up to 512 bits. No branch and no address depends on them.
pub(crate) fn multiples(level: LimbLevel, form: Form, scalars: &[[u8; 64]]) -> BaseMultiples {
    let mut multiples = BaseMultiples {
        points: vec![[0; 32]; scalars.len()],
        scalars: Zeroizing::new(vec![[0; 32]; scalars.len()]),
    };
    let table = BaseTable::shared();
    for (level, range) in lane_groups(level, scalars.len()) {
        level.run(Multiply {
            table,
            form,
            scalars: &scalars[range.clone()],
            reduced: &mut multiples.scalars[range.clone()],
            points: &mut multiples.points[range],
        });
    }
    level.wipe_stack(StackDepth::KiB4);
    multiples
}

struct Multiply<'a> {
    table: &'a BaseTable,
    form: Form,
    scalars: &'a [[u8; 64]],
    reduced: &'a mut [[u8; 32]],
    points: &'a mut [[u8; 32]],
}

impl LimbKernel for Multiply<'_> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        let mut words = LaneWords::new();
        for ((scalars, reduced), points) in self
            .scalars
            .chunks(S::LANES)
            .zip(self.reduced.chunks_mut(S::LANES))
            .zip(self.points.chunks_mut(S::LANES))
        {
            let scalar = reduced_wide(s, words.load_wide(s, scalars));
            words.store(s, to_words(s, scalar));
            words.get(reduced);
            let point = self.table.times(s, scalar);
            let coordinate = match self.form {
                Form::Edwards => point.encoded(s),
                Form::Montgomery => point.montgomery(s),
            };
            words.store(s, coordinate);
            words.get(points);
        }
    }
}

/// Multiples of the base point, the same for all lanes.
pub(crate) struct BaseTable(Box<[Multiples]>);

impl BaseTable {
    /// The table, which the first call computes.
    pub(crate) fn shared() -> &'static Self {
        static TABLE: OnceLock<BaseTable> = OnceLock::new();
        TABLE.get_or_init(|| Self(MakeTable.run(PortableLimbs::new())))
    }

    /// The base point times a scalar. No branch and no address depends on it.
    ///
    /// The odd windows are summed first, then doubled [`WINDOW_BITS`] times: even ones have tables.
    #[inline(always)]
    pub(crate) fn times<S: Limbs>(&self, s: S, scalar: Scalar<S>) -> Extended<S> {
        let even = windows(s, scalar);
        let mut words = shifted_right::<S, 5, 59>(s, even);
        let mut sum = Extended::neutral(s);
        for half in 0..2 {
            if half == 1 {
                sum = sum.doubled(s, WINDOW_BITS);
                words = even;
            }
            for multiples in &self.0[..WINDOWS / 2 + half] {
                let [amount, negative] = digit(s, s.and(words[0], s.splat(31)));
                words = shifted_right::<S, 10, 54>(s, words);
                sum = sum.plus_affine(s, chosen(s, multiples, amount).negative_if(s, negative));
            }
        }
        sum
    }
}

/// The multiple of each lane.
#[inline(always)]
fn chosen<S: Limbs>(s: S, [plus, minus, t2d]: &Multiples, amount: S::V) -> Affine<S> {
    let none = s.equal(amount, s.splat(0));
    let at = s.sub(amount, s.splat(1));
    let mut chosen = Affine::neutral(s);
    for (number, table) in
        [(&mut chosen.plus, plus), (&mut chosen.minus, minus), (&mut chosen.t2d, t2d)]
    {
        for k in 0..DIGITS {
            number.0[k] = s.select(none, number.0[k], s.lookup(&table[k], at));
        }
    }
    chosen
}

/// Computes [`BaseTable`], with one point in all lanes.
struct MakeTable;

impl LimbKernel for MakeTable {
    type Out = Box<[Multiples]>;

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) -> Self::Out {
        let [x, y] = BASE;
        let mut base = Extended::affine(s, Element::splat(s, x), Element::splat(s, y));
        let mut points = Vec::new();
        for _ in 0..TABLES {
            let mut multiple = base;
            for _ in 0..MULTIPLES {
                points.push(multiple);
                multiple = multiple.add(s, base);
            }
            base = base.doubled(s, 2 * WINDOW_BITS);
        }
        let mut tables = vec![[[[0; MULTIPLES]; DIGITS]; 3]; TABLES].into_boxed_slice();
        for (i, point) in Extended::affine_all(s, &points).iter().enumerate() {
            let coordinates = [point.plus, point.minus, point.t2d];
            for (table, coordinate) in tables[i / MULTIPLES].iter_mut().zip(coordinates) {
                for (table, digit) in table.iter_mut().zip(coordinate.0) {
                    let mut lanes = [0; MOST_LIMBS];
                    s.store(digit, &mut lanes);
                    table[i % MULTIPLES] = lanes[0];
                }
            }
        }
        tables
    }
}
