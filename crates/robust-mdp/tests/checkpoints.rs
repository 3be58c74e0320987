//! A run that goes on from a checkpoint ends with the bits of one that was never interrupted,
//! wherever it was cut; and what is no checkpoint of the question is refused.

mod ran;

use ran::assert_ran;
use robust_mdp::instances::{Garnet, machine_replacement};
use robust_mdp::sets::{Radius, UncertaintySet};
use robust_mdp::{
    Average, Checkpointer, Error, FomSettings, Interrupt, Method, Model, ModelBuilder, Observer,
    Options, Oracle, Progress, Solution, Status, Stop, solve, solve_checkpointed,
};

/// Keeps every state that it is offered, and begins with one.
#[derive(Default)]
struct Keep {
    found: Option<Vec<u8>>,
    states: Vec<Vec<u8>>,
    /// Only what is left at the end.
    last_only: bool,
}

impl Checkpointer for Keep {
    fn resume(&mut self, most: u64) -> Result<Option<Vec<u8>>, Error> {
        let found = self.found.take();
        assert!(found.as_ref().is_none_or(|bytes| bytes.len() as u64 <= most));
        Ok(found)
    }
    fn is_due(&mut self) -> bool {
        !self.last_only
    }
    fn keep(&mut self, state: &[u8]) {
        self.states.push(state.to_vec());
    }
}

fn checkpointed(model: &Model, set: &UncertaintySet, options: &Options) -> (Solution, Keep) {
    let mut keep = Keep::default();
    let interrupt = Interrupt::new();
    let solved = solve_checkpointed(model, set, options, &mut (), &interrupt, &mut keep);
    (solved.unwrap(), keep)
}

fn resume(
    model: &Model,
    set: &UncertaintySet,
    options: &Options,
    state: &[u8],
) -> Result<Solution, Error> {
    let mut keep = Keep { found: Some(state.to_vec()), ..Keep::default() };
    solve_checkpointed(model, set, options, &mut (), &Interrupt::new(), &mut keep)
}

/// Everything but the time.
fn assert_same(a: &Solution, b: &Solution, what: &str) {
    let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!((a.status, a.work, a.gap.to_bits()), (b.status, b.work, b.gap.to_bits()), "{what}");
    assert_eq!(bits(&a.policy), bits(&b.policy), "{what}");
    assert_eq!(bits(&a.lower), bits(&b.lower), "{what}");
    assert_eq!(bits(&a.upper), bits(&b.upper), "{what}");
    let clockless = |s: &Solution| {
        let mut s = s.clone();
        (s.seconds, s.check_seconds) = (0.0, 0.0);
        s
    };
    assert_eq!(clockless(a), clockless(b), "{what}");
}

/// At most `most` of `n`, the first and the last among them.
fn some_of(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let step = n.saturating_sub(1).max(1).div_ceil(most.max(2) - 1).max(1);
    (0..n).filter(move |i| i % step == 0 || *i + 1 == n)
}

/// Runs with a checkpoint after every sweep and goes on from them; returns how many there were.
fn check(model: &Model, set: &UncertaintySet, options: &Options, most: usize) -> usize {
    let what = format!("{:?} {:?} {set:?}", options.method, options.oracle);
    let whole = solve(model, set, options).unwrap();
    assert_ran(&whole, options);
    let (watched, keep) = checkpointed(model, set, options);
    assert_same(&whole, &watched, &what);
    for i in some_of(keep.states.len(), most) {
        let options = Options { threads: Some(1 + i % 3), ..options.clone() };
        let resumed = resume(model, set, &options, &keep.states[i])
            .unwrap_or_else(|e| panic!("{what}: checkpoint {i}: {e}"));
        assert_same(&whole, &resumed, &format!("{what}: checkpoint {i}"));
    }
    keep.states.len()
}

fn garnet(states: usize, branching: f64, band: Option<usize>, discount: f64) -> Model {
    let sizes = Garnet { states, actions: 4, branching, band, ..Garnet::default() };
    Garnet { discount, seed: 11, ..sizes }.model().unwrap()
}

/// A chain with a terminal state and costs on transitions.
fn with_an_end() -> Model {
    let mut builder = ModelBuilder::new(0.95);
    for s in 0..12_u32 {
        builder = builder
            .state(&format!("s{s}"))
            .action("on", 1.0 + f64::from(s % 3), &[(s as usize + 1, 0.8), (0, 0.2)])
            .action("back", 0.5, &[(s as usize / 2, 0.7), (s as usize + 1, 0.3)]);
    }
    builder.terminal("end").build().unwrap()
}

fn sets() -> Vec<UncertaintySet> {
    let (ellipsoid, kl) = (UncertaintySet::ellipsoid(0.05), UncertaintySet::kl(0.05));
    vec![
        ellipsoid.clone(),
        ellipsoid.clone().per_action(),
        ellipsoid.on_nominal_support(),
        kl.clone(),
        kl.per_action(),
        UncertaintySet::chi2(0.05),
        UncertaintySet::l1(0.2),
        UncertaintySet::total_variation(0.1).per_action(),
        UncertaintySet::none(),
    ]
}

const LOOPS: [Method; 6] =
    [Method::Vi, Method::GsVi, Method::Anderson, Method::Avi, Method::Pi, Method::Newton];

fn options(method: Method, oracle: Option<Oracle>, gap: f64, max_sweeps: u64) -> Options {
    let stop = Stop { max_sweeps, ..Stop::at_gap(gap) };
    Options { method, oracle, stop, threads: Some(2), ..Options::default() }
}

#[test]
fn every_loop_with_the_exact_oracle() {
    let models = [
        garnet(13, 0.6, None, 0.9),
        garnet(40, 0.1, None, 0.97),
        garnet(40, 0.3, Some(3), 0.99),
        with_an_end(),
        machine_replacement(10, 0.8).unwrap(),
    ];
    for model in &models {
        for set in sets() {
            for method in LOOPS {
                let taken = check(model, &set, &options(method, None, 1e-7, 10_000), 9);
                assert!(taken > 0, "{method:?} {set:?}");
            }
        }
    }
}

/// The driver of all sets remembers what it needs too.
#[test]
fn every_loop_with_the_bracketed_driver() {
    let models = [garnet(13, 0.6, None, 0.9), with_an_end()];
    let piecewise_linear = [UncertaintySet::l1(0.0), UncertaintySet::total_variation(0.0)];
    for set in sets().into_iter().filter(|set| *set != UncertaintySet::none()) {
        let mut as_usual = true;
        for (model, method) in models.iter().flat_map(|m| LOOPS.map(|method| (m, method))) {
            let usual = options(method, None, 1e-7, 10_000);
            let asked = Options { bracketed: true, ..usual.clone() };
            assert!(check(model, &set, &asked, 5) > 0, "{method:?} {set:?}");
            let [own, other] = [&asked, &usual].map(|o| solve(model, &set, o).unwrap());
            as_usual &= own.lower == other.lower && own.work == other.work;
        }
        // Its roundings tell that it ran; piecewise linear rows have no other driver.
        let has_no_other = piecewise_linear.iter().any(|other| other.distance == set.distance);
        assert_eq!(as_usual, has_no_other, "{set:?}");
    }
}

#[test]
fn every_loop_with_the_other_oracles() {
    let models = [garnet(6, 0.6, None, 0.8), garnet(9, 0.3, None, 0.8), with_an_end()];
    for model in &models {
        for set in sets().into_iter().filter(|set| *set != UncertaintySet::none()) {
            for method in LOOPS {
                for oracle in [Oracle::FirstOrder, Oracle::InteriorPoint] {
                    check(model, &set, &options(method, Some(oracle), 0.05, 8), 3);
                }
            }
        }
    }
}

#[test]
fn fom_vi_with_every_average() {
    let models = [garnet(7, 0.6, None, 0.8), garnet(20, 0.2, Some(3), 0.9), with_an_end()];
    let settings = [
        FomSettings::default(),
        FomSettings::paper(),
        FomSettings { average: Average::All, head_start: false, ..FomSettings::default() },
    ];
    for model in &models {
        for set in sets() {
            for fom in &settings {
                let options =
                    Options { fom: Some(fom.clone()), ..options(Method::FomVi, None, 1e-3, 40) };
                check(model, &set, &options, 5);
            }
        }
    }
}

/// Sparse chains and bands; discount continuation; elimination that has once
/// been faster than iteration.
#[test]
fn large_models() {
    let near = UncertaintySet::ellipsoid(0.07).on_nominal_support();
    for (band, branching) in [(None, 8.0 / 17_000.0), (Some(8), 8.0 / 17.0)] {
        let model = garnet(17_000, branching, band, 0.99);
        for set in [&near, &UncertaintySet::kl(0.07)] {
            check(&model, set, &options(Method::Newton, None, 1e-3, 10_000), 3);
        }
    }
    let model = garnet(400, 0.4, None, 0.999);
    for set in [UncertaintySet::ellipsoid(0.05), UncertaintySet::kl(0.05)] {
        check(&model, &set, &options(Method::Pi, None, 1e-4, 10_000), 4);
        check(&model, &set, &options(Method::Newton, None, 1e-4, 10_000), 4);
    }
    let model = garnet(600, 0.01, None, 0.999);
    check(
        &model,
        &UncertaintySet::ellipsoid(0.05),
        &options(Method::Newton, None, 1e-4, 10_000),
        4,
    );
}

/// Raises the flag at a sweep.
struct RaiseAt<'a>(u64, &'a Interrupt);

impl Observer for RaiseAt<'_> {
    fn progress(&mut self, at: &Progress) {
        if at.work.sweeps >= self.0 {
            self.1.raise();
        }
    }
}

#[test]
fn an_interrupted_run_leaves_its_last_sweep() {
    let (model, set) = (garnet(30, 0.3, None, 0.95), UncertaintySet::kl(0.1));
    for method in LOOPS.into_iter().chain([Method::FomVi]) {
        let options = options(method, None, 1e-4, 10_000);
        let whole = solve(&model, &set, &options).unwrap();
        let (mut found, mut parts) = (None, 0);
        // Again and again, a sweep or so further.
        loop {
            parts += 1;
            let interrupt = Interrupt::new();
            let mut keep = Keep { found: found.clone(), last_only: true, ..Keep::default() };
            let mut raise = RaiseAt(parts, &interrupt);
            let part =
                solve_checkpointed(&model, &set, &options, &mut raise, &interrupt, &mut keep);
            let part = part.unwrap();
            if part.status != Status::Interrupted {
                assert_same(&whole, &part, &format!("{method:?}"));
                break;
            }
            assert!(keep.states.len() <= 1 && parts < 10_000, "{method:?}");
            found = keep.states.pop().or(found);
        }
        assert!(found.is_some() && parts > 1, "{method:?}: {parts}");
    }
}

/// Takes its time at the first sweep.
struct Slow;

impl Observer for Slow {
    fn progress(&mut self, at: &Progress) {
        if at.work.sweeps == 1 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

#[test]
fn seconds_add_up() {
    let (model, set) = (garnet(8, 0.5, None, 0.9), UncertaintySet::kl(0.1));
    let (asked, mut keep) = (options(Method::Vi, None, 1e-4, 1000), Keep::default());
    let interrupt = Interrupt::new();
    solve_checkpointed(&model, &set, &asked, &mut Slow, &interrupt, &mut keep).unwrap();
    let seconds = |state: &[u8]| resume(&model, &set, &asked, state).unwrap().seconds;
    assert!(seconds(&keep.states[1]) >= 0.05);
}

#[test]
fn a_limit_on_sweeps_can_be_raised() {
    let (model, set) = (garnet(30, 0.3, None, 0.95), UncertaintySet::ellipsoid(0.1));
    for method in LOOPS.into_iter().chain([Method::FomVi]) {
        let whole = solve(&model, &set, &options(method, None, 1e-4, 10_000)).unwrap();
        let (cut, keep) = checkpointed(&model, &set, &options(method, None, 1e-4, 3));
        assert_eq!(cut.status, Status::SweepLimit, "{method:?}");
        let last = keep.states.last().unwrap();
        let resumed = resume(&model, &set, &options(method, None, 1e-4, 10_000), last).unwrap();
        assert_same(&whole, &resumed, &format!("{method:?}"));
    }
}

fn refused(result: Result<Solution, Error>) -> String {
    match result {
        Err(Error::Checkpoint(reason)) => reason,
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn what_does_not_belong_is_refused_by_name() {
    let (model, set) = (garnet(8, 0.5, None, 0.9), UncertaintySet::kl(0.1));
    let asked = options(Method::Vi, None, 1e-4, 1000);
    let (_, keep) = checkpointed(&model, &set, &asked);
    let state = &keep.states[2];
    let try_with = |model: &Model, set: &UncertaintySet, options: &Options| {
        refused(resume(model, set, options, state))
    };
    let other = Garnet { seed: 12, ..Garnet { states: 8, branching: 0.5, ..Garnet::default() } };
    let other = Garnet { actions: 4, discount: 0.9, ..other }.model().unwrap();
    assert!(try_with(&other, &set, &asked).contains("a model with other numbers"));
    let discounted = model.clone().with_discount(0.8).unwrap();
    assert!(
        try_with(&discounted, &set, &asked).contains("with discount 0.9, and this one has 0.8")
    );
    assert!(try_with(&garnet(9, 0.5, None, 0.9), &set, &asked).contains("with states 8"));
    assert!(try_with(&model, &UncertaintySet::kl(0.2), &asked).contains("with radius 0.1"));
    let radii = UncertaintySet { radius: Radius::PerState(vec![0.1; 8]), ..set.clone() };
    assert!(try_with(&model, &radii, &asked).contains("with other radii"));
    let per_action = set.clone().per_action();
    assert!(
        try_with(&model, &per_action, &asked)
            .contains("with rectangularity s, and this one has sa")
    );
    let newton = Options { method: Method::Newton, ..asked.clone() };
    assert!(try_with(&model, &set, &newton).contains("with method vi, and this one has newton"));
    let first_order = Options { oracle: Some(Oracle::FirstOrder), ..asked.clone() };
    assert!(
        try_with(&model, &set, &first_order)
            .contains("with oracle exact, and this one has first-order")
    );
    let wider = options(Method::Vi, None, 1e-3, 1000);
    assert!(try_with(&model, &set, &wider).contains("with gap 0.0001, and this one has 0.001"));
    let start = Options { start: Some(vec![1.0; 8]), ..asked.clone() };
    assert!(try_with(&model, &set, &start).contains("started from other values"));
    // Threads and limits may differ.
    assert!(resume(&model, &set, &Options { threads: Some(3), ..asked }, state).is_ok());
}

#[test]
fn starting_values_belong_to_the_question() {
    let (model, set) = (garnet(8, 0.5, None, 0.9), UncertaintySet::kl(0.1));
    for method in LOOPS.into_iter().chain([Method::FomVi]) {
        let plain = options(method, None, 1e-3, 1000);
        let asked = Options { start: Some(vec![0.3; 8]), ..plain.clone() };
        assert!(check(&model, &set, &asked, 6) > 1);
        let (_, keep) = checkpointed(&model, &set, &asked);
        let told = refused(resume(&model, &set, &plain, &keep.states[1]));
        assert!(told.contains("was given values to start from"), "{told}");
    }
}

#[test]
fn damage_anywhere_is_refused() {
    let (model, set) = (garnet(5, 0.6, None, 0.9), UncertaintySet::ellipsoid(0.1));
    for method in LOOPS.into_iter().chain([Method::FomVi]) {
        let asked = Options { threads: Some(1), ..options(method, None, 1e-4, 1000) };
        let (_, keep) = checkpointed(&model, &set, &asked);
        let state = &keep.states[keep.states.len() / 2];
        for length in 0..state.len() {
            refused(resume(&model, &set, &asked, &state[..length]));
        }
        for at in 0..state.len() {
            let mut damaged = state.clone();
            damaged[at] ^= 1 << (at % 8);
            refused(resume(&model, &set, &asked, &damaged));
        }
        refused(resume(&model, &set, &asked, &[&state[..], &[0; 8]].concat()));
    }
    let asked = options(Method::Vi, None, 1e-4, 1000);
    let (_, keep) = checkpointed(&model, &set, &asked);
    let mut future = keep.states[0].clone();
    future[8] = 9;
    assert!(refused(resume(&model, &set, &asked, &future)).contains("format 9"));
    assert!(refused(resume(&model, &set, &asked, b"")).contains("not a checkpoint"));
}
