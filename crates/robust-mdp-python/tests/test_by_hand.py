"""Worst cases of one row: by hand, and by trying all distributions of a grid."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robust_mdp as rm
from robust_mdp import _native

# One step from state 0 to the states 1, 2, 3, where all ends. Nothing else is as dear.
P = np.array([0.2, 0.3, 0.5])
COST = np.array([4.0, 2.0, 1.0])  # 0.2·4 + 0.3·2 + 0.5·1 = 1.9
LOWER, UPPER = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])
X = np.array([0.0, 1.0, 2.0])
PLACES = [9.0, *X]
KERNELS = np.array([[0.5, 0.1, 0.4], [0.1, 0.7, 0.2]])  # worth 2.6 and 2


def one_row():
    columns = [0] * 3, ["go"] * 3, [1, 2, 3], P, COST, LOWER, UPPER
    names = ("state", "action", "next", "probability", "cost", "lower", "upper")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    with pytest.warns(rm.ModelWarning, match="terminal"):
        return rm.Model.from_dataframe(frame, lower="lower", upper="upper", discount=0.0)


def worst(set):
    """The worst case, which is certified, proved and attained."""
    model = one_row()
    sol = rm.solve(model, set, gap=1e-9)
    assert sol.status == "certified" and sol.set == set
    proved, claim = sol.verify(), sol.certificate.claim
    assert sol.certificate.fingerprint == model.fingerprint and claim == (*proved.value, proved.gap)
    assert proved.gap <= 1e-8 and proved.lower[0] - 1e-9 <= sol.values[0] <= proved.upper[0] + 1e-9
    next_states, y = sol.worst_kernel().row(0, 0)
    assert y @ COST[next_states - 1] == pytest.approx(sol.values[0], abs=1e-6)
    return sol.values[0]


W = {0: 1.0, 1: 1.0, 2: 1.0, 3: 3.0}
FAR = np.where(np.eye(4) == 1.0, 0.0, 9.0)
FAR[3, 1] = 0.5


@pytest.mark.parametrize(
    "made, expected",
    [
        # Everything at its least, 0.6 in all; then 0.3 more to the dearest, and what is left, 0.1, to the next.
        (rm.Intervals(), 0.4 * 4 + 0.3 * 2 + 0.3 * 1),
        # Half the way from the nominal row to that one.
        (rm.Intervals(0.5), 0.3 * 4 + 0.3 * 2 + 0.4 * 1),
        # From the third to the first: all that L1 pays for, or all that there is room for.
        (rm.L1WithinIntervals(0.3), 1.9 + 0.15 * 3),
        (rm.L1WithinIntervals(0.5), 1.9 + 0.2 * 3),
        # Both of them have 0.2 to go: half of that each, or all of it.
        (rm.CountWithinIntervals(1), 1.9 + 0.1 * 3),
        (rm.CountWithinIntervals(2), 1.9 + 0.2 * 3),
        (rm.Contamination(0.1), 0.9 * 1.9 + 0.1 * 4),
        # The worse half are all of the first and of the second.
        (rm.CVaR.at_level(0.5), (0.2 * 4 + 0.3 * 2) / 0.5),
        # All of the first, which is two thirds of 0.3, and a third of the second.
        (rm.CVaR.at_level(0.7), (0.2 * 4 + 0.1 * 2) / 0.3),
        # From 2 to 1 a unit of distance gains 2, from 3 to 1 it gains 1.5.
        (rm.Wasserstein(0.2, positions=PLACES), 1.9 + 0.2 * 2),
        (rm.Wasserstein(0.5, positions=PLACES), 1.9 + 0.3 * 2 + 0.1 * 3),
        (rm.Wasserstein(0.1, distances=FAR), 1.9 + 0.2 * 3),
        (rm.L1(0.4), 1.9 + 0.2 * 3),
        # Now the second gives: 2 for 1 + 1 rather than 3 for 1 + 3.
        (rm.L1(0.4, entry_weights=W), 1.9 + 0.2 * 2),
        (rm.TotalVariation(0.2), 1.9 + 0.2 * 3),
        (rm.Linf(0.1), 1.9 + 0.1 * 4 - 0.1 * 1),
        (rm.Linf(0.1, entry_weights=[1.0, 1.0, 1.0, 2.0]), 1.9 + 0.1 * 4 - 0.05 * 2 - 0.05 * 1),
        # Moves (1, −½, −½)/t with ½Σwd² = 1.25/t² = 0.01; the gain is 2.5/t.
        (rm.L2(0.01, entry_weights=[1.0, 1.0, 2.0, 4.0], support="nominal"), 1.9 + 2.5 / np.sqrt(125.0)),
        (rm.Scenarios(kernels=KERNELS), 2.6),
        (rm.Scenarios(0.5, kernels=KERNELS), 1.9 + 0.5 * 0.7),
    ],
    ids=repr,
)
def test_by_hand(made, expected):
    assert worst(made) == pytest.approx(expected, abs=1e-8)
    # Weights, places and distances are kept, and tell sets apart.
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(pickle.loads(pickle.dumps(made))) == hash(made)


def box(distance):
    return lambda y: np.where(((y >= LOWER - 1e-12) & (y <= UPPER + 1e-12)).all(-1), distance(y), np.inf)


def ellipsoid(y):
    return 0.5 * ((y - P) ** 2).sum(-1)


def chi2(y):
    return ((y - P) ** 2 / P).sum(-1)


def kl(y):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0.0, y * np.log(y / P), 0.0).sum(-1)


def burg(y):
    with np.errstate(divide="ignore"):
        return -(P * np.log(y / P)).sum(-1)


def hellinger(y):
    return ((np.sqrt(y) - np.sqrt(P)) ** 2).sum(-1)


def neyman(y):
    with np.errstate(divide="ignore"):
        return ((y - P) ** 2 / y).sum(-1)


def moved(y):
    return (np.abs(np.cumsum(y - P, axis=-1))[..., :2] * np.diff(X)).sum(-1)


def gauge(y):
    with np.errstate(divide="ignore"):
        return np.maximum((y - P) / (UPPER - P), (P - y) / (P - LOWER)).max(-1)


def count(y):
    return np.where(y > P, (y - P) / (UPPER - P), (P - y) / (P - LOWER)).sum(-1)


def mixed(y):
    """y − P in the coordinates of the ways to the two scenarios."""
    shares = (y - P)[..., :2] @ np.linalg.inv((KERNELS - P)[:, :2])
    return np.where((shares >= -1e-12).all(-1), shares.sum(-1), np.inf)


# d(y, y⁰) of the library's sets, and a radius.
DISTANCES = {
    rm.Ellipsoid: (ellipsoid, 0.01),
    rm.KL: (kl, 0.05),
    rm.Chi2: (chi2, 0.05),
    rm.L1: (lambda y: np.abs(y - P).sum(-1), 0.3),
    rm.TotalVariation: (lambda y: 0.5 * np.abs(y - P).sum(-1), 0.15),
    rm.L2: (ellipsoid, 0.01),
    rm.Linf: (lambda y: np.abs(y - P).max(-1), 0.12),
    rm.Contamination: (lambda y: (1.0 - y / P).max(-1), 0.2),
    rm.CVaR: (lambda y: (y / P).max(-1) - 1.0, 0.4),
    rm.Wasserstein: (moved, 0.35),
    rm.Intervals: (gauge, 0.7),
    rm.EllipsoidWithinIntervals: (box(ellipsoid), 0.03),
    rm.KLWithinIntervals: (box(kl), 0.1),
    rm.Chi2WithinIntervals: (box(chi2), 0.15),
    rm.L1WithinIntervals: (box(lambda y: np.abs(y - P).sum(-1)), 0.3),
    rm.CountWithinIntervals: (box(count), 1.5),
    rm.BurgWithinIntervals: (box(burg), 0.1),
    rm.HellingerWithinIntervals: (box(hellinger), 0.05),
    rm.NeymanWithinIntervals: (box(neyman), 0.15),
    rm.Burg: (burg, 0.05),
    rm.Hellinger: (hellinger, 0.03),
    rm.Neyman: (neyman, 0.1),
    rm.Scenarios: (mixed, 0.7),
}
STEPS = 1000


def all_rows():
    """All distributions whose probabilities are whole thousandths."""
    first, second = np.meshgrid(np.arange(STEPS + 1), np.arange(STEPS + 1), indexing="ij")
    inside = first + second <= STEPS
    y = np.stack([first, second, STEPS - first - second], axis=-1)[inside]
    return y / STEPS


def test_all_sets_are_tried():
    assert {kind._about.name for kind in DISTANCES} == {name for name, *_ in _native.sets()}


@pytest.mark.parametrize("kind", DISTANCES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("rectangular", ["s", "sa"])
def test_no_row_of_a_grid_is_worse(kind, rectangular):
    if kind is rm.CVaR and rectangular == "s":
        pytest.skip("has no shared budget")
    distance, radius = DISTANCES[kind]
    more = {rm.Wasserstein: {"positions": PLACES}, rm.Scenarios: {"kernels": KERNELS}}.get(kind, {})
    y = all_rows()
    most = (y @ COST)[distance(y) <= radius + 1e-12].max()
    found = worst(kind(radius, rectangular=rectangular, **more))
    # The radius binds, and the grid comes near.
    assert 1.95 < most <= found + 1e-9 and found <= most + 3e-3 * COST.max()
