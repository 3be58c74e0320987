//! What the numbers say, in sentences that are computed from them.

use robust_mdp_measure::statistics::median;

use super::quotient::{Quotient, Quotients};
use super::solves::{chosen, fastest};
use super::{interior_point, is_banded};
use crate::record::Record;
use crate::table::solve::{against_others, series, spread};
use crate::table::{distinct, number};

pub(super) fn section(solve: &[&Record], paper: &[&Record], scale: &[&Record]) -> String {
    let all = [
        auto(solve),
        value_iteration(solve, scale),
        policy_iteration(solve),
        accelerated(solve),
        first_order(solve, paper),
        interior(paper),
    ];
    let items: Vec<String> = all.into_iter().flatten().map(|text| format!("- {text}\n")).collect();
    if items.is_empty() {
        return String::new();
    }
    format!("\n## In short\n\n{}", items.concat())
}

/// The runs of a method; the automatic choice counts as what it ran too.
fn of<'r>(records: &[&'r Record], method: &str) -> Vec<&'r Record> {
    let is = |r: &&&Record| r.method == method || r.single() == method;
    records.iter().filter(is).copied().collect()
}

fn quotients(records: &[&Record]) -> Quotients {
    Quotients::of(records.iter().copied())
}

/// How many of the fastest are of these methods: `3 of 10`.
fn won(fastest: &[&Record], methods: &[&str], in_family: impl Fn(&Record) -> bool) -> String {
    let cases: Vec<&&Record> = fastest.iter().filter(|r| in_family(r)).collect();
    let won = cases.iter().filter(|r| methods.contains(&r.single())).count();
    format!("{won} of {}", cases.len())
}

fn auto(solve: &[&Record]) -> Option<String> {
    let auto = of(solve, "auto");
    let certified = auto.iter().filter(|r| r.certified()).count();
    let against = |r: &&'_ Record| Some((against_others(solve, r)?, r.case.name()));
    let mut ratios: Vec<(f64, String)> = auto.iter().filter_map(against).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (middle, worst) = (ratios.get(ratios.len() / 2)?, ratios.last()?);
    let ahead = ratios.iter().filter(|r| r.0 < 1.0).count();
    Some(format!(
        "**`auto`** ran {} and is certified to 1e-6 in {certified} of {}. It takes {} times as long \
         as the best method that it did not choose in the median, less in {ahead} of {} cases, {} \
         times at worst ({}).",
        chosen(solve),
        auto.len(),
        number(middle.0),
        ratios.len(),
        number(worst.0),
        worst.1,
    ))
}

fn value_iteration(solve: &[&Record], scale: &[&Record]) -> Option<String> {
    let runs = of(solve, "vi");
    let fastest = fastest(solve);
    let family = |banded| {
        let runs: Vec<&Record> = runs.iter().filter(|r| is_banded(r) == banded).copied().collect();
        quotients(&runs)
    };
    let (square, banded) = (family(false), family(true));
    square.median()?;
    let mut text = format!(
        "**`vi`** takes, relative to `auto`, {} on the square Garnet models, which mix fast, and {} \
         on the banded ones, which do not: median (least to largest). It is the fastest method in \
         {} square and {} banded cases.",
        square.summary(),
        banded.summary(),
        won(&fastest, &["vi"], |r| !is_banded(r)),
        won(&fastest, &["vi"], is_banded),
    );
    let large = of(scale, "vi");
    let mixing = |banded| {
        let of = |r: &&&Record| is_banded(r) == banded;
        Quotients::of(large.iter().filter(of).copied())
    };
    let (fast, slow) = (mixing(false), mixing(true));
    if fast.len() + slow.len() > 0 {
        text += &format!(
            " On the largest models it takes {} where they mix fast and {} where they do not.",
            fast.summary(),
            slow.summary(),
        );
    }
    text += match fast.median().or(square.median()) {
        Some(median) if !median.open && median.x <= 1.0 => {
            " It solves no linear systems: choose it for huge models that mix fast."
        }
        _ => " Nothing here speaks for it but that it solves no linear systems.",
    };
    Some(text)
}

fn policy_iteration(solve: &[&Record]) -> Option<String> {
    let methods = ["newton", "pi"];
    let fastest = fastest(solve);
    let top = solve.iter().map(|r| r.case.instance.discount).fold(f64::NAN, f64::max);
    let hard = |r: &Record| is_banded(r) && r.case.instance.discount == top;
    let near_one = |r: &Record| !is_banded(r) && r.case.instance.discount == top;
    if fastest.is_empty() {
        return None;
    }
    let cases = distinct(solve.iter().map(|r| &r.case));
    let spreads = |method: &str| {
        let series = series(&cases);
        let all = || series.iter().filter_map(|cases| spread(solve, cases, method));
        let (middle, most) = (median(all())?, all().reduce(f64::max)?);
        Some(format!("`{method}` {} ({} at most)", number(middle), number(most)))
    };
    let spreads: Vec<String> = ["newton", "pi", "vi"].into_iter().filter_map(spreads).collect();
    let slow = fastest.iter().filter(|r| hard(r)).count();
    let slow_won = fastest.iter().filter(|r| hard(r) && methods.contains(&r.single())).count();
    let verdict = match 2 * slow_won > slow {
        true => "Choose them for λ near 1 and for models that mix slowly.",
        false => "Nothing here speaks for them where λ is near 1 and models mix slowly.",
    };
    Some(format!(
        "**`newton`, `pi`** solve linear systems. One of the two is the fastest method in {} \
         cases, in {} of the banded ones at λ = {top} and in {} of the square ones there. The most \
         sweeps over the fewest as λ changes, in the median of the models certified at every λ: {}. \
         `newton` is the faster of the two in {}. {verdict}",
        won(&fastest, &methods, |_| true),
        won(&fastest, &methods, hard),
        won(&fastest, &methods, near_one),
        spreads.join(", "),
        duel(solve, "newton", "pi"),
    ))
}

/// In how many of the cases that both certified the first was faster.
fn duel(solve: &[&Record], first: &str, second: &str) -> String {
    let (first, second) = (of(solve, first), of(solve, second));
    let pairs = first.iter().filter_map(|a| {
        let b = second.iter().find(|b| b.case == a.case)?;
        (a.certified() && b.certified()).then_some(a.seconds < b.seconds)
    });
    let pairs: Vec<bool> = pairs.collect();
    format!("{} of {} cases", pairs.iter().filter(|&&faster| faster).count(), pairs.len())
}

fn accelerated(solve: &[&Record]) -> Option<String> {
    let fastest = fastest(solve);
    let each = ["anderson", "avi", "gs-vi"].into_iter().filter_map(|method| {
        let runs = of(solve, method);
        let median = quotients(&runs).median()?;
        let won = won(&fastest, &[method], |_| true);
        Some(format!(
            "`{method}` is the fastest in {won} cases (median {} times `auto`)",
            median.show()
        ))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty())
        .then(|| format!("**The accelerated and in-place loops**: {}.", each.join(", ")))
}

fn first_order(solve: &[&Record], paper: &[&Record]) -> Option<String> {
    let (fine, coarse) = (quotients(&of(solve, "fom-vi")), quotients(&of(paper, "fom-vi")));
    let (won, cases) = (fine.below(1.0) + coarse.below(1.0), fine.len() + coarse.len());
    if cases == 0 {
        return None;
    }
    let least = [fine.least(), coarse.least()].into_iter().flatten();
    let least = least.min_by(|a: &Quotient, b: &Quotient| a.x.total_cmp(&b.x))?;
    Some(match won {
        0 => format!(
            "**`fom-vi`** is never faster than `auto` at these sizes ({cases} cases, to 1e-6 and to \
             0.1); its best is {} times as long. Nothing here speaks for it but the study of \
             first-order methods.",
            least.show()
        ),
        _ => format!(
            "**`fom-vi`** is faster than `auto` in {won} of {cases} cases (to 1e-6 and to 0.1), at \
             best {} of its time: see the tables for which.",
            least.show()
        ),
    })
}

fn interior(paper: &[&Record]) -> Option<String> {
    let runs = interior_point::runs(paper);
    let all = quotients(&runs);
    let summary = all.median().map(|_| all.summary())?;
    let verdict = match all.below(1.0) {
        0 => "a reference to check against, not a method to use",
        _ => "sometimes the faster one: see the table",
    };
    let whole = quotients(&interior_point::whole_runs(paper));
    let whole = whole.median().map_or_else(String::new, |_| {
        format!(
            ", and {} times with whole programs, as in the paper ({} cases)",
            whole.summary(),
            whole.len()
        )
    });
    Some(format!(
        "**The interior-point oracle** takes {summary} times `auto` (median, least to largest of {} \
         cases){whole}: {verdict}.",
        all.len()
    ))
}
