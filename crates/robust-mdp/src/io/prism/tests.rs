use std::fs;
use std::path::Path;

use super::*;
use crate::io::tests::Folder;
use crate::io::{read_model, read_model_file, write_model};
use crate::model::ModelBuilder;

const TRA: &str =
    "3 4 6\n0 0 1 0.25 run\n0 0 2 0.75 run\n0 1 0 1 wait\n1 0 0 0.5\n1 0 2 0.5\n2 0 2 1\n";
const LAB: &[u8] = b"0=\"init\" 1=\"deadlock\" 2=\"goal\"\n0: 0\n1: 2\n2: 1 2\n";
const STA: &[u8] = b"(x,y)\n0:(0,0)\n1:(0,1)\n2:(1,0)\n";
const SREW: &[u8] = b"# Reward structure \"gain\"\n# State rewards\n3 1\n1 2.5\n";
const TREW: &[u8] = b"# a comment\n3 4 3\n0 0 1 1\n0 0 2 4\n0 1 0 3\n";

type Files<'a> = &'a [(&'a str, &'a [u8])];

fn read_text(text: &str, beside: Files<'_>, reach: &[&str]) -> Result<(Model, Vec<String>), Error> {
    let source = Source::in_memory_with(Path::new("m.tra"), text.as_bytes(), beside);
    let reach = reach.iter().map(|label| (*label).to_owned()).collect();
    read(source, &ReadOptions { discount: Some(0.9), reach, ..ReadOptions::default() })
}

#[test]
fn transitions_alone() {
    let (model, warnings) = read_text(TRA, &[], &[]).unwrap();
    assert_eq!((model.states(), model.rows(), model.discount()), (3, 4, 0.9));
    assert_eq!(model.objective(), Objective::MaxReward);
    let names: Vec<_> = (0..2).map(|r| model.action_name(0, r)).collect();
    assert_eq!(names, ["run", "wait"]);
    assert_eq!(model.row(0).prob, [0.0, 0.25, 0.75]);
    assert!(model.initial().is_none() && warnings.is_empty() && !model.is_terminal(2));
    // Without counts, as Storm has it; comments, and states without transitions.
    let plain = TRA.replacen("3 4 6", "# Transitions\nmdp", 1);
    assert_eq!(read_text(&plain, &[], &[]).unwrap().0, model);
    let (model, warnings) = read_text("2 1 1\n0 0 1 1/1\n", &[], &[]).unwrap();
    assert!(model.is_terminal(1) && warnings[0].starts_with("state 1 has no actions"));
}

#[test]
fn what_stands_beside() {
    let files: Files<'_> = &[("lab", LAB), ("sta", STA), ("srew", SREW), ("trew", TREW)];
    let (model, warnings) = read_text(TRA, files, &[]).unwrap();
    assert_eq!(model.initial(), Some(&[1.0, 0.0, 0.0][..]));
    assert_eq!((model.state_name(1), model.state_name(2)), ("0,1".into(), "1,0".into()));
    assert!(model.is_terminal(2));
    // Transition rewards that differ, one that is shared, and one of the state.
    assert_eq!((model.row(0).cost, model.row(1).cost, model.row(2).cost), (0.0, -3.0, -2.5));
    let row: Vec<_> = model.row(0).entries().filter(|e| e.1 > 0.0).collect();
    assert_eq!(row, [(1, 0.25, -1.0), (2, 0.75, -4.0)]);
    assert_eq!(warnings, ["label of states that the model does not keep: “goal”"]);
    let costs = b"# Reward structure \"cost\"\n3 1\n1 2.5\n".as_slice();
    let (model, _) = read_text(TRA, &[("srew", costs)], &[]).unwrap();
    assert_eq!((model.objective(), model.row(2).cost), (Objective::MinCost, 2.5));
}

#[test]
fn chains_and_their_rewards() {
    let trew = b"2 1\n0 1 7\n".as_slice();
    let (model, _) = read_text("2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n", &[("trew", trew)], &[]).unwrap();
    assert_eq!((model.rows(), model.row(0).prob), (2, &[0.5, 0.5][..]));
    assert_eq!(model.row(0).transition_cost, Some(&[0.0, -7.0][..]));
}

#[test]
fn goals() {
    let files: Files<'_> = &[("lab", LAB), ("srew", SREW)];
    let (model, warnings) = read_text(TRA, files, &["goal"]).unwrap();
    assert!(model.is_terminal(1) && model.is_terminal(2) && !model.is_terminal(0));
    assert!(warnings.is_empty());
    assert_eq!((model.row(0).cost, model.row(1).cost), (0.0, 0.0));
    let row: Vec<_> = model.row(0).entries().filter(|e| e.1 > 0.0).collect();
    assert_eq!(row, [(1, 0.25, -1.0), (2, 0.75, -1.0)]);
    let unknown = read_text(TRA, files, &["end"]).unwrap_err().to_string();
    let expected = "m.tra: no label “end” to be reached, expected one of deadlock, goal, init";
    assert_eq!(unknown, expected);
    assert!(read_text(TRA, &[], &["end"]).unwrap_err().to_string().ends_with("there are none"));
    let csv = ReadOptions { reach: vec!["end".into()], ..ReadOptions::default() };
    let unused = read_model_file(Path::new("m.csv"), &csv).unwrap_err().to_string();
    assert_eq!(unused, "labels to be reached are of no use to the format csv, expected none");
}

#[test]
fn intervals() {
    let text = "# Transitions (IMDP)\n2 2 3\n0 0 0 [0.25,0.75] a\n0 0 1 [1/4, 1] a\n1 0 1 1\n";
    let (model, _) = read_text(text, &[], &[]).unwrap();
    let bounds = model.row(0).bounds.unwrap();
    assert_eq!((bounds.lower, bounds.upper), (&[0.25, 0.25][..], &[0.75, 1.0][..]));
    assert!((model.row(0).prob[0] - 0.45).abs() < 1e-15);
    assert_eq!(model.row(1).bounds.unwrap().lower, [0.0, 1.0]);
    let wrong = text.replace("[1/4, 1]", "[0.75,0.5]");
    let found = read_text(&wrong, &[], &[]).unwrap_err().to_string();
    assert!(found.starts_with("m.tra, line 4: state 0, action 0 (“a”): the interval ["), "{found}");
}

#[test]
fn errors_name_the_line() {
    let body = |from: &str, to: &str| {
        assert!(TRA.contains(from), "{from}");
        let text = TRA.replacen(from, to, 1);
        read_text(&text, &[], &[]).unwrap_err().to_string().replacen("m.tra", "", 1)
    };
    for (from, to, expected) in [
        ("3 4 6", "3 4 6 1", ", line 1: four numbers: partially observable models"),
        ("3 4 6", "3", ", line 1: found “3”, expected a line of numbers, “states choices"),
        ("3 4 6", "3 4 7", ", line 7: 6 transitions to the end of the file, expected 7"),
        ("3 4 6", "3 5 6", ", line 7: 4 choices to the end of the file, expected 5"),
        (
            "3 4 6",
            "2 4 6",
            ", line 3: state 0, choice 0: target 2 does not exist, expected a number below 2",
        ),
        ("3 4 6", "4000000000 4 6", ", line 7: 4000000000 states among only 6 transitions"),
        (
            "0 0 1 0.25",
            "0 x 1 0.25",
            ", line 2: found “0 x 1 0.25 run”, expected “source choice target",
        ),
        ("0 1 0 1 wait", "1 1 0 1 wait", ", line 5: state 1, choice 0 comes after larger ones"),
        ("0.75", "0.5", ", line 2: state 0, action 0 (“run”): probabilities sum to 0.75"),
        ("0.75", "-0.75", ", line 3: state 0, action 0 (“run”): the probability of next state 2"),
        ("0 1 0 1 wait", "0 1 0 1 wait here", ", line 4: found “0 1 0 1 wait here”, expected"),
    ] {
        let found = body(from, to);
        assert!(found.starts_with(expected), "{found}");
    }
    assert_eq!(
        read_text("", &[], &[]).unwrap_err().to_string().find("the file is empty"),
        Some(15)
    );
    for (ending, bytes, expected) in [
        ("lab", &b"0=init\n"[..], "m.lab, line 1: found “0=init”, expected labels as"),
        ("lab", b"0=\"init\"\n0: 1\n", "m.lab, line 2: state 0: no label 1, expected one declared"),
        ("lab", b"0=\"init\"\n0 0\n", "m.lab, line 2: found “0 0”, expected “state: label …”"),
        ("sta", b"(x)\n1:(0)\n", "m.sta, line 2: found “1:(0)”, expected “0:(…)”"),
        ("srew", b"3 1\n0 x\n", "m.srew, line 2: found “0 x”, expected “state reward”"),
        ("srew", b"3 2\n0 1\n", "m.srew, line 2: 1 rewards to the end of the file, expected 2"),
        (
            "trew",
            b"3 4 1\n0 0 1\n",
            "m.trew, line 2: found “0 0 1”, expected “source choice target",
        ),
        (
            "trew",
            b"3 4 1\n0 0 1 inf\n",
            "m.tra, line 2: state 0, action 0 (“run”): the cost or reward",
        ),
        ("trew", b"x\n", "m.trew, line 1: found “x”, expected counts"),
    ] {
        let found = read_text(TRA, &[(ending, bytes)], &[]).unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    }
    let two: Files<'_> = &[("srew", SREW), ("trew", b"# Reward structure \"loss\"\n3 4 0\n")];
    let found = read_text(TRA, two, &[]).unwrap_err().to_string();
    assert!(found.starts_with("m.trew: rewards “loss”, and the .srew file has “gain”"), "{found}");
    let missing = Source::in_memory(Path::new("m.tra"), TRA.as_bytes());
    let missing = read(missing, &ReadOptions::default()).unwrap_err().to_string();
    assert!(missing.contains("the discount factor is missing"), "{missing}");
}

#[test]
fn five_files_packed_or_not() {
    let mut b = ModelBuilder::new(0.9).initial(vec![0.5, 0.0, 0.5]);
    b = b.state("a b").action("go", 1.5, &[(0, 0.5), (1, 0.5)]);
    b.add_action(Some("stay"), 0.0);
    b.add_transition(1, 0.5, 2.0);
    b.add_transition(2, 0.5, 0.0);
    let model = b.state("c)").action("go", 0.0, &[(0, 1.0)]).terminal("end").build().unwrap();
    let folder = Folder::new();
    for name in ["m.tra", "m.tra.gz"] {
        let path = folder.file(name);
        assert_eq!(write_model(&model, &path, None).unwrap().len(), 1);
        assert_eq!(read_model(&path, None, Some(0.9)).unwrap(), (model.clone(), vec![]));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 10);
    assert_eq!(
        fs::read_to_string(folder.file("m.lab")).unwrap(),
        "0=\"init\" 1=\"deadlock\"\n0: 0\n2: 0 1\n"
    );
    // What stands beside a packed one may be plain.
    for ending in ["lab", "sta", "trew"] {
        fs::remove_file(folder.file(&format!("m.{ending}.gz"))).unwrap();
    }
    assert_eq!(read_model(&folder.file("m.tra.gz"), None, Some(0.9)).unwrap().0, model);
}
