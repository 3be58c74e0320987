//! A certificate from a solution: two sweeps of the exact oracle tell the multipliers.
//!
//! Nothing here needs to be right: the verifier says what follows, and that is claimed. First both
//! halves of the proof are made at the middle of the solution's bounds, where nature's answer to the
//! policy serves in both. Where what follows is wider than what was asked for, they part: the upper
//! bounds are a supersolution of T_x and the lower ones a subsolution of F, up to rounding, whatever
//! method found them. Then multipliers are fitted with more care, and at last the values
//! ([`super::narrow`]).

mod criteria;

use self::criteria::of_criterion;
use super::check::no_proof;
use super::claim::Verified;
use super::fit::Fit;
use super::narrow::moved;
use super::rejection::Rejection;
use super::verify::{Proved, prove};
use super::{Certificate, Claim, Multipliers, Step, Weight};
use crate::error::Error;
use crate::loops::bellman::{Bellman, Player};
use crate::model::{Model, Objective};
use crate::oracle::exact::Goal;
use crate::pool::{in_pool, join};
use crate::sets::{Rectangularity, UncertaintySet};
use crate::solution::Solution;
use crate::solve::{Criterion, Problem, check_scale};

/// What multipliers are lowered by, so that roundings leave the kernel in the set: it is cheaper to verify one
/// that needs no mixing with nominal rows.
const ROOM: f64 = 2e-13;
/// How often values are moved to where the verifier's roundings cost less.
const ROUNDS: usize = 2;

/// Makes a certificate for a solution of this model and set that claims what it proves, and says what
/// that is; the same on any number of `threads`.
pub fn certify(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    threads: Option<usize>,
) -> Result<(Certificate, Verified), Error> {
    set.validate(model)?;
    check_scale(model, solution.criterion)?;
    if let Some(set) = set.distance.set().filter(|set| set.proof().is_none()) {
        return Err(Error::Input(no_proof(set)));
    }
    set.expect_exact_updates("a certificate")?;
    let Solution { policy, lower, upper, .. } = solution;
    let states = model.states();
    if policy.len() != model.rows() || lower.len() != states || upper.len() != states {
        return Err(Error::Input("the solution is one of another model".into()));
    }
    let found = in_pool(threads, || match solution.criterion {
        Criterion::Discounted => narrowest(model, set, solution, threads),
        Criterion::Finite { .. } | Criterion::Total | Criterion::Average => {
            of_criterion(model, set, solution, threads)
        }
    })?;
    let (mut certificate, proved) = found.map_err(|e| Error::Input(e.to_string()))?;
    let verified = proved.verified;
    let apart = |s: &usize| verified.upper[*s] < lower[*s] || upper[*s] < verified.lower[*s];
    if let Some(s) = (0..states).find(apart) {
        return Err(Error::Input(format!(
            "the solution is not one of this model and set: state {s} is worth {:?} to {:?}, not {:?} to {:?}",
            verified.lower[s], verified.upper[s], lower[s], upper[s]
        )));
    }
    let (lower, upper) = verified.initial;
    certificate.claim = Claim { lower, upper, gap: verified.gap };
    Ok((certificate, verified))
}

/// A certificate without a claim, and what it proves.
type Attempt = Result<(Certificate, Proved), Rejection>;

/// The narrowest of as many attempts as it takes to prove what the solution promises.
fn narrowest(
    model: &Model,
    set: &UncertaintySet,
    solution: &Solution,
    threads: Option<usize>,
) -> Attempt {
    let enough = solution.target_gap.max(1.001 * solution.gap);
    let problem = problem_of(model, set, solution);
    let mut emission = Emission::new(model, set, &problem, solution);
    let (lower, upper) = (emission.lower.clone(), emission.upper.clone());
    let attempt = |emission: &mut Emission<'_>, care: Care| -> Attempt {
        let certificate = emission.make(care);
        let (proved, _) = prove(model, &certificate, threads, false)?;
        Ok((certificate, proved))
    };
    emission.meet();
    let mut best = attempt(&mut emission, Care::Joint);
    (emission.lower, emission.upper) = (lower, upper);
    if gap(&best) > enough {
        best = narrower(best, attempt(&mut emission, Care::Quick));
    }
    if gap(&best) > enough {
        best = narrower(best, attempt(&mut emission, Care::Fitted));
    }
    for _ in 0..ROUNDS {
        let before = gap(&best);
        let Ok((certificate, proved)) = &best else { break };
        if before <= enough {
            break;
        }
        if emission.cooperative {
            break; // roundings are spread for policies that minimise alone
        }
        let Emission { bellman, lower, upper, .. } = &mut emission;
        (*lower, *upper) = moved(bellman, &solution.policy, certificate, &proved.excesses);
        best = narrower(best, attempt(&mut emission, Care::Fitted));
        if gap(&best) >= before {
            break;
        }
    }
    best
}

fn problem_of<'a>(model: &'a Model, set: &'a UncertaintySet, solution: &Solution) -> Problem<'a> {
    let Solution { criterion, direction, deterministic, .. } = solution;
    Problem::new(model, set, *criterion, *direction, *deterministic)
}

/// (lower, upper) as costs of this model.
fn as_costs(model: &Model, lower: &[f64], upper: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let negated = |v: &[f64]| v.iter().map(|x| 0.0 - x).collect::<Vec<f64>>();
    match model.objective() {
        Objective::MinCost => (lower.to_vec(), upper.to_vec()),
        Objective::MaxReward => (negated(upper), negated(lower)),
    }
}

fn gap(attempt: &Attempt) -> f64 {
    attempt.as_ref().map_or(f64::INFINITY, |(_, proved)| proved.verified.gap)
}

/// The one that proves more; the first if neither does.
fn narrower(one: Attempt, other: Attempt) -> Attempt {
    if gap(&other) < gap(&one) { other } else { one }
}

/// The certificate of the first attempt, without a claim, and the row entries that making and verifying
/// it visits.
pub(crate) fn emit(model: &Model, set: &UncertaintySet, solution: &Solution) -> (Certificate, u64) {
    let problem = problem_of(model, set, solution);
    let mut emission = Emission::new(model, set, &problem, solution);
    emission.meet();
    let certificate = emission.make(Care::Joint);
    let read = |row: u32| model.span(row as usize).len();
    let answered: usize = certificate.policy.iter().map(|w| read(w.row)).sum();
    // Rows with multipliers are read to fit them and to verify them, all others to verify.
    let fitted: usize = certificate.kernel.iter().map(|k| read(k.row)).sum();
    let entries =
        emission.bellman.take_entries() + (answered + fitted + model.transitions()) as u64;
    (certificate, entries)
}

/// How the kernel of the lower bound is found.
#[derive(Clone, Copy, PartialEq)]
enum Care {
    /// It is nature's answer to the policy, but for rows on their maxima; v_L = v_U.
    Joint,
    /// Rows are those that an update leaves.
    Quick,
    /// Rows are fitted to rounding, and sweeps begin from elsewhere.
    Fitted,
}

/// What certificates are made of.
struct Emission<'a> {
    own: &'a Model,
    own_set: &'a UncertaintySet,
    solution: &'a Solution,
    fingerprint: Option<u128>,
    /// The problem that the question comes down to.
    model: &'a Model,
    set: &'a UncertaintySet,
    cooperative: bool,
    bellman: Bellman<'a>,
    policy: &'a [f64],
    /// v_U and v_L.
    upper: Vec<f64>,
    lower: Vec<f64>,
}

impl<'a> Emission<'a> {
    fn new(
        own: &'a Model,
        own_set: &'a UncertaintySet,
        problem: &'a Problem<'a>,
        solution: &'a Solution,
    ) -> Emission<'a> {
        let (model, set) = (&*problem.model, &*problem.set);
        let (lower, upper) = as_costs(model, &solution.lower, &solution.upper);
        let cooperative = problem.cooperative;
        let bellman = Bellman::new(model, set).referred().cooperative(cooperative);
        let (fingerprint, policy) = (None, &solution.policy[..]);
        Emission {
            own,
            own_set,
            solution,
            fingerprint,
            model,
            set,
            cooperative,
            bellman,
            policy,
            upper,
            lower,
        }
    }

    /// Brings v_U and v_L to their middle.
    fn meet(&mut self) {
        for (lower, upper) in self.lower.iter_mut().zip(&mut self.upper) {
            let middle = 0.5 * *lower + 0.5 * *upper;
            (*lower, *upper) = (middle, middle);
        }
    }

    /// A step at these values, and the fingerprint of the model.
    fn step(&mut self, care: Care) -> (Step, u128) {
        let (model, set, own) = (self.model, self.set, self.own);
        let known = self.fingerprint;
        if care == Care::Fitted {
            self.bellman = Bellman::new(model, set).referred().cooperative(self.cooperative);
        }
        let (fingerprint, ((policy, scale), mut kernel)) = join(
            || known.unwrap_or_else(|| own.fingerprint_at(model.discount())),
            || match care {
                // Cold sweeps of both players know cheaper ways than nature's.
                Care::Joint | Care::Quick => {
                    let kernel = self.kernel(care);
                    (self.answer(care), kernel)
                }
                Care::Fitted => (self.answer(care), self.kernel(care)),
            },
        );
        self.fingerprint = Some(fingerprint);
        if care == Care::Joint {
            self.leave_out(&policy, &scale, &mut kernel);
        }
        let (upper, lower) = (self.upper.clone(), self.lower.clone());
        (Step { upper, lower, policy, scale, kernel }, fingerprint)
    }

    /// A certificate without a claim.
    fn make(&mut self, care: Care) -> Certificate {
        let (step, fingerprint) = self.step(care);
        self.certificate(step, Vec::new(), fingerprint)
    }

    /// The certificate of these steps, without a claim.
    fn certificate(&self, first: Step, further: Vec<Step>, fingerprint: u128) -> Certificate {
        let (model, solution) = (self.own, self.solution);
        let Step { upper, lower, policy, scale, kernel } = first;
        Certificate {
            model: fingerprint,
            discount: solution.criterion.discount(model.discount()),
            objective: model.objective(),
            criterion: solution.criterion,
            direction: solution.direction,
            deterministic: solution.deterministic,
            surely: solution.ending.as_ref().is_some_and(|ending| ending.surely),
            set: self.own_set.clone(),
            method: solution.method,
            oracle: solution.oracle,
            claim: Claim { lower: f64::NEG_INFINITY, upper: f64::INFINITY, gap: f64::INFINITY },
            upper,
            lower,
            policy,
            scale,
            kernel,
            further,
        }
    }

    /// Multipliers of nature's answer to the policy at v_U: t = x/(μκ), so that μ = Σx/Σκt.
    fn answer(&mut self, care: Care) -> (Vec<Weight>, Vec<f64>) {
        let (model, set, x) = (self.model, self.set, self.policy);
        let room = if care == Care::Joint { ROOM } else { 0.0 };
        let own_set = self.own_set;
        let all = vec![1.0; if self.cooperative { model.rows() } else { 0 }];
        // Where policies maximise too, all rows have answers.
        let player = if self.cooperative { Player::Both } else { Player::Nature(x) };
        let answered = if self.cooperative { &all[..] } else { x };
        self.bellman.sweep(&self.upper, player, 0.0);
        let shared = set.rectangularity == Rectangularity::State;
        // One a row, and the state's scale with no row behind these.
        let bellman = &self.bellman;
        let found = bellman.collect(0..model.states(), &|s, mut memory, worker, out| {
            let (mut weight, mut total) = (0.0, 0.0);
            bellman.second_numbers(s, &answered[model.rows_of(s)], &mut memory, worker);
            for (k, r) in model.rows_of(s).enumerate().filter(|(_, r)| answered[*r] > 0.0) {
                let (t, nu) = (memory.t[k], memory.nu[k]);
                let moved = t > 0.0 && t.is_finite() && set.radius_at(s, r) > 0.0;
                let nu = if moved && nu.is_finite() { nu } else { 0.0 };
                let row = Weight { row: r as u32, probability: x[r], nu };
                if t > 0.0 {
                    (weight, total) = (weight + x[r], total + set.weight_at(r) * t);
                }
                // Of κ·d, where the set has a budget that a row has to itself here.
                let price = t * own_set.weight_at(r);
                let own = (!shared).then(|| if moved { usable((1.0 + room) / price) } else { 0.0 });
                out.push((Some(row), own));
            }
            if shared {
                let scale = if total > 0.0 { usable((1.0 + room) * weight / total) } else { 0.0 };
                out.push((None, Some(scale)));
            }
        });
        let scale = found.iter().filter_map(|f| f.1).collect();
        (found.into_iter().filter_map(|f| f.0).collect(), scale)
    }

    /// The kernel of the lower bound at v_L.
    fn kernel(&mut self, care: Care) -> Vec<Multipliers> {
        let (model, set, lower) = (self.model, self.set, &self.lower);
        self.bellman.sweep(lower, Player::Both, 0.0);
        let fit = Fit::new(model, set, lower);
        let policy = self.policy;
        let cooperative = self.cooperative;
        let several =
            |s: usize| policy[model.rows_of(s)].iter().filter(|x| **x > 0.0).nth(1).is_some();
        let goal = |s: usize| {
            let reached = self.bellman.lower[s];
            match care {
                // Where a policy has several rows, nature's answer to it has multipliers, or maxima.
                Care::Joint if several(s) => Goal::Maxima(reached),
                Care::Joint | Care::Quick => Goal::Near(reached),
                // No higher than needed: what is left of the budget makes up for rounding.
                Care::Fitted => Goal::Level((0.5 * (reached + lower[s])).min(reached)),
            }
        };
        self.bellman.multipliers(&goal, &|s, rows, mut points, out: &mut Vec<Multipliers>| {
            let first = model.rows_of(s).start;
            let found =
                |&(k, t, nu): &(usize, f64, f64)| Multipliers { row: (first + k) as u32, t, nu };
            let mut kernel: Vec<Multipliers> = rows.iter().map(found).collect();
            kernel.retain(|k| !cooperative || policy[k.row as usize] > 0.0);
            if care == Care::Fitted || kernel.iter().any(|k| k.t.is_infinite()) {
                fit.settle(s, &mut kernel, &mut points);
            }
            let usable = |k: &Multipliers| k.t > 0.0 && k.t.is_finite() && k.nu.is_finite();
            out.extend(kernel.into_iter().filter(usable));
        })
    }

    /// Leaves out rows of states (rows alone, if these have budgets of their own) that have the policy's multipliers.
    fn leave_out(&self, policy: &[Weight], scale: &[f64], kernel: &mut Vec<Multipliers>) {
        let mut implied = vec![false; self.model.rows()];
        match self.set.rectangularity {
            Rectangularity::State => (0..self.model.states())
                .for_each(|s| implied[self.model.rows_of(s)].fill(scale[s] > 0.0)),
            Rectangularity::StateAction => (policy.iter().zip(scale))
                .for_each(|(weight, mu)| implied[weight.row as usize] = *mu > 0.0),
        }
        kernel.retain(|k| !implied[k.row as usize]);
    }
}

/// A multiplier that a file may have; 0 proves something too.
fn usable(mu: f64) -> f64 {
    if mu.is_finite() && mu >= 0.0 { mu } else { 0.0 }
}
