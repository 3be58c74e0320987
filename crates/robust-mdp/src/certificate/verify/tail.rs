//! The states that a sparse row does not list, without visiting them: all states by falling w, with prefix sums
//! of w and w² in double-double.

use super::double::Double;

/// All states by falling w = λ(v − max v).
pub(crate) struct Ranking {
    order: Vec<u32>,
    pub(crate) level: Vec<f64>,
    /// Σw and Σw² of the first k states.
    pub(crate) prefix: Vec<[Double; 2]>,
    /// How many states there are above every step of a ladder from 0 down to the least w, and its steps a unit.
    ladder: (Vec<u32>, f64),
}

/// The most steps of a ladder, which has one for every few states.
const STEPS: usize = 1 << 12;

impl Ranking {
    pub(super) fn new(w: &[f64]) -> Ranking {
        let mut order: Vec<u32> = (0..w.len() as u32).collect();
        order.sort_by(|&a, &b| w[b as usize].total_cmp(&w[a as usize]));
        let level: Vec<f64> = order.iter().map(|&i| w[i as usize]).collect();
        let mut sums = [Double::default(); 2];
        let mut prefix = vec![sums];
        for &w in &level {
            let [one, two] = sums;
            sums = [one.plus(Double::sum(w, 0.0)), two.plus(Double::product(w, w))];
            prefix.push(sums);
        }
        let steps = (level.len() / 4).clamp(1, STEPS);
        let unit = steps as f64 / -level.last().copied().unwrap_or(0.0);
        let above = |k: usize| level.partition_point(|w| -w * unit < k as f64) as u32;
        let ladder = ((0..=steps).map(above).collect(), unit);
        Ranking { order, level, prefix, ladder }
    }

    /// How many of the largest w count, if w near b is where that ends.
    #[inline(always)]
    pub(crate) fn first(&self, b: f64, counts: impl Fn(&f64) -> bool) -> usize {
        let (level, (ladder, unit)) = (&self.level, &self.ladder);
        // NaN is 0, and whatever else is wrong leads to a search of all.
        let step = ((-b * unit) as usize).min(ladder.len() - 2);
        let (low, high) = (ladder[step] as usize, ladder[step + 1] as usize);
        let within =
            (low == 0 || counts(&level[low - 1])) && level.get(high).is_none_or(|w| !counts(w));
        let (low, high) = if within { (low, high) } else { (0, level.len()) };
        low + level[low..high].partition_point(counts)
    }

    /// The largest w of a state that is usable. Four at once: processors foresee that one of them is, but not which.
    pub(super) fn best(&self, usable: impl Fn(u32) -> bool) -> Option<f64> {
        self.order.chunks(4).zip(self.level.chunks(4)).find_map(|(four, w)| {
            let bits = four.iter().rev().fold(0_u32, |bits, &i| 2 * bits + u32::from(usable(i)));
            w.get(bits.trailing_zeros() as usize).copied()
        })
    }
}

/// The states that a row does not list.
#[derive(Clone, Copy)]
pub struct Unlisted<'a> {
    pub(crate) ranking: &'a Ranking,
    /// w of those that it does; −∞ where one is listed again.
    pub(crate) listed: &'a [f64],
    pub(crate) maximum: f64,
}
