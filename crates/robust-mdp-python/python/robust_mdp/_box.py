"""Intervals of probabilities, beside these or in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

# Lower bounds, upper bounds, whether nominal probabilities are chosen within them.
NativeBox = tuple[Any, Any, bool]


@dataclass(frozen=True)
class Box:
    """l ≤ y ≤ u, in arrays or matrices of the shape of the probabilities.

    Without probabilities, `chooses`, the upper bounds stand where these would be, and the library chooses them.
    """

    lower: Any
    upper: Any
    chooses: bool = False

    @staticmethod
    def of(lower: Any, upper: Any) -> Box | None:
        """Both or none."""
        if (lower is None) != (upper is None):
            raise TypeError("lower and upper come together")
        return None if lower is None else Box(lower, upper)

    def each(self, change: Callable[[str, Any], Any]) -> Box:
        """The same with something done to both, which knows their names."""
        return Box(change("lower", self.lower), change("upper", self.upper), self.chooses)

    def expect_shape(self, shape: tuple[int, ...]) -> None:
        """Refuses bounds of another shape than the probabilities."""
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            if tuple(bound.shape) != tuple(shape):
                raise ValueError(f"{name} has shape {tuple(bound.shape)}, expected {tuple(shape)}")

    def native(self) -> NativeBox:
        """As the library takes it."""
        return self.lower, self.upper, self.chooses


def given_or_chosen(probabilities: Any, box: Box | None) -> tuple[Any, Box | None]:
    """Probabilities and their bounds; without probabilities the upper bounds stand in their place."""
    if probabilities is not None or box is None:
        return probabilities, box
    return box.upper, replace(box, chooses=True)
