"""Seeded model generators; the same settings give the same model on every machine."""

from __future__ import annotations

from typing import Literal

from . import _checks, _native
from ._arrays import FloatArray, frozen
from ._checks import count, number
from .model import Model
from .sets import Ellipsoid, UncertaintySet

__all__ = ["calibrate", "garnet", "healthcare", "machine"]


def garnet(
    states: int = 50,
    actions: int = 10,
    branching: float = 0.5,
    *,
    costs: Literal["iid", "state-driven"] = "iid",
    band: int | None = None,
    discount: float = 0.8,
    seed: int = 0,
) -> Model:
    """A random model whose rows reach a share `branching` of the states.

    Parameters
    ----------
    band : int, optional
        Next states lie within ± this of the state.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.instances.garnet(states=20, actions=3, branching=0.2)
    Model(states=20, pairs=60, transitions=240, min-cost, discount=0.8)
    """
    sizes = (count("states", states), count("actions", actions), number("branching", branching))
    widths = None if band is None else count("band", band)
    native = _native.garnet(
        *sizes, costs, widths, _checks.discount(discount), _checks.seed(seed)
    )
    return Model._of(native)


def healthcare(states: int = 50, *, discount: float = 0.8) -> Model:
    """How strongly to treat a patient whose health drifts: three drug levels.

    >>> import robust_mdp as rm
    >>> rm.instances.healthcare(6).action_names[0]
    ['low', 'medium', 'high']
    """
    return Model._of(_native.healthcare(count("states", states), _checks.discount(discount)))


def machine(states: int = 10, *, discount: float = 0.8) -> Model:
    """Machine replacement (Delage and Mannor, 2010).

    >>> import robust_mdp as rm
    >>> rm.instances.machine(10).state_names[-2:]
    ['R1', 'R2']
    """
    return Model._of(_native.machine(count("states", states), _checks.discount(discount)))


def calibrate(
    model: Model,
    set: type[UncertaintySet] | UncertaintySet = Ellipsoid,
    *,
    samples: int = 60,
    quantile: float = 1.0,
    mixing: float = 0.05,
    branching: float = 0.2,
    seed: int = 0,
) -> FloatArray:
    """One radius a state, from sampled kernels (1−mixing)·y⁰ + mixing·(random rows).

    Parameters
    ----------
    set : class of sets or set
        The kind of set that the radii are for.
    quantile : float
        Share of the samples that a radius covers.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(10)
    >>> radii = rm.instances.calibrate(model, rm.Ellipsoid)
    >>> bool(0.0 < radii.max() < 0.01)
    True
    """
    model = _checks.model(model)
    kind = set if isinstance(set, type) else type(set)
    if not issubclass(kind, UncertaintySet) or kind._about.name == "none":
        raise TypeError(f"set: expected a set such as KL, not {set!r}")
    radii = _native.calibrate(
        model._native,
        kind._about.name,
        count("samples", samples),
        number("quantile", quantile),
        number("mixing", mixing),
        number("branching", branching),
        _checks.seed(seed),
    )
    return frozen(radii)
