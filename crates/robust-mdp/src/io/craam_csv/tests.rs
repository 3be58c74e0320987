use std::path::Path;

use super::*;
use crate::io::tests::Folder;
use crate::io::{ReadOptions, read_model, read_model_file, write_model, write_model_file};
use crate::model::{Model, Objective};

const HEADER: &str = "idstatefrom,idaction,idstateto,probability,reward\n";

fn read_text(text: impl AsRef<[u8]>) -> Result<(Model, Vec<String>), Error> {
    let file = read(Source::in_memory(Path::new("m.csv"), text.as_ref()), Some(0.9))?;
    Ok((file.model, file.warnings))
}

fn message(text: impl AsRef<[u8]>) -> String {
    let text = read_text(text).unwrap_err().to_string();
    text.rsplit_once("m.csv").unwrap().1.to_owned()
}

#[test]
fn columns_in_any_order_lines_in_any_order() {
    let text = "\u{feff}\"note\", Probability ,\"idstateto\",idaction,idstatefrom,cost\r\n\
                x,1,0,0,1,5\r\n,0.25,1,0,0,2\r\n\r\n,0.75,0,0,0,2\r\n";
    let (model, warnings) = read_text(text).unwrap();
    assert_eq!((model.states(), model.rows(), model.objective()), (2, 2, Objective::MinCost));
    assert_eq!(model.row(0).prob, [0.75, 0.25]);
    assert_eq!((model.row(0).cost, model.row(1).cost), (2.0, 5.0));
    assert!(warnings.is_empty() && !model.has_transition_costs());
}

#[test]
fn repeated_lines_merge_unless_rewards_differ() {
    let lines = "0,0,0,0.25,4\n0,0,0,0.25,0\n0,0,0,0.25,1\n0,0,0,0.25,4\n";
    let (model, _) = read_text(format!("{HEADER}{lines}")).unwrap();
    // Rewards are negated inside; rows are in the order of rewards as they came.
    assert_eq!(model.row(0).next.unwrap(), [0, 0, 0]);
    assert_eq!(model.row(0).transition_cost.unwrap(), [0.0, -1.0, -4.0]);
    assert_eq!((model.row(0).cost, model.row(0).prob), (0.0, &[0.25, 0.25, 0.5][..]));
}

#[test]
fn sparse_action_numbers_become_names() {
    let text = format!("{HEADER}0,5,0,1,1\n0,0,0,1,0\n1,0,1,1,0\n1,1,1,1,0\n");
    let (model, _) = read_text(&text).unwrap();
    let names: Vec<_> = (0..4).map(|r| model.action_name(r / 2, r)).collect();
    assert_eq!(names, ["0", "5", "0", "1"]);
    let folder = Folder::new();
    write_model(&model, &folder.file("again.csv"), None).unwrap();
    assert_eq!(read_model(&folder.file("again.csv"), None, Some(0.9)).unwrap().0, model);
}

#[test]
fn states_without_lines_are_terminal() {
    let (model, warnings) = read_text(format!("{HEADER}0,0,7,1,1\n")).unwrap();
    assert_eq!(model.states(), 8);
    assert!(model.is_terminal(7));
    assert_eq!(
        warnings,
        ["7 states have no actions: taken as terminal with value 0: 1, 2, 3, 4, 5, …"]
    );
}

const OUTCOMES: &str = "idoutcome,idstatefrom,idaction,idstateto,probability,reward\n";

#[test]
fn outcomes_are_mixed_evenly_and_kept() {
    // Two outcomes of one action, three of another, one of the third; lines in any order.
    let lines = "7,0,0,1,1,4\n2,0,0,0,0.5,4\n2,0,0,1,0.25,4\n2,0,0,1,0.25,4\n0,1,0,0,1,0\n\
                 1,1,0,0,1,3\n2,1,0,1,1,0\n5,1,1,0,1,0\n";
    let text = format!("{OUTCOMES}{lines}");
    let source = Source::in_memory(Path::new("m.csv"), text.as_bytes());
    let file = read(source, Some(0.9)).unwrap();
    let (model, outcomes) = (&file.model, file.outcomes.unwrap());
    assert_eq!(file.warnings.len(), 1);
    assert!(file.warnings[0].starts_with("2 of 3 state-action pairs have several outcomes"));
    let row = |r: usize| model.row(r).entries().collect::<Vec<_>>();
    assert_eq!(row(0), [(0, 0.25, 0.0), (1, 0.75, 0.0)]);
    let third = 1.0 / 3.0;
    assert_eq!(model.row(0).cost, -4.0);
    assert_eq!(row(1).len(), 3);
    assert!(row(1).iter().all(|(_, p, _)| (p - third).abs() < 1e-15));
    let of = |r: usize| outcomes.of_row(r).map(|(id, p)| (id, p.to_vec())).collect::<Vec<_>>();
    assert_eq!(of(0), [(2, vec![(0, 0.5), (1, 0.5)]), (7, vec![(1, 1.0)])]);
    // Each outcome of the second action has a transition of its own: two lead to state 0, at 0 and 3.
    assert_eq!(of(1).len(), 3);
    let mut places: Vec<u32> = of(1).iter().map(|(_, p)| p[0].0).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2]);
    assert_eq!(of(2), [(5, vec![(0, 1.0)])]);
}

#[test]
fn outcomes_come_back() {
    // The last action is certain; its line of probability 0 and the last state that nothing leads to are kept.
    let lines = "2,0,0,0,0.1,4\n2,0,0,1,0.7,4\n2,0,0,2,0.2,4\n7,0,0,1,1,4\n3,1,0,0,0.3,2\n3,1,0,2,0.7,1\n\
                 5,1,0,0,0.6,2\n5,1,0,2,0.4,1\n0,2,0,1,1,0\n0,2,0,4,0,3\n";
    let text = format!("{OUTCOMES}{lines}");
    let read = |path: &Path| {
        read_model_file(path, &ReadOptions { discount: Some(0.9), ..ReadOptions::default() })
            .unwrap()
    };
    let folder = Folder::new();
    let first = folder.file("m.csv");
    std::fs::write(&first, text).unwrap();
    let first = read(&first);
    assert!(first.warnings[0].contains("2 of 3 state-action pairs"), "{:?}", first.warnings);
    assert!(first.warnings[0].ends_with("(in 1 of them, other rows too)"), "{:?}", first.warnings);
    for name in ["m.csv.gz", "m.parquet"] {
        #[cfg(not(feature = "parquet"))]
        if name.ends_with("parquet") {
            continue;
        }
        let path = folder.file(name);
        let lost = write_model_file(&first, &path, None).unwrap();
        assert_eq!(lost, ["the discount factor is lost: give 0.9 again to solve (--discount 0.9)"]);
        let again = read(&path);
        assert_eq!((&again.model, &again.outcomes), (&first.model, &first.outcomes), "{name}");
        assert_eq!(again.warnings, first.warnings);
    }
    let lost = write_model_file(&first, &folder.file("m.json"), None).unwrap();
    assert_eq!(lost, ["the outcomes are lost: only .csv and .parquet keep them"]);
    assert_eq!(read(&folder.file("m.json")).model, first.model);
    // Without them the table has intervals.
    write_model(&first.model, &folder.file("box.csv"), None).unwrap();
    let kept = read(&folder.file("box.csv"));
    assert!(kept.outcomes.is_none() && kept.model == first.model);
    let other = ModelFile { outcomes: first.outcomes, ..read_other() };
    let refused = write_model_file(&other, &folder.file("x.csv"), None).unwrap_err().to_string();
    assert!(refused.starts_with("the outcomes are of another model"), "{refused}");
}

/// A model with one action.
fn read_other() -> ModelFile {
    let text = format!("{HEADER}0,0,0,1,1\n");
    read(Source::in_memory(Path::new("m.csv"), text.as_bytes()), Some(0.9)).unwrap()
}

/// Intervals hold what nature may make of outcomes: all mixtures, and where two transitions share the mass that is left,
/// or every outcome is certain, nothing else.
#[test]
fn outcomes_make_intervals() {
    let bounds = |lines: &str| {
        let text = format!("{OUTCOMES}{lines}");
        let source = Source::in_memory(Path::new("m.csv"), text.as_bytes());
        let file = read(source, Some(0.9)).unwrap();
        let row = file.model.row(0);
        let found = row.bounds.unwrap();
        let wider = file.warnings[0].contains("other rows too");
        (row.prob.to_vec(), found.lower.to_vec(), found.upper.to_vec(), wider)
    };
    let two = bounds("0,0,0,0,0.25,1\n0,0,0,1,0.75,1\n1,0,0,0,0.75,1\n1,0,0,1,0.25,1\n");
    assert_eq!(two, (vec![0.5, 0.5], vec![0.25, 0.25], vec![0.75, 0.75], false));
    let certain = bounds("0,0,0,0,1,1\n1,0,0,1,1,1\n2,0,0,2,1,1\n3,0,0,2,1,1\n");
    assert_eq!(certain, (vec![0.25, 0.25, 0.5], vec![0.0; 3], vec![1.0; 3], false));
    let third = "0,0,0,0,0.25,1\n0,0,0,1,0.5,1\n0,0,0,2,0.25,1\n1,0,0,0,0.25,1\n1,0,0,2,0.75,1\n";
    let shared = bounds(third);
    let expected = (vec![0.25, 0.25, 0.5], vec![0.25, 0.0, 0.25], vec![0.25, 0.5, 0.75], false);
    assert_eq!(shared, expected);
    assert!(bounds("0,0,0,0,0.5,1\n0,0,0,1,0.5,1\n1,0,0,2,1,1\n").3);
}

#[test]
fn one_outcome_each_is_a_plain_model() {
    let text = format!("{OUTCOMES}0,0,0,0,1,2\n1,1,0,1,1,0\n");
    let source = Source::in_memory(Path::new("m.csv"), text.as_bytes());
    let file = read(source, Some(0.9)).unwrap();
    assert!(file.outcomes.is_none() && file.warnings.is_empty());
    let half = message(format!("{OUTCOMES}0,0,0,0,1,2\n1,0,0,0,0.5,0\n"));
    let expected = ", line 3: state 0, action 0, outcome 1: probabilities sum to 0.5, expected 1";
    assert!(half.starts_with(expected), "{half}");
}

#[test]
fn errors_name_the_line() {
    let body = |lines: &str| message(format!("{HEADER}{lines}"));
    for (text, expected) in [
        (
            body("0,0,0,1\n"),
            ", line 2: state 0, action 0: only 4 of 5 columns, expected one for “reward” too",
        ),
        (body("0,0,0,1,1\n\n0,x,0,1,1\n"), ", line 4: idaction is “x”, expected a whole number"),
        (body("-1,0,0,1,1\n"), ", line 2: idstatefrom is “-1”"),
        (body("4294967295,0,0,1,1\n"), ", line 2: idstatefrom is “4294967295”"),
        (
            body("0,0,0,NA,1\n"),
            ", line 2: state 0, action 0: probability is “NA”, expected a number",
        ),
        (body("1,0,0,1,1\n0,0,0,0.5,1\n"), ", line 3: state 0, action 0: probabilities sum to 0.5"),
        (body("0,0,0,1,1\n0,0,0,-0.5,1\n"), ", line 3: state 0, action 0: the probability of next"),
        (body("0,0,0,1,1\n0,2,0,nan,1\n"), ", line 3: state 0, action 1 (“2”): the probability"),
        (
            body("0,0,0,0.5,1\n0,0,1,0.5,inf\n"),
            ", line 3: state 0, action 0: the cost or reward on",
        ),
        (body("0,0,4000000000,1,1\n"), ", line 2: state 4000000000 among only 1 line:"),
        (body(""), ": the model has no states"),
        (message("a,b\n"), ", line 1: the header has no column “idstatefrom”; it has: a, b"),
        (message(""), ": the file is empty"),
        (
            message("idstatefrom,idaction,idstateto,probability,reward,cost\n"),
            ", line 1: the header has “reward”",
        ),
        (message(b"\xff\xfe\x00"), ", line 1: the line is not UTF-8 text"),
    ] {
        assert!(text.starts_with(expected), "{text}");
    }
    let text = format!("{HEADER}0,0,0,1,1\n");
    let undiscounted = read(Source::in_memory(Path::new("m.csv"), text.as_bytes()), None);
    assert!(undiscounted.unwrap_err().to_string().contains("--discount"));
}

#[test]
fn five_megabytes() {
    let mut text = HEADER.to_owned();
    for s in 0..50_000u32 {
        for k in 0..4 {
            let to = (s * 7919 + k * 104_729) % 50_000;
            text.push_str(&format!("{s},{},{to},0.5,{}.25\n", k / 2, s % 10));
        }
    }
    assert!(text.len() > 4_000_000);
    let (model, _) = read_text(&text).unwrap();
    assert_eq!((model.states(), model.rows(), model.transitions()), (50_000, 100_000, 200_000));
    assert_eq!(model.row(19).cost, -9.25);
}

#[test]
fn states_numbered_from_one_are_told() {
    let told = |lines: &str| {
        let (_, warnings) = read_text(format!("{HEADER}{lines}")).unwrap();
        warnings.iter().any(|w| w.starts_with("state 0 has no actions and nothing leads to it"))
    };
    assert!(told("1,1,2,1,1\n2,1,1,1,0\n"));
    // State 0 is used: as a state with actions, as a next state, or as one that a set may reach.
    assert!(!told("0,0,1,1,1\n1,0,1,1,1\n"));
    assert!(!told("1,0,0,0.5,1\n1,0,1,0.5,1\n"));
    assert!(!told("1,0,0,0,7\n1,0,1,1,1\n"));
}

#[test]
fn columns_that_come_twice() {
    let twice = |header: &str| message(format!("{header}\n0,0,0,1,1,1\n"));
    for column in ["idstatefrom", "idaction", "idstateto", "probability", "reward"] {
        let header = format!("idstatefrom,idaction,idstateto,probability,reward,{column}");
        let found = twice(&header);
        assert!(
            found.starts_with(&format!(", line 1: the header has “{column}” twice")),
            "{found}"
        );
    }
    // Columns that nobody reads may be called as they like.
    let notes = "note,idstatefrom,idaction,idstateto,probability,reward,note,,\nx,0,0,0,1,1,y\n";
    assert!(read_text(notes).is_ok());
}
