"""What a model is built from, whatever the input looked like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import FloatArray, IntArray
from ._box import NativeBox
from ._labels import Axis, NumbersLike, distribution, in_order
from ._rows import Compressed


@dataclass
class Parts:
    """What a model is built from: rows, or one matrix an action, or a dense array."""

    cost: FloatArray
    maximise: bool
    states: int
    initial: FloatArray | None
    state_names: list[str] | None
    action_names: list[str] | None = None
    actions: IntArray | None = None
    rows: tuple[IntArray, Compressed] | None = None
    matrices: list[Compressed] | None = None
    dense: tuple[FloatArray, FloatArray | None, NativeBox | None] | None = None
    is_single: bool = False
    # How rows are divided by their sums in the user's own terms.
    normalise: str = "divide every row by its sum"

    def build(self, discount: float | None) -> _native.Model:
        try:
            return self._build(discount)
        except _native.ModelError as error:
            if error.state is None or "probabilities sum to" not in str(error):
                raise
            if self.is_single:
                hint = f"they are in single precision: convert them to float64, then {self.normalise}"
            elif self._are_counts():
                hint = f"they look like counts: {self.normalise}"
            else:
                raise
            made = _native.ModelError(f"{error}; {hint}")
            made.state, made.action = error.state, error.action
            raise made from None

    def _are_counts(self) -> bool:
        """Whether the probabilities are whole numbers, and not all of them 0 or 1."""
        arrays = [matrix[2] for matrix in self.matrices or ()]
        arrays += [self.rows[1][2]] if self.rows is not None else []
        arrays += [self.dense[0]] if self.dense is not None else []
        whole = all(bool(np.all(array == np.floor(array))) for array in arrays)
        return whole and any(bool(np.any(array > 1.0)) for array in arrays)

    def _build(self, discount: float | None) -> _native.Model:
        about = (
            0.0 if discount is None else float(discount),
            self.maximise,
            self.initial,
            self.state_names,
            self.action_names,
        )
        cost = np.ascontiguousarray(self.cost, dtype=np.float64)
        if self.rows is not None:
            starts, compressed = self.rows
            return _native.Model.from_rows(starts, compressed, cost, about)
        if self.matrices is not None:
            return _native.Model.from_actions(self.matrices, self.states, cost, about)
        assert self.dense is not None
        return _native.Model.from_dense(*self.dense, cost, about)


@dataclass
class Given:
    """What all conventions share: rewards or costs, where one starts, what things are called."""

    amounts: Any
    name: str
    initial: NumbersLike | None
    state_names: Sequence[str] | None
    action_names: Sequence[str] | None

    @staticmethod
    def of(
        R: Any,
        cost: Any,
        initial: NumbersLike | None,
        state_names: Sequence[str] | None,
        action_names: Sequence[str] | None,
    ) -> Given:
        if (R is None) == (cost is None):
            raise TypeError("expected either R (rewards, maximised) or cost (minimised)")
        amounts, name = (R, "R") if cost is None else (cost, "cost")
        return Given(amounts, name, initial, state_names, action_names)

    @property
    def maximise(self) -> bool:
        return self.name == "R"

    def states(self, size: int) -> Axis:
        """The states, as labels speak of them."""
        return Axis("state", size, _names("state", self.state_names, size))

    def actions(self, size: int) -> Axis:
        """The actions, as labels speak of them."""
        return Axis("action", size, _names("action", self.action_names, size))

    def absent(self, cost: FloatArray) -> NDArray[np.bool_]:
        """Infinitely bad amounts, which mark actions that a state does not have."""
        return np.isneginf(cost) if self.maximise else np.isposinf(cost)

    def parts(self, cost: FloatArray, states: int, actions: IntArray, width: int) -> Parts:
        """A model of so many states and the `actions` of its rows, still without transitions."""
        axis = self.states(states)
        names = _names("action", self.action_names, width)
        return Parts(
            cost=cost,
            maximise=self.maximise,
            states=states,
            initial=None if self.initial is None else distribution(self.initial, axis),
            state_names=None if axis.names is None else list(axis.names),
            action_names=None if names is None else [names[a] for a in actions],
        )

    def table(self, cost: FloatArray, states: int, actions: int) -> Parts:
        """The same where every state has all actions."""
        return self.parts(cost, states, np.tile(np.arange(actions), states), actions)


def _names(kind: str, names: Sequence[str] | None, count: int) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"{kind}_names: expected a list of names, not {names!r}")
    made = [str(name) for name in in_order(f"{kind}_names", names, Axis(kind, count))]
    if len(made) != count:
        raise ValueError(f"{len(made)} {kind} names, expected {count}")
    return made


def numbered(starts: IntArray, actions: IntArray) -> list[str] | None:
    """Names of actions that are not numbered 0, 1, 2, … in their states."""
    plain = np.arange(len(actions)) - np.repeat(starts[:-1], np.diff(starts))
    return None if np.array_equal(actions, plain) else [str(number) for number in actions]
