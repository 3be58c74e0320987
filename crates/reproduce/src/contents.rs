//! The page: the verdicts first, then every experiment with what it ran, its figures and a table.

use robust_mdp_page::{Block, Page, Section, Table, Verdict};

use super::arrangement::arranged;
use super::cell::{Experiment, Record, Task};
use super::claims::clock_text;
use super::figures::figures;
use super::machine::Provenance;
use super::select::{Records, Rule, by, seconds, states};
use super::solver::Solver;

const SUMMARY: &str = "The experiments of Grand-Clément and Kroer, Scalable First-Order Methods for \
    Robust MDPs (AAAI 2021), run again with the methods of this library beside them. Times are of \
    this machine; everything else is the same wherever it is run. Each experiment begins with its \
    most telling figures; the others are folded below them.";

const INSTANCES: &str = "\
Garnet models have S states and S actions, a share of 50 % or 20 % of the states reachable from \
each, and costs uniform in [0, 10]. The paper's radius is √(n_branch·A). The paper defines n_branch \
as a proportion in one place and as a number of successors in another; it is read as the proportion \
here, 0.5 or 0.2, because that gives the smaller radius, and even that one hardly ever binds: ½‖p − \
q‖² is at most 1, so that a budget of √(0.5·A) moves √(0.5·A) rows anywhere, and one row is enough \
where one action is best. A state is called saturated where nature reaches the most that any budget \
would allow.

The other regimes make the budget bind: a twentieth of the radius with independent costs (a few \
actions matter in a state), the same with costs that the state drives (nearly all do), and banded \
models with next states within ±4, which mix slowly. Healthcare (a reconstruction: its numbers are \
not printed) and machine replacement come with the literal radius √(S·A), which allows every kernel, \
and with one calibrated from 60 sampled kernels.

Value iteration in its four forms is run as in the paper: from v = 0, every state's convex program \
solved by an interior-point method (Clarabel) with all of its rows. The same loops are run with the \
exact oracle. FOM-VI with the paper's steps starts from v = 0 and averages over all epochs; with \
centred steps it is as `rmdp solve --method fom-vi` runs it.

Runs are limited by counted work, not by time. A run that reached its limit is drawn as a lower \
bound.";

pub(crate) fn page(
    records: &Records<'_>,
    experiments: &[Experiment],
    made: &Provenance,
    verdicts: Vec<Verdict>,
) -> Page {
    let mut sections = vec![Section {
        id: "claims".into(),
        title: "Claims".into(),
        blocks: (made.warnings().into_iter().map(Block::Warning))
            .chain([Block::Verdicts(verdicts)])
            .collect(),
    }];
    for &experiment in experiments {
        let mut blocks = vec![
            Block::Text(about(experiment).into()),
            Block::Command(format!("rmdp reproduce {} -o DIR", experiment.name())),
        ];
        blocks.extend(arranged(experiment, figures(records, experiment)));
        blocks.extend(endings(records, experiment).map(Block::Table));
        if matches!(experiment, Experiment::Time | Experiment::Kl) {
            blocks.push(Block::Table(largest(records, experiment)));
        }
        sections.push(Section {
            id: experiment.name().into(),
            title: experiment.title().into(),
            blocks,
        });
    }
    sections.push(Section {
        id: "instances".into(),
        title: "Instances, methods and limits".into(),
        blocks: vec![Block::Text(INSTANCES.into()), Block::Command(made.command.clone())],
    });
    Page {
        title: "The paper's experiments, run again".into(),
        summary: SUMMARY.into(),
        sections,
        provenance: made.provenance(),
    }
}

fn about(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::Time => {
            "Time until ε = 0.1. The paper compares methods that stop by different rules: value \
             iteration at ‖v⁺ − v‖ ≤ ε(1−λ)/(2λ), which proves ε in every state, FOM-VI at DG ≤ ε/2, \
             an expectation over p₀. Both views are shown: each by its own rule, and all by the \
             same certified gap. The work figures count solved state games (one first-order step \
             in a state counts as one) and do not depend on the machine."
        }
        Experiment::GapCost => {
            "The duality gap of a policy and a kernel, drawn at random, by iterating the two \
             contractions (VI), by the same with momentum (AVI), and by policy iteration of either \
             player, which is what every check of this library does. The paper solves a convex \
             program in every state of every sweep; here all sweeps are exact updates, so that \
             sweeps and growth compare with the paper and times do not."
        }
        Experiment::Setups => {
            "The duality gap against first-order steps for the three proximal setups, S = A = 30 in \
             the paper."
        }
        Experiment::Epochs => "Epochs of ℓ^q steps, q = 0, 1, 2, with weights t.",
        Experiment::Rate => {
            "The duality gap against first-order steps on small models, S = A = 10, with weights t: how \
             fast it falls for epochs of ℓ^q steps, against the promised T^(−q/(q+1)). Small, because \
             there the steps of every setup come to their rate within the limit."
        }
        Experiment::Weights => "Weights t^p, p = 0, 1, 2, with epochs of ℓ² steps.",
        Experiment::Kl => {
            "KL sets with FOM-VI in the (ℓ1,ℓ1) setup, beside ellipsoids of the same radius in the \
             (ℓ2,ℓ2) setup on the same models. With centred steps and by auto as well."
        }
    }
}

/// How the runs ended.
fn endings(records: &Records<'_>, experiment: Experiment) -> Option<Table> {
    let of = records.of(experiment);
    let count = |status: &str| of.iter().filter(|r| r.outcome.status == status).count();
    let rows = ["done", "work-limit", "failed"]
        .iter()
        .filter(|status| count(status) > 0)
        .map(|status| vec![(*status).to_owned(), count(status).to_string()])
        .collect::<Vec<_>>();
    (!rows.is_empty()).then(|| Table {
        caption: "How the runs ended. A failed run is one that the library refused.".into(),
        header: vec!["ending".into(), "runs".into()],
        rows,
    })
}

/// Median times at the largest size of every case.
fn largest(records: &Records<'_>, experiment: Experiment) -> Table {
    let mut cases: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records.of(experiment) {
        let p = record.cell.problem;
        if p.discount != 0.8 {
            continue;
        }
        let set = if p.set == robust_mdp::sets::Distance::Kl { ", KL" } else { "" };
        let name = format!("{}, {}{set}", p.family.title(), p.regime.title());
        match cases.iter_mut().find(|c| c.0 == name) {
            Some(case) => case.1.push(record),
            None => cases.push((name, vec![record])),
        }
    }
    let solvers: Vec<Solver> = Solver::ALL
        .into_iter()
        .filter(|&s| cases.iter().any(|c| c.1.iter().any(|r| r.cell.task == Task::Solve(s))))
        .collect();
    let mut header = vec!["case".to_owned(), "S".to_owned()];
    header.extend(solvers.iter().map(|s| s.title().to_owned()));
    let rows = cases.iter().map(|(name, runs)| {
        let size = runs.iter().map(|r| r.cell.problem.states).max().unwrap_or(0);
        let mut row = vec![name.clone(), size.to_string()];
        for &solver in &solvers {
            let of: Vec<&Record> =
                (runs.iter().copied()).filter(|r| r.cell.task == Task::Solve(solver)).collect();
            let at = by(&of, states, |r| seconds(r, Rule::Certified));
            let found = at.iter().find(|(s, _)| *s == size as f64).map(|(_, s)| s);
            row.push(match found {
                Some(s) if s.stopped => format!("> {}", clock_text(s.median)),
                Some(s) => clock_text(s.median),
                None => "–".into(),
            });
        }
        row
    });
    Table {
        caption: "Median time to a certified gap of 0.1 at the largest size, λ = 0.8; > where the \
                  median run was stopped by its limit of work."
            .into(),
        rows: rows.collect(),
        header,
    }
}
