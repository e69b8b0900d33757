//! What a caller can ask for.

use std::time::Duration;

use lanelock_cenc::Scheme;

use crate::{
    Error, Key, KeyMap, Selector, UnclaimedPolicy,
    drm::{GivenSystem, System},
    schedule::{ClearLead, KeyPeriods, Schedule},
    selector::PictureLimits,
};

/// Bytes of the input in memory.
const MEMORY: u64 = 24 << 20;

/// The shortest duration of new fragments.
pub(crate) const FRAGMENT_DURATION: Duration = Duration::from_secs(2);

/// A method for each field that gives the options with another value of it.
macro_rules! setters {
    ($($method:ident: $field:ident, $value:ty;)*) => {$(
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $method(self, $field: $value) -> Self {
            Self { $field, ..self }
        }
    )*};
}

pub(crate) use setters;

/// How to encrypt. Made by [`Self::new`], changed by the `with_...` methods.
///
/// ```
/// use std::time::Duration;
/// use lanelock_packager::{EncryptOptions, Iv, KeyMap, Scheme, Selector};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut keys = KeyMap::new();
/// keys.parse_insert("video=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
/// let options = EncryptOptions::new(Scheme::Cbcs, keys)
///     .with_clear(vec![Selector::Audio])
///     .with_iv(Iv::Given(vec![7; 16])) // for output that is the same each time
///     .with_fragment_duration(Duration::from_secs(4));
/// assert_eq!(options.pattern, (1, 9));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EncryptOptions {
    /// The protection scheme.
    pub scheme: Scheme,
    /// The keys and the tracks they are for.
    pub keys: KeyMap,
    /// The tracks to leave clear. A track that has no key and is not named here is an error.
    pub clear: Vec<Selector>,
    /// What the classes of pictures are that selectors name.
    pub picture_limits: PictureLimits,
    /// From one key period to the next, keys change. Output with several is fragmented. Default one period
    /// for all time.
    pub key_periods: KeyPeriods,
    /// Fragments that begin before this time, counted from the start of the movie, stay clear. Output that
    /// has them is fragmented. Default none.
    pub clear_lead: Duration,
    /// How a clear lead is said to be clear.
    pub clear_lead_form: ClearLead,
    /// `crypt`:`skip` blocks for video under `cbcs` and `cens`. Default 1:9. Audio has no pattern.
    pub pattern: (u8, u8),
    /// Encrypt the whole blocks of a truncated crypt run (Shaka Packager, Bento4, GPAC); default is
    /// to leave them clear (FFmpeg, mp4ff). There are none with 1:N and N:0.
    pub encrypt_truncated_runs: bool,
    /// The IV.
    pub iv: Iv,
    /// Whole `pssh` boxes to pass through.
    pub pssh: Vec<Vec<u8>>,
    /// What protection systems are told of single keys, in place of what would be made for these.
    pub given: Vec<GivenSystem>,
    /// The protection systems that get a `pssh` made for the keys in use. Default the common one (W3C).
    pub drm: Vec<System>,
    /// The layout of the output for progressive input. Fragmented input stays fragmented.
    pub layout: Layout,
    /// Fragments made from progressive input are at least this long, up to the next sync sample; where
    /// that is more than 30 s away, up to the next sample.
    pub fragment_duration: Duration,
    /// What to do with the segment indexes of fragmented input. Files that are made fragmented get one,
    /// unless it says [`IndexPolicy::Drop`].
    pub index: IndexPolicy,
    /// What to do with media data that no sample and no item refers to.
    pub unclaimed: UnclaimedPolicy,
    /// Workers; 0 means one for each core, at most 4.
    pub workers: usize,
    /// Whether to make sure that the output is on the disk before it appears under its name.
    pub sync: bool,
    /// How several workers write.
    pub writes: Writes,
    /// The most bytes of the input in memory, but for a fragment that is larger. Default 24 MiB.
    pub memory: u64,
    /// Choices that must make a difference: it is an error if one makes none to the input. Default none,
    /// so that options do for many files; [`Summary::unused`](crate::Summary::unused) names those
    /// without effect.
    pub must_apply: Vec<Choice>,
}

impl EncryptOptions {
    /// `scheme` with `keys`, and the defaults of the fields.
    pub fn new(scheme: Scheme, keys: KeyMap) -> Self {
        Self {
            scheme,
            keys,
            clear: Vec::new(),
            picture_limits: PictureLimits::default(),
            key_periods: KeyPeriods::Single,
            clear_lead: Duration::ZERO,
            clear_lead_form: ClearLead::SampleEntry,
            pattern: (1, 9),
            encrypt_truncated_runs: false,
            iv: Iv::Random,
            pssh: Vec::new(),
            given: Vec::new(),
            drm: vec![System::Common],
            layout: Layout::Fragmented,
            fragment_duration: FRAGMENT_DURATION,
            index: IndexPolicy::Keep,
            unclaimed: UnclaimedPolicy::Refuse,
            workers: 0,
            sync: false,
            writes: Writes::SideBySide,
            memory: MEMORY,
            must_apply: Vec::new(),
        }
    }

    setters! {
        with_clear: clear, Vec<Selector>;
        with_picture_limits: picture_limits, PictureLimits;
        with_key_periods: key_periods, KeyPeriods;
        with_clear_lead: clear_lead, Duration;
        with_clear_lead_form: clear_lead_form, ClearLead;
        with_encrypted_truncated_runs: encrypt_truncated_runs, bool;
        with_iv: iv, Iv;
        with_pssh: pssh, Vec<Vec<u8>>;
        with_given: given, Vec<GivenSystem>;
        with_drm: drm, Vec<System>;
        with_layout: layout, Layout;
        with_fragment_duration: fragment_duration, Duration;
        with_index: index, IndexPolicy;
        with_unclaimed: unclaimed, UnclaimedPolicy;
        with_workers: workers, usize;
        with_sync: sync, bool;
        with_writes: writes, Writes;
        with_memory: memory, u64;
        with_must_apply: must_apply, Vec<Choice>;
    }

    /// Sets [`pattern`](Self::pattern).
    #[must_use]
    pub fn with_pattern(self, crypt: u8, skip: u8) -> Self {
        Self { pattern: (crypt, skip), ..self }
    }

    /// What a system is told of a key by others.
    pub(crate) fn given_for(&self, id: [u8; 16], kid: [u8; 16]) -> Option<&GivenSystem> {
        self.given.iter().find(|given| given.id == id && given.kid == kid)
    }

    /// When tracks are clear, and when which key is theirs.
    pub(crate) fn schedule(&self) -> Result<Schedule, Error> {
        self.key_periods.check().map_err(Error::Options)?;
        Ok(Schedule { lead: self.clear_lead, periods: self.key_periods.clone() })
    }
}

/// A choice in [`EncryptOptions`] or [`DecryptOptions`] that makes no difference to some inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// A selector of [`keys`](EncryptOptions::keys): none if it selects no track.
    Key(Selector),
    /// A selector of [`clear`](EncryptOptions::clear): none if it selects no track.
    Clear(Selector),
    /// The [`fragment_duration`](EncryptOptions::fragment_duration): none to fragments that are there.
    FragmentDuration,
    /// [`IndexPolicy::Build`]: none to progressive output, which has no index.
    Index,
}

/// How to plan a movie whose segments are made one by one. Made by [`Self::new`], changed by the
/// `with_...` methods.
///
/// [`MoviePlan`](crate::MoviePlan) has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Segments made from progressive input are at least this long, up to the next sync sample; where
    /// that is more than 30 s away, up to the next sample.
    pub fragment_duration: Duration,
    /// What to do with media data that no sample refers to.
    pub unclaimed: UnclaimedPolicy,
}

impl PlanOptions {
    /// The defaults of [`EncryptOptions`].
    pub fn new() -> Self {
        Self { fragment_duration: FRAGMENT_DURATION, unclaimed: UnclaimedPolicy::Refuse }
    }

    setters! {
        with_fragment_duration: fragment_duration, Duration;
        with_unclaimed: unclaimed, UnclaimedPolicy;
    }
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// How to decrypt. Made by [`Self::new`], changed by the `with_...` methods.
///
/// [The crate](crate) has an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecryptOptions {
    /// The keys, found by their KIDs.
    pub keys: Vec<Key>,
    /// Decrypt the whole blocks of a truncated crypt run, for files that Shaka Packager,
    /// Bento4 or GPAC made.
    pub encrypt_truncated_runs: bool,
    /// What to do with the segment indexes of fragmented input.
    pub index: IndexPolicy,
    /// What to do with media data that no sample and no item refers to.
    pub unclaimed: UnclaimedPolicy,
    /// Whether to look for wrong keys in what they decrypt, and in PlayReady headers. Default yes: a
    /// key that is surely wrong is an error.
    pub check_keys: bool,
    /// Workers; 0 means one for each core, at most 4.
    pub workers: usize,
    /// Whether to make sure that the output is on the disk before it appears under its name.
    pub sync: bool,
    /// How several workers write.
    pub writes: Writes,
    /// The most bytes of the input in memory, but for a fragment that is larger. Default 24 MiB.
    pub memory: u64,
    /// Choices that must make a difference, as in [`EncryptOptions::must_apply`].
    pub must_apply: Vec<Choice>,
}

impl DecryptOptions {
    /// The keys, and the defaults of the fields.
    pub fn new(keys: Vec<Key>) -> Self {
        Self {
            keys,
            encrypt_truncated_runs: false,
            index: IndexPolicy::Keep,
            unclaimed: UnclaimedPolicy::Refuse,
            check_keys: true,
            workers: 0,
            sync: false,
            writes: Writes::SideBySide,
            memory: MEMORY,
            must_apply: Vec::new(),
        }
    }

    setters! {
        with_check_keys: check_keys, bool;
        with_encrypted_truncated_runs: encrypt_truncated_runs, bool;
        with_index: index, IndexPolicy;
        with_unclaimed: unclaimed, UnclaimedPolicy;
        with_workers: workers, usize;
        with_sync: sync, bool;
        with_writes: writes, Writes;
        with_memory: memory, u64;
        with_must_apply: must_apply, Vec<Choice>;
    }
}

/// How several workers write to one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Writes {
    /// Side by side: the fastest.
    #[default]
    SideBySide,
    /// One after the other: less processor time where the file system lets one at a time write to a
    /// file, and longer.
    InTurns,
}

/// Where the first IV of a track comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Iv {
    /// The random generator of the system: 8 bytes for `cenc` and `cens`, 16 for `cbc1` and `cbcs`.
    Random,
    /// These 8 or 16 bytes: the constant IV for `cbcs`, the IV of the first sample for the others.
    Given(Vec<u8>),
}

/// The layout of the output for progressive input, and for `QuickTime`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Fragments that begin at sync samples, in an ISO file.
    Fragmented,
    /// Progressive, as it is, also a `QuickTime` file; `senc`, `saiz` and `saio` in `stbl`.
    Keep,
}

/// What becomes of the segment indexes (`sidx`) of a fragmented file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexPolicy {
    /// They stay, and follow what they refer to. One that does not match its file is built anew if it
    /// is that of the whole file, else left out, with a warning.
    #[default]
    Keep,
    /// They are left out, and one for the whole file is built behind `moov`.
    Build,
    /// They are left out.
    Drop,
}

/// Watches a run and may end it.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use lanelock_packager::Observer;
///
/// struct Job {
///     cancelled: AtomicBool,
/// }
///
/// impl Observer for Job {
///     fn interrupted(&self) -> bool {
///         self.cancelled.load(Ordering::Relaxed)
///     }
///
///     fn warn(&self, message: &str) {
///         eprintln!("warning: {message}");
///     }
/// }
/// # assert!(Job { cancelled: AtomicBool::new(true) }.interrupted());
/// ```
pub trait Observer: Sync {
    /// `done` of `total` bytes of the input are through; called from any worker.
    fn progress(&self, done: u64, total: u64) {
        let _ = (done, total);
    }

    /// Whether to stop: asked between pieces. The run then ends with
    /// [`Error::Interrupted`](crate::Error::Interrupted), without output.
    fn interrupted(&self) -> bool {
        false
    }

    /// Something the user should know.
    fn warn(&self, message: &str) {
        let _ = message;
    }
}

/// An observer that sees nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {}
