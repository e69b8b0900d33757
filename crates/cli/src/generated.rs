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
  lanelock man encrypt > /usr/local/share/man/man1/lanelock-encrypt.1

`make install` installs all of them.")]
pub(crate) struct ManArgs {
    /// The command that it is about [default: lanelock itself]
    pub(crate) command: Option<String>,

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
    let names = || root.get_subcommands().map(Command::get_name).filter(|name| *name != "help");
    if args.list {
        let names: Vec<_> = names().collect();
        return print((names.join("\n") + "\n").as_bytes());
    }
    let command = match &args.command {
        None => root,
        Some(name) => {
            let Some(command) = root.find_subcommand(name).filter(|_| name != "help") else {
                let known: Vec<_> = names().collect();
                return Err(Failure::usage(
                    format!("there is no command {name}"),
                    format!("choose from {}", known.join(", ")),
                ));
            };
            command.clone()
        }
    };
    let mut page = Vec::new();
    let source = format!("lanelock {}", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).manual("Lanelock").render(&mut page)?;
    print(&page)
}

fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
