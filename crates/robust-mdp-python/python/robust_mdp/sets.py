"""Uncertainty sets: which kernels nature may choose around the nominal one.

The library lists the sets (``_native.sets``). A set here is a class with its name there: one that derives
from :class:`_WithSupport` if its kernels may leave the nominal support, else from :class:`UncertaintySet`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Optional, TypeVar, Union

import numpy as np

from . import _native
from ._arrays import FloatArray, frozen, is_labelled, numbers
from ._labels import Labelled, NumbersLike, Pairs

if TYPE_CHECKING:
    from .model import Model

__all__ = [
    "KL",
    "L1",
    "Burg",
    "Chi2",
    "Ellipsoid",
    "Hellinger",
    "Neyman",
    "Nominal",
    "TotalVariation",
    "UncertaintySet",
]

Rectangular = Literal["s", "sa"]
Support = Literal["nominal", "all"]
_Given = Union[float, FloatArray, Labelled]
_Self = TypeVar("_Self", bound="UncertaintySet")

# Formula of every set, and whether its kernels may leave the nominal support.
_REGISTRY = {name: (formula, leaves) for name, _, formula, leaves in _native.sets()}


def _given(what: str, given: Any) -> tuple[_Given, FloatArray]:
    """What is kept of numbers with or without labels, and the numbers."""
    if isinstance(given, Labelled) or is_labelled(given):
        labelled = Labelled.of(what, given)
        return labelled, labelled.numbers(what)
    array = numbers(what, given)
    return (float(array) if array.ndim == 0 else frozen(array.copy())), array


@dataclass(frozen=True, eq=False, repr=False)
class UncertaintySet:
    """What all sets share; use one of them, such as :class:`KL`.

    Parameters
    ----------
    radius : float, array, dictionary or pandas object
        One budget for every state, or an array with one a state; with ``rectangular="sa"`` also one
        a state and action, as a table of shape (S, A) or flat in the order of the model's pairs.
        Labels are kept and looked up in the model of each call: ``{state: radius}``,
        ``{(state, action): radius}``, a Series with such an index, a table of states and actions, or one
        with the columns state (and action) and radius.
        A label is a name or a number; none but those of terminal states may be missing.
    rectangular : {"s", "sa"}
        Whether the actions of a state share its budget or each has its own.
    weights : array, dictionary or pandas object, optional
        How much each action of a state counts in the budget that they share: Σ_a κ_a·d(y_a, y⁰_a) ≤ radius
        with weights κ > 0, one a state and action, given like radii of pairs. Without them all are 1. Sets
        estimated from data have κ_a = the number of samples of the pair. Only with ``rectangular="s"``.
    """

    radius: NumbersLike = 0.0
    rectangular: Rectangular = "s"
    weights: Optional[NumbersLike] = field(default=None, kw_only=True)

    _distance: ClassVar[str] = "none"

    def __init_subclass__(cls, name: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name is None:
            return
        formula, leaves = _REGISTRY[name]
        if leaves != hasattr(cls, "support"):
            raise TypeError(f"{name}: a set has a support exactly if its kernels may leave the nominal one")
        cls._distance = name
        if cls.__doc__ is None:
            cls.__doc__ = f"Kernels y with Σ {formula} ≤ radius; see :class:`UncertaintySet`."

    def __post_init__(self) -> None:
        radius, array = _given("radius", self.radius)
        if not np.all(np.isfinite(array)) or bool(np.any(array < 0.0)):
            raise ValueError(f"radius {self.radius!r}, expected finite numbers of at least 0")
        object.__setattr__(self, "radius", radius)
        if self.rectangular not in ("s", "sa"):
            raise ValueError(f'rectangular={self.rectangular!r}, expected "s" or "sa"')
        if self.weights is not None:
            object.__setattr__(self, "weights", self._checked_weights())

    def _checked_weights(self) -> _Given:
        if self.rectangular == "sa":
            raise ValueError(
                "weights are of a budget that the actions of a state share, expected none with "
                'rectangular="sa"'
            )
        weights, array = _given("weights", self.weights)
        if not np.all(np.isfinite(array)) or not bool(np.all(array > 0.0)):
            raise ValueError(f"weights {self.weights!r}, expected finite numbers above 0")
        return weights

    @property
    def _where(self) -> str:
        return "nominal"

    def _amounts(self) -> FloatArray:
        """The radii, whatever they are for."""
        if isinstance(self.radius, Labelled):
            return self.radius.numbers("radius")
        return np.asarray(self.radius, dtype=np.float64)

    def with_radius(self: _Self, radius: NumbersLike) -> _Self:
        """The same set with another radius."""
        return replace(self, radius=radius)

    def largest_useful_radius(self, model: Model) -> float:
        """From which radius on nature may choose any kernel at all.

        >>> import robust_mdp as rm
        >>> model = rm.instances.machine(states=4, discount=0.8)
        >>> float(round(rm.KL(1.0).largest_useful_radius(model), 3))
        3.912
        """
        return self._native(model).largest_useful_radius(model._native)

    def _native(self, model: Model) -> _native.UncertaintySet:
        per, radius = self._of_model(model)
        radius = np.ascontiguousarray(radius)
        made = _native.UncertaintySet(
            self._distance, radius, per, self.rectangular, self._where, self._weights_of(model)
        )
        made.check(model._native)
        return made

    def _weights_of(self, model: Model) -> FloatArray | None:
        """The weights in the model's order."""
        if self.weights is None:
            return None
        if isinstance(self.weights, Labelled):
            if not self.weights.is_by_pair:
                raise ValueError("weights: labels of states, expected labels of states and actions")
            return self.weights.by_pair("weights", model._labels())
        return model._flat("weights", np.asarray(self.weights, dtype=np.float64))

    def _of_model(self, model: Model) -> tuple[str, FloatArray]:
        """What each radius is for, and the radii in the model's order."""
        shared = self.rectangular == "s" and self._distance != "none"
        if isinstance(self.radius, Labelled):
            return self._by_label(model._labels(), self.radius, shared)
        radius = self._amounts()
        if radius.ndim == 0:
            return "all", radius.reshape(1)
        if radius.shape == (model.n_states,):
            by_state = radius[model._pairs()[0]]
            if not shared and model.n_pairs == model.n_states and np.any(by_state != radius):
                raise ValueError(
                    f"radius has shape {radius.shape}, which may be one a state or one a pair: there are as "
                    "many of both; give a table of states and actions, or a dictionary"
                )
            return "state", radius
        if shared:
            raise ValueError(
                f"radius has shape {radius.shape}, expected one number or ({model.n_states},), one a "
                'state: the set is s-rectangular (rectangular="sa" gives every action its own budget)'
            )
        return "row", model._flat("radius", radius)

    @staticmethod
    def _by_label(pairs: Pairs, radius: Labelled, shared: bool) -> tuple[str, FloatArray]:
        def by_pair(given: Labelled) -> tuple[str, FloatArray]:
            if shared:
                raise ValueError(
                    "radius has labels of states and actions, expected one a state: the set is "
                    's-rectangular (rectangular="sa" gives every action its own budget)'
                )
            return "row", given.by_pair("radius", pairs)

        def by_state(given: Labelled) -> tuple[str, FloatArray]:
            return "state", given.by_state("radius", pairs.states, pairs.playing)

        return radius.read("radius", pairs.states, by_state, by_pair)

    def __repr__(self) -> str:
        parts = [f"radius={self._radius_in_words()}"]
        plain = [f.name for f in fields(self) if f.name not in ("radius", "weights")]
        parts += [f"{name}={getattr(self, name)!r}" for name in plain]
        if self.weights is not None:
            _, weights = _given("weights", self.weights)
            parts.append(f"weights=<{weights.size} from {weights.min():.4g} to {weights.max():.4g}>")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _radius_in_words(self) -> str:
        if isinstance(self.radius, float):
            return repr(self.radius)
        radius = self._amounts()
        by_name = " by label" if isinstance(self.radius, Labelled) else ""
        return f"<{radius.size} radii{by_name} up to {radius.max(initial=0.0):.4g}>"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, UncertaintySet):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        radius = self._amounts()
        labels = self.radius.key() if isinstance(self.radius, Labelled) else None
        key = (type(self), labels, radius.shape, radius.tobytes(), self.rectangular, self._where)
        if self.weights is None:
            return key
        _, weights = _given("weights", self.weights)
        labels = self.weights.key() if isinstance(self.weights, Labelled) else None
        return (*key, labels, weights.shape, weights.tobytes())


@dataclass(frozen=True, eq=False, repr=False)
class _WithSupport(UncertaintySet):
    """A set whose kernels may leave the nominal support."""

    support: Support = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support not in ("all", "nominal"):
            raise ValueError(f'support={self.support!r}, expected "all" or "nominal"')

    @property
    def _where(self) -> str:
        return self.support


class Ellipsoid(_WithSupport, name="ellipsoid"):
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


class L1(_WithSupport, name="l1"):
    """Kernels y with Σ ‖y − y⁰‖₁ ≤ radius, on every state or on the nominal support."""


class TotalVariation(_WithSupport, name="tv"):
    """Kernels y with Σ ½‖y − y⁰‖₁ ≤ radius, on every state or on the nominal support."""


class Burg(_WithSupport, name="burg"):
    """Kernels y with Σ y⁰ ln(y⁰/y) ≤ radius, on every state or on the nominal support: likelihood ratios."""


class Hellinger(_WithSupport, name="hellinger"):
    """Kernels y with Σ (√y − √y⁰)² ≤ radius, on every state or on the nominal support."""


class Neyman(_WithSupport, name="neyman"):
    """Kernels y with Σ (y − y⁰)²/y ≤ radius (Neyman's χ²), on every state or on the nominal support."""


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
