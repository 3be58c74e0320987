"""Transition kernels: the nominal one, the worst for a policy, or one that the user brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray, IntArray, indices, numbers
from ._interrupts import interruptibly
from ._names import Names
from ._native import ModelError

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True, eq=False)
class Kernel:
    """One distribution over next states for every state and action, as compressed rows.

    Attributes
    ----------
    state_starts : array
        Rows of state ``s`` are ``state_starts[s]:state_starts[s + 1]``, one an action.
    indptr, indices, data : arrays
        Row ``r`` leads to ``indices[indptr[r]:indptr[r + 1]]`` with the probabilities in ``data``. A next
        state that a model has at several costs is there as often, in the model's order.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(states=4, discount=0.8)
    >>> next_states, probabilities = model.kernel().row(0, 1)
    >>> next_states, probabilities
    (array([1, 2, 3], dtype=int32), array([0.3, 0.6, 0.1]))
    """

    state_starts: IntArray
    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: FloatArray
    _names: Names | None = None

    def __post_init__(self) -> None:
        for name in ("state_starts", "indptr", "indices", "data"):
            array = getattr(self, name)
            if array.flags.writeable:
                # It may be somebody else's.
                array = array.copy()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    @staticmethod
    def _of(
        model: Model, indptr: NDArray[Any], next_states: NDArray[Any], data: FloatArray
    ) -> Kernel:
        """A kernel of a model, from arrays that nobody else has."""
        for array in (indptr, next_states, data):
            array.flags.writeable = False
        return Kernel(model.state_starts, indptr, next_states, data, Names.of(model))

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.state_starts) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and states."""
        return (len(self.indptr) - 1, self.n_states)

    def row(self, state: int, action: int) -> tuple[NDArray[Any], FloatArray]:
        """Next states and probabilities of an action, counted within its state."""
        if not 0 <= state < self.n_states:
            raise IndexError(f"state {state}, expected numbers from 0 to {self.n_states - 1}")
        first, last = self.state_starts[state], self.state_starts[state + 1]
        if not 0 <= action < last - first:
            raise IndexError(f"state {state} has {last - first} actions, not an action {action}")
        span = slice(self.indptr[first + action], self.indptr[first + action + 1])
        return self.indices[span], self.data[span]

    def to_scipy(self) -> Any:
        """A ``scipy.sparse.csr_array`` with one row a state and action."""
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def to_array(self) -> FloatArray:
        """``P[s, a, next]``; rows of actions that a state does not have are zero."""
        counts = np.diff(self.state_starts)
        most = int(counts.max(initial=0))
        dense = np.zeros((self.n_states, most, self.n_states))
        state = np.repeat(np.arange(self.n_states), counts)
        action = np.arange(len(state)) - self.state_starts[state]
        row = np.repeat(np.arange(len(state)), np.diff(self.indptr))
        # A next state may be there several times, at several costs.
        np.add.at(dense, (state[row], action[row], self.indices), self.data)
        return dense

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_array().astype(dtype or np.float64, copy=False)

    def __repr__(self) -> str:
        return f"Kernel(states={self.n_states}, rows={self.shape[0]}, entries={len(self.data)})"


def as_kernel(model: Model, kernel: Any) -> Kernel:
    """A kernel of `model` from a :class:`Kernel`, P[S,A,S] or a sparse matrix of its rows."""
    starts = model.state_starts
    if isinstance(kernel, Kernel):
        made = kernel
    elif hasattr(kernel, "tocsr"):
        rows = kernel.tocsr()
        made = Kernel(
            starts, indices(rows.indptr), indices(rows.indices), numbers("kernel", rows.data)
        )
        if rows.shape != (model.n_pairs, model.n_states):
            raise ValueError(
                f"the kernel has shape {rows.shape}, expected {(model.n_pairs, model.n_states)}"
            )
    else:
        dense = numbers("kernel", kernel)
        made = interruptibly(dense.size, lambda: _of_array(model, dense))
    if made.shape != (model.n_pairs, model.n_states) or not np.array_equal(
        made.state_starts, starts
    ):
        raise ValueError("the kernel is one of another model: its states or actions differ")
    if made._names is not None:
        made._names.refuse_others("kernel", model)
    interruptibly(len(made.data), lambda: _check(model, made))
    return made


def _of_array(model: Model, dense: FloatArray) -> Kernel:
    counts = np.diff(model.state_starts)
    expected = (model.n_states, int(counts.max(initial=0)), model.n_states)
    if dense.shape == (model.n_pairs, model.n_states):
        rows = dense
    elif dense.shape == expected:
        state, action = model._pairs()
        rows = dense[state, action]
    else:
        raise ValueError(f"the kernel has shape {dense.shape}, expected {expected}")
    at, next_states = np.nonzero(rows)
    starts = np.concatenate(([0], np.cumsum(np.bincount(at, minlength=len(rows)))))
    return Kernel._of(model, starts, next_states.astype(np.int64), rows[at, next_states])


def _check(model: Model, kernel: Kernel) -> None:
    """Refuses rows that are no distributions; the message says which."""
    row = np.repeat(np.arange(kernel.shape[0]), np.diff(kernel.indptr))
    sums = np.bincount(row, weights=kernel.data, minlength=kernel.shape[0])
    bad_entry = ~(kernel.data >= 0.0)
    wrong = ~(np.abs(sums - 1.0) <= 1e-9)
    wrong[row[bad_entry]] = True
    for r in np.flatnonzero(wrong)[:1]:
        state = int(np.searchsorted(model.state_starts, r, side="right")) - 1
        action = int(r - model.state_starts[state])
        error = ModelError(
            f"state {state}, action {action}: the kernel's probabilities sum to {sums[r]}, "
            "expected numbers of at least 0 that sum to 1"
        )
        error.state, error.action = state, action
        raise error
