//! Active rows and the screening bounds in front of the others.
//!
//! A row k that is not active matters only below `screen[k]` + fall, a lower bound of its
//! nominal value; active rows have screen ∞.

use crate::lanes::kernels;
use crate::rows::Rows;
use crate::sets::set::Priced;

/// What a state remembers from sweep to sweep, one entry a row.
#[derive(Debug)]
pub(crate) struct RowMemory<'a> {
    /// The multiplier t ≥ 0 at which the row was last priced: 0 it is nominal, ∞ it is on its maximum.
    pub(crate) t: &'a mut [f64],
    /// The second number of that point, see [`Priced`](crate::sets::set::Priced).
    pub(crate) nu: &'a mut [f64],
    /// A screening bound: at most the row's nominal value (its worst case, where rows have budgets of
    /// their own), less the fall of values until then; −∞ where nothing is known.
    pub(crate) screen: &'a mut [f64],
}

impl RowMemory<'_> {
    /// The row that ended on its maximum.
    pub(super) fn saturated(&self) -> Option<usize> {
        first(self.t, f64::MAX)
    }

    /// The first row with a multiplier, else the one of the lowest screening bound.
    pub(super) fn in_use(&self) -> usize {
        let lowest = || {
            let least = least(self.screen);
            self.screen.iter().position(|bound| *bound == least).unwrap_or(0)
        };
        first(self.t, 0.0).unwrap_or_else(lowest)
    }

    /// The point at which row k was last priced.
    pub(super) fn point(&self, k: usize) -> Option<Priced> {
        let (t, nu) = (self.t[k], self.nu[k]);
        (t > 0.0 && t.is_finite()).then_some(Priced { t, nu, ..Priced::NOMINAL })
    }

    /// Keeps the multipliers of the active rows, and no others.
    pub(super) fn keep(&mut self, active: &Active) {
        self.t.fill(0.0);
        for (j, &k) in active.row.iter().enumerate() {
            (self.t[k as usize], self.nu[k as usize]) = (active.t[j], active.nu[j]);
        }
    }
}

/// Arrays over the active rows are a multiple of this long, at least, so that kernels can visit
/// them by whole registers; what lies beyond the last row means nothing.
pub(super) const PADDING: usize = 8;

/// The active rows: numbers, base costs, multipliers, shifts and screening bounds.
#[derive(Debug, Default)]
pub(super) struct Active {
    pub(super) row: Vec<u32>,
    pub(super) base: Vec<f64>,
    pub(super) t: Vec<f64>,
    pub(super) nu: Vec<f64>,
    /// As in [`RowMemory`].
    pub(super) bound: Vec<f64>,
    /// κ of the rows.
    pub(super) kappa: Vec<f64>,
    /// Nominal values, where they were read in this sweep.
    pub(super) nominal: Vec<Option<f64>>,
    screen: Vec<f64>,
    /// Rows to be read, and what they say.
    pub(super) pending: Vec<u32>,
    pub(super) value: Vec<f64>,
    /// Multipliers to come.
    pub(super) fresh: Vec<f64>,
    pub(super) fresh_nu: Vec<f64>,
    pub(super) candidates: Vec<super::saturation::RowBelow>,
    pub(super) bracket: super::bracketed::Bracket,
}

impl Active {
    /// No active row.
    pub(super) fn clear(&mut self, screen: &[f64]) {
        self.row.clear();
        self.reserve(1);
        self.screen.clear();
        self.screen.extend_from_slice(screen);
    }

    fn reserve(&mut self, rows: usize) {
        if self.t.len() < rows {
            let rows = (2 * rows).next_multiple_of(PADDING);
            for array in [
                &mut self.base,
                &mut self.t,
                &mut self.nu,
                &mut self.bound,
                &mut self.kappa,
                &mut self.fresh,
                &mut self.fresh_nu,
            ] {
                array.resize(rows, 0.0);
            }
            self.nominal.resize(rows, None);
        }
    }

    /// The rows that had multipliers at the end of the last sweep.
    pub(super) fn resume(
        &mut self,
        memory: &RowMemory<'_>,
        rows: &mut Rows<'_>,
        kappa: Option<&[f64]>,
    ) {
        self.clear(memory.screen);
        between(memory.t, 0.0, f64::INFINITY, &mut self.row);
        self.reserve(self.row.len());
        for (j, &k) in self.row.iter().enumerate() {
            let k = k as usize;
            rows.make(k);
            (self.base[j], self.t[j]) = (rows.base(k), memory.t[k]);
            (self.nu[j], self.bound[j]) = (memory.nu[k], memory.screen[k]);
            self.kappa[j] = kappa.map_or(1.0, |kappa| kappa[k]);
            (self.nominal[j], self.screen[k]) = (None, f64::INFINITY);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    /// The multipliers of the active rows.
    pub(super) fn multipliers(&self) -> &[f64] {
        &self.t[..self.row.len()]
    }

    /// Adds row k, which was made.
    pub(super) fn push(&mut self, k: usize, base: f64, kappa: f64, t: f64, nu: f64) {
        let j = self.row.len();
        self.reserve(j + 1);
        self.row.push(k as u32);
        (self.base[j], self.kappa[j], self.t[j], self.nu[j]) = (base, kappa, t, nu);
        (self.bound[j], self.nominal[j]) = (self.screen[k], None);
        self.screen[k] = f64::INFINITY;
    }

    pub(super) fn swap(&mut self, i: usize, j: usize) {
        if i == j {
            return;
        }
        self.row.swap(i, j);
        for array in [
            &mut self.base,
            &mut self.t,
            &mut self.nu,
            &mut self.bound,
            &mut self.kappa,
            &mut self.fresh,
            &mut self.fresh_nu,
        ] {
            array.swap(i, j);
        }
        self.nominal.swap(i, j);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        for j in len..self.row.len() {
            self.screen[self.row[j] as usize] = self.bound[j];
        }
        self.row.truncate(len);
    }

    /// What is known of a row that is not active.
    pub(super) fn set_screen(&mut self, k: usize, bound: f64) {
        self.screen[k] = bound;
    }

    /// Lists in `pending` the rows not active whose screen lies below `bar`.
    pub(super) fn list_below(&mut self, bar: f64) {
        let Active { screen, pending, .. } = self;
        between(screen, f64::NEG_INFINITY, bar, pending);
    }
}

kernels! {
    /// Lists k with above < of[k] < below, and of[k] = −∞ where `above` is.
    pub(super) fn between<'a>(
        simd,
        of: &'a [f64],
        above: f64,
        below: f64,
        out: &'a mut Vec<u32>,
    ) -> () {
        out.clear();
        let open = above == f64::NEG_INFINITY;
        let belongs = |x: f64| x < below && (open || x > above);
        let (full, last) = S::as_simd_f64s(of);
        let lanes = size_of::<S::f64s>() / 8;
        let (low, high) = (simd.splat_f64s(above), simd.splat_f64s(below));
        for (i, &x) in full.iter().enumerate() {
            let mut inside = simd.less_than_f64s(x, high);
            if !open {
                inside = simd.and_m64s(inside, simd.less_than_f64s(low, x));
            }
            if simd.first_true_m64s(inside) < lanes {
                let start = i * lanes;
                out.extend((start..start + lanes).filter(|&k| belongs(of[k])).map(|k| k as u32));
            }
        }
        let start = full.len() * lanes;
        out.extend((start..start + last.len()).filter(|&k| belongs(of[k])).map(|k| k as u32));
    }

    /// The first k with of[k] > above.
    fn first<'a>(simd, of: &'a [f64], above: f64) -> Option<usize> {
        let (full, _) = S::as_simd_f64s(of);
        let lanes = size_of::<S::f64s>() / 8;
        let low = simd.splat_f64s(above);
        // Which lane it is differs by instruction set: this says whether there is one.
        let any = |&x: &S::f64s| simd.first_true_m64s(simd.less_than_f64s(low, x)) < lanes;
        let start = lanes * full.iter().position(any).unwrap_or(full.len());
        of[start..].iter().position(|x| *x > above).map(|k| start + k)
    }

    /// The least of `of`.
    pub(super) fn least<'a>(simd, x: &'a [f64]) -> f64 {
        let (full, last) = S::as_simd_f64s(x);
        let mut least = simd.splat_f64s(f64::INFINITY);
        for &x in full {
            least = simd.min_f64s(least, x);
        }
        last.iter().fold(simd.reduce_min_f64s(least), |m, x| m.min(*x))
    }
}
