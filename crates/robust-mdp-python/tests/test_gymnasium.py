"""Gymnasium's models against independent answers."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import reference

import robust_mdp as rm

DISCOUNT = 0.95
ENVIRONMENTS = {
    "FrozenLake 4x4": ("FrozenLake-v1", {"map_name": "4x4"}),
    "FrozenLake 8x8": ("FrozenLake-v1", {"map_name": "8x8"}),
    "CliffWalking": ("CliffWalking-v1", {}),
    "Taxi": ("Taxi-v4", {}),
}


def make(env_id, **settings):
    """Without a time limit."""
    return gymnasium.make(env_id, max_episode_steps=-1, **settings)



def transitions(name):
    if name == "Blackjack":
        return reference.blackjack(), reference.blackjack()
    env_id, settings = ENVIRONMENTS[name]
    env = make(env_id, **settings)
    return env, env.unwrapped.P


NAMES = [*ENVIRONMENTS, "Blackjack"]
SETS = [
    rm.KL(0.05),
    rm.KL(0.02, rectangular="sa"),
    rm.Ellipsoid(0.02, support="nominal"),
    rm.Ellipsoid(0.02, support="all"),
    rm.Ellipsoid(0.01, rectangular="sa", support="nominal"),
]


@pytest.mark.parametrize("name", NAMES)
def test_without_uncertainty_it_is_value_iteration(name):
    env, P = transitions(name)
    model = rm.Model.from_gymnasium(env)
    expected = reference.value_iteration(P, DISCOUNT)
    for set in (rm.Nominal(), rm.KL(0.0), rm.Ellipsoid(0.0)):
        sol = rm.solve(model, set, discount=DISCOUNT, gap=1e-9)
        assert np.abs(sol.values[: len(P)] - expected).max() <= 1e-9
        assert sol.verify().gap <= 1e-8


# Some of these environments are deterministic, and some of these sets keep to their moves.
@pytest.mark.filterwarnings("ignore:the set changes nothing")
@pytest.mark.parametrize("set", SETS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_bisection_agrees(name, set):
    env, _ = transitions(name)
    model = rm.Model.from_gymnasium(env, discount=DISCOUNT)
    sol = rm.solve(model, set, gap=1e-9)
    assert sol.is_certified
    small = model.n_states <= 64
    states = None if small else range(0, model.n_states, 37)
    bound = reference.residual(model, set, sol.values, states) / (1.0 - DISCOUNT)
    # In all states of the small models this bounds the distance to the robust value itself.
    assert bound <= 1e-7
    proved = sol.verify()
    assert proved.gap <= 1e-7
    assert np.all(proved.lower <= sol.values + 1e-9) and np.all(sol.values <= proved.upper + 1e-9)


@pytest.mark.parametrize("set", [rm.KL(0.05), rm.Ellipsoid(0.02)], ids=repr)
def test_a_conic_solver_agrees(set):
    cp = pytest.importorskip("cvxpy", reason="cvxpy could not be installed here")
    model = rm.Model.from_gymnasium(make("FrozenLake-v1"), discount=DISCOUNT)
    sol = rm.solve(model, set, gap=1e-9)
    kernel, rewards = model.kernel().to_array(), model._native.arrays()
    for s in np.flatnonzero(model.n_actions)[::3]:
        rows = range(model.state_starts[s], model.state_starts[s + 1])
        u = cp.Variable()
        limits, spent = [], 0
        for a, r in enumerate(rows):
            y, y0 = cp.Variable(model.n_states, nonneg=True), kernel[s, a]
            reward = np.full(model.n_states, rewards[4][r])
            if rewards[5] is not None:
                span = slice(rewards[1][r], rewards[1][r + 1])
                reward[rewards[2][span]] += rewards[5][span]
            limits += [cp.sum(y) == 1, u <= -(reward + DISCOUNT * sol.values) @ y]
            if isinstance(set, rm.KL):
                live = y0 > 0
                limits.append(y[~live] == 0)
                spent = spent + cp.sum(cp.rel_entr(y[live], y0[live]))
            else:
                spent = spent + 0.5 * cp.sum_squares(y - y0)
        cp.Problem(cp.Maximize(u), [*limits, spent <= set.radius]).solve(solver=cp.CLARABEL)
        assert abs(-u.value - sol.values[s]) < 1e-6


def test_terminated_means_no_value():
    # State 1 goes on if it is entered without ending.
    P = {0: {0: [(0.5, 1, 1.0, True), (0.5, 1, 0.0, False)]}, 1: {0: [(1.0, 1, 2.0, False)]}}
    model = rm.Model.from_gymnasium(P, discount=0.5)
    assert model.n_states == 3 and model.state_names[2] == "terminated"
    values = rm.solve(model, rm.Nominal(), gap=1e-9).values
    assert values == pytest.approx([1.5, 4.0, 0.0], abs=1e-8)  # ½·1 + ½·½·4


def test_holes_and_goals_are_terminal():
    model = rm.Model.from_gymnasium(make("FrozenLake-v1"))
    assert model.n_states == 16
    assert np.flatnonzero(model.n_actions == 0).tolist() == [5, 7, 11, 12, 15]
    assert model.initial[0] == 1.0
    assert model.discount is None


def test_cliffs_are_where_they_were():
    env = gymnasium.make("CliffWalking-v1")
    model = rm.Model.from_gymnasium(env, discount=0.9)
    assert model.n_states == 49 and np.argmax(model.initial) == 36


def test_missing_actions_keep_their_numbers():
    P = {0: {2: [(1.0, 1, 0.0, False)]}, 1: {0: [(1.0, 0, 1.0, False)], 3: [(1.0, 1, 5.0, False)]}}
    model = rm.Model.from_gymnasium(P, discount=0.9)
    policy = rm.solve(model, rm.Nominal()).policy
    assert policy.sample(0) == 2 and policy.sample(1) == 3
    assert policy.greedy().tolist() == [2, 3]
    assert model.action_names == [["2"], ["0", "3"]]


@pytest.mark.parametrize(
    ("P", "words"),
    [
        ({0: {0: [(0.5, 0, 0.0, False)]}}, "state 0, action 0: probabilities sum to 0.5"),
        ({0: {0: [(1.0, 4, 0.0, False)]}}, "state 0, action 0: next state 4 does not exist"),
        ({0: {0: [(1.0, -1, 0.0, False)]}}, "state 0, action 0: next state -1 does not exist"),
        ({0: {0: [(1.0, 0, float("nan"), False)]}}, "state 0, action 0: the cost or reward"),
        ({0: {0: [(1.0, 0)]}}, "state 0, action 0: .* expected .probability, next, reward"),
        ({0: {0: [(1.5, 0, 0.0, False), (-0.5, 0, 0.0, False)]}}, "state 0, action 0: the prob"),
        ({1: {0: [(1.0, 1, 0.0, False)]}}, "expected 0, 1, 2"),
    ],
)
def test_mistakes_are_named(P, words):
    with pytest.raises(ValueError, match=words):
        rm.Model.from_gymnasium(P, discount=0.9)


def test_environments_without_transitions():
    with pytest.raises(TypeError, match="no transition dictionary"):
        rm.Model.from_gymnasium(gymnasium.make("CartPole-v1"))


def test_a_policy_acts():
    env = make("FrozenLake-v1", is_slippery=False)
    policy = rm.solve(rm.Model.from_gymnasium(env), rm.Nominal(), discount=0.9).policy
    obs, _ = env.reset(seed=0)
    for _ in range(6):
        obs, reward, terminated, _, _ = env.step(policy.sample(obs))
    assert terminated and reward == 1.0


def test_what_is_no_model_is_told():
    for name in ("CartPole-v1", "Blackjack-v1"):
        with pytest.raises(TypeError, match="no transition dictionary P"):
            rm.Model.from_gymnasium(gymnasium.make(name), discount=0.9)
    with pytest.raises(TypeError, match="gymnasium.make"):
        rm.Model.from_gymnasium("FrozenLake-v1", discount=0.9)
    with pytest.raises(ValueError, match="key 'a' in the transition dictionary"):
        rm.Model.from_gymnasium({"a": {0: [(1.0, 0, 0.0, False)]}}, discount=0.9)


def test_wrappers_that_change_the_problem_are_told():
    env = make("FrozenLake-v1")
    plain = rm.Model.from_gymnasium(env, discount=0.9)
    scaled = gymnasium.wrappers.TransformReward(env, lambda reward: 10 * reward)
    with pytest.warns(rm.ModelWarning, match="TransformReward is left out"):
        model = rm.Model.from_gymnasium(scaled, discount=0.9)
    assert model.fingerprint == plain.fingerprint


def test_time_limits_are_told():
    """Values are those of episodes without a limit, and nobody should take them for others."""
    limited = gymnasium.make("FrozenLake-v1")  # 100 steps
    short = gymnasium.wrappers.TimeLimit(make("FrozenLake-v1"), 10)
    for env, steps in ((limited, 100), (short, 10), (gymnasium.wrappers.TimeLimit(limited, 7), 7)):
        with pytest.warns(rm.ModelWarning, match=f"time limit of {steps} steps is left out") as caught:
            model = rm.Model.from_gymnasium(env, discount=0.9)
        assert len(caught) == 1 and caught[0].filename == __file__
        assert model.fingerprint == rm.Model.from_gymnasium(env.unwrapped, discount=0.9).fingerprint
