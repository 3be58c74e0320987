use super::*;
use crate::error::Error;
use crate::io::tests::Folder;
use crate::model::{Model, Objective};

fn read_text(text: impl AsRef<[u8]>) -> Result<Model, Error> {
    read(&Folder::new().with("m.json", text), None)
}

fn message(text: &str) -> String {
    let text = read_text(text).unwrap_err().to_string();
    text.rsplit_once("m.json").unwrap().1.to_owned()
}

const STATES: &str = r#"[{"actions":[{"next":[[1,0.5],[0,0.5,3]],"reward":1,"name":"go"}],"name":"a"},
{"actions":[]}]"#;

#[test]
fn keys_in_any_order() {
    let text = format!(
        "\u{feff}{{\"states\":{STATES},\n\"initial\":[1,0],\"discount\":0.5,\
         \"objective\":\"max-reward\",\"version\":1,\"format\":\"robust-mdp\"}}\n"
    );
    let model = read_text(text).unwrap();
    assert_eq!(
        (model.objective(), model.discount()),
        (Objective::MaxReward, 0.5)
    );
    assert_eq!(model.initial(), Some(&[1.0, 0.0][..]));
    assert_eq!(
        (model.row(0).cost, model.row(0).transition_cost.unwrap()),
        (-1.0, &[-3.0, 0.0][..])
    );
    assert_eq!(
        (model.state_name(0), model.state_name(1)),
        ("a".into(), "1".into())
    );
    assert!(model.is_terminal(1));
}

#[test]
fn the_discount_may_come_from_the_caller() {
    let text = format!(
        "{{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"max-reward\",\"states\":{STATES}}}"
    );
    let folder = Folder::new();
    let path = folder.with("m.json", text);
    assert_eq!(read(&path, Some(0.25)).unwrap().discount(), 0.25);
    assert!(
        read(&path, None)
            .unwrap_err()
            .to_string()
            .contains("discount factor is missing")
    );
    assert!(read(&path, Some(1.5)).is_err());
}

fn with_action(action: &str) -> String {
    message(&format!(
        "{{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"min-cost\",\"discount\":0.9,\n\
         \"initial\":null,\"states\":[\n{{\"name\":\"s\",\"actions\":[\n{action}]}}]}}"
    ))
}

#[test]
fn errors_name_the_line() {
    for (action, expected) in [
        (
            r#"{"cost":0,"next":[[0,0.5]]}"#,
            ", line 4: state 0 (“s”), action 0: probabilities sum to 0.5",
        ),
        (
            "{\"cost\":0,\"next\":[[0,1]]},\n{\"cost\":0,\"next\":[[5,1]]}",
            ", line 5: state 0 (“s”), action 1: next state 5 does not exist, expected a number below 1",
        ),
        (
            r#"{"cost":0,"next":[[0,1,1,1]]}"#,
            ", line 4: invalid length 4, expected [state, prob",
        ),
        (r#"{"cost":0,"next":[[0]]}"#, ", line 4: invalid length 1"),
        (
            r#"{"cost":0,"next":[[-1,1]]}"#,
            ", line 4: invalid value: integer `-1`",
        ),
        (
            r#"{"cost":0,"next":[[18446744073709551615,1]]}"#,
            ", line 4: state 0",
        ),
        (
            r#"{"cost":0,"next":[[0,1e999]]}"#,
            ", line 4: number out of range",
        ),
        (
            r#"{"cost":0,"next":{}}"#,
            ", line 4: invalid type: map, expected a list of transitions",
        ),
        (
            r#"{"cost":0,"next":[[0,1]],"x":1}"#,
            ", line 4: unknown field `x`, expected one of",
        ),
        (
            r#"{"reward":0,"next":[[0,1]]}"#,
            ", line 4: state 0: an action has the key `reward`",
        ),
        (
            r#"{"next":[[0,1]]}"#,
            ", line 4: an action has no `cost` or `reward`",
        ),
        (r#"{"cost":0}"#, ", line 4: missing field `next`"),
        (
            r#"{"cost":0,"cost":0,"next":[[0,1]]}"#,
            ", line 4: the key `cost` or `reward` comes",
        ),
        (r#"{"cost":0,"next":[[0,NaN]]}"#, ", line 4: expected value"),
        ("[]", ", line 4: invalid type: sequence, expected an action"),
        (
            "{\"cost\":0,\"next\":[[0,1]]",
            ", line 4: expected `,` or `}`",
        ),
    ] {
        let text = with_action(action);
        assert!(text.starts_with(expected), "{action} gives {text}");
    }
}

#[test]
fn wrong_frames() {
    for (text, expected) in [
        ("", ", line 1: EOF while parsing a value"),
        ("[1]", ", line 1: invalid type: sequence, expected a model"),
        ("{}", ", line 1: missing field `format`"),
        (
            r#"{"format":"x"}"#,
            ", line 1: `format` is \"x\", expected \"robust-mdp\"",
        ),
        (r#"{"version":2}"#, ", line 1: `version` is 2, expected 1"),
        (
            r#"{"version":1,"version":1}"#,
            ", line 1: the key `version` comes twice",
        ),
        (
            r#"{"objective":"max"}"#,
            ", line 1: unknown variant `max`, expected `min-cost` or",
        ),
        (
            r#"{"gamma":1}"#,
            ", line 1: unknown field `gamma`, expected one of `format`",
        ),
        (
            r#"{"states":[{"name":"a"}]}"#,
            ", line 1: missing field `actions`",
        ),
        (
            "{\"states\":[{\"actions\":[{\"cost\":0,\"next\":[[0,1]]}]}],\n\"objective\":\"max-reward\"}",
            ", line 2: state 0: an action has the key `cost`, expected `reward`",
        ),
    ] {
        let found = message(text);
        assert!(found.starts_with(expected), "{text} gives {found}");
    }
    let empty =
        r#"{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.9,"states":[]}"#;
    assert!(message(empty).contains("no states"));
    assert!(message(&format!("{empty}x")).contains("trailing characters"));
    assert!(read_text(vec![b'['; 100_000]).is_err());
}

#[test]
fn one_state_a_line() {
    let model = crate::instances::machine_replacement(4, 0.8).unwrap();
    let folder = Folder::new();
    write(&model, &folder.file("m.json")).unwrap();
    let text = std::fs::read_to_string(folder.file("m.json")).unwrap();
    let expected = "\
{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"min-cost\",
\"discount\":0.8,\"initial\":null,
\"states\":[
{\"name\":\"condition 1\",\"actions\":[{\"name\":\"no repair\",\"cost\":0.0,\"next\":[[0,0.2],[1,0.8]]},\
{\"name\":\"repair\",\"cost\":0.0,\"next\":[[1,0.3],[2,0.6],[3,0.1]]}]},
";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.lines().count(), 3 + 4 + 1);
}
