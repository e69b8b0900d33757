//! An object that is written.

use std::{
    collections::BTreeMap,
    io::{self, IoSlice},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use lanelock_packager::io::{Finish, Sink, WriteOrder};
use object_store::{
    Attribute, Attributes, Error, MultipartId, ObjectStoreExt as _, PutMultipartOptions,
    PutOptions, PutPayload,
    multipart::{MultipartStore, PartId},
    path::Path,
};
use tokio::task::JoinHandle;

use crate::{
    client::{Backend, Shared},
    fault::{THERE, copy, explain},
    location::{Location, Service},
    members::Members,
};

/// The most parts of an object: S3, Google Cloud Storage and R2 take 10,000.
const MOST_PARTS: u64 = 10_000;

/// The most bytes that go to an HTTP server in one request; they are in memory until then.
const MOST_IN_ONE: u64 = 256 << 20;

/// The most parts that are in memory because bytes of them are missing. Workers leave two each at most.
const MOST_OPEN: usize = 160;

/// How long a failed run waits for a server to forget an upload.
const ABORT: Duration = Duration::from_secs(20);

/// An object that appears when it is finished, in place of the one that has its name. Dropped before, it
/// leaves nothing: an upload that has begun is aborted.
///
/// It takes its bytes in any order, each once. What fits one part is sent by one request; of what does not,
/// parts are sent side by side as soon as their bytes are there. In memory are the parts that are on their
/// way, at most 64 MiB for all sinks of a [`Store`](crate::Store), and those of which bytes are missing.
pub struct ObjectSink {
    shared: Arc<Shared>,
    target: Target,
    part_size: AtomicUsize,
    state: Mutex<State>,
    /// The upload in parts that has begun.
    upload: Mutex<Option<MultipartId>>,
    /// Why a part was not taken.
    failed: Arc<Mutex<Option<io::Error>>>,
    /// What it is finished with, if it is one of several.
    members: Option<Arc<Members>>,
}

/// Where an object goes.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) backend: Backend,
    pub(crate) location: Location,
    /// Whether an object that is there is an error, which the service is asked for.
    pub(crate) must_be_new: bool,
}

#[derive(Default)]
struct State {
    /// Parts of which bytes are missing, by their numbers.
    open: BTreeMap<u64, Part>,
    /// Parts that were sent.
    sent: BTreeMap<u64, JoinHandle<io::Result<PartId>>>,
}

#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    /// How many of them were written.
    written: usize,
}

impl ObjectSink {
    pub(crate) fn new(shared: &Arc<Shared>, backend: Backend, location: Location) -> Self {
        Self::of(shared, Target { backend, location, must_be_new: false }, None)
    }

    pub(crate) fn of(shared: &Arc<Shared>, target: Target, members: Option<Arc<Members>>) -> Self {
        Self {
            shared: shared.clone(),
            target,
            part_size: AtomicUsize::new(shared.settings.part_size.max(5 << 20)),
            state: Mutex::default(),
            upload: Mutex::default(),
            failed: Arc::default(),
            members,
        }
    }

    fn part_size(&self) -> usize {
        self.part_size.load(Ordering::Relaxed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts bytes into parts; gives those that are complete.
    fn put(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<Vec<(u64, Vec<u8>)>> {
        let size = self.part_size();
        let mut complete = Vec::new();
        let mut state = self.state();
        while !bytes.is_empty() {
            let index = offset / size as u64;
            let at = usize::try_from(offset % size as u64).unwrap_or(0);
            let (now, behind) = bytes.split_at((size - at).min(bytes.len()));
            if state.sent.contains_key(&index) {
                return Err(io::Error::other("bytes that are sent already are written once more"));
            }
            if self.target.backend.multipart.is_none() && offset + now.len() as u64 > MOST_IN_ONE {
                return Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!(
                        "an HTTP server takes an object in one request, for which it is in memory: at most \
                         {} MiB; write it to s3://, gs:// or az://, or to a file",
                        MOST_IN_ONE >> 20
                    ),
                ));
            }
            if state.open.len() >= MOST_OPEN && !state.open.contains_key(&index) {
                return Err(io::Error::other("too many parts wait for bytes in front of others"));
            }
            let part = state.open.entry(index).or_default();
            if part.bytes.len() < at {
                part.bytes.resize(at, 0);
            }
            let over = (part.bytes.len() - at).min(now.len());
            part.bytes[at..at + over].copy_from_slice(&now[..over]);
            part.bytes.extend_from_slice(&now[over..]);
            part.written += now.len();
            if part.written >= size && self.target.backend.multipart.is_some() {
                complete.extend(state.open.remove(&index).map(|part| (index, part.bytes)));
            }
            offset += now.len() as u64;
            bytes = behind;
        }
        Ok(complete)
    }

    /// The upload in parts, which begins now if it has not.
    fn upload(&self, store: &Arc<dyn MultipartStore>) -> io::Result<MultipartId> {
        let mut upload = self.upload.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = &*upload {
            return Ok(id.clone());
        }
        if let Some(members) = &self.members {
            members.begins(&self.target.location);
        }
        let path = &self.target.location.path;
        let options = PutMultipartOptions {
            // Azure takes none here.
            attributes: match self.target.location.service {
                Service::Azure => Attributes::new(),
                _ => content_type(path),
            },
            ..PutMultipartOptions::default()
        };
        let created = self.shared.wait(store.create_multipart_opts(path, options))?;
        let id = created.map_err(|error| explain(&error))?;
        *upload = Some(id.clone());
        Ok(id)
    }

    /// Sends a part, when there is room for it.
    fn send(&self, index: u64, bytes: Vec<u8>) -> io::Result<()> {
        let Some(store) = self.target.backend.multipart.clone() else { return Ok(()) };
        let room = self.shared.room_for(bytes.len())?;
        let id = self.upload(&store)?;
        let path = self.target.location.path.clone();
        let number = usize::try_from(index).unwrap_or(usize::MAX);
        let failed = self.failed.clone();
        let task = self.shared.spawn(async move {
            let sent = store.put_part(&path, &id, number, bytes.into()).await;
            drop(room);
            sent.map_err(|error| {
                let error = explain(&error);
                let again = copy(&error);
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                again
            })
        })?;
        let mut state = self.state();
        state.sent.insert(index, task);
        Ok(())
    }

    /// Aborts an upload that has begun.
    fn abort(&self) {
        let mut upload = self.upload.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(id), Some(store)) = (upload.take(), &self.target.backend.multipart) else {
            return;
        };
        let sent = std::mem::take(&mut self.state().sent);
        let aborted =
            self.shared.wait_at_most(ABORT, abort(store, &self.target.location, &id, sent));
        if let Some(complaint) =
            aborted.unwrap_or_else(|| Some(not_aborted(&self.target.location, "it takes too long")))
        {
            self.shared.complain(complaint);
        }
    }
}

/// Aborts an upload when its parts are no longer on their way; gives a complaint if that fails.
async fn abort(
    store: &Arc<dyn MultipartStore>,
    location: &Location,
    id: &MultipartId,
    sent: BTreeMap<u64, JoinHandle<io::Result<PartId>>>,
) -> Option<String> {
    for task in sent.values() {
        task.abort();
    }
    for task in sent.into_values() {
        let _ = task.await;
    }
    match store.abort_multipart(&location.path, id).await {
        Ok(()) | Err(Error::NotFound { .. }) => None,
        Err(error) => Some(not_aborted(location, &explain(&error).to_string())),
    }
}

fn not_aborted(location: &Location, why: &str) -> String {
    format!(
        "the upload of {location} could not be aborted ({why}): its parts are stored, though not visible, \
         until a rule of the bucket ends incomplete uploads"
    )
}

/// The media type of an object, which players look at: RFC 8216, 4 (m3u8), ISO/IEC 23009-1, C.1 (mpd), RFC
/// 4337 (mp4), W3C WebVTT and TTML.
fn content_type(path: &Path) -> Attributes {
    let media_type = match path.extension() {
        Some("m3u8") => "application/vnd.apple.mpegurl",
        Some("mpd") => "application/dash+xml",
        Some("mp4" | "m4s" | "cmfv" | "cmft") => "video/mp4",
        Some("m4a" | "cmfa") => "audio/mp4",
        Some("vtt") => "text/vtt",
        Some("ttml") => "application/ttml+xml",
        _ => return Attributes::new(),
    };
    Attributes::from_iter([(Attribute::ContentType, media_type)])
}

/// Sends an object by one request.
async fn put(target: Target, bytes: Vec<Bytes>, members: Option<Arc<Members>>) -> io::Result<()> {
    let (objects, path) = (&target.backend.objects, &target.location.path);
    if target.must_be_new {
        match objects.head(path).await {
            Err(Error::NotFound { .. }) => {}
            Ok(_) => return Err(io::Error::new(io::ErrorKind::AlreadyExists, THERE)),
            Err(error) => return Err(explain(&error)),
        }
    }
    if let Some(members) = members {
        members.begins(&target.location);
    }
    let options = PutOptions { attributes: content_type(path), ..PutOptions::default() };
    let sent = objects.put_opts(path, PutPayload::from_iter(bytes), options).await;
    sent.map(drop).map_err(|error| explain(&error))
}

/// Waits for all parts of an object, and makes it appear; or aborts it.
async fn complete(
    shared: Arc<Shared>,
    target: Target,
    id: MultipartId,
    mut sent: BTreeMap<u64, JoinHandle<io::Result<PartId>>>,
) -> io::Result<()> {
    let Some(store) = target.backend.multipart.clone() else { return Ok(()) };
    let location = &target.location;
    let parts = async {
        let mut parts = Vec::with_capacity(sent.len());
        for task in sent.values_mut() {
            parts.push(task.await.map_err(io::Error::other)??);
        }
        Ok(parts)
    };
    // Not the whole task: who cancels wants the upload aborted.
    let parts = shared.unless_cancelled(parts).await.and_then(|done: io::Result<_>| done);
    let result = match parts.and_then(|parts| shared.check_cancelled().map(|()| parts)) {
        // Not given up any more: the object may appear, and then the run has to say so.
        Ok(parts) => {
            let completed = store.complete_multipart(&location.path, &id, parts).await;
            completed.map(drop).map_err(|error| explain(&error))
        }
        Err(error) => Err(error),
    };
    if result.is_err() {
        sent.retain(|_, task| !task.is_finished());
        if let Some(complaint) = abort(&store, location, &id, sent).await {
            shared.complain(complaint);
        }
    }
    result
}

impl Sink for ObjectSink {
    fn name(&self) -> String {
        self.target.location.name().into()
    }

    fn order(&self) -> WriteOrder {
        WriteOrder::Once
    }

    fn expect(&self, bytes: u64) {
        // So that it has not more parts than there may be.
        let least = usize::try_from(bytes.div_ceil(MOST_PARTS / 2)).unwrap_or(usize::MAX);
        self.part_size.fetch_max(least, Ordering::Relaxed);
    }

    fn write_all_at(&self, parts: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        self.shared.check_cancelled()?;
        // What was sent and not taken ends the run, not only the last write.
        if let Some(error) = &*self.failed.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(copy(error));
        }
        for bytes in parts.iter().filter(|bytes| !bytes.is_empty()) {
            for (index, part) in self.put(bytes, offset)? {
                self.send(index, part)?;
            }
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, finish: Finish) -> io::Result<()> {
        let size = self.part_size() as u64;
        let open = std::mem::take(&mut self.state().open);
        let mut whole = 0;
        for (index, part) in &open {
            let missing = part.written < part.bytes.len();
            if missing
                || part.bytes.len() as u64 != finish.len.saturating_sub(index * size).min(size)
            {
                return Err(io::Error::other("bytes of it were not written"));
            }
            whole += part.bytes.len() as u64;
        }
        // One that fills a part exactly has begun to be sent in parts.
        let begun = self.upload.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let in_parts = begun || self.target.backend.multipart.is_some() && finish.len > size;
        let task = if in_parts {
            for (index, part) in open {
                self.send(index, part.bytes)?;
            }
            let sent = std::mem::take(&mut self.state().sent);
            // From now on it is aborted by the task.
            let id = self.upload.lock().unwrap_or_else(PoisonError::into_inner).take();
            let id = id.ok_or_else(|| io::Error::other("no part of it was written"))?;
            let task = complete(self.shared.clone(), self.target.clone(), id, sent);
            self.shared.spawn(task)?
        } else {
            if whole != finish.len {
                return Err(io::Error::other("bytes of it were not written"));
            }
            let room = self.shared.room_for(usize::try_from(whole).unwrap_or(usize::MAX))?;
            let bytes = open.into_values().map(|part| Bytes::from(part.bytes)).collect();
            let put = put(self.target.clone(), bytes, self.members.clone());
            self.shared.spawn(async move {
                let _room = room;
                put.await
            })?
        };
        if let Some(members) = &self.members {
            members.is_coming(&self.target.location, task);
            return Ok(());
        }
        // It sees itself whether it is cancelled; what was asked for is not given up, because it may be done.
        let done = self.shared.wait_at_most(Duration::MAX, task);
        done.ok_or_else(|| io::Error::other("it takes too long"))?.map_err(io::Error::other)?
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        self.abort();
    }
}
