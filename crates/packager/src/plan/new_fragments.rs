//! Pieces of a progressive file that becomes fragmented: one for each new fragment.

use lanelock_mp4::Movie;

use super::Cuts;
use crate::{
    Error,
    io::Input,
    piece::{PartKind, Planned},
    pipeline::Plan,
};

/// What stands in front, then the fragments.
pub(crate) struct NewFragments<'a> {
    input: &'a Input<'a>,
    movie: &'a Movie,
    cuts: Cuts<'a>,
    head: Option<Planned>,
}

impl<'a> NewFragments<'a> {
    /// `head` and `room` bytes for an index stand in front.
    pub(crate) fn new(
        input: &'a Input<'a>,
        movie: &'a Movie,
        cuts: Cuts<'a>,
        head: Vec<u8>,
        room: Option<usize>,
    ) -> Self {
        let mut piece = Planned::of(PartKind::Replace(head), 0..0);
        if let Some(room) = room {
            piece.push(PartKind::NewIndex(room), 0..0);
        }
        Self { input, movie, cuts, head: Some(piece) }
    }
}

impl Plan for NewFragments<'_> {
    fn next(&mut self) -> Result<Option<Planned>, Error> {
        if self.head.is_some() {
            return Ok(self.head.take());
        }
        let Some(cut) = self.cuts.next()? else { return Ok(None) };
        cut.planned(self.input, self.movie).map(Some)
    }
}
