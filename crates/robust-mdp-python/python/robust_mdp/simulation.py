"""Simulation of policies under any kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks
from ._arrays import FloatArray, IntArray, frozen
from ._frozen import ReadOnly
from ._interrupts import batches, interruptibly
from ._labels import Axis, NumbersLike, in_order
from .kernel import as_kernel
from .policy import Policy, Seed, as_policy, cumulated, draw

if TYPE_CHECKING:
    from .model import Model
    from .solution import Solution


@dataclass(frozen=True, eq=False)
class Simulation(ReadOnly):
    """Discounted costs or rewards of simulated episodes; plain sums where the discount factor is 1.

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
    policy: Policy | Solution | NumbersLike,
    *,
    kernel: Any = None,
    episodes: int = 1000,
    steps: int | None = None,
    start: Any = None,
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
        Longest episode; unless given, until what is left is discounted to a millionth. Needed where the
        discount factor is 1.
    start : int, str or array of these, optional
        First state, by number or name, or one an episode; drawn from the initial distribution unless
        given. The labels of a Series or dictionary are the numbers of the episodes.
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
        if rate == 1.0:
            raise ValueError("steps: nothing is discounted, so that an episode may go on for ever: give steps=")
        steps = 1 if rate == 0.0 else math.ceil(math.log(1e-6) / math.log(rate))
    steps = _checks.count("steps", steps)
    truth = model if kernel is None else model._with_kernel(as_kernel(model, kernel))
    _, indptr, next_states, data, cost, further, _ = truth._native.arrays()
    ends = interruptibly(len(data), lambda: cumulated(indptr, data))
    rng = np.random.default_rng(seed)
    state = _first_states(model, start, episodes, rng)
    returns, lengths = np.zeros(episodes), np.zeros(episodes, dtype=np.int64)
    going: IntArray = np.arange(episodes)
    weight = 1.0
    for _ in range(steps):
        row = np.empty(len(going), dtype=np.int64)
        for part in batches(len(going)):
            row[part] = policy._draw(state[going[part]], rng.random(part.stop - part.start))
        if len(going) == 0 or int(row.min()) < 0:
            going, row = going[row >= 0], row[row >= 0]
        if len(going) == 0:
            break
        for part in batches(len(going)):
            who, rows = going[part], row[part]
            at = draw(indptr, ends, rows, rng.random(len(rows)))
            paid = cost[rows] if further is None else cost[rows] + further[at]
            returns[who] += weight * paid
            lengths[who] += 1
            state[who] = next_states[at]
        weight *= rate
    lengths.flags.writeable = False
    return Simulation(frozen(returns), lengths)


def ends_within(mean_steps: FloatArray) -> int:
    """Steps after which less than a millionth of the episodes goes on, if all that begin anywhere take at most
    these mean numbers of steps: eτ steps leave less than 1/e of them."""
    return math.ceil(math.e * float(mean_steps.max(initial=1.0)) * math.log(1e6))


def _first_states(
    model: Model, start: Any, episodes: int, rng: np.random.Generator
) -> IntArray:
    if start is None:
        initial = model.initial
        ends, last = np.cumsum(initial), int(np.flatnonzero(initial)[-1])
        drawn = np.empty(episodes, dtype=np.int64)
        for part in batches(episodes):
            uniform = rng.random(part.stop - part.start)
            drawn[part] = np.minimum(np.searchsorted(ends, uniform, side="right"), last)
        return drawn
    ordered = in_order("start", start, Axis("episode", episodes))
    given = np.asarray(ordered)
    if given.dtype.kind in "UTO":
        # As objects, among which numbers stay numbers.
        given = _named_states(model, np.asarray(ordered, dtype=object))
    if given.dtype.kind not in "iu" or given.shape not in ((), (episodes,)):
        raise ValueError(f"start={start!r}, expected a state or one for each of {episodes} episodes")
    state = np.broadcast_to(given, (episodes,)).astype(np.int64)
    if bool(np.any((state < 0) | (state >= model.n_states))):
        raise ValueError(f"start={start}, expected numbers from 0 to {model.n_states - 1}")
    return state


def _named_states(model: Model, given: Any) -> Any:
    """Numbers of states that are given by name, or by numbers among objects."""
    states, labels = model._labels().states, given.ravel().tolist()
    distinct = list(dict.fromkeys(labels))
    found = states.find_each("start", distinct)
    unknown = [label for label, place in zip(distinct, found, strict=True) if place is None]
    states.refuse_unknown("start", unknown)
    place = dict(zip(distinct, found, strict=True))
    return np.array([place[label] for label in labels], dtype=np.int64).reshape(given.shape)
