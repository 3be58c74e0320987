//! No uncertainty: the nominal solve against the tools that people use for it, one thread.

use std::path::Path;
use std::process::Command;

use robust_mdp::Model;
use robust_mdp::io::write_model;
use robust_mdp::sets::UncertaintySet;

use super::Plan;
use crate::Failure;
use crate::instance::{Case, Instance};
use crate::record::{Choice, Record};
use crate::timing::{Patience, Until, solve_case};

const GAP: f64 = 1e-6;

pub(super) fn cases(plan: &Plan) -> Vec<Case> {
    let states = plan.choose(100, 1000);
    let instance = Instance::garnet(states, 10, 100.0 / 1000.0, 0.95);
    vec![Case::new("nominal", instance, &UncertaintySet::none())]
}

pub(super) fn measure(plan: &Plan, case: &Case) -> Result<Vec<Record>, Failure> {
    let model = case.instance.model()?;
    let patience = plan.choose(plan.patience(), Patience { repeats: 100, seconds: 5.0 });
    let until = Until::gap(GAP, plan.limit());
    let mut records = vec![solve_case("nominal", case, &model, Choice::AUTO, 1, until, patience)];
    if let Some(python) = &plan.python {
        records.extend(external(python, case, &model, plan.choose(5, 30))?);
    }
    let auto = records[0].seconds;
    for record in &mut records {
        record.set_ratio("auto", auto);
    }
    Ok(records)
}

/// Results of bench/external/nominal.py on the same model.
fn external(
    python: &Path,
    case: &Case,
    model: &Model,
    repeats: u32,
) -> Result<Vec<Record>, Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("model.npz");
    write_model(model, &file, None)?;
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("external/nominal.py"))
        .arg(&file)
        .args(["--case", &serde_json::to_string(case)?])
        .args(["--gap", &GAP.to_string(), "--repeats", &repeats.to_string()])
        .output()
        .map_err(|e| format!("{}: {e}", python.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("nominal.py failed: {}", text.trim()).into());
    }
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
