//! What it costs to compute a duality gap: the worst case of a policy less the best answer to a kernel.

use std::time::Instant;

use robust_mdp::measure::Sweeps;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Error, Model, Options, Status, Stop, evaluate, solve_observed};

use super::super::cell::{Counts, Evaluator, Outcome, Record, Seconds};
use super::super::solver::own_residual;
use super::random_pair::random_pair;
use super::{At, ENOUGH, REPEATS};

impl At<'_> {
    /// DG of a random policy and a random kernel of the set. Either half is computed to ε/2, so
    /// that their difference is known up to ε.
    pub(super) fn gap(&self, evaluator: Evaluator) -> Result<Option<Record>, Error> {
        let (policy, answered) = random_pair(&self.cell.problem, &self.model, &self.set)?;
        let mut best: Option<Record> = None;
        let begun = Instant::now();
        for _ in 0..REPEATS {
            let started = Instant::now();
            let halves = match evaluator {
                Evaluator::Exact => self.by_policy_iteration(&policy, &answered)?,
                Evaluator::Vi => self.by_iteration(&policy, &answered, false)?,
                Evaluator::Avi => self.by_iteration(&policy, &answered, true)?,
            };
            let total = started.elapsed().as_secs_f64();
            if self.interrupt.is_raised() {
                return Ok(None);
            }
            let seconds = Seconds { own: halves.done.then_some(total), certified: None, total };
            if let Some(best) = &mut best {
                best.seconds = best.seconds.least(seconds);
            } else {
                best =
                    Some(Record { cell: *self.cell, outcome: self.half_outcome(halves), seconds });
            }
            if begun.elapsed().as_secs_f64() >= ENOUGH {
                break;
            }
        }
        Ok(best)
    }

    fn half_outcome(&self, halves: Halves) -> Outcome {
        Outcome {
            status: if halves.done { "done" } else { "work-limit" }.into(),
            radius: self.radius,
            own: halves.done.then_some(halves.work),
            work: halves.work,
            gap: halves.upper - halves.lower,
            lower: halves.lower,
            upper: halves.upper,
            ..Outcome::default()
        }
    }

    fn by_iteration(
        &self,
        policy: &[f64],
        answered: &Model,
        accelerated: bool,
    ) -> Result<Halves, Error> {
        let none = UncertaintySet::none();
        let mut worst = Sweeps::new(&self.model, &self.set, Some(policy))?;
        let above = self.iterate(&mut worst, accelerated);
        let mut response = Sweeps::new(answered, &none, None)?;
        let below = self.iterate(&mut response, accelerated);
        Ok(Halves::of(&self.model, above, below))
    }

    /// v ← T(v) from 0, or with Nesterov's momentum, until ‖T(v) − v‖_∞ ≤ ε(1−λ)/(2λ); then v is
    /// within ε/2 of the fixed point.
    fn iterate(&self, sweeps: &mut Sweeps<'_>, accelerated: bool) -> Half {
        let (discount, states) = (self.model.discount(), self.model.states());
        let enough = own_residual(self.cell.epsilon, discount);
        let step = 1.0 / (1.0 + discount);
        let momentum = (1.0 - (1.0 - discount * discount).sqrt()) / discount;
        let (mut v, mut before) = (vec![0.0; states], vec![0.0; states]);
        let mut work = Counts::default();
        let mut done = false;
        while !done && work.sweeps < self.cell.limit && !self.interrupt.is_raised() {
            // For AVI v is the extrapolated point.
            let image = sweeps.image(&v);
            work.sweeps += 1;
            let residual = image.iter().zip(&v).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            done = residual <= enough;
            if accelerated && !done {
                for ((v, image), before) in v.iter_mut().zip(image).zip(&mut before) {
                    let next = *v - step * (*v - image);
                    *v = next + momentum * (next - *before);
                    *before = next;
                }
            } else {
                v.copy_from_slice(image);
            }
        }
        work.oracle_calls = work.sweeps * states as u64;
        work.entries = sweeps.take_entries();
        Half { values: v, radius: 0.5 * self.cell.epsilon, work, done }
    }

    fn by_policy_iteration(&self, policy: &[f64], answered: &Model) -> Result<Halves, Error> {
        let (gap, threads) = (Some(self.cell.epsilon), Some(self.threads));
        let above = evaluate(&self.model, &self.set, policy, gap, threads, self.interrupt)?;
        let options =
            Options { stop: Stop::at_gap(self.cell.epsilon), threads, ..Options::default() };
        let none = UncertaintySet::none();
        let below = solve_observed(answered, &none, &options, &mut (), self.interrupt)?;
        let certified = |status| status == Status::Certified;
        Ok(Halves {
            lower: above.worst.initial.0 - below.initial_value.1,
            upper: above.worst.initial.1 - below.initial_value.0,
            work: Counts::from(above.work) + below.work.into(),
            done: certified(above.status) && certified(below.status),
        })
    }
}

/// One fixed point, known up to `radius`.
struct Half {
    values: Vec<f64>,
    radius: f64,
    work: Counts,
    done: bool,
}

/// Bounds of DG at p₀.
struct Halves {
    lower: f64,
    upper: f64,
    work: Counts,
    done: bool,
}

impl Halves {
    fn of(model: &Model, above: Half, below: Half) -> Halves {
        let dg = model.initial_mean(&above.values) - model.initial_mean(&below.values);
        let radius = above.radius + below.radius;
        Halves {
            lower: dg - radius,
            upper: dg + radius,
            work: above.work + below.work,
            done: above.done && below.done,
        }
    }
}
