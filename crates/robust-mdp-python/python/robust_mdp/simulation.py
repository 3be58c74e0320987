"""Simulation of policies under any kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _checks
from ._arrays import FloatArray, IntArray, frozen
from ._frozen import ReadOnly
from .kernel import as_kernel
from .policy import Policy, Seed, as_policy, cumulated, draw

if TYPE_CHECKING:
    from .model import Model
    from .solution import Solution


@dataclass(frozen=True, eq=False)
class Simulation(ReadOnly):
    """Discounted costs or rewards of simulated episodes.

    Attributes
    ----------
    returns : array
        One discounted sum an episode.
    lengths : array
        Steps of every episode until a terminal state or the last step.
    """

    returns: FloatArray
    lengths: IntArray

    @property
    def mean(self) -> float:
        """Average of the returns."""
        return float(self.returns.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        n = len(self.returns)
        return float(self.returns.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan

    def __repr__(self) -> str:
        n = len(self.returns)
        return f"Simulation({n} episodes, mean {self.mean:.6g} ± {self.standard_error:.2g})"


def simulate(
    model: Model,
    policy: Policy | Solution | ArrayLike,
    *,
    kernel: Any = None,
    episodes: int = 1000,
    steps: int | None = None,
    start: ArrayLike | None = None,
    discount: float | None = None,
    seed: Seed = None,
) -> Simulation:
    """Simulate a policy.

    Parameters
    ----------
    model : Model
    policy : Policy, Solution or array
        As in :func:`evaluate`.
    kernel : optional
        Transition probabilities: a :class:`Kernel` such as ``solution.worst_kernel()``,
        ``P[S, A, S]``, or a sparse matrix with one row a pair. The model's own unless given.
    episodes : int
    steps : int, optional
        Longest episode; unless given, until what is left is discounted to a millionth.
    start : int or array of int, optional
        First state, or one an episode; drawn from the initial distribution unless given.
    discount : float, optional
        In place of the model's.
    seed : int or numpy.random.Generator, optional

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> sol = rm.solve(model, rm.KL(0.05))
    >>> run = rm.simulate(model, sol.policy, kernel=sol.worst_kernel(), episodes=4000, seed=0)
    >>> bool(abs(run.mean - sol.value.mid) < 5 * run.standard_error)
    True
    """
    model = _checks.model(model)._discounted(discount)
    policy = as_policy(model, policy)
    episodes = _checks.count("episodes", episodes, 1)
    rate = model.discount
    assert rate is not None
    if steps is None:
        steps = 1 if rate == 0.0 else math.ceil(math.log(1e-6) / math.log(rate))
    steps = _checks.count("steps", steps)
    truth = model if kernel is None else model.with_kernel(as_kernel(model, kernel))
    _, indptr, next_states, data, cost, further = truth._native.arrays()
    ends = cumulated(indptr, data)
    rng = np.random.default_rng(seed)
    state = _first_states(model, start, episodes, rng)
    returns, lengths = np.zeros(episodes), np.zeros(episodes, dtype=np.int64)
    going: IntArray = np.arange(episodes)
    weight = 1.0
    for _ in range(steps):
        row = policy._draw(state[going], rng.random(len(going)))
        going, row = going[row >= 0], row[row >= 0]
        if len(going) == 0:
            break
        at = draw(indptr, ends, row, rng.random(len(row)))
        paid = cost[row] if further is None else cost[row] + further[at]
        returns[going] += weight * paid
        lengths[going] += 1
        state[going] = next_states[at]
        weight *= rate
    lengths.flags.writeable = False
    return Simulation(frozen(returns), lengths)


def _first_states(
    model: Model, start: ArrayLike | None, episodes: int, rng: np.random.Generator
) -> IntArray:
    if start is None:
        initial = model.initial
        drawn = np.searchsorted(np.cumsum(initial), rng.random(episodes), side="right")
        last = int(np.flatnonzero(initial)[-1])
        return np.minimum(drawn, last).astype(np.int64)
    given = np.asarray(start)
    if given.dtype.kind not in "iu" or given.shape not in ((), (episodes,)):
        raise ValueError(f"start={start!r}, expected a state or one for each of {episodes} episodes")
    state = np.broadcast_to(given, (episodes,)).astype(np.int64)
    if bool(np.any((state < 0) | (state >= model.n_states))):
        raise ValueError(f"start={start}, expected numbers from 0 to {model.n_states - 1}")
    return state
