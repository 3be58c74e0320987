//! No answer is lost: to a file that cannot be written, to a model that is large, to Ctrl-C; and what is
//! asked for and cannot be done is refused before the work.

mod support;

use std::fs;

use serde_json::Value;
use support::Folder;

fn run(folder: &Folder, line: &str) -> support::Outcome {
    folder.rmdp(&line.split_whitespace().collect::<Vec<_>>())
}

/// Files on a disk without room.
#[cfg(target_os = "linux")]
fn full() -> Folder {
    let folder = Folder::new();
    for ending in ["json", "csv", "npz", "jsonl", "cert"] {
        let link = folder.path().join(format!("full.{ending}"));
        std::os::unix::fs::symlink("/dev/full", link).unwrap();
    }
    folder
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_costs_no_other_answer() {
    let all = [
        ("--json", "o.json"),
        ("--policy", "p.csv"),
        ("--kernel", "k.npz"),
        ("--certificate", "c.cert"),
        ("--trace", "t.jsonl"),
    ];
    for (lost, file) in all {
        let folder = full();
        let full = format!("full.{}", file.split_once('.').unwrap().1);
        let name = |flag: &str, file: &str| if flag == lost { full.clone() } else { file.into() };
        let flags: Vec<String> =
            all.iter().map(|(flag, file)| format!("{flag} {}", name(flag, file))).collect();
        let ended = run(&folder, &format!("solve {}", flags.join(" "))).expect(1);
        assert!(ended.stdout.contains("condition 1") && ended.stdout.contains("certified"));
        let told = format!("error: {full} could not be written: no space left on the disk\n");
        assert_eq!(ended.stderr, told);
        for (flag, file) in all {
            let there = fs::metadata(folder.path().join(file)).map_or(0, |m| m.len()) > 0;
            assert_eq!(there, flag != lost, "{lost}: {file}");
        }
    }
}

/// The same command can be given again where there is room.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_stays_as_long_as_a_file_is_missing() {
    let folder = full();
    let solve = "solve --method vi --checkpoint c --checkpoint-every 0 --json";
    run(&folder, &format!("{solve} full.json")).expect(1);
    assert!(folder.path().join("c").exists());
    let told = run(&folder, &format!("{solve} o.json")).expect(0).stderr;
    assert!(told.contains("c: found a checkpoint"), "{told}");
    assert!(!folder.path().join("c").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn every_command_prints_its_answer_and_says_what_is_lost() {
    let folder = full();
    run(&folder, "generate machine -o m.json").expect(0);
    run(&folder, "solve m.json --radius 0.01 --policy p.csv --certificate c.cert --json r.json")
        .expect(0);
    let lost = |line: &str, printed: &str| {
        let ended = run(&folder, line).expect(1);
        assert!(ended.stdout.contains(printed), "{line}: {}", ended.stdout);
        assert!(ended.stderr.starts_with("error: full."), "{line}: {}", ended.stderr);
        let plain = ended.stderr.ends_with(" could not be written: no space left on the disk\n");
        assert!(plain, "{line}: {}", ended.stderr);
    };
    lost("evaluate m.json --policy p.csv --radius 0.01 --json full.json", "worst case");
    lost("verify m.json c.cert --json full.json", "proved");
    lost("generate machine -o full.npz", "");
    lost("convert m.json full.npz", "");
    lost("generate machine -o n.json --radii full.csv", "");
    assert!(folder.path().join("n.json").exists(), "the model is written without its radii");
    lost("report r.json -o full.json --svg figures", "wrote 1 .svg file into figures");
    assert!(folder.path().join("figures/policy-1.svg").exists(), "figures without their page");
}

#[test]
fn an_empty_name_is_refused_before_the_work() {
    let folder = Folder::new();
    run(&folder, "generate machine -o m.json").expect(0);
    run(&folder, "solve m.json --radius 0.01 --policy p.csv --certificate c.cert --json r.json")
        .expect(0);
    let before = fs::read_dir(folder.path()).unwrap().count();
    let lines = [
        "solve m.json --radius 0.01 --json",
        "solve m.json --radius 0.01 --policy",
        "solve m.json --radius 0.01 --kernel",
        "solve m.json --radius 0.01 --certificate",
        "solve m.json --radius 0.01 --trace",
        "solve m.json --radius 0.01 --checkpoint",
        "evaluate m.json --radius 0.01 --policy p.csv --json",
        "verify m.json c.cert --json",
        "generate machine -o",
        "generate machine --radii",
        "convert m.json",
        "report r.json -o",
        "report r.json -o page.html --svg",
        "reproduce time -o",
    ];
    for line in lines {
        let words: Vec<&str> = line.split(' ').chain([""]).collect();
        let ended = folder.rmdp(&words).expect(2);
        let told = ended.stderr.lines().next().unwrap_or_default();
        assert!(told.contains("is empty") || told.contains("none was supplied"), "{line}: {told}");
        assert_eq!(ended.stdout, "", "{line}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing was written");
}

/// `--quiet` leaves the answer and errors, whatever the command.
#[test]
fn quiet_means_the_same_everywhere() {
    let folder = Folder::new();
    let quiet = |line: &str| {
        let ended = run(&folder, &format!("{line} -q")).expect(0);
        assert_eq!(ended.stderr, "", "{line}");
        ended.stdout
    };
    for note in
        ["generate machine -o m.json", "convert m.json m.csv", "convert m.csv n.npz --discount 0.8"]
    {
        assert_eq!(quiet(note), "", "{note}");
    }
    // A radius that is told to be vacuous.
    let solve = "solve m.json --radius 9 --json r.json --policy p.csv --certificate c.cert";
    assert!(run(&folder, solve).expect(0).stderr.contains("warning"));
    assert!(quiet(solve).contains("condition 1"));
    assert!(quiet("evaluate m.json --policy p.csv --radius 9").contains("worst case"));
    assert!(quiet("verify m.json c.cert").contains("proved"));
    assert!(quiet("info m.json").contains("states"));
    assert_eq!(quiet("report r.json -o page.html"), "");
    for command in [
        "solve",
        "evaluate",
        "verify",
        "generate machine",
        "info",
        "convert",
        "report",
        "reproduce",
    ] {
        let help = run(&folder, &format!("{command} --help")).expect(0).stdout;
        let at = help.find("--quiet").unwrap_or_else(|| panic!("{command}"));
        let words = help[at..].split_whitespace().take(13).collect::<Vec<_>>().join(" ");
        let meaning = "Only the answer and errors: no warnings, no progress, no word on";
        assert_eq!(words, format!("--quiet {meaning}"), "{command}");
    }
    // Errors are told.
    assert!(run(&folder, "info none.json -q").expect(2).stderr.contains("no such file"));
}

#[test]
fn numbers_next_to_one_are_not_one() {
    let folder = Folder::new();
    run(&folder, "generate machine --states 4 -o m.json").expect(0);
    let close = "0.9999999999";
    let info = run(&folder, &format!("info m.json --discount {close}")).expect(0).stdout;
    assert!(info.contains(&format!("discount               {close}\n")), "{info}");
    let solve = format!("solve m.json --radius 0.01 --discount {close} --max-sweeps 1");
    let page = run(&folder, &solve).stdout;
    assert!(page.contains(&format!("discount {close}\n")), "{page}");
    // A command that is to be copied is exact.
    let third = "0.3333333333333333";
    let line = format!("generate machine --states 4 --discount {third} -o t.csv");
    let told = run(&folder, &line).expect(0).stdout;
    assert!(told.contains(&format!("--discount {third}\n")), "{told}");
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// So many states that an entry for each pair of them would take 16 GiB and more.
fn large() -> Folder {
    let folder = Folder::new();
    let line = "generate garnet --states 47000 --actions 2 --branching 0.0001 -o m.npz";
    run(&folder, line).expect(0);
    folder
}

#[test]
fn large_models_have_kernels_and_evaluations() {
    let folder = large();
    let solve = "solve m.npz --radius 0.02 --json r.json --policy p.csv --kernel k.csv --gap 1e-3";
    run(&folder, solve).expect(0);
    run(&folder, "evaluate m.npz --radius 0.02 --policy p.csv --json e.json --gap 1e-3").expect(0);
    let (solved, worst) = (folder.json("r.json"), &folder.json("e.json")["worst"]);
    for (low, high) in [(&solved["lower"], &worst["upper"]), (&worst["lower"], &solved["upper"])] {
        assert!(numbers(low).iter().zip(numbers(high)).all(|(low, high)| *low <= high));
    }
    let (kernel, mut sums) = (folder.read("k.csv"), vec![0.0; 2 * 47_000]);
    for line in kernel.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let at = |k: usize| cells[k].parse::<usize>().unwrap();
        sums[2 * at(0) + at(1)] += cells[3].parse::<f64>().unwrap();
    }
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12));
}

/// An interrupt ends the work with a valid answer, wherever it comes.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_evaluations_and_reports_valid() {
    use support::{finish, interrupt_when_it_listens};
    let folder = large();
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    run(&folder, "solve m.npz --radius 0.02 --json r.json --policy p.csv --gap 1e-3").expect(0);
    let solved = folder.json("r.json");
    let line = "evaluate m.npz --radius 0.02 --policy p.csv --json e.json --gap 1e-9 --threads 1";
    let child = folder.start(&words(line));
    interrupt_when_it_listens(&child);
    let ended = finish(child);
    let evaluated = folder.json("e.json");
    let worst = &evaluated["worst"];
    for (low, high) in [(&solved["lower"], &worst["upper"]), (&worst["lower"], &solved["upper"])] {
        assert!(numbers(low).iter().zip(numbers(high)).all(|(low, high)| *low <= high));
    }
    // A fast machine may have been done before the signal came.
    if ended.code != Some(0) {
        let ended = ended.expect(3);
        assert_eq!(evaluated["status"], "interrupted");
        assert!(ended.stdout.contains("interrupted; the bounds hold"), "{}", ended.stdout);
    }
    let line = "report r.json --model m.npz --radii 0.001:0.1:1000 --threads 1 -o page.html";
    let child = folder.start(&words(line));
    interrupt_when_it_listens(&child);
    finish(child).expect(3);
    let page = folder.read("page.html");
    assert!(page.contains("of 1000 radii were solved.") && page.ends_with("</html>\n"));
}

/// Costs far below 1 are shown as what they are, on every page, and bounds stay bounds.
#[test]
fn tiny_bounds_are_shown_with_exponents() {
    let folder = Folder::new();
    let model = r#"{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.5,
        "states":[{"actions":[{"cost":1e-17,"next":[[0,0.5],[1,0.5]]}]},
        {"actions":[{"cost":2e-17,"next":[[0,1]]}]}]}"#;
    fs::write(folder.path().join("m.json"), model).unwrap();
    let run = |line: &str| folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(0).stdout;
    let solve = "solve m.json --radius 0.1 --json r.json --certificate c --policy p.csv";
    let pages =
        [run(solve), run("evaluate m.json --policy p.csv --radius 0.1"), run("verify m.json c")];
    run("report r.json --model m.json -o page.html");
    let json = folder.json("r.json");
    let bound = |side: &str| json["value"][side].as_f64().unwrap();
    for page in pages {
        assert!(!page.contains("0.00000000000"), "{page}");
        let start = page.find("between ").unwrap();
        let words: Vec<&str> = page[start..].split_whitespace().collect();
        let shown = [words[1], words[3]].map(|w| w.parse::<f64>().unwrap());
        assert!(shown[0] <= bound("upper") && bound("lower") <= shown[1], "{page}");
        assert!(shown[0] > 2e-17 && shown[1] - shown[0] < 1e-22, "{page}");
    }
    let page = folder.read("page.html");
    assert!(page.contains("e-17 to ") && !page.contains("0.000000 to"), "no exponents");
}

/// The seed of a solve is accepted, changes nothing, and its help says so.
#[test]
fn a_seed_changes_nothing_and_says_so() {
    let folder = Folder::new();
    let help = run(&folder, "solve --help").expect(0).stdout;
    let seed = &help[help.find("--seed <N>").unwrap()..];
    assert!(seed.contains("Changes nothing: nothing in a solve is random"), "{seed}");
    let answer = |seed: &str| {
        run(&folder, &format!("solve --seed {seed} --json r.json --quiet")).expect(0);
        let mut result = folder.json("r.json");
        result["seconds"] = Value::Null;
        result
    };
    assert_eq!(answer("1"), answer("2"));
}
