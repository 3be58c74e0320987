//! Certificates of all criteria, directions and kinds of policies.

use robust_mdp::certificate::{Claim, Step};
use robust_mdp::instances::Xoshiro256;
use robust_mdp::sets::{EntryWeights, Ground, Rectangularity, UncertaintySet};
use robust_mdp::{
    Certificate, Criterion, Direction, Model, Options, Solution, Status, Verified, certify, solve,
    verify,
};

use super::total::{frozen_lake, walk};
use super::{asked, garnet, some_sets};

/// A solution, with what its certificate proves after it has been a file.
fn proved(model: &Model, set: &UncertaintySet, options: &Options) -> (Solution, Verified) {
    let solution = solve(model, set, options).unwrap();
    let (certificate, verified) = certify(model, set, &solution, None).unwrap();
    let read = Certificate::from_bytes(&certificate.to_bytes(), model).unwrap();
    assert_eq!(read, certificate);
    assert_eq!(verify(model, &read, None).unwrap(), verified);
    (solution, verified)
}

#[test]
fn certificates_of_all_criteria() {
    for (seed, set) in some_sets().into_iter().enumerate() {
        let model = garnet(10, 4, 0.9, seed as u64);
        let ends = walk(6, &[0.8, 0.6]);
        let weights = (0..model.rows()).map(|r| 1.0 + 0.1 * (r % 3) as f64).collect();
        let weighted = match set.rectangularity {
            Rectangularity::State => set.clone().with_weights(weights),
            Rectangularity::StateAction => set.clone(),
        };
        for direction in [Direction::Worst, Direction::Best] {
            for deterministic in [false, true] {
                for criterion in [
                    Criterion::Discounted,
                    Criterion::Finite { horizon: 5 },
                    Criterion::Average,
                    Criterion::Total,
                ] {
                    let total = criterion == Criterion::Total;
                    let nominal = set.clone().on_nominal_support();
                    let (model, set) = if total { (&ends, &nominal) } else { (&model, &weighted) };
                    let options =
                        Options { criterion, direction, deterministic, ..Options::default() };
                    let (solution, verified) = proved(model, set, &options);
                    let asked = format!("{:?} {options:?}", set.distance);
                    assert_eq!(solution.status, Status::Certified, "{asked}");
                    let wide = verified.gap;
                    println!(
                        "{} {criterion:?} {direction} {deterministic}: {:e} proved {wide:e}",
                        set.distance.name(),
                        solution.gap
                    );
                    assert!(wide <= solution.target_gap, "{wide:e} {:e} {asked}", solution.gap);
                    assert_eq!(verified.stages.len() + 1, solution.stages.len().max(1));
                }
            }
        }
    }
}

#[test]
fn policies_that_may_never_end_are_seen_without_uncertainty_too() {
    // As it is, and as Gymnasium rounds it.
    for side in [1.0 / 3.0, 0.5 * (1.0 - 1.0 / 3.0)] {
        let model = frozen_lake(side);
        for set in [UncertaintySet::none(), UncertaintySet::kl(0.0), UncertaintySet::l1(0.0)] {
            let (solution, verified) = proved(&model, &set, &asked(Criterion::Total));
            assert!(!solution.ending.unwrap().surely);
            assert!(verified.lower[0] <= 14.0 / 17.0 && 14.0 / 17.0 <= verified.upper[0]);
            assert!(verified.gap < 1e-9);
        }
    }
}

/// One number of a certificate is another one.
fn changed(certificate: &mut Certificate, random: &mut Xoshiro256) {
    let further = certificate.further.len() as u64;
    let k = random.below(further + 1) as usize;
    let (upper, lower, policy, scale, kernel) = match k.checked_sub(1) {
        None => {
            let Certificate { upper, lower, policy, scale, kernel, .. } = certificate;
            (upper, lower, policy, scale, kernel)
        }
        Some(k) => {
            let Step { upper, lower, policy, scale, kernel } = &mut certificate.further[k];
            (upper, lower, policy, scale, kernel)
        }
    };
    let mut numbers: Vec<&mut f64> = match random.below(6) {
        0 => upper.iter_mut().collect(),
        1 => lower.iter_mut().collect(),
        2 => policy.iter_mut().map(|w| &mut w.nu).collect(),
        3 => scale.iter_mut().collect(),
        4 => kernel.iter_mut().flat_map(|k| [&mut k.t, &mut k.nu]).collect(),
        _ => {
            certificate.surely ^= true;
            return;
        }
    };
    if numbers.is_empty() {
        return;
    }
    let at = random.below(numbers.len() as u64) as usize;
    let size = 10f64.powf(-12.0 * random.uniform()) * if random.below(2) == 0 { 1.0 } else { -1.0 };
    let number = &mut *numbers[at];
    *number = match random.below(4) {
        0 => *number + size,
        1 => *number * (1.0 + size),
        2 => 0.0,
        _ => 10.0 * size,
    };
}

/// Whatever a number is changed to, what is still proved is true: bounds lie on either side of the value.
#[test]
fn changed_certificates_prove_nothing_false() {
    let random = &mut Xoshiro256::new(7);
    let (mut accepted, mut rejected) = (0, 0);
    let lake = frozen_lake(1.0 / 3.0);
    for (seed, set) in some_sets().into_iter().enumerate() {
        let (model, ends) = (garnet(6, 3, 0.9, seed as u64), walk(6, &[0.8, 0.6]));
        let nominal = set.clone().on_nominal_support();
        let narrow = UncertaintySet::kl(0.01 * (1.0 + seed as f64));
        for direction in [Direction::Worst, Direction::Best] {
            for (model, set, criterion) in [
                (&model, &set, Criterion::Finite { horizon: 3 }),
                (&model, &set, Criterion::Average),
                (&model, &set, Criterion::Discounted),
                (&ends, &nominal, Criterion::Total),
                (&lake, &narrow, Criterion::Total),
            ] {
                let options = Options { criterion, direction, ..Options::default() };
                let solution = solve(model, set, &options).unwrap();
                let (certificate, verified) = certify(model, set, &solution, None).unwrap();
                for _ in 0..60 {
                    let mut other = certificate.clone();
                    changed(&mut other, random);
                    let open = f64::INFINITY;
                    other.claim = Claim { lower: -open, upper: open, gap: open };
                    let Ok(found) = verify(model, &other, Some(1)) else {
                        rejected += 1;
                        continue;
                    };
                    accepted += 1;
                    for s in 0..model.states() {
                        let (low, high) = (found.lower[s], found.upper[s]);
                        let holds = low <= verified.upper[s] && verified.lower[s] <= high;
                        assert!(holds, "{criterion:?} {direction} state {s}: {low:e} to {high:e}");
                    }
                }
            }
        }
    }
    assert!(accepted > 500 && rejected > 200, "{accepted} accepted, {rejected} rejected");
}

/// A certificate is about what its set was told, too.
#[test]
fn sets_that_were_told_something_else_are_others() {
    let model = garnet(5, 2, 0.9, 3);
    let line = |x: f64| {
        let places = (0..5).map(|s| x * f64::from(s)).collect();
        UncertaintySet::wasserstein(Ground::line(places), 0.1)
    };
    let weights = |w: f64| {
        UncertaintySet::l1(0.1)
            .with_entry_weights(EntryWeights::PerState(vec![1.0, w, 1.0, 1.0, 1.0]))
    };
    for (set, other) in [(line(1.0), line(2.0)), (weights(1.0), weights(2.0))] {
        let (solution, _) = proved(&model, &set, &Options::default());
        let (certificate, _) = certify(&model, &set, &solution, None).unwrap();
        assert!(certificate.expect_set(&set).is_ok());
        let text = certificate.expect_set(&other).unwrap_err().to_string();
        assert!(text.contains("it has one, expected another"), "{text}");
    }
}
