//! Duality gap of an answer (x̄, ȳ): DG = max_y C(x̄, y) − min_x C(x, ȳ), state by state.
//!
//! The worst case of x̄ over the set bounds v* from above, the best response to ȳ from below; both
//! are themselves bounded, so that upper − lower is a proof. A check costs a few sweeps; it is due
//! when all checks together stay below a tenth of the counted work, whatever the machine.

use super::Checks;
use super::response::{Kernel, Response};
use crate::chain::Chain;
use crate::codec::{Codec, Snapshot};
use crate::game::Layout;
use crate::incumbent::widest;
use crate::loops::evaluation::Evaluation;
use crate::model::Model;
use crate::solve::{DualityGap, Run, Status};
use crate::uncertainty::UncertaintySet;

/// Work of a check may be this share of the first-order work.
const CHECK_SHARE: f64 = 0.09;

/// A policy and a kernel to certify, with values near theirs.
pub(crate) struct Answer<'a> {
    pub(crate) policy: Vec<f64>,
    /// A weighted sum of kernels of the set.
    pub(crate) kernel: &'a [f64],
    pub(super) values: &'a [f64],
}

/// Certifies answers and decides when it is worth doing.
pub(super) struct Checker {
    policy_values: Vec<f64>,
    response_values: Vec<f64>,
    /// Work of all checks after the first, and of the last one, in entries.
    spent: u64,
    last: u64,
    /// The epoch of the last check.
    last_epoch: u64,
    least_gap: f64,
    /// Checks since the least gap was found, and the work done until then.
    stalled: u32,
    work_at_least: u64,
}

impl Checker {
    pub(super) fn new(model: &Model) -> Checker {
        let states = model.states();
        Checker {
            policy_values: vec![0.0; states],
            response_values: vec![0.0; states],
            spent: 0,
            last: 0,
            last_epoch: 0,
            least_gap: f64::INFINITY,
            stalled: 0,
            work_at_least: 0,
        }
    }

    /// v ← the middle between the policy's worst case and the best response to the kernel.
    pub(super) fn middle(&self, values: &mut [f64]) {
        for ((v, a), b) in values.iter_mut().zip(&self.policy_values).zip(&self.response_values) {
            *v = 0.5 * (a + b);
        }
    }

    /// Certifies the nominal solution, so that there is an answer whatever happens next.
    ///
    /// The chains of nominal rows and of the worst case of one policy are sparse if the model is, those
    /// of an averaged kernel may not be: this has evaluators of its own, and the answer comes soon.
    pub(super) fn first(
        &mut self,
        model: &Model,
        set: &UncertaintySet,
        run: &mut Run<'_>,
    ) -> Option<Status> {
        let nominal = UncertaintySet::none();
        let layout = Layout::new(model, &nominal);
        let mut response = Response::new(model, &nominal, &layout);
        let mut evaluation = Evaluation::new(model, set);
        let tolerance = 0.02 * run.limits.gap;
        let (kernel, values) = (Kernel::Nominal, &mut self.response_values);
        let below = response.run(kernel, values, tolerance, &run.signal);
        let policy = std::mem::take(&mut response.policy);
        self.policy_values.copy_from_slice(&self.response_values);
        let above = evaluation.run(&policy, &mut self.policy_values, tolerance, &run.signal);
        run.incumbent.improve(&policy, &below.lower, above.upper);
        self.account(run, &mut evaluation, &mut response);
        self.spent = 0;
        self.verdict(run)
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
        evaluation: &mut Evaluation<'_>,
        response: &mut Response<'_>,
    ) -> Option<Status> {
        let tolerance = 0.02 * run.limits.gap;
        let Answer { policy, kernel, values } = answer;
        self.policy_values.copy_from_slice(values);
        self.response_values.copy_from_slice(values);
        let above = evaluation.run(&policy, &mut self.policy_values, tolerance, &run.signal);
        let kernel = Kernel::Average(kernel);
        let (chain, values) =
            (evaluation.chain.get_or_insert_with(Chain::empty), &mut self.response_values);
        let below = response.run_on(chain, kernel, values, tolerance, &run.signal);
        // A check that was cut off proves something, but not how good the output is.
        let whole = !run.signal.raised();
        run.output = whole.then(|| DualityGap {
            lower: run.at_start(&below.lower),
            upper: run.at_start(&above.upper),
            gap: widest(&below.lower, &above.upper),
        });
        if whole && checks == Checks::EveryEpoch {
            run.incumbent.replace(&policy, &below.lower, above.upper);
        } else {
            run.incumbent.improve(&policy, &below.lower, above.upper);
        }
        self.account(run, evaluation, response);
        self.verdict(run)
    }

    fn account(
        &mut self,
        run: &mut Run<'_>,
        evaluation: &mut Evaluation<'_>,
        response: &mut Response<'_>,
    ) {
        let sweeps = std::mem::take(&mut evaluation.sweeps) + std::mem::take(&mut response.sweeps);
        self.last = evaluation.take_entries() + response.take_entries();
        self.spent += self.last;
        self.last_epoch = run.work.sweeps;
        run.work.entries += self.last;
        run.work.oracle_calls += sweeps * self.policy_values.len() as u64;
    }

    fn verdict(&mut self, run: &Run<'_>) -> Option<Status> {
        let gap = run.incumbent.gap();
        if gap <= run.limits.gap {
            return Some(Status::Certified);
        }
        if let Some(status) = run.stopped() {
            return Some(status);
        }
        if gap < 0.999 * self.least_gap {
            (self.least_gap, self.stalled, self.work_at_least) = (gap, 0, run.work.entries);
        } else {
            self.stalled += 1;
        }
        let floor = run.rounding_floor();
        let stuck = |checks: u32, times: u64| {
            self.stalled >= checks && run.work.entries > times * self.work_at_least
        };
        let limit = gap <= floor || gap <= 1e4 * floor && stuck(30, 4) || stuck(300, 100);
        limit.then_some(Status::PrecisionLimit)
    }
}

impl Snapshot for Checker {
    /// The values are set before every check.
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        for count in
            [&mut self.spent, &mut self.last, &mut self.last_epoch, &mut self.work_at_least]
        {
            codec.count(count);
        }
        codec.number(&mut self.least_gap);
        codec.small(&mut self.stalled);
    }
}
