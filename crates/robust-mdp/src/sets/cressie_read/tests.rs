use crate::certificate::ProofRow;
use crate::rows::Row;
use crate::sets::burg::Burg;
use crate::sets::hellinger::Hellinger;
use crate::sets::neyman::Neyman;
use crate::sets::{Beyond, Curve, EntryData, Priced};

const SETS: [&dyn Curve; 3] = [&Burg, &Hellinger, &Neyman];

fn row<'a>(p: &'a [f64], w: &'a [f64]) -> Row<'a> {
    let range = w.iter().fold(0.0_f64, |m, w| m.max(-w));
    Row { p, w, maximum: 0.0, range, outside: None, order: None, data: EntryData::default() }
}

/// All of the mass lies 1 below the maximum: what is not on it is ε, at ln(1/ε), 2(1 − √ε) and 1/ε − 1.
#[test]
fn mass_pops_up_on_the_maximum() {
    let row = row(&[1.0, 0.0], &[-1.0, 0.0]);
    for (set, [t, price]) in SETS.into_iter().zip([[4.0, 4f64.ln()], [2.0, 1.0], [16.0, 3.0]]) {
        for near in [None, Some(set.at(row, 1e-3, None)), Some(set.at(row, 1e3, None))] {
            let found = [set.price(row, -0.25, 0.0, near), set.at(row, t, near)];
            for at in found {
                let off =
                    (at.t - t).abs().max((at.value + 0.25).abs()).max((at.price - price).abs());
                assert!(off <= 1e-14 && at.nu == 0.0, "{}: {at:?}", set.name());
            }
            let mut y = [0.0; 2];
            assert_eq!(set.kernel(row, found[0], &mut y), Beyond::Nothing);
            assert!((y[0] - 0.25).abs() + (y[1] - 0.75).abs() < 1e-15, "{}: {y:?}", set.name());
        }
    }
}

/// As little mass on the maximum as doubles have, and a little more, changes nothing but η.
#[test]
fn little_mass_on_the_maximum_is_like_none() {
    for (set, mass) in SETS.iter().flat_map(|set| [1e-300, 1e-150, 1e-60, 1e-20].map(|p| (set, p)))
    {
        let p = [0.25, 0.75, mass];
        let (bare, row) =
            (row(&[0.25, 0.75, 0.0], &[-2.0, -1.0, 0.0]), row(&p, &[-2.0, -1.0, 0.0]));
        let near = (1e3 * mass.sqrt()).max(1e-14);
        for t in [2.0, 10.0, 1e3] {
            let [one, two] = [bare, row].map(|row| set.at(row, t, None));
            let off = (one.value - two.value).abs().max((one.price - two.price).abs());
            assert!(off <= near * (1.0 + one.price), "{} {mass:e}: {one:?}, {two:?}", set.name());
            let again = set.price(row, two.value, 0.0, None);
            assert!((again.t - t).abs() <= 1e-6 * t, "{} {mass:e}: {again:?}, {two:?}", set.name());
        }
    }
}

/// Steps from any point end where those from nowhere do, to digits that tiny budgets leave.
#[test]
fn prices_of_tiny_ways_keep_their_digits() {
    let row = row(&[0.5, 0.25, 0.25], &[-2.0, -1.0, 0.0]);
    // g(u) = (u − q)²φ''/(2·Var), Var = 11/16, φ'' = 1, ½ and 2.
    for (set, bend) in SETS.into_iter().zip([1.0, 0.5, 2.0]) {
        for way in [1e-3, 1e-6, 1e-8] {
            for near in [None, Some(1e-9), Some(1.0), Some(1e6)] {
                let near = near.map(|t| set.at(row, t, None));
                let at = set.price(row, -1.25 + way, 0.0, near);
                let [t, price] = [bend * way / 0.6875, 0.5 * bend * way * way / 0.6875];
                let close = (at.t / t - 1.0).abs() <= 4.0 * way + 1e-15 / way
                    && (at.price - price).abs() <= 4.0 * way * price + 1e-15 * t;
                assert!(close, "{} {way:e}: {at:?}, {t:e}, {price:e}", set.name());
            }
        }
    }
}

#[test]
fn proofs_meet_what_they_prove() {
    let (p, w) = ([0.5, 0.25, 0.25, 0.0], [-2.0, -1.0, -0.5, 0.0]);
    let row = row(&p, &w);
    for (set, u) in SETS.into_iter().flat_map(|set| [-1.3, -0.6, -0.01].map(|u| (set, u))) {
        let at = set.price(row, u, 0.0, None);
        let read = set.proof().expect("one").read(&ProofRow::new(&p, &w), at.t, at.nu);
        let (gain, size) = (at.t * at.value - at.price, 1e-13 * (1.0 + at.price));
        let place = || format!("{} {u}: {at:?}, {read:?}", set.name());
        assert!(read.dual >= gain - size && read.dual <= gain + size, "{}", place());
        assert!(read.value.lo() <= u + 1e-14 && read.value.hi() >= u - 1e-14, "{}", place());
        assert!((read.spent - at.price).abs() <= size, "{}", place());
        let none = set.proof().expect("one").read(&ProofRow::new(&p, &w), at.t, -at.nu - 1e-3);
        assert!(none.dual.is_nan());
    }
}

/// Where all are on the maximum nothing can be gained.
#[test]
fn flat_rows_have_points() {
    let row = row(&[0.5, 0.5], &[0.0, 0.0]);
    for set in SETS {
        let Priced { value, price, .. } = set.at(row, 3.0, None);
        assert_eq!((value, price, set.face(row)), (0.0, 0.0, 0.0), "{}", set.name());
    }
}
