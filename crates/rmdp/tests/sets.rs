//! Every set from the command line: solved, proved, evaluated, reported, gone on with; and what sets are told.

mod support;

use std::fs;

use robust_mdp::sets::{Distance, Needs};
use serde_json::Value;
use support::{Folder, Outcome};

/// Four states of two actions, and the files that sets may need.
fn folder() -> Folder {
    let folder = Folder::new();
    let line =
        "generate garnet --states 4 --actions 2 --branching 0.75 -o m.csv --discount 0.8 --quiet";
    run(&folder, line).expect(0);
    let (mut lines, text) = (Vec::new(), folder.read("m.csv"));
    for line in text.lines() {
        let p = line.split(',').nth(3).unwrap().parse::<f64>();
        lines.push(match p {
            Ok(p) => format!("{line},{:?},{:?}\n", 0.5 * p, (1.5 * p).min(1.0)),
            Err(_) => format!("{line},lower,upper\n"),
        });
    }
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("i.csv", &lines.concat());
    // The probabilities of every row in other orders: there are three of them.
    let rows: Vec<&str> = text.lines().collect();
    let turned = |by: usize| -> String {
        let line = |k: usize| {
            let field = |line: usize, at: usize| rows[line].split(',').nth(at).unwrap();
            let from = if k == 0 { 0 } else { 1 + (k - 1) / 3 * 3 + (k - 1 + by) % 3 };
            let mut fields: Vec<&str> = rows[k].split(',').collect();
            fields[3] = field(from, 3);
            format!("{}\n", fields.join(","))
        };
        (0..rows.len()).map(line).collect()
    };
    write("y.csv", &turned(1));
    write("z.csv", &turned(2));
    write("x.csv", "state,x\n0,0\n1,1\n2,3\n3,7\n");
    write("w.csv", "state,weight\n0,1\n1,2\n2,1\n3,0.5\n");
    folder
}

fn run(folder: &Folder, line: &str) -> Outcome {
    folder.rmdp(&line.split_whitespace().collect::<Vec<_>>())
}

/// The model of a set and its flags.
fn asked(distance: Distance, radius: &str) -> (&'static str, String) {
    let (model, told) = match distance.needs() {
        Needs::Nothing => ("m.csv", ""),
        Needs::Weights => ("m.csv", " --entry-weights-file w.csv"),
        Needs::Intervals => ("i.csv", ""),
        Needs::Ground => ("m.csv", " --ground-file x.csv"),
        Needs::Scenarios => ("m.csv", " --scenarios-file y.csv,z.csv"),
    };
    (model, format!("--set {} --discount 0.8 {radius}{told}", distance.name()))
}

fn sets() -> impl Iterator<Item = Distance> {
    Distance::ALL.iter().copied().filter(|distance| distance.set().is_some())
}

fn bounds(value: &Value) -> [f64; 2] {
    ["lower", "upper"].map(|side| value[side].as_f64().unwrap())
}

#[test]
fn every_set_is_solved_proved_evaluated_and_reported() {
    let folder = folder();
    run(&folder, "solve m.csv --set none --discount 0.8 --json none.json --quiet").expect(0);
    let nominal = bounds(&folder.json("none.json")["value"]);
    for distance in sets() {
        let (model, set) = asked(distance, "--radius 0.05");
        let name = distance.name();
        let files = "--json r.json --policy p.csv --certificate c.cert --kernel k.csv";
        let ended = run(&folder, &format!("solve {model} {set} {files}")).expect(0);
        assert_eq!(ended.stderr, "", "{name}");
        assert!(
            ended.stdout.contains(&format!("{}, radius 0.05", distance.title())),
            "{}",
            ended.stdout
        );
        let result = folder.json("r.json");
        assert_eq!(result["set"], name);
        let robust = bounds(&result["value"]);
        assert!(robust[0] > nominal[1] + 1e-3, "{name}: {robust:?}, nominally {nominal:?}");
        // The certificate is about this set and no other.
        let proved = run(&folder, &format!("verify {model} c.cert {set} --json v.json")).expect(0);
        assert!(proved.stdout.contains("proved"), "{name}");
        assert_eq!(folder.json("v.json")["set_data"], result["set_data"], "{name}");
        let (_, other) = asked(distance, "--radius 0.06");
        run(&folder, &format!("verify {model} c.cert {other}")).expect(4);
        // The policy has the same worst case.
        let line = format!("evaluate {model} {set} --policy p.csv --json e.json");
        run(&folder, &line).expect(0);
        let worst = bounds(&folder.json("e.json")["worst"]["value"]);
        assert!(worst[0] <= robust[1] && robust[0] <= worst[1], "{name}: {worst:?} {robust:?}");
        // A report solves again from what the result keeps.
        let line = format!("report r.json --model {model} --radii 0.01:0.1:3 -o page.html");
        run(&folder, &line).expect(0);
        assert!(folder.read("page.html").contains(distance.title()), "{name}");
    }
}

#[test]
fn every_set_goes_on_from_a_checkpoint() {
    let folder = folder();
    for distance in sets() {
        let (model, set) = asked(distance, "--radius 0.05");
        let name = distance.name();
        let solve = format!("solve {model} {set} --method vi --checkpoint c --checkpoint-every 0");
        run(&folder, &format!("{solve} --max-sweeps 3 --json a.json")).expect(3);
        let told = run(&folder, &format!("{solve} --json b.json")).expect(0).stderr;
        assert!(told.contains("c: found a checkpoint"), "{name}: {told}");
        run(&folder, &format!("solve {model} {set} --method vi --json whole.json --quiet"))
            .expect(0);
        let (resumed, whole) = (folder.json("b.json"), folder.json("whole.json"));
        assert_eq!(resumed["lower"], whole["lower"], "{name}");
        assert_eq!(resumed["upper"], whole["upper"], "{name}");
    }
}

#[test]
fn sets_have_their_own_defaults() {
    let folder = folder();
    let value = |line: &str| {
        let page = run(&folder, &format!("{line} --discount 0.8 --json r.json")).expect(0).stdout;
        (page, bounds(&folder.json("r.json")["value"]))
    };
    let (page, whole) = value("solve i.csv --set interval");
    assert!(
        page.contains("interval, radius 1 (the intervals as they are), (s,a)-rectangular"),
        "{page}"
    );
    let said =
        run(&folder, "solve i.csv --set interval --support all --discount 0.8").expect(2).stderr;
    assert!(said.contains("the interval set keeps to the model's intervals"), "{said}");
    assert_eq!(folder.json("r.json")["rectangular"], "sa");
    // Two actions a state: a shared budget of 2 allows as much.
    let (page, shared) = value("solve i.csv --set interval --rectangular s --radius 2");
    assert!(page.contains("radius 2, s-rectangular"), "{page}");
    assert!((whole[0] - shared[0]).abs() < 1e-4, "{whole:?} {shared:?}");
    let said =
        run(&folder, "solve i.csv --set interval --rectangular s --discount 0.8").expect(2).stderr;
    assert!(said.contains("needs a radius"), "{said}");
    let (page, level) = value("solve m.csv --set cvar --level 0.5");
    assert!(page.contains("CVaR, radius 1 (level 0.5), (s,a)-rectangular"), "{page}");
    let (page, radius) = value("solve m.csv --set cvar --radius 1");
    assert!(page.contains("radius 1 (level 0.5)"), "{page}");
    assert_eq!(level, radius);
    // Level 0 is the mean.
    let ([_, mean], (_, none)) =
        (value("solve m.csv --set cvar --level 0").1, value("solve m.csv --set none"));
    assert!((mean - none[1]).abs() < 1e-6);
}

#[test]
fn what_sets_are_told_is_checked() {
    let folder = folder();
    let pairs = "state,action,weight\n0,0,1\n";
    fs::write(folder.path().join("pairs.csv"), pairs).unwrap();
    for (flags, expected) in [
        (
            "--set wasserstein --radius 1",
            "--set wasserstein needs distances between states, expected --ground-file",
        ),
        (
            "--set kl --radius 1 --ground-file x.csv",
            "--set kl does not read, expected --set wasserstein",
        ),
        (
            "--set kl --radius 1 --entry-weights-file w.csv",
            "--set kl does not read, expected --set l1, l2 or linf",
        ),
        ("--set none --ground-file x.csv", "--set none does not read"),
        ("--set none --level 0.5", "the nominal kernel alone, expected no --level"),
        (
            "--set interval",
            "--set interval needs intervals of probabilities, and the model has none",
        ),
        ("--set kl --level 0.5", "--level is for --set cvar, expected --radius with --set kl"),
        ("--set cvar --level 1", "expected a number in [0, 1)"),
        ("--set cvar --level 0.5 --radius 1", "cannot be used with"),
        ("--set cvar --radius 1 --rectangular s", "expected --rectangular sa"),
        (
            "--set l2 --radius 1 --weights-file w.csv",
            "hint: weights of next states in a norm come with",
        ),
        ("--set l2 --radius 1 --entry-weights-file pairs.csv", "come with --weights-file"),
        (
            "--set wasserstein --radius 1 --ground-file w.csv",
            "w.csv, line 1: the header has no column “x”",
        ),
        ("--set wasserstein --radius 1 --ground-file no.csv", "no.csv: no such file"),
        ("--set scenarios", "--set scenarios needs other kernels, expected --scenarios-file MODEL"),
        ("--set kl --radius 1 --scenarios-file y.csv", "does not read, expected --set scenarios"),
        ("--set scenarios --scenarios-file y.csv,no.csv", "no.csv: no such file"),
    ] {
        let said = run(&folder, &format!("solve m.csv --discount 0.8 {flags}")).expect(2).stderr;
        assert!(said.contains(expected), "{flags}: {said}");
    }
    let embedded = run(&folder, "solve --set wasserstein --ground-file x.csv").expect(2).stderr;
    assert!(embedded.contains("needs a radius"), "{embedded}");
    // Heavier next states are dearer to move mass to or from.
    fs::write(folder.path().join("w9.csv"), "state,weight\n0,9\n1,9\n2,9\n3,9\n").unwrap();
    let value = |flags: &str| {
        run(&folder, &format!("solve m.csv --discount 0.8 --radius 0.3 {flags} --json r.json -q"))
            .expect(0);
        bounds(&folder.json("r.json")["value"])
    };
    for set in ["l1", "l2", "linf"] {
        let light = value(&format!("--set {set}"));
        let heavy = value(&format!("--set {set} --entry-weights-file w9.csv"));
        assert!(heavy[1] < light[0] - 1e-3, "{set}: {heavy:?} {light:?}");
    }
}

#[test]
fn info_and_generate_know_which_sets_apply() {
    let folder = folder();
    let info = |model: &str| {
        let line = format!("info {model} --discount 0.8 --json");
        let json: Value = serde_json::from_str(&run(&folder, &line).expect(0).stdout).unwrap();
        (run(&folder, &format!("info {model} --discount 0.8")).expect(0).stdout, json)
    };
    for (model, intervals) in [("m.csv", false), ("i.csv", true)] {
        let (page, json) = info(model);
        assert_eq!(json["intervals"], intervals);
        for distance in sets() {
            let listed = json["largest_useful_radius"].get(distance.name()).is_some();
            let applies = match distance.needs() {
                Needs::Nothing | Needs::Weights => true,
                Needs::Intervals => intervals,
                Needs::Ground | Needs::Scenarios => false,
            };
            assert_eq!(listed, applies, "{model}: {}", distance.name());
            assert!(page.contains(distance.name()), "{model}: {page}");
        }
    }
    for distance in sets() {
        let line = format!("generate machine --states 5 --set {} -o g.json", distance.name());
        let knows = matches!(distance.needs(), Needs::Nothing | Needs::Weights);
        let ended = run(&folder, &line).expect(if knows { 0 } else { 2 });
        if let Some((_, next)) = ended.stdout.split_once("next: rmdp ") {
            run(&folder, next).expect(0);
        }
    }
}
