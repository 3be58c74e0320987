//! `--trace` of FOM-VI as published: the duality gap of every epoch's output, from which the paper's curves
//! can be drawn.

mod support;

use serde_json::Value;
use support::Folder;

fn lines(folder: &Folder, args: &str) -> Vec<Value> {
    let args = format!("solve --method fom-vi {args} --json o.json --trace t.jsonl");
    let args: Vec<&str> = args.split_whitespace().collect();
    let run = folder.rmdp(&args);
    assert!(matches!(run.code, Some(0 | 3)), "{}", run.stderr);
    assert_eq!(folder.json("o.json")["method"], "fom-vi");
    folder.read("t.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap_or_else(|| panic!("{name} of {line}"))
}

#[test]
fn every_epoch_of_the_paper_has_its_own_gap() {
    let folder = Folder::new();
    for setup in ["--setup l2,l2", "--set kl --radius 0.05 --setup l1,l1"] {
        let trace = lines(&folder, &format!("--steps paper {setup} --gap 1e-9 --max-sweeps 9"));
        assert_eq!(trace.len(), 9);
        let mut steps = 0;
        for (epoch, line) in (1_u64..).zip(&trace) {
            steps += epoch * epoch;
            assert_eq!(line["first_order_steps"], steps);
            let (lower, upper) = (number(line, "output_lower"), number(line, "output_upper"));
            assert!(lower <= upper && upper - lower <= number(line, "output_gap"));
            // The upper bound of the answer is that of the output; lower ones are the best so far.
            assert!(lower <= number(line, "lower") && (number(line, "upper") - upper).abs() < 1e-9);
        }
        // Not the best so far: with these settings the first outputs are poor, and the next are not all
        // better.
        let gaps: Vec<f64> = trace.iter().map(|line| number(line, "output_gap")).collect();
        assert!(gaps[0] > 2.0 * gaps[8], "{gaps:?}");
    }
}

#[test]
fn other_runs_say_nothing_of_gaps_that_were_not_computed() {
    let folder = Folder::new();
    let trace = lines(&folder, "--gap 1e-6");
    let own = |line: &&Value| line.get("output_gap").is_some();
    let checked = trace.iter().filter(own).count();
    assert!(0 < checked && checked < trace.len(), "{checked} of {}", trace.len());
    // An epoch whose output was certified never has worse bounds than it.
    for line in trace.iter().filter(own) {
        assert!(number(line, "gap") <= number(line, "output_gap") * (1.0 + 1e-12));
    }
}
