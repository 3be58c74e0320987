"""The model: states, actions, nominal transition probabilities, costs or rewards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, _conventions, _native, _sparse, _tables
from ._arrays import FloatArray, IntArray, frozen, numbers
from ._box import Box
from ._frozen import Frozen
from ._interrupts import interruptibly
from ._labels import Axis, NumbersLike, Pairs
from ._messages import ModelWarning, warn
from ._native import Model as NativeModel
from ._parts import Given, Parts
from ._transfer import transfer
from .kernel import Kernel, as_kernel

Path = str | os.PathLike[str]
Format = Literal["json", "csv", "parquet", "npz", "mdp", "prism", "drn", "bmdp"]
Objective = Literal["min-cost", "max-reward"]


class Model(Frozen):
    """A Markov decision process with a nominal kernel. It cannot be changed.

    Make one with :meth:`from_arrays`, :meth:`from_scipy`, :meth:`from_gymnasium`,
    :meth:`from_dataframe` or :meth:`load`, or take one of :mod:`robust_mdp.instances`. What the input
    calls a reward is maximised, what it calls a cost is minimised, and values are reported in the same
    sign.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> P = np.array([[[0.9, 0.1], [1.0, 0.0]], [[0.0, 1.0], [0.7, 0.3]]])
    >>> model = rm.Model.from_arrays(P, cost=[[0.0, 1.0], [5.0, 2.0]], convention="SAS", discount=0.9)
    >>> model
    Model(states=2, pairs=4, transitions=6, min-cost, discount=0.9)
    """

    __slots__ = ("_actions", "_cached", "_has_discount", "_native", "_starts")

    _native: NativeModel
    _actions: IntArray | None
    _starts: IntArray
    _has_discount: bool
    _cached: NativeModel | None

    def __init__(self) -> None:
        raise TypeError("make a model with Model.from_arrays, from_scipy, from_gymnasium, load, …")

    @staticmethod
    def _of(
        native: NativeModel, has_discount: bool = True, actions: IntArray | None = None
    ) -> Model:
        model = Model.__new__(Model)
        starts = native.state_starts()
        starts.flags.writeable = False
        if actions is not None:
            counts = np.diff(starts)
            plain = np.arange(len(actions)) - np.repeat(starts[:-1], counts)
            if np.array_equal(plain, actions):
                actions = None
            else:
                # It may be the user's.
                actions = actions.copy()
                actions.flags.writeable = False
        model._set(
            _native=native,
            _actions=actions,
            _starts=starts,
            _has_discount=has_discount,
            _cached=None,
        )
        return model

    @staticmethod
    def _build(parts: Parts, discount: float | None) -> Model:
        given = None if discount is None else _checks.discount(discount)
        return Model._of(parts.build(given), given is not None, parts.actions)

    # Makers

    @staticmethod
    def from_arrays(
        P: Any = None,
        R: Any = None,
        *,
        cost: Any = None,
        Q: Any = None,
        lower: Any = None,
        upper: Any = None,
        s_indices: ArrayLike | None = None,
        a_indices: ArrayLike | None = None,
        convention: Literal["ASS", "SAS"] | None = None,
        discount: float | None = None,
        beta: float | None = None,
        initial: NumbersLike | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> Model:
        """A model from dense arrays, in the convention of the package that they were made for.

        ========================  ====================================================
        pymdptoolbox              ``P[A, S, S]``, ``R[S]``, ``R[S, A]`` or ``R[A, S, S]``
        dense                     ``P[S, A, S]``, ``R[S]``, ``R[S, A]`` or ``R[S, A, S]``
        QuantEcon                 ``R[S, A]``, ``Q[S, A, S]``, ``beta``
        QuantEcon, pairs          ``R[L]``, ``Q[L, S]``, ``beta``, ``s_indices``, ``a_indices``
        ========================  ====================================================

        Parameters
        ----------
        P, R, Q, beta
            As above. `beta` is QuantEcon's word for the discount factor. A reward of minus infinity, or a
            cost of infinity, marks an action that a state does not have.
        cost : array
            In place of `R`, to be minimised.
        lower, upper : arrays, optional
            Least and largest probabilities, of the shape of `P` or `Q`: what nature may choose with
            :class:`Intervals`. Without `P` and `Q` nominal probabilities are chosen within, every row's at
            the same share of the way from `lower` to `upper`.
        s_indices, a_indices : arrays of int
            State and action of every pair.
        convention : {"ASS", "SAS"}, optional
            The order of the axes of `P`; needed only if there are as many actions as states, because
            the shape tells otherwise.
        discount : float, optional
            May also be given to :func:`solve`.
        initial : array, dictionary or Series, optional
            Initial distribution; uniform is meant without it. States that labels leave out have
            probability 0.
        state_names, action_names : sequences of str, optional
            Names of the states, and of the actions by their number. Tables, Series and dictionaries of
            rewards or probabilities are put in this order by their labels; without names, labels are
            numbers.

        Raises
        ------
        ModelError
            If this is no Markov decision process; the message names the state and the action.
        ValueError, TypeError
            If shapes do not fit, or the convention cannot be told from them.

        Examples
        --------
        >>> import numpy as np, robust_mdp as rm
        >>> P = np.full((2, 3, 3), 1 / 3)          # two actions, three states
        >>> R = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
        >>> rm.Model.from_arrays(P, R, discount=0.9)
        Model(states=3, pairs=6, transitions=18, max-reward, discount=0.9)
        >>> low, high = np.full((2, 3, 3), 0.1), np.full((2, 3, 3), 0.5)
        >>> rm.Model.from_arrays(lower=low, upper=high, R=R, discount=0.9)
        Model(states=3, pairs=6, transitions=18, intervals, max-reward, discount=0.9)
        """
        if hasattr(P, "beta") and hasattr(P, "Q"):
            raise TypeError(f"P: a {type(P).__name__} is taken in by Model.from_quantecon")
        given = Given.of(R, cost, initial, state_names, action_names)
        box = Box.of(lower, upper)
        parts = _conventions.of_arrays(P, Q, s_indices, a_indices, convention, given, box)
        return Model._build(parts, _discount_of(discount, beta))

    @staticmethod
    def from_quantecon(
        ddp: Any,
        *,
        initial: NumbersLike | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> Model:
        """A model from a ``DiscreteDP`` of QuantEcon, in its product or its pairs form, dense or sparse.

        Parameters
        ----------
        ddp : quantecon.markov.DiscreteDP
            Its ``R``, ``Q``, ``beta``, ``s_indices`` and ``a_indices`` are read. A reward of minus
            infinity marks an action that a state does not have.
        initial, state_names, action_names
            As in :meth:`from_arrays`.
        """
        absent = [name for name in ("R", "Q", "beta") if not hasattr(ddp, name)]
        if absent:
            raise TypeError(
                f"ddp: expected a DiscreteDP of QuantEcon, but a {type(ddp).__name__} has no "
                f"{' and no '.join(absent)}"
            )
        return Model.from_arrays(
            R=ddp.R,
            Q=ddp.Q,
            beta=ddp.beta,
            s_indices=getattr(ddp, "s_indices", None),
            a_indices=getattr(ddp, "a_indices", None),
            initial=initial,
            state_names=state_names,
            action_names=action_names,
        )

    @staticmethod
    def from_scipy(
        P: Any = None,
        R: Any = None,
        *,
        cost: Any = None,
        lower: Any = None,
        upper: Any = None,
        s_indices: ArrayLike | None = None,
        a_indices: ArrayLike | None = None,
        discount: float | None = None,
        beta: float | None = None,
        initial: NumbersLike | None = None,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> Model:
        """A model from sparse matrices; it stays sparse, and the matrices are read where they lie.

        Parameters
        ----------
        P : sequence of sparse (S, S) matrices, one an action; or one sparse matrix
            One matrix has a row for every state and action, those of a state together: row
            ``s * A + a``, or the pair that `s_indices` and `a_indices` name.
        R : array, optional
            Rewards of shape (S,) or (S, A), one a row of `P`, or a sequence of sparse matrices like
            `P`. Rewards on transitions that `P` does not list are left out, with a
            :class:`ModelWarning` that counts them; an entry of `P` that is 0 and stored is listed.
        cost : array, optional
            In place of `R`, to be minimised.
        lower, upper : like P, optional
            Least and largest probabilities, as in :meth:`from_arrays`.
        s_indices, a_indices, discount, beta, initial, state_names, action_names
            As in :meth:`from_arrays`.

        Examples
        --------
        >>> import numpy as np, scipy.sparse as sp, robust_mdp as rm
        >>> stay, move = sp.eye_array(4, format="csr"), sp.csr_array(np.roll(np.eye(4), 1, axis=1))
        >>> rm.Model.from_scipy([stay, move], R=[0.0, 0.0, 0.0, 1.0], discount=0.9)
        Model(states=4, pairs=8, transitions=8, max-reward, discount=0.9)
        """
        given = Given.of(R, cost, initial, state_names, action_names)
        parts = _sparse.of_scipy(P, s_indices, a_indices, given, Box.of(lower, upper))
        return Model._build(parts, _discount_of(discount, beta))

    @staticmethod
    def from_gymnasium(
        env: Any, *, discount: float | None = None, initial: NumbersLike | None = None
    ) -> Model:
        """A model from a Gymnasium environment that knows its transitions, or from these.

        Parameters
        ----------
        env : gymnasium.Env or mapping
            An environment with an attribute ``P``, such as FrozenLake, CliffWalking or Taxi, or that
            ``P`` itself: ``P[s][a]`` is a list of ``(probability, next, reward, terminated)``.
        discount : float, optional
            May also be given to :func:`solve`.
        initial : array, dictionary or Series, optional
            In place of the environment's ``initial_state_distrib``.

        Notes
        -----
        A time limit is no part of the model, and a :class:`ModelWarning` says so: values are those of
        episodes that go on until they terminate.

        The same next state with the same reward, listed twice, is one transition; with other rewards it is
        handed on as another one. There is no value after ``terminated``: where it leads to a
        state that all actions keep without reward, that state becomes terminal; other such transitions
        lead to one more state, named “terminated”, behind those of the environment. Values of the
        environment's own states are those of the dictionary, exactly.

        Examples
        --------
        >>> import robust_mdp as rm
        >>> P = {0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
        >>> rm.Model.from_gymnasium(P, discount=0.9)
        Model(states=2, pairs=1, transitions=2, max-reward, discount=0.9)
        """
        return Model._build(_tables.of_gymnasium(env, initial), discount)

    @staticmethod
    def from_dataframe(
        frame: Any,
        *,
        state: str = "state",
        action: str = "action",
        next: str = "next",
        probability: str = "probability",
        cost: str | None = None,
        reward: str | None = None,
        lower: str | None = None,
        upper: str | None = None,
        discount: float | None = None,
        initial: NumbersLike | None = None,
    ) -> Model:
        """A model from a table of transitions, of pandas, polars or PyArrow.

        Parameters
        ----------
        frame : DataFrame or pyarrow.Table
            One transition a line, in any order.
        state, action, next, probability : str
            Names of the columns. States are numbers from 0, or labels, which are numbered in the order
            in which they first appear in `state`, then in `next`. Actions that are numbers keep these;
            labels of actions are numbered in the order in which they first appear in their state.
        cost, reward : str, optional
            The column of costs, or that of rewards; without either, the one called “cost” or “reward”.
        lower, upper : str, optional
            Columns of least and largest probabilities, as in :meth:`from_arrays`; the table may then do
            without a column of probabilities.
        discount, initial
            As in :meth:`from_arrays`.

        Notes
        -----
        A state without actions is terminal, and a :class:`ModelWarning` says so.

        Examples
        --------
        >>> import pandas as pd, robust_mdp as rm
        >>> rows = [("up", "run", "up", 0.9, 0.0), ("up", "run", "down", 0.1, 0.0),
        ...         ("down", "fix", "up", 1.0, 3.0)]
        >>> frame = pd.DataFrame(rows, columns=["state", "action", "next", "probability", "cost"])
        >>> rm.Model.from_dataframe(frame, discount=0.9).state_names
        ['up', 'down']
        """
        names = (state, action, next, probability, cost, reward)
        return Model._build(_tables.of_dataframe(frame, names, (lower, upper), initial), discount)

    @staticmethod
    def load(
        path: Path,
        *,
        format: Format | None = None,
        discount: float | None = None,
        reach: str | Sequence[str] = (),
        rewards: str | None = None,
        objective: Objective | None = None,
    ) -> Model:
        """Read a model from a file: ``.json``, craam's ``.csv`` or the same table as ``.parquet``, ``.npz``, PRISM's
        ``.tra``, Storm's ``.drn``, bmdp-tool's ``.bmdp`` or fast-robust-mdps' ``.mdp``, packed by gzip or not.

        Where probabilities have intervals, the model has them too. Where a ``.csv`` file gives actions
        several outcomes, rows are their even mixtures, within intervals that hold them all, and a
        :class:`ModelWarning` says so.

        Parameters
        ----------
        path : path
            The format follows from its ending unless `format` names it.
        discount : float, optional
            In place of the file's; only JSON, ``.npz`` and ``.mdp`` files have one.
        reach : str or sequence of str, optional
            Labels of PRISM's and Storm's files: how likely states with one of them are reached is asked, in
            place of the file's rewards. It has a reward of 1 to enter such a state, and they are terminal.
        rewards : str, optional
            Which of the rewards of Storm's files count; by default the first.
        objective : {"min-cost", "max-reward"}, optional
            What the numbers of PRISM's and Storm's files are; by default rewards, unless they are called “cost”.
        """
        maximise = None
        if objective is not None:
            _checks.one_of("objective", objective, get_args(Objective))
            maximise = objective == "max-reward"
        path = os.fspath(path)
        labels = [reach] if isinstance(reach, str) else list(reach)
        try:
            given = None if discount is None else _checks.discount(discount)
            native, notes = _native.Model.load(path, format, given, labels, rewards, maximise)
            has_discount = True
        except _native.ModelError as error:
            if discount is not None or "discount factor is missing" not in str(error):
                raise
            native, notes = _native.Model.load(path, format, 0.0, labels, rewards, maximise)
            has_discount = False
        for note in notes:
            warn(note, ModelWarning)
        return Model._of(native, has_discount, _numbers_of(native))

    @staticmethod
    def from_csv(path: Path, *, discount: float | None = None) -> Model:
        """Read a table of transitions in craam's columns, whatever the file's ending."""
        return Model.load(path, format="csv", discount=discount)

    def save(self, path: Path, *, format: Format | None = None) -> None:
        """Write the model to a file; only JSON keeps everything.

        A :class:`ModelWarning` says what the file does not hold: names, and with CSV the discount factor,
        the initial distribution and what next states cost that are not listed. The file appears as a
        whole or not at all, packed by gzip where the name ends in ``.gz``.
        """
        path = os.fspath(path)
        if not self._has_discount and _native.Model.holds_discount(path, format):
            raise ValueError(
                "the model has no discount factor, which this format needs: "
                "save model.with_discount(…)"
            )
        for lost in self._native.save(path, format):
            warn(lost, ModelWarning)
        restored = _numbers_of(self._native)
        if not np.array_equal(self._pairs()[1] if restored is None else restored, self.action_ids):
            warn(
                "numbers of actions are lost: a model that is loaded numbers them by names that are whole "
                "numbers, or else 0, 1, 2, … in every state",
                ModelWarning,
            )

    # What it is

    @property
    def n_states(self) -> int:
        """Number of states S, terminal ones included."""
        return len(self._starts) - 1

    @property
    def n_pairs(self) -> int:
        """Number of state–action pairs."""
        return int(self._starts[-1])

    @property
    def n_transitions(self) -> int:
        """Number of transitions of positive probability."""
        return self._native.transitions

    @property
    def n_actions(self) -> IntArray:
        """Number of actions in every state; 0 in terminal ones."""
        return np.diff(self._starts)

    @property
    def state_starts(self) -> IntArray:
        """Pairs of state ``s`` are ``state_starts[s]:state_starts[s + 1]``."""
        return self._starts

    @property
    def action_ids(self) -> IntArray:
        """The number of each pair's action, as the input gave it."""
        if self._actions is not None:
            return self._actions
        return self._pairs()[1]

    @property
    def discount(self) -> float | None:
        """The discount factor, if the model has one."""
        return self._native.discount if self._has_discount else None

    @property
    def objective(self) -> Objective:
        """Whether costs are minimised or rewards maximised."""
        return "max-reward" if self._native.maximise else "min-cost"

    @property
    def initial(self) -> FloatArray:
        """The initial distribution."""
        given = self._native.initial
        return frozen(np.full(self.n_states, 1.0 / self.n_states) if given is None else given)

    @property
    def is_dense(self) -> bool:
        """Whether all probabilities are stored, zeros included."""
        return self._native.is_dense

    @property
    def state_names(self) -> list[str]:
        """Names of the states; their numbers where they have none."""
        return self._native.state_names()

    @property
    def action_names(self) -> list[list[str]]:
        """Names of the actions of every state."""
        names = self._native.action_names()
        return [names[a:b] for a, b in zip(self._starts[:-1], self._starts[1:], strict=True)]

    @property
    def fingerprint(self) -> str:
        """A hash of everything that values depend on; certificates carry it."""
        return f"{self._native.fingerprint:032x}"

    def kernel(self) -> Kernel:
        """The nominal kernel."""
        _, indptr, next_states, data, *_ = self._native.arrays()
        return Kernel._of(self, indptr, next_states, data)

    @property
    def has_intervals(self) -> bool:
        """Whether probabilities have intervals, within which the nominal ones lie."""
        return self._native.has_intervals

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest probability of every transition, in the order of :meth:`kernel`.

        >>> import numpy as np, robust_mdp as rm
        >>> P = np.array([[[0.5, 0.5], [0.0, 1.0]]])
        >>> low, high = np.array([[[0.3, 0.4], [0.0, 1.0]]]), np.array([[[0.6, 0.7], [0.0, 1.0]]])
        >>> model = rm.Model.from_arrays(P, [1.0, 0.0], lower=low, upper=high, discount=0.9)
        >>> model.intervals()
        (array([0.3, 0.4, 1. ]), array([0.6, 0.7, 1. ]))
        """
        *_, bounds = self._native.arrays()
        if bounds is None:
            raise ValueError("the probabilities of this model have no intervals")
        lower, upper = bounds
        return frozen(lower), frozen(upper)

    def expected_costs(self) -> FloatArray:
        """Expected immediate cost, or reward, of every pair under the nominal kernel."""
        _, indptr, _, data, cost, further, _ = self._native.arrays()
        if further is not None:
            row = np.repeat(np.arange(len(cost)), np.diff(indptr))
            cost = cost + np.bincount(row, weights=data * further, minlength=len(cost))
        return frozen(cost)

    def to_dataframe(self) -> Any:
        """A pandas table of the transitions, as :meth:`from_dataframe` reads it.

        Where probabilities have intervals, these are the columns “lower” and “upper”. A
        :class:`ModelWarning` says what the table does not hold: names, the initial distribution and what next
        states cost that are not listed. The discount factor is not in it either.
        """
        import pandas as pd

        for lost in self._native.losses("csv"):
            if not lost.startswith(("the discount factor", "the intervals")):
                warn(lost, ModelWarning)
        _, indptr, next_states, data, cost, further, bounds = self._native.arrays()

        def table() -> Any:
            row = np.repeat(np.arange(self.n_pairs), np.diff(indptr))
            amount = cost[row] if further is None else cost[row] + further
            columns = {
                "state": self._pairs()[0][row],
                "action": self.action_ids[row],
                "next": next_states.astype(np.int64),
                "probability": data,
                **dict(zip(("lower", "upper"), bounds or (), strict=False)),
                "reward" if self.objective == "max-reward" else "cost": amount,
            }
            return pd.DataFrame(columns)

        return interruptibly(len(data), table)

    # Variants

    def with_discount(self, discount: float) -> Model:
        """The same model with another discount factor."""
        native = self._native.with_discount(_checks.discount(discount))
        return Model._of(native, True, self._own_actions())

    @property
    def unlisted_costs(self) -> tuple[float, float] | None:
        """Least and largest cost, or reward, of next states that are not listed; none where all are.

        Such a next state costs what its action costs by itself. That matters to sets that may leave the
        nominal support, such as :class:`Ellipsoid` with support "all".
        """
        return self._native.unlisted_costs

    def with_unlisted_cost(self, cost: float) -> Model:
        """The same model with this cost, or reward, of next states that are not listed.

        What listed transitions cost stays the same, up to rounding.

        >>> import robust_mdp as rm
        >>> P = {0: {0: [(1.0, 1, 5.0, False)]}, 1: {0: [(1.0, 0, 1.0, False)]}}
        >>> model = rm.Model.from_gymnasium(P, discount=0.9)
        >>> model.with_unlisted_cost(-7.0).unlisted_costs
        (-7.0, -7.0)
        """
        native = self._native.with_unlisted_cost(float(cost))
        return Model._of(native, self._has_discount, self._own_actions())

    def with_kernel(self, kernel: Any) -> Model:
        """The same model with another nominal kernel: a :class:`Kernel`, ``P[S, A, S]`` or a sparse
        matrix with one row a pair. Intervals are left out, with a :class:`ModelWarning`: they were those of
        the other one.

        >>> import robust_mdp as rm
        >>> model = rm.instances.machine(states=10, discount=0.8)
        >>> sol = rm.solve(model, rm.KL(0.05))
        >>> worst = model.with_kernel(sol.worst_kernel())
        >>> value = rm.evaluate(worst, sol.policy, rm.Nominal()).nominal.value
        >>> bool(abs(value.mid - sol.value.mid) < 1e-4)
        True
        """
        if self.has_intervals:
            warn("the intervals of probabilities are left out", ModelWarning)
        return self._with_kernel(as_kernel(self, kernel))

    def _with_kernel(self, made: Kernel) -> Model:
        starts, indptr, next_states, data, cost, further, _ = self._native.arrays()
        rows, divided = (made.indptr, made.indices, made.data), 0
        if further is not None:
            own, extra = (indptr, next_states, data), further
            rows, further, divided = interruptibly(
                max(len(data), len(made.data)), lambda: transfer(self.n_states, own, extra, rows)
            )
        if divided:
            warn(
                f"{divided} transitions of the kernel lead where the model has several costs; their "
                "probability is divided among these as in the model",
                ModelWarning,
            )
        native = _native.Model.from_rows(starts, (*rows, further, None), cost, self._about())
        return Model._of(native, self._has_discount, self._own_actions())

    # Inside

    def _discounted(self, discount: float | None) -> Model:
        """This model, with `discount` in place of its own."""
        if discount is None:
            if not self._has_discount:
                raise ValueError("the model has no discount factor: give discount=")
            return self
        discount = _checks.discount(discount)
        if self._has_discount and discount == self._native.discount:
            return self
        if self._cached is None or self._cached.discount != discount:
            self._set(_cached=self._native.with_discount(discount))
        assert self._cached is not None
        return Model._of(self._cached, True, self._own_actions())

    @property
    def _unit(self) -> str:
        """What is summed."""
        return "reward" if self._native.maximise else "cost"

    def _own_actions(self) -> IntArray | None:
        return None if self._actions is None else self._actions.copy()

    def _labels(self) -> Pairs:
        """What states and actions are called."""
        names = self.state_names
        plain = names == [str(s) for s in range(len(names))]
        states = Axis("state", self.n_states, None if plain else names)
        return Pairs(states, self._starts, self.action_ids, self._native.action_names())

    def _pairs(self) -> tuple[IntArray, IntArray]:
        """State and number within it of every pair."""
        counts = np.diff(self._starts)
        state = np.repeat(np.arange(self.n_states), counts)
        return state, np.arange(self.n_pairs) - self._starts[state]

    def _flat(self, what: str, table: NDArray[Any], absent_zero: bool = False) -> FloatArray:
        """One number a pair, from a vector of them or from a table of states and actions."""
        array = numbers(what, table)
        if array.shape == (self.n_pairs,):
            return np.ascontiguousarray(array)
        ids = self.action_ids
        width = int(ids.max(initial=-1)) + 1
        if array.shape != (self.n_states, width):
            raise ValueError(
                f"{what} has shape {array.shape}, expected ({self.n_states}, {width}) or one number "
                f"for each of {self.n_pairs} state-action pairs"
            )
        state = self._pairs()[0]
        if absent_zero:
            extra = array.copy()
            extra[state, ids] = 0.0
            for s, a in np.argwhere(extra != 0.0)[:1]:
                raise ValueError(f"{what}: state {s} has no action {a}, expected 0 there")
        return np.ascontiguousarray(array[state, ids])

    def _about(self) -> tuple[Any, ...]:
        names = self.state_names
        plain = names == [str(s) for s in range(len(names))]
        actions = self._native.action_names()
        numbered = actions == [str(a) for a in self._pairs()[1]]
        return (
            self._native.discount,
            self._native.maximise,
            self._native.initial,
            None if plain else names,
            None if numbered else actions,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = self._native.arrays()
        return (_restore, (arrays, self._about(), self._has_discount, self._own_actions()))

    def __repr__(self) -> str:
        parts = [f"states={self.n_states}", f"pairs={self.n_pairs}"]
        parts += [f"transitions={self.n_transitions}"]
        parts += ["intervals"] if self.has_intervals else []
        parts += [self.objective]
        parts += [f"discount={self.discount}"] if self._has_discount else ["no discount"]
        return f"Model({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from ._html import facts

        terminal = int((self.n_actions == 0).sum())
        return facts(
            "Markov decision process",
            {
                "states": f"{self.n_states}" + (f" ({terminal} terminal)" if terminal else ""),
                "state–action pairs": str(self.n_pairs),
                "transitions": f"{self.n_transitions}, {'dense' if self.is_dense else 'sparse'}"
                + (", with intervals" if self.has_intervals else ""),
                "objective": self.objective,
                "discount": str(self.discount) if self._has_discount else "none",
            },
        )


def _discount_of(discount: float | None, beta: float | None) -> float | None:
    """`beta` is what QuantEcon calls the discount factor."""
    if discount is not None and beta is not None:
        raise TypeError("beta and discount are the same thing: give one of them")
    return discount if beta is None else beta


def _numbers_of(native: NativeModel) -> IntArray | None:
    """Numbers of actions whose names are all whole numbers, each once in its state."""
    if not native.are_named()[1]:
        return None
    names = native.action_names()
    # Eighteen digits are always 64 bits.
    if any(len(name) > 18 or not name.isdecimal() or str(int(name)) != name for name in names):
        return None
    made, starts = np.array([int(name) for name in names], dtype=np.int64), native.state_starts()
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    distinct = len(set(zip(owner.tolist(), names, strict=True)))
    return made if distinct == len(names) else None


def _restore(
    arrays: tuple[Any, ...], about: tuple[Any, ...], has_discount: bool, actions: IntArray | None
) -> Model:
    starts, indptr, next_states, data, cost, further, bounds = arrays
    box = None if bounds is None else Box(*bounds).native()
    rows = (indptr, next_states, data, further, box)
    native = _native.Model.from_rows(starts, rows, cost, about)
    return Model._of(native, has_discount, actions)
