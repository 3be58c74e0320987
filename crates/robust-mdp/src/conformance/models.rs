//! A set on whole models: what the solver says of it, against kernels drawn from it.

use std::ops::Range;

use super::draw::{DrawnRow, OwnData, ground, intervals, mixed, nominal, scenarios, weights};
use super::{Report, Violation};
use crate::instances::Xoshiro256;
use crate::model::{Model, ModelBuilder};
use crate::sets::set::shrink;
use crate::sets::{
    Distance, EntryWeights, Needs, Radius, Rectangularity, Scenarios, Set, UncertaintySet,
};
use crate::solution::Solution;
use crate::solve::{Options, Stop, solve};
use crate::{Interrupt, certify, evaluate, worst_kernel_rows};

/// What rows lead to.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// All states.
    Full,
    /// Half of the states, those like their own: the others cannot be reached.
    Halves,
    /// Two states; the last one is terminal.
    Sparse,
    /// Four states, among them absorbing ones that cost the same, or all but the same.
    Ties,
}

/// States and actions a state.
const SHAPES: [(usize, usize, Shape); 6] = [
    (1, 2, Shape::Full),
    (2, 1, Shape::Full),
    (4, 3, Shape::Full),
    (6, 3, Shape::Halves),
    (6, 3, Shape::Sparse),
    (9, 2, Shape::Ties),
];
const DISCOUNT: f64 = 0.8;
/// Sweeps after which a fixed chain's values have settled: 0.8^200 < 1e-19.
const SETTLED: usize = 200;
/// Kernels drawn for a solution.
const DRAWN: usize = 25;
const GAP: f64 = 1e-7;

pub(super) fn check(set: &'static dyn Set, report: &mut Report) -> Result<(), Violation> {
    let mut random = Xoshiro256::new(3);
    for (states, actions, shape) in SHAPES.repeat(3) {
        let model = &model(states, actions, shape, set.needs(), &mut random);
        for radius in [0.0, 1e-4, 0.03, 0.5, 50.0] {
            let mut shared = UncertaintySet::new(Distance::Custom(set), radius);
            match set.needs() {
                Needs::Nothing | Needs::Intervals => {}
                Needs::Weights => {
                    if let Some(weights) = weights(states, 1.0, &mut random) {
                        shared = shared.with_entry_weights(EntryWeights::PerState(weights));
                    }
                }
                Needs::Ground => shared = shared.with_ground(ground(states, &mut random)),
                Needs::Scenarios => {
                    shared = shared.with_scenarios(some_scenarios(model, &mut random));
                }
            }
            let weights = (0..model.rows()).map(|_| 0.25 + 4.0 * random.uniform()).collect();
            let mut sets = vec![shared.clone().per_action()];
            if set.adds_up() {
                sets.extend([shared.clone(), shared.clone().with_weights(weights)]);
            }
            if set.leaves_support() {
                sets.push(shared.clone().on_nominal_support());
            }
            for uncertainty in &sets {
                let check = ModelCheck { set, model, uncertainty };
                check.solution(&mut random, report)?;
                report.solved += 1;
            }
            if set.adds_up() {
                ModelCheck { set, model, uncertainty: &shared }.weights(radius)?;
            }
        }
    }
    Ok(())
}

/// Random costs and kernels.
fn model(
    states: usize,
    actions: usize,
    shape: Shape,
    needs: Needs,
    random: &mut Xoshiro256,
) -> Model {
    let mut builder = ModelBuilder::new(DISCOUNT);
    for s in 0..states {
        builder.add_state(None);
        match shape {
            Shape::Sparse | Shape::Ties if s + 1 == states => {
                builder.mark_terminal();
                continue;
            }
            Shape::Ties if s >= 3 => {
                builder.add_action(None, [2.0, 2.0, 2.0 + 1e-14, 2.0 - 1e-6][s % 4]);
                builder.add_transition(s, 1.0, 0.0);
                continue;
            }
            Shape::Full | Shape::Halves | Shape::Sparse | Shape::Ties => {}
        }
        for _ in 0..actions {
            let halves = [0..states / 2, states / 2..states];
            let (next, cost) = match shape {
                Shape::Full => (0..states, random.uniform()),
                Shape::Halves => {
                    let own = halves[usize::from(s >= states / 2)].clone();
                    (own, random.uniform() + if s < states / 2 { 0.0 } else { 10.0 })
                }
                Shape::Sparse => {
                    let first = random.below(states as u64 - 1) as usize;
                    (first..first + 2, random.uniform())
                }
                Shape::Ties => {
                    let first = random.below(states as u64 - 4) as usize;
                    (first..first + 4, random.below(3) as f64 / 10.0)
                }
            };
            builder.add_action(None, 10.0 * cost);
            let p = nominal(next.len(), shape == Shape::Sparse, random);
            let bounds = (needs == Needs::Intervals).then(|| intervals(&p, 1e-2, random));
            for (k, (next, p)) in next.zip(p).enumerate() {
                match &bounds {
                    Some([lower, upper]) => {
                        builder.add_interval(next, Some(p), [lower[k], upper[k]], 0.0);
                    }
                    None if p > 0.0 => builder.add_transition(next, p, 0.0),
                    None => {}
                }
            }
        }
    }
    builder.build().expect("a model")
}

/// As many scenarios for all rows as the first one has.
fn some_scenarios(model: &Model, random: &mut Xoshiro256) -> Scenarios {
    let mut kernels: Vec<Vec<f64>> = Vec::new();
    for r in 0..model.rows() {
        let p = model.row(r).prob;
        let rows = scenarios(p, random);
        if r == 0 {
            kernels = vec![Vec::new(); rows.len()];
        }
        kernels.iter_mut().enumerate().for_each(|(k, to)| {
            to.extend(rows.get(k).map_or(p, Vec::as_slice));
        });
    }
    Scenarios::new(model, &kernels).expect("distributions")
}

struct ModelCheck<'a> {
    set: &'static dyn Set,
    model: &'a Model,
    uncertainty: &'a UncertaintySet,
}

impl ModelCheck<'_> {
    fn violation(&self, law: &'static str, about: String) -> Violation {
        Violation { law, place: format!("{about}\n{:?}\n{:?}", self.uncertainty, self.model) }
    }

    /// No error of the library is expected here.
    fn done<T>(&self, result: Result<T, crate::Error>) -> Result<T, Violation> {
        result.map_err(|e| self.violation("models are solved", e.to_string()))
    }

    fn solved(&self, uncertainty: &UncertaintySet, bracketed: bool) -> Result<Solution, Violation> {
        let stop = Stop { gap: Some(GAP), max_sweeps: 10_000, ..Stop::default() };
        let options = Options { bracketed, stop, threads: Some(1), ..Options::default() };
        let solution = self.done(solve(self.model, uncertainty, &options))?;
        law!(self, "bounds meet", solution.gap <= 2.0 * GAP, "gap {:e}", solution.gap);
        Ok(solution)
    }

    fn solution(&self, random: &mut Xoshiro256, report: &mut Report) -> Result<(), Violation> {
        let ModelCheck { model, uncertainty, .. } = *self;
        let solution = self.solved(uncertainty, false)?;
        if self.set.proof().is_some() {
            let gap = self.done(certify(model, uncertainty, &solution, Some(1)))?.1.gap;
            law!(self, "certificates prove the bounds", gap <= 4.0 * GAP, "gap {gap:e}");
        }
        let Solution { policy, lower, upper, .. } = solution;
        let other = self.solved(uncertainty, true)?;
        let interrupt = Interrupt::new();
        let worst = evaluate(model, uncertainty, &policy, Some(GAP), Some(1), &interrupt);
        let worst = self.done(worst)?.worst;
        for (law, below, above) in [
            ("drivers agree", &other.lower, &other.upper),
            ("a policy's evaluation agrees", &worst.lower, &worst.upper),
        ] {
            for s in 0..model.states() {
                let (one, two) = ([lower[s], upper[s]], [below[s], above[s]]);
                let meet = one[0] <= two[1] + GAP && two[0] <= one[1] + GAP;
                law!(self, law, meet, "{one:?} and {two:?} in state {s}");
            }
        }
        let kernel =
            worst_kernel_rows(model, uncertainty, &policy, &worst.values, Some(1), &interrupt);
        if let Some(kernel) = self.done(kernel)? {
            let rows = (0..model.rows()).map(|r| self.spread(kernel.row(r)));
            self.worst(&policy, &worst.values, &rows.collect::<Vec<_>>())?;
        }
        for _ in 0..DRAWN {
            let kernel = self.kernel(random);
            for (s, value) in self.values(&policy, &kernel).into_iter().enumerate() {
                let (most, law) = (upper[s], "no kernel is worse");
                law!(
                    self,
                    law,
                    value <= most + GAP,
                    "{value} above {most} in state {s}: {kernel:?}"
                );
            }
            report.kernels += 1;
        }
        Ok(())
    }

    /// The worst kernel lies in the set and attains the values.
    fn worst(&self, policy: &[f64], values: &[f64], kernel: &[Vec<f64>]) -> Result<(), Violation> {
        for (rows, radius) in self.budgets() {
            let (used, law) = (self.spent(rows.clone(), kernel), "the worst kernel is in the set");
            let steepness = rows.clone().map(|r| self.row(r)).map(|row| row.own.steepness(&row.p));
            let slack = 1e-12 + 1e-15 * steepness.sum::<f64>();
            let within = used <= radius * (1.0 + 1e-6) + slack;
            law!(self, law, within, "{used:e} of {radius:e} in rows {rows:?}: {kernel:?}");
        }
        for (s, (found, value)) in self.values(policy, kernel).iter().zip(values).enumerate() {
            let same = (found - value).abs() <= 1e-5 * (1.0 + value.abs());
            let law = "the worst kernel attains its value";
            law!(self, law, same, "{found}, not {value} in state {s}");
        }
        Ok(())
    }

    /// A row over all states.
    fn spread(&self, entries: impl Iterator<Item = (u32, f64)>) -> Vec<f64> {
        let mut row = vec![0.0; self.model.states()];
        entries.for_each(|(next, p)| row[next as usize] += p);
        row
    }

    fn nominal(&self, r: usize) -> Vec<f64> {
        self.spread(self.model.row(r).entries().map(|(next, p, _)| (next as u32, p)))
    }

    /// Rows that share a budget, and that.
    fn budgets(&self) -> Vec<(Range<usize>, f64)> {
        let set = self.uncertainty;
        let of = |s: usize| -> Vec<_> {
            let rows = self.model.rows_of(s);
            match set.rectangularity {
                Rectangularity::State => vec![(rows.clone(), set.radius_at(s, rows.start))],
                Rectangularity::StateAction => {
                    rows.map(|r| (r..r + 1, set.radius_at(s, r))).collect()
                }
            }
        };
        (0..self.model.states()).filter(|&s| !self.model.is_terminal(s)).flat_map(of).collect()
    }

    /// Row r over all states, with those that it may use and what the set is told of them.
    fn row(&self, r: usize) -> DrawnRow {
        let (p, row) = (self.nominal(r), self.model.row(r));
        let UncertaintySet { entry_weights, ground, .. } = self.uncertainty;
        let bounds = (self.set.needs() == Needs::Intervals).then(|| {
            let spread = |bounds: &[f64]| {
                self.spread(row.entries().zip(bounds).map(|((next, ..), b)| (next as u32, *b)))
            };
            let bounds = row.bounds.expect("a model with intervals");
            [spread(bounds.lower), spread(bounds.upper)]
        });
        let weights = entry_weights.as_ref().map(|weights| weights.numbers().to_vec());
        let ground = ground.as_deref().cloned();
        let mut own = OwnData { weights, bounds, ground, ..OwnData::default() };
        if let Some(told) = &self.uncertainty.scenarios {
            let next = || row.entries().map(|e| e.0 as u32);
            let of = |kernel: &Vec<f64>| {
                self.spread(next().zip(kernel[self.model.span(r)].iter().copied()))
            };
            own = own.with_scenarios(told.kernels().iter().map(of).collect());
        }
        let everywhere = self.uncertainty.leaves_support();
        let open = |i: usize| own.opens(&p, i).unwrap_or(everywhere || p[i] > 0.0);
        let open = (0..p.len()).map(open).collect();
        DrawnRow { w: vec![0.0; p.len()], p, open, own }
    }

    /// What rows spend of their budget.
    fn spent(&self, rows: Range<usize>, kernel: &[Vec<f64>]) -> f64 {
        let of = |r: usize| {
            let DrawnRow { p, own, .. } = self.row(r);
            // Only states that the set may use count.
            let kept: Vec<usize> =
                (0..p.len()).filter(|&i| p[i] > 0.0 || kernel[r][i] > 0.0).collect();
            let [p, y] = [&p, &kernel[r]].map(|x| kept.iter().map(|&i| x[i]).collect::<Vec<f64>>());
            self.uncertainty.weight_at(r) * self.set.distance(&p, &y, own.of(&kept).get())
        };
        rows.map(of).sum()
    }

    /// A kernel of the set, mostly on its border.
    fn kernel(&self, random: &mut Xoshiro256) -> Vec<Vec<f64>> {
        let mut kernel: Vec<Vec<f64>> =
            (0..self.model.rows()).map(|r| self.row(r).distribution(random)).collect();
        for (rows, radius) in self.budgets() {
            let used = self.spent(rows.clone(), &kernel);
            let share = match used.is_finite() {
                true => shrink(self.set, used, radius) * (1.0 - 1e-12),
                false => 0.0,
            };
            rows.for_each(|r| kernel[r] = mixed(&self.nominal(r), &kernel[r], share));
        }
        kernel
    }

    /// The policy's values under a kernel.
    fn values(&self, policy: &[f64], kernel: &[Vec<f64>]) -> Vec<f64> {
        let mut values = vec![0.0; self.model.states()];
        for _ in 0..SETTLED {
            let of_row = |r: usize| {
                let next: f64 = kernel[r].iter().zip(&values).map(|(y, v)| y * v).sum();
                policy[r] * (self.model.row(r).cost + DISCOUNT * next)
            };
            let states = 0..values.len();
            values = states.map(|s| self.model.rows_of(s).map(of_row).sum()).collect();
        }
        values
    }

    /// Weights of 2 with twice the budget change nothing.
    fn weights(&self, radius: f64) -> Result<(), Violation> {
        let doubled = self.uncertainty.clone().with_radius(Radius::Uniform(2.0 * radius));
        let doubled = doubled.with_weights(vec![2.0; self.model.rows()]);
        let (one, two) = (self.solved(self.uncertainty, false)?, self.solved(&doubled, false)?);
        for (s, (one, two)) in one.values.iter().zip(&two.values).enumerate() {
            let same = (one - two).abs() <= 2.0 * GAP;
            law!(self, "row weights scale", same, "{one} and {two} in state {s}");
        }
        Ok(())
    }
}
