"""Solutions over a range of radii."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._arrays import FloatArray, frozen
from ._frozen import Frozen
from .solution import Solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class RadiusSweep(Frozen, Sequence["Solution"]):
    """Solutions over a range of radii: the price of robustness.

    Attributes
    ----------
    radii : array
    solutions : tuple of Solution
    nominal : array
        Values of the policies under the nominal kernel, at the initial distribution.
    """

    radii: FloatArray
    solutions: tuple[Solution, ...]
    nominal: FloatArray

    def __init__(
        self, radii: FloatArray, solutions: Sequence[Solution], nominal: FloatArray
    ) -> None:
        self._set(radii=frozen(radii), solutions=tuple(solutions), nominal=frozen(nominal))

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds at the initial distribution."""
        return frozen(np.array([s.value.lower for s in self.solutions]))

    @cached_property
    def upper(self) -> FloatArray:
        """Upper bounds at the initial distribution."""
        return frozen(np.array([s.value.upper for s in self.solutions]))

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, index: int | slice) -> Solution | tuple[Solution, ...]:
        return self.solutions[index]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def to_dataframe(self) -> Any:
        """A pandas table with one line a radius."""
        import pandas as pd

        return pd.DataFrame(
            {
                "radius": self.radii,
                "lower": self.lower,
                "upper": self.upper,
                "nominal": self.nominal,
                "status": [s.status for s in self.solutions],
            }
        )

    def plot(self, ax: Any = None) -> Figure:
        """Draw worst-case and nominal values over the radius; needs matplotlib."""
        from . import plotting

        return plotting.sweep(self, ax)

    def __repr__(self) -> str:
        if not len(self.radii):
            return "RadiusSweep(empty)"
        return (
            f"RadiusSweep({len(self)} radii from {self.radii.min():g} to {self.radii.max():g})"
        )

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [
            (f"{radius:g}", f"{low:.6g} to {high:.6g}", f"{nominal:.6g}", sol.status)
            for radius, low, high, nominal, sol in zip(
                self.radii, self.lower, self.upper, self.nominal, self.solutions, strict=True
            )
        ]
        return table(
            f"Price of robustness, {type(self.solutions[0].set).__name__} set" if rows else "Empty",
            ("radius", "worst case", "nominal", "status"),
            rows,
        )
