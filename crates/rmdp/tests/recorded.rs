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

/// Numbers that the cell determines, as a share of the largest in the record: what rounding leaves, and what
/// it leaves on machines with other vector instructions.
const ROUNDING: f64 = 1e-9;
const OTHER_INSTRUCTIONS: f64 = 1e-3;
/// Sweeps that depend on where within its width an oracle's answer lies: they may differ by two, or by
/// this share. Kernel entries read in a gap computation depend on what oracles screen.
const SWEEPS: f64 = 0.2;
const ENTRIES: f64 = 0.1;

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

/// What a record determines, by the task of its cell, and where `found` breaks it. Statuses, the kinds of
/// counts that there are, saturated states and radii are the same throughout.
///
/// - Traces, and the duality gap of a random pair: all bounds and gaps up to rounding; counts.
/// - Solves: where a run stops within ε is up to the oracle, but the two enclosures are of one value and must
///   meet, ε is certified in both or in neither, and sweeps are about as many (VI and GS-VI: the same).
fn difference(cell: &Value, found: &Value, recorded: &Value, share: f64) -> Option<String> {
    let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or(f64::NAN);
    let size = ["lower", "upper", "gap"].map(|name| number(recorded, name).abs());
    let mut size = size.into_iter().fold(0.0, f64::max);
    let points = |of: &Value| of["trace"].as_array().cloned().unwrap_or_default();
    size = points(recorded).iter().fold(size, |m, point| m.max(number(point, "gap")));
    let near = |a: f64, b: f64| (a - b).abs() <= share * size;
    let names = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let radius = number(recorded, "radius");
    if found["status"] != recorded["status"] || names(found) != names(recorded) {
        return Some("status or fields".into());
    }
    if found["saturated"] != recorded["saturated"] {
        return Some("saturated states".into());
    }
    if (number(found, "radius") - radius).abs() > 1e-12 * radius {
        return Some("radius".into());
    }
    let solver = cell["task"]["solve"].as_str();
    for counts in ["own", "certified", "work"].into_iter().filter(|c| !recorded[*c].is_null()) {
        for name in ["sweeps", "steps", "oracle_calls", "entries"] {
            let [a, b] = [found, recorded].map(|of| number(&of[counts], name));
            let room = match (solver, name) {
                (None, "entries") => ENTRIES * b,
                (Some(solver), "sweeps")
                    if !(solver.starts_with("vi") || solver.starts_with("gs")) =>
                {
                    f64::max(2.0, SWEEPS * b)
                }
                (None, _) | (_, "sweeps") => 0.0,
                // Steps follow from epochs; calls and entries are what the oracle needs.
                _ => f64::INFINITY,
            };
            if (a - b).abs() > room {
                return Some(format!("{counts}.{name}"));
            }
        }
    }
    if solver.is_some() {
        let meet = number(found, "lower") <= number(recorded, "upper") + share * size
            && number(recorded, "lower") <= number(found, "upper") + share * size;
        let certified = |of: &Value| number(of, "gap") <= number(cell, "epsilon");
        return match (meet, certified(found) == certified(recorded)) {
            (true, true) => None,
            (meet, _) => Some(if meet { "gap" } else { "bounds that do not meet" }.into()),
        };
    }
    let (a, b) = (points(found), points(recorded));
    let same = |(a, b): (&Value, &Value)| {
        a["steps"] == b["steps"] && ["dg", "gap"].iter().all(|&n| near(number(a, n), number(b, n)))
    };
    if a.len() != b.len() || !a.iter().zip(&b).all(same) {
        return Some("trace".into());
    }
    let apart = |name: &&str| !near(number(found, name), number(recorded, name));
    ["lower", "upper", "gap"].iter().find(|name| apart(name)).map(|name| (*name).to_string())
}

/// The results in docs/ are those of this version, as far as [`difference`] can tell; times are not compared.
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
    let share = if same { ROUNDING } else { OTHER_INSTRUCTIONS };
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
        let of: Value = serde_json::from_str(cell).unwrap();
        if let Some(what) = difference(&of, outcome, expected, share) {
            wrong.push(format!("{what}: {cell}\nfound    {outcome}\nrecorded {expected}"));
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
    let cell = |task: &str, of: &str| serde_json::json!({ "epsilon": 0.1, "task": { task: of } });
    let record = |status: &str, sweeps: u64, entries: u64, [lower, upper]: [f64; 2]| {
        serde_json::json!({ "status": status, "radius": 0.5, "gap": upper - lower, "lower": lower,
            "upper": upper, "work": { "sweeps": sweeps, "steps": 0, "oracle_calls": 5, "entries": entries } })
    };
    let bounds = [10.0, 10.05];
    let one = record("done", 100, 1000, bounds);
    for (task, of, other, differs) in [
        ("solve", "avi-exact", record("done", 110, 9000, [9.98, 10.01]), None),
        ("solve", "avi-exact", record("done", 130, 1000, bounds), Some("work.sweeps")),
        ("solve", "vi-exact", record("done", 101, 1000, bounds), Some("work.sweeps")),
        ("solve", "vi-exact", record("work-limit", 100, 1000, bounds), Some("status or fields")),
        (
            "solve",
            "vi-exact",
            record("done", 100, 1000, [10.06, 10.1]),
            Some("bounds that do not meet"),
        ),
        ("solve", "vi-exact", record("done", 100, 1000, [9.9, 10.1]), Some("gap")),
        ("gap", "exact", record("done", 100, 1050, [10.0, 10.05 + 1e-12]), None),
        ("gap", "exact", record("done", 100, 1200, bounds), Some("work.entries")),
        ("gap", "exact", record("done", 100, 1000, [10.0, 10.05 + 1e-7]), Some("upper")),
    ] {
        let found = difference(&cell(task, of), &other, &one, ROUNDING);
        assert_eq!(found.as_deref(), differs, "{task} {of}: {other}");
    }
    let trace = |dg: f64, steps: u64| {
        let mut record = record("done", 1, 1, bounds);
        record["trace"] = serde_json::json!([{ "dg": dg, "gap": 2.0, "steps": steps }]);
        record
    };
    let differs = |other| difference(&cell("trace", "x"), &other, &trace(1.0, 4), ROUNDING);
    assert_eq!(differs(trace(1.0 + 1e-12, 4)), None);
    assert_eq!(differs(trace(1.0 + 1e-6, 4)).as_deref(), Some("trace"));
    assert_eq!(differs(trace(1.0, 5)).as_deref(), Some("trace"));
    let mut moved = trace(1.0, 4);
    moved["radius"] = serde_json::json!(0.5 + 1e-9);
    assert_eq!(differs(moved).as_deref(), Some("radius"));
    assert_eq!(differs(record("done", 1, 1, bounds)).as_deref(), Some("status or fields"));
}
