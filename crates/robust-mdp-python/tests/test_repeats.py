"""Next states that a row lists several times: once where they cost the same, apart where they do not.

Nature may move mass from the cheap one to the expensive one. Averaged into one transition, she may not, and
the worst case is too good.
"""

from __future__ import annotations

import pickle

import gymnasium
import numpy as np
import pandas as pd
import polars
import pytest

import robust_mdp as rm
from robust_mdp._transfer import transfer

P = {0: {0: [(0.25, 0, 1.0, False), (0.25, 0, 3.0, False), (0.5, 1, 0.0, False)]},
     1: {0: [(1.0, 0, 0.0, False)]}}  # fmt: skip
UP, START = 0, 36


def frame(kind):
    columns = {
        "state": [0, 0, 0, 1],
        "action": [0, 0, 0, 0],
        "next": [0, 0, 1, 0],
        "probability": [0.25, 0.25, 0.5, 1.0],
        "reward": [1.0, 3.0, 0.0, 0.0],
    }
    return rm.Model.from_dataframe(kind(columns), discount=0.5)


def split(P):
    """The same model in which every next state has one cost: where a row lists it at a second one, it leads
    to a copy of that state instead."""
    copies: dict[tuple[int, int], int] = {}
    made = {s: {a: [] for a in actions} for s, actions in P.items()}
    for s, actions in P.items():
        for a, outcomes in actions.items():
            seen: dict[tuple[int, bool], list[float]] = {}
            for p, to, reward, ended in outcomes:
                rewards = seen.setdefault((to, ended), [])
                rewards += [] if reward in rewards else [reward]
                k = rewards.index(reward)
                target = to if k == 0 else copies.setdefault((to, k), len(P) + len(copies))
                made[s][a].append((p, target, reward, ended))
    for (to, _), copy in copies.items():
        made[copy] = made[to]
    return made


def test_what_costs_the_same_is_one_transition():
    twice = {0: {0: [(0.25, 0, 1.0, False), (0.5, 1, 0.0, False), (0.25, 0, 1.0, False)]}, 1: P[1]}
    model = rm.Model.from_gymnasium(twice, discount=0.5)
    to, p = model.kernel().row(0, 0)
    assert to.tolist() == [0, 1] and p.tolist() == [0.5, 0.5]


def test_expectations_do_not_depend_on_it():
    for model in (rm.Model.from_gymnasium(P, discount=0.5), frame(pd.DataFrame)):
        assert model.expected_costs().tolist() == [1.0, 0.0]  # ¼·1 + ¼·3
        assert model.kernel().to_array()[0, 0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "make", [lambda: rm.Model.from_gymnasium(P, discount=0.5), lambda: frame(pd.DataFrame),
             lambda: frame(polars.DataFrame)], ids=["gymnasium", "pandas", "polars"],
)  # fmt: skip
def test_what_costs_something_else_is_kept_apart(make):
    model = make()
    to, p = model.kernel().row(0, 0)
    assert to.tolist() == [0, 0, 1] and p.tolist() == [0.25, 0.25, 0.5]
    assert model.to_dataframe()["reward"].tolist() == [1.0, 3.0, 0.0, 0.0]
    assert pickle.loads(pickle.dumps(model)).fingerprint == model.fingerprint
    assert rm.Model.from_dataframe(model.to_dataframe(), discount=0.5).fingerprint == model.fingerprint


def test_the_worst_case_of_slippery_cliffs():
    """Up from the cliff's edge one may slip into the next field or off the cliff, both to the start."""
    env = gymnasium.make("CliffWalking-v1", is_slippery=True).unwrapped
    model = rm.Model.from_gymnasium(env, discount=0.95)
    copies = rm.Model.from_gymnasium(split(env.P), discount=0.95)
    assert copies.n_states == model.n_states + 1
    worst, expected = (
        rm.evaluate(m, np.full(m.n_states, UP), rm.KL(0.2), gap=1e-8).worst.values[:48]
        for m in (model, copies)
    )
    assert np.allclose(worst, expected, atol=1e-6)
    assert worst[START] == pytest.approx(-452.532, abs=1e-3)  # merged it would be −414.483


@pytest.mark.parametrize("rectangular", ["s", "sa"])
def test_robust_values_of_repeated_transitions(rectangular):
    # Sets within the nominal support do not tell a state from its copy.
    model = rm.Model.from_gymnasium(P, discount=0.9)
    copies = rm.Model.from_gymnasium(split(P), discount=0.9)
    for set in (rm.KL(0.1, rectangular=rectangular),
                rm.Ellipsoid(0.02, rectangular=rectangular, support="nominal")):  # fmt: skip
        ours, theirs = (rm.solve(m, set, gap=1e-9) for m in (model, copies))
        assert np.allclose(ours.values, theirs.values[:2], atol=1e-8)
        assert ours.verify().gap < 1e-7
        # The worst kernel knows the copies apart, and what is simulated under it costs what it should.
        worst = model.with_kernel(ours.worst_kernel())
        value = rm.evaluate(worst, ours.policy, rm.Nominal(), gap=1e-9).nominal.values
        assert np.allclose(value, ours.values, atol=1e-6)


def test_kernels_without_the_copies_are_told():
    model = rm.Model.from_gymnasium(P, discount=0.5)
    with pytest.warns(rm.ModelWarning, match="1 transitions of the kernel lead where the model has several"):
        moved = model.with_kernel(np.array([[[0.8, 0.2]], [[1.0, 0.0]]]))
    assert moved.kernel().row(0, 0)[1].tolist() == [0.4, 0.4, 0.2]


# Rows of one state: next states 0, 1 and twice 2, at costs 1, 2, 3 and 4.
OWN = (np.array([0, 4]), np.array([0, 1, 2, 2]), np.array([0.25, 0.25, 0.125, 0.375]))
COSTS = np.array([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("kernel", "expected", "divided"),
    [
        # As often as the model: in its order, also where the row has another one.
        (([0, 1, 2, 2], [0.1, 0.2, 0.3, 0.4]), ([0, 1, 2, 2], [0.1, 0.2, 0.3, 0.4], [1, 2, 3, 4]), 0),
        (([2, 1, 2], [0.3, 0.6, 0.1]), ([2, 1, 2], [0.3, 0.6, 0.1], [3, 2, 4]), 0),
        # Once: divided as 1 to 3.
        (([0, 2], [0.2, 0.8]), ([0, 2, 2], [0.2, 0.2, 0.6], [1, 3, 4]), 1),
        (([2, 2, 2], [0.4, 0.4, 0.2]), ([2] * 6, [0.1, 0.3, 0.1, 0.3, 0.05, 0.15], [3, 4] * 3), 3),
        # Several times what has one cost; and what the model does not have.
        (([1, 1], [0.5, 0.5]), ([1, 1], [0.5, 0.5], [2, 2]), 0),
        (([3], [1.0]), ([3], [1.0], [0]), 0),
    ],
)
def test_costs_on_another_kernel(kernel, expected, divided):
    to, p = map(np.array, kernel)
    (indptr, indices, data), costs, count = transfer(4, OWN, COSTS, (np.array([0, len(to)]), to, p))
    assert indptr.tolist() == [0, len(indices)] and count == divided
    assert indices.tolist() == expected[0] and costs.tolist() == expected[2]
    assert data.tolist() == pytest.approx(expected[1])


def test_costs_where_the_model_has_no_probability():
    own = (OWN[0], OWN[1], np.array([1.0, 0.0, 0.0, 0.0]))
    (_, to, p), costs, count = transfer(4, own, COSTS, (np.array([0, 1]), np.array([2]), np.array([1.0])))
    assert (to.tolist(), p.tolist(), costs.tolist(), count) == ([2, 2], [0.5, 0.5], [3.0, 4.0], 1)


def test_arrays_add_up_what_leads_to_one_state():
    kernel = rm.Kernel(np.array([0, 1, 1, 1]), *OWN)
    assert kernel.to_array()[0, 0].tolist() == [0.25, 0.25, 0.5]
