//! Runs commands, all at once, and prints a line of JSON: `wall` from the start of the first to the end
//! of the last, `user` and `system` of all together, in seconds; `peak_kib`, the most memory that one
//! of them held; and the exit `codes`.
//!
//!     lanelock-lab-stopwatch LOG COMMAND... [::: COMMAND...]...
//!
//! What the commands print goes to the file LOG.
//!
//! A process of its own because the kernel's figure for peak memory has in it what the process held
//! that started the command: little here, much in a script. And it waits without polling, so that runs
//! of a few milliseconds can be told apart.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    process::{Child, Command, ExitCode, Stdio},
    time::Instant,
};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    match arguments.split_first().map(|(log, commands)| run(log, commands)) {
        Some(Ok(line)) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("usage: lanelock-lab-stopwatch LOG COMMAND... [::: COMMAND...]...");
            ExitCode::FAILURE
        }
    }
}

fn run(log: &OsString, arguments: &[OsString]) -> Result<String, String> {
    let log = File::options().append(true).create(true).open(log);
    let log = log.map_err(|error| format!("the log: {error}"))?;
    let mut commands = Vec::new();
    for words in arguments.split(|word| word == ":::") {
        let (program, rest) = words.split_first().ok_or("a command is empty")?;
        let stream = || log.try_clone().map_err(|error| error.to_string());
        let mut command = Command::new(program);
        command.args(rest).stdin(Stdio::null()).stdout(stream()?).stderr(stream()?);
        commands.push((program, command));
    }
    let start = Instant::now();
    let mut children = Vec::new();
    for (program, mut command) in commands {
        let child = command.spawn();
        children.push(child.map_err(|error| format!("{}: {error}", program.display()))?);
    }
    let ends = children.iter().map(wait).collect::<io::Result<Vec<_>>>();
    let wall = start.elapsed().as_secs_f64();
    let ends = ends.map_err(|error| format!("wait4: {error}"))?;
    let user: f64 = ends.iter().map(|end| end.user).sum();
    let system: f64 = ends.iter().map(|end| end.system).sum();
    let peak = ends.iter().map(|end| end.peak_kib).max().unwrap_or(0);
    let codes: Vec<_> = ends.iter().map(|end| end.code).collect();
    Ok(format!(
        r#"{{"wall": {wall}, "user": {user}, "system": {system}, "peak_kib": {peak}, "codes": {codes:?}}}"#
    ))
}

/// What the kernel says about a process that has ended, and those that it waited for.
struct End {
    /// The exit status; minus the signal, if one ended it.
    code: i32,
    user: f64,
    system: f64,
    peak_kib: i64,
}

fn wait(child: &Child) -> io::Result<End> {
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are writable and have the types that the call wants; the process is a child
    // of this one, which nobody else waits for.
    while unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let code =
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) };
    let (user, system) = (seconds(usage.ru_utime), seconds(usage.ru_stime));
    Ok(End { code, user, system, peak_kib: usage.ru_maxrss })
}
