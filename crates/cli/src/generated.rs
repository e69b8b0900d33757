//! `lanelock completions` and `lanelock man`: made from the command line's own definition.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::Failure;

/// Prints the completions of a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock completions bash > ~/.local/share/bash-completion/completions/lanelock
  lanelock completions zsh > ~/.zfunc/_lanelock      # a folder in $fpath
  lanelock completions fish > ~/.config/fish/completions/lanelock.fish

`make install` installs those of bash, zsh and fish.")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Prints a manual page, for `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  lanelock man | man -l -
  lanelock man encrypt | man -l -
  lanelock man keys new | man -l -
  lanelock man encrypt > /usr/local/share/man/man1/lanelock-encrypt.1

`make install` installs all of them.")]
pub(crate) struct ManArgs {
    /// The command that it is about, of one word or two (keys new) [default: lanelock itself]
    pub(crate) command: Vec<String>,

    /// Prints the names of all commands that have a page, a line each
    #[arg(long, conflicts_with = "command")]
    pub(crate) list: bool,
}

pub(crate) fn completions(args: &CompletionsArgs, mut root: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut root, "lanelock", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs, mut root: Command) -> Result<(), Failure> {
    root.build();
    if args.list {
        return print((commands(&root, "").join("\n") + "\n").as_bytes());
    }
    let mut command = &root;
    for (at, name) in args.command.iter().enumerate() {
        let Some(found) = command.find_subcommand(name).filter(|_| name != "help") else {
            return Err(Failure::usage(
                format!("there is no command {}", args.command[..=at].join(" ")),
                format!("choose from {}", commands(&root, "").join(", ")),
            ));
        };
        command = found;
    }
    let command = command.clone();
    let mut page = Vec::new();
    let source = format!("lanelock {}", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).manual("Lanelock").render(&mut page)?;
    // Command lines stay as they are typed: lines are not filled, and begin far left, for some are long.
    let page = String::from_utf8_lossy(&page)
        .replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n.in 2n\n")
        .replace(".SH EXTRA\n", ".SH NOTES\n.nf\n.in 2n\n");
    print(page.as_bytes())
}

/// All commands that have a page, those within others behind them.
fn commands(root: &Command, before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for command in root.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("{before}{}", command.get_name());
        let within = commands(command, &format!("{name} "));
        names.push(name);
        names.extend(within);
    }
    names
}

fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
