//! Inputs and outputs of a command line.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use lanelock_packager::Error;

use crate::{
    args::PathArgs,
    failure::Failure,
    remote::{self, Location},
};

/// What is read and written.
#[derive(Debug)]
pub(crate) enum Paths {
    /// One input and one output.
    One(PathJob),
    /// Outputs in a folder, under the names of their inputs. None if there is no folder to make.
    Into(Option<PathBuf>, Vec<PathJob>),
}

/// An input and its output.
#[derive(Debug)]
pub(crate) struct PathJob {
    pub(crate) input: InputPath,
    pub(crate) output: OutputPath,
}

#[derive(Debug)]
pub(crate) enum InputPath {
    Standard,
    File(PathBuf),
    Url(Location),
    /// A folder of segments.
    Folder(PathBuf),
}

#[derive(Debug)]
pub(crate) enum OutputPath {
    Standard,
    /// A file; a folder, if the input is one.
    Path(PathBuf),
    Url(Location),
}

impl InputPath {
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        if let Some(location) = remote::location(path)? {
            if location.ends_in_slash() {
                return Err(Failure::usage(
                    format!("{} is a prefix, and inputs are objects", location.name()),
                    "name an object; folders of segments are read from disks alone",
                ));
            }
            return Ok(Self::Url(location));
        }
        Ok(if path == Path::new("-") {
            Self::Standard
        } else if path.is_dir() {
            Self::Folder(path.into())
        } else {
            Self::File(path.into())
        })
    }

    /// What the user calls it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".into(),
            Self::File(path) | Self::Folder(path) => path.display().to_string(),
            Self::Url(location) => location.name().into(),
        }
    }

    /// Its name in an output folder.
    fn file_name(&self) -> Result<OsString, Failure> {
        let name = match self {
            Self::Standard => None,
            Self::File(path) | Self::Folder(path) => path.file_name().map(ToOwned::to_owned),
            Self::Url(location) => location.file_name().map(Into::into),
        };
        name.ok_or_else(|| {
            Failure::usage(
                format!("{} has no name for an output in a folder", self.name()),
                "give it an output of its own, in a call of its own",
            )
        })
    }

    /// Bytes of it, as far as that is known.
    pub(crate) fn len(&self) -> Option<u64> {
        let len = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        match self {
            Self::Standard | Self::Url(_) => None,
            Self::File(path) => Some(len(path)),
            Self::Folder(path) => {
                let files = fs::read_dir(path).into_iter().flatten().flatten();
                Some(files.map(|file| len(&file.path())).sum())
            }
        }
    }
}

impl OutputPath {
    fn of(path: &Path) -> Result<Self, Failure> {
        if let Some(location) = remote::location(path)? {
            return Ok(Self::Url(location));
        }
        Ok(if path == Path::new("-") { Self::Standard } else { Self::Path(path.into()) })
    }

    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
    }

    /// What the user calls it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard => "standard output".into(),
            Self::Path(path) => path.display().to_string(),
            Self::Url(location) => location.name().into(),
        }
    }
}

impl Paths {
    /// Says what goes where, before anything is done.
    pub(crate) fn of(args: &PathArgs) -> Result<Self, Failure> {
        match (&args.output, &args.paths[..]) {
            (None, [input, output]) => Self::one(input, output),
            (None, [_]) => Err(Failure::usage("there is no output", FORM)),
            (None, _) => Err(Failure::usage(
                "there are more paths than an input and an output",
                "several inputs go into a folder: -o FOLDER/",
            )),
            (Some(output), [input]) => {
                let folder = matches!(InputPath::of(input)?, InputPath::Folder(_));
                if !folder && (output.is_dir() || ends_in_slash(output)) {
                    Self::into_folder(&args.paths, output)
                } else {
                    Self::one(input, output)
                }
            }
            (Some(output), inputs) => Self::into_folder(inputs, output),
        }
    }

    fn one(input: &Path, output: &Path) -> Result<Self, Failure> {
        let job = PathJob { input: InputPath::of(input)?, output: OutputPath::of(output)? };
        if let (InputPath::Folder(path), OutputPath::Url(location)) = (&job.input, &job.output) {
            return Err(Failure::usage(
                format!(
                    "{} is a folder, and {} is no folder on a disk, which its segments need",
                    path.display(),
                    location.name()
                ),
                "write them to a folder on a disk and copy that; lanelock package writes streams to URLs",
            ));
        }
        if let (InputPath::Url(from), OutputPath::Url(to)) = (&job.input, &job.output)
            && from.is_same(to)
        {
            return Err(Error::SameFile { name: to.name().into() }.into());
        }
        if ends_in_slash(output) && !matches!(job.input, InputPath::Folder(_)) {
            return Err(Failure::usage(
                format!("{} is a folder, and the output of a file is a file", output.display()),
                format!("name a file in it, or give the folder with -o {}", output.display()),
            ));
        }
        if matches!(job.input, InputPath::Standard) {
            if io::stdin().is_terminal() {
                return Err(Failure::usage(
                    "standard input is a terminal, and - reads an MP4 file from it",
                    "redirect it: ... | lanelock ... - OUTPUT, or name a file",
                ));
            }
            let standard = fs::canonicalize("/dev/stdin").ok().filter(|path| path.is_file());
            if standard.is_some() && standard == fs::canonicalize(output).ok() {
                return Err(Error::SameFile { name: output.display().to_string() }.into());
            }
        }
        if job.output.is_standard() {
            if io::stdout().is_terminal() {
                return Err(Failure::usage(
                    "standard output is a terminal, and - writes an MP4 file to it",
                    "redirect it: lanelock ... INPUT - | ..., or name a file",
                ));
            }
            let standard = fs::canonicalize("/dev/stdout").ok().filter(|path| path.is_file());
            let read = match &job.input {
                InputPath::Standard => fs::canonicalize("/dev/stdin").ok(),
                InputPath::File(path) | InputPath::Folder(path) => fs::canonicalize(path).ok(),
                InputPath::Url(_) => None,
            };
            if standard.is_some() && standard == read {
                return Err(Error::SameFile { name: "standard output".into() }.into());
            }
            if let InputPath::Folder(path) = &job.input {
                return Err(Failure::usage(
                    format!("{} is a folder, which does not go into one stream", path.display()),
                    "name an output folder; or join the segments first (cat init.mp4 *.m4s)",
                ));
            }
        }
        Ok(Self::One(job))
    }

    fn into_folder(inputs: &[PathBuf], folder: &Path) -> Result<Self, Failure> {
        if let Some(location) = remote::location(folder)? {
            return Self::below(inputs, &location);
        }
        if folder == Path::new("-") || folder.exists() && !folder.is_dir() {
            let what = format!("{} is not a folder, which several inputs need", folder.display());
            return Err(Failure::usage(what, "name a folder with -o"));
        }
        let into = real_path(folder)?;
        let mut read = HashSet::new();
        for input in inputs {
            let Some(real) = real_path(input)? else { continue };
            if real.is_dir() && into.as_ref().is_some_and(|into| into.starts_with(&real)) {
                return Err(Failure::usage(
                    format!("{} is in the input folder {}", folder.display(), input.display()),
                    "name a folder elsewhere with -o: what is written would be taken for segments",
                ));
            }
            read.insert(real);
        }
        let mut names = HashSet::new();
        let mut jobs = Vec::with_capacity(inputs.len());
        for path in inputs {
            let input = InputPath::of(path)?;
            let name = input.file_name()?;
            let output = folder.join(&name);
            if !names.insert(name.clone()) {
                return Err(Failure::usage(
                    format!("two inputs would become {}", output.display()),
                    "give each a folder of its own, in a call of its own",
                ));
            }
            if real_path(&output)?.is_some_and(|output| read.contains(&output)) {
                return Err(Error::SameFile { name: output.display().to_string() }.into());
            }
            jobs.push(PathJob { input, output: OutputPath::Path(output) });
        }
        Ok(Self::Into(Some(folder.into()), jobs))
    }

    /// Outputs below a prefix, under the names of their inputs.
    fn below(inputs: &[PathBuf], prefix: &Location) -> Result<Self, Failure> {
        let mut jobs: Vec<PathJob> = Vec::with_capacity(inputs.len());
        for path in inputs {
            let input = InputPath::of(path)?;
            let name = input.file_name()?;
            let output =
                name.to_str().and_then(|name| prefix.join(name).ok()).ok_or_else(|| {
                    Failure::usage(
                        format!("{} has no name that an object may have", input.name()),
                        "give it an output of its own, in a call of its own",
                    )
                })?;
            if let InputPath::Url(from) = &input
                && from.is_same(&output)
            {
                return Err(Error::SameFile { name: output.name().into() }.into());
            }
            let is_same = |job: &PathJob| matches!(&job.output, OutputPath::Url(other) if other.is_same(&output));
            if jobs.iter().any(is_same) {
                return Err(Failure::usage(
                    format!("two inputs would become {}", output.name()),
                    "give each a prefix of its own, in a call of its own",
                ));
            }
            if let InputPath::Folder(path) = &input {
                return Err(Failure::usage(
                    format!("{} is a folder, which needs a folder on a disk", path.display()),
                    "write it to a folder on a disk, and copy that",
                ));
            }
            jobs.push(PathJob { input, output: OutputPath::Url(output) });
        }
        Ok(Self::Into(None, jobs))
    }

    /// Refuses outputs that would replace a file of keys: without it, nobody could decrypt them.
    fn spare(&self, key_files: &[PathBuf]) -> Result<(), Failure> {
        let files = key_files.iter().filter(|path| *path != Path::new("-"));
        let keys = files.map(|path| real_path(path)).collect::<Result<HashSet<_>, _>>()?;
        for job in self.jobs() {
            let OutputPath::Path(output) = &job.output else { continue };
            let output_path = real_path(output)?;
            if output_path.is_some() && keys.contains(&output_path) {
                return Err(Failure::usage(
                    format!("the output {} is the file of keys", output.display()),
                    "give the output another name",
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn jobs(&self) -> &[PathJob] {
        match self {
            Self::One(job) => std::slice::from_ref(job),
            Self::Into(_, jobs) => jobs,
        }
    }

    /// Whether standard output gets the output.
    pub(crate) fn to_stdout(&self) -> bool {
        self.jobs().iter().any(|job| job.output.is_standard())
    }

    /// Bytes of all inputs, if they are known.
    pub(crate) fn len(&self) -> Option<u64> {
        self.jobs().iter().map(|job| job.input.len()).sum()
    }

    /// Refuses standard input for two things, and outputs in the place of key files.
    pub(crate) fn check_key_files(&self, key_files: &[&[PathBuf]]) -> Result<(), Failure> {
        self.spare(&key_files.concat())?;
        let media = self.jobs().iter().filter(|job| matches!(job.input, InputPath::Standard));
        let keys = key_files.concat().into_iter().filter(|path| path == Path::new("-"));
        check_stdin(media.count() + keys.count())
    }
}

/// Refuses standard input for `uses` things, if these are several.
pub(crate) fn check_stdin(uses: usize) -> Result<(), Failure> {
    if uses < 2 {
        return Ok(());
    }
    Err(Failure::usage(
        "standard input (-) cannot be read for two things",
        "give the keys in files (--key-file FILE), or in the environment",
    ))
}

/// A path without links; none if nothing is there. Where that cannot be found out, the run ends: an output might
/// take the place of what is to stay.
pub(crate) fn real_path(path: &Path) -> Result<Option<PathBuf>, Failure> {
    canonical(path)
        .map_err(|error| Failure::Io { what: format!("cannot read {}", path.display()), error })
}

/// [`real_path`], with the error of the system.
pub(crate) fn canonical(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(path) => Ok(Some(path)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

/// Why a folder cannot be made, in words that name what is in the way.
pub(crate) fn why_no_folder(folder: &Path, error: io::Error) -> io::Error {
    let kind = error.kind();
    let parent = folder.parent().unwrap_or(Path::new("/")).display();
    let what = match (kind, fs::read_link(without_slash(folder))) {
        (io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound, Ok(target)) => {
            format!("it is a link to {}, which does not exist", target.display())
        }
        (io::ErrorKind::AlreadyExists, _) => "it is there, and is not a folder".into(),
        (io::ErrorKind::NotFound, _) => format!("the folder {parent} does not exist"),
        (io::ErrorKind::NotADirectory, _) => format!("{parent} is not a folder"),
        _ => return error,
    };
    io::Error::new(kind, what)
}

/// The path of a link itself: with a slash behind it, it would be that of its target.
fn without_slash(path: &Path) -> PathBuf {
    path.components().collect()
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

const FORM: &str = "give INPUT and OUTPUT, or INPUT... and -o OUTPUT";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use lanelock_testkit::Scratch;

    use super::*;

    #[test]
    fn a_path_that_is_not_known_is_no_path_to_nothing() {
        let scratch = Scratch::new();
        let [file, link, nothing, circle] =
            ["file", "link", "nothing", "circle"].map(|name| scratch.file(name));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        symlink(&circle, &circle).unwrap();
        let real = fs::canonicalize(&file).unwrap();
        assert_eq!(real_path(&link).ok(), Some(Some(real)));
        assert_eq!(real_path(&nothing).ok(), Some(None));
        assert_eq!(real_path(&file.join("below")).ok(), Some(None));
        assert!(
            matches!(real_path(&circle), Err(Failure::Io { what, .. }) if what.contains("circle"))
        );
    }
}
