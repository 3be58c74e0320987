use super::*;
use crate::model::Model;

fn one(cost: f64, next: &[(usize, f64)]) -> Result<Model, ModelError> {
    ModelBuilder::new(0.9).state("s").action("a", cost, next).build()
}

fn label(name: &str) -> Label {
    Label { index: 0, name: Some(name.into()) }
}

#[test]
fn probabilities_are_checked() {
    let (state, action) = (label("s"), label("a"));
    let sum = one(0.0, &[(0, 0.98)]).unwrap_err();
    assert_eq!(sum, ModelError::RowSum { state: state.clone(), action: action.clone(), sum: 0.98 });
    assert!(matches!(one(0.0, &[]), Err(ModelError::RowSum { sum: 0.0, .. })));
    assert!(matches!(one(0.0, &[(0, 0.6), (0, 0.6)]), Err(ModelError::RowSum { .. })));
    let negative = one(0.0, &[(0, 1.0), (0, -1e-300)]).unwrap_err();
    assert_eq!(negative, ModelError::Probability { state, action, next: 0, value: -1e-300 });
    assert!(one(0.0, &[(0, 1.0), (0, -0.0)]).is_ok());
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = one(0.0, &[(0, bad)]).unwrap_err().to_string();
        assert!(error.ends_with("expected a finite number"), "{error}");
        assert!(matches!(one(bad, &[(0, 1.0)]), Err(ModelError::CostNotFinite { .. })));
    }
}

#[test]
fn next_states_are_checked() {
    assert!(matches!(
        one(0.0, &[(0, 0.5), (1, 0.5)]),
        Err(ModelError::NextOutOfRange { next: 1, states: 1, .. })
    ));
    assert!(matches!(
        one(0.0, &[(usize::MAX, 1.0)]),
        Err(ModelError::NextOutOfRange { next: usize::MAX, .. })
    ));
}

#[test]
fn transition_costs_are_checked() {
    let mut b = ModelBuilder::new(0.5);
    b.add_state(None);
    b.add_action(None, 0.0);
    b.add_transition(0, 1.0, f64::NAN);
    assert!(matches!(b.error(), Some(ModelError::TransitionCostNotFinite { next: 0, .. })));
}

#[test]
fn states_need_actions_or_a_terminal_mark() {
    assert_eq!(ModelBuilder::new(0.9).build(), Err(ModelError::Empty));
    let none = ModelBuilder::new(0.9).state("x").build();
    assert_eq!(none, Err(ModelError::NoActions { state: label("x") }));
    let both = ModelBuilder::new(0.9).terminal("x").action("a", 0.0, &[(0, 1.0)]).build();
    assert_eq!(both, Err(ModelError::TerminalWithActions { state: label("x") }));
    let end = ModelBuilder::new(0.9).terminal("x").build().unwrap();
    assert!(end.is_terminal(0) && end.rows() == 0);
    let early = ModelBuilder::new(0.9).action("a", 0.0, &[(0, 1.0)]).build();
    assert_eq!(early, Err(ModelError::ActionBeforeState));
    let mut b = ModelBuilder::new(0.9);
    b.add_state(None);
    b.add_transition(0, 1.0, 0.0);
    assert_eq!(b.build(), Err(ModelError::TransitionBeforeAction { state: 0.into() }));
}

#[test]
fn discount_and_initial_are_checked() {
    let with = |discount, initial| {
        ModelBuilder::new(discount)
            .initial(initial)
            .state("s")
            .action("a", 0.0, &[(0, 1.0)])
            .build()
    };
    for value in [1.0, -0.1, f64::INFINITY] {
        assert_eq!(with(value, vec![1.0]), Err(ModelError::Discount { value }));
    }
    assert!(matches!(with(f64::NAN, vec![1.0]), Err(ModelError::Discount { .. })));
    assert!(with(0.0, vec![1.0]).is_ok());
    assert_eq!(with(0.5, vec![]), Err(ModelError::InitialLength { length: 0, states: 1 }));
    assert_eq!(with(0.5, vec![0.5]), Err(ModelError::InitialSum { sum: 0.5 }));
    let negative = with(0.5, vec![-1.0]).unwrap_err();
    assert_eq!(negative, ModelError::InitialProbability { state: label("s"), value: -1.0 });
    assert_eq!(with(0.5, vec![1.0 + 1e-10]).unwrap().initial(), Some(&[1.0][..]));
    let missing = ModelBuilder::undiscounted().state("s").action("a", 0.0, &[(0, 1.0)]).build();
    assert_eq!(missing, Err(ModelError::MissingDiscount));
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
