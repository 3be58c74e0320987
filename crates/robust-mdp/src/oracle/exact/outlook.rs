//! What every state's update needs of the value vector, computed once a sweep.

use super::pilot::Pilot;
use super::rows::Reading;
use super::table::{self, Grid};
use super::typical::Typical;
use crate::checkpoint::{Snapshot, Tape};

/// The values of a sweep: λ(v − max v), their order and how far they may have fallen since.
#[derive(Clone, Debug)]
pub(crate) struct Outlook {
    pub(crate) discount: f64,
    pub(crate) values: Vec<f64>,
    /// λ(v − max v): the objective that all rows share, at most 0; left out where rows are gathered
    /// from `values`.
    pub(crate) shared: Vec<f64>,
    /// λ·max v.
    pub(crate) offset: f64,
    /// −min of `shared`.
    pub(crate) range: f64,
    /// Whether states move one by one.
    pub(crate) in_place: bool,
    /// Σ `shared` and Σ `shared`².
    pub(crate) sums: [f64; 2],
    /// Any row's nominal value has fallen by at most −drift since the first sweep: what is known of
    /// it from an earlier sweep stays a lower bound after adding the difference of the drifts.
    pub(crate) drift: f64,
    /// The drift to subtract from what is found now: `drift`, but without the falls of the sweep in
    /// progress when states move one by one.
    pub(crate) anchor: f64,
    /// How far moments of rows serve, see [`table`].
    pub(super) reach: f64,
    /// Sweeps so far, for caches of what depends on the values.
    pub(crate) stamp: u64,
    /// States by falling value, where asked for; kept up while states move one by one only where
    /// rows have tails.
    pub(crate) ranking: Option<Ranking>,
    /// Where rows may begin in this sweep.
    pub(crate) pilot: Option<Pilot>,
    /// What [`Pilot::Typical`] refers to.
    pub(super) typical: Typical,
    tails: bool,
}

/// States by falling value (ties by number), with prefix sums.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    pub(crate) order: Vec<u32>,
    /// `shared` in that order.
    pub(crate) level: Vec<f64>,
    /// Sums of the first k levels and of their squares.
    prefix: Vec<[Double; 2]>,
}

/// A number in two parts: sums about another centre lose no digits to cancellation.
#[derive(Clone, Copy, Debug, Default)]
struct Double {
    high: f64,
    low: f64,
}

impl Double {
    fn add(self, x: f64) -> Double {
        let high = self.high + x;
        let part = high - self.high;
        let low = self.low + ((self.high - (high - part)) + (x - part));
        Double { high, low }
    }

    /// self + a·b.
    fn add_product(self, a: f64, b: f64) -> Double {
        let product = a * b;
        self.add(product).add(a.mul_add(b, -product))
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Ranking {
    fn new(states: usize) -> Ranking {
        Ranking {
            order: (0..states as u32).collect(),
            level: vec![0.0; states],
            prefix: vec![[Double::default(); 2]; states + 1],
        }
    }

    fn sort(&mut self, shared: &[f64]) {
        // The last order is nearly right: the sort is adaptive.
        self.order.sort_by(|&a, &b| {
            let (x, y) = (shared[a as usize], shared[b as usize]);
            y.total_cmp(&x).then(a.cmp(&b))
        });
        let mut sums = [Double::default(); 2];
        for (j, &i) in self.order.iter().enumerate() {
            let w = shared[i as usize];
            self.level[j] = w;
            sums = [sums[0].add(w), sums[1].add_product(w, w)];
            self.prefix[j + 1] = sums;
        }
    }

    /// The largest level where `weight` is positive, the weight there and the entries seen.
    pub(crate) fn top(&self, weight: &[f64]) -> (f64, f64, usize) {
        let found = self.order.iter().position(|&i| weight[i as usize] > 0.0);
        let start = found.unwrap_or(0);
        let top = self.level[start];
        let mut mass = 0.0;
        for (seen, &i) in self.order.iter().enumerate().skip(start) {
            if self.level[seen] < top {
                return (top, mass, seen + 1);
            }
            mass += weight[i as usize];
        }
        (top, mass, self.order.len())
    }

    /// Σ(w − c) and Σ(w − c)² of the first `count` levels.
    pub(crate) fn sums_about(&self, count: usize, c: f64) -> [f64; 2] {
        let [sum, square] = self.prefix[count];
        let n = count as f64;
        let about = sum.add_product(-n, c);
        // Σ(w − c)² = Σw² − c·(Σw + Σ(w − c)).
        let both = about.add(sum.high).add(sum.low);
        let square = square.add_product(-c, both.high).add_product(-c, both.low);
        [about.value(), square.value()]
    }
}

impl Outlook {
    pub(crate) fn new(discount: f64, states: usize, reading: Reading, ranked: bool) -> Outlook {
        let shared = if reading == Reading::Gathered { 0 } else { states };
        Outlook {
            discount,
            values: vec![0.0; states],
            shared: vec![0.0; shared],
            offset: 0.0,
            range: 0.0,
            in_place: false,
            sums: [0.0; 2],
            drift: 0.0,
            anchor: 0.0,
            reach: table::REACH,
            stamp: 0,
            ranking: ranked.then(|| Ranking::new(states)),
            pilot: None,
            typical: Typical::default(),
            tails: reading == Reading::WithTail,
        }
    }

    /// Moves to the values of the next sweep.
    pub(crate) fn set(&mut self, values: &[f64]) {
        let (mut fall, mut size, mut top) = (f64::INFINITY, 0.0_f64, f64::NEG_INFINITY);
        for (old, new) in self.values.iter().zip(values) {
            fall = fall.min(new - old);
            size = size.max(old.abs()).max(new.abs());
            top = top.max(*new);
        }
        if self.stamp > 0 {
            let rounding = 8.0 * f64::EPSILON * (size + self.drift.abs());
            self.drift += self.discount * fall - rounding;
        }
        self.anchor = self.drift;
        self.pilot = None;
        self.values.copy_from_slice(values);
        self.refer_to(top);
        self.reach = table::REACH;
        self.stamp += 1;
    }

    /// Makes the typical row of these values.
    pub(super) fn fit_typical(&mut self, square: f64) {
        self.typical.fit(&self.shared, square);
    }

    /// Answers need be no narrower than this until the next values.
    pub(crate) fn allow(&mut self, tolerance: f64) {
        self.reach = table::reach(tolerance, self.range);
    }

    /// What tables of exponentials are made for.
    pub(super) fn grid(&self) -> Grid<'_> {
        Grid { w: &self.shared, range: self.range, reach: self.reach, stamp: self.stamp }
    }

    /// Begins a sweep in which states move one by one.
    pub(crate) fn begin_in_place(&mut self) {
        self.anchor = self.drift;
        self.in_place = true;
    }

    /// Moves one state within such a sweep.
    pub(crate) fn set_one(&mut self, s: usize, value: f64) {
        let fall = value - self.values[s] - 8.0 * f64::EPSILON * value.abs();
        // A row may have been bounded before or after this change: a rise counts for nothing, and
        // the largest fall counts for all.
        let rounding = 4.0 * f64::EPSILON * self.anchor.abs();
        self.drift = self.drift.min(self.anchor + self.discount * fall - rounding);
        let before = std::mem::replace(&mut self.values[s], value);
        let gathered = self.shared.is_empty();
        let old = if gathered { self.discount * before - self.offset } else { self.shared[s] };
        let new = self.discount * value - self.offset;
        if !gathered {
            self.shared[s] = new;
        }
        self.sums[0] += new - old;
        self.sums[1] += new * new - old * old;
        self.stamp += 1;
        if new > 0.0 || old >= 0.0 || self.tails || self.range <= -old {
            let top = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            self.refer_to(top);
        } else {
            self.range = self.range.max(-new);
        }
    }

    /// Floors, as rows remember them, under the nominal values of rows with these costs that have not
    /// been read: c + Σ y⁰λv ≥ c + λ·min v where costs do not depend on the next state.
    ///
    /// Rows sum to one up to n/2 roundings for n ≤ S entries, which moves them by as much of
    /// λ·max|v| ≤ |offset| + range. That, `offset` and `range` themselves, and the few sums here round
    /// in proportion to the largest of the terms, with room to spare in 16.
    pub(super) fn foresee(&self, cost: &[f64], floor: &mut [f64]) {
        let unit = f64::EPSILON * (16.0 + 0.5 * self.values.len() as f64);
        let size = self.offset.abs() + self.range + self.anchor.abs();
        let least = self.offset - self.range - unit * size - self.anchor;
        for (floor, c) in floor.iter_mut().zip(cost) {
            *floor = c + least - unit * c.abs();
        }
    }

    fn refer_to(&mut self, top: f64) {
        self.offset = self.discount * top;
        let (mut sum, mut square, mut least) = (0.0, 0.0, 0.0_f64);
        let levels = self.values.iter().map(|v| self.discount * (v - top));
        for b in levels.clone() {
            sum += b;
            square += b * b;
            least = least.min(b);
        }
        self.shared.iter_mut().zip(levels).for_each(|(shared, b)| *shared = b);
        (self.sums, self.range) = ([sum, square], -least);
        if let Some(ranking) = &mut self.ranking
            && (self.tails || !self.in_place)
        {
            ranking.sort(&self.shared);
        }
    }
}

impl Snapshot for Outlook {
    /// What [`Outlook::set`] reads of the last sweep, and its range: where another oracle sweeps,
    /// steps are measured by it.
    fn pass(&mut self, tape: &mut Tape<'_>) {
        tape.numbers(&mut self.values);
        tape.number(&mut self.range);
        tape.number(&mut self.drift);
        tape.flag(&mut self.in_place);
        tape.count(&mut self.stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::Xoshiro256;
    use crate::model::distribution::normalise;

    /// c + λ·Σ p·v, to about twice the digits.
    fn value(c: f64, discount: f64, p: &[f64], v: &[f64]) -> Double {
        p.iter().zip(v).fold(Double::default().add(c), |sum, (&p, &v)| {
            let product = discount * v;
            sum.add_product(p, product).add_product(p, discount.mul_add(v, -product))
        })
    }

    /// Floors lie below the values that they stand for, and not far below the least of these.
    #[test]
    fn floors_hold_before_a_row_is_read() {
        let mut random = Xoshiro256::new(7);
        for case in 0..4000 {
            let states = [1, 2, 7, 40, 300][case % 5];
            let discount = [0.0, 0.5, 0.95, 0.9999][case / 5 % 4];
            let mut size = || [1e-8, 1.0, 1e8, 1e100][(4.0 * random.uniform()) as usize];
            let (centre, spread, cost) = (size(), size(), size());
            let mut signed = || 2.0 * random.uniform() - 1.0;
            let centre = centre * signed();
            let spread = if case % 7 == 0 { 0.0 } else { spread };
            let v: Vec<f64> = (0..states).map(|_| centre + spread * signed()).collect();
            let c = cost * signed();
            let mut p: Vec<f64> = (0..states).map(|_| signed().abs()).collect();
            if case % 3 == 0 {
                // The row that has no more than this: all on the least value.
                let least = (0..states).min_by(|&i, &j| v[i].total_cmp(&v[j])).unwrap_or(0);
                p.iter_mut().enumerate().for_each(|(i, p)| *p = f64::from(i == least));
            }
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            normalise(&mut p).expect("nearly one");
            let mut ahead = Outlook::new(discount, states, Reading::Shared, false);
            // Later sweeps have an anchor; the floor is as good there.
            for moved in [0.0, 0.0, 3.0, -1.0] {
                let at: Vec<f64> = v.iter().map(|v| v + moved * centre).collect();
                ahead.set(&at);
                let mut floor = [f64::NEG_INFINITY];
                ahead.foresee(&[c], &mut floor);
                let exact = value(c, discount, &p, &at);
                let gap = exact.add(-floor[0]).add(-ahead.drift).value();
                let largest = at.iter().fold(c.abs(), |m, v| m.max(v.abs()));
                assert!(gap >= 0.0, "case {case}: {gap} at {largest}");
                let wide = ahead.range + 1e-12 * (largest + ahead.drift.abs());
                assert!(gap <= 1.001 * wide, "case {case}: {gap} above {wide}");
            }
        }
    }
}
