//! What was asked for is what ran.

use robust_mdp::{Method, Options, Oracle, Solution};

/// Asserts that the loop and the oracle of a solution are those of the options, and that first-order steps
/// were taken if and only if the oracle takes them.
pub(crate) fn assert_ran(solution: &Solution, options: &Options) {
    let (method, oracle) = match (options.method, options.oracle) {
        (Method::FomVi, _) | (Method::Auto, Some(Oracle::FirstOrder)) => {
            (Method::FomVi, Oracle::FirstOrder)
        }
        (Method::Auto, oracle) => (Method::Newton, oracle.unwrap_or(Oracle::Exact)),
        (method, oracle) => (method, oracle.unwrap_or(Oracle::Exact)),
    };
    assert_eq!((solution.method, solution.oracle), (method, oracle));
    if let Some(setup) = options.fom.as_ref().and_then(|fom| fom.setup) {
        assert_eq!(solution.setup, setup);
    }
    let stepped = solution.work.first_order_steps > 0;
    let expected = oracle == Oracle::FirstOrder && solution.work.sweeps > 0;
    assert_eq!(stepped, expected, "{method} with the {oracle} oracle: {:?}", solution.work);
}
