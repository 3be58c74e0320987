//! Every method on every regime, and sweeps against the discount factor.

use robust_mdp::error::name_of;
use robust_mdp_measure::table::Table;

use super::quotient::{Quotients, shown};
use super::{Source, is_banded};
use crate::instance::Case;
use crate::record::Record;
use crate::table::solve::{find, series, spread, sweep_count};
use crate::table::{distinct, number, ran};

pub(super) fn section(records: &[&Record], source: &Source) -> String {
    if records.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Every method, relative to `auto`\n\n");
    text += "Certified solves to 1e-6 on one thread: seconds ÷ those of `auto`, the median over \
             the sizes of a regime. `>`: not certified within its time limit, so a lower bound; \
             `–`: ended at the limit of its precision. Cases that `auto` \
             did not certify are left out of the ratios. `auto ÷ nominal`: in units of the fastest \
             solve of the same model without uncertainty.";
    text += &format!(" What `auto` ran has no column of its own: {}.\n\n", chosen(records));
    text += &times(records);
    text += &source.of("solve");
    text += "\nHow often each was the fastest, by family and discount factor; `auto` counts as what \
             it ran:\n\n";
    text += &wins(records);
    text += &source.of("solve");
    text += "\n## Sweeps against the discount factor\n\n";
    text += "Sweeps to 1e-6 at each λ on the largest model of a regime; in brackets those of \
             nature alone, which are part of the count. `most ÷ fewest` is over λ, for `auto`: at \
             the size shown, and the largest of all sizes.\n\n";
    text += &sweeps(records);
    text + &source.of("solve")
}

/// All but the automatic choice.
fn methods<'r>(records: &[&'r Record]) -> Vec<&'r str> {
    distinct(records.iter().filter(|r| r.method != "auto").map(|r| r.method.as_str()))
}

/// “newton, exact in 111 of 111 cases”.
pub(super) fn chosen(records: &[&Record]) -> String {
    let auto: Vec<&Record> = records.iter().filter(|r| r.method == "auto").copied().collect();
    let each = distinct(auto.iter().map(|r| ran(r))).into_iter().map(|name| {
        let times = auto.iter().filter(|r| ran(r) == name).count();
        format!("{name} in {times} of {} cases", auto.len())
    });
    each.collect::<Vec<String>>().join(", ")
}

fn times(records: &[&Record]) -> String {
    let methods = methods(records);
    let mut head = vec!["regime", "set", "λ", "sizes", "auto ÷ nominal"];
    head.extend(&methods);
    let mut grid = Table::new(&head);
    let key = |r: &Record| (r.case.regime.clone(), r.case.instance.discount.to_bits());
    for group in distinct(records.iter().map(|r| key(r))) {
        let of = |method: &str| -> Vec<&Record> {
            records.iter().filter(|r| key(r) == group && r.method == method).copied().collect()
        };
        let auto = of("auto");
        let Some(first) = auto.first() else { continue };
        let mut nominal: Vec<f64> =
            auto.iter().filter_map(|r| r.ratios.get("nominal_solve").copied()).collect();
        nominal.sort_by(f64::total_cmp);
        let sizes: Vec<String> = auto.iter().map(|r| r.case.instance.states.to_string()).collect();
        let mut row = vec![
            first.case.regime.clone(),
            name_of(&first.case.set),
            first.case.instance.discount.to_string(),
            sizes.join(", "),
            nominal.get(nominal.len() / 2).map_or_else(|| "–".into(), |&x| number(x)),
        ];
        row.extend(methods.iter().map(|method| shown(Quotients::of(of(method)).median())));
        grid.row(row);
    }
    grid.markdown()
}

/// The fastest certified run of every case.
pub(super) fn fastest<'r>(records: &[&'r Record]) -> Vec<&'r Record> {
    let cases = distinct(records.iter().map(|r| &r.case));
    let best = |case: &Case| {
        let certified = records.iter().filter(|r| r.case == *case && r.certified()).copied();
        certified.min_by(|a: &&Record, b: &&Record| a.seconds.total_cmp(&b.seconds))
    };
    cases.into_iter().filter_map(best).collect()
}

fn wins(records: &[&Record]) -> String {
    let group = |r: &Record| (is_banded(r), r.case.instance.discount.to_bits());
    let groups = distinct(records.iter().map(|r| group(r)));
    let mut head = vec!["method".to_owned()];
    head.extend(groups.iter().map(|&(banded, discount)| {
        let family = if banded { "banded" } else { "square" };
        format!("{family} {}", f64::from_bits(discount))
    }));
    head.extend(["all", "certified"].map(String::from));
    let mut grid = Table::new(&head);
    let fastest = fastest(records);
    for method in distinct(records.iter().map(|r| r.single())) {
        let of_method: Vec<&Record> =
            records.iter().filter(|r| r.single() == method).copied().collect();
        let won = fastest.iter().filter(|r| r.single() == method);
        let mut row = vec![method.to_owned()];
        row.extend(groups.iter().map(|of| {
            let cases = of_method.iter().filter(|r| group(r) == *of).count();
            format!("{} of {cases}", won.clone().filter(|r| group(r) == *of).count())
        }));
        row.push(format!("{} of {}", won.count(), of_method.len()));
        let certified = of_method.iter().filter(|r| r.certified()).count();
        row.push(format!("{certified} of {}", of_method.len()));
        grid.row(row);
    }
    grid.markdown()
}

fn sweeps(records: &[&Record]) -> String {
    let cases = distinct(records.iter().map(|r| &r.case));
    let series = series(&cases);
    let methods = methods(records);
    let mut head = vec!["regime", "S", "λ", "auto", "most ÷ fewest", "any size"];
    head.extend(&methods);
    let mut grid = Table::new(&head);
    for regime in distinct(cases.iter().map(|c| &c.regime)) {
        let of_regime = series.iter().filter(|s| s[0].regime == *regime);
        let Some(largest) = of_regime.clone().max_by_key(|s| s[0].instance.states) else {
            continue;
        };
        let cells = |method: &str| {
            let counts = largest.iter().map(|case| sweep_count(find(records, case, method)));
            counts.collect::<Vec<String>>().join(", ")
        };
        let worst = of_regime.filter_map(|s| spread(records, s, "auto")).fold(f64::NAN, f64::max);
        let discounts: Vec<String> =
            largest.iter().map(|c| c.instance.discount.to_string()).collect();
        let mut row = vec![
            regime.clone(),
            largest[0].instance.states.to_string(),
            discounts.join(", "),
            cells("auto"),
            spread(records, largest, "auto").map_or_else(|| "–".into(), number),
            if worst.is_nan() { "–".into() } else { number(worst) },
        ];
        row.extend(methods.iter().map(|method| cells(method)));
        grid.row(row);
    }
    grid.markdown()
}
