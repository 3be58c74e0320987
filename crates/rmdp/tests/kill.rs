//! `kill -9` at random moments of a run that writes checkpoints and outputs all the time: no file is
//! ever torn, and going on always ends with the files of an undisturbed run.
#![cfg(unix)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::io::write_model;
use support::{Folder, finish};

/// Kills that must have hit a running process, in all.
const KILLS: u64 = 210;
/// Runs after which enough of them must have been.
const MOST_RUNS: u64 = 3000;

const RUNS: [(&str, &str, &str); 7] = [
    ("newton", "kl", "1e-9"),
    ("vi", "ellipsoid", "1e-5"),
    ("gs-vi", "kl", "1e-5"),
    ("anderson", "ellipsoid", "1e-8"),
    ("avi", "kl", "1e-6"),
    ("pi", "ellipsoid", "1e-9"),
    ("fom-vi", "kl", "1e-2"),
];

/// The files that a run leaves, without what the clock wrote into them.
fn outputs(folder: &Path) -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    for name in ["out.json", "policy.csv", "kernel.csv"] {
        let Ok(text) = fs::read_to_string(folder.join(name)) else { continue };
        let text = match name {
            "out.json" => without_clock(&text, name),
            _ => text,
        };
        found.insert(name, text);
    }
    found
}

fn without_clock(text: &str, name: &str) -> String {
    let mut value: serde_json::Value =
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{name} is torn: {e}\n{text}"));
    for key in ["seconds", "check_seconds"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value.to_string()
}

/// Whole lines of the trace, which is written as the run goes on.
fn trace(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("trace.jsonl")).unwrap_or_default();
    text.lines().map(|line| without_clock(line, "trace.jsonl")).collect()
}

fn remove(folder: &Path, names: &[&str]) {
    for name in names {
        let _ = fs::remove_file(folder.join(name));
    }
}

const FILES: [&str; 5] = ["out.json", "policy.csv", "kernel.csv", "trace.jsonl", "state"];

#[test]
fn a_killed_run_leaves_whole_files_and_goes_on() {
    let mut random = Xoshiro256::new(20_240_817);
    let (mut kills, mut runs, mut completed) = (0, 0, 0);
    for (method, set, gap) in RUNS.into_iter().cycle() {
        if kills >= KILLS {
            break;
        }
        let folder = Folder::new();
        let sizes = Garnet { states: 24, actions: 3, branching: 0.4, ..Garnet::default() };
        let model = Garnet { discount: 0.97, seed: 5, ..sizes }.model().unwrap();
        write_model(&model, &folder.path().join("m.json"), None).unwrap();
        let mut args = vec!["solve", "m.json", "--set", set, "--radius", "0.05", "--gap", gap];
        args.extend(["--method", method, "--quiet", "--json", "out.json", "--threads", "2"]);
        args.extend(["--policy", "policy.csv", "--kernel", "kernel.csv", "--trace", "trace.jsonl"]);
        args.extend(["--checkpoint", "state", "--checkpoint-every", "0"]);
        let begun = Instant::now();
        folder.rmdp(&args).expect(0);
        let mut length = begun.elapsed();
        let (whole, whole_trace) = (outputs(folder.path()), trace(folder.path()));
        assert_eq!(whole.len(), 3, "{method}");
        let ran: serde_json::Value = serde_json::from_str(&whole["out.json"]).unwrap();
        assert_eq!(ran["method"], method);
        assert!(!folder.path().join("state").exists(), "{method}: a checkpoint is left");
        remove(folder.path(), &FILES);
        let enough = kills + KILLS / RUNS.len() as u64;
        while kills < enough {
            runs += 1;
            assert!(runs < MOST_RUNS, "only {kills} kills hit a running process");
            let begun = Instant::now();
            let mut child = folder.start(&args);
            let share = random.uniform();
            let wait = length.mul_f64(share).min(Duration::from_secs(1));
            while begun.elapsed() < wait {
                std::hint::spin_loop();
            }
            child.kill().unwrap();
            let ended = child.wait_with_output().unwrap();
            let killed = ended.status.signal() == Some(9);
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(killed || ended.status.code() == Some(0), "{method}: {said}");
            kills += u64::from(killed);
            // A file is the one of the undisturbed run or not there.
            for (name, text) in outputs(folder.path()) {
                assert_eq!(text, whole[name], "{method}: {name} is torn");
            }
            if !killed {
                completed += 1;
                assert_eq!(outputs(folder.path()), whole, "{method}");
                assert_eq!(trace(folder.path()), whole_trace, "{method}");
                length = begun.elapsed();
                remove(folder.path(), &FILES);
            }
        }
        // What is left leads to the same end, with leftovers of the killed around it.
        finish(folder.start(&args)).expect(0);
        assert_eq!(outputs(folder.path()), whole, "{method}");
        assert_eq!(trace(folder.path()), whole_trace, "{method}");
        assert!(!folder.path().join("state").exists(), "{method}");
    }
    println!("{kills} kills, {completed} runs that were faster, {runs} in all");
}
