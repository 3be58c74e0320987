//! The policy in one state, in words.

use robust_mdp::Model;
use robust_mdp_page::number::probability;

use super::shown_name;

/// Actions of a smaller probability are counted, not shown.
const LEAST: f64 = 0.0005;
/// What is less comes from rounding.
const ROUNDING: f64 = 1e-9;
/// Actions that one state shows.
const MOST: usize = 4;
/// Characters of an action's name.
const NAME: usize = 24;

/// “repair”, “repair (0.688), no repair (0.312)”, or “—” in a terminal state.
pub(crate) fn in_words(model: &Model, s: usize, policy: &[f64]) -> String {
    if policy.is_empty() {
        return "—".into();
    }
    let first = model.rows_of(s).start;
    let mut played: Vec<(usize, f64)> =
        policy.iter().copied().enumerate().filter(|(_, x)| *x > ROUNDING).collect();
    played.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let name = |a: usize| shown_name(&model.action_name(s, first + a), NAME);
    if let [(a, _)] = played[..] {
        return name(a);
    }
    let large = played.iter().filter(|(_, x)| *x >= LEAST).count().clamp(1, MOST);
    let likely = |&(a, x): &(usize, f64)| format!("{} ({})", name(a), probability(x, 3));
    let shown: Vec<String> = played.iter().take(large).map(likely).collect();
    let more = match played.len() - shown.len() {
        0 => String::new(),
        n => format!(", {n} more"),
    };
    shown.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;
    use robust_mdp::ModelBuilder;

    #[test]
    fn policies_in_words() {
        let stay: &[(usize, f64)] = &[(0, 1.0)];
        let model = ModelBuilder::new(0.5)
            .state("a")
            .action("go", 0.0, stay)
            .action("wait", 0.0, stay)
            .terminal("end")
            .build()
            .unwrap();
        assert_eq!(in_words(&model, 0, &[1.0, 0.0]), "go");
        assert_eq!(in_words(&model, 0, &[0.0004, 0.9996]), "wait (>0.999), 1 more");
        assert_eq!(in_words(&model, 0, &[1e-12, 1.0 - 1e-12]), "wait");
        assert_eq!(in_words(&model, 0, &[0.25, 0.75]), "wait (0.750), go (0.250)");
        assert_eq!(in_words(&model, 1, &[]), "—");
    }
}
