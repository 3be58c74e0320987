//! What was solved, and how each run ended.

use robust_mdp::{Criterion, Direction, Model, Status};
use robust_mdp_page::number::{gap_text, grouped, short, time_text};
use robust_mdp_page::{Block, Section, Table};

use super::solved::Solved;
use super::{Material, interval};
use crate::choice::in_a_row;
use crate::method::names;
use crate::question::Question;
use crate::render::sizes;
use crate::render::solution::ending;

/// One paragraph: the model and the question.
pub(super) fn summary(material: &Material<'_>) -> String {
    let first = &material.results[0];
    let size = match material.source {
        Some(source) => format!("{}: {}", super::file_name(&source.name), sizes(&source.model)),
        None => format!("A model of {} states", grouped(first.states() as u64)),
    };
    let discount = first.question.counted(first.discount());
    let case = match first.question.direction {
        Direction::Worst => ", whatever kernel of the uncertainty set is the true one",
        Direction::Best => {
            ", if the kernel of the uncertainty set that is best for the policy is the true one"
        }
    };
    format!(
        "{size}. To {}{}{}. {}",
        first.question.aim(first.objective, first.file.set),
        discount.map_or(String::new(), |discount| format!(" at discount {}", short(discount))),
        case,
        standing(material)
    )
}

/// How far the bounds can be trusted.
fn standing(material: &Material<'_>) -> String {
    let reported = "Bounds are those that the results report";
    let again = computed_again(material);
    let proved = (material.results.iter().zip(&material.proved)).filter(|(_, proved)| **proved);
    let proved: Vec<&str> = proved.map(|(result, _)| result.name.as_str()).collect();
    match proved.len() {
        0 => format!("{reported}{again}."),
        n if n == material.results.len() => {
            "All bounds of the results are proved: their certificates were verified for this page."
                .into()
        }
        _ => format!(
            "{reported}{again}. Those of {} are proved: their certificates were verified for this page.",
            in_a_row(&proved, "and")
        ),
    }
}

/// Whose worst case was computed again from the model: what was interrupted was not.
fn computed_again(material: &Material<'_>) -> String {
    let evaluated = material.results.iter().zip(&material.evaluated);
    let done = evaluated.filter(|(_, evaluated)| evaluated.status != Status::Interrupted);
    let done: Vec<&str> = done.map(|(result, _)| result.name.as_str()).collect();
    let whose = match done.len() {
        0 => return String::new(),
        n if n == material.results.len() => "each policy".to_owned(),
        1 => format!("the policy of {}", done[0]),
        _ => format!("the policies of {}", in_a_row(&done, "and")),
    };
    format!("; the worst case of {whose} was computed again from the model, and agrees")
}

/// Whether all results have the same kind of set, with radii of their own.
fn one_kind(results: &[Solved]) -> Option<String> {
    let first = results.first()?;
    let (name, rest) = first.kind_in_words()?;
    let same = results.iter().all(|r| r.kind_in_words() == first.kind_in_words());
    same.then(|| format!("{name}, {rest}"))
}

/// “the worst-case value”, “the best-case average per step”.
fn what_is_bounded(question: Question) -> String {
    let what = match question.criterion {
        Criterion::Discounted | Criterion::Total => "value".to_owned(),
        Criterion::Finite { horizon } => format!("value of {horizon} steps"),
        Criterion::Average => "average per step".to_owned(),
    };
    format!("the {}-case {what}", question.direction)
}

fn section_blocks(material: &Material<'_>) -> Vec<Block> {
    let question = material.results[0].question;
    let kind = one_kind(&material.results);
    let set = if kind.is_some() { "radius" } else { "set" };
    let header = [
        "result",
        set,
        "method",
        "oracle",
        "ended",
        "value",
        "gap at most",
        "bounds",
        "sweeps",
        "time",
    ];
    let row = |(r, proved): (&Solved, &bool)| {
        let (method, oracle) = names(r.file.method, r.file.oracle);
        vec![
            r.name.clone(),
            if kind.is_some() { r.radius_in_words() } else { r.set_in_words() },
            method.to_owned(),
            oracle.to_owned(),
            ending(r.file.status).to_owned(),
            interval((r.file.value.lower, r.file.value.upper)),
            gap_text(r.file.gap),
            if *proved { "proved" } else { "reported" }.to_owned(),
            grouped(r.file.sweeps),
            time_text(r.file.seconds),
        ]
    };
    let set = kind.as_ref().map_or(String::new(), |kind| format!(" Uncertainty set: {kind}."));
    let mut blocks = vec![Block::Table(Table {
        caption: format!(
            "Bounds of {} {}.{set}",
            what_is_bounded(question),
            start(material.model())
        ),
        header: header.map(str::to_owned).to_vec(),
        rows: material.results.iter().zip(&material.proved).map(row).collect(),
    })];
    let mut warnings: Vec<String> = Vec::new();
    for result in &material.results {
        for warning in &result.file.warnings {
            let told = format!("{}: {warning}", result.name);
            if !warnings.contains(&told) {
                warnings.push(told);
            }
        }
    }
    if !warnings.is_empty() {
        blocks.push(Block::Text(format!("Warnings of the runs.\n\n{}", warnings.join("\n\n"))));
    }
    blocks
}

pub(super) fn section(material: &Material<'_>) -> Section {
    super::section("results", "Results", section_blocks(material))
}

/// Where values are taken.
pub(super) fn start(model: Option<&Model>) -> &'static str {
    model.map_or("at the initial distribution", crate::render::solution::start)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use robust_mdp::{Interrupt, ModelBuilder, evaluate};

    use super::super::check::SOME_RESULT;
    use super::super::solved::parse;
    use super::*;
    use crate::model::NamedModel;

    /// What the summary says of runs of which some were interrupted before their worst case was known.
    #[test]
    fn what_was_interrupted_was_not_computed_again() {
        let action = ModelBuilder::new(0.5).state("a").action("b", 0.75, &[(0, 1.0)]);
        let (name, warnings) = ("m.json".to_owned(), Vec::new());
        let source = NamedModel { model: action.build().unwrap(), warnings, outcomes: None, name };
        let told = |interrupted: &[bool]| {
            let name = |i| format!("r{i}.json");
            let read = |i| parse(Path::new(&name(i)), SOME_RESULT.as_bytes()).unwrap();
            let results: Vec<Solved> = (0..interrupted.len()).map(read).collect();
            let evaluated = |(result, &interrupted): (&Solved, &bool)| {
                let interrupt = Interrupt::new();
                if interrupted {
                    interrupt.raise();
                }
                let (set, policy) = (result.set(&source.model).unwrap(), result.policy());
                evaluate(&source.model, &set, &policy, None, Some(1), &interrupt).unwrap()
            };
            let evaluated = results.iter().zip(interrupted).map(evaluated).collect();
            let proved = vec![false; results.len()];
            let (source, traces) = (Some(&source), Vec::new());
            standing(&Material { results, source, evaluated, traces, proved })
        };
        let all = "the worst case of each policy was computed again from the model, and agrees.";
        assert!(told(&[false, false]).ends_with(all));
        assert_eq!(told(&[true, true]), "Bounds are those that the results report.");
        let one = "the worst case of the policy of r0.json was computed again";
        assert!(told(&[false, true]).contains(one), "{}", told(&[false, true]));
        let two = "the worst case of the policies of r0.json and r1.json was computed again";
        assert!(told(&[false, false, true]).contains(two), "{}", told(&[false, false, true]));
    }
}
