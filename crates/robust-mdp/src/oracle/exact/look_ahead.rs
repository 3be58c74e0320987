//! Steps of KL rows on the moments of their last reading, to where the next one is worth more.

use super::active::Least;
use super::cumulants::{Assess, Step};
use super::kl::{Kl, LONGEST};
use crate::lanes::dispatch;

/// Moments tell where to read next this far from the middle of their cell, in the same units: there
/// they are off by less than a thousandth.
const FARTHEST: f64 = 1.5;
/// How often they do, unless multipliers move less than this.
const AHEAD_STEPS: usize = 4;
const NEAR: f64 = 0.01;

impl Kl<'_> {
    /// Further steps on moments that do not hold to rounding any more, before rows are read again.
    pub(super) fn look_ahead(&mut self) {
        let rows = self.active.len();
        // Few rows are read again soon, and others may join them; those that reach far hold already.
        if 4 * rows < self.rows.len() || 4.0 * self.cumulants.reach > FARTHEST {
            return;
        }
        let read = self.tabled() && self.cumulants.readings > 0;
        if !read || self.cumulants.unsafe_rows(FARTHEST).0 < rows.div_ceil(8) {
            return;
        }
        let ceiling = dispatch(Least(self.rows.base));
        let (radius, drift, range) = (self.radius, self.ahead.drift, self.rows.range);
        let longest = LONGEST / range;
        let centre = &self.cumulants.centre[..rows];
        if !centre.iter().all(|c| c.is_finite()) {
            return;
        }
        for _ in 0..AHEAD_STEPS {
            let far = self.cumulants.unsafe_rows(FARTHEST).1;
            if 6 * far > rows {
                return;
            }
            if far > 0 {
                let reach = FARTHEST / range;
                for (t, c) in self.active.t.iter_mut().zip(&self.cumulants.centre[..rows]) {
                    *t = t.clamp(c - reach, c + reach);
                }
                self.moved();
            }
            let (active, cumulants) = (&mut *self.active, &*self.cumulants);
            let mu = dispatch(Assess { active, cumulants, radius, drift, range, fixed: false }).mu;
            if mu.is_nan() || mu >= ceiling {
                return;
            }
            let least = dispatch(Step { active, cumulants, mu, longest });
            if least.is_nan() {
                return;
            }
            if least <= 0.0 {
                for (fresh, t) in active.fresh[..rows].iter_mut().zip(&active.t) {
                    *fresh = fresh.max(0.25 * t);
                }
            }
            let before = active.t[..rows].iter().zip(&active.fresh);
            let moved = before.fold(0.0_f64, |m, (t, fresh)| m.max((t - fresh).abs()));
            std::mem::swap(&mut active.t, &mut active.fresh);
            self.moved();
            if moved * range < NEAR {
                return;
            }
        }
    }
}
