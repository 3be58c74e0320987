"""Numbers of next states and of transitions, in the order of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._arrays import FloatArray
from ._labels import Axis, Labelled, quoted

if TYPE_CHECKING:
    from .model import Model

# What numbers are for, and these.
Told = tuple[str, FloatArray]


def of_states(what: str, given: FloatArray | Labelled, model: Model) -> FloatArray:
    """One number a state."""
    if isinstance(given, Labelled):
        return given.by_state(what, model._labels().states, np.arange(model.n_states))
    if given.shape != (model.n_states,):
        raise ValueError(f"{what} has shape {given.shape}, expected ({model.n_states},), one a state")
    return np.ascontiguousarray(given)


def of_entries(what: str, given: FloatArray | Labelled, model: Model, is_closed: bool) -> Told:
    """One number a next state or one a transition; `is_closed` says whether only transitions matter that the
    model lists."""
    states, pairs = model.n_states, model.n_pairs
    if isinstance(given, Labelled):
        return "state", of_states(what, given, model)
    if given.shape == (states,) and model.n_transitions > states:
        return "state", np.ascontiguousarray(given)
    _, indptr, next_states, *_ = model._native.arrays()
    row, listed = np.repeat(np.arange(pairs), np.diff(indptr)), len(next_states)
    if given.shape == (states,):
        if listed == states and bool(np.any(given[next_states] != given)):
            raise ValueError(
                f"{what} has shape {given.shape}, which may be one a next state or one a transition: there "
                "are as many of both; give a dictionary, or one a pair and next state"
            )
        return "state", np.ascontiguousarray(given)
    width = int(model.action_ids.max(initial=-1)) + 1
    if given.shape == (states, width, states):
        given = given[model._pairs()[0], model.action_ids]
    if given.shape == (pairs, states):
        stored = given if model.is_dense else given[row, next_states]
        return "transition", np.ascontiguousarray(stored).ravel()
    if given.shape != (listed,):
        raise ValueError(
            f"{what} has shape {given.shape}, expected ({states},), one a next state, ({listed},), one a "
            f"transition, or ({states}, {width}, {states})"
        )
    if not model.is_dense:
        return "transition", np.ascontiguousarray(given)
    if not is_closed and listed < pairs * states:
        raise ValueError(
            f"{what} has shape {given.shape}, one a transition, which says nothing of other next states; "
            f'expected one a next state, ({states}, {width}, {states}), or support="nominal"'
        )
    stored = np.ones((pairs, states))
    stored[row, next_states] = given
    return "transition", stored.ravel()


def of_transitions(what: str, given: FloatArray, model: Model) -> FloatArray:
    """Probabilities of all transitions that the model stores."""
    states, pairs = model.n_states, model.n_pairs
    _, indptr, next_states, *_ = model._native.arrays()
    row, listed = np.repeat(np.arange(pairs), np.diff(indptr)), len(next_states)
    width = int(model.action_ids.max(initial=-1)) + 1
    if given.shape == (listed,):
        if not model.is_dense:
            return np.ascontiguousarray(given)
        table = np.zeros((pairs, states))
        table[row, next_states] = given
        return table.ravel()
    if given.shape == (states, width, states):
        given = given[model._pairs()[0], model.action_ids]
    if given.shape != (pairs, states):
        raise ValueError(
            f"{what} has shape {given.shape}, expected ({states}, {width}, {states}) or ({listed},), one a transition"
        )
    if model.is_dense:
        return np.ascontiguousarray(given).ravel()
    rest = given.copy()
    rest[row, next_states] = 0.0
    for pair, target in np.argwhere(rest != 0.0)[:1]:
        names = model._labels()
        raise ValueError(
            f"{what}: probability {rest[pair, target]} of next state {quoted(names.states.labels([target]))} from "
            f"state {quoted(names.states.labels([model._pairs()[0][pair]]))}, which the model does not list there"
        )
    return np.ascontiguousarray(given[row, next_states])


def of_two_states(what: str, given: FloatArray | Labelled, model: Model) -> FloatArray:
    """One number from every state to every state; labels may leave out those from a state to itself."""
    shape = (model.n_states, model.n_states)
    if isinstance(given, Labelled):
        return _by_label(what, given, model._labels().states)
    if given.shape != shape:
        raise ValueError(f"{what} has shape {given.shape}, expected {shape}, from every state to every state")
    return np.ascontiguousarray(given).ravel()


def _by_label(what: str, given: Labelled, states: Axis) -> FloatArray:
    if not given.is_by_pair:
        raise ValueError(f"{what}: labels of states, expected labels of two states each")
    distinct = list(dict.fromkeys(label for pair in given.labels for label in pair))
    place = dict(zip(distinct, states.find_all(what, distinct), strict=True))
    made = np.full((states.size, states.size), np.nan)
    np.fill_diagonal(made, 0.0)
    at = [[place[label] for label in pair] for pair in given.labels]
    made[tuple(np.array(at, dtype=np.int64).reshape(-1, 2).T)] = given.numbers(what)
    for origin, target in np.argwhere(np.isnan(made))[:1]:
        raise ValueError(
            f"{what}: nothing from state {quoted(states.labels([origin]))} to state "
            f"{quoted(states.labels([target]))}"
        )
    return made.ravel()
