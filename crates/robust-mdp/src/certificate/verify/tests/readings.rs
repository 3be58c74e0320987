//! What the sets prove of single rows, against more digits than doubles have.

use super::super::proof::ProofRow;
use super::super::tail::{Ranking, Unlisted};
use super::wide::{Wide, exact_exp, exact_ln};
use crate::instances::Xoshiro256;
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
