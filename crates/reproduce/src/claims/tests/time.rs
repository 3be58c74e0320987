//! The claims that the comparison of times decides.

use super::super::standing::{Standing, fastest};
use super::*;

const OUTPERFORMS: &str = "clearly outperforms every variant of VI on machine replacement";

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
    assert!(growing.text().contains("which grows (S^1.00 ±"), "{}", growing.text());
    assert_eq!(growing.overtakes(), Some(true));
    // Thirty times as fast at every size is faster, and overtakes nothing.
    let constant = standing(&[1.0, 2.0, 4.0], &[30.0, 60.0, 120.0]);
    assert!(matches!(constant, Standing::Faster(_)), "{constant:?}");
    assert_eq!(constant.overtakes(), Some(false));
    // Nor does an advantage that shrinks.
    assert_eq!(standing(&[1.0; 3], &[41.0, 25.0, 24.0]).overtakes(), Some(false));
    // A tie, and less than a tenth, is not faster.
    assert_eq!(standing(&[1.0; 3], &[1.0; 3]), Standing::Behind { most: 40.0 });
    assert_eq!(standing(&[1.0; 3], &[1.05; 3]).overtakes(), Some(false));
    assert_eq!(standing(&[1.0; 3], &[9.0, 9.0, 0.5]), Standing::Behind { most: 40.0 });
    assert_eq!(standing(&[1.0; 3], &[9.0, 0.5, 9.0]), Standing::Wavers { at: 20.0 });
    assert_eq!(standing(&[1.0], &[9.0]).overtakes(), None);
}

#[test]
fn growth_that_noise_hides_is_not_decided() {
    // k = 0.14 within 0.6 or so: neither no growth nor S^0.25.
    let noisy = standing(&[1.0; 4], &[33.0, 54.0, 29.0, 57.0]);
    assert_eq!(noisy.overtakes(), None);
    assert!(noisy.text().contains("which may or may not grow (S^0.1"), "{}", noisy.text());
    // Large, and as uncertain.
    assert_eq!(standing(&[1.0; 3], &[10.0, 60.0, 30.0]).overtakes(), None);
    // Large enough for its error, and small enough for it.
    assert_eq!(standing(&[1.0; 4], &[10.0, 15.0, 19.0, 30.0]).overtakes(), Some(true));
    assert_eq!(standing(&[1.0; 4], &[30.0, 31.0, 29.5, 30.0]).overtakes(), Some(false));
    // Two sizes say nothing of the error.
    let two = standing(&[1.0; 2], &[10.0, 40.0]);
    assert_eq!(two.overtakes(), None);
    assert!(two.text().contains("fewer than three sizes"), "{}", two.text());
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
    assert!(bound.text().contains("without a limit of work"), "{}", bound.text());
    let ends = "at least 4.50 times as fast at S = 10, at least 22.5 times at S = 40";
    assert!(bound.text().starts_with(ends), "{}", bound.text());
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
    let short = "Does not: Garnet 50 %, Garnet 20 %, healthcare. Faster at every size in 3 of 3.";
    assert_eq!(overtakes.short, short);
    let faster = ruled(&constant, OUTPERFORMS);
    assert_eq!(faster.ruling, Ruling::Holds);
    let short =
        "Machine replacement: 3 of 3 sizes, factor 30.0. Garnet: 2 of 2 families, factor 30.0.";
    assert_eq!(faster.short, short);
}

#[test]
fn crossings_and_growth_are_overtaking_at_the_papers_radius() {
    let crossing = contest(Regime::Paper, &[(10, 2.0, 1.0), (20, 3.0, 9.0)]);
    assert_eq!(ruled(&crossing, "overtakes").ruling, Ruling::Holds);
    // Machine replacement at all sizes does not, the largest Garnet models do.
    assert_eq!(ruled(&crossing, OUTPERFORMS).ruling, Ruling::Partly);
    let growing = contest(Regime::Paper, &[(10, 1.0, 10.0), (20, 1.0, 20.0), (40, 1.0, 40.0)]);
    let verdict = ruled(&growing, "overtakes");
    assert_eq!(verdict.ruling, Ruling::Holds);
    assert!(verdict.short.starts_with("Crosses or grows: Garnet 50 %, Garnet 20 %, healthcare."));
    assert!(verdict.measured.contains("which grows (S^1.00 ±"), "{}", verdict.measured);
    assert!(!verdict.measured.contains("machine"), "{}", verdict.measured);
    assert!(verdict.why.contains("The largest Garnet models here have S = A = 40:"));
    // Where the budget binds the advantage does not grow.
    let bound = contest(Regime::Tight, &[(10, 1.0, 10.0), (20, 1.0, 10.0), (40, 1.0, 10.0)]);
    let both = [growing.clone(), bound].concat();
    assert_eq!(ruled(&both, "overtakes").ruling, Ruling::Partly);
    assert_eq!(ruled(&both, OUTPERFORMS).ruling, Ruling::Holds);
    // A tie.
    let tied = contest(Regime::Paper, &[(10, 1.0, 1.0), (20, 1.0, 1.0)]);
    assert_eq!(ruled(&tied, "overtakes").ruling, Ruling::Fails);
    assert_eq!(ruled(&tied, OUTPERFORMS).ruling, Ruling::Fails);
    // Some families only: what is there holds, what is not is not guessed.
    let some = ruled(&crossing[..8], "overtakes");
    assert_eq!(some.ruling, Ruling::Partly);
    assert!(some.short.contains("Not decided: healthcare."), "{}", some.short);
    assert_open(&ruled(&crossing[..1], "overtakes"), "rmdp reproduce time");
}

/// Noise in one family leaves the others to say something in part.
#[test]
fn overtaking_is_ruled_family_by_family() {
    let mut records = contest(Regime::Paper, &[(10, 1.0, 10.0), (20, 1.0, 20.0), (60, 1.0, 60.0)]);
    for record in &mut records {
        let p = record.cell.problem;
        let slow = record.cell.task == Task::Solve(Solver::ViPrograms);
        if slow && p.family == Family::Garnet50 {
            let seconds = if p.states == 20 { 60.0 } else { 30.0 };
            record.seconds =
                Seconds { own: Some(seconds), certified: Some(seconds), total: seconds };
        }
    }
    let verdict = ruled(&records, "overtakes");
    assert_eq!(verdict.ruling, Ruling::Partly);
    let short = "Crosses or grows: Garnet 20 %, healthcare. Not decided: Garnet 50 %. ";
    assert!(verdict.short.starts_with(short), "{}", verdict.short);
    // The paper's sizes are there.
    assert!(!verdict.why.contains("were not run"), "{}", verdict.why);
    // Without the others nothing is decided.
    records.retain(|r| r.cell.problem.family == Family::Garnet50);
    assert_open(&ruled(&records, "overtakes"), "rmdp reproduce time");
}

/// Less than twice as fast is not clear, and other families do not matter.
#[test]
fn outperforming_is_said_of_machine_replacement_and_large_garnet_models() {
    let of = |machine: f64, garnet: f64, healthcare: f64| {
        let mut records = contest(Regime::Paper, &[(10, 1.0, 1.5), (20, 1.0, 1.5)]);
        for record in &mut records {
            let Problem { family, states, .. } = record.cell.problem;
            let seconds = match family {
                Family::Machine => machine,
                Family::Healthcare => healthcare,
                Family::Garnet50 | Family::Garnet20 if states == 20 => garnet,
                Family::Garnet50 | Family::Garnet20 => 0.5,
            };
            if record.cell.task == Task::Solve(Solver::ViPrograms) {
                record.seconds =
                    Seconds { own: Some(seconds), certified: Some(seconds), total: seconds };
            }
        }
        ruled(&records, OUTPERFORMS).ruling
    };
    assert_eq!(of(3.0, 3.0, 0.1), Ruling::Holds);
    assert_eq!(of(1.5, 3.0, 9.0), Ruling::Partly);
    assert_eq!(of(3.0, 1.5, 9.0), Ruling::Partly);
    assert_eq!(of(1.5, 1.5, 9.0), Ruling::Fails);
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
    // VI stopped after twelve times as long may have taken a hundred times, and is left out.
    let stopped = |vi: f64| {
        let mut records = of(9.0);
        for record in &mut records {
            let vi_at_40 = record.cell.task == Task::Solve(Solver::ViPrograms)
                && record.cell.problem.states == 40;
            if vi_at_40 {
                record.seconds = Seconds { own: None, certified: None, total: vi };
            }
        }
        ruled(&records, claim)
    };
    let hidden = stopped(12.0);
    assert_eq!(hidden.ruling, Ruling::Holds);
    assert!(hidden.short.starts_with("At 2 of 2 sizes (1 more not decided"), "{}", hidden.short);
    assert!(stopped(99.0).short.starts_with("At 2 of 3 sizes;"), "{}", stopped(99.0).short);
}

#[test]
fn gauss_seidel_is_better_in_time_and_in_sweeps() {
    let at = |sizes: &[usize], time: f64, sweeps: u64| {
        let mut records = Vec::new();
        for &states in sizes {
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
    let runs = |time, sweeps| at(&[10, 20], time, sweeps);
    let ruling = |time, sweeps| ruled(&runs(time, sweeps), "GS-VI performs better").ruling;
    assert_eq!(ruling(0.5, 20), Ruling::Holds);
    assert_eq!(ruling(0.5, 39), Ruling::Partly);
    assert_eq!(ruling(0.95, 39), Ruling::Fails);
    assert_eq!(ruling(1.5, 50), Ruling::Fails);
    // Two sizes of three are a part, even if the other part fails.
    let mixed = [at(&[10, 20], 0.5, 39), at(&[40], 1.0, 39)].concat();
    let verdict = ruled(&mixed, "GS-VI performs better");
    assert_eq!(verdict.ruling, Ruling::Partly);
    let short = "By more than a tenth: faster at 2 of 3 sizes, fewer sweeps at 0 of 3 (median 39 in place \
                 of 40).";
    assert_eq!(verdict.short, short);
    assert_open(&ruled(&[timed(Solver::ViPrograms, 10, Some(1.0))], "GS-VI performs"), "time");
}
