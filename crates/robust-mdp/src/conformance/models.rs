//! A set on whole models: what the solver says of it, against kernels drawn from it.

use super::draw::{Case, mixed, nominal};
use super::{Report, Violation, holds};
use crate::instances::Xoshiro256;
use crate::model::{Model, ModelBuilder};
use crate::sets::set::shrink;
use crate::sets::{Distance, Rectangularity, Set, UncertaintySet};
use crate::solution::Solution;
use crate::solve::{Options, Stop, solve};
use crate::{Interrupt, SparseKernel, certify, evaluate, worst_kernel_rows};

/// States, actions a state and whether rows list few states.
const SHAPES: [(usize, usize, bool); 4] =
    [(1, 2, false), (2, 1, false), (4, 3, false), (6, 3, true)];
const DISCOUNT: f64 = 0.8;
/// Sweeps after which a fixed chain's values have settled: 0.8^200 < 1e-19.
const SETTLED: usize = 200;
/// Kernels drawn for a solution.
const DRAWN: usize = 25;
const GAP: f64 = 1e-7;

pub(super) fn check(set: &'static dyn Set, report: &mut Report) -> Result<(), Violation> {
    let mut random = Xoshiro256::new(3);
    for (states, actions, sparse) in SHAPES.repeat(3) {
        let model = model(states, actions, sparse, &mut random);
        for radius in [0.0, 1e-4, 0.03, 0.5, 5.0] {
            let shared = UncertaintySet::new(Distance::Custom(set), radius);
            let weights: Vec<f64> =
                (0..model.rows()).map(|_| 0.25 + 4.0 * random.uniform()).collect();
            let mut sets = vec![
                shared.clone(),
                shared.clone().per_action(),
                shared.clone().with_weights(weights),
            ];
            if set.leaves_support() {
                sets.push(shared.clone().on_nominal_support());
            }
            for uncertainty in &sets {
                Checked { set, model: &model, uncertainty }.solution(&mut random, report)?;
            }
            Checked { set, model: &model, uncertainty: &shared }.weights(radius)?;
        }
    }
    Ok(())
}

/// Random costs and kernels; the last state of a sparse model is terminal.
fn model(states: usize, actions: usize, sparse: bool, random: &mut Xoshiro256) -> Model {
    let mut builder = ModelBuilder::new(DISCOUNT);
    for s in 0..states {
        builder.add_state(None);
        if sparse && s + 1 == states {
            builder.mark_terminal();
            continue;
        }
        for _ in 0..actions {
            builder.add_action(None, 10.0 * random.uniform());
            let width = if sparse { 2 } else { states };
            let start = random.below((states - width + 1) as u64) as usize;
            for (j, p) in nominal(width, sparse, random).into_iter().enumerate() {
                if p > 0.0 {
                    builder.add_transition(start + j, p, 0.0);
                }
            }
        }
    }
    builder.build().expect("a model")
}

struct Checked<'a> {
    set: &'static dyn Set,
    model: &'a Model,
    uncertainty: &'a UncertaintySet,
}

impl Checked<'_> {
    fn holds(
        &self,
        law: &'static str,
        right: bool,
        about: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        holds(law, right, || format!("{}\n{:?}\n{:?}", about(), self.uncertainty, self.model))
    }

    /// No error of the library is expected here.
    fn done<T>(&self, result: Result<T, crate::Error>) -> Result<T, Violation> {
        result.map_err(|e| Violation { law: "models are solved", place: e.to_string() })
    }

    fn solved(&self, uncertainty: &UncertaintySet, bracketed: bool) -> Result<Solution, Violation> {
        let stop = Stop { gap: Some(GAP), max_sweeps: 10_000, ..Stop::default() };
        let options = Options { bracketed, stop, threads: Some(1), ..Options::default() };
        let solution = self.done(solve(self.model, uncertainty, &options))?;
        let narrow = solution.gap <= 2.0 * GAP;
        self.holds("bounds meet", narrow, || format!("gap {:e}", solution.gap))?;
        Ok(solution)
    }

    fn solution(&self, random: &mut Xoshiro256, report: &mut Report) -> Result<(), Violation> {
        let solution = self.solved(self.uncertainty, false)?;
        let priced = self.solved(self.uncertainty, true)?;
        for s in 0..self.model.states() {
            let (found, other) =
                ((solution.lower[s], solution.upper[s]), (priced.lower[s], priced.upper[s]));
            let meet = found.0 <= other.1 + GAP && other.0 <= found.1 + GAP;
            self.holds("drivers agree", meet, || format!("{found:?} and {other:?} in state {s}"))?;
        }
        if self.set.proof().is_some() {
            let proved = self.done(certify(self.model, self.uncertainty, &solution, Some(1)))?.1;
            self.holds("certificates prove the bounds", proved.gap <= 4.0 * GAP, || {
                format!("gap {:e}", proved.gap)
            })?;
        }
        let policy = &solution.policy;
        let interrupt = Interrupt::new();
        let worst = evaluate(self.model, self.uncertainty, policy, Some(GAP), Some(1), &interrupt);
        let worst = self.done(worst)?.worst;
        for s in 0..self.model.states() {
            let (low, high) = (worst.lower[s], worst.upper[s]);
            let meet = low <= solution.upper[s] + GAP && high >= solution.lower[s] - GAP;
            self.holds("a policy's evaluation agrees", meet, || {
                format!("[{low}, {high}], upper bound {} in state {s}", solution.upper[s])
            })?;
        }
        let kernel = worst_kernel_rows(
            self.model,
            self.uncertainty,
            policy,
            &worst.values,
            Some(1),
            &interrupt,
        );
        self.worst(&solution, &worst.values, self.done(kernel)?)?;
        for _ in 0..DRAWN {
            let kernel = self.kernel(random);
            let values = self.values(policy, &kernel);
            for (s, value) in values.into_iter().enumerate() {
                self.holds("no kernel is worse", value <= solution.upper[s] + GAP, || {
                    format!("{value} above {} in state {s}: {kernel:?}", solution.upper[s])
                })?;
            }
            report.kernels += 1;
        }
        report.solved += 1;
        Ok(())
    }

    /// The worst kernel lies in the set and attains the values.
    fn worst(
        &self,
        solution: &Solution,
        values: &[f64],
        kernel: Option<SparseKernel>,
    ) -> Result<(), Violation> {
        let Some(kernel) = kernel else { return Ok(()) };
        let rows: Vec<Vec<f64>> = (0..self.model.rows())
            .map(|r| {
                let mut y = vec![0.0; self.model.states()];
                kernel.row(r).for_each(|(next, p)| y[next as usize] += p);
                y
            })
            .collect();
        for s in 0..self.model.states() {
            for (used, radius) in self.spent(s, &rows) {
                let within = used <= radius * (1.0 + 1e-6) + 1e-12;
                self.holds("the worst kernel is in the set", within, || {
                    format!("{used:e} of {radius:e} in state {s}: {rows:?}")
                })?;
            }
        }
        let found = self.values(&solution.policy, &rows);
        for (s, (found, value)) in found.iter().zip(values).enumerate() {
            let same = (found - value).abs() <= 1e-5 * (1.0 + value.abs());
            self.holds("the worst kernel attains its value", same, || {
                format!("{found}, not {value} in state {s}")
            })?;
        }
        Ok(())
    }

    /// A nominal row over all states.
    fn nominal(&self, r: usize) -> Vec<f64> {
        let mut p = vec![0.0; self.model.states()];
        self.model.row(r).entries().for_each(|(next, prob, _)| p[next] += prob);
        p
    }

    /// Budgets of a state: what rows spend, and what they may.
    fn spent(&self, s: usize, kernel: &[Vec<f64>]) -> Vec<(f64, f64)> {
        let set = self.uncertainty;
        let of = |r: usize| {
            let p = self.nominal(r);
            // Only states that the set may use count.
            let pairs = p.iter().zip(&kernel[r]).filter(|(p, y)| **p > 0.0 || **y > 0.0);
            let (p, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
            set.weight_at(r) * self.set.distance(&p, &y)
        };
        let rows = self.model.rows_of(s);
        match set.rectangularity {
            Rectangularity::State => {
                vec![(rows.clone().map(of).sum(), set.radius_at(s, rows.start))]
            }
            Rectangularity::StateAction => rows.map(|r| (of(r), set.radius_at(s, r))).collect(),
        }
    }

    /// A kernel of the set, mostly on its border.
    fn kernel(&self, random: &mut Xoshiro256) -> Vec<Vec<f64>> {
        let open = |p: &f64| self.uncertainty.leaves_support() || *p > 0.0;
        let mut kernel: Vec<Vec<f64>> = (0..self.model.rows())
            .map(|r| {
                let p = self.nominal(r);
                let (w, open) = (vec![0.0; p.len()], p.iter().map(open).collect());
                Case { p, w, open }.distribution(random)
            })
            .collect();
        for s in 0..self.model.states() {
            let rows = self.model.rows_of(s);
            for (j, (used, radius)) in self.spent(s, &kernel).into_iter().enumerate() {
                let share = match used.is_finite() {
                    true => shrink(self.set, used, radius) * (1.0 - 1e-12),
                    false => 0.0,
                };
                let own = match self.uncertainty.rectangularity {
                    Rectangularity::State => rows.clone(),
                    Rectangularity::StateAction => rows.start + j..rows.start + j + 1,
                };
                own.for_each(|r| kernel[r] = mixed(&self.nominal(r), &kernel[r], share));
            }
        }
        kernel
    }

    /// The policy's values under a kernel.
    fn values(&self, policy: &[f64], kernel: &[Vec<f64>]) -> Vec<f64> {
        let mut values = vec![0.0; self.model.states()];
        for _ in 0..SETTLED {
            let of = |s: usize| {
                let rows = self.model.rows_of(s).map(|r| {
                    let next: f64 = kernel[r].iter().zip(&values).map(|(y, v)| y * v).sum();
                    policy[r] * (self.model.row(r).cost + DISCOUNT * next)
                });
                rows.sum()
            };
            values = (0..values.len()).map(of).collect();
        }
        values
    }

    /// Weights of 2 with twice the budget change nothing.
    fn weights(&self, radius: f64) -> Result<(), Violation> {
        let doubled = UncertaintySet::new(self.uncertainty.distance, 2.0 * radius)
            .with_weights(vec![2.0; self.model.rows()]);
        let (one, two) = (self.solved(self.uncertainty, false)?, self.solved(&doubled, false)?);
        for (s, (one, two)) in one.values.iter().zip(&two.values).enumerate() {
            self.holds("row weights scale", (one - two).abs() <= 2.0 * GAP, || {
                format!("{one} and {two} in state {s}")
            })?;
        }
        Ok(())
    }
}
