"""Uncertainty sets: which kernels nature may choose around the nominal one.

The library lists the sets (``_native.sets``). A set here is a class with its name there; what it derives from says
which arguments it has, and is compared with what the library says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import FloatArray, frozen, numbers
from ._entries import of_transitions
from ._labels import Labelled, NumbersLike
from ._uncertainty_set import (
    Rectangular,
    UncertaintySet,
    WithEntryWeights,
    WithGround,
    WithSupport,
    kept_numbers,
)
from .model import Model

__all__ = [
    "KL",
    "L1",
    "L2",
    "Burg",
    "BurgWithinIntervals",
    "CVaR",
    "Chi2",
    "Chi2WithinIntervals",
    "Contamination",
    "CountWithinIntervals",
    "Ellipsoid",
    "EllipsoidWithinIntervals",
    "Hellinger",
    "HellingerWithinIntervals",
    "Intervals",
    "KLWithinIntervals",
    "L1WithinIntervals",
    "Linf",
    "Neyman",
    "NeymanWithinIntervals",
    "Nominal",
    "Scenarios",
    "TotalVariation",
    "UncertaintySet",
    "Wasserstein",
]


class Ellipsoid(WithSupport, name="ellipsoid"):
    """Kernels y with Σ ½‖y − y⁰‖² ≤ radius.

    Parameters
    ----------
    radius, rectangular, weights
        See :class:`UncertaintySet`.
    support : {"all", "nominal"}
        Whether nature may put mass on every state, or only where the nominal kernel has some.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.Ellipsoid(0.1, support="nominal")
    Ellipsoid(radius=0.1, rectangular='s', support='nominal')
    """


class KL(UncertaintySet, name="kl"):
    """Kernels y with Σ KL(y‖y⁰) ≤ radius; none of them leaves the support of the nominal kernel.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.KL(0.1)
    KL(radius=0.1, rectangular='s')
    >>> rm.KL(0.1) == rm.KL(radius=0.1)
    True
    """


class Chi2(UncertaintySet, name="chi2"):
    """Kernels y with Σ (y − y⁰)²/y⁰ ≤ radius (Pearson); none leaves the support of the nominal kernel."""


class L1(WithEntryWeights, name="l1"):
    """Kernels y with Σ w|y − y⁰| ≤ radius, on every state or on the nominal support.

    `entry_weights` are the w; without them this is the L1 norm.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.L1(0.1, entry_weights=[1.0, 1.0, 2.0])
    L1(radius=0.1, rectangular='s', support='all', entry_weights=<3 from 1 to 2>)
    """


class L2(WithEntryWeights, name="l2"):
    """Kernels y with Σ ½w(y − y⁰)² ≤ radius, on every state or on the nominal support; see :class:`L1`.

    Without `entry_weights` this is :class:`Ellipsoid`, which is faster.
    """


class Linf(WithEntryWeights, name="linf"):
    """Kernels y with Σ max w|y − y⁰| ≤ radius, on every state or on the nominal support; see :class:`L1`."""


class TotalVariation(WithSupport, name="tv"):
    """Kernels y with Σ ½‖y − y⁰‖₁ ≤ radius, on every state or on the nominal support."""


class Burg(WithSupport, name="burg"):
    """Kernels y with Σ y⁰ ln(y⁰/y) ≤ radius, on every state or on the nominal support: likelihood ratios."""


class Hellinger(WithSupport, name="hellinger"):
    """Kernels y with Σ (√y − √y⁰)² ≤ radius, on every state or on the nominal support."""


class Neyman(WithSupport, name="neyman"):
    """Kernels y with Σ (y − y⁰)²/y ≤ radius (Neyman's χ²), on every state or on the nominal support."""


class Contamination(WithSupport, name="contamination"):
    """Kernels (1 − r)·y⁰ + r·q, q any distribution, with a sum of r ≤ radius over the actions of a state.

    With probability r the nominal kernel does not hold, and anything may happen. Mass goes to every state, or
    keeps to the nominal support.
    """


@dataclass(frozen=True, eq=False, repr=False)
class CVaR(UncertaintySet, name="cvar"):
    """Kernels y ≤ (1 + radius)·y⁰, every action by itself: its worst case is a conditional value at risk.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.CVaR.at_level(0.5)  # the mean of the worse half
    CVaR(radius=1.0, rectangular='sa')
    """

    rectangular: Rectangular = "sa"

    @classmethod
    def at_level(cls, level: NumbersLike) -> CVaR:
        """The set of the mean of the worst share 1 − level, 0 ≤ level < 1, given like a radius."""
        given, levels = kept_numbers("level", level)
        if not bool(np.all((levels >= 0.0) & (levels < 1.0))):
            raise ValueError(f"level {level!r}, expected numbers from 0 to below 1")
        radius = levels / (1.0 - levels)
        if isinstance(given, Labelled):
            return cls(cast("NumbersLike", replace(given, values=tuple(radius))))
        return cls(radius)


class Wasserstein(WithGround, name="wasserstein"):
    """Kernels y with Σ W(y⁰, y) ≤ radius, W the least cost of moving y⁰ to y, on every state or on the nominal
    support.

    Parameters
    ----------
    positions : array, dictionary or Series, optional
        Places x of the states on a line: it costs |x_j − x_i| to move a unit of mass from state j to state i.
    distances : array, dictionary or DataFrame, optional
        In their place, the cost from every state (rows) to every state.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(4)
    >>> set = rm.Wasserstein(0.1, positions=[0.0, 1.0, 2.0, 3.0])
    >>> set
    Wasserstein(radius=0.1, rectangular='s', support='all', positions=<4 from 0 to 3>)
    >>> rm.solve(model, set).status
    'certified'
    """


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(UncertaintySet, name="interval"):
    """All kernels within the model's intervals, or for radii below 1 this share of the way to them from y⁰.

    The model needs intervals: ``Model.from_arrays(P, lower=…, upper=…)`` makes them, and some files have them.
    Every action has its own, unless ``rectangular="s"`` gives the actions of a state one radius to divide.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[0.8, 0.2], [0.5, 0.5]]])
    >>> model = rm.Model.from_arrays(P, cost=[0.0, 1.0], lower=P - 0.1, upper=P + 0.1, discount=0.9)
    >>> rm.Intervals()
    Intervals(radius=1.0, rectangular='sa')
    >>> rm.solve(model, rm.Intervals()).worst_kernel().to_array()[:, 0].round(6)
    array([[0.7, 0.3],
           [0.4, 0.6]])
    """

    radius: NumbersLike = 1.0
    rectangular: Rectangular = "sa"


class EllipsoidWithinIntervals(UncertaintySet, name="ellipsoid+interval"):
    """Kernels y with Σ ½‖y − y⁰‖² ≤ radius within the model's intervals, see :class:`Intervals`."""


class KLWithinIntervals(UncertaintySet, name="kl+interval"):
    """Kernels y with Σ KL(y‖y⁰) ≤ radius within the model's intervals, see :class:`Intervals`."""


class Chi2WithinIntervals(UncertaintySet, name="chi2+interval"):
    """Kernels y with Σ (y − y⁰)²/y⁰ ≤ radius within the model's intervals, see :class:`Intervals`."""


class BurgWithinIntervals(UncertaintySet, name="burg+interval"):
    """Kernels y with Σ y⁰ ln(y⁰/y) ≤ radius within the model's intervals, see :class:`Intervals`.

    Next states of nominal probability 0 may get mass where their upper bounds are above 0.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    >>> upper = np.array([[[1.0, 0.1], [0.6, 0.6]]])
    >>> model = rm.Model.from_arrays(P, cost=[0.0, 1.0], lower=0.5 * P, upper=upper, discount=0.9)
    >>> rm.solve(model, rm.BurgWithinIntervals(0.01)).worst_kernel().to_array()[0, 0].round(6)
    array([0.99005, 0.00995])
    """


class HellingerWithinIntervals(UncertaintySet, name="hellinger+interval"):
    """Kernels y with Σ (√y − √y⁰)² ≤ radius within the model's intervals, see :class:`Intervals`."""


class NeymanWithinIntervals(UncertaintySet, name="neyman+interval"):
    """Kernels y with Σ (y − y⁰)²/y ≤ radius within the model's intervals, see :class:`Intervals`."""


class L1WithinIntervals(UncertaintySet, name="l1+interval"):
    """Kernels y with Σ ‖y − y⁰‖₁ ≤ radius within the model's intervals, see :class:`Intervals`.

    A bound of every probability, and a budget of all deviations together.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[0.8, 0.2], [0.5, 0.5]]])
    >>> model = rm.Model.from_arrays(P, cost=[0.0, 1.0], lower=P - 0.1, upper=P + 0.1, discount=0.9)
    >>> rm.solve(model, rm.L1WithinIntervals(0.1)).worst_kernel().to_array()[:, 0].round(6)
    array([[0.75, 0.25],
           [0.45, 0.55]])
    """


class CountWithinIntervals(UncertaintySet, name="count+interval"):
    """Kernels of which at most `radius` probabilities are at the ends of the model's intervals.

    The budget of uncertainty of Bertsimas and Sim: a probability counts 1 at the end of its interval, and on the way
    there by the share of it, Σ (y − y⁰)₊/(u − y⁰) + (y⁰ − y)₊/(y⁰ − l) ≤ radius. What one probability gains others lose,
    so that radii below 2 leave most of them a part of the way.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[0.8, 0.2], [0.5, 0.5]]])
    >>> model = rm.Model.from_arrays(P, cost=[0.0, 1.0], lower=P - 0.1, upper=P + 0.1, discount=0.9)
    >>> rm.solve(model, rm.CountWithinIntervals(1)).worst_kernel().to_array()[:, 0].round(6)
    array([[0.75, 0.25],
           [0.45, 0.55]])
    """


@dataclass(frozen=True, eq=False, repr=False)
class Scenarios(UncertaintySet, name="scenarios"):
    """Kernels whose rows lie between the nominal ones and those of given kernels, or for radii below 1 this share of
    the way to them from y⁰.

    Every action has its own mixture, unless ``rectangular="s"`` gives the actions of a state one radius to divide:
    2 allows two of them to be in their worst scenario.

    Parameters
    ----------
    kernels : sequence of Model or array
        Models of the same states and actions, whose costs do not matter, or probabilities as an array of the shape
        of ``P[S, A, S]`` or one a transition, in the order of :meth:`Model.kernel <robust_mdp.Model.kernel>`. They
        lead where the model lists next states.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[0.8, 0.2], [0.5, 0.5]]])
    >>> model = rm.Model.from_arrays(P, cost=[0.0, 1.0], discount=0.9)
    >>> set = rm.Scenarios(kernels=[[[[0.6, 0.4]], [[0.1, 0.9]]], [[[0.9, 0.1]], [[0.3, 0.7]]]])
    >>> set
    Scenarios(radius=1.0, rectangular='sa', kernels=<2>)
    >>> rm.solve(model, set).worst_kernel().to_array()[:, 0].round(6)
    array([[0.6, 0.4],
           [0.1, 0.9]])
    """

    radius: NumbersLike = 1.0
    rectangular: Rectangular = "sa"
    kernels: Sequence[Model | ArrayLike] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        kept = tuple(
            k if isinstance(k, Model) else frozen(numbers("kernels", k).copy()) for k in self.kernels
        )
        if not kept:
            raise ValueError("kernels: none given, expected at least one model or array")
        object.__setattr__(self, "kernels", kept)

    def _scenarios_of(self, model: Model) -> list[FloatArray]:
        given = [
            k._native if isinstance(k, Model) else of_transitions(f"kernel {at + 1}", cast("FloatArray", k), model)
            for at, k in enumerate(self.kernels)
        ]
        return model._native.scenarios(given)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, kernels=<{len(self.kernels)}>)"

    def _key(self) -> tuple[Any, ...]:
        def key(k: Model | ArrayLike) -> tuple[Any, ...]:
            if isinstance(k, Model):
                return (k.fingerprint,)
            array = np.asarray(k)
            return (array.shape, array.tobytes())

        return (*super()._key(), *map(key, self.kernels))


class Nominal(UncertaintySet):
    """The nominal kernel alone: an ordinary Markov decision process.

    >>> import robust_mdp as rm
    >>> rm.Nominal()
    Nominal()
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.any(self._amounts() != 0.0):
            raise ValueError("Nominal is the nominal kernel alone and has no radius")
        if self.weights is not None:
            raise ValueError("Nominal is the nominal kernel alone and has no weights")

    def __repr__(self) -> str:
        return "Nominal()"
