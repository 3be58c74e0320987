//! Where the first-order method wins or loses.

use robust_mdp::error::name_of;
use robust_mdp_measure::table::Table;

use super::Source;
use super::quotient::{Quotient, Quotients, shown};
use crate::record::Record;
use crate::table::{count, distinct, marked, number};

pub(super) fn section(solve: &[&Record], paper: &[&Record], source: &Source) -> String {
    let (fine, coarse) = (of(solve, "fom-vi"), of(paper, "fom-vi"));
    if fine.is_empty() && coarse.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## First-order methods\n\n");
    text += &verdict(&fine, "1e-6");
    text += &verdict(&coarse, "0.1");
    if !coarse.is_empty() {
        text += "\nTo a certified gap of 0.1 at λ = 0.8, one thread. `fom-vi` is FOM-VI as it is here, \
             `fom-vi-paper` the same with the paper's steps, averages and start.\n\n";
        text += &table(paper);
        text += &source.of("paper");
        let steps = Quotients::of_paper(&coarse, &of(paper, "fom-vi-paper"));
        if let Some(steps) = steps {
            text += &format!("\n{steps}\n");
        }
    }
    if !fine.is_empty() {
        text +=
            "\nFOM-VI ÷ `auto` to 1e-6, over the sizes of a regime: median (least to largest).\n\n";
        text += &by_discount(&fine);
        text += &source.of("solve");
    }
    text
}

fn of<'r>(records: &[&'r Record], method: &str) -> Vec<&'r Record> {
    records.iter().filter(|r| r.method == method).copied().collect()
}

/// How often it is faster than the automatic choice, in a sentence.
fn verdict(records: &[&Record], gap: &str) -> String {
    let all = Quotients::of(records.iter().copied());
    let (Some(least), Some(median)) = (all.least(), all.median()) else { return String::new() };
    let (won, cases) = (all.below(1.0), all.len());
    let often = if won == 0 { "never".into() } else { format!("in {won} of {cases} cases") };
    let certified = records.iter().filter(|r| r.certified()).count();
    format!(
        "- To {gap}, FOM-VI is {often} faster than `auto` ({cases} cases, {certified} certified). \
         It takes {} times as long in the median, {} in its best case.\n",
        median.show(),
        least.show()
    )
}

impl Quotients {
    /// What the steps of the paper cost against those here, in a sentence.
    fn of_paper(here: &[&Record], paper: &[&Record]) -> Option<String> {
        let pair = |p: &&Record| {
            let here = here.iter().find(|h| h.case == p.case && h.certified())?;
            let ratio = number(p.seconds / here.seconds);
            let ratio = if p.certified() { ratio } else { format!("more than {ratio}") };
            Some(format!("{ratio} on {}-{}", p.case.regime, p.case.instance.states))
        };
        let pairs: Vec<String> = paper.iter().filter_map(pair).collect();
        let list = pairs.join(", ");
        (!pairs.is_empty())
            .then(|| format!("The paper's steps take, in times of those here: {list}."))
    }
}

fn table(paper: &[&Record]) -> String {
    let head = [
        "regime",
        "set",
        "S",
        "auto ms",
        "fom-vi ms",
        "steps",
        "fom-vi ÷ auto",
        "fom-vi-paper s",
        "steps",
        "fom-vi-paper ÷ auto",
    ];
    let mut grid = Table::new(&head);
    for case in distinct(paper.iter().map(|r| &r.case)) {
        let find = |method: &str| paper.iter().find(|r| r.case == *case && r.method == method);
        let (Some(auto), Some(here)) = (find("auto"), find("fom-vi")) else { continue };
        let published = find("fom-vi-paper");
        grid.row([
            case.regime.clone(),
            name_of(&case.set),
            case.instance.states.to_string(),
            marked(auto, 1e3 * auto.seconds),
            marked(here, 1e3 * here.seconds),
            count(here.first_order_steps),
            shown(Quotient::of(here)),
            published.map_or_else(String::new, |r| marked(r, r.seconds)),
            published.map_or_else(String::new, |r| count(r.first_order_steps)),
            published.map_or_else(String::new, |r| shown(Quotient::of(r))),
        ]);
    }
    grid.markdown()
}

fn by_discount(records: &[&Record]) -> String {
    let discounts = distinct(records.iter().map(|r| r.case.instance.discount));
    let mut head = vec!["regime".to_owned(), "set".to_owned()];
    head.extend(discounts.iter().map(|d| format!("λ = {d}")));
    let mut grid = Table::new(&head);
    for (regime, set) in distinct(records.iter().map(|r| (&r.case.regime, r.case.set))) {
        let mut row = vec![regime.clone(), name_of(&set)];
        row.extend(discounts.iter().map(|&discount| {
            let at =
                |r: &&&Record| r.case.regime == *regime && r.case.instance.discount == discount;
            Quotients::of(records.iter().filter(at).copied()).summary()
        }));
        grid.row(row);
    }
    grid.markdown()
}
