//! The support function by steps against weak duality on the price curves of sets that have both:
//! max_y Σ x_a⟨b_a, y_a⟩ = min_r [α + Σκ_a·ψ_a(r·x_a/κ_a)]/r.

use super::super::support::{SupportMemory, nearest, support};
use super::Owned;
use crate::geometry::Geometry;
use crate::instances::Xoshiro256;
use crate::sets::set::{Curve, shrink};
use crate::sets::{Distance, Needs};

/// [α + Σκψ]/r, by the curve.
fn dual(curve: &dyn Curve, game: &Owned, x: &[f64], r: f64) -> f64 {
    let block = game.block();
    let row = |k: usize| {
        let (view, kappa) = (block.view(k), block.kappa(k));
        let at = curve.at(view, r * x[k] / kappa, None);
        x[k] * (view.maximum + at.value) - kappa * at.price / r
    };
    let used = (0..game.rows()).filter(|&k| x[k] > 0.0);
    game.radius / r + used.map(row).sum::<f64>()
}

/// The least of it, which is convex in 1/r.
fn least(curve: &dyn Curve, game: &Owned, x: &[f64]) -> f64 {
    let (mut low, mut high) = (-30.0_f64, 30.0_f64);
    for _ in 0..200 {
        let [one, two] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        match dual(curve, game, x, one.exp()) <= dual(curve, game, x, two.exp()) {
            true => high = two,
            false => low = one,
        }
    }
    dual(curve, game, x, (0.5 * (low + high)).exp())
}

#[test]
fn steps_enclose_the_support_function() {
    let mut random = Xoshiro256::new(7);
    let mut memory = SupportMemory::default();
    let mut checked = 0;
    for distance in Distance::ALL.iter().filter(|distance| distance.needs() == Needs::Nothing) {
        let Some(set) = distance.set() else { continue };
        let Some((curve, prox)) = set.curve().zip(set.prox(Geometry::Euclidean)) else { continue };
        for trial in 0..60 {
            let rows = 1 + random.below(4) as usize;
            let width = 1 + random.below(8) as usize;
            let mut game = Owned::random(&mut random, rows, width, 0.0, 2.0);
            game.radius = [0.0, 1e-4, 0.02, 0.2, 3.0][trial % 5];
            game.kappa = (trial % 3 == 0).then(|| (0..rows).map(|k| 0.5 + k as f64).collect());
            let mut x: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
            x[0] = if rows > 1 && trial % 4 == 0 { 0.0 } else { x[0] };
            let (block, mut y) = (game.block(), game.nominal.clone());
            let found = support(prox, block, &x, &mut y, &mut memory);
            let about = format!("{} {trial}: {found:?} {game:?}", set.name());
            assert!(found.upper - found.lower <= 1e-7, "{about}");
            let share = shrink(set, block.spent(set, &y), game.radius);
            assert!(share >= 1.0 - 1e-7 || game.radius == 0.0, "{about}: {share}");
            if game.radius > 0.0 {
                let exact = least(curve, &game, &x);
                let near = 1e-8;
                assert!(
                    found.lower <= exact + near && exact <= found.upper + near,
                    "{about} {exact}"
                );
                checked += 1;
            }
            let before = y.clone();
            nearest(prox, block, &mut y, &mut memory);
            let moved = y.iter().zip(&before).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(moved <= 1e-7, "{about}: a kernel of the set moves by {moved}");
        }
    }
    assert!(checked >= 300, "{checked}");
}
