//! The readers under test. A reader is a function from bytes to what it says about them; a new one
//! is a line of [`READERS`] and a folder of the corpus.

use std::path::Path;
use std::sync::LazyLock;

use robust_mdp::certificate::seal_certificate;
use robust_mdp::instances::Garnet;
use robust_mdp::io::{
    Format, ModelFile, RadiusTable, ReadOptions, Source, read_entry_weights, read_ground,
    read_model, read_model_file, read_policy, read_radii, write_json, write_model_to,
};
use robust_mdp::sets::{EntryWeights, Ground, Support, UncertaintySet};
use robust_mdp::{
    Certificate, Checkpointer, Error, Interrupt, Method, Model, ModelBuilder, Options, Oracle,
    Stop, certify, seal_checkpoint, solve, solve_checkpointed, verify,
};

use crate::mutate::Shape;

/// A reader, and what its inputs look like.
#[derive(Clone, Copy)]
pub struct Reader {
    /// Also the folder of its corpus.
    pub name: &'static str,
    /// How inputs are mutated.
    pub shape: Shape,
    /// Reads; what is right about the input, in few words, or what is wrong.
    pub read: fn(&[u8]) -> Result<String, String>,
}

/// All of them.
pub const READERS: [Reader; 18] = [
    Reader { name: "json", shape: Shape::Json, read: |bytes| model(bytes, Format::Json) },
    Reader { name: "csv", shape: Shape::Lines, read: |bytes| model(bytes, Format::Csv) },
    Reader { name: "npz", shape: Shape::Archive, read: |bytes| model(bytes, Format::Npz) },
    Reader { name: "parquet", shape: Shape::Sealed(|_| {}), read: |b| model(b, Format::Parquet) },
    Reader { name: "mdp", shape: Shape::Lines, read: |bytes| model(bytes, Format::Mdp) },
    Reader { name: "prism", shape: Shape::Lines, read: prism },
    Reader { name: "drn", shape: Shape::Lines, read: |bytes| model(bytes, Format::Drn) },
    Reader { name: "bmdp", shape: Shape::Lines, read: |bytes| model(bytes, Format::Bmdp) },
    // A table that is packed.
    Reader { name: "gzip", shape: Shape::Sealed(|_| {}), read: |bytes| model(bytes, Format::Csv) },
    Reader { name: "policy", shape: Shape::Lines, read: policy },
    Reader { name: "radii", shape: Shape::Lines, read: radii },
    Reader { name: "entry-weights", shape: Shape::Lines, read: entry_weights },
    Reader { name: "ground", shape: Shape::Lines, read: ground },
    Reader { name: "result", shape: Shape::Json, read: |bytes| said(rmdp::readers::result(bytes)) },
    Reader { name: "trace", shape: Shape::Json, read: |bytes| said(rmdp::readers::trace(bytes)) },
    Reader { name: "journal", shape: Shape::Json, read: |b| said(rmdp::readers::journal(b)) },
    Reader { name: "checkpoint", shape: Shape::Sealed(seal_checkpoint), read: checkpoint },
    Reader { name: "certificate", shape: Shape::Sealed(seal_certificate), read: certificate },
];

fn said(read: Result<(), String>) -> Result<String, String> {
    read.map(|()| "read".to_owned())
}

/// About how many.
fn size(n: usize) -> u32 {
    usize::BITS - n.leading_zeros()
}

fn input(bytes: &[u8]) -> Source<'_> {
    Source::in_memory(Path::new("input"), bytes)
}

fn model(bytes: &[u8], format: Format) -> Result<String, String> {
    model_of(input(bytes), format)
}

/// The files of a PRISM model, one after the other, each but the first behind a line `== ENDING`. With a
/// label `goal` it is asked for.
fn prism(bytes: &[u8]) -> Result<String, String> {
    const MARK: &[u8] = b"\n== ";
    let ends = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|w| w == mark);
    let mut files: Vec<(&str, &[u8])> = Vec::new();
    let mut rest = bytes;
    let mut ending = "tra";
    loop {
        let end = ends(rest, MARK).unwrap_or(rest.len());
        files.push((ending, &rest[..end]));
        let Some(after) = rest.get(end + MARK.len()..) else { break };
        let line = ends(after, b"\n").unwrap_or(after.len());
        ending = std::str::from_utf8(&after[..line]).unwrap_or("");
        rest = after.get(line + 1..).unwrap_or(&[]);
    }
    let source = Source::in_memory_with(Path::new("input"), files[0].1, &files[1..]);
    model_of(source, Format::Prism)
}

/// Models that are read are written and read again: nothing may be lost on the way.
fn model_of(source: Source<'_>, format: Format) -> Result<String, String> {
    let read = |source: Source<'_>, discount, reach: &[&str]| {
        let reach = reach.iter().map(|label| (*label).to_owned()).collect();
        let options = ReadOptions { format: Some(format), discount, reach, ..Default::default() };
        read_model_file(source, &options)
    };
    let ModelFile { model, warnings, outcomes, .. } = read(source, None, &[])
        .or_else(|_| read(source, Some(0.5), &[]))
        .map_err(|e| e.to_string())?;
    if matches!(format, Format::Prism | Format::Drn) {
        // Whatever it says.
        let _ = read(source, Some(0.5), &["goal"]);
    }
    if model.transitions() < 10_000 {
        let mut text = Vec::new();
        write_json(&model, &mut text).expect("memory takes everything");
        let (again, _) = read_model(input(&text), Some(Format::Json), None)
            .expect("what was written can be read");
        assert!(again == model, "a model differs after writing and reading it");
    }
    if model.transitions().max(model.states()) < 10_000
        && !matches!(format, Format::Json | Format::Csv | Format::Npz | Format::Parquet)
    {
        let mut text = Vec::new();
        write_model_to(&model, &mut text, format).expect("it came from such a file");
        let again = read(input(&text), Some(0.5), &[]).expect("what was written can be read");
        assert!(again.model.states() == model.states(), "other states after writing and reading");
    }
    Ok(format!(
        "{} states, {} rows, {} transitions, {} warnings, dense {}, intervals {}, outcomes {}",
        size(model.states()),
        size(model.rows()),
        size(model.transitions()),
        warnings.len().min(3),
        model.is_dense(),
        model.has_intervals(),
        outcomes.is_some()
    ))
}

/// A model for policies and radii to be about, with names that need quotes.
static NAMED: LazyLock<Model> = LazyLock::new(|| {
    ModelBuilder::new(0.9)
        .state("a,b")
        .action("run \"fast\"", 1.0, &[(0, 0.5), (1, 0.5)])
        .action("1", 2.0, &[(2, 1.0)])
        .state("é")
        .action("stay", 0.0, &[(1, 1.0)])
        .terminal("end")
        .build()
        .expect("a valid model")
});

fn policy(bytes: &[u8]) -> Result<String, String> {
    let policy = read_policy(input(bytes), &NAMED).map_err(|e| e.to_string())?;
    assert!(policy.iter().all(|p| (0.0..=1.0).contains(p)), "no policy: {policy:?}");
    Ok(format!("{} zeros", policy.iter().filter(|p| **p == 0.0).count()))
}

fn radii(bytes: &[u8]) -> Result<String, String> {
    match read_radii(input(bytes), &NAMED).map_err(|e| e.to_string())? {
        RadiusTable::PerState(radii) => Ok(format!("{} of states", radii.len())),
        RadiusTable::PerRow(radii) => Ok(format!("{} of rows", radii.len())),
    }
}

/// Both supports must read the same but for what is missing.
fn entry_weights(bytes: &[u8]) -> Result<String, String> {
    let read =
        |support| read_entry_weights(input(bytes), &NAMED, support).map_err(|e| e.to_string());
    let (nominal, all) = (read(Support::Nominal)?, read(Support::All));
    assert!(
        all.is_err_and(|e| e.contains("no weight for"))
            || read(Support::All) == Ok(nominal.clone())
    );
    match nominal {
        EntryWeights::PerState(weights) => Ok(format!("{} of states", weights.len())),
        EntryWeights::PerTransition(weights) => Ok(format!("{} of transitions", weights.len())),
    }
}

fn ground(bytes: &[u8]) -> Result<String, String> {
    match read_ground(input(bytes), &NAMED).map_err(|e| e.to_string())? {
        Ground::Line(_) => Ok("places".to_owned()),
        Ground::Matrix(costs) => Ok(format!("{} distances", costs.len())),
    }
}

/// The questions that checkpoints of the corpus belong to.
pub(crate) const QUESTIONS: [(Method, Option<Oracle>); 9] = [
    (Method::Vi, None),
    (Method::GsVi, None),
    (Method::Anderson, None),
    (Method::Avi, None),
    (Method::Pi, None),
    (Method::Newton, None),
    (Method::FomVi, None),
    (Method::Vi, Some(Oracle::FirstOrder)),
    (Method::Pi, Some(Oracle::InteriorPoint)),
];

static SMALL: LazyLock<Model> = LazyLock::new(|| {
    let sizes = Garnet { states: 5, actions: 2, branching: 0.6, ..Garnet::default() };
    Garnet { discount: 0.9, seed: 1, ..sizes }.model().expect("a valid model")
});

/// Something to go on from, and what is kept.
#[derive(Default)]
pub(crate) struct Memory {
    found: Option<Vec<u8>>,
    pub(crate) kept: Vec<Vec<u8>>,
}

impl Checkpointer for Memory {
    fn resume(&mut self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.found.take().filter(|bytes| bytes.len() as u64 <= most))
    }
    fn is_due(&mut self) -> bool {
        true
    }
    fn keep(&mut self, state: &[u8]) {
        self.kept.push(state.to_vec());
    }
}

/// Solves question `q` of [`QUESTIONS`] for so many sweeps, from a checkpoint or the beginning.
pub(crate) fn ask(q: usize, sweeps: u64, found: Option<&[u8]>) -> Result<Memory, Error> {
    let (method, oracle) = QUESTIONS[q];
    let stop = Stop { max_sweeps: sweeps, ..Stop::at_gap(1e-6) };
    let options = Options { method, oracle, stop, threads: Some(1), ..Options::default() };
    let mut memory = Memory { found: found.map(<[u8]>::to_vec), ..Memory::default() };
    let (set, interrupt) = (UncertaintySet::kl(0.1), Interrupt::new());
    solve_checkpointed(&SMALL, &set, &options, &mut (), &interrupt, &mut memory)?;
    Ok(memory)
}

/// Reads a checkpoint as the question that it names would; a limit ends the run right after that,
/// since nobody promises how long a forged state takes.
fn checkpoint(bytes: &[u8]) -> Result<String, String> {
    let contains = |text: String| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let names = |(method, oracle): &(Method, Option<Oracle>)| {
        contains(format!("method={method:?}\n"))
            && oracle.is_none_or(|oracle| contains(format!("oracle={oracle:?}\n")))
    };
    let q = QUESTIONS.iter().rposition(names).unwrap_or(0);
    let read = ask(q, 0, Some(bytes)).map(|_| format!("question {q}"));
    read.map_err(|e| format!("question {q}: {e}"))
}

/// Certificates of one model by different sets.
pub(crate) fn certificates() -> Vec<Vec<u8>> {
    let ellipsoid = UncertaintySet::ellipsoid(0.05);
    let sets = [
        ellipsoid.clone(),
        ellipsoid.on_nominal_support().per_action(),
        UncertaintySet::kl(0.1),
        UncertaintySet::kl(0.1).per_action(),
        UncertaintySet::kl(1e3),
        UncertaintySet::none(),
    ];
    let made = |set: &UncertaintySet| {
        let solution = solve(&SMALL, set, &plain()).expect("a valid question");
        let (joint, _) = certify(&SMALL, set, &solution, Some(1)).expect("a certificate");
        // Another whose halves have values of their own.
        let mut parted = joint.clone();
        let acting = (0..SMALL.states()).filter(|&s| !SMALL.is_terminal(s));
        acting.for_each(|s| parted.lower[s] -= 1e-9);
        [joint.to_bytes(), parted.to_bytes()]
    };
    sets.iter().flat_map(made).collect()
}

fn plain() -> Options {
    Options { stop: Stop::at_gap(1e-6), threads: Some(1), ..Options::default() }
}

/// Reads a certificate and verifies it; what is proved must then be true of the set it names.
fn certificate(bytes: &[u8]) -> Result<String, String> {
    let certificate = Certificate::from_bytes(bytes, &SMALL).map_err(|e| e.to_string())?;
    let proved = verify(&SMALL, &certificate, Some(1)).map_err(|e| e.to_string())?;
    let set = &certificate.set;
    let truth = solve(&SMALL, set, &plain()).expect("a set that the verifier takes");
    for s in 0..SMALL.states() {
        let sound = proved.lower[s] <= truth.upper[s] && proved.upper[s] >= truth.lower[s];
        assert!(sound, "state {s}: [{}, {}] was proved", proved.lower[s], proved.upper[s]);
    }
    Ok(format!(
        "{:?} {:?}, {} rows",
        set.distance,
        set.rectangularity,
        size(certificate.kernel.len())
    ))
}
