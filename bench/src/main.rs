//! The benchmark suite: one command, one JSON object a result, one page of tables.
//!
//! `cargo run --release -p robust-mdp-bench -- [--quick] [--only TEXT] [-o DIR]`; what each part
//! measures and the schema of a result are in `bench/README.md`.

mod instance;
mod journal;
mod machine;
mod parts;
mod record;
mod table;
mod timing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// What went wrong, in words.
type Failure = Box<dyn std::error::Error>;

/// Runs the benchmark suite and writes results.jsonl, machine.json and table.md.
#[derive(Debug, Parser)]
#[command(name = "robust-mdp-bench")]
struct Cli {
    /// Tiny sizes and few repeats: shows that everything runs, the numbers mean little
    #[arg(long)]
    quick: bool,
    /// Only cases whose name (such as solve/T-100-0.99) contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Folder of the run [default: bench/runs/DATE, or target/bench-quick]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Date of the run [default: today, UTC]
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
    /// Python with bench/external/requirements.txt, for the baselines of the part `nominal`
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Only names the cases that would run
    #[arg(long)]
    list: bool,
    /// Only renders table.md from the results in the folder
    #[arg(long)]
    render: bool,
    /// Also writes the page "Which method to use when" from the results in the folder
    #[arg(long, value_name = "FILE")]
    methods_page: Option<PathBuf>,
    /// Runs one case of the part `scale` in this process and prints its result
    #[arg(long, value_name = "JSON", hide = true)]
    scale_case: Option<String>,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("robust-mdp-bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Some(case) = &cli.scale_case {
        return parts::scale::child(case);
    }
    let date = cli.date.clone().unwrap_or_else(robust_mdp::machine::today);
    let folder = cli.output.clone().unwrap_or_else(|| match cli.quick {
        true => PathBuf::from("target/bench-quick"),
        false => PathBuf::from("bench/runs").join(&date),
    });
    if !cli.render {
        let plan = parts::Plan { quick: cli.quick, only: cli.only, python: cli.python };
        if cli.list {
            return parts::list(&plan);
        }
        let mut journal = journal::Journal::open(&folder)?;
        machine::Machine::here(&date, cli.quick).write(&folder.join("machine.json"))?;
        parts::run(&plan, &mut journal)?;
    }
    let records = journal::read(&folder)?;
    let machine = machine::read(&folder.join("machine.json"))?;
    let page = table::page(&records, &machine);
    std::fs::write(folder.join("table.md"), &page)?;
    if let Some(path) = &cli.methods_page {
        let source = table::methods::Source::new(&folder, &machine, path);
        std::fs::write(path, table::methods::page(&records, &machine, &source))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    print!("{page}");
    Ok(())
}
