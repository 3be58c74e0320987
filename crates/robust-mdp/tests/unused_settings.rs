//! Settings that the chosen method would not use are refused, not ignored.

mod ran;

use ran::assert_ran;
use robust_mdp::geometry::Geometry::Entropy;
use robust_mdp::instances::machine_replacement;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{
    Average, Checks, FomSettings, Method, Options, Oracle, Published, Setup, StepRule, Stop,
    saddle, solve,
};

fn asked(method: Method, oracle: Option<Oracle>, fom: Option<FomSettings>) -> Options {
    Options { method, oracle, fom, stop: Stop::at_gap(0.1), threads: Some(1), ..Options::default() }
}

fn told(options: &Options) -> String {
    let model = machine_replacement(6, 0.8).unwrap();
    solve(&model, &UncertaintySet::kl(0.1), options).unwrap_err().to_string()
}

fn runs(options: &Options) {
    let model = machine_replacement(6, 0.8).unwrap();
    assert_ran(&solve(&model, &UncertaintySet::kl(0.1), options).unwrap(), options);
}

const LOOPS: [Method; 7] = [
    Method::Auto,
    Method::Newton,
    Method::Pi,
    Method::Vi,
    Method::GsVi,
    Method::Anderson,
    Method::Avi,
];

#[test]
fn first_order_settings_without_first_order_steps() {
    for method in LOOPS {
        for oracle in [None, Some(Oracle::Exact), Some(Oracle::InteriorPoint)] {
            let text = told(&asked(method, oracle, Some(FomSettings::default())));
            let name = oracle.unwrap_or(Oracle::Exact).to_string();
            assert!(text.ends_with(&format!("but the oracle is {name}")), "{text}");
        }
    }
}

#[test]
fn settings_of_the_oracle_serve_every_loop_and_those_of_fom_vi_one() {
    let own = FomSettings::default();
    for steps in [StepRule::Centred, StepRule::Paper] {
        let setup = Some(Setup { x: Entropy, y: Entropy });
        let method = saddle::FirstOrderMethod::MirrorProx;
        let of_oracle = FomSettings { setup, method, ..FomSettings::of(steps) };
        runs(&asked(Method::Vi, Some(Oracle::FirstOrder), Some(of_oracle)));
    }
    let of_loop = [
        ("weights", FomSettings { weights: 1.0, ..own.clone() }),
        ("epochs", FomSettings { epochs: 1.0, ..own.clone() }),
        ("average", FomSettings { average: Average::All, ..own.clone() }),
        ("jump", FomSettings { jump: false, ..own.clone() }),
        ("head_start", FomSettings { head_start: false, ..own.clone() }),
        ("checks", FomSettings { checks: Checks::EveryEpoch, ..own.clone() }),
    ];
    for (name, fom) in of_loop {
        let text = told(&asked(Method::Vi, Some(Oracle::FirstOrder), Some(fom.clone())));
        assert_eq!(text, format!("{name} is a setting of fom-vi, but the method is vi"));
        runs(&asked(Method::FomVi, None, Some(fom.clone())));
        runs(&asked(Method::Auto, Some(Oracle::FirstOrder), Some(fom)));
    }
}

#[test]
fn settings_of_other_methods() {
    let anderson = Options { anderson: Some(3), ..asked(Method::Newton, None, None) };
    assert!(told(&anderson).ends_with("of anderson, but the method is newton"));
    runs(&Options { method: Method::Anderson, ..anderson });
    let published = Some(Published { residual: 0.1 });
    let residual = Options { published, ..asked(Method::FomVi, None, None) };
    assert!(told(&residual).ends_with("but the method is fom-vi"));
    let whole = Options { whole_programs: true, ..asked(Method::Vi, None, None) };
    assert!(told(&whole).ends_with("of interior-point, but the oracle is exact"));
    runs(&Options { oracle: Some(Oracle::InteriorPoint), ..whole });
    let bracketed =
        Options { bracketed: true, ..asked(Method::Vi, Some(Oracle::FirstOrder), None) };
    assert!(told(&bracketed).ends_with("of exact, but the oracle is first-order"));
    runs(&Options { oracle: None, ..bracketed });
}
