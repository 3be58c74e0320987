//! The file of a certificate; `docs/certificates.md` gives the format to the byte.
//!
//! All sizes follow from four counts and the model, which are checked against the model and against the bytes at
//! hand before anything is allocated.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use serde::de::value::StrDeserializer;

use super::step::StepRef;
use super::{Certificate, Claim, Multipliers, Rejection, Step, Weight};
use crate::error::{Error, name_of};
use crate::io::write_atomically;
use crate::model::{Model, Objective, checksum};
use crate::sets::{
    Distance, EntryWeights, Ground, Radius, Rectangularity, Scenarios, Support, UncertaintySet,
};
use crate::solve::{Criterion, Direction, Method, Oracle};

const MAGIC: [u8; 8] = *b"RMDPCERT";
const VERSION: u32 = 8;
/// Bytes in front of the arrays, and of the checksum behind them.
const HEADER: usize = 8 + 4 + 9 + 16 + 8 + 4 * 8 + 3 * 8 + 4 + 8 + 4;
/// Of these bytes the last are the numbers of further steps and of scenarios.
const ENDS: usize = 8 + 4;
/// Bytes in front of the arrays of a further step.
const STEP: usize = 1 + 2 * 8;
const CHECKSUM: usize = 8;

// The place of a name is its code.
const OBJECTIVES: [Objective; 2] = [Objective::MinCost, Objective::MaxReward];
/// Who has a budget, and whether the rows that share it have weights.
const OWNERS: [(Rectangularity, bool); 3] = [
    (Rectangularity::State, false),
    (Rectangularity::StateAction, false),
    (Rectangularity::State, true),
];
/// The time of these is the number of further steps.
const CRITERIA: [Criterion; 4] =
    [Criterion::Discounted, Criterion::Finite { horizon: 0 }, Criterion::Total, Criterion::Average];
const DIRECTIONS: [Direction; 2] = [Direction::Worst, Direction::Best];
const SUPPORTS: [Support; 2] = [Support::Nominal, Support::All];
const METHODS: [Method; 8] = [
    Method::Auto,
    Method::FomVi,
    Method::Vi,
    Method::GsVi,
    Method::Anderson,
    Method::Avi,
    Method::Pi,
    Method::Newton,
];
const ORACLES: [Oracle; 3] = [Oracle::Exact, Oracle::FirstOrder, Oracle::InteriorPoint];
/// What numbers of a radius are, and the radius of them.
type RadiusKind = (&'static str, fn(Vec<f64>) -> Radius);
const RADII: [RadiusKind; 3] = [
    ("uniform", |radii| Radius::Uniform(radii[0])),
    ("per state", Radius::PerState),
    ("per row", Radius::PerRow),
];

/// What the set is told of entries, in numbers.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Nothing,
    WeightsOfStates,
    WeightsOfTransitions,
    Places,
    Distances,
    Scenarios,
}

const TOLD: [Told; 6] = [
    Told::Nothing,
    Told::WeightsOfStates,
    Told::WeightsOfTransitions,
    Told::Places,
    Told::Distances,
    Told::Scenarios,
];

impl Told {
    /// What a set is told, and the numbers.
    fn of(set: &UncertaintySet) -> (Told, &[f64]) {
        if let Some(scenarios) = set.scenarios.as_deref() {
            return (Told::Scenarios, scenarios.numbers());
        }
        match (set.entry_weights.as_deref(), set.ground.as_deref()) {
            (Some(weights @ EntryWeights::PerState(_)), _) => {
                (Told::WeightsOfStates, weights.numbers())
            }
            (Some(weights @ EntryWeights::PerTransition(_)), _) => {
                (Told::WeightsOfTransitions, weights.numbers())
            }
            (None, Some(ground @ Ground::Line(_))) => (Told::Places, ground.numbers()),
            (None, Some(ground @ Ground::Matrix(_))) => (Told::Distances, ground.numbers()),
            (None, None) => (Told::Nothing, &[]),
        }
    }

    /// How many numbers, of so many scenarios.
    fn count(self, model: &Model, scenarios: u32) -> u64 {
        let states = model.states() as u64;
        match self {
            Told::Nothing => 0,
            Told::WeightsOfStates | Told::Places => states,
            Told::WeightsOfTransitions => model.transitions() as u64,
            Told::Distances => states.saturating_mul(states),
            Told::Scenarios => (model.transitions() as u64).saturating_mul(scenarios.into()),
        }
    }

    /// The set that is told these numbers.
    fn tell(self, set: UncertaintySet, numbers: Vec<f64>, scenarios: u32) -> UncertaintySet {
        match self {
            Told::Nothing => set,
            Told::WeightsOfStates => set.with_entry_weights(EntryWeights::PerState(numbers)),
            Told::WeightsOfTransitions => {
                set.with_entry_weights(EntryWeights::PerTransition(numbers))
            }
            Told::Places => set.with_ground(Ground::line(numbers)),
            Told::Distances => set.with_ground(Ground::Matrix(numbers)),
            Told::Scenarios => {
                set.with_scenarios(Scenarios::from_numbers(scenarios as usize, numbers))
            }
        }
    }
}

fn code<T: PartialEq>(all: &[T], of: &T) -> u8 {
    all.iter().position(|x| x == of).map_or(u8::MAX, |at| at as u8)
}

/// Bytes of a file with a name of so many letters, so many `numbers`, weights (with second numbers where there
/// is a set) and kernel rows. The counts are those of a model, so that all but distances and scenarios do not overflow.
fn length(name: u64, numbers: u64, weights: u64, shifted: bool, kernel: u64) -> u64 {
    let weight = if shifted { 20 } else { 12 };
    let rest = (HEADER + CHECKSUM) as u64 + name + weight * weights + 20 * kernel;
    numbers.saturating_mul(8).saturating_add(rest)
}

/// Bytes that no certificate about a model with so many further steps and scenarios exceeds.
fn longest(model: &Model, further: u64, scenarios: u32) -> u64 {
    let (states, rows) = (model.states() as u64, model.rows() as u64);
    let either = states.max(rows).max(1);
    let told = TOLD.iter().map(|told| told.count(model, scenarios)).max().unwrap_or(0);
    // Radii, κ, v_U, v_L and scales.
    let numbers = told.saturating_add(either + rows + 2 * states + either);
    let step = STEP as u64 + length(0, 2 * states + either, rows, true, rows);
    length(u8::MAX.into(), numbers, rows, true, rows).saturating_add(step.saturating_mul(further))
}

/// Puts the checksum at the end of a certificate right, for the fuzzer.
#[doc(hidden)]
pub fn seal_certificate(bytes: &mut [u8]) {
    if let Some((content, end)) = bytes.split_last_chunk_mut::<CHECKSUM>() {
        *end = checksum(content).to_le_bytes();
    }
}

impl Certificate {
    /// The file as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let set = &self.set;
        let (kind, radii): (u8, &[f64]) = match &set.radius {
            Radius::Uniform(radius) => (0, std::slice::from_ref(radius)),
            Radius::PerState(radii) => (1, radii),
            Radius::PerRow(radii) => (2, radii),
        };
        let joint = same_bits(&self.upper, &self.lower);
        let lower = if joint { &[][..] } else { &self.lower };
        let name = name_of(&set.distance);
        let (told, data) = Told::of(set);
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([
            code(&OBJECTIVES, &self.objective),
            name.len() as u8,
            code(&OWNERS, &(set.rectangularity, set.weights.is_some())),
            code(&SUPPORTS, &set.support),
            kind,
            code(&METHODS, &self.method),
            code(&ORACLES, &self.oracle),
            u8::from(joint),
            code(&TOLD, &told),
        ]);
        out.extend(self.model.to_le_bytes());
        out.extend(self.discount.to_le_bytes());
        // Rows are those of the model, which the reader knows.
        let counts = [self.upper.len(), radii.len(), self.policy.len(), self.kernel.len()];
        counts.iter().for_each(|&n| out.extend((n as u64).to_le_bytes()));
        let claim = &self.claim;
        [claim.lower, claim.upper, claim.gap].iter().for_each(|x| out.extend(x.to_le_bytes()));
        let criterion = match self.criterion {
            Criterion::Finite { .. } => Criterion::Finite { horizon: 0 },
            Criterion::Discounted | Criterion::Total | Criterion::Average => self.criterion,
        };
        out.extend([
            code(&CRITERIA, &criterion),
            code(&DIRECTIONS, &self.direction),
            u8::from(self.deterministic),
            u8::from(self.surely),
        ]);
        out.extend((self.further.len() as u64).to_le_bytes());
        let scenarios = set.scenarios.as_ref().map_or(0, |scenarios| scenarios.count());
        out.extend((scenarios as u32).to_le_bytes());
        out.extend(name.as_bytes());
        let kappa = set.weights.as_deref().unwrap_or_default();
        for array in [radii, kappa, data, &self.upper, lower, &self.scale] {
            array.iter().for_each(|x| out.extend(x.to_le_bytes()));
        }
        let shifted = set.distance != Distance::None;
        lists(&mut out, self.first(), shifted);
        for step in &self.further {
            let joint = same_bits(&step.upper, &step.lower);
            out.push(u8::from(joint));
            for count in [step.policy.len(), step.kernel.len()] {
                out.extend((count as u64).to_le_bytes());
            }
            let lower = if joint { &[][..] } else { &step.lower };
            for array in [&step.upper, lower, &step.scale] {
                array.iter().for_each(|x| out.extend(x.to_le_bytes()));
            }
            lists(&mut out, step.as_ref(), shifted);
        }
        let sum = checksum(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// Reads the bytes of a file that is to prove something about `model`. Numbers are checked when
    /// the certificate is [verified](super::verify).
    pub fn from_bytes(bytes: &[u8], model: &Model) -> Result<Certificate, Rejection> {
        let malformed = |message: String| Err(Rejection::Malformed(message));
        let mut at = Cursor { bytes };
        if bytes.len() < 12 || at.take::<8>() != MAGIC {
            return malformed(
                "not a certificate, expected a file that begins with RMDPCERT".into(),
            );
        }
        let version = u32::from_le_bytes(at.take());
        if version != VERSION {
            return malformed(format!("version {version} of the format, expected {VERSION}"));
        }
        if bytes.len() < HEADER + CHECKSUM {
            let found = bytes.len();
            return malformed(format!("{found} bytes, expected at least {}", HEADER + CHECKSUM));
        }
        let [objective, name, owner, support, kind, method, oracle, joint, told] = at.take();
        let objective = named(&OBJECTIVES, objective, "objective")?;
        let (rectangularity, weighted) = named(&OWNERS, owner, "rectangularity")?;
        let support = named(&SUPPORTS, support, "support")?;
        let (radius_kind, radius) = named(&RADII, kind, "kind of radius")?;
        let method = named(&METHODS, method, "method")?;
        let oracle = named(&ORACLES, oracle, "oracle")?;
        let joint = named(&[false, true], joint, "place of the lower values")?;
        let told = named(&TOLD, told, "what the set is told of entries")?;
        let fingerprint = u128::from_le_bytes(at.take());
        let discount = at.number();
        let [states, radii, weights, kernel] = [(); 4].map(|()| u64::from_le_bytes(at.take()));
        let (own_states, rows) = (model.states() as u64, model.rows() as u64);
        if states != own_states {
            return Err(Rejection::Other {
                what: "model",
                found: format!("{states} states"),
                expected: own_states.to_string(),
            });
        }
        let one_each = [1, states, rows][kind as usize];
        if radii != one_each {
            return malformed(format!("{radii} numbers ({radius_kind}), expected {one_each}"));
        }
        for (found, what) in [(weights, "policy rows"), (kernel, "kernel rows")] {
            if found > rows {
                return malformed(format!("{found} numbers ({what}), expected at most {rows}"));
            }
        }
        let mut tail = Cursor { bytes: &bytes[HEADER - ENDS - 4..HEADER] };
        let [criterion, direction, deterministic, surely] = tail.take();
        let criterion = named(&CRITERIA, criterion, "criterion")?;
        let direction = named(&DIRECTIONS, direction, "direction")?;
        let deterministic = named(&[false, true], deterministic, "kind of policies")?;
        let surely = named(&[false, true], surely, "kind of end")?;
        let later = u64::from_le_bytes(tail.take());
        let scenarios = u32::from_le_bytes(tail.take());
        if (told == Told::Scenarios) != (scenarios > 0) {
            return malformed(format!(
                "{scenarios} scenarios, expected at least 1 of sets that are told of them, else 0"
            ));
        }
        let distance = distance_named(&bytes[HEADER..], name)?;
        let radii_at = &bytes[HEADER..].get(usize::from(name)..).unwrap_or_default();
        let zero =
            kind == 0 && radii_at.first_chunk().is_some_and(|r| f64::from_le_bytes(*r) == 0.0);
        let certain = zero || distance == Distance::None;
        let alone = deterministic || direction == Direction::Best && !certain;
        let shared = rectangularity == Rectangularity::State;
        let scales = if shared && !alone { states } else { weights };
        let shifted = distance != Distance::None;
        let name = u64::from(name);
        let kappa = if weighted { rows } else { 0 };
        // v_L may be v_U and left out.
        let values = if joint { states } else { 2 * states };
        let data = told.count(model, scenarios);
        let numbers = data.saturating_add(radii + kappa + values + scales);
        let expected = length(name, numbers, weights, shifted, kernel);
        let exact = later == 0;
        let found = bytes.len() as u64;
        if expected > found || exact && expected != found {
            let found = bytes.len();
            return malformed(format!("{found} bytes, expected {expected} for its counts"));
        }
        let (content, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum(content).to_le_bytes() != sum {
            return malformed("the checksum is wrong: the file was damaged".into());
        }
        let [lower, upper, gap] = [(); 3].map(|()| at.number());
        let claim = Claim { lower, upper, gap };
        at.bytes = &bytes[HEADER + name as usize..];
        let radius = radius(at.numbers(radii));
        let kappa = weighted.then(|| at.numbers(kappa));
        let data = at.numbers(data);
        let upper = at.numbers(states);
        let lower = if joint { upper.clone() } else { at.numbers(states) };
        let scale = at.numbers(scales);
        let (policy, kernel) = (at.weights(weights, shifted), at.multipliers(kernel));
        at.bytes = &at.bytes[..at.bytes.len() - CHECKSUM];
        let mut further = Vec::new();
        for _ in 0..later {
            let shared = shared && !alone && !(criterion == Criterion::Total && surely);
            further.push(at.step(states, rows, shared, shifted)?);
        }
        if !at.bytes.is_empty() {
            let more = at.bytes.len();
            return malformed(format!("{more} bytes more than its {later} further steps have"));
        }
        let criterion = match criterion {
            Criterion::Finite { .. } => {
                let horizon = u32::try_from(later + 1).unwrap_or(u32::MAX);
                Criterion::Finite { horizon }
            }
            Criterion::Discounted | Criterion::Total | Criterion::Average => criterion,
        };
        let set = UncertaintySet {
            radius,
            rectangularity,
            support,
            weights: kappa,
            ..told.tell(UncertaintySet::new(distance, 0.0), data, scenarios)
        };
        let model = fingerprint;
        Ok(Certificate {
            model,
            discount,
            objective,
            set,
            method,
            oracle,
            claim,
            criterion,
            direction,
            deterministic,
            surely,
            upper,
            lower,
            policy,
            scale,
            kernel,
            further,
        })
    }

    /// Writes the file, as a whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        if let Distance::Custom(set) = self.set.distance {
            let name = set.name();
            return Err(Error::Input(format!(
                "a certificate of `{name}` would not be read back: files are of the library's own sets"
            )));
        }
        write_atomically(path, |out| out.write_all(&self.to_bytes()))
    }

    /// Reads a file that is to prove something about `model`; no more of it than such a file can have.
    pub fn read(path: &Path, model: &Model) -> Result<Certificate, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let mut file = File::open(path).map_err(io)?;
        file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(io)?;
        // What does not begin as a certificate is read no farther than the message needs.
        let begins = bytes.len() == HEADER
            && bytes.starts_with(&MAGIC)
            && bytes[MAGIC.len()..].starts_with(&VERSION.to_le_bytes());
        let mut ends = Cursor { bytes: &bytes[bytes.len().saturating_sub(ENDS)..] };
        let (further, scenarios) = match begins {
            true => (u64::from_le_bytes(ends.take()), u32::from_le_bytes(ends.take())),
            false => (0, 0),
        };
        let further = further.min(u32::MAX.into());
        let rest = longest(model, further, scenarios).saturating_add(1);
        file.take(rest).read_to_end(&mut bytes).map_err(io)?;
        Certificate::from_bytes(&bytes, model)
            .map_err(|source| Error::Certificate { path: path.to_owned(), source: source.into() })
    }
}

/// The set whose name of so many letters is next.
fn distance_named(bytes: &[u8], letters: u8) -> Result<Distance, Rejection> {
    let name = String::from_utf8_lossy(bytes.get(..letters.into()).unwrap_or(bytes));
    let read = StrDeserializer::<serde::de::value::Error>::new(&name);
    Distance::deserialize(read).map_err(|e| Rejection::Malformed(format!("set: {e}")))
}

fn named<T: Copy>(all: &[T], code: u8, what: &str) -> Result<T, Rejection> {
    let unknown = || Rejection::Malformed(format!("{what} {code}, expected below {}", all.len()));
    all.get(usize::from(code)).copied().ok_or_else(unknown)
}

/// The bytes not read yet; whoever takes has looked at how many there are.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.bytes.split_first_chunk().expect("lengths were checked");
        self.bytes = rest;
        *first
    }

    fn number(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    fn numbers(&mut self, n: u64) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    fn weights(&mut self, n: u64, shifted: bool) -> Vec<Weight> {
        let weight = |_| Weight {
            row: u32::from_le_bytes(self.take()),
            probability: self.number(),
            nu: if shifted { self.number() } else { 0.0 },
        };
        (0..n).map(weight).collect()
    }

    fn multipliers(&mut self, n: u64) -> Vec<Multipliers> {
        let multipliers = |_| Multipliers {
            row: u32::from_le_bytes(self.take()),
            t: self.number(),
            nu: self.number(),
        };
        (0..n).map(multipliers).collect()
    }

    /// A further step of so many states, with at most so many rows.
    fn step(
        &mut self,
        states: u64,
        rows: u64,
        shared: bool,
        shifted: bool,
    ) -> Result<Step, Rejection> {
        let short = || Rejection::Malformed("it ends within a further step".into());
        if self.bytes.len() < STEP {
            return Err(short());
        }
        let [joint] = self.take();
        let joint = named(&[false, true], joint, "place of the lower values")?;
        let [weights, kernel] = [(); 2].map(|()| u64::from_le_bytes(self.take()));
        if weights > rows || kernel > rows {
            return Err(Rejection::Malformed(format!(
                "a further step of {weights} and {kernel} rows, expected at most {rows}"
            )));
        }
        let scales = if shared { states } else { weights };
        let values = if joint { states } else { 2 * states };
        let needed =
            length(0, values + scales, weights, shifted, kernel) - (HEADER + CHECKSUM) as u64;
        if (self.bytes.len() as u64) < needed {
            return Err(short());
        }
        let upper = self.numbers(states);
        let lower = if joint { upper.clone() } else { self.numbers(states) };
        let scale = self.numbers(scales);
        let policy = self.weights(weights, shifted);
        Ok(Step { upper, lower, policy, scale, kernel: self.multipliers(kernel) })
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

/// The rows of a step.
fn lists(out: &mut Vec<u8>, step: StepRef<'_>, shifted: bool) {
    for w in step.policy {
        out.extend(w.row.to_le_bytes());
        out.extend(w.probability.to_le_bytes());
        shifted.then(|| out.extend(w.nu.to_le_bytes()));
    }
    for k in step.kernel {
        out.extend(k.row.to_le_bytes());
        out.extend(k.t.to_le_bytes());
        out.extend(k.nu.to_le_bytes());
    }
}
