"""Figures; matplotlib is imported when one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .radii import RadiusSweep
    from .solution import Solution

# More states or actions than this are too many to label.
_LABELLED = 24


def _new(width: float, columns: int = 1) -> tuple[Any, Any]:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return pyplot.subplots(1, columns, figsize=(width, 3.6), layout="constrained")


def solution(sol: Solution, kind: str, ax: Any) -> Figure:
    """A figure of a solution."""
    drawings = {"convergence": _convergence, "policy": _policy, "values": _values}
    if kind == "overview":
        if ax is not None:
            raise ValueError("an overview has two axes: name one kind to draw on ax")
        figure, (left, right) = _new(9.0, 2)
        _values(sol, left)
        _policy(sol, right)
        return figure  # type: ignore[no-any-return]
    if kind not in drawings:
        raise ValueError(f"kind={kind!r}, expected overview, {', '.join(drawings)}")
    if ax is None:
        _, ax = _new(5.0)
    drawings[kind](sol, ax)
    return ax.figure  # type: ignore[no-any-return]


def _convergence(sol: Solution, ax: Any) -> None:
    trace = sol.trace
    if len(trace["gap"]) == 0:
        raise ValueError("solutions of a sweep keep no trace: solve for this radius alone")
    ax.semilogy(trace["sweeps"], np.maximum(trace["gap"], 1e-300), marker=".", label="certified gap")
    ax.axhline(sol.target_gap, color="0.5", linestyle="--", label="asked for")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="sweeps", ylabel="upper − lower", title=f"{sol.method}, {sol.oracle} oracle")
    ax.legend(frameon=False)


def _policy(sol: Solution, ax: Any) -> None:
    table = np.asarray(sol.policy)
    image = ax.imshow(table.T, aspect="auto", vmin=0.0, vmax=1.0, cmap="Blues", origin="lower")
    ax.figure.colorbar(image, ax=ax, label="probability")
    kind = "robust policy" if sol.direction == "worst" else "best-case policy"
    title = kind if sol.horizon is None else f"{kind} of the first step"
    ax.set(xlabel="state", ylabel="action", title=title)
    names = max(sol.model.action_names, key=len)
    if len(names) == table.shape[1] <= _LABELLED:
        ax.set_yticks(range(len(names)), names)


def _title(sol: Solution) -> str:
    name = type(sol.set).__name__
    return name if sol.set._about.name == "none" else f"{name}, radius {sol.set._radius_in_words().strip('<>')}"


def _values(sol: Solution, ax: Any) -> None:
    states = np.arange(sol.model.n_states)
    unit = sol.model._unit
    if sol.bias is None:
        ax.fill_between(states, sol.lower, sol.upper, step="mid", alpha=0.4, label="bounds")
        ax.plot(states, sol.values, drawstyle="steps-mid", label=f"{sol.direction}-case value")
        ax.set(ylabel=sol._question.sum(unit), title=_title(sol))
    else:
        # The average is the same in all states.
        ax.plot(states, sol.bias, drawstyle="steps-mid", label="relative value")
        average = f"{sol.direction}-case average {unit} {sol.value.mid:.6g}"
        ax.set(ylabel=f"relative {unit}", title=f"{_title(sol)}: {average}")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="state")
    ax.legend(frameon=False)


def sweep(over: RadiusSweep, ax: Any) -> Figure:
    """Worst-case and nominal values over the radius."""
    if ax is None:
        _, ax = _new(5.0)
    order = np.argsort(over.radii)
    radii = over.radii[order]
    middle = 0.5 * (over.lower + over.upper)
    ax.plot(radii, middle[order], marker=".", label="worst case")
    ax.plot(radii, over.nominal[order], marker=".", linestyle="--", label="nominal")
    ax.set(xlabel="radius", ylabel="value of the robust policy", title="price of robustness")
    if len(radii) > 2 and radii[0] > 0.0 and radii[-1] / radii[0] > 50.0:
        ax.set_xscale("log")
    ax.legend(frameon=False)
    return ax.figure  # type: ignore[no-any-return]
