//! What stands beside the transitions: names of states, labels and rewards.

use std::path::PathBuf;

use super::uncommented;
use crate::error::Error;
use crate::io::gzip;
use crate::io::labels::Labels;
use crate::io::lines::{Lines, index, number};
use crate::io::parse_error;
use crate::io::source::Source;

/// Where to look for files of the same name.
pub(super) struct Beside<'a> {
    source: Source<'a>,
}

impl<'a> Beside<'a> {
    pub(super) fn of(source: Source<'a>) -> Beside<'a> {
        Beside { source }
    }

    /// Reads the file with this ending, if there is one, packed or not.
    fn read<T: Default>(
        &self,
        ending: &str,
        read: impl FnOnce(&mut Lines<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let packed = gzip::is_asked(self.source.path);
        let stem = match packed {
            true => self.source.path.with_extension(""),
            false => self.source.path.to_owned(),
        };
        let plain = stem.with_extension(ending);
        if let Some(found) = self.source.beside_in_memory(ending) {
            let Some(bytes) = found else { return Ok(T::default()) };
            return read(&mut Lines::open(Source::in_memory(&plain, bytes))?);
        }
        let with_gz = PathBuf::from(format!("{}.gz", plain.display()));
        let mut paths = [plain, with_gz];
        if packed {
            paths.reverse();
        }
        match paths.iter().find(|path| **path != *self.source.path && path.exists()) {
            Some(path) => read(&mut Lines::open(path.into())?),
            None => Ok(T::default()),
        }
    }

    /// The names of states from lines `number:(name)`, unless they are their numbers.
    pub(super) fn names(&self) -> Result<Option<Vec<String>>, Error> {
        let names = self.read("sta", |lines| {
            let mut names: Vec<String> = Vec::new();
            // The first line names the variables.
            uncommented(lines)?;
            while let Some(line) = uncommented(lines)? {
                let parsed = line.split_once(':').and_then(|(state, name)| {
                    let name = name.trim_ascii().strip_prefix('(')?.strip_suffix(')')?;
                    Some((index(state.trim_ascii())?, name.to_owned()))
                });
                match parsed {
                    Some((state, name)) if state == names.len() => names.push(name),
                    _ => {
                        let (line, next) = (shown(line), names.len());
                        let message = format!("found “{line}”, expected “{next}:(…)”");
                        return Err(lines.error(message));
                    }
                }
            }
            Ok(names)
        })?;
        let plain = names.iter().enumerate().all(|(s, name)| *name == s.to_string());
        Ok((!plain).then_some(names))
    }

    /// Labels from a line `number="name" …`, and lines `state: number …`.
    pub(super) fn labels(&self, labels: &mut Labels<'_>) -> Result<(), Error> {
        self.read("lab", |lines| {
            let Some(line) = uncommented(lines)? else { return Ok(()) };
            let Some(names) = declared(line) else {
                let line = shown(line);
                let message =
                    format!("found “{line}”, expected labels as 0=\"init\" 1=\"deadlock\"");
                return Err(lines.error(message));
            };
            names.iter().for_each(|(_, name)| labels.declare(name));
            while let Some(line) = uncommented(lines)? {
                let parsed = line.split_once(':').and_then(|(state, numbers)| {
                    let numbers = numbers.split_ascii_whitespace().map(index);
                    Some((index(state.trim_ascii())?, numbers.collect::<Option<Vec<usize>>>()?))
                });
                let Some((state, numbers)) = parsed else {
                    let message = format!("found “{}”, expected “state: label …”", shown(line));
                    return Err(lines.error(message));
                };
                for number in numbers {
                    match names.iter().find(|(n, _)| *n == number) {
                        Some((_, name)) => labels.add(state, name),
                        None => {
                            let message = format!(
                                "state {state}: no label {number}, expected one declared above"
                            );
                            return Err(lines.error(message));
                        }
                    }
                }
            }
            Ok(())
        })
    }

    pub(super) fn rewards(&self) -> Result<Rewards, Error> {
        let (name, of_states) = self.read("srew", numbers::<1>)?;
        let (other, of_transitions) = self.read("trew", numbers_of_transitions)?;
        if let (Some(one), Some(two)) = (&name, &other)
            && one != two
        {
            let message = format!(
                "rewards “{two}”, and the .srew file has “{one}”, expected the same in both"
            );
            return Err(parse_error(&self.source.path.with_extension("trew"), None, message));
        }
        Ok(Rewards { name: name.or(other), of_states, of_transitions })
    }
}

/// The start of a line, for messages.
fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}

/// `0="init" 1="deadlock"`.
fn declared(line: &str) -> Option<Vec<(usize, String)>> {
    let (mut names, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let (number, after) = rest.split_once('=')?;
        let (name, after) = after.strip_prefix('"')?.split_once('"')?;
        names.push((index(number.trim_ascii())?, name.to_owned()));
        rest = after.trim_ascii_start();
    }
    Some(names)
}

type Of<const N: usize> = ([usize; N], f64);

/// Rewards, sorted by where they are got.
#[derive(Default)]
pub(super) struct Rewards {
    /// What the file calls them.
    pub(super) name: Option<String>,
    of_states: Vec<Of<1>>,
    of_transitions: Vec<Of<3>>,
}

impl Rewards {
    pub(super) fn of_state(&self, s: usize) -> f64 {
        find(&self.of_states, [s])
    }

    pub(super) fn of_transition(&self, s: usize, choice: usize, to: usize) -> f64 {
        find(&self.of_transitions, [s, choice, to])
    }
}

fn find<const N: usize>(rewards: &[Of<N>], place: [usize; N]) -> f64 {
    rewards.binary_search_by_key(&place, |(at, _)| *at).map_or(0.0, |k| rewards[k].1)
}

/// `source choice target reward` a line, or without a choice where the first line has two numbers.
fn numbers_of_transitions(lines: &mut Lines<'_>) -> Result<(Option<String>, Vec<Of<3>>), Error> {
    let name = structure(lines)?;
    let counts = lines.latest()?.map_or(0, |line| line.split_ascii_whitespace().count());
    lines.put_back();
    match counts {
        2 => {
            let (_, of_chain) = numbers::<2>(lines)?;
            let widened = of_chain.into_iter().map(|([s, to], reward)| ([s, 0, to], reward));
            Ok((name, widened.collect()))
        }
        _ => Ok((name, numbers::<3>(lines)?.1)),
    }
}

/// The name of the rewards from the comments above the first line, which is the latest then.
fn structure(lines: &mut Lines<'_>) -> Result<Option<String>, Error> {
    let mut found = None;
    while let Some(line) = lines.next()? {
        let Some(comment) = line.strip_prefix('#') else { break };
        let name = comment.trim_ascii().strip_prefix("Reward structure");
        let quoted = name.and_then(|name| name.split('"').nth(1));
        found = found.or(quoted.map(str::to_owned));
    }
    Ok(found)
}

/// A line of counts, the last of them that of rewards; then N numbers and a reward a line.
fn numbers<const N: usize>(lines: &mut Lines<'_>) -> Result<(Option<String>, Vec<Of<N>>), Error> {
    let name = structure(lines)?;
    let Some(line) = lines.latest()? else { return Ok((name, Vec::new())) };
    let counts: Option<Vec<usize>> = line.split_ascii_whitespace().map(index).collect();
    let Some(&declared) = counts.as_ref().and_then(|counts| counts.last()) else {
        let message =
            format!("found “{}”, expected counts, the last of them of rewards", shown(line));
        return Err(lines.error(message));
    };
    let mut all: Vec<Of<N>> = Vec::new();
    while let Some(line) = uncommented(lines)? {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let place: Option<Vec<usize>> = words.iter().take(N).map(|word| index(word)).collect();
        let place: Option<[usize; N]> = place.and_then(|place| place.try_into().ok());
        let reward = words.get(N).and_then(|word| number(word)).filter(|_| words.len() == N + 1);
        match (place, reward) {
            (Some(place), Some(reward)) => all.push((place, reward)),
            _ => {
                let many = ["", "state", "source target", "source choice target"][N.min(3)];
                let message = format!("found “{}”, expected “{many} reward”", shown(line));
                return Err(lines.error(message));
            }
        }
    }
    if all.len() != declared {
        let found = all.len();
        let message = format!(
            "{found} rewards to the end of the file, expected {declared}, as its first line says"
        );
        return Err(lines.error(message));
    }
    all.sort_by_key(|(place, _)| *place);
    Ok((name, all))
}
