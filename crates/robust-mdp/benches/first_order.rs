//! What first-order steps cost and what they are worth, as ratios measured in one run.
//!
//! `cargo bench -p robust-mdp` prints the tables; `cargo bench -p robust-mdp -- --instructions`
//! adds instruction counts under valgrind's callgrind (which runs the AVX2 kernels), and
//! `-- --quick` leaves out the slowest rows.

use std::process::Command;
use std::time::{Duration, Instant};

use robust_mdp::geometry::Geometry::{self, Entropy, Euclidean};
use robust_mdp::instances::{Costs, Garnet};
use robust_mdp::measure::{first_order_seconds, nominal_sweep};
use robust_mdp::sets::UncertaintySet;
use robust_mdp::{Checks, FomSettings, Method, Model, Options, Setup, Stop, lanes, solve};

fn garnet(n: usize, branching: f64, costs: Costs) -> Model {
    let (states, actions) = (n, n);
    Garnet { states, actions, branching, costs, band: None, discount: 0.8, seed: 1 }
        .model()
        .expect("a valid instance")
}

/// Near the fixed point: values after some nominal sweeps.
fn settled_values(model: &Model) -> Vec<f64> {
    let mut v = vec![0.0; model.states()];
    let mut next = v.clone();
    for _ in 0..60 {
        nominal_sweep(model, &v, &mut next);
        std::mem::swap(&mut v, &mut next);
    }
    v
}

fn least(times: impl IntoIterator<Item = f64>) -> f64 {
    times.into_iter().fold(f64::INFINITY, f64::min)
}

fn nominal_seconds(model: &Model, values: &[f64]) -> f64 {
    let mut out = vec![0.0; model.states()];
    least((0..200).map(|_| {
        let started = Instant::now();
        nominal_sweep(model, std::hint::black_box(values), &mut out);
        std::hint::black_box(&out);
        started.elapsed().as_secs_f64()
    }))
}

fn name(g: Geometry) -> &'static str {
    if g == Entropy { "l1" } else { "l2" }
}

/// Dense S = A = n: cost of a step over all states in units of a nominal sweep.
fn step_costs(n: usize, setups: &[(bool, Geometry, Geometry)]) {
    println!("\nOne first-order step over all states, dense S = A = {n}, one thread");
    let model = garnet(n, 1.0, Costs::Iid);
    let values = settled_values(&model);
    let bytes = 8.0 * model.transitions() as f64;
    let nominal = nominal_seconds(&model, &values);
    println!("  nominal sweep {:.3} ms, {:.0} GB/s", 1e3 * nominal, bytes / nominal / 1e9);
    let alpha = 0.05 * (n as f64).sqrt();
    println!(
        "  {:12} {:8} {:>10} {:>18} {:>10}",
        "set", "setup", "ms/step", "/ nominal sweep", "2 threads"
    );
    for &(kl, x, y) in setups {
        let set = if kl { UncertaintySet::kl(alpha) } else { UncertaintySet::ellipsoid(alpha) };
        let settings = FomSettings::default();
        let run = |threads| {
            let setup = Setup { x, y };
            let steps = 20;
            let times =
                first_order_seconds(&model, &set, setup, &settings, &values, steps, 12, threads)
                    .expect("a valid run");
            least(times) / steps as f64
        };
        let (one, two) = (run(1), run(2));
        println!(
            "  {:12} {:8} {:>10.3} {:>18.1} {:>9.2}x",
            if kl { "KL" } else { "ellipsoid" },
            format!("{},{}", name(x), name(y)),
            1e3 * one,
            one / nominal,
            one / two
        );
    }
}

/// Time to a certified gap under settings.
fn to_gap(
    model: &Model,
    set: &UncertaintySet,
    fom: FomSettings,
    gap: f64,
    limit: u64,
) -> (String, f64) {
    let options = Options {
        method: Method::FomVi,
        stop: Stop { time_limit: Some(Duration::from_secs(limit)), ..Stop::at_gap(gap) },
        threads: Some(1),
        fom: Some(fom),
        ..Options::default()
    };
    let solution = solve(model, set, &options).expect("a valid run");
    let reached = if solution.gap <= gap { "" } else { ">" };
    let text = format!(
        "{reached}{:>9.4} s  {:>7} steps  {:>8.0} passes  gap {:.1e}  checks {:.0} %",
        solution.seconds,
        solution.work.first_order_steps,
        solution.work.kernel_passes(),
        solution.gap,
        100.0 * solution.check_seconds / solution.seconds
    );
    (text, solution.seconds)
}

fn centred_against_paper(quick: bool) {
    println!(
        "\nSteps `centred` against `paper` to DG ≤ 0.05, Garnet 50 × 50, radius 0.05·√(0.5·A), one thread"
    );
    let limit = if quick { 10 } else { 120 };
    for (label, costs) in [("iid costs", Costs::Iid), ("state-driven costs", Costs::StateDriven)] {
        let model = garnet(50, 0.5, costs);
        let set = UncertaintySet::ellipsoid(0.05 * 25.0_f64.sqrt());
        let (centred, fast) = to_gap(&model, &set, FomSettings::default(), 0.05, limit);
        // The gap is checked as seldom as with centred steps.
        let paper = FomSettings { checks: Checks::Scheduled, ..FomSettings::paper() };
        let (paper, slow) = to_gap(&model, &set, paper, 0.05, limit);
        println!(
            "  {label}\n    centred {centred}\n    paper   {paper}\n    ratio   {:.0}",
            slow / fast
        );
    }
}

fn entropy_on_the_ellipsoid() {
    println!("\n(l1,l1) on the ellipsoid, S = A = 30, to DG ≤ 0.1, one thread");
    let model = garnet(30, 0.5, Costs::Iid);
    for (label, scale) in [("paper's radius", 1.0), ("radius × 0.05", 0.05)] {
        let set = UncertaintySet::ellipsoid(scale * 15.0_f64.sqrt());
        let fom =
            FomSettings { setup: Some(Setup { x: Entropy, y: Entropy }), ..FomSettings::default() };
        println!("  {label:16} {}", to_gap(&model, &set, fom, 0.1, 60).0);
    }
}

/// Child of `--instructions`: a fixed amount of work, nothing printed.
fn fixed_work(kl: bool, geometry: Geometry, steps: u64) {
    let model = garnet(40, 1.0, Costs::Iid);
    let values = settled_values(&model);
    let alpha = 0.05 * 40.0_f64.sqrt();
    let set = if kl { UncertaintySet::kl(alpha) } else { UncertaintySet::ellipsoid(alpha) };
    if steps == 0 {
        let mut out = vec![0.0; model.states()];
        for _ in 0..100 {
            nominal_sweep(&model, &values, &mut out);
        }
        return;
    }
    let setup = Setup { x: geometry, y: geometry };
    first_order_seconds(&model, &set, setup, &FomSettings::default(), &values, steps, 1, 1)
        .expect("a valid run");
}

fn instructions(set: &str, steps: u64) -> Option<f64> {
    let me = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(me)
        .args(["--fixed-work", set, &steps.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|l| l.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn instruction_counts() {
    println!("\nInstructions per kernel entry, dense S = A = 40 (callgrind, AVX2 kernels)");
    let entries = 40.0 * 40.0 * 40.0;
    let per_entry = |set: &str, few: u64, many: u64, units: f64| {
        let (few, many) = (instructions(set, few)?, instructions(set, many)?);
        Some((many - few) / units / entries)
    };
    for (label, set) in [("ellipsoid l2,l2", "ellipsoid"), ("KL l1,l1", "kl")] {
        // Two runs of the same set-up that differ by 40 steps (a warm-up of 20 and a run of 20).
        match per_entry(set, 5, 25, 40.0) {
            Some(count) => println!("  {label:16} {count:.2} a step"),
            None => println!("  {label:16} valgrind is not installed"),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    if let Some(at) = arguments.iter().position(|a| a == "--fixed-work") {
        let kl = arguments[at + 1] == "kl";
        let steps = arguments[at + 2].parse().expect("a number of steps");
        return fixed_work(kl, if kl { Entropy } else { Euclidean }, steps);
    }
    println!("instruction set: {}", lanes::instruction_set());
    let both = [(false, Euclidean, Euclidean), (true, Entropy, Entropy)];
    let all = [
        (false, Euclidean, Euclidean),
        (false, Entropy, Euclidean),
        (false, Euclidean, Entropy),
        (false, Entropy, Entropy),
        (true, Entropy, Entropy),
        (true, Euclidean, Entropy),
        (true, Entropy, Euclidean),
        (true, Euclidean, Euclidean),
    ];
    step_costs(100, if has("--quick") { &both } else { &all });
    centred_against_paper(has("--quick"));
    entropy_on_the_ellipsoid();
    if has("--instructions") {
        instruction_counts();
    }
}
