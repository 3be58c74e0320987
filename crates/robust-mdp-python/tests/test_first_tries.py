"""What somebody new to the package tries first: it works, or the message says what to do."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import scipy.sparse as sp

import robust_mdp as rm

S, A = 4, 3


@pytest.fixture
def kernel():
    return np.random.default_rng(1).dirichlet(np.ones(S), size=(S, A))


@pytest.fixture
def rewards():
    return np.random.default_rng(2).random((S, A))


# Tables


COLUMNS = {
    "state": ["b", "a", "b", "a", "a", "b"],
    "action": ["y", "x", "x", "z", "y", "x"],
    "next": ["c", "a", "b", "b", "a", "a"],
    "probability": [1.0, 1.0, 0.5, 1.0, 1.0, 0.5],
    "reward": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
}
WITH_C = {name: [*column, last] for (name, column), last in zip(COLUMNS.items(), "cxb", strict=False)}
WITH_C |= {"probability": [*COLUMNS["probability"], 1.0], "reward": [*COLUMNS["reward"], 6.0]}
FRAMES = [pd.DataFrame, polars.DataFrame, pyarrow.table]


@pytest.mark.parametrize("frame", FRAMES)
def test_labels_are_numbered_as_they_appear(frame):
    """States in the whole table; actions within their state, whatever other states call theirs."""
    model = rm.Model.from_dataframe(frame(WITH_C), discount=0.5)
    assert model.state_names == ["b", "a", "c"]
    # By the whole table a's actions would be y, x, z.
    assert model.action_names == [["y", "x"], ["x", "z", "y"], ["x"]]
    assert model.expected_costs().tolist() == [0.0, 3.5, 1.0, 3.0, 4.0, 6.0]
    assert model.action_ids.tolist() == [0, 1, 0, 1, 2, 0]
    assert rm.Policy(model, {"b": "x", "a": "y", "c": "x"}).greedy().tolist() == [1, 2, 0]


@pytest.mark.parametrize("frame", FRAMES)
def test_numbers_of_actions_are_kept(frame):
    columns = {**WITH_C, "action": [7, 2, 0, 9, 5, 0, 3]}
    model = rm.Model.from_dataframe(frame(columns), discount=0.5)
    assert model.action_ids.tolist() == [0, 7, 2, 5, 9, 3]
    assert model.action_names == [["0", "7"], ["2", "5", "9"], ["3"]]
    assert model.expected_costs().tolist() == [3.5, 0.0, 1.0, 4.0, 3.0, 6.0]


def test_mixed_labels():
    mixed = {**WITH_C, "action": [1, "x", "10", 2.5, ("y",), "10", None]}
    frame = pd.DataFrame({**mixed, "action": pd.Series(mixed["action"], dtype=object)})
    with pytest.raises(ValueError, match="line 6: nothing in column “action”"):
        rm.Model.from_dataframe(frame, discount=0.5)
    frame.loc[6, "action"] = "last"
    model = rm.Model.from_dataframe(frame, discount=0.5)
    assert model.action_names == [["1", "10"], ["x", "2.5", "('y',)"], ["last"]]
    frame.loc[2, "action"] = "1"
    with pytest.raises(ValueError, match="column action: the labels 1 and '1' have the same name"):
        rm.Model.from_dataframe(frame, discount=0.5)


def test_arrow_tables_with_other_types():
    table = pyarrow.table(WITH_C)
    expected = rm.Model.from_dataframe(pd.DataFrame(WITH_C), discount=0.5)
    categories = table.set_column(0, "state", table["state"].dictionary_encode())
    parts = pyarrow.concat_tables([table.slice(0, 3), table.slice(3)])
    for one in (table, categories, parts):
        model = rm.Model.from_dataframe(one, discount=0.5)
        assert model.fingerprint == expected.fingerprint and model.state_names == expected.state_names
    whole = pyarrow.table({"state": pyarrow.array([0, 1], "int32"), "action": [0, 0], "next": [1, 0],
                           "probability": pyarrow.array([1.0, 1.0], "float32"), "cost": [1, 2]})  # fmt: skip
    assert rm.Model.from_dataframe(whole, discount=0.5).n_states == 2
    empty = table.set_column(0, "state", pyarrow.array([*WITH_C["state"][:6], None]))
    with pytest.raises(ValueError, match="line 6: nothing in column “state”"):
        rm.Model.from_dataframe(empty, discount=0.5)
    with pytest.raises(TypeError, match="or a Table of PyArrow, not a RecordBatch"):
        rm.Model.from_dataframe(table.to_batches()[0], discount=0.5)
    with pytest.raises(TypeError, match="frame.collect()"):
        rm.Model.from_dataframe(polars.DataFrame(WITH_C).lazy(), discount=0.5)


def test_columns_that_are_there_twice():
    frame = pd.DataFrame(WITH_C)
    frame = pd.concat([frame, frame["next"]], axis=1)
    with pytest.raises(ValueError, match="2 columns “next”, expected one"):
        rm.Model.from_dataframe(frame, discount=0.5)


# States that count from 1


@pytest.mark.parametrize("frame", FRAMES)
def test_states_that_count_from_one_in_tables(frame):
    columns = {"state": [1, 1, 2], "action": [1, 1, 1], "next": [1, 2, 1],
               "probability": [0.5, 0.5, 1.0], "cost": [0.0, 0.0, 1.0]}  # fmt: skip
    with pytest.raises(ValueError, match="smallest state is 1, but states count from 0: subtract 1"):
        rm.Model.from_dataframe(frame(columns), discount=0.5)
    # Both ways out that the message names.
    labels = rm.Model.from_dataframe(
        frame({**columns, "state": ["1", "1", "2"], "next": ["1", "2", "1"]}), discount=0.5
    )
    numbers = rm.Model.from_dataframe(
        frame({**columns, "state": [0, 0, 1], "next": [0, 1, 0]}), discount=0.5
    )
    assert labels.fingerprint == numbers.fingerprint and labels.state_names == ["1", "2"]


def test_states_that_count_from_one_elsewhere(kernel, rewards):
    s, a = np.argwhere(np.ones((S, A))).T
    with pytest.raises(ValueError, match="states count from 0, and s_indices seem to count from 1"):
        rm.Model.from_arrays(
            R=rewards.ravel(), Q=kernel.reshape(-1, S), s_indices=s + 1, a_indices=a, beta=0.9
        )
    table = {1: {0: [(1.0, 2, 0.0, False)]}, 2: {0: [(1.0, 1, 0.0, False)]}}
    with pytest.raises(ValueError, match="states count from 0, and these seem to count from 1"):
        rm.Model.from_gymnasium(table, discount=0.9)


# QuantEcon


class DiscreteDP(SimpleNamespace):
    """What is documented of QuantEcon's class of this name."""


def product(R, Q, beta):
    return DiscreteDP(R=R, Q=Q, beta=beta, s_indices=None, a_indices=None)


def pairs(R, Q, beta, sparse=False):
    s, a = np.nonzero(np.isfinite(R))
    rows = sp.csr_matrix(Q[s, a]) if sparse else Q[s, a]
    return DiscreteDP(R=R[s, a], Q=rows, beta=beta, s_indices=s, a_indices=a)


def test_quantecon_objects(kernel, rewards):
    rewards[1, 0] = rewards[3, 2] = -np.inf
    model = rm.Model.from_quantecon(product(rewards, kernel, 0.9), state_names=list("abcd"))
    assert model.discount == 0.9 and model.objective == "max-reward" and model.state_names == list("abcd")
    assert model.action_names == [["0", "1", "2"], ["1", "2"], ["0", "1", "2"], ["0", "1"]]
    for other in (pairs(rewards, kernel, 0.9), pairs(rewards, kernel, 0.9, sparse=True)):
        assert rm.Model.from_quantecon(other).fingerprint == model.fingerprint
    values = np.zeros(S)
    for _ in range(400):
        values = (rewards + 0.9 * kernel @ values).max(axis=1)
    assert np.allclose(rm.solve(model, rm.Nominal(), gap=1e-10).values, values, atol=1e-9)
    with pytest.raises(TypeError, match="a DiscreteDP is taken in by Model.from_quantecon"):
        rm.Model.from_arrays(product(rewards, kernel, 0.9))
    with pytest.raises(TypeError, match="a dict has no R and no Q and no beta"):
        rm.Model.from_quantecon({})


def test_quantecon_itself(kernel, rewards):
    markov = pytest.importorskip("quantecon.markov", reason="QuantEcon is not installed here")
    rewards[1, 0] = -np.inf
    ddp = markov.DiscreteDP(rewards, kernel, 0.9)
    for one in (ddp, ddp.to_sa_pair_form(sparse=True), ddp.to_sa_pair_form(sparse=False)):
        sol = rm.solve(rm.Model.from_quantecon(one), rm.Nominal(), gap=1e-10)
        assert np.allclose(sol.values, ddp.solve(method="policy_iteration").v, atol=1e-9)


def test_beta_is_a_discount_factor(kernel, rewards):
    expected = rm.Model.from_arrays(kernel, rewards, discount=0.9)
    assert rm.Model.from_arrays(kernel, rewards, beta=0.9).fingerprint == expected.fingerprint
    rows = sp.csr_array(kernel.reshape(-1, S))
    assert rm.Model.from_scipy(rows, rewards, beta=0.9).discount == 0.9
    with pytest.raises(TypeError, match="beta and discount are the same thing"):
        rm.Model.from_scipy(rows, rewards, beta=0.9, discount=0.9)


# Counts


def test_counts_are_told_from_probabilities(rewards):
    counts = np.random.default_rng(3).integers(0, 9, (S, A, S)) + np.eye(S, dtype=int)[:, None, :]
    P = counts / counts.sum(axis=-1, keepdims=True)
    recipe = r"look like counts: P / P.sum\(axis=-1, keepdims=True\) divides every row by its sum"
    for form in (counts, counts.astype(float), counts.transpose(1, 0, 2)):
        with pytest.raises(rm.ModelError, match=f"state 0, action 0: .*{recipe}") as caught:
            rm.Model.from_arrays(form, rewards)
        assert (caught.value.state, caught.value.action) == (0, 0)
    with pytest.raises(rm.ModelError, match=recipe.replace("P", "Q")):
        rm.Model.from_arrays(R=rewards, Q=counts, beta=0.9)
    with pytest.raises(rm.ModelError, match="look like counts: divide every row by its sum"):
        rm.Model.from_scipy([sp.csr_array(counts[:, a]) for a in range(A)], rewards)
    with pytest.raises(rm.ModelError, match="look like counts: divide the prob"):
        rm.Model.from_gymnasium({0: {0: [(3, 0, 0.0, False), (2, 0, 1.0, False)]}})
    # Probabilities that miss something are no counts.
    with pytest.raises(rm.ModelError, match="within 1e-9$"):
        rm.Model.from_arrays(P * 0.9, rewards)
    with pytest.raises(rm.ModelError, match="within 1e-9$"):
        rm.Model.from_arrays(P * 1.1, rewards)


def test_the_recipe_for_tables_of_counts():
    frame = pd.DataFrame({"from": [0, 0, 1], "do": ["x", "x", "x"], "next": [0, 1, 0],
                          "n": [3, 1, 2], "cost": [0.0, 0.0, 1.0]})  # fmt: skip
    names = {"state": "from", "action": "do", "probability": "n", "discount": 0.9}
    with pytest.raises(rm.ModelError, match="look like counts: with pandas") as caught:
        rm.Model.from_dataframe(frame, **names)
    recipe = str(caught.value).split("with pandas, ")[1].split(" divides every")[0]
    frame["n"] = eval(recipe, {"frame": frame})
    assert rm.Model.from_dataframe(frame, **names).kernel().row(0, 0)[1].tolist() == [0.75, 0.25]
