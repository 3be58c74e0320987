"""Policies: what to do in every state, possibly at random."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _checks
from ._arrays import FloatArray, IntArray, frozen, is_labelled, numbers
from ._frozen import Frozen
from ._labels import Labelled, NumbersLike, quoted
from ._names import Names

if TYPE_CHECKING:
    from .model import Model

Seed = int | np.random.Generator | None


class Policy(Frozen):
    """Action probabilities in every state of a model.

    ``policy[s]`` are the probabilities in state ``s``; ``numpy.asarray(policy)`` is a table with one
    row a state and one column an action.

    Parameters
    ----------
    model : Model
    probabilities : array, dictionary or pandas object
        Probabilities as a table of states and actions or one a pair, or one action a state, by number or
        by name. Labels are looked up in the model: ``{state: action}``, ``{(state, action):
        probability}``, Series with such an index, a table of states and actions, or one like that of
        :meth:`to_dataframe`. Pairs that labels leave out have probability 0.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> policy = rm.solve(model, rm.KL(0.05)).policy
    >>> policy.sample(7)
    1
    >>> policy.sample(np.array([7, 7, 7]))
    array([1, 1, 1])
    >>> np.asarray(policy).shape
    (10, 2)
    >>> actions = dict.fromkeys(model.state_names, "no repair") | {"condition 8": "repair"}
    >>> rm.Policy(model, actions)[7]
    array([0., 1.])
    """

    __slots__ = ("_actions", "_ends", "_names", "_starts", "probabilities")

    probabilities: FloatArray
    _starts: IntArray
    _actions: IntArray
    _ends: FloatArray | None
    _names: Names

    def __init__(self, model: Model, probabilities: NumbersLike) -> None:
        flat = _flat_policy(_checks.model(model), probabilities)
        self._set(
            probabilities=frozen(flat),
            _starts=model.state_starts,
            _actions=model.action_ids,
            _ends=None,
            _names=Names.of(model),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.probabilities, self._starts, self._actions, self._names))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, state: int) -> FloatArray:
        return self.probabilities[self._span(state)]

    def actions(self, state: int) -> IntArray:
        """The numbers of the actions that ``policy[state]`` speaks of."""
        return self._actions[self._span(state)]

    def _span(self, state: int) -> slice:
        """The pairs of a state."""
        state = operator.index(state)
        if not -len(self) <= state < len(self):
            raise IndexError(f"state {state}, expected one of {len(self)}")
        state %= len(self)
        return slice(self._starts[state], self._starts[state + 1])

    @overload
    def sample(self, obs: int | np.integer[Any], rng: Seed = None) -> int: ...
    @overload
    def sample(self, obs: NDArray[Any], rng: Seed = None) -> IntArray: ...
    @overload
    def sample(self, obs: Any, rng: Seed = None) -> Any: ...
    def sample(self, obs: Any, rng: Seed = None) -> Any:
        """An action for a state, or an array of actions for an array of states.

        Parameters
        ----------
        obs : int or array of int
            States, as Gymnasium's environments with discrete spaces observe them.
        rng : int or numpy.random.Generator, optional
            Seed or source of the random numbers.

        Returns
        -------
        int or array of int
            In a terminal state there is nothing to choose: the answer is 0.
        """
        states = np.asarray(obs)
        if states.size == 0:
            return np.zeros(states.shape, dtype=np.int64)
        if states.dtype.kind not in "iu":
            raise TypeError(f"expected a state's number or an array of them, not {obs!r}")
        if bool(np.any((states < 0) | (states >= len(self)))):
            raise ValueError(f"state {obs}, expected numbers from 0 to {len(self) - 1}")
        generator = np.random.default_rng(rng) if rng is not None else _SHARED
        rows = self._draw(states.ravel(), generator.random(states.size))
        ended = rows < 0
        actions = np.where(ended, 0, self._actions[np.where(ended, 0, rows)] if len(self._actions) else 0)
        return int(actions[0]) if states.ndim == 0 else actions.reshape(states.shape)

    def _draw(self, states: NDArray[Any], uniform: FloatArray) -> IntArray:
        """Rows of the model; −1 in terminal states."""
        if self._ends is None:
            self._set(_ends=cumulated(self._starts, self.probabilities))
        assert self._ends is not None
        rows = draw(self._starts, self._ends, states, uniform)
        return np.where(self._starts[states] == self._starts[states + 1], -1, rows)

    def greedy(self) -> IntArray:
        """The most likely action of every state (0 in terminal ones)."""
        table = np.asarray(self)
        return np.asarray(table.argmax(axis=1), dtype=np.int64)

    @property
    def is_deterministic(self) -> bool:
        """Whether no state's action is random."""
        return bool(np.all((self.probabilities == 0.0) | (self.probabilities == 1.0)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        width = int(self._actions.max(initial=-1)) + 1
        table = np.zeros((len(self), width))
        state = np.repeat(np.arange(len(self)), np.diff(self._starts))
        table[state, self._actions] = self.probabilities
        return table.astype(dtype or np.float64, copy=False)

    def to_dataframe(self) -> Any:
        """A pandas table with the columns state, action and probability."""
        import pandas as pd

        state = np.repeat(np.arange(len(self)), np.diff(self._starts))
        columns = {"state": state, "action": self._actions, "probability": self.probabilities}
        return pd.DataFrame(columns)

    def save(self, path: str | os.PathLike[str], model: Model) -> None:
        """Write a CSV table state, action, probability, with the names that `model` gives."""
        as_policy(model, self)
        model._native.write_policy(os.fspath(path), self.probabilities)

    @staticmethod
    def load(path: str | os.PathLike[str], model: Model) -> Policy:
        """Read a CSV table state, action, probability; pairs left out have probability 0."""
        return Policy(model, model._native.read_policy(os.fspath(path)))

    def __repr__(self) -> str:
        kind = "deterministic" if self.is_deterministic else "random in some states"
        return f"Policy(states={len(self)}, {kind})"


_SHARED = np.random.default_rng()


def _restore(
    probabilities: FloatArray, starts: IntArray, actions: IntArray, names: Names
) -> Policy:
    policy = Policy.__new__(Policy)
    policy._set(
        probabilities=frozen(probabilities),
        _starts=starts,
        _actions=actions,
        _ends=None,
        _names=names,
    )
    return policy


def as_policy(model: Model, policy: Any) -> Policy:
    """A policy of `model`, from anything that is one."""
    if not is_labelled(policy):
        # Of a solution. A table may have columns of these names.
        if getattr(policy, "stages", ()):
            raise ValueError(
                "the policy of a finite horizon differs from step to step: take that of one, stages[t].policy"
            )
        policy = getattr(policy, "policy", policy)
    if not isinstance(policy, Policy):
        return Policy(model, policy)
    if not np.array_equal(policy._starts, model.state_starts):
        raise ValueError("the policy is one of another model: its states or actions differ")
    policy._names.refuse_others("policy", model)
    return policy


def cumulated(starts: NDArray[Any], weights: FloatArray) -> FloatArray:
    """Row number plus the sum of the row's weights so far: one ascending array for all rows."""
    total = np.concatenate(([0.0], np.cumsum(weights)))
    counts = np.diff(starts)
    before = np.repeat(total[starts[:-1]], counts)
    within = np.minimum(total[1:] - before, 1.0)
    return np.asarray(np.repeat(np.arange(len(counts)), counts) + within, dtype=np.float64)


def draw(
    starts: NDArray[Any], ends: FloatArray, rows: NDArray[Any], uniform: FloatArray
) -> IntArray:
    """One entry of each of the `rows`, by its weight."""
    at = np.searchsorted(ends, rows + uniform, side="right")
    # The last entry of a row may end a rounding below one.
    return np.asarray(np.clip(at, starts[rows], np.maximum(starts[rows + 1] - 1, 0)), np.int64)


def _flat_policy(model: Model, policy: NumbersLike) -> FloatArray:
    """Probabilities in the order of the model's pairs, checked by the native module later on."""
    if is_labelled(policy):
        return Labelled.of("policy", policy).read(
            "policy",
            model._labels().states,
            lambda given: _of_labelled_actions(model, given),
            lambda given: _of_labelled_pairs(model, given),
        )
    array = np.asarray(policy)
    if array.dtype.kind in "iu" and array.shape == (model.n_states,):
        return _of_action_numbers(model, array)
    if array.dtype.kind in "UTO" and array.shape == (model.n_states,):
        return _of_actions(model, dict(enumerate(array.tolist())))
    flat = model._flat("policy", numbers("policy", array), absent_zero=True)
    _refuse_no_distributions(model, flat)
    return flat.copy()


def _of_labelled_actions(model: Model, given: Labelled) -> FloatArray:
    places = model._labels().states.find_all("policy", given.labels)
    return _of_actions(model, dict(zip(places.tolist(), given.values, strict=True)))


def _of_labelled_pairs(model: Model, given: Labelled) -> FloatArray:
    return given.by_pair(
        "policy",
        model._labels(),
        absent=0.0,
        check=lambda flat: _refuse_no_distributions(model, flat),
    )


def _refuse_no_distributions(model: Model, flat: FloatArray) -> None:
    starts = model.state_starts
    sums = np.add.reduceat(np.append(flat, 0.0), starts[:-1]) if len(starts) > 1 else np.zeros(0)
    playing = np.diff(starts) > 0
    low = np.minimum.reduceat(np.append(flat, 0.0), starts[:-1]) if len(starts) > 1 else sums
    wrong = playing & (~(np.abs(sums - 1.0) <= 1e-9) | ~(low >= 0.0))
    for state in np.flatnonzero(wrong)[:1]:
        raise ValueError(
            f"state {state}: the policy is not a distribution over its actions "
            f"(total {sums[state]})"
        )


def _of_actions(model: Model, actions: dict[int, Any]) -> FloatArray:
    """One action a state, by name or number; what is said of terminal states does not matter."""
    labels, flat = model._labels(), np.zeros(model.n_pairs)
    missing = np.setdiff1d(labels.playing, list(actions))
    if len(missing):
        raise ValueError(f"policy: nothing for state {quoted(labels.states.labels(missing))}")
    for state in labels.playing.tolist():
        action = actions[state]
        if isinstance(action, (float, np.floating)):
            raise TypeError(
                f"policy: {action!r} in state {quoted([labels.states.label(state)])}, expected an action, "
                "or probabilities of states and actions"
            )
        row = labels.row("policy", state, action)
        if row is None:
            state_name, action_name = quoted([labels.states.label(state)]), quoted([action])
            raise ValueError(f"policy: state {state_name} has no action {action_name}")
        flat[row] = 1.0
    return flat


def _of_action_numbers(model: Model, actions: NDArray[Any]) -> FloatArray:
    flat = np.zeros(model.n_pairs)
    state, _ = model._pairs()
    flat[model.action_ids == actions[state]] = 1.0
    chosen = np.zeros(model.n_states, dtype=bool)
    chosen[state[flat > 0.0]] = True
    missing = np.flatnonzero(~chosen & (np.diff(model.state_starts) > 0))
    for s in missing[:1]:
        raise ValueError(f"state {s} has no action {actions[s]}")
    return flat
