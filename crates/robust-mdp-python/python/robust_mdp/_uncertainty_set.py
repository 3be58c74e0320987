"""What uncertainty sets have in common; the sets are in :mod:`robust_mdp.sets`.

The library says of every set whether its kernels may leave the nominal support, whether actions may share its
budget, and what it must be told of next states (``_native.sets``). A class has the arguments for that, and those
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Optional, TypeVar, Union

import numpy as np

from . import _native
from ._arrays import FloatArray, frozen, is_labelled, numbers
from ._entries import Told, of_entries, of_states, of_two_states
from ._labels import Labelled, NumbersLike, Pairs

if TYPE_CHECKING:
    from .model import Model

Rectangular = Literal["s", "sa"]
Support = Literal["nominal", "all"]
_Given = Union[float, FloatArray, Labelled]
_Self = TypeVar("_Self", bound="UncertaintySet")


class About(NamedTuple):
    """What the library says of a set."""

    name: str
    title: str
    formula: str
    leaves_support: bool
    adds_up: bool
    needs: str


REGISTRY = {about.name: about for about in map(About._make, _native.sets())}
_NONE = About("none", "none", "0", False, True, "nothing")

# Numbers beside the radius: what they are, and the number that they must be above or at least.
_POSITIVE = {"expected": "finite numbers above 0", "above": 0.0}
_NOT_NEGATIVE = {"expected": "finite numbers of at least 0", "least": 0.0}
_FINITE = {"expected": "finite numbers"}


def kept_numbers(what: str, given: Any) -> tuple[_Given, FloatArray]:
    """What is kept of numbers with or without labels, and the numbers."""
    if isinstance(given, Labelled) or is_labelled(given):
        labelled = Labelled.of(what, given)
        return labelled, labelled.numbers(what)
    array = numbers(what, given)
    return (float(array) if array.ndim == 0 else frozen(array.copy())), array


def _key(given: Any) -> tuple[Any, ...]:
    """Equal for equal numbers."""
    if given is None:
        return ()
    kept, array = kept_numbers("", given)
    return (kept.key() if isinstance(kept, Labelled) else None, array.shape, array.tobytes())


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
    weights: Optional[NumbersLike] = field(default=None, kw_only=True, metadata=_POSITIVE)

    _about: ClassVar[About] = _NONE

    def __init_subclass__(cls, name: str | None = None, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if name is None:
            return
        about = REGISTRY[name]
        arguments = [
            ("support", about.leaves_support, "its kernels may leave the nominal one"),
            ("entry_weights", about.needs == "weights", "next states have weights in its norm"),
            ("distances", about.needs == "ground", "it moves mass between states"),
            ("kernels", about.needs == "kernels", "it mixes kernels"),
        ]
        for argument, expected, why in arguments:
            if hasattr(cls, argument) != expected:
                raise TypeError(f"{name}: a set has the argument {argument} exactly if {why}")
        if not about.adds_up and cls.rectangular != "sa":
            raise TypeError(f'{name}: budgets cannot be shared, expected rectangular="sa" by default')
        cls._about = about
        if cls.__doc__ is None:
            cls.__doc__ = f"Kernels y with Σ {about.formula} ≤ radius; see :class:`UncertaintySet`."

    def __post_init__(self) -> None:
        radius, array = kept_numbers("radius", self.radius)
        if not np.all(np.isfinite(array)) or bool(np.any(array < 0.0)):
            raise ValueError(f"radius {self.radius!r}, expected finite numbers of at least 0")
        object.__setattr__(self, "radius", radius)
        if self.rectangular not in ("s", "sa"):
            raise ValueError(f'rectangular={self.rectangular!r}, expected "s" or "sa"')
        if self.rectangular == "s" and not self._about.adds_up:
            raise ValueError(
                f"actions cannot share the budget of a {self._about.title} set, expected "
                'rectangular="sa"'
            )
        if self.rectangular == "sa" and self.weights is not None:
            raise ValueError(
                "weights are of a budget that the actions of a state share, expected none with "
                'rectangular="sa"'
            )
        for name, expected in self._beside():
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _checked(name, given, expected))

    @classmethod
    def _beside(cls) -> Iterator[tuple[str, Any]]:
        """The arguments that are numbers, but for the radius, and what these must be."""
        return ((f.name, f.metadata) for f in fields(cls) if "expected" in f.metadata)

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
            self._about.name,
            radius,
            per,
            self.rectangular,
            self._where,
            self._weights_of(model),
            self._entry_weights_of(model),
            self._ground_of(model),
            self._scenarios_of(model),
        )
        made.check(model._native)
        return made

    def _entry_weights_of(self, model: Model) -> Told | None:
        """What the weights of next states are for, and these in the model's order."""
        return None

    def _ground_of(self, model: Model) -> Told | None:
        """What the costs of moving mass are for, and these in the model's order."""
        return None

    def _scenarios_of(self, model: Model) -> list[FloatArray] | None:
        """Other kernels, on the transitions that the model stores."""
        return None

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
        shared = self.rectangular == "s" and self._about is not _NONE
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
        beside = [name for name, _ in self._beside()]
        plain = [f.name for f in fields(self) if f.repr and f.name not in ("radius", *beside)]
        parts += [f"{name}={getattr(self, name)!r}" for name in plain]
        for name in beside:
            if getattr(self, name) is not None:
                _, array = kept_numbers(name, getattr(self, name))
                parts.append(f"{name}=<{array.size} from {array.min():.4g} to {array.max():.4g}>")
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
        beside = [(name, *_key(getattr(self, name))) for name, _ in self._beside()]
        return (type(self), *_key(self.radius), self.rectangular, self._where, *beside)


def _checked(what: str, given: Any, must: Any) -> _Given:
    """The numbers, if they are what they must be."""
    kept, array = kept_numbers(what, given)
    above, least = must.get("above", -np.inf), must.get("least", -np.inf)
    fits = np.isfinite(array) & (array > above) & (array >= least)
    if array.size == 0 or not bool(np.all(fits)):
        raise ValueError(f"{what} {given!r}, expected {must['expected']}")
    return kept


@dataclass(frozen=True, eq=False, repr=False)
class WithSupport(UncertaintySet):
    """A set whose kernels may leave the nominal support."""

    support: Support = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.support not in ("all", "nominal"):
            raise ValueError(f'support={self.support!r}, expected "all" or "nominal"')

    @property
    def _where(self) -> str:
        return self.support


@dataclass(frozen=True, eq=False, repr=False)
class WithEntryWeights(WithSupport):
    """A set of a norm in which next states may have weights.

    Parameters
    ----------
    entry_weights : array, dictionary or pandas object, optional
        Weights w > 0: one a next state, by its number or label, or one a transition, in the order of
        :meth:`Model.kernel <robust_mdp.Model.kernel>` or as an array of the shape of ``P[S, A, S]``. Without them
        all are 1. Mass keeps away from next states of large weight.
    """

    entry_weights: Optional[NumbersLike] = field(default=None, kw_only=True, metadata=_POSITIVE)

    def _entry_weights_of(self, model: Model) -> Told | None:
        if self.entry_weights is None:
            return None
        kept, array = kept_numbers("entry_weights", self.entry_weights)
        given = kept if isinstance(kept, Labelled) else array
        return of_entries("entry_weights", given, model, self.support == "nominal")


@dataclass(frozen=True, eq=False, repr=False)
class WithGround(WithSupport):
    """A set of kernels to which mass has been moved, at a cost between states.

    Parameters
    ----------
    positions : array, dictionary or Series, optional
        Places x of the states on a line: it costs |x_j − x_i| to move a unit of mass from state j to state i.
    distances : array, dictionary or DataFrame, optional
        In their place, the cost from every state (rows) to every state, 0 from a state to itself and more than
        that to others; ``{state: {state: cost}}`` by label.
    """

    positions: Optional[NumbersLike] = field(default=None, kw_only=True, metadata=_FINITE)
    distances: Optional[NumbersLike] = field(default=None, kw_only=True, metadata=_NOT_NEGATIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.positions is None) == (self.distances is None):
            raise TypeError(
                "expected either positions (places of the states on a line) or distances (from every state to "
                "every state)"
            )

    def _ground_of(self, model: Model) -> Told:
        what = "distances" if self.positions is None else "positions"
        kept, array = kept_numbers(what, getattr(self, what))
        given = kept if isinstance(kept, Labelled) else array
        if what == "positions":
            return "state", of_states(what, given, model)
        return "pair of states", of_two_states(what, given, model)
