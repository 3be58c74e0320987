//! What `rmdp` writes: fields, files that read back, exit codes, and the page people see.

mod support;

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, finish, masked};

/// Every field of `solve --json`, in order.
const FIELDS: [&str; 27] = [
    "status",
    "objective",
    "criterion",
    "direction",
    "deterministic",
    "discount",
    "set",
    "radius",
    "rectangular",
    "support",
    "method",
    "oracle",
    "reason",
    "value",
    "lower",
    "upper",
    "values",
    "gap",
    "verified",
    "policy",
    "sweeps",
    "evaluations",
    "oracle_calls",
    "first_order_steps",
    "kernel_passes",
    "seconds",
    "warnings",
];

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|v| v.as_f64().expect("a number")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The table in a CSV file, without its header.
fn table(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|l| l.split(',').collect()).collect()
}

/// Bounds hold together and the policy is one.
#[track_caller]
fn assert_consistent(json: &Value) {
    let found: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(found.len(), FIELDS.len());
    assert!(FIELDS.iter().all(|f| json.get(f).is_some()), "{found:?}");
    let (lower, upper) = (numbers(&json["lower"]), numbers(&json["upper"]));
    let values = numbers(&json["values"]);
    let mut widest = 0.0_f64;
    for ((l, u), v) in lower.iter().zip(&upper).zip(&values) {
        assert!(l <= v && v <= u, "{l} ≤ {v} ≤ {u}");
        widest = widest.max(u - l);
    }
    let gap = number(&json["gap"]);
    match json["verified"].as_bool().expect("yes or no") {
        false => assert_eq!(widest, gap),
        // Rounded up.
        true => assert!(widest <= gap && gap <= widest * (1.0 + 1e-12)),
    }
    assert!(number(&json["value"]["lower"]) <= number(&json["value"]["upper"]));
    for x in json["policy"].as_array().unwrap() {
        let x = numbers(x);
        assert!(x.is_empty() || (x.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(x.iter().all(|&x| x >= 0.0));
    }
}

#[test]
fn the_page_of_the_embedded_example() {
    let folder = Folder::new();
    let page = folder.rmdp(&["solve"]).expect(0);
    assert_eq!(page.stderr, "");
    let found = masked(&page.stdout);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/solve.txt");
    if std::env::var_os("RMDP_BLESS").is_some() {
        fs::write(path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(path).unwrap());
}

#[test]
fn all_outputs_of_the_embedded_example() {
    let folder = Folder::new();
    let args = "solve --gap 1e-4 --json o.json --policy p.csv --kernel k.csv --trace t.jsonl";
    let args: Vec<&str> = args.split(' ').collect();
    folder.rmdp(&args).expect(0);
    let json = folder.json("o.json");
    assert_consistent(&json);
    assert_eq!(json["status"], "certified");
    assert!(number(&json["gap"]) <= 1e-4);
    assert_eq!((&json["method"], &json["oracle"]), (&"newton".into(), &"exact".into()));
    assert!(json["reason"].is_string());

    let mut rows: Vec<(String, f64)> = Vec::new();
    for line in table(&folder.read("k.csv")) {
        let (row, p) = (line[..2].join(","), line[3].parse::<f64>().unwrap());
        assert!(p > 0.0 && p <= 1.0);
        match rows.last_mut() {
            Some((last, sum)) if *last == row => *sum += p,
            _ => rows.push((row, p)),
        }
    }
    assert_eq!(rows.len(), 20);
    assert!(rows.iter().all(|(_, sum)| (sum - 1.0).abs() < 1e-9), "{rows:?}");

    assert_traced(&folder.read("t.jsonl"), &json);
}

/// A line a sweep, with bounds that hold; the last one has the counts of the result.
#[track_caller]
fn assert_traced(trace: &str, json: &Value) {
    let lines: Vec<Value> = trace.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let sweeps: Vec<u64> = lines.iter().map(|l| l["sweep"].as_u64().unwrap()).collect();
    assert!(!sweeps.is_empty() && sweeps.is_sorted_by(|a, b| a < b), "{sweeps:?}");
    assert!(lines.iter().all(|l| number(&l["lower"]) <= number(&l["upper"])));
    let last = lines.last().unwrap();
    assert_eq!(last["sweep"], json["sweeps"]);
    if json["verified"] == false {
        assert_eq!(last["gap"], json["gap"]);
    }
    for field in ["evaluations", "oracle_calls", "first_order_steps", "kernel_passes"] {
        assert_eq!(last[field], json[field], "{field}");
    }
}

/// Solves the embedded example with these flags and checks what is written about it.
#[track_caller]
fn solve_example(flags: &str) -> (Value, String) {
    let folder = Folder::new();
    let args = format!("solve --json o.json --trace t.jsonl {flags}");
    let page = folder.rmdp(&args.split_whitespace().collect::<Vec<_>>()).expect(0).stdout;
    let json = folder.json("o.json");
    assert_consistent(&json);
    assert_eq!(json["status"], "certified", "{flags}");
    assert_traced(&folder.read("t.jsonl"), &json);
    let name = |field: &str| json[field].as_str().unwrap().to_owned();
    let line = format!("  method      {} with the {} oracle", name("method"), name("oracle"));
    assert!(page.contains(&line), "{page}");
    (json, page)
}

/// Every state has a value that both runs allow.
#[track_caller]
fn assert_same_values(a: &Value, b: &Value, flags: &str) {
    for (low, high) in [(a, b), (b, a)] {
        for (l, u) in numbers(&low["lower"]).iter().zip(numbers(&high["upper"])) {
            assert!(*l <= u, "{flags}: {l} > {u}");
        }
    }
}

#[test]
fn every_method_and_oracle_finds_the_same_values() {
    let (reference, _) = solve_example("--method fom-vi --gap 1e-7");
    for method in ["auto", "fom-vi", "vi", "gs-vi", "anderson", "avi", "pi", "newton"] {
        for oracle in ["", "exact", "first-order", "interior-point"] {
            if method == "fom-vi" && !matches!(oracle, "" | "first-order") {
                continue;
            }
            let flag = if oracle.is_empty() { "" } else { "--oracle" };
            let flags = format!("--method {method} {flag} {oracle}");
            let (json, page) = solve_example(&flags);
            assert_same_values(&json, &reference, &flags);
            if method == "auto" {
                let reason = json["reason"].as_str().unwrap();
                assert!(page.contains(&format!("(chosen by auto: {reason})")), "{page}");
            } else {
                assert_eq!((&json["method"], &json["reason"]), (&method.into(), &Value::Null));
            }
            if !oracle.is_empty() {
                assert_eq!(json["oracle"], oracle);
            }
            // Only what a method has and does is spoken of.
            let first_order = json["oracle"] == "first-order";
            assert_eq!(page.contains("first-order steps a state"), first_order, "{page}");
            assert_eq!(page.contains("pda, setup l2,l2, steps centred"), first_order, "{page}");
            assert_eq!(page.contains("weights 2, epochs 2"), json["method"] == "fom-vi", "{page}");
            assert_eq!(page.contains("memory 5"), method == "anderson", "{page}");
            let evaluations = json["evaluations"].as_u64().unwrap();
            let told = format!("({evaluations} of them of nature alone)");
            assert_eq!(page.contains(&told), evaluations > 0, "{page}");
        }
    }
}

#[test]
fn settings_of_methods_are_used_and_told() {
    let of = |flags: &str| solve_example(&format!("--gap 1e-3 {flags}")).1;
    let page = of("--method anderson --anderson 2");
    assert!(page.contains("              memory 2\n"), "{page}");
    let page = of("--method vi --oracle first-order --setup l1,l2 --fom mirror-prox --steps paper");
    assert!(page.contains("              mirror-prox, setup l1,l2, steps paper\n"), "{page}");
    let page = of("--oracle first-order --epochs 1 --average all");
    assert!(page.contains("steps centred, weights 2, epochs 1, average all\n"), "{page}");
}

#[test]
fn weights_scale_the_budget_and_are_told() {
    let folder = Folder::new();
    folder
        .rmdp(&["generate", "garnet", "--states", "5", "--actions", "2", "-o", "m.json"])
        .expect(0);
    let table = |weight: &str| {
        let rows = (0..5).flat_map(|s| (0..2).map(move |a| format!("{s},{a},{weight}\n")));
        format!("state,action,weight\n{}", rows.collect::<String>())
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("w.csv", &table("2"));
    let solve = ["solve", "m.json", "--set", "kl", "--quiet", "--json"];
    folder.rmdp(&[&solve[..], &["one.json", "--radius", "0.1"]].concat()).expect(0);
    let weighted = ["two.json", "--radius", "0.2", "--weights-file", "w.csv"];
    let page = folder.rmdp(&[&solve[..], &weighted].concat()).expect(0).stdout;
    assert!(
        page.contains("KL, radius 0.2, s-rectangular, support nominal, actions weighted"),
        "{page}"
    );
    let (one, two) = (folder.json("one.json"), folder.json("two.json"));
    assert!(one.get("weights").is_none());
    assert_eq!(numbers(&two["weights"]), [2.0; 10]);
    for (one, two) in numbers(&one["values"]).into_iter().zip(numbers(&two["values"])) {
        assert!((one - two).abs() <= 1e-5, "{one} {two}");
    }
    write("zero.csv", &table("0"));
    write("short.csv", "state,action,weight\n0,0,1\n");
    for (flags, told) in [
        ("--weights-file zero.csv", "the weight is 0.0, expected a finite number above 0"),
        (
            "--weights-file short.csv",
            "no weight for state “0”, action “1”, expected one for every action",
        ),
        ("--weights-file w.csv --rectangular sa", "expected --rectangular s"),
    ] {
        let line = format!("solve m.json --radius 0.1 {flags}");
        let said = folder.rmdp(&line.split(' ').collect::<Vec<_>>()).expect(2).stderr;
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn a_written_policy_evaluates_to_its_bounds() {
    let folder = Folder::new();
    folder.rmdp(&["generate", "machine", "-o", "m.json", "--radii", "r.csv"]).expect(0);
    let set = ["--radius-file", "r.csv"];
    let solve = ["solve", "m.json", "--json", "o.json", "--policy", "p.csv"];
    folder.rmdp(&[&solve[..], &set].concat()).expect(0);
    let evaluate = ["evaluate", "m.json", "--policy", "p.csv", "--json", "e.json", "--gap", "1e-8"];
    folder.rmdp(&[&evaluate[..], &set].concat()).expect(0);
    let (solved, evaluated) = (folder.json("o.json"), folder.json("e.json"));
    let (worst, nominal) = (&evaluated["worst"], &evaluated["nominal"]);
    let slack = 1e-8;
    let uppers = numbers(&worst["upper"]).into_iter().zip(numbers(&solved["upper"]));
    assert!(uppers.clone().all(|(e, s)| e <= s + slack), "{:?}", uppers.collect::<Vec<_>>());
    let lowers = numbers(&worst["upper"]).into_iter().zip(numbers(&solved["lower"]));
    assert!(lowers.clone().all(|(e, s)| e >= s - slack));
    let better = numbers(&nominal["lower"]).into_iter().zip(numbers(&worst["upper"]));
    assert!(better.clone().all(|(n, w)| n <= w + slack));
    assert_eq!(numbers(&solved["radius"]).len(), 10);
}

#[test]
fn threads_do_not_change_a_bit() {
    let folder = Folder::new();
    folder.rmdp(&["generate", "garnet", "--states", "40", "-o", "g.npz"]).expect(0);
    let solve = |threads, file| {
        let set = ["--set", "kl", "--radius", "0.05", "--gap", "1e-3"];
        let args = ["solve", "g.npz", "--threads", threads, "--json", file];
        folder.rmdp(&[&args[..], &set].concat()).expect(0);
        let mut json = folder.json(file);
        json["seconds"] = 0.into();
        json
    };
    assert_eq!(solve("1", "a.json"), solve("2", "b.json"));
}

#[test]
fn rewards_are_negated_costs() {
    let folder = Folder::new();
    folder.rmdp(&["generate", "machine", "--states", "6", "-o", "m.json"]).expect(0);
    let costs = folder.read("m.json");
    let rewards = costs.replace("min-cost", "max-reward").replace("\"cost\":", "\"reward\":-");
    fs::write(folder.path().join("n.json"), rewards).unwrap();
    for (model, out) in [("m.json", "a.json"), ("n.json", "b.json")] {
        folder.rmdp(&["solve", model, "--radius", "0.01", "--json", out]).expect(0);
    }
    let (a, b) = (folder.json("a.json"), folder.json("b.json"));
    assert_consistent(&b);
    assert_eq!(b["objective"], "max-reward");
    assert_eq!(a["policy"], b["policy"]);
    let negated: Vec<f64> = numbers(&b["upper"]).iter().map(|u| 0.0 - u).collect();
    assert_eq!(numbers(&a["lower"]), negated);
    assert_eq!(number(&a["value"]["lower"]), -number(&b["value"]["upper"]));
}

#[test]
fn limits_end_with_a_certified_answer() {
    for (limit, status) in
        [(["--max-sweeps", "1"], "sweep-limit"), (["--time-limit", "1e-9"], "time-limit")]
    {
        let folder = Folder::new();
        let args = ["solve", "--json", "o.json", "--policy", "p.csv", "--kernel", "k.npz"];
        let page = folder.rmdp(&[&args[..], &limit].concat()).expect(3);
        assert!(page.stdout.contains("the bounds hold"));
        let json = folder.json("o.json");
        assert_consistent(&json);
        assert_eq!(json["status"], status);
        assert_eq!(table(&folder.read("p.csv")).len(), 20);
        assert!(folder.path().join("k.npz").exists());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_a_certified_answer() {
    let folder = Folder::new();
    let garnet = "generate garnet --states 120 --branching 1 -o g.npz";
    folder.rmdp(&garnet.split(' ').collect::<Vec<_>>()).expect(0);
    // Slow on purpose: the paper's steps and a gap that takes them hours.
    let slow = "solve g.npz --set kl --radius 0.1 --method fom-vi --steps paper --gap 1e-9";
    let args = format!("{slow} --threads 1 --json o.json --trace t.jsonl");
    let child = folder.start(&args.split(' ').collect::<Vec<_>>());
    let started = Instant::now();
    let trace = folder.path().join("t.jsonl");
    while fs::metadata(&trace).map_or(0, |m| m.len()) == 0 {
        assert!(started.elapsed() < Duration::from_secs(60), "no sweep ended");
        thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let page = finish(child).expect(3);
    assert!(page.stderr.contains("interrupted: ending with the best certified answer so far"));
    let json = folder.json("o.json");
    assert_consistent(&json);
    assert_eq!(json["status"], "interrupted");
}

#[test]
fn json_on_the_standard_output_stands_alone() {
    let folder = Folder::new();
    let page = folder.rmdp(&["solve", "--json", "-", "--gap", "0.01"]).expect(0);
    assert_consistent(&serde_json::from_str(&page.stdout).unwrap());
    assert!(page.stderr.contains("condition 1"));
    let page = folder.rmdp(&["solve", "--json", "-", "--gap", "0.01", "--quiet"]).expect(0);
    assert_eq!(page.stderr, "");
}

#[test]
fn long_models_are_cut_and_vacuous_radii_are_told() {
    let folder = Folder::new();
    folder.rmdp(&["generate", "healthcare", "--states", "30", "-o", "h.json"]).expect(0);
    let solve = ["solve", "h.json", "--radius", "0.001", "--gap", "0.01"];
    let page = folder.rmdp(&solve).expect(0).stdout;
    assert!(page.contains("… and 10 more states; --all-states shows them"), "{page}");
    let page = folder.rmdp(&[&solve[..], &["--all-states"]].concat()).expect(0).stdout;
    assert!(page.contains("mortality") && !page.contains("more states"), "{page}");
    let vacuous = ["solve", "h.json", "--radius", "9", "--gap", "0.01"];
    let told = folder.rmdp(&vacuous).stderr;
    assert!(told.starts_with("warning: the radius is vacuous in 30 of 30 states"), "{told}");
}

#[test]
fn formats_keep_the_model_and_tell_what_is_lost() {
    let folder = Folder::new();
    let out = folder.rmdp(&["generate", "machine", "--states", "5", "-o", "m.json"]).expect(0);
    assert!(out.stdout.starts_with("wrote m.json: 5 states, 10 state-action pairs, "));
    assert!(out.stdout.contains("next: rmdp solve m.json --radius 0.00"));
    let told = folder.rmdp(&["convert", "m.json", "m.csv"]).expect(0).stderr;
    for lost in ["names of states", "names of actions", "(--discount 0.8)"] {
        assert!(told.contains(lost), "{told}");
    }
    folder.rmdp(&["convert", "m.csv", "m.npz", "--discount", "0.8"]).expect(0);
    let info = |name: &str| folder.rmdp(&["info", name, "--json"]).expect(0).stdout;
    assert_eq!(info("m.json"), info("m.npz"));
    let text = folder.rmdp(&["info", "m.csv"]).expect(0).stdout;
    assert!(text.contains("none in the file"), "{text}");
    let stdout = folder.rmdp(&["generate", "machine", "--states", "5"]).expect(0);
    assert_eq!(stdout.stdout, folder.read("m.json"));
    assert!(stdout.stderr.starts_with("wrote to the standard output"), "{}", stdout.stderr);
}

#[cfg(unix)]
#[test]
fn a_reader_who_leaves_is_no_error() {
    let folder = Folder::new();
    for command in ["solve", "completions bash", "generate garnet", "solve --help"] {
        let script = format!("{} {command} 2>err | true", env!("CARGO_BIN_EXE_rmdp"));
        Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status().unwrap();
        let told = folder.read("err");
        assert!(!told.contains("panicked") && !told.contains("error"), "{command}: {told}");
    }
}

#[test]
fn every_command_has_help_and_shells_have_scripts() {
    let folder = Folder::new();
    let commands = ["solve", "evaluate", "generate", "info", "convert", "report", "reproduce"];
    for command in commands.into_iter().chain(["completions"]) {
        let help = folder.rmdp(&[command, "--help"]).expect(0).stdout;
        assert!(help.contains("Examples:"), "{help}");
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.rmdp(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("solve") && script.contains("anderson"), "{shell}");
        // The scripts of two shells complete flags, not their values.
        if !matches!(shell, "elvish" | "powershell") {
            for name in ["fom-vi", "gs-vi", "avi", "newton", "exact", "interior-point"] {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }
    let version = folder.rmdp(&["--version"]).expect(0).stdout;
    assert_eq!(version, format!("rmdp {}\n", env!("CARGO_PKG_VERSION")));
}

/// The automatic choice looks at the oracle alone, so that its reason may not speak of the model, the
/// set or what anything would cost.
#[test]
fn auto_tells_its_rule_and_no_reason_that_nothing_computed() {
    let folder = Folder::new();
    folder
        .rmdp(&["generate", "garnet", "--states", "30", "--actions", "4", "-o", "d.npz"])
        .expect(0);
    folder.rmdp(&["generate", "machine", "-o", "m.json"]).expect(0);
    let reason = |args: &str| {
        let args = format!("solve {args} --json r.json --gap 0.1 --quiet");
        folder.rmdp(&args.split(' ').collect::<Vec<_>>()).expect(0);
        folder.json("r.json")["reason"].as_str().unwrap().to_owned()
    };
    let rule = "the same for every model and set";
    for args in ["d.npz --radius 0.1", "m.json --radius 0.1 --set kl", "m.json --set none"] {
        assert_eq!(reason(args), rule, "{args}");
        assert_eq!(reason(&format!("{args} --oracle interior-point")), rule, "{args}");
    }
    let first_order = reason("m.json --radius 0.1 --oracle first-order");
    assert_eq!(first_order, "the loop made for the first-order oracle");
}
