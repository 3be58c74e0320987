"""Where models come from, and what is said when they are wrong."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

import robust_mdp as rm

S, A = 4, 3


@pytest.fixture
def kernel():
    """P[S, A, S], with zeros."""
    rng = np.random.default_rng(1)
    P = rng.random((S, A, S)) * (rng.random((S, A, S)) < 0.7)
    P[:, :, 0] += 0.1
    return P / P.sum(axis=2, keepdims=True)


@pytest.fixture
def rewards():
    return np.random.default_rng(2).random((S, A))


def same(*models):
    """Whether all models are the same to the solver."""
    return len({model.fingerprint for model in models}) == 1


def test_conventions_agree(kernel, rewards):
    by_action = kernel.transpose(1, 0, 2).copy()
    pairs = np.argwhere(np.ones((S, A)))
    order = np.random.default_rng(3).permutation(len(pairs))
    s, a = pairs[order].T
    base = rm.Model.from_arrays(kernel, rewards, discount=0.9)
    assert base.objective == "max-reward" and base.n_actions.tolist() == [A] * S
    assert np.allclose(base.kernel().to_array(), kernel, atol=1e-15)
    assert np.array_equal(base.expected_costs().reshape(S, A), rewards)
    assert same(
        base,
        rm.Model.from_arrays(by_action, rewards, discount=0.9),
        rm.Model.from_arrays(by_action.tolist(), rewards.tolist(), discount=0.9),
        rm.Model.from_arrays(R=rewards, Q=kernel, beta=0.9),
        rm.Model.from_arrays(
            R=rewards[s, a], Q=kernel[s, a], beta=0.9, s_indices=s, a_indices=a
        ),
        rm.Model.from_scipy([sp.csr_array(P) for P in by_action], rewards, discount=0.9),
        rm.Model.from_scipy([sp.csc_matrix(P) for P in by_action], rewards, discount=0.9),
        rm.Model.from_scipy(sp.csr_array(kernel.reshape(-1, S)), rewards, discount=0.9),
        rm.Model.from_scipy(
            sp.coo_array(kernel[s, a]), rewards[s, a], s_indices=s, a_indices=a, discount=0.9
        ),
        rm.Model.from_arrays(
            np.asfortranarray(kernel), rewards, state_names=list("abcd"), discount=0.9
        ),
    )


def test_rewards_of_states_and_of_transitions(kernel):
    by_action = kernel.transpose(1, 0, 2)
    states = np.arange(float(S))
    assert same(
        rm.Model.from_arrays(kernel, states, discount=0.9),
        rm.Model.from_arrays(kernel, np.repeat(states[:, None], A, 1), discount=0.9),
        rm.Model.from_arrays(by_action, np.broadcast_to(states[:, None], (A, S, S)), discount=0.9),
    )
    R = np.random.default_rng(4).random((S, A, S))
    moves = rm.Model.from_arrays(kernel, R, discount=0.9)
    assert same(moves, rm.Model.from_arrays(by_action, R.transpose(1, 0, 2), discount=0.9))
    assert np.allclose(moves.expected_costs().reshape(S, A), (kernel * R).sum(axis=2))
    sparse = [sp.csr_array(P) for P in by_action]
    given = [sp.csr_array(r) for r in R.transpose(1, 0, 2)]
    for form in (given, R.transpose(1, 0, 2)):
        with pytest.warns(rm.ModelWarning, match="R: 12 numbers belong to transitions that P does not list"):
            model = rm.Model.from_scipy(sparse, form, discount=0.9)
        sols = [rm.solve(m, rm.KL(0.1), gap=1e-9).values for m in (moves, model)]
        assert np.allclose(*sols, atol=1e-8)


def test_costs_are_minimised(kernel, rewards):
    model = rm.Model.from_arrays(kernel, cost=rewards, discount=0.9)
    assert model.objective == "min-cost"
    cost, reward = (
        rm.solve(m, rm.KL(0.1), gap=1e-9)
        for m in (model, rm.Model.from_arrays(kernel, -rewards, discount=0.9))
    )
    assert np.allclose(cost.values, -reward.values, atol=1e-8)
    assert cost.guarantee == pytest.approx(-reward.guarantee, abs=1e-8)


def test_infeasible_actions(kernel, rewards):
    rewards[1, 0] = -np.inf
    kernel[1, 0] = 0.0  # nobody fills these rows in
    model = rm.Model.from_arrays(R=rewards, Q=kernel, beta=0.9)
    assert model.n_actions.tolist() == [3, 2, 3, 3]
    assert model.action_ids.tolist()[3:5] == [1, 2]
    sol = rm.solve(model, rm.Nominal())
    assert sol.policy.sample(1) in (1, 2) and np.asarray(sol.policy)[1, 0] == 0.0
    by_action = kernel.transpose(1, 0, 2)
    s, a = np.argwhere(np.ones((S, A))).T
    moves = np.where(np.isfinite(rewards)[:, :, None], kernel, -np.inf)
    others = [
        rm.Model.from_arrays(kernel, rewards, discount=0.9),
        rm.Model.from_arrays(by_action, rewards, discount=0.9),
        rm.Model.from_arrays(R=rewards[s, a], Q=kernel[s, a], s_indices=s, a_indices=a, beta=0.9),
        rm.Model.from_scipy([sp.csr_array(P) for P in by_action], rewards, discount=0.9),
        rm.Model.from_scipy(sp.csr_array(kernel.reshape(-1, S)), rewards, discount=0.9),
    ]
    assert same(model, *others)
    assert all(np.array_equal(other.action_ids, model.action_ids) for other in others)
    costs = rm.Model.from_arrays(kernel, cost=-rewards, discount=0.9)
    assert np.array_equal(costs.action_ids, model.action_ids)
    on_moves = rm.Model.from_arrays(kernel, moves, discount=0.9)
    assert np.array_equal(on_moves.action_ids, model.action_ids)
    assert np.allclose(on_moves.expected_costs(), (kernel**2).sum(axis=2)[np.isfinite(rewards)])
    # Infinitely good is no way to say that an action is not there, nor are some of its transitions.
    with pytest.raises(rm.ModelError, match="state 1, action 0"):
        rm.Model.from_arrays(kernel, -rewards, discount=0.9)
    moves[2, 1, 0] = -np.inf
    with pytest.raises(rm.ModelError, match="state 2, action 1"):
        rm.Model.from_arrays(kernel, moves, discount=0.9)
    rewards[3] = -np.inf
    with pytest.raises(rm.ModelError, match="state 3 has no actions"):
        rm.Model.from_arrays(kernel, rewards, discount=0.9)


def test_axes_are_not_guessed():
    P = np.full((3, 3, 3), 1 / 3)
    R = np.zeros((3, 3))
    with pytest.raises(ValueError, match='convention="ASS"'):
        rm.Model.from_arrays(P, R, discount=0.9)
    P[0, 1] = [1.0, 0.0, 0.0]
    for convention, (s, a) in {"ASS": (1, 0), "SAS": (0, 1)}.items():
        model = rm.Model.from_arrays(P, R, convention=convention, discount=0.9)
        assert model.kernel().row(s, a)[1].tolist() == [1.0]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"P": np.ones((2, 3, 4)), "R": np.zeros(3)}, ValueError, "expected .A, S, S. or .S, A, S"),
        ({"P": np.ones((3, 3)), "R": np.zeros(3)}, ValueError, "3 dimension"),
        ({"P": np.full((2, 3, 3), 1 / 3)}, TypeError, "either R"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(2)}, ValueError, "R has shape"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros((2, 3))}, ValueError, "R has shape"),
        (
            {"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "beta": 0.9, "discount": 0.9},
            TypeError,
            "beta and discount are the same thing",
        ),
        ({"P": [sp.eye_array(3)], "R": np.zeros(3)}, TypeError, "from_scipy"),
        ({"P": np.full((2, 3, 3), "x"), "R": np.zeros(3)}, TypeError, "real numbers"),
        ({"P": np.full((2, 3, 3), 1j), "R": np.zeros(3)}, TypeError, "not complex128"),
        ({"P": [[[1.0], [0.5, 0.5]]], "R": np.zeros(3)}, TypeError, "real numbers"),
        ({"R": np.zeros(3)}, TypeError, "either P"),
        ({"Q": np.full((3, 3, 3), 1 / 3), "R": np.zeros((3, 2))}, ValueError, "expected .S, A, S"),
        ({"P": np.zeros((0, 3, 3)), "R": np.zeros(3)}, ValueError, "at least one state"),
        ({"P": np.zeros((0, 0, 0)), "R": np.zeros(0)}, ValueError, "at least one state"),
        ({"Q": np.zeros((3, 0, 3)), "R": np.zeros((3, 0))}, ValueError, "at least one state"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "discount": "0.9"}, TypeError, "discount"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "discount": [0.9]}, TypeError, "discount"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "state_names": "abc"}, TypeError, "names"),
        (
            {"P": np.full((2, 3, 3), 1 / 3, dtype=np.float32), "R": np.zeros(3)},
            ValueError,
            "state 0, action 0: .*single precision: convert them to float64",
        ),
        (
            {"P": np.ma.masked_less(np.full((2, 3, 3), 1 / 3), 0.5), "R": np.zeros(3)},
            TypeError,
            "masked",
        ),
        ({"P": np.full((2, 3, 3), np.nan), "R": np.zeros(3)}, ValueError, "state 0, action 0"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "discount": 1.5}, ValueError, "discount"),
        ({"P": np.full((2, 3, 3), 0.3), "R": np.zeros(3)}, ValueError, "state 0, action 0: prob"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "initial": [1.0]}, ValueError, "initial"),
        ({"P": np.full((2, 3, 3), 1 / 3), "R": np.zeros(3), "state_names": ["a"]}, ValueError, "3"),
    ],
)
def test_wrong_arrays(arguments, error, words):
    with pytest.raises(error, match=words):
        rm.Model.from_arrays(**arguments)


def test_errors_know_the_place(kernel, rewards):
    kernel[2, 1] *= 0.5
    with pytest.raises(rm.ModelError, match="state 2, action 1") as info:
        rm.Model.from_arrays(kernel, rewards, discount=0.9)
    assert (info.value.state, info.value.action) == (2, 1)
    matrices = [sp.csr_array(P) for P in kernel.transpose(1, 0, 2)]
    with pytest.raises(rm.ModelError, match="state 2, action 1"):
        rm.Model.from_scipy(matrices, rewards, discount=0.9)
    names = {"state_names": ["a", "b", "c", "d"], "action_names": ["x", "y", "z"]}
    with pytest.raises(rm.ModelError, match="state 2 .“c”., action 1 .“y”."):
        rm.Model.from_arrays(kernel, rewards, discount=0.9, **names)


def test_matrices_in_a_vector_of_objects(kernel, rewards):
    """pymdptoolbox takes one matrix an action in an array of objects, dense or sparse."""
    expected = rm.Model.from_arrays(kernel, rewards, discount=0.9)
    dense, sparse = np.empty(A, dtype=object), np.empty(A, dtype=object)
    for a in range(A):
        dense[a], sparse[a] = kernel[:, a], sp.csr_matrix(kernel[:, a])
    assert same(rm.Model.from_arrays(dense, rewards, discount=0.9), expected)
    with pytest.raises(TypeError, match="P is sparse: use Model.from_scipy"):
        rm.Model.from_arrays(sparse, rewards, discount=0.9)
    model = rm.Model.from_scipy(sparse, sp.csr_matrix(rewards), discount=0.9)
    assert np.array_equal(model.kernel().to_array(), kernel)
    assert np.array_equal(model.expected_costs(), rewards.ravel())


def test_layouts_of_arrays_do_not_matter(kernel, rewards):
    expected = rm.Model.from_arrays(kernel, rewards, discount=0.9)
    frozen = kernel.copy()
    frozen.flags.writeable = False
    twice = np.repeat(kernel, 2, axis=0)[::2]
    for form in (np.asfortranarray(kernel), frozen, twice, kernel.tolist(), list(kernel)):
        assert same(rm.Model.from_arrays(form, rewards, discount=0.9), expected)
    whole = np.stack([np.eye(S)] * 2)
    for kind in (np.int8, np.uint64, bool, np.longdouble):
        model = rm.Model.from_arrays(whole.astype(kind), np.arange(S), discount=0.9)
        assert same(model, rm.Model.from_arrays(whole, np.arange(S), discount=0.9))


def test_layouts_of_sparse_matrices_do_not_matter(kernel, rewards):
    matrices = [sp.csr_array(P) for P in kernel.transpose(1, 0, 2)]
    expected = rm.Model.from_scipy(matrices, rewards, discount=0.9)
    for form in ("coo", "csc", "lil", "dok", "bsr", "dia"):
        given = [matrix.asformat(form) for matrix in matrices]
        assert same(rm.Model.from_scipy(given, rewards, discount=0.9), expected)
    for kind in (np.int32, np.int64):
        given = [
            sp.csr_array((m.data, m.indices.astype(kind), m.indptr.astype(kind)), shape=m.shape)
            for m in matrices
        ]
        assert same(rm.Model.from_scipy(given, rewards, discount=0.9), expected)
    # Twice the same place, out of order, and with a zero.
    entries = np.array([0.25, 0.5, 0.0, 0.25, 1.0, 1.0]), np.array([2, 0, 1, 2, 1, 2])
    untidy = sp.csr_array((*entries, np.array([0, 4, 5, 6])), shape=(3, 3))
    tidy = sp.csr_array(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    models = [rm.Model.from_scipy([m], R=np.arange(3), discount=0.9) for m in (untidy, tidy)]
    assert same(*models) and untidy.nnz == 6
    for wrong in (3, -1):
        bad = tidy.copy()
        bad.indices = bad.indices.copy()
        bad.indices[0] = wrong
        with pytest.raises(rm.ModelError, match=f"next state {wrong} does not exist"):
            rm.Model.from_scipy([bad], R=np.arange(3), discount=0.9)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"state": [0, None, 1, 1]}, ValueError, "line 1: nothing in column “state”"),
        ({"next": ["0", "1", "0", "1"]}, TypeError, "numbers in both or labels in both"),
        ({"next": [0.0, 1.0, 0.0, 1.0]}, TypeError, "whole numbers or labels, not float64"),
        ({"next": [0, 10**9, 0, 1]}, ValueError, "state 1000000000 in a table of 4 lines"),
        ({"next": [0, -1, 0, 1]}, ValueError, "line 1: state -1"),
        ({"probability": ["a"] * 4}, TypeError, "probability: expected an array of real numbers"),
        ({"probability": [0.5, 0.6, 0.5, 0.5]}, rm.ModelError, "state 0, action 0"),
    ],
)
def test_wrong_tables(frame, change, error, words):
    columns = {
        "state": [0, 0, 1, 1],
        "action": [0, 0, 0, 0],
        "next": [0, 1, 0, 1],
        "probability": [0.5, 0.5, 0.5, 0.5],
        "reward": [0.0, 1.0, 0.0, 1.0],
    }
    assert rm.Model.from_dataframe(frame(columns), discount=0.9).n_states == 2
    with pytest.raises(error, match=words):
        rm.Model.from_dataframe(frame({**columns, **change}), discount=0.9)
    for wrong in (columns, "model.csv", polars.DataFrame(columns).lazy(), None):
        with pytest.raises(TypeError, match="expected a DataFrame"):
            rm.Model.from_dataframe(wrong, discount=0.9)


def test_categories_are_labels():
    columns = {
        "state": ["low", "low", "high"],
        "action": ["go", "go", "go"],
        "next": ["low", "high", "low"],
        "probability": [0.5, 0.5, 1.0],
        "cost": [0.0, 2.0, 1.0],
    }
    table = pd.DataFrame(columns)
    table = table.astype({"state": "category", "next": "category", "action": "category"})
    other = polars.DataFrame(columns)
    other = other.with_columns(polars.col("state", "next").cast(polars.Categorical))
    for frame in (table, other):
        model = rm.Model.from_dataframe(frame, discount=0.9)
        assert model.state_names == ["low", "high"] and model.action_names == [["go"], ["go"]]


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
def test_tables(frame):
    columns = {
        "state": ["low", "low", "low", "high"],
        "action": ["wait", "wait", "work", "rest"],
        "next": ["low", "high", "high", "low"],
        "probability": [0.5, 0.5, 1.0, 1.0],
        "reward": [0.0, 2.0, 0.5, 1.0],
    }
    model = rm.Model.from_dataframe(frame(columns), discount=0.5)
    assert model.state_names == ["low", "high"]
    assert model.action_names == [["wait", "work"], ["rest"]]
    assert model.objective == "max-reward"
    assert model.expected_costs().tolist() == [1.0, 0.5, 1.0]
    columns["cost"] = columns.pop("reward")
    assert rm.Model.from_dataframe(frame(columns)).objective == "min-cost"
    with pytest.raises(ValueError, match="no column “to”"):
        rm.Model.from_dataframe(frame(columns), next="to")
    columns["reward"] = columns["cost"]
    with pytest.raises(ValueError, match="cost= or reward="):
        rm.Model.from_dataframe(frame(columns))


def test_terminal_states_of_tables_are_told():
    frame = pd.DataFrame(
        {"state": [0], "action": [0], "next": [1], "probability": [1.0], "cost": [1.0]}
    )
    with pytest.warns(rm.ModelWarning, match="terminal: 1"):
        model = rm.Model.from_dataframe(frame, discount=0.5)
    assert rm.solve(model, rm.Nominal()).values.tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("ending", ["json", "csv", "npz"])
def test_files(tmp_path, kernel, rewards, ending):
    initial = [0.5, 0.5, 0.0, 0.0]
    model = rm.Model.from_arrays(kernel, rewards, discount=0.9, initial=initial)
    path = tmp_path / f"model.{ending}"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.save(path)
    lost = [str(w.message) for w in told]
    assert len(lost) == (2 if ending == "csv" else 0), lost
    if ending == "csv":
        assert "discount factor" in lost[0] and "initial distribution" in lost[1]
    back = rm.Model.load(path)
    if ending == "csv":
        assert same(rm.Model.from_csv(path, discount=0.9), back.with_discount(0.9))
        assert back.discount is None
        back = back.with_discount(0.9)
    assert np.array_equal(back.kernel().to_array(), model.kernel().to_array())
    assert np.array_equal(back.expected_costs(), model.expected_costs())
    if ending != "csv":
        assert back.initial.tolist() == initial
        with pytest.raises(ValueError, match="no discount factor"):
            rm.Model.from_arrays(kernel, rewards).save(path)


def test_tables_and_back(kernel):
    model = rm.Model.from_arrays(kernel, kernel, discount=0.9)
    frame = model.to_dataframe()
    assert list(frame.columns) == ["state", "action", "next", "probability", "reward"]
    back = rm.Model.from_dataframe(frame, discount=0.9)
    assert np.allclose(back.kernel().to_array(), kernel, atol=1e-15)
    assert np.allclose(back.expected_costs(), model.expected_costs(), atol=1e-15)


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(FileNotFoundError):
        rm.Model.load(tmp_path / "none.json")
    with pytest.raises(ValueError, match="ending"):
        rm.Model.load(tmp_path / "none.dat")
    (tmp_path / "bad.json").write_text('{"format": "robust-mdp"')
    with pytest.raises(ValueError, match="bad.json"):
        rm.Model.load(tmp_path / "bad.json")


def test_models_go_through_pickle(kernel, rewards):
    rewards[1, 0] = -np.inf
    for model in (
        rm.Model.from_arrays(R=rewards, Q=kernel, beta=0.9, initial=[0.0, 0.0, 1.0, 0.0]),
        rm.Model.from_arrays(kernel, kernel, state_names=list("abcd")),
        rm.instances.garnet(60, 3, 0.05, seed=1),
    ):
        back = pickle.loads(pickle.dumps(model))
        assert back.discount == model.discount and back.state_names == model.state_names
        assert np.array_equal(back.action_ids, model.action_ids)
        assert same(back, model) and repr(back) == repr(model)


def test_large_sparse_matrices_stay_sparse():
    n = 5000
    rows = np.arange(n)
    up = sp.csr_array((np.ones(n), (rows, np.minimum(rows + 1, n - 1))), shape=(n, n))
    down = sp.csr_array((np.ones(n), (rows, np.maximum(rows - 1, 0))), shape=(n, n))
    model = rm.Model.from_scipy([up, down], cost=rows % 7, discount=0.9)
    assert not model.is_dense and model.n_transitions == 2 * n


def test_models_cannot_be_changed(kernel, rewards):
    model = rm.Model.from_arrays(kernel, rewards)
    with pytest.raises(AttributeError):
        model.discount = 0.5
    with pytest.raises(ValueError, match="read-only"):
        model.initial[0] = 1.0
    with pytest.raises(AttributeError):
        del model._native
    with pytest.raises(TypeError):
        rm.Model()
    kernel[:] = 0.0
    assert model.kernel().to_array().sum() == pytest.approx(S * A)


def test_notebooks_show_models(kernel, rewards):
    html = rm.Model.from_arrays(kernel, rewards)._repr_html_()
    assert "<table>" in html and "max-reward" in html


@pytest.mark.parametrize(
    "make",
    [
        lambda: rm.instances.garnet(-1),
        lambda: rm.instances.garnet(0),
        lambda: rm.instances.garnet(10, 2, 0.0),
        lambda: rm.instances.garnet(10, 2, costs="free"),
        lambda: rm.instances.garnet(10, 2, seed=-1),
        lambda: rm.instances.machine(2),
        lambda: rm.instances.healthcare(5, discount=1.5),
        lambda: rm.instances.garnet(10, 2, seed=2**64),
        lambda: rm.instances.calibrate(rm.instances.machine(5), samples=0),
    ],
)
def test_wrong_instances(make):
    with pytest.raises(ValueError, match="expected"):
        make()


def test_model_errors_know_their_place():
    with pytest.raises(rm.ModelError, match="state 1 has no actions") as caught:
        rm.Model.from_scipy(
            sp.csr_array(np.eye(2)[:1]), R=[0.0], s_indices=[0], a_indices=[0], discount=0.9
        )
    assert (caught.value.state, caught.value.action) == (1, None)
    unplaced = rm.ModelError("somewhere")
    assert (unplaced.state, unplaced.action) == (None, None)


def test_one_sparse_matrix_has_no_rewards_of_transitions():
    with pytest.raises(ValueError, match=r"R has shape \(2, 3, 3\), expected .* one matrix an action"):
        rm.Model.from_scipy(sp.csr_array(np.tile(np.eye(3), (2, 1))), np.zeros((2, 3, 3)), discount=0.9)


def test_next_states_are_whole():
    for target in (1.7, 1.0, "1", None):
        table = {0: {0: [(1.0, target, 0.0, False)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
        with pytest.raises(ValueError, match="state 0, action 0: next state .* whole number"):
            rm.Model.from_gymnasium(table, discount=0.9)


def test_environments_need_not_know_their_inside():
    class Inner:
        P = {0: {0: [(1.0, 0, 1.0, False)]}}

    class Outer(Inner):
        env = Inner()

    assert rm.Model.from_gymnasium(Outer(), discount=0.9).n_states == 1


def test_what_unlisted_next_states_cost():
    P = {0: {0: [(0.5, 0, 4.0, False), (0.5, 1, 2.0, False)]}, 1: {0: [(1.0, 1, 3.0, False)]},
         2: {0: [(1.0, 0, 0.0, False)]}}  # fmt: skip
    model = rm.Model.from_gymnasium(P, discount=0.9)
    low, high = model.unlisted_costs
    worse = model.with_unlisted_cost(-50.0)
    assert low <= high and worse.unlisted_costs == (-50.0, -50.0)
    assert worse.expected_costs().tolist() == pytest.approx(model.expected_costs().tolist())
    for set in (rm.KL(0.1), rm.Nominal()):
        ours, theirs = (rm.solve(m, set, gap=1e-8).values for m in (model, worse))
        assert np.allclose(ours, theirs, atol=1e-7)
    ours, theirs = (rm.solve(m, rm.Ellipsoid(0.1), gap=1e-8).values for m in (model, worse))
    assert np.all(theirs < ours - 1.0)
    with pytest.raises(ValueError, match="expected a finite number"):
        model.with_unlisted_cost(float("nan"))


def test_a_csv_that_changes_the_question_is_told(tmp_path):
    model = rm.Model.from_arrays(
        np.eye(3)[:, None, :], [[1.0], [2.0], [3.0]], discount=0.9
    ).with_unlisted_cost(-5.0)
    with pytest.warns(rm.ModelWarning) as told:
        model.save(tmp_path / "m.csv")
    assert any("next states that are not listed changes" in str(w.message) for w in told)
    model.save(tmp_path / "m.npz")
    assert rm.Model.load(tmp_path / "m.npz").unlisted_costs == (-5.0, -5.0)


def test_files_of_model_checkers(tmp_path):
    tra = tmp_path / "m.tra"
    tra.write_text("3 3 4\n0 0 1 0.25 go\n0 0 2 0.75 go\n1 0 1 1\n2 0 2 1\n")
    (tmp_path / "m.lab").write_text('0="init" 1="deadlock" 2="goal"\n0: 0\n1: 2\n2: 1\n')
    (tmp_path / "m.srew").write_text("3 1\n0 2\n")
    with pytest.warns(rm.ModelWarning, match="goal"):
        model = rm.Model.load(tra, discount=0.5)
    assert (model.n_states, model.n_pairs, model.objective) == (3, 2, "max-reward")
    reached = rm.Model.load(tra, discount=0.5, reach="goal")
    assert rm.solve(reached, rm.Nominal()).values[0] == pytest.approx(0.25)
    with pytest.raises(ValueError, match="no label “end” to be reached"):
        rm.Model.load(tra, reach=["goal", "end"])
    undiscounted = rm.Model.load(tra, reach="goal")
    with pytest.warns(rm.ModelWarning, match="their mean under nominal"):
        undiscounted.save(tmp_path / "m.drn.gz")
    again = rm.Model.load(tmp_path / "m.drn.gz", discount=0.5)
    assert again.n_states == 3
    with pytest.raises(ValueError, match="no discount factor"):
        undiscounted.save(tmp_path / "m.json.gz")
