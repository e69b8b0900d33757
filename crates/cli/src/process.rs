//! One input taken to its output.

use std::path::PathBuf;

use lanelock_packager::{
    Error, Observer as _, Summary,
    io::{FileSink, FileSource, Sink, Source, standard_input, standard_output},
};

use crate::{
    failure::Failure,
    operation::Operation,
    paths::{InputPath, OutputPath, PathJob},
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
    let (standard, file);
    let mut files: Vec<&FileSource> = Vec::new();
    let source: &dyn Source = match input {
        InputPath::Standard => {
            standard = standard_input(watch.flag()).map_err(|error| Failure::Io {
                what: "cannot read standard input".into(),
                error,
            })?;
            &*standard
        }
        InputPath::File(path) => {
            file = FileSource::open(path)?;
            files.push(&file);
            &file
        }
        InputPath::Folder(path) => return segments::run(operation, path, output, watch),
    };
    let len = if source.is_sequential() { 0 } else { source.len() };
    let init = init.map(|path| FileSource::open(path)).transpose()?;
    files.extend(&init);
    let sink: Box<dyn Sink> = match output {
        OutputPath::Standard => standard_output().map_err(|error| Failure::Io {
            what: "cannot write to standard output".into(),
            error,
        })?,
        OutputPath::Path(path) => Box::new(FileSink::create(path, &files)?),
    };
    watch.begins(len);
    Ok(match &init {
        None => operation.whole(source, sink, watch)?,
        Some(init) => operation.segment(init, source, sink, watch)?,
    })
}
