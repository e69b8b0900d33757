//! The blocks of text and AAD on their way through OCB3 (RFC 7253, 4.1 to 4.3).
//!
//! Offset_i = Offset_(i-1) xor L_ntz(i) is no chain. Let a group of G = 2^k blocks start behind block
//! j, a multiple of G: its offsets are those of the first G blocks of a message, all of them xor
//! Offset_j, but for the last, which has L_ntz(j+G) where the first group has L_k.

use lanelock_isa::{AesClmul, Block};

use super::masks::Masks;
use lanelock_core::{
    cipher::{Cipher, CipherKeys, SameKey, Schedule},
    parts::{InOutBlocks, load_group},
};

/// Vectors in flight: as in the other modes that are parallel within a buffer.
const FLIGHT: usize = 8;

/// What is done with whole blocks.
pub(super) trait Pass {
    fn blocks(&self) -> usize;

    /// Processes the group at block `at`, and adds what is to be summed up to `sum`.
    fn group<S: AesClmul, const N: usize, C: Cipher>(
        &mut self,
        at: usize,
        keys: FlowKeys<'_, S, C>,
        offsets: Offsets<'_, S, N>,
        sum: &mut S::V,
    );
}

/// C_i = Offset_i xor ENCIPHER(K, P_i xor Offset_i), or its inverse; sums up P_i.
pub(super) struct Ocb3Text<'i, 'o, const SEAL: bool>(pub(super) InOutBlocks<'i, 'o>);

impl<const SEAL: bool> Pass for Ocb3Text<'_, '_, SEAL> {
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn group<S: AesClmul, const N: usize, C: Cipher>(
        &mut self,
        at: usize,
        keys: FlowKeys<'_, S, C>,
        offsets: Offsets<'_, S, N>,
        sum: &mut S::V,
    ) {
        // Registers with `N` = 8 and 11 round keys: 8 states, the checksum, 4 offsets of the group,
        // keys 1 to 9: 22. The offsets of the first group of a message are operands in memory. Where
        // there are 16 registers, round keys are read as well: 13, a key and a temporary. The last
        // round adds its key and the offset together, and each vector is stored as soon as it is
        // done: an output takes no register of its own.
        let s = offsets.s;
        let mut data = self.0.reborrow().split_at(at).1.split_at(N * S::WIDTH).0;
        let mut v = load_group::<S, N>(s, &data, 0);
        for i in 0..N {
            if SEAL {
                // In its place: the optimiser would keep texts until behind the rounds.
                *sum = s.here(s.xor(*sum, v[i]));
            }
            v[i] = s.xor(v[i], offsets.first(i));
        }
        let begun = if SEAL { C::begin(s, v, keys) } else { C::begin_decrypt(s, v, keys) };
        for i in 0..N {
            let last = offsets.last(i);
            v[i] = if SEAL {
                C::end(s, begun[i], last, keys, i)
            } else {
                C::end_decrypt(s, begun[i], last, keys, i)
            };
            if !SEAL {
                *sum = s.xor(*sum, v[i]);
            }
            s.store(v[i], &mut data.output()[i * S::WIDTH..]);
        }
    }
}

/// Sums up ENCIPHER(K, A_i xor Offset_i).
pub(super) struct Aad<'a>(pub(super) &'a [Block]);

impl Pass for Aad<'_> {
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn group<S: AesClmul, const N: usize, C: Cipher>(
        &mut self,
        at: usize,
        keys: FlowKeys<'_, S, C>,
        offsets: Offsets<'_, S, N>,
        sum: &mut S::V,
    ) {
        let s = offsets.s;
        let data = &self.0[at..][..N * S::WIDTH];
        let mut v = [s.load(data); N];
        for i in 0..N {
            v[i] = s.xor(s.load(&data[i * S::WIDTH..]), offsets.first(i));
        }
        let begun = C::begin(s, v, keys);
        for i in 0..N {
            let last = C::join(s, s.zero(), keys, i);
            *sum = s.xor(*sum, C::end(s, begun[i], last, keys, i));
        }
    }
}

/// Round keys. Those at the ends go with the offsets: see [`Offsets`].
#[derive(Clone, Copy)]
pub(super) struct FlowKeys<'k, S: AesClmul, C: Cipher> {
    schedule: Schedule<'k, C>,
    registers: SameKey<'k, S, C>,
}

impl<'k, S: AesClmul, C: Cipher> FlowKeys<'k, S, C> {
    #[inline(always)]
    pub(super) fn new(s: S, schedule: Schedule<'k, C>) -> Self {
        Self { schedule, registers: SameKey::new(s, schedule) }
    }
}

impl<S: AesClmul, C: Cipher> CipherKeys<S, C> for FlowKeys<'_, S, C> {
    #[inline(always)]
    fn get(&self, s: S, round: usize, vector: usize) -> C::RoundKey<S> {
        if S::WIDTH == 4 {
            self.registers.get(s, round, vector)
        } else {
            // With 16 registers the states and offsets take them; the key is an operand in memory.
            C::round_key(s, &self.schedule.keys.as_ref()[round])
        }
    }

    #[inline(always)]
    fn rounds(&self) -> usize {
        self.schedule.rounds
    }
}

/// The offsets of a group of `N` vectors. Each is added twice: with what the cipher begins with
/// ([`Cipher::whiten`]), and with what it ends with ([`Cipher::join`]).
#[derive(Clone, Copy)]
pub(super) struct Offsets<'m, S: AesClmul, const N: usize> {
    s: S,
    masks: &'m Masks,
    /// What the offsets differ in from those of the first group of a message, whitened and joined.
    all: [S::V; 2],
    /// The same in the last vector.
    end: [S::V; 2],
}

impl<S: AesClmul, const N: usize> Offsets<'_, S, N> {
    /// The offsets of vector `i`, whitened.
    #[inline(always)]
    fn first(self, i: usize) -> S::V {
        self.of(i, if i == N - 1 { self.end[0] } else { self.all[0] })
    }

    /// The offsets of vector `i`, joined with the end of the cipher.
    #[inline(always)]
    fn last(self, i: usize) -> S::V {
        self.of(i, if i == N - 1 { self.end[1] } else { self.all[1] })
    }

    #[inline(always)]
    fn of(self, i: usize, group: S::V) -> S::V {
        self.s.xor(self.s.load(&self.masks.group[i * S::WIDTH..]), group)
    }
}

/// Where a message is.
#[derive(Clone, Copy)]
pub(super) struct Flow<'m, S: AesClmul> {
    pub(super) s: S,
    pub(super) masks: &'m Masks,
    /// The offset of the last block that is done, in every lane.
    pub(super) offset: S::V,
    /// The sum of the lanes is the checksum, or the sum of HASH.
    pub(super) sum: S::V,
    /// Blocks done.
    pub(super) blocks: u64,
}

impl<'m, S: AesClmul> Flow<'m, S> {
    /// The beginning of a message.
    #[inline(always)]
    pub(super) fn new(s: S, masks: &'m Masks, offset: S::V) -> Self {
        Self { s, masks, offset, sum: s.zero(), blocks: 0 }
    }

    /// The same in the narrow form.
    #[inline(always)]
    pub(super) fn narrow(&self) -> Flow<'m, S::Narrow> {
        let Self { s, masks, blocks, .. } = *self;
        let offset = s.last_narrow(self.offset);
        Flow { s: s.narrow(), masks, offset, sum: s.sum_lanes(self.sum), blocks }
    }

    /// The same as `narrow`, in the form of `s`.
    #[inline(always)]
    pub(super) fn widen(s: S, narrow: &Flow<'m, S::Narrow>) -> Self {
        let Flow { masks, offset, sum, blocks, .. } = *narrow;
        Self { s, masks, offset: s.splat_narrow(offset), sum: s.in_first_lane(sum), blocks }
    }

    /// Processes the whole groups of `N` vectors from block `at` of `data` on, and returns where they
    /// end. The blocks before are groups of that size too.
    #[inline(always)]
    pub(super) fn groups<P: Pass, const N: usize, C: Cipher>(
        &mut self,
        keys: FlowKeys<'_, S, C>,
        data: &mut P,
        mut at: usize,
        end: usize,
    ) -> usize {
        const LAST: [Block; 4] = [[0; 16], [0; 16], [0; 16], [0xff; 16]];
        let Self { s, masks, .. } = *self;
        let group = N * S::WIDTH;
        while end - at >= group {
            self.blocks += group as u64;
            // L_ntz(G) ^ L_ntz(j + G): what the last offset of this group differs in, besides
            // Offset_j.
            let change = s.xor(s.splat(masks.l(group as u64)), s.splat(masks.l(self.blocks)));
            let in_last = s.and(change, s.load(&LAST[4 - S::WIDTH..]));
            let all = [C::whiten(s, self.offset, keys, 0), C::join(s, self.offset, keys, 0)];
            let ends = [s.xor(all[0], in_last), s.xor(all[1], in_last)];
            let offsets = Offsets::<S, N> { s, masks, all, end: ends };
            data.group::<S, N, C>(at, keys, offsets, &mut self.sum);
            // Offset_(j + G): the offset of the last block of this group.
            let step = s.xor(s.splat(&masks.group[group - 1]), change);
            self.offset = s.xor(self.offset, step);
            at += group;
        }
        at
    }

    /// Processes the whole vectors of `data`, the beginning of a message, and returns how many blocks
    /// they have.
    #[inline(always)]
    pub(super) fn vectors<P: Pass, C: Cipher>(
        &mut self,
        keys: FlowKeys<'_, S, C>,
        data: &mut P,
    ) -> usize {
        let end = data.blocks();
        let at = self.groups::<P, FLIGHT, C>(keys, data, 0, end);
        self.groups::<P, 1, C>(keys, data, at, end)
    }

    /// Processes `data`, the beginning of a message.
    #[inline(always)]
    pub(super) fn start<P: Pass, C: Cipher>(
        mut self,
        schedule: Schedule<'_, C>,
        data: &mut P,
    ) -> Flow<'m, S::Narrow> {
        let end = data.blocks();
        let at = if end >= S::WIDTH {
            self.vectors::<P, C>(FlowKeys::new(self.s, schedule), data)
        } else {
            0
        };
        let mut narrow = self.narrow();
        if S::WIDTH > 1 && at < end {
            narrow.groups::<P, 1, C>(FlowKeys::new(narrow.s, schedule), data, at, end);
        }
        narrow
    }

    /// Processes `data`, whatever was before.
    #[inline(always)]
    pub(super) fn resume<P: Pass, C: Cipher>(&mut self, schedule: Schedule<'_, C>, data: &mut P) {
        let (s, end) = (self.s, data.blocks());
        let (keys, group) = (FlowKeys::new(s, schedule), FLIGHT * S::WIDTH);
        let mut at = 0;
        while at < end {
            // The masks of a group hold for groups that start at a multiple of their size: up to the
            // next multiple single blocks, then vectors.
            let (in_group, in_vector) = (self.place_in(group), self.place_in(S::WIDTH));
            if in_group == 0 && end - at >= group {
                at = self.groups::<P, FLIGHT, C>(keys, data, at, end);
            } else if in_vector == 0 && end - at >= S::WIDTH {
                let end = end.min(at + group - in_group);
                at = self.groups::<P, 1, C>(keys, data, at, end);
            } else {
                let end = end.min(at + S::WIDTH - in_vector);
                let mut narrow = self.narrow();
                let keys = FlowKeys::new(s.narrow(), schedule);
                at = narrow.groups::<P, 1, C>(keys, data, at, end);
                *self = Self::widen(s, &narrow);
            }
        }
    }

    /// How many blocks a group of `group` blocks has begun with.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "less than `group`")]
    fn place_in(&self, group: usize) -> usize {
        (self.blocks % group as u64) as usize
    }
}
