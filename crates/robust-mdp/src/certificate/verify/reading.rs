//! What passes over rows prove, eight rows at a time.
//!
//! Numbers of eight rows lie side by side, so that a compiler works on them in registers: the same
//! operations, in the same order, on each.

use super::exponential::EXP_ERROR;
use super::rounding::{Ball, TINY, UNIT, above, roundings};
use super::tail::Tail;

/// What a pass over a row at multipliers (t, ν) found.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    pub(super) t: f64,
    pub(super) nu: f64,
    /// Entries.
    pub(super) n: f64,
    pub(super) sums: [f64; 4],
    /// Of a KL set, `mass` is the kernel row's value below its top, or [`UNKNOWN`].
    pub(super) tail: Tail,
}

/// It follows from the sums.
pub(super) const UNKNOWN: Tail = Tail {
    mass: Ball { mid: 0.0, rad: f64::NAN },
    square: Ball { mid: 0.0, rad: 0.0 },
    missed: 0.0,
};

/// What multipliers say about a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    /// For t = x/μ, at least max over y of [x⟨w', y⟩ − μ·d(y)]/μ: by weak duality with a multiplier ν for
    /// the mass, or 0. That is for w' changed by at most [`extra`](super::row::Row::extra).
    pub(super) dual: f64,
    /// The value under the kernel y ∝ y⁰e^{tw' − ν} or (y⁰ + tw' − ν)₊, brought to mass one, less the row's top;
    /// and at least its distance (ellipsoid: ‖y − y⁰‖).
    pub(super) below: Ball,
    pub(super) distance: f64,
}

const INPUTS: usize = 12;

/// Passes in columns of eight, and what each is about.
#[derive(Default)]
pub(super) struct Passes<R> {
    about: Vec<R>,
    blocks: Vec<[[f64; 8]; INPUTS]>,
}

impl<R: Copy> Passes<R> {
    pub(super) fn clear(&mut self) {
        self.about.clear();
        self.blocks.clear();
    }

    #[inline(always)]
    pub(super) fn push(&mut self, about: R, pass: Pass) {
        let k = self.about.len() % 8;
        if k == 0 {
            self.blocks.push([[0.0; 8]; INPUTS]);
        }
        self.about.push(about);
        let Pass { t, nu, n, sums: [a, b, c, d], tail: Tail { mass, square, missed } } = pass;
        let row = [t, nu, n, a, b, c, d, mass.mid, mass.rad, square.mid, square.rad, missed];
        let block = self.blocks.last_mut().expect("a block");
        for (column, x) in block.iter_mut().zip(row) {
            column[k] = x;
        }
    }

    /// What they prove, in order.
    #[inline(always)]
    pub(super) fn each(&self, kl: bool, mut to: impl FnMut(R, Reading)) {
        for (block, about) in self.blocks.iter().zip(self.about.chunks(8)) {
            let [dual, mid, rad, distance] =
                if kl { eight::<true>(block) } else { eight::<false>(block) };
            for (k, about) in about.iter().enumerate() {
                let below = Ball { mid: mid[k], rad: rad[k] };
                to(*about, Reading { dual: dual[k], below, distance: distance[k] });
            }
        }
    }
}

/// Columns of [dual, below (middle and radius), distance].
#[inline(always)]
fn eight<const KL: bool>(block: &[[f64; 8]; INPUTS]) -> [[f64; 8]; 4] {
    let [t, nu, n, a, b, c, d, m0, m1, s0, s1, missed] = block;
    let mut out = [[0.0; 8]; 4];
    for k in 0..8 {
        let (t, nu, n, sums) = (t[k], nu[k], n[k], [a[k], b[k], c[k], d[k]]);
        let (mass, square) = (Ball { mid: m0[k], rad: m1[k] }, Ball { mid: s0[k], rad: s1[k] });
        let tail = Tail { mass, square, missed: missed[k] };
        let Reading { dual, below, distance } = match KL {
            true => kl(t, nu, n, sums, mass),
            false => ellipsoid(t, nu, n, sums, tail),
        };
        // 0 also where it is not a number.
        out[0][k] = if dual < 0.0 { dual } else { 0.0 };
        out[1][k] = below.mid;
        out[2][k] = below.rad;
        out[3][k] = distance;
    }
    out
}

/// The kernel is y ∝ pe for the computed e = e^{a + δ}, |δ| ≤ 13u (from a table, δ = 0). Σ pf(a + δ)/Σpe is at least its
/// distance, f(a) = ae^a − e^a + 1, and f(a + δ) ≤ f(a) + |δ|(|a| + |δ|)e, where |a|e ≤ |e − 1| + f(a).
#[inline(always)]
fn kl(t: f64, nu: f64, n: f64, sums: [f64; 4], known: Ball) -> Reading {
    let [mass, excess, size, tilted] = sums;
    let spent = tilted - excess;
    // Twice this covers both sums, e and e − 1 in them, their difference and δ:
    // (n/8 + 17) + (n/8 + 16) + 1 + 13 ≤ 2(n/8 + 4 + 12 + 14).
    let kappa = roundings(n, EXP_ERROR + 14.0);
    let (mass, error) = (Ball::of_sum(mass, n), kappa * (size + spent.abs()));
    let excess = Ball { mid: excess, rad: kappa * size + TINY };
    // ln z ≤ z − 1.
    let dual = (excess / mass + nu).hi();
    let mut own = mass + excess;
    own.rad += 14.0 * UNIT * own.mid.abs();
    let squares = 200.0 * UNIT * UNIT * own.mid;
    let distance = (Ball { mid: spent, rad: 2.0 * error + squares + TINY } / own).hi();
    // tw' = a + ν, but where a was brought to −700: that has 1e-304 of the mass, and ω more room than that.
    let tilted = Ball { mid: tilted, rad: error + TINY };
    let below = (tilted / own + nu) / Ball::from(t);
    Reading { dual, below: if known.rad.is_nan() { below } else { known }, distance }
}

/// The kernel is y ∝ p − c. Where y > 0, tw' = ν − c up to a rounding of c.
#[inline(always)]
fn ellipsoid(t: f64, nu: f64, n: f64, sums: [f64; 4], tail: Tail) -> Reading {
    let [mass, loss, linear, square] = sums;
    let Tail { mass: beyond, square: far, missed } = tail;
    let rho = roundings(n, 0.0);
    let (mass, all) = (Ball::of_sum(mass, n), Ball::of_sum(square, n) + far);
    // ‖y − p‖, and by Cauchy and Schwarz Σ|c| and Σp|c|.
    let size = above(all.hi().sqrt());
    let (sum, slope) = (size * n.sqrt(), mass.hi() * size);
    let loss = Ball { mid: -loss, rad: rho * sum + TINY };
    // And what the roundings of c are worth in Σytw'.
    let rounding = 1.1 * UNIT * (slope + square);
    let linear = Ball { mid: -linear, rad: rho * slope + rounding + TINY };
    // p/Σp in place of p, at most κp away: φ = c(c/2 − p) moves by at most |c| with p.
    let kappa = 1.02 * ((1.0 - mass.mid).abs() + 2.0 * rho);
    let near = (1.0 - mass.mid).abs() < 0.01;
    let other = if near { 2.0 * kappa * (slope + kappa) } else { f64::NAN };
    let dual = (linear + all * 0.5 + nu + (other + missed)).hi();
    let apart = loss + beyond;
    let own = mass + apart;
    // y/M − p/P = (y − p)/M + p(P − M)/(MP), and ‖p‖ ≤ P.
    let way = Ball { mid: apart.mid.abs(), ..apart } + size;
    let below = ((linear + all) / own + nu) / Ball::from(t);
    Reading { dual, below, distance: (way / own).hi() }
}
