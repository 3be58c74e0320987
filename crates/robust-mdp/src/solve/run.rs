//! A run in progress: the clock, the limits, who watches it and who may stop it, the best answer so
//! far.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Published, Status};
use crate::checkpoint::Checkpoints;
use crate::codec::{Codec, Snapshot};
use crate::incumbent::{Incumbent, width};
use crate::loops::bounds::{Bounds, rounding};
use crate::model::Model;
use crate::signal::{Interrupt, Signal};
use crate::solution::{Ending, Stage};

/// Work counted independently of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Epochs (FOM-VI) or sweeps, those of nature alone included.
    pub sweeps: u64,
    /// Sweeps of nature alone, against a fixed policy.
    pub evaluations: u64,
    /// State games and evaluations solved.
    pub oracle_calls: u64,
    /// First-order steps taken in each state.
    pub first_order_steps: u64,
    /// Entries of kernel rows visited.
    pub entries: u64,
    /// Entries of one kernel.
    pub kernel_entries: u64,
}

impl Work {
    /// Adds work done on the way to an answer.
    pub(crate) fn add(&mut self, other: &Work) {
        self.sweeps += other.sweeps;
        self.evaluations += other.evaluations;
        self.oracle_calls += other.oracle_calls;
        self.first_order_steps += other.first_order_steps;
        self.entries += other.entries;
    }

    /// Entries visited, in kernels.
    pub fn kernel_passes(&self) -> f64 {
        self.entries as f64 / self.kernel_entries.max(1) as f64
    }
}

/// State of a run after a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Wall-clock time so far.
    pub seconds: f64,
    /// Best certified lower bound at p₀, in the model's own sign.
    pub lower: f64,
    /// Best certified upper bound at p₀, in the model's own sign.
    pub upper: f64,
    /// Largest certified upper − lower over states.
    pub gap: f64,
    /// The gap that was asked for.
    pub target: f64,
    /// ‖v⁺ − v‖_∞ of the last sweep.
    pub residual: f64,
    /// FOM-VI: the duality gap of this epoch's own output, if it was computed.
    pub output: Option<DualityGap>,
    /// Work so far.
    pub work: Work,
}

/// Certified bounds of an output (x̄, ȳ): what the best response to ȳ costs at least and the worst case
/// of x̄ at most, in the model's own sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualityGap {
    /// At p₀; upper − lower is DG(x̄, ȳ) of \[GCK21\].
    pub lower: f64,
    /// See `lower`.
    pub upper: f64,
    /// The largest upper − lower over states.
    pub gap: f64,
}

/// Watches a run and may stop it.
pub trait Observer: Sync {
    /// Called after every sweep.
    fn progress(&mut self, _: &Progress) {}
}

impl Observer for () {}

pub(crate) struct Limits {
    pub(crate) gap: f64,
    /// No value is less than the first or more than the second, whatever anyone does.
    pub(crate) values: (f64, f64),
    pub(crate) max_sweeps: u64,
    /// Policies maximise as nature does, so that a lower bound is a policy's own.
    pub(crate) cooperative: bool,
    pub(crate) published: Option<Published>,
}

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) limits: Limits,
    pub(crate) signal: Signal<'a>,
    pub(crate) work: Work,
    pub(crate) incumbent: Incumbent,
    /// Time spent in checks of the gap, the one at the start included.
    pub(crate) check_seconds: f64,
    /// Entries of the widest row.
    pub(crate) width: usize,
    pub(crate) largest_term: f64,
    /// The duality gap of the output that was certified last, until it is reported.
    pub(crate) output: Option<DualityGap>,
    pub(crate) checkpoints: Checkpoints<'a>,
    /// Values to start from, if any were given.
    pub(crate) start: Option<Vec<f64>>,
    /// What answers have beside bounds, by the criterion.
    pub(crate) stages: Vec<Stage>,
    pub(crate) bias: Vec<f64>,
    pub(crate) ending: Option<Ending>,
    pub(crate) model: &'a Model,
    started: Instant,
    deadline: Option<Instant>,
    /// Seconds that the run took before it was interrupted and went on.
    seconds_before: f64,
    observer: &'a mut (dyn Observer + Send),
}

impl<'a> Run<'a> {
    /// One that starts now.
    pub(super) fn new(
        model: &'a Model,
        limits: Limits,
        time_limit: Option<Duration>,
        interrupt: &'a Interrupt,
        checkpoints: Checkpoints<'a>,
        start: Option<Vec<f64>>,
        observer: &'a mut (dyn Observer + Send),
    ) -> Run<'a> {
        let started = Instant::now();
        let deadline = time_limit.and_then(|limit| started.checked_add(limit));
        Run {
            limits,
            signal: interrupt.signal_until(deadline),
            work: Work::default(),
            incumbent: Incumbent::default(),
            check_seconds: 0.0,
            width: 0,
            largest_term: model.largest_term(),
            output: None,
            checkpoints,
            start,
            stages: Vec::new(),
            bias: Vec::new(),
            ending: None,
            model,
            started,
            deadline,
            seconds_before: 0.0,
            observer,
        }
    }

    /// How a run that was stopped ends.
    pub(crate) fn stopped(&self) -> Option<Status> {
        self.signal.reason().map(Status::from)
    }

    /// Bounds that need no work.
    pub(crate) fn begin(&mut self, model: &Model) {
        let Bounds { lower, upper } = Bounds::within(model, self.limits.values);
        let mut policy = vec![0.0; model.rows()];
        for s in (0..model.states()).filter(|&s| !model.is_terminal(s)) {
            policy[model.rows_of(s).start] = 1.0;
        }
        self.incumbent = Incumbent { policy, lower, upper };
    }

    /// Offers lower + low ≤ v* ≤ v^policy ≤ upper + high as an answer; where policies maximise too,
    /// lower + low ≤ v^policy ≤ v* ≤ upper + high.
    pub(crate) fn offer(
        &mut self,
        lower: &[f64],
        low: f64,
        upper: &[f64],
        high: f64,
        policy: &[f64],
    ) {
        let terminal = |s: usize| self.model.is_terminal(s);
        let (least, most) = self.limits.values;
        let above = |s: usize, u: f64| if terminal(s) { 0.0 } else { (u + high).min(most) };
        let best = &mut self.incumbent;
        if self.limits.cooperative {
            let below = |s: usize, l: f64| if terminal(s) { 0.0 } else { (l + low).max(least) };
            for (s, (best, upper)) in best.upper.iter_mut().zip(upper).enumerate() {
                *best = best.min(above(s, *upper)); // a NaN changes nothing
            }
            let gap = (lower.iter().zip(&best.upper).enumerate())
                .fold(0.0_f64, |m, (s, (&l, &u))| m.max(width(below(s, l), u)));
            if gap < best.gap() {
                best.policy.copy_from_slice(policy);
                best.lower
                    .iter_mut()
                    .zip(lower)
                    .enumerate()
                    .for_each(|(s, (b, l))| *b = below(s, *l));
            }
            return;
        }
        for (s, (best, lower)) in best.lower.iter_mut().zip(lower).enumerate() {
            if !terminal(s) {
                *best = best.max(lower + low); // a NaN changes nothing
            }
        }
        let gap = (upper.iter().zip(&best.lower).enumerate())
            .fold(0.0_f64, |m, (s, (&u, &l))| m.max(width(l, above(s, u))));
        if gap < best.gap() {
            best.policy.copy_from_slice(policy);
            for (s, (best, u)) in best.upper.iter_mut().zip(upper).enumerate() {
                *best = above(s, *u);
            }
        }
    }

    /// What rounding alone leaves between the bounds: twice the allowance on either side.
    pub(crate) fn rounding_floor(&self) -> f64 {
        let scale = self.incumbent.scale().max(self.largest_term);
        4.0 * rounding(scale, self.model.discount(), self.width)
    }

    /// Until the deadline, if there is one.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Tells the observer where the run stands.
    pub(crate) fn report(&mut self, residual: f64) {
        let sign = self.model.objective().sign();
        let a = sign * self.model.initial_mean(&self.incumbent.lower);
        let b = sign * self.model.initial_mean(&self.incumbent.upper);
        let own_sign = |DualityGap { lower, upper, gap }: DualityGap| {
            let (a, b) = (sign * lower, sign * upper);
            DualityGap { lower: a.min(b), upper: a.max(b), gap }
        };
        let progress = Progress {
            seconds: self.seconds(),
            lower: a.min(b),
            upper: a.max(b),
            output: self.output.take().map(own_sign),
            gap: self.incumbent.gap(),
            target: self.limits.gap,
            residual,
            work: self.work,
        };
        self.observer.progress(&progress);
    }
}

impl Snapshot for Run<'_> {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let Work { sweeps, evaluations, oracle_calls, first_order_steps, entries, .. } =
            &mut self.work;
        for count in [sweeps, evaluations, oracle_calls, first_order_steps, entries] {
            codec.count(count);
        }
        self.incumbent.visit_fields(codec);
        codec.number(&mut self.check_seconds);
        let mut seconds = self.seconds();
        codec.number(&mut seconds);
        if codec.is_reading() {
            self.seconds_before = seconds;
        }
    }
}
