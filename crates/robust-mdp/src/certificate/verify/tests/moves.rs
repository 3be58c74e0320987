//! What the sets prove of single rows that have no formula: rows of the set, in numbers that have few digits, gain no
//! more than the dual bound, and what is proved of a row's value and price is no better than that.

use super::super::proof::ProofRow;
use super::wide::Wide;
use crate::instances::Xoshiro256;
use crate::model::Bounds;
use crate::rows::Row;
use crate::sets::set::{Curve, Priced, Set};
use crate::sets::{Distance, EntryData};

/// Probabilities are multiples of this, so that they sum to one exactly.
const GRAIN: f64 = 1.0 / (1_u64 << 30) as f64;
/// Rows are multiples of this.
const FINE: f64 = 1.0 / (1_u64 << 50) as f64;

/// A row, its weights and its intervals.
struct Case {
    p: Vec<f64>,
    w: Vec<f64>,
    weights: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    depth: f64,
}

impl Case {
    fn draw(random: &mut Xoshiro256, k: usize) -> Case {
        let n = [2, 3, 5, 9, 30][k % 5];
        let floor = |x: f64| (x / GRAIN).floor() * GRAIN;
        let mut p: Vec<f64> =
            (0..n).map(|_| floor(random.uniform() / n as f64) + 64.0 * GRAIN).collect();
        p[0] += 1.0 - p.iter().sum::<f64>();
        let spread = 10f64.powf(12.0 * random.uniform() - 6.0);
        // Some lie far below the others, some are tied.
        let w: Vec<f64> = (0..n)
            .map(|j| match (j + k) % 4 {
                0 => -spread * 1e6 * random.uniform(),
                1 => -spread * random.below(3) as f64,
                _ => -spread * random.uniform(),
            })
            .collect();
        let weights = (0..n).map(|_| 10f64.powf(2.0 * random.uniform() - 1.0)).collect();
        let mut share = || [0.0, 1.0, random.uniform()][random.below(3) as usize];
        let lower = p.iter().map(|p| p - floor(share() * p)).collect();
        let upper = p.iter().map(|p| p + floor(share() * (1.0 - p))).collect();
        let depth = w.iter().fold(0.0, |m: f64, w| m.max(-w)) + top(&w);
        Case { p, w, weights, lower, upper, depth }
    }

    fn data(&self, set: &dyn Set) -> EntryData<'_> {
        use crate::sets::Needs;
        let bounds = Bounds { lower: &self.lower, upper: &self.upper };
        match set.needs() {
            Needs::Weights => EntryData { weights: Some(&self.weights), ..EntryData::default() },
            Needs::Intervals => EntryData { bounds: Some(bounds), ..EntryData::default() },
            Needs::Nothing | Needs::Ground | Needs::Scenarios => EntryData::default(),
        }
    }

    fn row(&self, set: &dyn Set) -> Row<'_> {
        let (maximum, range, data) = (top(&self.w), self.depth, self.data(set));
        Row { p: &self.p, w: &self.w, maximum, range, outside: None, order: None, data }
    }

    /// The row of a point in numbers of few digits, of mass one and within the intervals if the set has them.
    fn near(&self, set: &dyn Curve, at: Priced) -> Option<Vec<f64>> {
        let mut y = vec![0.0; self.p.len()];
        set.kernel(self.row(set), at, &mut y);
        let within = set.needs() == crate::sets::Needs::Intervals;
        let ends = |j: usize| if within { [self.lower[j], self.upper[j]] } else { [0.0, 1.0] };
        for (j, y) in y.iter_mut().enumerate() {
            let [low, high] = ends(j);
            *y = ((*y / FINE).round() * FINE).clamp(low, high);
        }
        for j in 0..y.len() {
            let [low, high] = ends(j);
            let missing = 1.0 - y.iter().sum::<f64>();
            y[j] = (y[j] + missing).clamp(low, high);
        }
        (y.iter().sum::<f64>() == 1.0).then_some(y)
    }
}

fn top(w: &[f64]) -> f64 {
    w.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// d(y, p), all digits of it that count.
fn price(distance: Distance, case: &Case, y: &[f64]) -> Wide {
    let each = |j: usize| Wide::from(y[j]).plus(&Wide::from(-case.p[j]));
    let entries = 0..y.len();
    let sum = |of: &dyn Fn(usize) -> Wide| {
        entries.clone().fold(Wide::from(0.0), |sum, j| sum.plus(&of(j)))
    };
    let most = |of: &dyn Fn(usize) -> Wide| {
        let larger = |a: Wide, b: Wide| if a.plus(&b.times(-1.0)).value() > 0.0 { a } else { b };
        entries.clone().map(of).reduce(larger).expect("an entry")
    };
    match distance {
        Distance::EllipsoidWithin => sum(&|j| each(j).by(&each(j)).times(0.5)),
        Distance::Chi2Within => sum(&|j| each(j).by(&each(j)).over(case.p[j])),
        Distance::Linf => most(&|j| {
            each(j).times(if y[j] < case.p[j] { -case.weights[j] } else { case.weights[j] })
        }),
        Distance::Cvar => most(&|j| each(j).over(case.p[j])),
        _ => unreachable!("no set of this test"),
    }
}

#[test]
fn no_row_gains_more_than_the_dual_bound() {
    let sets = [Distance::Linf, Distance::Cvar, Distance::EllipsoidWithin, Distance::Chi2Within];
    let mut random = Xoshiro256::new(31);
    let mut close = [0; 4];
    for (k, &distance) in (0..6000).zip(sets.iter().cycle()) {
        let set = distance.set().and_then(|set| set.curve()).expect("a set with a curve");
        let proof = set.proof().expect("a proof");
        let case = Case::draw(&mut random, k / 4);
        let (row, maximum) = (case.row(set), top(&case.w));
        let nominal = row.nominal();
        let room = set.peak(row) - nominal;
        if room <= 1e-9 * case.depth {
            continue;
        }
        // A point of the curve, or of one like it.
        let u = nominal + room * random.uniform();
        let mut at = set.price(row, u, 0.0, None);
        if !(at.t > 0.0 && at.t.is_finite()) {
            continue;
        }
        if k % 3 == 0 {
            at = set.at(row, at.t * 10f64.powf(12.0 * random.uniform() - 2.0), None);
        }
        let (t, nu) =
            (at.t, if k % 7 == 0 { at.nu * (1.0 + 1e-9 * random.uniform()) } else { at.nu });
        let seen = ProofRow {
            p: &case.p,
            w: &case.w,
            maximum,
            depth: case.depth,
            unlisted: None,
            data: case.data(set),
        };
        let found = proof.read(&seen, t, nu);
        let Some(y) = case.near(set, at) else { continue };
        let value = case
            .w
            .iter()
            .zip(&y)
            .fold(Wide::from(0.0), |sum, (w, y)| sum.plus(&Wide::from(w - maximum).times(*y)));
        let gain = value.times(t).plus(&price(distance, &case, &y).times(-1.0));
        let over = Wide::from(found.dual).plus(&gain.times(-1.0)).value();
        assert!(over >= 0.0, "{k} {distance:?}: {over:e}, {t:e}, {nu:e}");
        // Rows in few digits, and roundings, cost this much at most.
        let fine = 2e-14 * case.p.len() as f64 * (t * case.depth + gain.value().abs());
        close[k % 4] += usize::from(over <= fine);
        // A row of the value proved is as dear as any that the dual bound knows.
        let least = Wide::from(found.value.lo()).times(t).plus(&Wide::from(-found.dual)).value();
        assert!(
            found.spent.is_nan() || found.spent >= least,
            "{k} {distance:?}: {found:?}, {least:e}"
        );
    }
    assert!(close.iter().all(|close| *close > 1000), "{close:?}");
}
