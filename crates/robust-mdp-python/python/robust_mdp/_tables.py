"""Models from transition dictionaries of Gymnasium and from tables of transitions."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FloatArray, IntArray, common_cost, flat, integers, numbers
from ._messages import ModelWarning, warn
from ._parts import Parts, numbered


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


def of_gymnasium(env: Any, initial: ArrayLike | None) -> Parts:
    if isinstance(env, str):
        raise TypeError(f"env: expected an environment, not its name: gymnasium.make({env!r})")
    table = env
    if not isinstance(env, (Mapping, Sequence)):
        _warn_of_wrappers(env)
        inner = getattr(env, "unwrapped", env)
        table = getattr(inner, "P", None)
        if table is None:
            raise TypeError(
                f"{type(inner).__name__} has no transition dictionary P: only environments that know "
                "their transitions, such as FrozenLake, CliffWalking and Taxi, are models"
            )
        if initial is None:
            initial = getattr(inner, "initial_state_distrib", None)
    states = _items(table)
    numbers_given = [s for s, _ in states]
    if numbers_given != list(range(len(states))) or not states:
        raise ValueError(f"states {numbers_given[:5]}…, expected 0, 1, 2, … without gaps")
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


def _warn_of_wrappers(env: Any) -> None:
    """Wrappers that change what is seen, done or paid are not in the transition dictionary."""
    gymnasium = sys.modules.get("gymnasium")
    kinds = tuple(
        getattr(gymnasium, f"{what}Wrapper", ()) for what in ("Observation", "Action", "Reward")
    )
    while hasattr(env, "env") and env is not getattr(env, "unwrapped", env):
        if isinstance(env, kinds):
            warn(
                f"{type(env).__name__} is left out: the model is that of the environment inside",
                ModelWarning,
            )
        env = env.env


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
    initial: ArrayLike | None,
) -> Parts:
    # States that every action keeps without reward: it does not matter whether they end.
    moves = (prob > 0.0) & ((target != state_of_row[row]) | (reward != 0.0))
    keeps = np.ones(states, dtype=bool)
    keeps[state_of_row[row[moves]]] = False
    inside = (target >= 0) & (target < states)
    known = np.where(inside, target, 0)
    lost = ended & inside & ~keeps[known]
    sink = bool(np.any(lost & (prob > 0.0)))
    target = np.where(lost, states, target)
    entered = np.zeros(states, dtype=bool)
    entered[known[ended & inside & keeps[known]]] = True
    final = keeps & entered
    # Rows of states that became terminal go.
    kept_rows = ~final[state_of_row] if len(state_of_row) else np.zeros(0, dtype=bool)
    kept = kept_rows[row] & ((prob != 0.0) | np.isnan(prob))
    number = np.cumsum(kept_rows) - 1
    row, prob, target, reward = number[row[kept]], prob[kept], target[kept], reward[kept]
    count = int(kept_rows.sum())
    indptr = np.searchsorted(row, np.arange(count + 1)).astype(np.int64)
    cost, further = common_cost(indptr, reward)
    total = states + int(sink)
    owner = state_of_row[kept_rows]
    starts = np.searchsorted(owner, np.arange(total + 1)).astype(np.int64)
    actions = np.array([a for _, a, _ in rows], dtype=np.int64)[kept_rows]
    start = None if initial is None else flat("initial", initial)
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
        rows=(starts, (indptr, target, prob, further)),
    )


def _column(frame: Any, name: str) -> NDArray[Any]:
    """A column, all of it there."""
    column = frame[name]
    missing = column.isna() if hasattr(column, "isna") else column.is_null()
    for line in np.flatnonzero(missing.to_numpy())[:1]:
        raise ValueError(f"line {line}: nothing in column “{name}”")
    return np.asarray(column.to_numpy())


def _labels(frame: Any, names: list[str]) -> tuple[list[IntArray], list[str] | None, int]:
    """Numbers of states or actions, their names if they have any, and how many there are."""
    what = f"column{'s' if len(names) > 1 else ''} {' and '.join(names)}"
    arrays = [_column(frame, name) for name in names]
    whole = [array.dtype.kind in "iu" for array in arrays]
    if all(whole):
        made = [integers(what, array) for array in arrays]
        return made, None, max((int(array.max(initial=-1)) for array in made), default=-1) + 1
    for array in arrays:
        if array.dtype.kind == "f":
            raise TypeError(f"{what}: expected whole numbers or labels, not {array.dtype}")
    if any(whole):
        kinds = " and ".join(str(array.dtype) for array in arrays)
        raise TypeError(f"{what}: expected numbers in both or labels in both, not {kinds}")
    number: dict[Any, int] = {}
    made = []
    for array in arrays:
        codes = [number.setdefault(label, len(number)) for label in array.tolist()]
        made.append(np.array(codes, dtype=np.int64))
    return made, [str(label) for label in number], len(number)


def of_dataframe(
    frame: Any, names: tuple[str, str, str, str, str | None, str | None], initial: ArrayLike | None
) -> Parts:
    state, action, target, probability, cost, reward = names
    if hasattr(frame, "collect") or not hasattr(frame, "columns"):
        kind = type(frame).__name__
        raise TypeError(f"frame: expected a DataFrame of pandas or polars, not a {kind}")
    columns = list(frame.columns)
    if cost is None and reward is None:
        found = [name for name in ("cost", "reward") if name in columns]
        if len(found) != 1:
            raise ValueError(
                f"expected one column “cost” or “reward” (or cost= or reward= to name it), "
                f"found {found or columns}"
            )
        cost, reward = ("cost", None) if found == ["cost"] else (None, "reward")
    if cost is not None and reward is not None:
        raise TypeError("expected either cost= or reward=")
    amount = cost if cost is not None else reward
    assert amount is not None
    for name in (state, action, target, probability, amount):
        if name not in columns:
            raise ValueError(f"no column “{name}”, found {columns}")
    (origin, to), state_names, states = _labels(frame, [state, target])
    for k in np.flatnonzero((origin < 0) | (to < 0))[:1]:
        raise ValueError(f"line {k}: state {min(origin[k], to[k])}, expected at least 0")
    if states > 10 * len(origin) + 1000:
        raise ValueError(
            f"state {states - 1} in a table of {len(origin)} lines, expected numbers from 0 without "
            "wide gaps; if they are labels, make them strings"
        )
    (act,), action_names, _ = _labels(frame, [action])
    prob = numbers(probability, frame[probability].to_numpy(), 1)
    amounts = numbers(amount, frame[amount].to_numpy(), 1)
    order = np.lexsort((act, origin))
    origin, act, to = origin[order], act[order], to[order]
    prob, amounts = prob[order], amounts[order]
    first = np.ones(len(origin), dtype=bool)
    first[1:] = (origin[1:] != origin[:-1]) | (act[1:] != act[:-1])
    indptr = np.append(np.flatnonzero(first), len(origin)).astype(np.int64)
    owner, ids = origin[first], act[first]
    base, further = common_cost(indptr, np.ascontiguousarray(amounts))
    starts = np.searchsorted(owner, np.arange(states + 1)).astype(np.int64)
    ended = np.flatnonzero(np.diff(starts) == 0)
    if len(ended):
        listed = ", ".join(str(s if state_names is None else state_names[s]) for s in ended[:5])
        more = ", …" if len(ended) > 5 else ""
        warn(f"{len(ended)} states have no actions and are terminal: {listed}{more}", ModelWarning)
    return Parts(
        cost=base,
        maximise=cost is None,
        states=states,
        initial=None if initial is None else flat("initial", initial),
        state_names=state_names,
        action_names=numbered(starts, ids) if action_names is None else [action_names[a] for a in ids],
        actions=None if action_names is not None else ids,
        rows=(starts, (indptr, to, np.ascontiguousarray(prob), further)),
    )
