//! States that were saturated and, as far as what rows remember tells, still are.

use pulp::{Simd, WithSimd};

use super::active::RowMemory;
use super::ball::{Ball, Outcome, noise};
use super::saturation::at_peak;
use crate::lanes::dispatch;
use crate::uncertainty::Enclosure;

/// A state that was saturated, on the peak of row `before`, and must still be: rows priced on the way
/// to the level cost what they did, those on their peaks are priced again, and all others have stayed
/// above.
pub(super) fn still_saturated<B: Ball>(
    ball: &mut B,
    memory: &mut RowMemory<'_>,
    before: usize,
) -> Option<Outcome> {
    let drift = ball.drift().0;
    let level = memory.nu[before];
    if level == f64::NEG_INFINITY {
        return None;
    }
    let mut peaks = std::mem::take(&mut ball.active().pending);
    let RowMemory { t, nu, floor } = memory;
    let (priced, least) = dispatch(Standing { t, nu, floor, peaks: &mut peaks });
    let (mut ceiling, cost) = ball.peak(before);
    let (mut chosen, mut total) = (before, cost + priced);
    for k in peaks.iter().map(|&k| k as usize) {
        let (peak, cost) = ball.peak(k);
        t[k] = -cost.max(f64::MIN_POSITIVE);
        total -= t[k];
        if peak < ceiling {
            (ceiling, chosen) = (peak, k);
        }
    }
    ball.active().pending = peaks;
    let slack = noise(ball, ceiling) + 16.0 * f64::EPSILON * drift.abs();
    if total > ball.radius() || ceiling > level.min(least) + drift - slack {
        return None;
    }
    if chosen != before {
        (memory.t[before], memory.nu[before]) = (-cost.max(f64::MIN_POSITIVE), f64::INFINITY);
    }
    at_peak(ball, chosen);
    Some(Outcome::Peak { bounds: Enclosure { lower: ceiling, upper: ceiling }, level })
}

/// What rows priced on the way to the level cost together, and the least floor of those that were not
/// priced; lists the ones that were on their peaks.
struct Standing<'a> {
    t: &'a [f64],
    nu: &'a [f64],
    floor: &'a [f64],
    peaks: &'a mut Vec<u32>,
}

impl WithSimd for Standing<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (f64, f64) {
        let Standing { t, nu, floor, peaks } = self;
        peaks.clear();
        let lanes = size_of::<S::f64s>() / 8;
        let (zero, infinity) = (simd.splat_f64s(0.0), simd.splat_f64s(f64::INFINITY));
        let (mut sum, mut least) = (zero, infinity);
        let ((full_t, last_t), (full_nu, last_nu)) = (S::as_simd_f64s(t), S::as_simd_f64s(nu));
        let (full_floor, last_floor) = S::as_simd_f64s(floor);
        let on_peak = |t: f64, nu: f64| t < 0.0 && nu == f64::INFINITY;
        for (i, ((&t8, &nu8), &floor8)) in full_t.iter().zip(full_nu).zip(full_floor).enumerate() {
            let priced = simd.less_than_f64s(t8, zero);
            let below = simd.less_than_f64s(nu8, infinity);
            sum = simd.add_f64s(sum, simd.select_f64s(simd.and_m64s(priced, below), t8, zero));
            let other = simd.select_f64s(priced, infinity, floor8);
            // The row that was on its peak alone has t = ∞.
            let other = simd.select_f64s(simd.less_than_f64s(t8, infinity), other, infinity);
            least = simd.min_f64s(least, other);
            let peaked = simd.and_m64s(priced, simd.equal_f64s(nu8, infinity));
            if simd.first_true_m64s(peaked) < lanes {
                let all = i * lanes..(i + 1) * lanes;
                peaks.extend(all.filter(|&k| on_peak(t[k], nu[k])).map(|k| k as u32));
            }
        }
        let (mut sum, mut least) = (simd.reduce_sum_f64s(sum), simd.reduce_min_f64s(least));
        let start = full_t.len() * lanes;
        for (k, ((&t, &nu), &floor)) in last_t.iter().zip(last_nu).zip(last_floor).enumerate() {
            if on_peak(t, nu) {
                peaks.push((start + k) as u32);
            } else if t < 0.0 {
                sum += t;
            } else if t < f64::INFINITY {
                least = least.min(floor);
            }
        }
        (-sum, least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of all kinds in every lane and in the rest, one by one.
    #[test]
    fn rows_of_all_kinds_are_told_apart() {
        let infinity = f64::INFINITY;
        for rows in [1, 3, 8, 19, 64] {
            for shift in 0..5 {
                let kind = |k: usize| (k * 7 + shift) % 5;
                let part = |of: &dyn Fn(usize) -> f64| (0..rows).map(of).collect::<Vec<f64>>();
                // Left out, with a multiplier, alone on its peak; priced on the way and on its peak.
                let t = part(&|k| [0.0, 0.5, infinity, -1.0 - k as f64, -0.25][kind(k)]);
                let nu = part(&|k| [infinity, 0.0, -3.0, 2.0, infinity][kind(k)]);
                let floor = part(&|k| (k * 5 % rows) as f64 - 1.5);
                let all = |which: &[usize]| {
                    (0..rows).filter(|&k| which.contains(&kind(k))).collect::<Vec<_>>()
                };
                let mut peaks = vec![99];
                let (t, nu, floor) = (&t[..], &nu[..], &floor[..]);
                let (price, least) = dispatch(Standing { t, nu, floor, peaks: &mut peaks });
                assert_eq!(price, all(&[3]).iter().map(|&k| 1.0 + k as f64).sum::<f64>());
                assert_eq!(least, all(&[0, 1]).iter().fold(infinity, |m, &k| m.min(floor[k])));
                assert_eq!(peaks, all(&[4]).iter().map(|&k| k as u32).collect::<Vec<_>>());
            }
        }
    }
}
