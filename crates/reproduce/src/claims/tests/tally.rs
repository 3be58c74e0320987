//! Bounds in place of ratios, and claims of several parts.

use super::super::tally::{Ratio, Tally, together};
use super::*;

fn sample(value: f64, stopped: bool) -> Sample {
    Sample { value, stopped }
}

#[test]
fn a_stopped_run_makes_a_bound() {
    let of = |a, b| Ratio::of(sample(2.0, a), sample(10.0, b));
    assert_eq!(of(false, false), Ratio::Exact(5.0));
    assert_eq!(of(false, true), Ratio::AtLeast(5.0));
    assert_eq!(of(true, false), Ratio::AtMost(5.0));
    assert_eq!(of(true, true), Ratio::Unknown);
}

#[test]
fn bounds_decide_what_they_decide() {
    let about_ten = |r: Ratio| r.is_within(3.0, 30.0);
    assert_eq!(about_ten(Ratio::Exact(12.0)), Some(true));
    assert_eq!(about_ten(Ratio::AtLeast(12.0)), None);
    assert_eq!(about_ten(Ratio::AtLeast(31.0)), Some(false));
    assert_eq!(about_ten(Ratio::AtMost(12.0)), None);
    assert_eq!(about_ten(Ratio::AtMost(2.0)), Some(false));
    assert_eq!(about_ten(Ratio::Unknown), None);
    assert_eq!(Ratio::AtLeast(1.05).is_at_least(1.1), None);
    assert_eq!(Ratio::AtLeast(1.2).is_at_least(1.1), Some(true));
    assert_eq!(Ratio::AtMost(1.05).is_at_least(1.1), Some(false));
}

#[test]
fn what_is_not_decided_is_left_out_and_told_of() {
    let tally = Tally::of(&[Ratio::Exact(4.0), Ratio::AtLeast(1.05), Ratio::AtLeast(2.0)], 1.1);
    assert_eq!((tally.agree, tally.pairs, tally.undecided), (2, 2, 1));
    assert_eq!(tally.ruling(""), Ruling::Holds);
    let text = "2 of 2 pairs, median factor at least 2.00 (1 more not decided: a limit of work stopped a \
                run)";
    assert_eq!(tally.text(), text);
    let hidden = Tally::of(&[Ratio::Unknown, Ratio::AtMost(3.0)], 1.1);
    assert_eq!(
        (hidden.pairs, hidden.undecided, hidden.ruling("more")),
        (0, 2, Ruling::Open("more"))
    );
    assert_eq!(
        Tally::of(&[Ratio::AtMost(0.5), Ratio::Exact(0.2)], 1.1).factor.text(),
        "0.100 to 0.350"
    );
}

#[test]
fn a_claim_of_parts_holds_in_part_where_one_does() {
    use Ruling::{Fails, Holds, Partly};
    let open = Ruling::Open("more");
    for (parts, expected) in [
        ([Holds, Holds], Holds),
        ([Fails, Fails], Fails),
        ([Holds, Fails], Partly),
        ([Partly, Fails], Partly),
        ([Partly, Partly], Partly),
        ([Holds, open], Partly),
        ([Fails, open], open),
        ([open, open], open),
    ] {
        assert_eq!(together(&parts, "more"), expected, "{parts:?}");
    }
    assert_eq!(together(&[], "more"), open);
}
