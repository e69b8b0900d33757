//! Names every algorithm, so that each kernel is compiled into this program, at all levels: `tools/asmcheck` reads its
//! machine code. It runs what it names, too, and fails if an answer is wrong.
//!
//! Kernels are compiled where they are named: those of the engine here, by its self-test and by what that leaves out
//! (pieces, sectors, records); those of public keys in their crate, but for what is generic in the curve. A new
//! algorithm needs a line in either. One size of keys stands for all where the self-test has the others.

#![forbid(unsafe_code)]

use std::error::Error;

use lanelock::{
    Aes, Aes128Cmac, Aes128Xts, ChaCha20, Poly1305,
    aead::{Aead, Aes128Ccm, Aes128Gcm, Aes128Ocb3, Opener, Sealer, Stream},
    hash::algorithm::{MerkleDamgard, Sha1, Sha256},
    record::{CbcHmac, ContentType, Header, MacOrder, Version},
};
use lanelock_pubkey::{
    Curve, Hash, P256, P384, P521, SystemRandom, ecdh, ecdsa, ed25519, rsa, x25519,
};

type Done = Result<(), Box<dyn Error>>;

/// Neither whole blocks, nor fewer than the lanes have.
const TEXT: &[u8] = &[0x42; 1037];
/// Bytes of a piece: whole blocks, as OCB3 has to have them.
const PIECE: usize = 96;
/// More than a vector.
const AAD: &[u8] = &[0x24; 100];

fn main() -> Done {
    lanelock::self_test::run_all()?;
    in_pieces()?;
    in_sectors()?;
    in_records::<Sha1>()?;
    in_records::<Sha256>()?;
    on_curve::<P256>()?;
    on_curve::<P384>()?;
    on_curve::<P521>()?;
    on_curve25519()?;
    with_rsa()
}

fn in_pieces() -> Done {
    let gcm = Aes128Gcm::new(&[1; 16])?;
    pieces(&gcm, gcm.sealer(&[2; 13])?, gcm.opener(&[2; 13])?, &[2; 13])?;
    let ccm = Aes128Ccm::new(&[1; 16])?;
    let (aad, text) = (AAD.len() as u64, TEXT.len() as u64);
    pieces(&ccm, ccm.sealer(&[2; 12], aad, text)?, ccm.opener(&[2; 12], aad, text)?, &[2; 12])?;
    let ocb = Aes128Ocb3::new(&[1; 16])?;
    pieces(&ocb, ocb.sealer(&[2; 12])?, ocb.opener(&[2; 12])?, &[2; 12])?;
    let cmac = Aes128Cmac::new(&[1; 16])?;
    let mut stream = cmac.stream();
    TEXT.chunks(PIECE).for_each(|piece| stream.update(piece));
    same(&stream.finish(), &cmac.mac(TEXT))?;
    let (mut whole, mut parts) = (Poly1305::new(&[1; 32])?, Poly1305::new(&[1; 32])?);
    whole.update(TEXT);
    TEXT.chunks(PIECE).for_each(|piece| parts.update(piece));
    same(&whole.finish(), &parts.finish())
}

/// Pieces give what one call does.
fn pieces<S: Stream>(
    key: &impl Aead,
    mut sealer: Sealer<S>,
    mut opener: Opener<S>,
    nonce: &[u8],
) -> Done {
    let (mut sealed, mut tag) = (TEXT.to_vec(), [0; 16]);
    sealer.aad(AAD)?;
    sealed.chunks_mut(PIECE).try_for_each(|piece| sealer.update(piece))?;
    sealer.finish(&mut tag)?;
    same(&[&sealed[..], &tag].concat(), &key.seal_vec(nonce, AAD, TEXT)?)?;
    opener.aad(AAD)?;
    sealed.chunks(PIECE).try_for_each(|piece| opener.update(piece))?;
    same(&opener.finish(&tag)?, TEXT)
}

fn in_sectors() -> Done {
    let mut disk = vec![7; 8 * 512];
    let xts = Aes128Xts::new(&std::array::from_fn(|i| i.to_le_bytes()[0]))?;
    xts.encrypt_sectors(1, 512, &mut disk)?;
    xts.decrypt_sectors(1, 512, &mut disk)?;
    let stream = ChaCha20::new(&[1; 32])?;
    stream.apply(&[2; 12], 1, &mut disk)?;
    stream.apply(&[2; 12], 1, &mut disk)?;
    same(&disk, &[7; 8 * 512])
}

/// A cipher and a hash in one loop.
fn in_records<A: MerkleDamgard>() -> Done {
    let key = CbcHmac::<Aes<128>, A>::new(MacOrder::MacThenEncrypt, &[1; 16], &[2; 32])?;
    let header = Header::new(0, ContentType::APPLICATION_DATA, Version::TLS_1_2);
    let mut fragment = vec![0; key.sealed_length(TEXT.len())];
    fragment[16..][..TEXT.len()].copy_from_slice(TEXT);
    key.seal(header, &[3; 16], &mut fragment, TEXT.len())?;
    same(key.open(header, &mut fragment)?, TEXT)
}

fn on_curve<C: Curve>() -> Done {
    let random = &mut SystemRandom;
    let digest = Hash::Sha256.digest(b"a message")?;
    let key = ecdsa::SigningKey::<C>::generate(random)?;
    let signature = key.sign(Hash::Sha256, &digest, random)?;
    key.verifying_key().verify(&digest, &signature)?;
    let keys = [ecdh::SecretKey::<C>::generate(random)?, ecdh::SecretKey::generate(random)?];
    let one = keys[0].agree(&keys[1].public_key())?;
    let other = keys[1].agree(&keys[0].public_key())?;
    same(one.as_bytes(), other.as_bytes())
}

fn on_curve25519() -> Done {
    let random = &mut SystemRandom;
    let key = ed25519::SigningKey::generate(random)?;
    key.verifying_key().verify(b"a message", &key.sign(b"a message"))?;
    let keys = [x25519::SecretKey::generate(random)?, x25519::SecretKey::generate(random)?];
    let one = keys[0].agree(&keys[1].public_key())?;
    let other = keys[1].agree(&keys[0].public_key())?;
    same(one.as_bytes(), other.as_bytes())
}

fn with_rsa() -> Done {
    let random = &mut SystemRandom;
    let key = rsa::PrivateKey::generate(2048, random)?;
    let scheme = rsa::Scheme::pkcs1v15(Hash::Sha256);
    for signature in rsa::sign_batch(&[rsa::Sign::message(&key, scheme, b"a message")?], random) {
        let signature = signature?;
        let verify =
            rsa::Verify::message(key.public_key(), scheme, b"a message", signature.as_ref())?;
        rsa::verify_batch(&[verify]).into_iter().collect::<Result<(), _>>()?;
    }
    let padding = rsa::Encryption::oaep(Hash::Sha256);
    let encrypt = rsa::Encrypt::new(key.public_key(), padding.clone(), b"a message")?;
    for text in rsa::encrypt_batch(&[encrypt], random) {
        let decrypt = rsa::Decrypt::new(&key, padding.clone(), &text?)?;
        for message in rsa::decrypt_batch(&[decrypt], random) {
            same(&message?, b"a message")?;
        }
    }
    Ok(())
}

fn same(one: &[u8], other: &[u8]) -> Done {
    if one == other { Ok(()) } else { Err("two ways to one value differ".into()) }
}
