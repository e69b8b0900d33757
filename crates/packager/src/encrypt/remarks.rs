//! What is to be said of a track once, whatever the number of its fragments.

use lanelock_mp4::{Movie, TrackEncryption, TrackFragment};

use crate::{Error, Observer, io::Input, selection::fail, tracks::Protector};

/// What was seen of the tracks to encrypt; each list is parallel to the tracks of the movie.
pub(crate) struct Remarks {
    /// An earlier protection has left something over (`senc`, `saiz`, `saio`, `seig` groups), which new
    /// boxes replace.
    leftovers: Vec<bool>,
    /// There are several track fragments in one `moof`.
    repeated: Vec<bool>,
}

impl Remarks {
    /// None yet.
    pub(crate) fn none(movie: &Movie) -> Self {
        let none = vec![false; movie.tracks.len()];
        Self { leftovers: none.clone(), repeated: none }
    }

    /// Those on `moov`, whose sample entries are clear.
    pub(super) fn of(
        input: &Input<'_>,
        movie: &Movie,
        protector: &Protector,
    ) -> Result<Self, Error> {
        let mut this = Self::none(movie);
        for (index, track) in movie.tracks.iter().enumerate() {
            let has = movie.has_protection_boxes(track).map_err(|error| input.container(error))?;
            let is_replaced = has && protector.tracks[index].is_some();
            if is_replaced && movie.encryption_runs(track, 1).any(is_protected) {
                return Err(fail(input, track, GROUP_OF_CLEAR.into()));
            }
            this.leftovers[index] = is_replaced;
        }
        Ok(this)
    }

    /// A track fragment to encrypt has something left over.
    pub(super) fn leftover(
        &mut self,
        input: &Input<'_>,
        movie: &Movie,
        traf: &TrackFragment<'_>,
    ) -> Result<(), Error> {
        if traf.encryption_runs(movie).any(is_protected) {
            return Err(fail(input, &movie.tracks[traf.track_index], GROUP_OF_CLEAR.into()));
        }
        self.leftovers[traf.track_index] = true;
        Ok(())
    }

    /// A `moof` has another track fragment of a track.
    pub(super) fn repeated(&mut self, track: usize) {
        self.repeated[track] = true;
    }

    /// Says it.
    pub(super) fn warn(&self, movie: &Movie, observer: &dyn Observer) {
        for (index, track) in movie.tracks.iter().enumerate() {
            if self.leftovers[index] {
                observer.warn(&format!(
                    "track {} is clear by its sample entry, yet has boxes of an earlier protection \
                     (senc, saiz, saio or seig groups): new ones took their place; if its media were \
                     still encrypted, they are now encrypted twice",
                    track.id
                ));
            }
            if self.repeated[index] {
                observer.warn(&format!(
                    "track {} has several track fragments in one moof: ffmpeg and Bento4 do not \
                     decrypt that, Shaka Packager and GPAC do; remux the clear file first (ffmpeg -i IN -c \
                     copy -movflags +frag_keyframe+empty_moov OUT) if that matters",
                    track.id
                ));
            }
        }
    }
}

/// Why a clear sample entry is not believed.
pub(crate) const GROUP_OF_CLEAR: &str = "a sample group says that samples are encrypted already, its sample entry \
    says not; decrypt it first, with the moov that belongs to it (lanelock decrypt)";

pub(crate) fn is_protected((_, encryption): (u64, Option<&TrackEncryption>)) -> bool {
    encryption.is_some_and(|encryption| encryption.is_protected)
}
