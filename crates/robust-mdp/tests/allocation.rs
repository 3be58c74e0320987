//! First-order steps and warm exact sweeps allocate nothing; FOM-VI needs little more than two kernels of
//! memory, and solves with the exact oracle no kernel at all.

// A global allocator cannot be written without `unsafe`; this one only counts.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use robust_mdp::geometry::Geometry::{Entropy, Euclidean};
use robust_mdp::instances::Garnet;
use robust_mdp::measure::{exact_sweep_seconds, first_order_seconds};
use robust_mdp::saddle::FirstOrderMethod;
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{FomSettings, Method, Model, Options, Setup, Stop, solve};

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of `job`, and the most bytes it held at a time.
fn counted(job: impl FnOnce()) -> (usize, usize) {
    let (calls, live) = (CALLS.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    job();
    (CALLS.load(Relaxed) - calls, PEAK.load(Relaxed) - live)
}

fn garnet(states: usize, actions: usize, branching: f64) -> Model {
    Garnet { states, actions, branching, seed: 2, ..Garnet::default() }.model().unwrap()
}

fn sets(radius: f64) -> [UncertaintySet; 4] {
    let (ball, kl) = (UncertaintySet::ellipsoid(radius), UncertaintySet::kl(radius));
    let near = ball.clone().on_nominal_support();
    [ball, near, kl.clone().per_action(), kl]
}

/// 1 + 1 epochs of 5 or of 500 steps: one allocation in a step of one state would show as 990
/// more. Starting the thread of the pool takes an allocation more or less by chance.
fn steps_allocate_nothing() {
    const CHANCE: usize = 10;
    let models = [garnet(6, 3, 0.5), garnet(15, 2, 0.1)];
    let methods =
        [FirstOrderMethod::Pda, FirstOrderMethod::MirrorProx, FirstOrderMethod::MirrorDescent];
    let setups = [(Euclidean, Euclidean), (Entropy, Entropy)].map(|(x, y)| Setup { x, y });
    for (model, method) in models.iter().flat_map(|model| methods.map(|m| (model, m))) {
        let values: Vec<f64> = (0..model.states()).map(|s| s as f64).collect();
        for (set, setup) in sets(0.05).iter().flat_map(|set| setups.map(|s| (set, s))) {
            let settings = FomSettings { method, ..FomSettings::default() };
            let run = |steps| {
                first_order_seconds(model, set, setup, &settings, &values, steps, 1, 1).unwrap();
            };
            run(5); // whatever is allocated once in a process
            let (few, many) = (counted(|| run(5)).0, counted(|| run(500)).0);
            assert!(many <= few + CHANCE, "{few} {many} {method:?} {setup:?} {set:?}");
        }
    }
}

/// 20 or 400 sweeps of the exact oracle, values going to and fro: one allocation a sweep would show as
/// 380 more. The times of the sweeps are collected in a list that grows now and then.
fn exact_sweeps_allocate_nothing() {
    const CHANCE: usize = 20;
    for model in [garnet(40, 5, 0.5), garnet(60, 3, 0.1)] {
        let values: Vec<f64> = (0..model.states()).map(|s| (s % 7) as f64).collect();
        for set in sets(0.05).iter().chain(&sets(1e3)) {
            let run = |sweeps| {
                exact_sweep_seconds(&model, set, &values, 1e-3, 0.0, sweeps, 1).unwrap();
            };
            run(20);
            let (few, many) = (counted(|| run(20)).0, counted(|| run(400)).0);
            assert!(many <= few + CHANCE, "{few} {many} {set:?}");
        }
    }
}

/// With E entries of the set's rows (8 bytes each) and S states: `kernels` arrays of that size, two chains
/// and one factorisation of S² each; then a few copies of the largest state a worker, and vectors over
/// states and rows.
fn memory_is_a_few_kernels_and_little_else(method: Method, kernels: usize) {
    let (states, actions) = (200, 20);
    for branching in [0.05, 0.5] {
        let model = garnet(states, actions, branching);
        for set in sets(0.5) {
            let options = Options {
                method,
                stop: Stop { max_sweeps: 5, ..Stop::at_gap(1e-12) },
                threads: Some(2),
                ..Options::default()
            };
            let mut entries = 0;
            let (_, peak) = counted(|| {
                let solution = solve(&model, &set, &options).unwrap();
                assert_eq!(solution.method, method);
                // Epochs of 1, 4, 9, 16 and 25 steps.
                let steps = if method == Method::FomVi { 55 } else { 0 };
                assert_eq!(solution.work.first_order_steps, steps, "{set:?}");
                entries = solution.work.kernel_entries as usize;
            });
            let (kernel, square) = (8 * entries, 8 * states * states);
            // The exact oracle, which checks the gap, reads dense rows whole.
            let state = 8 * entries.max(model.transitions()) / states;
            let rows = 8 * states * actions;
            let allowed = kernels * kernel + 3 * square + 2 * 40 * state + 25 * rows;
            assert!(peak <= allowed, "{method} {set:?}: {peak} bytes, {allowed} allowed");
            // Iterates and averages there are; a smaller allowance would not do.
            assert!(peak >= kernels * kernel, "{method} {set:?}: {peak} bytes");
        }
    }
}

/// One test: the counters belong to the whole process.
#[test]
fn memory() {
    steps_allocate_nothing();
    exact_sweeps_allocate_nothing();
    memory_is_a_few_kernels_and_little_else(Method::FomVi, 2);
    memory_is_a_few_kernels_and_little_else(Method::Newton, 0);
}
