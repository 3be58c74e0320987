//! What (t, η) prove of a row of the Burg, Hellinger and Neyman sets, for certificates; no code of the solver's.
//!
//! With s = η + tx, x = −z ≥ 0, and p̄ = p/Σp, for every η ≥ 0 that leaves s > 0 where p > 0
//!   ψ(t) ≤ η − 1 − Σp̄L(s),   L = ln s, 1 − 1/s, 2(√s − 1),
//! since entries with p = 0, listed or not, add sup_y −sy = 0. With y = p̄s^{−e} of mass M, the row ŷ is y/M, and
//!   t⟨z, ŷ⟩ = −Σy(s − η)/M,   d(ŷ, p̄) ≤ e·Σp̄L + (M − 1)K,
//! by ln M ≤ M − 1 and 1 − M^{−½} ≤ (M − 1)/2; K is the set's. Where η is next to 0 and M ≤ 1, ŷ is y with the
//! rest of the mass on the maximum, which makes d no larger, and M above is 1. For ½ ≤ η ≤ 2 all is summed in
//! δ = s − 1 = (η − 1) + tx, η − 1 exact: nothing cancels where y is close to p.
//!
//! For s ≥ ½ the rounding of δ, at most u|δ|, changes L, 1 − s^{−e} and s^{−e}δ by at most 3u of themselves, that
//! of s = 1 + δ by at most 2u (5u of ln s, where that is not found from δ), and each has fewer than 10 roundings
//! of its own: in all less than [`OWN`]u of itself. Elsewhere s has one rounding, at most us: ln s changes by u,
//! powers by 2u of themselves.

use pulp::Simd;

use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Terms, steps};
use crate::certificate::{Interval, ProofRow, Reading, TINY, roundings};

/// Roundings of a term of its own.
const OWN: f64 = 16.0;
/// Mass pops up on the maximum where η is smaller.
const POPPED: f64 = 1e-80;
/// Less than ½ by more than a rounding.
const HALF: f64 = 0.4999;
/// s beyond these is no number.
const LEAST: f64 = 1e-290;
const MOST: f64 = 1e290;

/// Of one entry with s = 1 + δ: L, 1 − s^{−e} and s^{−e}.
pub(in crate::sets) struct Near<S: Simd> {
    pub(in crate::sets) loss: Lane<S>,
    pub(in crate::sets) lost: Lane<S>,
    pub(in crate::sets) power: Lane<S>,
}

/// Of one entry: what dual and distance are sums of, s^{−e} and s^{1−e}.
pub(in crate::sets) struct Far<S: Simd> {
    pub(in crate::sets) dual: Lane<S>,
    pub(in crate::sets) power: Lane<S>,
    pub(in crate::sets) fall: Lane<S>,
}

/// A set's own functions.
pub(in crate::sets) trait Members: Copy {
    /// e.
    const E: f64;
    /// Of one entry near p.
    fn near<S: Simd>(self, delta: Lane<S>, s: Lane<S>) -> Near<S>;
    /// Of any other.
    fn far<S: Simd>(self, s: Lane<S>) -> Far<S>;
    /// [c, k]: ψ ≤ η + c + k·Σp̄·dual and d(ŷ, p̄) ≤ c + k·Σp̄·dual where M ≤ 1.
    const DUAL: [f64; 2];
    const SPENT: [f64; 2];
    /// K from e·Σp̄L.
    fn divided(spent: Interval) -> Interval;
}

pub(in crate::sets) fn read(of: impl Members, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
    let first = || row.entries().find(|(p, _)| *p > 0.0).map_or(0.0, |(_, z)| eta - t * z);
    match eta {
        0.5..=2.0 => near(of, row, t, eta),
        // Where mass pops up, y may be as close to p.
        0.0..0.5 if (HALF..4.0).contains(&first()) => {
            let found = near(of, row, t, eta);
            if found.spent.is_nan() { far(of, row, t, eta) } else { found }
        }
        0.0..=1e290 => far(of, row, t, eta),
        _ => Reading::NOTHING,
    }
}

/// M − 1; next to 0, η marks rows that leave the rest of the mass to the maximum.
fn without_rest(over: Interval, eta: f64) -> Interval {
    if eta < POPPED && over.hi() <= 0.0 { Interval::from(0.0) } else { over }
}

/// With η rounded so that η − 1 is a number.
fn near<M: Members>(of: M, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
    let (steps, nu) = (steps(row.p.len()), eta - 1.0);
    let [mass, loss, lost, fall, sizes @ ..] = row.sums(t, nu, OfNear(of));
    let mass = Interval::of_sum(mass, steps);
    let off = sizes.map(|size: f64| roundings(steps + OWN) * size + TINY);
    let mean = |sum: f64, rad: f64| Interval { mid: sum, rad } / mass;
    let (loss, over, fall) = (mean(loss, off[0]), mean(lost, off[1]) * -1.0, mean(fall, off[2]));
    let dual = loss * -1.0 + nu;
    // M(η − 1) − Σyδ.
    let value = over * nu + nu + fall * -1.0;
    told::<M>(dual, value, loss * M::E, without_rest(over, eta), t)
}

fn far<M: Members>(of: M, row: &ProofRow<'_>, t: f64, eta: f64) -> Reading {
    let steps = steps(row.p.len());
    let [mass, dual, size, power, fall] = row.sums(t, eta, OfFar(of));
    let mass = Interval::of_sum(mass, steps);
    let rad = roundings(steps + OWN) * (size + mass.hi()) + TINY;
    let mean = Interval { mid: dual, rad } / mass;
    let (power, fall) = (Interval::of_sum(power, steps + OWN), Interval::of_sum(fall, steps + OWN));
    let (power, fall) = (power / mass, fall / mass);
    let ([c, k], [d, l]) = (M::DUAL, M::SPENT);
    let value = power * eta + fall * -1.0;
    let over = without_rest(power + -1.0, eta);
    told::<M>(mean * k + c + eta, value, mean * l + d, over, t)
}

/// From tM⟨z, ŷ⟩, e·Σp̄L and M − 1.
fn told<M: Members>(
    dual: Interval,
    value: Interval,
    spent: Interval,
    over: Interval,
    t: f64,
) -> Reading {
    let factor = M::divided(spent);
    // Both may have any sign.
    let more = over * factor.mid;
    let more = more.wider(1.01 * factor.radius() * over.size());
    let spent = (spent + more).hi().max(0.0);
    let value = value / (over + 1.0) / t;
    let spent = if value.mid.is_nan() || more.mid.is_nan() { f64::NAN } else { spent };
    Reading { dual: dual.hi(), value, spent }
}

/// Σp, Σp·L, Σp(1 − s^{−e}), Σps^{−e}δ and the sizes of the last three.
#[derive(Clone, Copy)]
struct OfNear<M>(M);

impl<M: Members> Terms<7> for OfNear<M> {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 7], p: Lane<S>, delta: Lane<S>) -> [Lane<S>; 7] {
        let zero = p.of(0.0);
        let delta = zero.if_below(p, delta, zero);
        let s = sane(delta + p.of(1.0), HALF);
        let Near { loss, lost, power } = self.0.near(delta, s);
        let fall = power * delta;
        [
            to[0] + p,
            p.mul_add(loss, to[1]),
            p.mul_add(lost, to[2]),
            p.mul_add(fall, to[3]),
            p.mul_add(loss.abs(), to[4]),
            p.mul_add(lost.abs(), to[5]),
            p.mul_add(fall.abs(), to[6]),
        ]
    }
}

/// Σp, Σp·dual, Σp|dual|, Σps^{−e} and Σps^{1−e}.
#[derive(Clone, Copy)]
struct OfFar<M>(M);

impl<M: Members> Terms<5> for OfFar<M> {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 5], p: Lane<S>, s: Lane<S>) -> [Lane<S>; 5] {
        let (zero, one) = (p.of(0.0), p.of(1.0));
        let s = sane(zero.if_below(p, s, one), LEAST);
        let Far { dual, power, fall } = self.0.far(s);
        [
            to[0] + p,
            p.mul_add(dual, to[1]),
            p.mul_add(dual.abs(), to[2]),
            p.mul_add(power, to[3]),
            p.mul_add(fall, to[4]),
        ]
    }
}

/// s, or no number.
#[inline(always)]
fn sane<S: Simd>(s: Lane<S>, least: f64) -> Lane<S> {
    let none = s.of(f64::NAN);
    s.of(least).if_below(s, s.if_below(s.of(MOST), s, none), none)
}
