"""Arrays as the native module needs them, and arrays that nobody can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = Union[NDArray[np.int32], NDArray[np.int64]]


def is_series(values: Any) -> bool:
    """Whether it is a Series of pandas."""
    return hasattr(values, "iloc") and not hasattr(values, "columns")


def is_table(values: Any) -> bool:
    """Whether it is a DataFrame of pandas."""
    return hasattr(values, "iloc") and hasattr(values, "columns")


def is_labelled(values: Any) -> bool:
    """Whether the values say what they are for: of pandas, any table with named columns, dictionaries,
    arrays with coordinates."""
    if isinstance(values, (float, int, np.ndarray, list, tuple)):
        return False
    coordinates = hasattr(values, "dims") and len(getattr(values, "coords", ())) > 0
    return (
        is_series(values) or hasattr(values, "columns") or isinstance(values, Mapping) or coordinates
    )


def _refuse_labels(what: str, values: Any) -> None:
    """What was not put in order by its labels must not have any."""
    parts = values if isinstance(values, (list, tuple)) else ()
    for one in (values, *parts):
        if not is_labelled(one):
            continue
        raise TypeError(
            f"{what}: the labels of a {type(one).__name__} are not understood here; give an array of "
            "real numbers in the model's order"
        )


def numbers(what: str, values: ArrayLike, ndim: int | None = None) -> FloatArray:
    """A float64 array, without a copy where it is one already."""
    _refuse_labels(what, values)
    try:
        if isinstance(values, np.ma.MaskedArray) and bool(np.any(values.mask)):
            raise TypeError("some are masked")
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"not {given.dtype}")
        array = np.asarray(given, dtype=np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise TypeError(f"{what}: expected an array of real numbers ({error})") from None
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{what} has shape {array.shape}, expected {ndim} dimension(s)")
    return array


def flat(what: str, values: ArrayLike) -> FloatArray:
    """A contiguous float64 vector."""
    return np.ascontiguousarray(numbers(what, values, 1))


def integers(what: str, values: ArrayLike) -> IntArray:
    """A contiguous int64 vector; floats are refused unless whole."""
    _refuse_labels(what, values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{what} has shape {array.shape}, expected a vector")
    if array.dtype.kind not in "iu":
        whole = array.dtype.kind == "f" and bool(np.all(array == np.floor(array)))
        if not whole:
            raise TypeError(f"{what}: expected integers, not {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def indices(values: Any) -> IndexArray:
    """32 or 64 bit indices, without a copy where they are that already."""
    array = np.asarray(values)
    if array.dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array, dtype=np.int64)


def frozen(array: FloatArray) -> FloatArray:
    """The array itself, read-only from now on."""
    array.flags.writeable = False
    return array


def common_cost(
    starts: IndexArray, further: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Costs of rows and what their transitions cost beyond, from costs of transitions."""
    rows = len(starts) - 1
    cost = np.zeros(rows)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled) == 0:
        return cost, None
    at = np.asarray(starts, dtype=np.int64)[filled]
    low, high = np.minimum.reduceat(further, at), np.maximum.reduceat(further, at)
    same = low == high
    cost[filled[same]] = low[same]
    if bool(same.all()):
        return cost, None
    rest = further - np.repeat(np.where(np.isfinite(cost), cost, 0.0), np.diff(starts))
    return cost, rest


def is_sparse(matrix: Any) -> bool:
    """Whether it is one of SciPy's matrices."""
    return hasattr(matrix, "tocsr")
