//! Reading mutated inputs, one after the other.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use robust_mdp::instances::Xoshiro256;

use crate::corpus;
use crate::guard;
use crate::mutate::{Dictionary, mutate};
use crate::readers::Reader;

/// Inputs kept for one reader.
const MOST_KEPT: usize = 2000;
/// Longest input.
const LONGEST: usize = 1 << 16;
/// Failures after which a reader is left alone.
const MOST_FAILURES: usize = 5;

/// What a reader was put through.
pub struct Tested {
    /// The reader.
    pub reader: Reader,
    /// Inputs that were read.
    pub executions: u64,
    /// Of these, those that were right.
    pub accepted: u64,
    /// What to say about inputs that failed.
    pub failures: Vec<String>,
    /// Time that it took.
    pub spent: Duration,
    /// Inputs to mutate: those that were right, and all.
    right: Vec<Vec<u8>>,
    kept: Vec<Vec<u8>>,
    said: HashSet<String>,
    dictionary: Dictionary,
    random: Xoshiro256,
}

/// One input; a panic comes back as a failure.
fn read(reader: &Reader, input: &[u8]) -> Result<Result<String, String>, String> {
    guard::begin(reader.name, input);
    catch_unwind(AssertUnwindSafe(|| (reader.read)(input))).map_err(|_| guard::save("a panic"))
}

/// Reads a saved input again.
pub fn replay(reader: &Reader, input: &[u8]) -> Result<Result<String, String>, String> {
    guard::watch();
    guard::idle(false);
    let read = read(reader, input);
    guard::idle(true);
    read
}

/// The reader that has had least, of inputs or of time, among those that have neither had their `share` of
/// inputs nor failed.
pub fn next_turn(tested: &mut [Tested], share: u64, by_time: bool) -> Option<&mut Tested> {
    let at_work = tested.iter_mut().filter(|t| t.executions < share && t.failures.is_empty());
    at_work.min_by_key(|t| if by_time { t.spent.as_nanos() } else { t.executions.into() })
}

impl Tested {
    /// Reads the corpus.
    pub fn new(reader: Reader, seed: u64) -> Tested {
        guard::watch();
        let inputs = corpus::of(&reader);
        let mut tested = Tested {
            reader,
            executions: 0,
            accepted: 0,
            failures: Vec::new(),
            spent: Duration::ZERO,
            dictionary: Dictionary::of(&inputs),
            right: Vec::new(),
            kept: Vec::new(),
            said: HashSet::new(),
            random: Xoshiro256::new(
                seed ^ reader
                    .name
                    .bytes()
                    .fold(0, |n: u64, b| n.wrapping_mul(31).wrapping_add(b.into())),
            ),
        };
        guard::idle(false);
        for input in &inputs {
            tested.take(input.clone());
        }
        guard::idle(true);
        // All of it is worth mutating, whatever readers say.
        tested.kept.extend(inputs);
        tested
    }

    /// Reads so many mutations.
    pub fn mutations(&mut self, count: u64) {
        let started = Instant::now();
        guard::idle(false);
        for _ in 0..count {
            if self.failures.len() >= MOST_FAILURES {
                break;
            }
            // What was right is worth more: most of a wrong input is never read.
            let wrong = self.right.is_empty() || self.random.below(3) == 0;
            let from = if wrong { &self.kept } else { &self.right };
            let mut pick = || &from[self.random.below(from.len() as u64) as usize];
            let (mut input, other) = (pick().clone(), pick());
            mutate(self.reader.shape, &mut input, other, &self.dictionary, &mut self.random);
            input.truncate(LONGEST);
            self.take(input);
        }
        guard::idle(true);
        self.spent += started.elapsed();
    }

    fn take(&mut self, input: Vec<u8>) {
        self.executions += 1;
        let said = match read(&self.reader, &input) {
            Err(failure) => {
                eprintln!("{failure}");
                self.failures.push(failure);
                return;
            }
            Ok(said) => said,
        };
        self.accepted += u64::from(said.is_ok());
        let kind = match &said {
            Ok(text) => format!("+{text}"),
            Err(text) => without_numbers(text),
        };
        if self.kept.len() < MOST_KEPT && !self.said.contains(&kind) {
            self.said.insert(kind);
            if said.is_ok() {
                self.right.push(input.clone());
            }
            self.kept.push(input);
        }
    }

    /// Different things that the reader has said.
    pub fn kinds(&self) -> usize {
        self.said.len()
    }
}

/// A message without numbers, quoted texts and what was found instead.
fn without_numbers(text: &str) -> String {
    let (mut kind, mut quoted) = (String::new(), false);
    for c in text.chars() {
        match c {
            '“' | '”' | '"' | '`' => quoted = c == '“' || c != '”' && !quoted,
            ';' => break,
            _ if quoted || !(c.is_ascii_alphabetic() || matches!(c, ' ' | ',' | ':')) => {}
            _ => kind.push(c),
        }
        let over = [", found", ", expected", "header ", " with ", "field `"];
        if kind.len() > 60 || over.iter().any(|end| kind.ends_with(end)) {
            break;
        }
    }
    kind
}
