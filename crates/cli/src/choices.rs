//! Options that must make a difference to the input.

use lanelock_packager::{Choice, Summary};

use crate::{
    args::CommonArgs,
    failure::Failure,
    keys,
    paths::Paths,
    values::{Secret, SidxArg},
};

/// Choices of the command line that must make a difference.
pub(crate) struct Choices {
    choices: Vec<Choice>,
    /// The option that gives keys.
    key: &'static str,
}

impl Choices {
    pub(crate) fn new(
        mut choices: Vec<Choice>,
        keys: &[Secret],
        key: &'static str,
        common: &CommonArgs,
    ) -> Self {
        choices.extend(keys::selectors(keys).map(Choice::Key));
        if matches!(common.sidx, SidxArg::Build) {
            choices.push(Choice::Index);
        }
        Self { choices, key }
    }

    /// Those that must apply to each input: with several, an option may be for some of them.
    pub(crate) fn of_each(&self, paths: &Paths) -> Vec<Choice> {
        if paths.jobs().len() == 1 { self.choices.clone() } else { Vec::new() }
    }

    /// Refuses a choice that made no difference to any of several inputs, which have their outputs.
    pub(crate) fn check(&self, summaries: &[Summary]) -> Result<(), Failure> {
        let idle = |choice: &&Choice| {
            summaries.len() > 1 && summaries.iter().all(|summary| summary.unused.contains(choice))
        };
        let Some(choice) = self.choices.iter().find(idle) else { return Ok(()) };
        let option = match choice {
            Choice::Key(selector) => format!("{} {selector}=...", self.key),
            Choice::Clear(selector) => format!("--clear {selector}"),
            Choice::FragmentDuration => "--fragment-duration".into(),
            _ => "--sidx build".into(),
        };
        let what = format!("{option} has no effect on any of the inputs");
        Err(Failure::usage(what, "the outputs are written without it; correct it, or leave it out"))
    }
}
