//! A policy that is put aside: a copy while it is small, else its weights that are not 0 and a bit a
//! row that says where.
//!
//! Most policies use one or two actions of a state, so that this is a fraction of one number a row.

use crate::codec::{Codec, Snapshot};
use crate::model::Model;

/// A policy, flat over rows, as it was to the last bit (but for the sign of zeros).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptPolicy {
    rows: usize,
    /// Which weights there are; empty: all.
    used: Vec<u64>,
    weights: Vec<f64>,
}

/// Rows up to which a copy is cheaper than the bits.
const FEW_ROWS: usize = 1 << 16;

impl KeptPolicy {
    /// The first action of every state.
    pub(crate) fn of_first_actions(model: &Model) -> KeptPolicy {
        let rows = model.rows();
        let mut used = vec![0; rows.div_ceil(64)];
        let acting = (0..model.states()).filter(|&s| !model.is_terminal(s));
        let mut weights = Vec::with_capacity(model.states());
        for r in acting.map(|s| model.rows_of(s).start) {
            used[r / 64] |= 1 << (r % 64);
            weights.push(1.0);
        }
        KeptPolicy { rows, used, weights }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Replaces the policy by this one, in the memory at hand.
    pub(crate) fn keep(&mut self, policy: &[f64]) {
        self.rows = policy.len();
        if self.rows <= FEW_ROWS {
            self.used.clear();
            self.weights.clear();
            self.weights.extend_from_slice(policy);
            return;
        }
        let weights = policy.iter().copied().filter(|x| *x != 0.0);
        let count = weights.clone().count();
        self.weights.clear();
        if self.weights.capacity() < count {
            self.weights = Vec::new(); // not both the old and the new at once
            self.weights.reserve_exact(count + count / 8);
        }
        self.weights.extend(weights);
        let bits = |rows: &[f64]| {
            rows.iter().enumerate().fold(0, |bits, (i, x)| bits | u64::from(*x != 0.0) << i)
        };
        self.used.clear();
        self.used.extend(policy.chunks(64).map(bits));
    }

    /// The policy itself.
    pub(crate) fn restore(&self, policy: &mut [f64]) {
        if self.used.is_empty() {
            return policy.copy_from_slice(&self.weights);
        }
        let mut weights = self.weights.iter().copied();
        for (rows, used) in policy.chunks_mut(64).zip(&self.used) {
            for (i, x) in rows.iter_mut().enumerate() {
                *x = if used >> i & 1 == 1 { weights.next().unwrap_or(0.0) } else { 0.0 };
            }
        }
    }

    pub(crate) fn to_vec(&self) -> Vec<f64> {
        let mut policy = vec![0.0; self.rows];
        self.restore(&mut policy);
        policy
    }
}

impl Snapshot for KeptPolicy {
    fn visit_fields(&mut self, codec: &mut Codec<'_>) {
        let (mut some, mut by_bits) = (self.rows > 0, !self.used.is_empty());
        codec.flag(&mut some);
        codec.flag(&mut by_bits);
        let rows = if some { codec.rows } else { 0 };
        if codec.is_reading() {
            self.rows = rows;
            self.used.resize(if by_bits { rows.div_ceil(64) } else { 0 }, 0);
        }
        codec.bits(&mut self.used);
        codec.up_to(&mut self.weights, rows);
        let marked = self.used.iter().map(|bits| bits.count_ones() as usize).sum();
        if self.weights.len() != if by_bits { marked } else { rows } {
            codec.refuse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEW_ROWS, KeptPolicy};

    impl KeptPolicy {
        fn of(policy: &[f64]) -> KeptPolicy {
            let mut kept = KeptPolicy::default();
            kept.keep(policy);
            kept
        }
    }

    #[test]
    fn policies_come_back_as_they_were() {
        let mut kept = KeptPolicy::default();
        for rows in [0, 1, 200, FEW_ROWS, FEW_ROWS + 1, FEW_ROWS + 64, FEW_ROWS + 65, 130] {
            let weight = |r: usize| if r % 3 == 1 { 1.0 / r as f64 } else { 0.0 };
            let policy: Vec<f64> = (0..rows).map(weight).collect();
            kept.keep(&policy);
            assert_eq!(kept.to_vec(), policy);
            assert_eq!(kept, KeptPolicy::of(&policy));
        }
    }

    #[test]
    fn what_is_not_a_number_is_kept_too() {
        let mut policy = vec![0.0; FEW_ROWS + 1];
        policy[1] = f64::NAN;
        assert!(KeptPolicy::of(&policy).to_vec()[1].is_nan());
        assert!(KeptPolicy::of(&policy[..2]).to_vec()[1].is_nan());
    }
}
