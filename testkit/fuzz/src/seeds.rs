//! What a fuzzer begins with: the clips of the repository and what is made of them, and examples of texts.

use std::{fs, path::Path};

use lanelock_cenc::map::Codec;
use lanelock_mp4::{
    FourCc, Movie, Pssh,
    compose::{MfraTrack, SidxReference, mfra, sidx},
    load, top_level,
};
use lanelock_packager::{
    Key, Layout, Scheme,
    drm::{self, System},
    io::MemorySource,
};
use lanelock_pubkey::{Curve, Hash, P256, P384, P521, Random, ecdsa, ed25519, rsa, x25519};
use lanelock_testkit::{
    CLIPS, EXPERIMENTAL_CLIPS, Rng,
    boxes::{boxed, find, word, words},
    protected_clips, repository, small_clip,
};

use crate::{
    files::Way,
    hashes::{ALGORITHMS, WAYS},
    maps::input,
    mutate::replaced,
    pubkey::{KINDS, RSA},
    text::{CPIX, KEY, KEYS, LEVEL, MANIFEST, SMALL},
};

/// Files of two or three frames.
fn short_clips() -> Vec<Vec<u8>> {
    folder(&repository().join("crates/packager/tests/fixtures"), "mp4")
}

fn folder(path: &Path, extension: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a readable file")).collect()
}

pub(crate) fn boxes() -> Vec<Vec<u8>> {
    let mut seeds = short_clips();
    seeds.extend(CLIPS.iter().chain(&EXPERIMENTAL_CLIPS).map(|name| small_clip(name).read()));
    seeds.extend(protected_clips().iter().map(|protected| protected.clip.read()));
    seeds.retain(|seed| seed.len() <= 8000);
    seeds.extend(protected());
    seeds.extend(descriptions());
    seeds.extend(items());
    for (system, scheme) in [(System::Widevine, Scheme::Cenc), (System::PlayReady, Scheme::Cbcs)] {
        let keys = [1, 2].map(|number| Key::new([number; 16], [9; 16]));
        seeds.push(drm::pssh(system, scheme, &keys).expect("a system that has a box").raw);
    }
    seeds.push(Pssh::common(&[[1; 16], [2; 16]]).raw);
    let references = [SidxReference::new(70_000, 90_000).with_sap(1); 3];
    seeds.push(sidx(1, 90_000, 0, 0, &references).expect("small numbers"));
    seeds.push(mfra(&[MfraTrack::new(1, &[(0, 1000), (10, 2000)])]).expect("small numbers"));
    seeds.push([&[0xff], &Rng::new(1).bytes(300)[..]].concat());
    seeds
}

/// Short clips that were encrypted here, with auxiliary information in all its boxes.
fn protected() -> impl Iterator<Item = Vec<u8>> {
    short_clips()
        .into_iter()
        .filter_map(|clip| Way::of(0).encrypt(&MemorySource::new("clip", clip), Layout::Keep).ok())
}

/// A short clip with sample entries and tables that no clip has.
fn descriptions() -> Vec<Vec<u8>> {
    let clip = small_clip("aac.mp4").read();
    let stsd = |entry: &[u8]| replaced(&clip, *b"stsd", &boxed(b"stsd", &[&words(&[0, 1]), entry]));
    let common = [0, 0, 0, 0, 0, 0, 0, 1];
    let ttml = b"http://www.w3.org/ns/ttml\0\0image/png\0";
    let mime = boxed(b"mime", &[&[0; 4], b"application/ttml+xml;codecs=im2t\0"]);
    let sound = [&common[..], &[0; 8], &[0, 2, 0, 16, 0, 0, 0, 0, 0xbb, 0x80, 0, 0]].concat();
    // Bit stream version 2 with two presentations, of 48 kHz.
    let dac4 = [
        0x20, 0xa0, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 1, 8, 0xfd, 0, 0, 2, 0x10, 0, 0, 0x40, 1,
        8, 0xfb, 0, 0, 2, 0x40, 0, 0x11, 0xc0,
    ];
    // QuickTime's second version: rate, channels, bits.
    let rate = 48_000_f64.to_bits().to_be_bytes();
    let fields = [&words(&[72])[..], &rate, &words(&[6, 0x7f00_0000, 0, 0, 0, 1024])].concat();
    let quicktime =
        [&common[..], &[0, 2, 0, 1], b"appl", &[0, 3, 0, 16, 0xff, 0xfe, 0, 0, 0, 1, 0, 0]];
    let esds = boxed(b"esds", &[&[0; 4], b"a configuration"]);
    let wave = boxed(b"wave", &[&boxed(b"frma", &[b"mp4a"]), &esds, &[0, 0, 0, 8, 0, 0, 0, 0]]);
    let count = word(&clip, find(&clip, b"stsz") + 16);
    vec![
        stsd(&boxed(b"stpp", &[&common, ttml, &mime])),
        stsd(&boxed(b"wvtt", &[&common, &boxed(b"vttC", &[b"WEBVTT"])])),
        stsd(&boxed(b"ac-4", &[&sound, &boxed(b"dac4", &[&dac4])])),
        stsd(&boxed(b"mp4a", &[&quicktime.concat(), &fields, &wave])),
        replaced(
            &clip,
            *b"stsz",
            &boxed(b"stz2", &[&words(&[0, 8, count]), &vec![9; count as usize]]),
        ),
    ]
}

/// Items of a `meta`: with offsets, with a base for all, in the box itself.
fn items() -> [Vec<u8>; 3] {
    let meta = |version: u32, sizes: u16, item: &[u8]| {
        let iloc =
            [&words(&[version << 24])[..], &sizes.to_be_bytes(), &[0, 1, 0, 7], item].concat();
        boxed(b"meta", &[&[0; 4], &boxed(b"iloc", &[&iloc])])
    };
    [
        meta(0, 0x4400, &[0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 2, 0, 0, 0, 0, 5]),
        meta(1, 0x0440, &[0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 9]),
        meta(1, 0x4400, &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 9]),
    ]
}

pub(crate) fn files() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut add = |clip: &[u8], how: u8, layout| {
        let source = MemorySource::new("clip", clip);
        let sealed = Way::of(how).encrypt(&source, layout).unwrap_or_default();
        seeds.extend([clip, &sealed].map(|file| [file, &[how]].concat()));
    };
    for (number, clip) in short_clips().into_iter().enumerate() {
        let layout = if number % 2 == 0 { Layout::Keep } else { Layout::Fragmented };
        for how in 0..4_u8 {
            let index = u8::try_from(number % 4).expect("below 4");
            add(&clip, how | index << 2 | how << 5 & 0x60, layout);
        }
    }
    // The other codecs, each in two ways.
    let clips = CLIPS.iter().chain(&EXPERIMENTAL_CLIPS).map(|name| small_clip(name).read());
    for (number, clip) in (0_u8..).zip(clips.filter(|clip| clip.len() <= 5000)) {
        add(&clip, number % 4, Layout::Keep);
        add(&clip, (number + 3) % 4, Layout::Fragmented);
    }
    seeds
}

pub(crate) fn maps() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for name in CLIPS.iter().chain(&EXPERIMENTAL_CLIPS) {
        let file = small_clip(name).read();
        let moov = top_level(&file).flatten().find(|header| header.kind == FourCc(*b"moov"));
        let moov = moov.expect("a clip has a moov");
        let moov = load(&file, &moov).expect("a whole clip");
        let movie = Movie::parse(moov, 0).expect("a good clip");
        for track in &movie.tracks {
            let entry = &track.entries[0];
            let Some(codec) = Codec::of_sample_entry(entry.original_format.0) else { continue };
            let configuration = entry.config.as_ref().map_or(&[][..], |config| &config.data);
            let samples = movie.samples(track, file.len() as u64).expect("a progressive clip");
            let units: Vec<_> = samples
                .map(|sample| sample.expect("a good clip"))
                .map(|sample| {
                    let start = usize::try_from(sample.offset).expect("a short file");
                    file[start..start + sample.size as usize].to_vec()
                })
                .collect();
            for how in [0, 1, 0x32, 0x53] {
                for units in units.chunks(4).take(2) {
                    seeds.push(input(codec, how, configuration, units));
                }
            }
        }
    }
    // An access unit of AC-4: bit stream version 2 with nothing else that counts.
    seeds.push(input(Codec::Ac4, 0, &[], &[Rng::new(7).bytes(100)]));
    seeds
}

pub(crate) fn text() -> Vec<Vec<u8>> {
    const EXAMPLES: [(u8, &str); 28] = [
        (KEY, "00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
        (KEY, "video@3={00112233-4455-6677-8899-aabbccddeeff}:0x0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
        (
            KEY,
            "label=UHD1:key_id=00112233445566778899aabbccddeeff:key=0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ),
        (KEY, "fLaC=00112233445566778899aabbccddeeff:Dx4tPEtaaXiHlqW0w9Lh8A=="),
        (KEY, "7=00112233445566778899aabbccddeeff:Dx4tPEtaaXiHlqW0w9Lh8A"),
        (
            KEYS,
            "video=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0\naudio=10112233445566778899aabbccddeeff:1f1e2d3c4b5a69788796a5b4c3d2e1f0",
        ),
        (LEVEL, "portable"),
        (LEVEL, "aes=vaes256,hash=avx2,max=256"),
        (LEVEL, "vaes512,hash=avx512,max=512"),
        (LEVEL, "max=128,aes=aesni"),
        (SMALL, "video"),
        (SMALL, "other"),
        (SMALL, "sd"),
        (SMALL, "uhd2"),
        (SMALL, "12"),
        (SMALL, "avc1"),
        (SMALL, "\\x00\\x01ab"),
        (SMALL, "playready"),
        (SMALL, "2026-01-31T23:59:59.5+01:00"),
        (SMALL, "0001-01-01T00:00:00Z"),
        (SMALL, "9999-12-31T23:59:59.999999-14:00"),
        (MANIFEST, "\u{2}abcdefghijklmnopqrstuvwxyz<>&\"'\n\u{1}0123456789"),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" contentId="a" version="2.3"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff" explicitIV="AAAAAAAAAAAAAAAAAAAAAA==" commonEncryptionScheme="cbcs"><Data><pskc:Secret><pskc:PlainValue>Dx4tPEtaaXiHlqW0w9Lh8A==</pskc:PlainValue></pskc:Secret></Data></ContentKey></ContentKeyList></CPIX>"#,
        ),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff"/></ContentKeyList><DRMSystemList><DRMSystem kid="00112233-4455-6677-8899-aabbccddeeff" systemId="edef8ba9-79d6-4ace-a3c8-27dcd51d21ed" name="W"><ContentProtectionData>PGE+</ContentProtectionData><HLSSignalingData playlist="media">I0VYVC1YLUtFWTpNRVRIT0Q9Tk9ORQ==</HLSSignalingData></DRMSystem></DRMSystemList></CPIX>"#,
        ),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff"/></ContentKeyList><ContentKeyPeriodList><ContentKeyPeriod id="p" index="1" start="2026-01-31T23:59:59Z" end="2026-02-01T23:59:59Z"/></ContentKeyPeriodList><ContentKeyUsageRuleList><ContentKeyUsageRule kid="00112233-4455-6677-8899-aabbccddeeff" intendedTrackType="HD"><KeyPeriodFilter periodId="p"/><VideoFilter minPixels="1" maxPixels="9" hdr="false" wcg="true" minFps="1" maxFps="60"/></ContentKeyUsageRule></ContentKeyUsageRuleList></CPIX>"#,
        ),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff"/></ContentKeyList><ContentKeyUsageRuleList><ContentKeyUsageRule kid="00112233-4455-6677-8899-aabbccddeeff"><AudioFilter minChannels="1" maxChannels="8"/><BitrateFilter minBitrate="1" maxBitrate="900"/><LabelFilter label="x"/></ContentKeyUsageRule></ContentKeyUsageRuleList></CPIX>"#,
        ),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff"/></ContentKeyList><DRMSystemList><DRMSystem kid="00112233-4455-6677-8899-aabbccddeeff" systemId="1077efec-c0b2-4d02-ace3-3c1e52e2fb4b"><PSSH>AAAANHBzc2gBAAAAEHfv7MCyTQKs4zweUuL7SwAAAAEAESIzRFVmd4iZqrvM3e7/AAAAAA==</PSSH></DRMSystem></DRMSystemList></CPIX>"#,
        ),
        (
            CPIX,
            r#"<CPIX xmlns="urn:dashif:org:cpix"><ContentKeyList><ContentKey kid="00112233-4455-6677-8899-aabbccddeeff"/></ContentKeyList><ContentKeyPeriodList><ContentKeyPeriod start="2026-01-31T23:59:59Z" duration="P1DT2H3M4.5S"/><ContentKeyPeriod startOffset="PT0S" endOffset="PT30M"/></ContentKeyPeriodList></CPIX>"#,
        ),
    ];
    let mut seeds: Vec<_> =
        EXAMPLES.iter().map(|(kind, text)| [&[*kind], text.as_bytes()].concat()).collect();
    let documents = folder(&repository().join("crates/cpix/tests/fixtures"), "xml");
    let documents = documents.into_iter().filter(|document| document.len() < 10_000);
    seeds.extend(documents.map(|document| [&[CPIX][..], &document].concat()));
    seeds
}

/// Any bytes, behind each algorithm and each way to use it.
pub(crate) fn hashes() -> Vec<Vec<u8>> {
    let rng = Rng::new(16);
    let ways = (0..ALGORITHMS).flat_map(|algorithm| (0..WAYS).map(move |way| [algorithm, way]));
    ways.zip(0..)
        .map(|(way, number)| {
            let mut rng = rng.fork(number);
            let length = 40 + rng.below(if number % 2 == 0 { 200 } else { 1500 });
            [&way[..], &rng.bytes(length)].concat()
        })
        .collect()
}

/// Random bytes that are the same in each run.
struct Same(Rng);

impl Random for Same {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), lanelock_pubkey::Error> {
        self.0.fill(bytes);
        Ok(())
    }
}

/// Keys, points, signatures and ciphertexts as they should be, and any bytes.
pub(crate) fn pubkey() -> Vec<Vec<u8>> {
    let random = &mut Same(Rng::new(17));
    let key = rsa::PrivateKey::from_pkcs8_der(&RSA).expect("a good key");
    let public = key.public_key();
    let mut good: [Vec<Vec<u8>>; KINDS.len()] = Default::default();
    good[0] = vec![
        key.to_pkcs8_der().to_vec(),
        key.to_pkcs1_der().to_vec(),
        key.to_pkcs8_pem().as_bytes().to_vec(),
    ];
    good[1] = vec![public.to_spki_der(), public.to_pkcs1_der(), public.to_spki_pem().into_bytes()];
    let hash = Hash::Sha256;
    let schemes = [rsa::Scheme::pkcs1v15(hash), rsa::Scheme::pss(hash)];
    let sign = schemes.map(|scheme| rsa::Sign::new(&key, scheme, &[7; 32]).expect("a digest"));
    let signatures = rsa::sign_batch(&sign, random).into_iter().flatten();
    good[2] = signatures.map(|signature| signature.as_ref().to_vec()).collect();
    let encryptions = [rsa::Encryption::pkcs1v15(), rsa::Encryption::oaep(Hash::Sha1)];
    let encrypt = encryptions.map(|how| rsa::Encrypt::new(public, how, b"message").expect("short"));
    good[3] = rsa::encrypt_batch(&encrypt, random).into_iter().flatten().collect();
    curve::<P256>(&mut good, 4, random);
    curve::<P384>(&mut good, 5, random);
    curve::<P521>(&mut good, 6, random);
    let (secret, signing) = (
        x25519::SecretKey::generate(random).expect("random bytes"),
        ed25519::SigningKey::generate(random).expect("random bytes"),
    );
    let (public, verifying) = (secret.public_key(), signing.verifying_key());
    good[13] = vec![
        secret.to_pkcs8_der().to_vec(),
        secret.to_pkcs8_pem().as_bytes().to_vec(),
        signing.to_pkcs8_der().to_vec(),
        signing.to_pkcs8_pem().as_bytes().to_vec(),
        public.to_spki_der(),
        public.to_spki_pem().into_bytes(),
        verifying.to_spki_der(),
        verifying.to_spki_pem().into_bytes(),
    ];
    good[14] = vec![[*secret.as_bytes(), *public.as_bytes()].concat()];
    let signature = signing.sign(b"message");
    good[15] = vec![[verifying.as_bytes(), &signature.as_bytes()[..], b"message"].concat()];
    good[16] = (0..4).map(|_| random.0.bytes(300)).collect();
    let seeds = (0_u8..).zip(&good);
    seeds
        .flat_map(|(kind, good)| good.iter().map(move |good| [&[kind][..], good].concat()))
        .collect()
}

/// The seeds of a curve, whose kinds are each third one.
fn curve<C: Curve>(good: &mut [Vec<Vec<u8>>], first: usize, random: &mut Same) {
    let key = ecdsa::SigningKey::<C>::generate(random).expect("random bytes");
    let public = key.verifying_key();
    let signature = key.sign(Hash::Sha256, &[7; 32], random).expect("a digest");
    good[first] = vec![
        key.to_pkcs8_der().to_vec(),
        key.to_sec1_der().to_vec(),
        key.to_pkcs8_pem().as_bytes().to_vec(),
        key.to_bytes().to_vec(),
    ];
    good[first + 3] = vec![
        public.to_spki_der(),
        public.to_spki_pem().into_bytes(),
        public.to_sec1_bytes(),
        public.to_sec1_compressed_bytes(),
    ];
    good[first + 6] = vec![signature.to_der(), signature.to_bytes()];
}

/// Any bytes, behind each value that the first one may have.
pub(crate) fn noise() -> Vec<Vec<u8>> {
    let rng = Rng::new(14);
    (0..=33_u8)
        .map(|first| {
            let mut rng = rng.fork(first.into());
            let most = if first % 2 == 0 { 300 } else { 1900 };
            let length = 40 + rng.below(most);
            let mut seed = rng.bytes(length);
            seed[0] = first;
            seed
        })
        .collect()
}
