//! Every way into the engine that takes a buffer, as functions of one type, so that tests of memory
//! and of levels go through all of them.

#![allow(clippy::needless_pass_by_value, reason = "a call takes its buffers")]

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192Xts, Aes256,
    Aes256Cmac, Aes256Xts, AesLevel, CounterBits, CtrStream, Pattern,
    aead::{
        Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm,
        Aes128Gcm, Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm,
        Aes256Gcm, Aes256GcmSiv, Aes256Ocb3,
        batch::{self, Batch, Message},
    },
    hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, Polyval},
    lanes::{self, Job, MacJob, Order, OwnedJob, Scheduler},
};

/// The buffers of one call. Keys and IVs are arrays and have no length to get wrong.
pub(crate) struct Buffers<'a> {
    /// The text, changed in place.
    pub(crate) data: &'a mut [u8],
    /// Additional authenticated data.
    pub(crate) aad: &'a [u8],
    /// A nonce of 12 bytes.
    pub(crate) nonce: &'a [u8],
    /// 16 bytes that take a tag or another short result.
    pub(crate) tag: &'a mut [u8],
}

pub(crate) type Run = fn(AesLevel, Buffers<'_>);

/// Names and functions. Each leaves what it computes in `data` and `tag`; AEADs leave the sealed
/// text, after they have opened it once.
pub(crate) const ENTRIES: &[(&str, Run)] = &[
    ("ECB 128", |level, b| ecb(level, b, Aes128::with_level)),
    ("CBC encrypt", |level, b| {
        let iv = &mut IV.clone();
        Aes128::with_level(&key(), level).cbc_encrypt(iv, whole(b.data)).unwrap();
        b.tag.copy_from_slice(iv);
    }),
    ("CBC decrypt 192", |level, b| {
        Aes192::with_level(&key(), level).cbc_decrypt(&mut IV.clone(), whole(b.data)).unwrap();
    }),
    ("CTR 32", |level, b| {
        Aes128::with_level(&key(), level).ctr(CounterBits::Bits32, &IV, b.data).unwrap();
    }),
    ("CTR 64 192", |level, b| {
        Aes192::with_level(&key(), level).ctr(CounterBits::Bits64, &IV, b.data).unwrap();
    }),
    ("CTR 128 256", |level, b| {
        Aes256::with_level(&key(), level).ctr(CounterBits::Bits128, &IV, b.data).unwrap();
    }),
    ("CTR in pieces", |level, b| {
        let key = Aes128::with_level(&key(), level);
        let mut stream = CtrStream::new(&key, CounterBits::Bits64, IV);
        for piece in pieces(b.data) {
            stream.apply(piece).unwrap();
        }
    }),
    ("CTR with a pattern", |level, b| {
        let key = Aes128::with_level(&key(), level);
        let mut stream = CtrStream::new(&key, CounterBits::Bits64, IV);
        stream.apply_pattern(Pattern::new(1, 9), b.data).unwrap();
    }),
    ("CBCS 1:9 encrypt", |level, b| {
        let key = Aes128::with_level(&key(), level);
        key.cbcs_encrypt(&mut IV.clone(), Pattern::new(1, 9), b.data);
    }),
    ("CBCS 1:9 decrypt", |level, b| {
        let key = Aes128::with_level(&key(), level);
        key.cbcs_decrypt(&mut IV.clone(), Pattern::new(1, 9), b.data);
    }),
    ("CBCS 5:5 encrypt", |level, b| {
        let pattern = Pattern::new(5, 5).encrypt_truncated_runs();
        Aes256::with_level(&key(), level).cbcs_encrypt(&mut IV.clone(), pattern, b.data);
    }),
    ("CBCS 5:5 decrypt", |level, b| {
        let pattern = Pattern::new(5, 5).encrypt_truncated_runs();
        Aes256::with_level(&key(), level).cbcs_decrypt(&mut IV.clone(), pattern, b.data);
    }),
    ("XTS 128", |level, b| {
        let key = Aes128Xts::with_level(&key(), level).unwrap();
        if b.data.len() >= 16 {
            key.encrypt(&IV, b.data).unwrap();
        }
    }),
    ("XTS 192 decrypt", |level, b| {
        let key = Aes192Xts::with_level(&key(), level).unwrap();
        if b.data.len() >= 16 {
            key.decrypt(&IV, b.data).unwrap();
        }
    }),
    ("XTS 256 sectors of 16 and 33", |level, b| {
        let key = Aes256Xts::with_level(&key(), level).unwrap();
        for sector in [16, 33] {
            let rest = b.data.len() % sector;
            key.encrypt_sectors(7, sector, &mut b.data[rest..]).unwrap();
            let whole = b.data.len() - rest;
            key.decrypt_sectors(9, sector, &mut b.data[..whole]).unwrap();
        }
    }),
    ("CMAC 128", |level, b| {
        b.tag.copy_from_slice(&Aes128Cmac::with_level(&key(), level).mac(b.data));
    }),
    ("CMAC 192 in pieces", |level, b| {
        let key = Aes192Cmac::with_level(&key(), level);
        let mut stream = key.stream();
        for piece in pieces(b.data) {
            stream.update(piece);
        }
        b.tag.copy_from_slice(&stream.finish());
    }),
    ("key wrap", |level, b| {
        let key = Aes128KeyWrap::with_level(&key(), level);
        let semiblocks = b.data.len() / 8 * 8;
        if semiblocks >= 16 {
            let wrapped = key.wrap(&b.data[..semiblocks]).unwrap();
            b.data[..semiblocks].copy_from_slice(&wrapped[8..]);
        }
        if !b.data.is_empty() {
            let wrapped = key.wrap_padded(b.data).unwrap();
            b.tag.copy_from_slice(&wrapped[..16]);
        }
    }),
    ("GHASH", |level, b| {
        let mut hash = Ghash::with_level(&IV, level);
        hash.update(b.data);
        b.tag.copy_from_slice(&hash.finish());
    }),
    ("POLYVAL in pieces", |level, b| {
        let mut hash = Polyval::with_level(&IV, level);
        for piece in pieces(b.data) {
            hash.update(piece);
        }
        b.tag.copy_from_slice(&hash.finish());
    }),
    ("CRCs of 32 bits", |level, b| {
        let (mut one, mut other) = (Crc32::with_level(level), Crc32c::with_level(level));
        one.update(b.data);
        other.update(b.data);
        b.tag[..4].copy_from_slice(&one.finish().to_le_bytes());
        b.tag[4..8].copy_from_slice(&other.finish().to_le_bytes());
    }),
    ("CRCs of 64 bits", |level, b| {
        let (mut one, mut other) = (Crc64Nvme::with_level(level), Crc64Xz::with_level(level));
        one.update(b.data);
        other.update(b.data);
        b.tag[..8].copy_from_slice(&one.finish().to_le_bytes());
        b.tag[8..].copy_from_slice(&other.finish().to_le_bytes());
    }),
    ("GCM 128", |level, b| aead(&Aes128Gcm::with_level(&key(), level), b)),
    ("GCM 192", |level, b| aead(&Aes192Gcm::with_level(&key(), level), b)),
    ("GCM 256", |level, b| aead(&Aes256Gcm::with_level(&key(), level), b)),
    ("GCM in pieces", |level, b| {
        let key = Aes128Gcm::with_level(&key(), level);
        let mut sealer = key.sealer(b.nonce).unwrap();
        sealer.aad(b.aad).unwrap();
        for piece in pieces(b.data) {
            sealer.update(piece).unwrap();
        }
        sealer.finish(b.tag).unwrap();
    }),
    ("GMAC", |level, b| {
        Aes128Gcm::with_level(&key(), level).mac(b.nonce, b.data, b.tag).unwrap();
    }),
    ("GCM-SIV 128", |level, b| aead(&Aes128GcmSiv::with_level(&key(), level), b)),
    ("GCM-SIV 256", |level, b| aead(&Aes256GcmSiv::with_level(&key(), level), b)),
    ("CCM 128", |level, b| aead(&Aes128Ccm::with_level(&key(), level), b)),
    ("CCM 192", |level, b| aead(&Aes192Ccm::with_level(&key(), level), b)),
    ("CCM 256", |level, b| aead(&Aes256Ccm::with_level(&key(), level), b)),
    ("CCM in pieces", |level, b| {
        let key = Aes128Ccm::with_level(&key(), level);
        let (aad, text) = (b.aad.len() as u64, b.data.len() as u64);
        let mut sealer = key.sealer(b.nonce, aad, text).unwrap();
        sealer.aad(b.aad).unwrap();
        for piece in pieces(b.data) {
            sealer.update(piece).unwrap();
        }
        sealer.finish(b.tag).unwrap();
    }),
    ("OCB3 128", |level, b| aead(&Aes128Ocb3::with_level(&key(), level), b)),
    ("OCB3 192", |level, b| aead(&Aes192Ocb3::with_level(&key(), level), b)),
    ("OCB3 256", |level, b| aead(&Aes256Ocb3::with_level(&key(), level), b)),
    ("OCB3 in pieces", |level, b| {
        let key = Aes128Ocb3::with_level(&key(), level);
        let mut sealer = key.sealer(b.nonce).unwrap();
        sealer.aad(b.aad).unwrap();
        // Only the last piece may end within a block.
        let (first, last) = b.data.split_at_mut(b.data.len() / 48 * 16);
        sealer.update(first).unwrap();
        sealer.update(last).unwrap();
        sealer.finish(b.tag).unwrap();
    }),
    ("AEGIS-128L", |level, b| {
        aegis(&Aegis128L::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGIS-128X2", |level, b| {
        aegis(&Aegis128X2::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGIS-128X4", |level, b| {
        aegis(&Aegis128X4::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGIS-256", |level, b| {
        aegis(&Aegis256::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGIS-256X2", |level, b| {
        aegis(&Aegis256X2::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGIS-256X4", |level, b| {
        aegis(&Aegis256X4::with_level(&key(), level).with_tag_length(16).unwrap(), b);
    }),
    ("AEGISMAC in pieces", |level, b| {
        let key = Aegis128X2::with_level(&key(), level).with_tag_length(16).unwrap();
        let mut stream = key.mac_stream(&IV).unwrap();
        for piece in pieces(b.data) {
            stream.update(piece).unwrap();
        }
        stream.finish(b.tag).unwrap();
    }),
    ("batch of GCM", |level, b| messages(&Aes128Gcm::with_level(&key(), level), b)),
    ("batch of GCM-SIV", |level, b| messages(&Aes128GcmSiv::with_level(&key(), level), b)),
    ("batch of CCM", |level, b| messages(&Aes128Ccm::with_level(&key(), level), b)),
    ("batch of OCB3", |level, b| messages(&Aes128Ocb3::with_level(&key(), level), b)),
    ("lanes of CBC", |level, b| chains(level, Pattern::ALL, b)),
    ("lanes of CBCS 1:9", |level, b| chains(level, Pattern::new(1, 9), b)),
    ("lanes of CMAC", |level, b| {
        let small = Aes128Cmac::with_level(&key(), level);
        let large = Aes256Cmac::with_level(&key(), level);
        let mut jobs: Vec<_> = pieces(b.data)
            .enumerate()
            .map(|(number, piece)| match number % 3 {
                0 => MacJob::new(&large, piece),
                _ => MacJob::new(&small, piece),
            })
            .collect();
        lanes::mac(&mut jobs);
        for job in &jobs {
            b.tag.iter_mut().zip(job.mac).for_each(|(tag, mac)| *tag = tag.rotate_left(1) ^ mac);
        }
    }),
    ("scheduler", |level, b| {
        let key = Aes128::with_level(&key(), level);
        let mut scheduler = Scheduler::new(Order::Submitted);
        for data in pieces(b.data) {
            scheduler.submit(OwnedJob::new(&key, IV, Pattern::new(1, 1), data, ())).unwrap();
        }
        scheduler.flush().unwrap();
    }),
];

/// Low 64 and low 32 bits of a counter wrap soon, not at once.
const IV: [u8; 16] =
    [0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0, 0, 0, 0, 0x0f, 0x1e, 0x2d, 0x3c];

/// Any key; its halves differ, as XTS demands.
fn key<const N: usize>() -> [u8; N] {
    std::array::from_fn(|at| u8::try_from(at * 3 + 1).unwrap())
}

/// The last bytes that are whole blocks.
fn whole(data: &mut [u8]) -> &mut [u8] {
    let rest = data.len() % 16;
    &mut data[rest..]
}

/// Nine pieces, each half as long again as the one before; some are empty in short data.
fn pieces(data: &mut [u8]) -> impl Iterator<Item = &mut [u8]> {
    let lengths = [1, 2, 3, 4, 6, 9, 14, 21].map(|share| data.len() * share / 100);
    let (mut rest, mut lengths) = (Some(data), lengths.into_iter());
    std::iter::from_fn(move || {
        let Some(length) = lengths.next() else { return rest.take() };
        let (piece, later) = rest.take()?.split_at_mut(length);
        rest = Some(later);
        Some(piece)
    })
}

fn ecb(level: AesLevel, b: Buffers<'_>, make: fn(&[u8; 16], AesLevel) -> Aes128) {
    let key = make(&key(), level);
    key.ecb_encrypt(whole(b.data)).unwrap();
    let half = b.data.len() / 32 * 16;
    key.ecb_decrypt(&mut b.data[..half]).unwrap();
}

fn aead<A: Aead>(key: &A, b: Buffers<'_>) {
    sealed_opened_sealed(key, b.nonce, b);
}

fn aegis<A: Aead>(key: &A, b: Buffers<'_>) {
    let nonce = [IV, IV].concat();
    let nonce = [32, 16].map(|length| &nonce[..length]);
    let fits =
        nonce.into_iter().find(|nonce| key.seal(nonce, b.aad, &mut [], &mut [0; 16]).is_ok());
    sealed_opened_sealed(key, fits.unwrap(), b);
}

fn sealed_opened_sealed<A: Aead>(key: &A, nonce: &[u8], b: Buffers<'_>) {
    let clear = b.data.to_vec();
    key.seal(nonce, b.aad, b.data, b.tag).unwrap();
    key.open(nonce, b.aad, b.data, b.tag).unwrap();
    assert_eq!(b.data, clear);
    key.seal(nonce, b.aad, b.data, b.tag).unwrap();
    // A forged message zeroes the output, which is a write of its own.
    let mut forged = b.data.to_vec();
    let mut tag = b.tag.to_vec();
    tag[0] ^= 1;
    assert!(key.open(nonce, b.aad, &mut forged, &tag).is_err());
    assert!(forged.iter().all(|&byte| byte == 0));
}

fn messages<A: Batch>(key: &A, b: Buffers<'_>) {
    // Nine of different lengths are too few for a gain.
    batch::prefer_lanes(true);
    let clear = b.data.to_vec();
    let mut tags = [[0; 16]; 9];
    for seal in [true, false, true] {
        let mut messages: Vec<_> = pieces(b.data)
            .zip(&mut tags)
            .map(|(data, tag)| Message::new(key, b.nonce, b.aad, data, tag))
            .collect();
        let done = if seal { batch::seal(&mut messages) } else { batch::open(&mut messages) };
        done.unwrap();
        assert!(seal || b.data == clear);
    }
    for tag in tags {
        b.tag.iter_mut().zip(tag).for_each(|(sum, tag)| *sum = sum.rotate_left(1) ^ tag);
    }
}

fn chains(level: AesLevel, pattern: Pattern, b: Buffers<'_>) {
    let (small, large) = (Aes128::with_level(&key(), level), Aes256::with_level(&key(), level));
    let mut jobs: Vec<_> = pieces(b.data)
        .enumerate()
        .map(|(number, piece)| match number % 4 {
            0 => Job::new(&large, IV, pattern, piece),
            _ => Job::new(&small, IV, pattern, piece),
        })
        .collect();
    lanes::encrypt(&mut jobs);
    for job in &jobs {
        b.tag.iter_mut().zip(job.iv).for_each(|(sum, iv)| *sum = sum.rotate_left(1) ^ iv);
    }
}

/// The lengths to be tried: all up to beyond twice the widest group of blocks in a long run, else
/// those around whole numbers of vectors.
pub(crate) fn lengths() -> Vec<usize> {
    let near = |length: usize| [0, 1, 15].contains(&(length % 16));
    let short = |length: usize| length <= 33 || (length <= 300 && length % 4 < 2 && near(length));
    let extra = [511, 512, 513, 600];
    (0..=600).filter(|&n| lanelock_testkit::is_long() || short(n) || extra.contains(&n)).collect()
}
