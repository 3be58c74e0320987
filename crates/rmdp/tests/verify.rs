//! `rmdp solve --certificate` and `rmdp verify`: exit codes, messages and what is written.

mod support;

use serde_json::Value;
use support::Folder;

/// A folder with a model, its result and its certificate.
fn certified(flags: &str) -> Folder {
    let folder = Folder::new();
    folder
        .rmdp(&["generate", "garnet", "--states", "12", "--actions", "3", "-o", "m.json"])
        .expect(0);
    let args = format!("solve m.json {flags} --certificate c.cert --json o.json");
    folder.rmdp(&args.split_whitespace().collect::<Vec<_>>()).expect(0);
    folder
}

fn bounds(json: &Value) -> (f64, f64) {
    let of = |end: &str| json["value"][end].as_f64().expect("a number");
    (of("lower"), of("upper"))
}

#[test]
fn what_solve_proves_is_what_verify_proves() {
    for flags in [
        "--radius 0.05",
        "--radius 0.05 --support nominal --method vi",
        "--set kl --radius 0.1",
        "--set kl --radius 0.1 --rectangular sa --method fom-vi --gap 0.1",
        "--set none",
        "--radius 100 --rectangular sa",
    ] {
        let folder = certified(flags);
        let solved = folder.json("o.json");
        assert_eq!(solved["verified"], true, "{flags}");
        let method =
            flags.split("--method ").nth(1).map_or("newton", |m| m.split(' ').next().unwrap());
        assert_eq!(solved["method"], method, "{flags}");
        let page =
            folder.rmdp(&["verify", "m.json", "c.cert", "--json", "v.json"]).expect(0).stdout;
        assert!(page.contains("  status      proved\n"), "{page}");
        let proved = folder.json("v.json");
        assert_eq!(proved["verified"], true);
        assert_eq!(bounds(&proved), bounds(&solved), "{flags}");
        for field in ["lower", "upper", "gap", "method", "oracle", "set", "radius", "support"] {
            assert_eq!(proved[field], solved[field], "{flags}: {field}");
        }
    }
}

#[test]
fn certify_prints_verified_bounds() {
    let folder = Folder::new();
    let page = folder.rmdp(&["solve", "--certify", "--json", "o.json"]).expect(0).stdout;
    assert!(page.contains("certified; the bounds are verified"), "{page}");
    assert_eq!(folder.json("o.json")["verified"], true);
    // Without the flag a run this short is not verified.
    let page = folder.rmdp(&["solve", "--json", "o.json"]).expect(0).stdout;
    assert!(!page.contains("verified"), "{page}");
    assert_eq!(folder.json("o.json")["verified"], false);
}

/// A long run is verified by itself; a report takes its result with its trace.
#[test]
fn long_runs_are_verified_by_default() {
    let folder = Folder::new();
    let args = "solve --method fom-vi --gap 1e-4 --json o.json --trace t.jsonl";
    folder.rmdp(&args.split_whitespace().collect::<Vec<_>>()).expect(0);
    let json = folder.json("o.json");
    assert_eq!((&json["verified"], &json["method"]), (&true.into(), &"fom-vi".into()));
    assert!(json["kernel_passes"].as_f64().unwrap() >= 300.0);
    folder.rmdp(&["report", "o.json", "--trace", "t.jsonl", "-o", "page.html"]).expect(0);
}

#[test]
fn what_does_not_hold_is_rejected_with_4() {
    let folder = certified("--radius 0.05");
    let rejected = |args: &[&str], words: &[&str]| {
        let outcome = folder.rmdp(args).expect(4);
        for word in ["the certificate ", "expected"].iter().chain(words) {
            assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
        }
    };
    rejected(
        &["verify", "m.json", "c.cert", "--discount", "0.81"],
        &["another discount factor", "0.8"],
    );
    rejected(
        &["verify", "m.json", "c.cert", "--radius", "0.06"],
        &["another radius", "0.05", "0.06"],
    );
    rejected(&["verify", "m.json", "c.cert", "--set", "kl", "--radius", "0.05"], &["another set"]);
    folder.rmdp(&["verify", "m.json", "c.cert", "--radius", "0.05"]).expect(0);
    // Part of a set would be compared with nothing.
    for part in [["--set", "ellipsoid"], ["--rectangular", "sa"], ["--support", "nominal"]] {
        let outcome = folder.rmdp(&["verify", "m.json", "c.cert", part[0], part[1]]).expect(2);
        assert!(outcome.stderr.contains("expected --radius"), "{}", outcome.stderr);
    }
    // Another model of the same size, and one of another size.
    let other = "generate garnet --states 12 --actions 3 --seed 9 -o n.json";
    folder.rmdp(&other.split_whitespace().collect::<Vec<_>>()).expect(0);
    rejected(&["verify", "n.json", "c.cert"], &["another model", "fingerprint"]);
    folder.rmdp(&["generate", "machine", "-o", "s.json"]).expect(0);
    rejected(&["verify", "s.json", "c.cert"], &["another model", "12 states"]);
}

#[test]
fn damaged_files_are_bad_input() {
    let folder = certified("--radius 0.05");
    let path = folder.path().join("c.cert");
    let bytes = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8], word: &str| {
        std::fs::write(folder.path().join("d.cert"), bytes).unwrap();
        let outcome = folder.rmdp(&["verify", "m.json", "d.cert"]).expect(2);
        assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
    };
    let mut damaged = bytes.clone();
    damaged[200] ^= 4;
    refused(&damaged, "the checksum is wrong");
    refused(&bytes[..bytes.len() - 9], "bytes, expected");
    refused(&[&bytes[..], b"more"].concat(), "bytes, expected");
    refused(b"{\"not\": \"one\"}", "not a certificate");
    refused(b"", "not a certificate");
    let missing = folder.rmdp(&["verify", "m.json", "none.cert"]).expect(2);
    assert!(missing.stderr.contains("none.cert: no such file"), "{}", missing.stderr);
}

/// Stopped early: the certificate is of the best answer so far.
#[test]
fn early_answers_can_be_certified() {
    let folder = Folder::new();
    folder
        .rmdp(&["generate", "garnet", "--states", "12", "--actions", "3", "-o", "m.json"])
        .expect(0);
    let args =
        "solve m.json --radius 0.05 --method vi --max-sweeps 5 --certificate c.cert --json o.json";
    folder.rmdp(&args.split_whitespace().collect::<Vec<_>>()).expect(3);
    folder.rmdp(&["verify", "m.json", "c.cert", "--json", "v.json"]).expect(0);
    assert_eq!(bounds(&folder.json("v.json")), bounds(&folder.json("o.json")));
}
