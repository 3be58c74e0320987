//! Some of the random problems that `differential` draws.

use robust_mdp_fuzz::differential::compare;

#[test]
fn random_problems_are_solved_alike_and_verified() {
    let mut certified = 0;
    for seed in 1..=150 {
        let tally = compare(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        certified += tally.certified;
    }
    assert!(certified > 200, "{certified} answers to the asked gap");
}

/// One state whose multipliers the verifier rounds much, at discount 0.9999: its certificates would be
/// wider than twice the asked gap if all states were moved for its sake.
#[test]
fn roundings_of_one_state_do_not_widen_all() {
    for seed in [34_384, 56_144, 77_763] {
        let tally = compare(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        assert!(tally.certified > 0 && tally.widest <= 1.0, "seed {seed}: {tally:?}");
    }
}

/// Budgets of multipliers so steep that a rounding of the values moves them (149141), and a state whose
/// cold update took Newton's steps along both ends of its bracket (207804).
#[test]
fn steep_multipliers_and_cold_starts() {
    for seed in [149_141, 207_804] {
        compare(seed).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    }
}
