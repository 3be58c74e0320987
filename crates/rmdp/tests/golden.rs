//! Bad models and bad command lines: every message and exit code, word for word.
//!
//! A case is a file of `tests/bad`: the command line after `$`, files to create, the expected exit
//! code and standard error. Files come as text (`--- file NAME`), as hexadecimal digits
//! (`--- hex NAME`), as arrays (`--- npz NAME`), cut off after some bytes (`--- npz NAME 100`), or
//! as folders (`--- folder NAME`). In what is expected, `{sets}` stands for the names of all sets. `RMDP_BLESS=1 cargo test -p rmdp --test golden` writes what the
//! binary says now into the cases, to be read before it is committed.

mod support;

use std::fs;
use std::path::Path;

use robust_mdp::sets::Distance;
use support::{Folder, Outcome, npz};

struct Case {
    args: Vec<String>,
    /// Everything before the expected outcome, as it stands in the file.
    given: String,
    outcome: String,
}

#[test]
fn bad_input_is_explained() {
    let bless = std::env::var_os("RMDP_BLESS").is_some();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 50, "only {} cases", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let case = Case::parse(&fs::read_to_string(&path).unwrap());
        let found = case.run(&name);
        if found != case.outcome {
            wrong.push(format!("{name}\nexpected:\n{}found:\n{found}", case.outcome));
            if bless {
                fs::write(&path, format!("{}{found}", case.given)).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n\n{}", wrong.len(), wrong.join("\n"));
}

impl Case {
    fn parse(text: &str) -> Case {
        let at = text.find("--- exit").unwrap_or(text.len());
        let (given, outcome) = text.split_at(at);
        let command = given.lines().find_map(|l| l.strip_prefix("$ rmdp")).expect("a command");
        let sets: Vec<&str> =
            Distance::ALL.iter().filter(|d| d.set().is_some()).map(|d| d.name()).collect();
        let outcome = outcome.replace("{sets}", &sets.join(", "));
        Case { args: words(command), given: given.to_owned(), outcome }
    }

    fn run(&self, name: &str) -> String {
        let folder = Folder::new();
        self.create_files(folder.path());
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let Outcome { code, stderr, stdout } = folder.rmdp(&args);
        assert!(!stderr.contains("panicked") && code != Some(101), "{name}: {stderr}");
        assert_eq!(stdout, "", "{name}: nothing is printed on the standard output");
        format!("--- exit {}\n{stderr}", code.expect("no signal"))
    }

    fn create_files(&self, folder: &Path) {
        for section in self.given.split("\n--- ").skip(1) {
            let (head, content) = section.split_once('\n').unwrap_or((section, ""));
            let mut head = head.split_whitespace();
            let (kind, name) = (head.next().unwrap(), head.next().unwrap());
            let path = folder.join(name);
            let mut bytes = match kind {
                "file" => content.as_bytes().to_vec(),
                "hex" => unhex(content),
                "npz" => npz::archive(content),
                "folder" => {
                    fs::create_dir(path).unwrap();
                    continue;
                }
                _ => panic!("section {kind}"),
            };
            if let Some(length) = head.next() {
                bytes.truncate(length.parse().unwrap());
            }
            fs::write(path, bytes).unwrap();
        }
    }
}

/// Words between spaces; double quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}
