//! The Wasserstein set: d(y, p) is the least cost Σπ_ji·C_ji of moving p to y, for costs C_ji ≥ 0 between states
//! (a metric, its square, anything). Each source moves as a whole to its best target:
//!   ψ(t) = Σ_j p_j·m_j(t),   m_j(t) = max_i (t·z_i − C_ji),
//! on a line by two sweeps, m_j = max(t·z_j, m_{j∓1} − gap). Where targets are tied, the second number of a point
//! is the share of the way from those of the lowest value to those of the highest.

use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::transport;
use super::{Distance, EntryData, Ground, Line, Needs, Places, UncertaintySet};
use crate::certificate::{Interval, Proof, ProofRow, Reading, UNIT};
use crate::rows::Row;

/// Targets this near to the best are tied, as a share of the numbers that they are compared by.
const NEAR: f64 = 1e-12;

/// Multipliers this near to each other, as a share, are those of one edge.
const SAME: f64 = 1e-6;

/// Least costs of moving p to y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wasserstein;

impl UncertaintySet {
    /// Σ_a W(y_a, y⁰_a) ≤ radius in every state, W the least cost of moving mass at these costs.
    pub fn wasserstein(ground: Ground, radius: f64) -> Self {
        UncertaintySet::new(Distance::Wasserstein, radius).with_ground(ground)
    }
}

fn places(data: EntryData<'_>) -> Places<'_> {
    data.places.expect("costs between states")
}

/// What a source may reach: t·z − C of the best targets, and those of the lowest and the highest objective.
#[derive(Clone, Copy, Debug)]
struct Best {
    worth: f64,
    low: usize,
    high: usize,
}

/// The entries of a row at a multiplier.
struct Reach<'a> {
    w: &'a [f64],
    maximum: f64,
    t: f64,
    places: Places<'a>,
}

impl Reach<'_> {
    fn z(&self, i: usize) -> f64 {
        self.w[i] - self.maximum
    }

    fn stays(&self, j: usize) -> Best {
        Best { worth: self.t * self.z(j), low: j, high: j }
    }

    /// The better one; both where they are tied.
    fn better(&self, one: Best, other: Best) -> Best {
        let size = one.worth.abs().max(other.worth.abs());
        match one.worth - other.worth {
            apart if apart > NEAR * size => one,
            apart if apart < -NEAR * size => other,
            _ => Best {
                worth: one.worth.max(other.worth),
                low: if self.z(other.low) < self.z(one.low) { other.low } else { one.low },
                high: if self.z(other.high) > self.z(one.high) { other.high } else { one.high },
            },
        }
    }

    /// Of all entries.
    fn all(&self) -> Vec<Best> {
        let mut best: Vec<Best> = (0..self.w.len()).map(|j| self.stays(j)).collect();
        match self.places.ground {
            Ground::Line(line) => match self.places.next {
                None => self.sweep(line, &line.order, &mut best),
                Some(next) => {
                    let mut order: Vec<u32> = (0..next.len() as u32).collect();
                    let x = |j: u32| line.place(next[j as usize] as usize);
                    order.sort_by(|&i, &j| x(i).total_cmp(&x(j)));
                    self.sweep(line, &order, &mut best);
                }
            },
            Ground::Matrix(_) => {
                for (j, best) in best.iter_mut().enumerate() {
                    for i in (0..self.w.len()).filter(|&i| i != j) {
                        let worth = self.t * self.z(i) - self.places.cost(j, i);
                        *best = self.better(*best, Best { worth, low: i, high: i });
                    }
                }
            }
        }
        best
    }

    /// From neighbour to neighbour, in both directions.
    fn sweep(&self, line: &Line, order: &[u32], best: &mut [Best]) {
        let x = |j: usize| line.place(self.places.state(j));
        let mut step = |from: u32, to: u32| {
            let (from, to) = (from as usize, to as usize);
            let by = Best { worth: best[from].worth - (x(from) - x(to)).abs(), ..best[from] };
            best[to] = self.better(best[to], by);
        };
        order.windows(2).for_each(|pair| step(pair[0], pair[1]));
        order.windows(2).rev().for_each(|pair| step(pair[1], pair[0]));
    }
}

fn reach<'a>(row: Row<'a>, t: f64) -> Reach<'a> {
    Reach { w: row.w, maximum: row.maximum, t, places: places(row.data) }
}

impl Set for Wasserstein {
    fn name(&self) -> &'static str {
        "wasserstein"
    }

    fn title(&self) -> &'static str {
        "Wasserstein"
    }

    fn formula(&self) -> &'static str {
        "least cost of moving y⁰ to y"
    }

    fn needs(&self) -> Needs {
        Needs::Ground
    }

    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        transport::cost(p, y, places(data))
    }

    fn leaves_support(&self) -> bool {
        true
    }

    fn counts_outside(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        f64::INFINITY
    }

    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64 {
        let places = places(data);
        let to = |i: usize| (0..p.len()).map(|j| p[j] * places.cost(j, i)).sum::<f64>();
        (0..p.len()).filter(|&i| unused || p[i] > 0.0).map(to).fold(0.0, f64::max)
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Wasserstein {
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        Priced { t, ..self.ends(row, t, None)[0] }
    }

    fn ends(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> [Priced; 2] {
        let reach = reach(row, t);
        let best = reach.all();
        let mut ends = [0.0, 1.0].map(|nu| Priced { t, nu, ..Priced::NOMINAL });
        let mut edge = t;
        for (j, (&p, &Best { low, high, .. })) in row.p.iter().zip(&best).enumerate() {
            if low == j && high == j {
                ends.iter_mut().for_each(|end| end.value += p * reach.z(j));
            } else if p > 0.0 {
                for (end, to) in ends.iter_mut().zip([low, high]) {
                    end.value += p * reach.z(to);
                    end.price += p * reach.places.cost(j, to);
                }
                let (gain, further) = (reach.z(high) - reach.z(low), reach.places.cost(j, high));
                let there = (further - reach.places.cost(j, low)) / gain;
                // Targets as far as each other and nearly as good are tied at any t.
                if gain > 0.0 && (there - t).abs() <= SAME * t {
                    edge = there;
                }
            }
        }
        if ends[0].value == ends[1].value {
            return [ends[0]; 2];
        }
        ends.map(|end| Priced { t: edge, ..end })
    }

    fn face(&self, row: Row<'_>) -> f64 {
        let places = places(row.data);
        let tops: Vec<usize> = (0..row.p.len()).filter(|&i| row.w[i] == row.maximum).collect();
        let nearest =
            |j: usize| tops.iter().map(|&i| places.cost(j, i)).fold(f64::INFINITY, f64::min);
        let moved = (0..row.p.len()).filter(|&j| row.p[j] > 0.0);
        moved.map(|j| row.p[j] * nearest(j)).sum()
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        y.fill(0.0);
        if at.t.is_infinite() {
            let places = places(row.data);
            let order = |j: usize| {
                move |a: &usize, b: &usize| places.cost(j, *a).total_cmp(&places.cost(j, *b))
            };
            for (j, p) in row.p.iter().enumerate().filter(|e| *e.1 > 0.0) {
                let tops = (0..y.len()).filter(|&i| row.w[i] == row.maximum);
                y[tops.min_by(order(j)).unwrap_or(j)] += p;
            }
            return Beyond::Nothing;
        }
        for (p, Best { low, high, .. }) in row.p.iter().zip(reach(row, at.t).all()) {
            y[low] += (1.0 - at.nu) * p;
            y[high] += at.nu * p;
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::PiecewiseLinear
    }
}

/// Any m_j ≥ t·z_i − C_ji for all i bounds ψ ≤ Σp_j·m_j/σ, σ = Σp; on a line m_j ≥ t·z_j, m_j ≥ m_{j∓1} − gap. The
/// row is any plan, here one of sources that move as a whole, or two such in shares.
impl Proof for Wasserstein {
    fn read(&self, row: &ProofRow<'_>, t: f64, share: f64) -> Reading {
        if !(0.0..=1.0).contains(&share) {
            return Reading::NOTHING;
        }
        let (n, places) = (row.p.len(), places(row.data));
        let z = |i: usize| row.w[i] - row.maximum;
        let mass = Interval::sum(row.p.iter().copied(), 0.0);
        let worth = bounds(row, t, places);
        let dual = Interval::sum((0..n).map(|j| row.p[j] * worth[j]), 1.0) / mass;
        let reach = Reach { w: row.w, maximum: row.maximum, t, places };
        let best = reach.all();
        let rest = Interval::from(1.0) + -share;
        let mixed = |of: &dyn Fn(usize, usize) -> f64| {
            let plan = |to: fn(&Best) -> usize| {
                let terms = (0..n).map(|j| row.p[j] * of(j, to(&best[j])));
                Interval::sum(terms, 3.0) / mass
            };
            let (low, high) = (plan(|best| best.low), plan(|best| best.high));
            (low * rest.mid + high * share).wider(rest.rad * low.size())
        };
        let value = mixed(&|_, to| z(to));
        Reading { dual: dual.hi(), value, spent: mixed(&|from, to| places.cost(from, to)).hi() }
    }
}

/// m_j, no smaller than any t·z_i − C_ji.
fn bounds(row: &ProofRow<'_>, t: f64, places: Places<'_>) -> Vec<f64> {
    let up = |x: f64, size: f64| x + 4.0 * UNIT * size;
    let own = |i: usize| t * (row.w[i] - row.maximum);
    let mut worth: Vec<f64> = (0..row.p.len()).map(|j| up(own(j), own(j).abs())).collect();
    match places.ground {
        Ground::Matrix(_) => {
            for (j, worth) in worth.iter_mut().enumerate() {
                for i in 0..row.p.len() {
                    let cost = places.cost(j, i);
                    *worth = worth.max(up(own(i) - cost, own(i).abs() + cost));
                }
            }
        }
        Ground::Line(line) => {
            let mut order: Vec<usize> = (0..row.p.len()).collect();
            let x = |j: usize| line.place(places.state(j));
            order.sort_by(|&i, &j| x(i).total_cmp(&x(j)));
            let mut step = |from: usize, to: usize| {
                let (gap, from) = ((x(from) - x(to)).abs(), worth[from]);
                worth[to] = worth[to].max(up(from - gap, from.abs() + gap));
            };
            order.windows(2).for_each(|pair| step(pair[0], pair[1]));
            order.windows(2).rev().for_each(|pair| step(pair[1], pair[0]));
        }
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 3] = [0.5, 0.25, 0.25];
    const W: [f64; 3] = [-2.0, -1.0, 0.0];

    /// On the line 0, 1, 3 the second place is reached at 1 for 1, the third at ½ a unit of cost.
    #[test]
    fn sources_move_to_the_best_targets() {
        let ground = Ground::line(vec![0.0, 1.0, 3.0]);
        let data = EntryData {
            places: Some(Places { ground: &ground, next: None }),
            ..EntryData::default()
        };
        let row = Row { p: &P, w: &W, maximum: 0.0, range: 2.0, outside: None, order: None, data };
        assert_eq!(Wasserstein.face(row), 0.5 * 3.0 + 0.25 * 2.0);
        assert_eq!(Wasserstein.vacuous(&P, false, data), 2.0);
        // Half of the first source at the second place.
        let at = Wasserstein.price(row, -1.0, 0.0, None);
        assert_eq!((at.t, at.nu, at.price), (1.0, 0.5, 0.25));
        let mut y = [0.0; 3];
        Wasserstein.kernel(row, at, &mut y);
        assert_eq!(y, [0.25, 0.5, 0.25]);
        assert_eq!(Wasserstein.distance(&P, &y, data), 0.25);
        let read = Wasserstein.read(&ProofRow { data, ..ProofRow::new(&P, &W) }, 1.0, 0.5);
        assert!(read.dual >= -1.25 && read.dual <= -1.25 + 1e-13, "{read:?}");
        assert!(read.value.lo() <= -1.0 && read.value.hi() >= -1.0, "{read:?}");
        assert!((0.25..=0.25 + 1e-13).contains(&read.spent), "{read:?}");
    }
}
