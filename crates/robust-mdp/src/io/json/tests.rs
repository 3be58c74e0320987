use std::path::Path;

use crate::error::Error;
use crate::io::tests::Folder;
use crate::io::{read_model, write_model};
use crate::model::{Model, Objective};

fn read(path: &Path, discount: Option<f64>) -> Result<Model, Error> {
    Ok(read_model(path, None, discount)?.0)
}

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
    assert_eq!((model.objective(), model.discount()), (Objective::MaxReward, 0.5));
    assert_eq!(model.initial(), Some(&[1.0, 0.0][..]));
    assert_eq!(
        (model.row(0).cost, model.row(0).transition_cost.unwrap()),
        (-1.0, &[-3.0, 0.0][..])
    );
    assert_eq!((model.state_name(0), model.state_name(1)), ("a".into(), "1".into()));
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
    assert!(read(&path, None).unwrap_err().to_string().contains("discount factor is missing"));
    assert!(read(&path, Some(1.5)).is_err());
}

fn with_action(action: &str) -> String {
    message(&format!(
        "{{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"min-cost\",\"discount\":0.9,\n\
         \"initial\":null,\"states\":[\n{{\"name\":\"s\",\"actions\":[\n{action}]}}]}}"
    ))
}

#[test]
#[rustfmt::skip]
fn errors_name_the_line() {
    for (action, expected) in [
        (r#"{"cost":0,"next":[[0,0.5]]}"#, "probabilities sum to 0.5"),
        (r#"{"cost":0,"next":[[0,1,1,1]]}"#,
            "a transition of `next` must be [state, probability], [state, probability, cost] or [state, probability, cost, lower, upper], found a list of 4 entries"),
        (r#"{"cost":0,"next":[[0]]}"#, "a transition of `next` must be"),
        (r#"{"cost":0,"next":[[1.0,1]]}"#,
            "the next state must be a whole number of at least 0, found 1.0 (write"),
        (r#"{"cost":0,"next":[]}"#, "`next` is an empty list"),
        (r#"{"cost":-Infinity,"next":[[0,1]]}"#, "a number is malformed"),
        (r#"{"cost":0,"next":[[0,1],]}"#, "a comma before a closing bracket"),
        (r#"{"cost":0,"next":[[-1,1]]}"#, "the next state must be a whole number of at least 0, found -1"),
        (r#"{"cost":0,"next":[[0,1e999]]}"#,
            "the probability of a next state is too large a number, expected at most 1.8e308"),
        (r#"{"cost":0,"next":{}}"#, "`next` must be a list of transitions, found an object"),
        (r#"{"cost":0,"next":[[0,1]],"x":1}"#, "unknown key `x`, expected one of `name`, `cost`"),
        (r#"{"reward":0,"next":[[0,1]]}"#, "the key is `reward`, expected `cost`"),
        (r#"{"next":[[0,1]]}"#, "the key `cost` is missing"),
        (r#"{"cost":0}"#, "the key `next` is missing"),
        (r#"{"cost":0,"cost":0,"next":[[0,1]]}"#, "the key `cost` comes twice"),
        (r#"{"cost":0,"next":[[0,NaN]]}"#,
            "the probability of a next state must be a number, found something that is not JSON (JSON has no NaN"),
        ("[]",
            "an action must be an object with the keys `name`, `cost` or `reward`, and `next`, found a list"),
        ("{\"cost\":0,\"next\":[[0,1]]", "an object goes on without a comma"),
    ] {
        let text = with_action(action);
        let message = text.strip_prefix(", line 4: state 0 (“s”), action 0: ");
        assert!(message.is_some_and(|m| m.starts_with(expected)), "{action} gives {text}");
    }
    for (action, expected) in [
        ("{\"cost\":0,\"next\":[[0,1]]},\n{\"cost\":0,\"next\":[[5,1]]}",
            ", line 5: state 0 (“s”), action 1: next state 5 does not exist, expected a number below 1"),
        (r#"{"name":"go","cost":"5","next":[[0,1]]}"#,
            ", line 4: state 0 (“s”), action 0 (“go”): `cost` must be a number, found the text \"5\""),
        ("{\"cost\":0,\"next\":[\n[0,1,[]]]}",
            ", line 5: state 0 (“s”), action 0: the cost or reward of a transition must be a number, found a list"),
        (r#"{"cost":0,"next":[[18446744073709551615,1]]}"#, ", line 4: state 0"),
    ] {
        let text = with_action(action);
        assert!(text.starts_with(expected), "{action} gives {text}");
    }
}

/// The parser has looked beyond the value when it is refused, here over the ends of two lines.
#[test]
fn errors_name_the_line_of_a_value_that_ends_it() {
    for text in [
        "{\"states\":3\n\n",
        "{\"states\":3\n\n}",
        "{\"states\":{\n\n}}",
        "{\"version\":2\n\n}",
        "{\"version\":[\n\n1]}",
        "{\"discount\":true\n\n,\"version\":1}",
        "{\"discount\":-\n\n}",
        "{\"discount\":1.\n\n}",
        "{\"discount\":nul\n\n}",
        "{\"initial\":[\"1\"\n\n]}",
        "{\"initial\":7\n\n}",
        "{\"gamma\"\n\n:1}",
        "7\n\n",
        "[\n\n]",
        "null\n\n",
    ] {
        let found = message(text);
        assert!(found.starts_with(", line 1: "), "{text} gives {found}");
    }
    for (action, line) in [
        ("{\"cost\":0,\"next\":[[0,\n\"1\"\n\n]]}", 5),
        ("{\"cost\":0,\"next\":[[-1\n,1]]}", 4),
        ("{\"cost\":0,\"next\":[[0\n]\n]}", 5),
        ("{\"cost\":null\n,\"next\":[[0,1]]}", 4),
        ("{\"cost\":0,\n\"cost\"\n:1,\"next\":[[0,1]]}", 5),
        ("{\"cost\":0,\n\"reward\"\n:1,\"next\":[[0,1]]}", 5),
        ("{\"cost\":0,\"next\":[[0,1]\n,7\n]}", 5),
        // What is missing is missed at the end.
        ("{\"cost\":0\n}\n", 5),
        ("{\"cost\":0,\"next\":[[0,0.5]]\n}\n", 5),
    ] {
        let found = with_action(action);
        assert!(found.starts_with(&format!(", line {line}: state 0")), "{action} gives {found}");
    }
}

#[test]
fn wrong_frames() {
    for (text, expected) in [
        ("", ": the file is empty, expected a model as JSON"),
        (" \n\n", ": the file is empty, expected a model as JSON"),
        ("{\n", ", line 2: the file ends too early, expected a closing }"),
        (
            "{\"states\":[{\"name\":\"a\",\"actions\":[{\"name\":\"b",
            ", line 1: the file ends too early, in state 0 (“a”), action 0, expected",
        ),
        (r#"{"states":[{"actions":[]},7]}"#, ", line 1: state 1: a state must be an object"),
        (r#"{"initial":[0,true]}"#, ", line 1: `initial` must be a list of numbers, found true"),
        ("{1:2}", ", line 1: a key without quotes, expected"),
        ("{\"format\":\"a\nb\"}", ", line 1: a text runs over the end of its line"),
        ("[1]", ", line 1: a model must be an object with the keys `format`"),
        ("{}", ": the key `format` is missing, expected \"format\":\"robust-mdp\""),
        (r#"{"format":"x"}"#, ", line 1: `format` must be \"robust-mdp\", found \"x\""),
        (r#"{"version":2}"#, ", line 1: `version` must be 1, found 2"),
        (r#"{"version":1,"version":1}"#, ", line 1: the key `version` comes twice"),
        (
            r#"{"objective":"max"}"#,
            ", line 1: `objective` must be \"min-cost\" or \"max-reward\", found \"max\"",
        ),
        (r#"{"gamma":1}"#, ", line 1: unknown key `gamma`, expected one of `format`"),
        (r#"{"states":[{"name":"a"}]}"#, ", line 1: state 0 (“a”): the key `actions` is missing"),
        (
            "{\"states\":[{\"actions\":[{\"cost\":0,\"next\":[[0,1]]}]}],\n\"objective\":\"max-reward\"}",
            ", line 2: `objective` is \"max-reward\" and state 0 has an action with the key `cost`, expected `reward`",
        ),
    ] {
        let found = message(text);
        assert!(found.starts_with(expected), "{text} gives {found}");
    }
    let empty =
        r#"{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.9,"states":[]}"#;
    assert!(message(empty).contains("no states"));
    assert!(message(&format!("{empty}x")).contains("more text after the end of the model"));
    assert!(read_text(vec![b'['; 100_000]).is_err());
}

#[test]
fn one_state_a_line() {
    let model = crate::instances::machine_replacement(4, 0.8).unwrap();
    let folder = Folder::new();
    write_model(&model, &folder.file("m.json"), None).unwrap();
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

/// A pipe cannot be read again to find the line of an error.
#[cfg(unix)]
#[test]
fn pipes_give_messages_without_lines() {
    let folder = Folder::new();
    let pipe = folder.file("m.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        // Whether the last row is wrong is known only when the number of states is.
        let text = "{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"min-cost\",\n\
                    \"discount\":0.5,\"states\":[{\"actions\":[{\"cost\":0,\"next\":[[3,1]]}]}]}";
        move || std::fs::write(pipe, text)
    });
    let text = read(&pipe, None).unwrap_err().to_string();
    writer.join().unwrap().unwrap();
    let (_, message) = text.rsplit_once("m.json").unwrap();
    assert!(message.starts_with(": state 0, action 0: next state 3 does not exist"), "{message}");
}

/// The own cost may be left out where every transition has one; it is then 0.
#[test]
fn costs_of_transitions_alone() {
    let text = |objective: &str, next: &str| {
        format!(
            "{{\"format\":\"robust-mdp\",\"version\":1,\"objective\":\"{objective}\",\"discount\":0.9,\n\
             \"states\":[{{\"actions\":[{{\"next\":{next}}}]}},{{\"actions\":[]}}]}}"
        )
    };
    for (objective, sign) in [("min-cost", 1.0), ("max-reward", -1.0)] {
        let model = read_text(text(objective, "[[0,0.5,3],[1,0.5,0]]")).unwrap();
        assert_eq!(model.row(0).cost, 0.0);
        assert_eq!(model.row(0).transition_cost, Some(&[3.0 * sign, 0.0][..]));
        let key = if sign > 0.0 { "cost" } else { "reward" };
        let found = message(&text(objective, "[[0,0.5,3],[1,0.5]]"));
        let expected = format!(
            ", line 2: state 0, action 0: the key `{key}` is missing, expected it with a number (it may \
             be left out where every transition has its own; [1, 0.5] has none)"
        );
        assert_eq!(found, expected);
    }
}
