"""Objects that nobody can change."""

from __future__ import annotations

from typing import Any

import numpy as np


class Frozen:
    """Attributes are set once, when an object is made."""

    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickle makes arrays that can be written.
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self._set(**state)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")
