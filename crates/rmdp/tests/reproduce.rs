//! `rmdp reproduce` from outside: the same records in every run apart from times, and the same
//! after an interruption.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::Folder;

const SMALL: [&str; 6] = ["--sizes", "4,6", "--seeds", "2", "--quiet", "-o"];

fn run(folder: &Folder, names: &[&str], output: &str) {
    folder.rmdp(&[&["reproduce"], names, &SMALL, &[output]].concat()).expect(0);
}

/// The table without the columns that depend on the clock.
fn timeless(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let kept: Vec<usize> = (0..header.len()).filter(|&i| !header[i].ends_with("seconds")).collect();
    // The one quoted field, of traces, comes before no column that is dropped.
    let cut = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        match fields.len() == header.len() {
            true => kept.iter().map(|&i| fields[i].to_owned()).collect(),
            false => vec![line.to_owned()],
        }
    };
    text.lines().map(cut).collect()
}

/// The records without their seconds, in any order.
fn records(folder: &Folder, output: &str) -> Vec<String> {
    let mut lines: Vec<String> = folder
        .read(&format!("{output}/cells.jsonl"))
        .lines()
        .map(|line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value.as_object_mut().unwrap().remove("seconds").unwrap();
            value.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn two_runs_differ_in_times_alone() {
    let folder = Folder::new();
    // Nor does it matter what runs side by side.
    for (output, jobs) in [("a", "1"), ("b", "3")] {
        run(&folder, &["gap-cost", "epochs", "kl", "--jobs", jobs], output);
    }
    let all = records(&folder, "a");
    assert!(all.len() > 200, "{}", all.len());
    assert_eq!(all, records(&folder, "b"));
    for table in ["gap-cost", "epochs", "epochs-traces", "kl"] {
        let of = |output| timeless(&folder.path().join(format!("{output}/{table}.csv")));
        let table = of("a");
        assert!(table.len() > 10 && table[0].len() > 10);
        assert_eq!(table, of("b"));
    }
    let machine = folder.json("a/machine.json");
    assert_eq!(
        machine["command"],
        "rmdp reproduce gap-cost epochs kl -o DIR --seeds 2 --sizes 4,6"
    );
    assert_eq!(machine["seeds"], serde_json::json!({ "epochs": 2, "gap-cost": 2, "kl": 2 }));
    assert!(folder.read("a/index.html").contains("Epochs of ℓ^q steps"));
    // The records of one thread are in the order of the plan, and so are those of several.
    let order = |output| -> Vec<Value> {
        let text = folder.read(&format!("{output}/cells.jsonl"));
        text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["cell"].take()).collect()
    };
    assert_eq!(order("a"), order("b"));
    let claims = folder.read("a/claims.md");
    for ruled in ["duality gap", "Epochs of", "KL sets", "below 100 s"] {
        assert!(claims.contains(ruled), "{claims}");
    }
    assert_eq!(folder.read("a/claims.csv").lines().count(), 5);
    // Without S = 50 that is not guessed.
    let row = "| With KL sets healthcare and machine replacement stay below 100 s up to S = 50. | not decided |";
    assert!(claims.contains(row), "{claims}");
    assert!(claims.contains("- What would decide it: Runs with 50 states"), "{claims}");
}

#[test]
fn a_finished_cell_is_not_run_again() {
    let folder = Folder::new();
    run(&folder, &["weights"], "whole");
    let whole = records(&folder, "whole");
    // A run that was killed in the middle of a line.
    fs::create_dir(folder.path().join("killed")).unwrap();
    let text = folder.read("whole/cells.jsonl");
    let part = &text[..text.len() / 2];
    let kept = part.lines().count() - 1;
    fs::write(folder.path().join("killed/cells.jsonl"), part).unwrap();
    let args = ["reproduce", "weights", "--sizes", "4,6", "--seeds", "2", "-o", "killed"];
    let again = folder.rmdp(&args).expect(0);
    let said = format!("{kept} of {} cells are in the journal and are skipped", whole.len());
    assert!(again.stderr.contains(&said), "{}", again.stderr);
    assert_eq!(records(&folder, "killed"), whole);
    assert!(folder.read("killed/cells.jsonl").starts_with(part.rsplit_once('\n').unwrap().0));
    let tables = ["whole", "killed"]
        .map(|output| timeless(&folder.path().join(format!("{output}/weights-traces.csv"))));
    assert_eq!(tables[0], tables[1]);
    // Nothing is left to do.
    let before = folder.read("killed/cells.jsonl");
    // Nor is another machine written over the one that made the records.
    let made = folder.read("killed/machine.json").replace("\"cores\": ", "\"cores\": 10");
    fs::write(folder.path().join("killed/machine.json"), &made).unwrap();
    folder.rmdp(&args).expect(0);
    assert_eq!(folder.read("killed/cells.jsonl"), before);
    assert_eq!(folder.read("killed/machine.json"), made);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on() {
    use std::process::Command;
    use std::time::Duration;

    let folder = Folder::new();
    let args = ["reproduce", "weights", "-o", "out", "--seeds", "1", "--sizes", "8,10,12"];
    let child = folder.start(&args);
    let journal = folder.path().join("out/cells.jsonl");
    let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    while lines() < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let stopped = support::finish(child);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("the same command again goes on"), "{}", stopped.stderr);
    let done = lines();
    assert!((2..63).contains(&done), "{done}");
    assert!(folder.path().join("out/index.html").exists());
    folder.rmdp(&args).expect(0);
    assert_eq!(lines(), 63);
    let mut whole = args;
    whole[3] = "whole";
    folder.rmdp(&whole).expect(0);
    assert_eq!(records(&folder, "out"), records(&folder, "whole"));
}

/// The second of two runs is refused; the lock does not outlive the first, even if that is killed.
#[cfg(unix)]
#[test]
fn a_second_run_in_one_folder_is_refused() {
    use std::time::Duration;

    let folder = Folder::new();
    // Far more cells than are done before the second run looks.
    let long = ["reproduce", "weights", "-o", "out", "--sizes", "8,60", "--seeds", "9", "--quiet"];
    let mut first = folder.start(&long);
    let journal = folder.path().join("out/cells.jsonl");
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 1 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let short = ["reproduce", "weights", "-o", "out", "--sizes", "4", "--seeds", "1", "--quiet"];
    let second = folder.rmdp(&short).expect(2);
    assert!(second.stderr.contains("-o out: another run of reproduce is at work there"));
    assert!(second.stderr.contains("hint: wait until it has ended"), "{}", second.stderr);
    assert!(!folder.path().join("out/index.html").exists());
    assert!(first.try_wait().unwrap().is_none(), "the first run ended before the second began");
    first.kill().unwrap();
    first.wait().unwrap();
    folder.rmdp(&short).expect(0);
    assert!(folder.path().join("out/index.html").exists());
}

/// What machine.json says of the load is warned of; what an older one does not say is not.
#[test]
fn times_of_a_busy_machine_are_warned_of() {
    let folder = Folder::new();
    let args = ["reproduce", "weights", "--sizes", "4", "--seeds", "1", "-o", "out", "--quiet"];
    folder.rmdp(&args).expect(0);
    let whole = folder.json("out/machine.json");
    if cfg!(target_os = "linux") {
        assert!(whole["load"].is_number() && whole["load_by_others"].is_number(), "{whole}");
    }
    let rendered = |load: f64, by_others: Option<f64>| {
        let mut machine = whole.clone();
        machine["load"] = load.into();
        match by_others {
            Some(load) => machine["load_by_others"] = load.into(),
            None => drop(machine.as_object_mut().unwrap().remove("load_by_others")),
        }
        fs::write(folder.path().join("out/machine.json"), machine.to_string()).unwrap();
        folder.rmdp(&args).expect(0);
        (folder.read("out/claims.md"), folder.read("out/index.html"))
    };
    for (load, by_others, said) in
        [(1.5, Some(0.2), "was 1.5 when the run began"), (0.5, Some(2.0), "grew during the run")]
    {
        let (claims, page) = rendered(load, by_others);
        assert!(claims.starts_with("**Warning.** The load average"), "{claims}");
        assert!(claims.contains(said) && page.contains(said), "{claims}");
        assert!(page.contains("<p class=\"warning\">"));
    }
    for by_others in [Some(0.9), None] {
        let (claims, page) = rendered(0.5, by_others);
        assert!(!claims.contains("Warning") && !page.contains("<p class=\"warning\">"), "{claims}");
    }
    assert!(folder.read("out/index.html").contains("not recorded"));
}

#[test]
fn what_is_there_and_what_is_not() {
    let folder = Folder::new();
    let list = folder.rmdp(&["reproduce", "--list"]).expect(0).stdout;
    for name in ["time", "gap-cost", "setups", "epochs", "weights", "rate", "kl"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let full = folder.rmdp(&["reproduce", "--list", "--full"]).expect(0).stdout;
    let total = full.lines().last().unwrap();
    assert!(total.starts_with("all together about ") && total.contains(" h "), "{full}");
    let wrong = folder.rmdp(&["reproduce", "tme", "-o", "x"]).expect(2);
    assert!(wrong.stderr.contains("there is no experiment tme"), "{}", wrong.stderr);
    folder.rmdp(&["reproduce", "time"]).expect(2);
    folder.rmdp(&["reproduce", "-o", "x"]).expect(2);
    folder.rmdp(&["reproduce", "time", "-o", "x", "--sizes", "3"]).expect(2);
    fs::create_dir(folder.path().join("bad")).unwrap();
    fs::write(folder.path().join("bad/cells.jsonl"), "{\"cell\":{\"format\":1}}\n").unwrap();
    let bad = folder.rmdp(&["reproduce", "kl", "-o", "bad"]).expect(2);
    assert!(bad.stderr.contains("cells.jsonl, line 1"), "{}", bad.stderr);
}
