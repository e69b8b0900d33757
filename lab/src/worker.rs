//! A worker process and its pipe.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A running worker. It ends when it is dropped.
pub struct Worker {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts `program` on a processor.
    pub fn start(program: &Path, processor: usize, variant: Option<&str>) -> Result<Self, String> {
        let mut child = Command::new(program)
            .arg(processor.to_string())
            .args(variant)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Ok(Self { child, requests, answers })
    }

    /// The answer to a request, or what went wrong.
    pub fn ask(&mut self, request: &str) -> Result<String, String> {
        self.send(request)?;
        self.receive(request)
    }

    /// Sends a request, for [`receive`](Self::receive).
    pub fn send(&mut self, request: &str) -> Result<(), String> {
        let requests = self.requests.as_mut().expect("a pipe until the worker is dropped");
        writeln!(requests, "{request}")
            .and_then(|()| requests.flush())
            .map_err(|error| format!("{request}: {error}"))
    }

    /// The answer to the request that was sent.
    pub fn receive(&mut self, request: &str) -> Result<String, String> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|error| format!("{request}: {error}"))?;
        match answer.trim_end() {
            "" => Err(format!("{request}: the worker died")),
            answer => match answer.strip_prefix("error ") {
                Some(error) => Err(format!("{request}: {error}")),
                None => Ok(answer.to_owned()),
            },
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // End of input ends the worker.
        self.requests = None;
        let _ = self.child.wait();
    }
}

/// Keeps this process on one processor.
pub use lanelock_lab_common::worker::pin;
