//! One random problem by several methods: every answer certified, every certificate read back and
//! verified, all bounds compared.

use robust_mdp::instances::Xoshiro256;
use robust_mdp::{
    Certificate, Method, Options, Oracle, Solution, Status, Stop, Verified, certify, solve, verify,
};

use crate::drawn::{Problem, problem};

/// Sweeps after which an exact loop is cut off: its bounds must hold there too.
const MOST_SWEEPS: u64 = 3000;
/// The same for the slow oracles.
const FEW_SWEEPS: u64 = 3;
/// States up to which these are tried.
const FEW_STATES: usize = 8;
/// Verified bounds may be wider than what was asked for by this factor.
const WIDER: f64 = 4.0;
/// And than the bounds of a run that did not get there: rounding is then all there is.
const WIDER_AT_THE_LIMIT: f64 = 4.0;

/// What a seed gave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Answers that were certified and verified.
    pub answers: u64,
    /// Of these, solved to the asked gap.
    pub certified: u64,
    /// The widest verified gap over the asked one, among those.
    pub widest: f64,
}

/// A method, its oracle and the sweeps it may take.
type Way = (Method, Option<Oracle>, u64);

/// Solves the problem of a seed in several ways; says what is wrong, if anything is.
pub fn compare(seed: u64) -> Result<Tally, String> {
    let problem = problem(seed);
    let wrong = |what: String| format!("{what} ({})", problem.label);
    let mut tally = Tally::default();
    let mut proved: Vec<(Way, Verified)> = Vec::new();
    for way in ways(seed, &problem) {
        let verified =
            answer(way, &problem, &mut tally).map_err(|what| wrong(format!("{way:?}: {what}")))?;
        proved.push((way, verified));
    }
    for (way, a) in &proved {
        for (other, b) in &proved {
            for s in 0..problem.model.states() {
                if a.lower[s] > b.upper[s] {
                    let (low, high) = (a.lower[s], b.upper[s]);
                    return Err(wrong(format!(
                        "state {s}: {way:?} proves ≥ {low:e}, {other:?} ≤ {high:e}"
                    )));
                }
            }
        }
    }
    Ok(tally)
}

/// The default, two exact loops, and for small models a slow oracle.
fn ways(seed: u64, problem: &Problem) -> Vec<Way> {
    const LOOPS: [Method; 6] =
        [Method::Newton, Method::Pi, Method::Vi, Method::GsVi, Method::Anderson, Method::Avi];
    let random = &mut Xoshiro256::new(!seed);
    let mut draw = || LOOPS[random.below(6) as usize];
    let mut ways = vec![
        (Method::Auto, None, MOST_SWEEPS),
        (draw(), None, MOST_SWEEPS),
        (draw(), None, 1 + seed % 7),
    ];
    let set = problem.set.distance.set();
    let conic = set.is_none_or(|set| set.cone().is_some());
    let proximal = set.is_none_or(|set| set.prox(set.geometry()).is_some());
    if problem.model.states() <= FEW_STATES {
        ways.extend(match seed % 4 {
            0 if conic => Some((draw(), Some(Oracle::InteriorPoint), FEW_SWEEPS)),
            1 if proximal => Some((draw(), Some(Oracle::FirstOrder), FEW_SWEEPS)),
            2 if proximal => Some((Method::FomVi, None, FEW_SWEEPS)),
            3 if conic => Some((Method::Newton, Some(Oracle::InteriorPoint), FEW_SWEEPS)),
            _ => None,
        });
    }
    ways
}

fn answer(way: Way, problem: &Problem, tally: &mut Tally) -> Result<Verified, String> {
    let (method, oracle, max_sweeps) = way;
    let Problem { model, set, gap, .. } = problem;
    let stop = Stop { max_sweeps, ..Stop::at_gap(*gap) };
    let options = Options { method, oracle, stop, threads: Some(1), ..Options::default() };
    let solution = solve(model, set, &options).map_err(|e| e.to_string())?;
    let asked = (method, oracle.unwrap_or(solution.oracle));
    if method != Method::Auto && (solution.method, solution.oracle) != asked {
        return Err(format!("{} with the {} oracle ran", solution.method, solution.oracle));
    }
    check(&solution)?;
    let (certificate, proved) =
        certify(model, set, &solution, Some(1)).map_err(|e| format!("no certificate: {e}"))?;
    let again = Certificate::from_bytes(&certificate.to_bytes(), model);
    let again = again.map_err(|e| format!("the certificate cannot be read back: {e}"))?;
    let verified = verify(model, &again, Some(1)).map_err(|e| format!("not verified: {e}"))?;
    if verified != proved {
        return Err("the certificate proves something else after it was written and read".into());
    }
    tally.answers += 1;
    let (allowed, met) = match solution.status {
        Status::Certified => (WIDER * gap, true),
        _ => (WIDER_AT_THE_LIMIT * solution.gap, false),
    };
    if met {
        tally.certified += 1;
        tally.widest = tally.widest.max(verified.gap / gap);
    }
    let narrow = verified.gap <= allowed; // not where the gap is no number
    if !narrow {
        let (status, gap) = (solution.status, verified.gap);
        return Err(format!("{status:?}, gap {:e}, but {gap:e} verified", solution.gap));
    }
    Ok(verified)
}

/// What every answer must be: bounds in order and a policy.
fn check(solution: &Solution) -> Result<(), String> {
    for (s, (l, u)) in solution.lower.iter().zip(&solution.upper).enumerate() {
        if !(l.is_finite() && u.is_finite() && l <= u) {
            return Err(format!("state {s}: bounds [{l}, {u}]"));
        }
        let policy = solution.policy_at(s);
        let total: f64 = policy.iter().sum();
        let sound = policy.iter().all(|p| *p >= 0.0) && (total - 1.0).abs() < 1e-12;
        if !policy.is_empty() && !sound {
            return Err(format!("state {s}: policy {policy:?}"));
        }
    }
    Ok(())
}
