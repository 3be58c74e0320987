"""Steps of a finite horizon: values and a policy for each of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ._answers import extreme_kernel, table
from ._arrays import FloatArray, frozen
from ._frozen import Frozen
from .policy import Policy

if TYPE_CHECKING:
    from .kernel import Kernel
    from .objectives import Direction
    from .solution import Solution


class Stage(Frozen):
    """One step of a finite horizon: what is left to pay or to gain from here on, and what to do now.

    Attributes
    ----------
    step : int
        Its number; the first step is 0.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> sol = rm.solve(model, rm.KL(0.05), objective="finite", horizon=30)
    >>> sol.stages[0].policy[7], sol.stages[29].policy[7]  # nothing is worth a repair at the end
    (array([0., 1.]), array([1., 0.]))
    """

    step: int
    _solution: Solution

    def __init__(self, solution: Solution, step: int) -> None:
        self._set(step=step, _solution=solution)

    @cached_property
    def _arrays(self) -> list[FloatArray]:
        return [frozen(array) for array in self._solution._native.stage(self.step)]

    @property
    def lower(self) -> FloatArray:
        """Lower bounds of what is left, one a state."""
        return self._arrays[0]

    @property
    def upper(self) -> FloatArray:
        """Upper bounds, one a state."""
        return self._arrays[1]

    @cached_property
    def values(self) -> FloatArray:
        """Midpoints of the bounds."""
        return frozen(0.5 * (self.lower + self.upper))

    @cached_property
    def policy(self) -> Policy:
        """What to do at this step."""
        return Policy(self._solution.model, self._arrays[2])

    def worst_kernel(self) -> Kernel:
        """The kernel of the set that is worst for this step's policy, given what is left after it."""
        return self._kernel("worst")

    def best_kernel(self) -> Kernel:
        """The kernel of the set that is best for it, of a solution with ``direction="best"``."""
        return self._kernel("best")

    def _kernel(self, direction: Direction) -> Kernel:
        solution, after = self._solution, np.zeros(self._solution.model.n_states)
        for following in solution.stages[self.step + 1 : self.step + 2]:
            after = following.values
        return extreme_kernel(solution, self.policy.probabilities, after, direction)

    def to_dataframe(self) -> Any:
        """A pandas table with one line a state: name, bounds, value, most likely action."""
        return table(self._solution, self.lower, self.upper, self.values, self.policy)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Stage, (self._solution, self.step))

    def __repr__(self) -> str:
        return f"Stage({self.step} of {self._solution.horizon})"
