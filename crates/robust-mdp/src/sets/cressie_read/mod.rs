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

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::set::{Beyond, Priced};
use crate::lanes::{dispatch, kernels, walk};
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
/// As little nominal mass on the maximum is like none: mass pops up there.
const NOTHING: f64 = 1e-200;
/// Only where mass pops up is η smaller.
const POPPED: f64 = 1e-85;

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

/// Sums of p times s^{−e−1}, the same by bx and by (bx)², and 1 − s^{−e}, s = a + bx.
#[derive(Clone, Copy)]
struct Sums {
    a: f64,
    b: f64,
    near: bool,
    by: [f64; 3],
    lost: f64,
}

impl Sums {
    /// Σps^{−e}.
    fn mass(&self) -> f64 {
        self.a * self.by[0] + self.by[1]
    }

    /// Σps^{−e}bx.
    fn fall(&self) -> f64 {
        self.a * self.by[1] + self.by[2]
    }

    /// G.
    fn gap(&self) -> f64 {
        self.fall() / self.mass() / self.b
    }

    /// (Σps^{−e})^{−1/e} and its slope in η where s = scale·(a + bx).
    fn level<C: CressieRead>(&self, scale: f64) -> (f64, f64) {
        let level = scale / C::root(self.mass());
        (level, level / scale * (self.by[0] / self.mass()))
    }

    /// −d ln ρ/d ln G.
    fn pace(&self, e: f64) -> f64 {
        let [zero, one, two] = self.by;
        self.fall() * self.mass() / (e * self.a * (zero * two - one * one))
    }
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
    dispatch(Pass { row, a, b, near, of: PhantomData::<C> })
}

/// The sums below the maximum with η = 0; `None` where there is nominal mass on it, or next to it.
fn bare<C: CressieRead>(row: Row<'_>, unit: f64) -> Option<Sums> {
    let sums = dispatch(Pass { row, a: 0.0, b: unit, near: false, of: PhantomData::<C> });
    let finite = sums.by.iter().all(|sum| sum.is_finite());
    Some(sums).filter(|sums| finite && sums.mass() > 0.0 && masses(row)[0] <= NOTHING)
}

/// The point of a scale at which the mass below the maximum is no more than one.
fn popped<C: CressieRead>(row: Row<'_>, sums: &Sums, scale: f64) -> Priced {
    let share = C::root(sums.mass()) / scale;
    // (share)^e of the mass is below the maximum.
    let fall = sums.fall() / sums.mass() * scale * power::<C>(share);
    let of = Tilted { a: 0.0, b: sums.b, scale, nu: -1.0, fall, near: false };
    // So large that next to nothing of the maximum's nominal mass remains, so small that nothing else tells.
    let eta = match masses(row)[0] {
        0.0 => 0.0,
        mass => (1e10 * C::root(mass)).max(1e-280),
    };
    priced::<C>(row, &of, eta)
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
        let mass = dispatch(Write { row, eta: at.nu.max(0.0), t: at.t, y, of: PhantomData::<C> });
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

kernels! {
    /// Σp on the maximum and below.
    pub(super) fn masses<'a>(simd, row: Row<'a>) -> [f64; 2] {
        let Row { p, w, maximum, .. } = row;
        let (zero, maximum) = (simd.splat_f64s(0.0), simd.splat_f64s(maximum));
        let (mut on, mut below) = (zero, zero);
        walk!(simd, [p, w] => |p, w| {
            let lower = simd.less_than_f64s(w, maximum);
            below = simd.add_f64s(below, simd.select_f64s(lower, p, zero));
            on = simd.add_f64s(on, simd.select_f64s(lower, zero, p));
        });
        [simd.reduce_sum_f64s(on), simd.reduce_sum_f64s(below)]
    }
}

/// The pass of [`Sums`].
struct Pass<'a, C> {
    row: Row<'a>,
    a: f64,
    b: f64,
    near: bool,
    of: PhantomData<C>,
}

impl<C: CressieRead> WithSimd for Pass<'_, C> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let Pass { row: Row { p, w, maximum, .. }, a, b, near, .. } = self;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (by_a, by_b, maximum) =
            (simd.splat_f64s(a), simd.splat_f64s(b), simd.splat_f64s(maximum));
        let (mut s0, mut s1, mut s2, mut lost) = (zero, zero, zero, zero);
        walk!(simd, [p, w] => |p, w| {
            let r = simd.mul_f64s(by_b, simd.max_f64s(simd.sub_f64s(maximum, w), zero));
            // What has no nominal mass does not count, nor does the maximum where s = 0 there.
            let s = simd.add_f64s(by_a, r);
            let counts = simd.less_than_f64s(zero, simd.min_f64s(p, s));
            let (p, s) = (simd.select_f64s(counts, p, zero), simd.select_f64s(counts, s, one));
            let inverse = simd.div_f64s(one, s);
            let f = C::power(simd, inverse);
            if near {
                lost = simd.mul_add_e_f64s(p, C::lost(simd, r, s, f), lost);
            }
            let g = simd.mul_f64s(simd.mul_f64s(p, f), inverse);
            let gr = simd.mul_f64s(g, r);
            s0 = simd.add_f64s(s0, g);
            s1 = simd.add_f64s(s1, gr);
            s2 = simd.mul_add_e_f64s(gr, r, s2);
        });
        let by = [s0, s1, s2].map(|sum| simd.reduce_sum_f64s(sum));
        Sums { a, b, near, by, lost: simd.reduce_sum_f64s(lost) }
    }
}

/// Writes p(η + tx)^{−e} and sums it.
struct Write<'a, C> {
    row: Row<'a>,
    eta: f64,
    t: f64,
    y: &'a mut [f64],
    of: PhantomData<C>,
}

impl<C: CressieRead> WithSimd for Write<'_, C> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Write { row: Row { p, w, maximum, .. }, eta, t, y, .. } = self;
        let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
        let (eta, t, maximum) =
            (simd.splat_f64s(eta), simd.splat_f64s(t), simd.splat_f64s(maximum));
        let mut mass = zero;
        // A macro: closures may not be inlined, which costs all registers.
        macro_rules! one {
            ($p:expr, $w:expr) => {{
                let x = simd.max_f64s(simd.sub_f64s(maximum, $w), zero);
                let counts = simd.less_than_f64s(zero, $p);
                let s = simd.select_f64s(counts, simd.mul_add_e_f64s(t, x, eta), one);
                let y = simd.mul_f64s($p, C::power(simd, simd.div_f64s(one, s)));
                mass = simd.add_f64s(mass, y);
                y
            }};
        }
        let (full_p, last_p) = S::as_simd_f64s(p);
        let (full_w, last_w) = S::as_simd_f64s(w);
        let (full_y, last_y) = S::as_mut_simd_f64s(y);
        for ((&p, &w), y) in full_p.iter().zip(full_w).zip(full_y) {
            *y = one!(p, w);
        }
        if !last_p.is_empty() {
            // Lanes beyond the row have p = 0.
            let y = one!(simd.partial_load_f64s(last_p), simd.partial_load_f64s(last_w));
            simd.partial_store_f64s(last_y, y);
        }
        simd.reduce_sum_f64s(mass)
    }
}
