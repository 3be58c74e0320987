//! Runs one cell.

use std::time::Instant;

use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::measure::{Sweeps, fom_vi_gaps};
use robust_mdp::uncertainty::{Support, UncertaintySet};
use robust_mdp::{
    Error, Interrupt, Model, ModelBuilder, Observer, Options, Progress, Status, Stop, evaluate,
    solve_observed,
};

use super::cell::{Cell, Counts, Evaluator, Outcome, Record, Seconds, Task, TracePoint};
use super::plan::checkpoints;
use super::problem::Problem;
use super::solver::{Course, Solver, own_residual};

/// Short runs are repeated, and the shortest time counts …
const REPEATS: usize = 3;
/// … unless they have taken so many seconds already.
const ENOUGH: f64 = 0.1;
/// Gaps of traces are known up to twice this.
const TRACE_TOLERANCE: f64 = 1e-7;
/// The solution at which saturation is judged.
const SHARP: f64 = 1e-6;

/// `None` where it was interrupted.
pub(crate) fn run(
    cell: &Cell,
    threads: usize,
    interrupt: &Interrupt,
) -> Result<Option<Record>, Error> {
    let model = cell.problem.model()?;
    let radius = cell.problem.radius(&model)?;
    let at = At { cell, model, radius, set: cell.problem.uncertainty(radius), threads, interrupt };
    match cell.task {
        Task::Solve(solver) => at.solve(solver),
        Task::Gap(evaluator) => at.gap(evaluator),
        Task::Trace(course) => at.trace(course),
    }
}

/// A cell with its model.
struct At<'a> {
    cell: &'a Cell,
    model: Model,
    radius: f64,
    set: UncertaintySet,
    threads: usize,
    interrupt: &'a Interrupt,
}

/// When the two rules first held.
struct Rules {
    own: Own,
    epsilon: f64,
    own_at: Option<(Counts, f64)>,
    certified_at: Option<(Counts, f64)>,
}

/// A method's own rule.
enum Own {
    /// ‖v⁺ − v‖_∞ at most this.
    Residual(f64),
    /// DG at p₀ at most this.
    DualityGap(f64),
    /// A certified gap of ε.
    Certified,
}

impl Observer for Rules {
    fn progress(&mut self, at: &Progress) {
        let certified = at.gap <= self.epsilon;
        let own = match self.own {
            Own::Residual(most) => at.residual <= most,
            Own::DualityGap(most) => at.upper - at.lower <= most,
            Own::Certified => certified,
        };
        let now = (Counts::from(at.work), at.seconds);
        if own {
            self.own_at.get_or_insert(now);
        }
        if certified {
            self.certified_at.get_or_insert(now);
        }
    }
}

impl At<'_> {
    fn solve(&self, solver: Solver) -> Result<Option<Record>, Error> {
        let Cell { problem, epsilon, limit, .. } = *self.cell;
        let options = solver.options(&problem, epsilon, limit, self.threads);
        let mut best: Option<Record> = None;
        let begun = Instant::now();
        for _ in 0..REPEATS {
            let mut rules = Rules::new(solver, &problem, epsilon);
            let solution =
                solve_observed(&self.model, &self.set, &options, &mut rules, self.interrupt)?;
            if solution.status == Status::Interrupted {
                return Ok(None);
            }
            if solution.status == Status::Certified {
                // FOM-VI may find its first answer, the nominal one, to be good enough.
                let end = (Counts::from(solution.work), solution.seconds);
                rules.own_at.get_or_insert(end);
                rules.certified_at.get_or_insert(end);
            }
            let done = rules.own_at.is_some() && rules.certified_at.is_some();
            let (own, own_seconds) = rules.own_at.unzip();
            let (certified, certified_seconds) = rules.certified_at.unzip();
            let total = solution.seconds;
            let seconds = Seconds { own: own_seconds, certified: certified_seconds, total };
            if let Some(best) = &mut best {
                best.seconds = best.seconds.least(seconds);
            } else {
                let outcome = Outcome {
                    status: if done { "done" } else { "work-limit" }.into(),
                    radius: self.radius,
                    saturated: None,
                    own,
                    certified,
                    work: solution.work.into(),
                    gap: solution.gap,
                    lower: solution.initial_value.0,
                    upper: solution.initial_value.1,
                    trace: Vec::new(),
                    note: solution.warnings.first().cloned(),
                };
                best = Some(Record { cell: *self.cell, outcome, seconds });
            }
            if begun.elapsed().as_secs_f64() >= ENOUGH {
                break;
            }
        }
        if let Some(record) = best.as_mut().filter(|_| solver == Solver::Auto) {
            record.outcome.saturated = self.saturated()?;
        }
        Ok(best.filter(|_| !self.interrupt.is_raised()))
    }

    /// The share of states in which nature reaches min_a max b_a, the most that any budget allows.
    fn saturated(&self) -> Result<Option<f64>, Error> {
        let options = Options {
            stop: Stop::at_gap(SHARP),
            threads: Some(self.threads),
            ..Options::default()
        };
        let solution = solve_observed(&self.model, &self.set, &options, &mut (), self.interrupt)?;
        let (model, v) = (&self.model, &solution.values);
        let highest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let saturated = |s: &usize| {
            let most = |r: usize| {
                let row = model.row(r);
                let top = match self.set.support {
                    Support::All => highest,
                    Support::Nominal => (row.entries().filter(|e| e.1 > 0.0))
                        .fold(f64::NEG_INFINITY, |m, (next, ..)| m.max(v[next])),
                };
                row.cost + model.discount() * top
            };
            let cap = model.rows_of(*s).map(most).fold(f64::INFINITY, f64::min);
            v[*s] >= cap - 1e-5 * cap.abs().max(1.0)
        };
        let count = (0..model.states()).filter(saturated).count();
        Ok(Some(count as f64 / model.states() as f64))
    }

    fn trace(&self, course: Course) -> Result<Option<Record>, Error> {
        let steps = checkpoints(self.cell.limit, course.q);
        let started = Instant::now();
        let gaps = fom_vi_gaps(
            &self.model,
            &self.set,
            &course.settings(),
            &steps,
            TRACE_TOLERANCE,
            self.threads,
            self.interrupt,
        )?;
        let total = started.elapsed().as_secs_f64();
        let Some(gaps) = gaps else { return Ok(None) };
        let trace = gaps.iter().map(|at| TracePoint {
            steps: at.steps,
            dg: (at.upper - at.lower).max(0.0),
            gap: at.gap,
        });
        let last = gaps.last().map_or((0, 0), |at| (at.epoch, at.steps));
        let outcome = Outcome {
            status: "done".into(),
            radius: self.radius,
            saturated: None,
            own: None,
            certified: None,
            work: Counts { sweeps: last.0, steps: last.1, ..Counts::default() },
            gap: gaps.last().map_or(f64::MAX, |at| at.gap),
            lower: gaps.last().map_or(0.0, |at| at.lower),
            upper: gaps.last().map_or(0.0, |at| at.upper),
            trace: trace.collect(),
            note: None,
        };
        let seconds = Seconds { total, ..Seconds::default() };
        Ok(Some(Record { cell: *self.cell, outcome, seconds }))
    }

    /// DG of a random policy and a random kernel of the set. Either half is computed to ε/2, so
    /// that their difference is known up to ε.
    fn gap(&self, evaluator: Evaluator) -> Result<Option<Record>, Error> {
        let (policy, answered) = random_pair(&self.cell.problem, &self.model, &self.set)?;
        let none = UncertaintySet::none();
        let mut best: Option<Record> = None;
        let begun = Instant::now();
        for _ in 0..REPEATS {
            let started = Instant::now();
            let halves = match evaluator {
                Evaluator::Exact => self.by_policy_iteration(&policy, &answered)?,
                _ => {
                    let mut worst = Sweeps::new(&self.model, &self.set, Some(&policy))?;
                    let above = self.iterate(&mut worst, evaluator);
                    let mut response = Sweeps::new(&answered, &none, None)?;
                    let below = self.iterate(&mut response, evaluator);
                    Halves::of(&self.model, above, below)
                }
            };
            let total = started.elapsed().as_secs_f64();
            if self.interrupt.is_raised() {
                return Ok(None);
            }
            let seconds = Seconds { own: halves.done.then_some(total), certified: None, total };
            if let Some(best) = &mut best {
                best.seconds = best.seconds.least(seconds);
            } else {
                best =
                    Some(Record { cell: *self.cell, outcome: self.half_outcome(halves), seconds });
            }
            if begun.elapsed().as_secs_f64() >= ENOUGH {
                break;
            }
        }
        Ok(best)
    }

    fn half_outcome(&self, halves: Halves) -> Outcome {
        Outcome {
            status: if halves.done { "done" } else { "work-limit" }.into(),
            radius: self.radius,
            saturated: None,
            own: halves.done.then_some(halves.work),
            certified: None,
            work: halves.work,
            gap: halves.upper - halves.lower,
            lower: halves.lower,
            upper: halves.upper,
            trace: Vec::new(),
            note: None,
        }
    }

    /// v ← T(v) from 0, or with Nesterov's momentum, until ‖T(v) − v‖_∞ ≤ ε(1−λ)/(2λ); then v is
    /// within ε/2 of the fixed point.
    fn iterate(&self, sweeps: &mut Sweeps<'_>, evaluator: Evaluator) -> Half {
        let (discount, states) = (self.model.discount(), self.model.states());
        let enough = own_residual(self.cell.epsilon, discount);
        let step = 1.0 / (1.0 + discount);
        let momentum = (1.0 - (1.0 - discount * discount).sqrt()) / discount;
        let (mut v, mut before) = (vec![0.0; states], vec![0.0; states]);
        let mut work = Counts::default();
        let mut done = false;
        while !done && work.sweeps < self.cell.limit && !self.interrupt.is_raised() {
            // For AVI v is the extrapolated point.
            let image = sweeps.image(&v);
            work.sweeps += 1;
            let residual = image.iter().zip(&v).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
            done = residual <= enough;
            match evaluator {
                Evaluator::Avi if !done => {
                    for ((v, image), before) in v.iter_mut().zip(image).zip(&mut before) {
                        let next = *v - step * (*v - image);
                        *v = next + momentum * (next - *before);
                        *before = next;
                    }
                }
                _ => v.copy_from_slice(image),
            }
        }
        work.oracle_calls = work.sweeps * states as u64;
        work.entries = sweeps.take_entries();
        Half { values: v, radius: 0.5 * self.cell.epsilon, work, done }
    }

    fn by_policy_iteration(&self, policy: &[f64], answered: &Model) -> Result<Halves, Error> {
        let (gap, threads) = (Some(self.cell.epsilon), Some(self.threads));
        let above = evaluate(&self.model, &self.set, policy, gap, threads, self.interrupt)?;
        let options =
            Options { stop: Stop::at_gap(self.cell.epsilon), threads, ..Options::default() };
        let none = UncertaintySet::none();
        let below = solve_observed(answered, &none, &options, &mut (), self.interrupt)?;
        let certified = |status| status == Status::Certified;
        Ok(Halves {
            lower: above.worst.initial.0 - below.initial_value.1,
            upper: above.worst.initial.1 - below.initial_value.0,
            work: Counts::from(above.work) + below.work.into(),
            done: certified(above.status) && certified(below.status),
        })
    }
}

/// One fixed point, known up to `radius`.
struct Half {
    values: Vec<f64>,
    radius: f64,
    work: Counts,
    done: bool,
}

/// Bounds of DG at p₀.
struct Halves {
    lower: f64,
    upper: f64,
    work: Counts,
    done: bool,
}

impl Halves {
    fn of(model: &Model, above: Half, below: Half) -> Halves {
        let dg = model.initial_mean(&above.values) - model.initial_mean(&below.values);
        let radius = above.radius + below.radius;
        Halves {
            lower: dg - radius,
            upper: dg + radius,
            work: above.work + below.work,
            done: above.done && below.done,
        }
    }
}

impl Rules {
    fn new(solver: Solver, problem: &Problem, epsilon: f64) -> Rules {
        let own = match solver {
            Solver::Auto => Own::Certified,
            s if s.is_fom() => Own::DualityGap(0.5 * epsilon),
            _ => Own::Residual(own_residual(epsilon, problem.discount)),
        };
        Rules { own, epsilon, own_at: None, certified_at: None }
    }
}

impl Seconds {
    fn least(self, other: Seconds) -> Seconds {
        let least = |a: Option<f64>, b: Option<f64>| Some(a?.min(b?));
        Seconds {
            own: least(self.own, other.own),
            certified: least(self.certified, other.certified),
            total: self.total.min(other.total),
        }
    }
}

/// A random policy, and the model under a random kernel: rows of another Garnet model, mixed with
/// the nominal ones as far as the budget allows.
fn random_pair(
    problem: &Problem,
    model: &Model,
    set: &UncertaintySet,
) -> Result<(Vec<f64>, Model), Error> {
    let mut random = Xoshiro256::new(problem.seed ^ 0x9e37_79b9);
    let mut policy = vec![0.0; model.rows()];
    for s in 0..model.states() {
        let weights = &mut policy[model.rows_of(s)];
        weights.iter_mut().for_each(|x| *x = -(1.0 - random.uniform()).ln());
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|x| *x /= total);
    }
    let states = model.states();
    let other = Garnet {
        states,
        actions: problem.actions(),
        discount: problem.discount,
        seed: problem.seed ^ 0x5851_f42d,
        ..Garnet::default()
    }
    .model()?;
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..states {
        builder.add_state(None);
        let rows = model.rows_of(s);
        let dense = |model: &Model, r: usize| {
            let mut row = vec![0.0; states];
            model.row(r).entries().for_each(|(next, p, _)| row[next] += p);
            row
        };
        let pairs: Vec<(Vec<f64>, Vec<f64>)> =
            rows.clone().map(|r| (dense(model, r), dense(&other, r))).collect();
        let far: f64 = pairs
            .iter()
            .map(|(y0, y)| y0.iter().zip(y).map(|(a, b)| 0.5 * (a - b) * (a - b)).sum::<f64>())
            .sum();
        let budget = set.radius_at(s, rows.start);
        let share = if far <= budget { 1.0 } else { (budget / far).sqrt() };
        for (r, (y0, y)) in rows.zip(&pairs) {
            builder.add_action(None, model.row(r).cost);
            let mixed: Vec<f64> =
                y0.iter().zip(y).map(|(a, b)| (1.0 - share) * a + share * b).collect();
            let total: f64 = mixed.iter().sum();
            for (next, p) in mixed.iter().enumerate().filter(|e| *e.1 > 0.0) {
                builder.add_transition(next, p / total, 0.0);
            }
        }
    }
    Ok((policy, builder.build()?))
}

#[cfg(test)]
mod tests {
    use super::super::cell::{Experiment, FORMAT};
    use super::super::problem::{Family, Regime};
    use super::*;
    use robust_mdp::uncertainty::Distance;

    fn cell(task: Task, epsilon: f64) -> Cell {
        let problem = Problem {
            family: Family::Garnet50,
            regime: Regime::Tight,
            set: Distance::Ellipsoid,
            states: 6,
            discount: 0.8,
            seed: 3,
        };
        let experiment = Experiment::GapCost;
        Cell { format: FORMAT, experiment, problem, task, epsilon, limit: 1_000 }
    }

    fn outcome(task: Task, epsilon: f64) -> Outcome {
        run(&cell(task, epsilon), 1, &Interrupt::new()).unwrap().unwrap().outcome
    }

    #[test]
    fn all_evaluators_enclose_the_same_gap() {
        let sharp = outcome(Task::Gap(Evaluator::Exact), 1e-8);
        for evaluator in Evaluator::ALL {
            let rough = outcome(Task::Gap(evaluator), 0.25);
            assert_eq!(rough.status, "done");
            assert!(rough.lower <= sharp.upper && sharp.lower <= rough.upper, "{rough:?}");
            assert!(rough.upper - rough.lower <= 0.51, "{rough:?}");
        }
    }

    #[test]
    fn all_solvers_agree() {
        let sharp = outcome(Task::Solve(Solver::Auto), 1e-8);
        for solver in Solver::ALL {
            let rough = outcome(Task::Solve(solver), 0.1);
            assert_eq!(rough.status, "done", "{solver:?}");
            assert!(rough.gap <= 0.1, "{solver:?}");
            assert!(rough.lower <= sharp.upper && sharp.lower <= rough.upper, "{solver:?}");
        }
    }

    #[test]
    fn vacuous_budgets_are_saturated() {
        let mut vacuous = cell(Task::Solve(Solver::Auto), 0.1);
        vacuous.problem.family = Family::Healthcare;
        vacuous.problem.regime = Regime::Paper;
        let record = run(&vacuous, 1, &Interrupt::new()).unwrap().unwrap();
        assert_eq!(record.outcome.saturated, Some(1.0));
        let tight = outcome(Task::Solve(Solver::Auto), 0.1);
        assert!(tight.saturated.unwrap() < 0.5, "{tight:?}");
    }
}
