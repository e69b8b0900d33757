//! One input taken to its output.

use std::path::{Path, PathBuf};

use lanelock_packager::{
    Error, Observer as _, Summary,
    io::{FileSink, FileSource, Sink, Source, standard_input, standard_output},
};

use crate::{
    failure::Failure,
    operation::Operation,
    paths::{InputPath, OutputPath, PathJob},
    remote::{self, Remote},
    segments,
    watch::Watch,
};

/// Takes an input to its output. `init` is the initialization segment of a lone segment.
pub(crate) fn process(
    operation: &Operation,
    job: &PathJob,
    init: Option<&PathBuf>,
    watch: &Watch,
) -> Result<Summary, Failure> {
    let result = go(operation, job, init, watch);
    // A pipe that is waited for is given up with an error of its own.
    if result.is_err() && watch.interrupted() {
        let standard = job.output.is_standard();
        return Err(if standard { Failure::InterruptedOutput } else { Error::Interrupted.into() });
    }
    result
}

fn go(
    operation: &Operation,
    job: &PathJob,
    init: Option<&PathBuf>,
    watch: &Watch,
) -> Result<Summary, Failure> {
    let PathJob { input, output } = job;
    // Outlives what it opens, so that it tells what could not be cleaned up.
    let mut remote = Remote::new(watch);
    let (boxed, file);
    let mut files: Vec<&FileSource> = Vec::new();
    let source: &dyn Source = match input {
        InputPath::Standard => {
            boxed = standard_input(watch.flag()).map_err(|error| Failure::Io {
                what: "cannot read standard input".into(),
                error,
            })?;
            &*boxed
        }
        InputPath::File(path) => {
            file = FileSource::open(path)?;
            files.push(&file);
            &file
        }
        InputPath::Url(location) => {
            boxed = remote.source(location)?;
            &*boxed
        }
        InputPath::Folder(path) => return segments::run(operation, path, output, watch),
    };
    let len = if source.is_sequential() { 0 } else { source.len() };
    let init = init.map(|path| Initialization::open(path, &mut remote)).transpose()?;
    if let Some(Initialization::File(init)) = &init {
        files.push(init);
    }
    let sink: Box<dyn Sink> = match output {
        OutputPath::Standard => standard_output().map_err(|error| Failure::Io {
            what: "cannot write to standard output".into(),
            error,
        })?,
        OutputPath::Path(path) => Box::new(FileSink::create(path, &files)?),
        OutputPath::Url(location) => remote.sink(location)?,
    };
    watch.begins(len);
    Ok(match &init {
        None => operation.whole(source, sink, watch)?,
        Some(init) => operation.segment(init.source(), source, sink, watch)?,
    })
}

/// The initialization segment of a lone segment.
pub(crate) enum Initialization {
    File(FileSource),
    Url(Box<dyn Source>),
}

impl Initialization {
    pub(crate) fn open(path: &Path, remote: &mut Remote<'_>) -> Result<Self, Failure> {
        Ok(match remote::location(path)? {
            Some(location) => Self::Url(remote.source(&location)?),
            None => Self::File(FileSource::open(path)?),
        })
    }

    pub(crate) fn source(&self) -> &dyn Source {
        match self {
            Self::File(source) => source,
            Self::Url(source) => &**source,
        }
    }
}
