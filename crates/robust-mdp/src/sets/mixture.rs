//! Mixtures: the least Σw with y = p + Σ_k w_k(y^k − p), w ≥ 0, which is the share of the way from p to y into the hull
//! of p and all y^k. A linear program by the simplex method, with K variables and an equation for each dimension that
//! the ways y^k − p span, so that rounding across these says nothing.

use super::told::ScenarioRows;

/// What rounding leaves of differences of probabilities, and of their shares.
const GRAIN: f64 = 1e-15;
const SHARE: f64 = 1e-13;

/// The least Σw, of those w by which Σ_k w_k(y^k − p) is as near to y − p as the program finds, and how far it is off
/// an entry.
pub(super) fn share(p: &[f64], y: &[f64], scenarios: ScenarioRows<'_>) -> (f64, f64) {
    let mut weights = vec![0.0; scenarios.count];
    Table::new(p, y, scenarios).solve().for_each(|(k, w)| weights[k] = w);
    let off = |(j, (p, y)): (usize, (&f64, &f64))| {
        let mixed = weights.iter().zip(scenarios.of_entry(j)).map(|(w, yk)| w * (yk - p));
        (mixed.sum::<f64>() - (y - p)).abs()
    };
    let off = p.iter().zip(y).enumerate().map(off).fold(0.0, f64::max);
    (weights.iter().sum(), off)
}

/// Equations Σ_k a_jk·w_k = b_j, b ≥ 0, solved for one variable each; where there is none yet, b_j is left over.
struct Table {
    /// Row after row, b behind a.
    numbers: Vec<f64>,
    width: usize,
    basis: Vec<Option<usize>>,
    /// Of every variable what its entries must exceed to be more than rounding.
    grain: Vec<f64>,
}

impl Table {
    /// The ways to the scenarios and to y in coordinates: each axis along the longest way that those before leave over.
    fn new(p: &[f64], y: &[f64], scenarios: ScenarioRows<'_>) -> Table {
        let way = |to: &dyn Fn(usize) -> f64| -> Vec<f64> {
            p.iter().enumerate().map(|(j, p)| to(j) - p).collect()
        };
        let mut ways: Vec<Vec<f64>> =
            (0..scenarios.count).map(|k| way(&|j| scenarios.prob(k, j))).collect();
        let grain = ways.iter().map(|way| GRAIN + SHARE * length(way)).collect();
        ways.push(way(&|j| y[j]));
        let (width, count) = (ways.len(), scenarios.count);
        let mut table = Table { numbers: Vec::new(), width, basis: Vec::new(), grain };
        loop {
            let lengths = ways[..count].iter().map(|way| length(way)).enumerate();
            let Some(k) = largest(lengths.filter(|(_, length)| *length > GRAIN)) else { break };
            let size = length(&ways[k]);
            let axis: Vec<f64> = ways[k].iter().map(|x| x / size).collect();
            let start = table.numbers.len();
            for way in &mut ways {
                // Again for what rounding has left.
                let parts = [(); 2].map(|()| {
                    let part = dot(way, &axis);
                    way.iter_mut().zip(&axis).for_each(|(x, a)| *x -= part * a);
                    part
                });
                table.numbers.push(parts[0] + parts[1]);
            }
            ways[k].fill(0.0);
            if table.numbers[start + count] < 0.0 {
                table.numbers[start..].iter_mut().for_each(|x| *x = -*x);
            }
            table.basis.push(None);
        }
        table
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.width + column]
    }

    fn rest(&self, row: usize) -> f64 {
        self.at(row, self.width - 1)
    }

    fn row(&mut self, row: usize) -> &mut [f64] {
        &mut self.numbers[row * self.width..(row + 1) * self.width]
    }

    fn open(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.basis.len()).filter(|&j| self.basis[j].is_none())
    }

    /// Variables that no equation is solved for.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.width - 1).filter(|&k| !self.basis.contains(&Some(k)))
    }

    /// The variables that are solved for, of the least sum of those with the least left over.
    fn solve(mut self) -> impl Iterator<Item = (usize, f64)> {
        self.descend(|table| {
            let left: f64 = table.open().map(|j| table.rest(j)).sum();
            let gain = |k: usize| table.open().map(|j| table.at(j, k)).sum::<f64>();
            let gains = table.free().map(|k| (k, gain(k)));
            largest(gains.filter(|&(k, gain)| left > GRAIN && gain > table.grain[k]))
        });
        // What is left over cannot be less. The other variables must leave it at that.
        for row in 0..self.basis.len() {
            if self.basis[row].is_none() {
                *self.row(row).last_mut().expect("b") = 0.0;
                let sizes = self.free().map(|k| (k, self.at(row, k).abs()));
                if let Some(k) = largest(sizes.filter(|&(k, size)| size > self.grain[k])) {
                    self.pivot(row, k);
                }
            }
        }
        self.descend(|table| {
            let gain = |k: usize| {
                let basic = (0..table.basis.len()).filter(|&j| table.basis[j].is_some());
                let (sum, size) = basic.fold((0.0, 1.0), |(sum, size): (f64, f64), j| {
                    (sum + table.at(j, k), size + table.at(j, k).abs())
                });
                (k, sum - 1.0 - SHARE * size)
            };
            largest(table.free().map(gain).filter(|(_, gain)| *gain > 0.0))
        });
        let Table { numbers, width, basis, .. } = self;
        let rests = numbers.into_iter().skip(width - 1).step_by(width);
        basis.into_iter().zip(rests).filter_map(|(k, rest)| Some((k?, rest.max(0.0))))
    }

    /// Brings in the variable that is asked for until there is none; rounding must not let that go in circles.
    fn descend(&mut self, next: impl Fn(&Table) -> Option<usize>) {
        for _ in 0..64 * (self.basis.len() + self.width) {
            let Some(entering) = next(self) else { return };
            let Some(leaving) = self.leaving(entering) else { return };
            self.pivot(leaving, entering);
        }
    }

    /// The equation that ends a variable's rise: of those that do so but for rounding, the one of the largest entry.
    fn leaving(&self, entering: usize) -> Option<usize> {
        let size = |j: usize| self.at(j, entering);
        let rises = || (0..self.basis.len()).filter(|&j| size(j) > self.grain[entering]);
        let most = |j: usize| (self.rest(j).max(0.0) + GRAIN) / size(j);
        let limit = rises().map(most).fold(f64::INFINITY, f64::min);
        let first = rises().filter(|&j| self.rest(j).max(0.0) / size(j) <= limit);
        largest(first.map(|j| (j, size(j))))
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let by = self.at(row, column);
        self.row(row).iter_mut().for_each(|x| *x /= by);
        let pivot = self.row(row).to_vec();
        for other in (0..self.basis.len()).filter(|&other| other != row) {
            let share = self.at(other, column);
            if share != 0.0 {
                self.row(other).iter_mut().zip(&pivot).for_each(|(x, p)| *x -= share * p);
            }
        }
        self.basis[row] = Some(column);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// Where the largest number is.
fn largest(of: impl Iterator<Item = (usize, f64)>) -> Option<usize> {
    of.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(p: &[f64], y: &[f64], kernels: &[&[f64]]) -> Option<f64> {
        let numbers: Vec<f64> =
            (0..p.len()).flat_map(|j| kernels.iter().map(move |k| k[j])).collect();
        let (share, off) = share(p, y, ScenarioRows { count: kernels.len(), numbers: &numbers });
        (off <= 1e-15).then(|| (1e12 * share).round() / 1e12)
    }

    const P: [f64; 3] = [0.5, 0.25, 0.25];

    #[test]
    fn rows_lie_where_they_were_mixed() {
        let (one, two): ([f64; 3], [f64; 3]) = ([1.0, 0.0, 0.0], [0.0, 0.5, 0.5]);
        let half = |y: &[f64; 3]| [0, 1, 2].map(|j| 0.5 * (P[j] + y[j]));
        assert_eq!(found(&P, &P, &[&one, &two]), Some(0.0));
        assert_eq!(found(&P, &half(&one), &[&one, &two]), Some(0.5));
        // Half of both is the nominal row again; a copy and the nominal row itself change nothing.
        assert_eq!(found(&P, &half(&two), &[&P, &two, &two, &one]), Some(0.5));
        // The nearer of two on one way costs more.
        assert_eq!(found(&P, &half(&one), &[&half(&one), &one]), Some(0.5));
        assert_eq!(found(&P, &half(&one), &[&half(&one)]), Some(1.0));
        // Off the way, and beyond its end.
        assert_eq!(found(&P, &[0.5, 0.5, 0.0], &[&one, &two]), None);
        assert_eq!(found(&P, &one, &[&half(&one)]), Some(2.0));
    }
}
