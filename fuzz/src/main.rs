//! Long runs: `cargo run --release -p robust-mdp-fuzz -- --executions 10000000`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use robust_mdp_fuzz::guard;
use robust_mdp_fuzz::readers::{READERS, Reader};
use robust_mdp_fuzz::run::{Tested, next_turn, replay};

/// Inputs of a reader before the next one's turn.
const TURN: u64 = 1000;

/// Hostile input for every reader of robust-mdp.
#[derive(Debug, Parser)]
struct Args {
    /// Inputs in all, shared evenly among the readers; 1,000,000, or no limit in a run by time
    #[arg(long)]
    executions: Option<u64>,
    /// End after this time, if that comes first; readers then share the time evenly
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// One reader alone
    #[arg(long)]
    reader: Option<String>,
    /// Where random numbers begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Read one file instead
    #[arg(long, value_name = "FILE", requires = "reader")]
    replay: Option<PathBuf>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let wanted = |r: &Reader| args.reader.as_deref().is_none_or(|name| name == r.name);
    let readers: Vec<Reader> = READERS.into_iter().filter(wanted).collect();
    if readers.is_empty() {
        let names: Vec<&str> = READERS.iter().map(|r| r.name).collect();
        eprintln!("no such reader, expected one of {}", names.join(", "));
        return ExitCode::from(2);
    }
    if let Some(path) = &args.replay {
        return again(&readers[0], path);
    }
    let started = Instant::now();
    let mut tested: Vec<Tested> = readers.iter().map(|r| Tested::new(*r, args.seed)).collect();
    let most = match (args.executions, args.seconds) {
        (Some(executions), _) => executions,
        (None, Some(_)) => u64::MAX,
        (None, None) => 1_000_000,
    };
    let share = most.div_ceil(tested.len() as u64);
    let over = || args.seconds.is_some_and(|end| started.elapsed() >= Duration::from_secs(end));
    let mut next_word = 10.0;
    while !over()
        && let Some(one) = next_turn(&mut tested, share, args.seconds.is_some())
    {
        one.mutations((share - one.executions).min(TURN));
        let seconds = started.elapsed().as_secs_f64();
        if seconds >= next_word {
            let done: u64 = tested.iter().map(|t| t.executions).sum();
            eprintln!("{done} executions in {seconds:.0} s");
            next_word = 2.0 * seconds;
        }
    }
    tell(&mut tested, started.elapsed())
}

fn again(reader: &Reader, path: &PathBuf) -> ExitCode {
    let input = match std::fs::read(path) {
        Ok(input) => input,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::from(2);
        }
    };
    match replay(reader, &input) {
        Ok(Ok(said)) => println!("right: {said}"),
        Ok(Err(said)) => println!("wrong: {said}"),
        Err(failure) => {
            eprintln!("{failure}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn tell(tested: &mut [Tested], spent: Duration) -> ExitCode {
    tested.sort_by_key(|t| READERS.iter().position(|r| r.name == t.reader.name));
    println!(
        "{:<11} {:>11} {:>9} {:>9} {:>6}  failures",
        "reader", "executions", "a second", "accepted", "kinds"
    );
    for t in &*tested {
        let rate = t.executions as f64 / t.spent.as_secs_f64().max(1e-9);
        let accepted = 100.0 * t.accepted as f64 / t.executions.max(1) as f64;
        println!(
            "{:<11} {:>11} {:>9.0} {:>8.1}% {:>6}  {}",
            t.reader.name,
            t.executions,
            rate,
            accepted,
            t.kinds(),
            t.failures.len()
        );
    }
    let done: u64 = tested.iter().map(|t| t.executions).sum();
    let (seconds, peak) = (spent.as_secs_f64(), guard::peak() as f64 / f64::from(1 << 20));
    println!("{done} executions in {seconds:.0} s, at most {peak:.0} MiB live");
    match tested.iter().all(|t| t.failures.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
