"""Arrays in the conventions of pymdptoolbox and QuantEcon, told apart by shapes and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._arrays import (
    FloatArray,
    IntArray,
    flat,
    integers,
    is_labelled,
    is_series,
    is_sparse,
    is_table,
    numbers,
)
from ._box import Box, given_or_chosen
from ._labels import Axis, in_order
from ._parts import Given, Parts, numbered
from ._rows import compressed


def of_arrays(
    P: Any,
    Q: Any,
    s_indices: ArrayLike | None,
    a_indices: ArrayLike | None,
    convention: str | None,
    given: Given,
    box: Box | None,
) -> Parts:
    name = "P"
    if P is None and Q is None and box is not None:
        chosen, box = given_or_chosen(None, box)
        P, Q = (chosen, None) if s_indices is None else (None, chosen)
        name = "upper"
    if (P is None) == (Q is None):
        raise TypeError("expected either P (pymdptoolbox, dense) or Q (QuantEcon)")
    if Q is not None:
        if convention is not None:
            raise TypeError("convention= is about P; QuantEcon's Q[S, A, S] has one order of axes")
        if (s_indices is None) != (a_indices is None):
            raise TypeError("s_indices and a_indices come together")
        if s_indices is not None and a_indices is not None:
            return of_pairs(Q, given, s_indices, a_indices, box=box)
        return _quantecon(Q, given, box)
    if s_indices is not None or a_indices is not None:
        raise TypeError("s_indices and a_indices belong to QuantEcon's Q[L, S]: give Q=, not P=")

    def kernel(what: str, array: Any) -> FloatArray:
        return numbers(what, _stacked(what, _ordered_kernel(what, array, convention, given)), 3)

    prob, single = kernel(name, P), is_single(P)
    by_action = _is_by_action(name, prob.shape, convention)
    if box is not None:
        box = box.each(kernel)
        box.expect_shape(prob.shape)
    if by_action:
        prob = prob.transpose(1, 0, 2)
        box = None if box is None else box.each(lambda _, bound: bound.transpose(1, 0, 2))
    states, actions, _ = prob.shape
    amounts = _stacked(given.name, _ordered_amounts(given, states, actions, by_action))
    base, further = _rewards(given.name, amounts, prob.shape, by_action)
    return _table(prob, base, further, box, given, single, name)


def _table(
    prob: FloatArray,
    base: FloatArray,
    further: FloatArray | None,
    box: Box | None,
    given: Given,
    single: bool,
    name: str,
) -> Parts:
    """Every state has all actions, but for those that are infinitely bad."""
    states, actions, _ = prob.shape
    absent = given.absent(base)
    if bool(absent.any()):
        s, a = np.divmod(np.flatnonzero(~absent), actions)
        feasible = replace(given, amounts=base[~absent])
        moves = None if further is None else further[s, a]
        within = None if box is None else box.each(lambda _, bound: bound[s, a])
        parts = of_pairs(prob[s, a], feasible, s, a, actions, moves, within)
    else:
        parts = given.table(base, states, actions)
        parts.dense = (prob, further, None if box is None else box.native())
    parts.is_single = single
    parts.normalise = f"{name} / {name}.sum(axis=-1, keepdims=True) divides every row by its sum"
    return parts


def depth(given: Any) -> int:
    """Number of axes."""
    if is_table(given):
        return 2
    if is_series(given):
        return int(given.index.nlevels)
    if isinstance(given, Mapping):
        return 1 + max((depth(value) for value in given.values()), default=0)
    if isinstance(given, (list, tuple)):
        return 1 + (depth(given[0]) if given else 0)
    return int(np.ndim(given))


def _ordered_kernel(what: str, P: Any, convention: str | None, given: Given) -> Any:
    """Labelled matrices, in a list or a dictionary, in the order of their names."""
    parts = list(P.values()) if isinstance(P, Mapping) else P
    if not isinstance(parts, (list, tuple)) or not any(map(is_labelled, [P, *parts])):
        return P
    shape = np.shape(parts[0])
    if len(shape) != 2:
        raise TypeError(f"{what}: expected one table an action, with a row and a column a state")
    if shape[0] == shape[1] and convention != "SAS":
        first, second = given.actions(len(parts)), given.states(shape[1])
    else:
        first, second = given.states(len(parts)), given.actions(shape[0])
    return in_order(what, P, first, second, given.states(shape[1]))


def _ordered_amounts(given: Given, states: int, actions: int, by_action: bool) -> Any:
    """Labelled rewards in the order of their names."""
    pair = (given.states(states), given.actions(actions))
    of_moves = (*(reversed(pair) if by_action else pair), pair[0])
    axes = depth(given.amounts)
    return in_order(given.name, given.amounts, *(of_moves if axes == 3 else pair[:axes]))


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


def _is_by_action(name: str, shape: tuple[int, ...], convention: str | None) -> bool:
    """Whether P is (A, S, S) rather than (S, A, S)."""
    if convention not in (None, "ASS", "SAS"):
        raise ValueError(f'convention={convention!r}, expected "ASS" or "SAS"')
    first, second, third = shape
    if 0 in shape:
        raise ValueError(f"{name} has shape {shape}, expected at least one state and one action")
    fits = {"ASS": second == third, "SAS": first == third}
    if convention is None:
        if fits["ASS"] and fits["SAS"]:
            raise ValueError(
                f"{name} has shape {shape}: as many actions as states, so that its axes cannot be "
                'told apart; give convention="ASS" (pymdptoolbox) or convention="SAS"'
            )
        convention = "ASS" if fits["ASS"] else "SAS"
    if not fits[convention]:
        raise ValueError(f"{name} has shape {shape}, expected (A, S, S) or (S, A, S)")
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
    return base.ravel(), array - np.where(np.isfinite(base), base, 0.0)[:, :, None]


def _quantecon(Q: Any, given: Given, box: Box | None) -> Parts:
    prob = numbers("Q", Q, 3)
    states, actions, last = prob.shape
    amounts = in_order(given.name, given.amounts, given.states(states), given.actions(actions))
    reward = numbers(given.name, amounts, 2)
    if last != states or reward.shape != (states, actions):
        raise ValueError(
            f"Q has shape {prob.shape} and {given.name} {reward.shape}, expected (S, A, S) and (S, A)"
        )
    if 0 in prob.shape:
        raise ValueError(f"Q has shape {prob.shape}, expected at least one state and one action")
    if box is not None:
        box = box.each(lambda name, bound: numbers(name, bound, 3))
        box.expect_shape(prob.shape)
    return _table(prob, reward.ravel(), None, box, given, is_single(Q), "Q")


def of_pairs(
    Q: Any,
    given: Given,
    s_indices: ArrayLike,
    a_indices: ArrayLike,
    actions: int | None = None,
    further: FloatArray | None = None,
    box: Box | None = None,
) -> Parts:
    """One row a pair, in any order; of `actions` actions, or as many as the numbers say."""
    shape = tuple(Q.shape) if hasattr(Q, "shape") else np.shape(Q)
    rows = Axis("row", shape[0] if shape else 0)
    s = integers("s_indices", in_order("s_indices", s_indices, rows))
    a = integers("a_indices", in_order("a_indices", a_indices, rows))
    cost = flat(given.name, in_order(given.name, given.amounts, rows))
    if len(shape) != 2 or not len(s) == len(a) == len(cost) == shape[0]:
        raise ValueError(
            f"Q has shape {shape}, {given.name} {cost.shape}, s_indices {s.shape} and a_indices "
            f"{a.shape}, expected (L, S) and three times (L,)"
        )
    states = int(shape[1])
    for k in np.flatnonzero((s < 0) | (s >= states) | (a < 0))[:1]:
        from_one = int(s.min()) == 1 and int(s.max()) == states
        raise ValueError(
            f"pair {k}: state {s[k]}, action {a[k]}, expected a state below {states} "
            "and an action of at least 0"
            + ("; states count from 0, and s_indices seem to count from 1" if from_one else "")
        )
    width = int(a.max(initial=-1)) + 1 if actions is None else actions
    order = np.lexsort((a, s))
    order = order[~given.absent(cost[order])]
    if len(order) < len(s) or not np.array_equal(order, np.arange(len(order))):
        s, a, cost = s[order], a[order], cost[order]
        Q = _reordered("Q", Q, order)
        box = None if box is None else box.each(lambda name, part: _reordered(name, part, order))
        further = None if further is None else further[order]
    for k in np.flatnonzero((s[1:] == s[:-1]) & (a[1:] == a[:-1]))[:1]:
        raise ValueError(f"state {s[k]}, action {a[k]} is listed twice")
    starts = np.searchsorted(s, np.arange(states + 1)).astype(np.int64)
    for state in np.flatnonzero(np.diff(starts) == 0)[:1]:
        error = _native.ModelError(f"state {state} has no actions, expected at least one")
        error.state = int(state)
        raise error
    parts = given.parts(cost, states, a, width)
    if parts.action_names is None:
        parts.action_names = numbered(starts, a)
    parts.actions, parts.rows = a, (starts, compressed("Q", Q, further, box))
    parts.is_single = is_single(Q)
    return parts


def _reordered(what: str, rows: Any, order: IntArray) -> Any:
    return rows.tocsr()[order] if is_sparse(rows) else numbers(what, rows, 2)[order]
