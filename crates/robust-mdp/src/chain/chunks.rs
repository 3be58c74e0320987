//! Passes over vectors in chunks of fixed size: sums and maxima are taken chunk by chunk and put
//! together in the order of the chunks, so that threads cannot change a bit.

use crate::lanes::{self, kernels};
use crate::pool;

/// Length of a chunk.
pub(super) const CHUNK: usize = 1024;
/// Chunks that are worth a task.
const GRAIN: usize = 4;

/// What a pass brings home: two sums and a maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) sums: [f64; 2],
    pub(super) largest: f64,
}

/// Calls `body(start, pieces)` on every chunk of `arrays`, all of one length; `totals` has one
/// place a chunk.
pub(super) fn for_each_chunk<T: Send, const N: usize>(
    arrays: [&mut [T]; N],
    totals: &mut [Totals],
    body: &(impl Fn(usize, [&mut [T]; N]) -> Totals + Sync),
) {
    divide(arrays, totals, 0, body);
}

fn divide<T: Send, const N: usize>(
    arrays: [&mut [T]; N],
    totals: &mut [Totals],
    start: usize,
    body: &(impl Fn(usize, [&mut [T]; N]) -> Totals + Sync),
) {
    if totals.len() <= GRAIN {
        let mut pieces = arrays.map(|a| a.chunks_mut(CHUNK));
        for (i, total) in totals.iter_mut().enumerate() {
            let piece = pieces.each_mut().map(|p| p.next().expect("as many chunks as totals"));
            *total = body(start + i * CHUNK, piece);
        }
        return;
    }
    let half = totals.len() / 2;
    let (totals_left, totals_right) = totals.split_at_mut(half);
    let mut right = [const { None }; N];
    let mut rest = right.iter_mut();
    let left = arrays.map(|a| {
        let (l, r) = a.split_at_mut(half * CHUNK);
        *rest.next().expect("one place for each array") = Some(r);
        l
    });
    let right = right.map(|r| r.expect("one right half for each array"));
    pool::join(
        || divide(left, totals_left, start, body),
        || divide(right, totals_right, start + half * CHUNK, body),
    );
}

/// All chunks together.
pub(super) fn gather(totals: &[Totals]) -> Totals {
    totals.iter().fold(Totals::default(), |a, b| Totals {
        sums: [a.sums[0] + b.sums[0], a.sums[1] + b.sums[1]],
        // Not f64::max, which would hide a NaN.
        largest: if a.largest >= b.largest { a.largest } else { b.largest },
    })
}

kernels! {
    /// ⟨a, b⟩, ⟨a, a⟩ and max |aᵢ| of one chunk.
    pub(super) fn products<'a>(simd, a: &'a [f64], b: &'a [f64]) -> Totals {
        let own = lanes::dot(simd, a, a);
        let mut largest = simd.splat_f64s(0.0);
        lanes::walk!(simd, [a] => |a| { largest = simd.max_f64s(largest, simd.abs_f64s(a)); });
        let largest = simd.reduce_max_f64s(largest);
        // A register's maximum may drop a NaN; the square sum keeps it.
        let largest = if own.is_nan() { f64::NAN } else { largest };
        Totals { sums: [lanes::dot(simd, a, b), own], largest }
    }
}
