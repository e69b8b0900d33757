//! Pieces of a fragmented file: one for each `moof` with the boxes behind it.

use std::{collections::VecDeque, iter::Peekable};

use lanelock_mp4::{BoxHeader, FileSource, TopLevel, load, load_into, top_level};

use super::copy;
use crate::{
    Error,
    io::Input,
    pipeline::Plan,
    task::{Task, TaskKind},
};

/// The most bytes of a `moof`: its structures take a multiple of that in memory.
const MOOF_CAP: u64 = 16 << 20;

/// Cuts a fragmented file.
pub(crate) struct Fragments<'a> {
    input: &'a Input,
    boxes: Peekable<TopLevel<'a, FileSource>>,
    moov: Option<Vec<u8>>,
    ftyp: Option<Vec<u8>>,
    queue: VecDeque<Task>,
}

impl<'a> Fragments<'a> {
    /// `moov` takes the place of the input's.
    pub(crate) fn new(input: &'a Input, moov: Vec<u8>) -> Self {
        let boxes = top_level(&input.source).peekable();
        Self { input, boxes, moov: Some(moov), ftyp: None, queue: VecDeque::new() }
    }

    /// `ftyp` takes the place of the input's; where there is none, it goes in front of `moov`.
    pub(crate) fn with_ftyp(self, ftyp: Vec<u8>) -> Self {
        Self { ftyp: Some(ftyp), ..self }
    }

    fn fragment(&mut self, header: &BoxHeader) -> Result<Task, Error> {
        let at = header.offset;
        let mut moof = Vec::new();
        load_into(&self.input.source, header, MOOF_CAP, &mut moof)
            .map_err(|error| self.input.container(error))?;
        let mut end = header.end();
        while let Some(Ok(next)) = self.boxes.peek() {
            // What begins something new, or has offsets of its own.
            if matches!(
                &next.kind.0,
                b"moof" | b"styp" | b"sidx" | b"ssix" | b"emsg" | b"prft" | b"mfra" | b"moov"
            ) {
                break;
            }
            end = next.end();
            self.boxes.next();
        }
        Ok(Task::of(TaskKind::Fragment { at, moof }, header.end()..end))
    }
}

impl Plan for Fragments<'_> {
    fn next(&mut self) -> Result<Option<Task>, Error> {
        loop {
            if let Some(task) = self.queue.pop_front() {
                return Ok(Some(task));
            }
            let Some(header) = self.boxes.next() else { return Ok(None) };
            let header = header.map_err(|error| self.input.container(error))?;
            let at = header.offset;
            match &header.kind.0 {
                b"moof" => return self.fragment(&header).map(Some),
                b"ftyp" if self.ftyp.is_some() => {
                    let bytes = self.ftyp.take().unwrap_or_default();
                    return Ok(Some(Task::new(TaskKind::Replace { at, bytes }, Vec::new())));
                }
                b"moov" => {
                    let mut bytes = self.ftyp.take().unwrap_or_default();
                    bytes.extend(self.moov.take().unwrap_or_default());
                    return Ok(Some(Task::new(TaskKind::Replace { at, bytes }, Vec::new())));
                }
                b"sidx" | b"mfra" => {
                    let bytes = load(&self.input.source, &header)
                        .map_err(|error| self.input.container(error))?;
                    return Ok(Some(Task::new(TaskKind::Index { at, bytes }, Vec::new())));
                }
                b"ssix" => {
                    return Err(self.input.unsuitable(format!(
                        "ssix at file offset {at}: its byte ranges would be wrong in the output; remove \
                         the box first"
                    )));
                }
                _ => copy(&mut self.queue, at..header.end()),
            }
        }
    }
}
