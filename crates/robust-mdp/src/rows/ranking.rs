//! The states by falling value, with prefix sums: what rows need of the states that they do not list.

/// States by falling value (ties by number), with prefix sums of the levels λ(v − max v).
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    pub(crate) order: Vec<u32>,
    /// λ(v − max v) in that order.
    pub(crate) level: Vec<f64>,
    /// Sums of the first k levels and of their squares.
    prefix: Vec<[Double; 2]>,
}

/// A number in two parts: sums about another centre lose no digits to cancellation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Double {
    high: f64,
    low: f64,
}

impl Double {
    pub(crate) fn add(self, x: f64) -> Double {
        let high = self.high + x;
        let part = high - self.high;
        let low = self.low + ((self.high - (high - part)) + (x - part));
        Double { high, low }
    }

    /// self + a·b.
    pub(crate) fn add_product(self, a: f64, b: f64) -> Double {
        let product = a * b;
        self.add(product).add(a.mul_add(b, -product))
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

impl Ranking {
    pub(crate) fn new(states: usize) -> Ranking {
        Ranking {
            order: (0..states as u32).collect(),
            level: vec![0.0; states],
            prefix: vec![[Double::default(); 2]; states + 1],
        }
    }

    /// Ranks these levels; the last order is nearly right, and the sort is adaptive.
    pub(crate) fn sort(&mut self, levels: &[f64]) {
        self.order.sort_by(|&a, &b| {
            let (x, y) = (levels[a as usize], levels[b as usize]);
            y.total_cmp(&x).then(a.cmp(&b))
        });
        let mut sums = [Double::default(); 2];
        for (j, &i) in self.order.iter().enumerate() {
            let w = levels[i as usize];
            self.level[j] = w;
            sums = [sums[0].add(w), sums[1].add_product(w, w)];
            self.prefix[j + 1] = sums;
        }
    }

    /// The largest level where p is positive, the mass there and the entries seen.
    pub(crate) fn maximum(&self, p: &[f64]) -> (f64, f64, usize) {
        let found = self.order.iter().position(|&i| p[i as usize] > 0.0);
        let start = found.unwrap_or(0);
        let maximum = self.level[start];
        let mut mass = 0.0;
        for (seen, &i) in self.order.iter().enumerate().skip(start) {
            if self.level[seen] < maximum {
                return (maximum, mass, seen + 1);
            }
            mass += p[i as usize];
        }
        (maximum, mass, self.order.len())
    }

    /// Σ(w − c) and Σ(w − c)² of the first `count` levels.
    pub(crate) fn sums_about(&self, count: usize, c: f64) -> [f64; 2] {
        let [sum, square] = self.prefix[count];
        let about = sum.add_product(-(count as f64), c);
        // Σ(w − c)² = Σw² − c·(Σw + Σ(w − c)).
        let both = about.add(sum.high).add(sum.low);
        let square = square.add_product(-c, both.high).add_product(-c, both.low);
        [about.value(), square.value()]
    }
}

/// The states that a row does not list but may use: probability 0, objective w = level − `shift`.
#[derive(Clone, Copy, Debug)]
pub struct Outside<'a> {
    pub(crate) ranking: &'a Ranking,
    /// Levels of the listed states; −∞ where a state is listed again.
    pub(crate) listed: &'a [f64],
    pub(crate) shift: f64,
    /// The largest w among these states.
    pub best: f64,
}

impl Outside<'_> {
    /// Σ1, Σ(w − c) and Σ(w − c)² over the states with t(w − c) > ν: the first of the ranking, less
    /// listed ones; and the least |t(w − c) − ν| next to the border.
    pub fn sums(&self, t: f64, nu: f64, centre: f64) -> ([f64; 3], f64) {
        let origin = self.shift + centre;
        let level = &self.ranking.level;
        let height = |w: f64| t * (w - origin) - nu;
        let length = level.partition_point(|&w| height(w) > 0.0);
        let ends = level[length.saturating_sub(1)..].iter().take(2);
        let margin = ends.fold(f64::INFINITY, |m, &w| m.min(height(w).abs()));
        let [mut sum, mut square] = self.ranking.sums_about(length, origin);
        let mut n = length;
        for w in self.listed.iter().filter(|w| height(**w) > 0.0).map(|w| w - origin) {
            n -= 1;
            sum -= w;
            square -= w * w;
        }
        let sums = if n == 0 { [0.0; 3] } else { [n as f64, sum, square.max(0.0)] };
        (sums, margin)
    }

    /// How many of the ranked states have t·w > ν.
    pub(crate) fn length(&self, t: f64, nu: f64) -> usize {
        self.ranking.level.partition_point(|&w| t * (w - self.shift) - nu > 0.0)
    }
}
