//! `rmdp`: robust Markov decision processes on the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    rmdp::main()
}
