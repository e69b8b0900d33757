//! The text of CCM as a kind of chain for the lanes.
//!
//! With 8 vectors and a 128-bit key common to all, counters and a key stream stand beside the MAC: more than
//! there are registers, so that part of it is in memory.

use lanelock_isa::{AesClmul, Beside, Block};

use lanelock_core::{
    cipher::{Cipher, CipherKeys},
    lanes::ChainKind,
};

/// CTR, and CBC-MAC of the plaintext. The state is that of the MAC and the next counter block, whose last
/// eight bytes count.
pub(super) struct CcmText<const SEAL: bool>;

impl<const SEAL: bool> ChainKind<2> for CcmText<SEAL> {
    type Data<'d> = &'d mut [Block];

    fn reborrow<'s>(data: &'s mut Self::Data<'_>) -> Self::Data<'s> {
        data
    }

    #[inline(always)]
    fn enter<S: AesClmul, const N: usize>(s: S, mut state: [[S::V; N]; 2]) -> [[S::V; N]; 2] {
        for i in 0..N {
            state[1][i] = s.lane_counters(state[1][i]);
        }
        state
    }

    #[inline(always)]
    fn leave<S: AesClmul, const N: usize>(s: S, mut state: [[S::V; N]; 2]) -> [[S::V; N]; 2] {
        for i in 0..N {
            state[1][i] = s.counter_blocks(state[1][i]);
        }
        state
    }

    #[inline(always)]
    fn step<S: AesClmul, const N: usize, C: Cipher>(
        s: S,
        data: [S::V; N],
        [mac, counters]: &mut [[S::V; N]; 2],
        keys: impl CipherKeys<S, C>,
        beside: &mut impl Beside<S>,
    ) -> [S::V; N] {
        // C_j = P_j ^ E(K, A_j), MAC_j = E(K, P_j ^ MAC_(j-1)). Opening has to decrypt before the
        // step of the MAC. The counters do not depend on it: two times N vectors, one behind the
        // other.
        let mut stream = *counters;
        for i in 0..N {
            stream[i] = C::whiten(s, s.counter_blocks(counters[i]), keys, i);
            counters[i] = s.counters_add(counters[i], 1);
        }
        stream = C::encrypt_beside::<_, N>(s, stream, keys, beside);
        let mut output = data;
        for i in 0..N {
            output[i] = s.xor(data[i], stream[i]);
        }
        *mac = C::encrypt_xor::<_, N>(s, if SEAL { data } else { output }, *mac, keys);
        output
    }
}
