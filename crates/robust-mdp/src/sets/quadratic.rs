//! Rows of a quadratic distance d(y, p) = ½Σ_j (y_j − p_j)²/r_j, r = r(p):
//!   y = (p + r(tw − ν))₊ = r(q + tw − ν)₊,  q = p/r.
//! Over the active set I = {y > 0}, with R = Σr, Rw = Σrw, Rww = Σrw², P = Σp, Pw = Σpw, ρ = 1 − P,
//! L = Σ_{j∉I} pq and det = Rww − Rw²/R,
//!   value = Pw + ρ·Rw/R + t·det,   ν = (t·Rw − ρ)/R,   d = ½[t²·det + ρ²/R + L].
//! Sums are about a centre near the active set, so that a set of nearly equal w keeps its digits.

use std::marker::PhantomData;

use pulp::{Simd, WithSimd};

use super::set::{Beyond, Curve, Priced};
use crate::lanes::{dispatch, last};
use crate::rows::{Row, Rows};

/// Passes over one row before its active set must have settled.
const PASSES: usize = 200;
/// Centres of a row's sums, each the mean of the sums before.
const CENTRES: usize = 4;
/// Joint steps in t and ν before t is bracketed.
const JOINT: usize = 12;

/// Sums about a centre that leaves no more than this share of Rww in det are taken again, about the mean.
const OFF_CENTRE: f64 = 1.0 / 64.0;

/// The r of a set.
pub(crate) trait Scale: Copy + Sync {
    /// r(p).
    fn r<S: Simd>(simd: S, p: S::f64s) -> S::f64s;
    /// q = p/r.
    fn q<S: Simd>(simd: S, p: S::f64s) -> S::f64s;
    /// r(0), of states that rows do not list.
    const OUTSIDE: f64;
    /// q is nowhere larger.
    const MOST: f64;
    /// Whether r is largest where p is: steep rows keep their digits there, not at the maximum.
    const HEAVY: bool;
}

/// Sums about a centre over an active set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub(crate) r: f64,
    pub(crate) p: f64,
    pub(crate) rw: f64,
    pub(crate) rww: f64,
    pub(crate) pw: f64,
    pub(crate) left: f64,
    /// The least |q + tw − ν|: the set stays while tw − ν moves by less.
    pub(crate) margin: f64,
}

impl Sums {
    pub(crate) fn mean(&self) -> f64 {
        if self.r > 0.0 { self.rw / self.r } else { 0.0 }
    }

    pub(crate) fn det(&self) -> f64 {
        (self.rww - self.rw * self.mean()).max(0.0)
    }

    /// Whether the centre is so far from the mean that the determinant loses digits.
    pub(crate) fn is_off_centre(&self) -> bool {
        self.rw * self.rw > (1.0 - OFF_CENTRE) * self.rww * self.r
    }

    /// ν for which the active set has mass one at t.
    fn shift(&self, t: f64) -> f64 {
        (t * self.rw - (1.0 - self.p)) / self.r
    }

    /// The value at t = 0 on the active set.
    fn start(&self) -> f64 {
        self.pw + (1.0 - self.p) * self.mean()
    }

    fn price(&self, t: f64) -> f64 {
        let rho = 1.0 - self.p;
        0.5 * (t * t * self.det() + rho * rho / self.r + self.left)
    }
}

/// Rows of a state with their multipliers and centres.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub(crate) row: &'a [u32],
    pub(crate) t: &'a [f64],
    pub(crate) nu: &'a [f64],
    pub(crate) centre: &'a [f64],
}

/// What drivers ask of a quadratic set; every `Scale` answers.
pub trait Quadratic: Sync {
    /// The sums of one row over {q + t(w − centre) − ν > 0}.
    fn sums(&self, row: Row<'_>, t: f64, nu: f64, centre: f64) -> Sums;
    /// The same of the rows `row[j]`, j in `list`, at `t[j]`, `nu[j]` and `centre[j]`.
    fn read(&self, rows: &Rows<'_>, list: &[u32], at: At<'_>, out: &mut [Sums]);
    /// q is nowhere larger.
    fn most(&self) -> f64;
}

impl<Q: Scale> Quadratic for Q {
    fn sums(&self, row: Row<'_>, t: f64, nu: f64, centre: f64) -> Sums {
        dispatch(One::<Q> { row, t, nu, centre, of: PhantomData })
    }

    fn read(&self, rows: &Rows<'_>, list: &[u32], at: At<'_>, out: &mut [Sums]) {
        dispatch(Many::<Q> { rows, list, at, out, of: PhantomData });
    }

    fn most(&self) -> f64 {
        Q::MOST
    }
}

struct One<'a, Q> {
    row: Row<'a>,
    t: f64,
    nu: f64,
    centre: f64,
    of: PhantomData<Q>,
}

impl<Q: Scale> WithSimd for One<'_, Q> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Sums {
        let One { row, t, nu, centre, .. } = self;
        let mut sums = listed::<S, Q>(simd, row.p, row.w, t, nu, centre);
        add_outside::<Q>(&mut sums, row, t, nu, centre);
        sums
    }
}

struct Many<'a, Q> {
    rows: &'a Rows<'a>,
    list: &'a [u32],
    at: At<'a>,
    out: &'a mut [Sums],
    of: PhantomData<Q>,
}

impl<Q: Scale> WithSimd for Many<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Many { rows, list, at: At { row, t, nu, centre }, out, .. } = self;
        for (&j, out) in list.iter().zip(&mut *out) {
            let j = j as usize;
            let (p, w) = rows.entries(row[j] as usize);
            *out = listed::<S, Q>(simd, p, w, t[j], nu[j], centre[j]);
        }
        // Apart, so that registers need not be put aside for calls.
        if Q::OUTSIDE > 0.0 && rows.has_outside() {
            for (&j, out) in list.iter().zip(out) {
                let j = j as usize;
                add_outside::<Q>(out, rows.row(row[j] as usize), t[j], nu[j], centre[j]);
            }
        }
    }
}

/// The sums over the entries that a row lists.
#[inline(always)]
fn listed<S: Simd, Q: Scale>(simd: S, p: &[f64], w: &[f64], t: f64, nu: f64, centre: f64) -> Sums {
    let zero = simd.splat_f64s(0.0);
    let (tv, nuv, cv) = (simd.splat_f64s(t), simd.splat_f64s(nu), simd.splat_f64s(centre));
    let (mut r, mut sp, mut rw, mut rww, mut pw) = (zero, zero, zero, zero, zero);
    let (mut left, mut margin) = (zero, simd.splat_f64s(f64::INFINITY));
    macro_rules! add {
        ($p:expr, $w:expr $(, $live:expr)?) => {{
            let (p, w) = ($p, simd.sub_f64s($w, cv));
            let q = Q::q(simd, p);
            let height = simd.mul_add_e_f64s(tv, w, q);
            let inside = simd.less_than_f64s(nuv, height);
            let apart = simd.abs_f64s(simd.sub_f64s(height, nuv));
            $(
                let inside = simd.and_m64s($live, inside);
                let apart = simd.select_f64s($live, apart, simd.splat_f64s(f64::INFINITY));
            )?
            // Written so that each of these is one masked operation where there are masks.
            let if_inside = |yes, no| simd.select_f64s(inside, yes, no);
            let scale = Q::r(simd, p);
            let scaled = simd.mul_f64s(scale, w);
            margin = simd.min_f64s(margin, apart);
            r = if_inside(simd.add_f64s(r, scale), r);
            sp = if_inside(simd.add_f64s(sp, p), sp);
            rw = if_inside(simd.add_f64s(rw, scaled), rw);
            rww = if_inside(simd.mul_add_e_f64s(scaled, w, rww), rww);
            pw = if_inside(simd.mul_add_e_f64s(p, w, pw), pw);
            // The other way round a mask would lengthen the chain of sums.
            let outside = if_inside(zero, p);
            left = simd.mul_add_e_f64s(outside, q, left);
        }};
    }
    let lanes = size_of::<S::f64s>() / 8;
    let full = p.len() / lanes;
    for (&p, &w) in S::as_simd_f64s(p).0[..full].iter().zip(&S::as_simd_f64s(w).0[..full]) {
        add!(p, w);
    }
    let rest = p.len() % lanes;
    if rest > 0 {
        // Entries of short rows come first in the register, the last ones of long rows last.
        let iota = S::as_simd_f64s(&IOTA[..lanes]).0[0];
        let live = match full {
            0 => simd.less_than_f64s(iota, simd.splat_f64s(rest as f64)),
            _ => {
                let seen = simd.splat_f64s((lanes - rest) as f64 - 0.5);
                simd.less_than_f64s(seen, iota)
            }
        };
        add!(last(simd, p), last(simd, w), live);
    }
    Sums {
        r: simd.reduce_sum_f64s(r),
        p: simd.reduce_sum_f64s(sp),
        rw: simd.reduce_sum_f64s(rw),
        rww: simd.reduce_sum_f64s(rww),
        pw: simd.reduce_sum_f64s(pw),
        left: simd.reduce_sum_f64s(left),
        margin: simd.reduce_min_f64s(margin),
    }
}

const IOTA: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Adds the states that the row does not list.
fn add_outside<Q: Scale>(sums: &mut Sums, row: Row<'_>, t: f64, nu: f64, centre: f64) {
    if let (Some(outside), true) = (row.outside, Q::OUTSIDE > 0.0) {
        let ([n, sum, square], margin) = outside.sums(t, nu, centre);
        sums.r += Q::OUTSIDE * n;
        sums.rw += Q::OUTSIDE * sum;
        sums.rww += Q::OUTSIDE * square;
        sums.margin = sums.margin.min(margin);
    }
}

/// The active set at t exactly: Newton on the convex ν ↦ Σy, from all entries or from `nu`. After one step
/// ν rises; where it does not, a rounding has left out entries that belong to the set.
fn settle<Q: Quadratic>(set: &Q, row: Row<'_>, t: f64, nu: f64, centre: f64) -> Sums {
    let (mut nu, mut before) = (nu, None);
    for _ in 0..PASSES {
        let at = set.sums(row, t, nu, centre);
        let fresh = if at.r > 0.0 { at.shift(t) } else { f64::NEG_INFINITY };
        match before {
            Some(Sums { r, p, .. }) if (r, p) == (at.r, at.p) => return at,
            Some(before) if fresh <= nu => return before,
            None if at.r <= 0.0 && nu == fresh => return at,
            _ => {}
        }
        let stays = at.r > 0.0 && (fresh - nu).abs() < at.margin;
        if stays {
            return at;
        }
        (nu, before) = (fresh, Some(at).filter(|at| at.r > 0.0));
    }
    before.unwrap_or_default()
}

/// y(t) by sums about the mean of its own active set, and that: so near to it that the heaviest entries of
/// steep rows keep their digits.
fn centred<Q: Quadratic + Scale>(
    set: &Q,
    row: Row<'_>,
    t: f64,
    near: Option<Priced>,
) -> (Sums, f64) {
    let near = near.filter(|n| n.t > 0.0 && n.t.is_finite());
    let below = if Q::HEAVY { row.nominal() } else { 0.0 };
    let start = near.map_or(f64::NEG_INFINITY, |n| (n.nu - n.t * below) * t / n.t);
    let mut centre = row.maximum + below;
    let mut sums = settle(set, row, t, start, centre);
    for _ in 0..CENTRES {
        if !sums.is_off_centre() && (!Q::HEAVY || t * sums.mean().abs() <= 1.0) {
            break;
        }
        centre += sums.mean();
        sums = settle(set, row, t, f64::NEG_INFINITY, centre);
    }
    (sums, centre)
}

/// y(t). Of a steep row ν tells few digits of its heaviest entries: the next lower one stands for a lower t,
/// which spends less.
pub(super) fn at<Q: Quadratic + Scale>(
    set: &Q,
    row: Row<'_>,
    t: f64,
    near: Option<Priced>,
) -> Priced {
    if Q::HEAVY && t * row.range > VERTICAL {
        let sums = on_maxima(set, row);
        let price = sums.price(0.0);
        if t * row.range > VERTICAL * price {
            return Priced { t, nu: sums.shift(0.0), value: 0.0, price, slope: None };
        }
    }
    let (sums, centre) = centred(set, row, t, near);
    let below = centre - row.maximum;
    let nu = if Q::HEAVY {
        t.mul_add(below, sums.shift(t)).next_down()
    } else {
        sums.shift(t) + t * below
    };
    Priced {
        t,
        nu,
        value: (below + (sums.start() + t * sums.det())).min(0.0),
        price: sums.price(t),
        slope: None,
    }
}

/// The point of value u: t and ν together on the active set until it repeats; else t in a bracket.
pub(super) fn price<Q: Quadratic + Curve>(
    set: &Q,
    row: Row<'_>,
    u: f64,
    slack: f64,
    near: Option<Priced>,
) -> Priced {
    let usable = near.filter(|n| n.t > 0.0 && n.t.is_finite());
    let (mut t, mut nu) = usable.map_or((0.0, f64::NEG_INFINITY), |n| (n.t, n.nu));
    let mut centre = row.maximum + 0.5 * u;
    // ν is counted above t·maximum outside of this function, above t·centre in it.
    nu -= t * (centre - row.maximum);
    let mut before = Sums::default();
    for _ in 0..JOINT {
        let sums = set.sums(row, t, nu, centre);
        let (det, goal) = (sums.det(), u + row.maximum - centre);
        let fresh = (goal - sums.start()) / det;
        if !(sums.r > 0.0 && fresh > 0.0 && fresh.is_finite()) {
            break;
        }
        let (shift, above) = (sums.shift(fresh), row.maximum - centre);
        // Of t(w − centre) − ν, at both ends of w.
        let first = (fresh - t) * above - (shift - nu);
        let moved = first.abs().max((first - (fresh - t) * row.range).abs());
        let stays = moved < sums.margin && !sums.is_off_centre();
        // About their own mean, sums have digits that the first ones may have lost.
        if stays || (sums.r, sums.p) == (before.r, before.p) {
            return Priced {
                t: fresh,
                nu: shift - fresh * above,
                value: u,
                price: sums.price(fresh),
                slope: None,
            };
        }
        // The next sums are about the mean of these.
        let mean = sums.mean();
        (t, nu) = (fresh, shift - fresh * mean);
        centre += mean;
        before = sums;
    }
    super::bracket::price(set, row, u, slack, near)
}

/// The cheapest row of the largest value spreads what is missing over the maxima by r.
pub(super) fn face<Q: Quadratic>(set: &Q, row: Row<'_>) -> f64 {
    on_maxima(set, row).price(0.0)
}

/// Sums about the maximum over the entries that have it.
fn on_maxima<Q: Quadratic>(set: &Q, row: Row<'_>) -> Sums {
    set.sums(row, 1e300 / (1.0 + row.range), -1.0, row.maximum)
}

/// y = r(q + tz − ν)₊, or on the maxima alone.
pub(super) fn kernel<Q: Quadratic + Scale>(
    set: &Q,
    row: Row<'_>,
    at: Priced,
    y: &mut [f64],
) -> Beyond {
    if at.t.is_finite() && !vertical(set, row, at.t) {
        let Priced { t, mut nu, .. } = at;
        let mut about = row;
        if Q::HEAVY && nu.abs() > LARGE {
            // Digits of ν above t·maximum are none of the heavy entries, which lie far below.
            let (sums, centre) = centred(set, row, t, Some(at));
            (about.maximum, nu) = (centre, sums.shift(t));
        }
        dispatch(Write::<Q> { row: about, t, nu, y, of: PhantomData });
        return match (row.outside, Q::OUTSIDE > 0.0) {
            (Some(_), true) => Beyond::Affine { t, nu },
            _ => Beyond::Nothing,
        };
    }
    let sums = on_maxima(set, row);
    let scale = ((1.0 - sums.p) / sums.r).max(0.0);
    y.fill(0.0);
    for ((y, &p), &w) in y.iter_mut().zip(row.p).zip(row.w) {
        if w == row.maximum {
            *y = p + scale * scalar::<Q>(p);
        }
    }
    match row.outside {
        Some(_) => Beyond::OnMaxima(scale * Q::OUTSIDE),
        None => Beyond::Nothing,
    }
}

/// Whether t leaves nothing but the maxima of a row with light entries.
fn vertical<Q: Quadratic + Scale>(set: &Q, row: Row<'_>, t: f64) -> bool {
    Q::HEAVY && t * row.range > VERTICAL && t * row.range > VERTICAL * face(set, row)
}

/// r(p) of one number.
fn scalar<Q: Scale>(p: f64) -> f64 {
    Q::r(pulp::Scalar, p)
}

/// Multipliers beyond this, in units of 1/range and of the face cost, leave nothing but the maxima.
const VERTICAL: f64 = 1e14;
/// Shifts beyond this cost heavy entries more than three digits.
const LARGE: f64 = 1e3;

struct Write<'a, Q> {
    row: Row<'a>,
    t: f64,
    nu: f64,
    y: &'a mut [f64],
    of: PhantomData<Q>,
}

impl<Q: Scale> WithSimd for Write<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Write { row, t, nu, y, .. } = self;
        let zero = simd.splat_f64s(0.0);
        let (tv, maximum) = (simd.splat_f64s(t), simd.splat_f64s(row.maximum));
        let nuv = simd.splat_f64s(nu);
        // A macro: closures may not be inlined, which costs all registers.
        macro_rules! one {
            ($p:expr, $w:expr) => {{
                let (p, z) = ($p, simd.sub_f64s($w, maximum));
                let height = simd.mul_add_e_f64s(tv, z, simd.sub_f64s(Q::q(simd, p), nuv));
                simd.mul_f64s(Q::r(simd, p), simd.max_f64s(height, zero))
            }};
        }
        let (full_p, last_p) = S::as_simd_f64s(row.p);
        let (full_w, last_w) = S::as_simd_f64s(row.w);
        let (full_y, last_y) = S::as_mut_simd_f64s(y);
        for ((&p, &w), y) in full_p.iter().zip(full_w).zip(full_y) {
            *y = one!(p, w);
        }
        if !last_p.is_empty() {
            let y = one!(simd.partial_load_f64s(last_p), simd.partial_load_f64s(last_w));
            simd.partial_store_f64s(last_y, y);
        }
    }
}
