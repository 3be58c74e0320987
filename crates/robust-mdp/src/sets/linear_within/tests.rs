use super::*;
use crate::certificate::ProofRow;
use crate::instances::Xoshiro256;

const P: [f64; 3] = [0.5, 0.25, 0.25];
const W: [f64; 3] = [-2.0, -1.0, 0.0];
const BOUNDS: Bounds<'static> = Bounds { lower: &[0.25, 0.125, 0.0], upper: &[1.0, 0.5, 0.375] };

fn row<'a>(p: &'a [f64], w: &'a [f64], bounds: Bounds<'a>) -> Row<'a> {
    let data = EntryData { bounds: Some(bounds), ..EntryData::default() };
    let range = w.iter().fold(0.0_f64, |m, w| m.max(-w));
    Row { p, w, maximum: 0.0, range, outside: None, order: None, data }
}

/// An eighth from the first to the last state, which gains 2 a unit, and one to the second, which gains 1. The
/// rooms are ¼ for the first, ¼ up and ⅛ down for the second, ⅛ up for the last.
#[test]
fn pieces_are_filled_by_their_worth() {
    let row = row(&P, &W, BOUNDS);
    for (set, prices) in [(L1, [0.125, 0.375, 0.5]), (COUNT, [0.75, 2.0, 2.5])] {
        assert_eq!((set.peak(row), set.face(row)), (-0.875, prices[2]));
        let gain = [0.25 / (2.0 * prices[0]), 0.125 / (prices[2] - 2.0 * prices[0])];
        let half = set.price(row, -1.125, 0.0, None);
        assert_eq!((half.t, half.nu, half.price), (1.0 / gain[0], 0.5, prices[0]));
        let more = set.price(row, -0.9375, 0.0, Some(half));
        assert_eq!((more.t, more.nu, more.price), (1.0 / gain[1], 0.5, prices[1]));
        let mut y = [0.0; 3];
        set.kernel(row, more, &mut y);
        assert_eq!(y, [0.3125, 0.3125, 0.375]);
        assert_eq!(set.distance(&P, &y, row.data), prices[1]);
        set.kernel(row, Priced { t: f64::INFINITY, ..Priced::NOMINAL }, &mut y);
        assert_eq!(y, [0.25, 0.375, 0.375]);
    }
    assert_eq!(COUNT.vacuous(&P, false, row.data), 3.0);
    assert_eq!(L1.vacuous(&P, false, row.data), 1.25);
}

#[test]
fn a_proof_meets_what_it_proves() {
    let of = row(&P, &W, BOUNDS);
    for set in [L1, COUNT] {
        for u in [-1.2, -1.125, -0.9375, -0.88] {
            let at = set.price(of, u, 0.0, None);
            let read = set.read(&ProofRow { data: of.data, ..ProofRow::new(&P, &W) }, at.t, at.nu);
            let gain = at.t * at.value - at.price;
            assert!(read.dual >= gain && read.dual <= gain + 1e-12, "{read:?}, {at:?}");
            assert!(read.value.lo() <= u && read.value.hi() >= u, "{read:?}, {at:?}");
            assert!(read.value.rad <= 1e-13, "{read:?}");
            assert!((at.price..at.price + 1e-12).contains(&read.spent), "{read:?}, {at:?}");
        }
        let row = ProofRow { data: of.data, ..ProofRow::new(&P, &W) };
        assert!(set.read(&row, 1.0, 1.5).dual.is_nan());
    }
}

#[test]
fn intervals_of_all_probabilities_leave_the_norm() {
    let mut random = Xoshiro256::new(7);
    for n in 1..12 {
        let mass: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
        let p: Vec<f64> = mass.iter().map(|m| m / mass.iter().sum::<f64>()).collect();
        let mut w: Vec<f64> = (0..n).map(|_| -(4.0 * random.uniform()).floor()).collect();
        w[0] = 0.0;
        let (lower, upper) = (vec![0.0; n], vec![1.0; n]);
        let of = row(&p, &w, Bounds { lower: &lower, upper: &upper });
        assert!((L1.face(of) - NORM.face(of)).abs() <= 1e-14);
        for share in [0.1, 0.5, 0.9] {
            let u = share * of.nominal();
            let [one, other] = [L1.price(of, u, 0.0, None), NORM.price(of, u, 0.0, None)];
            assert!((one.price - other.price).abs() <= 1e-14, "{one:?}, {other:?}, {w:?}");
        }
    }
}

/// p, w and intervals.
type DegenerateRow = (&'static [f64], &'static [f64], Vec<[f64; 2]>);

/// No room, room for what has no mass, ties, one entry, rooms and objectives of any size: rows are within their
/// bounds, cost what is said, and the proof meets it.
#[test]
fn degenerate_rows_are_priced_to_rounding() {
    const THIRD: [f64; 3] = [1.0 / 3.0; 3];
    let narrow = THIRD.map(|p| [p - 1e-8, p + 1e-8]);
    let rows: [DegenerateRow; 8] = [
        (&P, &W, P.map(|p| [p, p]).to_vec()),
        (&P, &[-1.0, -1.0, -1.0], vec![[0.0, 1.0]; 3]),
        (&[0.5, 0.5, 0.0], &W, vec![[0.0, 1.0]; 3]),
        (&[0.5, 0.5, 0.0], &W, vec![[0.5, 0.5], [0.4, 0.5], [0.0, 0.1]]),
        (&[1.0], &[0.0], vec![[0.0, 1.0]]),
        (&THIRD, &[-1.0, -1.0, 0.0], vec![[0.2, 0.5]; 3]),
        (&THIRD, &W, narrow.to_vec()),
        (&[1e-9, 0.5, 0.5 - 1e-9], &W, vec![[0.0, 1.0], [0.5 - 1e-12, 0.6], [0.0, 1.0]]),
    ];
    for (p, w, intervals) in &rows {
        let lower: Vec<f64> = intervals.iter().map(|l| l[0]).collect();
        let upper: Vec<f64> = intervals.iter().map(|l| l[1]).collect();
        for (set, size) in [L1, COUNT].iter().flat_map(|set| [1e-8, 1.0, 1e8].map(|c| (set, c))) {
            let w: Vec<f64> = w.iter().map(|w| size * w).collect();
            let most = w.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let of = row(p, &w, Bounds { lower: &lower, upper: &upper });
            let of = Row { maximum: most, ..of };
            let (nominal, peak) = (of.below_maximum(), set.peak(of));
            if peak - nominal <= 1e-15 * size {
                assert_eq!(set.face(of), 0.0, "{p:?}, {intervals:?}");
                continue;
            }
            for share in [1e-6, 0.25, 0.5, 0.99] {
                let u = nominal + share * (peak - nominal);
                let at = set.price(of, u, 0.0, None);
                let mut y = vec![0.0; p.len()];
                set.kernel(of, at, &mut y);
                assert!((0..p.len()).all(|j| y[j] >= lower[j] && y[j] <= upper[j]), "{y:?}");
                let value: f64 = y.iter().zip(&w).map(|(y, w)| y * (w - most)).sum();
                assert!((value - u).abs() <= 1e-15 * size, "{at:?}, {value:e}, {u:e}");
                let spent = set.distance(p, &y, of.data);
                // What rounding of y leaves of it.
                let off = if set.unit == Unit::Room { 1e-15 / 1e-9 } else { 1e-15 };
                assert!((spent - at.price).abs() <= off, "{at:?}, {spent:e}");
                let depth = ProofRow::new(p, &w).depth;
                let row = ProofRow { maximum: most, depth, data: of.data, ..ProofRow::new(p, &w) };
                let read = set.read(&row, at.t, at.nu);
                let gain = at.t * u - at.price;
                let off = 1e-14 * (1.0 + at.t * depth);
                assert!((read.dual - gain).abs() <= off, "{read:?}, {gain:e}, {at:?}");
                assert!(read.spent >= at.price - off && read.spent <= at.price + 1e-6, "{read:?}");
            }
        }
    }
}
