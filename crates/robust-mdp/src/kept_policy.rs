//! A policy that is put aside: its weights that are not 0, and a bit a row that says where.
//!
//! Most policies use one or two actions of a state, so that this is a fraction of one number a row.

use crate::model::Model;

/// A policy, flat over rows, as it was to the last bit (but for the sign of zeros).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeptPolicy {
    rows: usize,
    used: Vec<u64>,
    weights: Vec<f64>,
}

impl KeptPolicy {
    pub(crate) fn of(policy: &[f64]) -> KeptPolicy {
        let mut kept = KeptPolicy::default();
        kept.keep(policy);
        kept
    }

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

    /// Replaces the policy by this one, in the memory at hand.
    pub(crate) fn keep(&mut self, policy: &[f64]) {
        self.rows = policy.len();
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

#[cfg(test)]
mod tests {
    use super::KeptPolicy;

    #[test]
    fn policies_come_back_as_they_were() {
        let mut kept = KeptPolicy::default();
        for rows in [0, 1, 63, 64, 65, 200, 130] {
            let weight = |r: usize| if r % 3 == 1 { 1.0 / r as f64 } else { 0.0 };
            let policy: Vec<f64> = (0..rows).map(weight).collect();
            kept.keep(&policy);
            assert_eq!(kept.to_vec(), policy);
            assert_eq!(kept, KeptPolicy::of(&policy));
        }
    }

    #[test]
    fn what_is_not_a_number_is_kept_too() {
        assert!(KeptPolicy::of(&[0.0, f64::NAN]).to_vec()[1].is_nan());
    }
}
