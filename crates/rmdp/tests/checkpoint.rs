//! `rmdp solve --checkpoint`: whatever stops a run, the same command goes on to the same answer.

mod support;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, finish};

const SOLVE: &[&str] =
    &["solve", "m.npz", "--set", "kl", "--radius", "0.1", "--method", "vi", "--json", "r.json"];
const KEEP: &[&str] = &["--checkpoint", "c", "--trace", "t.jsonl"];

/// A model that value iteration needs some two thousand sweeps for.
fn slow() -> Folder {
    let folder = Folder::new();
    let words = "generate garnet --states 60 --actions 4 --discount 0.99 --seed 3 -o m.npz";
    folder.rmdp(&words.split(' ').collect::<Vec<_>>()).expect(0);
    folder
}

fn result(folder: &Folder) -> Value {
    let mut value = folder.json("r.json");
    for key in ["seconds", "check_seconds"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

fn trace(folder: &Folder) -> Vec<Value> {
    let lines = folder.read("t.jsonl");
    let parsed = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let clockless = parsed.map(|mut line| {
        line.as_object_mut().unwrap().remove("seconds");
        line
    });
    clockless.collect()
}

#[test]
fn limits_and_signals_leave_a_checkpoint_to_go_on_from() {
    let folder = slow();
    folder.rmdp(&[SOLVE, &["--trace", "t.jsonl"]].concat()).expect(0);
    let (whole, lines) = (result(&folder), trace(&folder));
    for stop in [&["--max-sweeps", "7"][..], &["--time-limit", "1e-9"], &["a signal"]] {
        fs::remove_file(folder.path().join("t.jsonl")).unwrap();
        let first = [SOLVE, KEEP].concat();
        if stop == ["a signal"] {
            let child = folder.start(&first);
            // Once there is a trace the handler is in place and the run on its way.
            let begun = Instant::now();
            let trace = folder.path().join("t.jsonl");
            while fs::metadata(&trace).map_or(0, |m| m.len()) == 0 {
                assert!(begun.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(1));
            }
            let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(sent.unwrap().success());
            let outcome = finish(child);
            // A fast machine may have been done before the signal came.
            if outcome.code == Some(0) {
                assert_eq!(result(&folder), whole);
                continue;
            }
            let said = outcome.expect(3).stderr;
            assert!(said.contains("c: the checkpoint; the same command goes on from it"), "{said}");
        } else {
            folder.rmdp(&[&first, stop].concat()).expect(3);
        }
        if stop[0] != "--time-limit" {
            assert!(folder.path().join("c").exists(), "{stop:?}");
        }
        assert_ne!(result(&folder), whole);
        folder.rmdp(&first).expect(0);
        assert_eq!(result(&folder), whole, "{stop:?}");
        assert_eq!(trace(&folder), lines, "{stop:?}");
        assert!(!folder.path().join("c").exists(), "{stop:?}: a checkpoint of no more use is left");
    }
}

#[test]
fn another_question_is_refused_and_a_restart_is_not() {
    let folder = slow();
    let stopped = [SOLVE, &["--checkpoint", "c", "--max-sweeps", "7"]].concat();
    let said = folder.rmdp(&stopped).expect(3).stderr;
    assert!(said.contains("the same command goes on from it"), "{said}");
    let common: &[&str] = &["solve", "m.npz", "--set", "kl", "--checkpoint", "c"];
    let ask = |more: &[&str]| folder.rmdp(&[common, more].concat());
    let refused = |more: &[&str], reason: &str| {
        let said = ask(more).expect(2).stderr;
        assert!(said.contains("error: c: the checkpoint is of no use here"), "{said}");
        assert!(said.contains(reason) && said.contains("--restart"), "{said}");
    };
    refused(&["--method", "vi", "--radius", "0.2"], "with radius 0.1, and this one has 0.2");
    refused(&["--method", "avi", "--radius", "0.1"], "with method vi, and this one has avi");
    refused(&["--method", "vi", "--radius", "0.1", "--gap", "1"], "with gap");
    refused(&["--method", "vi", "--radius", "0.1", "--discount", "0.9"], "with discount 0.99");
    let more = ["--method", "vi", "--radius", "0.1", "--rectangular", "sa"];
    refused(&more, "with rectangularity s, and this one has sa");
    ask(&["--radius", "0.2", "--restart"]).expect(0);
    assert!(!folder.path().join("c").exists());
}
