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
