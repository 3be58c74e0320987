//! `rmdp`: robust Markov decision processes on the command line. A library only so that the program
//! and the fuzzer of its readers share it; its interface may change without notice.
//!
//! Arguments become ready objects in `args` and in the file of each subcommand; the library does
//! the work; `render` makes it readable. Exit codes: 0 solved to the asked gap, 2 bad usage or bad
//! input, 3 stopped early with a certified answer, 4 a certificate that does not hold, 1 anything
//! else.

mod args;
mod checkpoint;
mod choice;
mod completions;
mod convert;
mod evaluate;
mod failure;
mod fom;
mod generate;
mod info;
mod interrupt;
mod method;
mod model;
mod output;
mod question;
mod randomised;
#[doc(hidden)]
pub mod readers;
mod render;
mod report;
mod reproduce;
mod result;
mod set;
mod set_data;
mod solve;
mod verify;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// The program.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Solve(args) => solve::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Completions(args) => completions::run(&args),
    };
    match done {
        Ok(ending) => ending.into(),
        Err(failure) => {
            output::to_stderr(&format!("{failure}\n"));
            failure.code.into()
        }
    }
}
