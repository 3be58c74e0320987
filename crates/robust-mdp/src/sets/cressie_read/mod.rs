//! Rows of the Burg, Hellinger and Neyman sets (Cressie–Read, k < 1): one scalar ρ a row. With x = −z ≥ 0 and
//! e = 1, 2, ½,
//!   y = ps^{−e},  s = η + tx,  0 ≤ η ≤ 1,
//! where Σy = 1 fixes η. In ρ = t/η, with f = (1 + ρx)^{−e} and Z = Σpf,
//!   η = Z^{1/e},  t = ρη,  y = pf/Z,  G = −⟨z, y⟩ = Σpfx/Z,
//! and G falls from the nominal distance to 0 or, where the maximum has no nominal mass, to
//!   G(∞) = Σpx^{1−e}/Σpx^{−e}.
//! Below that mass pops up on the maximum: η = 0, y = p(tx)^{−e}, and the maximum has the rest. A unit of mass
//! that pops up costs 1 in the distances as sums over entries.
//!
//! The second number of a point is η, all digits of which count where little is left of it. ρ is found by Newton's
//! method on 1/G, η from t by Newton's method on (Σps^{−e})^{−1/e}, which is concave, both in brackets. Sums
//! are over s = a + bx, a and b of the order of one in units of the row's range.

pub(super) mod proof;
#[cfg(test)]
mod tests;
pub(super) mod within;

mod passes;

use pulp::Simd;

pub(super) use self::passes::masses;
use self::passes::{Sums, sums, write};
use super::set::{Beyond, Priced};
use crate::rows::Row;

const STEPS: usize = 100;
/// Up to this ρ·range nothing may cancel in η − 1.
const NEAR: f64 = 0.125;
/// Beyond this ρ·range a row may have no ρ.
const FAR: f64 = 64.0;
/// What rounding leaves of the equations that are solved.
const DIGITS: f64 = 4e-16;
/// A step of this share is the last one, since its square is below rounding; after one of that it need not be taken.
const LAST: f64 = 1e-8;
const NONE: f64 = 1e-14;
/// Where η is smaller, mass pops up on the maximum; so it does where nominal mass there is as little as none.
const POPPED: f64 = 1e-85;
const NOTHING: f64 = 1e-90;

/// What tells these sets apart.
pub(super) trait CressieRead: Copy {
    /// s^{−e} from 1/s.
    fn power<S: Simd>(simd: S, inverse: S::f64s) -> S::f64s;
    /// 1 − s^{−e} for s = 1 + r, from both and f = s^{−e}.
    fn lost<S: Simd>(simd: S, r: S::f64s, s: S::f64s, f: S::f64s) -> S::f64s;
    /// e.
    const E: f64;
    /// Z^{1/e}.
    fn root(mass: f64) -> f64;
    /// (1 − x)^{1/e} − 1.
    fn shift(lost: f64) -> f64;
    /// d(y, p).
    fn price(row: Row<'_>, of: &Tilted) -> f64;
}

/// A row of a point: s = scale·(a + bx).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilted {
    pub(super) a: f64,
    pub(super) b: f64,
    pub(super) scale: f64,
    /// η − 1.
    pub(super) nu: f64,
    /// tG.
    pub(super) fall: f64,
    /// Whether a = 1 and bx is small.
    pub(super) near: bool,
}

/// The point of multiplier t.
pub(super) fn at<C: CressieRead>(row: Row<'_>, t: f64, near: Option<Priced>) -> Priced {
    let unit = unit(row);
    let steep = t / unit;
    let eta = near.map(|near| near.nu).filter(|eta| (0.0..=1.0).contains(eta));
    let mut eta = eta.unwrap_or(1.0);
    if eta < POPPED {
        match least::<C>(row, unit, steep) {
            Ok(popped) => return Priced { t, ..popped },
            Err(least) => eta = least,
        }
    }
    let (mut low, mut high) = (0.0, 1.0);
    let mut sums = place::<C>(row, unit, steep / eta);
    for _ in 0..STEPS {
        let scale = if sums.near { eta } else { steep };
        let (level, slope) = sums.level::<C>(scale);
        if level < 1.0 {
            low = eta;
        } else {
            high = eta;
        }
        let newton = eta + (1.0 - level) / slope;
        if (level - 1.0).abs() <= DIGITS || (newton - eta).abs() <= NONE * eta {
            break;
        }
        let fresh = match newton > low && newton < high {
            true => newton,
            false if low > 0.0 => 0.5 * (low + high),
            false => match least::<C>(row, unit, steep) {
                Ok(popped) => return Priced { t, ..popped },
                Err(least) => least,
            },
        };
        let step = (fresh - eta).abs() / eta;
        if !(fresh > 0.0 && fresh <= 1.0) {
            break;
        }
        eta = fresh;
        sums = place::<C>(row, unit, steep / eta);
        if step <= LAST {
            break;
        }
    }
    Priced { t, ..told::<C>(row, &sums) }
}

/// The point of multiplier t = `steep` in units of 1/range if mass pops up there, or else an η that is not too large:
/// that of the nominal mass on the maximum alone, or the first of Newton's method from 0.
fn least<C: CressieRead>(row: Row<'_>, unit: f64, steep: f64) -> Result<Priced, f64> {
    let floor = C::root(masses(row)[0]);
    let Some(sums) = bare::<C>(row, unit) else { return Err(floor) };
    let (level, slope) = sums.level::<C>(steep);
    if level < 1.0 {
        Err(((1.0 - level) / slope).max(floor))
    } else {
        Ok(popped::<C>(row, &sums, steep))
    }
}

/// The point of value u.
pub(super) fn price<C: CressieRead>(
    row: Row<'_>,
    u: f64,
    slack: f64,
    near: Option<Priced>,
) -> Priced {
    let (goal, unit) = (-u, unit(row));
    // Where s = scale·bx, ⟨x, y⟩ = scale^{−e}·Σp(bx)^{1−e}/b.
    let reached = || {
        let sums = bare::<C>(row, unit).filter(|sums| sums.gap() >= goal)?;
        let scale = C::root(sums.fall() / sums.b / goal).max(C::root(sums.mass()));
        Some(popped::<C>(row, &sums, scale))
    };
    let start = near.map(|near| near.t / near.nu / unit);
    let mut open = true;
    if near.is_some_and(|near| near.nu < POPPED) {
        if let Some(popped) = reached() {
            return popped;
        }
        open = false;
    }
    let usable = |rho: &f64| *rho > 1e-250 && *rho < 1e250;
    let mut rho = start.filter(usable).map_or(1e-3 * NEAR, |rho| {
        // A first step without a pass.
        let known =
            near.and_then(|near| Some(rho + rho * pace(near, C::E)? * (near.value / u - 1.0)));
        known.filter(|fresh| *fresh > 0.1 * rho && *fresh < FAR.max(10.0 * rho)).unwrap_or(rho)
    });
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut sums = place::<C>(row, unit, rho);
    for _ in 0..STEPS {
        let gap = sums.gap();
        if gap > goal {
            low = rho;
        } else {
            high = rho;
        }
        let newton = rho + rho * sums.pace(C::E) * (gap / goal - 1.0);
        if (gap - goal).abs() <= slack.max(DIGITS * goal) || (newton - rho).abs() <= NONE * rho {
            break;
        }
        let mut fresh = match newton > low && newton < high {
            true => newton,
            false if high.is_infinite() => 16.0 * rho,
            false if low > 0.0 && high < 4.0 * low => 0.5 * (low + high),
            false => (low.max(1e-3 * high) * high).sqrt(),
        };
        let step = (fresh - rho).abs() / rho;
        if !usable(&fresh) {
            break;
        }
        if open && fresh > FAR {
            if let Some(popped) = reached() {
                return popped;
            }
            (open, fresh) = (false, fresh.min(1e6 * rho));
        }
        rho = fresh;
        sums = place::<C>(row, unit, rho);
        if step <= LAST {
            break;
        }
    }
    told::<C>(row, &sums)
}

/// −d ln ρ/d ln G at a point that has its slope: Σps^{−e−1} = 1/(η + tG − t²ψ''/e).
fn pace(at: Priced, e: f64) -> Option<f64> {
    let Priced { t, nu: eta, value, slope, .. } = at;
    let (slope, gap) = (slope?, -value);
    let share = (eta + t * gap - t * t * slope / e) / eta;
    Some(share * gap / (slope * t)).filter(|pace| *pace > 0.0 && pace.is_finite())
}

/// 1/range, or a number.
fn unit(row: Row<'_>) -> f64 {
    1.0 / row.range.max(1e-307)
}

/// The sums at ρ = `rho`/range.
fn place<C: CressieRead>(row: Row<'_>, unit: f64, rho: f64) -> Sums {
    let near = rho <= NEAR;
    let (a, b) = if near { (1.0, rho * unit) } else { (1.0 / rho, unit) };
    sums::<C>(row, a, b, near)
}

/// The sums below the maximum with η = 0; `None` where there is nominal mass on it, or next to it.
fn bare<C: CressieRead>(row: Row<'_>, unit: f64) -> Option<Sums> {
    let sums = sums::<C>(row, 0.0, unit, false);
    let finite = sums.by.iter().all(|sum| sum.is_finite());
    Some(sums).filter(|sums| finite && sums.mass() > 0.0 && spared::<C>(row) <= NOTHING)
}

/// The point of a scale at which the mass below the maximum is no more than one.
fn popped<C: CressieRead>(row: Row<'_>, sums: &Sums, scale: f64) -> Priced {
    let share = C::root(sums.mass()) / scale;
    // (share)^e of the mass is below the maximum.
    let fall = sums.fall() / sums.mass() * scale * power::<C>(share);
    let of = Tilted { a: 0.0, b: sums.b, scale, nu: -1.0, fall, near: false };
    priced::<C>(row, &of, spared::<C>(row))
}

/// η at which 1e-16 of the mass is the nominal mass of the maximum; 0 if there is none.
fn spared<C: CressieRead>(row: Row<'_>) -> f64 {
    match masses(row)[0] {
        0.0 => 0.0,
        mass => C::root(1e16 * mass).max(1e-280),
    }
}

/// x^e.
fn power<C: CressieRead>(x: f64) -> f64 {
    if C::E == 2.0 {
        x * x
    } else if C::E == 1.0 {
        x
    } else {
        x.sqrt()
    }
}

/// The point where Σy = 1.
fn told<C: CressieRead>(row: Row<'_>, sums: &Sums) -> Priced {
    let Sums { a, b, near, .. } = *sums;
    let nu = C::shift(sums.lost);
    let scale = if near { 1.0 + nu } else { C::root(sums.mass()) };
    let eta = a * scale;
    let nu = if near { nu } else { eta - 1.0 };
    let fall = scale * sums.fall() / sums.mass();
    // d ln t/d ln ρ = aΣps^{−e−1}/Σps^{−e}.
    let slope = fall / (sums.pace(C::E) * a * sums.by[0] / sums.mass()) / (b * scale).powi(2);
    let slope = Some(slope).filter(|slope| slope.is_finite());
    Priced { slope, ..priced::<C>(row, &Tilted { a, b, scale, nu, fall, near }, eta) }
}

fn priced<C: CressieRead>(row: Row<'_>, of: &Tilted, eta: f64) -> Priced {
    let t = of.b * of.scale;
    let price = C::price(row, of).max(0.0);
    Priced { t, nu: eta, value: -of.fall / t, price, slope: None }
}

/// The farthest that a row may be from p where every state with mass must keep some.
pub(super) fn unbounded(p: &[f64], unused: bool) -> f64 {
    let used = p.iter().filter(|p| **p > 0.0).count();
    if used == 1 && !unused { 0.0 } else { f64::INFINITY }
}

/// The price of the maximum where none of its mass must be nominal: ∞ if any other state has some.
pub(super) fn steep_face(row: Row<'_>) -> f64 {
    let [_, below] = masses(row);
    if below > 0.0 { f64::INFINITY } else { 0.0 }
}

/// y of a point.
pub(super) fn kernel<C: CressieRead>(row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
    let rest = if at.t.is_finite() {
        let mass = write::<C>(row, at.t, at.nu.max(0.0), y);
        if at.nu < POPPED { (1.0 - mass).max(0.0) } else { 0.0 }
    } else {
        let [on, _] = masses(row);
        for ((y, &p), &w) in y.iter_mut().zip(row.p).zip(row.w) {
            *y = if w == row.maximum { p } else { 0.0 };
        }
        if on > 0.0 { 0.0 } else { 1.0 }
    };
    if rest > 0.0 {
        match row.w.iter().position(|w| *w == row.maximum) {
            Some(best) => y[best] += rest,
            None => return Beyond::Best(rest),
        }
    }
    Beyond::Nothing
}
