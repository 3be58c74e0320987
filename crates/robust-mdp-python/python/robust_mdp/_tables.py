"""Models from transition dictionaries of Gymnasium and from tables of transitions."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray, IntArray, common_cost, integers, numbers
from ._box import Box
from ._interrupts import interruptibly, items
from ._labels import Axis, NumbersLike, distribution
from ._messages import ModelWarning, warn
from ._parts import Parts, numbered
from ._rows import Compressed


def _items(table: Any) -> list[tuple[int, Any]]:
    """Keys and values of a mapping with whole keys, or of a sequence, in order."""
    if isinstance(table, Mapping):
        for key in table:
            if isinstance(key, str) or not hasattr(key, "__index__"):
                raise ValueError(f"key {key!r} in the transition dictionary, expected whole numbers")
        return sorted((int(key), value) for key, value in table.items())
    if isinstance(table, (Sequence, np.ndarray)):
        return list(enumerate(table))
    raise TypeError(f"expected a mapping or a sequence, not {type(table).__name__}")


def of_gymnasium(env: Any, initial: NumbersLike | None) -> Parts:
    if isinstance(env, str):
        raise TypeError(f"env: expected an environment, not its name: gymnasium.make({env!r})")
    table = env
    if not isinstance(env, (Mapping, Sequence)):
        inner = getattr(env, "unwrapped", env)
        table = getattr(inner, "P", None)
        if table is None:
            raise TypeError(
                f"{type(inner).__name__} has no transition dictionary P: only environments that know "
                "their transitions, such as FrozenLake, CliffWalking and Taxi, are models"
            )
        _warn_of_wrappers(env)
        if initial is None:
            initial = getattr(inner, "initial_state_distrib", None)
    states = _items(table)
    numbers_given = [s for s, _ in states]
    if numbers_given != list(range(len(states))) or not states:
        from_one = numbers_given == list(range(1, len(states) + 1)) and bool(states)
        hint = ": states count from 0, and these seem to count from 1" if from_one else ""
        raise ValueError(f"states {numbers_given[:5]}…, expected 0, 1, 2, … without gaps{hint}")
    rows = [(s, a, outcomes) for s, actions in states for a, outcomes in _items(actions)]
    entries = [(k, *_outcome(s, a, o)) for k, (s, a, all_) in enumerate(rows) for o in all_]
    columns = list(zip(*entries, strict=True)) if entries else [()] * 5
    row = np.array(columns[0], dtype=np.int64)
    prob = np.array(columns[1], dtype=np.float64)
    target = np.array(columns[2], dtype=np.int64)
    reward = np.array(columns[3], dtype=np.float64)
    ended = np.array(columns[4], dtype=bool)
    state_of_row = np.array([s for s, _, _ in rows], dtype=np.int64)
    return _assembled(len(states), rows, row, prob, target, reward, ended, state_of_row, initial)


# Wrappers that watch, and the time limit, which has a warning of its own.
_HARMLESS = frozenset(
    ("OrderEnforcing", "PassiveEnvChecker", "TimeLimit", "RecordEpisodeStatistics", "RecordVideo")
)


def _warn_of_wrappers(env: Any) -> None:
    """What wrappers change is not in the transition dictionary: what is seen, done or paid, and when an
    episode is cut short."""
    limit = getattr(getattr(env, "spec", None), "max_episode_steps", None)
    while hasattr(env, "env") and env is not getattr(env, "unwrapped", env):
        if type(env).__name__ not in _HARMLESS:
            warn(
                f"{type(env).__name__} is left out: the model is that of the environment inside",
                ModelWarning,
            )
        own = getattr(env, "_max_episode_steps", None)
        limit = min((steps for steps in (limit, own) if steps is not None), default=None)
        env = env.env
    if limit is not None:
        warn(
            f"the time limit of {limit} steps is left out: values are those of episodes that go on until "
            "they terminate (gymnasium.make(…, max_episode_steps=-1) makes an environment without a limit)",
            ModelWarning,
        )


def _outcome(s: int, a: int, outcome: Any) -> tuple[float, int, float, bool]:
    try:
        probability, target, reward, ended = outcome
        chance, paid, is_last = float(probability), float(reward), bool(ended)
    except (TypeError, ValueError):
        raise ValueError(
            f"state {s}, action {a}: {outcome!r}, expected (probability, next, reward, terminated)"
        ) from None
    try:
        to = operator.index(target)
    except TypeError:
        raise ValueError(
            f"state {s}, action {a}: next state {target!r}, expected a whole number"
        ) from None
    return chance, to, paid, is_last


def _assembled(
    states: int,
    rows: list[tuple[int, int, Any]],
    row: IntArray,
    prob: FloatArray,
    target: IntArray,
    reward: FloatArray,
    ended: NDArray[np.bool_],
    state_of_row: IntArray,
    initial: NumbersLike | None,
) -> Parts:
    # States that every action keeps without reward: it does not matter whether they end.
    moves = (prob > 0.0) & ((target != state_of_row[row]) | (reward != 0.0))
    keeps = np.ones(states, dtype=bool)
    keeps[state_of_row[row[moves]]] = False
    inside = (target >= 0) & (target < states)
    known = np.where(inside, target, 0)
    lost = ended & inside & ~keeps[known]
    target = np.where(lost, states, target)
    entered = np.zeros(states, dtype=bool)
    entered[known[ended & inside & keeps[known]]] = True
    final = keeps & entered
    # Rows of states that became terminal go.
    kept_rows = ~final[state_of_row] if len(state_of_row) else np.zeros(0, dtype=bool)
    kept = kept_rows[row]
    sink = bool(np.any(lost & kept))
    number = np.cumsum(kept_rows) - 1
    row, prob, target, reward = number[row[kept]], prob[kept], target[kept], reward[kept]
    count = int(kept_rows.sum())
    indptr = np.searchsorted(row, np.arange(count + 1)).astype(np.int64)
    cost, further = common_cost(indptr, reward)
    total = states + int(sink)
    owner = state_of_row[kept_rows]
    starts = np.searchsorted(owner, np.arange(total + 1)).astype(np.int64)
    actions = np.array([a for _, a, _ in rows], dtype=np.int64)[kept_rows]
    start = None if initial is None else distribution(initial, Axis("state", states))
    if start is not None and sink:
        start = np.append(start, 0.0)
    return Parts(
        cost=cost,
        maximise=True,
        states=total,
        initial=start,
        state_names=[*map(str, range(states)), "terminated"] if sink else None,
        action_names=numbered(starts, actions),
        actions=actions,
        rows=(starts, (indptr, target, prob, further, None)),
        normalise="divide the probabilities of every list by their sum",
    )


def _column(frame: Any, name: str) -> NDArray[Any]:
    """A column, all of it there."""
    column = frame[name]

    def values() -> NDArray[Any]:
        missing = column.isna() if hasattr(column, "isna") else column.is_null()
        for line in np.flatnonzero(missing.to_numpy())[:1]:
            raise ValueError(f"line {line}: nothing in column “{name}”")
        return np.asarray(column.to_numpy())

    return interruptibly(len(column), values)


def _are_numbers(what: str, arrays: list[NDArray[Any]]) -> bool:
    """Whether columns hold whole numbers rather than labels."""
    whole = [array.dtype.kind in "iu" for array in arrays]
    for array in arrays:
        if array.dtype.kind == "f":
            raise TypeError(f"{what}: expected whole numbers or labels, not {array.dtype}")
    if any(whole) and not all(whole):
        kinds = " and ".join(str(array.dtype) for array in arrays)
        raise TypeError(f"{what}: expected numbers in both or labels in both, not {kinds}")
    return all(whole)


class _Numbering:
    """Labels numbered in the order in which they first appear."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.codes: dict[Any, int] = {}
        self.labels: dict[str, Any] = {}

    def name(self, label: Any) -> str:
        """What the label is called; no two labels share a name."""
        text = str(label)
        known = self.labels.setdefault(text, label)
        if known != label or type(known) is not type(label):
            raise ValueError(f"{self.what}: the labels {known!r} and {label!r} have the same name")
        return text

    def number(self, key: Any) -> int:
        return self.codes.setdefault(key, len(self.codes))


def _states(frame: Any, names: list[str]) -> tuple[IntArray, IntArray, list[str] | None, int]:
    """Numbers of states and next states, their names if they have any, and how many there are."""
    what = f"columns {' and '.join(names)}"
    arrays = [_column(frame, name) for name in names]
    if not _are_numbers(what, arrays):
        numbering = _Numbering(what)
        origin, to = (
            np.fromiter((numbering.number(numbering.name(x)) for x in items(array)), dtype=np.int64)
            for array in arrays
        )
        return origin, to, list(numbering.codes), len(numbering.codes)
    origin, to = (integers(what, array) for array in arrays)
    if len(origin) == 0:
        return origin, to, None, 0
    for k in np.flatnonzero((origin < 0) | (to < 0))[:1]:
        raise ValueError(f"line {k}: state {min(origin[k], to[k])}, expected at least 0")
    least, most = min(origin.min(), to.min()), max(origin.max(), to.max())
    return origin, to, None, _count_of_states(int(least), int(most), len(origin))


def _count_of_states(least: int, most: int, lines: int) -> int:
    if least > 0:
        raise ValueError(
            f"the smallest state is {least}, but states count from 0: subtract {least} from them, or make "
            "them strings if they are labels"
        )
    if most + 1 > 10 * lines + 1000:
        raise ValueError(
            f"state {most} in a table of {lines} lines, expected numbers from 0 without wide gaps; if "
            "they are labels, make them strings"
        )
    return most + 1


def _actions(frame: Any, name: str, origin: IntArray) -> tuple[IntArray, list[str] | None]:
    """What orders the actions of a state, one number a line, and their names if they have any.

    Actions that are numbers are ordered by them. Labels are numbered in the order in which they first
    appear in their state, whatever other states call theirs.
    """
    array = _column(frame, name)
    if _are_numbers(f"column {name}", [array]):
        return integers(f"column {name}", array), None
    numbering = _Numbering(f"column {name}")
    pairs = zip(items(origin), map(numbering.name, items(array)), strict=True)
    codes = np.fromiter(map(numbering.number, pairs), dtype=np.int64)
    return codes, [action for _, action in numbering.codes]


def _amount_column(columns: list[str], cost: str | None, reward: str | None) -> tuple[str, bool]:
    """The column of costs or rewards, and whether these are rewards."""
    if cost is not None and reward is not None:
        raise TypeError("expected either cost= or reward=")
    if cost is not None or reward is not None:
        return (cost, False) if cost is not None else (str(reward), True)
    found = [name for name in ("cost", "reward") if name in columns]
    if len(found) != 1:
        raise ValueError(
            f"expected one column “cost” or “reward” (or cost= or reward= to name it), "
            f"found {found or columns}"
        )
    return found[0], found[0] == "reward"


def _column_names(frame: Any) -> list[str]:
    if hasattr(frame, "collect") and hasattr(frame, "lazy"):
        raise TypeError("frame: a LazyFrame has no rows yet; expected a DataFrame: frame.collect()")
    # A Table of PyArrow calls its columns themselves `columns`.
    if hasattr(frame, "column_names") and hasattr(frame, "combine_chunks"):
        return list(frame.column_names)
    if hasattr(frame, "columns") and hasattr(frame, "to_numpy"):
        return list(frame.columns)
    raise TypeError(
        "frame: expected a DataFrame of pandas or polars or a Table of PyArrow, not a "
        f"{type(frame).__name__}"
    )


def of_dataframe(
    frame: Any,
    names: tuple[str, str, str, str, str | None, str | None],
    bounds: tuple[str | None, str | None],
    initial: NumbersLike | None,
) -> Parts:
    state, action, target, probability, cost, reward = names
    columns = _column_names(frame)
    amount, maximise = _amount_column(columns, cost, reward)
    box = Box.of(*bounds)
    if box is not None and probability not in columns:
        # Probabilities are chosen within the bounds.
        box, probability = Box(box.lower, box.upper, chooses=True), box.upper
    within = () if box is None else (box.lower, box.upper)
    for name in (state, action, target, probability, amount, *within):
        if name not in columns:
            raise ValueError(f"no column “{name}”, found {columns}")
        if columns.count(name) > 1:
            raise ValueError(f"{columns.count(name)} columns “{name}”, expected one")
    origin, to, state_names, states = _states(frame, [state, target])
    act, action_names = _actions(frame, action, origin)
    prob = numbers(probability, _column(frame, probability), 1)
    amounts = numbers(amount, _column(frame, amount), 1)
    if box is not None:
        box = box.each(lambda _, name: numbers(name, _column(frame, name), 1))
    owner, ids, base, rows = interruptibly(
        len(origin), lambda: _sorted_rows(origin, act, to, prob, amounts, box)
    )
    starts = np.searchsorted(owner, np.arange(states + 1)).astype(np.int64)
    axis = Axis("state", states, state_names)
    ended = np.flatnonzero(np.diff(starts) == 0)
    if len(ended):
        listed = ", ".join(map(str, axis.labels(ended[:5])))
        more = ", …" if len(ended) > 5 else ""
        warn(f"{len(ended)} states have no actions and are terminal: {listed}{more}", ModelWarning)
    return Parts(
        cost=base,
        maximise=maximise,
        states=states,
        initial=None if initial is None else distribution(initial, axis),
        state_names=state_names,
        action_names=numbered(starts, ids) if action_names is None else [action_names[a] for a in ids],
        actions=None if action_names is not None else ids,
        rows=(starts, rows),
        normalise=(
            f"with pandas, frame[{probability!r}] / frame.groupby([{state!r}, {action!r}])"
            f"[{probability!r}].transform('sum') divides every row by its sum"
        ),
    )


def _sorted_rows(
    origin: IntArray,
    act: IntArray,
    to: IntArray,
    prob: FloatArray,
    amounts: FloatArray,
    box: Box | None,
) -> tuple[IntArray, IntArray, FloatArray, Compressed]:
    """States, actions and costs of the rows, and the rows."""
    order = np.lexsort((act, origin))
    origin, act = origin[order], act[order]
    first = np.ones(len(origin), dtype=bool)
    first[1:] = (origin[1:] != origin[:-1]) | (act[1:] != act[:-1])
    indptr = np.append(np.flatnonzero(first), len(origin)).astype(np.int64)
    base, further = common_cost(indptr, amounts[order])
    bounds = None if box is None else box.each(lambda _, bound: bound[order]).native()
    return origin[first], act[first], base, (indptr, to[order], prob[order], further, bounds)
