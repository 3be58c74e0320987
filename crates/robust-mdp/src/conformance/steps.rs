//! Euclidean steps of a set of which nothing else is known: they are nearest points of one convex set.

use super::draw::{drawn_rows, nominal};
use super::{Report, Violation};
use crate::geometry::Geometry;
use crate::instances::Xoshiro256;
use crate::sets::proximal::{Block, Emit, Gain, Mirror, NEAR, Prox, Scratch, Step, Warm};
use crate::sets::{EntryData, Needs, Set};

/// Kernels that steps lead to, from each of which others are seen.
const MEMBERS: usize = 12;

pub(super) fn check(set: &dyn Set, report: &mut Report) -> Result<(), Violation> {
    let about =
        |place: &str| Violation { law: "a set has a way to be solved", place: place.into() };
    let prox = set.prox(Geometry::Euclidean);
    let prox = prox.ok_or_else(|| about("neither a price curve nor Euclidean steps"))?;
    if prox.mirror() != Mirror::Point || set.needs() != Needs::Nothing {
        return Err(about("steps of points, of a set that is told nothing of entries"));
    }
    distances(set)?;
    let mut random = Xoshiro256::new(5);
    for (n, actions) in [(1, 2), (2, 1), (3, 2), (5, 4), (20, 3)] {
        for radius in [0.0, 1e-4, 0.03, 0.5, 50.0] {
            for _ in 0..8 {
                let zeros = random.below(2) == 1;
                let rows = (0..actions).flat_map(|_| nominal(n, zeros, &mut random));
                let nominal: Vec<f64> = rows.collect();
                let offsets: Vec<usize> = (0..=actions).map(|k| k * n).collect();
                let gain: Vec<f64> =
                    (0..n * actions).map(|_| 2.0 * random.uniform() - 1.0).collect();
                let value = nominal.iter().zip(&gain).map(|(p, b)| p * b).collect::<Vec<_>>();
                let value: Vec<f64> = value.chunks(n).map(|row| row.iter().sum()).collect();
                let block = Block {
                    offsets: &offsets,
                    nominal: &nominal,
                    gain: Gain::PerRow(&gain),
                    nominal_value: &value,
                    radius,
                    kappa: None,
                    data: EntryData::default(),
                };
                report.rows += actions;
                Steps { set, prox, block }.check(&mut random, report)?;
            }
        }
    }
    Ok(())
}

/// d(p, p) = 0 ≤ d.
fn distances(set: &dyn Set) -> Result<(), Violation> {
    for row in drawn_rows(set) {
        let at = &row;
        let zero = set.distance(&row.p, &row.p, EntryData::default());
        let even = vec![1.0 / row.p.len() as f64; row.p.len()];
        let far = set.distance(&row.p, &even, EntryData::default());
        law!(At(at), "d(p, p) = 0 ≤ d", zero == 0.0 && far >= 0.0, "{zero} and {far}");
    }
    Ok(())
}

struct At<'a>(&'a super::draw::DrawnRow);

impl At<'_> {
    fn violation(&self, law: &'static str, about: String) -> Violation {
        Violation { law, place: format!("{about} at {:?}", self.0) }
    }
}

struct Steps<'a> {
    set: &'a dyn Set,
    prox: &'a dyn Prox,
    block: Block<'a>,
}

impl Steps<'_> {
    fn violation(&self, law: &'static str, about: String) -> Violation {
        Violation { law, place: format!("{about} at {:?}", self.block) }
    }

    /// Steps from member to member, each of which is nearest to where its step aimed.
    fn check(&self, random: &mut Xoshiro256, report: &mut Report) -> Result<(), Violation> {
        let block = self.block;
        let mut members = vec![block.nominal.to_vec()];
        let mut scratch = Scratch::new(block.rows(), block.entries());
        let (mut budget, mut shifts) = (0.0, vec![0.0; block.rows()]);
        for trial in 0..MEMBERS {
            let from = members[random.below(members.len() as u64) as usize].clone();
            let sigma = if trial == 0 { 0.0 } else { 10f64.powf(4.0 * random.uniform() - 2.0) };
            let x: Vec<f64> = (0..block.rows()).map(|_| random.uniform()).collect();
            let (mut y, mut sum) = (from.clone(), vec![1.0; from.len()]);
            let mut value = vec![f64::NAN; block.rows()];
            let warm = Warm { budget: &mut budget, row: &mut shifts };
            let emit = Emit { weight: 2.0, sum: &mut sum, value: &mut value };
            self.prox.step(Step { block, sigma, x: &x, y: &mut y, warm, emit }, &mut scratch);
            self.member(&y)?;
            self.emitted(&y, &sum, &value)?;
            let aim = |k: usize, j: usize| from[block.span(k)][j] + sigma * x[k] * block.gain(k)[j];
            let width = block.entries() / block.rows();
            let missed: Vec<f64> = (0..y.len()).map(|e| aim(e / width, e % width) - y[e]).collect();
            let way = missed.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            for other in &members {
                let ahead: f64 = (0..y.len()).map(|e| missed[e] * (other[e] - y[e])).sum();
                let law = "steps end at the nearest point of the set";
                law!(self, law, ahead <= NEAR * way, "{ahead:e} to {other:?} from {y:?}");
            }
            report.points += 1;
            members.push(y);
        }
        Ok(())
    }

    /// Rows are distributions on what they may use, within the budget.
    fn member(&self, y: &[f64]) -> Result<(), Violation> {
        let block = self.block;
        for k in 0..block.rows() {
            let row = &y[block.span(k)];
            let mass: f64 = row.iter().sum();
            let right = (mass - 1.0).abs() <= 1e-12 && row.iter().all(|y| *y >= 0.0);
            law!(self, "rows are distributions", right, "{row:?}");
            let kept = |(p, y): (&f64, &f64)| self.set.leaves_support() || *p > 0.0 || *y == 0.0;
            let right = block.nominal(k).iter().zip(row).all(kept);
            law!(self, "rows keep to their support", right, "{row:?}");
        }
        let spent = block.spent(self.set, y);
        let within = spent <= block.radius * (1.0 + 1e-12) + 1e-15;
        law!(self, "steps stay within the budget", within, "{spent:e} by {y:?}");
        Ok(())
    }

    fn emitted(&self, y: &[f64], sum: &[f64], value: &[f64]) -> Result<(), Violation> {
        let right = y.iter().zip(sum).all(|(y, sum)| (1.0 + 2.0 * y - sum).abs() <= 1e-12);
        law!(self, "a step adds its weight of y to the sum", right, "{y:?} to {sum:?}");
        for (k, value) in value.iter().enumerate() {
            let row = y[self.block.span(k)].iter().zip(self.block.gain(k));
            let own: f64 = row.map(|(y, b)| y * b).sum();
            let right = (own - value).abs() <= 1e-12;
            law!(self, "a step leaves ⟨b, y⟩ of every row", right, "{value}, not {own}");
        }
        Ok(())
    }
}
