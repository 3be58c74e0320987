"""Models from transition dictionaries of Gymnasium and from tables of transitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FloatArray, IntArray, common_cost, flat, integers, numbers
from ._conventions import Parts
from ._messages import ModelWarning, warn


def _items(table: Any) -> list[tuple[int, Any]]:
    """Keys and values of a mapping with whole keys, or of a sequence, in order."""
    if isinstance(table, Mapping):
        return sorted((int(key), value) for key, value in table.items())
    if isinstance(table, (Sequence, np.ndarray)):
        return list(enumerate(table))
    raise TypeError(f"expected a mapping or a sequence, not {type(table).__name__}")


def of_gymnasium(env: Any, initial: ArrayLike | None) -> Parts:
    table = env
    if not isinstance(env, (Mapping, Sequence)):
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


def _outcome(s: int, a: int, outcome: Any) -> tuple[float, int, float, bool]:
    try:
        probability, target, reward, ended = outcome
        return float(probability), int(target), float(reward), bool(ended)
    except (TypeError, ValueError):
        raise ValueError(
            f"state {s}, action {a}: {outcome!r}, expected (probability, next, reward, terminated)"
        ) from None


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
    plain = np.array_equal(actions, np.arange(count) - np.repeat(starts[:-1], np.diff(starts)))
    start = None if initial is None else flat("initial", initial)
    if start is not None and sink:
        start = np.append(start, 0.0)
    return Parts(
        cost=cost,
        maximise=True,
        states=total,
        initial=start,
        state_names=[*map(str, range(states)), "terminated"] if sink else None,
        action_names=None if plain else [str(a) for a in actions],
        actions=actions,
        rows=(starts, (indptr, target, prob, further)),
    )


def _labels(what: str, columns: list[Any]) -> tuple[list[IntArray], list[str] | None, int]:
    """Numbers of states, their names if they have any, and how many there are."""
    arrays = [np.asarray(column) for column in columns]
    if all(array.dtype.kind in "iu" for array in arrays):
        whole = [integers(what, array) for array in arrays]
        return whole, None, max((int(array.max(initial=-1)) for array in whole), default=-1) + 1
    if any(array.dtype.kind == "f" for array in arrays):
        raise TypeError(f"{what}: expected whole numbers or labels, not {arrays[0].dtype}")
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
    (origin, to), state_names, states = _labels(
        f"columns {state} and {target}", [frame[state].to_numpy(), frame[target].to_numpy()]
    )
    for k in np.flatnonzero((origin < 0) | (to < 0))[:1]:
        raise ValueError(f"line {k}: state {min(origin[k], to[k])}, expected at least 0")
    (act,), action_names, _ = _labels(f"column {action}", [frame[action].to_numpy()])
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
    plain = np.array_equal(ids, np.arange(len(ids)) - np.repeat(starts[:-1], np.diff(starts)))
    row_names = None
    if action_names is not None:
        row_names = [action_names[a] for a in ids]
    elif not plain:
        row_names = [str(a) for a in ids]
    return Parts(
        cost=base,
        maximise=cost is None,
        states=states,
        initial=None if initial is None else flat("initial", initial),
        state_names=state_names,
        action_names=row_names,
        actions=None if action_names is not None else ids,
        rows=(starts, (indptr, to, np.ascontiguousarray(prob), further)),
    )
