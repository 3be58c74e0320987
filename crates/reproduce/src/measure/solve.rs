//! Solves, and when each of the two rules first held.

use std::time::Instant;

use robust_mdp::sets::Support;
use robust_mdp::{Error, Observer, Options, Progress, Status, Stop, Work, solve_observed};

use super::super::cell::{Cell, Counts, Outcome, Record, Seconds};
use super::super::problem::Problem;
use super::super::solver::{Kind, Solver, own_residual};
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
    /// DG of FOM-VI's output at p₀ at most this; known after epochs whose output was checked.
    DualityGap(f64),
    /// A certified gap of ε.
    Certified,
}

impl Observer for Rules {
    fn progress(&mut self, at: &Progress) {
        let certified = at.gap <= self.epsilon;
        let own = match self.own {
            Own::Residual(most) => at.residual <= most,
            Own::DualityGap(most) => at.output.is_some_and(|o| o.upper - o.lower <= most),
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
        let own = match solver.kind() {
            Kind::Auto => Own::Certified,
            Kind::Fom => Own::DualityGap(0.5 * epsilon),
            Kind::Programs | Kind::Exact => Own::Residual(own_residual(epsilon, problem.discount)),
        };
        Rules { own, epsilon, own_at: None, certified_at: None }
    }

    /// A run that ended certified, at its end.
    fn certified(&mut self, work: Work, seconds: f64) {
        let end = (Counts::from(work), seconds);
        self.certified_at.get_or_insert(end);
        let own = match self.own {
            Own::Residual(_) | Own::Certified => true,
            // FOM-VI may find its first answer, the nominal one, to be good enough. After an epoch,
            // what is certified may be put together from several outputs, none of which is.
            Own::DualityGap(_) => work.sweeps == 0,
        };
        if own {
            self.own_at.get_or_insert(end);
        }
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
                rules.certified(solution.work, solution.seconds);
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
                    own,
                    certified,
                    work: solution.work.into(),
                    gap: solution.gap,
                    lower: solution.initial_value.0,
                    upper: solution.initial_value.1,
                    note: solution.warnings.first().cloned(),
                    ..Outcome::default()
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

#[cfg(test)]
mod tests {
    use super::super::super::problem::{Family, Regime};
    use super::*;
    use robust_mdp::DualityGap;
    use robust_mdp::sets::Distance;

    fn rules() -> Rules {
        let problem = Problem {
            family: Family::Garnet50,
            regime: Regime::Paper,
            set: Distance::Ellipsoid,
            states: 5,
            discount: 0.8,
            seed: 1,
        };
        Rules::new(Solver::FomPaper, &problem, 0.1)
    }

    /// Bounds of the answer, put together from several outputs, and the gap of this epoch's output.
    fn after(epoch: u64, bounds: f64, output: Option<f64>) -> Progress {
        Progress {
            seconds: epoch as f64,
            lower: 1.0,
            upper: 1.0 + bounds,
            gap: bounds,
            target: 0.05,
            residual: 0.0,
            output: output.map(|dg| DualityGap { lower: 1.0, upper: 1.0 + dg, gap: dg }),
            work: Work { sweeps: epoch, ..Work::default() },
        }
    }

    #[test]
    fn fom_vi_ends_by_the_gap_of_its_output() {
        let mut rules = rules();
        rules.progress(&after(1, 0.2, Some(0.3)));
        // The bounds of the answer are close, those of the output are not, or not known.
        rules.progress(&after(2, 0.04, Some(0.06)));
        rules.progress(&after(3, 0.04, None));
        assert!(rules.own_at.is_none());
        assert_eq!(rules.certified_at.unwrap().1, 2.0);
        rules.progress(&after(4, 0.04, Some(0.05 - 1e-9)));
        rules.progress(&after(5, 0.04, Some(0.01)));
        assert_eq!(rules.own_at.unwrap().1, 4.0);
    }

    #[test]
    fn a_certified_end_is_no_end_by_the_output() {
        let mut certified = rules();
        certified.certified(Work { sweeps: 2, ..Work::default() }, 2.0);
        assert!(certified.own_at.is_none() && certified.certified_at.is_some());
        let mut nominal = rules();
        nominal.certified(Work::default(), 0.5);
        assert_eq!(nominal.own_at.unwrap().1, 0.5);
    }
}
