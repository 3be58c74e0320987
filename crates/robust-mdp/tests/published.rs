//! FOM-VI against an independent one, epoch by epoch.
//!
//! `published/epochs.json` holds averaged policies and duality gaps of a plain NumPy program that was
//! written from the paper (crates/robust-mdp-python/tests/published.py, which also says how to make it
//! anew). Every trajectory has 4 to 12 epochs; agreement to 1e-9 leaves no room for another step size,
//! weight, average, proximal step or start.

use robust_mdp::geometry::Geometry;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Average, Checks, FomSettings, Interrupt, Method, Model, ModelBuilder, Observer, Options,
    Oracle, Progress, Setup, StepRule, Stop, saddle, solve, solve_observed,
};
use serde::Deserialize;

const NEAR: f64 = 1e-9;

#[derive(Deserialize)]
struct Table {
    /// Without and with costs of next states.
    models: [Arrays; 2],
    cases: Vec<Row>,
}

#[derive(Deserialize)]
struct Arrays {
    #[serde(rename = "P")]
    kernel: Vec<Vec<Vec<f64>>>,
    own: Vec<Vec<f64>>,
    further: Vec<Vec<Vec<f64>>>,
    discount: f64,
}

#[derive(Deserialize)]
struct Row {
    case: Case,
    epochs: Vec<Epoch>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    set: String,
    setup: (Geometry, Geometry),
    p: f64,
    q: f64,
    epochs: u64,
    steps: StepRule,
    method: saddle::FirstOrderMethod,
    average: Average,
    radius: f64,
    support: String,
    per_action: bool,
    next_costs: bool,
}

#[derive(Deserialize)]
struct Epoch {
    policy: Vec<Vec<f64>>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Arrays {
    fn model(&self) -> Model {
        let mut builder = ModelBuilder::new(self.discount);
        for (s, actions) in self.kernel.iter().enumerate() {
            builder.add_state(None);
            for (a, row) in actions.iter().enumerate() {
                builder.add_action(None, self.own[s][a]);
                for (next, &p) in row.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    builder.add_transition(next, p, self.further[s][a][next]);
                }
            }
        }
        builder.build().unwrap()
    }
}

impl Case {
    fn set(&self) -> UncertaintySet {
        let set = match self.set.as_str() {
            "ellipsoid" => UncertaintySet::ellipsoid(self.radius),
            "kl" => UncertaintySet::kl(self.radius),
            "chi2" => UncertaintySet::chi2(self.radius),
            "l1" => UncertaintySet::l1(self.radius),
            other => panic!("{other}"),
        };
        let set = if self.support == "nominal" { set.on_nominal_support() } else { set };
        if self.per_action { set.per_action() } else { set }
    }

    fn settings(&self) -> FomSettings {
        FomSettings {
            setup: Some(Setup { x: self.setup.0, y: self.setup.1 }),
            weights: self.p,
            epochs: self.q,
            method: self.method,
            average: self.average,
            steps: self.steps,
            ..FomSettings::paper()
        }
    }

    fn options(&self, max_sweeps: u64) -> Options {
        Options {
            method: Method::FomVi,
            fom: Some(self.settings()),
            stop: Stop { max_sweeps, ..Stop::at_gap(1e-11) },
            threads: Some(1),
            ..Options::default()
        }
    }

    /// Σ ℓ^q.
    fn steps_until(&self, epoch: u64) -> u64 {
        (1..=epoch).map(|l| (l as f64).powf(self.q) as u64).sum()
    }
}

/// What a run tells of its epochs: first-order steps and the gap of the output.
#[derive(Default)]
struct Trace(Vec<Progress>);

impl Observer for Trace {
    fn progress(&mut self, at: &Progress) {
        self.0.push(*at);
    }
}

fn table() -> Table {
    serde_json::from_str(include_str!("published/epochs.json")).unwrap()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= NEAR * expected.abs().max(1.0)
}

#[test]
fn policies_and_gaps_are_the_published_ones_after_every_epoch() {
    let Table { models, cases } = table();
    let models = models.map(|arrays| arrays.model());
    for Row { case, epochs } in &cases {
        let (model, set) = (&models[usize::from(case.next_costs)], case.set());
        assert_eq!(epochs.len() as u64, case.epochs);
        let mut trace = Trace::default();
        let all = case.options(case.epochs);
        solve_observed(model, &set, &all, &mut trace, &Interrupt::new()).unwrap();
        assert_eq!(trace.0.len(), epochs.len(), "{case:?}");
        for (epoch, (expected, at)) in (1..).zip(epochs.iter().zip(&trace.0)) {
            let solution = solve(model, &set, &case.options(epoch)).unwrap();
            assert_eq!((solution.method, solution.oracle), (Method::FomVi, Oracle::FirstOrder));
            assert_eq!(solution.work.first_order_steps, case.steps_until(epoch));
            assert_eq!(at.work.first_order_steps, case.steps_until(epoch));
            let policy: Vec<f64> = expected.policy.concat();
            for (found, expected) in solution.policy.iter().zip(&policy) {
                assert!(near(*found, *expected), "{case:?} epoch {epoch}: {found} {expected}");
            }
            // The upper bound is the output's own; lower ones are the best so far.
            for (s, upper) in expected.upper.iter().enumerate() {
                assert!(near(solution.upper[s], *upper), "{case:?} epoch {epoch}, state {s}");
                assert!(solution.lower[s] >= expected.lower[s] - NEAR);
            }
            let output = at.output.expect("a gap after every epoch");
            let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
            let (lower, upper) = (mean(&expected.lower), mean(&expected.upper));
            let text = format!("{case:?} epoch {epoch}: {output:?}, expected {lower} to {upper}");
            assert!(near(output.lower, lower) && near(output.upper, upper), "{text}");
            let widest = expected.upper.iter().zip(&expected.lower).map(|(u, l)| u - l);
            assert!(near(output.gap, widest.fold(0.0, f64::max)), "{text}");
        }
    }
}

/// All proximal steps and rules are there, so that none can change unseen.
#[test]
fn the_cases_cover_what_there_is() {
    let Table { cases, .. } = table();
    let some = |wanted: &dyn Fn(&Case) -> bool| assert!(cases.iter().any(|row| wanted(&row.case)));
    for set in ["ellipsoid", "kl"] {
        for geometry in [Geometry::Euclidean, Geometry::Entropy] {
            for steps in [StepRule::Paper, StepRule::Centred] {
                some(&|c| c.set == set && c.setup.1 == geometry && c.steps == steps);
            }
        }
        let natural = if set == "kl" { Geometry::Entropy } else { Geometry::Euclidean };
        for power in [0.0, 1.0, 2.0] {
            let setup = (natural, natural);
            some(&|c| {
                (c.set == set && c.setup == setup && c.steps == StepRule::Paper)
                    && (c.p, c.q) == (power, power)
            });
        }
    }
    for set in ["chi2", "l1"] {
        for steps in [StepRule::Paper, StepRule::Centred] {
            some(&|c| c.set == set && c.steps == steps);
        }
    }
    for average in [Average::All, Average::Epoch] {
        some(&|c| c.average == average);
    }
    for method in [
        saddle::FirstOrderMethod::Pda,
        saddle::FirstOrderMethod::MirrorProx,
        saddle::FirstOrderMethod::MirrorDescent,
    ] {
        some(&|c| c.method == method);
    }
    assert_eq!(FomSettings::paper().checks, Checks::EveryEpoch);
}
