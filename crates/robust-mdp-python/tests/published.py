"""FOM-VI in NumPy, written from the paper: Algorithm 1 of Grand-Clément and Kroer, "Scalable First-Order
Methods for Robust MDPs" (AAAI 2021), with its misprints corrected. What the paper leaves open (the first
iterates) or does not have (centred steps, other methods and averages) is as the library documents it.

Plain on purpose: every multiplier is found by bisection, every game is played in every state. Policies
and duality gaps after each epoch are what the solver's are compared with, here and, through the file that

    python published.py ../../robust-mdp/tests/published/epochs.json

writes, in the tests of the library.

Arrays: P[s, a, s'] nominal kernel, C[s, a, s'] costs, x[s, a] policy, y[s, a, s'] kernel. The cost is an
action's own c[s, a], plus what its next state costs in some of the cases.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import wrightomega

HALVINGS = 200


@dataclass(frozen=True)
class Case:
    """What to run."""

    set: str = "ellipsoid"
    setup: tuple[str, str] = ("l2", "l2")
    p: int = 2
    q: int = 2
    epochs: int = 5
    steps: str = "paper"
    method: str = "pda"
    average: str = "all"
    radius: float = 0.06
    support: str = "all"
    per_action: bool = False
    next_costs: bool = False


@dataclass(frozen=True)
class Model:
    """A kernel with zeros, an action's own costs, further ones of its next states."""

    P: np.ndarray
    own: np.ndarray
    further: np.ndarray
    discount: float = 0.8


def model(next_costs: bool) -> Model:
    """The model of all cases with or without costs of next states."""
    random = np.random.default_rng(1)
    states, actions = 5, 3
    P = random.random((states, actions, states)) ** 3
    P[random.random(P.shape) < 0.25] = 0.0
    P[:, :, 0] += 0.05
    P /= P.sum(axis=2, keepdims=True)
    own = 10.0 * random.random((states, actions))
    further = np.where((P > 0.0) & next_costs, 3.0 * random.random(P.shape), 0.0)
    return Model(P, own, further)


# --- one-dimensional searches -------------------------------------------------------------------------


def bisect(low: np.ndarray, high: np.ndarray, beyond: Any) -> np.ndarray:
    """The least point of [low, high], entry by entry, where `beyond` no longer holds."""
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high)):
            break
        on = beyond(middle)
        low, high = np.where(on, middle, low), np.where(on, high, middle)
    return high


def project(z: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Euclidean projection of every row on the simplex of its allowed entries."""
    z = np.where(allowed, z, -np.inf)
    top = z.max(axis=-1, keepdims=True)
    order = np.sort(z - top, axis=-1)[..., ::-1]
    total = np.cumsum(np.where(np.isfinite(order), order, 0.0), axis=-1)
    count = np.arange(1, z.shape[-1] + 1)
    active = np.isfinite(order) & (order - (total - 1.0) / count > 0.0)
    last = active.sum(axis=-1, keepdims=True) - 1
    theta = (np.take_along_axis(total, last, -1) - 1.0) / (last + 1)
    return np.maximum(z - top - theta, 0.0)


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log(p: np.ndarray) -> np.ndarray:
    """ln p, −∞ for 0."""
    return np.log(p, out=np.full_like(p, -np.inf), where=p > 0.0)


# --- the sets -----------------------------------------------------------------------------------------


class Set:
    """Σ_a d(y_a, P_a) ≤ α in every state, or d(y_a, P_a) ≤ α for every action."""

    def __init__(self, case: Case, P: np.ndarray) -> None:
        self.name, self.kl = case.set, case.set == "kl"
        self.P, self.radius, self.per_action = P, case.radius, case.per_action
        inside = case.set in ("kl", "chi2") or case.support == "nominal"
        self.allowed = P > 0.0 if inside else np.full(P.shape, True)

    def over(self, y: np.ndarray) -> np.ndarray:
        """Whether the budget is exceeded, by state or by row, in a shape that broadcasts against y."""
        if self.kl:
            some = y > 0.0
            ratio = np.log(np.where(some, y, 1.0)) - np.log(np.where(some, self.P, 1.0))
            d = (y * ratio).sum(axis=2)
        elif self.name == "chi2":
            d = ((y - self.P) ** 2 / np.where(self.allowed, self.P, 1.0)).sum(axis=2)
        elif self.name == "l1":
            d = np.abs(y - self.P).sum(axis=2)
        else:
            d = 0.5 * ((y - self.P) ** 2).sum(axis=2)
        d = d if self.per_action else d.sum(axis=1, keepdims=True)
        return (d > self.radius)[..., None]

    def budgets(self) -> tuple[int, ...]:
        states, actions, _ = self.P.shape
        return (states, actions if self.per_action else 1, 1)

    def prox(self, geometry: str, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """argmax over the set of ⟨g, ·⟩ − D(·, y), D half the squared distance or the relative entropy."""
        if self.radius == 0.0:
            return self.P
        of = {
            ("ellipsoid", "l2"): self._ellipsoid_l2,
            ("ellipsoid", "l1"): self._ellipsoid_l1,
            ("kl", "l2"): self._kl_l2,
            ("kl", "l1"): self._kl_l1,
            ("chi2", "l2"): self._chi2_l2,
            ("l1", "l2"): self._l1_l2,
        }[self.name, geometry]
        zero, one = np.zeros(self.budgets()), np.ones(self.budgets())
        # w = m/(1 + m) for the multiplier m of the budget: y itself moves to P as w goes from 0 to 1.
        free = of(g, y, zero)
        w = bisect(zero, one, lambda w: self.over(of(g, y, np.minimum(w, 1.0 - 1e-16))))
        return np.where(self.over(free), of(g, y, np.minimum(w, 1.0 - 1e-16)), free)

    def _ellipsoid_l2(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        return project((1.0 - w) * (y + g) + w * self.P, self.allowed)

    def _kl_l1(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            mixed = (1.0 - w) * (log(y) + g) + w * log(self.P)
        return softmax(np.where(self.allowed, mixed, -np.inf))

    def _ellipsoid_l1(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        # m·y_i + ln y_i = q_i − ν with q = ln y' + g + m·P.
        m = w / (1.0 - w)
        q = np.where(self.allowed, log(y) + g + m * self.P, -np.inf)
        top = q.max(axis=2, keepdims=True)
        n = self.allowed.sum(axis=2, keepdims=True)
        logs = np.log(np.where(m > 0.0, m, 1.0))

        def of(nu: np.ndarray) -> np.ndarray:
            u = wrightomega(q - nu + logs) / np.where(m > 0.0, m, 1.0)
            return np.where(self.allowed, u, 0.0)

        nu = bisect(top - m, top - m / n + np.log(n), lambda nu: of(nu).sum(axis=2, keepdims=True) > 1.0)
        return np.where(m > 0.0, of(nu), softmax(q))

    def _kl_l2(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        # y_i/m + ln y_i = (q_i − ν)/m with q = y' + g + m·ln P.
        m = w / (1.0 - w)
        some = np.where(m > 0.0, m, 1.0)
        q = np.where(self.allowed, y + g + some * np.where(self.allowed, log(self.P), 0.0), -np.inf)
        top = q.max(axis=2, keepdims=True)
        n = self.allowed.sum(axis=2, keepdims=True)

        def of(nu: np.ndarray) -> np.ndarray:
            u = some * wrightomega((q - nu) / some - np.log(some))
            return np.where(self.allowed, u, 0.0)

        nu = bisect(top - 1.0, top - 1.0 / n + some * np.log(n), lambda nu: of(nu).sum(axis=2, keepdims=True) > 1.0)
        return np.where(m > 0.0, of(nu), project(y + g, self.allowed))

    def _chi2_l2(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        # y_i − q_i + ν + 2m(y_i/P_i − 1) = 0 with q = y' + g, in terms of r = q − P − ν.
        m, P = w / (1.0 - w), self.P
        return self._balanced(y + g - P, lambda r: np.maximum(P + P * r / np.where(self.allowed, P + 2.0 * m, 1.0), 0.0))

    def _l1_l2(self, g: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        # r = q − P − ν comes towards 0 by m.
        m, P = w / (1.0 - w), self.P
        return self._balanced(y + g - P, lambda r: np.maximum(P + np.sign(r) * np.maximum(np.abs(r) - m, 0.0), 0.0))

    def _balanced(self, r: np.ndarray, of: Any) -> np.ndarray:
        """of(r − ν), rows with mass one: all of r − ν ≥ 0 has as much at least, all of it ≤ 0 at most."""

        def at(nu: np.ndarray) -> np.ndarray:
            return np.where(self.allowed, of(r - nu), 0.0)

        low = np.where(self.allowed, r, np.inf).min(axis=2, keepdims=True)
        high = np.where(self.allowed, r, -np.inf).max(axis=2, keepdims=True)
        return at(bisect(low, high, lambda nu: at(nu).sum(axis=2, keepdims=True) > 1.0))

    def worst(self, x: np.ndarray, b: np.ndarray) -> np.ndarray:
        """argmax over the set of Σ_a x_a⟨b_a, y_a⟩; rows that do not count stay nominal."""
        if self.radius == 0.0:
            return self.P
        if self.name == "l1":
            return self._worst_l1(x, b)
        centred = np.where(self.allowed, b - b.max(axis=2, keepdims=True), 0.0)

        def of(z: np.ndarray) -> np.ndarray:
            push = np.exp(z) * x[..., None] * centred
            if self.kl:
                return softmax(np.where(self.allowed, log(self.P) + push, -np.inf))
            if self.name == "chi2":
                return self._balanced(push, lambda r: self.P * np.maximum(1.0 + 0.5 * r, 0.0))
            return project(self.P + push, self.allowed)

        low, high = np.full(self.budgets(), -40.0), np.full(self.budgets(), 25.0)
        return of(bisect(low, high, lambda z: ~self.over(of(z))))

    def _worst_l1(self, x: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Mass goes to its row's maximum from where a unit gains most, 2 of the budget a unit."""
        y, (states, actions, _) = self.P.copy(), self.P.shape
        for s in range(states):
            for rows in [[a] for a in range(actions)] if self.per_action else [range(actions)]:
                left = 0.5 * self.radius
                best = {a: int(np.where(self.allowed[s, a], b[s, a], -np.inf).argmax()) for a in rows}
                gains = [(x[s, a] * (b[s, a, best[a]] - b[s, a, i]), a, i) for a in rows for i in range(states)]
                for gain, a, i in sorted(gains, reverse=True):
                    moved = min(left, y[s, a, i]) if gain > 0.0 else 0.0
                    y[s, a, i] -= moved
                    y[s, a, best[a]] += moved
                    left -= moved
        return y


# --- the algorithm ------------------------------------------------------------------------------------


def step_sizes(case: Case, P: np.ndarray, C: np.ndarray, discount: float, b: np.ndarray, set: Set) -> tuple[np.ndarray, np.ndarray]:
    """τ and σ of every state. The paper's are fixed: L from ‖v‖ ≤ max c/(1−λ), and the entropy of the
    kernel is A times its own to be strongly convex. Centred ones use b less its mean or midrange."""
    states, actions, _ = P.shape
    x, y = case.setup
    if case.steps == "paper":
        bound = C.max() / (1.0 - discount) * (1.0 if case.next_costs else discount)
        L = np.full(states, bound * (np.sqrt(states) if y == "l2" else 1.0))
        theta_x = 1.0 if x == "l2" else np.log(actions)
        theta_y = np.full(states, actions if y == "l2" else actions**2 * np.log(states))
        modulus = 1.0 if y == "l2" else actions
    else:
        inside = np.where(set.allowed, b, np.nan)
        n = set.allowed.sum(axis=2)
        if y == "l2":
            deviation = inside - np.nanmean(inside, axis=2, keepdims=True)
            L = np.sqrt(np.nansum(deviation**2, axis=2)).max(axis=1)
        else:
            L = (0.5 * (np.nanmax(inside, axis=2) - np.nanmin(inside, axis=2))).max(axis=1)
        theta_x = 0.5 * (1.0 - 1.0 / actions) if x == "l2" else np.log(actions)
        budget = case.radius * (actions if case.per_action else 1)
        width = n.max(axis=1)
        if y == "l2":
            theta_y = np.full(states, min(budget, actions))
        elif case.set == "kl":
            theta_y = np.minimum(budget, actions * np.log(width))
        else:
            theta_y = np.minimum(2.0 * budget * width, actions * np.log(width))
        modulus = 1.0
    balance = np.sqrt(theta_x / theta_y)
    return balance / L, 1.0 / (balance * L * modulus)


def prox_x(geometry: str, g: np.ndarray, x: np.ndarray) -> np.ndarray:
    """argmin over the simplex of ⟨g, ·⟩ + D(·, x)."""
    if geometry == "l2":
        return project(x - g, np.full(x.shape, True))
    return softmax(np.log(x) - g)


def run(case: Case) -> list[dict[str, Any]]:
    """The averaged policy after every epoch, and bounds of its duality gap by state."""
    known = model(case.next_costs)
    P, discount, C = known.P, known.discount, known.own[..., None] + known.further
    set = Set(case, P)
    states, actions, _ = P.shape
    geometry_x, geometry_y = case.setup
    x, y = np.full((states, actions), 1.0 / actions), P.copy()
    if geometry_y == "l1" and not set.kl:
        n = set.allowed.sum(axis=2, keepdims=True)
        y = np.where(set.allowed, 0.9 * P + 0.1 / n, 0.0)
    v = np.zeros(states) if case.steps == "paper" else known.own.min(axis=1)
    x_sum, y_sum, weight_sum, t = np.zeros_like(x), np.zeros_like(y), 0.0, 0
    found = []
    for epoch in range(1, case.epochs + 1):
        b = C + discount * v
        tau, sigma = step_sizes(case, P, C, discount, b, set)
        x_epoch, y_epoch, weight_epoch = np.zeros_like(x), np.zeros_like(y), 0.0
        for _ in range(epoch**case.q):
            t += 1

            def down(x: np.ndarray, y_at: np.ndarray, shrink: float = 1.0) -> np.ndarray:
                return prox_x(geometry_x, shrink * tau[:, None] * (b * y_at).sum(axis=2), x)

            def up(y: np.ndarray, x_at: np.ndarray, shrink: float = 1.0) -> np.ndarray:
                return set.prox(geometry_y, shrink * sigma[:, None, None] * x_at[..., None] * b, y)

            if case.method == "pda":
                new = down(x, y)
                y = up(y, 2.0 * new - x)
                x = new
                counted = (x, y)
            elif case.method == "mirror-prox":
                trial = (down(x, y), up(y, x))
                x, y = down(x, trial[1]), up(y, trial[0])
                counted = trial
            else:
                x, y = down(x, y, t**-0.5), up(y, x, t**-0.5)
                counted = (x, y)
            weight = float(t) ** case.p
            x_epoch += weight * counted[0]
            y_epoch += weight * counted[1]
            weight_epoch += weight
        x_bar, y_bar = x_epoch / weight_epoch, y_epoch / weight_epoch
        v = (x_bar * (b * y_bar).sum(axis=2)).sum(axis=1)
        if case.average == "epoch":
            x_sum, y_sum, weight_sum = 0.0 * x, 0.0 * y, 0.0
        x_sum, y_sum, weight_sum = x_sum + x_epoch, y_sum + y_epoch, weight_sum + weight_epoch
        x_out, y_out = x_sum / weight_sum, y_sum / weight_sum
        upper, lower = worst_case(x_out, C, discount, set), best_response(y_out, C, discount)
        found.append({"policy": x_out.tolist(), "lower": lower.tolist(), "upper": upper.tolist()})
    return found


def worst_case(x: np.ndarray, C: np.ndarray, discount: float, set: Set) -> np.ndarray:
    """v^x: the adversary's policy iteration."""
    w = np.zeros(len(x))
    for _ in range(100):
        y = set.worst(x, C + discount * w)
        new = value(x, y, C, discount)
        if np.abs(new - w).max() <= 1e-13 * np.abs(new).max():
            break
        w = new
    return new


def best_response(y: np.ndarray, C: np.ndarray, discount: float) -> np.ndarray:
    """min over policies against the kernel y: policy iteration."""
    x = np.zeros(y.shape[:2])
    x[:, 0] = 1.0
    while True:
        w = value(x, y, C, discount)
        q = ((C + discount * w) * y).sum(axis=2)
        new = (np.arange(x.shape[1]) == q.argmin(axis=1)[:, None]).astype(float)
        if (new == x).all() or (q.min(axis=1) >= w - 1e-13 * np.abs(w).max()).all():
            return w
        x = new


def value(x: np.ndarray, y: np.ndarray, C: np.ndarray, discount: float) -> np.ndarray:
    """The value of both players' choices."""
    chain, cost = (x[..., None] * y).sum(axis=1), (x[..., None] * y * C).sum(axis=(1, 2))
    return np.linalg.solve(np.eye(len(cost)) - discount * chain, cost)


# --- what is compared ---------------------------------------------------------------------------------

L1, L2 = ("l1", "l1"), ("l2", "l2")
EPOCHS = {(0, 0): 12, (1, 1): 8, (2, 2): 5}

CASES = [
    # The paper's own: three schemes, either set in its natural geometry.
    *(Case(set="ellipsoid", setup=L2, p=p, q=q, epochs=EPOCHS[p, q]) for p, q in EPOCHS),
    *(Case(set="kl", setup=L1, p=p, q=q, epochs=EPOCHS[p, q]) for p, q in EPOCHS),
    # Every other pair of geometries.
    Case(set="ellipsoid", setup=L1, p=1, q=1),
    Case(set="ellipsoid", setup=("l1", "l2"), p=1, q=1),
    Case(set="kl", setup=L2, p=1, q=1),
    Case(set="kl", setup=("l2", "l1"), p=1, q=1),
    # Other questions.
    Case(set="kl", setup=L1, p=1, q=1, next_costs=True),
    Case(set="ellipsoid", setup=L2, p=1, q=1, next_costs=True),
    Case(set="ellipsoid", setup=L2, p=1, q=1, support="nominal"),
    Case(set="ellipsoid", setup=L2, p=1, q=1, per_action=True),
    Case(set="kl", setup=L1, p=1, q=1, per_action=True),
    Case(set="kl", setup=L1, p=1, q=1, radius=0.0),
    Case(set="ellipsoid", setup=L2, p=1, q=1, radius=0.0),
    # Sets that the paper does not have, with budgets that bind.
    Case(set="chi2", setup=L2, p=1, q=1, radius=0.002),
    Case(set="chi2", setup=("l1", "l2"), steps="centred", p=1, q=1, radius=0.01, per_action=True),
    Case(set="l1", setup=L2, p=1, q=1, radius=0.02),
    Case(set="l1", setup=("l1", "l2"), steps="centred", p=1, q=1, radius=0.1, per_action=True),
    # The library's own steps, average and methods.
    Case(set="ellipsoid", setup=L2, steps="centred", epochs=4),
    Case(set="kl", setup=("l2", "l1"), steps="centred", average="epoch", epochs=4),
    Case(set="ellipsoid", setup=L1, steps="centred", p=1, q=1),
    Case(set="kl", setup=L2, steps="centred", p=1, q=1, per_action=True),
    Case(set="ellipsoid", setup=L2, steps="centred", method="mirror-prox", p=1, q=1),
    Case(set="kl", setup=L1, steps="centred", method="mirror-descent", p=1, q=1, average="epoch"),
]


def table() -> dict[str, Any]:
    """The models without and with costs of next states, and what every case comes to."""
    models = []
    for known in map(model, (False, True)):
        arrays = {name: value.tolist() for name, value in vars(known).items() if name != "discount"}
        models.append({**arrays, "discount": known.discount})
    return {"models": models, "cases": [{"case": asdict(case), "epochs": run(case)} for case in CASES]}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(table(), file)
        file.write("\n")
