//! Duality gap of an answer (x̄, ȳ): DG = max_y C(x̄, y) − min_x C(x, ȳ), state by state.
//!
//! The worst case of x̄ over the set bounds v* from above, the best response to ȳ from below; both
//! are themselves bounded, so that upper − lower is a proof. A check costs a few sweeps; it is due
//! when all checks together stay below a tenth of the counted work, whatever the machine.

use super::Checks;
use super::response::Response;
use super::worst_case::WorstCase;
use crate::codec::{Codec, Snapshot};
use crate::incumbent::widest;
use crate::loops::bounds::Bounds;
use crate::loops::evaluation::Evaluation;
use crate::model::Model;
use crate::rows::Layout;
use crate::sets::UncertaintySet;
use crate::signal::Signal;
use crate::solve::{DualityGap, Run, Status};

/// Work of a check may be this share of the first-order work.
const CHECK_SHARE: f64 = 0.09;
/// Either side is bounded to this share of the gap that was asked for.
const CHECKED: f64 = 0.02;

/// A policy and a kernel to certify, with values near theirs.
pub(crate) struct Answer<'a> {
    pub(crate) policy: Vec<f64>,
    /// A weighted sum of kernels of the set.
    pub(crate) kernel: &'a [f64],
    pub(super) values: &'a [f64],
}

/// Bounds both sides of the gap.
pub(super) struct Sides<'a> {
    worst_case: WorstCase<'a>,
    response: Response<'a>,
    /// Values near those of the policy's worst case and of the best response.
    above: Vec<f64>,
    below: Vec<f64>,
}

impl<'a> Sides<'a> {
    pub(super) fn new(model: &'a Model, set: &'a UncertaintySet, layout: &'a Layout) -> Sides<'a> {
        Sides {
            worst_case: WorstCase::new(model, set, layout),
            response: Response::new(model, set, layout),
            above: vec![0.0; model.states()],
            below: vec![0.0; model.states()],
        }
    }

    /// Starts the next bounds from these values.
    pub(super) fn begin_at(&mut self, values: &[f64]) {
        self.above.copy_from_slice(values);
        self.below.copy_from_slice(values);
    }

    /// Below the best response to the kernel, above the policy's worst case.
    pub(super) fn bound(
        &mut self,
        policy: &[f64],
        kernel: &[f64],
        tolerance: f64,
        signal: &Signal<'_>,
    ) -> Bounds {
        let above = self.worst_case.run(policy, &mut self.above, tolerance, signal);
        let below = self.response.run(kernel, &mut self.below, tolerance, signal);
        Bounds { lower: below.lower, upper: above.upper }
    }
}

/// Certifies answers and decides when it is worth doing.
pub(super) struct Checker<'a> {
    sides: Sides<'a>,
    /// Work of all checks after the first, and of the last one, in entries.
    spent: u64,
    last: u64,
    /// The epoch of the last check.
    last_epoch: u64,
    stall: Stall,
}

/// The least gap so far.
struct Stall {
    least_gap: f64,
    /// Checks since it was found, and the work done until then.
    checks: u32,
    work: u64,
}

impl<'a> Checker<'a> {
    pub(super) fn new(mut sides: Sides<'a>, start: Option<HeadStart>) -> Checker<'a> {
        let HeadStart { above, below, entries, stall } = match start {
            Some(start) => start,
            None => {
                return Checker { sides, spent: 0, last: 0, last_epoch: 0, stall: Stall::new() };
            }
        };
        (sides.above, sides.below) = (above, below);
        Checker { sides, spent: 0, last: entries, last_epoch: 0, stall }
    }

    /// v ← the middle between the policy's worst case and the best response to the kernel.
    pub(super) fn middle(&self, values: &mut [f64]) {
        for ((v, a), b) in values.iter_mut().zip(&self.sides.above).zip(&self.sides.below) {
            *v = 0.5 * (a + b);
        }
    }

    /// Due when checks stay below their share of the work; and at the latest when the epochs have
    /// grown fourfold, where epochs are so cheap that a check never seems worth it.
    pub(super) fn due(&self, checks: Checks, run: &Run<'_>) -> bool {
        if checks == Checks::EveryEpoch || run.work.sweeps >= 4 * self.last_epoch + 20 {
            return true;
        }
        let done = (run.work.entries - self.spent.min(run.work.entries)) as f64;
        (self.spent + self.last) as f64 <= CHECK_SHARE * done
    }

    pub(super) fn check(
        &mut self,
        answer: Answer<'_>,
        checks: Checks,
        run: &mut Run<'_>,
    ) -> Option<Status> {
        let Answer { policy, kernel, values } = answer;
        self.sides.begin_at(values);
        let found = self.sides.bound(&policy, kernel, CHECKED * run.limits.gap, &run.signal);
        // A check that was cut off proves something, but not how good the output is.
        let whole = !run.signal.raised();
        run.output = whole.then(|| DualityGap {
            lower: run.model.initial_mean(&found.lower),
            upper: run.model.initial_mean(&found.upper),
            gap: widest(&found.lower, &found.upper),
        });
        if whole && checks == Checks::EveryEpoch {
            run.incumbent.replace(&policy, &found.lower, found.upper);
        } else {
            run.incumbent.improve(&policy, &found.lower, found.upper);
        }
        let Sides { worst_case, response, .. } = &mut self.sides;
        self.last = account(run, [worst_case.take_work(), response.take_work()]);
        self.spent += self.last;
        self.last_epoch = run.work.sweeps;
        self.stall.verdict(run)
    }
}

impl Stall {
    fn new() -> Stall {
        Stall { least_gap: f64::INFINITY, checks: 0, work: 0 }
    }

    /// Whether the run is over, after a check.
    fn verdict(&mut self, run: &Run<'_>) -> Option<Status> {
        let gap = run.incumbent.gap();
        if gap <= run.limits.gap {
            return Some(Status::Certified);
        }
        if let Some(status) = run.stopped() {
            return Some(status);
        }
        if gap < 0.999 * self.least_gap {
            *self = Stall { least_gap: gap, checks: 0, work: run.work.entries };
        } else {
            self.checks += 1;
        }
        let floor = run.rounding_floor();
        let stuck =
            |checks: u32, times: u64| self.checks >= checks && run.work.entries > times * self.work;
        let limit = gap <= floor || gap <= 1e4 * floor && stuck(30, 4) || stuck(300, 100);
        limit.then_some(Status::PrecisionLimit)
    }
}

impl Snapshot for Checker<'_> {
    /// The values are set before every check.
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let Stall { least_gap, checks, work } = &mut self.stall;
        for count in [&mut self.spent, &mut self.last, &mut self.last_epoch, work] {
            codec.count(count);
        }
        codec.number(least_gap);
        codec.small(checks);
        self.sides.worst_case.visit_fields(codec);
        self.sides.response.chain.visit_fields(codec);
    }
}

/// The nominal solution, certified before anything of the kernel's size is there: an answer whatever
/// happens next.
///
/// The chains of nominal rows and of the worst case of one policy are sparse if the model is, those of
/// an averaged kernel may not be: this has evaluators of its own, and the answer comes soon.
pub(super) struct HeadStart {
    above: Vec<f64>,
    below: Vec<f64>,
    entries: u64,
    stall: Stall,
}

impl HeadStart {
    /// With how the run has ended, if it has.
    pub(super) fn new(
        model: &Model,
        set: &UncertaintySet,
        layout: &Layout,
        run: &mut Run<'_>,
    ) -> (HeadStart, Option<Status>) {
        let nominal = UncertaintySet::none();
        let mut best = Evaluation::new(model, &nominal);
        let mut worst_case = WorstCase::new(model, set, layout);
        let tolerance = CHECKED * run.limits.gap;
        let mut below = vec![0.0; model.states()];
        let (policy, found) = best.best_policy(&mut below, tolerance, &run.signal);
        let mut above = below.clone();
        let upper = worst_case.run(&policy, &mut above, tolerance, &run.signal).upper;
        run.incumbent.improve(&policy, &found.lower, upper);
        let entries = account(run, [best.take_work(), worst_case.take_work()]);
        let mut stall = Stall::new();
        let status = stall.verdict(run);
        (HeadStart { above, below, entries, stall }, status)
    }
}

/// Counts the work of both sides of a check, as (sweeps, entries), and returns its entries.
fn account(run: &mut Run<'_>, sides: [(u64, u64); 2]) -> u64 {
    for (sweeps, entries) in sides {
        run.work.entries += entries;
        run.work.oracle_calls += sweeps * run.model.states() as u64;
    }
    sides[0].1 + sides[1].1
}
