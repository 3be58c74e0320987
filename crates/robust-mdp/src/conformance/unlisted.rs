//! Rows that do not list all states that they may use, as sparse rows with mass allowed everywhere do: what a
//! set says of them is what it says of the same rows listed in full.

use super::Violation;
use super::draw::{DrawnRow, OwnData, drawn_rows, normalise};
use crate::instances::Xoshiro256;
use crate::rows::{Outside, Ranking, Row};
use crate::sets::{Beyond, Curve, Priced};

/// What rounding may leave, of numbers of the order of one.
const ROUNDING: f64 = 1e-9;

pub(super) fn check(set: &dyn Curve) -> Result<(), Violation> {
    if !set.leaves_support() || !set.counts_outside() {
        return Ok(());
    }
    let mut random = Xoshiro256::new(5);
    for drawn in drawn_rows(set) {
        let Some(split) = Split::new(drawn, &mut random) else { continue };
        let of = UnlistedCheck { set, split: &split };
        of.face()?;
        of.points()?;
    }
    Ok(())
}

/// A row listed in full, of which the states from `listed` on have no nominal mass and are left out.
struct Split {
    full: DrawnRow,
    listed: usize,
    /// All states by falling level, w + `shift` of those that are left out.
    ranking: Ranking,
    levels: Vec<f64>,
    shift: f64,
}

impl Split {
    /// Leaves out some states; `None` if all have nominal mass.
    fn new(drawn: DrawnRow, random: &mut Xoshiro256) -> Option<Split> {
        let n = drawn.p.len();
        let left_out: Vec<bool> =
            drawn.p.iter().map(|p| *p == 0.0 && random.below(4) > 0).collect();
        let (mut order, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|&j| !left_out[j]);
        let listed = order.len();
        order.extend(rest);
        if listed == n {
            return None;
        }
        let range = drawn.row().range;
        // Perhaps costs of their own put the listed states higher.
        let below = [0.0, 0.0, 0.5, 3.0][random.below(4) as usize] * range;
        let mut w: Vec<f64> = order.iter().map(|&j| drawn.w[j]).collect();
        w[listed..].iter_mut().for_each(|w| *w -= below);
        let maximum = w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        w.iter_mut().for_each(|w| *w -= maximum);
        // Levels are at most 0, and those of listed states may be any.
        let top = w[listed..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = if random.below(2) == 0 { 0.0 } else { top };
        let levels: Vec<f64> = (0..n)
            .map(|j| match j >= listed || random.below(2) == 0 {
                true => w[j] + shift,
                false => -range * random.uniform(),
            })
            .collect();
        w[listed..].iter_mut().zip(&levels[listed..]).for_each(|(w, level)| *w = level - shift);
        let mut ranking = Ranking::new(n);
        ranking.sort(&levels);
        let p = order.iter().map(|&j| drawn.p[j]).collect();
        // Nothing is told of entries that are not listed.
        let full = DrawnRow { p, w, open: vec![true; n], own: OwnData::default() };
        Some(Split { full, listed, ranking, levels, shift })
    }

    fn whole(&self) -> Row<'_> {
        self.full.row()
    }

    fn sparse(&self) -> Row<'_> {
        let (whole, n) = (self.whole(), self.listed);
        let best = whole.w[n..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let outside =
            Outside { ranking: &self.ranking, listed: &self.levels[..n], shift: self.shift, best };
        Row { p: &whole.p[..n], w: &whole.w[..n], outside: Some(outside), ..whole }
    }

    /// What a row put on states that it does not list.
    fn spread(&self, beyond: Beyond, y: &mut [f64]) {
        let (row, n) = (self.whole(), self.listed);
        let best = row.w[n..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut first = true;
        for (y, w) in y[n..].iter_mut().zip(&row.w[n..]) {
            *y = match beyond {
                Beyond::Best(mass) if *w == best && first => {
                    first = false;
                    mass
                }
                Beyond::OnMaxima(each) if *w == row.maximum => each,
                Beyond::Affine { t, nu } => (t * w - nu).max(0.0),
                Beyond::Nothing | Beyond::Best(_) | Beyond::OnMaxima(_) => 0.0,
            };
        }
    }
}

struct UnlistedCheck<'a> {
    set: &'a dyn Curve,
    split: &'a Split,
}

impl UnlistedCheck<'_> {
    fn violation(&self, law: &'static str, about: String) -> Violation {
        let Split { full: DrawnRow { p, w, .. }, listed, .. } = self.split;
        Violation { law, place: format!("{about} on p = {p:?}, w = {w:?}, {listed} listed") }
    }

    fn face(&self) -> Result<(), Violation> {
        let [whole, sparse] = [self.split.whole(), self.split.sparse()].map(|r| self.set.face(r));
        let same = whole == sparse || (whole - sparse).abs() <= ROUNDING * (1.0 + whole);
        law!(self, "unlisted states count in the face", same, "{sparse:e}, not {whole:e}");
        if whole.is_finite() {
            let at = Priced { t: f64::INFINITY, price: whole, ..Priced::NOMINAL };
            self.written(at)?;
        }
        Ok(())
    }

    /// y(t) for many t, and the points of values between.
    fn points(&self) -> Result<(), Violation> {
        let (whole, sparse) = (self.split.whole(), self.split.sparse());
        let unit = if whole.range > 0.0 { 1.0 / whole.range } else { 1.0 };
        let mut before = None;
        for exponent in -3..=4 {
            let t = unit * 10f64.powi(exponent);
            let [one, two] = [whole, sparse].map(|row| self.set.at(row, t, None));
            let law = "unlisted states count in y(t)";
            let same = (one.value - two.value).abs() <= ROUNDING * whole.range
                && (one.price - two.price).abs() <= ROUNDING * (1e-3 + one.price);
            law!(self, law, same, "{two:?}, not {one:?}");
            self.written(two)?;
            for end in self.set.ends(sparse, t, before) {
                self.written(end)?;
            }
            before = Some(two);
        }
        if whole.range == 0.0 || whole.nominal() > -1e-6 * whole.range {
            return Ok(());
        }
        for share in [1e-3, 0.1, 0.5, 0.9, 0.999] {
            let (u, slack) = (whole.nominal() * (1.0 - share), 1e-12 * whole.range);
            for near in [None, before] {
                let [one, two] = [whole, sparse].map(|row| self.set.price(row, u, slack, near));
                // Each may miss u by the slack, which is worth t times that.
                let off = one.t.max(two.t) * 4.0 * slack + ROUNDING * (1e-3 + one.price);
                let law = "unlisted states count in prices";
                law!(self, law, (one.price - two.price).abs() <= off, "{two:?}, not {one:?}");
                self.written(two)?;
            }
        }
        Ok(())
    }

    /// The row of a point has its value and its price.
    fn written(&self, at: Priced) -> Result<(), Violation> {
        let mut y = vec![f64::NAN; self.split.full.p.len()];
        let n = self.split.listed;
        let beyond = self.set.kernel(self.split.sparse(), at, &mut y[..n]);
        self.split.spread(beyond, &mut y);
        let right = y.iter().all(|y| *y >= 0.0) && normalise(&mut y);
        law!(self, "a kernel is a distribution up to its mass", right, "{y:?} at {at:?}");
        let full = &self.split.full;
        let price = self.set.distance(&full.p, &y, full.own.get());
        let value = full.value(&y);
        let right = (value - at.value).abs() <= ROUNDING * self.split.whole().range
            && (price - at.price).abs() <= ROUNDING * (1e-3 + at.price);
        let law = "a kernel has mass on unlisted states";
        law!(self, law, right, "value {value:e}, price {price:e} at {at:?}, {beyond:?}, {y:?}");
        Ok(())
    }
}
