"""Finite horizons, totals, averages, best cases and deterministic policies, against answers in NumPy."""

from __future__ import annotations

import math
import pickle
import warnings

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import pytest
import reference

import robust_mdp as rm

SETS = [rm.KL(0.1), rm.Ellipsoid(0.05), rm.KL(0.05, rectangular="sa")]


def garnet(seed, discount=0.9, **more):
    return rm.instances.garnet(8, 3, 0.6, seed=seed, discount=discount, **more)


def rewarded(model):
    """The same numbers as rewards."""
    return rm.Model.from_arrays(
        model.kernel().to_array(), costs(model), convention="SAS", discount=model.discount
    )


def costs(model):
    return model._native.arrays()[4].reshape(model.n_states, -1)


def bellman(model, set, values, discount):
    """F(v) by bisection, independently of the library."""
    kernel, cost = model.kernel().to_array(), costs(model)
    sign = -1.0 if model.objective == "max-reward" else 1.0
    kind, image = type(set).__name__.lower(), np.zeros(model.n_states)
    for s in range(model.n_states):
        rows = [(kernel[s, a], sign * (cost[s, a] + discount * values)) for a in range(kernel.shape[1])]
        image[s] = sign * reference.bellman(kind, rows, set.radius, set.rectangular)
    return image


def frozen_lake():
    return gymnasium.make("FrozenLake-v1", map_name="4x4", is_slippery=True, max_episode_steps=-1)


def walk(left):
    """0 ends; from 1 and 2 a step costs 1 and goes left with this probability, else right or nowhere."""
    steps = {s: {0: [(left, s - 1, -1.0, s == 1), (1 - left, 2, -1.0, False)]} for s in (1, 2)}
    return {0: {0: [(1.0, 0, 0.0, True)]}, **steps}


# Finite horizons


@pytest.mark.parametrize("discount", [None, 0.9, 1.0])
@pytest.mark.parametrize("set", SETS, ids=repr)
def test_a_finite_horizon_is_backward_induction(set, discount):
    costly = garnet(1)
    for model in (costly, rewarded(costly)):
        if discount is None:
            array = {"cost" if model is costly else "R": costs(model)}
            model = rm.Model.from_arrays(model.kernel().to_array(), convention="SAS", **array)
            assert model.discount is None
        sol = rm.solve(model, set, objective="finite", horizon=4, discount=discount)
        assert (sol.criterion, sol.horizon) == ("finite", 4) and sol.is_certified
        assert sol.model.discount == (1.0 if discount is None else discount)
        assert len(sol.stages) == 4 and [stage.step for stage in sol.stages] == [0, 1, 2, 3]
        left = np.zeros(model.n_states)
        for stage in reversed(sol.stages):
            left = bellman(model, set, left, sol.model.discount)
            assert np.abs(stage.values - left).max() < 1e-8
            assert np.all(stage.lower <= left + 1e-8) and np.all(left <= stage.upper + 1e-8)
        first = sol.stages[0]
        assert np.array_equal(first.values, sol.values) and np.array_equal(first.lower, sol.lower)
        assert np.array_equal(first.policy.probabilities, sol.policy.probabilities)
        assert first.to_dataframe().equals(sol.to_dataframe())


def test_a_step_has_a_policy_and_a_worst_kernel_of_its_own():
    model = garnet(2)
    sol = rm.solve(model, rm.KL(0.1), objective="finite", horizon=3)
    for stage, after in zip(sol.stages, [*(s.values for s in sol.stages[1:]), np.zeros(8)], strict=True):
        y, x = stage.worst_kernel().to_array(), np.asarray(stage.policy)
        image = (x * (costs(model) + 0.9 * y @ after)).sum(axis=1)
        assert np.abs(image - stage.values).max() < 1e-7
    # With one step left only costs of the step count.
    assert np.array_equal(sol.stages[2].policy.greedy(), costs(model).argmin(axis=1))
    assert repr(sol.stages[1]) == "Stage(1 of 3)"
    with pytest.raises(ValueError, match=r"differ from step to step: ask for stages\[t\].worst_kernel"):
        sol.worst_kernel()
    for use in (lambda: rm.evaluate(model, sol, rm.KL(0.1)), lambda: sol.simulate("nominal", steps=3)):
        with pytest.raises(ValueError, match=r"take that of one, stages\[t\].policy"):
            use()
    rm.evaluate(model, sol.stages[0].policy, rm.KL(0.1))


# Totals


def test_frozen_lake_without_a_discount():
    model = rm.Model.from_gymnasium(frozen_lake())
    assert model.discount is None
    sol = rm.solve(model, rm.Nominal(), objective="total")
    assert sol.is_certified and sol.criterion == "total" and sol.model.discount == 1.0
    # The best policy reaches the goal with probability 14/17.
    assert sol.lower[0] <= 14 / 17 <= sol.upper[0] and sol.upper[0] - sol.lower[0] < 1e-6
    assert sol.value.lower <= 14 / 17 <= sol.value.upper
    # A policy may stay in the first row for ever, but not this one.
    assert sol.ends_surely is False and sol.steps_to_end[0] > 6.0
    robust = rm.solve(model, rm.KL(0.02), objective="total")
    assert robust.is_certified and 0.0 < robust.guarantee < 14 / 17
    worst = rm.solve(model.with_kernel(robust.worst_kernel()), rm.Nominal(), objective="total")
    assert worst.value.upper >= robust.value.lower
    run = robust.simulate(episodes=4000, seed=0)
    assert abs(run.mean - robust.value.mid) < 5 * run.standard_error


@pytest.mark.parametrize("left", [0.5, 0.8])
def test_the_total_of_a_walk_is_its_number_of_steps(left):
    model = rm.Model.from_gymnasium(walk(left))
    sol = rm.solve(model, rm.Nominal(), objective="total")
    # (I − P)v = 1 on the states that act.
    P = np.array([[0, 1 - left], [left, 1 - left]])
    steps = np.linalg.solve(np.eye(2) - P, np.ones(2))
    assert np.abs(sol.values[1:] + steps).max() < 1e-6
    assert sol.ends_surely is True and np.all(sol.steps_to_end[1:] >= steps - 1e-9)
    discounted = rm.solve(model, rm.Nominal(), discount=0.9)
    assert discounted.ends_surely is None and discounted.steps_to_end is None


def test_totals_without_an_end_are_refused():
    with pytest.raises(ValueError, match="no terminal states"):
        rm.solve(garnet(1), rm.KL(0.1), objective="total")


# Averages


@pytest.mark.parametrize("set", SETS, ids=repr)
def test_an_average_is_the_limit_of_discounted_costs(set):
    for model in (garnet(3), rewarded(garnet(3))):
        sol = rm.solve(model, set, objective="average")
        # The model's discount factor does not matter, and stays.
        assert sol.is_certified and sol.criterion == "average" and sol.model.discount == 0.9
        near, nearer = (
            (1 - rate) * rm.solve(model, set, discount=rate, gap=1e-3).values[0]
            for rate in (1 - 2e-4, 1 - 1e-4)
        )
        # (1 − λ)v_λ = g + (1 − λ)h + o(1 − λ), extrapolated.
        assert abs(2 * nearer - near - sol.value.mid) < 1e-5
        # g + h = F(h)
        assert np.abs(bellman(model, set, sol.bias, 1.0) - sol.bias - sol.value.mid).max() < 1e-5
        assert np.ptp(sol.values) == 0.0
        # The worst kernel is that of the relative values.
        y, x = sol.worst_kernel().to_array(), np.asarray(sol.policy)
        image = (x * (costs(model) + y @ sol.bias)).sum(axis=1)
        assert np.abs(image - sol.bias - sol.value.mid).max() < 1e-5
        again = rm.solve(model, set, objective="average", start=sol)
        assert again.work["sweeps"] < sol.work["sweeps"] and again.is_certified
        assert "bias" in sol.to_dataframe().columns


def test_the_worst_kernel_of_an_average_knows_no_discount():
    """Costs of moves count as much as what comes after them, whatever the model's discount factor."""
    rng = np.random.default_rng(0)
    P, moves = rng.dirichlet(np.ones(6), (6, 2)), rng.random((6, 2, 6))
    model = rm.Model.from_arrays(P, cost=moves, convention="SAS", discount=0.2)
    sol = rm.solve(model, rm.KL(0.1), objective="average")
    y, x = sol.worst_kernel().to_array(), np.asarray(sol.policy)
    image = (x * (y * (moves + sol.bias)).sum(axis=2)).sum(axis=1)
    assert np.abs(image - sol.bias - sol.value.mid).max() < 1e-5


# Best cases and deterministic policies


@pytest.mark.parametrize("more", [{}, {"objective": "average"}, {"objective": "finite", "horizon": 5}])
@pytest.mark.parametrize("set", SETS, ids=repr)
def test_best_is_below_nominal_is_below_worst(set, more):
    for model in (garnet(4), rewarded(garnet(4))):
        best = rm.solve(model, set, direction="best", **more)
        nominal = rm.solve(model, rm.Nominal(), **more)
        worst = rm.solve(model, set, **more)
        assert (best.direction, worst.direction) == ("best", "worst")
        sign = -1.0 if model.objective == "max-reward" else 1.0
        assert np.all(sign * best.values < sign * nominal.values)
        assert np.all(sign * nominal.values < sign * worst.values)
        with pytest.raises(ValueError, match="guarantees nothing"):
            best.guarantee  # noqa: B018
        with pytest.raises(ValueError, match="best case: ask for best_kernel" if not more.get("horizon") else "step"):
            best.worst_kernel()


@pytest.mark.parametrize("set", SETS, ids=repr)
def test_a_best_case_is_attained_by_its_kernel(set):
    for model in (garnet(5), rewarded(garnet(5))):
        sol = rm.solve(model, set, direction="best", gap=1e-9)
        attained = rm.solve(model.with_kernel(sol.best_kernel()), rm.Nominal(), gap=1e-9)
        assert np.abs(attained.values - sol.values).max() < 1e-6
        value = rm.evaluate(model, sol, set, direction="best", gap=1e-9)
        assert np.abs(value.best.values - sol.values).max() < 1e-7


def test_the_range_of_a_policy():
    for model in (garnet(6), rewarded(garnet(6))):
        policy = rm.solve(model, rm.KL(0.1)).policy
        assert not policy.is_deterministic
        worst, best = (
            rm.evaluate(model, policy, rm.KL(0.1), direction=way, gap=1e-9) for way in ("worst", "best")
        )
        sign = -1.0 if model.objective == "max-reward" else 1.0
        assert np.all(sign * best.best.values < sign * best.nominal.values)
        assert np.abs(best.nominal.values - worst.nominal.values).max() < 1e-8
        assert np.all(sign * worst.nominal.values < sign * worst.worst.values)
        # The same numbers with their signs turned: what was best is worst.
        R = {"cost" if model.objective == "max-reward" else "R": costs(model)}
        turned = rm.Model.from_arrays(model.kernel().to_array(), convention="SAS", discount=0.9, **R)
        other = rm.evaluate(turned, policy, rm.KL(0.1), gap=1e-9)
        assert np.abs(best.best.values - other.worst.values).max() < 1e-8
        for found, missing in ((worst, "best"), (best, "worst")):
            with pytest.raises(ValueError, match=f"evaluate with direction='{missing}'"):
                getattr(found, missing)
        assert "best_lower" in best.to_dataframe().columns and "best=" in repr(best)
        back = pickle.loads(pickle.dumps(best))
        assert back.direction == "best" and np.array_equal(back.best.lower, best.best.lower)
    with pytest.raises(ValueError, match="direction='nice', expected one of worst, best"):
        rm.evaluate(model, policy, rm.KL(0.1), direction="nice")


def test_deterministic_policies_are_the_best_of_their_kind():
    model, set = rm.instances.garnet(3, 2, 1.0, seed=3, discount=0.9), rm.KL(0.3)
    free = rm.solve(model, set, gap=1e-9)
    sol = rm.solve(model, set, deterministic=True, gap=1e-9)
    assert sol.deterministic and not free.deterministic
    assert sol.policy.is_deterministic and not free.policy.is_deterministic
    every = [
        rm.evaluate(model, [a, b, c], set, gap=1e-9).worst.values
        for a in range(2) for b in range(2) for c in range(2)
    ]  # fmt: skip
    assert np.abs(np.min(every, axis=0) - sol.values).max() < 1e-7
    assert np.all(free.values < sol.values)


# What was optimised is kept and said


def test_solutions_say_what_was_optimised():
    model, lake = garnet(7), rm.Model.from_gymnasium(frozen_lake())
    said = {
        "worst discounted cost": (model, {}),
        "worst average cost of a step": (model, {"objective": "average"}),
        "worst cost of 1 step": (model, {"objective": "finite", "horizon": 1}),
        "best cost of 20 steps": (model, {"objective": "finite", "horizon": 20, "direction": "best"}),
        "worst discounted cost of deterministic policies": (model, {"deterministic": True}),
        "worst total reward": (lake, {"objective": "total"}),
    }
    for words, (asked, more) in said.items():
        sol = rm.solve(asked, rm.KL(0.02), **more)
        assert f", {words}, " in repr(sol) and f">{words}<" in sol._repr_html_()
        back = pickle.loads(pickle.dumps(sol))
        assert repr(back) == repr(sol)
        for name in ("criterion", "horizon", "direction", "deterministic", "ends_surely"):
            assert getattr(back, name) == getattr(sol, name)
        for name in ("bias", "steps_to_end"):
            ours, theirs = getattr(sol, name), getattr(back, name)
            assert (ours is None) == (theirs is None) and (ours is None or np.array_equal(ours, theirs))
            if ours is not None:
                with pytest.raises(ValueError, match="read-only"):
                    ours[0] = 0.0
        assert len(back.stages) == (more.get("horizon") or 0)
        for ours, theirs in zip(sol.stages, back.stages, strict=True):
            assert np.array_equal(ours.lower, theirs.lower)
            assert np.array_equal(ours.policy.probabilities, theirs.policy.probabilities)
            one = pickle.loads(pickle.dumps(ours))
            assert one.step == ours.step and np.array_equal(one.upper, ours.upper)
        for kind in ("overview", "values", "policy", "convergence"):
            figure = sol.plot(kind)
            assert figure.axes
            if kind == "values":
                label = {"average": "relative cost"}.get(sol.criterion, sol._question.sum(asked._unit))
                assert figure.axes[0].get_ylabel() == label
        plt.close("all")


def test_what_was_stopped_can_be_kept():
    model = rm.Model.from_gymnasium(frozen_lake())
    for more in ({"objective": "finite", "horizon": 5}, {"objective": "average"}):
        with pytest.warns(rm.ConvergenceWarning, match="sweep-limit"):
            sol = rm.solve(model, rm.KL(0.02), max_sweeps=1, gap=1e-12, **more)
        back = pickle.loads(pickle.dumps(sol))
        assert np.array_equal(back.lower, sol.lower) and back.status == "sweep-limit"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert "sweep-limit" in repr(back) and sol.plot("values").axes
        plt.close("all")


# Questions that make no sense


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"objective": "min-cost"}, ValueError, "a property of the model"),
        ({"objective": "mean"}, ValueError, "objective='mean', expected one of discounted, finite, total, average"),
        ({"objective": 3}, TypeError, "objective: expected a name"),
        ({"objective": "finite"}, ValueError, "give horizon="),
        ({"horizon": 3}, ValueError, "horizon is a setting of objective=\"finite\""),
        ({"objective": "finite", "horizon": 0}, ValueError, "horizon=0, expected at least 1"),
        ({"objective": "finite", "horizon": 2.0}, TypeError, "horizon: expected an integer"),
        ({"objective": "finite", "horizon": 2**40}, ValueError, "expected at most 4294967295"),
        ({"direction": "both"}, ValueError, "direction='both', expected one of worst, best"),
        ({"deterministic": 1}, TypeError, "deterministic: expected True or False"),
        ({"objective": "total", "discount": 0.9}, ValueError, "discount=0.9, but with objective='total' nothing"),
        ({"objective": "average", "discount": 0.9}, ValueError, "discount=0.9, but with objective='average' nothing"),
        ({"discount": 1.0}, ValueError, "expected a discount factor below 1"),
        ({"objective": "average", "method": "avi"}, ValueError, "avi is a method for discounted costs"),
        ({"objective": "average", "oracle": "interior-point"}, ValueError, "averages need the exact oracle"),
        ({"direction": "best", "oracle": "first-order"}, ValueError, "best cases need the exact oracle"),
        ({"objective": "finite", "horizon": 2, "start": [0.0] * 8}, ValueError, "starting values are for discounted"),
        ({"objective": "average", "checkpoint": "nowhere"}, ValueError, "checkpoints are for discounted"),
    ],
)
def test_wrong_questions(arguments, error, words):
    with pytest.raises(error, match=words):
        rm.solve(garnet(1), rm.KL(0.1), **arguments)


@pytest.mark.parametrize(
    "more",
    [
        {"objective": "average"},
        {"objective": "finite", "horizon": 3},
        {"direction": "best"},
        {"objective": "average", "direction": "best"},
        {"deterministic": True},
    ],
)
def test_everything_has_certificates(more):
    for model in (garnet(1), rewarded(garnet(1))):
        sol = rm.solve(model, rm.KL(0.1), **more)
        proved = sol.verify()
        assert proved.gap <= 10 * sol.target_gap
        assert np.all(proved.lower <= sol.upper) and np.all(sol.lower <= proved.upper)
        assert rm.verify(model, sol.certificate).value == proved.value
        at_once = rm.solve(model, rm.KL(0.1), certify=True, **more)
        assert np.array_equal(at_once.lower, proved.lower)
        for stage in at_once.stages[:1]:
            assert np.array_equal(stage.lower, proved.lower)


def test_totals_have_certificates():
    model = rm.Model.from_gymnasium(frozen_lake())
    for set in (rm.Nominal(), rm.KL(0.02)):
        sol = rm.solve(model, set, objective="total")
        proved = rm.verify(model, sol.certificate)
        assert proved.lower[0] <= sol.values[0] <= proved.upper[0] and proved.gap < 1e-5


def test_what_is_discounted_needs_a_discount():
    model = rm.Model.from_gymnasium(frozen_lake())
    with pytest.raises(ValueError, match="give discount=, or objective=\"total\""):
        rm.solve(model, rm.KL(0.1))
    policy, plain = np.full(model.n_pairs, 0.25), model.with_discount(1.0)
    with pytest.raises(ValueError, match="evaluate is of discounted costs"):
        rm.evaluate(plain, policy, rm.KL(0.1))
    with pytest.raises(ValueError, match="sweep_radius is of discounted costs"):
        rm.sweep_radius(plain, rm.KL(0.1), [0.1])
    with pytest.raises(ValueError, match="give steps="):
        rm.simulate(plain, policy)
    run = rm.simulate(plain, policy, steps=20, seed=0, episodes=50)
    assert set(run.returns) <= {0.0, 1.0} and math.isfinite(run.mean)
