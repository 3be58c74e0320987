//! State by state: how far the policy may cost more than v_U says, and any action less than v_L.

use std::ops::Range;

use rayon::prelude::*;

use super::interval::{Interval, Level, TINY, UNIT, above, normal, or_infinite, roundings};
use super::proof::{Proof, ProofRow, Reading};
use super::values::{RowScratch, VerifiedValues};
use crate::certificate::step::{StepRef, Terms};
use crate::certificate::{Multipliers, Weight};
use crate::model::Model;
use crate::sets::{Rectangularity, UncertaintySet};

/// What a state says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::certificate) struct Excess {
    /// At least T_x v − v.
    pub(in crate::certificate) above: f64,
    /// At least v − min_a Σ_i y_a(i)(c_a(i) + λv(i)), and the row of that minimum.
    pub(in crate::certificate) below: f64,
    pub(in crate::certificate) row: usize,
}

/// A model and what is said about it.
pub(super) struct Check<'a> {
    model: &'a Model,
    set: &'a UncertaintySet,
    step: StepRef<'a>,
    terms: Terms,
    proof: Option<&'static dyn Proof>,
    /// Distances fall with this power of the way from the nominal row.
    degree: i32,
    /// All rows of a state share its budget.
    shared: bool,
    /// What rows need of v_U, and of v_L where they differ.
    upper: VerifiedValues<'a>,
    lower: Option<VerifiedValues<'a>>,
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Hand {
    scratch: RowScratch,
    /// Of the rows of a state.
    kernel: Vec<KernelRow>,
    /// How much of the policy and of the kernel has been read.
    weights: usize,
    rows: usize,
}

/// At least v_L less the value of a row of the kernel, and what it takes of the budget.
#[derive(Clone, Copy)]
struct KernelRow {
    below: f64,
    spent: f64,
}

/// A row without multipliers.
const NOMINAL: KernelRow = KernelRow { below: f64::NEG_INFINITY, spent: 0.0 };

impl<'a> Check<'a> {
    pub(super) fn new(
        model: &'a Model,
        set: &'a UncertaintySet,
        step: StepRef<'a>,
        terms: Terms,
    ) -> Check<'a> {
        let StepRef { upper, lower, .. } = step;
        let distance = set.distance.set();
        Check {
            model,
            set,
            step,
            terms,
            proof: distance.and_then(|set| set.proof()),
            degree: distance.map_or(1, |set| set.degree()),
            shared: set.rectangularity == Rectangularity::State && !terms.alone,
            upper: VerifiedValues::new(model, set, upper),
            lower: (upper != lower).then(|| VerifiedValues::new(model, set, lower)),
        }
    }

    /// Of a discounted worst case.
    #[cfg(test)]
    pub(super) fn discounted(
        model: &'a Model,
        certificate: &'a crate::certificate::Certificate,
    ) -> Check<'a> {
        let terms = Terms { clipped: true, ..Terms::default() };
        Check::new(model, &certificate.set, certificate.first(), terms)
    }

    /// Of every state, in parallel, and the fingerprints of the pieces of the model that is to be `told`, if one is:
    /// a piece is read for its fingerprint first and is then at hand.
    pub(super) fn excesses(&self, told: Option<&Model>) -> (Vec<Excess>, Vec<u128>) {
        let piece = |hand: &mut Hand, states: Range<usize>| {
            let own = told.map_or(0, |model| model.fingerprint_of(states.clone()));
            (self.run(states, hand), own)
        };
        let pieces = self.model.pieces();
        let found: Vec<(Vec<Excess>, u128)> = if crate::pool::alone() {
            let mut hand = Hand::default();
            pieces.map(|states| piece(&mut hand, states)).collect()
        } else {
            let pieces: Vec<Range<usize>> = pieces.collect();
            pieces.into_par_iter().map_init(Hand::default, piece).collect()
        };
        let fingerprints = found.iter().map(|(_, own)| *own).collect();
        (found.into_iter().flat_map(|(excesses, _)| excesses).collect(), fingerprints)
    }

    /// Of some states.
    pub(super) fn run(&self, states: Range<usize>, hand: &mut Hand) -> Vec<Excess> {
        let StepRef { policy, kernel, .. } = self.step;
        let first = self.model.state_ptr[states.start];
        hand.weights = policy.partition_point(|w| (w.row as usize) < first);
        hand.rows = kernel.partition_point(|k| (k.row as usize) < first);
        let mut of = |s: usize| {
            hand.kernel.clear();
            hand.kernel.resize(self.model.rows_of(s).len(), NOMINAL);
            let above = self.policy(s, hand);
            self.multipliers(s, hand);
            let (below, row) = match self.terms.cooperative {
                true => self.chosen(s, hand),
                false => self.kernel(s, hand),
            };
            Excess { above, below, row }
        };
        states.map(|s| if self.model.is_terminal(s) { Excess::default() } else { of(s) }).collect()
    }

    /// (U): weak duality. At least T_x v − v.
    fn policy(&self, s: usize, hand: &mut Hand) -> f64 {
        let (set, StepRef { policy, scale, upper, .. }) = (self.set, self.step);
        let (values, rows) = (&self.upper, self.model.rows_of(s));
        let (from, first) = (values.offset - upper[s], hand.weights);
        // Σx·bound and the sizes of its terms, Σx and Σκψ.
        let [mut total, mut size, mut mass, mut gain] = [0.0; 4];
        let mut add = |x: f64| (total, size) = (total + x, size + x.abs());
        // The largest of rows that are bounded one by one, and the next of them.
        let (mut most, mut next) = (f64::NEG_INFINITY, rows.start);
        while let Some(&Weight { row, probability: x, nu }) = policy.get(hand.weights) {
            let row = row as usize;
            if row >= rows.end {
                break;
            }
            let mu = if self.shared { scale[s] } else { scale[hand.weights] };
            hand.weights += 1;
            mass += x;
            if self.terms.cooperative {
                most = most.max(self.maxima(s, next..row, hand));
                next = row + 1;
            }
            if self.is_flat(values.v, s, row) {
                most = most.max(0.0);
                continue;
            }
            let (radius, cost) = (set.radius_at(s, row), self.model.cost[row]);
            let mut add = |x: f64, bound: f64| match self.terms.cooperative {
                true => most = most.max(or_infinite(bound)),
                false => add(x * bound),
            };
            if radius == 0.0 {
                let [maximum, value, off] = values.nominal(row, &mut hand.scratch);
                add(x, Level::new(from, cost, maximum).above(value, off));
                continue;
            }
            let (seen, omega) = values.row(row, &mut hand.scratch);
            let kappa = set.weight_at(row);
            let unit = mu * kappa;
            let t = if self.shared { x } else { 1.0 } / unit;
            let found = self.read(&seen, if normal(unit) { t } else { 0.0 }, nu);
            // Rows are worth no more than their tops; 0 also where it is NaN.
            let dual = if found.dual < 0.0 { found.dual } else { 0.0 };
            let priced = if kappa == 1.0 { dual.into() } else { Interval::from(dual) * kappa };
            let own = if self.shared { 0.0 } else { ((priced + radius) * mu).hi() };
            let own = own.min(0.0);
            // The two roundings of t are a change of the objectives.
            let level = Level::new(from, cost, seen.maximum);
            add(x, level.above(own, omega + 2.2 * UNIT * seen.depth));
            gain += kappa * dual;
            if self.lower.is_none() {
                hand.kernel[row - rows.start] = kernel_row(found, kappa, level, omega);
            }
        }
        if self.terms.cooperative {
            return most.max(self.maxima(s, next..rows.end, hand));
        }
        let n = (hand.weights - first) as f64;
        let mut total = Interval { mid: total, rad: roundings(n) * size + TINY };
        let brace = Interval::of_sum(gain, n) + set.radius_at(s, rows.start);
        if self.shared && brace.hi() < 0.0 {
            total = total + brace * scale[s];
        }
        (total / Interval::of_sum(mass, n)).hi()
    }

    /// At least what rows without multipliers are worth on their maxima, less the value of the state.
    fn maxima(&self, s: usize, rows: Range<usize>, hand: &mut Hand) -> f64 {
        let from = self.upper.offset - self.step.upper[s];
        let most = |row: usize| {
            if self.is_flat(self.upper.v, s, row) {
                return 0.0;
            }
            let (seen, omega) = self.upper.row(row, &mut hand.scratch);
            let level = Level::new(from, self.model.cost[row], seen.maximum);
            or_infinite(level.above(0.0, omega))
        };
        rows.map(most).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether a row costs nothing and leads to states of the same value as its own alone, under every kernel, so that
    /// it is worth just that.
    fn is_flat(&self, v: &[f64], s: usize, row: usize) -> bool {
        let leaves = self.set.leaves_support() && self.set.radius_at(s, row) > 0.0;
        if !self.terms.flat || leaves {
            return false;
        }
        let (row, data) = (self.model.row(row), self.upper.data);
        let same = |(k, (next, _, further)): (usize, (usize, f64, f64))| {
            let open = row.is_open(k) || data.opens(row, k);
            !open || v[next] == v[s] && further == 0.0
        };
        row.cost == 0.0 && self.model.discount() == 1.0 && row.entries().enumerate().all(same)
    }

    /// (L) where policies maximise too: at least v less the value of the one row that the policy takes.
    fn chosen(&self, s: usize, hand: &mut Hand) -> (f64, usize) {
        let StepRef { policy, lower, .. } = self.step;
        let rows = self.model.rows_of(s);
        let at = policy.partition_point(|w| (w.row as usize) < rows.start);
        let taken = policy[at..].iter().find(|w| w.probability > 0.0);
        let Some(row) = taken.map(|w| w.row as usize).filter(|row| rows.contains(row)) else {
            return (f64::INFINITY, rows.start);
        };
        let values = self.lower.as_ref().unwrap_or(&self.upper);
        if self.is_flat(values.v, s, row) {
            return (0.0, row);
        }
        let found = hand.kernel[row - rows.start];
        let share = match found.below == f64::NEG_INFINITY {
            true => 0.0,
            false => self.allowed(found.spent, self.set.radius_at(s, row)),
        };
        if share == 1.0 {
            return (found.below, row);
        }
        let [maximum, value, off] = values.nominal(row, &mut hand.scratch);
        let level = Level::new(values.offset - lower[s], self.model.cost[row], maximum);
        let nominal = level.below(value, off);
        (or_infinite(mixed(nominal, found.below, share)), row)
    }

    /// What multipliers prove of a row.
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        match self.proof {
            Some(proof) if (1e-300..=1e300).contains(&t) => proof.read(row, t, nu),
            _ => Reading::NOTHING,
        }
    }

    /// Rows of the kernel with multipliers of their own; where v_L = v_U, those of the policy have been read.
    fn multipliers(&self, s: usize, hand: &mut Hand) {
        let (set, StepRef { kernel, lower, .. }) = (self.set, self.step);
        let (values, rows) = (self.lower.as_ref().unwrap_or(&self.upper), self.model.rows_of(s));
        let from = values.offset - lower[s];
        while let Some(&Multipliers { row, t, nu }) = kernel.get(hand.rows) {
            let row = row as usize;
            if row >= rows.end {
                break;
            }
            hand.rows += 1;
            let (seen, omega) = values.row(row, &mut hand.scratch);
            let kappa = set.weight_at(row);
            let found = self.read(&seen, t, nu);
            let level = Level::new(from, self.model.cost[row], seen.maximum);
            hand.kernel[row - rows.start] = kernel_row(found, kappa, level, omega);
        }
    }

    /// (L): a kernel that is in the set by construction. At least v less the least value of a row, and that row.
    fn kernel(&self, s: usize, Hand { kernel, scratch, .. }: &mut Hand) -> (f64, usize) {
        let (set, StepRef { lower, .. }) = (self.set, self.step);
        let (values, rows) = (self.lower.as_ref().unwrap_or(&self.upper), self.model.rows_of(s));
        let from = values.offset - lower[s];
        let spent = Interval::of_sum(kernel.iter().map(|row| row.spent).sum(), rows.len() as f64);
        let common = self.allowed(spent.hi(), set.radius_at(s, rows.start));
        // How far rows go from the nominal ones.
        let share = |row: usize, found: &KernelRow| match found.below == f64::NEG_INFINITY {
            true => 0.0,
            false if self.shared => common,
            false => self.allowed(found.spent, set.radius_at(s, row)),
        };
        let mut worst = (if self.terms.clipped { 0.0 } else { f64::NEG_INFINITY }, rows.start);
        for (row, found) in rows.clone().zip(&*kernel) {
            if self.is_flat(values.v, s, row) {
                worst = if worst.0 < 0.0 { (0.0, row) } else { worst };
                continue;
            }
            if found.below > worst.0 && share(row, found) == 1.0 {
                worst = (found.below, row);
            }
        }
        // Nominal rows add at most this less their cost: those that cost too much to matter are not read.
        let range = if self.model.transition_cost.is_none() { values.range } else { f64::INFINITY };
        let most = Level::new(from, 0.0, 0.0).below(-range, values.omega);
        for (row, found) in rows.zip(&*kernel) {
            let (share, cost) = (share(row, found), self.model.cost[row]);
            let mixed = |nominal: f64| mixed(nominal, found.below, share);
            if share == 1.0
                || mixed(above(most - cost)) <= worst.0
                || self.is_flat(values.v, s, row)
            {
                continue;
            }
            let [maximum, value, off] = values.nominal(row, scratch);
            let below = or_infinite(mixed(Level::new(from, cost, maximum).below(value, off)));
            if below > worst.0 {
                worst = (below, row);
            }
        }
        worst
    }

    /// A share of the way from the nominal rows that the budget allows if the whole way spends `used`;
    /// none of it if that is NaN.
    fn allowed(&self, used: f64, radius: f64) -> f64 {
        if used <= radius {
            return 1.0;
        }
        let share = (radius / used).next_down().max(0.0);
        if self.degree >= 2 { share.sqrt().next_down().max(0.0) } else { share }
    }
}

/// At most so far below v a row lies that goes a share of the way from the nominal one to another.
fn mixed(nominal: f64, moved: f64, share: f64) -> f64 {
    match share {
        0.0 => nominal,
        _ => (Interval::from(nominal) + (Interval::from(moved) + -nominal) * share).hi(),
    }
}

/// A row of the kernel at its value, less than its level, and what it spends.
fn kernel_row(found: Reading, kappa: f64, level: Level, omega: f64) -> KernelRow {
    if found.spent.is_nan() {
        return NOMINAL;
    }
    let below = or_infinite(level.below(found.value.mid, omega + found.value.rad));
    KernelRow { below, spent: above(kappa * found.spent) }
}
