//! One question at many radii: the price of robustness.
//!
//! The smallest and the largest radius are solved first, then the one in the middle of those still
//! to be solved between two that are, and so on. Every run starts from values between those of the
//! two, by the square root of the radius: near 0 that is how values grow with it. Radii of one level
//! are solved side by side. What a run starts from does not depend on the threads, so that neither
//! does a bit of its answer; of equal radii each is a run of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::model::Model;
use crate::pool::{at_most, cores};
use crate::sets::{Radius, UncertaintySet};
use crate::signal::Interrupt;
use crate::solution::Solution;
use crate::solve::{Options, solve_observed};

/// Solves for many radii, each the same in all states; the set's own does not matter.
///
/// `each` is handed every solution with its set, and the threads that further work on it may use, and
/// may be called from several threads; what it makes of them comes back in the order of the radii,
/// with nothing for those that an interrupt came before.
/// If `warm`, runs start from what radii nearby have found, which saves sweeps in most cases and FOM-VI
/// hardly any (docs/python/methods.md has numbers). Limits are those of every single run.
pub fn sweep_radius<T: Send>(
    model: &Model,
    set: &UncertaintySet,
    radii: &[f64],
    options: &Options,
    warm: bool,
    interrupt: &Interrupt,
    each: impl Fn(&UncertaintySet, Solution, usize) -> Result<T, Error> + Sync,
) -> Result<Vec<Option<T>>, Error> {
    let threads = at_most(options.threads.unwrap_or_else(cores));
    let mut order: Vec<usize> = (0..radii.len()).collect();
    order.sort_by(|a, b| radii[*a].total_cmp(&radii[*b]));
    let sorted: Vec<f64> = order.iter().map(|k| radii[*k]).collect();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); radii.len()];
    let mut answers: Vec<Option<T>> = radii.iter().map(|_| None).collect();
    for level in levels(radii.len(), warm) {
        // Runs on several threads share one pool. None asked for is refused by the run.
        let share = if level.len() < threads { threads } else { threads.min(1) };
        let one = |&(k, between): &Place| -> Result<Option<(Vec<f64>, T)>, Error> {
            if interrupt.is_raised() {
                return Ok(None);
            }
            let set = UncertaintySet { radius: Radius::Uniform(sorted[k]), ..set.clone() };
            let start = between.map(|(a, b)| {
                blend(&values[a], &values[b], share_of(sorted[a], sorted[k], sorted[b]))
            });
            let start = start.or_else(|| options.start.clone());
            let options = Options { threads: Some(share), start, ..options.clone() };
            let solution = solve_observed(model, &set, &options, &mut (), interrupt)?;
            let found = if warm { solution.values.clone() } else { Vec::new() };
            Ok(Some((found, each(&set, solution, share)?)))
        };
        for ((k, _), solved) in level.iter().zip(in_parallel(&level, threads, one)) {
            if let Some((found, answer)) = solved? {
                values[*k] = found;
                answers[order[*k]] = Some(answer);
            }
        }
    }
    Ok(answers)
}

/// A radius, by its place among the sorted ones, and the two that it lies between.
type Place = (usize, Option<(usize, usize)>);

/// What can be solved side by side, level after level.
fn levels(count: usize, warm: bool) -> Vec<Vec<Place>> {
    if !warm || count < 3 {
        let all: Vec<Place> = (0..count).map(|k| (k, None)).collect();
        return if all.is_empty() { Vec::new() } else { vec![all] };
    }
    let mut levels = vec![vec![(0, None), (count - 1, None)]];
    let mut gaps = vec![(0, count - 1)];
    while !gaps.is_empty() {
        let open = gaps.iter().filter(|(a, b)| b - a > 1);
        let level: Vec<Place> = open.map(|&(a, b)| (a.midpoint(b), Some((a, b)))).collect();
        let halves = |&(k, between): &Place| between.map(|(a, b)| [(a, k), (k, b)]);
        gaps = level.iter().filter_map(halves).flatten().collect();
        levels.extend((!level.is_empty()).then_some(level));
    }
    levels
}

/// How far `at` lies on the way from `low` to `high`.
fn share_of(low: f64, at: f64, high: f64) -> f64 {
    let (from, to) = (low.sqrt(), high.sqrt());
    if to > from { (at.sqrt() - from) / (to - from) } else { 0.0 }
}

fn blend(a: &[f64], b: &[f64], share: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect()
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
        for _ in 1..threads.min(questions.len()) {
            // Without a further thread it takes longer.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_radius_is_solved_once_and_after_its_neighbours() {
        for count in 0..40 {
            for warm in [false, true] {
                let mut solved = vec![false; count];
                for level in levels(count, warm) {
                    assert!(!level.is_empty());
                    for (k, between) in &level {
                        if let Some((a, b)) = between {
                            assert!(a < k && k < b && solved[*a] && solved[*b]);
                        }
                    }
                    for (k, _) in level {
                        assert!(!std::mem::replace(&mut solved[k], true));
                    }
                }
                assert!(solved.into_iter().all(|done| done));
            }
        }
    }

    #[test]
    fn shares_lie_between_and_equal_radii_have_one() {
        assert_eq!(share_of(0.0, 0.25, 1.0), 0.5);
        assert_eq!(share_of(0.3, 0.3, 0.3), 0.0);
        assert_eq!(blend(&[0.0, 2.0], &[1.0, 0.0], 0.5), [0.5, 1.0]);
    }
}
