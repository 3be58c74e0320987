//! Objectives on the command line: what is optimised, what the output says of it, and what files hold.

mod support;

use std::fs;

use serde_json::Value;
use support::{Folder, Outcome, masked};

/// Takes a step of cost 1 to the left, to 0 with probability p, where it ends; `hurry` costs 2 and has a better chance.
const WALK: &str = r#"{"format":"robust-mdp","version":1,"objective":"min-cost","initial":[0,0,1],"states":[
{"name":"end","actions":[]},
{"name":"near","actions":[{"name":"go","cost":1,"next":[[0,0.5],[1,0.5]]},{"name":"hurry","cost":2,"next":[[0,0.9],[1,0.1]]}]},
{"name":"far","actions":[{"name":"go","cost":1,"next":[[1,0.5],[2,0.5]]},{"name":"hurry","cost":2,"next":[[1,0.9],[2,0.1]]}]}]}"#;

/// `try` reaches the goal, fails, or leaves another try; `bet` reaches it with probability 0.3; `wait` never ends.
const TRA: &str = "3 5 8\n0 0 0 [0.05,0.6] try\n0 0 1 [0.2,0.6] try\n0 0 2 [0.2,0.4] try\n\
                   0 1 1 [0.3,0.3] bet\n0 1 2 [0.7,0.7] bet\n0 2 0 [1,1] wait\n1 0 1 [1,1] stay\n2 0 2 [1,1] stay\n";
const LAB: &str = "0=\"init\" 1=\"goal\"\n0: 0\n1: 1\n";

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in [("walk.json", WALK), ("m.tra", TRA), ("m.lab", LAB)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn run(folder: &Folder, line: &str) -> Outcome {
    folder.rmdp(&line.split_whitespace().collect::<Vec<_>>())
}

/// Solves, and returns the page and the result.
#[track_caller]
fn solve(folder: &Folder, line: &str) -> (String, Value) {
    let page = run(folder, &format!("solve {line} --json r.json")).expect(0).stdout;
    (page, folder.json("r.json"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

#[track_caller]
fn assert_encloses(value: &Value, expected: f64) {
    let [lower, upper] = ["lower", "upper"].map(|side| value[side].as_f64().unwrap());
    assert!(lower <= expected && expected <= upper && upper - lower < 1e-6, "{value}, {expected}");
}

/// Every kind of page, line by line; `RMDP_BLESS=1` writes them, to be read before they are committed.
#[test]
fn pages_say_what_was_optimised() {
    let folder = folder();
    let mut found = String::new();
    for line in [
        "solve --objective average",
        "solve --objective finite --horizon 3",
        "solve --objective finite --horizon 1 --discount 1 --set none",
        "solve --direction best",
        "solve --set kl --radius 0.1 --deterministic",
        "solve walk.json --set kl --radius 0.1 --objective total",
        "solve walk.json --set kl --radius 0.1 --rectangular sa --objective total --deterministic",
        "solve m.tra --reach goal --set interval --objective total",
    ] {
        let page = run(&folder, line).expect(0);
        found += &format!("$ rmdp {line}\n{}{}\n", page.stderr, masked(&page.stdout));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objectives.txt");
    if std::env::var_os("RMDP_BLESS").is_some() {
        fs::write(path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(path).unwrap());
}

#[test]
fn a_goal_is_reached_with_probabilities_by_hand() {
    let folder = folder();
    let reach = "m.tra --reach goal --set interval --objective total";
    // Worst: 0.2 against 0.4; best: 0.6 against 0.2. Betting gives 0.3.
    for (direction, expected, actions) in [("worst", 0.2 / 0.6, 0), ("best", 0.6 / 0.8, 0)] {
        let (page, json) = solve(&folder, &format!("{reach} --direction {direction}"));
        assert_encloses(&json["value"], expected);
        assert_eq!(json["policy"][0][actions], 1.0);
        assert_eq!(
            (&json["criterion"], &json["direction"], &json["objective"], &json["discount"]),
            (&"total".into(), &direction.into(), &"max-reward".into(), &1.0.into())
        );
        assert_eq!(json["ends_surely"], false);
        assert!(
            page.contains(&format!("maximise the {direction} case of the expected total reward"))
        );
        assert!(page.contains("under this policy; others may go on for ever"), "{page}");
    }
}

#[test]
fn totals_say_when_the_model_ends() {
    let folder = folder();
    let (page, json) = solve(&folder, "walk.json --set none --objective total");
    // Going takes two steps of cost 1 a place, hurrying 1/0.9 of cost 2.
    assert_encloses(&json["value"], 4.0);
    let steps = numbers(&json["steps_to_end"]);
    // At least the largest number of steps, and not much more.
    for (s, expected) in [0.0, 2.0, 4.0].into_iter().enumerate() {
        assert!(steps[s] >= expected && steps[s] <= 1.1 * expected, "{steps:?}");
    }
    assert_eq!(json["ends_surely"], true);
    assert!(
        page.contains("steps on average at the initial distribution, under every policy"),
        "{page}"
    );
    assert!(
        page.contains("  objective   minimise the expected total cost until the end\n"),
        "{page}"
    );
    // Of one more than two steps no bounds are known.
    let early =
        run(&folder, "solve walk.json --set none --objective total --max-sweeps 1 --json e.json");
    assert!(early.expect(3).stdout.contains("value       no bounds were found\n"));
    assert_eq!(folder.json("e.json")["lower"][1], Value::Null);
}

#[test]
fn finite_horizons_have_a_policy_for_each_step() {
    let folder = folder();
    let flags = "walk.json --set tv --radius 0.1 --objective finite --horizon 3 --policy p.csv";
    let (page, json) = solve(&folder, flags);
    assert!(page.contains("minimise the worst case of the expected cost over 3 steps\n"), "{page}");
    assert_eq!((&json["criterion"], &json["horizon"]), (&"finite".into(), &3.into()));
    // No discount in the file: 1 is meant.
    assert_eq!(json["discount"], 1.0);
    let stages = json["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 3);
    for key in ["lower", "upper", "policy", "values"] {
        assert_eq!(stages[0][key], json[key], "{key}");
    }
    // At the last step nothing comes after, and going is cheapest.
    assert_eq!(stages[2]["policy"][2], serde_json::json!([1.0, 0.0]));
    assert!((stages[2]["values"][2].as_f64().unwrap() - 1.0).abs() < 1e-12);
    let table = folder.read("p.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines.len()), ("step,state,action,probability", 1 + 3 * 4));
    assert!(lines[1].starts_with("0,near,go,") && lines[12].starts_with("2,far,hurry,"), "{table}");
    // The discount counts where one is given.
    let (page, half) = solve(&folder, &format!("{flags} --discount 0.5"));
    assert!(page.contains("over 3 steps, discount 0.5\n"), "{page}");
    assert!(half["value"]["upper"].as_f64() < json["value"]["lower"].as_f64());
}

#[test]
fn averages_have_relative_values_and_a_kernel() {
    let folder = folder();
    let (page, json) = solve(&folder, "--objective average --kernel k.npz --trace t.jsonl");
    assert!(page.contains("per step, wherever it starts"), "{page}");
    let (lower, bias) = (numbers(&json["lower"]), numbers(&json["bias"]));
    assert!(lower.iter().all(|l| *l == lower[0]) && bias.len() == 10 && bias[7] > bias[0] + 10.0);
    assert_eq!(json["discount"], 1.0);
    assert!(folder.read("t.jsonl").lines().count() as u64 == json["sweeps"].as_u64().unwrap());
    // The kernel is the worst answer to the relative values: the policy has the same average under it alone.
    run(&folder, "generate machine -o m.json").expect(0);
    let set = "--set kl --radius 0.05";
    let (_, robust) = solve(&folder, &format!("m.json {set} --objective average --kernel k.csv"));
    let kernel = folder.read("k.csv");
    let policy = &robust["policy"];
    let average = average_of(&folder.read("m.json"), policy, &kernel);
    let upper = robust["value"]["upper"].as_f64().unwrap();
    assert!((average - upper).abs() < 1e-5, "{average} {upper}");
}

/// The average cost of a policy under a kernel, by powers of its chain.
fn average_of(model: &str, policy: &Value, kernel: &str) -> f64 {
    let model: Value = serde_json::from_str(model).unwrap();
    let states = model["states"].as_array().unwrap();
    let (mut chain, mut cost) =
        (vec![vec![0.0; states.len()]; states.len()], vec![0.0; states.len()]);
    let place = |names: &[Value], name: &str| names.iter().position(|n| n["name"] == name).unwrap();
    for (s, state) in states.iter().enumerate() {
        for (a, action) in state["actions"].as_array().unwrap().iter().enumerate() {
            cost[s] += policy[s][a].as_f64().unwrap() * action["cost"].as_f64().unwrap();
        }
    }
    for line in kernel.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (s, next) = (place(states, cells[0]), place(states, cells[2]));
        let a = place(states[s]["actions"].as_array().unwrap(), cells[1]);
        chain[s][next] += policy[s][a].as_f64().unwrap() * cells[3].parse::<f64>().unwrap();
    }
    let mut at = vec![1.0 / states.len() as f64; states.len()];
    for _ in 0..20_000 {
        let step =
            |t: usize| (0..at.len()).map(|s| 0.5 * at[s] * chain[s][t]).sum::<f64>() + 0.5 * at[t];
        at = (0..at.len()).map(step).collect();
    }
    at.iter().zip(&cost).map(|(p, c)| p * c).sum()
}

#[test]
fn deterministic_policies_are_compared_with_all() {
    let folder = folder();
    for objective in ["discounted", "average", "finite --horizon 4"] {
        let line = format!("--objective {objective}");
        let (page, json) = solve(&folder, &format!("{line} --deterministic"));
        let policy = json["policy"].as_array().unwrap();
        assert!(policy.iter().flat_map(numbers).all(|x| x == 0.0 || x == 1.0), "{policy:?}");
        assert_eq!(json["deterministic"], true);
        let (_, all) = solve(&folder, &line);
        assert_eq!(json["randomised"]["lower"], all["lower"], "{objective}");
        assert_eq!(json["randomised"]["value"], all["value"]);
        assert!(json["value"]["lower"].as_f64() > all["value"]["upper"].as_f64(), "{json}");
        assert!(page.contains("randomising could save at most 0."), "{page}");
        // Nothing is lost where every action has a budget of its own.
        let own = format!("{line} --rectangular sa");
        let (page, alone) = solve(&folder, &format!("{own} --deterministic"));
        assert!(alone.get("randomised").is_none() && !page.contains("randomis"), "{page}");
        assert_eq!(alone["lower"], solve(&folder, &own).1["lower"]);
    }
}

#[test]
fn best_and_worst_cases_lie_around_the_nominal() {
    let folder = folder();
    for objective in ["discounted", "average", "finite --horizon 4"] {
        let value = |flags: &str| {
            let (_, json) = solve(&folder, &format!("--objective {objective} {flags}"));
            ["lower", "upper"].map(|side| json["value"][side].as_f64().unwrap())
        };
        let (best, nominal, worst) = (value("--direction best"), value("--set none"), value(""));
        assert!(best[1] < nominal[0] && nominal[1] < worst[0], "{objective}: {best:?} {worst:?}");
    }
}

#[test]
fn reports_say_what_was_optimised_and_leave_out_the_rest() {
    let folder = folder();
    run(&folder, "generate machine -o m.json").expect(0);
    let set = "m.json --set kl --radius 0.05";
    for (flags, told, worst_case) in [
        ("--objective average", "minimise the worst case of the average cost per step,", true),
        ("--objective finite --horizon 5", "expected cost over 5 steps at discount 0.8,", false),
        ("--direction best", "if the kernel of the uncertainty set that is best", false),
        (
            "--deterministic",
            "expected discounted cost, by deterministic policies at discount",
            true,
        ),
    ] {
        solve(&folder, &format!("{set} {flags}"));
        run(&folder, "report r.json --model m.json -o page.html").expect(0);
        let page = folder.read("page.html");
        assert!(page.contains(told), "{flags}");
        assert_eq!(page.contains("<section id=\"worst-case\""), worst_case, "{flags}");
    }
    let page = folder.read("page.html");
    assert!(page.contains("was computed again from the model"));
    run(&folder, "report r.json --model m.json --radii 0.01:0.1:3 -o page.html").expect(0);
    // The policies of the radii are deterministic too.
    let json = folder.json("r.json");
    solve(&folder, &format!("{set} --deterministic"));
    assert_eq!(json["lower"], folder.json("r.json")["lower"]);
}
