"""Uncertainty sets: which kernels nature may choose around the nominal one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._arrays import FloatArray, frozen, numbers

if TYPE_CHECKING:
    from .model import Model

Rectangular = Literal["s", "sa"]
Support = Literal["nominal", "all"]
_Self = TypeVar("_Self", bound="UncertaintySet")


@dataclass(frozen=True, eq=False, repr=False)
class UncertaintySet:
    """What all sets share; use :class:`Ellipsoid`, :class:`KL` or :class:`Nominal`.

    Parameters
    ----------
    radius : float or array
        One budget for every state, or an array with one a state; with ``rectangular="sa"`` also one
        a state and action, as a table of shape (S, A) or flat in the order of the model's pairs.
    rectangular : {"s", "sa"}
        Whether the actions of a state share its budget or each has its own.
    """

    radius: ArrayLike = 0.0
    rectangular: Rectangular = "s"

    _distance: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        radius: Union[float, FloatArray]
        array = numbers("radius", self.radius)
        if not np.all(np.isfinite(array)) or bool(np.any(array < 0.0)):
            raise ValueError(f"radius {self.radius!r}, expected finite numbers of at least 0")
        radius = float(array) if array.ndim == 0 else frozen(array.copy())
        object.__setattr__(self, "radius", radius)
        if self.rectangular not in ("s", "sa"):
            raise ValueError(f'rectangular={self.rectangular!r}, expected "s" or "sa"')

    @property
    def _where(self) -> str:
        return "nominal"

    def with_radius(self: _Self, radius: ArrayLike) -> _Self:
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
        radius = np.asarray(self.radius, dtype=np.float64)
        if radius.ndim == 0:
            per, radius = "all", radius.reshape(1)
        elif radius.shape == (model.n_states,):
            per = "state"
        elif self.rectangular == "s" and self._distance != "none":
            raise ValueError(
                f"radius has shape {radius.shape}, expected one number or ({model.n_states},), one a "
                'state: the set is s-rectangular (rectangular="sa" gives every action its own budget)'
            )
        else:
            per, radius = "row", model._flat("radius", radius)
        radius = np.ascontiguousarray(radius)
        made = _native.UncertaintySet(
            self._distance, radius, per, self.rectangular, self._where
        )
        made.check(model._native)
        return made

    def __repr__(self) -> str:
        parts = [f"radius={self._radius_in_words()}"]
        parts += [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.name != "radius"]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _radius_in_words(self) -> str:
        radius = np.asarray(self.radius)
        if radius.ndim == 0:
            return repr(self.radius)
        return f"<{radius.size} radii up to {radius.max(initial=0.0):.4g}>"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, UncertaintySet):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        radius = np.asarray(self.radius)
        return (type(self), radius.shape, radius.tobytes(), self.rectangular, self._where)


@dataclass(frozen=True, eq=False, repr=False)
class Ellipsoid(UncertaintySet):
    """Kernels y with Σ ½‖y − y⁰‖² ≤ radius.

    Parameters
    ----------
    radius, rectangular
        See :class:`UncertaintySet`.
    support : {"all", "nominal"}
        Whether nature may put mass on every state, or only where the nominal kernel has some.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.Ellipsoid(0.1, support="nominal")
    Ellipsoid(radius=0.1, rectangular='s', support='nominal')
    """

    support: Support = "all"

    _distance: ClassVar[str] = "ellipsoid"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support not in ("all", "nominal"):
            raise ValueError(f'support={self.support!r}, expected "all" or "nominal"')

    @property
    def _where(self) -> str:
        return self.support


@dataclass(frozen=True, eq=False, repr=False)
class KL(UncertaintySet):
    """Kernels y with Σ KL(y‖y⁰) ≤ radius; none of them leaves the support of the nominal kernel.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> rm.KL(0.1)
    KL(radius=0.1, rectangular='s')
    >>> rm.KL(0.1) == rm.KL(radius=0.1)
    True
    """

    _distance: ClassVar[str] = "kl"


@dataclass(frozen=True, eq=False, repr=False)
class Nominal(UncertaintySet):
    """The nominal kernel alone: an ordinary Markov decision process.

    >>> import robust_mdp as rm
    >>> rm.Nominal()
    Nominal()
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.any(np.asarray(self.radius) != 0.0):
            raise ValueError("Nominal is the nominal kernel alone and has no radius")

    def __repr__(self) -> str:
        return "Nominal()"
