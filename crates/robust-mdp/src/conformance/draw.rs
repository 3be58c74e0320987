//! Rows to try a set on.

use crate::instances::Xoshiro256;
use crate::rows::Row;

/// A row of a set that may use the states `open`.
#[derive(Clone, Debug)]
pub(super) struct DrawnRow {
    pub(super) p: Vec<f64>,
    pub(super) w: Vec<f64>,
    pub(super) open: Vec<bool>,
}

impl DrawnRow {
    pub(super) fn row(&self) -> Row<'_> {
        let open = || self.w.iter().zip(&self.open).filter(|e| *e.1).map(|e| *e.0);
        let maximum = open().fold(f64::NEG_INFINITY, f64::max);
        let least = self.w.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Row { p: &self.p, w: &self.w, maximum, range: most - least, outside: None }
    }

    /// ⟨z, y⟩.
    pub(super) fn value(&self, y: &[f64]) -> f64 {
        let maximum = self.row().maximum;
        y.iter().zip(&self.w).filter(|e| *e.0 > 0.0).map(|(y, w)| y * (w - maximum)).sum()
    }

    /// Any distribution on the open states: even, sparse, near p, or a vertex.
    pub(super) fn distribution(&self, random: &mut Xoshiro256) -> Vec<f64> {
        let kind = random.below(4);
        let n = self.p.len();
        let mut y: Vec<f64> = (0..n).map(|_| exponential(random)).collect();
        if kind == 1 {
            let chosen = random.below(n as u64) as usize;
            y.iter_mut().enumerate().filter(|(j, _)| *j != chosen).for_each(|(_, y)| *y = 0.0);
        } else if kind == 2 {
            y.iter_mut().for_each(|y| *y *= if random.below(2) == 0 { 0.0 } else { 1.0 });
        }
        y.iter_mut().zip(&self.open).filter(|e| !*e.1).for_each(|(y, _)| *y = 0.0);
        if !normalise(&mut y) {
            y.copy_from_slice(&self.p);
        }
        if kind == 3 {
            let share = 10f64.powf(-6.0 * random.uniform());
            y = mixed(&self.p, &y, share);
        }
        y
    }
}

/// p + share·(y − p).
pub(super) fn mixed(p: &[f64], y: &[f64], share: f64) -> Vec<f64> {
    p.iter().zip(y).map(|(p, y)| (1.0 - share) * p + share * y).collect()
}

/// Whether there is mass that can be scaled to one.
pub(super) fn normalise(y: &mut [f64]) -> bool {
    let total: f64 = y.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return false;
    }
    y.iter_mut().for_each(|y| *y /= total);
    true
}

fn exponential(random: &mut Xoshiro256) -> f64 {
    -(1.0 - random.uniform()).ln()
}

/// A nominal row on n states, of which some may have none of the mass.
pub(super) fn nominal(n: usize, zeros: bool, random: &mut Xoshiro256) -> Vec<f64> {
    let mut p: Vec<f64> = (0..n).map(|_| 1e-3 + exponential(random)).collect();
    if zeros {
        let kept = random.below(n as u64) as usize;
        for j in (0..n).filter(|&j| j != kept) {
            p[j] *= [0.0, 1.0, 1e-9][random.below(3) as usize];
        }
    }
    normalise(&mut p);
    p
}

/// Random and degenerate rows; those of sets that keep to the support may have larger objectives where
/// they have no mass.
pub(super) fn drawn_rows(leaves_support: bool) -> Vec<DrawnRow> {
    let mut random = Xoshiro256::new(1);
    let mut rows = Vec::new();
    for n in [1, 2, 3, 5, 9, 20] {
        for shape in 0..80 {
            let shape = shape % 8;
            let p = match shape {
                0 => (0..n).map(|j| f64::from(u8::from(j == n / 2))).collect(),
                _ => nominal(n, shape % 2 == 1, &mut random),
            };
            let size = [1.0, 1e-50, 1e50, 1e-8, 1e8][random.below(5) as usize];
            let w = (0..n).map(|j| match shape {
                2 => 0.0,                                   // nothing at stake
                3 => size * (random.below(3) as f64 - 2.0), // ties
                4 => size * f64::from(u8::from(j > 0)),     // all but one at the maximum
                _ => size * (2.0 * random.uniform() - 1.0),
            });
            let w: Vec<f64> = w.collect();
            let open = p.iter().map(|p| leaves_support || *p > 0.0).collect();
            rows.push(DrawnRow { p, w, open });
        }
    }
    rows
}
