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

use super::Matrix;
use super::chunks::{CHUNK, Totals, for_each_chunk, gather, products};
use super::incomplete::{Incomplete, block_size};
use super::tail::Prefix;

/// Rounding of one product, relative to max |c| + 2 max |w|.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Sweeps w ← c + λPw when the Krylov method has broken down.
const SWEEPS: usize = 200;

/// Vectors kept between solves.
#[derive(Debug, Default)]
pub(super) struct Krylov {
    residual: Vec<f64>,
    shadow: Vec<f64>,
    direction: Vec<f64>,
    smooth: Vec<f64>,
    image: Vec<f64>,
    second: Vec<f64>,
    best: Vec<f64>,
    candidate: Vec<f64>,
    totals: Vec<Totals>,
    prefix: Prefix,
    incomplete: Incomplete,
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

impl Krylov {
    /// Improves `w` until max|c − (I − λP)w| ≤ `tolerance` or about `most` products are spent.
    pub(super) fn solve(
        &mut self,
        a: &Matrix<'_>,
        w: &mut [f64],
        tolerance: f64,
        most: usize,
    ) -> Outcome {
        self.start(a);
        let (mut spent, mut least) = (0, f64::INFINITY);
        let cost = self.measure(a.cost);
        loop {
            let residual = self.residual(a, w);
            spent += 1;
            let stalled = residual.is_nan() || residual > 0.5 * least;
            if residual < least {
                least = residual;
                self.best.copy_from_slice(w);
            }
            let goal = tolerance.max(ROUNDING * (cost + 2.0 * self.measure(w)));
            if least <= goal || stalled || spent >= most || (a.stop)() {
                w.copy_from_slice(&self.best);
                // A product's own rounding shows as a stall a little above the goal.
                let solved = least <= 16.0 * goal;
                return Outcome { products: spent, residual: least, solved };
            }
            spent += self.cycle(a, w, goal, most - spent);
        }
    }

    fn start(&mut self, a: &Matrix<'_>) {
        let n = a.states;
        let Krylov { residual, shadow, direction, smooth, image, second, best, candidate, .. } =
            self;
        for vector in [residual, shadow, direction, smooth, image, second, best, candidate] {
            vector.resize(n, 0.0);
        }
        self.totals.resize(n.div_ceil(CHUNK), Totals::default());
        let size = block_size(a);
        self.preconditioned = size.is_some();
        if let Some(size) = size {
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
        for_each_chunk([], &mut self.totals, &|start, []| {
            let v = &v[start..(start + CHUNK).min(v.len())];
            products(v, v)
        });
        gather(&self.totals).largest
    }

    /// residual = c − (I − λP)w, and its largest entry.
    fn residual(&mut self, a: &Matrix<'_>, w: &[f64]) -> f64 {
        a.apply(w, &mut self.residual, w, &mut self.prefix, &mut self.totals);
        for_each_chunk([&mut self.residual], &mut self.totals, &|start, [r]| {
            for (r, c) in r.iter_mut().zip(&a.cost[start..]) {
                *r = c - *r;
            }
            products(r, r)
        });
        gather(&self.totals).largest
    }

    /// BiCGSTAB from the residual at hand until it is at most `goal` or the method breaks down;
    /// returns the products spent. `w` is the best seen.
    fn cycle(&mut self, a: &Matrix<'_>, w: &mut [f64], goal: f64, most: usize) -> usize {
        self.shadow.copy_from_slice(&self.residual);
        self.direction.copy_from_slice(&self.residual);
        let start = products_of(&self.residual, &self.shadow, &mut self.totals);
        let (mut rho, mut least, mut kept) = (start.sums[0], start.largest, start.largest);
        self.candidate.copy_from_slice(w);
        let mut spent = 0;
        while spent < most && rho != 0.0 && !(a.stop)() {
            let alpha = rho / self.step_image(a).sums[0];
            if !alpha.is_finite() {
                break;
            }
            self.descend(w, alpha);
            let second = self.step_second(a);
            let omega = second.sums[0] / second.sums[1].max(f64::MIN_POSITIVE);
            spent += 2;
            let after = self.stabilise(w, omega);
            let beta = after.sums[0] / rho * alpha / omega;
            rho = after.sums[0];
            if after.largest <= goal {
                return spent;
            }
            if after.largest < least {
                least = after.largest;
                // Copies are for a break-down; half of the best will do.
                if least <= 0.5 * kept {
                    kept = least;
                    self.candidate.copy_from_slice(w);
                }
            }
            if !beta.is_finite() || !after.largest.is_finite() {
                break;
            }
            self.turn(beta, omega);
        }
        w.copy_from_slice(&self.candidate);
        spent
    }

    /// image = A M⁻¹ direction, with ⟨image, shadow⟩.
    fn step_image(&mut self, a: &Matrix<'_>) -> Totals {
        let Krylov { direction, smooth, image, shadow, totals, prefix, .. } = self;
        if self.preconditioned {
            self.incomplete.apply(direction, smooth);
            a.apply(smooth, image, shadow, prefix, totals)
        } else {
            a.apply(direction, image, shadow, prefix, totals)
        }
    }

    /// second = A M⁻¹ residual, with ⟨second, residual⟩ and ⟨second, second⟩.
    fn step_second(&mut self, a: &Matrix<'_>) -> Totals {
        let Krylov { residual, smooth, second, totals, prefix, .. } = self;
        if self.preconditioned {
            self.incomplete.apply(residual, smooth);
            a.apply(smooth, second, residual, prefix, totals)
        } else {
            a.apply(residual, second, residual, prefix, totals)
        }
    }

    /// w += α M⁻¹ direction, residual −= α image.
    fn descend(&mut self, w: &mut [f64], alpha: f64) {
        let Krylov { residual, direction, smooth, image, totals, .. } = self;
        let step = if self.preconditioned { &*smooth } else { &*direction };
        for_each_chunk([w, residual], totals, &|start, [w, residual]| {
            let steps = step[start..].iter().zip(&image[start..]);
            for ((w, r), (p, q)) in w.iter_mut().zip(residual).zip(steps) {
                *w += alpha * p;
                *r -= alpha * q;
            }
            Totals::default()
        });
    }

    /// w += ω M⁻¹ residual, residual −= ω second, with ⟨residual, shadow⟩ and its largest entry.
    fn stabilise(&mut self, w: &mut [f64], omega: f64) -> Totals {
        let Krylov { residual, smooth, second, shadow, totals, .. } = self;
        let smooth = self.preconditioned.then_some(&*smooth);
        for_each_chunk([w, residual], totals, &|start, [w, r]| {
            match smooth {
                Some(z) => w.iter_mut().zip(&z[start..]).for_each(|(w, z)| *w += omega * z),
                None => w.iter_mut().zip(&*r).for_each(|(w, r)| *w += omega * r),
            }
            r.iter_mut().zip(&second[start..]).for_each(|(r, t)| *r -= omega * t);
            products(r, &shadow[start..start + r.len()])
        });
        gather(totals)
    }

    /// direction = residual + β(direction − ω image).
    fn turn(&mut self, beta: f64, omega: f64) {
        let Krylov { residual, direction, image, totals, .. } = self;
        for_each_chunk([direction], totals, &|start, [p]| {
            for (p, (r, q)) in p.iter_mut().zip(residual[start..].iter().zip(&image[start..])) {
                *p = r + beta * (*p - omega * q);
            }
            Totals::default()
        });
    }

    /// w ← c + λPw: slow, but every sweep shrinks the largest residual by λ. Returns the products.
    pub(super) fn sweeps(&mut self, a: &Matrix<'_>, w: &mut [f64], goal: f64) -> usize {
        let mut largest = self.residual(a, w);
        for spent in 1..=SWEEPS {
            if largest <= goal {
                return spent;
            }
            let Krylov { residual, image, totals, prefix, .. } = self;
            a.apply(residual, image, residual, prefix, totals);
            for_each_chunk([w, residual], totals, &|start, [w, r]| {
                for ((w, r), q) in w.iter_mut().zip(&mut *r).zip(&image[start..]) {
                    *w += *r;
                    *r -= q;
                }
                products(r, r)
            });
            largest = gather(&self.totals).largest;
        }
        SWEEPS + 1
    }
}

/// ⟨a, b⟩, ⟨a, a⟩ and max |aᵢ|.
fn products_of(a: &[f64], b: &[f64], totals: &mut [Totals]) -> Totals {
    for_each_chunk([], totals, &|start, []| {
        let end = (start + CHUNK).min(a.len());
        products(&a[start..end], &b[start..end])
    });
    gather(totals)
}
