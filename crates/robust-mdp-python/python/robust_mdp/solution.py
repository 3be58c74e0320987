"""What a solve gives back: bounds, the policy, its worst case, a proof. Nothing in it can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _native
from ._answers import extreme_kernel, table
from ._arrays import FloatArray, frozen
from ._frozen import Frozen
from ._native import Solution as NativeSolution
from .certificate import Certificate, Verified, verify
from .kernel import Kernel
from .objectives import Criterion, Direction, Question
from .policy import Policy, Seed
from .results import Interval, Status
from .sets import UncertaintySet
from .stages import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .model import Model
    from .simulation import Simulation

_TRACE = (
    *("sweeps", "seconds", "lower", "upper", "gap", "residual", "kernel_passes", "first_order_steps"),
    *("output_lower", "output_upper", "output_gap"),
)


def empty_trace() -> FloatArray:
    """Of a run that kept none."""
    return np.zeros((0, len(_TRACE)))


class Solution(Frozen):
    """A policy with certified bounds; values are in the model's own sign.

    In every state, ``lower`` and ``upper`` bound the optimal robust value and the policy's worst case
    alike (with ``direction="best"`` the optimal best-case value and the policy's best case), and
    ``upper − lower ≤ gap``.

    Attributes
    ----------
    model : Model
        The model, with the discount factor of the solve; totals and averages have none, whatever it says.
    set : UncertaintySet
        The set.
    """

    model: Model
    set: UncertaintySet
    _native: NativeSolution
    _trace: FloatArray
    _proof: bytes | None
    _threads: int | None

    def __init__(
        self,
        model: Model,
        set: UncertaintySet,
        native: NativeSolution,
        trace: FloatArray,
        proof: bytes | None,
        threads: int | None,
    ) -> None:
        self._set(
            model=model, set=set, _native=native, _trace=trace, _proof=proof, _threads=threads
        )

    @cached_property
    def _question(self) -> Question:
        native: Any = self._native
        return Question(native.criterion, native.horizon, native.direction, native.deterministic)

    @property
    def criterion(self) -> Criterion:
        """How costs or rewards over time count: "discounted", "finite", "total" or "average"; what
        :func:`solve` takes as ``objective=``."""
        return self._question.criterion

    @property
    def horizon(self) -> int | None:
        """Steps of a finite horizon; None otherwise."""
        return self._question.horizon

    @property
    def direction(self) -> Direction:
        """Which kernel of the set counts: the "worst" or the "best"."""
        return self._question.direction

    @property
    def deterministic(self) -> bool:
        """Whether only deterministic policies were looked at."""
        return self._question.deterministic

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The steps of a finite horizon, each with its values and its policy; empty otherwise. Values and
        policy of the first step are those of the solution."""
        return tuple(Stage(self, step) for step in range(self.horizon or 0))

    @cached_property
    def bias(self) -> FloatArray | None:
        """Of an average: relative values, how much more it costs or brings to begin in a state than in
        another; None otherwise."""
        bias = self._native.bias
        return None if bias is None else frozen(bias)

    @cached_property
    def steps_to_end(self) -> FloatArray | None:
        """Of a total: the mean number of steps to the end is at most this, one number a state, under every
        kernel of the set; None if that was not proved, and for others."""
        ending = self._native.ending
        return None if ending is None else frozen(ending[1])

    @property
    def ends_surely(self) -> bool | None:
        """Of a total: whether every policy ends, under every kernel of the set; if not,
        :attr:`steps_to_end` are those of the policy found. None as there."""
        ending = self._native.ending
        return None if ending is None else ending[0]

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds, one a state."""
        return frozen(self._native.lower)

    @cached_property
    def upper(self) -> FloatArray:
        """Upper bounds, one a state."""
        return frozen(self._native.upper)

    @cached_property
    def values(self) -> FloatArray:
        """Midpoints of the bounds."""
        return frozen(self._native.values)

    @cached_property
    def policy(self) -> Policy:
        """The policy whose worst case (or best, see :attr:`direction`) lies within the bounds; the first
        step's of a finite horizon, see :attr:`stages`."""
        return Policy(self.model, self._native.policy)

    @property
    def value(self) -> Interval:
        """Bounds of the value at the initial distribution."""
        return Interval(*self._native.initial_value)

    @property
    def guarantee(self) -> float:
        """What the policy achieves at the initial distribution whatever kernel of the set is true:
        at most this cost, or at least this reward. A best case guarantees nothing: ValueError."""
        if self.direction == "best":
            raise ValueError("the solution is of the best case, which guarantees nothing: see value")
        return self.value.lower if self.model.objective == "max-reward" else self.value.upper

    @property
    def status(self) -> Status:
        """How the run ended; the bounds hold in any case."""
        status: Any = self._native.status
        return status  # type: ignore[no-any-return]

    @property
    def is_certified(self) -> bool:
        """Whether the gap asked for was reached."""
        return self.status == "certified"

    @property
    def gap(self) -> float:
        """The largest ``upper − lower`` over states."""
        return self._native.gap

    @property
    def target_gap(self) -> float:
        """The gap that was asked for."""
        return self._native.target_gap

    @property
    def method(self) -> str:
        """The method that ran."""
        return self._native.method

    @property
    def oracle(self) -> str:
        """What solved the games of the states."""
        return self._native.oracle

    @property
    def reason(self) -> str | None:
        """By which rule the solver chose them, if it did."""
        return self._native.reason

    @property
    def seconds(self) -> float:
        """Wall-clock time of the run."""
        return self._native.seconds

    @property
    def work(self) -> dict[str, float]:
        """Work counted independently of the machine."""
        names = ("sweeps", "evaluations", "oracle_calls", "first_order_steps", "kernel_passes")
        return dict(zip(names, self._native.work, strict=True))

    @property
    def warnings(self) -> list[str]:
        """What was warned of."""
        return self._native.warnings

    @cached_property
    def trace(self) -> Mapping[str, FloatArray]:
        """How the run went: arrays over sweeps (thinned if there are many; empty in a sweep over radii).

        ``lower``, ``upper`` (at the initial distribution) and ``gap`` (the largest over states) are the
        bounds of the answer so far. With ``method="fom-vi"`` ``output_lower``, ``output_upper`` and
        ``output_gap`` are those of the epoch's own output, the difference of the first two being the
        paper's duality gap; NaN where it was not computed (``steps="paper"`` computes it after every epoch).
        """
        return {name: frozen(self._trace[:, k].copy()) for k, name in enumerate(_TRACE)}

    def worst_kernel(self) -> Kernel:
        """The kernel of the set that is worst for the policy.

        It is held as compressed rows whatever the model (``to_scipy()`` gives a SciPy array of them):
        where nature may put mass on every state of a large sparse model, hers have some tens of entries.
        """
        return self._kernel("worst")

    def best_kernel(self) -> Kernel:
        """The kernel of the set that is best for the policy, of a solution with ``direction="best"``."""
        return self._kernel("best")

    def _kernel(self, direction: Direction) -> Kernel:
        if self.horizon is not None:
            raise ValueError(
                "kernels of a finite horizon differ from step to step: "
                f"ask for stages[t].{direction}_kernel()"
            )
        # All states are worth the same average: relative values tell them apart.
        after = self.values if self.bias is None else self.bias
        return extreme_kernel(self, self._native.policy, after, direction)

    @cached_property
    def certificate(self) -> Certificate:
        """A proof of bounds that anyone can check with :func:`verify`; made when first asked for."""
        if self._proof is not None:
            return Certificate(self._proof)
        made = self._native.certify(
            self.model._native, self.set._native(self.model), self._threads
        )
        return Certificate(made)

    def verify(self) -> Verified:
        """Check the certificate and say what it proves."""
        return verify(self.model, self.certificate, threads=self._threads)

    def simulate(
        self,
        kernel: Any = "worst",
        *,
        episodes: int = 1000,
        steps: int | None = None,
        start: Any = None,
        seed: Seed = None,
    ) -> Simulation:
        """Simulate the policy; see :func:`robust_mdp.simulate`.

        Parameters
        ----------
        kernel : {"worst", "best", "nominal"} or kernel
            Under which transition probabilities.
        steps : int, optional
            Needed for averages. Totals are simulated until less than a millionth of the episodes goes on.
        """
        from .simulation import ends_within, simulate

        if isinstance(kernel, str):
            if kernel not in ("worst", "best", "nominal"):
                raise ValueError(f'kernel={kernel!r}, expected "worst", "best", "nominal" or a kernel')
            kernel = None if kernel == "nominal" else self._kernel(kernel)  # type: ignore[arg-type]
        if steps is None and self.steps_to_end is not None:
            steps = ends_within(self.steps_to_end)
        return simulate(
            self.model,
            self,
            kernel=kernel,
            episodes=episodes,
            steps=steps,
            start=start,
            discount=1.0 if self._question.is_undiscounted else None,
            seed=seed,
        )

    def to_dataframe(self) -> Any:
        """A pandas table with one line a state: name, bounds, value, most likely action; of an
        average also its relative value."""
        frame = table(self, self.lower, self.upper, self.values, self.policy)
        return frame if self.bias is None else frame.assign(bias=self.bias)

    def plot(
        self, kind: Literal["overview", "convergence", "policy", "values"] = "overview", ax: Any = None
    ) -> Figure:
        """Draw how the bounds came together, the policy, or the values; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import plotting

        return plotting.solution(self, kind, ax)

    def __reduce__(self) -> tuple[Any, ...]:
        made = self.__dict__.get("certificate")
        proof = self._proof if made is None else made.data
        state = (self._native.to_bytes(), self._trace, proof)
        return (_restore, (self.model, self.set, self._threads, *state))

    def __repr__(self) -> str:
        low, high = self.value
        return (
            f"Solution({self.status}, {self._words()}, value in [{low:.6g}, {high:.6g}], gap={self.gap:.2g}, "
            f"{self.method} with the {self.oracle} oracle, {self.seconds:.3g} s)"
        )

    def _words(self) -> str:
        """What was optimised."""
        return self._question.words(self.model._unit)

    def _repr_html_(self) -> str:
        from ._html import facts

        low, high = self.value
        why = f" (chosen by auto: {self.reason})" if self.reason else ""
        shown = {
            "status": self.status,
            "optimised": self._words(),
            "set": repr(self.set),
            "value at the initial distribution": f"{low:.8g} to {high:.8g}",
            "gap": f"{self.gap:.3g} (asked for: {self.target_gap:.3g})",
            "method": f"{self.method} with the {self.oracle} oracle{why}",
            "work": f"{self.work['sweeps']} sweeps, {self.seconds:.3g} s",
        }
        if self.warnings:
            shown["warnings"] = "; ".join(self.warnings)
        return facts("Robust solution", shown)


def _restore(
    model: Model,
    set: UncertaintySet,
    threads: int | None,
    data: bytes,
    trace: FloatArray,
    proof: bytes | None,
) -> Solution:
    return Solution(model, set, _native.Solution.from_bytes(data), trace, proof, threads)
