//! Scenarios: values by hand and by enumeration, degenerate ones, transitions without nominal probability, and what
//! is refused.

use robust_mdp::certificate::Rejection;
use robust_mdp::instances::{Garnet, Xoshiro256};
use robust_mdp::sets::{Radius, Scenarios, UncertaintySet};
use robust_mdp::{
    Certificate, Criterion, Model, ModelBuilder, Options, Stop, certify, solve, verify,
};

const GAP: f64 = 1e-9;

fn values(model: &Model, set: &UncertaintySet) -> Vec<f64> {
    let options = Options { stop: Stop::at_gap(GAP), ..Options::default() };
    let solution = solve(model, set, &options).unwrap();
    assert!(solution.gap <= GAP && certify(model, set, &solution, None).is_ok());
    solution.values
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 2.0 * GAP)
}

/// Rows of any probabilities on what the model stores.
fn kernel(model: &Model, random: &mut Xoshiro256) -> Vec<f64> {
    let row = |r: usize| {
        let y: Vec<f64> = model.row(r).prob.iter().map(|_| random.uniform()).collect();
        let sum: f64 = y.iter().sum();
        y.into_iter().map(move |y| y / sum)
    };
    (0..model.rows()).flat_map(row).collect()
}

fn garnet(states: usize, actions: usize) -> Model {
    let garnet = Garnet { states, actions, branching: 1.0, discount: 0.7, ..Garnet::default() };
    garnet.model().unwrap()
}

fn refused(model: &Model, set: &UncertaintySet) -> String {
    solve(model, set, &Options::default()).unwrap_err().to_string()
}

/// One action: the worst of all ways to choose a row for every state.
#[test]
fn the_worst_of_all_choices_of_rows() {
    let model = garnet(3, 1);
    let random = &mut Xoshiro256::new(1);
    let kernels = [kernel(&model, random), kernel(&model, random)];
    let set = UncertaintySet::scenarios(Scenarios::new(&model, &kernels).unwrap());
    let found = values(&model, &set);
    let mut worst = vec![f64::NEG_INFINITY; 3];
    for choice in 0..27_usize {
        let row = |s: usize| match choice / 3_usize.pow(s as u32) % 3 {
            0 => model.row(s).prob,
            k => &kernels[k - 1][model.span(s)],
        };
        let mut v = vec![0.0; 3];
        for _ in 0..200 {
            let of = |s: usize| {
                let next: f64 = row(s).iter().zip(&v).map(|(y, v)| y * v).sum();
                model.row(s).cost + 0.7 * next
            };
            v = (0..3).map(of).collect();
        }
        worst.iter_mut().zip(v).for_each(|(w, v)| *w = w.max(v));
    }
    assert!(near(&found, &worst), "{found:?} {worst:?}");
}

#[test]
fn degenerate_scenarios_and_radii() {
    let model = garnet(6, 3);
    let random = &mut Xoshiro256::new(2);
    let [one, two] = [kernel(&model, random), kernel(&model, random)];
    let nominal: Vec<f64> = (0..model.rows()).flat_map(|r| model.row(r).prob.to_vec()).collect();
    let of = |kernels: &[&Vec<f64>]| {
        let kernels: Vec<Vec<f64>> = kernels.iter().map(|kernel| kernel.to_vec()).collect();
        UncertaintySet::scenarios(Scenarios::new(&model, &kernels).unwrap())
    };
    let at = |set: &UncertaintySet, radius: f64| {
        values(&model, &set.clone().with_radius(Radius::Uniform(radius)))
    };
    let plain = values(&model, &UncertaintySet::none());
    let both = of(&[&one, &two]);
    let robust = values(&model, &both);
    assert!(!near(&robust, &plain));
    // The nominal kernel alone, copies, and another order.
    assert!(near(&values(&model, &of(&[&nominal])), &plain));
    assert!(near(&values(&model, &of(&[&nominal, &nominal])), &plain));
    assert!(near(&values(&model, &of(&[&two, &nominal, &one, &two, &one])), &robust));
    assert!(!near(&values(&model, &of(&[&one])), &robust));
    // No share, all and more than all of the way; half of it, which is that of nearer scenarios.
    assert!(near(&at(&both, 0.0), &plain));
    assert_eq!(at(&both, 1.0), robust);
    assert!(near(&at(&both, 7.0), &robust));
    let half =
        |y: &Vec<f64>| -> Vec<f64> { y.iter().zip(&nominal).map(|(y, p)| 0.5 * (y + p)).collect() };
    let nearer = of(&[&half(&one), &half(&two)]);
    assert!(near(&at(&both, 0.5), &values(&model, &nearer)));
    // A budget of all three actions is all of it, a share of one is not.
    let shared = UncertaintySet { rectangularity: Default::default(), ..both };
    assert!(near(&at(&shared, 3.0), &robust));
    let some = at(&shared, 0.3);
    assert!(!near(&some, &robust) && !near(&some, &plain));
}

/// A state that is nominally over is not, if a scenario leads to costs.
#[test]
fn transitions_without_nominal_probability_open() {
    let mut builder = ModelBuilder::new(1.0);
    for (cost, to) in [(0.0, 0), (3.0, 2)] {
        builder.add_state(None);
        builder.add_action(None, cost);
        builder.add_transition(to, 1.0, 0.0);
    }
    builder.add_state(None);
    builder.mark_terminal();
    let model = builder.build().unwrap();
    assert!(model.is_dense());
    let out = vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let set = UncertaintySet::scenarios(Scenarios::new(&model, &[out]).unwrap());
    let options = Options { criterion: Criterion::Total, ..Options::default() };
    let nominal = solve(&model, &UncertaintySet::none(), &options).unwrap();
    assert_eq!(nominal.values[..2], [0.0, 3.0]);
    let solution = solve(&model, &set, &options);
    // It need not end, since the nominal row stays, for nothing; leaving is the worst.
    match solution {
        Ok(solution) => {
            assert!((solution.values[0] - 3.0).abs() < 1e-5, "{:?}", solution.values);
            assert!(certify(&model, &set, &solution, None).is_ok());
        }
        Err(error) => assert!(error.to_string().contains("may not end"), "{error}"),
    }
    let discounted = model.with_discount(0.5).unwrap();
    // Leaving costs ½·3, and it is better to do so at once.
    assert!(near(&values(&discounted, &set)[..2], &[1.5, 3.0]));
}

/// What costs more where the nominal row does not go counts in bounds from costs alone.
#[test]
fn costs_of_opened_transitions_count() {
    let mut builder = ModelBuilder::new(0.5);
    builder.add_state(None);
    builder.add_action(None, 1.0);
    builder.add_transition(0, 1.0, 0.0);
    builder.add_transition(1, 0.0, 9.0);
    builder.add_state(None);
    builder.add_action(None, 1.0);
    builder.add_transition(1, 1.0, 0.0);
    let model = builder.build().unwrap();
    let mut out: Vec<f64> =
        model.row(0).entries().map(|(next, ..)| f64::from(next as u32)).collect();
    out.extend(model.row(1).prob);
    let set = UncertaintySet::scenarios(Scenarios::new(&model, &[out]).unwrap());
    // Half of the way for ever: v = 1 + ½(9 + 1) + ½·½(v + 2).
    assert!(near(&values(&model, &set)[..1], &[11.0]));
    let half = values(&model, &set.with_radius(Radius::Uniform(0.5)));
    assert!(near(&half[..1], &[(1.0 + 4.5 + 0.5) / 0.75]), "{half:?}");
}

#[test]
fn other_models_are_aligned() {
    let row = |builder: ModelBuilder, to: &[(usize, f64)]| builder.state("s").action("go", 1.0, to);
    let end =
        |builder: ModelBuilder| builder.terminal("t").terminal("u").terminal("w").terminal("x");
    let model = end(row(ModelBuilder::new(0.5), &[(0, 0.5), (1, 0.5)])).build().unwrap();
    let other = end(row(ModelBuilder::new(0.9), &[(1, 1.0)])).build().unwrap();
    let aligned = Scenarios::of_models(&model, std::slice::from_ref(&other)).unwrap();
    assert_eq!(aligned.kernels(), [[0.0, 1.0, 0.0, 0.0, 0.0]]);
    // The other way round: the sparse model has no transition to itself.
    let sparse = other;
    assert!(!sparse.is_dense());
    let error =
        Scenarios::of_models(&sparse, std::slice::from_ref(&model)).unwrap_err().to_string();
    let expected = "scenario 1: state s, action go: next state s has probability 0.5, but the model does not list it";
    assert!(error.contains(expected), "{error}");
    let small = garnet(2, 1);
    let error = Scenarios::of_models(&model, &[model.clone(), small]).unwrap_err().to_string();
    assert!(error.contains("scenario 2: 2 states, expected 5"), "{error}");
}

#[test]
fn what_is_no_kernel_is_refused() {
    let model = garnet(3, 2);
    let good = kernel(&model, &mut Xoshiro256::new(5));
    let made = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut bad = good.clone();
        change(&mut bad);
        Scenarios::new(&model, &[good.clone(), bad])
    };
    for (change, expected) in [
        (
            &(|y: &mut Vec<f64>| y[4] += 0.1) as &dyn Fn(&mut Vec<f64>),
            "state 0, action 1: probabilities sum to 1.09",
        ),
        (&|y| y[4] = -0.5, "scenario 2, state 0, action 1: probability -0.5 of next state 1"),
        (&|y| y[4] = f64::NAN, "probability NaN of next state 1"),
        (&|y| y.truncate(17), "scenario 2: 17 probabilities, expected 18"),
    ] {
        let error = made(change).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(Scenarios::new(&model, &[]).unwrap_err().to_string().contains("expected at least one"));
    // Sums that are off by rounding are put right.
    let scaled = made(&|y| y.iter_mut().for_each(|y| *y *= 1.0 + 1e-10)).unwrap();
    let again = Scenarios::new(&model, &[good.clone(), good.clone()]).unwrap();
    let pairs = scaled.numbers().iter().zip(again.numbers());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-15));
    // Unchecked ones are checked with their model.
    let raw = |kernel: Vec<f64>| UncertaintySet::scenarios(Scenarios::from_kernels(&[kernel]));
    assert!(refused(&model, &raw(vec![1.0; 18])).contains("sum to 3, expected 1"));
    assert!(refused(&model, &raw(vec![1.0; 3])).contains("3 probabilities, expected 18"));
    let set = UncertaintySet { scenarios: None, ..raw(good.clone()) };
    assert!(refused(&model, &set).contains("needs at least one of them"));
    let set = UncertaintySet::kl(0.1).with_scenarios(again);
    assert!(refused(&model, &set).contains("the KL set has no scenarios"));
}

#[test]
fn certificates_hold_their_scenarios() {
    let model = garnet(4, 2);
    let random = &mut Xoshiro256::new(6);
    let kernels: Vec<Vec<f64>> = (0..11).map(|_| kernel(&model, random)).collect();
    let set = UncertaintySet::scenarios(Scenarios::new(&model, &kernels).unwrap());
    let solution = solve(&model, &set, &Options::default()).unwrap();
    let (certificate, _) = certify(&model, &set, &solution, None).unwrap();
    let bytes = certificate.to_bytes();
    let read = Certificate::from_bytes(&bytes, &model).unwrap();
    assert!(read == certificate && verify(&model, &read, None).is_ok());
    assert!(read.expect_set(&set).is_ok());
    let fewer = Scenarios::new(&model, &kernels[..10]).unwrap();
    let Err(Rejection::Other { what, .. }) = read.expect_set(&set.with_scenarios(fewer)) else {
        panic!("a certificate of more scenarios");
    };
    assert_eq!(what, "set of scenarios");
    // A file that says that there are more or none is no certificate.
    for count in [0_u32, 10, 12, u32::MAX] {
        let mut other = bytes.clone();
        other[113..117].copy_from_slice(&count.to_le_bytes());
        assert!(matches!(Certificate::from_bytes(&other, &model), Err(Rejection::Malformed(_))));
    }
}
