//! Watching a run: a bar on a terminal, sparse lines elsewhere, and a trace file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use robust_mdp::{DualityGap, Observer, Progress};
use robust_mdp_page::number::{gap_text, time_text};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output;

/// Seconds between two lines where there is no terminal.
const LINE_EVERY: f64 = 10.0;
/// Length of the bar: thousandths of the way to the asked gap, in logarithms.
const BAR_LENGTH: u64 = 1000;

/// Shows and records the progress of a run.
pub(crate) struct Watch {
    show: Show,
    trace: Option<Trace>,
    first_gap: Option<f64>,
    /// Steps of a finite horizon, each of which is a sweep.
    horizon: Option<u32>,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines { next: f64 },
}

struct Trace {
    path: PathBuf,
    file: BufWriter<File>,
    /// Whether the file may hold lines from before a checkpoint and beyond it.
    goes_on: bool,
    failed: Option<io::Error>,
}

/// What tells a line's place in a trace.
#[derive(Deserialize)]
struct Place {
    sweep: u64,
}

/// One line of a trace.
#[derive(Serialize)]
struct Line {
    sweep: u64,
    seconds: f64,
    lower: f64,
    upper: f64,
    residual: f64,
    gap: f64,
    evaluations: u64,
    oracle_calls: u64,
    first_order_steps: u64,
    kernel_passes: f64,
    #[serde(flatten)]
    output: Option<Output>,
}

/// The duality gap of FOM-VI's output after an epoch, where it was computed.
#[derive(Serialize)]
struct Output {
    output_lower: f64,
    output_upper: f64,
    output_gap: f64,
}

impl Watch {
    /// A run that goes on from a checkpoint also goes on with the trace that there is.
    pub(crate) fn new(
        quiet: bool,
        horizon: Option<u32>,
        trace: Option<&Path>,
        goes_on: bool,
    ) -> Result<Watch, Failure> {
        let trace = trace.map(|path| Trace::open(path, goes_on)).transpose()?;
        let show = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Show::Nothing,
            (false, true) => Show::Bar(bar()),
            (false, false) => Show::Lines { next: LINE_EVERY },
        };
        Ok(Watch { show, trace, first_gap: None, horizon })
    }

    /// Clears the bar; fails if the trace could not be written.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        match self.trace {
            Some(Trace { path, failed: Some(error), .. }) => Err(Failure::write(&path, error)),
            _ => Ok(()),
        }
    }
}

impl Observer for Watch {
    fn progress(&mut self, at: &Progress) {
        let first = *self.first_gap.get_or_insert(at.gap);
        let sentence = || sentence(at, self.horizon);
        match &mut self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_position(way(first, at, self.horizon));
                bar.set_message(sentence());
            }
            Show::Lines { next } if at.seconds >= *next => {
                output::to_stderr(&format!("{}: {}\n", time_text(at.seconds), sentence()));
                *next = at.seconds + LINE_EVERY;
            }
            Show::Lines { .. } => {}
        }
        if let Some(trace) = &mut self.trace {
            trace.record(at);
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} [{bar:24}] {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(BAR_LENGTH).with_style(style);
    bar.set_message("first bounds");
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn sentence(at: &Progress, horizon: Option<u32>) -> String {
    if let Some(horizon) = horizon {
        return format!("step {} of {horizon}", at.work.sweeps);
    }
    let (gap, target) = (gap_text(at.gap), gap_text(at.target));
    format!("sweep {}, gap {gap}, asked {target}", at.work.sweeps)
}

/// How far the gap has come from the first to the asked one, in logarithms; how many steps of a horizon are done.
fn way(first: f64, at: &Progress, horizon: Option<u32>) -> u64 {
    let done = match horizon {
        Some(horizon) => at.work.sweeps as f64 / f64::from(horizon),
        None => (first / at.gap).ln() / (first / at.target).ln(),
    };
    // An infinite or vanishing gap gives no share; the cast then takes 0 or the whole.
    (done.clamp(0.0, 1.0) * BAR_LENGTH as f64) as u64
}

impl Trace {
    fn open(path: &Path, goes_on: bool) -> Result<Trace, Failure> {
        let plain = std::fs::metadata(path).is_ok_and(|about| about.is_file());
        let goes_on = goes_on && plain;
        let mut options = OpenOptions::new();
        options.read(goes_on).write(true).create(true).truncate(!goes_on);
        let file = options.open(path).map_err(|e| Failure::write(path, e))?;
        Ok(Trace { path: path.to_owned(), file: BufWriter::new(file), goes_on, failed: None })
    }

    /// Leaves the lines before `sweep`, which a checkpoint lies between, and drops those beyond.
    fn cut(&mut self, sweep: u64) -> io::Result<()> {
        let file = self.file.get_mut();
        let mut kept = 0;
        let mut lines = BufReader::new(&*file);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            let before = |place: Place| place.sweep < sweep;
            if !line.ends_with(b"\n") || !serde_json::from_slice(&line).is_ok_and(before) {
                break;
            }
            kept += line.len() as u64;
            line.clear();
        }
        file.set_len(kept)?;
        file.seek(SeekFrom::Start(kept)).map(drop)
    }

    /// Each line is flushed, so that others can follow the file.
    fn record(&mut self, at: &Progress) {
        let line = Line {
            sweep: at.work.sweeps,
            seconds: at.seconds,
            lower: at.lower,
            upper: at.upper,
            residual: at.residual,
            gap: at.gap,
            evaluations: at.work.evaluations,
            oracle_calls: at.work.oracle_calls,
            first_order_steps: at.work.first_order_steps,
            kernel_passes: at.work.kernel_passes(),
            output: at.output.map(|DualityGap { lower, upper, gap }| Output {
                output_lower: lower,
                output_upper: upper,
                output_gap: gap,
            }),
        };
        if std::mem::take(&mut self.goes_on) {
            self.failed = self.cut(line.sweep).err();
        }
        if self.failed.is_none() {
            let file = &mut self.file;
            let written = serde_json::to_writer(&mut *file, &line)
                .map_err(io::Error::from)
                .and_then(|()| writeln!(file))
                .and_then(|()| file.flush());
            self.failed = written.err();
        }
    }
}
