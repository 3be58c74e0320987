use std::path::Path;

use super::*;
use crate::model::ModelBuilder;

const TEXT: &str =
    "3\n2\n1\n2\n0 0 1 0.25 0.5\n0 0 2 0.5 0.75\n1 1 2 0.1 0.4\n1 1 0 0 0.9\n2 0 2 1 1\n";

fn read_text(text: &str) -> Result<(Model, Vec<String>), Error> {
    read(Source::in_memory(Path::new("m.bmdp"), text.as_bytes()), Some(0.9))
}

#[test]
fn reaching_a_terminal_state_has_reward_1() {
    let (model, warnings) = read_text(TEXT).unwrap();
    assert_eq!((model.states(), model.rows(), model.objective()), (3, 2, Objective::MaxReward));
    assert!(model.is_terminal(2) && warnings.is_empty());
    let bounds = model.row(0).bounds.unwrap();
    assert_eq!((bounds.lower, bounds.upper), (&[0.0, 0.25, 0.5][..], &[0.0, 0.5, 0.75][..]));
    assert_eq!(model.row(0).transition_cost, Some(&[0.0, 0.0, -1.0][..]));
    // Actions keep their numbers as names, and lines come in any order.
    assert_eq!(model.action_name(1, 1), "1");
    assert_eq!(model.row(1).bounds.unwrap().upper, [0.9, 0.0, 0.4]);
    assert_eq!(reached(&model), Some(vec![false, false, true]));
    let (_, warnings) = read_text("1 1 0 0 0 0 1 1").unwrap();
    assert!(warnings[0].starts_with("no terminal states"), "{warnings:?}");
}

#[test]
fn other_rewards_are_seen() {
    let model = |rewards: [f64; 3]| {
        let mut b = ModelBuilder::new(0.9).objective(Objective::MaxReward);
        b.add_state(None);
        b.add_action(None, 0.0);
        (0..3).for_each(|to| b.add_transition(to, if to == 0 { 0.5 } else { 0.25 }, rewards[to]));
        for _ in 0..2 {
            b.add_state(None);
            b.mark_terminal();
        }
        b.build().unwrap()
    };
    assert_eq!(reached(&model([0.0, 1.0, 0.0])), Some(vec![false, true, false]));
    assert_eq!(reached(&model([0.0, 1.0, 2.0])), None);
    assert_eq!(reached(&model([1.0, 1.0, 1.0])), None);
}

#[test]
fn errors_name_the_place() {
    for (from, to, expected) in [
        ("3\n2", "x\n2", ", line 1: found “x”, expected the number of states"),
        ("1\n2\n", "1\n3\n", ", line 4: found “3”, expected a terminal state, a number below 3"),
        (
            "0 0 1 0.25",
            "0 2 1 0.25",
            ", line 5: found “2”, expected state 0: an action, a number below 2",
        ),
        (
            "0 0 1 0.25",
            "0 0 3 0.25",
            ", line 5: found “3”, expected state 0, action 0: a target state",
        ),
        (
            "0 0 1 0.25",
            "0 0 1 low",
            ", line 5: found “low”, expected state 0, action 0, next state 1: the l",
        ),
        (
            "2 0 2 1 1",
            "2 0 2 1",
            ", line 10: the file ends too early, expected state 2, action 0, next",
        ),
        (
            "2 0 2 1 1",
            "5 0 2 1 1",
            ", line 9: found “5”, expected a source state, a number below 3",
        ),
        (
            "0.25 0.5",
            "0.5 0.25",
            ", line 5: state 0, action 0: the interval [0.5, 0.25] of next state 1",
        ),
        ("0.1 0.4", "0.1 0.05", ", line 7: state 1, action 0 (“1”): the interval"),
        ("0 0.9", "0 0.5", ", line 8: state 1, action 0 (“1”): lower bounds sum to 0.1"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let found = read_text(&TEXT.replacen(from, to, 1)).unwrap_err().to_string();
        let found = found.replacen("m.bmdp", "", 1);
        assert!(found.starts_with(expected), "{found}");
    }
    let huge = read_text("4294967294 1 0").unwrap_err().to_string();
    assert!(huge.contains("4294967294 states among only 0 transitions"), "{huge}");
}
