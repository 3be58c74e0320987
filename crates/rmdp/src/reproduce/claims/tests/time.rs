//! The claims that the comparison of times decides.

use super::super::standing::{Standing, fastest};
use super::*;

/// Seconds by size, and whether a limit ended the run.
fn by_size(values: &[(f64, f64, bool)]) -> Vec<(f64, Summary)> {
    let one = |&(x, value, stopped): &(f64, f64, bool)| {
        (x, summary(&[Sample { value, stopped }]).unwrap())
    };
    values.iter().map(one).collect()
}

/// The standing of times `one` against `other` at S = 10, 20, 40, …
fn standing(one: &[f64], other: &[f64]) -> Standing {
    let sizes = |times: &[f64]| {
        let at = |(k, &t): (usize, &f64)| (10.0 * 2f64.powi(k as i32), t, false);
        by_size(&times.iter().enumerate().map(at).collect::<Vec<_>>())
    };
    Standing::of(&sizes(one), &sizes(other))
}

#[test]
fn overtaking_is_a_crossing_or_a_growing_advantage() {
    let crossing = standing(&[2.0, 3.0, 4.0], &[1.0, 4.0, 9.0]);
    assert_eq!(crossing, Standing::Crosses { least: 10.0, from: 20.0 });
    assert_eq!(crossing.overtakes(), Some(true));
    // Twice as fast, four times, eight times: S^1.
    let growing = standing(&[1.0, 1.0, 1.0], &[2.0, 4.0, 8.0]);
    assert!(growing.text().ends_with("which grows (S^1.00)"), "{}", growing.text());
    assert_eq!(growing.overtakes(), Some(true));
    // Thirty times as fast at every size is faster, and overtakes nothing.
    let constant = standing(&[1.0, 2.0, 4.0], &[30.0, 60.0, 120.0]);
    assert!(matches!(constant, Standing::Faster(_)), "{constant:?}");
    assert_eq!(constant.overtakes(), Some(false));
    // Nor does an advantage that goes up and down, or shrinks.
    assert_eq!(standing(&[1.0; 4], &[33.0, 54.0, 29.0, 40.0]).overtakes(), Some(false));
    assert_eq!(standing(&[1.0; 3], &[41.0, 25.0, 24.0]).overtakes(), Some(false));
    // A tie, and less than a tenth, is not faster.
    assert_eq!(standing(&[1.0; 3], &[1.0; 3]), Standing::Behind { most: 40.0 });
    assert_eq!(standing(&[1.0; 3], &[1.05; 3]).overtakes(), Some(false));
    assert_eq!(standing(&[1.0; 3], &[9.0, 9.0, 0.5]), Standing::Behind { most: 40.0 });
    assert_eq!(standing(&[1.0; 3], &[9.0, 0.5, 9.0]), Standing::Wavers { at: 20.0 });
    assert_eq!(standing(&[1.0], &[9.0]).overtakes(), None);
}

#[test]
fn limits_hide_what_they_hide() {
    let fom = by_size(&[(10.0, 2.0, false), (20.0, 3.0, false), (40.0, 4.0, false)]);
    // A stopped loop took longer than its time: that FOM-VI is faster is known, the factor is not.
    let loops = by_size(&[(10.0, 1.0, false), (20.0, 9.0, true), (40.0, 9.0, true)]);
    assert_eq!(Standing::of(&fom, &loops), Standing::Crosses { least: 10.0, from: 20.0 });
    let loops = by_size(&[(10.0, 9.0, true), (20.0, 9.0, true), (40.0, 90.0, true)]);
    let bound = Standing::of(&fom, &loops);
    assert_eq!(bound.overtakes(), None);
    assert!(bound.text().contains("limits of work hide it"), "{}", bound.text());
    // Stopped before FOM-VI was done, or FOM-VI itself stopped: nothing is known.
    let early = by_size(&[(10.0, 1.0, true), (20.0, 9.0, false), (40.0, 9.0, false)]);
    assert_eq!(Standing::of(&fom, &early), Standing::Unknown);
    assert_eq!(Standing::of(&early, &fom), Standing::Unknown);
    // Of several loops the least time counts, also if it is only known to be longer.
    let best = fastest(&[by_size(&[(10.0, 5.0, false)]), by_size(&[(10.0, 1.0, true)])]);
    assert_eq!((best[0].1.median, best[0].1.stopped), (1.0, true));
}

/// All four families at two sizes or more: seconds of FOM-VI and of VI, by size.
fn contest(regime: Regime, times: &[(usize, f64, f64)]) -> Vec<Record> {
    let mut records = Vec::new();
    for family in Family::ALL {
        for &(states, fom, vi) in times {
            for (solver, seconds) in [(Solver::FomPaper, fom), (Solver::ViPrograms, vi)] {
                let mut record = timed(solver, states, Some(seconds));
                record.cell.problem.family = family;
                record.cell.problem.regime = regime;
                records.push(record);
            }
        }
    }
    records
}

#[test]
fn faster_throughout_by_a_constant_factor_is_not_overtaking() {
    let constant = contest(Regime::Paper, &[(10, 1.0, 30.0), (20, 2.0, 60.0), (40, 4.0, 120.0)]);
    let overtakes = ruled(&constant, "overtakes");
    assert_eq!(overtakes.ruling, Ruling::Fails, "{overtakes:?}");
    assert!(overtakes.short.starts_with("In 0 of 4 families"), "{}", overtakes.short);
    assert!(overtakes.short.ends_with("Faster at every size in 4."));
    let faster = ruled(&constant, "is faster than every form");
    assert_eq!(faster.ruling, Ruling::Holds);
    assert_eq!(faster.short, "At 12 of 12 sizes, 30.0 to 30.0 times.");
}

#[test]
fn crossings_and_growth_are_overtaking_at_the_papers_radius() {
    let crossing = contest(Regime::Paper, &[(10, 2.0, 1.0), (20, 3.0, 9.0)]);
    assert_eq!(ruled(&crossing, "overtakes").ruling, Ruling::Holds);
    assert_eq!(ruled(&crossing, "is faster than every form").ruling, Ruling::Fails); // half of them
    let growing = contest(Regime::Paper, &[(10, 1.0, 10.0), (20, 1.0, 20.0), (40, 1.0, 40.0)]);
    let verdict = ruled(&growing, "overtakes");
    assert_eq!(verdict.ruling, Ruling::Holds);
    assert!(verdict.short.contains("4 growing advantages"), "{}", verdict.short);
    assert!(verdict.measured.contains("which grows (S^1.00)"), "{}", verdict.measured);
    // Where the budget binds the advantage does not grow.
    let bound = contest(Regime::Tight, &[(10, 1.0, 10.0), (20, 1.0, 10.0), (40, 1.0, 10.0)]);
    let both = [growing.clone(), bound].concat();
    assert_eq!(ruled(&both, "overtakes").ruling, Ruling::Partly);
    assert_eq!(ruled(&both, "is faster than every form").ruling, Ruling::Holds);
    // A tie.
    let tied = contest(Regime::Paper, &[(10, 1.0, 1.0), (20, 1.0, 1.0)]);
    assert_eq!(ruled(&tied, "overtakes").ruling, Ruling::Fails);
    assert_eq!(ruled(&tied, "is faster than every form").ruling, Ruling::Fails);
    // Some families only: what is there holds, what is not is not guessed.
    assert_open(&ruled(&crossing[..8], "overtakes"), "rmdp reproduce time");
    assert_open(&ruled(&crossing[..1], "overtakes"), "rmdp reproduce time");
}

#[test]
fn small_instances_are_alike_within_a_factor_of_two() {
    let claim = "On small Garnet instances";
    let of = |vi| contest(Regime::Paper, &[(5, 1.0, vi), (10, 1.0, 1.9), (40, 1.0, 99.0)]);
    assert_eq!(ruled(&of(0.6), claim).ruling, Ruling::Holds);
    assert_eq!(ruled(&of(2.1), claim).ruling, Ruling::Fails); // half of the pairs
    let verdict = ruled(&of(2.1), claim);
    assert!(verdict.short.contains("in 2 of 4 pairs"), "{}", verdict.short);
    let large = contest(Regime::Paper, &[(20, 1.0, 1.0), (40, 1.0, 1.0)]);
    assert_open(&ruled(&large, claim), "at most 10 states");
}

#[test]
fn one_order_of_magnitude_is_neither_less_nor_much_more() {
    let claim = "about one order of magnitude";
    let of = |vi| contest(Regime::Paper, &[(10, 1.0, vi), (20, 1.0, vi), (40, 1.0, 12.0)]);
    assert_eq!(ruled(&of(9.0), claim).ruling, Ruling::Holds);
    assert_eq!(ruled(&of(2.0), claim).ruling, Ruling::Fails); // a third
    let more = contest(Regime::Paper, &[(10, 1.0, 150.0), (20, 1.0, 150.0)]);
    let verdict = ruled(&more, claim);
    assert_eq!(verdict.ruling, Ruling::Fails);
    assert!(verdict.short.contains("factor is 150. It is more."), "{}", verdict.short);
    // The calibrated radius says otherwise.
    let less = contest(Regime::Calibrated, &[(10, 1.0, 2.0), (20, 1.0, 2.0)]);
    assert_eq!(ruled(&[of(9.0), less].concat(), claim).ruling, Ruling::Partly);
}

#[test]
fn gauss_seidel_is_better_in_time_and_in_sweeps() {
    let runs = |time: f64, sweeps: u64| {
        let mut records = Vec::new();
        for states in [10, 20] {
            for (solver, time, sweeps) in
                [(Solver::ViPrograms, 1.0, 40), (Solver::GsPrograms, time, sweeps)]
            {
                let mut record = timed(solver, states, Some(time));
                record.cell.problem.family = Family::Healthcare;
                record.outcome.own = Some(Counts { sweeps, ..Counts::default() });
                records.push(record);
            }
        }
        records
    };
    let ruling = |time, sweeps| ruled(&runs(time, sweeps), "GS-VI performs better").ruling;
    assert_eq!(ruling(0.5, 20), Ruling::Holds);
    assert_eq!(ruling(0.5, 39), Ruling::Partly);
    assert_eq!(ruling(0.95, 39), Ruling::Fails);
    assert_eq!(ruling(1.5, 50), Ruling::Fails);
    assert_open(&ruled(&[timed(Solver::ViPrograms, 10, Some(1.0))], "GS-VI performs"), "time");
}
