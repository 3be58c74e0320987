//! What certificates prove, good and absurd ones, against nature's best answers.

use super::super::state::{Check, Hand};
use crate::certificate::{Certificate, Claim, Multipliers, Weight};
use crate::instances::Xoshiro256;
use crate::model::{Model, Objective, RowStarts, Storage};
use crate::sets::{Distance, Radius, Rectangularity, Support, UncertaintySet};
use crate::{Criterion, Direction, Method, Oracle};

/// A row where it may have mass: probabilities of mass one, and objectives less the largest.
struct Seen {
    p: Vec<f64>,
    w: Vec<f64>,
    /// That and the row's cost, above λ·max v.
    maximum: f64,
    cost: f64,
    /// How often its distance counts.
    kappa: f64,
    kl: bool,
}

impl Seen {
    fn new(model: &Model, set: &UncertaintySet, v: &[f64], r: usize) -> Seen {
        let highest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let ahead = |i: usize| model.discount() * (v[i] - highest);
        let listed = model.row(r).entries();
        let has = |i: usize| listed.clone().any(|e| e.0 == i);
        let rest = (0..v.len()).filter(|i| !has(*i)).map(|i| (0.0, ahead(i)));
        let mut entries: Vec<(f64, f64)> = rest.collect();
        entries.extend(listed.clone().map(|(i, p, toll)| (p, ahead(i) + toll)));
        entries.retain(|e| set.support == Support::All || e.0 > 0.0);
        let maximum = entries.iter().fold(f64::NEG_INFINITY, |m, e| m.max(e.1));
        let mass: f64 = entries.iter().map(|e| e.0).sum();
        let (p, w) = entries.iter().map(|(p, w)| (p / mass, w - maximum)).unzip();
        let (cost, kappa, kl) = (model.cost[r], set.weight_at(r), set.distance == Distance::Kl);
        Seen { p, w, maximum, cost, kappa, kl }
    }

    fn depth(&self) -> f64 {
        self.w.iter().fold(0.0, |m: f64, w| m.max(-w))
    }

    /// max of t⟨w, y⟩ − κd(y), the multiplier ν of the mass over κ, κd(y) and ⟨w, y⟩.
    fn tilted(&self, t: f64) -> [f64; 4] {
        let [gain, nu, distance, value] = self.alone(t / self.kappa);
        [self.kappa * gain, nu, self.kappa * distance, value]
    }

    /// The same for κ = 1.
    fn alone(&self, t: f64) -> [f64; 4] {
        let entries = || self.p.iter().zip(&self.w);
        let (mut distance, mut value) = (0.0, 0.0);
        if self.kl {
            let excess: f64 = entries().map(|(p, w)| p * (t * w).exp_m1()).sum();
            let whole: f64 = entries().map(|(p, w)| p * (t * w).exp()).sum();
            let nu = if excess > -0.5 { excess.ln_1p() } else { whole.ln() };
            for (p, w) in entries() {
                let a = t * w - nu;
                let f = match a.abs() < 1e-3 {
                    true => a * a * (0.5 + a * (1.0 / 3.0 + a * (0.125 + a / 30.0))),
                    false if a > -700.0 => a * a.exp() - a.exp_m1(),
                    false => 1.0,
                };
                (distance, value) = (distance + p * f, value + p * a.exp() * w);
            }
            return [nu, nu, distance, value];
        }
        let mut falling: Vec<f64> = entries().map(|(p, w)| p + t * w).collect();
        falling.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut nu) = (0.0, 0.0);
        for (k, z) in falling.into_iter().enumerate() {
            let next = (sum + z - 1.0) / (k + 1) as f64;
            if k > 0 && z <= next {
                break;
            }
            (sum, nu) = (sum + z, next);
        }
        for (p, w) in entries() {
            let y = (p + t * w - nu).max(0.0);
            (distance, value) = (distance + 0.5 * (y - p) * (y - p), value + y * w);
        }
        [t * value - distance, nu, distance, value]
    }
}

/// What nature makes of rows of weights x that share a budget, above λ·max v, and its multiplier μ. An error of μ makes
/// a larger value, but only its square.
fn nature(rows: &[(f64, &Seen)], radius: f64) -> (f64, f64) {
    let rows: Vec<&(f64, &Seen)> = rows.iter().filter(|r| r.0 > 0.0).collect();
    let sum = |of: &dyn Fn(f64, &Seen) -> f64| rows.iter().map(|(x, row)| of(*x, row)).sum::<f64>();
    let maximum = sum(&|x, row| x * (row.cost + row.maximum));
    let depth = rows.iter().fold(0.0, |m: f64, r| m.max(r.1.depth()));
    if radius == 0.0 || depth == 0.0 {
        return (maximum + sum(&|x, row| x * row.tilted(0.0)[3]), 0.0);
    }
    let (mut low, mut high) = ((1e-25 * depth).ln(), (1e12 * depth).ln());
    for _ in 0..48 {
        let middle = 0.5 * (low + high);
        let spent = sum(&|x, row| row.tilted(x / middle.exp())[2]);
        (low, high) = if spent > radius { (middle, high) } else { (low, middle) };
    }
    let mu = high.exp();
    (maximum + (mu * (radius + sum(&|x, row| row.tilted(x / mu)[0]))).min(0.0), mu)
}

struct Draw(Xoshiro256);

impl Draw {
    fn one_in(&mut self, n: u64) -> bool {
        self.0.below(n) == 0
    }

    fn log(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(low + (high - low) * self.0.uniform())
    }

    /// x give or take a share of it.
    fn near(&mut self, x: f64, low: f64, high: f64) -> f64 {
        x * (1.0 + self.log(low, high) * if self.one_in(2) { 1.0 } else { -1.0 })
    }

    /// x, or something else.
    fn absurd(&mut self, x: f64) -> f64 {
        let any = self.log(-20.0, 20.0);
        let found = match self.0.below(6) {
            0 | 1 => x,
            2 => self.near(x, -14.0, -1.0),
            3 => x + (self.near(1.0, -14.0, 0.0) - 1.0),
            4 => x * self.log(-3.0, 3.0),
            _ => [0.0, any, -any, 1e308, -1e308, 5e-324, 1e-300, -710.0, -699.0, 64.0, -64.0]
                [self.0.below(11) as usize],
        };
        if found.is_finite() { found } else { 0.0 }
    }

    /// A model of so many actions a state at most.
    fn model(&mut self, actions: u64, size: f64) -> Model {
        let most = if self.one_in(12) { 100 } else { 30 };
        let states = 1 + self.0.below(most) as usize;
        let discount = [0.9, 0.999, self.0.uniform()][self.0.below(3) as usize];
        let (mut state_ptr, mut prob) = (vec![0], Vec::new());
        for s in 0..states {
            state_ptr.push(state_ptr[s] + 1 + self.0.below(actions) as usize);
        }
        for _ in 0..state_ptr[states] {
            let kind = self.0.below(4);
            let mut row: Vec<f64> = (0..states)
                .map(|_| match (kind, self.0.below(6)) {
                    (0 | 3, 0..4) => 0.0,
                    (1, 0) => 1e-300,
                    (1, 1) => self.log(-300.0, 0.0),
                    _ => self.0.uniform(),
                })
                .collect();
            row[0] += 0.01;
            let sum: f64 = self.near(row.iter().sum(), -17.0, -9.0);
            prob.extend(row.iter().map(|p| p / sum));
        }
        // Few values are below what these cost: lower bounds have something to prove.
        let cost = (0..state_ptr[states]).map(|_| -size * (0.5 + self.0.uniform())).collect();
        let (mut storage, mut repeats) = (Storage::Dense, false);
        if self.one_in(2) {
            repeats = self.one_in(4);
            // Most of what has no mass is not listed.
            let mut starts = vec![0];
            let (mut next, mut listed) = (Vec::new(), Vec::new());
            for row in prob.chunks(states) {
                for (i, p) in row.iter().enumerate() {
                    if *p > 0.0 || self.one_in(9) {
                        // At several costs, if there are any.
                        let again = repeats && self.one_in(3);
                        let shares = if again { vec![0.5, 0.25, 0.25] } else { vec![1.0] };
                        next.extend(vec![i as u32; shares.len()]);
                        listed.extend(shares.iter().map(|share| share * p));
                    }
                }
                starts.push(next.len());
            }
            (storage, prob) = (Storage::Sparse { row_ptr: RowStarts::new(starts), next }, listed);
        }
        let tolls = (0..prob.len()).map(|_| size * self.0.uniform()).collect();
        Model {
            discount,
            objective: Objective::MinCost,
            state_ptr,
            storage,
            prob,
            cost,
            transition_cost: (self.one_in(3) || repeats).then_some(tolls),
            bounds: None,
            initial: None,
            state_names: None,
            action_names: None,
            facts: None,
        }
        .with_facts()
    }

    fn set(&mut self, radius: f64) -> UncertaintySet {
        let set = match self.0.below(6) {
            0 | 1 => UncertaintySet::ellipsoid(radius),
            2 => UncertaintySet::ellipsoid(radius).on_nominal_support(),
            _ => UncertaintySet::kl(radius),
        };
        if self.one_in(2) { set.per_action() } else { set }
    }

    /// Multipliers that are best, or nearly so; or any.
    fn certificate(
        &mut self,
        model: &Model,
        set: &UncertaintySet,
        v: [Vec<f64>; 2],
        sane: bool,
    ) -> Certificate {
        let [upper, lower] = v;
        let shared = set.rectangularity == Rectangularity::State;
        let (mut policy, mut scale, mut kernel) = (Vec::new(), Vec::new(), Vec::new());
        for s in 0..model.states() {
            let radius = set.radius_at(s, 0);
            let of = |r| Seen::new(model, set, &upper, r);
            let rows: Vec<Seen> = model.rows_of(s).map(of).collect();
            let weights: Vec<f64> = rows.iter().map(|_| self.log(-4.0, 0.0)).collect();
            let sum: f64 = weights.iter().sum();
            let x = |k: usize| weights[k] / sum;
            let of = |k: usize| (x(k), &rows[k]);
            let all: Vec<(f64, &Seen)> = (0..rows.len()).map(of).collect();
            let mut multiplier = |rows: &[(f64, &Seen)]| {
                let mu = nature(rows, radius).1;
                if sane { self.near(mu, -12.0, -1.0) } else { self.absurd(mu).abs() }
            };
            let common = multiplier(&all);
            let own: Vec<f64> = rows.iter().map(|row| multiplier(&[(1.0, row)])).collect();
            scale.extend(if shared { vec![common] } else { own.clone() });
            for (k, seen) in rows.iter().enumerate() {
                let t = if shared { x(k) / common } else { 1.0 / own[k] };
                let from = |t: f64| seen.tilted(t)[1];
                let row = (model.rows_of(s).start + k) as u32;
                let nu = if sane && t.is_finite() { from(t) } else { self.absurd(from(t)) };
                policy.push(Weight { row, probability: x(k), nu });
                if !sane && self.one_in(4) {
                    let t = self.log(-3.0, 3.0) / (seen.depth() + 1e-100);
                    let t = self.absurd(t).abs();
                    kernel.push(Multipliers { row, t, nu: self.absurd(from(seen.kappa * t)) });
                }
            }
        }
        Certificate {
            model: 0,
            discount: model.discount(),
            objective: Objective::MinCost,
            criterion: Criterion::Discounted,
            direction: Direction::Worst,
            deterministic: false,
            surely: false,
            set: set.clone(),
            method: Method::Auto,
            oracle: Oracle::Exact,
            claim: Claim { lower: 0.0, upper: 0.0, gap: 0.0 },
            upper,
            lower,
            policy,
            scale,
            kernel,
            further: Vec::new(),
        }
    }
}

/// The least of what is proved less what is true over all states, in units of the largest numbers: T_x v_U − v_U, and
/// v_L − T_x v_L for the policy and for every action; and how often that is next to nothing.
fn least_margins(model: &Model, certificate: &Certificate) -> ([f64; 2], [usize; 2]) {
    let Certificate { set, upper, lower, policy, .. } = certificate;
    let Radius::Uniform(radius) = set.radius else { unreachable!() };
    let (check, mut hand) = (Check::discounted(model, certificate), Hand::default());
    let (mut least, mut close) = ([f64::INFINITY; 2], [0; 2]);
    let parts = [0, model.states() / 3, 2 * model.states() / 3, model.states()];
    let of = |k: usize| check.run(parts[k]..parts[k + 1], &mut hand);
    for (s, found) in (0..3).flat_map(of).enumerate() {
        let own = policy.iter().filter(|w| model.rows_of(s).contains(&(w.row as usize)));
        let mut policies = vec![own.map(|w| w.probability).collect::<Vec<f64>>()];
        let sum: f64 = policies[0].iter().sum();
        policies[0].iter_mut().for_each(|x| *x /= sum);
        let actions = policies[0].len();
        let pure = |k| (0..actions).map(|j| f64::from(u8::from(j == k))).collect();
        policies.extend((0..actions).map(pure));
        for (half, v) in [upper, lower].into_iter().enumerate() {
            let rows: Vec<Seen> = model.rows_of(s).map(|r| Seen::new(model, set, v, r)).collect();
            let highest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let largest = v.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let size =
                |row: &Seen| row.cost.abs() + row.depth() + row.maximum.abs() + 2.0 * largest;
            let unit = rows.iter().map(size).fold(1e-200, f64::max);
            for x in &policies[..if half == 0 { 1 } else { policies.len() }] {
                let pairs: Vec<(f64, &Seen)> = x.iter().copied().zip(&rows).collect();
                let value = match set.rectangularity {
                    Rectangularity::State => nature(&pairs, radius).0,
                    Rectangularity::StateAction => {
                        pairs.iter().map(|(x, row)| x * nature(&[(1.0, row)], radius).0).sum()
                    }
                };
                let more = value + (model.discount() * highest - v[s]);
                // States that cost no less than v_L are not told apart.
                let over = [found.above - more, found.below - (-more).max(0.0)][half] / unit;
                least[half] = least[half].min(over);
                close[half] += usize::from(over < 1e-9 && (half == 0 || more < 0.0));
            }
        }
    }
    (least, close)
}

/// Over many models: no margin is below 0, but for the roundings here.
fn all_is_true(seed: u64, models: usize, sane: bool) {
    let (mut draw, mut close) = (Draw(Xoshiro256::new(seed)), [0; 2]);
    for case in 0..models {
        let size = draw.log(-8.0, 8.0);
        let model = draw.model(if sane { 1 } else { 11 }, size);
        let radius = match draw.0.below(10) {
            0 if !sane => 0.0,
            1..4 if !sane => draw.log(-2.0, 3.0),
            _ => draw.log(-13.0, -2.0),
        };
        let mut set = draw.set(radius);
        if set.rectangularity == Rectangularity::State && draw.one_in(2) {
            set.weights = Some((0..model.rows()).map(|_| draw.log(-2.0, 2.0)).collect());
        }
        let (kind, size) = (draw.0.below(8), if sane { size } else { draw.log(-8.0, 8.0) });
        let mut values = || match kind {
            0 => vec![size; model.states()],
            1 => (0..model.states()).map(|_| size + draw.log(-40.0, 0.0)).collect(),
            _ => (0..model.states()).map(|_| size * draw.0.uniform()).collect::<Vec<f64>>(),
        };
        let (upper, other) = (values(), values());
        let lower = if sane || draw.one_in(2) { upper.clone() } else { other };
        let certificate = draw.certificate(&model, &set, [upper, lower], sane);
        let (least, found) = least_margins(&model, &certificate);
        // Sums over many states are off here by more than what is proved.
        let off = if model.states() > 30 { 1e-13 } else { 1e-15 };
        let fine = least.iter().all(|over| *over >= -off);
        assert!(fine, "{least:?}, model {case}: {set:?}");
        (close[0], close[1]) = (close[0] + found[0], close[1] + found[1]);
    }
    assert!(close.iter().all(|n| *n > models), "{close:?}");
}

#[test]
fn no_certificate_proves_what_is_false() {
    all_is_true(1, 150, false);
}

/// One action a state, and multipliers that prove most: roundings decide what is in small sets.
#[test]
fn kernels_just_outside_of_a_set_prove_nothing() {
    all_is_true(2, 600, true);
}
