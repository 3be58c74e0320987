//! Solves by every method: times in units of the nominal solve, sweeps over discount factors, and
//! what the automatic choice chose.

use robust_mdp_measure::statistics::median;
use robust_mdp_measure::table::Table;

use super::{count, distinct, marked, milliseconds, number, percent, ran};
use crate::instance::Case;
use crate::record::Record;

pub(super) fn section(records: &[&Record]) -> String {
    let cases = distinct(records.iter().map(|r| &r.case).filter(|c| c.radius > 0.0));
    let robust = records.iter().filter(|r| r.case.radius > 0.0);
    let methods = distinct(robust.map(|r| r.method.as_str()));
    let about = "One thread. Methods in units of the nominal solve of the same model to the same \
                 gap, the best of auto, vi and newton without uncertainty; `auto ÷ best other` \
                 compares the automatic choice with the best that it did not choose.";
    let mut text = format!("{about}\n\n### Times\n\n{}", times(records, &cases, &methods));
    let discounts = distinct(cases.iter().map(|c| c.instance.discount.to_string())).join(", ");
    text += &format!("\n### Sweeps at λ = {discounts}\n\n");
    text += "In brackets those of nature alone, against a fixed policy; they are part of the count.\n\n";
    text += &sweeps(records, &cases, &methods);
    text += "\nThe most sweeps over the fewest of a series, by method:\n\n";
    text + &spreads(records, &cases, &methods)
}

/// The run of a method on a case; the automatic choice stands for what it chose.
pub(super) fn find<'r>(records: &[&'r Record], case: &Case, method: &str) -> Option<&'r Record> {
    let is = |r: &&&Record| r.method == method || r.single() == method;
    records.iter().filter(|r| r.case == *case).find(is).copied()
}

/// The time of the automatic choice over that of the fastest certified run of another method.
pub(super) fn against_others(records: &[&Record], auto: &Record) -> Option<f64> {
    let others = records.iter().filter(|r| r.case == auto.case && r.method != "auto");
    let best = others.filter(|r| r.certified()).map(|r| r.seconds).min_by(f64::total_cmp)?;
    auto.certified().then_some(auto.seconds / best)
}

fn times(records: &[&Record], cases: &[&Case], methods: &[&str]) -> String {
    let mut head = vec!["regime", "S", "A", "λ", "active", "nominal ms", "auto ms"];
    head.extend(methods);
    head.extend(["auto chose", "auto ÷ best other"]);
    let mut grid = Table::new(&head);
    for case in cases {
        let Some(auto) = find(records, case, "auto") else { continue };
        let Some(nominal) = best_nominal(records, case) else { continue };
        let mut row = vec![
            case.regime.clone(),
            case.instance.states.to_string(),
            case.instance.actions.to_string(),
            case.instance.discount.to_string(),
            percent(auto.active),
            milliseconds(nominal),
            milliseconds(auto),
        ];
        row.extend(methods.iter().map(|method| {
            let found = find(records, case, method);
            let ratio = found.and_then(|r| Some((r, *r.ratios.get("nominal_solve")?)));
            ratio.map_or_else(|| "–".into(), |(r, ratio)| marked(r, ratio))
        }));
        row.push(ran(auto));
        row.push(against_others(records, auto).map_or_else(|| "–".into(), number));
        grid.row(row);
    }
    grid.markdown()
}

/// The fastest certified solve without uncertainty.
fn best_nominal<'r>(records: &[&'r Record], case: &Case) -> Option<&'r Record> {
    let nominal = case.nominal();
    let solves = records.iter().filter(|r| r.case == nominal && r.certified());
    solves.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).copied()
}

/// Sweeps at every λ, one column a method.
fn sweeps(records: &[&Record], cases: &[&Case], methods: &[&str]) -> String {
    let mut head = vec!["regime", "S"];
    head.extend(methods);
    let mut grid = Table::new(&head);
    for series in series(cases) {
        let first = series[0];
        let mut row = vec![first.regime.clone(), first.instance.states.to_string()];
        row.extend(methods.iter().map(|method| {
            let cells = series.iter().map(|case| sweep_count(find(records, case, method)));
            cells.collect::<Vec<String>>().join(", ")
        }));
        grid.row(row);
    }
    grid.markdown()
}

/// Sweeps, those of nature alone in brackets if there are any.
pub(super) fn sweep_count(record: Option<&Record>) -> String {
    let Some(record) = record else { return String::new() };
    let nature = record.evaluations.filter(|&n| n > 0).map_or(String::new(), |n| format!(" ({n})"));
    match record.status.as_str() {
        "certified" => count(record.sweeps) + &nature,
        "failed" => "–".into(),
        _ => format!("> {}{nature}", count(record.sweeps)),
    }
}

/// How far the sweeps of a method depend on λ, over the series that it certified at every λ.
fn spreads(records: &[&Record], cases: &[&Case], methods: &[&str]) -> String {
    let mut grid = Table::new(&["method", "series", "certified at every λ", "median", "largest"]);
    let series = series(cases);
    for method in methods {
        let spread = |cases: &Vec<&Case>| spread(records, cases, method);
        let spreads: Vec<f64> = series.iter().filter_map(spread).collect();
        let shown = |x: Option<f64>| x.map_or("–".into(), number);
        grid.row([
            (*method).to_owned(),
            series.len().to_string(),
            spreads.len().to_string(),
            shown(median(spreads.iter().copied())),
            shown(spreads.iter().copied().reduce(f64::max)),
        ]);
    }
    grid.markdown()
}

/// The most sweeps over the fewest of a series.
pub(super) fn spread(records: &[&Record], cases: &[&Case], method: &str) -> Option<f64> {
    let sweeps = cases.iter().map(|case| find(records, case, method)?.certified_sweeps());
    let sweeps: Vec<u64> = sweeps.collect::<Option<_>>()?;
    Some(*sweeps.iter().max()? as f64 / *sweeps.iter().min()? as f64)
}

/// Cases that differ in λ only.
pub(super) fn series<'c>(cases: &[&'c Case]) -> Vec<Vec<&'c Case>> {
    let names = distinct(cases.iter().map(|c| (&c.regime, c.instance.states, c.radius)));
    let of = |name| {
        cases.iter().filter(move |c| (&c.regime, c.instance.states, c.radius) == name).copied()
    };
    names.into_iter().map(|name| of(name).collect()).collect()
}
