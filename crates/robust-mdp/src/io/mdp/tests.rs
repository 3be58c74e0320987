use std::path::Path;

use super::*;
use crate::io::tests::Folder;

/// Two states, two actions; one has rewards that depend on the next state.
const TEXT: &str = "2 2 0.9\nINITIAL\n1 0\nREWARDS\n1 1\n0 5\n2 2\n-1 -1\nTRANSITIONS\n\
                    0.5 0.5\n1 0\n0 1\n0.25 0.75\n";

fn read_text(text: &str) -> Result<Model, Error> {
    Ok(read(Source::in_memory(Path::new("m.mdp"), text.as_bytes()), None)?.0)
}

fn message(text: &str) -> String {
    let text = read_text(text).unwrap_err().to_string();
    text.rsplit_once("m.mdp").unwrap().1.to_owned()
}

#[test]
fn rows_and_rewards() {
    let model = read_text(TEXT).unwrap();
    assert_eq!((model.states(), model.rows(), model.discount()), (2, 4, 0.9));
    assert_eq!((model.objective(), model.initial()), (Objective::MaxReward, Some(&[1.0, 0.0][..])));
    assert_eq!((model.row(0).cost, model.row(3).cost), (-1.0, 1.0));
    // A reward on a next state of probability 0 is kept.
    assert_eq!((model.row(1).cost, model.row(1).transition_cost), (0.0, Some(&[0.0, -5.0][..])));
    assert_eq!(model.row(3).prob, [0.25, 0.75]);
    // Line ends mean nothing, and words any letters.
    let loose = TEXT.replace('\n', "\r\n\t").replace("INITIAL", "Initial");
    assert_eq!(read_text(&loose).unwrap(), model);
    let uniform = TEXT.replace("1 0\nREWARDS", "0.5 0.5\nREWARDS");
    assert_eq!(read_text(&uniform).unwrap().initial(), None);
}

#[test]
fn errors_name_the_place() {
    for (from, to, expected) in [
        ("2 2 0.9", "2 x 0.9", ", line 1: found “x”, expected the number of actions"),
        ("2 2 0.9", "0 2 0.9", ", line 1: 0 states and 2 actions, expected at least one"),
        ("2 2 0.9", "2 2 1.5", ": the discount factor is 1.5"),
        (
            "2 2 0.9",
            "4294967294 2 0.9",
            ", line 4: found “REWARDS”, expected the initial probability",
        ),
        ("\n1 0\nREW", "\n1 0 0\nREW", ", line 3: found “0”, expected REWARDS"),
        ("\n1 0\nREW", "\n1 1\nREW", ": the initial probabilities sum to 2.0"),
        (
            "0 5\n",
            "0 five\n",
            ", line 6: found “five”, expected state 0, action 1: the reward of next",
        ),
        (
            "0 5\n",
            "0 nan\n",
            ", line 11: state 0, action 1: the cost or reward on moving to state 1",
        ),
        ("0 1\n", "0.5 0.4\n", ", line 12: state 1, action 0: probabilities sum to 0.9"),
        (
            "0 1\n",
            "-1 2\n",
            ", line 12: state 1, action 0: the probability of next state 0 is -1.0",
        ),
        (
            "0.25 0.75\n",
            "0.25",
            ", line 13: the file ends too early, expected state 1, action 1: the",
        ),
        ("0.25 0.75\n", "0.25 0.75 1", ", line 13: found “1”, expected the end of the file"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let found = message(&TEXT.replacen(from, to, 1));
        assert!(found.starts_with(expected), "{found}");
    }
    assert!(
        message("").starts_with(", line 1: the file ends too early, expected the number of states")
    );
}

#[test]
fn ambiguity_sets_come_back() {
    let (folder, model) = (Folder::new(), read_text(TEXT).unwrap());
    let path = folder.file("m.amb");
    let weights: Vec<f64> = (0..8).map(|k| f64::from(k) / 3.0).collect();
    let sets = Ambiguity {
        l1: Some(0.1),
        kl: Some(1.0 / 3.0),
        l2_weights: Some(weights.clone()),
        ..Ambiguity::default()
    };
    write_ambiguity(&path, &model, &sets).unwrap();
    assert_eq!(read_ambiguity(&path, &model).unwrap(), sets);
    let all = Ambiguity { l2: Some(2.0), burg: Some(0.0), l1_weights: Some(weights), ..sets };
    write_ambiguity(&path, &model, &all).unwrap();
    assert_eq!(read_ambiguity(&path, &model).unwrap(), all);
    let short = Ambiguity { l1_weights: Some(vec![1.0]), ..Ambiguity::default() };
    assert!(write_ambiguity(&path, &model, &short).is_err());
    for (text, expected) in [
        ("L1 -1", ", line 1: found “-1”, expected the budget of L1, a finite number of at least 0"),
        ("L1 1\nL1 2", ", line 2: L1 comes twice"),
        ("L3 1", ", line 1: found “L3”, expected L1, L2, KL, BURG, SIGMA_L1 or SIGMA_L2"),
        (
            "SIGMA_L1\n1 1\n1 inf",
            ", line 3: found “inf”, expected SIGMA_L1 of state 0, action 1, next",
        ),
        ("kl 1\nsigma_l2 1", ", line 2: the file ends too early, expected SIGMA_L2 of state 0"),
    ] {
        let source = Source::in_memory(Path::new("m.amb"), text.as_bytes());
        let found = read_ambiguity(source, &model).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
}
