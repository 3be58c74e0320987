//! One run of a loop on v = F(v), with any oracle.
//!
//! A loop proposes the next values; everything else is common: the sweep that encloses F there, the
//! bounds that it proves ([`super::bounds`]), the best answer so far, limits and the observer. A
//! sweep at v with d = F(v) − v certifies lower ≤ v* ≤ v^x ≤ upper no wider than
//! λ/(1−λ)·(max d − min d) plus the oracle's own width, so that is what loops drive to zero.

use std::time::Instant;

use super::anderson::{self, Anderson};
use super::avi::Accelerated;
use super::bounds::macqueen_porteus;
use super::gs::GaussSeidel;
use super::newton::Newton;
use super::operator::{Operator, first_values};
use super::pi::PolicyIteration;
use super::vi::ValueIteration;
use crate::checkpoint::does_not_fit;
use crate::codec::{Codec, Snapshot};
use crate::error::Error;
use crate::model::Model;
use crate::solve::{Method, Run, Status};

/// Share of the asked gap that the oracle's own width may take.
const ORACLE_SHARE: f64 = 0.2;
/// Width of an oracle's answer against the last residual: more would be wasted on values that will
/// change, less would hide how far they have come.
const ORACLE_EFFORT: f64 = 1e-3;
/// The same against the span that the loop promises: a wider answer would hide it.
const PROMISE_SHARE: f64 = 0.1;
/// Values to start from are taken to be right to this share of their spread, where it matters.
const GIVEN: f64 = 1e-3;
/// Sweeps without progress before rounding is taken to be the limit where it may be; where plain
/// steps are slow by nature, at λ near 1, there are more.
const PATIENCE: f64 = 60.0;
/// Rounding may be the limit up to so many times what it is allowed for.
const NEAR_ROUNDING: f64 = 1e3;
/// The oracle may be the limit where its enclosures are no narrower than this share of the span.
const WIDE: f64 = 0.1;
/// Times the patience of plain steps after which it is taken to be.
const WITH_THE_ORACLE: f64 = 1e2;
/// Times the same after which a run ends wherever it stands: plain steps never take as long.
const ENDLESS: f64 = 1e3;

/// A run of an outer loop: where it stands after the last sweep.
pub(super) struct Course<'c, 'a, 'r> {
    pub(super) operator: Operator<'a>,
    pub(super) run: &'c mut Run<'r>,
    /// The values of the last sweep.
    pub(super) v: Vec<f64>,
    /// max d − min d of that sweep.
    pub(super) span: f64,
    /// max |d|.
    pub(super) residual: f64,
    /// Row entries that the last sweep read.
    pub(super) last_entries: u64,
    least_gap: f64,
    stalled: u32,
    pub(super) scratch: Vec<f64>,
    pub(super) width: usize,
    pub(super) has_terminal_states: bool,
    /// Whether the first values were given from outside: they may be near the last ones.
    pub(super) given: bool,
}

/// What proposes the next values.
pub(super) trait Loop: Snapshot {
    /// The least span that the next sweep may find, as far as the loop can tell.
    fn promised_span(&self) -> f64 {
        f64::INFINITY
    }
    /// Sweeps without progress that are no sign of anything but this loop's way.
    fn patience(&self, discount: f64) -> f64 {
        patience_of_plain_steps(discount)
    }
    /// Moves `course.v` on from the sweep there; may sweep for nature alone.
    fn advance(&mut self, course: &mut Course<'_, '_, '_>);
}

/// Plain steps leave up to λ of the span.
pub(super) fn patience_of_plain_steps(discount: f64) -> f64 {
    PATIENCE + 0.01 / (1.0 - discount)
}

/// Runs `method` until the gap is certified or the run is stopped.
pub(crate) fn run(
    method: Method,
    anderson: Option<usize>,
    operator: Operator<'_>,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let model = operator.model;
    let mut course = Course::new(operator, run);
    match method {
        Method::GsVi => repeat(&mut GaussSeidel(course)),
        Method::Anderson => {
            let memory = anderson.unwrap_or(anderson::MEMORY);
            course.follow(&mut Anderson::new(model.states(), memory))
        }
        Method::Avi => course.follow(&mut Accelerated::new(model.discount())),
        Method::Pi => course.follow(&mut PolicyIteration::new(model)),
        Method::Newton => course.follow(&mut Newton::new(model)),
        Method::Auto | Method::FomVi | Method::Vi => course.follow(&mut ValueIteration),
    }
}

impl<'c, 'a, 'r> Course<'c, 'a, 'r> {
    fn new(operator: Operator<'a>, run: &'c mut Run<'r>) -> Course<'c, 'a, 'r> {
        let model = operator.model;
        let width = run.width;
        let start = run.start.take();
        let given = start.is_some();
        let v = match (run.limits.published, start) {
            (Some(_), _) => vec![0.0; model.states()],
            (None, Some(start)) => start,
            (None, None) => first_values(model),
        };
        run.begin(model);
        Course {
            operator,
            run,
            scratch: vec![0.0; v.len()],
            v,
            span: f64::INFINITY,
            residual: f64::INFINITY,
            last_entries: 0,
            least_gap: f64::INFINITY,
            stalled: 0,
            width,
            has_terminal_states: (0..model.states()).any(|s| model.is_terminal(s)),
            given,
        }
    }

    pub(super) fn model(&self) -> &'a Model {
        self.operator.model
    }

    /// v ← F(v), in the middle of its bounds.
    pub(super) fn step(&mut self) {
        let (lower, upper) = (self.operator.lower(), self.operator.upper());
        for ((v, l), u) in self.v.iter_mut().zip(lower).zip(upper) {
            *v = 0.5 * (l + u);
        }
    }

    /// The bounds shift all states alike: terminal ones must be where they belong.
    pub(super) fn pin_terminal_states(&mut self) {
        if self.has_terminal_states {
            for s in (0..self.v.len()).filter(|&s| self.operator.model.is_terminal(s)) {
                self.v[s] = 0.0;
            }
        }
    }

    /// Freezes the choices of the last sweep, before v moves.
    pub(super) fn freeze(&mut self) {
        self.operator.freeze(&self.v, &self.run.signal);
    }

    /// Moves v by Newton's step for the discount `share`·λ, which stays in `scratch`.
    pub(super) fn newton_step(&mut self, share: f64, tolerance: f64) {
        if self.run.signal.raised() {
            return; // the run is over, and its choices may not have been frozen
        }
        let Course { operator, v, scratch, run, .. } = self;
        operator.newton_step(v, scratch, share, tolerance, &run.signal);
        self.pin_terminal_states();
    }

    /// How narrow the oracle's enclosures should be now, where the next span may be as small as `promised`.
    pub(super) fn tolerance(&self, promised: f64) -> f64 {
        let last = match self.span.is_finite() {
            true => self.span,
            // Wider answers would undo what was given; exact ones cost little more.
            false if self.given && self.operator.is_exact() => 0.0,
            false if self.given => GIVEN * spread(&self.v),
            false => spread(&self.v),
        };
        let needed = ORACLE_SHARE * (1.0 - self.model().discount()) * self.run.limits.gap;
        // Other oracles pay for every digit, and promises are not always kept.
        let promised = if self.operator.is_exact() { promised } else { f64::INFINITY };
        needed.max((ORACLE_EFFORT * last).min(PROMISE_SHARE * promised))
    }

    fn follow(&mut self, method: &mut impl Loop) -> Result<Status, Error> {
        repeat(&mut Following { course: self, method })
    }

    /// Bounds from the sweep at v, and what they mean for the run.
    fn certify(&mut self, patience: f64) -> Option<Status> {
        let discount = self.model().discount();
        let (lower, upper) = (self.operator.lower(), self.operator.upper());
        let (scale, width) = (self.run.largest_term, self.width);
        let (low, _) = macqueen_porteus(&self.v, lower, discount, scale, width);
        let (_, high) = macqueen_porteus(&self.v, upper, discount, scale, width);
        self.record_residual();
        self.conclude(low, high, patience)
    }

    pub(super) fn record_residual(&mut self) {
        let (lower, upper) = (self.operator.lower(), self.operator.upper());
        let (low, _) = extent(self.v.iter().zip(lower).map(|(v, l)| l - v));
        let (_, high) = extent(self.v.iter().zip(upper).map(|(v, u)| u - v));
        (self.span, self.residual) = (high - low, high.abs().max(low.abs()));
    }

    /// Below this span bounds are as narrow as was asked for.
    pub(super) fn goal(&self) -> f64 {
        (1.0 - self.model().discount()) * self.run.limits.gap
    }

    /// Offers the shifted bounds as an answer and decides whether the run is over.
    pub(super) fn conclude(&mut self, low: f64, high: f64, patience: f64) -> Option<Status> {
        let (lower, upper) = (self.operator.lower(), self.operator.upper());
        self.run.offer(lower, low, upper, high, self.operator.policy());
        self.run.work.sweeps += 1;
        self.run.work.oracle_calls += self.v.len() as u64;
        let before = self.run.work.entries;
        self.operator.account(&mut self.run.work);
        self.last_entries = self.run.work.entries - before;
        self.run.report(self.residual);
        let gap = self.run.incumbent.gap();
        if let Some(published) = self.run.limits.published {
            let over = self.residual <= published.residual && gap <= self.run.limits.gap;
            return over.then_some(Status::Certified);
        }
        if gap <= self.run.limits.gap {
            return Some(Status::Certified);
        }
        if gap < 0.9999 * self.least_gap {
            (self.least_gap, self.stalled) = (gap, 0);
        } else {
            self.stalled += 1;
        }
        let floor = self.run.rounding_floor();
        let allowed = if gap <= NEAR_ROUNDING * floor {
            patience
        } else {
            let wide = self.widest() >= WIDE * self.span;
            let times = if wide { WITH_THE_ORACLE } else { ENDLESS };
            times * patience_of_plain_steps(self.model().discount())
        };
        let stuck = f64::from(self.stalled) > allowed;
        (gap <= floor || stuck).then_some(Status::PrecisionLimit)
    }

    /// The widest enclosure of the last sweep.
    pub(super) fn widest(&self) -> f64 {
        let (lower, upper) = (self.operator.lower(), self.operator.upper());
        lower.iter().zip(upper).fold(0.0, |m, (l, u)| m.max(u - l))
    }

    /// What a step must make smaller. The bounds know of the span alone, and values of all states
    /// may be off by a constant unless terminal ones hold them in place.
    pub(super) fn merit(&self) -> f64 {
        if self.has_terminal_states { self.residual } else { self.span }
    }
}

/// What a run repeats until the gap is certified or it is stopped: sweeps of a loop, or epochs.
pub(super) trait Rounds<'r>: Snapshot {
    fn run(&mut self) -> &mut Run<'r>;
    /// One round, from one checkpoint to the next, and how the run has ended with it.
    fn round(&mut self) -> Option<Status>;
}

/// Goes on where an earlier run was stopped, if it was, and repeats rounds to the end.
pub(super) fn repeat<'r>(rounds: &mut impl Rounds<'r>) -> Result<Status, Error> {
    if let Some(found) = rounds.run().checkpoints.take_found()? {
        let mut codec = found.reader(rounds.run().model);
        rounds.visit_fields(&mut codec);
        codec.finish().then_some(()).ok_or_else(does_not_fit)?;
    }
    loop {
        let run = rounds.run();
        let spent = run.work.sweeps >= run.limits.max_sweeps;
        if let Some(status) = run.stopped().or(spent.then_some(Status::SweepLimit)) {
            return Ok(status);
        }
        let (from, model) = (Instant::now(), run.model);
        if let Some(mut codec) = run.checkpoints.writer(model) {
            rounds.visit_fields(&mut codec);
            rounds.run().checkpoints.keep(codec, from);
        }
        if let Some(status) = rounds.round() {
            return Ok(status);
        }
    }
}

/// A course with the loop that proposes its values.
struct Following<'f, 'c, 'a, 'r, L> {
    course: &'f mut Course<'c, 'a, 'r>,
    method: &'f mut L,
}

impl<'r, L: Loop> Rounds<'r> for Following<'_, '_, '_, 'r, L> {
    fn run(&mut self) -> &mut Run<'r> {
        self.course.run
    }

    fn round(&mut self) -> Option<Status> {
        let Following { course, method } = self;
        course.pin_terminal_states();
        let tolerance = course.tolerance(method.promised_span());
        course.operator.sweep(&course.v, tolerance, &course.run.signal);
        // A sweep that was stopped leaves nothing to go on from.
        let status = course.certify(method.patience(course.model().discount()));
        let status = status.or_else(|| course.run.stopped());
        if status.is_none() {
            method.advance(course);
        }
        status
    }
}

impl<L: Loop> Snapshot for Following<'_, '_, '_, '_, L> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.course.visit_fields(codec);
        self.method.visit_fields(codec);
    }
}

impl Snapshot for Course<'_, '_, '_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        self.run.visit_fields(codec);
        self.operator.visit_fields(codec);
        codec.numbers(&mut self.v);
        codec.number(&mut self.span);
        codec.number(&mut self.residual);
        codec.count(&mut self.last_entries);
        codec.number(&mut self.least_gap);
        codec.small(&mut self.stalled);
    }
}

/// Smallest and largest.
pub(super) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Largest minus smallest.
pub(super) fn spread(v: &[f64]) -> f64 {
    let (low, high) = extent(v.iter().copied());
    high - low
}
