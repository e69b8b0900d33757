//! Digests of files and other streams, many of them side by side. They are read a piece of each in turn, and one
//! that has ended makes room for the next.

use std::io::{self, Read};

use lanelock_digest::{
    Hash, Kt128, Levels,
    algorithm::{self, Algorithm as Hashing},
    update_all,
};

/// A hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Algorithm {
    /// FIPS 180-4, 160 bits. Collisions are known.
    Sha1,
    /// FIPS 180-4, 224 bits.
    Sha224,
    /// FIPS 180-4, 256 bits.
    Sha256,
    /// FIPS 180-4, 384 bits.
    Sha384,
    /// FIPS 180-4, 512 bits.
    Sha512,
    /// FIPS 202, 256 bits.
    Sha3_256,
    /// FIPS 202, 512 bits.
    Sha3_512,
    /// GB/T 32905-2016, 256 bits.
    Sm3,
    /// RFC 7693, 512 bits.
    Blake2b,
    /// KT128 of RFC 9861 with 256 bits of output: each stream is a tree, whose leaves take lanes.
    Kt128,
}

impl Algorithm {
    /// As lists of the BSDs name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA1",
            Self::Sha224 => "SHA224",
            Self::Sha256 => "SHA256",
            Self::Sha384 => "SHA384",
            Self::Sha512 => "SHA512",
            Self::Sha3_256 => "SHA3-256",
            Self::Sha3_512 => "SHA3-512",
            Self::Sm3 => "SM3",
            Self::Blake2b => "BLAKE2b",
            Self::Kt128 => "KT128",
        }
    }

    /// Bytes of a digest.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 | Self::Sha3_256 | Self::Sm3 | Self::Kt128 => 32,
            Self::Sha384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Blake2b => 64,
        }
    }
}

/// Opens a stream by its number.
pub(crate) type Open<'o> = dyn Fn(usize) -> io::Result<Box<dyn Read>> + 'o;

/// Gets to know how many bytes were read since it was called before.
pub(crate) type Progress<'p> = dyn Fn(u64) + 'p;

/// The digests of `count` streams in their order, or why there is none. Streams are opened when it is their turn: at
/// most 32 are open at a time, of each of which 128 KiB are in memory; of those that are trees one, with 1 MiB.
pub(crate) fn digests<'a>(
    algorithm: Algorithm,
    levels: Levels,
    count: usize,
    open: &'a Open<'a>,
    progress: &'a Progress<'a>,
) -> Box<dyn Iterator<Item = io::Result<Vec<u8>>> + 'a> {
    match algorithm {
        Algorithm::Sha1 => side_by_side::<algorithm::Sha1>(levels, count, open, progress),
        Algorithm::Sha224 => side_by_side::<algorithm::Sha224>(levels, count, open, progress),
        Algorithm::Sha256 => side_by_side::<algorithm::Sha256>(levels, count, open, progress),
        Algorithm::Sha384 => side_by_side::<algorithm::Sha384>(levels, count, open, progress),
        Algorithm::Sha512 => side_by_side::<algorithm::Sha512>(levels, count, open, progress),
        Algorithm::Sha3_256 => side_by_side::<algorithm::Sha3_256>(levels, count, open, progress),
        Algorithm::Sha3_512 => side_by_side::<algorithm::Sha3_512>(levels, count, open, progress),
        Algorithm::Sm3 => side_by_side::<algorithm::Sm3>(levels, count, open, progress),
        Algorithm::Blake2b => side_by_side::<algorithm::Blake2b>(levels, count, open, progress),
        Algorithm::Kt128 => {
            let mut piece = Vec::with_capacity(TREE_PIECE);
            Box::new((0..count).map(move |i| tree(levels, open(i)?, progress, &mut piece)))
        }
    }
}

/// Streams that are read side by side: as many as there are lanes.
const AT_ONCE: usize = 32;
/// Bytes that are read of each in turn.
const PIECE: usize = 128 << 10;
/// Bytes that are read of one whose hash is a tree: many leaves.
const TREE_PIECE: usize = 1 << 20;

/// See [`digests`].
fn side_by_side<'a, A: Hashing + 'a>(
    levels: Levels,
    count: usize,
    open: &'a Open<'a>,
    progress: &'a Progress<'a>,
) -> Box<dyn Iterator<Item = io::Result<Vec<u8>>> + 'a> {
    let mut done = Vec::new();
    done.resize_with(count, || None);
    Box::new(SideBySide::<A> {
        levels,
        open,
        progress,
        opened: 0,
        streams: Vec::new(),
        done,
        taken: 0,
    })
}

/// A piece of each of some streams in turn, in lanes. Another one takes the place of one that has ended.
struct SideBySide<'a, A: Hashing> {
    levels: Levels,
    open: &'a Open<'a>,
    progress: &'a Progress<'a>,
    opened: usize,
    streams: Vec<Stream<A>>,
    /// What is known of all streams and was not taken.
    done: Vec<Option<io::Result<Vec<u8>>>>,
    taken: usize,
}

/// A stream that is being read.
struct Stream<A: Hashing> {
    number: usize,
    source: Box<dyn Read>,
    hash: Hash<A>,
    piece: Vec<u8>,
}

impl<A: Hashing> Iterator for SideBySide<'_, A> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.done.get(self.taken)?.is_none() {
            self.turn();
        }
        self.taken += 1;
        self.done[self.taken - 1].take()
    }
}

impl<A: Hashing> SideBySide<'_, A> {
    /// Reads and hashes a piece of each stream.
    fn turn(&mut self) {
        let Self { levels, open, progress, opened, streams, done, .. } = self;
        while streams.len() < AT_ONCE && *opened < done.len() {
            let number = *opened;
            *opened += 1;
            match open(number) {
                Ok(source) => {
                    let (hash, piece) = (Hash::with_level(levels.one), Vec::with_capacity(PIECE));
                    streams.push(Stream { number, source, hash, piece });
                }
                Err(error) => done[number] = Some(Err(error)),
            }
        }
        for Stream { number, source, piece, .. } in &mut *streams {
            match read(source, PIECE, piece) {
                Ok(bytes) => progress(bytes),
                Err(error) => done[*number] = Some(Err(error)),
            }
        }
        let mut pieces: Vec<_> =
            streams.iter_mut().map(|stream| (&mut stream.hash, &stream.piece[..])).collect();
        update_all(*levels, &mut pieces);
        for at in (0..streams.len()).rev() {
            let Stream { number, ref piece, .. } = streams[at];
            if piece.len() < PIECE || done[number].is_some() {
                let digest = streams.swap_remove(at).hash.finish();
                done[number].get_or_insert_with(|| Ok(digest.as_ref().to_vec()));
            }
        }
    }
}

/// The digest of one stream as a tree.
fn tree(
    levels: Levels,
    mut source: Box<dyn Read>,
    progress: &Progress<'_>,
    piece: &mut Vec<u8>,
) -> io::Result<Vec<u8>> {
    let mut hash = Kt128::with_levels(levels);
    loop {
        progress(read(&mut source, TREE_PIECE, piece)?);
        hash.update(piece);
        if piece.len() < TREE_PIECE {
            let mut digest = vec![0; Algorithm::Kt128.bytes()];
            hash.finish(b"").read(&mut digest);
            return Ok(digest);
        }
    }
}

/// The next `most` bytes, fewer at the end alone. Returns how many.
fn read(source: &mut Box<dyn Read>, most: usize, piece: &mut Vec<u8>) -> io::Result<u64> {
    piece.clear();
    Ok(source.take(most as u64).read_to_end(piece)? as u64)
}

#[cfg(test)]
mod tests;
