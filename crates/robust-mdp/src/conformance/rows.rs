//! The laws of one row.

use super::draw::{DrawnRow, drawn_rows, mixed, normalise};
use super::{Report, Violation};
use crate::instances::Xoshiro256;
use crate::sets::set::shrink;
use crate::sets::{Curve, Priced, Row};

/// Other rows that a row is compared with.
const OTHERS: usize = 40;
/// What rounding may leave, of numbers of the order of one.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(set: &dyn Curve, report: &mut Report) -> Result<(), Violation> {
    let mut random = Xoshiro256::new(2);
    for drawn in drawn_rows(set) {
        let others: Vec<Vec<f64>> = (0..OTHERS).map(|_| drawn.distribution(&mut random)).collect();
        let of = RowCheck { set, row: drawn.row(), drawn: &drawn, others: &others };
        of.distance(&mut random)?;
        of.vacuous()?;
        of.face()?;
        of.curve(report)?;
        report.rows += 1;
    }
    Ok(())
}

struct RowCheck<'a> {
    set: &'a dyn Curve,
    row: Row<'a>,
    drawn: &'a DrawnRow,
    others: &'a [Vec<f64>],
}

impl RowCheck<'_> {
    fn d(&self, y: &[f64]) -> f64 {
        self.set.distance(self.row.p, y, self.row.data)
    }

    /// What rounding of y leaves of d, where that is steep.
    fn narrow(&self) -> f64 {
        ROUNDING * 1e-6 * self.drawn.own.steepness(self.row.p)
    }

    fn violation(&self, law: &'static str, about: String) -> Violation {
        Violation { law, place: format!("{about} on p = {:?}, w = {:?}", self.row.p, self.row.w) }
    }

    fn distance(&self, random: &mut Xoshiro256) -> Result<(), Violation> {
        let (p, degree, diameter) = (self.row.p, self.set.degree(), self.set.diameter());
        law!(self, "degree ≥ 1", degree >= 1, "{degree}");
        law!(self, "diameter > 0", diameter > 0.0, "{diameter}");
        let here = self.d(p);
        let narrow = self.narrow();
        law!(self, "d(p, p) = 0", here.abs() <= 1e-15, "{here:e}");
        for pair in self.others.windows(2) {
            let (y, other, share) = (&pair[0], &pair[1], random.uniform());
            let (spent, farther) = (self.d(y), self.d(other));
            law!(self, "d ≥ 0", spent >= 0.0, "{spent:e} at y = {y:?}");
            let within = spent <= diameter * (1.0 + ROUNDING) || self.row.data.weights.is_some();
            law!(self, "d ≤ diameter", within, "{spent:e} at y = {y:?}");
            let between = self.d(&mixed(y, other, share));
            let chord = (1.0 - share) * spent + share * farther;
            let below = between <= chord + ROUNDING * (1.0 + chord) + narrow;
            let place = || format!("at {share} from {y:?} to {other:?}");
            law!(self, "d is convex", below, "{between:e} above {chord:e} {}", place());
            let moved = self.d(&mixed(p, y, share));
            let part = share.powi(degree) * spent;
            let right = moved <= part + ROUNDING * (1e-6 + part) + narrow;
            law!(self, "degree", right, "{moved:e} above {part:e} at {share} of the way to {y:?}");
            if spent.is_finite() {
                let (budget, law) = (share * spent, "back into the set by its degree");
                let back = self.d(&mixed(p, y, shrink(self.set, spent, budget)));
                let within = back <= budget + ROUNDING * (1e-6 + budget) + narrow;
                law!(self, law, within, "{back:e} of a budget {budget:e}, y = {y:?}");
            }
        }
        Ok(())
    }

    /// The budget that allows everything is that of the farthest vertex.
    fn vacuous(&self) -> Result<(), Violation> {
        let p = self.row.p;
        let vertex = |i: usize| {
            let y = (0..p.len()).map(|j| f64::from(u8::from(j == i)));
            self.d(&y.collect::<Vec<_>>())
        };
        let places = (0..p.len()).filter(|&i| self.drawn.open[i]);
        let farthest = places.map(vertex).fold(0.0, f64::max);
        let unused = self.set.leaves_support() && p.contains(&0.0);
        let found = self.set.vacuous(p, unused, self.row.data);
        if self.set.needs().open_entries() {
            let finite = self.others.iter().map(|y| self.d(y)).filter(|d| d.is_finite());
            let most = finite.fold(0.0, f64::max);
            let above = found >= most - ROUNDING * (1.0 + most);
            law!(self, "vacuous ≥ d", above, "{found:e}, not {most:e}");
            return Ok(());
        }
        let same = found == farthest || (found - farthest).abs() <= ROUNDING * (1.0 + farthest);
        law!(self, "vacuous = max d(e_i, p)", same, "{found:e}, not {farthest:e}");
        Ok(())
    }

    /// The cheapest row of the largest value.
    fn face(&self) -> Result<(), Violation> {
        let face = self.set.face(self.row);
        law!(self, "face ≥ 0", face >= 0.0, "{face:e}");
        let peak = self.set.peak(self.row);
        let slack = ROUNDING * self.row.range;
        let bounded = self.set.needs().open_entries();
        law!(self, "peak ≤ 0", peak <= 0.0 && (bounded || peak == 0.0), "{peak:e}");
        for y in self.others.iter().filter(|y| self.d(y).is_finite()) {
            let (value, law) = (self.drawn.value(y), "no row is worth more than the peak");
            law!(self, law, value <= peak + slack, "{value:e} above {peak:e} at y = {y:?}");
        }
        let on_face = |j: usize| self.drawn.open[j] && self.row.w[j] == self.row.maximum;
        for y in self.others.iter().filter(|_| peak == 0.0) {
            let y = y.iter().enumerate().map(|(j, y)| if on_face(j) { *y } else { 0.0 });
            let mut y: Vec<f64> = y.collect();
            if normalise(&mut y) {
                let spent = self.d(&y);
                let cheapest = face <= spent + ROUNDING * (1.0 + spent);
                law!(self, "face is cheapest", cheapest, "{face:e} above {spent:e} at y = {y:?}");
            }
        }
        if face.is_finite() {
            let at = Priced { t: f64::INFINITY, value: peak, price: face, ..Priced::NOMINAL };
            self.written("the kernel at t = ∞", at)?;
        }
        Ok(())
    }

    /// The row of a point: a distribution on the open states that has its value and price.
    fn written(&self, law: &'static str, at: Priced) -> Result<Vec<f64>, Violation> {
        let mut written = vec![f64::NAN; self.row.p.len()];
        self.set.kernel(self.row, at, &mut written);
        let mut y = written.clone();
        let pairs = || y.iter().zip(&self.drawn.open);
        let right = pairs().all(|(y, open)| *y >= 0.0 && (*open || *y == 0.0));
        let right = right && normalise(&mut y);
        let is_one = "a kernel is a distribution up to its mass";
        law!(self, is_one, right, "{written:?} at {at:?}");
        let (value, price) = (self.drawn.value(&y), self.d(&y));
        let right = (value - at.value).abs() <= ROUNDING * self.row.range
            && (price - at.price).abs() <= ROUNDING * (1e-3 + at.price) + self.narrow();
        law!(self, law, right, "value {value:e}, price {price:e} at {at:?}");
        Ok(y)
    }

    /// No row does better than y(t): neither others nor those next to it.
    fn is_best(&self, at: Priced, y: &[f64]) -> Result<(), Violation> {
        let best = at.t * at.value - at.price;
        let scale = 1e-3 + at.price + at.t * self.row.range + self.narrow() / ROUNDING;
        let compare = |other: &[f64]| {
            let found = at.t * self.drawn.value(other) - self.d(other);
            let (right, law) = (found <= best + ROUNDING * scale, "y(t) attains ψ(t)");
            law!(self, law, right, "{found:e} above {best:e} at {other:?}, {at:?}");
            Ok(())
        };
        self.others.iter().try_for_each(|other| compare(other))?;
        compare(self.row.p)?;
        for (i, j) in (0..y.len()).flat_map(|i| (0..y.len()).map(move |j| (i, j))) {
            for step in [0.5, 1e-2, 1e-4].map(|share| share * y[i]) {
                if self.drawn.open[j] && i != j && step > 0.0 {
                    let mut other = y.to_vec();
                    (other[i], other[j]) = (other[i] - step, other[j] + step);
                    compare(&other)?;
                }
            }
        }
        Ok(())
    }

    /// Both maximisers at t attain what y(t) does, and it lies between them.
    fn ends(&self, at: Priced) -> Result<(), Violation> {
        let [low, high] = self.set.ends(self.row, at.t, None);
        let slack = ROUNDING * self.row.range;
        let between = low.value <= at.value + slack && at.value <= high.value + slack;
        law!(self, "y(t) lies between the ends", between, "{low:?}, {at:?}, {high:?}");
        for end in [low, high] {
            self.written("the kernel of an end", end)?;
            let (found, best) = (at.t * end.value - end.price, at.t * at.value - at.price);
            let scale = 1e-3 + at.price + at.t * self.row.range;
            let same = (found - best).abs() <= ROUNDING * scale;
            law!(self, "ends attain ψ(t)", same, "{end:?}, {at:?}");
        }
        Ok(())
    }

    /// The price curve: y(t) for many t, and the points of values between.
    fn curve(&self, report: &mut Report) -> Result<(), Violation> {
        let RowCheck { set, row, .. } = *self;
        let unit = if row.range > 0.0 { 1.0 / row.range } else { 1.0 };
        let mut before: Option<Priced> = None;
        for exponent in -3..=4 {
            let t = unit * 10f64.powi(exponent);
            let at = set.at(row, t, None);
            law!(self, "at(t) has multiplier t", at.t == t, "{at:?}, t = {t:e}");
            let y = self.written("the kernel at t", at)?;
            self.is_best(at, &y)?;
            self.ends(at)?;
            if let Some(before) = before {
                let (value, price) = (ROUNDING * row.range, ROUNDING * (1e-3 + at.price));
                let rises = at.value >= before.value - value && at.price >= before.price - price;
                law!(self, "values and prices rise", rises, "{before:?}, {at:?}");
                let again = set.at(row, t, Some(before));
                let same = (again.value - at.value).abs() <= value
                    && (again.price - at.price).abs() <= price;
                law!(self, "a point near by changes nothing", same, "{at:?}, {again:?}");
            }
            before = Some(at);
            report.points += 1;
        }
        // Where it is dear the curve ends steeply, and so it may where a price moves little mass.
        let face = set.face(row);
        let way = set.peak(row) - row.nominal();
        let unit = if way > 0.0 { unit.max(1.0 / way) } else { unit };
        let steep = |dear: f64| set.at(row, 1e9 * unit * dear.clamp(1.0, 1e20), before);
        let is_near = |at: Priced| (at.price - face).abs() <= 1e-5 * (1.0 + face);
        let (first, steepest) = (steep(face), face.max(self.drawn.own.steepness(row.p)));
        let near = face.is_infinite() || is_near(first) || is_near(steep(steepest));
        law!(self, "prices end at the face", near, "{first:?}, face {face:e}");
        // Of a row that is nearly on its maximum rounding leaves nothing.
        let (nominal, peak) = (row.nominal(), set.peak(row));
        if row.range > 0.0 && nominal - peak <= -1e-6 * row.range {
            for share in [1e-3, 0.1, 0.5, 0.9, 0.999] {
                let u = nominal + share * (peak - nominal);
                self.point(u, None)?;
                self.point(u, before)?;
            }
        }
        Ok(())
    }

    /// The point of value u is on the curve: its line supports g.
    fn point(&self, u: f64, near: Option<Priced>) -> Result<(), Violation> {
        let slack = 1e-10 * self.row.range;
        let at = self.set.price(self.row, u, slack, near);
        let reached = at.value >= u - slack - ROUNDING * self.row.range;
        law!(self, "price(u) reaches u", reached, "{at:?} for {u:e}");
        law!(self, "price(u) has t > 0", at.t > 0.0, "{at:?} for {u:e}");
        let y = self.written("the kernel of price(u)", at)?;
        if at.t.is_finite() { self.is_best(at, &y) } else { Ok(()) }
    }
}
