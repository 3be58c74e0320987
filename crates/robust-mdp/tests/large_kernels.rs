//! Evaluations and worst-case kernels of a sparse model in which nature may put mass on every state, and
//! which has too many states for an entry for each pair of them.

use robust_mdp::instances::Garnet;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Error, Interrupt, Method, Model, ModelBuilder, Options, SparseKernel, Status, evaluate, solve,
    worst_kernel_rows,
};

const STATES: usize = 47_000;
const RADIUS: f64 = 0.02;

/// Rows of five next states anywhere, two actions a state.
fn model() -> Model {
    let garnet =
        Garnet { states: STATES, actions: 2, branching: 5.0 / STATES as f64, ..Garnet::default() };
    let model = garnet.model().unwrap();
    assert!(!model.is_dense() && model.transitions() == 10 * STATES);
    model
}

/// The same costs under the kernel.
fn under(model: &Model, kernel: &SparseKernel) -> Model {
    let mut builder = ModelBuilder::new(model.discount());
    for s in 0..model.states() {
        builder = builder.state(&s.to_string());
        for r in model.rows_of(s) {
            let row: Vec<(usize, f64)> = kernel.row(r).map(|(i, p)| (i as usize, p)).collect();
            builder = builder.action("", model.row(r).cost, &row);
        }
    }
    builder.build().unwrap()
}

/// ½‖y − y⁰‖² of a row, which must be a distribution.
fn spent(model: &Model, kernel: &SparseKernel, r: usize) -> f64 {
    let mut total = 0.0;
    let mut changes: Vec<(usize, f64)> = model.row(r).entries().map(|(i, p, _)| (i, -p)).collect();
    for (next, p) in kernel.row(r) {
        assert!(p > 0.0 && (next as usize) < STATES);
        total += p;
        match changes.iter_mut().find(|(i, _)| *i == next as usize) {
            Some((_, change)) => *change += p,
            None => changes.push((next as usize, p)),
        }
    }
    assert!((total - 1.0).abs() < 1e-12, "row {r}: {total}");
    0.5 * changes.iter().map(|(_, change)| change * change).sum::<f64>()
}

#[test]
fn evaluations_and_kernels_are_there_wherever_solutions_are() {
    let (model, set) = (model(), UncertaintySet::ellipsoid(RADIUS));
    let dense = Options { method: Method::FomVi, ..Options::default() };
    assert!(matches!(solve(&model, &set, &dense), Err(Error::Memory { .. })));

    let solution = solve(&model, &set, &Options::default()).unwrap();
    assert_eq!(solution.status, Status::Certified);
    let interrupt = Interrupt::new();
    let evaluated = evaluate(&model, &set, &solution.policy, None, None, &interrupt).unwrap();
    assert_eq!(evaluated.status, Status::Certified);
    let worst = &evaluated.worst;
    for s in 0..STATES {
        assert!(worst.lower[s] <= solution.upper[s] && worst.upper[s] >= solution.lower[s]);
    }

    let kernel = worst_kernel_rows(&model, &set, &solution.policy, &worst.values, None, &interrupt);
    let kernel = kernel.unwrap().unwrap();
    assert_eq!(kernel.starts.len(), model.rows() + 1);
    let entries = kernel.prob.len() / model.rows();
    assert!(entries < 200, "{entries} entries a row");
    for s in 0..STATES {
        let used: f64 = model.rows_of(s).map(|r| spent(&model, &kernel, r)).sum();
        assert!(used <= RADIUS * (1.0 + 1e-9), "state {s}: {used}");
    }

    // The kernel attains the worst case.
    let (fixed, none) = (under(&model, &kernel), UncertaintySet::none());
    let attained = evaluate(&fixed, &none, &solution.policy, None, None, &interrupt).unwrap().worst;
    for s in 0..STATES {
        let gap = evaluated.target_gap;
        assert!(attained.lower[s] <= worst.upper[s], "state {s}");
        assert!(attained.upper[s] >= worst.lower[s] - gap, "state {s}");
    }
}

/// Whatever the policy, its rows are few where the values are not.
#[test]
fn an_interrupt_leaves_bounds_from_costs() {
    let (model, set) = (model(), UncertaintySet::ellipsoid(RADIUS));
    let policy: Vec<f64> = (0..model.rows()).map(|r| f64::from(u8::from(r % 2 == 0))).collect();
    let interrupt = Interrupt::new();
    let whole = evaluate(&model, &set, &policy, None, None, &interrupt).unwrap();
    interrupt.raise();
    let ended = evaluate(&model, &set, &policy, None, None, &interrupt).unwrap();
    assert_eq!(ended.status, Status::Interrupted);
    let values = &whole.worst.values;
    assert_eq!(worst_kernel_rows(&model, &set, &policy, values, None, &interrupt).unwrap(), None);
    let costs: Vec<f64> = (0..model.rows()).map(|r| model.row(r).cost).collect();
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min) / (1.0 - model.discount());
    let most = costs.iter().copied().fold(0.0, f64::max) / (1.0 - model.discount());
    for (ended, whole) in [(ended.worst, whole.worst), (ended.nominal, whole.nominal)] {
        for s in 0..STATES {
            assert!(ended.lower[s] <= whole.lower[s] && ended.upper[s] >= whole.upper[s]);
            assert!(ended.lower[s] >= least - 1e-9 && ended.upper[s] <= most + 1e-9);
        }
    }
}

#[test]
fn values_and_policies_of_the_wrong_length_are_refused() {
    let model = robust_mdp::instances::machine_replacement(5, 0.8).unwrap();
    let set = UncertaintySet::kl(0.1);
    let policy = vec![0.5; model.rows()];
    let told = |policy: &[f64], values: &[f64]| {
        worst_kernel_rows(&model, &set, policy, values, None, &Interrupt::new())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(told(&policy, &[0.0; 4]), "4 values, expected one for each of 5 states");
    assert_eq!(told(&policy, &[0.0; 6]), "6 values, expected one for each of 5 states");
    assert!(told(&policy[1..], &[0.0; 5]).contains("has 10 entries"), "a short policy");
    let holed = [0.0, f64::NAN, 0.0, 0.0, 0.0];
    assert!(told(&policy, &holed).contains("the value is NaN, expected a finite number"));
    let far = [1e300, -1e300, 0.0, 0.0, 0.0];
    assert!(worst_kernel_rows(&model, &set, &policy, &far, None, &Interrupt::new()).is_ok());
}
