//! Rows at given values as the verifier sees them, so that multipliers fit to the last digit: where
//! they are steep, objectives that differ by a rounding make another kernel.

use super::Lift;
use crate::model::Model;
use crate::uncertainty::{Distance, Rectangularity, Support, UncertaintySet};

/// A row on its peak has this multiplier, in units of 1/range.
const STEEP: f64 = 1e20;
/// Multipliers that a rounding of the objectives moves by less than this are right as they are.
const FINE: f64 = 1e-11;
/// The share of a budget that steep multipliers leave to the verifier's roundings.
const SPARE: f64 = 1e-12;
/// Steps on the shift of a row, and on the multipliers of a state.
const STEPS: usize = 100;
/// Halvings of a factor between ½ and 1 of these, or between two powers of ½.
const BISECTIONS: usize = 50;

/// The objectives of all rows at the values v.
pub(super) struct Objectives<'a> {
    model: &'a Model,
    everywhere: bool,
    kl: bool,
    /// λ(v − max v), and the same falling where rows may have mass on states that they do not list.
    w: Vec<f64>,
    ranked: Vec<f64>,
    /// Size of a rounding.
    grain: f64,
}

/// One row.
struct Row {
    /// (p, w') of the entries.
    entries: Vec<(f64, f64)>,
    /// λ(v − max v) of the states listed, falling.
    listed: Vec<f64>,
    top: f64,
    range: f64,
}

impl<'a> Objectives<'a> {
    pub(super) fn new(model: &'a Model, set: &UncertaintySet, v: &[f64]) -> Objectives<'a> {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let largest = v.iter().fold(model.largest_term(), |m, v| m.max(v.abs()));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        let everywhere = set.distance == Distance::Ellipsoid && set.support == Support::All;
        let mut ranked = if everywhere && !model.is_dense() { w.clone() } else { Vec::new() };
        ranked.sort_unstable_by(|a, b| b.total_cmp(a));
        let (kl, grain) = (set.distance == Distance::Kl, f64::EPSILON * largest);
        Objectives { model, everywhere, kl, w, ranked, grain }
    }

    /// Fits the lifts of a state: peaks get multipliers, masses become one, and steep multipliers are
    /// lowered until the budget suffices.
    pub(super) fn settle(&self, set: &UncertaintySet, s: usize, lifts: &mut [Lift]) {
        let together = match set.rectangularity {
            Rectangularity::State => lifts.len().max(1),
            Rectangularity::StateAction => 1,
        };
        for lifts in lifts.chunks_mut(together) {
            if lifts.iter().any(|lift| self.steep(lift)) {
                let rows: Vec<Row> = lifts.iter().map(|l| self.row(l.row as usize)).collect();
                self.fit(&rows, lifts, set.radius_at(s, lifts[0].row as usize));
            }
        }
    }

    fn steep(&self, lift: &Lift) -> bool {
        lift.tilt.is_infinite() || lift.tilt * self.grain > FINE
    }

    /// Lowers the steep multipliers of rows that share a budget, all by the same factor and no more than
    /// needed. A little less of the budget costs next to nothing, by as much as they are steep; a little
    /// more of it costs that share of the way from the nominal rows.
    fn fit(&self, rows: &[Row], lifts: &mut [Lift], radius: f64) {
        let steep: Vec<bool> = lifts.iter().map(|lift| self.steep(lift)).collect();
        let full: Vec<f64> =
            lifts.iter().zip(rows).map(|(lift, row)| lift.tilt.min(STEEP / row.range)).collect();
        let mut suffices = |factor: f64| {
            let mut spent = 0.0;
            for (k, (lift, row)) in lifts.iter_mut().zip(rows).enumerate() {
                lift.tilt = if steep[k] { factor * full[k] } else { full[k] };
                spent += self.spend(row, lift);
            }
            spent <= radius * (1.0 - SPARE)
        };
        if suffices(1.0) {
            return;
        }
        let (mut low, mut high) = (0.5, 1.0);
        for _ in 0..STEPS {
            if suffices(low) {
                break;
            }
            (low, high) = (0.5 * low, low);
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            (low, high) = if suffices(middle) { (middle, high) } else { (low, middle) };
        }
        suffices(low);
    }

    /// −min of λ(v − max v).
    pub(super) fn range(&self) -> f64 {
        self.w.iter().fold(0.0, |m: f64, w| m.max(-w))
    }

    /// States by falling λ(v − max v).
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.w.len()).collect();
        order.sort_by(|&a, &b| self.w[b].total_cmp(&self.w[a]));
        order
    }

    /// The largest objective of a dense row without costs of its own, where it has mass.
    pub(super) fn top(&self, r: usize, order: &[usize]) -> f64 {
        let prob = self.model.row(r).prob;
        order.iter().find(|&&i| prob[i] > 0.0).map_or(0.0, |&i| self.w[i])
    }

    fn row(&self, r: usize) -> Row {
        let row = self.model.row(r);
        let usable = row.entries().enumerate().filter(|(_, e)| self.everywhere || e.1 > 0.0);
        let mut entries: Vec<(f64, f64)> = Vec::with_capacity(row.prob.len());
        let (mut listed, mut top, mut low) = (Vec::new(), f64::NEG_INFINITY, f64::INFINITY);
        for (k, (next, p, toll)) in usable {
            let w = self.w[next] + toll;
            (top, low) = (top.max(w), low.min(w));
            entries.push((p, w));
            if !self.ranked.is_empty() && !row.is_repeated(k) {
                listed.push(self.w[next]);
            }
        }
        if !self.ranked.is_empty() {
            listed.sort_unstable_by(|a, b| b.total_cmp(a));
            let same = self.ranked.iter().zip(&listed).take_while(|(a, b)| a == b).count();
            top = self.ranked.get(same).map_or(top, |w| top.max(*w));
            low = self.ranked.last().map_or(low, |w| low.min(*w));
        }
        entries.iter_mut().for_each(|(_, w)| *w -= top);
        Row { entries, listed, top, range: top - low }
    }

    /// Gives the lift mass one; returns its distance.
    fn spend(&self, row: &Row, lift: &mut Lift) -> f64 {
        if self.kl {
            lift.shift = row.log_mass(lift.tilt);
            return row.kl(lift.tilt, lift.shift);
        }
        // Newton on the convex ν ↦ Σ(p + tw' − ν)₊, from a ν where the mass is at least one.
        let mut nu = -1.0;
        for _ in 0..STEPS {
            let [mass, count, _] = self.sums(row, lift.tilt, nu);
            let step = (mass - 1.0) / count;
            let fresh = nu + step;
            if fresh.is_nan() || fresh <= nu {
                break;
            }
            nu = fresh;
        }
        lift.shift = nu;
        self.sums(row, lift.tilt, nu)[2]
    }

    /// Mass, entries and distance of (p + tw' − ν)₊.
    fn sums(&self, row: &Row, t: f64, nu: f64) -> [f64; 3] {
        let [mut mass, mut count, mut square] = [0.0; 3];
        for &(p, w) in &row.entries {
            let y = p + (t * w - nu);
            (mass, count) = if y > 0.0 { (mass + y, count + 1.0) } else { (mass, count) };
            square += (y.max(0.0) - p).powi(2);
        }
        let mut listed = row.listed.iter().peekable();
        for &w in &self.ranked {
            let h = t * (w - row.top) - nu;
            if h <= 0.0 {
                break;
            }
            if listed.next_if(|own| **own == w).is_none() {
                (mass, count, square) = (mass + h, count + 1.0, square + h * h);
            }
        }
        [mass, count, 0.5 * square]
    }
}

impl Row {
    /// ln Σ pe^{tw'}.
    fn log_mass(&self, t: f64) -> f64 {
        let excess: f64 = self.entries.iter().map(|(p, w)| p * (t * w).exp_m1()).sum();
        if excess > -0.5 {
            return excess.ln_1p();
        }
        self.entries.iter().map(|(p, w)| p * (t * w).exp()).sum::<f64>().ln()
    }

    /// KL of pe^{tw' − ν}, which has mass one.
    fn kl(&self, t: f64, nu: f64) -> f64 {
        let of = |(p, w): &(f64, f64)| {
            let a = t * w - nu;
            if a < -700.0 { *p } else { p * (a * a.exp() - a.exp_m1()) }
        };
        self.entries.iter().map(of).sum()
    }
}
