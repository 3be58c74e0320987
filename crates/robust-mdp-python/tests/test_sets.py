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
    if name in {name for name, *_, needs in _native.sets() if needs == "ground"}:
        more = {"positions": np.arange(float(states)), **more}
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
