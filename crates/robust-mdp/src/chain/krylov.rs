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
//! 0 to +3            1e4   0.999   >3000      >3000      >3000     >3000          4
//! ```
//!
//! BiCGSTAB is the fastest of the four in every line: the others take more vector arithmetic. Without the
//! factors machine replacement of 20,000 states (to the next state or back to the first) takes 6.8 s
//! instead of 0.9 at λ = 0.999 and 80 instead of 1.2 at 0.9999; a grid world 141 states wide takes a third
//! of the time without.

use super::chunks::{CHUNK, Totals, for_each_chunk, gather, products};
use super::incomplete::{self, Incomplete};
use super::matrix::Matrix;
use super::tail::Prefix;

/// Rounding of one product, relative to max |c| + 2 max |w|.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A cycle ends where the residual has fallen to so many times the rounding of its vectors.
const CYCLE: f64 = 16.0;
/// Sweeps w ← c + λPw when the Krylov method has broken down.
const SWEEPS: usize = 200;

/// Vectors kept between solves.
#[derive(Debug, Default)]
pub(super) struct Krylov {
    residual: Vec<f64>,
    shadow: Vec<f64>,
    direction: Vec<f64>,
    /// M⁻¹ of a vector, where there are factors.
    smooth: Vec<f64>,
    image: Vec<f64>,
    second: Vec<f64>,
    /// What the cycle adds to w, and the best of it so far.
    sum: Vec<f64>,
    candidate: Vec<f64>,
    totals: Vec<Totals>,
    prefix: Prefix,
    /// M, where P moves to near states mostly.
    factors: Option<Incomplete>,
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
        let cost = self.measure(a.cost);
        let (mut spent, mut least, mut stalled) = (1, self.residual(a, w), false);
        loop {
            let goal = tolerance.max(ROUNDING * (cost + 2.0 * self.measure(w)));
            if least <= goal || stalled || !least.is_finite() || spent >= most || (a.stop)() {
                // A product's own rounding shows as a stall a little above the goal.
                let solved = least <= 16.0 * goal;
                return Outcome { products: spent, residual: least, solved };
            }
            let end = goal.max(CYCLE * f64::EPSILON * least);
            spent += self.cycle(a, end, most - spent) + 1;
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
        let Krylov { residual, shadow, direction, image, second, sum, candidate, .. } = self;
        for vector in [residual, shadow, direction, image, second, sum, candidate] {
            vector.resize(n, 0.0);
        }
        self.totals.resize(n.div_ceil(CHUNK), Totals::default());
        if !incomplete::serves(a) {
            self.factors = None;
            return;
        }
        self.smooth.resize(n, 0.0);
        self.factors.get_or_insert_default().factor(a);
    }

    /// What M⁻¹ adds to the cost of a product, in row entries.
    pub(super) fn price(&self) -> u64 {
        self.factors.as_ref().map_or(0, |factors| 2 * factors.entries.len() as u64)
    }

    /// max |vᵢ|.
    fn measure(&mut self, v: &[f64]) -> f64 {
        for_each_chunk::<f64, 0>([], &mut self.totals, &|start, []| {
            let v = &v[start..(start + CHUNK).min(v.len())];
            products(v, v)
        });
        gather(&self.totals).largest
    }

    /// residual = c − (I − λP)w, and its largest entry.
    fn residual(&mut self, a: &Matrix<'_>, w: &[f64]) -> f64 {
        let Krylov { residual, prefix, totals, .. } = self;
        let left = |i: usize, image: f64| a.cost[i] - image;
        a.apply(w, residual, None, prefix, totals, &left).largest
    }

    /// w += `sign`·candidate.
    fn move_by(&mut self, w: &mut [f64], sign: f64) {
        let candidate = &self.candidate;
        for_each_chunk([w], &mut self.totals, &|start, [w]| {
            for (w, d) in w.iter_mut().zip(&candidate[start..]) {
                *w += sign * d;
            }
            Totals::default()
        });
    }

    /// BiCGSTAB from the residual at hand until it is at most `goal` or the method breaks down;
    /// returns the products spent. `candidate` is what to add to w.
    fn cycle(&mut self, a: &Matrix<'_>, goal: f64, most: usize) -> usize {
        self.shadow.copy_from_slice(&self.residual);
        self.direction.copy_from_slice(&self.residual);
        self.sum.fill(0.0);
        self.candidate.fill(0.0);
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
        let Krylov { direction, smooth, image, shadow, totals, prefix, factors, .. } = self;
        let from = smoothed(factors, direction, smooth);
        a.apply(from, image, Some(shadow), prefix, totals, &|_, image| image)
    }

    /// second = A M⁻¹ residual, with ⟨second, residual⟩ and ⟨second, second⟩.
    fn step_second(&mut self, a: &Matrix<'_>) -> Totals {
        let Krylov { residual, smooth, second, totals, prefix, factors, .. } = self;
        let from = smoothed(factors, residual, smooth);
        a.apply(from, second, Some(residual), prefix, totals, &|_, image| image)
    }

    /// sum += α M⁻¹ direction, residual −= α image.
    fn descend(&mut self, alpha: f64) {
        let Krylov { sum, residual, direction, smooth, image, totals, .. } = self;
        let step = if self.factors.is_some() { &*smooth } else { &*direction };
        for_each_chunk([sum, residual], totals, &|start, [w, residual]| {
            let steps = step[start..].iter().zip(&image[start..]);
            for ((w, r), (p, q)) in w.iter_mut().zip(residual).zip(steps) {
                *w += alpha * p;
                *r -= alpha * q;
            }
            Totals::default()
        });
    }

    /// sum += ω M⁻¹ residual, residual −= ω second, with ⟨residual, shadow⟩ and its largest entry.
    fn stabilise(&mut self, omega: f64) -> Totals {
        let Krylov { sum, residual, smooth, second, shadow, totals, .. } = self;
        let smooth = self.factors.is_some().then_some(&*smooth);
        for_each_chunk([sum, residual], totals, &|start, [w, r]| {
            let step = smooth.map_or(&*r, |smooth| &smooth[start..]);
            w.iter_mut().zip(step).for_each(|(w, z)| *w += omega * z);
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

/// M⁻¹x, or x without factors.
fn smoothed<'a>(factors: &Option<Incomplete>, x: &'a [f64], out: &'a mut [f64]) -> &'a [f64] {
    let Some(factors) = factors else { return x };
    factors.apply(x, out);
    out
}

/// ⟨a, b⟩, ⟨a, a⟩ and max |aᵢ|.
fn products_of(a: &[f64], b: &[f64], totals: &mut [Totals]) -> Totals {
    for_each_chunk::<f64, 0>([], totals, &|start, []| {
        let end = (start + CHUNK).min(a.len());
        products(&a[start..end], &b[start..end])
    });
    gather(totals)
}
