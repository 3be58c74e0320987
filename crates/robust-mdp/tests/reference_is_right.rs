//! The plain reference that other tests trust, against values found by hand and by brute force.

mod cases;
mod reference;

use cases::Case;
use reference::{FAMILIES, PRECISION, State};
use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Model, ModelBuilder};

/// One state with these rows (cost, probabilities), λ = ½, the other states terminal.
fn one_state(rows: &[(f64, &[f64])]) -> Model {
    let mut builder = ModelBuilder::new(0.5);
    builder.add_state(None);
    for (cost, odds) in rows {
        builder.add_action(None, *cost);
        odds.iter().enumerate().for_each(|(i, p)| builder.add_transition(i, *p, 0.0));
    }
    for _ in 1..rows[0].1.len() {
        builder.add_state(None);
        builder.mark_terminal();
    }
    builder.build().unwrap()
}

fn update(model: &Model, set: &UncertaintySet, v: &[f64]) -> f64 {
    State::new(model, set, 0, v).update()
}

fn close(found: f64, expected: f64) {
    let error = (found - expected).abs();
    assert!(error <= 1e-15 * expected.abs().max(1.0), "{found:e} for {expected:e}");
}

#[test]
fn ellipsoids_by_hand() {
    // One row (p, 1 − p), b = (0, 1): y moves to (p − δ, 1 − p + δ) with δ² = α until p is gone.
    for (p, alpha) in [(0.5, 0.04), (0.5, 1e-12), (0.5, 1e-8), (0.9, 0.25), (0.125, 1e-4)] {
        let model = one_state(&[(0.0, &[p, 1.0 - p])]);
        for set in [UncertaintySet::ellipsoid(alpha), UncertaintySet::ellipsoid(alpha).per_action()]
        {
            close(update(&model, &set, &[0.0, 2.0]), 1.0 - p + alpha.sqrt());
        }
    }
    let model = one_state(&[(0.0, &[0.5, 0.5])]);
    close(update(&model, &UncertaintySet::ellipsoid(0.25), &[0.0, 2.0]), 1.0);
    // Two such rows of the same cost share the budget: δ² = α/2 each.
    let twin = one_state(&[(3.0, &[0.5, 0.5]), (3.0, &[0.5, 0.5])]);
    close(update(&twin, &UncertaintySet::ellipsoid(0.08), &[0.0, 2.0]), 3.7);
    close(
        update(&twin, &UncertaintySet::ellipsoid(0.08).per_action(), &[0.0, 2.0]),
        3.5 + 0.08f64.sqrt(),
    );
    // Costs 0 and 0.1: μ = ½ + δ₁ = 0.6 + δ₂ with δ₁² + δ₂² = 0.05, i.e. δ₁ = 0.05 + √0.0225.
    let uneven = one_state(&[(0.0, &[0.5, 0.5]), (0.1, &[0.5, 0.5])]);
    close(update(&uneven, &UncertaintySet::ellipsoid(0.05), &[0.0, 2.0]), 0.7);
    // b = (0, 1, 4) from (0, 1, 0): mass goes from the second entry to the third, none to the
    // first; ½(δ² + δ²) = α. On the support it cannot move.
    let model = one_state(&[(0.0, &[0.0, 1.0, 0.0])]);
    let set = UncertaintySet::ellipsoid(0.01);
    close(update(&model, &set, &[0.0, 2.0, 8.0]), 1.3);
    close(update(&model, &set.on_nominal_support(), &[0.0, 2.0, 8.0]), 1.0);
    // b = (0, 0, 1) from (0.1, 0.5, 0.4): all move along (−1, −1, 2)t/3 until t = 0.3 and
    // ½·0.06 = 0.03 is spent; then (−0.1, −δ, δ + 0.1) with ½(0.01 + δ² + (δ + 0.1)²) = 0.07.
    let model = one_state(&[(0.0, &[0.1, 0.5, 0.4])]);
    close(update(&model, &UncertaintySet::ellipsoid(0.03), &[0.0, 0.0, 2.0]), 0.6);
    close(
        update(&model, &UncertaintySet::ellipsoid(0.07), &[0.0, 0.0, 2.0]),
        0.5 + (0.25f64.sqrt() - 0.1) / 2.0,
    );
}

#[test]
fn kl_sets_by_hand() {
    // (½, ½) tilted to (1 − q, q): KL = ln 2 + q ln q + (1 − q) ln(1 − q).
    let entropy = |q: f64| std::f64::consts::LN_2 + q * q.ln() + (1.0 - q) * (1.0 - q).ln();
    let model = one_state(&[(0.0, &[0.5, 0.5])]);
    let twin = one_state(&[(0.0, &[0.5, 0.5]), (0.0, &[0.5, 0.5])]);
    for q in [0.6, 0.75, 0.9, 0.99, 1.0 - 1e-6] {
        close(update(&model, &UncertaintySet::kl(entropy(q)), &[0.0, 2.0]), q);
        close(update(&twin, &UncertaintySet::kl(2.0 * entropy(q)), &[0.0, 2.0]), q);
    }
    // For small α, q = ½ + √(α/2)(1 − α/6 + …).
    for alpha in [1e-12, 1e-8f64] {
        let q = 0.5 + (0.5 * alpha).sqrt() * (1.0 - alpha / 6.0);
        close(update(&model, &UncertaintySet::kl(alpha), &[0.0, 2.0]), q);
    }
    // ln 2 buys the whole mass; ln(1/1e-14) buys it from an entry of 1e-14.
    close(update(&model, &UncertaintySet::kl(std::f64::consts::LN_2), &[0.0, 2.0]), 1.0);
    let tiny = one_state(&[(0.0, &[1.0 - 1e-14, 1e-14])]);
    close(update(&tiny, &UncertaintySet::kl(32.24), &[0.0, 2.0]), 1.0);
    // Costs 0 and c: the rows are tilted to q and q − c, where both budgets add up.
    let uneven = one_state(&[(0.0, &[0.5, 0.5]), (0.125, &[0.5, 0.5])]);
    let alpha = entropy(0.875) + entropy(0.75);
    close(update(&uneven, &UncertaintySet::kl(alpha), &[0.0, 2.0]), 0.875);
}

/// F is the least worst case over a fine grid of policies, and no policy does better.
#[test]
fn no_policy_on_a_grid_does_better() {
    const GRID: usize = 400;
    let mut random = Xoshiro256::new(5);
    for trial in 0..60 {
        let mut row = |n: usize| -> Vec<f64> {
            let weights: Vec<f64> = (0..n).map(|_| 0.05 + random.uniform()).collect();
            let total: f64 = weights.iter().sum();
            weights.iter().map(|w| w / total).collect()
        };
        let n = 2 + trial % 2;
        let (first, second) = (row(n), row(n));
        let model = one_state(&[(0.0, &first), (0.1 * (trial % 5) as f64, &second)]);
        let v = [1.0, 4.0, 2.5];
        let alpha = [1e-3, 0.02, 0.3][trial % 3];
        for set in [
            UncertaintySet::ellipsoid(alpha),
            UncertaintySet::kl(alpha),
            UncertaintySet::kl(alpha).per_action(),
        ] {
            let state = State::new(&model, &set, 0, &v[..n]);
            let best = (0..=GRID)
                .map(|k| k as f64 / GRID as f64)
                .map(|x| state.worst_case(&[1.0 - x, x]))
                .fold(f64::INFINITY, f64::min);
            let found = state.update();
            // The worst case is Lipschitz in x with the range of b.
            let above = best - found;
            assert!((-1e-14..=2.0 / GRID as f64).contains(&above), "{set:?}: {above:e}");
        }
    }
}

/// The worst case of a policy is the largest cost over a fine grid of kernels in the set.
#[test]
fn no_kernel_on_a_grid_does_worse() {
    const GRID: usize = 300;
    let (p, q) = (0.3, 0.6);
    let model = one_state(&[(0.0, &[1.0 - p, p]), (0.2, &[1.0 - q, q])]);
    for (alpha, x) in [(0.01, 0.5), (0.1, 0.2), (0.02, 0.9), (0.3, 0.4)] {
        for set in [UncertaintySet::ellipsoid(alpha), UncertaintySet::kl(alpha)] {
            let found = State::new(&model, &set, 0, &[0.0, 2.0]).worst_case(&[1.0 - x, x]);
            let spent =
                |p: f64, y: f64| reference::spent(set.distance, &[1.0 - y, y], &[1.0 - p, p]);
            let mut most = f64::NEG_INFINITY;
            for k in 0..=GRID * GRID {
                let (y, z) = ((k / GRID) as f64 / GRID as f64, (k % GRID) as f64 / GRID as f64);
                if spent(p, y) + spent(q, z) <= alpha {
                    most = most.max((1.0 - x) * y + x * (0.2 + z));
                }
            }
            let under = found - most;
            assert!((-1e-14..=2.0 / GRID as f64).contains(&under), "{set:?}: {under:e}");
        }
    }
}

/// On the degenerate updates too: no policy beats F, and with one action the two agree.
#[test]
fn updates_and_worst_cases_agree() {
    for family in FAMILIES.iter().copied() {
        let cases = (0..family.share(family.share(400))).map(|seed| Case::new(family, seed));
        for case in cases.filter(|case| !case.is_slow()) {
            for s in (0..case.model.states()).filter(|&s| !case.model.is_terminal(s)) {
                let state = State::new(&case.model, &case.set, s, &case.values);
                let found = state.update();
                let actions = case.model.rows_of(s).len();
                let mut policies = vec![vec![1.0 / actions as f64; actions]];
                policies.extend(
                    (0..actions)
                        .map(|a| (0..actions).map(|k| if k == a { 1.0 } else { 0.0 }).collect()),
                );
                for x in &policies {
                    let above = (state.worst_case(x) - found) / state.scale;
                    let limit = if actions == 1 { PRECISION } else { f64::INFINITY };
                    let Case { seed, .. } = case;
                    assert!(
                        (-PRECISION..=limit).contains(&above),
                        "{family:?} {seed} {s}: {above:e}"
                    );
                }
            }
        }
    }
}
