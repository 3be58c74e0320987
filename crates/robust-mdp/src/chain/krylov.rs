//! (I − λP)w = c by BiCGSTAB (van der Vorst 1992), preconditioned from the right by
//! [`Incomplete`] factors where P moves to near states mostly.
//!
//! Products with I − λP until max|c − (I − λP)w| ≤ 1e-10 from w = 0, costs within [−3, 7]; the
//! ±4 chains have random weights on nine neighbours, so that drifts change from state to state:
//!
//! ```text
//! chain              S     λ       BiCGSTAB  GMRES(20)  GMRES(50)  IDR(4)  BiCGSTAB+ILU(0)
//! 8 random moves     1e5   0.8        27         29         27        30         27
//! 8 random moves     1e5   0.99       37         43         36        37         37
//! 8 random moves     1e5   0.999      39         59         39        40         39
//! ±4                 1e4   0.99      201        211        182       197          4
//! ±4                 1e4   0.999     673       1009        657       708          4
//! ±4                 1e4   0.9999   2467      >3000      >3000     >3000          4
//! ±4                 1e5   0.999     825       1114        740       896          4
//! 0 to +3            1e4   0.999   >3000      >3000      >3000     >3000          4
//! ```
//!
//! BiCGSTAB is the fastest of the four in every line: the others take more vector arithmetic.
//! ILU(0) is not used for the random moves (counts in blocks of 4096 states); on the ±4 chains
//! such blocks take 23 to 103 products, and symmetric Gauss–Seidel within them 87 to 941.
//!
//! Vectors hold corrections of w. In single precision a cycle takes the residual down by some
//! digits, and the next one starts from what w leaves in doubles.

use super::chunks::{CHUNK, Totals, for_each_chunk, gather, products};
use super::incomplete::{Incomplete, block_size};
use super::matrix::Matrix;
use super::scalar::Scalar;
use super::tail::Prefix;

/// Rounding of one product, relative to max |c| + 2 max |w|.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A cycle ends where the residual has fallen to so many times the rounding of its vectors.
const CYCLE: f64 = 16.0;
/// Sweeps w ← c + λPw when the Krylov method has broken down.
const SWEEPS: usize = 200;

/// Vectors kept between solves, in units of max |c| if they are in single precision.
#[derive(Debug, Default)]
pub(super) struct Krylov<T> {
    residual: Vec<T>,
    shadow: Vec<T>,
    direction: Vec<T>,
    /// M⁻¹ of a vector, where there are factors.
    smooth: Vec<T>,
    image: Vec<T>,
    second: Vec<T>,
    /// What the cycle adds to w, and the best of it so far.
    sum: Vec<T>,
    candidate: Vec<T>,
    /// One unit of w in vectors.
    unit: f64,
    totals: Vec<Totals>,
    prefix: Prefix,
    incomplete: Incomplete<T>,
    preconditioned: bool,
}

/// How a solve ended.
pub(super) struct Outcome {
    /// Products with I − λP.
    pub(super) products: usize,
    /// max |c − (I − λP)w|.
    pub(super) residual: f64,
    /// Whether that is at most the tolerance, or what rounding allows.
    pub(super) solved: bool,
}

impl<T: Scalar> Krylov<T> {
    /// Improves `w` until max|c − (I − λP)w| ≤ `tolerance` or about `most` products are spent.
    pub(super) fn solve(
        &mut self,
        a: &Matrix<'_>,
        w: &mut [f64],
        tolerance: f64,
        most: usize,
    ) -> Outcome {
        self.start(a);
        let cost = self.measure(a.cost);
        // A power of two rounds nothing.
        let power = cost.log2().round().exp2();
        let scaled = T::doubles(&[]).is_none() && power.is_normal() && power.recip().is_normal();
        self.unit = if scaled { power.recip() } else { 1.0 };
        let (mut spent, mut least, mut stalled) = (1, self.residual(a, w), false);
        loop {
            let goal = tolerance.max(ROUNDING * (cost + 2.0 * self.measure(w)));
            if least <= goal || stalled || !least.is_finite() || spent >= most || (a.stop)() {
                // A product's own rounding shows as a stall a little above the goal.
                let solved = least <= 16.0 * goal;
                return Outcome { products: spent, residual: least, solved };
            }
            let end = goal.max(CYCLE * T::ROUNDING * least);
            spent += self.cycle(a, end * self.unit, most - spent) + 1;
            self.move_by(w, 1.0);
            let residual = self.residual(a, w);
            stalled = residual.is_nan() || residual > 0.5 * least;
            if residual < least {
                least = residual;
            } else {
                self.move_by(w, -1.0);
            }
        }
    }

    fn start(&mut self, a: &Matrix<'_>) {
        let n = a.states;
        let size = block_size(a);
        self.preconditioned = size.is_some();
        let Krylov { residual, shadow, direction, image, second, sum, candidate, .. } = self;
        for vector in [residual, shadow, direction, image, second, sum, candidate] {
            vector.resize(n, T::default());
        }
        self.totals.resize(n.div_ceil(CHUNK), Totals::default());
        if let Some(size) = size {
            self.smooth.resize(n, T::default());
            self.incomplete.factor(a, size);
        }
    }

    /// What one product costs with all that goes with it, in row entries.
    pub(super) fn price(&self, a: &Matrix<'_>) -> usize {
        let factors = if self.preconditioned { 2 * self.incomplete.entries() } else { 0 };
        a.price() + factors
    }

    /// max |vᵢ|.
    fn measure(&mut self, v: &[f64]) -> f64 {
        for_each_chunk::<f64, 0>([], &mut self.totals, &|start, []| {
            let v = &v[start..(start + CHUNK).min(v.len())];
            products(v, v)
        });
        gather(&self.totals).largest
    }

    /// residual = c − (I − λP)w, in doubles before it is kept, and its largest entry.
    fn residual(&mut self, a: &Matrix<'_>, w: &[f64]) -> f64 {
        let Krylov { residual, prefix, totals, unit, .. } = self;
        let left = |i: usize, image: f64| (a.cost[i] - image) * *unit;
        a.apply(w, residual, None, prefix, totals, &left).largest / *unit
    }

    /// w += `sign`·candidate.
    fn move_by(&mut self, w: &mut [f64], sign: f64) {
        let factor = sign / self.unit;
        let candidate = &self.candidate;
        for_each_chunk([w], &mut self.totals, &|start, [w]| {
            for (w, d) in w.iter_mut().zip(&candidate[start..]) {
                *w += factor * d.wide();
            }
            Totals::default()
        });
    }

    /// BiCGSTAB from the residual at hand until it is at most `goal` or the method breaks down;
    /// returns the products spent. `candidate` is what to add to w.
    fn cycle(&mut self, a: &Matrix<'_>, goal: f64, most: usize) -> usize {
        self.shadow.copy_from_slice(&self.residual);
        self.direction.copy_from_slice(&self.residual);
        self.sum.fill(T::default());
        self.candidate.fill(T::default());
        let start = products_of(&self.residual, &self.shadow, &mut self.totals);
        let (mut rho, mut least, mut kept) = (start.sums[0], start.largest, start.largest);
        let mut spent = 0;
        while spent < most && rho != 0.0 && !(a.stop)() {
            let alpha = rho / self.step_image(a).sums[0];
            if !alpha.is_finite() {
                break;
            }
            self.descend(alpha);
            let second = self.step_second(a);
            let omega = second.sums[0] / second.sums[1].max(f64::MIN_POSITIVE);
            spent += 2;
            let after = self.stabilise(omega);
            let beta = after.sums[0] / rho * alpha / omega;
            rho = after.sums[0];
            if after.largest <= goal {
                std::mem::swap(&mut self.candidate, &mut self.sum);
                return spent;
            }
            if after.largest < least {
                least = after.largest;
                // Copies are for a break-down; half of the best will do.
                if least <= 0.5 * kept {
                    kept = least;
                    self.candidate.copy_from_slice(&self.sum);
                }
            }
            if !beta.is_finite() || !after.largest.is_finite() {
                break;
            }
            self.turn(beta, omega);
        }
        spent
    }

    /// image = A M⁻¹ direction, with ⟨image, shadow⟩.
    fn step_image(&mut self, a: &Matrix<'_>) -> Totals {
        let Krylov { direction, smooth, image, shadow, totals, prefix, .. } = self;
        let mut from = &*direction;
        if self.preconditioned {
            self.incomplete.apply(direction, smooth);
            from = smooth;
        }
        a.apply(from, image, Some(shadow), prefix, totals, &|_, image| image)
    }

    /// second = A M⁻¹ residual, with ⟨second, residual⟩ and ⟨second, second⟩.
    fn step_second(&mut self, a: &Matrix<'_>) -> Totals {
        let Krylov { residual, smooth, second, totals, prefix, .. } = self;
        let mut from = &*residual;
        if self.preconditioned {
            self.incomplete.apply(residual, smooth);
            from = smooth;
        }
        a.apply(from, second, Some(residual), prefix, totals, &|_, image| image)
    }

    /// sum += α M⁻¹ direction, residual −= α image.
    fn descend(&mut self, alpha: f64) {
        let Krylov { sum, residual, direction, smooth, image, totals, .. } = self;
        let step = if self.preconditioned { &*smooth } else { &*direction };
        for_each_chunk([sum, residual], totals, &|start, [w, residual]| {
            let steps = step[start..].iter().zip(&image[start..]);
            for ((w, r), (p, q)) in w.iter_mut().zip(residual).zip(steps) {
                *w = T::of(w.wide() + alpha * p.wide());
                *r = T::of(r.wide() - alpha * q.wide());
            }
            Totals::default()
        });
    }

    /// sum += ω M⁻¹ residual, residual −= ω second, with ⟨residual, shadow⟩ and its largest entry.
    fn stabilise(&mut self, omega: f64) -> Totals {
        let Krylov { sum, residual, smooth, second, shadow, totals, .. } = self;
        let smooth = self.preconditioned.then_some(&*smooth);
        for_each_chunk([sum, residual], totals, &|start, [w, r]| {
            let add = |w: &mut T, z: &T| *w = T::of(w.wide() + omega * z.wide());
            match smooth {
                Some(z) => w.iter_mut().zip(&z[start..]).for_each(|(w, z)| add(w, z)),
                None => w.iter_mut().zip(&*r).for_each(|(w, r)| add(w, r)),
            }
            for (r, t) in r.iter_mut().zip(&second[start..]) {
                *r = T::of(r.wide() - omega * t.wide());
            }
            T::products(r, &shadow[start..start + r.len()])
        });
        gather(totals)
    }

    /// direction = residual + β(direction − ω image).
    fn turn(&mut self, beta: f64, omega: f64) {
        let Krylov { residual, direction, image, totals, .. } = self;
        for_each_chunk([direction], totals, &|start, [p]| {
            for (p, (r, q)) in p.iter_mut().zip(residual[start..].iter().zip(&image[start..])) {
                *p = T::of(r.wide() + beta * (p.wide() - omega * q.wide()));
            }
            Totals::default()
        });
    }

    /// w ← c + λPw: slow, but every sweep shrinks the largest residual by λ. Returns the products.
    pub(super) fn sweeps(&mut self, a: &Matrix<'_>, w: &mut [f64], goal: f64) -> usize {
        for spent in 1..=SWEEPS {
            if self.residual(a, w) <= goal {
                return spent;
            }
            std::mem::swap(&mut self.candidate, &mut self.residual);
            self.move_by(w, 1.0);
        }
        SWEEPS + 1
    }
}

/// ⟨a, b⟩, ⟨a, a⟩ and max |aᵢ|.
fn products_of<T: Scalar>(a: &[T], b: &[T], totals: &mut [Totals]) -> Totals {
    for_each_chunk::<T, 0>([], totals, &|start, []| {
        let end = (start + CHUNK).min(a.len());
        T::products(&a[start..end], &b[start..end])
    });
    gather(totals)
}
