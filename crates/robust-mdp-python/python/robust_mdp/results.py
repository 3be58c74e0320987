"""Bounds of values, and what a given policy achieves. Nothing in them can be changed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple

from ._arrays import FloatArray, frozen
from ._frozen import Frozen

Status = Literal["certified", "sweep-limit", "time-limit", "precision-limit", "interrupted"]


class Interval(NamedTuple):
    """Bounds of one value."""

    lower: float
    upper: float

    @property
    def mid(self) -> float:
        """The middle."""
        return 0.5 * (self.lower + self.upper)


class Bounds(Frozen):
    """Bounds of a policy's value.

    Attributes
    ----------
    lower, upper, values : arrays over states
    value : Interval
        At the initial distribution.
    """

    lower: FloatArray
    upper: FloatArray
    value: Interval

    def __init__(self, lower: FloatArray, upper: FloatArray, value: tuple[float, float]) -> None:
        self._set(lower=frozen(lower), upper=frozen(upper), value=Interval(*value))

    @cached_property
    def values(self) -> FloatArray:
        """Midpoints."""
        return frozen(0.5 * (self.lower + self.upper))

    def to_dataframe(self) -> Any:
        """A pandas table with one line a state: bounds and value."""
        import pandas as pd

        columns = {"lower": self.lower, "upper": self.upper, "value": self.values}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.lower), name="state"))

    def __repr__(self) -> str:
        return f"Bounds(value in [{self.value.lower:.8g}, {self.value.upper:.8g}])"


class Evaluation(Frozen):
    """What a policy achieves.

    Attributes
    ----------
    worst : Bounds
        In the worst case over the set.
    nominal : Bounds
        Under the nominal kernel.
    status : str
        "certified" if the bounds of the worst case are as narrow as asked.
    seconds : float
    """

    status: Status
    worst: Bounds
    nominal: Bounds
    seconds: float
    target_gap: float

    def __init__(
        self, status: str, worst: Any, nominal: Any, seconds: float, target_gap: float
    ) -> None:
        self._set(
            status=status,
            worst=Bounds(*worst),
            nominal=Bounds(*nominal),
            seconds=seconds,
            target_gap=target_gap,
        )

    def to_dataframe(self) -> Any:
        """A pandas table with one line a state: bounds and values, ``worst_…`` and ``nominal_…``."""
        worst, nominal = self.worst.to_dataframe(), self.nominal.to_dataframe()
        return worst.add_prefix("worst_").join(nominal.add_prefix("nominal_"))

    def __repr__(self) -> str:
        worst, nominal = self.worst.value, self.nominal.value
        return f"Evaluation({self.status}, worst={worst.mid:.8g}, nominal={nominal.mid:.8g})"

    def _repr_html_(self) -> str:
        from ._html import facts

        return facts(
            "Value of a policy",
            {
                "status": self.status,
                "worst case": f"{self.worst.value.lower:.8g} to {self.worst.value.upper:.8g}",
                "nominal": f"{self.nominal.value.lower:.8g} to {self.nominal.value.upper:.8g}",
            },
        )
