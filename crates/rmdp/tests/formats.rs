//! Files of other programs on the command line: read, written, packed, and through pipes.

mod support;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use support::{Folder, Outcome, finish};

const TRA: &str =
    "3 4 6\n0 0 1 0.25 run\n0 0 2 0.75 run\n0 1 0 1 wait\n1 0 0 0.5 go\n1 0 2 0.5 go\n2 0 2 1 go\n";
const LAB: &str = "0=\"init\" 1=\"deadlock\" 2=\"goal\" 3=\"safe\"\n0: 0 3\n1: 3\n2: 2\n";
const SREW: &str = "3 2\n0 1\n1 2.5\n";
const DRN: &str = "@type: MDP\n@parameters\n\n@reward_models\ngain cost\n@nr_states\n2\n@nr_choices\n2\n@model\n\
                   state 0 [1, 0] init\n\taction go [0, 2]\n\t\t0 : [0.25, 0.5]\n\t\t1 : [0.5, 0.75]\n\
                   state 1 [0, 0] goal\n\taction 0 [0, 0]\n\t\t1 : [1, 1]\n";
const MDP: &str = "2 1 0.5\nINITIAL\n1 0\nREWARDS\n1 1\n0 4\nTRANSITIONS\n0.5 0.5\n0 1\n";
const BMDP: &str = "2\n1\n1\n1\n0 0 0 0.25 0.5\n0 0 1 0.5 0.75\n";
const OUTCOMES: &str = "idoutcome,idstatefrom,idaction,idstateto,probability,reward\n\
                        0,0,0,0,1,2\n1,0,0,1,1,2\n0,1,0,1,1,0\n";

fn folder() -> Folder {
    let folder = Folder::new();
    let files = [
        ("m.tra", TRA),
        ("m.lab", LAB),
        ("m.srew", SREW),
        ("d.drn", DRN),
        ("f.mdp", MDP),
        ("b.txt", BMDP),
        ("o.csv", OUTCOMES),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// What `rmdp info` says of a model in a file.
fn info(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let outcome = folder.rmdp(&[&["info", "--json", "--quiet"], args].concat()).expect(0);
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// Runs a line of a shell, in which `rmdp` is the program.
fn shell(folder: &Folder, line: &str) -> Outcome {
    let script = format!("rmdp() {{ \"$RMDP\" \"$@\"; }}; {line}");
    let child = Command::new("sh")
        .args(["-c", &script])
        .env("RMDP", env!("CARGO_BIN_EXE_rmdp"))
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    finish(child.unwrap())
}

#[test]
fn what_is_in_them() {
    let folder = folder();
    for (file, objective, states, pairs, transitions) in [
        ("m.tra", "max-reward", 3, 4, 6),
        ("d.drn", "max-reward", 2, 2, 3),
        ("f.mdp", "max-reward", 2, 2, 3),
        ("b.txt", "max-reward", 2, 1, 2),
        ("o.csv", "max-reward", 2, 2, 3),
    ] {
        let found = info(&folder, &[file]);
        assert_eq!(found["objective"], objective, "{file}");
        let counts = ["states", "state_action_pairs", "transitions"].map(|key| &found[key]);
        assert_eq!(counts, [states, pairs, transitions], "{file}");
        assert_eq!(found["discount"].is_null(), file != "f.mdp", "{file}");
    }
    assert_eq!(info(&folder, &["m.tra"])["initial_states"], 1);
    assert_eq!(info(&folder, &["m.tra"])["costs"], serde_json::json!([0.0, 2.5]));
    let costs = info(&folder, &["d.drn", "--rewards", "cost"]);
    assert_eq!((&costs["objective"], &costs["costs"][1]), (&"min-cost".into(), &2.0.into()));
    assert_eq!(info(&folder, &["m.tra", "--optimise", "min-cost"])["objective"], "min-cost");
    let told = folder.rmdp(&["info", "o.csv"]).expect(0).stderr;
    assert!(told.contains("1 of 2 state-action pairs have several outcomes"), "{told}");
    let told = folder.rmdp(&["info", "d.drn"]).expect(0).stderr;
    assert!(told.contains("the rewards “gain” are taken, and “cost” are not"), "{told}");
}

/// The likeliest way to the goal, from a state and of a discount.
#[test]
fn goals_are_reached() {
    let folder = folder();
    let value = |args: &[&str]| {
        let rest = ["--set", "none", "--json", "out.json", "--quiet"];
        folder.rmdp(&[&["solve"], args, &rest[..]].concat()).expect(0);
        folder.json("out.json")["values"][0].as_f64().unwrap()
    };
    // v0 = 0.75 + 0.25·λ·v1 and v1 = 0.5 + 0.5·λ·v0.
    let (l, args) = (0.5, ["m.tra", "--discount", "0.5", "--reach", "goal"]);
    let expected = (0.75 + 0.25 * l * 0.5) / (1.0 - 0.125 * l * l);
    assert!((value(&args) - expected).abs() < 1e-6);
    // Nominal probabilities of 0.375 and 0.625.
    let expected = 0.625 / (1.0 - 0.375 * l);
    assert!((value(&["d.drn", "--discount", "0.5", "--reach", "goal"]) - expected).abs() < 1e-6);
    assert!((value(&["b.txt", "--discount", "0.5"]) - expected).abs() < 1e-6);
    let told = folder.rmdp(&["info", "m.tra"]).expect(0).stderr;
    assert_eq!(told, "warning: labels of states that the model does not keep: “goal”, “safe”\n");
}

#[test]
fn from_each_to_each() {
    let folder = folder();
    let read = |file: &str| info(&folder, &[file, "--discount", "0.9"]);
    for (from, formats) in [
        ("m.tra", &["json", "csv", "npz", "parquet", "drn", "tra"][..]),
        ("f.mdp", &["json", "csv", "npz", "parquet", "tra", "mdp"]),
        ("b.txt", &["tra", "bmdp", "txt"]),
    ] {
        let before = read(from);
        for to in formats {
            for packed in ["", ".gz"] {
                let file = format!("again.{to}{packed}");
                let discount =
                    if ["json", "npz", "mdp"].contains(to) { "--discount=0.9" } else { "--quiet" };
                folder.rmdp(&["convert", from, &file, discount]).expect(0);
                let after = read(&file);
                for key in ["objective", "states", "state_action_pairs", "transitions", "costs"] {
                    assert_eq!(before[key], after[key], "{from} to {file}: {key}");
                }
            }
        }
    }
    // A name that says nothing.
    fs::copy(folder.path().join("b.txt"), folder.path().join("model")).unwrap();
    assert_eq!(info(&folder, &["model", "--format", "bmdp"])["states"], 2);
    let told = folder.rmdp(&["convert", "m.tra", "x.bmdp"]).expect(0).stderr;
    assert!(told.contains("warning: all rewards are lost: read again, to reach"), "{told}");
}

#[test]
fn through_pipes() {
    let folder = folder();
    shell(&folder, "rmdp convert f.mdp - --to npz | gzip > p.npz.gz").expect(0);
    let formats = ["json", "csv", "npz", "parquet", "mdp", "prism", "drn", "bmdp"];
    for format in formats {
        let line = format!(
            "rmdp convert - - --from npz --to {format} --quiet < p.npz.gz | \
             rmdp info - --format {format} --json --quiet"
        );
        let found: serde_json::Value =
            serde_json::from_str(&shell(&folder, &line).expect(0).stdout).unwrap();
        assert_eq!((&found["states"], &found["transitions"]), (&2.into(), &3.into()), "{format}");
    }
    let line = "rmdp generate machine -o - --format csv --quiet | rmdp solve - --format csv \
                --radius 0.1 --discount 0.8";
    let page = shell(&folder, line).expect(0).stdout;
    assert!(page.contains("standard input"), "{page}");
    // A reader who leaves early is no error.
    let garnet = "rmdp generate garnet --states 100 -o - --format drn --quiet";
    shell(&folder, &format!("{garnet} | head -n 1")).expect(0);
    let told = shell(&folder, "rmdp convert f.mdp - --to csv > /dev/null").expect(0).stderr;
    assert!(
        told.ends_with(
            "wrote to the standard output: 2 states, 2 state-action pairs, 3 transitions\n"
        ),
        "{told}"
    );
}

/// A packed file is known by its first bytes, whatever it is called.
#[test]
fn packed_files_of_any_name() {
    let folder = folder();
    let path = folder.path().join("radii.csv");
    shell(&folder, "gzip < m.tra > n.tra; gzip < m.lab > n.lab; rmdp convert f.mdp f.json --quiet")
        .expect(0);
    assert_eq!(info(&folder, &["n.tra"])["initial_states"], 1);
    fs::File::create(&path).unwrap().write_all(b"state,radius\n0,0.1\n1,0\n").unwrap();
    shell(&folder, "gzip radii.csv").expect(0);
    let solve = ["solve", "f.json", "--radius-file", "radii.csv.gz", "--quiet"];
    folder.rmdp(&solve).expect(0);
}

/// Outcomes go from table to table, and others are told what they lose.
#[test]
fn outcomes_are_kept() {
    let folder = folder();
    folder.rmdp(&["convert", "o.csv", "o.parquet.gz", "--quiet"]).expect(0);
    let back = shell(
        &folder,
        "rmdp convert o.parquet.gz - --to csv | rmdp convert - - --from csv --to csv",
    );
    let text = back.expect(0).stdout;
    assert_eq!(
        text.lines().next(),
        Some("idstatefrom,idaction,idoutcome,idstateto,probability,reward")
    );
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, ["0,0,0,0,1.0,2.0", "0,0,1,1,1.0,2.0", "1,0,0,1,1.0,0.0"]);
    let told = folder.rmdp(&["convert", "o.csv", "o.json", "--discount", "0.9"]).expect(0).stderr;
    assert!(
        told.contains("warning: the outcomes are lost: only .csv and .parquet keep them"),
        "{told}"
    );
    let free = ["convert", "o.csv", "free.csv", "--unlisted-cost", "0"];
    let told = folder.rmdp(&free).expect(0).stderr;
    assert!(told.contains("warning: the outcomes are lost: --unlisted-cost"), "{told}");
    // Nature takes the outcome that ends the rewards of 2: 2 + 0.9·0.
    let args = ["solve", "o.json", "--set", "interval", "--json", "out.json", "--quiet"];
    folder.rmdp(&args).expect(0);
    assert!((folder.json("out.json")["values"][0].as_f64().unwrap() - 2.0).abs() < 1e-6);
}

/// Rows that an older program has rounded to six digits.
#[test]
fn few_digits() {
    let folder = folder();
    let tra = "3 1 3\n0 0 0 0.333333\n0 0 1 0.333333\n0 0 2 0.333333\n";
    let drn = "@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n3\n@nr_choices\n3\n@model\nstate 0\n\
               \taction 0\n\t\t0 : 0.333333\n\t\t1 : 0.333333\n\t\t2 : 0.333333\nstate 1\n\taction 0\n\
               \t\t1 : 1\nstate 2\n\taction 0\n\t\t2 : 1\n";
    let intervals = drn.replace("0.333333", "[0.333333, 0.333333]");
    for (name, text, rows) in
        [("r.tra", tra, 1), ("r.drn", drn, 3), ("i.drn", intervals.as_str(), 3)]
    {
        fs::write(folder.path().join(name), text).unwrap();
        let told = folder.rmdp(&["info", name]).expect(0).stderr;
        let expected = format!("in 1 of {rows} state-action pairs probabilities are rounded");
        assert!(told.contains(&expected), "{name}: {told}");
        fs::write(folder.path().join(name), text.replace("0.333333", "0.3333")).unwrap();
        let told = folder.rmdp(&["info", name]).expect(2).stderr;
        assert!(told.contains("state 0, action 0: "), "{name}: {told}");
    }
}

/// Budgets and weights of fast-robust-mdps: of L2 they bound Σ σ²(y − y⁰)², without a half.
#[test]
fn ambiguity_files() {
    let folder = folder();
    let amb = "L1 0.5\nL2 0.08\nKL 0.1\nSIGMA_L2\n2 2\n1 1\n";
    fs::write(folder.path().join("f.amb"), amb).unwrap();
    let solve = |args: &[&str]| {
        let all = [&["solve", "f.mdp", "--json", "out.json", "--quiet"], args].concat();
        folder.rmdp(&all).expect(0);
        (folder.json("out.json")["values"].clone(), folder.json("out.json")["radius"].clone())
    };
    let from_file = |set: &str| solve(&["--set", set, "--radius-file", "f.amb"]);
    for (set, radius) in [("l1", "0.5"), ("kl", "0.1")] {
        assert_eq!(from_file(set), solve(&["--set", set, "--radius", radius]), "{set}");
    }
    let weights = "state,action,next,weight\n0,0,0,4\n0,0,1,4\n1,0,0,1\n1,0,1,1\n";
    fs::write(folder.path().join("w.csv"), weights).unwrap();
    let same = solve(&["--set", "l2", "--radius", "0.04", "--entry-weights-file", "w.csv"]);
    assert_eq!(from_file("l2"), same);
    assert_ne!(same, solve(&["--set", "l2", "--radius", "0.04"]));
    let args = ["solve", "f.mdp", "--set", "burg", "--radius-file", "f.amb"];
    let told = folder.rmdp(&args).expect(2).stderr;
    assert!(told.contains("f.amb: no budget of the set burg, expected one"), "{told}");
}
