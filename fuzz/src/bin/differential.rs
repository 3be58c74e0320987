//! Random problems, solved in several ways, certified and compared:
//! `cargo run --release -p robust-mdp-fuzz --bin differential -- --models 10000`.

use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Parser;
use robust_mdp_fuzz::differential::{Tally, compare};

/// Random problems, each solved in several ways; all answers are certified, verified and compared.
#[derive(Debug, Parser)]
struct Args {
    /// Problems, one a seed
    #[arg(long, default_value_t = 10_000)]
    models: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; all cores if left out
    #[arg(long)]
    threads: Option<usize>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let threads = args.threads.or_else(|| thread::available_parallelism().ok().map(usize::from));
    let end = args.seed.saturating_add(args.models);
    let (next, all) = (AtomicU64::new(args.seed), Mutex::new((Tally::default(), Vec::new())));
    let started = Instant::now();
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let found = catch_unwind(|| compare(seed)).unwrap_or_else(|_| Err("a panic".into()));
            let (tally, failures) = &mut *all.lock().unwrap_or_else(PoisonError::into_inner);
            match found {
                Ok(one) => {
                    tally.answers += one.answers;
                    tally.certified += one.certified;
                    tally.widest = tally.widest.max(one.widest);
                }
                Err(what) => failures.push((seed, what)),
            }
        }
    };
    thread::scope(|scope| {
        (0..threads.unwrap_or(1).max(1)).for_each(|_| drop(scope.spawn(work)));
    });
    let (tally, mut failures) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    for (seed, what) in &failures {
        println!("seed {seed}: {what}");
        println!(
            "  again: cargo run --release -p robust-mdp-fuzz --bin differential -- --seed {seed} --models 1"
        );
    }
    println!(
        "{} problems in {:.0} s: {} answers verified, {} of them to the asked gap (at most {:.2} \
         times as wide); {} failures",
        args.models,
        started.elapsed().as_secs_f64(),
        tally.answers,
        tally.certified,
        tally.widest,
        failures.len()
    );
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
