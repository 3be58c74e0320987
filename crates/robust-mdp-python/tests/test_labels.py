"""Labelled input is looked up by its labels, or refused; never read by position."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

import robust_mdp as rm

STATES, ACTIONS = ["good", "worn", "bad"], ["run", "fix"]
RADIUS = {"good": 0.0, "worn": 0.5, "bad": 0.1}
P = np.array([
    [[0.6, 0.3, 0.1], [0.9, 0.1, 0.0]],
    [[0.0, 0.5, 0.5], [0.7, 0.2, 0.1]],
    [[0.0, 0.1, 0.9], [0.4, 0.3, 0.3]],
])  # fmt: skip
COST = np.array([[0.0, 1.0], [2.0, 3.0], [9.0, 5.0]])


@pytest.fixture(scope="module")
def model():
    return rm.Model.from_arrays(P, cost=COST, discount=0.9, state_names=STATES, action_names=ACTIONS)


@pytest.fixture(scope="module")
def numbered():
    """The same without names."""
    return rm.Model.from_arrays(P, cost=COST, discount=0.9)


def values(model, set, **more):
    return rm.solve(model, set, gap=1e-9, **more).values


def shuffled(series):
    return series.iloc[[2, 0, 1]]


# Radii


def test_radii_of_states(model, numbered):
    expected = values(model, rm.KL(list(RADIUS.values())))
    named = pd.Series(RADIUS)
    whole = pd.Series(list(RADIUS.values()))  # labelled 0, 1, 2 by pandas
    lines = pd.DataFrame({"radius": [0.1, 0.0, 0.5], "state": ["bad", "good", "worn"]})
    for one in (named, shuffled(named), dict(reversed(RADIUS.items())), named.sort_index(), lines):
        assert np.array_equal(values(model, rm.KL(one)), expected)
    for one in (whole, shuffled(whole), {2: 0.1, 0: 0.0, 1: 0.5}, {"1": 0.5, "0": 0.0, "2": 0.1}):
        assert np.array_equal(values(numbered, rm.KL(one)), expected)
    for one in (whole, shuffled(whole), {0: 0.0, "worn": 0.5, np.int64(2): 0.1}):
        assert np.array_equal(values(model, rm.KL(one)), expected)
    no_labels = polars.Series(list(RADIUS.values()))
    assert np.array_equal(values(model, rm.KL(no_labels)), expected)
    categories = pd.Series([0.1, 0.0, 0.5], index=pd.CategoricalIndex(["bad", "good", "worn"]))
    assert np.array_equal(values(model, rm.KL(categories)), expected)


def test_a_guarantee_does_not_depend_on_the_order_of_a_series(model):
    """Sorted by name, as groupby leaves it, this was a guarantee of another set."""
    sol = rm.solve(model, rm.KL(pd.Series(RADIUS).sort_index()), gap=1e-9)
    by_position = rm.solve(model, rm.KL([0.1, 0.0, 0.5]), gap=1e-9)
    worst = rm.evaluate(model, sol.policy, rm.KL(list(RADIUS.values())), gap=1e-9).worst
    assert sol.guarantee == pytest.approx(worst.value.mid, abs=1e-7)
    assert abs(by_position.guarantee - worst.value.mid) > 0.1


def test_radii_of_states_and_actions(model):
    table = np.array([[0.0, 0.3], [0.5, 0.1], [0.2, 0.4]])
    expected = values(model, rm.KL(table, rectangular="sa"))
    frame = pd.DataFrame(table, index=STATES, columns=ACTIONS)
    pairs = frame.stack()
    swapped = pairs.swaplevel()
    swapped.index.names = ["action", "state"]
    nested = {s: {a: frame.loc[s, a] for a in reversed(ACTIONS)} for s in reversed(STATES)}
    forms = (
        frame, frame.loc[["bad", "good", "worn"], ["fix", "run"]], pairs, pairs.iloc[::-1], swapped,
        pairs.to_dict(), nested, pd.DataFrame(table),
        pairs.rename_axis(["state", "action"]).rename("radius").reset_index().iloc[::-1],
        frame.rename_axis(index="state", columns="action").T,
    )  # fmt: skip
    for form in forms:
        assert np.array_equal(values(model, rm.KL(form, rectangular="sa")), expected)
    each = rm.KL(RADIUS, rectangular="sa")
    assert np.array_equal(values(model, each), values(model, rm.KL([0.0, 0.5, 0.1], rectangular="sa")))
    with pytest.raises(ValueError, match="expected one a state: the set is s-rectangular"):
        rm.solve(model, rm.KL(frame))


@pytest.mark.parametrize(
    ("radius", "words"),
    [
        ({"good": 0.1, "worn": 0.1}, "radius: nothing for state “bad”"),
        ({**RADIUS, "broken": 0.1}, "radius: no state “broken”; expected “good”, “worn”, “bad”"),
        (pd.Series([0.1] * 4, index=["good", "worn", "bad", "worn"]), "radius: state “worn” is there twice"),
        ({0: 0.1, "good": 0.1, 1: 0.1, 2: 0.1}, "state “good” is there twice"),
        (pd.Series([0.1, 0.1, 0.1], index=[1, 2, 3]), "radius: no state 3"),
        (pd.Series([0.1, 0.1, 0.1], index=[0.0, 1.0, 2.0]), "radius: no state 0.0"),
        ({("good", "run"): 0.1}, "radius: nothing for .“good”, “fix”., .“worn”, “run”"),
        ({("good", "wait"): 0.1}, "radius: state “good” has no action “wait”"),
        ({("fine", "run"): 0.1}, "radius: no state “fine”"),
        (pd.DataFrame(0.1, STATES, ["run", "wait"]), "state “good” has no action “wait”"),
        (pd.DataFrame(0.1, STATES, ["run"]), "nothing for .“good”, “fix”"),
        ({}, "nothing for state “good”, “worn”, “bad”"),
    ],
)
def test_labels_that_do_not_fit_are_named(model, radius, words):
    set = rm.KL(radius, rectangular="sa")
    for ask in (
        lambda: rm.solve(model, set),
        lambda: rm.evaluate(model, [0, 0, 0], set),
        lambda: set.largest_useful_radius(model),
    ):
        with pytest.raises(ValueError, match=words):
            ask()


def test_names_that_look_like_other_numbers_are_not_guessed():
    model = rm.Model.from_arrays(P, cost=COST, discount=0.9, state_names=["2", "1", "0"])
    with pytest.raises(ValueError, match="state 0 may be a name or a number, of any of 0, 2"):
        rm.solve(model, rm.KL(pd.Series([0.1, 0.2, 0.3])))
    strings = rm.KL(pd.Series([0.1, 0.2, 0.3], index=["0", "1", "2"]))
    assert np.array_equal(values(model, strings), values(model, rm.KL([0.3, 0.2, 0.1])))
    twins = rm.Model.from_arrays(P, cost=COST, discount=0.9, state_names=["a", "a", "b"])
    with pytest.raises(ValueError, match="state “a” may be"):
        rm.solve(twins, rm.KL({"a": 0.1, "b": 0.1}))


@pytest.mark.parametrize(
    ("radius", "error"),
    [
        (polars.DataFrame({"run": [0.1], "fix": [0.1]}), TypeError),
        (pd.Series(["a", "b"]), TypeError),
        (pd.Series([0.1, np.nan, 0.1], index=STATES), ValueError),
        ({"good": -0.1}, ValueError),
        ({"good": {"run": 0.1}, "worn": 0.1}, TypeError),
        ([pd.Series([0.1, 0.2]), pd.Series([0.1, 0.2])], TypeError),
    ],
)
def test_labels_that_are_refused_at_once(radius, error):
    with pytest.raises(error, match="radius"):
        rm.KL(radius)


def test_labelled_sets_are_values(model):
    given = pd.Series(RADIUS)
    set = rm.KL(given)
    given["worn"] = 7.0  # the set has its own
    assert set == rm.KL(RADIUS) != rm.KL({**RADIUS, "worn": 0.4})
    assert set != rm.KL(list(RADIUS.values())) and len({set, rm.KL(RADIUS)}) == 1
    assert repr(set) == "KL(radius=<3 radii by label up to 0.5>, rectangular='s')"
    sol = pickle.loads(pickle.dumps(rm.solve(model, set)))
    assert sol.set == set and sol.verify().gap < 1e-5
    assert sol.worst_kernel().data.sum() == pytest.approx(6.0)
    with pytest.raises(ValueError, match="has no radius"):
        rm.Nominal(RADIUS)


def test_terminal_states_need_no_labels():
    P = {0: {0: [(0.5, 0, 1.0, False), (0.5, 1, 7.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    model = rm.Model.from_gymnasium(P, discount=0.5)
    expected = values(model, rm.KL(0.1))
    for radius in ({0: 0.1}, {0: 0.1, 1: 9.0}):
        assert np.array_equal(values(model, rm.KL(radius)), expected)
    assert np.array_equal(values(model, rm.KL(0.1), start={0: 3.0}), values(model, rm.KL(0.1), start=[3, 0]))
    assert rm.Policy(model, {0: 0}).is_deterministic


# Policies


def test_policies_by_label(model):
    expected = np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 1.0]])
    frame = pd.DataFrame(expected, STATES, ACTIONS)
    pairs = frame.stack()
    forms = (
        frame, frame.iloc[::-1, ::-1], pairs.sample(frac=1, random_state=1), pairs.to_dict(),
        {"bad": {"fix": 1.0}, "worn": {"run": 0.25, "fix": 0.75}, "good": {"run": 1.0}},
        {key: value for key, value in pairs.items() if value},
        rm.Policy(model, expected).to_dataframe().set_index(["state", "action"])["probability"],
        rm.Policy(model, expected).to_dataframe().iloc[::-1],
        frame.where(frame != 0.0),  # nothing is no probability
    )  # fmt: skip
    for form in forms:
        assert np.array_equal(np.asarray(rm.Policy(model, form)), expected)
        worst = rm.evaluate(model, form, rm.KL(0.1)).worst
        assert np.array_equal(worst.lower, rm.evaluate(model, expected, rm.KL(0.1)).worst.lower)


def test_one_action_a_state_by_label(model):
    expected = [0, 1, 1]
    series = pd.Series(["run", "fix", "fix"], index=STATES)
    forms = (
        series, shuffled(series), series.to_dict(), {"bad": 1, "good": 0, "worn": "fix"},
        pd.Series(expected), shuffled(pd.Series(expected)), ["run", "fix", "fix"],
        polars.Series(expected), polars.Series(["run", "fix", "fix"]),
    )  # fmt: skip
    for form in forms:
        assert rm.Policy(model, form).greedy().tolist() == expected
        assert rm.simulate(model, form, episodes=3, seed=1).returns.shape == (3,)


@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        ({"good": "run", "worn": "run"}, ValueError, "policy: nothing for state “bad”"),
        ({"good": "run", "worn": "run", "bad": "wait"}, ValueError, "state “bad” has no action “wait”"),
        ({"good": "run", "worn": "run", "bad": 2}, ValueError, "state “bad” has no action 2"),
        (pd.Series([0.5, 0.5, 0.5], STATES), TypeError, "0.5 in state “good”, expected an action"),
        (pd.Series([0, 1, 1], ["good", "good", "bad"]), ValueError, "state “good” is there twice"),
        ({("good", "run"): 1.0, ("worn", "run"): 1.0}, ValueError, "state 2: the policy is not"),
        (pd.DataFrame(0.5, STATES, ["run", "stay"]), ValueError, "no action “stay”"),
        (["run", "fix", "stay"], ValueError, "no action “stay”"),
        (polars.DataFrame({"run": [1.0] * 3, "fix": [0.0] * 3}), TypeError, "policy: a DataFrame has labels"),
    ],
)
def test_policies_that_do_not_fit(model, policy, error, words):
    for ask in (
        lambda: rm.Policy(model, policy),
        lambda: rm.evaluate(model, policy, rm.KL(0.1)),
        lambda: rm.simulate(model, policy),
    ):
        with pytest.raises(error, match=words):
            ask()


def test_columns_called_policy_are_no_policies(model):
    table = pd.DataFrame({"policy": [1.0, 1.0, 1.0], "run": [0.0, 0.0, 0.0]}, STATES)
    with pytest.raises(ValueError, match="no action “policy”"):
        rm.evaluate(model, table, rm.KL(0.1))


def test_tables_have_cells_for_actions_that_a_state_lacks():
    table = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 1.0, False)], 3: [(1.0, 1, 5.0, False)]}}
    model = rm.Model.from_gymnasium(table, discount=0.9)
    frame = pd.DataFrame([[1.0, 0.0], [0.5, 0.5]], columns=[0, 3])
    assert rm.Policy(model, frame).probabilities.tolist() == [1.0, 0.5, 0.5]
    with pytest.raises(ValueError, match="state 0 has no action 3, expected 0 there"):
        rm.Policy(model, pd.DataFrame([[0.5, 0.5], [0.5, 0.5]], columns=[0, 3]))
    everywhere = rm.Ellipsoid(pd.DataFrame(0.1, [0, 1], [0, 3]), rectangular="sa")
    assert np.array_equal(values(model, everywhere), values(model, rm.Ellipsoid(0.1, rectangular="sa")))


# Starting values and states, initial distributions


def test_starting_values_by_label(model):
    exact = rm.solve(model, rm.KL(0.1), gap=1e-9)
    table = exact.to_dataframe()
    named = table.set_index("name")["value"]
    for start in (named, shuffled(named), named.to_dict(), table["value"], shuffled(table["value"])):
        assert rm.solve(model, rm.KL(0.1), start=start).work["sweeps"] == 1
    with pytest.raises(ValueError, match="start: nothing for state “worn”"):
        rm.solve(model, rm.KL(0.1), start={"good": 1.0, "bad": 1.0})
    with pytest.raises(TypeError, match="start: a DataFrame has|start: labels|one number a state"):
        rm.solve(model, rm.KL(0.1), start=polars.DataFrame({"value": [1.0, 2.0, 3.0]}))
    with pytest.raises(ValueError, match="start: .* one number a state"):
        rm.solve(model, rm.KL(0.1), start=table[["value"]])


def test_first_states_by_name_and_episode(model):
    def first(start, episodes):
        run = rm.simulate(model, ["run"] * 3, start=start, episodes=episodes, steps=1, seed=0)
        return run.returns.tolist()

    assert first("bad", 2) == first(2, 2) == [9.0, 9.0]
    expected = [0.0, 9.0, 2.0]
    series = pd.Series(["good", "bad", "worn"])
    for start in (series, shuffled(series), ["good", "bad", "worn"], pd.Series([0, 2, 1]), [0, 2, 1],
                  shuffled(pd.Series([0, 2, 1])), {1: "bad", 0: "good", 2: "worn"}):  # fmt: skip
        assert first(start, 3) == expected
    for wrong, words in (
        ("broken", "start: no state “broken”"),
        (pd.Series([0, 2, 1], index=[1, 2, 3]), "start: no episode 3"),
        (pd.Series([0, 2, 1], index=list("abc")), "start: no episode “a”"),
        (["good", "bad"], "one for each of 3 episodes"),
    ):
        with pytest.raises(ValueError, match=words):
            first(wrong, 3)


def test_initial_distributions_by_label(model):
    names = {"state_names": STATES, "action_names": ACTIONS, "discount": 0.9}
    expected = [0.25, 0.0, 0.75]
    # What is left out has probability 0, as counts of what was seen have it.
    for initial in ({"bad": 0.75, "good": 0.25}, pd.Series({"bad": 0.75, "worn": 0.0, "good": 0.25}),
                    shuffled(pd.Series(expected)), polars.Series(expected)):  # fmt: skip
        made = rm.Model.from_arrays(P, cost=COST, initial=initial, **names)
        assert made.initial.tolist() == expected
        matrices = [sp.csr_array(P[:, a]) for a in range(2)]
        assert rm.Model.from_scipy(matrices, cost=COST, initial=initial, **names).initial.tolist() == expected
    with pytest.raises(ValueError, match="initial: no state “broken”"):
        rm.Model.from_arrays(P, cost=COST, initial={"broken": 1.0}, **names)
    with pytest.raises(rm.ModelError, match="initial probabilities sum to 0.25"):
        rm.Model.from_arrays(P, cost=COST, initial={"good": 0.25}, **names)
    table = {0: {0: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 1.0, False)]}}
    assert rm.Model.from_gymnasium(table, initial={1: 1.0}).initial.tolist() == [0.0, 1.0]
    frame = pd.DataFrame({"state": ["b", "a"], "action": [0, 0], "next": ["a", "b"],
                          "probability": [1.0, 1.0], "cost": [1.0, 2.0]})  # fmt: skip
    by_name = rm.Model.from_dataframe(frame, initial=pd.Series({"a": 0.9, "b": 0.1}))
    assert by_name.state_names == ["b", "a"] and by_name.initial.tolist() == [0.1, 0.9]


# Arrays of models


def test_labelled_arrays_of_models(model):
    names = {"state_names": STATES, "action_names": ACTIONS, "discount": 0.9}
    order, flip = ["worn", "bad", "good"], ["fix", "run"]
    cost = pd.DataFrame(COST, STATES, ACTIONS).loc[order, flip]
    frames = {a: pd.DataFrame(P[:, k], STATES, STATES).loc[order, order] for k, a in enumerate(ACTIONS)}
    by_state = [pd.DataFrame(P[s], ACTIONS, STATES).loc[flip, order] for s in range(3)]
    moves = np.random.default_rng(0).random((2, 3, 3))
    moving = [pd.DataFrame(m, STATES, STATES).loc[order, order] for m in moves]
    cases = [
        ((P, cost), (P, COST)),
        ((P, cost.stack()), (P, COST)),
        ((P, cost.T.to_dict()), (P, COST)),
        (([frames["run"], frames["fix"]], cost), (P, COST)),
        ((dict(reversed(frames.items())), COST), (P, COST)),
        ((by_state, COST), (P, COST)),
        ((P, cost["run"]), (P, COST[:, 0])),
        ((P, cost["run"].to_dict()), (P, COST[:, 0])),
        ((P.transpose(1, 0, 2), moving), (P.transpose(1, 0, 2), moves)),
    ]
    for (kernel, amounts), (plain, numbers) in cases:
        made = rm.Model.from_arrays(kernel, cost=amounts, **names)
        assert made.fingerprint == rm.Model.from_arrays(plain, cost=numbers, **names).fingerprint
    matrices = [sp.csr_array(P[:, a]) for a in range(2)]
    for amounts, numbers in ((cost, COST), (cost["run"], COST[:, 0]), (cost["run"].to_dict(), COST[:, 0])):
        made = rm.Model.from_scipy(matrices, cost=amounts, **names)
        assert made.fingerprint == rm.Model.from_scipy(matrices, cost=numbers, **names).fingerprint
    reward = rm.Model.from_arrays(R=cost, Q=P, beta=0.9, state_names=STATES, action_names=ACTIONS)
    assert reward.fingerprint == rm.Model.from_arrays(R=COST, Q=P, beta=0.9).fingerprint
    with pytest.raises(ValueError, match="no state “worn”, “bad”, “good”; .* names need state_names="):
        rm.Model.from_arrays(P, cost=cost, discount=0.9)
    with pytest.raises(ValueError, match="cost: nothing for state “good”"):
        rm.Model.from_arrays(P, cost=cost["run"].iloc[:2], **names)
    with pytest.raises(TypeError, match="P: .*DataFrame"):
        rm.Model.from_arrays(polars.DataFrame(P[0]), cost=COST, **names)
    with pytest.raises(TypeError, match="kernel: the labels of a DataFrame"):
        model.with_kernel(pd.DataFrame(P.reshape(6, 3)))


def test_labelled_pairs_and_names():
    s, a = pd.Series([0, 0, 1, 1, 2, 2]), pd.Series([0, 1, 0, 1, 0, 1])
    reward, Q = pd.Series(COST.ravel()), P.reshape(6, 3)
    expected = rm.Model.from_arrays(R=COST, Q=P, beta=0.9).fingerprint
    mixed = [x.iloc[[5, 3, 1, 0, 2, 4]] for x in (reward, s, a)]
    for r, one, two in ((reward, s, a), mixed, (mixed[0], s, mixed[2])):
        made = rm.Model.from_arrays(R=r, Q=Q, beta=0.9, s_indices=one, a_indices=two)
        assert made.fingerprint == expected
        made = rm.Model.from_scipy(sp.csr_array(Q), r, s_indices=one, a_indices=two, beta=0.9)
        assert made.fingerprint == expected
    with pytest.raises(ValueError, match="s_indices: no row 6"):
        rm.Model.from_arrays(R=reward, Q=Q, beta=0.9, s_indices=s.set_axis(range(1, 7)), a_indices=a)
    named = rm.Model.from_arrays(P, cost=COST, state_names={2: "bad", 0: "good", 1: "worn"},
                                 action_names=pd.Series(["fix", "run"], index=[1, 0]))  # fmt: skip
    assert named.state_names == STATES and named.action_names[0] == ACTIONS


def test_radii_of_a_sweep_are_a_list(model):
    series = pd.Series([0.2, 0.1], index=[7, 3])
    assert rm.sweep_radius(model, rm.KL(RADIUS), series).radii.tolist() == [0.2, 0.1]
    for wrong in ({0.1: 1, 0.2: 2}, pd.DataFrame({0.1: [1.0]})):
        with pytest.raises(TypeError, match="radii: expected several numbers"):
            rm.sweep_radius(model, rm.KL(0.1), wrong)
