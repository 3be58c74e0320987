//! One row of the model at given values: its nominal value, its share of the dual bound, and the
//! kernel that a multiplier stands for. Every result contains the exact one.
//!
//! Objectives are w' = c(s,a,i) + λ(v_i − max v) − top ≤ 0, top the row's largest. The doubles w'
//! differ from the exact ones by at most ω, the same for all next states; as a row has mass one, so
//! does its value. The nominal row is the stored one over its exact sum.

use super::exponential::{EXP_ERROR, ln_above};
use super::interval::{Interval, TINY, UNIT, roundings};
use super::kernels::{DualEllipsoid, DualKl, LiftedEllipsoid, LiftedKl};
use super::sums::{Entries, Nominal, NominalRows};
use super::tail::{Doubtful, Ranking};
use crate::lanes::dispatch;
use crate::model::Model;
use crate::uncertainty::{Distance, Support, UncertaintySet};

/// More than 30u·30u.
const SECOND_ORDER: f64 = 1000.0 * UNIT * UNIT;

/// What all rows need of the values v.
pub(super) struct Ahead {
    /// λ(v − max v), at most 0.
    w: Vec<f64>,
    /// −min of `w`, and how far it may be from exact.
    range: f64,
    omega: f64,
    /// λ·max v.
    pub(super) offset: Interval,
    /// States by falling `w`, for rows of KL sets.
    order: Vec<u32>,
    /// Where rows may have mass on states that they do not list.
    ranking: Option<Ranking>,
}

impl Ahead {
    pub(super) fn new(model: &Model, set: &UncertaintySet, v: &[f64]) -> Ahead {
        let highest = v.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let w: Vec<f64> = v.iter().map(|v| model.discount() * (v - highest)).collect();
        let range = w.iter().fold(0.0, |m: f64, w| m.max(-w));
        // Values too far apart for doubles prove nothing, not even at discount 0.
        let finite = w.iter().all(|w| w.is_finite());
        let spreads = everywhere(set) && !model.is_dense();
        let ordered = set.distance == Distance::Kl && model.is_dense();
        let mut order: Vec<u32> = if ordered { (0..w.len() as u32).collect() } else { Vec::new() };
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        Ahead {
            order,
            range,
            omega: if finite { 2.1 * UNIT * range + TINY } else { f64::INFINITY },
            offset: Interval::from(highest) * model.discount(),
            ranking: spreads.then(|| Ranking::new(&w)),
            w,
        }
    }
}

fn everywhere(set: &UncertaintySet) -> bool {
    set.distance == Distance::Ellipsoid && set.support == Support::All
}

/// Memory of a thread.
#[derive(Default)]
pub(super) struct Scratch {
    p: Vec<f64>,
    w: Vec<f64>,
    listed: Vec<f64>,
    sums: Vec<[f64; 2]>,
    pub(super) nominal: Vec<Least>,
}

/// A row where it may have mass.
pub(super) struct Row<'a> {
    entries: Entries<'a>,
    pub(super) top: f64,
    /// −min of w'.
    depth: f64,
    pub(super) omega: f64,
    /// The other states, where they may have mass too, and λ(v − max v) of those listed.
    outside: Option<(&'a Ranking, &'a [f64])>,
    kl: bool,
}

/// A row of the kernel: its value above λ·max v and the cost is at least top + below − ω.
#[derive(Clone, Copy)]
pub(super) struct Least {
    pub(super) top: f64,
    pub(super) below: f64,
    pub(super) omega: f64,
}

/// The nominal values of the rows of state s.
pub(super) fn nominal_values(
    model: &Model,
    set: &UncertaintySet,
    ahead: &Ahead,
    s: usize,
    scratch: &mut Scratch,
    out: &mut Vec<Least>,
) {
    out.clear();
    let rows = model.rows_of(s);
    if !model.is_dense() || model.transition_cost.is_some() {
        out.extend(rows.map(|r| {
            let row = Row::new(model, set, ahead, r, scratch);
            let [mass, value] = row.entries.sums(Nominal, 0.0, 0.0);
            row.least(-mean_above(-value, mass, row.roundings(1.0)))
        }));
        return;
    }
    let p = &model.prob[model.span(rows.start).start..model.span(rows.end - 1).end];
    dispatch(NominalRows { p, w: &ahead.w, out: &mut scratch.sums });
    let (rho, omega) = (roundings(ahead.w.len(), 1.0), ahead.omega);
    out.extend(scratch.sums.iter().map(|&[mass, value]| Least {
        top: 0.0,
        below: -mean_above(-value, mass, rho),
        omega,
    }));
}

/// At least the quotient of two sums that are off by at most ρ of themselves, in the mean of the two:
/// (1 + ρ)/(1 − ρ) and three roundings.
fn mean_above(sum: f64, mass: f64, rho: f64) -> f64 {
    let mean = (sum + TINY) / mass;
    mean + (2.0 * rho + 4.0 * UNIT) * mean.abs()
}

impl<'a> Row<'a> {
    pub(super) fn new(
        model: &'a Model,
        set: &UncertaintySet,
        ahead: &'a Ahead,
        r: usize,
        scratch: &'a mut Scratch,
    ) -> Row<'a> {
        let (row, anywhere, kl) = (model.row(r), everywhere(set), set.distance == Distance::Kl);
        let Scratch { p, w, listed, .. } = scratch;
        let plain = row.next.is_none() && row.transition_cost.is_none();
        if plain && (anywhere || kl || row.prob.iter().all(|p| *p > 0.0)) {
            // States above the top have no mass.
            let best = ahead.order.iter().find(|&&i| row.prob[i as usize] > 0.0);
            let top = best.map_or(0.0, |&i| ahead.w[i as usize]);
            let entries = Entries { p: row.prob, w: &ahead.w, top };
            let omega = ahead.omega + if top < 0.0 { 1.1 * UNIT * ahead.range } else { 0.0 };
            return Row { entries, top, depth: ahead.range, omega, outside: None, kl };
        }
        p.clear();
        w.clear();
        listed.clear();
        let (mut top, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for (next, y, toll) in row.entries().filter(|e| anywhere || e.1 > 0.0) {
            let objective = ahead.w[next] + toll;
            p.push(y);
            w.push(objective);
            (top, low) = (top.max(objective), low.min(objective));
            if ahead.ranking.is_some() {
                listed.push(ahead.w[next]);
            }
        }
        let size = top.abs().max(low.abs());
        if let Some(ranking) = &ahead.ranking {
            top = ranking.highest_outside(listed).map_or(top, |w| top.max(w));
        }
        let omega = ahead.omega + 1.1 * UNIT * (size + (top - low));
        let outside = ahead.ranking.as_ref().map(|ranking| (ranking, &listed[..]));
        Row { entries: Entries { p, w, top }, top, depth: top - low, omega, outside, kl }
    }

    fn least(&self, below: f64) -> Least {
        Least { top: self.top, below, omega: self.omega }
    }

    /// At least the nominal value above `top`.
    pub(super) fn nominal_above(&self) -> f64 {
        let [mass, value] = self.entries.sums(Nominal, 0.0, 0.0);
        mean_above(value, mass, self.roundings(1.0))
    }

    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν
    /// for the mass (KL: the best one), or 0. That is for w' changed by at most [`extra`](Row::extra).
    pub(super) fn dual(&self, t: f64, nu: f64) -> f64 {
        if self.kl {
            // ln Σ y⁰e^{tw'}, as a number and as what it lacks from one.
            let [mass, excess, left] = self.entries.sums(DualKl, t, 0.0);
            let rho = 0.5 * (self.roundings(EXP_ERROR + 1.0) + self.roundings(0.0));
            let over = |sum: f64| mean_above(sum, mass, rho);
            return ln_above(over(left), over(excess)).min(0.0);
        }
        // p/Σp in place of p: φ moves by at most |max(h, −p)| with p.
        let [mass, sum, size, slope] = self.entries.sums(DualEllipsoid, t, nu);
        let off = 1.01 * ((1.0 - mass).abs() / mass + 2.0 * self.roundings(0.0));
        let tail = self.outside.map_or(0.0, |(ranking, listed)| {
            0.5 * ranking.tail(t, nu, self.top, listed, Doubtful::In).square.hi
        });
        let error = self.roundings(4.0) * size
            + 2.0 * off * (1.01 * slope + off)
            + 4.0 * UNIT * (size + nu.abs() + tail)
            + TINY;
        let bound = (sum + nu) + tail + 1.01 * error;
        // Also where it is not a number.
        if bound < 0.0 { bound } else { 0.0 }
    }

    /// How far computed t·w' − ν may be from exact, in units of w'.
    pub(super) fn extra(&self, t: f64, nu: f64) -> f64 {
        4.0 * UNIT * (self.depth + nu.abs() / t) + TINY
    }

    /// y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, brought to mass one; and at least its distance (ellipsoid:
    /// ‖y − y⁰‖).
    pub(super) fn lifted(&self, t: f64, nu: f64) -> (Least, f64) {
        if self.kl {
            // The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 25u, so that its value has no
            // error of theirs. Σ y⁰f(a + δ)/M is at least the distance, f(a) = ae^a − e^a + 1, and
            // f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e; see the documentation.
            let [own, value, spent, size] = self.entries.sums(LiftedKl, t, nu);
            let error = self.roundings(2.0 * EXP_ERROR + 8.0) * size + SECOND_ORDER * own + TINY;
            let own = self.of_sum(own, 1.0);
            let value = self.of_sum(value, 2.0) / own;
            let distance = Interval::around(spent, error) / own;
            return (self.least(value.lo), distance.hi.max(0.0));
        }
        let [mass, own, value, square] = self.entries.sums(LiftedEllipsoid, t, nu);
        let mass = self.of_sum(mass, 0.0);
        let (mut own, mut value) = (self.of_sum(own, 0.0), self.of_sum(value, 1.0));
        let mut square = self.of_sum(square, 4.0);
        if let Some((ranking, listed)) = self.outside {
            let tail = ranking.tail(t, nu, self.top, listed, Doubtful::Out);
            own = own + tail.mass;
            value = value + tail.gain;
            square = square + tail.square;
        }
        // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
        let distance = (square.sqrt() + (own - mass).magnitude()) / own;
        (self.least((value / own).lo), distance.hi)
    }

    fn of_sum(&self, sum: f64, each: f64) -> Interval {
        Interval::of_sum(sum, self.entries.p.len(), each)
    }

    fn roundings(&self, each: f64) -> f64 {
        roundings(self.entries.p.len(), each)
    }
}
