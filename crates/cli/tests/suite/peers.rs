//! Other programs, asked about many files in one call: each takes longer to start than to read a clip.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{
    Dir, KEY, OTHER_KEY, Packets, Read, SHAKA_QUICKLY, attempt, compare, encrypt, packets,
    packets_in, read_arguments, shaka_descriptors,
};
use lanelock_testkit::{demo_clip, ffmpeg};

/// How many files one call takes.
const AT_ONCE: usize = 24;

/// A file, and how ffmpeg reads it.
#[derive(Clone)]
pub(crate) struct Reading {
    path: PathBuf,
    read: Read,
    key: Option<&'static str>,
    /// The streams of interest: `0`, `0:v`, `0:a`.
    map: &'static str,
}

impl Reading {
    /// All streams, as they are in the file.
    pub(crate) fn plain(path: &Path, read: Read) -> Self {
        Self { path: path.into(), read, key: None, map: "0" }
    }

    /// All streams, decrypted with [`KEY`].
    pub(crate) fn sealed(path: &Path, read: Read) -> Self {
        Self { key: Some(KEY), ..Self::plain(path, read) }
    }

    pub(crate) fn with_key(self, key: &'static str) -> Self {
        Self { key: Some(key), ..self }
    }

    pub(crate) fn with_map(self, map: &'static str) -> Self {
        Self { map, ..self }
    }

    fn alone(&self, ffmpeg: &Path) -> Result<Packets, String> {
        packets(ffmpeg, &self.path, self.read, self.key, self.map)
    }
}

/// What files are to be, judged all at once.
#[derive(Default)]
pub(crate) struct Expectations {
    all: Vec<Expectation>,
    wrong: Vec<String>,
}

struct Expectation {
    what: String,
    /// Files whose streams are one after another those of the clear clip.
    files: Vec<Reading>,
    clear: Packets,
    hidden: bool,
}

impl Expectations {
    /// The streams of the files are those of the clear clip.
    pub(crate) fn same(
        &mut self,
        what: impl Into<String>,
        files: impl IntoIterator<Item = Reading>,
        clear: &Packets,
    ) {
        let files = files.into_iter().collect();
        self.all.push(Expectation {
            what: what.into(),
            files,
            clear: clear.clone(),
            hidden: false,
        });
    }

    /// No stream of the file is that of the clear clip.
    pub(crate) fn hidden(&mut self, what: impl Into<String>, file: Reading, clear: &Packets) {
        let (files, clear) = (vec![file], clear.clone());
        self.all.push(Expectation { what: what.into(), files, clear, hidden: true });
    }

    /// What was done already, and may have failed.
    pub(crate) fn judge(&mut self, what: impl Into<String>, result: Result<(), String>) {
        if let Err(why) = result {
            self.wrong.push(format!("{}: {}", what.into(), why.trim()));
        }
    }

    /// Reads all files, and fails with a line for each expectation that is not met.
    pub(crate) fn assert(self, ffmpeg: &Path) {
        let wrong = self.wrong(ffmpeg);
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    fn wrong(mut self, ffmpeg: &Path) -> Vec<String> {
        let files: Vec<_> = self.all.iter().flat_map(|one| &one.files).collect();
        let mut found = files.chunks(AT_ONCE).flat_map(|files| packets_of_all(ffmpeg, files));
        let mut verdicts = Vec::new();
        for one in &self.all {
            let streams: Vec<_> = found.by_ref().take(one.files.len()).collect();
            let streams = streams.into_iter().collect::<Result<Vec<_>, _>>();
            let verdict = streams.and_then(|streams| one.verdict(&streams.concat()));
            verdicts.push((one.what.clone(), verdict));
        }
        for (what, verdict) in verdicts {
            self.judge(what, verdict);
        }
        self.wrong
    }
}

impl Expectation {
    fn verdict(&self, found: &Packets) -> Result<(), String> {
        if !self.hidden {
            return compare(found, &self.clear);
        }
        let clear =
            found.len() != self.clear.len() || found.iter().zip(&self.clear).any(|(a, b)| a == b);
        if clear { Err("a stream is clear".into()) } else { Ok(()) }
    }
}

/// The packets of each of the files by one call of ffmpeg; by one each if that fails, which tells them apart.
fn packets_of_all(ffmpeg: &Path, files: &[&Reading]) -> Vec<Result<Packets, String>> {
    let dir = Dir::new();
    let mut command = Command::new(ffmpeg);
    command.args(["-v", "error"]).stdin(Stdio::null());
    for file in files {
        read_arguments(&mut command, &file.path, file.read, file.key);
    }
    let outputs: Vec<_> = (0..files.len()).map(|i| dir.file(&format!("{i}.md5"))).collect();
    for (i, (file, output)) in files.iter().zip(&outputs).enumerate() {
        let map = file.map.replacen('0', &i.to_string(), 1);
        command.args(["-map", &map, "-c", "copy", "-f", "framemd5"]).arg(output);
    }
    if attempt(&mut command).is_err() {
        return files.iter().map(|file| file.alone(ffmpeg)).collect();
    }
    let text = |output: &PathBuf| fs::read_to_string(output).unwrap();
    outputs.iter().map(|output| Ok(packets_in(&text(output)))).collect()
}

/// A file for Shaka Packager: where its outputs go, how their names begin, and its streams.
pub(crate) struct Job<'j> {
    pub(crate) dir: &'j Dir,
    pub(crate) name: &'j str,
    pub(crate) input: &'j Path,
    pub(crate) streams: Vec<&'static str>,
}

/// Shaka Packager's packaging of each file, an output for each stream, by one call; by one each if that fails.
pub(crate) fn shaka_all(
    packager: &Path,
    jobs: &[Job<'_>],
    args: &[&str],
) -> Vec<Result<Vec<PathBuf>, String>> {
    jobs.chunks(AT_ONCE).flat_map(|jobs| shaka_at_once(packager, jobs, args)).collect()
}

fn shaka_at_once(
    packager: &Path,
    jobs: &[Job<'_>],
    args: &[&str],
) -> Vec<Result<Vec<PathBuf>, String>> {
    let mut command = Command::new(packager);
    let describe =
        |job: &Job<'_>| shaka_descriptors(&mut command, job.dir, job.input, job.name, &job.streams);
    let outputs: Vec<_> = jobs.iter().map(describe).collect();
    let temporary = format!("--temp_dir={}", jobs[0].dir.path().display());
    match attempt(command.args(args).args(SHAKA_QUICKLY).arg(&temporary)) {
        Ok(()) => outputs.into_iter().map(Ok).collect(),
        Err(why) if jobs.len() == 1 => vec![Err(why)],
        Err(_) => jobs.chunks(1).flat_map(|job| shaka_at_once(packager, job, args)).collect(),
    }
}

#[test]
fn what_is_not_as_expected_is_told() {
    let Some(ffmpeg) = ffmpeg() else { return };
    let dir = Dir::new();
    let (clip, sealed) = (demo_clip(), dir.file("sealed.mp4"));
    encrypt(&clip, &sealed, "cenc");
    let clear = packets(&ffmpeg, &clip, Read::File, None, "0").unwrap();
    let [good, wrong_key] =
        [KEY, OTHER_KEY].map(|key| Reading::sealed(&sealed, Read::Pipe).with_key(key));
    let absent = Reading::plain(&dir.file("absent.mp4"), Read::File);
    let with = |absent: Option<Reading>| {
        let mut expected = Expectations::default();
        expected.same("right key", [good.clone()], &clear);
        expected.same("wrong key", [wrong_key.clone()], &clear);
        expected.same(
            "streams apart",
            ["0:v", "0:a"].map(|map| good.clone().with_map(map)),
            &clear,
        );
        expected.same("one stream", [good.clone().with_map("0:v")], &clear);
        expected.hidden("sealed", Reading::plain(&sealed, Read::Pipe), &clear);
        expected.hidden("clear", Reading::plain(&clip, Read::File), &clear);
        if let Some(absent) = absent {
            expected.same("absent", [absent], &clear);
        }
        let wrong = expected.wrong(&ffmpeg);
        wrong.iter().map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(with(None), ["wrong key", "one stream", "clear"]);
    // A file that cannot be read does not take the others along.
    assert_eq!(with(Some(absent)), ["wrong key", "one stream", "clear", "absent"]);
}
