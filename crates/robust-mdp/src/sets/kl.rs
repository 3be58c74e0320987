//! The Kullback–Leibler set d(y, p) = Σ y ln(y/p), rows of which are [tilted](super::tilt):
//!   y ∝ pe^{tz},  ψ = ln Σ pe^{tz},  d = tψ' − ψ.

use pulp::Simd;

use super::cone::{Cone, Entry, Moved, Program};
use super::exponential::{self, EXP_ERROR, LIMIT};
use super::proximal::omega::KlEuclidean;
use super::proximal::tilt::Tilted;
use super::proximal::{Prox, Separable};
use super::set::{Beyond, Curve, Priced, RowKind, Set};
use super::tilt::{self, Tilt};
use super::{Distance, EntryData, UncertaintySet};
use crate::certificate::verify::lane::Lane;
use crate::certificate::verify::sums::{Terms, steps};
use crate::certificate::{Interval, Proof, ProofRow, Reading, TINY, UNIT, roundings};
use crate::geometry::Geometry;
use crate::lanes::{exp, exp_m1, kernels, ln, walk};
use crate::rows::Row;

/// Σ y ln(y/p).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kl;

impl UncertaintySet {
    /// Σ_a KL(y_a‖y⁰_a) ≤ radius in every state.
    pub fn kl(radius: f64) -> Self {
        UncertaintySet::new(Distance::Kl, radius)
    }
}

impl Set for Kl {
    fn name(&self) -> &'static str {
        "kl"
    }

    fn title(&self) -> &'static str {
        "KL"
    }

    fn formula(&self) -> &'static str {
        "KL(y‖y⁰)"
    }

    /// y ln(y/p) − (y − p), whose second part sums to zero, loses no digits near y = p.
    fn distance(&self, p: &[f64], y: &[f64], _: EntryData<'_>) -> f64 {
        let entry = |(&p, &y): (&f64, &f64)| {
            let log = if y > 0.5 * p { ((y - p) / p).ln_1p() } else { (y / p).ln() };
            if y <= 0.0 { p } else { y * log - (y - p) }
        };
        p.iter().zip(y).map(entry).sum::<f64>().max(0.0)
    }

    fn leaves_support(&self) -> bool {
        false
    }

    fn diameter(&self) -> f64 {
        f64::INFINITY
    }

    fn vacuous(&self, p: &[f64], _: bool, _: EntryData<'_>) -> f64 {
        -p.iter().copied().filter(|p| *p > 0.0).fold(1.0, f64::min).ln()
    }

    fn geometry(&self) -> Geometry {
        Geometry::Entropy
    }

    fn cone(&self) -> Option<&dyn Cone> {
        Some(self)
    }

    fn prox(&self, geometry: Geometry) -> Option<&dyn Prox> {
        match geometry {
            Geometry::Euclidean => Some(&Separable(KlEuclidean)),
            Geometry::Entropy => Some(&Tilted),
        }
    }

    fn proof(&self) -> Option<&dyn Proof> {
        Some(self)
    }

    fn curve(&self) -> Option<&dyn Curve> {
        Some(self)
    }
}

impl Curve for Kl {
    fn at(&self, row: Row<'_>, t: f64, _: Option<Priced>) -> Priced {
        tilt::at(self, row, t)
    }

    fn price(&self, row: Row<'_>, u: f64, slack: f64, near: Option<Priced>) -> Priced {
        tilt::price(self, row, u, slack, near)
    }

    /// −ln of the mass on the maxima.
    fn face(&self, row: Row<'_>) -> f64 {
        -on_maximum(row).min(1.0).ln()
    }

    fn kernel(&self, row: Row<'_>, at: Priced, y: &mut [f64]) -> Beyond {
        if at.t.is_finite() {
            write(row, at.t, y);
        } else {
            for ((y, &p), &w) in y.iter_mut().zip(row.p).zip(row.w) {
                *y = if w == row.maximum { p } else { 0.0 };
            }
        }
        Beyond::Nothing
    }

    fn kind(&self) -> RowKind<'_> {
        RowKind::Tilt(self)
    }
}

impl Tilt for Kl {
    fn read(&self, row: Row<'_>, t: f64) -> [f64; 3] {
        cumulants(row, t, t * row.range <= 0.5)
    }

    fn pace(&self, ratio: f64) -> f64 {
        ratio.ln()
    }

    fn paces(&self, ratios: &mut [f64]) {
        logarithms(ratios);
    }

    fn is_exponential(&self) -> bool {
        true
    }
}

kernels! {
    /// ψ, ψ' and ψ'' of one row.
    fn cumulants<'a>(
        simd,
        row: Row<'a>,
        t: f64,
        // Exponents are small: Σ p(e^{tz} − 1) keeps the digits of ψ.
        small: bool,
    ) -> [f64; 3] {
        let Row { p, w, maximum, .. } = row;
        let zero = simd.splat_f64s(0.0);
        let (t, maximum) = (simd.splat_f64s(t), simd.splat_f64s(maximum));
        let (mut s0, mut s1, mut s2) = (zero, zero, zero);
        if small {
            walk!(simd, [p, w] => |p, w| {
                let z = simd.sub_f64s(w, maximum);
                let m = simd.mul_f64s(p, exp_m1(simd, simd.mul_f64s(t, z)));
                let yz = simd.mul_f64s(simd.add_f64s(m, p), z);
                s0 = simd.add_f64s(s0, m);
                s1 = simd.add_f64s(s1, yz);
                s2 = simd.mul_add_e_f64s(yz, z, s2);
            });
        } else {
            walk!(simd, [p, w] => |p, w| {
                let z = simd.sub_f64s(w, maximum);
                let y = simd.mul_f64s(p, exp(simd, simd.mul_f64s(t, z)));
                let yz = simd.mul_f64s(y, z);
                s0 = simd.add_f64s(s0, y);
                s1 = simd.add_f64s(s1, yz);
                s2 = simd.mul_add_e_f64s(yz, z, s2);
            });
        }
        let sum = simd.reduce_sum_f64s(s0);
        let (total, log) = if small { (1.0 + sum, sum.ln_1p()) } else { (sum, sum.ln()) };
        let mean = simd.reduce_sum_f64s(s1) / total;
        let variance = (simd.reduce_sum_f64s(s2) / total - mean * mean).max(0.0);
        [log, mean, variance]
    }

    /// Σp over the maxima of w.
    fn on_maximum<'a>(simd, row: Row<'a>) -> f64 {
        let Row { p, w, maximum, .. } = row;
        let (zero, maximum) = (simd.splat_f64s(0.0), simd.splat_f64s(maximum));
        let mut mass = zero;
        walk!(simd, [p, w] => |p, w| {
            mass = simd.add_f64s(mass, simd.select_f64s(simd.equal_f64s(w, maximum), p, zero));
        });
        simd.reduce_sum_f64s(mass)
    }

    fn logarithms<'a>(simd, x: &'a mut [f64]) -> () {
        let (full, last) = S::as_mut_simd_f64s(x);
        full.iter_mut().for_each(|x| *x = ln(simd, *x));
        if !last.is_empty() {
            let logs = ln(simd, simd.partial_load_f64s(last));
            simd.partial_store_f64s(last, logs);
        }
    }

    /// pe^{tz}.
    fn write<'a>(simd, row: Row<'a>, t: f64, y: &'a mut [f64]) -> () {
        let Row { p, w, maximum, .. } = row;
        let (t, maximum) = (simd.splat_f64s(t), simd.splat_f64s(maximum));
        // A macro: closures may not be inlined, which costs all registers.
        macro_rules! one {
            ($p:expr, $w:expr) => {
                simd.mul_f64s($p, exp(simd, simd.mul_f64s(t, simd.sub_f64s($w, maximum))))
            };
        }
        let (full_p, last_p) = S::as_simd_f64s(p);
        let (full_w, last_w) = S::as_simd_f64s(w);
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

/// With τ the share of an entry, in units of its scale w, and r = y/w:
///   r ln(r/r⁰) ≤ τ, the exponential cone r·e^{−τ/r} ≤ r⁰,  Σ κwτ ≤ α.
/// The scales are w = 1 and, where the solver fails with them, p and √p. On Garnet models of 50 states and
/// actions each leaves up to one update in ten unsolved, but rarely the same one.
impl Cone for Kl {
    fn scalings(&self) -> usize {
        3
    }

    fn scale(&self, entry: Entry, scaling: usize) -> f64 {
        [1.0, entry.p, entry.p.sqrt()][scaling]
    }

    fn reach(&self, budget: f64) -> f64 {
        (2.0 * budget).sqrt().min(1.0)
    }

    fn may_vanish(&self, _: Entry) -> bool {
        false
    }

    fn budget(&self, program: &mut Program, moved: &[Moved]) {
        let shares: Vec<usize> = moved.iter().map(|_| program.variable()).collect();
        let spent = moved.iter().zip(&shares).map(|(Moved { entry, scale, .. }, &share)| {
            (share, scale * entry.weight / entry.budget)
        });
        program.line(1.0, spent);
        program.nonnegative();
        for (&Moved { entry, scale, variable, .. }, &share) in moved.iter().zip(&shares) {
            let from = entry.p / scale;
            program.line(0.0, [(share, 1.0)]);
            program.line(from, [(variable, -1.0)]);
            program.line(from, []);
            program.exponential();
        }
    }
}

/// With a = tz − ν and M = Σpe^a: ψ = ν + ln M ≤ ν + M − 1, ŷ = pe/Σpe, and, with
/// f(a) = ae^a − e^a + 1 ≥ 0, KL(ŷ‖p) = [Σpf(a) − (M ln M − M + 1)]/M ≤ Σpf(a)/M.
///
/// ŷ is made of the computed pe, e = e^{a + δ}, |δ| ≤ 13u: f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where
/// |a|e ≤ |e − 1| + f(a).
impl Proof for Kl {
    fn read(&self, row: &ProofRow<'_>, t: f64, nu: f64) -> Reading {
        let [mass, excess, size, tilted] = row.sums(-t, -nu, *self);
        let spent = tilted - excess;
        // Those of a sum, of e and e − 1 in it, and more than there are in δ, a and what follows. The rounding of
        // a, at most u|a|, is worth u·Σp|a|e.
        let rho = roundings(steps(row.p.len()) + EXP_ERROR + 20.0);
        let off = rho * (size + spent.abs()) + TINY;
        // p/Σp in place of p.
        let other = 1.02 * (excess.abs() + off) * ((1.0 - mass).abs() + rho);
        let dual = (nu + excess) + (off + 4.0 * UNIT * nu.abs() + other);
        let own = Interval { mid: mass + excess, rad: off + rho * mass };
        // tz = a + ν, but where a was brought to −700: if M > 0.1, that has 1e-302 of the mass and ν < 3, and ω
        // has more room than that. Other rows may be brought to −700 as a whole.
        let (value, inverse) =
            own.tilted_mean(Interval { mid: tilted, rad: off }, row.depth, t, nu);
        let squares = 200.0 * UNIT * UNIT * own.mid;
        let spent = (1.0 + 1e-15) * ((spent + (2.0 * off + squares)) * inverse) + TINY;
        let spent = if own.lo() > 0.1 { spent } else { f64::NAN };
        // Beyond 700, a would be lowered.
        let sane = (1.0 - mass).abs() < 0.01 && nu >= -LIMIT;
        if sane { Reading { dual, value, spent } } else { Reading::NOTHING }
    }
}

/// Σp, Σp(e^a − 1), Σp|e^a − 1| and Σpe^aa: a = tz − ν, brought to ±700.
impl Terms<4> for Kl {
    #[inline(always)]
    fn add<S: Simd>(self, to: [Lane<S>; 4], p: Lane<S>, a: Lane<S>) -> [Lane<S>; 4] {
        let (m, e, a) = exponential::exp(p, a);
        [to[0] + p, to[1] + m, to[2] + m.abs(), e.mul_add(a, to[3])]
    }
}
