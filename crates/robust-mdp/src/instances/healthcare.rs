//! Healthcare: how strongly to treat a patient whose health drifts. A reconstruction in the
//! spirit of the instance of Grand-Clément and Kroer (AAAI 2021), whose numbers are not printed.
//!
//! Health states 1..S−1 from best to worst, then mortality, which absorbs (every action loops).
//! From health state i a drug level moves to i−1 (better) and i+1 (worse) with the
//! probabilities below and otherwise stays; the best state has no better one, and the worst
//! state's next is mortality.
//!
//! | drug level | better | worse | invasiveness |
//! |---|---|---|---|
//! | low | 0.1 | 0.4 | 0 |
//! | medium | 0.2 | 0.3 | 2 |
//! | high | 0.3 | 0.2 | 5 |
//!
//! Cost = severity + invasiveness with severity 10·(i−1)/(S−2); mortality costs 20 whatever the
//! action, more than any health state. p₀ is uniform.

use super::check_states;
use crate::error::Error;
use crate::model::{Model, ModelBuilder};

/// Name, chance of getting better, chance of getting worse, invasiveness.
const DRUG_LEVELS: [(&str, f64, f64, f64); 3] =
    [("low", 0.1, 0.4, 0.0), ("medium", 0.2, 0.3, 2.0), ("high", 0.3, 0.2, 5.0)];
const MORTALITY_COST: f64 = 20.0;

/// The healthcare model with `states` ≥ 3 states.
///
/// ```
/// let model = robust_mdp::instances::healthcare(6, 0.8)?;
/// assert_eq!((model.states(), model.rows()), (6, 18));
/// # Ok::<(), robust_mdp::Error>(())
/// ```
pub fn healthcare(states: usize, discount: f64) -> Result<Model, Error> {
    check_states("healthcare", states, 3)?;
    let mut builder = ModelBuilder::new(discount);
    for i in 0..states - 1 {
        builder.add_state(Some(&format!("health {}", i + 1)));
        let severity = 10.0 * i as f64 / (states - 2) as f64;
        for (name, better, worse, invasiveness) in DRUG_LEVELS {
            let better = if i == 0 { 0.0 } else { better };
            builder.add_action(Some(name), severity + invasiveness);
            builder.add_transition(i.saturating_sub(1), better, 0.0);
            builder.add_transition(i, 1.0 - better - worse, 0.0);
            builder.add_transition(i + 1, worse, 0.0);
        }
    }
    builder.add_state(Some("mortality"));
    for (name, ..) in DRUG_LEVELS {
        builder.add_action(Some(name), MORTALITY_COST);
        builder.add_transition(states - 1, 1.0, 0.0);
    }
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_and_costs() {
        for states in [3, 4, 7, 30] {
            let model = healthcare(states, 0.8).unwrap();
            assert_eq!((model.states(), model.rows()), (states, 3 * states));
            assert_eq!(model.state_name(states - 1), "mortality");
            for s in 0..states {
                assert!(!model.is_terminal(s));
                for r in model.rows_of(s) {
                    let row = model.row(r);
                    assert!((row.prob.iter().sum::<f64>() - 1.0).abs() < 1e-15);
                    let adjacent = |(to, p, _): (usize, f64, f64)| p == 0.0 || to.abs_diff(s) <= 1;
                    assert!(row.entries().all(adjacent));
                    assert!(s == states - 1 || row.cost < MORTALITY_COST);
                }
            }
        }
        assert!(healthcare(2, 0.8).is_err());
    }
}
