"""Objects that nobody can change."""

from __future__ import annotations

from typing import Any

import numpy as np


class ReadOnly:
    """Arrays stay read-only when an object is pickled."""

    __slots__ = ()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickle makes arrays that can be written.
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)


class Frozen(ReadOnly):
    """Attributes are set once, when an object is made."""

    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")
