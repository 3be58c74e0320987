"""Labelled numbers, put into the order of what they are for.

A Series, a table or a dictionary says what each of its numbers is for. Read by position it would be
silently wrong whenever it has another order, so that it is looked up by its labels or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FloatArray, IntArray, flat, is_labelled, is_series, is_table, numbers
from ._orders import refuse_two_orders, turned

# What users may give for numbers of states or of states and actions.
NumbersLike = Union[ArrayLike, Mapping[Any, Any]]
# Names of the column of values in a table with one line a state or pair.
_VALUES = ("radius", "weight", "probability", "value")
_Read = TypeVar("_Read")


def quoted(labels: Sequence[Any]) -> str:
    """A few labels in words; names in quotation marks, numbers without."""
    words = [f"“{label}”" if isinstance(label, str) else str(label) for label in labels[:5]]
    return ", ".join(words) + (", …" if len(labels) > 5 else "")


def _is_whole(label: Any) -> bool:
    return isinstance(label, (int, np.integer)) and not isinstance(label, bool)


@dataclass(frozen=True, eq=False)
class Axis:
    """Things that have numbers and may have names: states, the actions of a state, episodes.

    A whole number means the thing of this number, anything else the one of this name. Where names look
    like numbers and both could be meant, neither is taken.
    """

    kind: str
    size: int
    names: Sequence[str] | None = None
    ids: Sequence[int] | None = None

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for k, name in enumerate(self.names or ()):
            found.setdefault(name, []).append(k)
        return found

    @cached_property
    def _by_id(self) -> dict[int, int]:
        return {number: k for k, number in enumerate(self.ids or ())}

    def _numbered(self, number: int) -> int | None:
        if self.ids is not None:
            return self._by_id.get(number)
        return number if 0 <= number < self.size else None

    def find(self, what: str, label: Any) -> int | None:
        """The place of what is called `label`, if there is one."""
        text = str(label)
        meant = set(self._by_name.get(text, ()))
        if _is_whole(label) or (self.names is None and text.isdecimal()):
            number = self._numbered(int(text))
            meant |= {number} if number is not None else set()
        if len(meant) > 1:
            places = ", ".join(map(str, sorted(meant)))
            raise ValueError(
                f"{what}: {self.kind} {quoted([label])} may be a name or a number, of any of "
                f"{places}; give an array in the model's order"
            )
        return meant.pop() if meant else None

    def find_each(self, what: str, labels: Sequence[Any]) -> list[int | None]:
        """Places of labels that were given together: their whole numbers are all names or all numbers."""
        places = [self.find(what, label) for label in labels]
        if self.names is None:
            return places
        whole = {int(label) for label in labels if _is_whole(label)}
        named = {number for number in whole if str(number) in self._by_name}
        numbered = {number for number in whole if self._numbered(number) is not None}
        only_named, only_numbered = sorted(named - numbered), sorted(numbered - named)
        if only_named and only_numbered:
            raise ValueError(
                f"{what}: {self.kind} {quoted(only_named)} can only be a name and {quoted(only_numbered)} "
                "only a number; give names alone or numbers alone"
            )
        return places

    def find_all(self, what: str, labels: Sequence[Any]) -> IntArray:
        """Places of all labels, each there once."""
        places = self.find_each(what, labels)
        self.refuse_unknown(
            what, [label for label, place in zip(labels, places, strict=True) if place is None]
        )
        made = np.array(places, dtype=np.int64)
        refuse_repeated(what, self.kind, made, labels)
        return made

    def refuse_unknown(self, what: str, unknown: Sequence[Any]) -> None:
        """Names the labels that mean nothing here."""
        if unknown:
            raise ValueError(f"{what}: no {self.kind} {quoted(unknown)}; expected {self._known()}")

    def label(self, place: int) -> str | int:
        """What users call it."""
        if self.names is not None:
            return self.names[place]
        return place if self.ids is None else self.ids[place]

    def labels(self, places: Any) -> list[str | int]:
        """What users call these."""
        return [self.label(int(place)) for place in places]

    def _known(self) -> str:
        if self.names is None and self.ids is None:
            return f"numbers from 0 to {self.size - 1}"
        return quoted(self.labels(range(min(self.size, 6))))


def refuse_repeated(what: str, kind: str, places: IntArray, labels: Sequence[Any]) -> None:
    """Refuses two values for one thing."""
    order = np.argsort(places, kind="stable")
    again = order[1:][places[order[1:]] == places[order[:-1]]]
    if len(again):
        raise ValueError(f"{what}: {kind} {quoted([labels[k] for k in np.sort(again)])} is there twice")


@dataclass(frozen=True, eq=False)
class Pairs:
    """States with their actions, as labels speak of them."""

    states: Axis
    starts: IntArray
    ids: IntArray
    names: Sequence[str]

    @cached_property
    def _axes(self) -> dict[int, Axis]:
        return {}

    def actions(self, state: int) -> Axis:
        """The actions of a state."""
        if state not in self._axes:
            span = slice(int(self.starts[state]), int(self.starts[state + 1]))
            ids = [int(number) for number in self.ids[span]]
            self._axes[state] = Axis("action", len(ids), self.names[span], ids)
        return self._axes[state]

    def label(self, row: int) -> str:
        """A pair in words."""
        state = int(np.searchsorted(self.starts, row, side="right")) - 1
        action = self.actions(state).label(row - int(self.starts[state]))
        return f"({quoted([self.states.label(state)])}, {quoted([action])})"

    def row(self, what: str, state: int | None, action: Any) -> int | None:
        """The row of a state's action, if it has that one."""
        if state is None:
            return None
        place = self.actions(state).find(f"{what}, state {self.states.label(state)}", action)
        return None if place is None else int(self.starts[state]) + place

    @property
    def playing(self) -> IntArray:
        """States that have actions."""
        return np.flatnonzero(np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Labelled:
    """Values and what each is for: a state, or a state and an action."""

    labels: tuple[Any, ...]
    values: tuple[Any, ...]
    is_by_pair: bool
    # Of a table, which has cells also for actions that a state does not have.
    is_rectangle: bool = False
    # What says that labels are states with actions: names or nesting do; unnamed levels of a Series and
    # keys of a dictionary may also be names of states, such as cells of a grid.
    told_by: Literal["names", "levels", "keys"] = "names"

    @staticmethod
    def of(what: str, given: Any) -> Labelled:
        """From a Series, a table of states and actions or a dictionary."""
        if isinstance(given, Labelled):
            return given
        if is_table(given):
            keys = [name for name in ("state", "action") if name in given.columns]
            if "state" not in keys or len(given.columns) != len(keys) + 1:
                return _of_table(what, given)
            # One line a state or pair, with a column for the value.
            (value,) = (name for name in given.columns if name not in keys)
            if value not in _VALUES:
                raise ValueError(
                    f"{what}: a column {quoted([value])} beside {' and '.join(keys)}, expected one of "
                    f"{', '.join(_VALUES)}"
                )
            given = given.set_index(keys)[value]
        if is_series(given):
            return _of_series(what, given)
        if isinstance(given, Mapping):
            return _of_mapping(what, given)
        raise TypeError(
            f"{what}: a {type(given).__name__} has labels that are not understood; give a pandas Series, "
            "a dictionary, or an array in the model's order"
        )

    def numbers(self, what: str) -> FloatArray:
        """The values."""
        return numbers(what, list(self.values), 1)

    def key(self) -> tuple[Any, ...]:
        """Equal for equal values."""
        return (self.labels, self.values, self.is_by_pair, self.is_rectangle)

    def read(
        self,
        what: str,
        states: Axis,
        by_state: Callable[[Labelled], _Read],
        by_pair: Callable[[Labelled], _Read],
    ) -> _Read:
        """What is read of labels of states or of states and actions. Keys of two parts may be either where
        names of states look like them; if both readings fit, neither is taken."""
        cells = self._as_states(what, states)
        if cells is None:
            return by_pair(self) if self.is_by_pair else by_state(self)
        try:
            of_pairs = by_pair(self)
        except (TypeError, ValueError):
            return by_state(cells)
        try:
            by_state(cells)
        except (TypeError, ValueError):
            return of_pairs
        raise ValueError(
            f"{what}: {self.labels[0]} may be the name of a state, or a state and an action; give "
            "{state: {action: …}} or an array in the model's order"
        )

    def _as_states(self, what: str, states: Axis) -> Labelled | None:
        """The same with whole keys as names of states, if they all are."""
        if not self.is_by_pair or self.told_by == "names" or not self.labels:
            return None
        if any(states.find(what, label) is None for label in self.labels):
            return None
        return replace(self, is_by_pair=False)

    def by_state(self, what: str, states: Axis, needed: IntArray) -> FloatArray:
        """One number a state, 0 where there is none; the `needed` ones have to be there."""
        cells = self._as_states(what, states)
        if cells is not None:
            return cells.by_state(what, states, needed)
        if self.is_by_pair:
            raise ValueError(f"{what}: labels of states and actions, expected one number a state")
        made, places = np.zeros(states.size), states.find_all(what, self.labels)
        made[places] = self.numbers(what)
        missing = np.setdiff1d(needed, places)
        if len(missing):
            raise ValueError(f"{what}: nothing for state {quoted(states.labels(missing))}")
        return made

    def by_pair(
        self,
        what: str,
        pairs: Pairs,
        absent: float | None = None,
        check: Callable[[FloatArray], None] = lambda _: None,
    ) -> FloatArray:
        """One number a pair; `absent`, if given, where there is none. `check` refuses what does not fit."""

        def read(labelled: Labelled) -> FloatArray:
            made = labelled._in_rows(what, pairs, absent)
            check(made)
            return made

        made = read(self)
        if self.told_by == "levels":
            swapped = replace(self, labels=tuple((second, first) for first, second in self.labels))
            refuse_two_orders(what, made, lambda: read(swapped))
        return made

    def _in_rows(self, what: str, pairs: Pairs, absent: float | None) -> FloatArray:
        """The first of two labels is the state."""
        distinct = list(dict.fromkeys(label for label, _ in self.labels))
        found = pairs.states.find_each(what, distinct)
        states = dict(zip(distinct, found, strict=True))
        pairs.states.refuse_unknown(what, [label for label, s in states.items() if s is None])
        values = self.numbers(what)
        rows = [pairs.row(what, states[s], a) for s, a in self.labels]
        self._refuse_unknown(what, rows, values, strict=absent is not None)
        there = np.array([k for k, row in enumerate(rows) if row is not None], dtype=np.int64)
        places = np.array([rows[k] for k in there], dtype=np.int64)
        refuse_repeated(what, "pair", places, [self.labels[k] for k in there])
        made = np.full(len(pairs.ids), np.nan if absent is None else absent)
        made[places] = values[there]
        if absent is None:
            missing = np.setdiff1d(np.arange(len(made)), places)
            if len(missing):
                words = ", ".join(pairs.label(int(row)) for row in missing[:5])
                raise ValueError(f"{what}: nothing for {words}{', …' if len(missing) > 5 else ''}")
        return made

    def _refuse_unknown(
        self, what: str, rows: list[int | None], values: FloatArray, strict: bool
    ) -> None:
        """Actions that a state does not have. A table may have cells for them: nothing counts there, and
        if `strict` nothing but 0 may stand there."""
        known = {action for (_, action), row in zip(self.labels, rows, strict=True) if row is not None}
        for (state, action), row, value in zip(self.labels, rows, values, strict=True):
            if row is not None:
                continue
            if not self.is_rectangle or action not in known or (strict and value != 0.0):
                raise ValueError(
                    f"{what}: state {quoted([state])} has no action {quoted([action])}"
                    + (", expected 0 there" if self.is_rectangle and action in known else "")
                )


def _of_table(what: str, table: Any) -> Labelled:
    table, _ = turned(what, table)
    values = np.asarray(table)
    there = np.argwhere(~np.asarray(table.isna()))
    rows, columns = table.index.tolist(), table.columns.tolist()
    labels = tuple((rows[i], columns[j]) for i, j in there)
    return Labelled(labels, tuple(values[i, j] for i, j in there), True, True)


def _of_series(what: str, series: Any) -> Labelled:
    index = series.index
    if index.nlevels > 2:
        raise TypeError(f"{what}: labels of {index.nlevels} levels, expected states or states and actions")
    if index.nlevels == 1:
        return Labelled(tuple(index.tolist()), tuple(series.tolist()), False)
    series, is_told = turned(what, series)
    labels, values = tuple(series.index.tolist()), tuple(series.tolist())
    return Labelled(labels, values, True, told_by="names" if is_told else "levels")


def _of_mapping(what: str, given: Mapping[Any, Any]) -> Labelled:
    nested = [isinstance(value, Mapping) for value in given.values()]
    if any(nested):
        if not all(nested):
            raise TypeError(f"{what}: expected a dictionary in every state or in none")
        flat = {(s, a): value for s, inner in given.items() for a, value in inner.items()}
        return Labelled(tuple(flat), tuple(flat.values()), True)
    in_pairs = bool(given) and all(isinstance(key, tuple) and len(key) == 2 for key in given)
    return Labelled(tuple(given), tuple(given.values()), in_pairs, told_by="keys")


def distribution(given: NumbersLike, states: Axis) -> FloatArray:
    """An initial distribution; states that labels leave out have probability 0."""
    if is_labelled(given):
        return Labelled.of("initial", given).by_state("initial", states, np.zeros(0, np.int64))
    return flat("initial", given)  # type: ignore[arg-type]


def in_order(what: str, given: Any, *axes: Axis) -> Any:
    """An array in the order of the axes, from labelled values; anything else as it is.

    Values of all labels are needed. A list may have labelled parts, along the axes from the second on.
    """
    if isinstance(given, Mapping):
        values = list(given.values())
        parts = [values[k] for k in _order(what, list(given), axes[0])] if axes else values
        return _each_in_order(what, parts, axes)
    if isinstance(given, (list, tuple)):
        return _each_in_order(what, given, axes) if any(map(is_labelled, given)) else given
    return _of_pandas(what, given, axes) if is_labelled(given) else given


def _each_in_order(what: str, parts: Sequence[Any], axes: tuple[Axis, ...]) -> list[Any]:
    return [in_order(f"{what}[{k}]", part, *axes[1:]) for k, part in enumerate(parts)]


def _of_pandas(what: str, given: Any, axes: tuple[Axis, ...]) -> Any:
    if len(axes) == 2 and (is_table(given) or (is_series(given) and given.index.nlevels == 2)):
        given, is_told = turned(what, given, (axes[0].kind, axes[1].kind))
        if is_table(given):
            return _in_cells(what, given, axes)
        table = given.unstack()
        made = _in_cells(what, table, axes)
        if not is_told and axes[0].kind != axes[1].kind:
            refuse_two_orders(what, made, lambda: _in_cells(what, table.T, axes))
        return made
    if is_series(given) and given.index.nlevels == len(axes) == 1:
        return np.asarray(given)[_order(what, given.index.tolist(), axes[0])]
    raise TypeError(
        f"{what}: the labels of this {type(given).__name__} are not understood here; give an array in "
        "the model's order"
    )


def _in_cells(what: str, table: Any, axes: tuple[Axis, ...]) -> NDArray[Any]:
    rows = _order(what, table.index.tolist(), axes[0])
    columns = _order(what, table.columns.tolist(), axes[1])
    return np.asarray(np.asarray(table)[np.ix_(rows, columns)])


def _order(what: str, labels: list[Any], axis: Axis) -> IntArray:
    """Where in `labels` the things of the axis are, one after the other."""
    try:
        places = axis.find_all(what, labels)
    except ValueError as error:
        if axis.names is not None or axis.kind not in ("state", "action"):
            raise
        raise ValueError(f"{error}; names need {axis.kind}_names=, which gives their order") from None
    missing = np.setdiff1d(np.arange(axis.size), places)
    if len(missing):
        raise ValueError(f"{what}: nothing for {axis.kind} {quoted(axis.labels(missing))}")
    return np.argsort(places)
