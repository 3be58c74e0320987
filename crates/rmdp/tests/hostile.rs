//! Files that nobody would write on purpose: every one ends with an explanation, at once and in
//! little memory, or works.
#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use support::{Folder, Outcome, finish, npz};

/// Runs `rmdp` with no more than 1 GB of addresses, so that no large allocation can succeed.
fn rmdp(folder: &Folder, args: &str) -> Outcome {
    let program = env!("CARGO_BIN_EXE_rmdp");
    let child = Command::new("sh")
        .args(["-c", &format!("ulimit -v 1000000; exec {program} {args}")])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    finish(child)
}

/// What is wrong with how `rmdp` refuses: “message” is to be in its words.
fn fault(folder: &Folder, args: &str, message: &str) -> Option<String> {
    let Outcome { code, stderr, .. } = rmdp(folder, args);
    let fine = code == Some(2)
        && stderr.contains(message)
        && !stderr.contains("panicked")
        && stderr.len() < 1000;
    (!fine).then(|| format!("{args}: exit {code:?}, expected “{message}” in: {stderr}"))
}

#[track_caller]
fn refused(folder: &Folder, args: &str, message: &str) {
    assert_eq!(fault(folder, args, message), None);
}

const MODEL: &str = r#"{"format":"robust-mdp","version":1,"objective":"min-cost","discount":0.5,
"states":[{"actions":[{"cost":COST,"next":[[NEXT,1]]}]}]}"#;

fn model(cost: &str, next: &str) -> Vec<u8> {
    MODEL.replace("COST", cost).replace("NEXT", next).into_bytes()
}

const CSV: &str = "idstatefrom,idaction,idstateto,probability,cost\n";

fn csv(line: &str) -> Vec<u8> {
    format!("{CSV}{line}\n").into_bytes()
}

#[test]
fn models() {
    let utf16 = |text: &[u8]| {
        [&b"\xFF\xFE"[..], &text.iter().flat_map(|b| [*b, 0]).collect::<Vec<_>>()].concat()
    };
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xabV*I-.Q\xb2R".to_vec();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("m.json", b"[".repeat(1_000_000), "must be an object"),
        ("m.json", b"{\"format\":".repeat(100_000), "`format` must be"),
        ("m.json", model(&"[".repeat(100_000), "0"), "`cost` must be a number"),
        ("m.json", model("1e999999999", "0"), "too large a number"),
        ("m.json", model("-1e400", "0"), "too large a number"),
        ("m.json", model(&"9".repeat(1_000_000), "0"), "too large a number"),
        (
            "m.json",
            model("1e-999999999", "1000000000000"),
            "next state 1000000000000 does not exist",
        ),
        ("m.json", model("1", "1e12"), "whole number"),
        ("m.json", model("1", "99999999999999999999999"), "whole number"),
        ("m.json", utf16(&model("1", "0")), "line 1"),
        ("m.json", gzip.clone(), "line 1"),
        ("m.json", b"\xEF\xBB\xBF".to_vec(), "the file is empty"),
        ("m.json", b" \r\n\t".to_vec(), "ends too early"),
        ("m.json", vec![0; 4096], "line 1"),
        ("m.json", b"\"\xED\xA0\x80\"".to_vec(), "line 1"),
        ("m.csv", csv("1000000000000,0,0,1,1"), "expected a whole number from 0 to"),
        ("m.csv", csv("4000000000,0,0,1,1"), "the numbers look wrong"),
        ("m.csv", csv("0,0,4e9,1,1"), "the numbers look wrong"),
        ("m.csv", csv("0,0,0,1e999999999,1"), "expected a finite number"),
        ("m.csv", csv("0,0,0,1,nan"), "expected a finite number"),
        ("m.csv", csv(&"x".repeat(3_000_000)), "longer than"),
        ("m.csv", vec![b'\n'; 3_000_000], "the file is empty"),
        ("m.csv", utf16(CSV.as_bytes()), "UTF-8"),
        ("m.csv", format!("{CSV}0,0,0,1,1\n").replace('\n', "\r").into_bytes(), "header"),
        ("m.csv", b"\xEF\xBB\xBF".to_vec(), "the file is empty"),
        ("m.csv", gzip.clone(), ""),
        ("m.npz", gzip, "the packed file is cut off"),
        ("m.npz", vec![], "is not a NumPy .npz archive"),
        (
            "m.npz",
            npz::archive("P f8 1000000000000,1,1000000000000 1\nC f8 1000000000000,1 1"),
            "unpacks to 1000000000000 numbers",
        ),
        (
            "m.npz",
            npz::archive("P f8 9999999999,9999999999,9999999999 1\nC f8 1 1"),
            "`C` has shape",
        ),
        (
            "m.npz",
            npz::archive("P f8 2,1,2 1 0 0 1\nC f8 2,1 1 1\np0 f8 1000000000000 1"),
            "unpacks to 1000000000000 numbers",
        ),
        (
            "m.npz",
            npz::archive(
                "data f8 1 1\nindices i8 1 0\nindptr i8 900000000000000 0\nstate_ptr i8 2 0 1\nshape i8 2 1 1\nC f8 1 1",
            ),
            "unpacks to 900000000000000 numbers",
        ),
        ("m.npz", npz::archive("P f8 2,1,2 1 0 0 1\nC f8 2,1 1 nan"), "expected a finite number"),
    ];
    let mut faults = Vec::new();
    for (name, bytes, message) in cases {
        let folder = Folder::new();
        fs::write(folder.path().join(name), &bytes).unwrap();
        faults.extend(fault(&folder, &format!("solve {name} --discount 0.5 --radius 1"), message));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn other_files() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), model("1", "0")).unwrap();
    let cases: Vec<(&str, &[u8], &str)> = vec![
        (
            "solve m.json --radius-file f",
            b"state,radius\n1000000000000,1\n",
            "no state “1000000000000”",
        ),
        ("solve m.json --radius-file f", b"state,radius\n0,1e999\n", "the radius is inf"),
        ("solve m.json --radius-file f", b"\xFF\xFE", "UTF-8"),
        ("solve m.json --radius-file f", b"", "the file is empty"),
        (
            "evaluate m.json --radius 1 --policy f",
            b"state,action,probability\n0,0,1e-400\n",
            "sum to 0",
        ),
        (
            "evaluate m.json --radius 1 --policy f",
            b"state,action,probability\n0,99999999999,1\n",
            "action",
        ),
        ("evaluate m.json --radius 1 --policy f", b"\"", "a quoted field does not end"),
        ("report f -o p.html", b"", "no result of"),
        ("report f -o p.html", b"\xEF\xBB\xBF{}", "no result of"),
        ("report f -o p.html", &[b'['; 100_000], "no result of"),
        ("report f -o p.html", b"{\"status\":\"certified\",\"discount\":1e999999}", "no result of"),
        ("solve m.json --radius 1 --checkpoint f", b"", "f is not a checkpoint"),
        ("solve m.json --radius 1 --checkpoint f --restart", b"mine", "f is not a checkpoint"),
        ("solve m.json --radius 1 --checkpoint f", b"rmdpckpt", "damaged or cut off"),
        ("solve m.json --radius 1 --checkpoint f", b"rmdpckpt\x04\0\0\0\0\0\0\0", "format 4"),
        (
            "solve m.json --radius 1 --checkpoint f",
            // Of this version's format, and of a length that nothing has.
            b"rmdpckpt\x07\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
            "damaged or cut off",
        ),
    ];
    let mut faults = Vec::new();
    for (args, bytes, message) in cases {
        fs::write(folder.path().join("f"), bytes).unwrap();
        faults.extend(fault(&folder, args, message));
        assert_eq!(
            fs::read(folder.path().join("f")).unwrap(),
            bytes,
            "{args}: the input was changed"
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    fs::create_dir(folder.path().join("cells")).unwrap();
    fs::write(folder.path().join("cells/cells.jsonl"), [&b"[".repeat(100_000)[..], b"\n"].concat())
        .unwrap();
    refused(&folder, "reproduce time -o cells", "expected the record of a finished cell");
}

#[test]
fn what_is_no_plain_file() {
    let folder = Folder::new();
    fs::write(folder.path().join("m.json"), model("1", "0")).unwrap();
    for ending in ["json", "csv", "npz"] {
        let link = format!("null.{ending}");
        symlink("/dev/null", folder.path().join(&link)).unwrap();
        refused(&folder, &format!("solve {link} --radius 1"), &link);
        let link = format!("zero.{ending}");
        symlink("/dev/zero", folder.path().join(&link)).unwrap();
        refused(&folder, &format!("solve {link} --radius 1"), &link);
        fs::create_dir(folder.path().join(format!("folder.{ending}"))).unwrap();
        refused(&folder, &format!("solve folder.{ending} --radius 1"), "is a folder");
    }
    for (args, message) in [
        ("report /dev/zero -o p.html", "no result of"),
        ("report /dev/null -o p.html", "no result of"),
        ("report . -o p.html", "is a folder"),
        ("solve m.json --radius-file /dev/zero", "longer than"),
        ("evaluate m.json --radius 1 --policy /dev/null", "the file is empty"),
        ("solve m.json --radius 1 --checkpoint /dev/null", "not a plain file"),
        ("solve m.json --radius 1 --checkpoint /dev/zero", "not a plain file"),
    ] {
        refused(&folder, args, message);
    }
    rmdp(&folder, "solve m.json --radius 1 --json /dev/null --policy /dev/null").expect(0);
    assert_eq!(rmdp(&folder, "solve m.json --radius 1 --checkpoint .").code, Some(1));
}

#[test]
fn pipes() {
    let folder = Folder::new();
    fs::write(folder.path().join("plain.json"), model("1", "0")).unwrap();
    fs::write(folder.path().join("plain.csv"), csv("0,0,0,1,1")).unwrap();
    for ending in ["json", "csv", "npz"] {
        let path = folder.path().join(format!("pipe.{ending}"));
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    let convert = "convert plain.csv plain.npz --discount 0.5 --quiet";
    rmdp(&folder, convert).expect(0);
    for ending in ["json", "csv", "npz"] {
        let script = format!(
            "cat plain.{ending} > pipe.{ending} & exec \"$RMDP\" solve pipe.{ending} --discount 0.5 --radius 1 --quiet"
        );
        let child = Command::new("sh")
            .args(["-c", &script])
            .env("RMDP", env!("CARGO_BIN_EXE_rmdp"))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        finish(child).expect(0);
    }
    refused(&folder, "solve plain.json --radius 1 --checkpoint pipe.json", "not a plain file");
    fs::create_dir(folder.path().join("cells")).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(folder.path().join("cells/cells.jsonl"))
            .status()
            .unwrap()
            .success()
    );
    refused(&folder, "reproduce time -o cells", "expected a plain file");
}

#[test]
fn links() {
    let folder = Folder::new();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("real.json"), model("1", "0")).unwrap();
    symlink("real.json", at("m.json")).unwrap();
    symlink("target.json", at("out.json")).unwrap();
    symlink("out.json", at("again.json")).unwrap();
    rmdp(&folder, "solve m.json --radius 1 --json again.json --quiet").expect(0);
    // The links stay, and what they lead to is made.
    assert!(at("again.json").is_symlink() && at("out.json").is_symlink());
    assert!(folder.json("target.json")["lower"][0].is_number());
    symlink("m.json", at("sly.json")).unwrap();
    refused(&folder, "solve m.json --radius 1 --json sly.json", "would overwrite the input");
    refused(&folder, "solve m.json --radius 1 --checkpoint sly.json", "would overwrite the input");
    symlink("loop", at("loop")).unwrap();
    assert_eq!(rmdp(&folder, "solve m.json --radius 1 --json loop --quiet").code, Some(1));
}

#[test]
fn marks_and_line_ends_are_let_through() {
    let folder = Folder::new();
    let dressed = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap().replace('\n', "\r\n");
        [b"\xEF\xBB\xBF", text.as_bytes()].concat()
    };
    fs::write(folder.path().join("m.json"), dressed(&model("1", "0"))).unwrap();
    fs::write(folder.path().join("m.csv"), dressed(&csv("0,0,0,1,1"))).unwrap();
    fs::write(folder.path().join("r.csv"), dressed(b"state,radius\n0,1\n")).unwrap();
    fs::write(folder.path().join("p.csv"), dressed(b"state,action,probability\n0,0,1\n")).unwrap();
    rmdp(&folder, "solve m.json --radius-file r.csv --quiet").expect(0);
    rmdp(&folder, "solve m.csv --discount 0.5 --radius 1 --quiet").expect(0);
    rmdp(&folder, "evaluate m.json --radius 1 --policy p.csv --quiet").expect(0);
}
