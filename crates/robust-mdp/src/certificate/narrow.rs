//! Values that the verifier's roundings widen less.
//!
//! Its bounds are v_U + max e/(1 − λ), e ≥ T_x v_U − v_U with every rounding counted: one state whose
//! roundings are large widens the bounds of all states as if every one were like it. With the chain P
//! of x and nature's answer, v_U + (I − λP)⁻¹e is a supersolution of the same rounded inequality up to
//! second order, and wider only by as much as such states are visited. The same holds for v_L.

use super::Certificate;
use super::verify::Excess;
use crate::chain::Chain;
use crate::loops::bellman::{Bellman, Player};

/// (v_L, v_U) of a certificate, moved by what the excess of either side is worth along its chain.
pub(super) fn moved(
    bellman: &mut Bellman<'_>,
    policy: &[f64],
    certificate: &Certificate,
    excesses: &[Excess],
) -> (Vec<f64>, Vec<f64>) {
    let Certificate { upper, lower, discount, .. } = certificate;
    let mut chain = None;
    bellman.sweep(upper, Player::Nature(policy), 0.0);
    bellman.chain_of(Some(policy), &mut chain);
    let up = worth(&mut chain, excesses.iter().map(|e| e.above), *discount);
    bellman.sweep(lower, Player::Both, 0.0);
    bellman.chain_of(None, &mut chain);
    let down = worth(&mut chain, excesses.iter().map(|e| e.below), *discount);
    let acting = |s: usize| !bellman.model.is_terminal(s);
    let sum = |v: &[f64], by: &[f64], sign: f64| -> Vec<f64> {
        (0..v.len()).map(|s| if acting(s) { v[s] + sign * by[s] } else { 0.0 }).collect()
    };
    (sum(lower, &down, -1.0), sum(upper, &up, 1.0))
}

/// (I − λP)⁻¹e.
fn worth(chain: &mut Option<Chain>, excess: impl Iterator<Item = f64>, discount: f64) -> Vec<f64> {
    let mut worth: Vec<f64> = excess.collect();
    if let Some(chain) = chain {
        chain.cost.copy_from_slice(&worth);
        chain.solve(discount, &mut worth, 0.0, &|| false);
    }
    worth
}
