//! A state's row of the chain: Σ_a x_a·y_a for the kernel that the multipliers stand for.

use super::State;
use crate::chain::{ChainRows, Tail};
use crate::lanes::{kernels, sum};
use crate::rows::Outside;
use crate::sets::set::{Beyond, Priced};

/// A slope at which nothing but the maximum is within 1 of it.
const STEEP: f64 = 1e300;

impl State<'_> {
    /// Adds Σ_a x_a·y_a to the chain.
    pub(super) fn add_to_chain(&mut self, x: &[f64], chain: &mut ChainRows<'_>) {
        let mut filled = 0;
        for (k, &x) in x.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            let uncertain = self.radius(k) > 0.0;
            let (t, nu) = (self.memory.t[k], self.memory.nu[k]);
            let t = if uncertain { t } else { 0.0 };
            self.add_row(k, x, Priced { t, nu, ..Priced::NOMINAL }, chain, &mut filled);
        }
    }

    fn add_row(
        &mut self,
        k: usize,
        x: f64,
        at: Priced,
        chain: &mut ChainRows<'_>,
        filled: &mut usize,
    ) {
        let set = self.problem.set;
        self.problem.rows.look_at(k);
        self.problem.rows.visited += self.problem.rows.width(k) as u64;
        let row = self.problem.rows.row(k);
        let y = &mut *self.value;
        y.resize(row.p.len(), 0.0);
        let beyond = match at.t > 0.0 {
            true => set.kernel(row, at, y),
            false => {
                y.copy_from_slice(row.p);
                Beyond::Nothing
            }
        };
        let outside = row.outside;
        let mass = sum(y) + mass_beyond(beyond, outside);
        if mass.is_nan() || mass <= 0.0 {
            // Multipliers so steep that a shift off by rounding leaves nothing.
            if at.t.is_finite() {
                let at = Priced { t: f64::INFINITY, ..at };
                self.add_row(k, x, at, chain, filled);
            }
            return;
        }
        // Bounds meet before masses do.
        let scale = x / mass;
        let next = self.problem.rows.next_states(k);
        // On each of so many of the first states: t·z − ν.
        let tail = outside.filter(|_| !chain.tails.is_empty()).and_then(|outside| match beyond {
            Beyond::Affine { t, nu } => Some((outside, t, nu, outside.length(t, nu))),
            Beyond::OnMaxima(each) => Some((outside, 0.0, -each, outside.length(STEEP, -1.0))),
            Beyond::Nothing | Beyond::Best(_) => None,
        });
        if let Some((outside, t, nu, length)) = tail {
            // A tail covers the listed states too: what it puts there is taken out again.
            let last = outside.ranking.level[..length].last().copied().unwrap_or(f64::INFINITY);
            for (y, level) in y.iter_mut().zip(outside.listed).filter(|e| *e.1 >= last) {
                *y -= t * (level - outside.shift) - nu;
            }
            let shift = scale * (nu + t * outside.shift);
            chain.tails[k] = Tail { slope: scale * t, shift, length: length as u32 };
        }
        match next {
            None if chain.is_dense() => add_scaled(scale, y, &mut chain.entries[..]),
            _ => {
                for (j, &y) in y.iter().enumerate().filter(|e| *e.1 != 0.0) {
                    let next = next.map_or(j, |next| next[j] as usize);
                    chain.add(self.s, filled, next, scale * y);
                }
            }
        }
        if let (Some(outside), None) = (outside, tail) {
            for (next, y) in entries_beyond(beyond, outside, next.unwrap_or(&[])) {
                chain.add(self.s, filled, next, scale * y);
            }
        }
    }
}

/// The mass on states that a row does not list.
pub(super) fn mass_beyond(beyond: Beyond, outside: Option<Outside<'_>>) -> f64 {
    match (beyond, outside) {
        (Beyond::Nothing, _) | (_, None) => 0.0,
        (Beyond::Best(mass), Some(_)) => mass,
        (Beyond::OnMaxima(each), Some(outside)) => {
            let ([n, ..], _) = outside.sums(STEEP, -1.0, 0.0);
            n * each
        }
        (Beyond::Affine { t, nu }, Some(outside)) => {
            let ([n, sum, _], _) = outside.sums(t, nu, 0.0);
            (t * sum - n * nu).max(0.0)
        }
    }
}

/// The states that a row does not list, where it has mass.
pub(super) fn entries_beyond<'a>(
    beyond: Beyond,
    outside: Outside<'a>,
    listed: &'a [u32],
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let ranking = outside.ranking;
    let count = match beyond {
        Beyond::Nothing => 0,
        Beyond::Best(_) => ranking.order.len(),
        Beyond::OnMaxima(_) => outside.length(STEEP, -1.0),
        Beyond::Affine { t, nu } => outside.length(t, nu),
    };
    let unlisted = move |e: &(&u32, &f64)| listed.binary_search(e.0).is_err();
    let found = ranking.order[..count].iter().zip(&ranking.level).filter(unlisted);
    let most = if let Beyond::Best(_) = beyond { 1 } else { count };
    found.take(most).map(move |(&next, level)| {
        let y = match beyond {
            Beyond::Nothing => 0.0,
            Beyond::Best(mass) | Beyond::OnMaxima(mass) => mass,
            Beyond::Affine { t, nu } => t * (level - outside.shift) - nu,
        };
        (next as usize, y)
    })
}

kernels! {
    /// Adds `scale`·y.
    fn add_scaled<'a>(simd, scale: f64, y: &'a [f64], to: &'a mut [f64]) -> () {
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
