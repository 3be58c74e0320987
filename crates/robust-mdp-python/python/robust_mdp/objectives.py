"""What is optimised: how costs over time count, which kernel of the set does, and whether policies may randomise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _checks

if TYPE_CHECKING:
    from .model import Model

Criterion = Literal["discounted", "finite", "total", "average"]
Direction = Literal["worst", "best"]

# The native module counts steps in 32 bits.
_LONGEST = 2**32 - 1


@dataclass(frozen=True)
class Question:
    """What a solve optimises.

    Attributes
    ----------
    criterion : {"discounted", "finite", "total", "average"}
    horizon : int or None
        Steps of a finite horizon.
    direction : {"worst", "best"}
    deterministic : bool
    """

    criterion: Criterion = "discounted"
    horizon: int | None = None
    direction: Direction = "worst"
    deterministic: bool = False

    @staticmethod
    def of(objective: Any, horizon: Any, direction: Any, deterministic: Any) -> Question:
        """Arguments of :func:`robust_mdp.solve`, checked."""
        if objective in ("min-cost", "max-reward"):
            raise ValueError(
                f"objective={objective!r}: whether costs or rewards are optimised is a property of the model "
                f"(model.objective); expected one of {', '.join(get_args(Criterion))}"
            )
        _checks.one_of("objective", objective, get_args(Criterion))
        _checks.one_of("direction", direction, get_args(Direction))
        if not isinstance(deterministic, bool):
            raise TypeError(f"deterministic: expected True or False, not {deterministic!r}")
        if horizon is not None:
            horizon = _checks.count("horizon", horizon, 1)
            if horizon > _LONGEST:
                raise ValueError(f"horizon={horizon}, expected at most {_LONGEST}")
        if (objective == "finite") != (horizon is not None):
            message = (
                'objective="finite" needs the number of steps: give horizon='
                if horizon is None
                else f'horizon is a setting of objective="finite", but the objective is {objective!r}'
            )
            raise ValueError(message)
        return Question(objective, horizon, direction, deterministic)

    def model(self, model: Model, discount: float | None) -> Model:
        """The model with a discount factor, which does not matter to totals and averages."""
        if self.criterion == "discounted":
            if discount is None and model.discount is None:
                raise ValueError(
                    'the model has no discount factor: give discount=, or objective="total", "average" or '
                    '"finite", which need none'
                )
            return model._discounted(discount)
        if self.is_undiscounted and discount is not None and _checks.discount(discount) != 1.0:
            raise ValueError(
                f"discount={discount}, but with objective={self.criterion!r} nothing loses weight over time: leave "
                "it out"
            )
        missing = discount is None and model.discount is None
        return model._discounted(1.0 if missing else discount)

    @property
    def is_undiscounted(self) -> bool:
        """Whether costs keep their weight whatever the model's discount factor."""
        return self.criterion in ("total", "average")

    def native(self) -> dict[str, Any]:
        """By the names of the native module."""
        finite = {"finite": {"horizon": self.horizon}}
        return {
            "criterion": self.criterion if self.horizon is None else finite,
            "direction": self.direction,
            "deterministic": self.deterministic,
        }

    def sum(self, unit: str) -> str:
        """How costs or rewards are summed, in words."""
        if self.horizon is not None:
            steps = "1 step" if self.horizon == 1 else f"{self.horizon} steps"
            return f"{unit} of {steps}"
        return f"average {unit} of a step" if self.criterion == "average" else f"{self.criterion} {unit}"

    def words(self, unit: str) -> str:
        """What is optimised, in words."""
        policies = " of deterministic policies" if self.deterministic else ""
        return f"{self.direction} {self.sum(unit)}{policies}"
