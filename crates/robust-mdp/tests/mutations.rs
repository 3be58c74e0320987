//! Changed certificates and models: each is rejected, or what follows from it is still true. Truth is
//! told by sorting and bisection, which share nothing with the library.

mod cases;
mod reference;

use cases::Case;
use reference::{FAMILIES, PRECISION};
use robust_mdp::certificate::{Claim, Multipliers};
use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::{
    EntryWeights, Ground, Needs, Radius, Rectangularity, Scenarios, UncertaintySet,
};
use robust_mdp::{
    Certificate, Method, Model, ModelBuilder, Objective, Options, Rejection, Stop, Verified,
    certify, solve, verify,
};
use std::sync::Arc;

/// Small models with their certificates, of every family, rectangularity and kind of budget.
fn certified() -> Vec<(Case, Certificate)> {
    let mut found = Vec::new();
    for &family in FAMILIES {
        for seed in 5000..5000 + 2 * family.share(20) {
            let case = Case::new(family, seed);
            let weighted = if seed % 4 < 2 { Case::new(family, seed).weighted() } else { None };
            let case = weighted.unwrap_or(case);
            // What is accepted is compared in every state.
            let most = if family.known.is_slow() { 8 } else { 60 };
            if case.model.states() > most {
                continue;
            }
            let gap = Some(1e-6 * case.model.largest_cost().max(1e-3));
            let stop = Stop { gap, ..Stop::default() };
            let options = Options { method: Method::Newton, stop, ..Options::default() };
            let solution = solve(&case.model, &case.set, &options).expect("a valid case");
            let made = certify(&case.model, &case.set, &solution, Some(1));
            let (mut certificate, _) = made.expect("a certificate");
            if seed % 2 == 0 {
                part(&case.model, &mut certificate);
            }
            found.push((case, certificate));
        }
    }
    found
}

/// Makes a certificate whose halves share nothing of one where they do: the multipliers of the kernel are
/// spelled out, and v_L lies below v_U. It claims what it proves.
fn part(model: &Model, certificate: &mut Certificate) {
    let Certificate { set, policy, scale, kernel, upper, lower, .. } = &mut *certificate;
    if upper != lower {
        return;
    }
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        for (k, w) in policy.iter().enumerate() {
            let r = w.row as usize;
            let t = match set.rectangularity {
                Rectangularity::State => w.probability / (scale[s] * set.weight_at(r)),
                Rectangularity::StateAction => 1.0 / scale[k],
            };
            let free = model.rows_of(s).contains(&r) && kernel.iter().all(|k| k.row != w.row);
            if free && t.is_normal() {
                kernel.push(Multipliers { row: w.row, t, nu: w.nu });
            }
        }
        lower[s] -= 1e-15 * lower[s].abs();
    }
    kernel.sort_by_key(|k| k.row);
    claim_all(model, certificate);
}

/// Makes it claim what it proves.
fn claim_all(model: &Model, certificate: &mut Certificate) {
    let none = Claim { lower: f64::NEG_INFINITY, upper: f64::INFINITY, gap: f64::INFINITY };
    certificate.claim = none;
    let proved = verify(model, certificate, Some(1)).expect("no claim is too narrow");
    let (lower, upper) = proved.initial;
    certificate.claim = Claim { lower, upper, gap: proved.gap };
}

/// Whether T_x U ≤ U and F(L) ≥ L, for the policy and the set of the certificate.
fn is_true(model: &Model, certificate: &Certificate, proved: &Verified) -> Result<(), String> {
    let set = &certificate.set;
    let mut policy = vec![0.0; model.rows()];
    for w in &certificate.policy {
        policy[w.row as usize] = w.probability;
    }
    for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
        let x = &mut policy[model.rows_of(s)];
        let total: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= total);
        let state = reference::State::new(model, set, s, &proved.upper);
        let slack = PRECISION * state.scale.max(proved.upper[s].abs());
        let worst = state.worst_case(x);
        if worst.is_nan() || worst > proved.upper[s] + slack {
            return Err(format!("state {s}: {worst:e} above {:e}", proved.upper[s]));
        }
        let state = reference::State::new(model, set, s, &proved.lower);
        let slack = PRECISION * state.scale.max(proved.lower[s].abs());
        let best = state.update();
        if best.is_nan() || best < proved.lower[s] - slack {
            return Err(format!("state {s}: {best:e} below {:e}", proved.lower[s]));
        }
    }
    Ok(())
}

/// Another number: near, far, or none.
fn another(x: f64, random: &mut Xoshiro256) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    match random.below(10) {
        0..4 => x * (1.0 + sign * 10f64.powf(-12.0 * random.uniform())),
        4 => x + sign * random.uniform(),
        5 => -x,
        6 => 0.0,
        7 => x * 10f64.powf(sign * 3.0 * random.uniform()),
        8 => sign * 1e300,
        _ => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][random.below(3) as usize],
    }
}

fn place<'a, T>(all: &'a mut [T], random: &mut Xoshiro256) -> Option<&'a mut T> {
    let n = all.len() as u64;
    if n == 0 { None } else { all.get_mut(random.below(n) as usize) }
}

/// Changes one number that the set is told of entries.
fn entry_data(set: &mut UncertaintySet, random: &mut Xoshiro256) -> Option<&'static str> {
    if let Some(weights) = &mut set.entry_weights {
        let (EntryWeights::PerState(numbers) | EntryWeights::PerTransition(numbers)) =
            Arc::make_mut(weights);
        let weight = place(numbers, random)?;
        *weight = another(*weight, random);
        return Some("weight of an entry");
    }
    if let Some(scenarios) = &mut set.scenarios {
        let mut kernels = scenarios.kernels();
        let probability = place(place(&mut kernels, random)?, random)?;
        *probability = another(*probability, random);
        *scenarios = Arc::new(Scenarios::from_kernels(&kernels));
        return Some("probability in a scenario");
    }
    let ground = set.ground.as_deref()?;
    let mut numbers = ground.numbers().to_vec();
    let number = place(&mut numbers, random)?;
    *number = another(*number, random);
    set.ground = Some(Arc::new(match ground {
        Ground::Line(_) => Ground::line(numbers),
        Ground::Matrix(_) => Ground::Matrix(numbers),
    }));
    Some("distance between states")
}

/// Changes one thing; its name, or `None` if there is nothing of the kind.
fn mutate(c: &mut Certificate, random: &mut Xoshiro256) -> Option<&'static str> {
    let kind = random.below(27);
    Some(match kind {
        0 | 1 => {
            let v = place(&mut c.upper, random)?;
            *v = another(*v, random);
            "v_U"
        }
        2 | 3 => {
            let v = place(&mut c.lower, random)?;
            *v = another(*v, random);
            "v_L"
        }
        4 => {
            let w = place(&mut c.policy, random)?;
            w.probability = another(w.probability, random);
            "probability"
        }
        5 => {
            let w = place(&mut c.policy, random)?;
            w.nu = another(w.nu, random);
            "policy shift"
        }
        6 => {
            let w = place(&mut c.policy, random)?;
            w.row = random.below(40) as u32;
            "policy row"
        }
        7 | 8 => {
            let mu = place(&mut c.scale, random)?;
            *mu = another(*mu, random);
            "scale"
        }
        9 => {
            let k = place(&mut c.kernel, random)?;
            k.t = another(k.t, random);
            "tilt"
        }
        10 => {
            let k = place(&mut c.kernel, random)?;
            k.nu = another(k.nu, random);
            "kernel shift"
        }
        11 => {
            // So that v_L = v_U where it was.
            let s = random.below(c.upper.len() as u64) as usize;
            (c.upper[s], c.lower[s]) = {
                let by = another(c.upper[s], random) - c.upper[s];
                (c.upper[s] + by, c.lower[s] + by)
            };
            "both values"
        }
        12 => {
            let k = place(&mut c.kernel, random)?;
            k.row = random.below(40) as u32;
            "kernel row"
        }
        13 => {
            let claim = &mut c.claim;
            let x = match random.below(3) {
                0 => &mut claim.lower,
                1 => &mut claim.upper,
                _ => &mut claim.gap,
            };
            *x = another(*x, random);
            "claim"
        }
        14 => {
            let radius = match &mut c.set.radius {
                Radius::Uniform(radius) => radius,
                Radius::PerState(radii) | Radius::PerRow(radii) => place(radii, random)?,
            };
            *radius = another(*radius, random);
            "radius"
        }
        15 => {
            let sets = [UncertaintySet::ellipsoid(0.0), UncertaintySet::kl(0.0)];
            let other = sets[random.below(2) as usize].clone();
            c.set = other.with_radius(c.set.radius.clone());
            "set"
        }
        16 => {
            c.set.rectangularity = match c.set.rectangularity {
                Rectangularity::State => Rectangularity::StateAction,
                Rectangularity::StateAction => Rectangularity::State,
            };
            "rectangularity"
        }
        17 => {
            c.discount = another(c.discount, random);
            "discount"
        }
        18 => {
            c.objective = Objective::MaxReward;
            "objective"
        }
        19 => {
            c.model ^= 1 << random.below(128);
            "fingerprint"
        }
        20 => {
            let k = random.below(c.kernel.len().max(1) as u64) as usize;
            if c.kernel.is_empty() {
                return None;
            }
            c.kernel.remove(k);
            "a kernel row less"
        }
        21 | 22 => {
            let kappa = place(c.set.weights.as_mut()?, random)?;
            *kappa = another(*kappa, random);
            "weight of a row"
        }
        24 | 25 => entry_data(&mut c.set, random)?,
        23 => {
            let rows = c.set.weights.take().map_or(c.policy.len(), |weights| weights.len());
            if random.below(2) == 0 {
                c.set.weights = Some(vec![10f64.powf(random.uniform() - 0.5); rows]);
            }
            "weights"
        }
        _ => {
            c.upper.pop();
            "a state less"
        }
    })
}

#[test]
fn a_changed_certificate_is_rejected_or_true() {
    let (mut tried, mut accepted) = (0, 0);
    for (case, original) in certified() {
        let mut random = Xoshiro256::new(case.seed);
        for _ in 0..80 {
            let mut changed = original.clone();
            let Some(what) = mutate(&mut changed, &mut random) else { continue };
            tried += 1;
            // The way through the file changes nothing.
            let bytes = changed.to_bytes();
            let Ok(read) = Certificate::from_bytes(&bytes, &case.model) else { continue };
            let Ok(proved) = verify(&case.model, &read, Some(1)) else { continue };
            accepted += 1;
            if let Err(lie) = is_true(&case.model, &read, &proved) {
                panic!(
                    "{what}: {lie}\nCase::new({:?}, {}) {:?}",
                    case.family, case.seed, case.traits
                );
            }
            assert!(!["fingerprint", "objective", "a state less"].contains(&what), "{what}");
        }
    }
    assert!(tried > 5000, "{tried} mutations, {accepted} accepted");
    assert!(accepted > 100 && accepted < tried / 2, "{tried} mutations, {accepted} accepted");
}

/// What goes beyond the slack is rejected, without exception.
#[test]
fn large_changes_are_rejected() {
    let mut tried = 0;
    for (case, original) in certified() {
        let model = &case.model;
        let scale = original.upper.iter().fold(1e-9_f64, |m, v| m.max(v.abs()));
        let far = scale.max(1e3 * original.claim.gap);
        let mut reject = |what: &str, change: &dyn Fn(&mut Certificate)| {
            let mut changed = original.clone();
            change(&mut changed);
            tried += 1;
            let verdict = verify(model, &changed, Some(1));
            let place = || format!("Case::new({:?}, {}) {:?}", case.family, case.seed, case.traits);
            // Values may move together: from far off, the same bounds follow in another way.
            let moved = model.states() == 1 && what.starts_with("v_");
            match verdict {
                Ok(proved) if moved => is_true(model, &changed, &proved).unwrap(),
                verdict => assert!(verdict.is_err(), "{what}\n{}", place()),
            }
        };
        for s in 0..model.states() {
            reject("v_U far above", &|c| c.upper[s] += far);
            reject("v_U far below", &|c| c.upper[s] -= far);
            reject("v_L far above", &|c| c.lower[s] += far);
            reject("v_L far below", &|c| c.lower[s] -= far);
            reject("v_U no number", &|c| c.upper[s] = f64::NAN);
            reject("v_L no number", &|c| c.lower[s] = f64::INFINITY);
        }
        for k in 0..original.policy.len() {
            reject("probability", &|c| c.policy[k].probability *= 0.9);
            reject("probability no number", &|c| c.policy[k].probability = f64::NAN);
            reject("policy shift no number", &|c| c.policy[k].nu = f64::NAN);
            reject("policy row", &|c| c.policy[k].row = model.rows() as u32);
        }
        for k in 0..original.kernel.len() {
            reject("tilt no number", &|c| c.kernel[k].t = f64::NAN);
            reject("kernel shift no number", &|c| c.kernel[k].nu = f64::NAN);
            reject("kernel row", &|c| c.kernel[k].row = u32::MAX);
        }
        for k in 0..original.scale.len() {
            reject("scale below 0", &|c| c.scale[k] = -1.0);
            reject("scale no number", &|c| c.scale[k] = f64::NAN);
        }
        for k in 0..original.set.weights.as_ref().map_or(0, Vec::len) {
            let set = |c: &mut Certificate, x: f64| c.set.weights.as_mut().unwrap()[k] = x;
            reject("weight 0", &|c| set(c, 0.0));
            reject("weight below 0", &|c| set(c, -1.0));
            reject("weight no number", &|c| set(c, f64::NAN));
            reject("weight without end", &|c| set(c, f64::INFINITY));
            reject("a weight less", &|c| {
                c.set.weights.as_mut().unwrap().pop();
            });
        }
        for k in 0..original.set.entry_weights.as_ref().map_or(0, |weights| weights.numbers().len())
        {
            let set = |c: &mut Certificate, x: f64| {
                let weights = Arc::make_mut(c.set.entry_weights.as_mut().unwrap());
                let (EntryWeights::PerState(numbers) | EntryWeights::PerTransition(numbers)) =
                    weights;
                numbers[k] = x;
            };
            for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                reject("weight of an entry", &|c| set(c, bad));
            }
        }
        for k in 0..original.set.ground.as_ref().map_or(0, |ground| ground.numbers().len()) {
            for bad in [f64::NAN, f64::INFINITY] {
                reject("distance between states", &|c| {
                    let mut numbers = c.set.ground.as_ref().unwrap().numbers().to_vec();
                    numbers[k] = bad;
                    c.set.ground = Some(Arc::new(Ground::Matrix(numbers)));
                });
            }
        }
        let kernels = original.set.scenarios.as_ref().map_or(Vec::new(), |told| told.kernels());
        for at in (0..kernels.len()).flat_map(|k| (0..kernels[k].len()).map(move |j| [k, j])) {
            for bad in [-1.0, 2.0, f64::NAN, f64::INFINITY] {
                let mut kernels = kernels.clone();
                kernels[at[0]][at[1]] = bad;
                reject("probability in a scenario", &|c| {
                    c.set.scenarios = Some(Arc::new(Scenarios::from_kernels(&kernels)));
                });
            }
        }
        if original.set.distance.needs() == Needs::Scenarios {
            reject("no scenarios", &|c| c.set.scenarios = None);
        }
        if original.set.distance.needs() == Needs::Ground {
            reject("no distances", &|c| c.set.ground = None);
        }
        if original.set.rectangularity == Rectangularity::StateAction {
            reject("weights of rows alone", &|c| c.set.weights = Some(vec![1.0; model.rows()]));
        }
        reject("lower claim", &|c| c.claim.lower = c.claim.lower.next_up());
        reject("upper claim", &|c| c.claim.upper = c.claim.upper.next_down());
        reject("claim of the gap", &|c| c.claim.gap = c.claim.gap.next_down());
        reject("claim no number", &|c| c.claim.gap = f64::NAN);
        reject("discount", &|c| c.discount = c.discount.next_up());
        reject("radius no number", &|c| c.set.radius = Radius::Uniform(f64::NAN));
        reject("radius below 0", &|c| c.set.radius = Radius::Uniform(-1.0));
    }
    assert!(tried > 5000, "{tried}");
}

/// A row as (cost, [(next, probability, toll)]).
type Rows = Vec<Vec<(f64, Vec<(usize, f64, f64)>)>>;

/// Intervals of all transitions, if there are any.
fn intervals_of(model: &Model) -> Option<Vec<[f64; 2]>> {
    let bounds = model.intervals()?;
    Some(bounds.lower.iter().zip(bounds.upper).map(|(l, u)| [*l, *u]).collect())
}

fn rows_of(model: &Model) -> Rows {
    let row = |r: usize| (model.row(r).cost, model.row(r).entries().collect());
    (0..model.states()).map(|s| model.rows_of(s).map(row).collect()).collect()
}

fn model_of(rows: &Rows, intervals: Option<&[[f64; 2]]>, discount: f64) -> Option<Model> {
    let mut intervals = intervals.map(|all| all.iter());
    let mut builder = ModelBuilder::new(discount);
    for state in rows {
        builder.add_state(None);
        if state.is_empty() {
            builder.mark_terminal();
        }
        for (cost, entries) in state {
            builder.add_action(None, *cost);
            for &(next, p, toll) in entries {
                match intervals.as_mut().and_then(Iterator::next) {
                    Some(bounds) => builder.add_interval(next, Some(p), *bounds, toll),
                    None => builder.add_transition(next, p, toll),
                }
            }
        }
    }
    builder.build().ok()
}

#[test]
fn another_model_is_rejected_and_without_its_fingerprint_nothing_false_is_proved() {
    let (mut tried, mut accepted) = (0, 0);
    for (case, original) in certified() {
        let mut random = Xoshiro256::new(case.seed ^ 7);
        let mut intervals = intervals_of(&case.model);
        for _ in 0..40 {
            let mut rows = rows_of(&case.model);
            // An end moves now and then.
            if let Some(bounds) = intervals.as_mut().filter(|_| random.below(3) == 0)
                && let Some([lower, upper]) = place(bounds, &mut random)
            {
                *lower *= random.uniform();
                *upper += (1.0 - *upper).max(0.0) * random.uniform();
            }
            let mut discount = case.model.discount();
            let Some(row) = place(&mut rows, &mut random).and_then(|s| place(s, &mut random))
            else {
                continue;
            };
            match random.below(4) {
                0 => row.0 = another(row.0, &mut random),
                1 => {
                    let Some(entry) = place(&mut row.1, &mut random) else { continue };
                    entry.2 = another(entry.2, &mut random);
                }
                2 => {
                    // Some mass moves from one next state to another.
                    let n = row.1.len() as u64;
                    let (i, j) = (random.below(n) as usize, random.below(n) as usize);
                    let moved = row.1[i].1 * 10f64.powf(-10.0 * random.uniform());
                    (row.1[i].1, row.1[j].1) = (row.1[i].1 - moved, row.1[j].1 + moved);
                }
                _ => discount = (discount * (1.0 - 10f64.powf(-9.0 * random.uniform()))).max(0.0),
            }
            let Some(model) = model_of(&rows, intervals.as_deref(), discount) else { continue };
            if model == case.model {
                continue;
            }
            tried += 1;
            let verdict = verify(&model, &original, Some(1));
            assert!(matches!(verdict, Err(Rejection::Other { .. })), "{verdict:?}");
            let mut forged = original.clone();
            (forged.model, forged.discount) = (model.fingerprint(), model.discount());
            if let Ok(proved) = verify(&model, &forged, Some(1)) {
                accepted += 1;
                if let Err(lie) = is_true(&model, &forged, &proved) {
                    panic!("{lie}\nCase::new({:?}, {}) {:?}", case.family, case.seed, case.traits);
                }
            }
        }
    }
    assert!(tried > 2000, "{tried} models, {accepted} accepted");
}

/// Files: every byte counts.
#[test]
fn damaged_files_are_refused() {
    let all = certified();
    let (case, certificate) = &all[all.len() / 2];
    let bytes = certificate.to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(Certificate::from_bytes(&damaged, &case.model).is_err(), "byte {at}");
        assert!(Certificate::from_bytes(&bytes[..at], &case.model).is_err(), "{at} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Certificate::from_bytes(&longer, &case.model).is_err());
    // A count that would need all of the memory, and a version of tomorrow.
    let mut huge = bytes.clone();
    huge[60..68].copy_from_slice(&u64::MAX.to_le_bytes());
    let said = Certificate::from_bytes(&huge, &case.model).unwrap_err().to_string();
    assert!(said.contains("expected"), "{said}");
    let mut newer = bytes;
    newer[8] = 200;
    let said = Certificate::from_bytes(&newer, &case.model).unwrap_err().to_string();
    assert!(said.contains("version 200"), "{said}");
}

#[test]
fn another_set_is_named() {
    let (case, certificate) = certified().swap_remove(0);
    let mut other = case.set.clone();
    other.radius = Radius::Uniform(0.125);
    let said = certificate.expect_set(&other).unwrap_err().to_string();
    assert!(said.contains("radius") && said.contains("0.125"), "{said}");
    assert!(certificate.expect_set(&UncertaintySet::kl(0.1)).is_err());
    let (case, certificate) = certified().into_iter().find(|c| c.0.set.weights.is_some()).unwrap();
    certificate.expect_set(&case.set).unwrap();
    for weights in [None, Some(vec![1.5; case.model.rows()])] {
        let other = UncertaintySet { weights, ..case.set.clone() };
        let said = certificate.expect_set(&other).unwrap_err().to_string();
        assert!(said.contains("weights"), "{said}");
    }
}
