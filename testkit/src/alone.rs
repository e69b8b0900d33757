//! Tests that measure their process, which the other tests of the program share.

use std::env;
use std::process::Command;

use crate::is_emulated;

/// Whether the calling test, named by its module (`module_path!()`) and function, is alone in its process and goes
/// on. In the program of all tests it is not: there this runs the program again for this one test, fails if that
/// fails, and the test returns. Memory and the like are then those of the test.
///
/// ```
/// # fn memory_is_bounded() {
/// if !lanelock_testkit::alone(module_path!(), "memory_is_bounded") {
///     return;
/// }
/// # }
/// ```
///
/// An emulated program cannot start itself, so the test goes on where it is: what belongs to the emulator as well
/// ([`is_emulated`]) is not measured.
///
/// # Panics
/// If the test fails, or there is none of this name.
#[must_use]
pub fn alone(module: &str, test: &str) -> bool {
    if env::var_os(ALONE).is_some() || is_emulated() {
        return true;
    }
    let name = name(module, test);
    let program = env::current_exe().expect("the program of the tests has a path");
    let mut command = Command::new(program);
    let output = command.args([&*name, "--exact", "--nocapture"]).env(ALONE, "yes").output();
    let output = output.expect("the program of the tests starts");
    let text = |bytes| String::from_utf8_lossy(bytes);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    eprint!("{err}");
    assert!(output.status.success() && out.contains("1 passed"), "{name}, alone: {out}");
    false
}

/// Set in the process of one test.
const ALONE: &str = "LANELOCK_ALONE";

/// The name by which the test harness knows a test: without the crate.
fn name(module: &str, test: &str) -> String {
    match module.split_once("::") {
        Some((_, path)) => format!("{path}::{test}"),
        None => test.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_runs_in_another_process() {
        let before = std::process::id();
        let here = alone(module_path!(), "a_test_runs_in_another_process");
        assert_eq!(here, env::var_os(ALONE).is_some() || is_emulated());
        assert_eq!(std::process::id(), before);
    }

    #[test]
    #[should_panic(expected = "no_such_test, alone")]
    fn a_test_that_is_not_there_fails() {
        // In the process of another test there is none to start.
        assert!(!alone(module_path!(), "no_such_test"), "no_such_test, alone: emulated");
    }

    #[test]
    fn the_harness_knows_tests_without_the_crate() {
        assert_eq!(name("suite::a::b", "c"), "a::b::c");
        assert_eq!(name("suite", "c"), "c");
    }
}
