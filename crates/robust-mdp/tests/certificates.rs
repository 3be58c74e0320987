//! Every answer comes with a proof that holds: each method, oracle, set, rectangularity and support,
//! on random models with all that makes them degenerate.

mod cases;
mod reference;

use cases::{Case, Family};
use robust_mdp::{
    Certificate, FomSettings, Method, Model, Options, Oracle, Solution, Status, Stop, Verified,
    certify, solve, verify,
};

const FAMILIES: [Family; 3] = [Family::EverywhereEllipsoid, Family::NominalEllipsoid, Family::Kl];

fn gap_of(model: &Model) -> f64 {
    1e-6 * model.largest_cost().max(1e-3)
}

fn run(case: &Case, method: Method, oracle: Option<Oracle>, max_sweeps: u64) -> Solution {
    let stop = Stop { gap: Some(gap_of(&case.model)), max_sweeps, time_limit: None };
    let fom = FomSettings::default();
    let options = Options { method, oracle, stop, threads: Some(1), fom, ..Options::default() };
    solve(&case.model, &case.set, &options).expect("a valid case")
}

/// Certifies, writes, reads and verifies; the bounds enclose the solution's own and are no wider than
/// twice what was asked for, if that was reached.
fn proved(case: &Case, name: &str, solution: &Solution) -> Verified {
    let (model, set) = (&case.model, &case.set);
    let of = || format!("{name}: Case::new({:?}, {}) {:?}", case.family, case.seed, case.traits);
    let certificate = certify(model, set, solution, Some(1)).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    let bytes = certificate.to_bytes();
    let read = Certificate::from_bytes(&bytes, model).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    assert_eq!(read, certificate);
    let proved = verify(model, &read, Some(1)).unwrap_or_else(|e| panic!("{e}\n{}", of()));
    let asked = match solution.status {
        Status::Certified => solution.target_gap,
        _ => solution.gap,
    };
    assert!(
        proved.gap <= 2.0 * asked,
        "{:?}: gap {:e} became {:e}, asked {:e}\n{}",
        solution.status,
        solution.gap,
        proved.gap,
        solution.target_gap,
        of()
    );
    proved
}

fn newton(family: Family, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let case = Case::new(family, seed);
        let solution = run(&case, Method::Newton, None, 500);
        proved(&case, "newton", &solution);
    }
}

#[test]
fn newton_on_everywhere_ellipsoids() {
    newton(FAMILIES[0], 0..400);
}

#[test]
fn newton_on_nominal_ellipsoids() {
    newton(FAMILIES[1], 0..400);
}

#[test]
fn newton_on_kl() {
    newton(FAMILIES[2], 0..400);
}

#[test]
fn zz_debug() {
    for (f, seed) in [(FAMILIES[0], 98), (FAMILIES[2], 1)] {
        let case = Case::new(f, seed);
        let solution = run(&case, Method::Newton, None, 500);
        let mut c = certify(&case.model, &case.set, &solution, Some(1)).unwrap();
        println!("{:?} {:?}", solution.gap, c.claim);
        c.claim.gap = 0.0;
        println!("{}", verify(&case.model, &c, Some(1)).unwrap_err());
    }
}
