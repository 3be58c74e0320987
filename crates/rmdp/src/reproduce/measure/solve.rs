//! Solves, and when each of the two rules first held.

use std::time::Instant;

use robust_mdp::uncertainty::Support;
use robust_mdp::{Error, Observer, Options, Progress, Status, Stop, solve_observed};

use super::super::cell::{Cell, Counts, Outcome, Record, Seconds};
use super::super::problem::Problem;
use super::super::solver::{Solver, own_residual};
use super::{At, ENOUGH, REPEATS};

/// The solution at which saturation is judged.
const SHARP: f64 = 1e-6;

/// When the two rules first held.
struct Rules {
    own: Own,
    epsilon: f64,
    own_at: Option<(Counts, f64)>,
    certified_at: Option<(Counts, f64)>,
}

/// A method's own rule.
enum Own {
    /// ‖v⁺ − v‖_∞ at most this.
    Residual(f64),
    /// DG at p₀ at most this.
    DualityGap(f64),
    /// A certified gap of ε.
    Certified,
}

impl Observer for Rules {
    fn progress(&mut self, at: &Progress) {
        let certified = at.gap <= self.epsilon;
        let own = match self.own {
            Own::Residual(most) => at.residual <= most,
            Own::DualityGap(most) => at.upper - at.lower <= most,
            Own::Certified => certified,
        };
        let now = (Counts::from(at.work), at.seconds);
        if own {
            self.own_at.get_or_insert(now);
        }
        if certified {
            self.certified_at.get_or_insert(now);
        }
    }
}

impl Rules {
    fn new(solver: Solver, problem: &Problem, epsilon: f64) -> Rules {
        let own = match solver {
            Solver::Auto => Own::Certified,
            s if s.is_fom() => Own::DualityGap(0.5 * epsilon),
            _ => Own::Residual(own_residual(epsilon, problem.discount)),
        };
        Rules { own, epsilon, own_at: None, certified_at: None }
    }
}

impl At<'_> {
    pub(super) fn solve(&self, solver: Solver) -> Result<Option<Record>, Error> {
        let Cell { problem, epsilon, limit, .. } = *self.cell;
        let options = solver.options(&problem, epsilon, limit, self.threads);
        let mut best: Option<Record> = None;
        let begun = Instant::now();
        for _ in 0..REPEATS {
            let mut rules = Rules::new(solver, &problem, epsilon);
            let solution =
                solve_observed(&self.model, &self.set, &options, &mut rules, self.interrupt)?;
            if solution.status == Status::Interrupted {
                return Ok(None);
            }
            if solution.status == Status::Certified {
                // FOM-VI may find its first answer, the nominal one, to be good enough.
                let end = (Counts::from(solution.work), solution.seconds);
                rules.own_at.get_or_insert(end);
                rules.certified_at.get_or_insert(end);
            }
            let done = rules.own_at.is_some() && rules.certified_at.is_some();
            let (own, own_seconds) = rules.own_at.unzip();
            let (certified, certified_seconds) = rules.certified_at.unzip();
            let total = solution.seconds;
            let seconds = Seconds { own: own_seconds, certified: certified_seconds, total };
            if let Some(best) = &mut best {
                best.seconds = best.seconds.least(seconds);
            } else {
                let outcome = Outcome {
                    status: if done { "done" } else { "work-limit" }.into(),
                    radius: self.radius,
                    saturated: None,
                    own,
                    certified,
                    work: solution.work.into(),
                    gap: solution.gap,
                    lower: solution.initial_value.0,
                    upper: solution.initial_value.1,
                    trace: Vec::new(),
                    note: solution.warnings.first().cloned(),
                };
                best = Some(Record { cell: *self.cell, outcome, seconds });
            }
            if begun.elapsed().as_secs_f64() >= ENOUGH {
                break;
            }
        }
        if let Some(record) = best.as_mut().filter(|_| solver == Solver::Auto) {
            record.outcome.saturated = self.saturated()?;
        }
        Ok(best.filter(|_| !self.interrupt.is_raised()))
    }

    /// The share of states in which nature reaches min_a max b_a, the most that any budget allows.
    fn saturated(&self) -> Result<Option<f64>, Error> {
        let options = Options {
            stop: Stop::at_gap(SHARP),
            threads: Some(self.threads),
            ..Options::default()
        };
        let solution = solve_observed(&self.model, &self.set, &options, &mut (), self.interrupt)?;
        let (model, v) = (&self.model, &solution.values);
        let highest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let saturated = |s: &usize| {
            let most = |r: usize| {
                let row = model.row(r);
                let top = match self.set.support {
                    Support::All => highest,
                    Support::Nominal => (row.entries().filter(|e| e.1 > 0.0))
                        .fold(f64::NEG_INFINITY, |m, (next, ..)| m.max(v[next])),
                };
                row.cost + model.discount() * top
            };
            let cap = model.rows_of(*s).map(most).fold(f64::INFINITY, f64::min);
            v[*s] >= cap - 1e-5 * cap.abs().max(1.0)
        };
        let count = (0..model.states()).filter(saturated).count();
        Ok(Some(count as f64 / model.states() as f64))
    }
}
