//! What was solved, and how each run ended.

use robust_mdp::{Model, Status};

use super::solved::Solved;
use super::{Material, interval};
use crate::choice::in_a_row;
use crate::method::names;
use crate::page::{Block, Section, Table};
use crate::render::number::{gap_text, grouped, short, time_text};
use crate::render::sizes;
use crate::render::solution::ending;

/// One paragraph: the model and the question.
pub(super) fn summary(material: &Material<'_>) -> String {
    let first = &material.results[0];
    let size = match material.source {
        Some(source) => format!("{}: {}", super::file_name(&source.name), sizes(&source.model)),
        None => format!("A model of {} states", grouped(first.states() as u64)),
    };
    let what = match first.file.objective.as_str() {
        "max-reward" => "maximise the expected discounted reward",
        _ => "minimise the expected discounted cost",
    };
    format!(
        "{size}. To {what} at discount {}, whatever kernel of the uncertainty set is the true one. {}",
        short(first.discount()),
        standing(material)
    )
}

/// How far the bounds can be trusted.
fn standing(material: &Material<'_>) -> String {
    let reported = "Bounds are those that the results report";
    let again = match material.evaluated.iter().any(|e| e.status != Status::Interrupted) {
        true => "; the worst case of each policy was computed again from the model, and agrees",
        false => "",
    };
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

/// Whether all results have the same kind of set, with radii of their own.
fn one_kind(results: &[Solved]) -> Option<String> {
    let first = results.first()?;
    let (name, rest) = first.kind_in_words()?;
    let same = results.iter().all(|r| r.kind_in_words() == first.kind_in_words());
    same.then(|| format!("{name}, {rest}"))
}

fn section_blocks(material: &Material<'_>) -> Vec<Block> {
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
        caption: format!("Bounds of the worst-case value {}.{set}", start(material.model())),
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
