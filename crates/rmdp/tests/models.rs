//! Models on the command line: what a set or a gap means for them, and what files keep of them.

mod support;

use std::fs;

use support::Folder;

/// Every state and action leads to one next state.
const DETERMINISTIC: &str = r#"{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.5,
"states":[{"actions":[{"cost":1,"next":[[1,1]]}]},{"actions":[{"cost":0,"next":[[0,1]]}]}]}"#;

#[test]
fn the_page_says_where_the_gap_comes_from() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), DETERMINISTIC).unwrap();
    let gap = |args: &[&str]| {
        let page = folder.rmdp(&[&["solve", "m.json", "--radius", "0.1"], args].concat()).expect(0);
        let line = page.stdout.lines().find(|l| l.starts_with("  gap")).unwrap().to_owned();
        line.split_once(" (").unwrap().1.to_owned()
    };
    // (1 − 0) / (1 − 0.5), to seven digits.
    assert_eq!(gap(&[]), "asked 2e-7 by default)");
    assert_eq!(gap(&["--gap", "0.01"]), "asked 0.01)");
}

#[test]
fn sets_that_change_nothing_are_told() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), DETERMINISTIC).unwrap();
    let told = |args: &[&str]| folder.rmdp(&[&["solve", "m.json"], args].concat()).expect(0).stderr;
    let nothing = "warning: the set changes nothing";
    assert!(told(&["--set", "kl", "--radius", "0.1"]).starts_with(nothing));
    assert!(told(&["--support", "nominal", "--radius", "0.1"]).starts_with(nothing));
    for fine in [&["--radius", "0.1"][..], &["--set", "kl", "--radius", "0"], &["--set", "none"]] {
        assert_eq!(told(fine), "", "{fine:?}");
    }
}

/// Own costs, some on transitions too; the last action lists all states.
const MIXED: &str = r#"{"format":"robust-mdp","version":1,"objective":"max-reward","discount":0.9,
"initial":[1,0,0],
"states":[{"name":"a","actions":[{"name":"x","reward":5,"next":[[0,0.5,1],[1,0.5]]},
{"name":"y","reward":0,"next":[[0,1,3]]}]},
{"actions":[{"reward":2,"next":[[0,0.25],[1,0.25],[2,0.5,1]]}]},
{"actions":[{"reward":0,"next":[[0,0.5,1],[1,0.5]]}]}]}"#;

#[test]
fn what_csv_changes_is_told_by_name() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), MIXED).unwrap();
    let told = folder.rmdp(&["convert", "m.json", "m.csv"]).expect(0).stderr;
    let expected = "\
warning: names of states are lost: only .json keeps them
warning: names of actions are lost: only .json keeps them
warning: the discount factor is lost: give 0.9 again to solve (--discount 0.9)
warning: the initial distribution is lost: the model starts uniformly
warning: the reward of next states that are not listed changes in 1 of 4 state-action pairs (state a, \
action x: from 5.0 to 0.0), because CSV does not keep an action's own apart from those of its \
transitions: sets with support all will give other answers; .json and .npz keep it
";
    assert_eq!(told, expected);
    assert_eq!(folder.rmdp(&["convert", "m.json", "n.csv", "--quiet"]).expect(0).stderr, "");
    let told = folder.rmdp(&["convert", "m.json", "m.npz"]).expect(0).stderr;
    assert_eq!(told.lines().count(), 2, "{told}");
    assert_eq!(folder.rmdp(&["convert", "m.npz", "again.json"]).expect(0).stderr, "");
    let generated = folder.rmdp(&["generate", "machine", "-o", "g.csv"]).expect(0).stderr;
    assert!(generated.contains("names of states are lost"), "{generated}");
    assert!(generated.contains("the discount factor is lost"), "{generated}");
}

/// The robust answer is the one that the model has before, wherever nothing was told.
#[test]
fn csv_keeps_the_answer_of_transitions_with_costs_alone() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), MIXED.replace("\"reward\":5", "\"reward\":0")).unwrap();
    let told = folder.rmdp(&["convert", "m.json", "m.csv"]).expect(0).stderr;
    assert!(!told.contains("not listed"), "{told}");
    let solve = |file: &str, to: &str| {
        let set = ["--radius", "0.3", "--discount", "0.9", "--gap", "1e-9"];
        folder.rmdp(&[&["solve", file, "--json", to, "--quiet"], &set[..]].concat()).expect(0);
        let values = folder.json(to)["values"].as_array().unwrap().clone();
        values.iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let (a, b) = (solve("m.json", "a.json"), solve("m.csv", "b.json"));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-8), "{a:?} {b:?}");
}

#[test]
fn the_cost_of_unlisted_states_is_shown_and_set() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), MIXED).unwrap();
    let line = |file: &str| {
        let page = folder.rmdp(&["info", file, "--discount", "0.9"]).expect(0).stdout;
        let line = page.lines().find(|l| l.starts_with("  rewards if unlisted")).unwrap();
        line.split_once("unlisted").unwrap().1.trim().to_owned()
    };
    assert_eq!(line("m.json"), "0 to 5, each the action's own");
    let convert = ["convert", "m.json", "n.json", "--unlisted-cost", "-7"];
    folder.rmdp(&convert).expect(0);
    assert_eq!(line("n.json"), "-7, the action's own");
    folder.rmdp(&["info", "n.json", "--json"]).expect(0);
    let info: serde_json::Value =
        serde_json::from_str(&folder.rmdp(&["info", "n.json", "--json"]).stdout).unwrap();
    assert_eq!(info["unlisted_costs"], serde_json::json!([-7.0, -7.0]));
    let value = |file: &str, set: &[&str]| {
        let gap = ["--gap", "1e-9", "--json", "out.json", "--quiet"];
        folder.rmdp(&[&["solve", file], set, &gap[..]].concat()).expect(0);
        folder.json("out.json")["value"]["lower"].as_f64().unwrap()
    };
    for same in [&["--set", "none"][..], &["--set", "kl", "--radius", "0.2"]] {
        assert!((value("m.json", same) - value("n.json", same)).abs() < 1e-8, "{same:?}");
    }
    let leaves = ["--radius", "0.2"];
    assert!(value("n.json", &leaves) < value("m.json", &leaves) - 0.1);
    // It stays where the format keeps it.
    let told = folder.rmdp(&["convert", "n.json", "n.csv"]).expect(0).stderr;
    assert!(told.contains("reward of next states that are not listed changes in 3 of 4"), "{told}");
}

/// Two ways to the same next state at different costs are two transitions, in every format.
#[test]
fn next_states_at_several_costs_are_counted_and_kept() {
    let folder = Folder::new();
    let lines = "0,0,1,0.5,0\n0,0,1,0.5,10\n1,0,1,1,0\n";
    let header = "idstatefrom,idaction,idstateto,probability,cost\n";
    fs::write(folder.path().join("m.csv"), format!("{header}{lines}")).unwrap();
    let page = folder.rmdp(&["info", "m.csv"]).expect(0).stdout;
    assert!(page.contains(", 1 to a next state listed before at another cost"), "{page}");
    folder.rmdp(&["convert", "m.csv", "m.json", "--discount", "0.9"]).expect(0);
    folder.rmdp(&["convert", "m.json", "m.npz"]).expect(0);
    for file in ["m.csv", "m.json", "m.npz"] {
        // All mass may go to the dearer one: 10, and not 5 as on average.
        let solve = ["solve", file, "--set", "kl", "--radius", "9", "--discount", "0.9"];
        let more = ["--json", "out.json", "--kernel", "k.csv", "--certify", "--quiet"];
        folder.rmdp(&[&solve[..], &more[..]].concat()).expect(0);
        let out = folder.json("out.json");
        assert!((out["values"][0].as_f64().unwrap() - 10.0).abs() < 1e-4, "{file}: {out}");
        assert_eq!(out["verified"], true);
        let kernel = folder.read("k.csv");
        let expected = "state,action,next,probability,cost\n0,0,1,0.0,0.0\n0,0,1,1.0,10.0\n";
        assert!(kernel.starts_with(expected), "{kernel}");
    }
}

/// A CSV file holds own and further costs as a sum: it tells a cost of unlisted states that is 0, or that
/// of all transitions of the action.
#[test]
fn the_cost_of_unlisted_states_goes_to_csv_only_where_it_is_kept() {
    let folder = Folder::new();
    let actions = DETERMINISTIC.replace("\"cost\":0", "\"cost\":1");
    fs::write(folder.path().join("m.json"), actions).unwrap();
    let convert =
        |cost: &str| folder.rmdp(&["convert", "m.json", "m.csv", "--unlisted-cost", cost]);
    for lost in ["6", "-1"] {
        let told = convert(lost).expect(2).stderr;
        assert!(told.contains(&format!("--unlisted-cost {lost} has no place in a .csv")), "{told}");
        assert!(!folder.path().join("m.csv").exists());
    }
    for kept in ["0", "1"] {
        convert(kept).expect(0);
        let page = folder.rmdp(&["info", "m.csv"]).expect(0).stdout;
        let line = page.lines().find(|l| l.starts_with("  costs if unlisted")).unwrap();
        assert!(line.ends_with(&format!(" {kept}, the action's own")), "{line}");
    }
}

/// Transitions are those of positive probability, repeated or not; costs are those of all that is listed.
#[test]
fn info_counts_the_same_transitions_and_shows_every_listed_cost() {
    let folder = Folder::new();
    let model = |next: &str| {
        let text = format!(
            r#"{{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.5,
            "states":[{{"actions":[{{"cost":0,"next":{next}}}]}}]}}"#
        );
        fs::write(folder.path().join("m.json"), text).unwrap();
        let page = folder.rmdp(&["info", "m.json"]).expect(0).stdout;
        let fact = |label: &str| {
            let line = page.lines().find(|l| l.starts_with(&format!("  {label}  "))).unwrap();
            line.split_once(label).unwrap().1.trim().to_owned()
        };
        (fact("transitions"), fact("costs"))
    };
    let (transitions, costs) = model("[[0,0.5,1],[0,0,2],[0,0.5,3],[0,0,-7]]");
    assert_eq!(transitions, "2 (density 100 %), 1 to a next state listed before at another cost");
    assert_eq!(costs, "-7 to 3, some on transitions");
    let (transitions, costs) = model("[[0,1,1],[0,0,5]]");
    assert_eq!(transitions, "1 (density 100 %)");
    assert_eq!(costs, "1 to 5, some on transitions");
}
