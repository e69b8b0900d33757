//! Completions and manual pages: there for every command, with its options.

use std::process::Command;

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lanelock")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, err) = run(&["completions", shell]);
        assert_eq!((code, &*err), (Some(0), ""));
        for word in ["encrypt", "rewrap", "key-file", "cbcs"] {
            assert!(script.contains(word), "{shell}: {word} is missing");
        }
    }
    let (code, _, err) = run(&["completions", "cmd.exe"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("bash"), "{err}");
}

#[test]
fn every_command_has_a_page() {
    let (code, list, _) = run(&["man", "--list"]);
    assert_eq!(code, Some(0));
    for (name, listed) in [("encrypt", true), ("keys new", true), ("help", false)] {
        assert_eq!(list.lines().any(|line| line == name), listed, "{name}");
    }
    let (_, page, _) = run(&["man"]);
    for name in list.lines() {
        let hyphens = name.replace(' ', "-");
        if name == hyphens {
            assert!(page.contains(&format!("lanelock\\-{name}(1)")), "{name} is missing in {page}");
        }
        let words: Vec<_> = name.split(' ').collect();
        let (code, page, err) = run(&[&["man"], &words[..]].concat());
        assert_eq!((code, &*err), (Some(0), ""));
        assert!(page.contains(&format!(".TH lanelock-{hyphens} 1")), "{page}");
        assert!(page.contains("\\-\\-help"), "{page}");
        // What follows the options is not filled, for there are command lines in it.
        assert!(!page.contains(".SH EXTRA"), "{page}");
        assert!(name != "encrypt" || page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    }
    for wrong in ["help", "enrcypt"] {
        let (code, _, err) = run(&["man", wrong]);
        assert_eq!(code, Some(2));
        assert!(err.contains(wrong) && err.contains("encrypt"), "{err}");
    }
}
