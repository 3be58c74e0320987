"""Sets: those of the library, and the weights of a shared budget."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import robust_mdp as rm
from robust_mdp import _native

PAGE = Path(__file__).parents[3] / "docs" / "python" / "sets.md"


def classes():
    found = [getattr(rm, name) for name in rm.sets.__all__]
    return {kind._about.name: kind for kind in found if kind is not rm.UncertaintySet}


def make(name, radius, states, **more):
    """A set of this name, with what it must be told."""
    needs = {name: needs for name, *_, needs in _native.sets()}[name]
    if needs == "ground":
        more = {"positions": np.arange(float(states)), **more}
    if needs == "kernels":
        even = np.full((states, states // 2, states), 1.0 / states)
        turned = np.roll(np.eye(states), 1, axis=1)[:, None, :]
        more = {"kernels": [even, np.broadcast_to(turned, even.shape)], **more}
    return classes()[name](radius, **more)


def within_intervals(model):
    """The same model with room around its probabilities."""
    frame = model.to_dataframe()
    frame["lower"], frame["upper"] = 0.5 * frame["probability"], (1.5 * frame["probability"]).clip(upper=1.0)
    return rm.Model.from_dataframe(frame, lower="lower", upper="upper", discount=model.discount)


def test_every_set_of_the_library_is_a_class():
    assert set(classes()) == {name for name, *_ in _native.sets()} | {"none"}
    model = within_intervals(rm.instances.garnet(4, 2, seed=1))
    for name, _, formula, leaves, adds_up, _ in _native.sets():
        made = make(name, 0.1, 4)
        assert hasattr(made, "support") == leaves, name
        assert formula
        assert pickle.loads(pickle.dumps(made)) == made
        assert made.with_radius(0.2) == make(name, 0.2, 4) != made
        assert made.largest_useful_radius(model) > 0.0
        by_state = rm.solve(model, made.with_radius([0.1, 0.1, 0.1, 0.1]))
        assert by_state.status == "certified"
        assert np.array_equal(by_state.lower, rm.solve(model, made).lower), name
        if not adds_up:
            with pytest.raises(ValueError, match="cannot share the budget"):
                make(name, 0.1, 4, rectangular="s")


@pytest.mark.skipif(not PAGE.exists(), reason="the tests were copied without the book")
def test_the_book_has_every_set():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`rm.{kind.__name__}(" in text for kind in classes().values())


def test_a_set_of_one_line_has_a_documentation():
    class Other(rm.UncertaintySet, name="kl"): ...

    assert "Σ KL(y‖y⁰) ≤ radius" in (Other.__doc__ or "")
    for name in ("ellipsoid", "linf", "wasserstein"):
        with pytest.raises(TypeError, match="exactly if"):

            class Wrong(rm.UncertaintySet, name=name): ...

    with pytest.raises(TypeError, match="cannot be shared"):

        class Shared(rm.UncertaintySet, name="cvar"): ...


def test_weights_scale_the_budget():
    model = within_intervals(rm.instances.garnet(6, 3, seed=1))
    twice = np.full((6, 3), 2.0)
    for name, *_, adds_up, _ in _native.sets():
        if not adds_up:
            with pytest.raises(ValueError, match="share"):
                make(name, 0.2, 6, weights=twice)
            continue
        shared = {"rectangular": "s"}
        plain = rm.solve(model, make(name, 0.1, 6, **shared), gap=1e-8)
        for weights in (twice, twice.ravel(), {(s, a): 2.0 for s in range(6) for a in range(3)}):
            made = make(name, 0.2, 6, weights=weights, **shared)
            weighted = rm.solve(model, made, gap=1e-8)
            assert np.allclose(weighted.values, plain.values, atol=1e-7), name
        unweighted = make(name, 0.2, 6, **shared)
        assert pickle.loads(pickle.dumps(made)) == made != unweighted
        useful = made.largest_useful_radius(model)
        assert useful == pytest.approx(2.0 * unweighted.largest_useful_radius(model))
    assert repr(rm.KL(0.2, weights=twice)) == (
        "KL(radius=0.2, rectangular='s', weights=<18 from 2 to 2>)"
    )


def test_scenarios_are_models_or_arrays():
    model = rm.instances.garnet(6, 3, seed=1)
    others = [rm.instances.garnet(6, 3, branching=1.0, seed=seed) for seed in (2, 3)]
    made = rm.Scenarios(kernels=others)
    assert repr(made) == "Scenarios(radius=1.0, rectangular='sa', kernels=<2>)"
    robust = rm.solve(model, made)
    assert abs(robust.value.lower - rm.solve(model, rm.Nominal()).value.upper) > 1e-3
    tables = [other.kernel().to_array() for other in others]
    same = rm.Scenarios(kernels=tables)
    assert np.array_equal(rm.solve(model, same).lower, robust.lower)
    assert pickle.loads(pickle.dumps(same)) == same != made.with_radius(0.5) != rm.Scenarios(kernels=tables[:1])
    robust.verify()
    with pytest.raises(ValueError, match="none given"):
        rm.Scenarios()
    with pytest.raises(ValueError, match="scenario 1: 5 states, expected 6"):
        rm.solve(model, rm.Scenarios(kernels=[rm.instances.garnet(5, 3)]))
    with pytest.raises(ValueError, match=r"kernel 2 has shape \(6, 3\)"):
        rm.solve(model, rm.Scenarios(kernels=[tables[0], np.ones((6, 3))]))
    with pytest.raises(ValueError, match="scenario 1, state 0, action 0: probabilities sum to"):
        rm.solve(model, rm.Scenarios(kernels=[np.full((6, 3, 6), 1.0 / 3.0)]))
    # A sparse model has no room for what it does not list.
    sparse = rm.instances.garnet(20, 2, branching=0.1, seed=1)
    assert not sparse.is_dense
    listed = sparse.kernel()
    assert rm.solve(sparse, rm.Scenarios(kernels=[listed.data, sparse])).status == "certified"
    with pytest.raises(ValueError, match="which the model does not list there"):
        rm.solve(sparse, rm.Scenarios(kernels=[np.full((20, 2, 20), 0.05)]))
    with pytest.raises(ValueError, match="the model does not list it there"):
        rm.solve(sparse, rm.Scenarios(kernels=[rm.instances.garnet(20, 2, branching=1.0)]))


def test_wrong_weights():
    model = rm.instances.garnet(6, 3, seed=1)
    for weights, what in [
        (np.zeros(18), "above 0"),
        (np.full(18, np.inf), "above 0"),
        (np.full(18, -1.0), "above 0"),
    ]:
        with pytest.raises(ValueError, match=what):
            rm.KL(0.1, weights=weights)
    with pytest.raises(ValueError, match="share"):
        rm.KL(0.1, rectangular="sa", weights=np.ones(18))
    with pytest.raises(ValueError, match="has no weights"):
        rm.Nominal(weights=np.ones(18))
    for weights, what in [
        (2.0, "weights has shape"),
        (np.ones(6), "weights has shape"),
        ({0: 1.0}, "expected labels of states and actions"),
        ({(0, 0): 1.0}, "nothing for"),
    ]:
        with pytest.raises(ValueError, match=what):
            rm.solve(model, rm.KL(0.1, weights=weights))
