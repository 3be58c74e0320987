//! A million states: seconds, sweeps and memory, each case in a process of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::Failure;
use crate::instance::{Case, Instance, tight};
use crate::machine::kilobytes;
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 1e-4;
const THREADS: usize = 2;
const SUCCESSORS: usize = 8;

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

/// What a child process is asked to do.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    case: Case,
    limit_seconds: u64,
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let limit_seconds = plan.choose(5, 300);
    let task = serde_json::to_string(&Task { case: case.clone(), limit_seconds })?;
    let output = Command::new(std::env::current_exe()?).args(["--scale-case", &task]).output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let mut record = Record::new("scale", case, 0, "auto");
        record.status = "failed".into();
        record.note = Some(format!("{}: {}", output.status, text.trim()));
        return Ok(vec![record]);
    }
    Ok(vec![serde_json::from_slice(&output.stdout)?])
}

/// Builds and solves one case, and prints the result.
pub(crate) fn child(task: &str) -> Result<(), Failure> {
    let Task { case, limit_seconds } = serde_json::from_str(task)?;
    let started = Instant::now();
    let model = case.instance.model()?;
    let build_seconds = started.elapsed().as_secs_f64();
    let build_peak = peak();
    // Starts the count of the largest resident memory again, where the kernel allows it.
    let again = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let until = Until::gap(GAP, Duration::from_secs(limit_seconds));
    let once = Patience { repeats: 1, seconds: 0.0 };
    let mut record = solve_case("scale", &case, &model, Choice::AUTO, THREADS, until, once);
    record.build_seconds = Some(build_seconds);
    record.build_peak_bytes = build_peak;
    record.peak_bytes = peak();
    if !again {
        record.note = Some("the peak includes building the model".into());
    }
    println!("{}", serde_json::to_string(&record)?);
    Ok(())
}

/// Largest resident memory so far.
fn peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM")
}
