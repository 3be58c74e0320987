use super::*;
use crate::model::Model;

#[test]
fn rows_are_checked() {
    let one = |cost: f64, next: &[(usize, f64)], further: f64| {
        let mut b = ModelBuilder::new(0.9).state("s").action("a", cost, next);
        b.add_transition(0, 0.0, further);
        b.build().map_err(|e| e.to_string())
    };
    assert!(one(0.0, &[(0, 1.0), (0, -0.0)], 0.0).is_ok());
    for (cost, next, further, expected) in [
        (0.0, &[(0, 0.98)][..], 0.0, "probabilities sum to 0.98, expected 1 within 1e-9"),
        (0.0, &[], 0.0, "probabilities sum to 0.0,"),
        (0.0, &[(0, 0.6), (0, 0.6)], 0.0, "probabilities sum to 1.2,"),
        (0.0, &[(0, 1.0), (0, -1e-300)], 0.0, "of next state 0 is -1e-300, expected at least 0"),
        (0.0, &[(0, 1e-301)], 0.0, "of next state 0 is 1e-301, expected 0 or at least 1e-300"),
        (0.0, &[(0, f64::NAN)], 0.0, "of next state 0 is NaN, expected a finite number"),
        (0.0, &[(0, f64::NEG_INFINITY)], 0.0, "is -inf, expected a finite number"),
        (f64::INFINITY, &[(0, 1.0)], 0.0, "the cost or reward is inf, expected a finite number"),
        (0.0, &[(0, 1.0)], f64::NAN, "the cost or reward on moving to state 0 is NaN, expected"),
        (0.0, &[(0, 0.5), (1, 0.5)], 0.0, "next state 1 does not exist, expected a number below 1"),
        (0.0, &[(usize::MAX, 1.0)], 0.0, "next state 18446744073709551615 does not exist"),
    ] {
        let found = one(cost, next, further).unwrap_err();
        assert!(found.starts_with("state 0 (“s”), action 0 (“a”): "), "{found}");
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn states_discount_and_initial_are_checked() {
    let new = || ModelBuilder::new(0.9);
    let one = |b: ModelBuilder| b.state("s").action("a", 0.0, &[(0, 1.0)]);
    let mut no_action = new();
    no_action.add_state(None);
    no_action.add_transition(0, 1.0, 0.0);
    for (builder, expected) in [
        (new(), "the model has no states"),
        (new().state("x"), "state 0 (“x”) has no actions"),
        (new().terminal("x").action("a", 0.0, &[(0, 1.0)]), "state 0 (“x”) is declared terminal"),
        (
            new().action("a", 0.0, &[(0, 1.0)]),
            "an action or a terminal mark comes before the first",
        ),
        (no_action, "state 0: a transition comes before the first action"),
        (one(ModelBuilder::new(1.5)), "the discount factor is 1.5, expected a number in [0, 1]"),
        (one(ModelBuilder::new(-0.1)), "the discount factor is -0.1"),
        (one(ModelBuilder::new(f64::NAN)), "the discount factor is NaN"),
        (one(ModelBuilder::undiscounted()), "the discount factor is missing"),
        (one(new().initial(vec![])), "the initial distribution has 0 entries, expected 1"),
        (one(new().initial(vec![0.5])), "the initial probabilities sum to 0.5"),
        (one(new().initial(vec![-1.0])), "the initial probability of state 0 (“s”) is -1.0"),
    ] {
        let found = builder.build().unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    }
    let end = new().terminal("x").build().unwrap();
    assert!(end.is_terminal(0) && end.rows() == 0);
    assert_eq!(one(ModelBuilder::new(0.0)).build().unwrap().discount(), 0.0);
    let near = one(new().initial(vec![1.0 + 1e-10])).build().unwrap();
    assert_eq!(near.initial(), Some(&[1.0][..]));
}

/// Ten states, so that short rows are stored sparsely.
fn sparse(next: &[(usize, f64, f64)]) -> Model {
    let mut b = ModelBuilder::new(0.9);
    b.add_state(None);
    b.add_action(None, 1.0);
    next.iter().for_each(|&(to, p, c)| b.add_transition(to, p, c));
    for _ in 1..10 {
        b.add_state(None);
        b.mark_terminal();
    }
    b.build().unwrap()
}

#[test]
fn rows_are_sorted_and_merged() {
    let model = sparse(&[(7, 0.25, 0.0), (2, 0.5, 0.0), (7, 0.25, 0.0), (3, 0.0, 0.0)]);
    assert!(!model.is_dense() && !model.has_transition_costs());
    let row: Vec<_> = model.row(0).entries().collect();
    assert_eq!(row, [(2, 0.5, 0.0), (7, 0.5, 0.0)]);
}

#[test]
fn next_states_at_several_costs_are_kept_apart() {
    let listed = [
        (3, 0.0, 6.0),
        (1, 0.25, 4.0),
        (1, 0.25, 1.0),
        (2, 0.25, 0.0),
        (1, 0.25, 4.0),
        (3, 0.0, 5.0),
    ];
    let model = sparse(&listed);
    let row: Vec<_> = model.row(0).entries().collect();
    // By next state and cost, whatever the order; at the same cost probabilities add up.
    let expected = [(1, 0.25, 1.0), (1, 0.5, 4.0), (2, 0.25, 0.0), (3, 0.0, 5.0), (3, 0.0, 6.0)];
    assert_eq!(row, expected);
    assert_eq!(model.repeated_transitions(), 2);
    let mut backwards = listed;
    backwards.reverse();
    assert_eq!(sparse(&backwards), model);
    // Also at probability 0 and no further cost: to that state there are two ways, and their costs differ.
    assert_eq!(sparse(&[(1, 1.0, 2.0), (1, 0.0, 0.0)]).repeated_transitions(), 1);
    // Alone it says nothing and is left out.
    assert_eq!(
        sparse(&[(1, 1.0, 2.0), (2, 0.0, 0.0)]).transitions(),
        sparse(&[(1, 1.0, 2.0)]).transitions()
    );
}

#[test]
fn models_with_repeated_next_states_are_sparse() {
    let model = |again: f64| {
        let mut b = ModelBuilder::new(0.9);
        b.add_state(None);
        b.add_action(None, 1.0);
        b.add_transition(0, 0.5, 2.0);
        b.add_transition(0, 0.5, again);
        b.build().unwrap()
    };
    assert!(model(2.0).is_dense() && !model(3.0).is_dense());
    assert_eq!((model(2.0).transitions(), model(3.0).transitions()), (1, 2));
    assert_eq!((model(2.0).repeated_transitions(), model(3.0).repeated_transitions()), (0, 1));
}

#[test]
fn nearby_rows_are_normalised() {
    let model = sparse(&[(0, 0.5, 0.0), (1, 0.5 + 9e-10, 0.0)]);
    assert_eq!(distribution::compensated_sum(model.row(0).prob), 1.0);
    let exact = sparse(&[(0, 0.1, 0.0), (1, 0.2, 0.0), (2, 0.7, 0.0)]);
    assert_eq!(exact.row(0).prob, [0.1, 0.2, 0.7]);
}

#[test]
fn full_rows_are_stored_densely() {
    let mut b = ModelBuilder::new(0.9).objective(Objective::MaxReward);
    for s in 0..3 {
        b.add_state(None);
        b.add_action(None, if s == 0 { 0.0 } else { 2.0 });
        b.add_transition(s, 1.0, s as f64);
    }
    let model = b.build().unwrap();
    assert!(model.is_dense());
    assert_eq!(model.row(2).prob, [0.0, 0.0, 1.0]);
    assert_eq!((model.row(2).cost, model.row(2).transition_cost.unwrap()[2]), (-2.0, -2.0));
    assert!(model.row(0).cost.is_sign_positive());
}

#[test]
fn late_names_leave_numbers_before_them() {
    let mut b = ModelBuilder::new(0.9);
    for s in 0..2 {
        b.add_state((s == 1).then_some("end"));
        b.add_action(None, 0.0);
        b.add_transition(0, 1.0, 0.0);
        b.add_action((s == 1).then_some("go"), 0.0);
        b.add_transition(1, 1.0, 0.0);
    }
    let model = b.build().unwrap();
    assert_eq!((model.state_name(0), model.state_name(1)), ("0".into(), "end".into()));
    let names: Vec<_> = (0..4).map(|r| model.action_name(r / 2, r)).collect();
    assert_eq!(names, ["0", "1", "0", "go"]);
}

/// A row of intervals, and what becomes of it.
fn within(entries: &[(usize, Option<f64>, [f64; 2])]) -> Result<Model, ModelError> {
    let mut builder = ModelBuilder::new(0.9);
    builder.add_state(None);
    builder.add_action(None, 1.0);
    builder.add_transition(0, 1.0, 0.0);
    builder.add_action(None, 1.0);
    entries.iter().for_each(|&(next, p, bounds)| builder.add_interval(next, p, bounds, 0.0));
    for _ in 0..6 {
        builder.add_state(None);
        builder.mark_terminal();
    }
    builder.build()
}

#[test]
fn rows_of_intervals_get_a_nominal_one_within() {
    // 0.1 + 0.25·0.4, 0.2 + 0.25·0.8 and 0.4, from Σl = 0.7 and Σu = 1.9; one entry is listed twice.
    let model = within(&[
        (3, None, [0.1, 0.5]),
        (1, None, [0.05, 0.4]),
        (1, None, [0.15, 0.6]),
        (2, None, [0.4, 0.4]),
    ]);
    let model = model.unwrap();
    let (row, bounds) = (model.row(1), model.row(1).bounds.unwrap());
    assert_eq!(row.next, Some(&[1, 2, 3][..]));
    for (found, expected) in [
        (row.prob, [0.4, 0.4, 0.2]),
        (bounds.lower, [0.2, 0.4, 0.1]),
        (bounds.upper, [1.0, 0.4, 0.5]),
    ] {
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{found:?}");
    }
    let bounds = model.row(0).bounds.unwrap();
    assert_eq!((bounds.lower, bounds.upper), (&[1.0][..], &[1.0][..]));
    assert_ne!(model.fingerprint(), within(&[(3, None, [0.0, 1.0])]).unwrap().fingerprint());
    // Given ones stay; a next state of probability 0 is kept where it may have some.
    let model = within(&[(1, Some(1.0), [0.5, 1.0]), (2, Some(0.0), [0.0, 0.5])]).unwrap();
    assert_eq!(
        (model.row(1).prob, model.row(1).bounds.unwrap().upper),
        (&[1.0, 0.0][..], &[1.0, 0.5][..])
    );
}

#[test]
fn intervals_that_hold_no_distribution_are_refused() {
    let error = |entries: &[_]| within(entries).unwrap_err().to_string();
    for (bounds, p) in
        [([-0.1, 0.5], None), ([0.5, 0.4], None), ([0.0, 1.5], None), ([f64::NAN, 1.0], None)]
    {
        let text = error(&[(1, p, bounds)]);
        assert!(text.contains("state 0, action 1: the interval ["), "{text}");
        assert!(text.ends_with("of next state 1, expected 0 ≤ lower ≤ upper ≤ 1"), "{text}");
    }
    let text = error(&[(1, Some(0.9), [0.0, 0.5]), (2, Some(0.1), [0.0, 0.5])]);
    assert!(text.ends_with("of next state 1 does not contain its probability 0.9"), "{text}");
    let text = error(&[(1, None, [0.0, 0.5]), (2, None, [0.0, 0.25])]);
    assert!(text.contains("lower bounds sum to 0.0 and upper ones to 0.75"), "{text}");
    let text = error(&[(1, None, [0.75, 1.0]), (2, None, [0.5, 1.0])]);
    assert!(text.contains("lower bounds sum to 1.25"), "{text}");
}
