use std::path::Path;

use super::*;

const TEXT: &str = "\
// written by a checker
@type: MDP
@value_type: double
@parameters

@reward_models
time energy
@nr_states
3
@nr_choices
4
@model
state 0 [1, 0] init \"two words\"
//[x=0]
\taction go [0.5, 2]
\t\t1 : 0.25
\t\t2 : 3/4
\taction __NOLABEL__ [0, 0]
\t\t0 : 1
state 1 [0, 0] goal
\taction 0 [0, 3]
\t\t1 : 0.5
\t\t2 : 0.5
state 2 [0, 0] goal deadlock
\taction 0 [0, 0]
\t\t2 : 1
";

fn read_with(text: &str, options: ReadOptions) -> Result<(Model, Vec<String>), Error> {
    let source = Source::in_memory(Path::new("m.drn"), text.as_bytes());
    read(source, &ReadOptions { discount: Some(0.9), ..options })
}

fn read_text(text: &str) -> Result<(Model, Vec<String>), Error> {
    read_with(text, ReadOptions::default())
}

#[test]
fn states_actions_rewards_and_labels() {
    let (model, warnings) = read_text(TEXT).unwrap();
    assert_eq!((model.states(), model.rows(), model.objective()), (3, 3, Objective::MaxReward));
    assert_eq!(model.initial(), Some(&[1.0, 0.0, 0.0][..]));
    assert!(model.is_terminal(2));
    let names: Vec<_> = (0..2).map(|r| model.action_name(0, r)).collect();
    assert_eq!(names, ["go", "1"]);
    assert_eq!(model.row(0).prob, [0.0, 0.25, 0.75]);
    assert_eq!((model.row(0).cost, model.row(1).cost, model.row(2).cost), (-1.5, -1.0, 0.0));
    assert_eq!(
        warnings,
        [
            "the rewards “time” are taken, and “energy” are not",
            "labels of states that the model does not keep: “goal”, “two words”"
        ]
    );
    let energy = ReadOptions { rewards: Some("energy".into()), ..ReadOptions::default() };
    let (model, warnings) = read_with(TEXT, energy).unwrap();
    assert_eq!((model.row(0).cost, model.row(2).cost, warnings.len()), (-2.0, -3.0, 1));
    let (model, _) = read_text(&TEXT.replace("time energy", "cost energy")).unwrap();
    assert_eq!((model.objective(), model.row(0).cost), (Objective::MinCost, 1.5));
    let least = ReadOptions { objective: Some(Objective::MinCost), ..ReadOptions::default() };
    assert_eq!(read_with(TEXT, least).unwrap().0.objective(), Objective::MinCost);
}

#[test]
fn goals() {
    let options = ReadOptions { reach: vec!["goal".into()], ..ReadOptions::default() };
    let (model, _) = read_with(TEXT, options).unwrap();
    assert!(model.is_terminal(1) && model.is_terminal(2));
    assert_eq!((model.row(0).cost, model.row(1).cost), (0.0, 0.0));
    assert_eq!(model.row(0).transition_cost, Some(&[0.0, -1.0, -1.0][..]));
}

#[test]
fn intervals_placeholders_and_no_rewards() {
    let text = "@type: DTMC\n@value_type: double-interval\n@parameters\n@placeholders\n$0 : [0.25, 0.5]\n\
                @reward_models\n@nr_states: 2\n@nr_choices\n2\n@model\nstate 0\n\taction 0\n\t\t0 : $0\n\
                \t\t1 : [0.5, 1]\nstate 1\n\taction 0\n\t\t1 : 1\n";
    let (model, warnings) = read_text(text).unwrap();
    let bounds = model.row(0).bounds.unwrap();
    assert_eq!((bounds.lower, bounds.upper), (&[0.25, 0.5][..], &[0.5, 1.0][..]));
    assert_eq!((model.row(0).cost, warnings.len()), (0.0, 0));
}

#[test]
fn errors_name_the_place() {
    for (from, to, expected) in [
        ("@type: MDP", "@type: CTMC", ", line 2: a model of type “CTMC”, expected MDP or DTMC"),
        ("@type: MDP\n", "", ", line 11: no “@type”, expected “@type: MDP”"),
        ("@parameters\n", "@parameters\np q\n", ", line 5: the parameters “p q”, expected none"),
        ("@nr_states\n3", "@nr_states\nx", ", line 9: @nr_states is “x”, expected a number"),
        (
            "@nr_states\n3",
            "@nr_states\n4",
            ", line 26: 3 states to the end of the file, expected 4",
        ),
        (
            "@nr_states\n3",
            "@nr_states\n2",
            ", line 24: in or after state 1, action 0: state 2 is more than",
        ),
        (
            "@nr_choices\n4",
            "@nr_choices\n5",
            ", line 26: 4 choices to the end of the file, expected 5",
        ),
        (
            "state 1",
            "state 2",
            ", line 20: in or after state 0, action 1: found “state 2”, expected “state 1”",
        ),
        (
            "\taction go [0.5, 2]\n",
            "",
            ", line 15: in or after state 0: a transition before the first action",
        ),
        ("[1, 0] init", "!0.5 [1, 0] init", ", line 13: in or after state 0: an exit rate"),
        ("[1, 0] init", "{3} [1, 0] init", ", line 13: in or after state 0: an observation"),
        (
            "[1, 0] init",
            "[x, 0] init",
            ", line 13: in or after state 0: rewards [x, 0], expected 2 numbers",
        ),
        ("[1, 0] init", "[1, 0 init", ", line 13: in or after state 0: rewards without ]"),
        ("words\"", "words", ", line 13: in or after state 0: a label without its second \""),
        (
            "1 : 0.25",
            "1 : p",
            ", line 16: in or after state 0, action 0: the probability of next state 1 is “p”",
        ),
        (
            "1 : 0.25",
            "1 0.25",
            ", line 16: in or after state 0, action 0: found “1 0.25”, expected",
        ),
        ("1 : 0.25", "1 : 0.5", ", line 16: state 0, action 0 (“go”): probabilities sum to 1.25"),
        ("2 : 3/4", "7 : 3/4", ", line 17: state 0, action 0 (“go”): next state 7 does not exist"),
        ("@model", "state", ", line 12: found"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let text = TEXT.replacen(from, to, 1);
        let found = read_text(&text).unwrap_err().to_string().replacen("m.drn", "", 1);
        // Without its heading the model is taken for a part of the header.
        let expected =
            if from == "@model" { ", line 12: @nr_choices is “state”" } else { expected };
        assert!(found.starts_with(expected), "{found}");
    }
    assert!(read_text("").unwrap_err().to_string().contains("the file ends before “@model”"));
    let none = ReadOptions { rewards: Some("x".into()), ..ReadOptions::default() };
    let found = read_with(TEXT, none).unwrap_err().to_string();
    assert!(found.ends_with("no rewards “x”, expected one of “time”, “energy”"), "{found}");
}
