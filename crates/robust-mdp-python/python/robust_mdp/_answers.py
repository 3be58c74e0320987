"""What solutions and their steps have in common: kernels of a policy, a table of the states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._arrays import FloatArray
from .kernel import Kernel
from .objectives import Direction

if TYPE_CHECKING:
    from .policy import Policy
    from .solution import Solution


def extreme_kernel(
    solution: Solution, policy: FloatArray, after: FloatArray, direction: Direction
) -> Kernel:
    """The worst or the best kernel for a policy where states are worth `after`."""
    if solution.direction != direction:
        raise ValueError(
            f"the solution is of the {solution.direction} case: ask for {solution.direction}_kernel()"
        )
    find = _native.worst_kernel if direction == "worst" else _native.best_kernel
    model, set = solution.model, solution.set
    if solution._question.is_undiscounted:
        model = model._discounted(1.0)
    found = find(model._native, set._native(model), policy, after, solution._threads)
    return Kernel._of(model, *found)


def table(
    solution: Solution, lower: FloatArray, upper: FloatArray, values: FloatArray, policy: Policy
) -> Any:
    """A pandas table with one line a state."""
    import pandas as pd

    model = solution.model
    actions = model.action_names
    best = [row[int(policy[s].argmax())] if row else "" for s, row in enumerate(actions)]
    columns = {
        "name": model.state_names,
        "lower": lower,
        "upper": upper,
        "value": values,
        "action": best,
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(model.n_states, name="state"))
