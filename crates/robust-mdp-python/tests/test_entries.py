"""What sets are told of next states: weights and distances, by order and by label."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robust_mdp as rm

NAMES = ["a", "b", "c", "d"]
RANDOM = np.random.default_rng(3)
DENSE = RANDOM.dirichlet(np.ones(4), size=(4, 2))
REWARD = RANDOM.random((4, 2))
W = np.array([1.0, 2.0, 0.5, 3.0])
WEIGHTED = [rm.L1, rm.L2, rm.Linf]


def named(P=DENSE):
    return rm.Model.from_arrays(P, R=REWARD, discount=0.9, state_names=NAMES)


def sparse():
    """Two next states of eight for each of two actions."""
    P = np.zeros((8, 2, 8))
    for s in range(8):
        for a in range(2):
            P[s, a, [(s + a + 1) % 8, (s + 4) % 8]] = [0.3, 0.7]
    model = rm.Model.from_arrays(P, R=np.arange(16.0).reshape(8, 2), discount=0.9)
    assert not model.is_dense
    return model


def values(model, set):
    return rm.solve(model, set, gap=1e-9).values


@pytest.mark.parametrize("kind", WEIGHTED)
def test_weights_of_states_and_of_transitions_are_the_same(kind):
    pd = pytest.importorskip("pandas")
    model = named()
    of_states = values(model, kind(0.1, entry_weights=W))
    assert not np.allclose(of_states, values(model, kind(0.1)))
    table = np.broadcast_to(W, (4, 2, 4))
    by_name = dict(zip(reversed(NAMES), reversed(W), strict=True))
    for given in (table, table.reshape(8, 4), by_name, pd.Series(by_name)):
        made = kind(0.1, entry_weights=given)
        assert np.array_equal(values(model, made), of_states)
        assert pickle.loads(pickle.dumps(made)) == made != kind(0.1)
    # All are listed, in the order of the kernel.
    assert model.kernel().data.size == 32
    assert np.array_equal(values(model, kind(0.1, entry_weights=table.ravel())), of_states)


@pytest.mark.parametrize("kind", WEIGHTED)
def test_weights_of_transitions_of_sparse_models(kind):
    model = sparse()
    kernel = model.kernel()
    w = np.linspace(0.5, 2.0, 8)
    closed = {"support": "nominal"}
    of_states = values(model, kind(0.1, entry_weights=w, **closed))
    assert np.array_equal(of_states, values(model, kind(0.1, entry_weights=w[kernel.indices], **closed)))
    table = np.broadcast_to(w, (8, 2, 8))
    assert np.array_equal(of_states, values(model, kind(0.1, entry_weights=table, **closed)))
    with pytest.raises(ValueError, match='not listed, expected weights of states or support="nominal"'):
        rm.solve(model, kind(0.1, entry_weights=w[kernel.indices]))


def test_transitions_of_dense_models_are_those_of_the_kernel():
    P = DENSE.copy()
    P[:, :, 0] = 0.0
    P /= P.sum(axis=2, keepdims=True)
    model = named(P)
    listed = model.kernel().indices
    assert model.is_dense and listed.size == 24
    closed = {"support": "nominal"}
    of_states = values(model, rm.L1(0.1, entry_weights=W, **closed))
    assert np.array_equal(of_states, values(model, rm.L1(0.1, entry_weights=W[listed], **closed)))
    with pytest.raises(ValueError, match="says nothing of other next states"):
        rm.solve(model, rm.L1(0.1, entry_weights=W[listed]))


def test_as_many_transitions_as_states():
    P = np.array([[[0.0, 1.0]], [[1.0, 0.0]]])
    model = rm.Model.from_arrays(P, R=[1.0, 2.0], convention="SAS", discount=0.9)
    assert rm.solve(model, rm.L1(0.1, entry_weights=[2.0, 2.0])).status == "certified"
    with pytest.raises(ValueError, match="one a next state or one a transition"):
        rm.solve(model, rm.L1(0.1, entry_weights=[1.0, 2.0]))


def test_wrong_weights_of_next_states():
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="entry_weights .* expected finite numbers above 0"):
            rm.Linf(0.1, entry_weights=[1.0, wrong])
    for kind in (rm.KL, rm.TotalVariation, rm.Ellipsoid):
        with pytest.raises(TypeError, match="entry_weights"):
            kind(0.1, entry_weights=W)
    for wrong, what in [
        (2.0, r"shape \(\), expected \(4,\), one a next state, \(32,\), one a transition"),
        (np.ones(5), r"shape \(5,\), expected"),
        ({"a": 1.0}, "nothing for state “b”, “c”, “d”"),
        ({"nobody": 1.0}, "no state “nobody”"),
    ]:
        with pytest.raises(ValueError, match=what):
            rm.solve(named(), rm.L1(0.1, entry_weights=wrong))


X = np.array([0.0, 3.0, 1.0, 4.5])
DISTANCES = np.abs(X[:, None] - X)


def test_places_and_distances_are_the_same():
    pd = pytest.importorskip("pandas")
    model = named()
    line = values(model, rm.Wasserstein(0.2, positions=X))
    assert not np.allclose(line, values(model, rm.Wasserstein(0.2, positions=2.0 * X)))
    turned = [3, 1, 0, 2]
    names = [NAMES[k] for k in turned]
    by_name = dict(zip(names, X[turned], strict=True))
    frame = pd.DataFrame(DISTANCES[np.ix_(turned, turned)], index=names, columns=names)
    nested = {a: {b: frame.loc[a, b] for b in names if a != b} for a in names}
    for given in (
        {"positions": by_name},
        {"positions": pd.Series(by_name)},
        {"distances": DISTANCES},
        {"distances": frame},
        {"distances": nested},
    ):
        made = rm.Wasserstein(0.2, **given)
        assert np.allclose(values(model, made), line, atol=1e-8)
        assert pickle.loads(pickle.dumps(made)) == made != rm.Wasserstein(0.2, positions=2.0 * X)


def test_distances_lead_from_rows_to_columns():
    """Moving to the dear state is cheap, moving back is not."""
    P = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    model = rm.Model.from_arrays(P, cost=[0.0, 1.0], convention="SAS", discount=0.0, state_names=["a", "b"])
    for cheap in ([[0.0, 1.0], [9.0, 0.0]], {"a": {"b": 1.0}, "b": {"a": 9.0}}):
        kernel = rm.solve(
            model.with_discount(0.5), rm.Wasserstein(0.25, rectangular="sa", distances=cheap)
        ).worst_kernel()
        assert kernel.to_array()[:, 0] == pytest.approx(np.array([[0.75, 0.25], [0.0, 1.0]]), abs=1e-6)


def test_wrong_places_and_distances():
    with pytest.raises(TypeError, match="either positions .* or distances"):
        rm.Wasserstein(0.1)
    with pytest.raises(TypeError, match="either positions .* or distances"):
        rm.Wasserstein(0.1, positions=X, distances=DISTANCES)
    with pytest.raises(ValueError, match="positions .* expected finite numbers"):
        rm.Wasserstein(0.1, positions=[0.0, np.nan])
    with pytest.raises(ValueError, match="(?s)distances .* at least 0"):
        rm.Wasserstein(0.1, distances=-DISTANCES)
    free = DISTANCES.copy()
    free[1, 2] = 0.0
    for given, what in [
        ({"positions": X[:3]}, r"positions has shape \(3,\), expected \(4,\), one a state"),
        ({"positions": np.zeros(4)}, "at the same place"),
        ({"positions": {"a": 1.0}}, "nothing for state"),
        ({"distances": DISTANCES[:3]}, r"shape \(3, 4\), expected \(4, 4\)"),
        ({"distances": free}, "distance from state 1 to state 2 is 0"),
        ({"distances": {"a": {"b": 1.0}}}, "nothing from state “a” to state “c”"),
        ({"distances": {"a": 1.0}}, "expected labels of two states"),
    ]:
        with pytest.raises(ValueError, match=what):
            rm.solve(named(), rm.Wasserstein(0.1, **given))


def test_levels():
    assert rm.CVaR.at_level(0.5) == rm.CVaR(1.0)
    assert rm.CVaR.at_level(0.0) == rm.CVaR(0.0)
    model = named()
    levels = {name: 0.5 for name in NAMES}
    assert np.array_equal(values(model, rm.CVaR.at_level(levels)), values(model, rm.CVaR(1.0)))
    table = np.full((4, 2), 0.5)
    assert np.array_equal(values(model, rm.CVaR.at_level(table)), values(model, rm.CVaR(1.0)))
    for wrong in (1.0, -0.1, np.nan, [0.5, 1.5]):
        with pytest.raises(ValueError, match="from 0 to below 1"):
            rm.CVaR.at_level(wrong)


def test_calibration_refuses_what_samples_do_not_say():
    model = rm.instances.machine(4)
    for kind in (rm.Wasserstein, rm.Intervals, rm.KLWithinIntervals):
        with pytest.raises(ValueError, match="samples say nothing of what"):
            rm.instances.calibrate(model, kind)
    assert rm.instances.calibrate(model, rm.Linf).max() > 0.0
