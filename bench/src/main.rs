//! The benchmark suite: one command, one JSON object a result, one page of tables.
//!
//! `cargo run --release -p robust-mdp-bench -- [--quick] [--only TEXT] [-o DIR]`; what each part
//! measures and the schema of a result are in `bench/README.md`.

mod instance;
mod machine;
mod parts;
mod record;
mod table;
mod timing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use robust_mdp_measure::journal::{self, Journal};
use robust_mdp_measure::machine::today;

/// The name of the journal in its folder.
const RESULTS: &str = "results.jsonl";

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
    /// Also puts what certificates cost into this page, between its two marks
    #[arg(long, value_name = "FILE")]
    certificates_page: Option<PathBuf>,
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
    let date = cli.date.clone().unwrap_or_else(today);
    let folder = cli.output.clone().unwrap_or_else(|| match cli.quick {
        true => PathBuf::from("target/bench-quick"),
        false => PathBuf::from("bench/runs").join(&date),
    });
    if !cli.render {
        let plan = parts::Plan { quick: cli.quick, only: cli.only, python: cli.python };
        if cli.list {
            return parts::list(&plan);
        }
        std::fs::create_dir_all(&folder)
            .map_err(|e| format!("{} cannot be created: {e}", folder.display()))?;
        let mut journal = Journal::open(folder.join(RESULTS))?;
        machine::Provenance::here(&date, cli.quick).write(&folder.join("machine.json"))?;
        parts::run(&plan, &mut journal)?;
    }
    let records = record::once_each(journal::read(&folder.join(RESULTS))?);
    let machine = machine::read(&folder.join("machine.json"))?;
    let page = table::page(&records, &machine);
    std::fs::write(folder.join("table.md"), &page)?;
    if let Some(path) = &cli.methods_page {
        let source = table::methods::Source::new(&folder, &machine, path);
        std::fs::write(path, table::methods::page(&records, &machine, &source))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    if let Some(path) = &cli.certificates_page {
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let text = table::certificates::put(&text, &records).ok_or_else(|| {
            format!("{}: expected the marks {:?}", path.display(), table::certificates::MARKS)
        })?;
        std::fs::write(path, text).map_err(failed)?;
    }
    print!("{page}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The run that the documents tell of.
    const RUN: &str = "bench/runs/2026-11-18";

    fn at(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
    }

    fn recorded() -> (Vec<record::Record>, machine::Provenance) {
        let records = record::once_each(journal::read(&at(RUN).join(RESULTS)).unwrap());
        (records, machine::read(&at(RUN).join("machine.json")).unwrap())
    }

    fn text(name: &str) -> String {
        std::fs::read_to_string(at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Every number of these pages is computed from the recorded run, by the command that they name.
    #[test]
    fn pages_follow_from_the_recorded_run() {
        let (records, machine) = recorded();
        let told = "run the suite with --render, as the page says";
        assert!(text(&format!("{RUN}/table.md")) == table::page(&records, &machine), "{told}");
        let source =
            table::methods::Source::new(Path::new(RUN), &machine, Path::new("docs/methods.md"));
        let page = table::methods::page(&records, &machine, &source);
        assert!(text("docs/methods.md") == page, "docs/methods.md: {told}");
        let page = text("docs/certificates.md");
        let again = table::certificates::put(&page, &records).unwrap();
        assert!(page == again, "docs/certificates.md: {told}");
        assert!(page.contains("| regime    |     S | certify | verify |"), "{page}");
    }

    /// The automatic choice ran Newton's method everywhere: no table has it beside itself.
    #[test]
    fn the_automatic_choice_is_not_compared_with_itself() {
        let (records, machine) = recorded();
        let robust = |r: &&record::Record| r.case.radius > 0.0;
        let auto = records.iter().filter(robust).filter(|r| r.method == "auto");
        assert!(auto.clone().count() > 100);
        assert!(auto.clone().all(|r| r.single() == "newton"));
        assert!(records.iter().filter(robust).all(|r| r.method != "newton"));
        let page = table::page(&records, &machine);
        let source = table::methods::Source::new(Path::new(RUN), &machine, Path::new("page.md"));
        let methods = table::methods::page(&records, &machine, &source);
        for page in [page, methods] {
            let heads = page.lines().filter(|l| l.starts_with("| regime"));
            for head in heads.filter(|head| head.contains("auto")) {
                assert!(!head.contains("newton"), "{head}");
            }
            assert!(!page.contains("best single"), "{page}");
        }
    }
}
