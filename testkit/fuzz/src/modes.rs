//! Modes for one buffer: every level against the oracle, block by block, and against another implementation;
//! in place, from buffer to buffer and in pieces. Hashes in pieces, against the portable level as a whole.

use arbitrary::{Result, Unstructured};
use lanelock::{
    Aes, AesLevel, Block, Cmac, CounterBits, CtrStream, Error, InOut, Key, KeyWrap, SizedCipher,
    Xts,
    hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, Polyval},
};

use crate::{
    input::{array, bytes, cuts},
    oracle::{self, Runs},
};

/// What another implementation is asked to encrypt.
#[derive(Debug)]
pub struct Question<'a> {
    /// `CBC`, `CTR` (of 128 bits) or `XTS`.
    pub mode: &'a str,
    /// Its length says which AES; of XTS both keys.
    pub key: &'a [u8],
    /// IV, counter or tweak.
    pub iv: Block,
    /// The text.
    pub text: &'a [u8],
}

/// Another implementation: the ciphertext, or nothing if it does not take such a text.
pub type Peer = fn(&Question<'_>) -> Option<Vec<u8>>;

/// The target, with one more implementation to compare with.
pub fn modes(data: &[u8], peer: Peer) {
    // An input that ends too early is none.
    let _ = run(data, peer);
}

const LONGEST: usize = 1500;

macro_rules! of_size {
    ($case:ident, $u:ident, $bits:literal, $bytes:literal, $two:literal) => {{
        let short: &[u8; $bytes] = $case.key.first_chunk().expect("64 are more");
        let key = |level| Key::<Aes<$bits>>::with_level(short, level);
        match $case.mode % 8 {
            6 => $case.hashes($u)?,
            0 => $case.ecb(short, key),
            1 => $case.cbc(short, key),
            2 => $case.ctr(short, key),
            3 => $case.ctr_in_pieces($u, short, key)?,
            4 => {
                let both: &[u8; $two] = $case.key.first_chunk().expect("64 bytes");
                $case.xts($u, both, |level| Xts::<Aes<$bits>>::with_level(both, level))?;
            }
            5 => $case.cmac($u, short, |level| Cmac::<Aes<$bits>>::with_level(short, level))?,
            _ => $case.wrap(short, |level| KeyWrap::<Aes<$bits>>::with_level(short, level)),
        }
    }};
}

fn run(data: &[u8], peer: Peer) -> Result<()> {
    let u = &mut Unstructured::new(data);
    let (mode, size): (u8, u8) = (u.arbitrary()?, u.arbitrary()?);
    let bits = *u.choose(&[CounterBits::Bits32, CounterBits::Bits64, CounterBits::Bits128])?;
    let mut iv: Block = array(u)?;
    // Counters that wrap soon.
    match u.arbitrary::<u8>()? % 4 {
        0 => iv[12..15].fill(0xff),
        1 => iv[8..15].fill(0xff),
        2 => iv[..15].fill(0xff),
        _ => {}
    }
    let runs = Runs {
        crypt: u.int_in_range(0..=15)?,
        skip: u.int_in_range(0..=15)?,
        truncated: u.arbitrary()?,
    };
    let case = Case { mode, peer, bits, iv, runs, key: array(u)?, text: bytes(u, LONGEST)? };
    match size % 3 {
        0 => of_size!(case, u, 128, 16, 32),
        1 => of_size!(case, u, 192, 24, 48),
        _ => of_size!(case, u, 256, 32, 64),
    }
    Ok(())
}

struct Case {
    mode: u8,
    peer: Peer,
    bits: CounterBits,
    iv: Block,
    runs: Runs,
    key: [u8; 64],
    text: Vec<u8>,
}

impl Case {
    /// The whole blocks of the text.
    fn blocks(&self) -> &[u8] {
        &self.text[..self.text.len() / 16 * 16]
    }

    /// Compares with what another implementation says, if it says anything.
    fn ask(&self, mode: &str, key: &[u8], text: &[u8], expected: &[u8]) {
        if let Some(theirs) = (self.peer)(&Question { mode, key, iv: self.iv, text }) {
            assert_eq!(theirs, expected, "{mode}: another implementation");
        }
    }

    fn ecb<C: SizedCipher>(&self, key: &[u8], make: impl Fn(AesLevel) -> Key<C>) {
        let mut expected = self.blocks().to_vec();
        oracle::Aes::new(key).ecb(&mut expected);
        for level in AesLevel::available() {
            let key = make(level);
            let mut data = self.blocks().to_vec();
            key.ecb_encrypt(&mut data).expect("whole blocks");
            assert_eq!(data, expected, "{level}: ECB");
            key.ecb_decrypt(&mut data).expect("whole blocks");
            assert_eq!(data, self.blocks(), "{level}: ECB, decrypted");
            let partial = !self.text.len().is_multiple_of(16);
            let result = key.ecb_encrypt(&mut self.text.clone());
            assert_eq!(result.is_err(), partial, "{level}: ECB of {} bytes", self.text.len());
        }
    }

    /// CBC, and CBCS of any pattern.
    fn cbc<C: SizedCipher>(&self, key: &[u8], make: impl Fn(AesLevel) -> Key<C>) {
        let reference = oracle::Aes::new(key);
        let (mut last, mut expected) = (self.iv, self.blocks().to_vec());
        reference.cbc(&mut last, Runs::ALL, &mut expected);
        self.ask("CBC", key, self.blocks(), &expected);
        let (mut cbcs_last, mut cbcs) = (self.iv, self.text.clone());
        reference.cbc(&mut cbcs_last, self.runs, &mut cbcs);
        for level in AesLevel::available() {
            let key = make(level);
            let (mut iv, mut data) = (self.iv, vec![0; expected.len()]);
            let both = InOut::new(self.blocks(), &mut data).expect("as long");
            key.cbc_encrypt_inout(&mut iv, both).expect("whole blocks");
            assert_eq!((&data, iv), (&expected, last), "{level}: CBC");
            let mut iv = self.iv;
            key.cbc_decrypt(&mut iv, &mut data).expect("whole blocks");
            assert_eq!((&data[..], iv), (self.blocks(), last), "{level}: CBC, decrypted");
            let (mut iv, mut data) = (self.iv, self.text.clone());
            key.cbcs_encrypt(&mut iv, self.runs.pattern(), &mut data);
            assert_eq!((&data, iv), (&cbcs, cbcs_last), "{level}: {:?}", self.runs);
            let mut iv = self.iv;
            key.cbcs_decrypt(&mut iv, self.runs.pattern(), &mut data);
            assert_eq!((&data, iv), (&self.text, cbcs_last), "{level}: {:?} decrypted", self.runs);
        }
    }

    fn ctr<C: SizedCipher>(&self, key: &[u8], make: impl Fn(AesLevel) -> Key<C>) {
        let Self { bits, iv, text, .. } = self;
        let mut expected = text.clone();
        oracle::Aes::new(key).ctr(*bits, *iv, 0, &mut expected);
        if *bits == CounterBits::Bits128 {
            self.ask("CTR", key, text, &expected);
        }
        for level in AesLevel::available() {
            let key = make(level);
            let mut data = text.clone();
            key.ctr(*bits, iv, &mut data).expect("a short text");
            assert_eq!(data, expected, "{level}: CTR of {bits:?}");
            let both = InOut::new(text, &mut data).expect("as long");
            key.ctr_inout(*bits, iv, both).expect("a short text");
            assert_eq!(data, expected, "{level}: CTR of {bits:?}, from buffer to buffer");
        }
    }

    /// Pieces, in between jumps and patterns.
    fn ctr_in_pieces<C: SizedCipher>(
        &self,
        u: &mut Unstructured<'_>,
        key: &[u8],
        make: impl Fn(AesLevel) -> Key<C>,
    ) -> Result<()> {
        let Self { bits, iv, text, runs, .. } = self;
        let reference = oracle::Aes::new(key);
        let pieces = cuts(u, text, 1)?;
        let (end, most) = match bits {
            CounterBits::Bits32 => (1_u128 << 36, 1_u64 << 36),
            CounterBits::Bits64 => (1 << 68, u64::MAX),
            _ => (u128::MAX, u64::MAX),
        };
        let jump = match u.arbitrary::<u8>()? % 4 {
            0 => end - u128::from(u.arbitrary::<u16>()?),
            1 => u.int_in_range(0..=most)?.into(),
            _ => u.arbitrary::<u16>()?.into(),
        };
        for level in AesLevel::available() {
            let key = make(level);
            let mut stream = CtrStream::new(&key, *bits, *iv);
            let mut position = 0;
            for piece in &pieces {
                let (mut data, mut expected) = (piece.to_vec(), piece.to_vec());
                stream.apply(&mut data).expect("a short text");
                reference.ctr(*bits, *iv, position, &mut expected);
                assert_eq!(data, expected, "{level}: {bits:?} at {position}");
                position += piece.len() as u128;
            }
            stream.seek(jump).expect("within the stream");
            let (mut data, mut expected) = (text.clone(), text.clone());
            // Of the counter of 128 bits the end is nearer than a position can say.
            let room = if *bits == CounterBits::Bits128 { u128::MAX } else { end - jump };
            if text.len() as u128 <= room {
                stream.apply(&mut data).expect("there is room");
                reference.ctr(*bits, *iv, jump, &mut expected);
            } else {
                assert_eq!(stream.apply(&mut data), Err(Error::MessageLength), "{level}: {jump}");
            }
            assert_eq!(data, expected, "{level}: {bits:?} at {jump}");
            let mut stream = CtrStream::new(&key, *bits, *iv);
            let (mut data, mut expected) = (text.clone(), text.clone());
            stream.apply_pattern(runs.pattern(), &mut data).expect("a short text");
            reference.ctr_runs(*bits, *iv, *runs, &mut expected);
            assert_eq!(data, expected, "{level}: {bits:?} with {runs:?}");
        }
        Ok(())
    }

    fn xts<C: SizedCipher>(
        &self,
        u: &mut Unstructured<'_>,
        key: &[u8],
        make: impl Fn(AesLevel) -> std::result::Result<Xts<C>, Error>,
    ) -> Result<()> {
        let Self { iv: tweak, text, .. } = self;
        let (one, two) = key.split_at(key.len() / 2);
        let size = u.int_in_range(0..=600)?;
        let first = match u.arbitrary::<u8>()? % 3 {
            0 => u128::MAX - 2,
            1 => u64::MAX.into(),
            _ => u.arbitrary::<u64>()?.into(),
        };
        let (data_key, tweak_key) = (oracle::Aes::new(one), oracle::Aes::new(two));
        let mut expected = text.clone();
        if text.len() >= 16 {
            data_key.xts(&tweak_key, *tweak, &mut expected);
            if one != two {
                self.ask("XTS", key, text, &expected);
            }
        }
        let whole = text.len() / size.max(1) * size;
        let mut sectors = text[..whole].to_vec();
        if size >= 16 {
            for (number, sector) in (0..).zip(sectors.chunks_mut(size)) {
                let tweak = first.wrapping_add(number).to_le_bytes();
                data_key.xts(&tweak_key, tweak, sector);
            }
        }
        for level in AesLevel::available() {
            let key = make(level);
            let Ok(key) = key else {
                assert_eq!((key.err(), one == two), (Some(Error::EqualKeys), true));
                continue;
            };
            let mut data = text.clone();
            let result = key.encrypt(tweak, &mut data);
            assert_eq!(result.is_ok(), text.len() >= 16, "{level}: XTS of {} bytes", text.len());
            assert_eq!(data, expected, "{level}: XTS");
            let _ = key.decrypt(tweak, &mut data);
            assert_eq!(data, *text, "{level}: XTS, decrypted");
            let mut data = text[..whole].to_vec();
            let result = key.encrypt_sectors(first, size, &mut data);
            assert_eq!(result.is_ok(), size >= 16, "{level}: sectors of {size} bytes");
            assert_eq!(data, sectors, "{level}: sectors of {size} bytes from {first} on");
            let _ = key.decrypt_sectors(first, size, &mut data);
            assert_eq!(data, &text[..whole], "{level}: sectors, decrypted");
        }
        Ok(())
    }

    fn cmac<C: SizedCipher>(
        &self,
        u: &mut Unstructured<'_>,
        key: &[u8],
        make: impl Fn(AesLevel) -> Cmac<C>,
    ) -> Result<()> {
        let expected = oracle::Aes::new(key).cmac(&self.text);
        let pieces = cuts(u, &self.text, 1)?;
        let mut forged = expected;
        forged[u.choose_index(16)?] ^= 1 << u.choose_index(8)?;
        for level in AesLevel::available() {
            let key = make(level);
            assert_eq!(key.mac(&self.text), expected, "{level}: CMAC");
            assert_eq!(key.verify(&self.text, &expected), Ok(()), "{level}: CMAC");
            let result = key.verify(&self.text, &forged);
            assert_eq!(result, Err(Error::Authentication), "{level}: a forged CMAC");
            let mut stream = key.stream();
            for piece in &pieces {
                stream.update(piece);
            }
            assert_eq!(stream.finish(), expected, "{level}: CMAC in pieces");
        }
        Ok(())
    }

    fn hashes(&self, u: &mut Unstructured<'_>) -> Result<()> {
        let pieces = cuts(u, &self.text, 1)?;
        let all = |level, pieces: &[&[u8]]| {
            let mut ghash = Ghash::with_level(&self.iv, level);
            let mut polyval = Polyval::with_level(&self.iv, level);
            let (mut crc32, mut crc32c) = (Crc32::with_level(level), Crc32c::with_level(level));
            let (mut nvme, mut xz) = (Crc64Nvme::with_level(level), Crc64Xz::with_level(level));
            for piece in pieces {
                ghash.update(piece);
                polyval.update(piece);
                crc32.update(piece);
                crc32c.update(piece);
                nvme.update(piece);
                xz.update(piece);
            }
            let crcs = [crc32.finish().into(), crc32c.finish().into(), nvme.finish(), xz.finish()];
            (ghash.finish(), polyval.finish(), crcs)
        };
        let portable = "portable".parse().expect("every processor has it");
        let expected = all(portable, &[&self.text]);
        for level in AesLevel::available() {
            assert_eq!(all(level, &pieces), expected, "{level}: hashes in pieces");
        }
        Ok(())
    }

    fn wrap<C: SizedCipher>(&self, key: &[u8], make: impl Fn(AesLevel) -> KeyWrap<C>) {
        let reference = oracle::Aes::new(key);
        let text = &self.text[..self.text.len().min(200)];
        let fits = text.len() >= 16 && text.len().is_multiple_of(8);
        for level in AesLevel::available() {
            let key = make(level);
            let wrapped = key.wrap(text);
            assert_eq!(wrapped.is_ok(), fits, "{level}: KW of {} bytes", text.len());
            if let Ok(mut wrapped) = wrapped {
                assert_eq!(wrapped, reference.wrap(text), "{level}: KW");
                assert_eq!(key.unwrap(&wrapped).expect("its own")[..], *text, "{level}: KW");
                wrapped[usize::from(self.iv[0]) % text.len()] ^= 0x40;
                assert_eq!(key.unwrap(&wrapped).err(), Some(Error::Authentication), "{level}");
            }
            let wrapped = key.wrap_padded(text);
            assert_eq!(wrapped.is_ok(), !text.is_empty(), "{level}: KWP of {} bytes", text.len());
            if let Ok(mut wrapped) = wrapped {
                assert_eq!(wrapped, reference.wrap_padded(text), "{level}: KWP");
                assert_eq!(
                    key.unwrap_padded(&wrapped).expect("its own")[..],
                    *text,
                    "{level}: KWP"
                );
                wrapped[usize::from(self.iv[0]) % text.len()] ^= 0x40;
                let result = key.unwrap_padded(&wrapped);
                assert_eq!(result.err(), Some(Error::Authentication), "{level}: a forged KWP");
            }
            // What nobody has wrapped: an error, whatever its length.
            assert!(key.unwrap(text).is_err() && key.unwrap_padded(text).is_err(), "{level}");
        }
    }
}
