//! Certificates of all criteria, directions and kinds of policies.

use robust_mdp::sets::{Rectangularity, UncertaintySet};
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
