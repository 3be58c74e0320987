//! Reading: serde visitors feed the builder action by action; the file is never held as a whole.
//! `part` hands what comes to `model` or `states`, `value` reads single values and keys, `explain`
//! says what is wrong and `lines` where.

mod explain;
mod lines;
mod model;
mod objective;
mod part;
mod states;
mod value;

use std::io::{BufReader, Cursor, Read};

use serde::de::DeserializeSeed;

use self::lines::Lines;
use self::value::Wanted;
use crate::error::Error;
use crate::io::model_error;
use crate::io::source::Source;
use crate::model::{Model, ModelBuilder, Objective};

/// Reads a model; `discount` overrides the file's.
pub(in crate::io) fn read(source: Source<'_>, discount: Option<f64>) -> Result<Model, Error> {
    let mut reading = JsonReader::new();
    reading.file(source).map_err(|error| match source.is_file() {
        // Read again up to the place, for its line. A pipe cannot be.
        true => JsonReader::for_lines(None).file(source).err().unwrap_or(error),
        false => error,
    })?;
    if let Some(discount) = discount.or(reading.discount) {
        reading.builder.set_discount(discount);
    }
    reading.builder.build().map_err(|error| {
        // Found out only at the end.
        let place = error.place().filter(|_| source.is_file());
        let line = match place.map(|_| JsonReader::for_lines(place).file(source)) {
            Some(Err(Error::Parse { line, .. })) => line,
            _ => None,
        };
        model_error(source.path, line, error)
    })
}

/// A byte-order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// Bytes read at a time.
const BUFFER: usize = 1 << 16;

/// How deep in the file reading is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Model,
    State,
    Action,
}

/// What has been read so far.
struct JsonReader {
    builder: ModelBuilder,
    discount: Option<f64>,
    objective: Option<Objective>,
    /// What the actions' keys say the objective is, and the state of the first such key.
    meant: Option<(Objective, usize)>,
    /// What is to come next.
    wanted: Wanted,
    /// Where reading is.
    depth: Depth,
    /// (State, action) being read, and their names where they have come.
    at: (usize, usize),
    state_name: Option<String>,
    action_name: Option<String>,
    /// What is wrong is that the whole file lacks a key: there is no line to blame.
    lacking: bool,
    /// Where to stop with an error, to learn the line.
    stop_at: Option<(usize, Option<usize>)>,
    /// Transitions of the action being read.
    row: Vec<Listed>,
    lines: Lines,
}

/// A transition as the file gives it.
struct Listed {
    to: u64,
    prob: f64,
    further: Option<f64>,
    bounds: Option<[f64; 2]>,
}

impl JsonReader {
    fn new() -> Self {
        JsonReader {
            builder: ModelBuilder::undiscounted(),
            discount: None,
            objective: None,
            meant: None,
            wanted: Wanted::Model,
            depth: Depth::Model,
            at: (0, 0),
            state_name: None,
            action_name: None,
            lacking: false,
            stop_at: None,
            row: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// One that learns the line of an error, or else of the place given, and stops there.
    fn for_lines(stop_at: Option<(usize, Option<usize>)>) -> Self {
        JsonReader { stop_at, lines: Lines::counted(), ..JsonReader::new() }
    }

    fn file(&mut self, source: Source<'_>) -> Result<(), Error> {
        let path = source.path;
        let (mut file, mut start) = (source.open()?, Vec::new());
        let read = (&mut file).take(MARK.len() as u64).read_to_end(&mut start);
        read.map_err(|source| Error::Io { path: path.into(), source })?;
        if start == MARK {
            start.clear();
        }
        let reader = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(file));
        let mut json = serde_json::Deserializer::from_reader(self.lines.count(reader, BUFFER));
        match self.part(Wanted::Model).deserialize(&mut json).and_then(|_| json.end()) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.explain(path, e)),
        }
    }
}
