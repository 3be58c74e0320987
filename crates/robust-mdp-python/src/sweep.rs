//! One model under many sets, each solve on a thread of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use robust_mdp::{Error, Interrupt, Options, evaluate, solve_observed};

use crate::background;
use crate::errors::raised;
use crate::model::Model;
use crate::set::UncertaintySet;
use crate::solution::Solution;
use crate::solve::options;

/// A solution, and the bounds at p₀ of its policy's value under the nominal kernel.
type Priced = (robust_mdp::Solution, (f64, f64));

/// Solves for every set, in their order, and evaluates each policy under the nominal kernel.
#[pyfunction]
#[pyo3(signature = (model, sets, asked, progress))]
pub(crate) fn solve_many<'py>(
    py: Python<'py>,
    model: &Model,
    sets: Vec<Bound<'py, UncertaintySet>>,
    asked: &str,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<(Solution, (f64, f64))>> {
    let mut options = options(asked)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.unwrap_or_else(cores).clamp(1, sets.len().max(1));
    options.threads = Some(1);
    let sets: Vec<_> = sets.iter().map(|set| set.get().set.clone()).collect();
    let total = sets.len();
    let done = Arc::new(AtomicUsize::new(0));
    let (counter, model) = (done.clone(), model.model.clone());
    let job = move |interrupt: &Interrupt| {
        let one = |set: &robust_mdp::uncertainty::UncertaintySet| {
            let priced = price(&model, set, &options, interrupt);
            counter.fetch_add(1, Ordering::Relaxed);
            priced
        };
        in_parallel(&sets, threads, one)
    };
    let mut said = 0;
    let mut report = |_: Python<'_>| {
        let now = done.load(Ordering::Relaxed);
        match &progress {
            Some(callback) if now > said => {
                said = now;
                callback.call1((now, total)).map(|_| ())
            }
            _ => Ok(()),
        }
    };
    let solved = background::run(py, false, &mut report, job)?;
    report(py)?;
    let wrap = |priced: Result<Priced, Error>| {
        let (solution, nominal) = priced.map_err(|e| raised(py, e))?;
        Ok((Solution { solution }, nominal))
    };
    solved.into_iter().map(wrap).collect()
}

fn price(
    model: &robust_mdp::Model,
    set: &robust_mdp::uncertainty::UncertaintySet,
    options: &Options,
    interrupt: &Interrupt,
) -> Result<Priced, Error> {
    let solution = solve_observed(model, set, options, &mut (), interrupt)?;
    let none = robust_mdp::uncertainty::UncertaintySet::none();
    let gap = options.stop.gap;
    let valued = evaluate(model, &none, &solution.policy, gap, options.threads, interrupt)?;
    Ok((solution, valued.nominal.initial))
}

/// Answers in the order of the questions.
fn in_parallel<Q: Sync, A: Send>(
    questions: &[Q],
    threads: usize,
    answer: impl Fn(&Q) -> A + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::with_capacity(questions.len()));
    let work = || {
        while let Some((at, question)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            questions.get(at).map(|question| (at, question))
        } {
            let answer = answer(question);
            answers.lock().unwrap_or_else(PoisonError::into_inner).push((at, answer));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
