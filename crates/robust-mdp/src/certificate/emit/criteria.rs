//! Certificates where costs are not discounted: a step for every time, or one more for what proves the end.

use super::{Attempt, Care, Emission, as_costs, gap, narrower, problem_of};
use crate::certificate::rejection::Rejection;
use crate::certificate::verify::prove;
use crate::certificate::{Certificate, Step};
use crate::loops::bellman::Bellman;
use crate::model::Model;
use crate::sets::UncertaintySet;
use crate::solution::Solution;
use crate::solve::{Criterion, ended, row_by_row};

/// The narrowest of attempts with ever more care.
pub(super) fn of_criterion(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    threads: Option<usize>,
) -> Attempt {
    let problem = problem_of(model, set, solution);
    let mut emission = Emission::new(model, set, &problem, solution);
    let mut best = Err(Rejection::Input("no certificate was made".into()));
    for care in [Care::Joint, Care::Quick, Care::Fitted] {
        let certificate = match solution.criterion {
            Criterion::Finite { .. } => emission.backward(care),
            Criterion::Average => emission.average(care),
            Criterion::Total => emission.total(care),
            Criterion::Discounted => emission.make(care),
        };
        let proved = prove(model, &certificate, threads, false);
        let attempt = proved.map(|(proved, _)| (certificate, proved));
        best = if best.is_err() { attempt } else { narrower(best, attempt) };
        if gap(&best) <= solution.target_gap.max(1.001 * solution.gap) {
            break;
        }
    }
    best
}

impl Emission<'_> {
    /// A step at the values of each next time, the last ones 0.
    fn backward(&mut self, care: Care) -> Certificate {
        let (stages, states) = (&self.solution.stages, self.model.states());
        let mut steps = Vec::with_capacity(stages.len());
        let mut fingerprint = 0;
        for (t, stage) in stages.iter().enumerate() {
            (self.lower, self.upper) = match stages.get(t + 1) {
                Some(next) => as_costs(self.model, &next.lower, &next.upper),
                None => (vec![0.0; states], vec![0.0; states]),
            };
            self.meet();
            self.policy = &stage.policy;
            let (step, of_model) = self.step(care);
            steps.push(step);
            fingerprint = of_model;
        }
        let first = if steps.is_empty() { Step::default() } else { steps.remove(0) };
        self.certificate(first, steps, fingerprint)
    }

    /// A step at the relative values.
    fn average(&mut self, care: Care) -> Certificate {
        let (h, _) = as_costs(self.model, &self.solution.bias, &self.solution.bias);
        (self.upper, self.lower) = (h.clone(), h);
        self.make(care)
    }

    /// A step at the values, or at their bounds where these hold as they are, and one at the numbers of steps.
    fn total(&mut self, care: Care) -> Certificate {
        let Some(ending) = &self.solution.ending else { return self.make(care) };
        let (model, set) = (self.model, self.set);
        (self.lower, self.upper) = as_costs(model, &self.solution.lower, &self.solution.upper);
        if ending.surely {
            self.meet();
        }
        let care = if ending.surely || care != Care::Joint { care } else { Care::Quick };
        let (first, fingerprint) = self.step(care);
        let mut unit = model.clone();
        unit.count_steps(&ended(model, self.own_set));
        let any = if ending.surely { row_by_row(&unit, set) } else { set.clone() };
        let bellman = Bellman::new(&unit, &any).referred().cooperative(ending.surely);
        // Nothing is said of a policy where all end.
        let mut firsts = vec![0.0; if ending.surely { model.rows() } else { 0 }];
        if ending.surely {
            let acting = (0..model.states()).filter_map(|s| model.rows_of(s).next());
            acting.for_each(|r| firsts[r] = 1.0);
        }
        let mut end = Emission {
            own: self.own,
            own_set: self.own_set,
            solution: self.solution,
            fingerprint: Some(0),
            model: &unit,
            set: &any,
            cooperative: ending.surely,
            bellman,
            policy: if ending.surely { &firsts } else { self.policy },
            upper: ending.steps.clone(),
            lower: ending.steps.clone(),
        };
        let (policy, scale) = end.answer(Care::Quick);
        let steps = ending.steps.clone();
        let step = Step { upper: steps.clone(), lower: steps, policy, scale, kernel: Vec::new() };
        self.certificate(first, vec![step], fingerprint)
    }
}
