//! What the rows of all states remember from sweep to sweep ([`RowMemory`]): three numbers a row, in
//! doubles or in the upper halves of doubles.
//!
//! Halves have the range of doubles and 20 bits behind the point, which is plenty for a first guess
//! of multipliers. They are rounded down: screening bounds stay lower bounds.

use std::ops::Range;

use crate::codec::{Codec, Snapshot};
use crate::oracle::exact::RowMemory;

/// One kind of number for all rows.
const KINDS: usize = 3;

/// t, ν and screening bounds of all rows.
#[derive(Debug)]
pub(super) struct RowStore {
    whole: [Vec<f64>; KINDS],
    halves: [Vec<u32>; KINDS],
}

/// The numbers of some rows, in one of the two forms; the other one is empty.
pub(crate) type Whole<'a> = [&'a mut [f64]; KINDS];
pub(crate) type Halves<'a> = [&'a mut [u32]; KINDS];

/// Nothing remembered yet.
const NOTHING: [f64; KINDS] = [0.0, 0.0, f64::NEG_INFINITY];

impl RowStore {
    pub(super) fn new(rows: usize) -> RowStore {
        RowStore { whole: NOTHING.map(|x| vec![x; rows]), halves: Default::default() }
    }

    /// The same in half the memory.
    pub(super) fn in_halves(rows: usize) -> RowStore {
        RowStore { whole: Default::default(), halves: NOTHING.map(|x| vec![half(x); rows]) }
    }

    /// All rows.
    pub(super) fn all(&mut self) -> (Whole<'_>, Halves<'_>) {
        (self.whole.each_mut().map(|a| &mut a[..]), self.halves.each_mut().map(|a| &mut a[..]))
    }

    /// Some of them.
    pub(super) fn of(&mut self, rows: Range<usize>) -> (Whole<'_>, Halves<'_>) {
        fn part<T>(all: &mut [T], rows: Range<usize>) -> &mut [T] {
            if all.is_empty() { all } else { &mut all[rows] }
        }
        let (whole, halves) = self.all();
        (whole.map(|a| part(a, rows.clone())), halves.map(|a| part(a, rows.clone())))
    }
}

impl RowStore {
    /// Shows a copy of what some rows remember.
    pub(super) fn show<T>(
        &self,
        rows: Range<usize>,
        scratch: &mut Vec<f64>,
        visit: impl FnOnce(RowMemory<'_>) -> T,
    ) -> T {
        scratch.clear();
        if self.halves[0].is_empty() {
            for all in &self.whole {
                scratch.extend_from_slice(&all[rows.clone()]);
            }
        } else {
            for all in &self.halves {
                scratch.extend(all[rows.clone()].iter().map(|&x| double(x)));
            }
        }
        visit(split(scratch, rows.len()))
    }
}

/// Three numbers a row, kind by kind.
fn split(all: &mut [f64], rows: usize) -> RowMemory<'_> {
    let (t, rest) = all.split_at_mut(rows);
    let (nu, screen) = rest.split_at_mut(rows);
    RowMemory { t, nu, screen }
}

impl Snapshot for RowStore {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let (whole, halves) = self.all();
        whole.into_iter().for_each(|a| codec.numbers(a));
        halves.into_iter().for_each(|a| codec.halves(a));
    }
}

/// Calls `visit` on what the rows of a state remember, in doubles, and keeps what it leaves.
pub(super) fn remember<T>(
    (whole, halves): (Whole<'_>, Halves<'_>),
    scratch: &mut Vec<f64>,
    visit: impl FnOnce(RowMemory<'_>) -> T,
) -> T {
    let rows = halves[0].len();
    if rows == 0 {
        let [t, nu, screen] = whole;
        return visit(RowMemory { t, nu, screen });
    }
    scratch.clear();
    scratch.extend(halves.iter().flat_map(|a| a.iter()).map(|&x| double(x)));
    let value = visit(split(scratch, rows));
    for (to, from) in halves.into_iter().zip(scratch.chunks_exact(rows)) {
        to.iter_mut().zip(from).for_each(|(to, &x)| *to = half(x));
    }
    value
}

/// The upper half of the largest such number that is at most x.
fn half(x: f64) -> u32 {
    let bits = x.to_bits();
    let (high, low) = ((bits >> 32) as u32, bits as u32);
    if x.is_nan() {
        return high | 1 << 19; // the lower half may have been all that told it from infinity
    }
    high + u32::from(x < 0.0 && low != 0)
}

fn double(high: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_lie_just_below() {
        for x in [1.0, 1.0 / 3.0, 1e300, 1e-300, 12345.678, f64::MAX, 0.1 + 0.2] {
            for x in [x, -x] {
                let near = double(half(x));
                assert!(near <= x && (x - near <= 1e-6 * x.abs() || near == f64::NEG_INFINITY));
            }
        }
        assert_eq!(double(half(-f64::MAX)), f64::NEG_INFINITY);
    }

    #[test]
    fn numbers_with_a_meaning_are_kept() {
        let kept = [0.0, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(kept.map(|x| double(half(x))), kept);
        assert!(double(half(f64::NAN)).is_nan());
        assert!(double(half(f64::from_bits(0x7ff0_0000_0000_0001))).is_nan());
    }

    #[test]
    fn both_forms_are_visited_alike() {
        for mut store in [RowStore::new(5), RowStore::in_halves(5)] {
            let mut scratch = Vec::new();
            remember(store.of(1..3), &mut scratch, |memory| {
                assert_eq!((memory.t.len(), memory.screen[1]), (2, f64::NEG_INFINITY));
                (memory.t[0], memory.nu[1], memory.screen[1]) = (0.5, -2.0, 4.0);
            });
            remember(store.of(0..5), &mut scratch, |memory| {
                assert_eq!((memory.t[1], memory.nu[2], memory.screen[2]), (0.5, -2.0, 4.0));
                assert_eq!((memory.t[2], memory.screen[0]), (0.0, f64::NEG_INFINITY));
            });
        }
    }
}
