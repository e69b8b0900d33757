//! AEGIS: published vectors on every level, a model straight from the draft, and every level against
//! the portable one.

use lanelock::{
    AesLevel, Block, Error, InOut,
    aead::{Aead, Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4},
    last_level_run,
};
use lanelock_testkit::{
    self as testkit, AeadCase, MacCase, Rng,
    aegis::{self, AegisVariant},
    hex,
};

/// What all variants have in common.
trait Key: Aead {
    fn mac(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error>;
    fn verify_mac(&self, nonce: &[u8], data: &[u8], tag: &[u8]) -> Result<(), Error>;
    /// The same in pieces.
    fn mac_pieces(&self, nonce: &[u8], data: &[&[u8]], tag: &mut [u8]) -> Result<(), Error>;
    fn seal_pieces(&self, nonce: &[u8], aad: &[&[u8]], text: &[&[u8]]) -> Result<Vec<u8>, Error>;
    fn open_pieces(
        &self,
        nonce: &[u8],
        aad: &[&[u8]],
        text: &[&[u8]],
        tag: &[u8],
    ) -> Result<Vec<u8>, Error>;
    fn debug(&self) -> String;
}

macro_rules! key {
    ($($name:ident),+) => {
        $(impl Key for $name {
            fn mac(&self, nonce: &[u8], data: &[u8], tag: &mut [u8]) -> Result<(), Error> {
                self.mac(nonce, data, tag)
            }
            fn verify_mac(&self, nonce: &[u8], data: &[u8], tag: &[u8]) -> Result<(), Error> {
                self.verify_mac(nonce, data, tag)
            }
            fn mac_pieces(
                &self,
                nonce: &[u8],
                data: &[&[u8]],
                tag: &mut [u8],
            ) -> Result<(), Error> {
                let mut stream = self.mac_stream(nonce)?;
                for piece in data {
                    stream.update(piece)?;
                }
                stream.clone().finish(tag)?;
                stream.verify(tag)
            }
            fn seal_pieces(
                &self,
                nonce: &[u8],
                aad: &[&[u8]],
                text: &[&[u8]],
            ) -> Result<Vec<u8>, Error> {
                let mut sealer = self.sealer(nonce)?;
                for piece in aad {
                    sealer.aad(piece)?;
                }
                let mut sealed = Vec::new();
                for piece in text {
                    let at = sealed.len();
                    sealed.extend_from_slice(piece);
                    sealer.update(&mut sealed[at..])?;
                }
                let mut tag = vec![0; self.tag_length()];
                sealer.finish(&mut tag)?;
                Ok([sealed, tag].concat())
            }
            fn open_pieces(
                &self,
                nonce: &[u8],
                aad: &[&[u8]],
                text: &[&[u8]],
                tag: &[u8],
            ) -> Result<Vec<u8>, Error> {
                let mut opener = self.opener(nonce)?;
                for piece in aad {
                    opener.aad(piece)?;
                }
                for piece in text {
                    opener.update(piece)?;
                }
                opener.finish(tag)
            }
            fn debug(&self) -> String {
                format!("{self:?}")
            }
        })+

        fn key(variant: AegisVariant, bytes: &[u8], level: AesLevel, tag: usize) -> Box<dyn Key> {
            match variant {
                $(AegisVariant::$name => Box::new(
                    $name::with_level(bytes.try_into().unwrap(), level).with_tag_length(tag).unwrap(),
                )),+
            }
        }
    };
}

key!(Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4);

/// Every level that this processor has; the others are named as skipped.
fn levels() -> Vec<AesLevel> {
    for (name, _) in AesLevel::known() {
        if let Err(error) = name.parse::<AesLevel>() {
            testkit::skip(&format!("level {name}: {error}"));
        }
    }
    AesLevel::available()
}

fn portable() -> AesLevel {
    "portable".parse::<AesLevel>().unwrap()
}

/// Bytes of a key and of a nonce.
fn key_length(variant: AegisVariant) -> usize {
    if variant.name().contains("128") { 16 } else { 32 }
}

#[test]
fn vectors() {
    for variant in AegisVariant::ALL {
        let more = match variant {
            AegisVariant::Aegis128L => aegis::wycheproof_128l(),
            AegisVariant::Aegis256 => aegis::wycheproof_256(),
            _ => Vec::new(),
        };
        let cases = [aegis::draft(variant), more].concat();
        assert!(!cases.is_empty());
        for level in levels() {
            for case in &cases {
                check(variant, level, case);
            }
        }
    }
}

fn check(variant: AegisVariant, level: AesLevel, case: &AeadCase) {
    let at = format!("{level}: {} {}", case.source, case.name);
    let tag_length = if case.tag.len() == 16 { 16 } else { 32 };
    let key = key(variant, &case.key, level, tag_length);
    let sealed = case.sealed();
    let opened = key.open_vec(&case.nonce, &case.aad, &sealed);
    let pieces = key.open_pieces(&case.nonce, &[&case.aad], &[&case.ciphertext], &case.tag);
    let mut text = case.ciphertext.clone();
    let in_place = key.open(&case.nonce, &case.aad, &mut text, &case.tag);
    if case.valid {
        assert_eq!(hex(&opened.unwrap()), hex(&case.plaintext), "{at}");
        assert_eq!(hex(&pieces.unwrap()), hex(&case.plaintext), "{at}");
        assert_eq!((in_place, hex(&text)), (Ok(()), hex(&case.plaintext)), "{at}");
        let again = key.seal_vec(&case.nonce, &case.aad, &case.plaintext).unwrap();
        assert_eq!(hex(&again), hex(&sealed), "{at}");
        assert!(last_level_run().is_none_or(|ran| ran == level), "{at}: another level ran");
    } else {
        assert!(opened.is_err() && pieces.is_err(), "{at}");
        match in_place.unwrap_err() {
            Error::Authentication => {
                assert!(text.iter().all(|byte| *byte == 0), "{at}: the output is not zeroed");
            }
            Error::NonceLength => assert_ne!(case.nonce.len(), key_length(variant), "{at}"),
            Error::TagLength => assert_ne!(case.tag.len(), tag_length, "{at}"),
            error => panic!("{at}: {error}"),
        }
    }
}

#[test]
fn mac_vectors() {
    for variant in AegisVariant::ALL {
        let cases: Vec<MacCase> = aegis::draft_mac(variant);
        assert!(!cases.is_empty());
        for level in levels() {
            for case in &cases {
                let at = format!("{level}: {} {}", case.source, case.name);
                let key = key(variant, &case.key, level, case.tag.len());
                let mut tag = vec![0; case.tag.len()];
                key.mac(&case.nonce, &case.message, &mut tag).unwrap();
                assert_eq!(hex(&tag), hex(&case.tag), "{at}");
                key.verify_mac(&case.nonce, &case.message, &tag).unwrap();
                let (a, b) = case.message.split_at(case.message.len() / 2);
                key.mac_pieces(&case.nonce, &[a, b], &mut tag).unwrap();
                assert_eq!(hex(&tag), hex(&case.tag), "{at}");
                tag[3] ^= 1;
                let error = key.verify_mac(&case.nonce, &case.message, &tag).unwrap_err();
                assert_eq!(error, Error::Authentication, "{at}");
            }
        }
    }
}

/// The model itself against what the draft gives for its parts.
#[test]
fn the_model_is_the_draft() {
    let case = aegis::draft_aes_round();
    assert_eq!(model::aes_round(&case.input, &case.round_key), case.output);
    for variant in AegisVariant::ALL {
        if let Some(case) = aegis::draft_update(variant) {
            let mut lane = case.state;
            model::update(&mut lane, &case.message);
            assert_eq!(lane, case.updated, "{variant:?}");
        }
        if let Some(case) = aegis::draft_initialized(variant) {
            let state = model::State::init(&case.key, &case.nonce, variant.degree());
            let words = state.0[0].len();
            let flat: Vec<Block> =
                (0..words).flat_map(|j| state.0.iter().map(move |lane| lane[j])).collect();
            assert_eq!(flat, case.state, "{variant:?}");
        }
        for case in aegis::draft_mac(variant) {
            let tag =
                model::mac(&case.key, &case.nonce, variant.degree(), &case.message, case.tag.len());
            assert_eq!(hex(&tag), hex(&case.tag), "{variant:?}");
        }
        for case in aegis::draft(variant).iter().filter(|case| case.valid) {
            let sealed = model::seal(
                &case.key,
                &case.nonce,
                variant.degree(),
                &case.aad,
                &case.plaintext,
                case.tag.len(),
            );
            assert_eq!(hex(&sealed), hex(&case.sealed()), "{variant:?}");
        }
    }
}

/// Random messages of every length up to several updates, at every level, against the model.
#[test]
fn every_level_is_the_model() {
    let mut rng = Rng::from_env("every_level_is_the_model");
    let levels = levels();
    for variant in AegisVariant::ALL {
        for length in (0..300).chain([600, 1000, 1024, 1025]) {
            let (bytes, nonce) = (rng.bytes(key_length(variant)), rng.bytes(key_length(variant)));
            let aad_length = rng.below(300);
            let (aad, text) = (rng.bytes(aad_length), rng.bytes(length));
            let tag_length = if rng.one_in(2) { 16 } else { 32 };
            let sealed = model::seal(&bytes, &nonce, variant.degree(), &aad, &text, tag_length);
            let mac = model::mac(&bytes, &nonce, variant.degree(), &text, tag_length);
            for &level in &levels {
                let at = format!("{level}: {variant:?}, {length} bytes, AAD {aad_length}");
                let key = key(variant, &bytes, level, tag_length);
                assert_eq!(hex(&key.seal_vec(&nonce, &aad, &text).unwrap()), hex(&sealed), "{at}");
                assert_eq!(hex(&key.open_vec(&nonce, &aad, &sealed).unwrap()), hex(&text), "{at}");
                let mut tag = vec![0; tag_length];
                key.mac(&nonce, &text, &mut tag).unwrap();
                assert_eq!(hex(&tag), hex(&mac), "{at}");
            }
        }
    }
}

/// Every level against the portable one: unaligned, in place and from one buffer to another, with
/// proof that nothing is written elsewhere.
#[test]
fn every_level_is_the_portable_one() {
    let mut rng = Rng::from_env("every_level_is_the_portable_one");
    for variant in AegisVariant::ALL {
        for length in 0..=600 {
            let (bytes, nonce) = (rng.bytes(key_length(variant)), rng.bytes(key_length(variant)));
            let aad_length = [0, 1, 15, 16, 64, 128, rng.below(600)][length % 7];
            let aad = rng.bytes(aad_length);
            let (from, to) = (rng.below(64), rng.below(64));
            let text = rng.bytes(length);
            let soft = key(variant, &bytes, portable(), 32);
            let expected = soft.seal_vec(&nonce, &aad, &text).unwrap();
            let (ciphertext, expected_tag) = expected.split_at(length);
            for level in levels().into_iter().skip(1) {
                let at = format!("{level}: {variant:?}, {length} bytes, AAD {aad_length}");
                let key = key(variant, &bytes, level, 32);
                // A buffer of which the text is a part, and what it must be afterwards.
                let around = |text: &[u8], offset: usize| {
                    let mut buffer = testkit::pattern(length + 128);
                    buffer[offset..][..length].copy_from_slice(text);
                    buffer
                };
                let mut tag = [0; 32];

                let mut buffer = around(&text, from);
                key.seal(&nonce, &aad, &mut buffer[from..][..length], &mut tag).unwrap();
                assert!(buffer == around(ciphertext, from) && tag == *expected_tag, "{at}: seal");
                key.open(&nonce, &aad, &mut buffer[from..][..length], &tag).unwrap();
                assert!(buffer == around(&text, from), "{at}: open");

                tag = [0; 32];
                let (input, mut output) = (around(&text, from), testkit::pattern(length + 128));
                let data =
                    InOut::new(&input[from..][..length], &mut output[to..][..length]).unwrap();
                key.seal_inout(&nonce, &aad, data, &mut tag).unwrap();
                assert!(output == around(ciphertext, to) && tag == *expected_tag, "{at}: seal to");
                let (input, mut output) = (output, testkit::pattern(length + 128));
                let data =
                    InOut::new(&input[to..][..length], &mut output[from..][..length]).unwrap();
                key.open_inout(&nonce, &aad, data, &tag).unwrap();
                assert!(output == around(&text, from), "{at}: open to");
                assert!(last_level_run().is_none_or(|ran| ran == level), "{at}: another level ran");
            }
        }
    }
}

/// Pieces of any length make the same message as one call.
#[test]
fn pieces_are_the_whole() {
    fn split<'a>(rng: &mut Rng, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let most = *rng.pick(&[1, 7, 16, 100, 700]);
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(bytes.len().min(rng.below(most + 1)));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
    let mut rng = Rng::from_env("pieces_are_the_whole");
    for level in levels() {
        for variant in AegisVariant::ALL {
            for round in 0..40 {
                let tag_length = if round % 2 == 0 { 16 } else { 32 };
                let key = key(variant, &rng.bytes(key_length(variant)), level, tag_length);
                let nonce = rng.bytes(key_length(variant));
                let most = *rng.pick(&[1, 40, 300, 1200]);
                let (aad, text) = (rng.below(most), rng.below(most));
                let (aad, text) = (rng.bytes(aad), rng.bytes(text));
                let sealed = key.seal_vec(&nonce, &aad, &text).unwrap();
                let (ciphertext, tag) = sealed.split_at(text.len());
                let at = format!("{} {} bytes, AAD {}", key.debug(), text.len(), aad.len());

                let (a, t) = (split(&mut rng, &aad), split(&mut rng, &text));
                assert_eq!(hex(&key.seal_pieces(&nonce, &a, &t).unwrap()), hex(&sealed), "{at}");
                let c = split(&mut rng, ciphertext);
                let opened = key.open_pieces(&nonce, &a, &c, tag).unwrap();
                assert_eq!(hex(&opened), hex(&text), "{at}");

                let (mut whole, mut pieces) = (vec![0; tag_length], vec![0; tag_length]);
                key.mac(&nonce, &text, &mut whole).unwrap();
                key.mac_pieces(&nonce, &t, &mut pieces).unwrap();
                assert_eq!(hex(&whole), hex(&pieces), "{at}: MAC");
            }
        }
    }
}

/// Whatever is changed, opening fails and leaves nothing.
#[test]
fn a_failed_open_zeroes() {
    let mut rng = Rng::from_env("a_failed_open_zeroes");
    for level in levels() {
        for variant in AegisVariant::ALL {
            for length in [0, 1, 16, 31, 64, 129, 1000] {
                for tag_length in [16, 32] {
                    let key = key(variant, &rng.bytes(key_length(variant)), level, tag_length);
                    let nonce = rng.bytes(key_length(variant));
                    let (aad, text) = (rng.bytes(20), rng.bytes(length));
                    let sealed = key.seal_vec(&nonce, &aad, &text).unwrap();
                    let (ciphertext, tag) = sealed.split_at(length);
                    for changed in 0..4 {
                        let [mut nonce, mut aad, mut ciphertext, mut tag] =
                            [&nonce, &aad, ciphertext, tag].map(<[u8]>::to_vec);
                        let what = [&mut nonce, &mut aad, &mut tag, &mut ciphertext];
                        let Some(what) = what.into_iter().nth(changed).filter(|w| !w.is_empty())
                        else {
                            continue;
                        };
                        let bit = rng.below(8 * what.len());
                        what[bit / 8] ^= 1 << (bit % 8);
                        let at = format!("{} {length} bytes, changed {changed}", key.debug());

                        let mut in_place = ciphertext.clone();
                        let error = key.open(&nonce, &aad, &mut in_place, &tag).unwrap_err();
                        assert_eq!(error, Error::Authentication, "{at}");
                        assert!(in_place.iter().all(|byte| *byte == 0), "{at}");

                        let sealed = [&ciphertext[..], &tag].concat();
                        let mut output = vec![0xee; length];
                        let error = key.open_to(&nonce, &aad, &sealed, &mut output).unwrap_err();
                        assert_eq!(error, Error::Authentication, "{at}");
                        assert!(output.iter().all(|byte| *byte == 0), "{at}");

                        let error =
                            key.open_pieces(&nonce, &[&aad], &[&ciphertext], &tag).unwrap_err();
                        assert_eq!(error, Error::Authentication, "{at}");
                    }
                }
            }
        }
    }
}

#[test]
fn lengths_that_do_not_fit_are_errors() {
    for variant in AegisVariant::ALL {
        let length = key_length(variant);
        let key = key(variant, &vec![1; length], portable(), 16);
        let (nonce, mut tag) = (vec![2; length], [0; 16]);
        for wrong in [0, 12, length - 1, length + 1, 48 - length] {
            let nonce = vec![2; wrong];
            let mut data = *b"unchanged";
            let error = key.seal(&nonce, &[], &mut data, &mut tag).unwrap_err();
            assert_eq!((error, data), (Error::NonceLength, *b"unchanged"), "{variant:?} {wrong}");
            let error = key.open(&nonce, &[], &mut data, &tag).unwrap_err();
            assert_eq!((error, data), (Error::NonceLength, *b"unchanged"), "{variant:?} {wrong}");
            assert_eq!(key.mac(&nonce, &data, &mut tag), Err(Error::NonceLength));
            assert_eq!(key.seal_pieces(&nonce, &[], &[]), Err(Error::NonceLength));
            assert_eq!(key.open_pieces(&nonce, &[], &[], &tag), Err(Error::NonceLength));
            assert_eq!(key.mac_pieces(&nonce, &[], &mut tag), Err(Error::NonceLength));
        }
        for wrong in [0, 12, 15, 17, 32, 33] {
            let mut tag = vec![0; wrong];
            let mut data = *b"unchanged";
            let error = key.seal(&nonce, &[], &mut data, &mut tag).unwrap_err();
            assert_eq!((error, data), (Error::TagLength, *b"unchanged"), "{variant:?} {wrong}");
            let error = key.open(&nonce, &[], &mut data, &tag).unwrap_err();
            assert_eq!((error, data), (Error::TagLength, *b"unchanged"), "{variant:?} {wrong}");
            assert_eq!(key.mac(&nonce, &data, &mut tag), Err(Error::TagLength));
            assert_eq!(key.verify_mac(&nonce, &data, &tag), Err(Error::TagLength));
            assert_eq!(key.mac_pieces(&nonce, &[], &mut tag), Err(Error::TagLength));
            assert_eq!(key.open_pieces(&nonce, &[], &[], &tag), Err(Error::TagLength));
        }
    }
    for wrong in [0, 8, 12, 15, 17, 24, 31, 33] {
        let error = Aegis128L::new(&[1; 16]).unwrap().with_tag_length(wrong).unwrap_err();
        assert_eq!(error, Error::TagLength, "{wrong}");
    }
    assert_eq!(Aegis256::new(&[1; 32]).unwrap().tag_length(), 32);
}

/// AAD comes before the text.
#[test]
fn late_aad_is_an_error() {
    let key = Aegis128L::new(&[1; 16]).unwrap();
    let mut sealer = key.sealer(&[2; 16]).unwrap();
    sealer.aad(b"in time").unwrap();
    sealer.update(&mut []).unwrap();
    assert_eq!(sealer.aad(b"late"), Err(Error::AadLength));
}

#[test]
fn debug_shows_no_key() {
    for variant in AegisVariant::ALL {
        let key = key(variant, &vec![0x77; key_length(variant)], portable(), 32);
        assert_eq!(key.debug(), format!("{variant:?}(portable)"));
    }
}

/// The pseudo code of the draft, one lane and one byte at a time.
mod model {
    use lanelock::Block;

    /// One state of 8 or 6 blocks a lane.
    pub(super) struct State(pub(super) Vec<Vec<Block>>);

    const C0: Block = [0, 1, 1, 2, 3, 5, 8, 0x0d, 0x15, 0x22, 0x37, 0x59, 0x90, 0xe9, 0x79, 0x62];
    const C1: Block = [
        0xdb, 0x3d, 0x18, 0x55, 0x6d, 0xc2, 0x2f, 0xf1, 0x20, 0x11, 0x31, 0x42, 0x73, 0xb5, 0x28,
        0xdd,
    ];

    fn xor(a: &Block, b: &Block) -> Block {
        core::array::from_fn(|i| a[i] ^ b[i])
    }

    fn and(a: &Block, b: &Block) -> Block {
        core::array::from_fn(|i| a[i] & b[i])
    }

    fn sum<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Block {
        blocks.into_iter().fold([0; 16], |sum, block| xor(&sum, block))
    }

    fn words(low: u64, high: u64) -> Block {
        core::array::from_fn(
            |i| if i < 8 { low.to_le_bytes()[i] } else { high.to_le_bytes()[i - 8] },
        )
    }

    fn double(x: u8) -> u8 {
        (x << 1) ^ if x & 0x80 == 0 { 0 } else { 0x1b }
    }

    fn multiply(mut a: u8, mut b: u8) -> u8 {
        let mut product = 0;
        while b != 0 {
            product ^= if b & 1 == 0 { 0 } else { a };
            a = double(a);
            b >>= 1;
        }
        product
    }

    /// The S-box by its definition (FIPS 197, 5.1.1).
    fn s_box() -> &'static [u8; 256] {
        static S_BOX: std::sync::OnceLock<[u8; 256]> = std::sync::OnceLock::new();
        S_BOX.get_or_init(|| {
            core::array::from_fn(|x| {
                let inverse = (0..=255).find(|&y| multiply(x as u8, y) == 1).unwrap_or(0_u8);
                let rotated = |i| inverse.rotate_left(i);
                inverse ^ rotated(1) ^ rotated(2) ^ rotated(3) ^ rotated(4) ^ 0x63
            })
        })
    }

    pub(super) fn aes_round(input: &Block, round_key: &Block) -> Block {
        let s = s_box();
        core::array::from_fn(|i| {
            let (column, row) = (i / 4, i % 4);
            let at = |r: usize| s[usize::from(input[4 * ((column + r % 4) % 4) + r % 4])];
            let mixed =
                double(at(row)) ^ double(at(row + 1)) ^ at(row + 1) ^ at(row + 2) ^ at(row + 3);
            mixed ^ round_key[i]
        })
    }

    /// `Update` of one lane; the message has two blocks if the state has eight.
    pub(super) fn update(lane: &mut [Block], message: &[Block]) {
        let (old, count) = (lane.to_vec(), lane.len());
        for i in 0..count {
            let mut round_key = old[i];
            if i % 4 == 0 && i / 4 < message.len() {
                round_key = xor(&round_key, &message[i / 4]);
            }
            lane[i] = aes_round(&old[(i + count - 1) % count], &round_key);
        }
    }

    impl State {
        pub(super) fn init(key: &[u8], nonce: &[u8], degree: usize) -> Self {
            let (k, n) = (key.as_chunks::<16>().0, nonce.as_chunks::<16>().0);
            let lanes = (0..degree).map(|i| {
                let mut context = [0; 16];
                context[..2].copy_from_slice(&[i as u8, degree as u8 - 1]);
                let mut lane;
                let updates: Vec<Vec<Block>>;
                if let ([k], [n]) = (k, n) {
                    let kn = xor(k, n);
                    lane = vec![kn, C1, C0, C1, kn, xor(k, &C0), xor(k, &C1), xor(k, &C0)];
                    updates = vec![vec![*n, *k]; 10];
                } else {
                    let kn = [xor(&k[0], &n[0]), xor(&k[1], &n[1])];
                    lane = vec![kn[0], kn[1], C1, C0, xor(&k[0], &C0), xor(&k[1], &C1)];
                    updates =
                        [k[0], k[1], kn[0], kn[1]].repeat(4).iter().map(|m| vec![*m]).collect();
                }
                for message in updates {
                    let last = lane.len() - 1;
                    lane[3] = xor(&lane[3], &context);
                    lane[last] = xor(&lane[last], &context);
                    update(&mut lane, &message);
                }
                lane
            });
            Self(lanes.collect())
        }

        /// Blocks that an update absorbs in each lane.
        fn rate(&self) -> usize {
            if self.0[0].len() == 8 { 2 } else { 1 }
        }

        /// `Update` of all lanes.
        fn absorb(&mut self, message: &[Block]) {
            let degree = self.0.len();
            for (i, lane) in self.0.iter_mut().enumerate() {
                let message: Vec<Block> = message.iter().skip(i).step_by(degree).copied().collect();
                update(lane, &message);
            }
        }

        fn keystream(&self) -> Vec<Block> {
            let z = |lane: &Vec<Block>, word: usize| match (lane.len(), word) {
                (8, 0) => sum([&lane[6], &lane[1], &and(&lane[2], &lane[3])]),
                (8, _) => sum([&lane[2], &lane[5], &and(&lane[6], &lane[7])]),
                _ => sum([&lane[1], &lane[4], &lane[5], &and(&lane[2], &lane[3])]),
            };
            (0..self.rate()).flat_map(|word| self.0.iter().map(move |lane| z(lane, word))).collect()
        }

        /// Splits bytes into what updates absorb, with zeros at the end.
        fn groups(&self, bytes: &[u8]) -> Vec<Vec<Block>> {
            let bytes = bytes.chunks(16 * self.rate() * self.0.len()).map(|chunk| {
                let mut blocks = vec![[0; 16]; self.rate() * self.0.len()];
                blocks.as_flattened_mut()[..chunk.len()].copy_from_slice(chunk);
                blocks
            });
            bytes.collect()
        }

        /// The updates of `Finalize` for one lane.
        fn close(lane: &mut [Block], counted: &Block) {
            let rate = if lane.len() == 8 { 2 } else { 1 };
            let t = xor(&lane[if rate == 2 { 2 } else { 3 }], counted);
            for _ in 0..7 {
                update(lane, &vec![t; rate]);
            }
        }

        /// The tag of one lane.
        fn tag(lane: &[Block], bytes: usize) -> Vec<Block> {
            let (low, high) = lane.split_at(lane.len() / 2);
            match (lane.len(), bytes) {
                (8, 16) => vec![sum(&lane[..7])],
                (_, 16) => vec![sum(lane)],
                _ => vec![sum(low), sum(high)],
            }
        }
    }

    /// Ciphertext and tag.
    pub(super) fn seal(
        key: &[u8],
        nonce: &[u8],
        degree: usize,
        aad: &[u8],
        text: &[u8],
        tag: usize,
    ) -> Vec<u8> {
        let mut state = State::init(key, nonce, degree);
        for group in state.groups(aad) {
            state.absorb(&group);
        }
        let mut sealed = Vec::new();
        for group in state.groups(text) {
            let z = state.keystream();
            let output: Vec<Block> = group.iter().zip(&z).map(|(m, z)| xor(m, z)).collect();
            sealed.extend_from_slice(output.as_flattened());
            state.absorb(&group);
        }
        sealed.truncate(text.len());
        let lengths = words(8 * aad.len() as u64, 8 * text.len() as u64);
        let mut sums = vec![[0; 16]; tag / 16];
        for lane in &mut state.0 {
            State::close(lane, &lengths);
            for (sum, block) in sums.iter_mut().zip(State::tag(lane, tag)) {
                *sum = xor(sum, &block);
            }
        }
        sealed.extend_from_slice(sums.as_flattened());
        sealed
    }

    pub(super) fn mac(key: &[u8], nonce: &[u8], degree: usize, data: &[u8], tag: usize) -> Vec<u8> {
        let mut state = State::init(key, nonce, degree);
        for group in state.groups(data) {
            state.absorb(&group);
        }
        let rate = state.rate();
        for lane in &mut state.0 {
            State::close(lane, &words(8 * data.len() as u64, 8 * tag as u64));
        }
        let mut first = state.0[0].clone();
        if degree > 1 {
            let skipped = usize::from(rate == 1 || tag == 32);
            let tags: Vec<Block> =
                state.0[skipped..].iter().flat_map(|lane| State::tag(lane, tag)).collect();
            for message in tags.chunks(rate) {
                update(&mut first, message);
            }
            State::close(&mut first, &words(degree as u64, 8 * tag as u64));
        }
        State::tag(&first, tag).concat()
    }
}
