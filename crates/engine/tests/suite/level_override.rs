//! `LANELOCK_LEVEL` with a wrong value: constructors that choose the level return an error, and those
//! that cannot fail do not read it.
//!
//! The level is found once a process, so each value gets a process of its own: the test starts itself.

use std::{
    env,
    ffi::{OsStr, OsString},
    process::Command,
};

use lanelock::{
    Aes128, Aes128Cmac, Aes128KeyWrap, Aes128Xts, Aes192, Aes192Cmac, Aes192KeyWrap, Aes192Xts,
    Aes256, Aes256Cmac, Aes256KeyWrap, Aes256Xts, AesLevel, ChaCha20, Error, LevelError, Poly1305,
    aead::{
        Aegis128L, Aegis128X2, Aegis128X4, Aegis256, Aegis256X2, Aegis256X4, Aes128Ccm, Aes128Gcm,
        Aes128GcmSiv, Aes128Ocb3, Aes192Ccm, Aes192Gcm, Aes192Ocb3, Aes256Ccm, Aes256Gcm,
        Aes256GcmSiv, Aes256Ocb3, ChaCha20Poly1305, XChaCha20Poly1305,
    },
    hash::{Crc32, Crc32c, Crc64Nvme, Crc64Xz, Ghash, Polyval},
};

/// Set in the processes that a test starts.
const CHILD: &str = "LANELOCK_TEST_CHILD";

/// Runs `test` again in a process with `LANELOCK_LEVEL` set to `value`.
fn again(test: &str, value: &OsStr) {
    if lanelock_testkit::is_emulated() {
        return lanelock_testkit::skip("the emulator would have to start this program again");
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([
            &format!("{}::{test}", module_path!().split_once("::").unwrap().1),
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .env("LANELOCK_LEVEL", value)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && out.contains("1 passed"),
        "\"{}\":\n{out}\n{err}",
        value.display()
    );
}

fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// What a constructor says: the error of the level.
fn refused<T>(made: Result<T, LevelError>) -> LevelError {
    made.err().expect("a wrong level must be refused")
}

/// A key of XTS, whose halves differ.
fn pair<const N: usize>() -> [u8; N] {
    core::array::from_fn(|i| u8::try_from(i).unwrap())
}

/// Every constructor of every family that chooses the level itself.
fn every_constructor_refuses() {
    let expected = AesLevel::best().unwrap_err();
    macro_rules! keys {
        ($($name:ident $bytes:literal),+) => {
            $(assert_eq!(refused($name::new(&[7; $bytes])), expected, stringify!($name));)+
        };
    }
    keys! {
        Aes128 16, Aes192 24, Aes256 32, Aes128Cmac 16, Aes192Cmac 24, Aes256Cmac 32,
        Aes128KeyWrap 16, Aes192KeyWrap 24, Aes256KeyWrap 32, Aes128Gcm 16, Aes192Gcm 24,
        Aes256Gcm 32, Aes128GcmSiv 16, Aes256GcmSiv 32, Aes128Ccm 16, Aes192Ccm 24, Aes256Ccm 32,
        Aes128Ocb3 16, Aes192Ocb3 24, Aes256Ocb3 32, Aegis128L 16, Aegis128X2 16, Aegis128X4 16,
        Aegis256 32, Aegis256X2 32, Aegis256X4 32, Ghash 16, Polyval 16,
        ChaCha20 32, Poly1305 32, ChaCha20Poly1305 32, XChaCha20Poly1305 32
    }
    macro_rules! sums {
        ($($name:ident),+) => {$(
            assert_eq!(refused($name::new()), expected, stringify!($name));
            assert_eq!(refused($name::resume(1)), expected, stringify!($name));
            assert_eq!(refused($name::checksum(b"data")), expected, stringify!($name));
        )+};
    }
    sums!(Crc32, Crc32c, Crc64Nvme, Crc64Xz);
    assert_eq!(Aes128Xts::new(&pair()).err(), Some(Error::Level));
    assert_eq!(Aes192Xts::new(&pair()).err(), Some(Error::Level));
    assert_eq!(Aes256Xts::new(&pair()).err(), Some(Error::Level));

    // One that names its level is not concerned.
    assert_eq!(Aes128::with_level(&[7; 16], AesLevel::fastest()).level(), AesLevel::fastest());
    traits_do_not_read_it();
}

/// `KeyInit` cannot fail: its keys run at the fastest level.
#[cfg(all(feature = "aead", feature = "cipher", feature = "universal-hash"))]
fn traits_do_not_read_it() {
    use aead::KeyInit;
    macro_rules! keys {
        ($($name:ident $bytes:literal),+) => {$(
            let key = <$name as KeyInit>::new(&[7; $bytes].into());
            assert_eq!(key.level(), AesLevel::fastest(), stringify!($name));
        )+};
    }
    keys! {
        Aes128 16, Aes192 24, Aes256 32, Aes128Gcm 16, Aes192Gcm 24, Aes256Gcm 32, Aes128GcmSiv 16,
        Aes256GcmSiv 32, Aes128Ocb3 16, Aes192Ocb3 24, Aes256Ocb3 32, Aegis128L 16, Aegis128X2 16,
        Aegis128X4 16, Aegis256 32, Aegis256X2 32, Aegis256X4 32, Ghash 16, Polyval 16
    }
}

#[cfg(not(all(feature = "aead", feature = "cipher", feature = "universal-hash")))]
fn traits_do_not_read_it() {}

#[test]
fn an_unknown_level_is_an_error() {
    if is_child() {
        return every_constructor_refuses();
    }
    let mut values: Vec<OsString> = vec!["nonsense".into(), "AESNI".into()];
    // A mistake in any entry is an error for AES too.
    values.extend(
        ["aes=nonsense", "nonsense=portable", "portable,hash=nonsense", "hash=aesni", "portable,"]
            .map(Into::into),
    );
    values.extend(["max=100", "aes=portable,portable", "max=256,max=256"].map(Into::into));
    #[cfg(unix)]
    values.push(std::os::unix::ffi::OsStringExt::from_vec(vec![0xff, 0xfe]));
    for value in values {
        again("an_unknown_level_is_an_error", &value);
    }
}

#[test]
fn a_level_that_the_processor_lacks_is_an_error() {
    if is_child() {
        return every_constructor_refuses();
    }
    let lacking = AesLevel::known().iter().filter(|(name, _)| name.parse::<AesLevel>().is_err());
    let lacking: Vec<_> = lacking.collect();
    if lacking.is_empty() {
        return lanelock_testkit::skip("this processor has every level");
    }
    for (name, _) in lacking {
        again("a_level_that_the_processor_lacks_is_an_error", name.as_ref());
    }
}

fn constructors_take_the_level() {
    let chosen = AesLevel::best().unwrap();
    assert_eq!(chosen.name(), env::var("LANELOCK_LEVEL").unwrap());
    assert_eq!(Aes128::new(&[7; 16]).unwrap().level(), chosen);
    assert_eq!(Aes256Gcm::new(&[7; 32]).unwrap().level(), chosen);
}

#[test]
fn an_available_level_is_taken() {
    if is_child() {
        return constructors_take_the_level();
    }
    for level in AesLevel::available() {
        again("an_available_level_is_taken", level.name().as_ref());
    }
}

/// A list names a level of each family.
#[test]
fn a_list_names_the_level() {
    if is_child() {
        assert_eq!(Aes128::new(&[7; 16]).unwrap().level().name(), "portable");
        assert_eq!(AesLevel::best().unwrap().name(), "portable");
    } else {
        for value in ["aes=portable", "portable,max=128", "max=256,hash=portable,aes=portable"] {
            again("a_list_names_the_level", value.as_ref());
        }
    }
}

/// The other family alone, or a limit that every vector keeps, leaves AES as it is.
#[test]
fn other_entries_leave_the_level() {
    if is_child() {
        assert_eq!(AesLevel::best(), Ok(AesLevel::fastest()));
        assert_eq!(Aes128::new(&[7; 16]).unwrap().level(), AesLevel::fastest());
    } else {
        for value in ["hash=portable", "max=512"] {
            again("other_entries_leave_the_level", value.as_ref());
        }
    }
}

/// The fastest level with vectors of at most 128 bits: `portable` has none.
#[test]
fn a_limit_chooses_among_those_within() {
    if is_child() {
        let narrow = |level: &AesLevel| level.width() == 1 || level.name() == "portable";
        let mut within = AesLevel::available().into_iter().filter(narrow);
        assert_eq!(AesLevel::best().ok(), within.next_back());
    } else {
        again("a_limit_chooses_among_those_within", "max=128".as_ref());
    }
}

/// A level that is there but wider than the limit beside it is an error, not a narrower level.
#[test]
fn a_level_wider_than_the_limit_is_an_error() {
    if is_child() {
        return every_constructor_refuses();
    }
    let wide: Vec<_> =
        AesLevel::available().into_iter().filter(|l| l.name() == "vaes512").collect();
    if wide.is_empty() {
        return lanelock_testkit::skip("this processor has no level of 512 bits");
    }
    for level in wide {
        again("a_level_wider_than_the_limit_is_an_error", format!("max=256,{level}").as_ref());
    }
}

/// A variable that is set to nothing names nothing.
#[test]
fn an_empty_value_is_none() {
    if is_child() {
        assert_eq!(AesLevel::best(), Ok(AesLevel::fastest()));
    } else {
        again("an_empty_value_is_none", OsStr::new(""));
    }
}

#[test]
fn the_error_lists_what_there_is() {
    let text = Error::Level.to_string();
    for level in AesLevel::available() {
        assert!(text.contains(level.name()), "{text}");
    }
}
