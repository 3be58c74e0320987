"""Whether states or actions come first in labels of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import is_table


def refuse_two_orders(
    what: str, made: NDArray[Any], other_order: Callable[[], NDArray[Any]]
) -> None:
    """Refuses labels without names that fit in the other order too and mean something else there."""
    try:
        other = other_order()
    except ValueError:
        return
    if not np.array_equal(made, other):
        raise ValueError(
            f"{what}: the labels fit as (state, action) and as (action, state); name the levels state and "
            "action"
        )


def _says(name: Any, kind: str) -> bool:
    """Whether an axis or level is named after a kind of things."""
    return isinstance(name, str) and name.strip().lower() in (kind, f"{kind}s")


def turned(what: str, given: Any, kinds: tuple[str, str] = ("state", "action")) -> tuple[Any, bool]:
    """A table or a Series of two levels in the order of `kinds`, and whether names tell the order."""
    names = [given.index.name, given.columns.name] if is_table(given) else list(given.index.names)
    first, second = (next((kind for kind in kinds if _says(name, kind)), None) for name in names)
    if kinds[0] == kinds[1] or (first is None and second is None):
        return given, False
    if first == second:
        raise ValueError(
            f"{what}: labels named {names[0]!r} and {names[1]!r}, expected {kinds[0]} and {kinds[1]}"
        )
    if first == kinds[1] or second == kinds[0]:
        given = given.T if is_table(given) else given.swaplevel()
    return given, True
