"""Independent answers in NumPy: value iteration on transition dictionaries, and the robust Bellman
operator by bisection.

For costs, F(v)_s = max { u : Σ_a q_a(u) ≤ radius }, where q_a(u) is the least distance from the nominal
row at which nature can make action a cost u or more; an (s,a)-rectangular set takes the least of the
actions' own maxima. The residual ‖F(v) − v‖ bounds the distance to the fixed point by itself over 1 − λ.
"""

from __future__ import annotations

import numpy as np


def value_iteration(P, discount, tolerance=1e-13):
    """max over actions of Σ p·(r + λ·(not terminated)·v), on the dictionary itself."""
    v = np.zeros(len(P))
    while True:
        new = np.array(
            [
                max(
                    sum(p * (r + (0.0 if end else discount * v[i])) for p, i, r, end in outcomes)
                    for outcomes in actions.values()
                )
                for _, actions in sorted(P.items())
            ]
        )
        if np.abs(new - v).max() * discount / (1.0 - discount) < tolerance:
            return new
        v = new


def project(z):
    """Onto the simplex."""
    u = np.sort(z)[::-1]
    excess = np.cumsum(u) - 1.0
    k = np.flatnonzero(u - excess / np.arange(1, len(z) + 1) > 0)[-1]
    return np.maximum(z - excess[k] / (k + 1), 0.0)


def _bisect(inside, low, high):
    """The largest number for which `inside` holds, between one where it does and one where it may."""
    for _ in range(200):
        mid = 0.5 * (low + high)
        if not low < mid < high:
            break
        low, high = (mid, high) if inside(mid) else (low, mid)
    return low


def least_distance(kind, y0, b, u):
    """min d(y, y0) such that ⟨b, y⟩ ≥ u."""
    if y0 @ b >= u:
        return 0.0
    if u > b.max():
        return np.inf

    if kind == "kl":
        live = y0 > 0
        y0, b = y0[live], b[live]
        if u > b.max():
            return np.inf

        def tilted(t):
            w = y0 * np.exp(t * (b - b.max()))
            return w / w.sum()

        def distance(y):
            ok = y > 0
            return float((y[ok] * np.log(y[ok] / y0[ok])).sum())

    else:

        def tilted(t):
            return project(y0 + t * b)

        def distance(y):
            return 0.5 * float(((y - y0) ** 2).sum())

    high = 1.0
    while tilted(high) @ b < u and high < 1e12:
        high *= 2.0
    return distance(tilted(_bisect(lambda t: tilted(t) @ b < u, 0.0, high)))


def bellman(kind, rows, radius, rectangular="s"):
    """F(v)_s from rows of (y0, b), b the costs of all next states."""

    def largest(chosen):
        low = min(y0 @ b for y0, b in chosen)
        high = min(b[y0 > 0].max() if kind == "kl" else b.max() for y0, b in chosen)

        def inside(u):
            return sum(least_distance(kind, y0, b, u) for y0, b in chosen) <= radius

        return _bisect(inside, low, high)

    if rectangular == "sa":
        return min(largest([row]) for row in rows)
    return largest(rows)


def residual(model, set, values, states=None):
    """‖F(v) − v‖ over `states`, for a model of rewards or costs."""
    kernel = model.kernel()
    sign = -1.0 if model.objective == "max-reward" else 1.0
    _, indptr, _, _, cost, further, _ = model._native.arrays()
    worst = 0.0
    for s in range(model.n_states) if states is None else states:
        rows = []
        for a, r in enumerate(range(model.state_starts[s], model.state_starts[s + 1])):
            # Entries, of which several may lead to one next state at several costs.
            to, p = kernel.row(s, a)
            own = np.full(len(to), cost[r])
            if further is not None:
                own += further[indptr[r] : indptr[r + 1]]
            y0, b = p, own + model.discount * values[to]
            if getattr(set, "support", "nominal") == "nominal":
                y0, b = y0[p > 0], b[p > 0]
            else:
                others = np.setdiff1d(np.arange(model.n_states), to)
                y0 = np.append(y0, np.zeros(len(others)))
                b = np.append(b, cost[r] + model.discount * values[others])
            b = sign * b
            rows.append((y0, b))
        if rows:
            kind = type(set).__name__.lower()
            u = bellman(kind, rows, set.radius, set.rectangular)
            worst = max(worst, abs(sign * u - values[s]))
        else:
            worst = max(worst, abs(values[s]))
    return worst


def blackjack():
    """Blackjack from an infinite deck, as a transition dictionary: 360 states, two actions."""
    cards = [(value, 4 / 13 if value == 10 else 1 / 13) for value in range(1, 11)]

    def add(total, ace, card):
        if card == 1 and total + 11 <= 21:
            return total + 11, True
        total += card
        return (total - 10, False) if total > 21 and ace else (total, ace)

    def dealer(total, ace):
        if total > 21:
            return {0: 1.0}
        if total >= 17:
            return {total: 1.0}
        ends: dict[int, float] = {}
        for card, p in cards:
            for end, q in dealer(*add(total, ace, card)).items():
                ends[end] = ends.get(end, 0.0) + p * q
        return ends

    def number(total, shown, ace):
        return (total - 4) * 20 + (shown - 1) * 2 + int(ace)

    ends = {shown: dealer(11 if shown == 1 else shown, shown == 1) for shown in range(1, 11)}
    P = {}
    for total in range(4, 22):
        for shown in range(1, 11):
            for ace in (False, True):
                here = number(total, shown, ace)
                stick = [
                    (p, here, float(np.sign(total - end)), True) for end, p in ends[shown].items()
                ]
                hit = []
                for card, p in cards:
                    new, soft = add(total, ace, card)
                    bust = new > 21
                    hit.append((p, here if bust else number(new, shown, soft), -1.0 if bust else 0.0, bust))
                P[here] = {0: stick, 1: hit}
    return P
