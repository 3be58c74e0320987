"""Sparse models so large that an entry for each pair of states would take 16 GiB and more."""

from __future__ import annotations

import numpy as np
import pytest

import robust_mdp as rm
from robust_mdp import _native

STATES = 47_000
RADIUS = 0.02


@pytest.fixture(scope="module")
def model():
    return rm.instances.garnet(STATES, 2, 5 / STATES, seed=1, discount=0.8)


@pytest.fixture(scope="module")
def solution(model):
    return rm.solve(model, rm.Ellipsoid(RADIUS), gap=1e-4)


def test_evaluations_and_kernels_are_sparse(model, solution):
    assert solution.is_certified
    own = rm.evaluate(model, solution.policy, rm.Ellipsoid(RADIUS), gap=1e-4)
    assert np.all(own.worst.lower <= solution.upper) and np.all(own.worst.upper >= solution.lower)
    worst = solution.worst_kernel()
    rows = worst.to_scipy()
    assert rows.shape == (model.n_pairs, STATES) and rows.nnz < 100 * model.n_pairs
    assert np.allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert rows.data.min() > 0.0 and rows.has_sorted_indices
    apart = rows - model.kernel().to_scipy()
    spent = 0.5 * apart.multiply(apart).sum(axis=1).reshape(STATES, 2).sum(axis=1)
    assert spent.max() <= RADIUS * (1 + 1e-9)
    # Under this kernel the policy costs what was bounded.
    value = rm.evaluate(model.with_kernel(worst), solution.policy, rm.Nominal(), gap=1e-4).nominal
    assert np.all(value.lower <= own.worst.upper)
    assert np.all(value.upper >= own.worst.lower - 1e-3)


def test_simulations_under_the_worst_kernel(solution):
    run = solution.simulate(episodes=2000, seed=3)
    assert abs(run.mean - solution.value.mid) < 5 * run.standard_error


def test_values_and_policies_have_one_number_each():
    model = rm.instances.machine(5, discount=0.8)
    set = rm.KL(0.1)._native(model)
    policy, values = np.full(model.n_pairs, 0.5), np.zeros(5)

    def asked(policy, values):
        return _native.worst_kernel(model._native, set, policy, values, None)

    assert len(asked(policy, values)[0]) == model.n_pairs + 1
    for wrong in (np.zeros(4), np.zeros(6), np.zeros(0)):
        with pytest.raises(ValueError, match=f"{len(wrong)} values, expected one for each of 5 states"):
            asked(policy, wrong)
    with pytest.raises(ValueError, match="the value is NaN, expected a finite number"):
        asked(policy, np.full(5, np.nan))
    with pytest.raises(ValueError, match="has 10 entries"):
        asked(policy[1:], values)
