"""What arguments must be, said with their names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .model import Model

# Counts above this mean the same.
_MOST = 2**53


def number(name: str, value: Any) -> float:
    """A finite number of at least 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(f"{name}: expected a number, not {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{name}={value}, expected a finite number")
    if value < 0:
        raise ValueError(f"{name}={value}, expected at least 0")
    return float(value)


def count(name: str, value: Any, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected an integer, not {value!r}")
    if value < least:
        raise ValueError(f"{name}={value}, expected at least {least}")
    return min(int(value), _MOST)


def seed(value: Any) -> int:
    """The seed of a generator."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"seed: expected an integer, not {value!r}")
    if not 0 <= value < 2**64:
        raise ValueError(f"seed={value}, expected at least 0 and below 2**64")
    return int(value)


def discount(value: Any) -> float:
    """A number; which ones are discount factors the native module knows."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise TypeError(f"discount: expected a number, not {value!r}")
    return float(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    """One of a few names."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a name, not {value!r}")
    if value not in known:
        raise ValueError(f"{name}={value!r}, expected one of {', '.join(known)}")


def model(value: Any) -> Model:
    """A model."""
    from .model import Model

    if not isinstance(value, Model):
        raise TypeError(f"model: expected a robust_mdp.Model, not {type(value).__name__}")
    return value


def callback(value: Any) -> None:
    """Something to call, or nothing."""
    if not (value is None or callable(value)):
        raise TypeError(f"progress: expected something to call, not {value!r}")
