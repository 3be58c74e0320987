"""Costs of a model's transitions on the transitions of another kernel.

A row may lead to one next state at several costs: these are transitions of their own, because nature may
move mass between them. A kernel that lists a next state as often as the model does speaks of them in the
same order. One that lists it otherwise, such as ``P[S, A, S]``, does not say how its probability is
divided among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray, IntArray

Rows = tuple[NDArray[Any], NDArray[Any], FloatArray]


def transfer(
    states: int, own: Rows, further: FloatArray, kernel: Rows
) -> tuple[Rows, FloatArray, int]:
    """The rows of `kernel`, the costs that the model's transitions `own` have there (0 where the model has
    none), and of how many entries the probability was divided as the model divides its own."""
    known = _keys(states, own)
    kernel, divided = _divided(states, own, known, kernel)
    asked = _keys(states, kernel)
    first, listed = _span(known, asked)
    turn, _ = _turns(asked)
    # Copies of a divided entry follow each other, so that turns go round.
    at = np.minimum(first + turn % np.maximum(listed, 1), max(len(known) - 1, 0))
    costs = np.where(listed > 0, further[at], 0.0) if len(known) else np.zeros(len(asked))
    return kernel, costs, divided


def _divided(states: int, own: Rows, known: IntArray, kernel: Rows) -> tuple[Rows, int]:
    """The kernel with as many entries as the model where it does not list what leads to one next state."""
    starts, columns, data = kernel
    asked = _keys(states, kernel)
    first, listed = _span(known, asked)
    split = (listed > 1) & (listed != _turns(asked)[1])
    if not bool(split.any()):
        return kernel, 0
    entry = np.repeat(np.arange(len(asked)), np.where(split, listed, 1))
    copy = np.arange(len(entry)) - np.searchsorted(entry, entry)
    share = np.ones(len(entry))
    of_split = split[entry]
    nominal = own[2][first[entry[of_split]] + copy[of_split]]
    total = np.bincount(entry[of_split], weights=nominal, minlength=len(asked))[entry[of_split]]
    even = 1.0 / listed[entry[of_split]]
    share[of_split] = np.where(total > 0.0, nominal / np.where(total > 0.0, total, 1.0), even)
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[entry]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(starts) - 1))))
    return (indptr, columns[entry], data[entry] * share), int(split.sum())


def _span(known: IntArray, asked: IntArray) -> tuple[IntArray, IntArray]:
    """Where keys are among the ascending known ones, and how many of them."""
    first = np.searchsorted(known, asked, side="left")
    return first, np.searchsorted(known, asked, side="right") - first


def _keys(states: int, rows: Rows) -> IntArray:
    """One number for every row and next state."""
    starts, columns, _ = rows
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.asarray(row * states + columns, dtype=np.int64)


def _turns(keys: IntArray) -> tuple[IntArray, IntArray]:
    """How often each key was there before, and how often it is there in all."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    first = np.searchsorted(ranked, ranked, side="left")
    turn, count = np.empty_like(keys), np.empty_like(keys)
    turn[order] = np.arange(len(keys)) - first
    count[order] = np.searchsorted(ranked, ranked, side="right") - first
    return turn, count
