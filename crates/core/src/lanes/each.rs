//! E(K_i, B_i) for one block of each of many messages, under the key of the message: first and last
//! blocks and masks of tags, which are single steps and so need no chain in the lanes.

use lanelock_isa::{AesClmul, Block, Kernel, wipe};

use crate::cipher::{Cipher, EncryptKey, OwnKeys};

/// Blocks at a time.
const GROUP: usize = 64;

/// Vectors in flight, where keys differ. Each round gathers a key for every vector, which takes
/// longer than the round: so four vectors are enough.
const VECTORS: usize = 4;

/// Encrypts the block of each item under the key of the item; items without a key are left out. All
/// keys have the same level.
pub fn encrypt_each<'k, T, C: Cipher>(
    items: &mut [T],
    key: impl Fn(&T) -> Option<&'k EncryptKey<C>>,
    block: impl Fn(&mut T) -> &mut Block,
) {
    let Some(first) = items.iter().find_map(&key) else { return };
    let mut blocks = [[0; 16]; GROUP];
    let mut keys = [first; GROUP];
    for group in items.chunks_mut(GROUP) {
        // The blocks of up to 64 items side by side, encrypted together, and back.
        let (mut count, mut same) = (0, true);
        for item in &mut *group {
            if let Some(key) = key(item) {
                same &= core::ptr::eq(key, first);
                keys[count] = key;
                blocks[count] = *block(item);
                count += 1;
            }
        }
        let used = &mut blocks[..count];
        if same {
            first.encrypt_blocks(used);
        } else {
            first.level().run(Each { keys: &keys[..count], blocks: used });
        }
        let items = group.iter_mut().filter(|item| key(item).is_some());
        for (item, from) in items.zip(used) {
            *block(item) = *from;
        }
    }
    wipe(blocks.as_flattened_mut());
}

/// Encrypts each block under the key beside it.
struct Each<'a, 'k, C: Cipher> {
    keys: &'a [&'k EncryptKey<C>],
    blocks: &'a mut [Block],
}

impl<C: Cipher> Kernel for Each<'_, '_, C> {
    type Out = ();

    #[inline(always)]
    fn run<S: AesClmul>(self, s: S) {
        let Self { keys, blocks } = self;
        let mut at = 0;
        while blocks.len() - at >= VECTORS * S::WIDTH {
            group::<S, VECTORS, C>(s, &keys[at..], &mut blocks[at..]);
            at += VECTORS * S::WIDTH;
        }
        while blocks.len() - at >= S::WIDTH {
            group::<S, 1, C>(s, &keys[at..], &mut blocks[at..]);
            at += S::WIDTH;
        }
        while at < blocks.len() {
            group::<S::Narrow, 1, C>(s.narrow(), &keys[at..], &mut blocks[at..]);
            at += 1;
        }
    }
}

/// The first `N * S::WIDTH` blocks.
#[inline(always)]
fn group<S: AesClmul, const N: usize, C: Cipher>(
    s: S,
    keys: &[&EncryptKey<C>],
    blocks: &mut [Block],
) {
    let blocks = &mut blocks[..N * S::WIDTH];
    let mut v = [s.load(blocks); N];
    for i in 1..N {
        v[i] = s.load(&blocks[i * S::WIDTH..]);
    }
    v = C::encrypt::<_, N>(s, v, OwnKeys::<C, N>::new(S::WIDTH, |lane| keys[lane].keys()));
    for i in 0..N {
        s.store(v[i], &mut blocks[i * S::WIDTH..]);
    }
}
