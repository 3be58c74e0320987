//! A million states: seconds, sweeps and memory, each case in a process of its own.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use robust_mdp::error::name_of;
use robust_mdp::{Method, Oracle};
use robust_mdp_measure::machine::kilobytes;
use serde::{Deserialize, Serialize};

use super::Plan;
use crate::Failure;
use crate::instance::{Case, Instance, tight};
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 1e-4;
const THREADS: usize = 2;
const SUCCESSORS: usize = 8;

/// Seconds beyond its limit that a process has to build the model and to end.
const GRACE: u64 = 60;

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let states = plan.choose(10_000, 1_000_000);
    let garnet = Instance::garnet(states, 4, SUCCESSORS as f64 / states as f64, 0.95);
    // Eight of the seventeen states within ± 8.
    let banded =
        Instance { branching: SUCCESSORS as f64 / 17.0, ..Instance::banded(states, 4, 8, 0.95) };
    let sets = [false, true];
    let models = [("garnet", garnet), ("banded", banded)];
    let case = |name: &str, instance: &Instance, kl| {
        let (instance, set) = tight(instance.clone(), kl);
        Case::new(if kl { format!("{name}-KL") } else { name.into() }.as_str(), instance, &set)
    };
    models.iter().flat_map(|(name, model)| sets.map(|kl| case(name, model, kl))).collect()
}

/// The automatic choice, and those it is compared with.
const METHODS: [Method; 3] = [Method::Auto, Method::Newton, Method::Vi];

/// What a child process is asked to do.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    case: Case,
    method: Method,
    limit_seconds: u64,
}

impl Task {
    fn choice(&self) -> Choice {
        let oracle = (self.method != Method::Auto).then_some(Oracle::Exact);
        Choice::of(self.method, oracle)
    }
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for method in METHODS {
        let limit_seconds = plan.choose(5, if method == Method::Auto { 300 } else { 100 });
        let task = Task { case: case.clone(), method, limit_seconds };
        // Once more what the library chose would only tell the noise of the clock.
        if !records.iter().any(|auto| auto.ran_as(&task.choice())) {
            records.push(in_child(&task)?);
        }
    }
    let (auto, certified) = (records[0].seconds, records[0].certified());
    records.iter_mut().filter(|_| certified).for_each(|r| r.set_ratio("auto", auto));
    Ok(records)
}

/// Runs the task in a process of its own, which is ended if it stays far beyond its limit.
fn in_child(task: &Task) -> Result<Record, Failure> {
    let text = serde_json::to_string(task)?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--scale-case", &text])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let deadline = Instant::now() + Duration::from_secs(task.limit_seconds + GRACE);
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(serde_json::from_slice(&output.stdout)?);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let mut record = Record::new("scale", &task.case, 0, &task.choice().name());
    record.threads = THREADS;
    record.gap_asked = Some(GAP);
    record.oracle = task.choice().oracle.map(|o| name_of(&o));
    record.status = "failed".into();
    record.note = Some(format!("{}: {}", output.status, text.trim()));
    Ok(record)
}

/// Builds and solves one case, and prints the result.
pub(crate) fn child(task: &str) -> Result<(), Failure> {
    let task: Task = serde_json::from_str(task)?;
    let case = &task.case;
    let started = Instant::now();
    let model = case.instance.model()?;
    let build_seconds = started.elapsed().as_secs_f64();
    let build_peak = peak();
    // Starts the count of the largest resident memory again, where the kernel allows it.
    let again = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let until = Until::gap(GAP, Duration::from_secs(task.limit_seconds));
    let once = Patience { repeats: 1, seconds: 0.0 };
    let mut record = solve_case("scale", case, &model, task.choice(), THREADS, until, once);
    record.build_seconds = Some(build_seconds);
    record.build_peak_bytes = build_peak;
    let after = peak();
    record.solve_peak_bytes = after.filter(|_| again);
    record.peak_bytes = after.max(build_peak);
    record.bytes_per_transition =
        record.peak_bytes.map(|b| b as f64 / record.transitions.max(1) as f64);
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}

/// Largest resident memory so far.
fn peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM")
}
