//! Steps by entries. The step of an entry is searched exhaustively; then a step of rows is optimal if and
//! only if its entries are those of one shift a row and one multiplier, rows have mass one, and the
//! budget is spent unless the multiplier is 0.

use super::{
    CASES, Case, Chi2, ELLIPSOID, EllipsoidEntropy, KlEuclidean, Owned, Ray, State, Tilted, blocks,
};
use crate::geometry::Geometry;
use crate::instances::Xoshiro256;
use crate::oracle::first_order::prox_of;
use crate::sets::EntryData;
use crate::sets::burg::Burg;
use crate::sets::hellinger::Hellinger;
use crate::sets::l1::NORM;
use crate::sets::neyman::Neyman;
use crate::sets::proximal::{Mirror, Prox, ProximalEntry, Separable};

/// V(y) − zy + s·d(y, p), up to what is linear in y and the same for all entries of a row.
fn objective(entry: &dyn ProximalEntry, z: f64, p: f64, s: f64, y: f64) -> f64 {
    let bregman = match entry.mirror() {
        Mirror::Point => 0.5 * (y - z) * (y - z),
        Mirror::Log => y * (y.ln() - 1.0 - z),
        Mirror::LogRatio => y * ((y / p).ln() - 1.0 - z),
    };
    let distance = match entry.set().name() {
        // Without the −y that sums to −1 over a row.
        "kl" => y * (y / p).ln() - y,
        _ => entry.set().distance(&[p], &[y], EntryData::default()),
    };
    bregman + s * distance
}

#[test]
fn the_step_of_an_entry_is_the_best_one() {
    let mut rng = Xoshiro256::new(21);
    let entries: [&dyn ProximalEntry; 9] =
        [&NORM, &Chi2, &Ray, &Tilted, &KlEuclidean, &EllipsoidEntropy, &Burg, &Hellinger, &Neyman];
    for entry in entries {
        for _ in 0..2000 {
            let z = 3.0 * (rng.uniform() - 0.5);
            let p = if entry.set().leaves_support() && rng.uniform() < 0.2 {
                0.0
            } else {
                rng.uniform()
            };
            let s = if rng.uniform() < 0.1 { 0.0 } else { 10.0 * rng.uniform().powi(4) };
            let (y, slope) = entry.at(z, p, s);
            let name = format!("{} z={z} p={p} s={s} y={y}", entry.set().name());
            assert!(y >= 0.0 && (0.0..=y.max(1.0)).contains(&slope), "{name} {slope}");
            let best = objective(entry, z, p, s, y.max(1e-300));
            for i in 1..=400 {
                let other = objective(entry, z, p, s, f64::from(i) / 100.0);
                assert!(best <= other + 1e-13, "{name}: {best} {other} at {i}");
            }
            for near in [y - 1e-4, y + 1e-4, y * (1.0 - 1e-3), y * 1.001] {
                if near > 0.0 {
                    assert!(best <= objective(entry, z, p, s, near) + 1e-13, "{name} near {near}");
                }
            }
            let h = 1e-7;
            let (above, below) = (entry.at(z + h, p, s), entry.at(z - h, p, s));
            if above.1 > 0.0 && below.1 > 0.0 {
                let difference = (above.0 - below.0) / (2.0 * h);
                assert!((difference - slope).abs() < 1e-5, "{name}: {slope} {difference}");
            }
        }
    }
}

/// The conditions above, for a step from `before`.
fn check(
    entry: &dyn ProximalEntry,
    block: &Owned,
    before: &State,
    after: &State,
    g: &[f64],
    y: &[f64],
) {
    let (set, view) = (entry.set(), block.block());
    let name = format!("{} α={:e} κ={:?}", set.name(), block.radius, block.kappa);
    let used = view.spent(set, y);
    // y is known to the last bit of z, and so is y − p.
    let z = before.mirror.iter().zip(g).fold(1.0_f64, |m, (y, g)| m.max((y + g).abs()));
    let farthest = |power| {
        let ratios = y.iter().zip(&block.nominal).filter(|e| *e.1 > 0.0).map(|(y, p)| p / y);
        ratios.fold(1.0_f64, f64::max).powi(power)
    };
    let steepest = match set.name() {
        "chi2" => y.iter().zip(&block.nominal).fold(1.0_f64, |m, (y, p)| m.max(2.0 * y / p)),
        "ellipsoid" => block.radius.sqrt(),
        "burg" => farthest(1),
        "neyman" => farthest(2),
        _ => 1.0,
    };
    let bits = 1e-14 * z * steepest;
    assert!(used <= block.radius * (1.0 + 1e-11) + bits + 1e-30, "{name}: {used:e}");
    if block.radius == 0.0 {
        return assert_eq!(y, block.nominal);
    }
    let s = after.budget;
    assert!(s >= 0.0, "{name}");
    if s > 0.0 {
        assert!(used >= block.radius * (1.0 - 1e-11) - bits, "{name}: {used:e} at s={s:e}");
    }
    for k in 0..view.rows() {
        let total: f64 = y[view.span(k)].iter().sum();
        assert!((total - 1.0).abs() < 1e-12, "{name}: {total}");
        for i in view.span(k) {
            let z = before.mirror[i] + g[i] - after.row[k];
            let (expected, _) = entry.at(z, block.nominal[i], view.kappa(k) * s);
            // Shifts are known to the last bit of z.
            let bits = 1e-14 * (before.mirror[i].abs() + g[i].abs() + after.row[k].abs());
            assert!((expected - y[i]).abs() <= 1e-12 + bits, "{name}: {expected:e} {:e}", y[i]);
        }
    }
}

fn check_steps<E: ProximalEntry + Copy>(entry: E, seed: u64) {
    let mut rng = Xoshiro256::new(seed);
    let prox = Separable(entry);
    for (block, _) in blocks(&mut rng, !entry.set().leaves_support()) {
        for radius in [0.0, 1e-9, 1e-4, 0.05, 0.7, 3.0, 1e3] {
            for weighted in [false, true] {
                let mut weights = || (0..block.rows()).map(|_| 0.1 + 3.0 * rng.uniform()).collect();
                let kappa = weighted.then(&mut weights);
                let block = Owned { radius, kappa, ..block.clone() };
                let size = block.gain.iter().fold(1e-12_f64, |m, b| m.max(b.abs()));
                for sigma in [1e-3, 0.3, 30.0, 1e6] {
                    if sigma > 1e3 && prox.mirror() != Mirror::Point {
                        continue; // exponents beyond reach
                    }
                    let mut state = State::start(&prox, &block);
                    for _ in 0..4 {
                        let x: Vec<f64> =
                            (0..block.rows()).map(|_| 2.0 * rng.uniform() - 0.5).collect();
                        let before = state.clone();
                        let [y, _] = state.step(&prox, &block, sigma / size, &x);
                        let mut g = vec![0.0; y.len()];
                        for (k, x) in x.iter().enumerate() {
                            for i in block.block().span(k) {
                                g[i] = sigma / size * x * block.gain[i];
                            }
                        }
                        check(&entry, &block, &before, &state, &g, &y);
                    }
                }
            }
        }
    }
}

#[test]
fn steps_by_entries_are_optimal() {
    check_steps(NORM, 1);
    check_steps(Chi2, 2);
    check_steps(Ray, 3);
    check_steps(Tilted, 4);
    check_steps(KlEuclidean, 5);
    check_steps(EllipsoidEntropy, 6);
    check_steps(Burg, 7);
    check_steps(Hellinger, 8);
    check_steps(Neyman, 9);
}

/// Warm steps are Newton's: all multipliers settle in a few passes, whatever the radius and the size.
/// (Not those of L1, whose D has kinks.)
#[test]
fn warm_steps_take_few_passes() {
    let mut rng = Xoshiro256::new(9);
    for (rows, width) in [(1, 2), (2, 4), (5, 7), (1, 30), (20, 30), (50, 200), (200, 20)] {
        for radius in [1e-8, 1e-3, 0.1, 1e3] {
            let block = Owned { radius, ..Owned::random(&mut rng, rows, width, 0.0, 1.0) };
            for Case { name, prox, .. } in CASES {
                let mut state = State::start(prox, &block);
                let mut passes = 0.0;
                for step in 0..20 {
                    let share = |k: usize| (0.8 + 0.2 * ((step + k) % 3) as f64) / rows as f64;
                    let x: Vec<f64> = (0..rows).map(share).collect();
                    let (_, count) = state.counted_step(prox, &block, 0.5, &x);
                    if step >= 10 {
                        passes += count / 10.0;
                    }
                }
                let label = format!("{name}, {rows} × {width}, radius {radius:e}");
                assert!(passes <= 7.5, "{label}: {passes} passes");
                assert!(state.budget > 0.0 || radius > 1e-3, "{label}: the budget does not bind");
            }
        }
    }
}

/// So do those of budgets that hardly bind, and of those that do not.
#[test]
fn multipliers_near_zero_take_few_passes() {
    let mut rng = Xoshiro256::new(77);
    for (rows, width) in [(5, 5), (20, 30), (50, 100)] {
        for Case { name, prox, set, .. } in CASES.into_iter().filter(Case::by_entries) {
            // Entropy starts afresh where the budget does not bind.
            let start = if prox.mirror() == Mirror::Point { 0.0 } else { 1.0 };
            for short in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10] {
                let (mut passes, runs) = ([0.0; 2], 20);
                for _ in 0..runs {
                    let random = Owned::random(&mut rng, rows, width, 0.0, 1.0);
                    let mut block = Owned { radius: 1e6, ..random };
                    let x = vec![1.0 / rows as f64; rows];
                    let mut state = State::start(prox, &block);
                    (0..3).for_each(|_| drop(state.step(prox, &block, 0.5, &x)));
                    let ([y, _], free) = state.clone().counted_step(prox, &block, 0.5, &x);
                    block.radius = block.block().spent(set, &y) * (1.0 - short);
                    let (_, bound) = state.counted_step(prox, &block, 0.5, &x);
                    passes[0] += free / f64::from(runs);
                    passes[1] += bound / f64::from(runs);
                }
                let label = format!("{name}, {rows} × {width}, {short:e}: {passes:?} passes");
                assert!(passes[0] <= 5.2 + start && passes[1] <= 5.5, "{label}");
            }
        }
    }
}

/// Sets that keep to the support do so within any budget, however long a step is.
#[test]
fn steps_keep_to_the_support() {
    let mut rng = Xoshiro256::new(13);
    for case in CASES.iter().filter(|case| case.keeps_support()) {
        for width in [2, 5, 16, 17] {
            for radius in [1e-9, 1e-3, 0.5, 1e3] {
                let mut block = Owned::random(&mut rng, 2, width, 0.0, 1.0);
                (block.nominal[0], block.gain[0]) = (0.0, 1.0);
                let total: f64 = block.nominal[..width].iter().sum();
                block.nominal[..width].iter_mut().for_each(|p| *p /= total);
                let block = Owned { radius, ..block }.refresh();
                let mut state = State::start(case.prox, &block);
                for sigma in [1.0, 1e3] {
                    let [y, _] = state.step(case.prox, &block, sigma, &[1.0; 2]);
                    let label = format!("{}, width {width}, radius {radius:e}", case.name);
                    assert_eq!(y[0], 0.0, "{label}");
                    let spent = block.block().spent(case.set, &y);
                    assert!(spent <= radius * (1.0 + 1e-9), "{label}: {spent:e}");
                    let binds = case.by_entries() && state.budget > 0.0;
                    assert!(!binds || spent >= radius * (1.0 - 1e-9), "{label}: {spent:e}");
                }
            }
        }
    }
}

/// Normals of tiny probabilities are steep: what their rows lack of mass one must not hide what they
/// spend.
#[test]
fn steps_of_tiny_probabilities_keep_within_the_budget() {
    let mut rng = Xoshiro256::new(17);
    for case in CASES {
        for run in 0..1500 {
            let least = [1e-14, 1e-22, 1e-38][run % 3];
            let mut block = Owned::random(&mut rng, 3, 2, 0.0, 1.0);
            for row in block.nominal.chunks_mut(2) {
                row.copy_from_slice(&[least * (1.0 + rng.uniform()), 1.0]);
            }
            let radius = 10.0_f64.powf(-10.0 * rng.uniform());
            let block = Owned { radius, ..block }.refresh();
            let mut state = State::start(case.prox, &block);
            for _ in 0..6 {
                // Policies leave out rows.
                let x: Vec<f64> = (0..3).map(|_| (rng.uniform() - 0.4).max(0.0)).collect();
                let [y, _] = state.step(case.prox, &block, 0.4, &x);
                let spent = block.block().spent(case.set, &y);
                let label = format!("{}, p = {least:e}: {spent:e} of {radius:e}", case.name);
                assert!(spent <= radius * (1.0 + 1e-6) + 1e-30, "{label}");
                // Less likely states have no digits of what they spend.
                let binds = least > 1e-15 && case.by_entries() && state.budget > 0.0;
                assert!(!binds || spent >= radius * (1.0 - 1e-4), "{label} at {}", state.budget);
            }
        }
    }
}

/// One row of a state may be known from a single sample, another from a hundred thousand.
#[test]
fn row_weights_may_differ_by_orders() {
    let mut rng = Xoshiro256::new(23);
    let l1 = Case { name: "L1 l2", prox: &Separable(NORM), set: &NORM, ..ELLIPSOID };
    for case in CASES.into_iter().chain([l1]) {
        for run in 0..1000 {
            let (rows, width) = (2 + run % 2, 2 + run % 5);
            let mut log = |from: f64, to: f64| 10.0_f64.powf(from + (to - from) * rng.uniform());
            let kappa: Vec<f64> = (0..rows).map(|_| log(0.0, 5.0)).collect();
            let (radius, sigma) = (log(-6.0, 0.0), log(0.0, 2.5));
            // Every y is known to the last bit of its z.
            let bits = 1e-15 * (1.0 + sigma) * kappa.iter().sum::<f64>();
            let mut block = Owned::random(&mut rng, rows, width, 0.0, 1.0);
            if run % 2 == 0 {
                // Tenths: entries move together.
                let mut tenth = || 0.1 * (1 + rng.below(9)) as f64;
                block.gain.iter_mut().for_each(|b| *b = tenth());
                for row in block.nominal.chunks_mut(width) {
                    row.fill_with(&mut tenth);
                    let total: f64 = row.iter().sum();
                    row.iter_mut().for_each(|p| *p /= total);
                }
            }
            let block = Owned { radius, kappa: Some(kappa), ..block }.refresh();
            let mut state = State::start(case.prox, &block);
            for step in 0..4 {
                let x: Vec<f64> = (0..rows).map(|_| rng.uniform()).collect();
                let ([y, _], passes) = state.counted_step(case.prox, &block, sigma, &x);
                let label = format!("{} {run} {step} {block:?} σ={sigma}", case.name);
                let spent = block.block().spent(case.set, &y);
                assert!(spent <= radius * (1.0 + 1e-9) + bits, "{label}: {spent:e}");
                let binds = case.by_entries() && state.budget > 0.0;
                assert!(!binds || spent >= radius * (1.0 - 1e-9) - bits, "{label}: {spent:e}");
                assert!(passes <= 250.0, "{label}: {passes} passes");
            }
        }
    }
}

/// D of L1 has kinks, at which Newton's steps are long, and multipliers so large that masses lose their
/// digits: rows of great weight then seem to spend too much whatever s is.
#[test]
fn kinks_do_not_send_multipliers_away() {
    let share_off =
        |[nominal, gain]: [&[f64]; 2], [kappa, x]: [&[f64]; 2], radius: f64, sigma: f64| {
            let width = nominal.len() / x.len();
            let block = Owned {
                offsets: (0..=x.len()).map(|k| k * width).collect(),
                nominal: nominal.to_vec(),
                gain: gain.to_vec(),
                nominal_value: vec![0.0; x.len()],
                radius,
                kappa: Some(kappa.to_vec()),
            };
            let block = block.refresh();
            let mut state = State::start(&Separable(NORM), &block);
            let [y, _] = state.step(&Separable(NORM), &block, sigma, x);
            // No entry moves once s is above what its row gains.
            assert!(state.budget <= sigma, "{}", state.budget);
            let spent = block.block().spent(&NORM, &y);
            (spent / radius - 1.0).abs()
        };
    let rows: [&[f64]; 2] = [&[0.2, 0.3, 0.5, 0.2, 0.4, 0.4], &[0.2, 0.2, 0.6, 0.0, 0.5, 0.7]];
    assert!(share_off(rows, [&[1.0, 1e6], &[0.2, 0.8]], 1e-3, 1.0) < 1e-9);
    let rows: [&[f64]; 2] = [&[0.2, 0.2, 0.6, 0.3, 0.3, 0.4], &[0.9, 0.5, 0.0, 0.8, 0.3, 0.8]];
    assert!(share_off(rows, [&[1.0, 1e4], &[0.2, 0.8]], 1e-3, 5.0) < 1e-9);
    let rows: [&[f64]; 2] = [&[0.3, 0.2, 0.5, 0.4, 0.4, 0.2], &[0.8, 0.2, 0.6, 0.4, 0.6, 0.6]];
    assert!(share_off(rows, [&[1.0, 1e4], &[0.2, 0.8]], 1e-4, 20.0) < 1e-9);
    // A step that is too long leads to where D is far below the budget, and has no digits to show it.
    let nominal = [
        [0.19770868583373877, 0.26070388813497436, 0.2142725054206288],
        [0.12850208208928246, 0.11190720300565844, 0.08690563551571708],
        [1.0 / 6.0; 3],
        [1.0 / 6.0; 3],
        [0.0, 0.6357953337512884, 0.0],
        [0.36420466624871156, 0.0, 0.0],
    ];
    let gain =
        [0.5, 0.5, 0.5, 0.5, 0.0, 1.0, 0.5, 0.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.5];
    let kappa = [1758.9560348680243, 2.0324172305911263, 1930.3077727150194];
    let x = [0.12784414667081823, 0.0, 0.21583473793068297];
    let rows = [nominal.as_flattened(), &gain];
    // The last bits of y, times κ, are 1e-4 of this budget.
    assert!(share_off(rows, [&kappa, &x], 1.0884987862410063e-8, 4.677651904870836) < 3e-4);
}

/// Budgets below all roundings are spent on nothing, and leave multipliers that are numbers.
#[test]
fn steps_within_next_to_no_budget_end() {
    let mut rng = Xoshiro256::new(19);
    for case in CASES {
        for (radius, kappa) in [(1e-30, Some(vec![1e-8, 1e8])), (1e-320, None)] {
            let block = Owned { radius, kappa, ..Owned::random(&mut rng, 2, 5, 0.0, 1.0) };
            let mut state = State::start(case.prox, &block);
            for _ in 0..4 {
                let ([y, _], passes) = state.counted_step(case.prox, &block, 1.0, &[0.7, 0.3]);
                let label = format!("{}, radius {radius:e}", case.name);
                assert!(state.budget.is_finite() && passes <= 5000.0, "{label}: {passes}");
                for (y, p) in y.iter().zip(&block.nominal) {
                    assert!((y - p).abs() <= 1e-9, "{label}: {y} {p}");
                }
            }
        }
    }
}

/// What all entries of a row gain alike moves no step, however much it is; entries at 0 and next to it
/// do not either.
#[test]
fn steps_keep_the_budget_at_extremes() {
    let mut rng = Xoshiro256::new(12);
    for Case { name, prox, set, .. } in CASES {
        for (width, least) in [(5, 0.0), (5, 3e-309), (16, 0.0), (17, 1e-300)] {
            let mut block = Owned { radius: 1e-3, ..Owned::random(&mut rng, 2, width, 0.0, 1.0) };
            block.nominal[0] = least;
            let total: f64 = block.nominal[..width].iter().sum();
            block.nominal[..width].iter_mut().for_each(|p| *p /= total);
            let [expected, _] = State::start(prox, &block).step(prox, &block, 1.0, &[1.0; 2]);
            let label = format!("{name}, width {width}, p = {least:e}");
            for gain in [0.0, -360.0, -1000.0, 1000.0] {
                let mut moved = block.clone();
                moved.gain.iter_mut().for_each(|b| *b += gain);
                let mut state = State::start(prox, &moved);
                let [y, _] = state.step(prox, &moved.refresh(), 1.0, &[1.0; 2]);
                assert!(state.budget > 0.0, "{label}, gain {gain}");
                let spent = block.block().spent(set, &y);
                // Sums of squares of the gains cancel.
                let bits = 1e-15 * gain * gain;
                let off = (spent / 1e-3 - 1.0).abs();
                assert!(off < 1e-9 + 10.0 * bits, "{label}, gain {gain}: {spent:e}");
                for (y, expected) in y.iter().zip(&expected) {
                    assert!(
                        (y - expected).abs() < 1e-11 + bits,
                        "{label}, gain {gain}: {y:e} {expected:e}"
                    );
                }
            }
        }
    }
}

/// Four times the weight is a quarter of the budget; one row alone and in company.
#[test]
fn row_weights_scale_the_budget() {
    let mut rng = Xoshiro256::new(8);
    let alone = Owned { radius: 0.02, ..Owned::random(&mut rng, 1, 7, 0.0, 3.0) };
    let weighted = Owned { radius: 0.08, kappa: Some(vec![4.0]), ..alone.clone() };
    let all: [&dyn Prox; 5] =
        [&Ray, &Tilted, &Separable(KlEuclidean), &Separable(EllipsoidEntropy), &Separable(NORM)];
    for prox in all {
        let [a, _] = State::start(prox, &alone).step(prox, &alone, 0.5, &[1.0]);
        let [b, _] = State::start(prox, &weighted).step(prox, &weighted, 0.5, &[1.0]);
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }
}

#[test]
fn a_set_without_the_geometry_is_refused() {
    assert!(prox_of(Some(&NORM), Geometry::Euclidean).is_ok());
    let refused = prox_of(Some(&NORM), Geometry::Entropy).err().expect("no such step").to_string();
    assert!(refused.contains("L1 set") && refused.contains("has one in l2"), "{refused}");
}
