//! The laws of one row.

use super::draw::{Case, cases, mixed, normalise};
use super::{Report, Violation, holds};
use crate::instances::Xoshiro256;
use crate::sets::set::shrink;
use crate::sets::{Priced, Set};

/// Other rows that a row is compared with.
const OTHERS: usize = 40;
/// What rounding may leave, of numbers of the order of one.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(set: &dyn Set, report: &mut Report) -> Result<(), Violation> {
    holds("degree ≥ 1", set.degree() >= 1, || set.degree().to_string())?;
    holds("diameter > 0", set.diameter() > 0.0, || set.diameter().to_string())?;
    let mut random = Xoshiro256::new(2);
    for case in cases(set.leaves_support()) {
        let others: Vec<Vec<f64>> = (0..OTHERS).map(|_| case.distribution(&mut random)).collect();
        let of = Checked { set, case: &case, others: &others };
        of.distance(&mut random)?;
        of.vacuous()?;
        of.face()?;
        of.curve(report)?;
        report.rows += 1;
    }
    Ok(())
}

struct Checked<'a> {
    set: &'a dyn Set,
    case: &'a Case,
    others: &'a [Vec<f64>],
}

impl Checked<'_> {
    fn d(&self, y: &[f64]) -> f64 {
        self.set.distance(&self.case.p, y)
    }

    /// `law` holds of this row.
    fn holds(
        &self,
        law: &'static str,
        right: bool,
        about: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        holds(law, right, || format!("{} on p = {:?}, w = {:?}", about(), self.case.p, self.case.w))
    }

    fn distance(&self, random: &mut Xoshiro256) -> Result<(), Violation> {
        let p = &self.case.p;
        let here = self.d(p);
        self.holds("d(p, p) = 0", here.abs() <= 1e-15, || format!("{here:e}"))?;
        for pair in self.others.windows(2) {
            let (y, other) = (&pair[0], &pair[1]);
            let (spent, farther) = (self.d(y), self.d(other));
            self.holds("d ≥ 0", spent >= 0.0, || format!("{spent:e} at y = {y:?}"))?;
            let within = spent <= self.set.diameter() * (1.0 + ROUNDING);
            self.holds("d ≤ diameter", within, || format!("{spent:e} at y = {y:?}"))?;
            let share = random.uniform();
            let between = self.d(&mixed(y, other, share));
            let chord = (1.0 - share) * spent + share * farther;
            self.holds("d is convex", between <= chord + ROUNDING * (1.0 + chord), || {
                format!("{between:e} above {chord:e} at {share} from {y:?} to {other:?}")
            })?;
            let moved = self.d(&mixed(p, y, share));
            let part = share.powi(self.set.degree()) * spent;
            self.holds("degree", moved <= part + ROUNDING * (1e-6 + part), || {
                format!("{moved:e} above {part:e} at {share} of the way to {y:?}")
            })?;
            if spent.is_finite() {
                let budget = share * spent;
                let back = self.d(&mixed(p, y, shrink(self.set, spent, budget)));
                let within = back <= budget + ROUNDING * (1e-6 + budget);
                self.holds("back into the set by its degree", within, || {
                    format!("{back:e} of a budget {budget:e}, y = {y:?}")
                })?;
            }
        }
        Ok(())
    }

    /// The budget that allows everything is that of the farthest vertex.
    fn vacuous(&self) -> Result<(), Violation> {
        let Case { p, open, .. } = self.case;
        let unused = self.set.leaves_support() && p.contains(&0.0);
        let vertex =
            |i: usize| -> Vec<f64> { (0..p.len()).map(|j| f64::from(u8::from(j == i))).collect() };
        let places = (0..p.len()).filter(|&i| open[i]);
        let farthest = places.map(|i| self.d(&vertex(i))).fold(0.0, f64::max);
        let found = self.set.vacuous(p, unused);
        let same = found == farthest || (found - farthest).abs() <= ROUNDING * (1.0 + farthest);
        self.holds("vacuous = max d(e_i, p)", same, || format!("{found:e}, not {farthest:e}"))
    }

    /// The cheapest row of the largest value.
    fn face(&self) -> Result<(), Violation> {
        let row = self.case.row();
        let face = self.set.face(row);
        self.holds("face ≥ 0", face >= 0.0, || format!("{face:e}"))?;
        let on_face = |j: usize| self.case.open[j] && self.case.w[j] == row.maximum;
        for y in self.others {
            let mut y: Vec<f64> =
                (0..y.len()).map(|j| if on_face(j) { y[j] } else { 0.0 }).collect();
            if !normalise(&mut y) {
                continue;
            }
            let spent = self.d(&y);
            self.holds("face is cheapest", face <= spent + ROUNDING * (1.0 + spent), || {
                format!("{face:e} above {spent:e} at y = {y:?}")
            })?;
        }
        if face.is_finite() {
            let at = Priced { t: f64::INFINITY, nu: 0.0, value: 0.0, price: face };
            let y = self.written(at)?;
            self.agrees("the kernel at t = ∞", at, &y)?;
        }
        Ok(())
    }

    /// The row of a point, which must be a distribution on the open states.
    fn written(&self, at: Priced) -> Result<Vec<f64>, Violation> {
        let mut y = vec![f64::NAN; self.case.p.len()];
        self.set.kernel(self.case.row(), at, &mut y);
        let right =
            y.iter().zip(&self.case.open).all(|(y, open)| *y >= 0.0 && (*open || *y == 0.0));
        let written = y.clone();
        let right = right && normalise(&mut y);
        self.holds("a kernel is a distribution up to its mass", right, || {
            format!("{written:?} at {at:?}")
        })?;
        Ok(y)
    }

    /// Value and price of a point are those of its row.
    fn agrees(&self, law: &'static str, at: Priced, y: &[f64]) -> Result<(), Violation> {
        let (value, price) = (self.case.value(y), self.d(y));
        let size = self.case.row().range;
        let right = (value - at.value).abs() <= ROUNDING * size
            && (price - at.price).abs() <= ROUNDING * (1e-3 + at.price);
        self.holds(law, right, || format!("value {value:e}, price {price:e} at {at:?}"))
    }

    /// No row does better than y(t): neither others nor those next to it.
    fn is_best(&self, at: Priced, y: &[f64]) -> Result<(), Violation> {
        let best = at.t * at.value - at.price;
        let scale = 1e-3 + at.price + at.t * self.case.row().range;
        let compare = |other: &[f64]| {
            let found = at.t * self.case.value(other) - self.d(other);
            self.holds("y(t) attains ψ(t)", found <= best + ROUNDING * scale, || {
                format!("{found:e} above {best:e} at {other:?}, {at:?}")
            })
        };
        self.others.iter().try_for_each(|other| compare(other))?;
        compare(&self.case.p)?;
        for (i, j) in (0..y.len()).flat_map(|i| (0..y.len()).map(move |j| (i, j))) {
            for share in [0.5, 1e-2, 1e-4] {
                let mut other = y.to_vec();
                let step = share * y[i];
                if self.case.open[j] && i != j && step > 0.0 {
                    (other[i], other[j]) = (other[i] - step, other[j] + step);
                    compare(&other)?;
                }
            }
        }
        Ok(())
    }

    /// Both maximisers at t attain what y(t) does, and it lies between them.
    fn ends(&self, at: Priced) -> Result<(), Violation> {
        let row = self.case.row();
        let [low, high] = self.set.ends(row, at.t);
        let slack = ROUNDING * row.range;
        let between = low.value <= at.value + slack && at.value <= high.value + slack;
        self.holds("y(t) lies between the ends", between, || format!("{low:?}, {at:?}, {high:?}"))?;
        for end in [low, high] {
            let y = self.written(end)?;
            self.agrees("the kernel of an end", end, &y)?;
            let (found, best) = (at.t * end.value - end.price, at.t * at.value - at.price);
            let scale = 1e-3 + at.price + at.t * row.range;
            self.holds("ends attain ψ(t)", (found - best).abs() <= ROUNDING * scale, || {
                format!("{end:?}, {at:?}")
            })?;
        }
        Ok(())
    }

    /// The price curve: y(t) for many t, and the points of values between.
    fn curve(&self, report: &mut Report) -> Result<(), Violation> {
        let row = self.case.row();
        let unit = if row.range > 0.0 { 1.0 / row.range } else { 1.0 };
        let mut before: Option<Priced> = None;
        for exponent in -3..=4 {
            let t = unit * 10f64.powi(exponent);
            let at = self.set.at(row, t, None);
            self.holds("at(t) has multiplier t", at.t == t, || format!("{at:?}, t = {t:e}"))?;
            let y = self.written(at)?;
            self.agrees("the kernel at t", at, &y)?;
            self.is_best(at, &y)?;
            self.ends(at)?;
            if let Some(before) = before {
                let (value, price) = (ROUNDING * row.range, ROUNDING * (1e-3 + at.price));
                let rises = at.value >= before.value - value && at.price >= before.price - price;
                self.holds("values and prices rise", rises, || format!("{before:?}, {at:?}"))?;
                let again = self.set.at(row, t, Some(before));
                let same = (again.value - at.value).abs() <= value
                    && (again.price - at.price).abs() <= price;
                self.holds("a point near by changes nothing", same, || {
                    format!("{at:?}, {again:?}")
                })?;
            }
            before = Some(at);
            report.points += 1;
        }
        // Where it is dear, the curve ends steeply.
        let face = self.set.face(row);
        let steep = self.set.at(row, 1e9 * unit * face.clamp(1.0, 1e20), before);
        let near = face.is_infinite() || (steep.price - face).abs() <= 1e-5 * (1.0 + face);
        self.holds("prices end at the face", near, || format!("{steep:?}, face {face:e}"))?;
        if row.range > 0.0 {
            for share in [1e-3, 0.1, 0.5, 0.9, 0.999] {
                self.point(row.nominal() * (1.0 - share), before)?;
            }
        }
        Ok(())
    }

    /// The point of value u is on the curve: its line supports g.
    fn point(&self, u: f64, near: Option<Priced>) -> Result<(), Violation> {
        let row = self.case.row();
        // Of a row that is nearly on its maximum rounding leaves nothing.
        if row.nominal() > -1e-6 * row.range {
            return Ok(());
        }
        let slack = 1e-10 * row.range;
        for near in [None, near] {
            let at = self.set.price(row, u, slack, near);
            let reached = at.value >= u - slack - ROUNDING * row.range;
            self.holds("price(u) reaches u", reached, || format!("{at:?} for {u:e}"))?;
            self.holds("price(u) has t > 0", at.t > 0.0, || format!("{at:?} for {u:e}"))?;
            let y = self.written(at)?;
            self.agrees("the kernel of price(u)", at, &y)?;
            if at.t.is_finite() {
                self.is_best(at, &y)?;
            }
        }
        Ok(())
    }
}
