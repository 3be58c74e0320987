"""Rows of matrices as the native module takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import FloatArray, IndexArray, flat, indices, is_sparse, numbers
from ._box import Box, NativeBox

# Row starts, next states, probabilities, further costs, intervals.
Compressed = tuple[IndexArray, IndexArray, FloatArray, "FloatArray | None", "NativeBox | None"]


def compressed(
    what: str, matrix: Any, further: FloatArray | None = None, box: Box | None = None
) -> Compressed:
    """The arrays of a matrix by rows, without copies where they are that already; `further` are costs of
    the same shape as a dense matrix."""
    if is_sparse(matrix):
        if box is not None:
            return _within(what, matrix, box)
        rows = matrix.tocsr()
        return indices(rows.indptr), indices(rows.indices), flat(what, rows.data), None, None
    dense = numbers(what, matrix, 2)
    # A cost where there is no probability matters to sets that leave the nominal support.
    there = dense != 0.0 if further is None else (dense != 0.0) | (further != 0.0)
    if box is not None:
        box = box.each(lambda name, bound: numbers(name, bound, 2))
        box.expect_shape(dense.shape)
        there |= (box.lower != 0.0) | (box.upper != 0.0)
    row, column = np.nonzero(there)
    starts = np.searchsorted(row, np.arange(len(dense) + 1)).astype(np.int64)

    def listed(array: FloatArray) -> FloatArray:
        return np.ascontiguousarray(array[row, column])

    costs = None if further is None else listed(further)
    bounds = None if box is None else box.each(lambda _, bound: listed(bound)).native()
    return starts, column.astype(np.int64), listed(dense), costs, bounds


def _within(what: str, matrix: Any, box: Box) -> Compressed:
    """The same of sparse matrices, with an entry wherever there is a probability or a bound."""
    for name, part in ((what, matrix), ("lower", box.lower), ("upper", box.upper)):
        if not is_sparse(part):
            raise TypeError(f"{name}: expected a sparse matrix, as the others are")
    box.expect_shape(matrix.shape)
    parts = [part.tocsr() for part in (matrix, box.lower, box.upper)]
    pattern = abs(parts[0]) + abs(parts[1]) + abs(parts[2])
    row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))

    def listed(part: Any) -> FloatArray:
        taken = part[row, pattern.indices]
        return flat(what, np.asarray(taken.toarray() if is_sparse(taken) else taken).ravel())

    prob, lower, upper = map(listed, parts)
    bounds = (lower, upper, box.chooses)
    return indices(pattern.indptr), indices(pattern.indices), prob, None, bounds
