//! Machine replacement (Delage and Mannor, *Percentile Optimization for Markov Decision
//! Processes with Parameter Uncertainty*, Operations Research 58, 2010), for S states.
//!
//! Conditions 1..S−2 from new to worst, then the repair states R1 (short) and R2 (long).
//!
//! | from | no repair | repair |
//! |---|---|---|
//! | condition i | i 0.2, i+1 0.8 | i+1 0.3, R1 0.6, R2 0.1 |
//! | worst | worst 1 | worst 0.3, R1 0.6, R2 0.1 |
//! | R1 | R1 0.2, condition 1 0.8 | R1 1 |
//! | R2 | R2 1 | R1 0.6, R2 0.4 |
//!
//! The cost depends on the state alone: worst 20, R1 2, R2 10, else 0. p₀ is uniform.

use super::check_states;
use crate::error::Error;
use crate::model::{Model, ModelBuilder};

/// The machine replacement model with `states` ≥ 4 states.
///
/// ```
/// let model = robust_mdp::instances::machine_replacement(10, 0.8)?;
/// assert_eq!((model.states(), model.rows()), (10, 20));
/// # Ok::<(), robust_mdp::Error>(())
/// ```
pub fn machine_replacement(states: usize, discount: f64) -> Result<Model, Error> {
    check_states("machine", states, 4)?;
    let (worst, r1, r2) = (states - 3, states - 2, states - 1);
    let mut builder = ModelBuilder::new(discount);
    for i in 0..worst {
        builder = builder
            .state(&format!("condition {}", i + 1))
            .action("no repair", 0.0, &[(i, 0.2), (i + 1, 0.8)])
            .action("repair", 0.0, &[(i + 1, 0.3), (r1, 0.6), (r2, 0.1)]);
    }
    let model = builder
        .state(&format!("condition {}", worst + 1))
        .action("no repair", 20.0, &[(worst, 1.0)])
        .action("repair", 20.0, &[(worst, 0.3), (r1, 0.6), (r2, 0.1)])
        .state("R1")
        .action("no repair", 2.0, &[(0, 0.8), (r1, 0.2)])
        .action("repair", 2.0, &[(r1, 1.0)])
        .state("R2")
        .action("no repair", 10.0, &[(r2, 1.0)])
        .action("repair", 10.0, &[(r1, 0.6), (r2, 0.4)])
        .build()?;
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_state_machine() {
        let model = machine_replacement(10, 0.8).unwrap();
        let names: Vec<_> = (0..10).map(|s| model.state_name(s)).collect();
        assert_eq!(names[7..], ["condition 8", "R1", "R2"]);
        assert_eq!(model.action_name(9, 19), "repair");
        let costs: Vec<f64> = (0..10).map(|s| model.row(2 * s).cost).collect();
        assert_eq!(costs, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 20.0, 2.0, 10.0]);
        let positive = |r: usize| -> Vec<(usize, f64)> {
            let row = model.row(r);
            row.entries().filter(|e| e.1 > 0.0).map(|e| (e.0, e.1)).collect()
        };
        assert_eq!(positive(12), [(6, 0.2), (7, 0.8)]);
        assert_eq!(positive(13), [(7, 0.3), (8, 0.6), (9, 0.1)]);
        assert_eq!(positive(15), [(7, 0.3), (8, 0.6), (9, 0.1)]);
        assert_eq!(positive(16), [(0, 0.8), (8, 0.2)]);
        assert_eq!(positive(19), [(8, 0.6), (9, 0.4)]);
        assert_eq!(model.initial(), None);
    }

    #[test]
    fn smallest_and_too_small() {
        assert_eq!(machine_replacement(4, 0.8).unwrap().rows(), 8);
        assert!(machine_replacement(3, 0.8).is_err());
        assert!(machine_replacement(4, 1.5).is_err());
    }
}
