//! A set is named in one place: outside of `sets/`, next to no file says which sets there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use robust_mdp::sets::Distance;

/// Folders of sources, from the root of the workspace.
const SOURCES: [&str; 3] = ["crates", "bench/src", "fuzz/src"];

/// What may name sets: the sets, and what is about certain ones.
const ALLOWED: [&str; 9] = [
    "crates/robust-mdp/src/sets/",
    "crates/robust-mdp-python/python/robust_mdp/sets.py",
    // Defaults of generators.
    "crates/robust-mdp/src/instances/",
    "crates/robust-mdp-python/python/robust_mdp/instances.py",
    // The paper's experiments.
    "crates/reproduce/src/",
    // A format of budgets of certain sets.
    "crates/robust-mdp/src/io/mdp/ambiguity.rs",
    // Lists of instances.
    "bench/src/instance.rs",
    "fuzz/src/drawn.rs",
    "fuzz/src/readers.rs",
];

/// Files that still may.
const MOST: usize = 3;

#[test]
fn nothing_outside_of_sets_names_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names = [rust_names(), python_names()];
    let mut found = Vec::new();
    for folder in SOURCES {
        for path in files(&root.join(folder)) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if is_test(&name) || ALLOWED.iter().any(|allowed| name.starts_with(allowed)) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let (code, names) = match name.ends_with(".rs") {
                true => (rust(&text), &names[0]),
                false => (python(&text), &names[1]),
            };
            let mentioned: BTreeSet<&String> =
                names.iter().filter(|name| code.contains(name)).collect();
            if !mentioned.is_empty() {
                found.push(format!("{name}: {mentioned:?}"));
            }
        }
    }
    assert!(found.len() <= MOST, "{} files name sets:\n{}", found.len(), found.join("\n"));
}

/// Words that also mean something else: the interval of a probability, or of rounding.
const OTHER_MEANINGS: [&str; 2] = ["Interval", "\"interval\""];

/// Variants, files, constructors and quoted names of all sets.
fn rust_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for distance in Distance::ALL.iter().filter(|d| d.set().is_some()) {
        let (variant, name) = (format!("{distance:?}"), distance.name());
        names.extend([format!("Distance::{variant}"), format!("\"{name}\"")]);
        names.extend([format!("UncertaintySet::{name}"), format!("sets::{name}")]);
    }
    names
}

/// Classes and quoted names of all sets.
fn python_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for distance in Distance::ALL.iter().filter(|d| d.set().is_some()) {
        let (class, name) = (format!("{distance:?}"), distance.name());
        names.extend([class, format!("\"{name}\""), distance.title().to_owned()]);
    }
    names.retain(|name| !OTHER_MEANINGS.contains(&name.as_str()));
    names
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let ending = entry.extension().and_then(|ending| ending.to_str());
        if entry.is_dir() {
            found.extend(files(&entry));
        } else if matches!(ending, Some("rs" | "py")) {
            found.push(entry);
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    let parts = ["/tests/", "/examples/", "/benches/", "/measure/"];
    path.ends_with("/tests.rs") || parts.iter().any(|part| path.contains(part))
}

/// Identifiers and whole literals of code.
#[derive(Debug, Default)]
struct Code {
    words: BTreeSet<String>,
}

impl Code {
    fn contains(&self, name: &str) -> bool {
        self.words.contains(name)
    }
}

/// Without comments and without the tests at the end of a file.
fn rust(text: &str) -> Code {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    words(&lines.collect::<Vec<_>>().join("\n"))
}

/// Without comments and documentation.
fn python(text: &str) -> Code {
    let code = text.split("\"\"\"").step_by(2).collect::<Vec<_>>().join(" ");
    let lines = code.lines().map(|line| line.split('#').next().unwrap_or(""));
    words(&lines.collect::<Vec<_>>().join("\n"))
}

/// Identifiers, pairs of them with a `::` between, and literals with their quotes.
fn words(text: &str) -> Code {
    let (mut code, mut rest, mut last) = (Code::default(), text, "");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(start) = rest.find(|c: char| is_word(c) || c == '"') {
        let before = &rest[..start];
        rest = &rest[start..];
        if let Some(inside) = rest.strip_prefix('"') {
            let end = inside.find('"').unwrap_or(inside.len());
            code.words.insert(format!("\"{}\"", &inside[..end]));
            rest = inside.get(end + 1..).unwrap_or("");
            continue;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        code.words.insert(word.to_owned());
        if before == "::" {
            code.words.insert(format!("{last}::{word}"));
        }
        last = word;
    }
    code
}

#[test]
fn code_is_told_from_comments_and_sentences() {
    let code = rust("let a = Distance::Kl; // Ellipsoid\nset::kl(\"a kl set\", \"kl\")");
    assert!(["Distance::Kl", "set::kl", "\"kl\"", "a"].iter().all(|word| code.contains(word)));
    assert!(["Ellipsoid", "\"ellipsoid\"", "a::Distance"].iter().all(|word| !code.contains(word)));
    let code = python("\"\"\"of KL\"\"\"\nx = Ellipsoid  # KL\n");
    assert!(code.contains("Ellipsoid") && !code.contains("KL"));
}
