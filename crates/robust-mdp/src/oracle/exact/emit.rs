//! A state's row of the chain: Σ_a x_a·y_a for the kernel that the multipliers stand for.

use pulp::{Simd, WithSimd};

use super::State;
use super::centred::{add_tail, tail_length};
use super::outlook::Outlook;
use super::table::Table;
use super::tilt::Top;
use crate::algorithm::linear::Tail;
use crate::algorithm::sweep::ChainRows;
use crate::lanes::{dispatch, exp};
use crate::uncertainty::Distance;

/// Multipliers of the ellipsoid beyond this, in units of 1/range, mean the peak.
pub(super) const STEEPEST: f64 = 1e10;

/// How a row's kernel follows from its multipliers.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Nominal,
    /// (y⁰ + t·w − ν)₊.
    Shifted {
        t: f64,
        nu: f64,
    },
    /// y⁰e^{t(w − top)}, to be scaled to mass one.
    Tilted {
        t: f64,
        top: f64,
    },
    /// As near to y⁰ as the maxima of w allow.
    Peak,
}

impl State<'_, '_> {
    /// Adds Σ_a x_a·y_a to the chain.
    pub(super) fn emit(&mut self, x: &[f64], chain: &mut ChainRows<'_>) {
        let mut filled = 0;
        for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            let (t, nu) = (self.memory.t[k].abs(), self.memory.nu[k]);
            if t.is_infinite() && self.radius(k) > 0.0 && self.emit_ranked_peak(k, x, chain) {
                continue;
            }
            let shape = match self.oracle.set.distance {
                _ if self.radius(k) == 0.0 || t == 0.0 => Shape::Nominal,
                _ if t.is_infinite() => Shape::Peak,
                Distance::Kl => Shape::Tilted { t, top: self.top(k, t) },
                // All that is left lies within 1/t of the maximum, and ν has no digits left.
                _ if t * self.rows.range > STEEPEST => Shape::Peak,
                _ => Shape::Shifted { t, nu },
            };
            self.emit_row(k, x, shape, chain, &mut filled);
        }
    }

    /// Puts a row of a KL ball on its peak where the ranking tells which entries that takes.
    fn emit_ranked_peak(&mut self, k: usize, x: f64, chain: &mut ChainRows<'_>) -> bool {
        let ranked = self.oracle.set.distance == Distance::Kl
            && self.rows.shared()
            && !self.ahead.in_place
            && chain.is_dense();
        let (Some(ranking), true) = (&self.ahead.ranking, ranked) else { return false };
        let nominal = self.rows.row(k).0;
        let (top, mass, seen) = ranking.top(nominal);
        self.scratch.entries += seen as u64;
        for (&i, &level) in ranking.order[..seen].iter().zip(&ranking.level) {
            if level == top {
                chain.entries[i as usize] += x * (nominal[i as usize] / mass);
            }
        }
        true
    }

    /// The row's largest w where exponentials might vanish otherwise.
    fn top(&self, k: usize, t: f64) -> f64 {
        let (nominal, gain) = self.rows.row(k);
        if t * self.rows.range < 500.0 { 0.0 } else { dispatch(Top { nominal, gain }).0 }
    }

    fn emit_row(
        &mut self,
        k: usize,
        x: f64,
        shape: Shape,
        chain: &mut ChainRows<'_>,
        filled: &mut usize,
    ) {
        let (nominal, gain) = self.rows.row(k);
        self.scratch.entries += nominal.len() as u64;
        let y = &mut self.scratch.value;
        y.resize(nominal.len(), 0.0);
        let own = match shape {
            Shape::Peak => peak(nominal, gain, self.oracle.set.distance, y),
            Shape::Tilted { t, .. } if self.rows.tabled(self.ahead) => {
                let (table, ahead) = (&mut self.scratch.table, self.ahead);
                match dispatch(Tabled { nominal, ahead, t, table, y }) {
                    Some(mass) => mass,
                    None => dispatch(Write { nominal, gain, shape, y }),
                }
            }
            _ => dispatch(Write { nominal, gain, shape, y }),
        };
        let mut mass = own;
        if !self.rows.level.is_empty() {
            mass += match shape {
                Shape::Shifted { t, nu } => {
                    let [n, sum, _] = add_tail(&self.rows, self.ahead, k, t, nu, 0.0);
                    (t * sum - n * nu).max(0.0)
                }
                Shape::Peak => 1.0 - own,
                _ => 0.0,
            };
        }
        if mass.is_nan() || mass <= 0.0 {
            // Multipliers so steep that a shift off by rounding leaves nothing.
            return match shape {
                Shape::Peak => (),
                _ => self.emit_row(k, x, Shape::Peak, chain, filled),
            };
        }
        // Bounds meet before masses do.
        let scale = x / mass;
        match self.rows.next_states(k) {
            None if chain.is_dense() => {
                dispatch(AddScaled { scale, y, to: &mut chain.entries[..] });
            }
            None => {
                for (i, &y) in y.iter().enumerate() {
                    chain.add(self.s, filled, i, scale * y);
                }
            }
            Some(columns) => {
                // A tail covers the support too: what it puts there is taken out again.
                if let (Shape::Shifted { t, nu }, false) = (shape, chain.tails.is_empty()) {
                    let levels = &self.rows.level[self.rows.span(k)];
                    for (y, level) in y.iter_mut().zip(levels) {
                        *y -= (t * (level - self.rows.shift[k]) - nu).max(0.0);
                    }
                }
                for (&i, &y) in columns.iter().zip(&*y).filter(|e| *e.1 != 0.0) {
                    chain.add(self.s, filled, i as usize, scale * y);
                }
            }
        }
        if mass > own || !chain.tails.is_empty() {
            self.emit_tail(k, scale, shape, mass - own, chain, filled);
        }
    }

    /// The states outside the nominal support.
    fn emit_tail(
        &mut self,
        k: usize,
        scale: f64,
        shape: Shape,
        rest: f64,
        chain: &mut ChainRows<'_>,
        filled: &mut usize,
    ) {
        let ranking = self.ahead.ranking.as_ref().expect("tails need a ranking");
        let (columns, shift) = (&self.rows.columns[self.rows.span(k)], self.rows.shift[k]);
        let outside = |i: &u32| columns.binary_search(i).is_err();
        if let Shape::Shifted { t, nu } = shape {
            let length = tail_length(&ranking.level, shift, t, nu);
            if !chain.tails.is_empty() {
                chain.tails[k] = Tail {
                    slope: scale * t,
                    shift: scale * (nu + t * shift),
                    length: length as u32,
                };
                return;
            }
            for (&i, &w) in ranking.order[..length].iter().zip(&ranking.level) {
                if outside(&i) {
                    chain.add(self.s, filled, i as usize, scale * (t * (w - shift) - nu));
                }
            }
        } else if rest > 0.0
            && let Some(&i) = ranking.order.iter().find(|i| outside(i))
        {
            chain.add(self.s, filled, i as usize, scale * rest);
        }
    }
}

/// y on the maxima of w where y⁰ is positive; returns its mass (0: the maximum lies elsewhere).
fn peak(nominal: &[f64], gain: &[f64], distance: Distance, y: &mut [f64]) -> f64 {
    let kl = distance == Distance::Kl;
    let usable = |y0: f64| y0 > 0.0 || !kl;
    let entries = || nominal.iter().zip(gain).filter(|(y0, _)| usable(**y0));
    let top = entries().fold(f64::NEG_INFINITY, |m, (_, w)| m.max(*w));
    let top = if kl { top } else { 0.0 };
    let (mut mass, mut count) = (0.0, 0.0);
    for (y0, _) in entries().filter(|e| *e.1 == top) {
        mass += y0;
        count += 1.0;
    }
    y.fill(0.0);
    if count == 0.0 {
        return 0.0;
    }
    for ((y, &y0), &w) in y.iter_mut().zip(nominal).zip(gain) {
        if w == top && usable(y0) {
            *y = if kl { y0 / mass } else { y0 + (1.0 - mass).max(0.0) / count };
        }
    }
    1.0
}

/// Adds `scale`·y.
struct AddScaled<'a> {
    scale: f64,
    y: &'a [f64],
    to: &'a mut [f64],
}

impl WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddScaled { scale, y, to } = self;
        let factor = simd.splat_f64s(scale);
        let (full, last) = S::as_simd_f64s(y);
        let (to, last_to) = S::as_mut_simd_f64s(&mut to[..y.len()]);
        for (to, &y) in to.iter_mut().zip(full) {
            *to = simd.mul_add_e_f64s(factor, y, *to);
        }
        for (to, y) in last_to.iter_mut().zip(last) {
            *to += scale * y;
        }
    }
}

/// Writes a row and returns its mass.
struct Write<'a> {
    nominal: &'a [f64],
    gain: &'a [f64],
    shape: Shape,
    y: &'a mut [f64],
}

impl WithSimd for Write<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Write { nominal, gain, shape, y } = self;
        let zero = simd.splat_f64s(0.0);
        let (t, nu) = match shape {
            Shape::Shifted { t, nu } => (t, nu),
            Shape::Tilted { t, .. } => (t, 0.0),
            _ => (0.0, 0.0),
        };
        let (tv, nuv) = (simd.splat_f64s(t), simd.splat_f64s(nu));
        let tilted = matches!(shape, Shape::Tilted { .. });
        let topv = simd.splat_f64s(if let Shape::Tilted { top, .. } = shape { top } else { 0.0 });
        let form = Form { t: tv, nu: nuv, top: topv, tilted };
        let mut total = zero;
        let (full, last) = S::as_simd_f64s(nominal);
        let (full_w, last_w) = S::as_simd_f64s(gain);
        let (full_y, last_y) = S::as_mut_simd_f64s(y);
        for ((&y0, &w), y) in full.iter().zip(full_w).zip(full_y) {
            *y = form.at(simd, y0, w);
            total = simd.add_f64s(total, *y);
        }
        if !last.is_empty() {
            let (y0, w) = (simd.partial_load_f64s(last), simd.partial_load_f64s(last_w));
            let new = form.at(simd, y0, w);
            simd.partial_store_f64s(last_y, new);
            total = simd.add_f64s(total, new);
        }
        let ghosts = if tilted { 0.0 } else { crate::lanes::padding::<S>(nominal.len()) };
        simd.reduce_sum_f64s(total) - ghosts * (-nu).max(0.0)
    }
}

/// Writes y⁰e^{tw} from the table's e^{t_c·w} and returns its mass; `None` beyond the table.
struct Tabled<'a> {
    nominal: &'a [f64],
    ahead: &'a Outlook,
    t: f64,
    table: &'a mut Table,
    y: &'a mut [f64],
}

impl WithSimd for Tabled<'_> {
    type Output = Option<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<f64> {
        let Tabled { nominal, ahead, t, table, y } = self;
        let w = &*ahead.shared;
        let grid = ahead.grid();
        let (base, middle) = table.middle(simd, t, &grid)?;
        // e^u, u = (t − t_c)(w + h), with the sixth power replaced by its fit for |u| ≤ √H: H³/23040.
        let half = simd.splat_f64s(0.5 * ahead.range);
        let reach = 0.5 * ahead.reach;
        let h = reach * reach;
        let fits = [
            1.0 + h * h * h / (32.0 * 720.0),
            1.0,
            0.5 - 9.0 * h * h / (16.0 * 720.0),
            1.0 / 6.0,
            1.0 / 24.0 + 1.5 * h / 720.0,
            1.0 / 120.0,
        ];
        let delta = t - middle;
        let (mut power, mut fit) = (1.0, [simd.splat_f64s(0.0); 6]);
        for (fit, c) in fit.iter_mut().zip(fits) {
            *fit = simd.splat_f64s(c * power);
            power *= delta;
        }
        let at = |y0: S::f64s, w: S::f64s, base: S::f64s| {
            let w = simd.add_f64s(w, half);
            let mut p = fit[5];
            for j in (0..5).rev() {
                p = simd.mul_add_e_f64s(p, w, fit[j]);
            }
            simd.mul_f64s(simd.mul_f64s(y0, base), p)
        };
        let mut total = simd.splat_f64s(0.0);
        let (full, last) = S::as_simd_f64s(nominal);
        let (full_w, last_w) = S::as_simd_f64s(w);
        let (full_base, last_base) = S::as_simd_f64s(base);
        let (full_y, last_y) = S::as_mut_simd_f64s(y);
        for (((&y0, &w), &base), y) in full.iter().zip(full_w).zip(full_base).zip(full_y) {
            *y = at(y0, w, base);
            total = simd.add_f64s(total, *y);
        }
        if !last.is_empty() {
            let (y0, w) = (simd.partial_load_f64s(last), simd.partial_load_f64s(last_w));
            let new = at(y0, w, simd.partial_load_f64s(last_base));
            simd.partial_store_f64s(last_y, new);
            total = simd.add_f64s(total, new);
        }
        Some(simd.reduce_sum_f64s(total))
    }
}

/// y⁰e^{t(w − top)} or (y⁰ + tw − ν)₊ on registers.
struct Form<S: Simd> {
    t: S::f64s,
    nu: S::f64s,
    top: S::f64s,
    tilted: bool,
}

impl<S: Simd> Form<S> {
    #[inline(always)]
    fn at(&self, simd: S, y0: S::f64s, w: S::f64s) -> S::f64s {
        if self.tilted {
            let exponent = simd.mul_f64s(self.t, simd.sub_f64s(w, self.top));
            return simd.mul_f64s(y0, exp(simd, exponent));
        }
        let y = simd.mul_add_e_f64s(self.t, w, simd.sub_f64s(y0, self.nu));
        simd.max_f64s(y, simd.splat_f64s(0.0))
    }
}
