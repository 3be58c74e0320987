"""What a model is built from, whatever the input looked like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._arrays import FloatArray, IndexArray, IntArray, flat

Compressed = tuple[IndexArray, IndexArray, FloatArray, "FloatArray | None"]


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
    dense: tuple[FloatArray, FloatArray | None] | None = None
    is_single: bool = False

    def build(self, discount: float | None) -> _native.Model:
        try:
            return self._build(discount)
        except _native.ModelError as error:
            if not (self.is_single and "probabilities sum to" in str(error)):
                raise
            made = _native.ModelError(
                f"{error}; they are in single precision: convert them to float64, then divide every "
                "row by its sum"
            )
            made.state, made.action = error.state, error.action
            raise made from None

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
        return _native.Model.from_dense(self.dense[0], self.dense[1], cost, about)


@dataclass
class Given:
    """What all conventions share: rewards or costs, where one starts, what things are called."""

    amounts: Any
    name: str
    initial: FloatArray | None
    state_names: Sequence[str] | None
    action_names: Sequence[str] | None

    @staticmethod
    def of(
        R: Any,
        cost: Any,
        initial: ArrayLike | None,
        state_names: Sequence[str] | None,
        action_names: Sequence[str] | None,
    ) -> Given:
        if (R is None) == (cost is None):
            raise TypeError("expected either R (rewards, maximised) or cost (minimised)")
        amounts, name = (R, "R") if cost is None else (cost, "cost")
        start = None if initial is None else flat("initial", initial)
        return Given(amounts, name, start, state_names, action_names)

    @property
    def maximise(self) -> bool:
        return self.name == "R"

    def parts(self, cost: FloatArray, states: int, actions: IntArray, width: int) -> Parts:
        """A model of so many states and the `actions` of its rows, still without transitions."""
        return Parts(
            cost=cost,
            maximise=self.maximise,
            states=states,
            initial=self.initial,
            state_names=_names("state names", self.state_names, states),
            action_names=_names("action names", self.action_names, width, actions),
        )

    def table(self, cost: FloatArray, states: int, actions: int) -> Parts:
        """The same where every state has all actions."""
        return self.parts(cost, states, np.tile(np.arange(actions), states), actions)


def _names(
    what: str, names: Sequence[str] | None, count: int, each: IntArray | None = None
) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"{what}: expected a list of names, not {names!r}")
    made = [str(name) for name in names]
    if len(made) != count:
        raise ValueError(f"{len(made)} {what}, expected {count}")
    return made if each is None else [made[a] for a in each]


def numbered(starts: IntArray, actions: IntArray) -> list[str] | None:
    """Names of actions that are not numbered 0, 1, 2, … in their states."""
    plain = np.arange(len(actions)) - np.repeat(starts[:-1], np.diff(starts))
    return None if np.array_equal(actions, plain) else [str(number) for number in actions]
