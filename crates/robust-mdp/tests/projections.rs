//! Sets that are known by their nearest points alone: first-order steps solve them, and bounds come from the
//! same steps.

#[path = "../examples/common_shock.rs"]
mod common_shock;

use common_shock::{CommonShock, market};
use robust_mdp::geometry::Geometry;
use robust_mdp::sets::{
    Cone, Distance, EntryData, Mirror, Prox, Scratch, Set, Step, UncertaintySet,
};
use robust_mdp::{
    Checkpointer, Criterion, Direction, Error, Interrupt, Method, Model, ModelBuilder, Options,
    Oracle, Setup, Solution, Status, Stop, certify, conformance, evaluate, solve,
    solve_checkpointed, worst_kernel,
};

const GAP: f64 = 1e-4;

fn shock(radius: f64) -> UncertaintySet {
    UncertaintySet::new(Distance::Custom(&CommonShock), radius)
}

fn options() -> Options {
    let stop = Stop { gap: Some(GAP), max_sweeps: 5000, ..Stop::default() };
    Options { stop, ..Options::default() }
}

/// The bounds of one solution meet those of the other.
fn assert_agree(one: &Solution, other: &Solution) {
    for s in 0..one.lower.len() {
        let (one, other) = ([one.lower[s], one.upper[s]], [other.lower[s], other.upper[s]]);
        assert!(one[0] <= other[1] && other[0] <= one[1], "{one:?} and {other:?} in state {s}");
        assert!(one[1] - one[0] <= GAP && other[1] - other[0] <= GAP, "{one:?} {other:?}");
    }
}

#[test]
fn the_example_runs() {
    common_shock::main().unwrap();
}

#[test]
fn first_order_steps_are_chosen_and_agree_with_conic_programs() {
    let model = market(6, 4).unwrap();
    for radius in [0.0, 1e-6, 0.01, 0.3, 50.0] {
        let set = shock(radius);
        let first = solve(&model, &set, &options()).unwrap();
        assert_eq!((first.method, first.oracle), (Method::FomVi, Oracle::FirstOrder));
        assert_eq!(first.status, Status::Certified);
        for (oracle, method) in [
            (Oracle::InteriorPoint, Method::Auto),
            (Oracle::FirstOrder, Method::Vi),
            (Oracle::FirstOrder, Method::Avi),
        ] {
            let options = Options { oracle: Some(oracle), method, ..options() };
            let other = solve(&model, &set, &options).unwrap();
            assert_eq!(other.oracle, oracle);
            assert_agree(&first, &other);
        }
    }
}

/// With one action, or actions that are all the same, the set is an ellipsoid, which is solved exactly.
#[test]
fn one_action_is_an_ellipsoid() {
    let same = |actions: usize| -> Model {
        let one = market(5, 1).unwrap();
        let mut builder = ModelBuilder::new(one.discount());
        for s in 0..one.states() {
            builder.add_state(None);
            for _ in 0..actions {
                builder.add_action(None, 0.0);
                one.row(s)
                    .entries()
                    .for_each(|(next, p, cost)| builder.add_transition(next, p, cost));
            }
        }
        builder.build().unwrap()
    };
    for (actions, radius) in [(1, 1e-3), (1, 0.05), (1, 3.0), (3, 1e-3), (3, 0.05), (3, 9.0)] {
        let model = same(actions);
        let found = solve(&model, &shock(radius), &options()).unwrap();
        let ball = UncertaintySet::ellipsoid(radius / actions as f64);
        let exact = solve(&same(1), &ball, &options()).unwrap();
        assert_eq!(exact.oracle, Oracle::Exact);
        assert_agree(&found, &exact);
    }
}

#[test]
fn tied_rows_are_worth_less_to_nature_than_free_ones() {
    let model = market(6, 4).unwrap();
    let tied = solve(&model, &shock(0.05), &options()).unwrap();
    let free = solve(&model, &UncertaintySet::ellipsoid(0.05), &options()).unwrap();
    let none = solve(&model, &UncertaintySet::none(), &options()).unwrap();
    for s in 0..6 {
        assert!(tied.upper[s] < free.lower[s] && none.upper[s] < tied.lower[s], "state {s}");
    }
}

#[test]
fn threads_do_not_change_bits() {
    let model = market(7, 3).unwrap();
    let [one, two] = [1, 2].map(|threads| {
        solve(&model, &shock(0.05), &Options { threads: Some(threads), ..options() }).unwrap()
    });
    let bits = |solution: &Solution| -> Vec<u64> {
        let numbers = [&solution.policy, &solution.lower, &solution.upper];
        numbers.into_iter().flatten().map(|x| x.to_bits()).collect()
    };
    assert_eq!((bits(&one), one.work), (bits(&two), two.work));
}

#[test]
fn a_run_goes_on_from_a_checkpoint() {
    #[derive(Default)]
    struct Keep(Option<Vec<u8>>, Vec<Vec<u8>>);
    impl Checkpointer for Keep {
        fn resume(&mut self, _: u64) -> Result<Option<Vec<u8>>, Error> {
            Ok(self.0.take())
        }
        fn is_due(&mut self) -> bool {
            true
        }
        fn keep(&mut self, state: &[u8]) {
            self.1.push(state.to_vec());
        }
    }
    let (model, set) = (market(6, 3).unwrap(), shock(0.02));
    let solved = |keep: &mut Keep| {
        solve_checkpointed(&model, &set, &options(), &mut (), &Interrupt::new(), keep).unwrap()
    };
    let mut keep = Keep::default();
    let whole = solved(&mut keep);
    assert!(keep.1.len() > 3);
    for state in keep.1.iter().step_by(keep.1.len().div_ceil(4)) {
        let again = solved(&mut Keep(Some(state.clone()), Vec::new()));
        assert_eq!((&again.policy, &again.lower), (&whole.policy, &whole.lower));
        assert_eq!(again.work, whole.work);
    }
}

#[test]
fn what_needs_exact_updates_is_refused() {
    let (model, set) = (market(4, 2).unwrap(), shock(0.02));
    let refused = |options: Options, expected: &str| {
        let error = solve(&model, &set, &options).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let none = "needs exact updates, which the common-shock set does not have";
    refused(
        Options { oracle: Some(Oracle::Exact), ..options() },
        &format!("the exact oracle {none}"),
    );
    refused(Options { method: Method::Newton, ..options() }, &format!("the method newton {none}"));
    refused(Options { method: Method::Pi, ..options() }, &format!("the method pi {none}"));
    let ended = Options { criterion: Criterion::Finite { horizon: 3 }, ..options() };
    refused(ended, "finite horizons need the exact or the interior-point oracle");
    let average = Options { criterion: Criterion::Average, ..options() };
    refused(average, &format!("the objective average {none}"));
    refused(
        Options { direction: Direction::Best, ..options() },
        "best cases need the exact oracle",
    );
    refused(Options { deterministic: true, ..options() }, "policies need the exact oracle");
    let setup = Some(Setup { x: Geometry::Euclidean, y: Geometry::Entropy });
    let fom = Some(robust_mdp::FomSettings { setup, ..Default::default() });
    refused(Options { fom, ..options() }, "no proximal step in the kernel's geometry");

    let policy = vec![0.5; model.rows()];
    let interrupt = Interrupt::new();
    let found = evaluate(&model, &set, &policy, None, None, &interrupt).unwrap_err().to_string();
    assert!(found.contains(none), "{found}");
    let found = worst_kernel(&model, &set, &policy, &[0.0; 4], None, |_, _, _| {});
    assert!(found.unwrap_err().to_string().contains(none));
    let solution = solve(&model, &set, &options()).unwrap();
    let found = certify(&model, &set, &solution, None).unwrap_err().to_string();
    assert!(found.contains("there are no certificates for common-shock sets"), "{found}");
}

/// The example's set, but for one lie.
#[derive(Debug)]
struct Lying(Lie);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    Nothing,
    Short,
    Far,
    Weight,
    Value,
    NoSteps,
}

impl Set for Lying {
    fn name(&self) -> &'static str {
        "lying"
    }
    fn distance(&self, p: &[f64], y: &[f64], data: EntryData<'_>) -> f64 {
        CommonShock.distance(p, y, data)
    }
    fn leaves_support(&self) -> bool {
        true
    }
    fn diameter(&self) -> f64 {
        1.0
    }
    fn vacuous(&self, p: &[f64], unused: bool, data: EntryData<'_>) -> f64 {
        CommonShock.vacuous(p, unused, data)
    }
    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        (self.0 != Lie::NoSteps && geometry == Geometry::Euclidean).then_some(self)
    }
    fn cone(&self) -> Option<&dyn Cone> {
        None
    }
}

impl Prox for Lying {
    fn mirror(&self) -> Mirror {
        Mirror::Point
    }
    fn step(&self, mut step: Step<'_>, scratch: &mut Scratch) {
        match self.0 {
            Lie::Short => step.sigma *= 0.99,
            Lie::Far => step.block.radius *= 1.001,
            Lie::Weight => step.emit.weight *= 0.5,
            Lie::Value => step.emit.value = Box::leak(vec![0.0; step.x.len()].into()),
            Lie::Nothing | Lie::NoSteps => {}
        }
        CommonShock.step(step, scratch);
    }
}

#[test]
fn steps_that_lie_are_found_out() {
    let told = |lie| conformance::check(Box::leak(Box::new(Lying(lie))));
    let report = told(Lie::Nothing).unwrap();
    assert!(report.points >= 2000, "{report}");
    for (lie, law) in [
        (Lie::Short, "nearest point"),
        (Lie::Far, "within the budget"),
        (Lie::Weight, "adds its weight"),
        (Lie::Value, "leaves ⟨b, y⟩"),
        (Lie::NoSteps, "a way to be solved"),
    ] {
        let violation = told(lie).expect_err(&format!("{lie:?}"));
        assert!(violation.law.contains(law), "{lie:?}: {violation}");
    }
    // A set with neither is refused by the solver too.
    let set = UncertaintySet::new(Distance::Custom(Box::leak(Box::new(Lying(Lie::NoSteps)))), 0.1);
    let error = solve(&market(3, 2).unwrap(), &set, &options()).unwrap_err().to_string();
    assert!(error.contains("neither exact updates nor Euclidean proximal steps"), "{error}");
}
