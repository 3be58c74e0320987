//! What the sets prove of single rows, against more digits than doubles have.

use super::super::proof::{ProofRow, Reading};
use super::super::tail::{Ranking, Unlisted};
use super::wide::{Wide, exact_exp, exact_ln};
use crate::instances::Xoshiro256;
use crate::rows::Row;
use crate::sets::Distance;

/// a ≤ b, up to digits that even these numbers do not have.
fn at_most(a: &Wide, b: &Wide) -> bool {
    a.plus(&b.times(-1.0)).value() <= 1e-40
}

/// Probabilities that sum to one exactly, objectives of which the largest is 0, and the states of a tail.
struct Case {
    p: Vec<f64>,
    z: Vec<f64>,
    rest: Vec<f64>,
    t: f64,
}

/// Rows of all sizes: probabilities down to 1e-55 that sum to nearly one, or very many that are the same, so that
/// roundings add up; multipliers from 1e-300 to 1e90, at times at an edge 2c/(−z).
fn steep(random: &mut Xoshiro256, k: usize) -> Case {
    let Case { mut p, mut z, .. } = case(random, k);
    if k % 250 == 249 {
        (p, z) = (vec![1.0; 4001], vec![-0.1 * z.iter().sum::<f64>().abs() - 0.3; 4001]);
        z[7] = 0.0;
    }
    let power = if p.len() > 1000 { 0.0 } else { [1.0, 8.0, 30.0][k % 3] };
    p.iter_mut().for_each(|p| *p = random.uniform().powf(power) + 1e-60);
    if k.is_multiple_of(4) {
        p[z.len() / 2] = 1e-55;
    }
    let mass = p.iter().sum::<f64>() * [1.0, 1.0 + 1e-9, 1.0 - 1e-9][k % 3];
    p.iter_mut().for_each(|p| *p /= mass);
    let depth = z.iter().fold(0.0, |m: f64, z| m.max(-z));
    let size = [-300.0, -9.0, -1.0, 0.5, 2.0, 8.0, 15.0, 27.0, 90.0][k % 9] + random.uniform();
    let t = match k % 5 {
        0 => -2.0 / z[0],
        1 => -1.0 / z[0],
        _ => 10f64.powf(size) / depth,
    };
    Case { p, z, rest: Vec::new(), t }
}

fn case(random: &mut Xoshiro256, k: usize) -> Case {
    let n = [2, 5, 9, 17, 40][k % 5];
    let grain = 2f64.powi(-30);
    let mut p: Vec<f64> =
        (0..n).map(|_| (random.uniform() / n as f64 / grain).floor() * grain).collect();
    p[0] += 1.0 - p.iter().sum::<f64>();
    let spread = 10f64.powf(4.0 * random.uniform() - 2.0);
    let mut draw = |n: usize| (0..n).map(|_| -spread * random.uniform()).collect::<Vec<f64>>();
    let (mut z, rest) = (draw(n), draw(if k.is_multiple_of(2) { 0 } else { 60 }));
    z[n / 2] = 0.0;
    let t = 10f64.powf([-9.0, -4.0, -1.0, 0.5][k % 4] + random.uniform()) / spread;
    Case { p, z, rest, t }
}

/// The multiplier ν for which the row has mass one, to rounding, and at times another.
fn nu(random: &mut Xoshiro256, k: usize, mass: impl Fn(f64) -> f64, size: f64) -> f64 {
    let (mut low, mut high) = (-2.0 * size - 2.0, 2.0 * size + 2.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        (low, high) = if mass(middle) > 1.0 { (middle, high) } else { (low, middle) };
    }
    if k.is_multiple_of(3) { low + 1e-3 * size * (random.uniform() - 0.5) } else { low }
}

#[test]
fn ellipsoids_prove_what_exact_arithmetic_gives() {
    let proof = Distance::Ellipsoid.set().and_then(|set| set.proof()).expect("a proof");
    let mut random = Xoshiro256::new(21);
    for k in 0..1500 {
        let Case { p, z, rest, t } = case(&mut random, k);
        let entries: Vec<(f64, f64)> = p
            .iter()
            .copied()
            .chain(rest.iter().map(|_| 0.0))
            .zip(z.iter().chain(&rest).copied())
            .collect();
        let mass = |nu: f64| entries.iter().map(|(p, z)| (p + t * z - nu).max(0.0)).sum::<f64>();
        let depth = entries.iter().fold(0.0, |m: f64, e| m.max(-e.1));
        let nu = nu(&mut random, k, mass, t * depth);
        let ranking = Ranking::new(&[&z[..], &rest].concat());
        let unlisted = Unlisted { ranking: &ranking, listed: &z, maximum: 0.0 };
        let unlisted = (!rest.is_empty()).then_some(unlisted);
        let found = proof.read(&ProofRow { depth, unlisted, ..ProofRow::new(&p, &z) }, t, nu);
        let [mut dual, mut own, mut value, mut way] = [nu, 0.0, 0.0, 0.0].map(Wide::from);
        let mut row = Vec::new();
        for &(p, z) in &entries {
            let h = Wide::from(z).times(t).plus(&Wide::from(-nu));
            let y = h.plus(&Wide::from(p));
            let y = if y.value() > 0.0 { y } else { Wide::from(0.0) };
            let apart = y.plus(&Wide::from(-p));
            dual = dual.plus(&h.by(&y)).plus(&apart.by(&apart).times(-0.5));
            (own, value) = (own.plus(&y), value.plus(&y.times(z)));
            row.push((p, y));
        }
        for (p, y) in &row {
            let apart = y.plus(&own.times(-p));
            way = way.plus(&apart.by(&apart).times(0.5));
        }
        assert!(at_most(&dual, &Wide::from(found.dual)), "{k}: {:e}", found.dual);
        assert!(at_most(&own.times(found.value.lo()), &value), "{k}: {:?}", found.value);
        assert!(at_most(&value, &own.times(found.value.hi())), "{k}: {:?}", found.value);
        assert!(at_most(&way, &own.by(&own).times(found.spent)), "{k}: {:e}", found.spent);
        // And not much more than that.
        assert!(found.dual - dual.value() <= 1e-13 * (1.0 + nu.abs()), "{k}");
        assert!(
            found.value.hi() - found.value.lo() <= 1e-12 * (depth + nu.abs() / t),
            "{k}: {:?}",
            found.value
        );
    }
}

/// Exponents are brought to −700, where z cannot be read off from them: rows without mass have no value.
#[test]
fn rows_of_kl_sets_without_mass_prove_no_value() {
    let proof = Distance::Kl.set().and_then(|set| set.proof()).expect("a proof");
    for (nu, proved) in [(-0.5, true), (1.5, true), (2.0, false), (650.0, false), (800.0, false)] {
        let row = ProofRow::new(&[0.0, 0.5, 0.5], &[9.0, -1e3, 0.0]);
        let found = proof.read(&ProofRow { maximum: 0.0, depth: 1e3, ..row }, 1.0, nu);
        let found = (found.value.lo(), found.value.hi(), found.spent);
        let nothing = found.2.is_nan();
        assert_eq!(nothing, !proved, "{nu}: {found:?}");
        let right = found.0 <= 0.0 && found.1 >= 0.0 && found.2 >= 2.0_f64.ln();
        assert!(nothing || right, "{nu}: {found:?}");
    }
}

#[test]
fn kl_sets_prove_what_exact_arithmetic_gives() {
    let proof = Distance::Kl.set().and_then(|set| set.proof()).expect("a proof");
    let mut random = Xoshiro256::new(22);
    for k in 0..400 {
        let Case { p, z, t, .. } = case(&mut random, k);
        let mass = |nu: f64| p.iter().zip(&z).map(|(p, z)| p * (t * z - nu).exp()).sum::<f64>();
        let row = ProofRow::new(&p, &z);
        let nu = nu(&mut random, k, mass, t * row.depth);
        let found = proof.read(&row, t, nu);
        let [mut all, mut own, mut value, mut logs] = [(); 4].map(|()| Wide::from(0.0));
        for (&p, &z) in p.iter().zip(&z) {
            all = all.plus(&exact_exp(&Wide::from(z).times(t).plus(&Wide::from(-nu))).times(p));
            // The row is made of computed exponentials.
            let a = t.mul_add(z, -nu);
            let e = super::exp(a).1;
            let y = Wide::from(p).times(e);
            logs = logs.plus(&exact_ln(&Wide::from(e), a).by(&y));
            (own, value) = (own.plus(&y), value.plus(&y.times(z)));
        }
        let dual = exact_ln(&all, all.value().ln()).plus(&Wide::from(nu));
        // KL = Σ y ln e/S − ln S, y = pe, S = Σy.
        let price = logs.plus(&exact_ln(&own, own.value().ln()).by(&own).times(-1.0));
        assert!(at_most(&dual, &Wide::from(found.dual)), "{k}: {:e}", found.dual);
        assert!(at_most(&own.times(found.value.lo()), &value), "{k}: {:?}", found.value);
        assert!(at_most(&value, &own.times(found.value.hi())), "{k}: {:?}", found.value);
        assert!(at_most(&price, &own.times(found.spent)), "{k}: {:e}", found.spent);
        assert!(
            found.value.hi() - found.value.lo() <= 1e-12 * (row.depth + nu.abs() / t),
            "{k}: {:?}",
            found.value
        );
    }
}

/// The mass, the dual and what a row of these entries is worth and spends are compared with P, M and all else
/// brought to one denominator: the nominal row is p/P.
struct Exact {
    /// P, and of the row before it is brought to mass one M and P·M·⟨z, ŷ⟩/P.
    nominal: Wide,
    own: Wide,
    value: Wide,
    /// P times the dual.
    dual: Wide,
}

impl Exact {
    fn psi(&self) -> f64 {
        self.dual.value() / self.nominal.value()
    }

    fn is_met_by(&self, found: &Reading) -> bool {
        let Exact { nominal, own, value, dual } = self;
        at_most(dual, &nominal.times(found.dual))
            && at_most(&own.times(found.value.lo()), value)
            && at_most(value, &own.times(found.value.hi()))
    }
}

fn total(terms: impl Iterator<Item = Wide>) -> Wide {
    terms.fold(Wide::from(0.0), |sum, term| sum.plus(&term))
}

#[test]
fn chi2_sets_prove_what_exact_arithmetic_gives() {
    let proof = Distance::Chi2.set().and_then(|set| set.proof()).expect("a proof");
    let (mut random, mut positive, mut open, mut sharply) = (Xoshiro256::new(23), 0, 0, 0);
    for k in 0..3000 {
        let Case { p, z, t, .. } = steep(&mut random, k);
        let row = ProofRow::new(&p, &z);
        let height = |z: f64, nu: f64| (1.0 + 0.5 * (t * z - nu)).max(0.0);
        let mass = |nu: f64| p.iter().zip(&z).map(|(p, z)| p * height(*z, nu)).sum::<f64>();
        let nu = match k % 7 {
            0 => 2.0 * random.uniform(),
            1 => 0.0,
            _ => nu(&mut random, k, mass, t * row.depth),
        };
        positive += usize::from(nu > 0.0);
        let found = proof.read(&row, t, nu);
        let entries = || p.iter().zip(&z).map(|(p, z)| (*p, *z));
        let nominal = total(entries().map(|(p, _)| Wide::from(p)));
        // φ = h + h²/4 where h > −2, else −1.
        let dual = entries().map(|(p, z)| {
            let h = Wide::from(z).times(t).plus(&Wide::from(-nu));
            let inside = h.plus(&Wide::from(2.0)).value() > 0.0;
            if inside { h.plus(&h.by(&h).times(0.25)).times(p) } else { Wide::from(-p) }
        });
        let dual = total(dual).plus(&nominal.times(nu));
        // The row p(1 − c/2) is made of computed losses.
        let kept = |z: f64| Wide::from(-0.5 * t.mul_add(-z, nu).min(2.0)).plus(&Wide::from(1.0));
        let own = total(entries().map(|(p, z)| kept(z).times(p)));
        let value = total(entries().map(|(p, z)| kept(z).times(p).times(z)));
        // d(ŷ, p/P) = Σp(kP − M)²/(PM²).
        let way = total(entries().map(|(p, z)| {
            let apart = kept(z).by(&nominal).plus(&own.times(-1.0));
            apart.by(&apart).times(p)
        }));
        let unit = own.by(&own).by(&nominal);
        if found.spent.is_nan() {
            // No mass is left, or too little of it.
            assert!(own.value() < 1e-13 * nu.abs().max(1.0), "{k}: {found:?}");
            open += 1;
            continue;
        }
        let exact = Exact { nominal, own, value, dual };
        assert!(exact.is_met_by(&found), "{k}: {found:?}");
        assert!(at_most(&way, &unit.times(found.spent)), "{k}: {:e}", found.spent);
        // And not much more than that, where the row had about its mass and squares do not underflow.
        if !(0.5..2.0).contains(&exact.own.value()) || t * row.depth < 1e-100 {
            continue;
        }
        let sharp = 1e-13 * (1.0 + nu.abs() + t * row.depth);
        assert!(found.dual - exact.psi() <= sharp * (1.0 + nu.abs()), "{k}: {found:?}");
        // Σp|c| is bounded by a root.
        let spent = way.value() / unit.value();
        let size = (row.depth + nu.abs() / t) * (1.0 + spent).sqrt();
        assert!(found.value.radius() <= 1e-12 * size, "{k}: {found:?}");
        let lost = (1e-13 + 1e-15 * p.len() as f64) * (1.0 + spent).powf(1.5);
        assert!(found.spent <= spent + lost, "{k}: {found:?} {spent:e}");
        sharply += 1;
    }
    assert!(positive > 300 && open < 300 && sharply > 1000, "{positive} {open} {sharply}");
}

#[test]
fn l1_sets_prove_what_exact_arithmetic_gives() {
    let mut random = Xoshiro256::new(24);
    for (distance, most) in [(Distance::L1, 2.0), (Distance::Tv, 1.0)] {
        let proof = distance.set().and_then(|set| set.proof()).expect("a proof");
        for k in 0..2000 {
            let Case { p, z, t, .. } = steep(&mut random, k);
            let nu = [0.0, 1.0, random.uniform(), 1e-16, 1e-300][k % 5];
            let row = ProofRow::new(&p, &z);
            let found = proof.read(&row, t, nu);
            let entries = || p.iter().zip(&z).map(|(p, z)| (*p, *z));
            let nominal = total(entries().map(|(p, _)| Wide::from(p)));
            let dual = total(entries().map(|(p, z)| {
                let gain = Wide::from(z).times(t);
                if gain.value() > -most { gain.times(p) } else { Wide::from(-most * p) }
            }));
            // Whether a donor gives is told by computed numbers.
            let moved = |z: f64| match -t * z {
                x if x < most * (1.0 - 1e-12) => 0.0,
                x if x < most * (1.0 + 1e-12) => nu,
                _ => 1.0,
            };
            let kept = |z: f64| Wide::from(1.0).plus(&Wide::from(-moved(z)));
            let value = total(entries().map(|(p, z)| kept(z).times(p).times(z)));
            let way = total(entries().map(|(p, z)| Wide::from(p).times(moved(z)).times(most)));
            let exact = Exact { own: nominal.clone(), nominal, value, dual };
            assert!(exact.is_met_by(&found), "{k}: {found:?}");
            assert!(at_most(&way, &exact.own.times(found.spent)), "{k}: {found:?}");
            let spent = way.value() / exact.own.value();
            // And not much more than that: a value of a short row is off by 18 roundings.
            assert!(
                found.dual - exact.psi() <= 1e-12 * exact.psi().abs() + 1e-299,
                "{k}: {found:?}"
            );
            assert!(
                found.value.radius() <= (3e-15 + 5e-17 * p.len() as f64) * row.depth,
                "{k}: {found:?}"
            );
            assert!(found.spent <= spent * (1.0 + 1e-12) + 1e-299, "{k}: {found:?}");
            for nu in [-1e-300, 1.0 + f64::EPSILON, f64::NAN] {
                assert!(proof.read(&row, t, nu).dual.is_nan());
            }
        }
    }
}

/// Nature's row, as its two numbers tell it, is about worth and spends what the set says, and no more: where
/// the heaviest state lies far below the maximum, ν has few digits left for it.
#[test]
fn steep_chi2_rows_spend_no_more_than_their_price() {
    let set = Distance::Chi2.set().and_then(|set| set.curve()).expect("a curve");
    let proof = set.proof().expect("a proof");
    for (tiny, low) in [(1e-9, 0.0), (1e-25, 0.3), (1e-55, 0.3), (1e-65, 0.086)] {
        let (p, w) = ([1.0 - low - tiny, tiny, low], [-0.7, 0.3, -1.1]);
        let row = Row {
            p: &p,
            w: &w,
            maximum: 0.3,
            range: 1.4,
            outside: None,
            order: None,
            data: crate::sets::EntryData::default(),
        };
        let steepest = 1.0 / (f64::EPSILON * row.range);
        for t in [1.0, 1e4, 1e9, 1e13, 0.1 * steepest, steepest] {
            let at = set.at(row, t, None);
            let fine = 1e-14 * (1.0 + at.price).sqrt();
            let found = proof.read(&ProofRow::new(&p, &w), t, at.nu);
            assert!(found.spent <= at.price * (1.0 + fine) + fine, "{tiny} {t}: {at:?} {found:?}");
            // What is left of the budget is worth its share of t.
            let worth = at.value - (1.0 + at.price) / t - fine;
            assert!(
                found.value.lo() >= worth && found.value.hi() <= at.value + fine,
                "{tiny} {t}: {at:?} {found:?}"
            );
        }
        // Beyond that a row is still what it is.
        for t in [1e20, 1e30, 1e49, 1e80] {
            let at = set.at(row, t, None);
            assert!(at.value >= -1.0 - 1e-15 && at.value <= 0.0, "{tiny} {t}: {at:?}");
            assert!(at.price >= 0.0 && at.price <= 1.001 / tiny, "{tiny} {t}: {at:?}");
        }
    }
}
