//! An object that is read.

use std::{
    collections::VecDeque,
    io,
    ops::Range,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use lanelock_mp4::ReadAt;
use lanelock_packager::io::Source;
use object_store::{
    GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, path::Path,
};

use crate::{
    blocks::{BLOCK, Blocks, Found},
    client::{Backend, Shared},
    fault::{CHANGED, explain},
    location::Location,
};

/// The least bytes that a request asks for.
const LEAST: u64 = 16 << 10;

/// The first request brings so many: `ftyp` and often `moov`.
const FIRST: u64 = 64 << 10;

/// Reads of fewer bytes say nothing of what is read next, unless they are many (`STEPS`).
const TELLING: u64 = 64 << 10;

/// Small reads that follow one another in steps up to this are a walk over the boxes of small fragments, for
/// which it takes less time to fetch all bytes than to make a round trip for each. So many steps make a walk.
const STEP: u64 = 1 << 20;
const STEPS: u32 = 4;

/// A read so near behind another, or in front of it, goes on with it: several threads read side by side, and
/// leave out the samples of other tracks.
const NEAR: u64 = 4 << 20;

/// How many small answers are kept.
const MOST_SMALL: usize = 8;

/// How many reads are remembered.
const MOST_RECENT: usize = 8;

/// Spans are far apart if less than this part of the bytes from the first to the last is theirs: to fetch all of
/// them takes less time than a request for each.
const SPARSE: u64 = 5;

/// Spans with gaps up to this between them are fetched by one request.
const GAP: u64 = 64 << 10;

/// How many requests for spans are under way at once.
const SIDE_BY_SIDE: usize = 8;

/// How often a body that was cut short is asked for again.
const BODIES: usize = 3;

/// How often a wait looks whether it is cancelled.
const TICK: Duration = Duration::from_millis(100);

/// An object that is read at offsets, by ranges.
///
/// Reads that follow one another are answered from blocks that are asked for in advance, at most 12 of 4 MiB
/// (and one more for each thread); others are requests of their own. All of them are of the version that was
/// opened: if the object changes, they fail.
pub struct ObjectSource {
    shared: Arc<Shared>,
    object: Arc<Object>,
    state: Arc<(Mutex<State>, Condvar)>,
}

/// Where to ask, and for what.
struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    name: String,
    version: Version,
}

#[derive(Default)]
struct State {
    blocks: Blocks,
    /// Answers to small reads, by their offsets.
    small: VecDeque<(u64, Bytes)>,
    /// Where reads have ended lately.
    recent: VecDeque<u64>,
    /// Where the last small read has ended, and how many before it were one step behind another.
    walk: (u64, u32),
}

/// What tells that an object is still the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    len: u64,
    /// The ETag; of servers without, the time of the last modification.
    tag: Result<String, i64>,
}

impl Version {
    fn of(meta: &ObjectMeta) -> Self {
        let tag = meta.e_tag.clone().filter(|tag| !tag.is_empty());
        Self { len: meta.size, tag: tag.ok_or(meta.last_modified.timestamp()) }
    }

    /// The ETag for `If-Match`, which compares strongly (RFC 9110, 13.1.1): a weak one never matches.
    fn condition(&self) -> Option<String> {
        self.tag.clone().ok().filter(|tag| !tag.starts_with("W/"))
    }
}

impl ObjectSource {
    pub(crate) fn open(
        shared: &Arc<Shared>,
        backend: Backend,
        location: &Location,
    ) -> io::Result<Self> {
        let (store, path) = (backend.objects, location.path.clone());
        // A range instead of HEAD: it tells the length as well, is allowed by signed URLs for GET, and
        // brings what is read first.
        let range = Some(GetRange::Bounded(0..FIRST));
        let first = async {
            let mut tries = 1;
            loop {
                let options = GetOptions { range: range.clone(), ..GetOptions::default() };
                let result = store.get_opts(&path, options).await?;
                let version = Version::of(&result.meta);
                match result.bytes().await {
                    Ok(bytes) => return Ok((version, Ok(bytes))),
                    Err(error) if tries == BODIES => return Ok((version, Err(cut(&error)))),
                    Err(_) => tries += 1,
                }
                tokio::time::sleep(TICK * 2).await;
            }
        };
        let (version, bytes) = match shared.wait(first)? {
            Ok((version, bytes)) => (version, bytes?),
            Err(error) => {
                // An empty object has no range (416).
                let head = shared.wait(store.head(&path))?;
                match head {
                    Ok(meta) if meta.size == 0 => (Version::of(&meta), Bytes::new()),
                    _ => return Err(explain(&error)),
                }
            }
        };
        if bytes.len() as u64 != version.len.min(FIRST) {
            return Err(short(bytes.len() as u64, version.len.min(FIRST)));
        }
        let object = Object { store, path, name: location.name().into(), version };
        let state = State { small: [(0, bytes)].into(), ..State::default() };
        Ok(Self {
            shared: shared.clone(),
            object: Arc::new(object),
            state: Arc::new((Mutex::new(state), Condvar::new())),
        })
    }

    /// The most bytes that were read ahead at once.
    pub fn peak(&self) -> u64 {
        self.lock().blocks.peak() as u64 * BLOCK
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from blocks, and asks for those behind them.
    fn read_blocks(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let index = offset / BLOCK;
            let bytes = self.block(index)?;
            let at = usize::try_from(offset - index * BLOCK).unwrap_or(usize::MAX);
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty()).ok_or_else(eof)?;
            let (part, behind) = buf.split_at_mut(rest.len().min(buf.len()));
            part.copy_from_slice(&rest[..part.len()]);
            offset += part.len() as u64;
            buf = behind;
        }
        Ok(())
    }

    fn block(&self, index: u64) -> io::Result<Bytes> {
        let mut state = self.lock();
        let wanted = state.blocks.want(index, self.len().div_ceil(BLOCK));
        state.blocks.enter(index);
        for next in wanted {
            let (object, state) = (self.object.clone(), self.state.clone());
            let range = next * BLOCK..object.version.len.min((next + 1) * BLOCK);
            self.shared.spawn(async move {
                let bytes = object.fetch(range).await;
                let (lock, arrived) = &*state;
                lock.lock().unwrap_or_else(PoisonError::into_inner).blocks.arrive(next, bytes);
                arrived.notify_all();
            })?;
        }
        let found = loop {
            match state.blocks.get(index) {
                Ok(Found::Bytes(bytes)) => break Ok(bytes),
                Ok(Found::Coming) => {}
                Err(error) => break Err(error),
            }
            if let Err(error) = self.shared.check_cancelled() {
                break Err(error);
            }
            let waited = self.state.1.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.blocks.leave(index);
        found
    }

    /// Reads from an answer that is kept, if one has the bytes.
    fn read_small(&self, buf: &mut [u8], offset: u64) -> bool {
        let state = self.lock();
        let found = state.small.iter().find_map(|(start, bytes)| {
            let at = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(at..)?.get(..buf.len())
        });
        if let Some(bytes) = found {
            buf.copy_from_slice(bytes);
        }
        found.is_some()
    }

    /// Whether what is read here goes on with what was read before, so that it is read from blocks.
    fn goes_on(&self, offset: u64, len: u64) -> bool {
        let mut state = self.lock();
        let last = (offset + len).saturating_sub(1) / BLOCK;
        let known = (offset / BLOCK..=last).all(|index| state.blocks.has(index));
        if len < TELLING {
            let (end, steps) = state.walk;
            let is_step = offset.checked_sub(end).is_some_and(|gap| gap <= STEP);
            state.walk = (offset + len, if is_step { steps + 1 } else { 0 });
            return known || steps >= STEPS && is_step;
        }
        let before = state.recent.iter().position(|end| offset.abs_diff(*end) <= NEAR);
        if let Some(before) = before {
            state.recent.remove(before);
        }
        state.recent.truncate(MOST_RECENT - 1);
        state.recent.push_front(offset + len);
        known || before.is_some() || len > BLOCK
    }

    /// Reads by a request of its own.
    fn read_alone(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let len = buf.len() as u64;
        let end = self.len().min(offset + len.max(LEAST));
        let bytes = self.shared.wait(self.object.fetch(offset..end))??;
        buf.copy_from_slice(bytes.get(..buf.len()).ok_or_else(eof)?);
        if len <= LEAST {
            let mut state = self.lock();
            state.small.truncate(MOST_SMALL - 1);
            state.small.push_front((offset, bytes));
        }
        Ok(())
    }

    /// Reads spans that are far apart, by requests side by side.
    fn read_apart(&self, spans: &[Range<u64>], buf: &mut [u8]) -> io::Result<()> {
        let mut requests: Vec<Range<u64>> = Vec::new();
        for span in spans.iter().filter(|span| !span.is_empty()) {
            match requests.last_mut() {
                Some(last) if last.end <= span.start && span.start - last.end <= GAP => {
                    last.end = span.end;
                }
                _ => requests.push(span.clone()),
            }
        }
        let fetches = requests.iter().map(|range| {
            let (object, range) = (self.object.clone(), range.clone());
            async move { object.fetch(range).await }
        });
        let answers = self.shared.wait(
            stream::iter(fetches).buffered(SIDE_BY_SIDE).collect::<Vec<io::Result<Bytes>>>(),
        )?;
        let mut answers = requests.iter().zip(answers);
        let mut current: Option<(&Range<u64>, Bytes)> = None;
        each(spans, buf, |part, span| {
            if part.is_empty() {
                return Ok(());
            }
            if current.as_ref().is_none_or(|(range, _)| range.end < span.end) {
                let (range, bytes) = answers.next().ok_or_else(eof)?;
                current = Some((range, bytes?));
            }
            let (range, bytes) = current.as_ref().ok_or_else(eof)?;
            let from = span.start.checked_sub(range.start).and_then(|at| usize::try_from(at).ok());
            let found = from.and_then(|from| bytes.get(from..)?.get(..part.len()));
            part.copy_from_slice(found.ok_or_else(eof)?);
            Ok(())
        })
    }

    fn check(&self, end: Option<u64>) -> io::Result<()> {
        if end.is_some_and(|end| end <= self.len()) { Ok(()) } else { Err(eof()) }
    }
}

impl Object {
    /// Asks for a range, which is not empty.
    async fn fetch(&self, range: Range<u64>) -> io::Result<Bytes> {
        let mut tries = 0;
        loop {
            tries += 1;
            let options = GetOptions {
                range: Some(GetRange::Bounded(range.clone())),
                if_match: self.version.condition(),
                ..GetOptions::default()
            };
            let result = match self.store.get_opts(&self.path, options).await {
                Ok(result) => result,
                Err(error) => return Err(explain(&error)),
            };
            // Also of servers that do not know the condition.
            if Version::of(&result.meta) != self.version {
                return Err(io::Error::new(io::ErrorKind::InvalidData, CHANGED));
            }
            let wanted = range.end - range.start;
            let error = match result.bytes().await {
                Ok(bytes) if bytes.len() as u64 == wanted => return Ok(bytes),
                Ok(bytes) => short(bytes.len() as u64, wanted),
                Err(error) => cut(&error),
            };
            if tries == BODIES {
                return Err(error);
            }
            tokio::time::sleep(TICK * 2 * u32::try_from(tries).unwrap_or(1)).await;
        }
    }
}

impl ReadAt for ObjectSource {
    fn len(&self) -> u64 {
        self.object.version.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let len = buf.len() as u64;
        self.check(offset.checked_add(len))?;
        if buf.is_empty() {
            return Ok(());
        }
        if self.read_small(buf, offset) {
            return Ok(());
        }
        if self.goes_on(offset, len) {
            return self.read_blocks(buf, offset);
        }
        self.read_alone(buf, offset)
    }
}

impl Source for ObjectSource {
    fn name(&self) -> String {
        self.object.name.clone()
    }

    fn is_distant(&self) -> bool {
        true
    }

    fn read_spans(&self, spans: &[Range<u64>], buf: &mut [u8]) -> io::Result<()> {
        let [first, .., last] = spans else {
            return spans.first().map_or(Ok(()), |span| self.read_exact_at(buf, span.start));
        };
        let extent = last.end.checked_sub(first.start).ok_or_else(eof)?;
        self.check(Some(last.end))?;
        if spans.windows(2).any(|pair| pair[0].end > pair[1].start) {
            return each(spans, buf, |part, span| self.read_exact_at(part, span.start));
        }
        if (buf.len() as u64) < extent / SPARSE {
            return self.read_apart(spans, buf);
        }
        // The gaps are read as well.
        if self.goes_on(first.start, extent) {
            return each(spans, buf, |part, span| self.read_blocks(part, span.start));
        }
        let bytes = self.shared.wait(self.object.fetch(first.start..last.end))??;
        each(spans, buf, |part, span| {
            let from = usize::try_from(span.start - first.start).unwrap_or(usize::MAX);
            let found = bytes.get(from..).and_then(|bytes| bytes.get(..part.len()));
            part.copy_from_slice(found.ok_or_else(eof)?);
            Ok(())
        })
    }

    fn change(&self) -> io::Result<Option<String>> {
        let now = match self.object.version.len {
            // No range to ask for.
            0 => self.shared.wait(self.object.store.head(&self.object.path))?.map(drop),
            _ => match self.shared.wait(self.object.fetch(0..1))? {
                Ok(_) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Ok(Some("the server has another version".into()));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Some("it was removed".into()));
                }
                Err(error) => return Err(error),
            },
        };
        now.map(|()| None).map_err(|error| explain(&error))
    }
}

/// Fills `buf` with the bytes of spans, one behind the other.
fn each(
    spans: &[Range<u64>],
    buf: &mut [u8],
    mut read: impl FnMut(&mut [u8], &Range<u64>) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = buf;
    for span in spans {
        let len = usize::try_from(span.end.saturating_sub(span.start)).map_err(|_| eof())?;
        let (part, behind) = rest.split_at_mut_checked(len).ok_or_else(eof)?;
        read(part, span)?;
        rest = behind;
    }
    Ok(())
}

fn eof() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "there are fewer bytes than were asked for")
}

/// The error of a body that has not come whole.
fn cut(error: &object_store::Error) -> io::Error {
    let error = explain(error);
    io::Error::new(error.kind(), format!("the answer is cut short: {error}"))
}

fn short(came: u64, wanted: u64) -> io::Error {
    let what = format!("the answer is cut short: {came} bytes came, and not {wanted}");
    io::Error::other(what)
}
