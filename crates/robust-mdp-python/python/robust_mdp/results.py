"""Bounds of values, and what a given policy achieves. Nothing in them can be changed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple

from ._arrays import FloatArray, frozen
from ._frozen import Frozen
from .objectives import Direction

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
    direction : {"worst", "best"}
        Which case over the set was evaluated.
    nominal : Bounds
        Under the nominal kernel.
    status : str
        "certified" if the bounds of that case are as narrow as asked.
    seconds : float
    """

    status: Status
    direction: Direction
    nominal: Bounds
    seconds: float
    target_gap: float
    _case: Bounds

    def __init__(
        self, direction: Direction, status: str, case: Any, nominal: Any, seconds: float, target_gap: float
    ) -> None:
        self._set(
            direction=direction,
            status=status,
            _case=Bounds(*case),
            nominal=Bounds(*nominal),
            seconds=seconds,
            target_gap=target_gap,
        )

    @property
    def worst(self) -> Bounds:
        """In the worst case over the set."""
        return self._of("worst")

    @property
    def best(self) -> Bounds:
        """In the best case over the set."""
        return self._of("best")

    def _of(self, direction: Direction) -> Bounds:
        if direction != self.direction:
            raise ValueError(
                f"the {self.direction} case was evaluated: evaluate with direction={direction!r}"
            )
        return self._case

    def to_dataframe(self) -> Any:
        """A pandas table with one line a state: bounds and values, ``worst_…`` or ``best_…`` and
        ``nominal_…``."""
        case, nominal = self._case.to_dataframe(), self.nominal.to_dataframe()
        return case.add_prefix(f"{self.direction}_").join(nominal.add_prefix("nominal_"))

    def __repr__(self) -> str:
        case, nominal = self._case.value, self.nominal.value
        return (
            f"Evaluation({self.status}, {self.direction}={case.mid:.8g}, nominal={nominal.mid:.8g})"
        )

    def _repr_html_(self) -> str:
        from ._html import facts

        return facts(
            "Value of a policy",
            {
                "status": self.status,
                f"{self.direction} case": f"{self._case.value.lower:.8g} to {self._case.value.upper:.8g}",
                "nominal": f"{self.nominal.value.lower:.8g} to {self.nominal.value.upper:.8g}",
            },
        )
