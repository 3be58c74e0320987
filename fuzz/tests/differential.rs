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
