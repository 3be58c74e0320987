//! The values of a sweep: λ(v − max v), their order, and how far they may have fallen since.

use super::Ranking;
use crate::codec::{Codec, Snapshot};

/// What every state's update needs of the value vector, computed once a sweep.
#[derive(Clone, Debug)]
pub(crate) struct SweepValues {
    pub(crate) discount: f64,
    /// v.
    pub(crate) v: Vec<f64>,
    /// λ(v − max v) ≤ 0; empty where no row reads it.
    pub(crate) shared: Vec<f64>,
    /// λ·max v.
    pub(crate) offset: f64,
    /// λ(max v − min v).
    pub(crate) range: f64,
    /// Whether rows are made of λ(v − max v), to the bits of the verifier of certificates, which proves no
    /// more than that has digits; else of λv, of which other states cost a sparse row none.
    pub(crate) referred: bool,
    /// Whether states move one by one.
    pub(crate) in_place: bool,
    /// Any row's nominal value has fallen by at most −fall since the first sweep: a screening bound
    /// from an earlier sweep stays one after adding the difference of the falls.
    pub(crate) fall: f64,
    /// What to subtract from what is found now: `fall`, but without the falls of the sweep in
    /// progress when states move one by one.
    pub(crate) fall_before: f64,
    /// Sweeps so far, for caches of what depends on the values.
    pub(crate) stamp: u64,
    /// How narrow answers need be until the next values; 0: as narrow as rounding allows.
    pub(crate) tolerance: f64,
    /// States by falling value, where asked for; kept up while states move one by one only where
    /// rows have states outside.
    pub(crate) ranking: Option<Ranking>,
    outside: bool,
}

impl SweepValues {
    /// For rows that read `shared` if so, rank states if so, and have states outside if so.
    pub(crate) fn new(
        discount: f64,
        states: usize,
        shared: bool,
        ranked: bool,
        outside: bool,
    ) -> SweepValues {
        SweepValues {
            discount,
            v: vec![0.0; states],
            shared: vec![0.0; if shared || ranked || outside { states } else { 0 }],
            offset: 0.0,
            range: 0.0,
            referred: false,
            in_place: false,
            fall: 0.0,
            fall_before: 0.0,
            stamp: 0,
            tolerance: 0.0,
            ranking: (ranked || outside).then(|| Ranking::new(states)),
            outside,
        }
    }

    /// From now on rows are made as the verifier of certificates makes them.
    pub(crate) fn refer(&mut self) {
        self.referred = true;
        self.shared.resize(self.v.len(), 0.0);
    }

    /// Moves to the values of the next sweep.
    pub(crate) fn set(&mut self, values: &[f64]) {
        let (mut change, mut size, mut maximum) = (f64::INFINITY, 0.0_f64, f64::NEG_INFINITY);
        for (old, new) in self.v.iter().zip(values) {
            change = change.min(new - old);
            size = size.max(old.abs()).max(new.abs());
            maximum = maximum.max(*new);
        }
        if self.stamp > 0 {
            let rounding = 8.0 * f64::EPSILON * (size + self.fall.abs());
            self.fall += self.discount * change - rounding;
        }
        self.fall_before = self.fall;
        self.v.copy_from_slice(values);
        self.refer_to(maximum);
        self.tolerance = 0.0;
        self.stamp += 1;
    }

    /// Answers need be no narrower than this until the next values.
    pub(crate) fn allow(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// Begins a sweep in which states move one by one.
    pub(crate) fn begin_in_place(&mut self) {
        self.fall_before = self.fall;
        self.in_place = true;
    }

    /// Moves one state within such a sweep.
    pub(crate) fn set_one(&mut self, s: usize, value: f64) {
        let fall = value - self.v[s] - 8.0 * f64::EPSILON * value.abs();
        // A row may have been bounded before or after this change: a rise counts for nothing, and
        // the largest fall counts for all.
        let rounding = 4.0 * f64::EPSILON * self.fall_before.abs();
        self.fall = self.fall.min(self.fall_before + self.discount * fall - rounding);
        let before = std::mem::replace(&mut self.v[s], value);
        let old = self.discount * before - self.offset;
        let new = self.discount * value - self.offset;
        if let Some(shared) = self.shared.get_mut(s) {
            *shared = new;
        }
        self.stamp += 1;
        if new > 0.0 || old >= 0.0 || self.outside || self.range <= -old {
            let maximum = self.v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            self.refer_to(maximum);
        } else {
            self.range = self.range.max(-new);
        }
    }

    /// Screening bounds under the nominal values of rows with these expected costs, of which nothing
    /// else is known: c + Σ pλv ≥ c + λ·min v. `terms` bounds what the costs were computed from.
    ///
    /// Rows sum to one up to n/2 roundings for n ≤ S entries, which moves them by as much of
    /// λ·max|v| ≤ |offset| + range. That, `offset` and `range` themselves, and the few sums here round
    /// in proportion to the largest of the terms, with room to spare in 16.
    pub(crate) fn bound_by_costs(&self, cost: &[f64], terms: f64, screen: &mut [f64]) {
        let unit = f64::EPSILON * (16.0 + 0.5 * self.v.len() as f64);
        let size = self.offset.abs() + self.range + self.fall_before.abs() + terms;
        let least = self.offset - self.range - unit * size - self.fall_before;
        for (bound, c) in screen.iter_mut().zip(cost) {
            *bound = c + least - unit * c.abs();
        }
    }

    /// The level of the best state that is not among these, which are in order.
    pub(crate) fn best_outside(&self, listed: &[u32]) -> Option<f64> {
        let ranking = self.ranking.as_ref()?;
        let outside = |i: &u32| listed.binary_search(i).is_err();
        if listed.len() >= self.v.len() && (0..self.v.len() as u32).all(|i| !outside(&i)) {
            return None;
        }
        let rank = ranking.order.iter().position(outside)?;
        Some(ranking.level[rank])
    }

    fn refer_to(&mut self, maximum: f64) {
        self.offset = self.discount * maximum;
        let levels = self.v.iter().map(|v| self.discount * (v - maximum));
        self.range = -levels.clone().fold(0.0_f64, f64::min);
        self.shared.iter_mut().zip(levels).for_each(|(shared, level)| *shared = level);
        if let Some(ranking) = &mut self.ranking
            && (self.outside || !self.in_place)
        {
            ranking.sort(&self.shared);
        }
    }
}

impl Snapshot for SweepValues {
    /// What [`SweepValues::set`] reads of the last sweep, and its range: where another oracle sweeps,
    /// steps are measured by it.
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        codec.numbers(&mut self.v);
        codec.number(&mut self.range);
        codec.number(&mut self.fall);
        codec.flag(&mut self.in_place);
        codec.count(&mut self.stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranking::Double;
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

    /// Screening bounds lie below the values that they stand for, and not far below the least of these.
    #[test]
    fn screening_bounds_hold_before_a_row_is_read() {
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
            let mut sweep = SweepValues::new(discount, states, true, false, false);
            // Later sweeps have fallen; the bound is as good there.
            for moved in [0.0, 0.0, 3.0, -1.0] {
                let at: Vec<f64> = v.iter().map(|v| v + moved * centre).collect();
                sweep.set(&at);
                let mut bound = [f64::NEG_INFINITY];
                sweep.bound_by_costs(&[c], c.abs(), &mut bound);
                let exact = value(c, discount, &p, &at);
                let gap = exact.add(-bound[0]).add(-sweep.fall).value();
                let largest = at.iter().fold(c.abs(), |m, v| m.max(v.abs()));
                assert!(gap >= 0.0, "case {case}: {gap} at {largest}");
                let wide = sweep.range + 1e-12 * (largest + sweep.fall.abs());
                assert!(gap <= 1.001 * wide, "case {case}: {gap} above {wide}");
            }
        }
    }
}
