//! `rmdp completions`: scripts that complete commands and flags in a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::{Ending, Failure};
use crate::output;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  rmdp completions bash > ~/.local/share/bash-completion/completions/rmdp
  rmdp completions fish > ~/.config/fish/completions/rmdp.fish";

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rmdp", &mut script);
    output::to_stdout(&script)?;
    Ok(Ending::Done)
}
