//! A set that is known by its projection alone: one shock δ for all actions of a state,
//!   y_a = p_a + δ,  ½A‖δ‖₂² ≤ α,
//! as in a market whose next regime does not ask what one holds. Rows are tied to each other, so that states have
//! no exact update; first-order steps need the nearest kernel, one row's work, and bounds come from the same steps.
//! The alternative is a conic program a state, which the interior-point oracle solves: both run here.

use std::time::Instant;

use robust_mdp::geometry::Geometry;
use robust_mdp::instances::Xoshiro256;
use robust_mdp::model::{Model, ModelBuilder};
use robust_mdp::sets::{
    Cone, Distance, Entry, EntryData, Mirror, Moved, Program, Prox, Scratch, Set, Step,
    UncertaintySet,
};
use robust_mdp::{Method, Options, Oracle, Stop};
use robust_mdp::{ModelError, conformance, solve};

/// One shock for all actions, for models whose rows list all states.
#[derive(Debug)]
pub(crate) struct CommonShock;

impl Set for CommonShock {
    fn name(&self) -> &'static str {
        "common-shock"
    }
    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        p.iter().zip(y).map(|(p, y)| 0.5 * (y - p) * (y - p)).sum()
    }
    fn degree(&self) -> i32 {
        2
    }
    fn leaves_support(&self) -> bool {
        true
    }
    fn diameter(&self) -> f64 {
        1.0
    }
    fn vacuous(&self, p: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        let square: f64 = p.iter().map(|p| p * p).sum();
        0.5 * (square + 1.0 - 2.0 * p.iter().copied().fold(1.0, f64::min))
    }
    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        (geometry == Geometry::Euclidean).then_some(self)
    }
    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }
}

/// The nearest kernel to y + σx_a·b_a: Σ_a ‖p_a + δ − ζ_a‖² is A‖δ − r‖² and a constant, r the mean of ζ_a − p_a.
impl Prox for CommonShock {
    fn mirror(&self) -> Mirror {
        Mirror::Point
    }
    fn step(&self, step: Step<'_>, scratch: &mut Scratch) {
        let Step { block, sigma, x, y, emit, .. } = step;
        let (rows, n) = (block.rows(), block.span(0).len());
        let (mut mean, mut least) = (vec![0.0; n], vec![f64::INFINITY; n]);
        for k in 0..rows {
            let entries = y[block.span(k)].iter().zip(block.nominal(k)).zip(block.gain(k));
            for (j, ((y, p), b)) in entries.enumerate() {
                mean[j] += (y + sigma * x[k] * b - p) / rows as f64;
                least[j] = f64::min(least[j], *p);
            }
        }
        scratch.entries += 2 * block.entries() as u64;
        let shock = nearest_shock(&mean, &least, 2.0 * block.radius / rows as f64);
        for k in 0..rows {
            emit.value[k] = 0.0;
            for (j, e) in block.span(k).enumerate() {
                y[e] = (block.nominal[e] + shock[j]).max(0.0);
                emit.sum[e] += emit.weight * y[e];
                emit.value[k] += y[e] * block.gain(k)[j];
            }
        }
    }
}

/// The δ nearest to r with Σδ = 0, δ ≥ −m and ‖δ‖² ≤ `square`: δ = max(−m, cr − ν), 0 ≤ c ≤ 1. With F entries free
/// of −m and the mass M of the others, ‖δ‖² = c²V + M²/F + Σm², V = Σ(r − r̄)² of the free ones, from which comes
/// the next c; where that leaves the bracket, its middle.
fn nearest_shock(r: &[f64], m: &[f64], square: f64) -> Vec<f64> {
    let (mut low, mut high, mut c) = (0.0, 1.0, 1.0);
    let mut shock = vec![0.0; r.len()];
    for _ in 0..100 {
        let nu = shift(r, m, c);
        let entries = || r.iter().zip(m).map(|(r, m)| (*r, *m, c * r - nu > -m));
        let (mut free, mut sum, mut squares, mut held, mut rest) = (0.0, 0.0, 0.0, 0.0, square);
        for (shock, (r, m, is_free)) in shock.iter_mut().zip(entries()) {
            *shock = (c * r - nu).max(-m);
            match is_free {
                true => (free, sum, squares) = (free + 1.0, sum + r, squares + r * r),
                false => (held, rest) = (held + m, rest - m * m),
            }
        }
        let spent: f64 = shock.iter().map(|shock| shock * shock).sum();
        if spent <= square && c == 1.0 || (spent - square).abs() <= 1e-13 * square {
            break;
        }
        *(if spent > square { &mut high } else { &mut low }) = c;
        let next = ((rest - held * held / free) / (squares - sum * sum / free)).sqrt();
        c = if low < next && next < high { next } else { 0.5 * (low + high) };
    }
    let spent: f64 = shock.iter().map(|shock| shock * shock).sum();
    if spent > square {
        shock.iter_mut().for_each(|shock| *shock *= (square / spent).sqrt());
    }
    shock
}

/// ν with Σ max(−m, cr − ν) = 0: from below, so that no entry is held that should not be.
fn shift(r: &[f64], m: &[f64], c: f64) -> f64 {
    let mut nu = f64::NEG_INFINITY;
    loop {
        let (mut free, mut sum) = (0.0, 0.0);
        for (r, m) in r.iter().zip(m) {
            match c * r - nu > -m {
                true => (free, sum) = (free + 1.0, sum + c * r),
                false => sum -= m,
            }
        }
        let next = sum / free;
        if next.is_nan() || next <= nu {
            return nu;
        }
        nu = next;
    }
}

/// The ellipsoid's cone, with rows that move alike.
impl Cone for CommonShock {
    fn scale(&self, entry: Entry, _: usize) -> f64 {
        (2.0 * entry.budget / entry.weight).sqrt()
    }
    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt().min(1.0)
    }
    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let width = moved.iter().filter(|z| z.row == 0).count();
        for (j, z) in moved.iter().enumerate().skip(width) {
            program.line(0.0, [(z.variable, 1.0), (moved[j % width].variable, -1.0)]);
        }
        program.zero();
        program.line(1.0, []);
        moved.iter().for_each(|z| program.line(0.0, [(z.variable, -1.0)]));
        program.second_order();
    }
}

/// A market of regimes that follow each other whatever is held; what a position costs depends on the next one.
pub(crate) fn market(regimes: usize, positions: usize) -> Result<Model, ModelError> {
    let mut random = Xoshiro256::new(1);
    let mut builder = ModelBuilder::new(0.9);
    for _ in 0..regimes {
        builder.add_state(None);
        let weights: Vec<f64> = (0..regimes).map(|_| -random.uniform().ln()).collect();
        let total: f64 = weights.iter().sum();
        for _ in 0..positions {
            builder.add_action(None, 0.0);
            for (next, weight) in weights.iter().enumerate() {
                builder.add_transition(next, weight / total, 2.0 * random.uniform() - 1.0);
            }
        }
    }
    builder.build()
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("the set conforms: {}", conformance::check(&CommonShock)?);
    let size = std::env::args().nth(1).map_or(Ok(20), |size| size.parse())?;
    let model = market(size, size)?;
    let set = UncertaintySet::new(Distance::Custom(&CommonShock), 0.01 * size as f64);
    let mut bounds = Vec::new();
    for (name, method, oracle) in [
        ("FOM-VI", Method::Auto, Oracle::FirstOrder),
        ("Anderson's iteration, a conic program a state", Method::Anderson, Oracle::InteriorPoint),
    ] {
        let stop = Stop { gap: Some(1e-3), ..Stop::default() };
        let options =
            Options { method, oracle: Some(oracle), stop, threads: Some(1), ..Options::default() };
        let started = Instant::now();
        let solution = solve(&model, &set, &options)?;
        let seconds = started.elapsed().as_secs_f64();
        let (lower, upper) =
            (model.initial_mean(&solution.lower), model.initial_mean(&solution.upper));
        println!("{name}: between {lower:.6} and {upper:.6} after {seconds:.3} s");
        assert!(solution.gap <= 1e-3);
        bounds.push((lower, upper));
    }
    assert!(bounds[0].0 <= bounds[1].1 && bounds[1].0 <= bounds[0].1, "the answers agree");
    Ok(())
}
