//! The records in docs/reproduce: what this version computes, and what the documents say of them.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::Folder;

/// Quick cells of every experiment, by words of their descriptions.
const SAMPLES: [(&str, &[&str]); 9] = [
    ("time", &["states: 5,", "seed: 1 }"]),
    ("time", &["states: 10,", "regime: Calibrated", "seed: 2 }"]),
    ("gap-cost", &["states: 10,", "seed: 1 }"]),
    ("gap-cost", &["states: 20,", "seed: 7 }", "discount: 0.8"]),
    ("setups", &["regime: Tight", "seed: 1 }", "p: 2", "centred: false"]),
    ("epochs", &["regime: Paper", "seed: 10 }", "centred: false"]),
    ("weights", &["regime: Hard", "seed: 4 }", "p: 1"]),
    ("rate", &["regime: Tight", "seed: 2 }", "q: 2"]),
    ("kl", &["states: 10,", "seed: 1 }"]),
];

/// Other vector instructions round otherwise: values then differ by this share, and counts, which
/// depend on when a gap falls below a tolerance, by a tenth.
const ROUNDING: f64 = 1e-3;
const COUNTS: f64 = 0.1;

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Outcomes by the description of their cell.
fn outcomes(text: &str) -> BTreeMap<String, Value> {
    text.lines()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            (record["cell"].to_string(), record["outcome"].take())
        })
        .collect()
}

/// Everything that does not depend on rounding: status, radius, which counts there are, and numbers
/// within their tolerance.
fn close(a: &Value, b: &Value, name: &str, epsilon: f64) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| close(v, w, k, epsilon)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b, name, epsilon))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            match name {
                // Certified bounds of the same value.
                "lower" | "upper" | "gap" | "dg" => (a - b).abs() <= epsilon + ROUNDING * b.abs(),
                "sweeps" | "steps" | "oracle_calls" | "entries" => {
                    (a - b).abs() <= 2.0 + COUNTS * b.abs()
                }
                _ => (a - b).abs() <= 1e-9 * b.abs(),
            }
        }
        _ => a == b,
    }
}

/// The results in docs/ are what this version computes: to the last bit on machines with the same
/// vector instructions, and up to rounding on others.
#[test]
fn samples_of_the_recorded_cells_regenerate() {
    let recorded = outcomes(&text(&docs("reproduce/cells.jsonl")));
    let machine: Value = serde_json::from_str(&text(&docs("reproduce/machine.json"))).unwrap();
    let folder = Folder::new();
    for (experiment, words) in SAMPLES {
        let mut args = vec!["reproduce", experiment, "-o", "out", "--quiet"];
        words.iter().for_each(|word| args.extend(["--only", word]));
        folder.rmdp(&args).expect(0);
    }
    let same = folder.json("out/machine.json")["instruction_set"] == machine["instruction_set"];
    if !same {
        println!(
            "recorded with {}: compared up to rounding only",
            machine["instruction_set"].as_str().unwrap()
        );
    }
    let found = outcomes(&folder.read("out/cells.jsonl"));
    let of = |name: &str| {
        let word = format!("\"experiment\":\"{name}\"");
        found.keys().filter(|cell| cell.contains(&word)).count()
    };
    for (name, least) in [
        ("time", 70),
        ("gap-cost", 20),
        ("setups", 3),
        ("epochs", 3),
        ("weights", 2),
        ("rate", 3),
        ("kl", 20),
    ] {
        assert!(of(name) >= least, "{name}: {} cells", of(name));
    }
    let mut wrong = Vec::new();
    for (cell, outcome) in &found {
        let Some(expected) = recorded.get(cell) else {
            panic!("docs/reproduce has no record of {cell}: run docs/reproduce/record");
        };
        let epsilon = serde_json::from_str::<Value>(cell).unwrap()["epsilon"].as_f64().unwrap();
        if (same && outcome != expected) || !close(outcome, expected, "", epsilon) {
            wrong.push(format!("{cell}\nfound    {outcome}\nrecorded {expected}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cells are not what this version computes; docs/reproduce/record records them again. \
         The first:\n{}",
        wrong.len(),
        found.len(),
        wrong[0]
    );
}

/// Tables, verdicts and the documents follow from the recorded cells byte for byte, and the cells
/// are those of the plan.
#[test]
fn tables_and_claims_follow_from_the_records() {
    let folder = Folder::new();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    for name in ["cells.jsonl", "machine.json"] {
        fs::copy(docs("reproduce").join(name), out.join(name)).unwrap();
    }
    let list = folder.rmdp(&["reproduce", "--list"]).expect(0).stdout;
    let cells = text(&docs("reproduce/cells.jsonl"));
    for line in list.lines().filter(|line| line.contains(" cells ")) {
        let mut words = line.split_whitespace();
        let (name, planned) = (words.next().unwrap(), words.next().unwrap());
        let word = format!("\"experiment\":\"{name}\"");
        let there = cells.lines().filter(|line| line.contains(&word)).count();
        assert_eq!(planned, there.to_string(), "{name}: run docs/reproduce/record");
    }
    let done = folder.rmdp(&["reproduce", "all", "-o", "out"]).expect(0);
    let all = cells.lines().count();
    assert!(done.stdout.contains(&format!("{all} of {all} cells are done")), "{}", done.stdout);
    assert_eq!(text(&out.join("cells.jsonl")), cells, "cells were run again");
    for name in ["time", "gap-cost", "setups", "epochs", "weights", "rate", "kl", "claims"] {
        let name = format!("{name}.csv");
        assert_eq!(text(&out.join(&name)), text(&docs("reproduce").join(&name)), "{name}");
    }
    assert_eq!(text(&out.join("machine.json")), text(&docs("reproduce/machine.json")));
    let page = text(&docs("reproduce.md"));
    let (_, after) = page.split_once("<!-- claims -->\n").unwrap();
    let (section, _) = after.split_once("<!-- end of claims -->\n").unwrap();
    assert_eq!(section.trim(), text(&out.join("claims.md")).trim());
}

/// The number of cells of the full plan that docs/reproduce.md tells.
#[test]
fn the_full_plan_is_as_large_as_the_document_says() {
    let list = Folder::new().rmdp(&["reproduce", "--list", "--full"]).expect(0).stdout;
    let cells = |line: &str| -> Option<usize> {
        line.split_once(" cells ")?.0.split_whitespace().last()?.parse().ok()
    };
    let all: usize = list.lines().filter_map(cells).sum();
    let told = format!("{},{:03} cells", all / 1000, all % 1000);
    assert!(text(&docs("reproduce.md")).contains(&told), "the full plan has {told}");
}

#[test]
fn rounding_is_told_from_difference() {
    let record = |status: &str, sweeps: u64, lower: f64| {
        serde_json::json!({ "status": status, "own": { "sweeps": sweeps }, "lower": lower,
            "radius": 0.5 })
    };
    let one = record("done", 100, 10.0);
    let is_close = |other: &Value| close(&one, other, "", 0.1);
    assert!(is_close(&record("done", 105, 10.05)));
    assert!(!is_close(&record("work-limit", 100, 10.0)));
    assert!(!is_close(&record("done", 150, 10.0)));
    assert!(!is_close(&record("done", 100, 10.5)));
    assert!(!is_close(&serde_json::json!({ "status": "done", "lower": 10.0, "radius": 0.5 })));
}
