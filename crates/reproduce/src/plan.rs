//! Which cells an experiment consists of: sizes, seeds and limits of work.
//!
//! Runs are limited by counted work, never by time, so that what they leave is the same everywhere.
//! The limits are chosen so that no cell of the quick plan takes more than a few seconds, and none
//! of the full one more than a few minutes.

use robust_mdp::sets::Distance;

use super::cell::{Cell, Evaluator, Experiment, FORMAT, Task};
use super::problem::{Family, Problem, Regime};
use super::progress::seconds;
use super::solver::{FomSetup, Geometries, Solver};

/// Accuracy of the comparisons of time, and of computing a duality gap.
pub(crate) const EPSILON: f64 = 0.1;
pub(crate) const GAP_EPSILON: f64 = 0.25;
const DISCOUNT: f64 = 0.8;
const DISCOUNTS: [f64; 3] = [0.6, 0.8, 0.99];
/// The exact oracle is quick: this is only there to end a loop that does not converge.
const EXACT_SWEEPS: u64 = 20_000;

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The paper's sizes and beyond.
    pub full: bool,
    /// Seeds for every experiment instead of its own.
    pub seeds: Option<u64>,
    /// Sizes for every experiment instead of its own, in increasing order.
    pub sizes: Option<Vec<usize>>,
    /// Only cells whose description has all of these words.
    pub only: Vec<String>,
}

/// A family with the regime of its budget.
type Case = (Family, Regime);

/// All cases of the comparison of times.
pub(crate) const CASES: [Case; 10] = [
    (Family::Garnet50, Regime::Paper),
    (Family::Garnet20, Regime::Paper),
    (Family::Healthcare, Regime::Paper),
    (Family::Machine, Regime::Paper),
    (Family::Garnet50, Regime::Tight),
    (Family::Garnet50, Regime::Hard),
    (Family::Garnet20, Regime::Tight),
    (Family::Garnet50, Regime::Banded),
    (Family::Healthcare, Regime::Calibrated),
    (Family::Machine, Regime::Calibrated),
];

/// Cases in which the discount is varied.
pub(crate) const DISCOUNT_CASES: [Case; 2] =
    [(Family::Garnet50, Regime::Tight), (Family::Garnet50, Regime::Banded)];

/// Cases of the duality gap's cost.
pub(crate) const GAP_CASES: [Case; 2] =
    [(Family::Garnet50, Regime::Paper), (Family::Garnet50, Regime::Tight)];

/// Cases in which FOM-VI is followed.
pub(crate) const TRACE_CASES: [Case; 3] = [
    (Family::Garnet50, Regime::Paper),
    (Family::Garnet50, Regime::Tight),
    (Family::Garnet50, Regime::Hard),
];

/// Cases of the KL experiment.
pub(crate) const KL_CASES: [Case; 7] = [
    (Family::Garnet50, Regime::Paper),
    (Family::Garnet20, Regime::Paper),
    (Family::Healthcare, Regime::Paper),
    (Family::Machine, Regime::Paper),
    (Family::Garnet50, Regime::Tight),
    (Family::Healthcare, Regime::Calibrated),
    (Family::Machine, Regime::Calibrated),
];

impl Plan {
    /// How many cells an experiment has, and about how many seconds they take.
    pub fn expected(&self, experiment: Experiment, jobs: usize) -> (usize, f64) {
        let cells = self.cells(experiment);
        (cells.len(), seconds(&cells, jobs))
    }

    pub(crate) fn cells(&self, experiment: Experiment) -> Vec<Cell> {
        let mut cells = match experiment {
            Experiment::Time => self.time(),
            Experiment::GapCost => self.gap_cost(),
            Experiment::Setups | Experiment::Epochs | Experiment::Weights | Experiment::Rate => {
                self.traces(experiment)
            }
            Experiment::Kl => self.kl(),
        };
        cells.retain(|cell| {
            let key = cell.key();
            self.only.iter().all(|word| key.contains(word))
        });
        cells
    }

    pub(crate) fn sizes(&self, experiment: Experiment, case: Case) -> Vec<usize> {
        if let Some(sizes) = &self.sizes {
            return sizes.clone();
        }
        let chain = !case.0.is_garnet() || case.1 == Regime::Banded;
        let sizes: &[usize] = match (experiment, chain, self.full) {
            // The programs take a multiple of the time where the budget binds.
            (Experiment::Time, false, false) if case.1 != Regime::Paper => &[5, 10, 16],
            (Experiment::Time, false, false) if case.0 == Family::Garnet20 => &[5, 10, 20],
            (Experiment::Time, false, false) => &[5, 10, 20, 30],
            (Experiment::Time, false, true) => &[10, 20, 30, 50, 75, 100],
            (Experiment::Time, true, false) => &[10, 20, 40],
            (Experiment::Time, true, true) => &[10, 20, 50, 100, 200],
            (Experiment::GapCost, _, false) => &[10, 20, 40, 80],
            (Experiment::GapCost, _, true) => &[10, 20, 50, 100, 150, 200],
            (Experiment::Kl, _, false) => &[10, 20, 30, 50],
            (Experiment::Kl, _, true) => &[10, 20, 30, 40, 50, 75, 100],
            // Where steps of every setup come to their rate.
            (Experiment::Rate, ..) => &[10],
            (Experiment::Setups | Experiment::Epochs | Experiment::Weights, ..) => &[30],
        };
        sizes.to_vec()
    }

    /// The size at which the discount is varied.
    pub(crate) fn discount_size(&self, case: Case) -> usize {
        let sizes = self.sizes(Experiment::Time, case);
        // λ = 0.99 takes many sweeps: not a large one.
        sizes[(sizes.len() - 1) / 2]
    }

    /// Random instances of a kind. The paper averages over ten where it computes duality gaps and
    /// compares epochs and weights, follows the proximal setups on one, and does not say for times:
    /// there are fewer of them where a run takes minutes.
    fn seeds_at(&self, experiment: Experiment, states: usize) -> u64 {
        match (experiment, self.seeds) {
            (Experiment::Time | Experiment::Kl, None) if states > 50 => 3,
            _ => self.seeds(experiment),
        }
    }

    /// The most of them.
    pub(crate) fn seeds(&self, experiment: Experiment) -> u64 {
        let own = match experiment {
            Experiment::GapCost | Experiment::Epochs | Experiment::Weights => 10,
            _ if self.full => 10,
            _ => 3,
        };
        self.seeds.unwrap_or(own)
    }

    fn problems(
        &self,
        experiment: Experiment,
        case: Case,
        set: Distance,
        states: usize,
        discount: f64,
    ) -> Vec<Problem> {
        let of = |seed| Problem { family: case.0, regime: case.1, set, states, discount, seed };
        let seeds = if of(1).is_random() { self.seeds_at(experiment, states) } else { 1 };
        (1..=seeds).map(of).collect()
    }

    fn time(&self) -> Vec<Cell> {
        let of = |case, states, discount| {
            self.problems(Experiment::Time, case, Distance::Ellipsoid, states, discount)
        };
        let mut problems = Vec::new();
        for case in CASES {
            for states in self.sizes(Experiment::Time, case) {
                problems.extend(of(case, states, DISCOUNT));
            }
        }
        for case in DISCOUNT_CASES {
            let states = self.discount_size(case);
            for discount in DISCOUNTS.into_iter().filter(|&d| d != DISCOUNT) {
                problems.extend(of(case, states, discount));
            }
        }
        let solve = |problem: &Problem| {
            let problem = *problem;
            Solver::ALL.map(|solver| self.solve(Experiment::Time, problem, solver))
        };
        problems.iter().flat_map(solve).collect()
    }

    fn gap_cost(&self) -> Vec<Cell> {
        let experiment = Experiment::GapCost;
        let set = Distance::Ellipsoid;
        let mut cells = Vec::new();
        for case in GAP_CASES {
            for discount in DISCOUNTS {
                for states in self.sizes(experiment, case) {
                    for problem in self.problems(experiment, case, set, states, discount) {
                        cells.extend(Evaluator::ALL.map(|evaluator| Cell {
                            format: FORMAT,
                            experiment,
                            problem,
                            task: Task::Gap(evaluator),
                            epsilon: GAP_EPSILON,
                            limit: EXACT_SWEEPS,
                        }));
                    }
                }
            }
        }
        cells
    }

    fn traces(&self, experiment: Experiment) -> Vec<Cell> {
        let mut problems = Vec::new();
        for case in TRACE_CASES {
            for states in self.sizes(experiment, case) {
                let set = Distance::Ellipsoid;
                problems.extend(self.problems(experiment, case, set, states, DISCOUNT));
            }
        }
        let solved = problems.iter().map(|&p| self.solve(experiment, p, Solver::Auto));
        let traces = problems.iter().flat_map(|&problem| {
            courses(experiment).into_iter().map(move |course| Cell {
                format: FORMAT,
                experiment,
                problem,
                task: Task::Trace(course),
                epsilon: EPSILON,
                limit: self.steps(experiment),
            })
        });
        // The traces one after another, so that they can run side by side.
        solved.chain(traces).collect()
    }

    fn kl(&self) -> Vec<Cell> {
        let experiment = Experiment::Kl;
        let mut cells = Vec::new();
        for case in KL_CASES {
            for states in self.sizes(experiment, case) {
                for set in [Distance::Kl, Distance::Ellipsoid] {
                    for problem in self.problems(experiment, case, set, states, DISCOUNT) {
                        for solver in [Solver::FomPaper, Solver::FomCentred, Solver::Auto] {
                            cells.push(self.solve(experiment, problem, solver));
                        }
                    }
                }
            }
        }
        cells
    }

    fn solve(&self, experiment: Experiment, problem: Problem, solver: Solver) -> Cell {
        let limit = self.limit(&problem, solver);
        let task = Task::Solve(solver);
        Cell { format: FORMAT, experiment, problem, task, epsilon: EPSILON, limit }
    }

    /// Steps of a trace.
    fn steps(&self, experiment: Experiment) -> u64 {
        match (experiment, self.full) {
            (Experiment::Setups, false) => 1_000,
            (_, false) => 3_000,
            (_, true) => 30_000,
        }
    }

    /// Sweeps or epochs that a solve may take.
    fn limit(&self, problem: &Problem, solver: Solver) -> u64 {
        let entries = problem.entries();
        if solver.is_fom() {
            // Epoch ℓ takes ℓ² steps: ℓ epochs take about ℓ³/3. A step has a cost of its own in
            // every state, however small.
            let (budget, most): (u64, u64) =
                if self.full { (40_000_000_000, 1_000_000) } else { (400_000_000, 40_000) };
            let work = entries + 100 * problem.states as u64;
            let steps = (budget / work).clamp(1_000, most);
            return (3.0 * steps as f64).cbrt().ceil() as u64;
        }
        if solver.solves_programs() {
            // None of these loops meets its rule at λ = 0.99 in less than hundreds of sweeps.
            let (budget, most): (u64, u64) =
                if self.full { (4_000_000, 400) } else { (2_000_000, 60) };
            return (budget / entries).clamp(1, most);
        }
        EXACT_SWEEPS
    }
}

/// The settings that an experiment compares, with either rule of steps.
fn courses(experiment: Experiment) -> Vec<FomSetup> {
    let of = |setup, p, q, centred| FomSetup { setup, p, q, centred };
    let mut courses = Vec::new();
    for centred in [false, true] {
        match experiment {
            Experiment::Setups => {
                for (p, q) in [(1, 1), (2, 2)] {
                    courses.extend(Geometries::ALL.map(|setup| of(setup, p, q, centred)));
                }
            }
            Experiment::Epochs => {
                courses.extend([0, 1, 2].map(|q| of(Geometries::L2L2, 1, q, centred)));
            }
            Experiment::Weights => {
                courses.extend([0, 1, 2].map(|p| of(Geometries::L2L2, p, 2, centred)));
            }
            // The theorem is about the paper's steps.
            Experiment::Rate if centred => {}
            Experiment::Rate => {
                for q in [1, 2] {
                    courses.extend(Geometries::ALL.map(|setup| of(setup, 1, q, centred)));
                }
            }
            // Nothing is followed there.
            Experiment::Time | Experiment::GapCost | Experiment::Kl => {}
        }
    }
    courses
}

/// Step counts at which a trace looks: about eight a decade, and where courses of different epochs
/// are compared.
///
/// That is the last end of an epoch of ℓ² steps within the limit, and the same divided by ten. A
/// course with other epochs also looks at its last end before it, so that what is interpolated lies
/// within one epoch.
pub(crate) fn checkpoints(limit: u64, q: u32) -> Vec<u64> {
    let mut steps: Vec<u64> = (0..)
        .map(|k| 10f64.powf(f64::from(k) / 8.0).round() as u64)
        .take_while(|&n| n < limit)
        .collect();
    steps.push(limit);
    let last = epoch_end(2, limit);
    for place in [last, epoch_end(2, last.div_ceil(10))] {
        steps.extend([place, epoch_end(q, place)]);
    }
    steps.retain(|&n| n > 0);
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// The last end of an epoch of ℓ^q steps within the limit.
fn epoch_end(q: u32, limit: u64) -> u64 {
    if q == 0 {
        return limit;
    }
    let mut steps: u64 = 0;
    for epoch in 1_u64.. {
        let next = steps.saturating_add(epoch.saturating_pow(q));
        if next > limit {
            break;
        }
        steps = next;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ() {
        let plan = Plan { seeds: Some(2), ..Plan::default() };
        let cells: Vec<Cell> = Experiment::ALL.iter().flat_map(|&e| plan.cells(e)).collect();
        let mut keys: Vec<String> = cells.iter().map(Cell::key).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), cells.len());
    }

    #[test]
    fn the_paper_is_covered() {
        let plan = Plan { full: true, ..Plan::default() };
        let cells = plan.cells(Experiment::Time);
        for family in Family::ALL {
            for solver in Solver::ALL {
                let wanted =
                    |c: &&Cell| c.problem.family == family && c.task == Task::Solve(solver);
                assert!(cells.iter().filter(wanted).count() >= 6, "{family:?} {solver:?}");
            }
        }
        let seeds = |c: &&Cell| c.problem.family == Family::Garnet20 && c.problem.states == 50;
        assert_eq!(cells.iter().filter(seeds).count(), 2 * 10 * Solver::ALL.len());
        for (experiment, states) in [(Experiment::Setups, 30), (Experiment::Weights, 30)] {
            assert!(plan.cells(experiment).iter().all(|c| c.problem.states == states));
        }
    }

    #[test]
    fn checkpoints_grow() {
        for q in 0..=2 {
            let steps = checkpoints(1_000, q);
            assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");
            assert_eq!((steps[0], steps.last()), (1, Some(&1_000)));
            assert!(steps.contains(&819) && steps.contains(&55)); // 1² + … + 13², 1² + … + 5²
        }
        assert!(checkpoints(1_000, 1).contains(&780)); // 1 + … + 39, and 40 more passes 819
    }
}
