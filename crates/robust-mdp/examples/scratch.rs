//! x
use robust_mdp::*;
use robust_mdp::sets::UncertaintySet;
fn frozen_lake(side: f64) -> Model {
    const MAP: &[u8; 16] = b"SFFFFHFHFFFHHFFG";
    let mut model = ModelBuilder::new(1.0);
    model.set_objective(Objective::MaxReward);
    for s in 0..16 {
        model.add_state(None);
        if matches!(MAP[s], b'H' | b'G') {
            model.mark_terminal();
            continue;
        }
        let to = |way: usize| match way % 4 {
            0 => if s % 4 > 0 { s - 1 } else { s },
            1 => if s < 12 { s + 4 } else { s },
            2 => if s % 4 < 3 { s + 1 } else { s },
            _ => if s > 3 { s - 4 } else { s },
        };
        for a in 0..4 {
            model.add_action(None, 0.0);
            for (way, p) in [(a + 3, side), (a, 1.0/3.0), (a + 1, side)] {
                let next = to(way);
                model.add_transition(next, p, if MAP[next] == b'G' { 1.0 } else { 0.0 });
            }
        }
    }
    model.build().unwrap()
}
fn main() {
    for side in [1.0/3.0, 0.5 * (1.0 - 1.0 / 3.0)] { let m = frozen_lake(side);
    for direction in [Direction::Worst, Direction::Best] {
    for set in [UncertaintySet::none(), UncertaintySet::kl(0.0), UncertaintySet::l1(0.0), UncertaintySet::kl(0.001), UncertaintySet::kl(0.01), UncertaintySet::kl(0.02), UncertaintySet::kl(0.03), UncertaintySet::kl(0.04).per_action(),  UncertaintySet::l1(0.04).on_nominal_support(),  UncertaintySet::chi2(0.04)] {
        let o = Options { criterion: Criterion::Total, direction, ..Default::default() };
        match solve(&m, &set, &o) {
            Ok(s) => { let c = certify(&m, &set, &s, None); match c { Ok((_, v)) => println!("proved {} {} gap {:e}", v.lower[0], v.upper[0], v.gap), Err(e) => println!("{e}") };println!("{direction} {:?}: {:?} {:.12} {:.12} gap {:e} {:?} ", set.distance, s.status, s.lower[0], s.upper[0], s.gap, s.work.sweeps) }
            Err(e) => println!("{direction} {:?} {e}", set.distance),
        }
    } } }
}
