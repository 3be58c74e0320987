"""Solving, evaluating, and solving for many radii."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from . import _checks, _native
from ._arrays import FloatArray, flat, is_labelled
from ._checks import count, number
from ._labels import Labelled, NumbersLike
from ._messages import ConvergenceWarning, ModelWarning, RobustMDPWarning, logger, warn
from .objectives import Criterion, Direction, Question
from .policy import Policy, as_policy
from .radii import RadiusSweep
from .results import Evaluation
from .sets import UncertaintySet
from .solution import Solution, empty_trace

if TYPE_CHECKING:
    from .model import Model

Method = Literal["auto", "fom-vi", "vi", "gs-vi", "anderson", "avi", "pi", "newton"]
Oracle = Literal["exact", "first-order", "interior-point"]


class Progress(NamedTuple):
    """Where a run stands; what progress callbacks are given."""

    sweeps: int
    seconds: float
    lower: float
    upper: float
    gap: float
    target: float

    @property
    def fraction(self) -> float:
        """Between 0 and 1, on a logarithmic scale of the gap from 1 down to the one asked for."""
        if self.gap <= self.target:
            return 1.0
        start = max(1.0, self.target * 10.0)
        done = math.log(start / max(self.gap, self.target)) / math.log(start / self.target)
        return min(max(done, 0.0), 1.0)


@dataclass(frozen=True)
class FirstOrder:
    """Settings of the first-order oracle and of ``method="fom-vi"``; None is the solver's choice.

    Parameters
    ----------
    setup : {"l2,l2", "l1,l1", "l1,l2", "l2,l1"}, optional
        Geometries of the policy and of the kernel.
    weights, epochs : float, optional
        Exponents of the averages' weights and of the epochs' lengths.
    steps : {"centred", "paper"}, optional
        Step sizes; "paper" is FOM-VI as published.
    method : {"pda", "mirror-prox", "mirror-descent"}, optional
    average : {"all", "epoch"}, optional
    """

    setup: str | None = None
    weights: float | None = None
    epochs: float | None = None
    steps: str | None = None
    method: str | None = None
    average: str | None = None

    def _settings(self) -> dict[str, Any]:
        """By the names of the native module."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        for name, known in _NAMES.items():
            if name in given:
                _checks.one_of(name, given[name], known)
        for name in ("weights", "epochs"):
            if name in given:
                given[name] = number(name, given[name])
        if self.setup is not None:
            given["setup"] = self.setup.split(",")
        return given


_NAMES = {
    "setup": ("l2,l2", "l1,l1", "l1,l2", "l2,l1"),
    "steps": ("centred", "paper"),
    "method": ("pda", "mirror-prox", "mirror-descent"),
    "average": ("all", "epoch"),
}


DISCOUNTED = Question()


def _maybe(check: Callable[..., Any], name: str, value: Any, *limits: int) -> Any:
    return None if value is None else check(name, value, *limits)


def _options(
    method: str,
    oracle: str | None,
    gap: float | None,
    max_sweeps: int | None,
    time_limit: float | None,
    threads: int | None,
    anderson: int | None,
    first_order: FirstOrder | None,
    question: Question = DISCOUNTED,
) -> str:
    settings: dict[str, Any] | None = None
    if first_order is not None:
        if not isinstance(first_order, FirstOrder):
            raise TypeError(f"first_order: expected a FirstOrder, not {first_order!r}")
        if method != "fom-vi" and oracle != "first-order":
            raise ValueError(
                'first_order settings have an effect only with method="fom-vi" or '
                'oracle="first-order"'
            )
        settings = first_order._settings()
    _checks.one_of("method", method, get_args(Method))
    if oracle is not None:
        _checks.one_of("oracle", oracle, get_args(Oracle))
    if anderson is not None and method != "anderson":
        raise ValueError(f'anderson is a setting of method="anderson", but the method is {method!r}')
    return json.dumps(
        {
            **question.native(),
            "method": method,
            "oracle": oracle,
            "gap": _maybe(number, "gap", gap),
            "max_sweeps": _maybe(count, "max_sweeps", max_sweeps),
            "time_limit": _maybe(number, "time_limit", time_limit),
            "threads": _maybe(count, "threads", threads, 1),
            "anderson": _maybe(count, "anderson", anderson),
            "first_order": settings,
        }
    )


def _asked(model: Any, set: Any, question: Question, discount: float | None) -> Model:
    checked = _checks.model(model)
    if not isinstance(set, UncertaintySet):
        raise TypeError(f"set: expected an uncertainty set such as KL(0.1), not {set!r}")
    return question.model(checked, discount)


def _discounted(caller: str, model: Any, set: Any, discount: float | None) -> Model:
    """The model of a question that is one of discounted costs."""
    found = _asked(model, set, DISCOUNTED, discount)
    if found.discount == 1.0:
        raise ValueError(f"{caller} is of discounted costs: expected a discount factor below 1, not 1")
    return found


def solve(
    model: Model,
    set: UncertaintySet,
    *,
    objective: Criterion = "discounted",
    horizon: int | None = None,
    direction: Direction = "worst",
    deterministic: bool = False,
    discount: float | None = None,
    gap: float | None = None,
    method: Method = "auto",
    oracle: Oracle | None = None,
    max_sweeps: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    anderson: int | None = None,
    first_order: FirstOrder | None = None,
    start: Solution | NumbersLike | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
    certify: bool = False,
    progress: Callable[[Progress], object] | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> Solution:
    """Find a policy that is good for every kernel of a set, with proved bounds.

    Parameters
    ----------
    model : Model
    set : UncertaintySet
        Which kernels are possible, such as :class:`KL`; :class:`Nominal` for the nominal one alone.
    objective : {"discounted", "finite", "total", "average"}
        How costs or rewards over time count: discounted over all time; over `horizon` steps; all of them
        until the model ends in terminal states, or others where all is over; on average over all time.
        Whether they are costs or rewards is a property of the model.
    horizon : int, optional
        Steps of ``objective="finite"``. The policy may differ from step to step: :attr:`Solution.stages`.
    direction : {"worst", "best"}
        Which kernel of the set counts: min over policies of the max over kernels of costs, or min of min.
    deterministic : bool
        Whether to look at deterministic policies alone. Where actions share a budget (``rectangular="s"``),
        better ones may randomise.
    discount : float, optional
        In place of the model's. A total or an average has none, and a finite horizon only if the model has
        one or it is given here.
    gap : float, optional
        Stop when ``upper − lower ≤ gap`` in every state; unless given, seven digits of the range in
        which all values lie: 1e-7 times (largest − least cost) / (1 − discount), or what rounding
        allows where that is more; of an average 1e-7 times (largest − least cost), of a finite horizon
        times its steps, and of a total that of one step.
    method : str
        "auto", "fom-vi", "vi", "gs-vi", "anderson", "avi", "pi" or "newton"; "auto" for other objectives
        than discounted ones, which have methods of their own.
    oracle : str, optional
        What solves the game of a state: "exact", "first-order" or "interior-point".
    max_sweeps : int, optional
    time_limit : float, optional
        Seconds. At a limit the best answer so far is returned, with a :class:`ConvergenceWarning`.
    threads : int, optional
        All cores unless given. The answer does not depend on it.
    anderson : int, optional
        Past steps that ``method="anderson"`` combines.
    first_order : FirstOrder, optional
        Settings of the first-order oracle.
    start : array, dictionary, Series or Solution, optional
        Values to start from, one a state, in the model's order or by label: those of a similar question
        save sweeps. What is proved does not rest on them. Of an average, relative values.
    checkpoint : path, optional
        A file that keeps the state of the run. If the run is cut short, by Ctrl-C, a limit or a loss of
        power, the same call goes on from there, to the same answer. A run that reaches its goal removes
        the file.
    checkpoint_every : float
        Seconds from one state that is kept to the next; one is also kept when a limit, Ctrl-C or an
        exception of `progress` ends the run. KeyboardInterrupt is then raised once the sweep is over
        and the state is written. A second Ctrl-C does not wait: what is sure to be there is the last
        state kept before.
    certify : bool
        Whether to make a certificate at once and to return the bounds that it proves. Without it the
        bounds are computed with an allowance for rounding, and :attr:`Solution.certificate` is made
        when asked for.
    progress : callable, optional
        Called with a :class:`Progress` every few hundredths of a second and once at the end. An
        exception that it raises ends the run.
    on_interrupt : {"raise", "return"}
        What Ctrl-C does: raise KeyboardInterrupt, or end the run and return the best answer so far, with
        the status "interrupted" and a :class:`ConvergenceWarning`.

    Returns
    -------
    Solution

    Notes
    -----
    Other Python threads run meanwhile, and Ctrl-C is heard.

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.healthcare(states=20, discount=0.9)
    >>> sol = rm.solve(model, rm.Ellipsoid(0.01), gap=1e-6)
    >>> bool((sol.upper - sol.lower <= 1e-6).all())
    True
    """
    question = Question.of(objective, horizon, direction, deterministic)
    model = _asked(model, set, question, discount)
    options = _options(
        method, oracle, gap, max_sweeps, time_limit, threads, anderson, first_order, question
    )
    if on_interrupt not in ("raise", "return"):
        raise ValueError(f'on_interrupt={on_interrupt!r}, expected "raise" or "return"')
    keep = on_interrupt == "return"
    _checks.callback(progress)
    call = None if progress is None else (lambda *state: progress(Progress(*state)))
    values = _values(model, start)
    file = None
    if checkpoint is not None:
        file = (os.fspath(checkpoint), number("checkpoint_every", checkpoint_every))
    native, trace, proof, trouble = _native.solve(
        model._native, set._native(model), options, values, file, bool(certify), keep, call
    )
    solution = Solution(model, set, native, trace, proof, threads)
    if trouble is not None:
        warn(f"the checkpoint: {trouble}", RobustMDPWarning)
    _speak(solution)
    return solution


def _values(model: Model, start: Solution | NumbersLike | None) -> FloatArray | None:
    """Values to start from, in the model's order."""
    if start is None:
        return None
    if isinstance(start, Solution):
        return flat("start", start.values if start.bias is None else start.bias)
    if is_labelled(start):
        labels = model._labels()
        return Labelled.of("start", start).by_state("start", labels.states, labels.playing)
    return flat("start", start)  # type: ignore[arg-type]


def _speak(*solutions: Solution) -> None:
    """Logs every solution; what several have to say is said once."""
    said: dict[str, type[RobustMDPWarning]] = {}
    for solution in solutions:
        logger.info("%r", solution)
        said.update(dict.fromkeys(solution.warnings, ModelWarning))
        if not solution.is_certified:
            message = (
                f"{solution.status}: the gap is {solution.gap:.3g}, {solution.target_gap:.3g} was asked "
                "for; the bounds hold"
            )
            said[message] = ConvergenceWarning
    for message, category in said.items():
        warn(message, category)


def evaluate(
    model: Model,
    policy: Policy | Solution | NumbersLike,
    set: UncertaintySet,
    *,
    direction: Direction = "worst",
    discount: float | None = None,
    gap: float | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Worst-case (or best-case) and nominal discounted value of a given policy, with bounds.

    Parameters
    ----------
    model : Model
    policy : Policy, Solution, array, dictionary or pandas object
        Probabilities as a table of states and actions or one a pair, or one action a state, by number or
        by name; what has labels is looked up by them, as in :class:`Policy`.
    set : UncertaintySet
    direction : {"worst", "best"}
        Which case to evaluate; the two are the range of what the policy may achieve.
    discount, gap, threads
        As in :func:`solve`.

    Examples
    --------
    >>> import numpy as np, robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> never = np.zeros(10, dtype=int)
    >>> value = rm.evaluate(model, never, rm.KL(0.05))
    >>> bool(value.worst.value.lower >= value.nominal.value.lower)
    True
    """
    model = _discounted("evaluate", model, set, discount)
    _checks.one_of("direction", direction, get_args(Direction))
    policy = as_policy(model, policy)
    native_set = set._native(model)
    answer = _native.evaluate(
        model._native,
        native_set,
        policy.probabilities,
        direction == "best",
        _maybe(number, "gap", gap),
        _maybe(count, "threads", threads, 1),
    )
    evaluation = Evaluation(direction, *answer)
    logger.info("%r", evaluation)
    vacuity = native_set.vacuity(model._native)
    if vacuity is not None:
        warn(vacuity, ModelWarning)
    if evaluation.status != "certified":
        warn(f"{evaluation.status}: the bounds hold but are wide", ConvergenceWarning)
    return evaluation


def sweep_radius(
    model: Model,
    set: UncertaintySet,
    radii: Iterable[float],
    *,
    discount: float | None = None,
    gap: float | None = None,
    method: Method = "auto",
    oracle: Oracle | None = None,
    max_sweeps: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    anderson: int | None = None,
    first_order: FirstOrder | None = None,
    warm_start: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> RadiusSweep:
    """Solve for many radii, side by side on several cores, each from what its neighbours have found: worst
    cases of discounted costs.

    Parameters
    ----------
    model : Model
    set : UncertaintySet
        Its own radius does not matter.
    radii : iterable of float
    threads : int, optional
        All cores unless given. The answers do not depend on it.
    warm_start : bool
        Whether solves start from values between those of the nearest radii that are solved already.
        How much work that saves, by method: the page on methods of the documentation.
    progress : callable, optional
        Called with the number of solves done and their total.
    discount, gap, method, oracle, max_sweeps, time_limit, anderson, first_order
        Of every solve, as in :func:`solve`.

    Returns
    -------
    RadiusSweep

    Examples
    --------
    >>> import robust_mdp as rm
    >>> model = rm.instances.machine(states=10, discount=0.8)
    >>> sweep = rm.sweep_radius(model, rm.KL(0.0), [0.0, 0.01, 0.1])
    >>> bool((sweep.upper[1:] >= sweep.upper[:-1]).all())
    True
    """
    model = _discounted("sweep_radius", model, set, discount)
    _checks.callback(progress)
    if not isinstance(radii, Iterable) or isinstance(radii, Mapping) or hasattr(radii, "columns"):
        raise TypeError(f"radii: expected several numbers, not {radii!r}")
    listed = flat("radii", list(radii)).copy()
    options = _options(
        method, oracle, gap, max_sweeps, time_limit, threads, anderson, first_order
    )
    sets = [set.with_radius(float(radius)) for radius in listed]
    native_set = set.with_radius(0.0)._native(model)
    answers = _native.sweep_radius(
        model._native, native_set, listed, options, bool(warm_start), progress
    )
    nothing = empty_trace()
    solutions = [
        Solution(model, one, native, nothing, None, threads)
        for one, (native, _) in zip(sets, answers, strict=True)
    ]
    _speak(*solutions)
    nominal = np.array([0.5 * (low + high) for _, (low, high) in answers])
    return RadiusSweep(listed, solutions, nominal)
