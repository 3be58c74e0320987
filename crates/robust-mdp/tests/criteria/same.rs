//! The same bits for any number of threads.

use super::total::{frozen_lake, walk};
use super::{asked, garnet, some_sets};
use robust_mdp::{Criterion, Direction, Model, Options, Solution, solve};

fn bits(found: &Solution) -> Vec<u64> {
    let ending = found.ending.as_ref().map(|ending| ending.steps.clone()).unwrap_or_default();
    let mut numbers =
        [&found.lower[..], &found.upper, &found.policy, &found.bias, &ending].concat();
    for stage in &found.stages {
        numbers.extend([&stage.lower[..], &stage.upper, &stage.policy].concat());
    }
    numbers.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn threads_change_no_bit() {
    let long = walk(150, &[0.6, 0.7, 0.8]);
    let random = garnet(41, 5, 0.9, 4);
    let kinds: [(&Model, Criterion, f64); 5] = [
        (&random, Criterion::Finite { horizon: 6 }, 1.0),
        (&random, Criterion::Average, 1.0),
        (&random, Criterion::Discounted, 1.0),
        (&long, Criterion::Total, 0.1),
        (&frozen_lake(1.0 / 3.0), Criterion::Total, 0.01),
    ];
    for (model, criterion, share) in kinds {
        for set in some_sets() {
            let radius = robust_mdp::sets::Radius::Uniform(0.1 * share);
            let set = set.on_nominal_support().with_radius(radius);
            for (direction, deterministic) in
                [(Direction::Worst, false), (Direction::Best, false), (Direction::Worst, true)]
            {
                let at = |threads| {
                    let options = Options { direction, deterministic, ..asked(criterion) };
                    let options = Options { threads: Some(threads), ..options };
                    solve(model, &set, &options).map(|found| (bits(&found), found.work))
                };
                match (at(1), at(4)) {
                    (Ok(one), Ok(four)) => assert!(one == four, "{criterion} {direction} {set:?}"),
                    (one, four) => panic!("{criterion} {direction} {set:?}: {one:?} {four:?}"),
                }
            }
        }
    }
}
