"""Arrays in the conventions of pymdptoolbox and QuantEcon, told apart by shapes and names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._arrays import FloatArray, compressed, flat, integers, is_sparse, numbers
from ._parts import Given, Parts, numbered


def of_arrays(
    P: Any,
    Q: Any,
    s_indices: ArrayLike | None,
    a_indices: ArrayLike | None,
    convention: str | None,
    given: Given,
) -> Parts:
    if (P is None) == (Q is None):
        raise TypeError("expected either P (pymdptoolbox, dense) or Q (QuantEcon)")
    if Q is not None:
        if convention is not None:
            raise TypeError("convention= is about P; QuantEcon's Q[S, A, S] has one order of axes")
        if (s_indices is None) != (a_indices is None):
            raise TypeError("s_indices and a_indices come together")
        if s_indices is not None and a_indices is not None:
            return of_pairs(Q, given, s_indices, a_indices)
        return _quantecon(Q, given)
    if s_indices is not None or a_indices is not None:
        raise TypeError("s_indices and a_indices belong to QuantEcon's Q[L, S]: give Q=, not P=")
    P = _stacked("P", P)
    prob = numbers("P", P, 3)
    by_action = _is_by_action(prob.shape, convention)
    if by_action:
        prob = prob.transpose(1, 0, 2)
    states, actions, _ = prob.shape
    amounts = _stacked(given.name, given.amounts)
    base, further = _rewards(given.name, amounts, prob.shape, by_action)
    parts = given.table(base, states, actions)
    parts.dense, parts.is_single = (prob, further), is_single(P)
    return parts


def _stacked(what: str, array: Any) -> Any:
    """pymdptoolbox also takes one matrix an action, in a vector of objects."""
    matrices = array
    if isinstance(array, np.ndarray) and array.dtype.kind == "O" and array.ndim == 1:
        matrices = list(array)
    first = matrices[0] if isinstance(matrices, (list, tuple)) and matrices else matrices
    if is_sparse(first):
        raise TypeError(f"{what} is sparse: use Model.from_scipy, which keeps it so")
    return matrices


def is_single(array: Any) -> bool:
    """Whether probabilities are in a precision in which hardly any sum to 1."""
    first = array[0] if isinstance(array, (list, tuple)) and array else array
    return getattr(first, "dtype", None) in (np.dtype(np.float32), np.dtype(np.float16))


def _is_by_action(shape: tuple[int, ...], convention: str | None) -> bool:
    """Whether P is (A, S, S) rather than (S, A, S)."""
    if convention not in (None, "ASS", "SAS"):
        raise ValueError(f'convention={convention!r}, expected "ASS" or "SAS"')
    first, second, third = shape
    if 0 in shape:
        raise ValueError(f"P has shape {shape}, expected at least one state and one action")
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


def _quantecon(Q: Any, given: Given) -> Parts:
    prob, reward = numbers("Q", Q, 3), numbers(given.name, given.amounts, 2)
    states, actions, last = prob.shape
    if last != states or reward.shape != (states, actions):
        raise ValueError(
            f"Q has shape {prob.shape} and {given.name} {reward.shape}, expected (S, A, S) and (S, A)"
        )
    if 0 in prob.shape:
        raise ValueError(f"Q has shape {prob.shape}, expected at least one state and one action")
    absent = np.isneginf(reward) if given.maximise else np.isposinf(reward)
    if bool(absent.any()):
        s, a = np.nonzero(~absent)
        feasible = replace(given, amounts=reward[s, a])
        return of_pairs(prob[s, a], feasible, s, a, actions)
    parts = given.table(reward.ravel(), states, actions)
    parts.dense, parts.is_single = (prob, None), is_single(Q)
    return parts


def of_pairs(
    Q: Any,
    given: Given,
    s_indices: ArrayLike,
    a_indices: ArrayLike,
    actions: int | None = None,
) -> Parts:
    """One row a pair, in any order; of `actions` actions, or as many as the numbers say."""
    s, a = integers("s_indices", s_indices), integers("a_indices", a_indices)
    cost = flat(given.name, given.amounts)
    shape = tuple(Q.shape) if hasattr(Q, "shape") else np.shape(Q)
    if len(shape) != 2 or not len(s) == len(a) == len(cost) == shape[0]:
        raise ValueError(
            f"Q has shape {shape}, {given.name} {cost.shape}, s_indices {s.shape} and a_indices "
            f"{a.shape}, expected (L, S) and three times (L,)"
        )
    states = int(shape[1])
    for k in np.flatnonzero((s < 0) | (s >= states) | (a < 0))[:1]:
        raise ValueError(
            f"pair {k}: state {s[k]}, action {a[k]}, expected a state below {states} "
            "and an action of at least 0"
        )
    order = np.lexsort((a, s))
    if not np.array_equal(order, np.arange(len(order))):
        s, a, cost = s[order], a[order], cost[order]
        Q = Q.tocsr()[order] if is_sparse(Q) else np.asarray(Q)[order]
    for k in np.flatnonzero((s[1:] == s[:-1]) & (a[1:] == a[:-1]))[:1]:
        raise ValueError(f"state {s[k]}, action {a[k]} is listed twice")
    starts = np.searchsorted(s, np.arange(states + 1)).astype(np.int64)
    for state in np.flatnonzero(np.diff(starts) == 0)[:1]:
        error = _native.ModelError(f"state {state} has no actions, expected at least one")
        error.state = int(state)
        raise error
    width = int(a.max(initial=-1)) + 1 if actions is None else actions
    parts = given.parts(cost, states, a, width)
    if parts.action_names is None:
        parts.action_names = numbered(starts, a)
    parts.actions, parts.rows = a, (starts, compressed("Q", Q))
    parts.is_single = is_single(Q)
    return parts
