"""Arrays in the conventions of pymdptoolbox, QuantEcon and SciPy, told apart by shapes and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._arrays import FloatArray, IndexArray, IntArray, common_cost, flat, indices, integers, numbers

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

    def build(self, discount: float | None) -> _native.Model:
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


def _one_of(R: Any, cost: Any) -> tuple[Any, bool, str]:
    if (R is None) == (cost is None):
        raise TypeError("expected either R (rewards, maximised) or cost (minimised)")
    return (R, True, "R") if cost is None else (cost, False, "cost")


def _names(
    what: str, names: Sequence[str] | None, count: int, each: IntArray | None = None
) -> list[str] | None:
    if names is None:
        return None
    made = [str(name) for name in names]
    if len(made) != count:
        raise ValueError(f"{len(made)} {what}, expected {count}")
    return made if each is None else [made[a] for a in each]


def of_arrays(
    P: Any,
    R: Any,
    cost: Any,
    Q: Any,
    s_indices: ArrayLike | None,
    a_indices: ArrayLike | None,
    convention: str | None,
    initial: ArrayLike | None,
    state_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
) -> Parts:
    given, maximise, name = _one_of(R, cost)
    start = None if initial is None else flat("initial", initial)
    if (P is None) == (Q is None):
        raise TypeError("expected either P (pymdptoolbox, dense) or Q (QuantEcon)")
    if Q is not None:
        if convention is not None:
            raise TypeError("convention= is about P; QuantEcon's Q[S, A, S] has one order of axes")
        if (s_indices is None) != (a_indices is None):
            raise TypeError("s_indices and a_indices come together")
        if s_indices is not None and a_indices is not None:
            return of_pairs(
                Q, given, maximise, name, s_indices, a_indices, start, state_names, action_names
            )
        return _quantecon(Q, given, maximise, name, start, state_names, action_names)
    if s_indices is not None or a_indices is not None:
        raise TypeError("s_indices and a_indices belong to QuantEcon's Q[L, S]: give Q=, not P=")
    if _is_sparse(P) or (isinstance(P, (list, tuple)) and P and _is_sparse(P[0])):
        raise TypeError("P is sparse: use Model.from_scipy, which keeps it so")
    prob = numbers("P", P, 3)
    by_action = _is_by_action(prob.shape, convention)
    if by_action:
        prob = prob.transpose(1, 0, 2)
    states, actions, _ = prob.shape
    _check_sizes("P", states, actions)
    base, further = _rewards(name, given, prob.shape, by_action)
    ids = np.tile(np.arange(actions), states)
    return Parts(
        cost=base,
        maximise=maximise,
        states=states,
        initial=start,
        state_names=_names("state names", state_names, states),
        action_names=_names("action names", action_names, actions, ids),
        dense=(prob, further),
    )


def _check_sizes(what: str, states: int, actions: int) -> None:
    if states == 0 or actions == 0:
        raise ValueError(f"{what} has {states} states and {actions} actions, expected some of both")


def _is_by_action(shape: tuple[int, ...], convention: str | None) -> bool:
    """Whether P is (A, S, S) rather than (S, A, S)."""
    if convention not in (None, "ASS", "SAS"):
        raise ValueError(f'convention={convention!r}, expected "ASS" or "SAS"')
    first, second, third = shape
    fits = {"ASS": second == third, "SAS": first == third}
    if convention is None:
        if fits["ASS"] and fits["SAS"]:
            raise ValueError(
                f"P has shape {shape}: as many actions as states, so that its axes cannot be "
                'told apart; give convention="ASS" (pymdptoolbox) or convention="SAS"'
            )
        convention = "ASS" if fits["ASS"] else "SAS"
    if not fits[convention]:
        raise ValueError(f"P has shape {shape}, expected (A, S, S) or (S, A, S)")
    return convention == "ASS"


def _rewards(
    name: str, given: Any, shape: tuple[int, ...], by_action: bool
) -> tuple[FloatArray, FloatArray | None]:
    """Costs of rows, and of transitions beyond them."""
    states, actions, _ = shape
    array = numbers(name, given)
    if array.shape == (states,):
        return np.repeat(array, actions), None
    if array.shape == (states, actions):
        return array.ravel(), None
    if by_action and array.shape == (actions, states, states):
        array = array.transpose(1, 0, 2)
    elif by_action or array.shape != (states, actions, states):
        last = f"({actions}, {states}, {states})" if by_action else f"{(*shape,)}"
        raise ValueError(
            f"{name} has shape {array.shape}, expected ({states},), ({states}, {actions}) or {last}"
        )
    low, high = array.min(axis=2), array.max(axis=2)
    base = np.where(low == high, low, 0.0)
    if bool(np.all(low == high)):
        return base.ravel(), None
    return base.ravel(), array - base[:, :, None]


def _quantecon(
    Q: Any,
    given: Any,
    maximise: bool,
    name: str,
    initial: FloatArray | None,
    state_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
) -> Parts:
    prob, reward = numbers("Q", Q, 3), numbers(name, given, 2)
    states, actions, last = prob.shape
    if last != states or reward.shape != (states, actions):
        raise ValueError(
            f"Q has shape {prob.shape} and {name} {reward.shape}, expected (S, A, S) and (S, A)"
        )
    _check_sizes("Q", states, actions)
    absent = np.isneginf(reward) if maximise else np.isposinf(reward)
    if bool(absent.any()):
        s, a = np.nonzero(~absent)
        return of_pairs(
            prob[s, a], reward[s, a], maximise, name, s, a, initial, state_names, action_names,
            states, actions,
        )  # fmt: skip
    ids = np.tile(np.arange(actions), states)
    return Parts(
        cost=reward.ravel(),
        maximise=maximise,
        states=states,
        initial=initial,
        state_names=_names("state names", state_names, states),
        action_names=_names("action names", action_names, actions, ids),
        dense=(prob, None),
    )


def of_pairs(
    Q: Any,
    given: Any,
    maximise: bool,
    name: str,
    s_indices: ArrayLike,
    a_indices: ArrayLike,
    initial: FloatArray | None,
    state_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
    states: int | None = None,
    actions: int | None = None,
) -> Parts:
    """One row a pair, in any order."""
    s, a = integers("s_indices", s_indices), integers("a_indices", a_indices)
    cost = flat(name, given)
    shape = tuple(Q.shape) if hasattr(Q, "shape") else np.shape(Q)
    if len(shape) != 2 or not len(s) == len(a) == len(cost) == shape[0]:
        raise ValueError(
            f"Q has shape {shape}, {name} {cost.shape}, s_indices {s.shape} and a_indices {a.shape}, "
            "expected (L, S) and three times (L,)"
        )
    states = shape[1] if states is None else states
    for k in np.flatnonzero((s < 0) | (s >= states) | (a < 0))[:1]:
        raise ValueError(
            f"pair {k}: state {s[k]}, action {a[k]}, expected a state below {states} "
            "and an action of at least 0"
        )
    order = np.lexsort((a, s))
    if not np.array_equal(order, np.arange(len(order))):
        s, a, cost = s[order], a[order], cost[order]
        Q = Q.tocsr()[order] if _is_sparse(Q) else np.asarray(Q)[order]
    for k in np.flatnonzero((s[1:] == s[:-1]) & (a[1:] == a[:-1]))[:1]:
        raise ValueError(f"state {s[k]}, action {a[k]} is listed twice")
    starts = np.searchsorted(s, np.arange(states + 1)).astype(np.int64)
    for state in np.flatnonzero(np.diff(starts) == 0)[:1]:
        raise _native.ModelError(f"state {state} has no actions, expected at least one")
    width = int(a.max(initial=-1)) + 1 if actions is None else actions
    labels = _names("action names", action_names, width, a)
    plain = np.array_equal(a, np.arange(len(a)) - np.repeat(starts[:-1], np.diff(starts)))
    if labels is None and not plain:
        labels = [str(number) for number in a]
    return Parts(
        cost=cost,
        maximise=maximise,
        states=states,
        initial=initial,
        state_names=_names("state names", state_names, states),
        action_names=labels,
        actions=a,
        rows=(starts, compressed("Q", Q)),
    )


def _is_sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr")


def compressed(what: str, matrix: Any, further: FloatArray | None = None) -> Compressed:
    """The arrays of a matrix by rows, without copies where they are that already."""
    if not _is_sparse(matrix):
        dense = numbers(what, matrix, 2)
        row, column = np.nonzero(dense)
        starts = np.searchsorted(row, np.arange(len(dense) + 1)).astype(np.int64)
        return starts, column.astype(np.int64), np.ascontiguousarray(dense[row, column]), None
    rows = matrix.tocsr()
    return indices(rows.indptr), indices(rows.indices), flat(what, rows.data), further


def of_scipy(
    P: Any,
    R: Any,
    cost: Any,
    s_indices: ArrayLike | None,
    a_indices: ArrayLike | None,
    initial: ArrayLike | None,
    state_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
) -> Parts:
    given, maximise, name = _one_of(R, cost)
    start = None if initial is None else flat("initial", initial)
    if _is_sparse(P):
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
            given, _ = _row_rewards(name, given, states, actions)
        return of_pairs(
            P, given, maximise, name, s_indices, a_indices, start, state_names, action_names
        )
    if s_indices is not None or a_indices is not None:
        raise TypeError("s_indices and a_indices belong to one matrix with a row for every pair")
    if not isinstance(P, Sequence) and not isinstance(P, np.ndarray):
        raise TypeError("P: expected sparse matrices, one an action, or one sparse matrix")
    if len(P) == 0 or not all(_is_sparse(matrix) for matrix in P):
        raise TypeError("P: expected sparse matrices; Model.from_arrays takes dense ones")
    states = P[0].shape[0]
    for a, matrix in enumerate(P):
        if matrix.shape != (states, states):
            raise ValueError(f"P[{a}] has shape {matrix.shape}, expected {(states, states)}")
    actions = len(P)
    tables = [compressed(f"P[{a}]", matrix) for a, matrix in enumerate(P)]
    if isinstance(given, Sequence) and len(given) and _is_sparse(given[0]):
        base, tables = _sparse_rewards(name, given, tables, states)
    else:
        base, dense = _row_rewards(name, given, states, actions)
        if dense is not None:
            base, tables = _sparse_rewards(name, list(dense), tables, states)
    ids = np.tile(np.arange(actions), states)
    return Parts(
        cost=base,
        maximise=maximise,
        states=states,
        initial=start,
        state_names=_names("state names", state_names, states),
        action_names=_names("action names", action_names, actions, ids),
        matrices=tables,
    )


def _row_rewards(
    name: str, given: Any, states: int, actions: int
) -> tuple[FloatArray, FloatArray | None]:
    array = numbers(name, given)
    if array.shape == (states,):
        return np.repeat(array, actions), None
    if array.shape in ((states, actions), (states * actions,)):
        return array.ravel(), None
    if array.shape == (actions, states, states):
        return np.zeros(0), array
    raise ValueError(f"{name} has shape {array.shape}, expected ({states},) or {(states, actions)}")


def _sparse_rewards(
    name: str, given: Sequence[Any], tables: list[Compressed], states: int
) -> tuple[FloatArray, list[Compressed]]:
    """Rewards of transitions, taken where the probabilities are."""
    if len(given) != len(tables):
        raise ValueError(f"{len(given)} matrices in {name}, expected {len(tables)}")
    base = np.zeros((states, len(tables)))
    made: list[Compressed] = []
    for a, (reward, (starts, next_states, prob, _)) in enumerate(zip(given, tables, strict=True)):
        if reward.shape != (states, states):
            raise ValueError(
                f"{name}[{a}] has shape {reward.shape}, expected {(states, states)}"
            )
        row: NDArray[Any] = np.repeat(np.arange(states), np.diff(starts))
        rows = reward.tocsr() if _is_sparse(reward) else reward
        taken = rows[row, next_states]
        taken = taken.toarray() if hasattr(taken, "toarray") else taken
        values = np.asarray(taken, dtype=np.float64).ravel()
        cost, further = common_cost(starts, values)
        base[:, a] = cost
        made.append((starts, next_states, prob, further))
    return base.ravel(), made
