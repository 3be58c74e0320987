"""Input that could be taken for something else is put right by its names, or refused."""

from __future__ import annotations

import pickle
import warnings

import gymnasium
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import robust_mdp as rm

# As many actions as states, so that no shape tells them apart.
P = np.array([[[0.9, 0.1], [1.0, 0.0]], [[0.2, 0.8], [0.7, 0.3]]])
COST = np.array([[0.0, 1.0], [5.0, 2.0]])
RADII = np.array([[0.0, 0.03], [0.1, 0.02]])
ACTION_FIRST = [
    ("action", "state"), ("action", None), (None, "state"), ("Action", "State"), ("actions", "states"),
]  # fmt: skip


def square(cost=COST, **more):
    return rm.Model.from_arrays(P, cost=cost, convention="SAS", discount=0.9, **more)


def values(model, set):
    return rm.solve(model, set, gap=1e-9).values


# Names of axes and levels


@pytest.mark.parametrize("names", ACTION_FIRST)
def test_costs_with_actions_first(names):
    table = pd.DataFrame(COST.T).rename_axis(index=names[0], columns=names[1])
    for cost in (table, table.stack()):
        assert square(cost).fingerprint == square().fingerprint
        made = rm.Model.from_arrays(R=cost, Q=P, beta=0.9)
        assert np.array_equal(made.expected_costs(), COST.ravel())


@pytest.mark.parametrize("names", ACTION_FIRST)
def test_radii_with_actions_first(names):
    def worst(radius):
        set = rm.KL(radius, rectangular="sa")
        return rm.evaluate(square(), np.full((2, 2), 0.5), set).worst.values

    assert not np.allclose(worst(RADII), worst(RADII.T))
    table = pd.DataFrame(RADII.T).rename_axis(index=names[0], columns=names[1])
    for radius in (table, table.stack()):
        assert np.array_equal(worst(radius), worst(RADII))


def test_levels_without_names_are_not_guessed():
    pairs = pd.DataFrame(RADII).stack()
    words = "name the levels state and action"
    with pytest.raises(ValueError, match=words):
        rm.solve(square(), rm.KL(pairs, rectangular="sa"))
    with pytest.raises(ValueError, match=words):
        square(pairs)
    policy = pd.Series({(0, 1): 1.0, (1, 0): 0.5, (1, 1): 0.5})
    # The other order gives no distributions.
    assert rm.Policy(square(), policy).probabilities.tolist() == [0.0, 1.0, 0.5, 0.5]
    even = pd.DataFrame([[0.1, 0.2], [0.2, 0.1]]).stack()  # the same in both orders
    assert np.isfinite(values(square(), rm.KL(even, rectangular="sa"))).all()
    with pytest.raises(ValueError, match="expected state and action"):
        rm.KL(pairs.rename_axis(["state", "states"]), rectangular="sa")


def test_a_flat_vector_of_radii_for_as_many_pairs_as_states():
    table = {0: {0: [(1.0, 1, 1.0, False)], 1: [(0.5, 0, 0.0, False), (0.5, 1, 2.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    model = rm.Model.from_gymnasium(table, discount=0.5)
    assert model.n_pairs == model.n_states == 2
    with pytest.raises(ValueError, match="may be one a state or one a pair"):
        rm.solve(model, rm.KL([0.1, 0.2], rectangular="sa"))
    assert np.array_equal(values(model, rm.KL([0.1, 0.1], rectangular="sa")), values(model, rm.KL(0.1, rectangular="sa")))
    rm.solve(model, rm.KL([0.1, 0.2]))


def test_columns_that_are_no_values_are_refused():
    visits = pd.DataFrame({"state": [0, 1], "visits": [10.0, 20.0]})
    with pytest.raises(ValueError, match="radius: a column “visits” beside state, expected one of radius"):
        rm.KL(visits)
    assert rm.KL(visits.rename(columns={"visits": "radius"})) == rm.KL({0: 10.0, 1: 20.0})


# Names of states that are tuples, or look like numbers


def grid():
    cells = [(0, 0), (0, 1), (1, 0), (1, 1)]
    lines = [(c, a, cells[(k + a + 1) % 4], 1.0, float(k)) for k, c in enumerate(cells) for a in range(2)]
    frame = pd.DataFrame(lines, columns=["state", "action", "next", "probability", "cost"])
    return cells, rm.Model.from_dataframe(frame, discount=0.9)


def test_cells_of_a_grid_are_states():
    cells, model = grid()
    policy = rm.Policy(model, dict(zip(cells, [1, 0, 0, 1], strict=True)))
    assert policy.greedy().tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match="nothing for state"):
        rm.Policy(model, {(0, 0): 1})
    radius = dict(zip(cells, [0.1, 0.2, 0.3, 0.4], strict=True))
    for rectangular in ("s", "sa"):
        by_cell = rm.Ellipsoid(radius, rectangular=rectangular)
        by_place = rm.Ellipsoid(list(radius.values()), rectangular=rectangular)
        assert np.array_equal(values(model, by_cell), values(model, by_place))
    assert np.array_equal(
        rm.solve(model, rm.KL(0.0), start=dict.fromkeys(cells, 1.0)).values,
        rm.solve(model, rm.KL(0.0), start=[1.0] * 4).values,
    )


def test_keys_that_are_states_and_pairs_are_refused():
    model = square(state_names=["(0, 0)", "(1, 0)"])
    with pytest.raises(ValueError, match="may be the name of a state, or a state and an action"):
        rm.Policy(model, {(0, 0): 1, (1, 0): 1})
    assert rm.Policy(model, {0: {0: 1}, 1: {0: 1}}).greedy().tolist() == [0, 0]


def test_whole_numbers_are_all_names_or_all_numbers():
    kernel = np.full((3, 1, 3), 1 / 3)
    named = {"cost": [1.0, 2.0, 3.0], "discount": 0.9, "state_names": ["1", "2", "3"]}
    with pytest.raises(ValueError, match="initial: state 3 can only be a name and 0 only a number"):
        rm.Model.from_arrays(kernel, initial={0: 0.4, 3: 0.6}, **named)
    model = rm.Model.from_arrays(kernel, **named)

    def first(start):
        return rm.simulate(model, [0, 0, 0], start=start, episodes=2, steps=1, seed=0).returns.tolist()

    assert first(["3", "1"]) == first(pd.Series(["3", "1"], dtype=object)) == [3.0, 1.0]
    assert first(np.array([0, 0], dtype=object)) == first([0, 0]) == [1.0, 1.0]
    with pytest.raises(ValueError, match="start: state 1 may be a name or a number"):
        first(pd.Series([1, 1], dtype=object))
    with pytest.raises(ValueError, match="start: state 3 can only be a name and 0 only a number"):
        first(pd.Series([0, 3], dtype=object))


# What belongs to another model


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"state_names": ["worn", "good"], "action_names": ["run", "fix"]}, "names of states differ"),
        ({"state_names": ["good", "worn"], "action_names": ["fix", "run"]}, "names of actions differ"),
    ],
)
def test_policies_and_kernels_of_other_names_are_refused(more, words):
    model = square(state_names=["good", "worn"], action_names=["run", "fix"])
    other, plain = square(**more), square()
    sol = rm.solve(model, rm.KL(0.1))
    for policy in (sol, sol.policy, pickle.loads(pickle.dumps(sol.policy))):
        with pytest.raises(ValueError, match=f"the policy is one of another model: {words}"):
            rm.evaluate(other, policy, rm.KL(0.1))
        for same in (model, plain, square(state_names=["good", "worn"])):
            rm.evaluate(same, policy, rm.KL(0.1))
    for kernel in (sol.worst_kernel(), model.kernel()):
        with pytest.raises(ValueError, match=f"the kernel is one of another model: {words}"):
            other.with_kernel(kernel)
        plain.with_kernel(kernel)
    with pytest.raises(ValueError, match=words):
        sol.policy.save("nowhere.csv", other)


def pairs(a_indices):
    s_indices = [0, 0, 1, 1]
    return rm.Model.from_arrays(R=COST.ravel(), Q=P.reshape(4, 2), beta=0.9, s_indices=s_indices, a_indices=a_indices)


def test_policies_of_other_action_numbers_are_refused():
    policy = rm.solve(pairs([0, 2, 0, 2]), rm.KL(0.1)).policy
    rm.evaluate(pairs([0, 2, 0, 2]), policy, rm.KL(0.1))
    for other in (pairs([0, 1, 0, 1]), pairs([0, 3, 0, 3])):
        with pytest.raises(ValueError, match="(names|numbers) of actions differ"):
            rm.evaluate(other, policy, rm.KL(0.1))


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_action_numbers_survive_files(tmp_path, ending):
    model, path = pairs([1, 4, 0, 4]), tmp_path / f"model.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(path)
        loaded = rm.Model.load(path, discount=0.9)
    assert loaded.action_ids.tolist() == [1, 4, 0, 4]
    assert np.array_equal(rm.Policy(loaded, [4, 0]).probabilities, rm.Policy(model, [4, 0]).probabilities)


def test_action_numbers_that_a_file_cannot_hold_are_warned_of(tmp_path):
    model = rm.Model.from_arrays(
        R=COST.ravel(), Q=P.reshape(4, 2), beta=0.9, s_indices=[0, 0, 1, 1], a_indices=[0, 2, 0, 2],
        action_names=["run", "wait", "fix"],
    )  # fmt: skip
    with pytest.warns(rm.ModelWarning, match="numbers of actions are lost"):
        model.save(tmp_path / "model.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs([0, 2, 0, 2]).save(tmp_path / "model.json")
        square().save(tmp_path / "model.json")


# What is lost is warned of


def test_tables_say_what_they_do_not_hold():
    model = square(initial=[1.0, 0.0], state_names=["good", "worn"]).with_unlisted_cost(7.0)
    with pytest.warns(rm.ModelWarning) as caught:
        model.to_dataframe()
    said = " ".join(str(one.message) for one in caught)
    for words in ("names of states are lost", "initial distribution is lost", "not listed changes"):
        assert words in said


def test_outcomes_of_probability_0_are_kept():
    table = {0: {0: [(1.0, 1, 0.0, False), (0.0, 0, 9.0, False)]}, 1: {0: [(1.0, 0, 1.0, False)]}}
    frame = pd.DataFrame(
        [(0, 0, 1, 1.0, 0.0), (0, 0, 0, 0.0, 9.0), (1, 0, 0, 1.0, 1.0)],
        columns=["state", "action", "next", "probability", "reward"],
    )
    listed = rm.Model.from_gymnasium(table, discount=0.9)
    lines = rm.Model.from_dataframe(frame, discount=0.9)
    for set in (rm.Ellipsoid(0.1), rm.KL(0.1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.array_equal(values(listed, set), values(lines, set))
    assert listed.n_transitions == 2 and len(listed.kernel().data) == 3


def test_rewards_off_the_pattern_are_counted():
    matrices = [sp.csr_array(P[:, a]) for a in range(2)]
    rewards = np.array([[[1.0, 2.0], [0.0, 3.0]], [[1.0, 7.0], [4.0, 5.0]]])
    for R in (rewards, [sp.csr_array(r) for r in rewards]):
        with pytest.warns(rm.ModelWarning, match="R: 1 numbers belong to transitions that P does not list"):
            rm.Model.from_scipy(matrices, R, discount=0.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rm.Model.from_scipy(matrices, rewards * (P.transpose(1, 0, 2) > 0), discount=0.9)


def test_wrappers_that_change_steps_are_warned_of():
    class Double(gymnasium.Wrapper):
        def step(self, action):
            obs, reward, *rest = self.env.step(action)
            return obs, 2 * reward, *rest

    env = gymnasium.make("FrozenLake-v1", max_episode_steps=-1)
    for wrapped, name in ((Double(env), "Double"), (gymnasium.wrappers.NormalizeReward(env), "NormalizeReward")):
        with pytest.warns(rm.ModelWarning, match=f"{name} is left out"):
            rm.Model.from_gymnasium(wrapped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rm.Model.from_gymnasium(gymnasium.wrappers.RecordEpisodeStatistics(env))


def test_evaluations_and_sweeps_warn_of_sets_as_solves_do():
    model = rm.instances.machine(states=10, discount=0.8)
    with pytest.warns(rm.ModelWarning, match="vacuous"):
        rm.evaluate(model, [0] * 10, rm.KL(100.0))
    with pytest.warns(rm.ModelWarning) as caught:
        rm.sweep_radius(model, rm.KL(0.0), [100.0, 100.0, 100.0])
    assert len(caught) == 1


# What belongs to the user stays so


def test_arrays_of_users_stay_theirs():
    numbers = np.array([0, 2, 0, 2])
    model = pairs(numbers)
    assert numbers.flags.writeable
    numbers[1] = 1
    assert model.action_ids.tolist() == [0, 2, 0, 2]
    rows = sp.csr_array(P.reshape(4, 2))
    square().with_kernel(rows)
    rm.simulate(square(), [0, 0], kernel=rows, episodes=2, seed=0)
    own = rm.Kernel(np.array([0, 2, 4]), rows.indptr, rows.indices, rows.data)
    assert all(array.flags.writeable for array in (rows.indptr, rows.indices, rows.data))
    rows.data[0] = 0.5
    assert own.data[0] == 0.9 and not own.data.flags.writeable
