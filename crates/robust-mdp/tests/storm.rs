//! Files that Storm has written, in every kind of number, and the values that it finds: `storm/README.md`.

use std::path::{Path, PathBuf};

use robust_mdp::io::{ReadOptions, read_model_file};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Criterion, Direction, Model, Objective, Options, Status, Stop, solve};
use serde::Deserialize;

/// Digits of doubles in Storm's files, and of its value iteration.
const TOLERANCE: f64 = 1e-8;

#[derive(Deserialize)]
struct Recorded {
    files: Vec<String>,
    objective: String,
    direction: String,
    reach: Option<String>,
    rewards: Option<String>,
    values: Vec<f64>,
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/storm").join(name)
}

fn read(name: &str, recorded: &Recorded) -> (Model, Vec<String>) {
    let objective = match recorded.objective.as_str() {
        "min-cost" => Objective::MinCost,
        "max-reward" => Objective::MaxReward,
        other => panic!("{other}"),
    };
    let options = ReadOptions {
        discount: Some(1.0),
        reach: recorded.reach.iter().cloned().collect(),
        rewards: recorded.rewards.clone(),
        objective: Some(objective),
        ..ReadOptions::default()
    };
    let file = read_model_file(&path(&format!("{name}.drn")), &options).unwrap();
    assert_eq!(file.model.objective(), objective);
    (file.model, file.warnings)
}

fn recorded() -> Vec<Recorded> {
    let text = std::fs::read_to_string(path("values.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn values_are_storms() {
    let mut asked = 0;
    for recorded in recorded() {
        let direction = match recorded.direction.as_str() {
            "worst" => Direction::Worst,
            "best" => Direction::Best,
            other => panic!("{other}"),
        };
        for name in &recorded.files {
            let (model, _) = read(name, &recorded);
            let intervals = name.ends_with("interval") || name.ends_with("within");
            assert_eq!(model.has_intervals(), intervals, "{name}");
            let set = if intervals { UncertaintySet::interval() } else { UncertaintySet::none() };
            let options = Options {
                criterion: Criterion::Total,
                direction,
                stop: Stop::at_gap(TOLERANCE),
                ..Options::default()
            };
            let found = solve(&model, &set, &options).unwrap();
            assert_eq!((found.criterion, found.direction), (Criterion::Total, direction));
            assert_eq!(found.status, Status::Certified, "{name}");
            assert_eq!(model.states(), recorded.values.len(), "{name}");
            for (s, (&value, &expected)) in found.values.iter().zip(&recorded.values).enumerate() {
                // There is nothing to reach any more in what was to be reached.
                let expected = if model.is_terminal(s) { 0.0 } else { expected };
                let error = (value - expected).abs();
                assert!(
                    error <= TOLERANCE * expected.abs().max(1.0),
                    "{name}, {:?} {:?} {direction:?}, state {s}: {value}, and Storm says {expected}",
                    recorded.reach,
                    recorded.rewards,
                );
            }
            asked += 1;
        }
    }
    assert_eq!(asked, 6 * 6 + 12 + 2 * 4);
}

#[test]
fn names_rewards_and_warnings() {
    let of = |name: &str| {
        let tolls = Recorded {
            files: Vec::new(),
            objective: "min-cost".into(),
            direction: String::new(),
            reach: None,
            rewards: Some("tolls".into()),
            values: Vec::new(),
        };
        read(name, &tolls)
    };
    for name in ["double", "rational", "parametric", "interval", "rational-interval", "within"] {
        let (model, warnings) = of(&format!("courier-{name}"));
        let names: Vec<_> = [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4)].into();
        let names: Vec<_> = names.into_iter().map(|(s, r)| model.action_name(s, r)).collect();
        assert_eq!(names, ["street", "canal", "walk", "run", "row"], "{name}");
        assert_eq!(model.initial(), Some(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0][..]));
        assert!((model.row(1).cost - 1.0 / 3.0).abs() < 1e-9 && model.row(4).cost == 1e-7);
        assert!(model.is_terminal(3) && model.is_terminal(4));
        let lost = "labels of states that the model does not keep: “door”, “lost”";
        assert_eq!(warnings, [lost], "{name}");
    }
    let (model, _) = of("courier-plain");
    assert_eq!(model.action_name(0, 1), "1");
    // Ten digits that sum to 1 within 1e-9 are nothing to speak of.
    let bounds = of("courier-within").0;
    let bounds = bounds.row(0).bounds.unwrap();
    assert_eq!(bounds.upper[..2], [0.7166666667, 0.3833333333]);
}
