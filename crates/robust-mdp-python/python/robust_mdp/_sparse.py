"""Models from SciPy's sparse matrices, which stay sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FloatArray, common_cost, is_series, is_sparse, numbers
from ._box import Box, given_or_chosen
from ._conventions import depth, is_single, of_pairs
from ._labels import Axis, in_order
from ._messages import ModelWarning, warn
from ._parts import Given, Parts
from ._rows import Compressed, compressed


def of_scipy(
    probabilities: Any,
    s_indices: ArrayLike | None,
    a_indices: ArrayLike | None,
    given: Given,
    bounds: Box | None,
) -> Parts:
    P, box = given_or_chosen(probabilities, bounds)
    if is_sparse(given.amounts):
        given = replace(given, amounts=given.amounts.toarray())
    if is_sparse(P):
        if (s_indices is None) != (a_indices is None):
            raise TypeError("s_indices and a_indices come together")
        rows, states = P.shape
        if s_indices is None or a_indices is None:
            if states == 0 or rows % states:
                raise ValueError(
                    f"P has shape {P.shape}, expected as many rows for each of its {states} states "
                    "(or s_indices and a_indices, which say what the rows are)"
                )
            actions = rows // states
            s_indices = np.repeat(np.arange(states), actions)
            a_indices = np.tile(np.arange(actions), states)
            base, dense = _row_rewards(given, states, actions)
            if dense is not None:
                raise ValueError(
                    f"{given.name} has shape {dense.shape}, expected ({states},) or "
                    f"{(states, actions)}: rewards of transitions belong to one matrix an action"
                )
            given = replace(given, amounts=base)
        return of_pairs(P, given, s_indices, a_indices, box=box)
    if s_indices is not None or a_indices is not None:
        raise TypeError("s_indices and a_indices belong to one matrix with a row for every pair")
    if not isinstance(P, (Sequence, np.ndarray)) or isinstance(P, str):
        raise TypeError("P: expected sparse matrices, one an action, or one sparse matrix")
    if len(P) == 0 or not all(is_sparse(matrix) for matrix in P):
        raise TypeError("P: expected sparse matrices; Model.from_arrays takes dense ones")
    states = P[0].shape[0]
    for a, matrix in enumerate(P):
        if matrix.shape != (states, states):
            raise ValueError(f"P[{a}] has shape {matrix.shape}, expected {(states, states)}")
    boxes = [None] * len(P) if box is None else _by_action(box, len(P))
    tables = [
        compressed(f"P[{a}]", matrix, box=box) for a, (matrix, box) in enumerate(zip(P, boxes, strict=True))
    ]
    amounts = given.amounts
    if isinstance(amounts, (Sequence, np.ndarray)) and len(amounts) and is_sparse(amounts[0]):
        base, tables = _sparse_rewards(given.name, list(amounts), tables, states)
    else:
        base, dense = _row_rewards(given, states, len(P))
        if dense is not None:
            base, tables = _sparse_rewards(given.name, list(dense), tables, states)
    if bool(given.absent(base).any()):
        return _without_absent(P, base, tables, given, box)
    parts = given.table(base, states, len(P))
    parts.matrices, parts.is_single = tables, is_single(P[0])
    return parts


def _without_absent(
    P: Any, base: FloatArray, tables: list[Compressed], given: Given, box: Box | None
) -> Parts:
    """The pairs alone that are not infinitely bad, as rows of one matrix."""
    from scipy.sparse import vstack

    if any(further is not None for *_, further, _ in tables):
        raise ValueError(f"{given.name}: infinite rewards of transitions, expected finite ones")
    there, states = ~given.absent(base), P[0].shape[0]
    s, a = np.divmod(np.flatnonzero(there), len(P))

    def rows(matrices: Any) -> Any:
        stacked: Any = vstack([matrix.tocsr() for matrix in matrices], format="csr")
        return stacked[a * states + s]

    within = None if box is None else box.each(lambda _, matrices: rows(matrices))
    feasible = replace(given, amounts=base[there])
    return of_pairs(rows(P), feasible, s, a, len(P), box=within)


def _by_action(box: Box, actions: int) -> list[Box]:
    """The bounds of every action's matrix."""
    for name, matrices in (("lower", box.lower), ("upper", box.upper)):
        if not isinstance(matrices, (Sequence, np.ndarray)) or len(matrices) != actions:
            raise TypeError(f"{name}: expected {actions} sparse matrices, one an action")
    pairs = zip(box.lower, box.upper, strict=True)
    return [Box(lower, upper, box.chooses) for lower, upper in pairs]


def _row_rewards(
    given: Given, states: int, actions: int
) -> tuple[FloatArray, FloatArray | None]:
    amounts, pair = given.amounts, (given.states(states), given.actions(actions))
    if is_series(amounts) and len(amounts) != states:
        amounts = in_order(given.name, amounts, Axis("row", states * actions))
    array = numbers(given.name, in_order(given.name, amounts, *pair[: depth(amounts)]))
    if array.shape == (states,):
        return np.repeat(array, actions), None
    if array.shape in ((states, actions), (states * actions,)):
        return array.ravel(), None
    if array.shape == (actions, states, states):
        return np.zeros(0), array
    raise ValueError(
        f"{given.name} has shape {array.shape}, expected ({states},) or {(states, actions)}"
    )


def _sparse_rewards(
    name: str, given: Sequence[Any], tables: list[Compressed], states: int
) -> tuple[FloatArray, list[Compressed]]:
    """Rewards of transitions, taken where the probabilities are."""
    if len(given) != len(tables):
        raise ValueError(f"{len(given)} matrices in {name}, expected {len(tables)}")
    base = np.zeros((states, len(tables)))
    made: list[Compressed] = []
    dropped = 0
    for a, (reward, table) in enumerate(zip(given, tables, strict=True)):
        starts, next_states, prob, _, bounds = table
        if reward.shape != (states, states):
            raise ValueError(
                f"{name}[{a}] has shape {reward.shape}, expected {(states, states)}"
            )
        row: NDArray[Any] = np.repeat(np.arange(states), np.diff(starts))
        rows = reward.tocsr() if is_sparse(reward) else reward
        taken = rows[row, next_states]
        taken = taken.toarray() if hasattr(taken, "toarray") else taken
        values = np.asarray(taken, dtype=np.float64).ravel()
        paid = np.transpose(rows.nonzero()).astype(np.int64)
        listed = row * states + next_states
        dropped += int((~np.isin(paid[:, 0] * states + paid[:, 1], listed)).sum())
        cost, further = common_cost(starts, values)
        base[:, a] = cost
        made.append((starts, next_states, prob, further, bounds))
    if dropped:
        warn(
            f"{name}: {dropped} numbers belong to transitions that P does not list and are left out; they "
            "matter to sets that may leave the nominal support (list them with probability 0)",
            ModelWarning,
        )
    return base.ravel(), made
