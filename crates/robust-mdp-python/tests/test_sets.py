"""Sets: those of the library, and the weights of a shared budget."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robust_mdp as rm
from robust_mdp import _native


def classes():
    found = [getattr(rm, name) for name in rm.sets.__all__]
    return {kind._distance: kind for kind in found if kind is not rm.UncertaintySet}


def test_every_set_of_the_library_is_a_class():
    assert set(classes()) == {name for name, *_ in _native.sets()} | {"none"}
    for name, _, formula, leaves in _native.sets():
        made = classes()[name](0.1)
        assert hasattr(made, "support") == leaves, name
        assert formula
        assert pickle.loads(pickle.dumps(made)) == made
        assert made.with_radius(0.2) == classes()[name](0.2)
        assert made.largest_useful_radius(rm.instances.machine(4)) > 0.0


def test_a_set_of_one_line_has_a_documentation():
    class Other(rm.UncertaintySet, name="kl"): ...

    assert "Σ KL(y‖y⁰) ≤ radius" in (Other.__doc__ or "")
    with pytest.raises(TypeError, match="exactly if"):

        class Wrong(rm.UncertaintySet, name="ellipsoid"): ...


def test_weights_scale_the_budget():
    model = rm.instances.garnet(6, 3, seed=1)
    twice = np.full((6, 3), 2.0)
    for kind in (kind for name, kind in classes().items() if name != "none"):
        plain = rm.solve(model, kind(0.1), gap=1e-8)
        for weights in (twice, twice.ravel(), {(s, a): 2.0 for s in range(6) for a in range(3)}):
            made = kind(0.2, weights=weights)
            weighted = rm.solve(model, made, gap=1e-8)
            assert np.allclose(weighted.values, plain.values, atol=1e-7), kind
        assert pickle.loads(pickle.dumps(made)) == made != kind(0.2)
        useful = made.largest_useful_radius(model)
        assert useful == pytest.approx(2.0 * kind(0.2).largest_useful_radius(model))
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
