"""Models whose probabilities have intervals: made from arrays, matrices, tables and files, and kept."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import robust_mdp as rm

P = np.array(
    [  # P[s, a, next]
        [[0.6, 0.4, 0.0], [0.0, 0.5, 0.5]],
        [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
        [[0.0, 0.1, 0.9], [0.3, 0.3, 0.4]],
    ]
)
LOWER = np.where(P < 1.0, 0.5 * P, 1.0)
UPPER = np.where(P == 0.0, 0.1, np.minimum(1.0, 1.5 * P))
COST = np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 1.0]])
BOX = {"lower": LOWER, "upper": UPPER}


def model(**more):
    return rm.Model.from_arrays(P, cost=COST, convention="SAS", discount=0.9, **BOX, **more)


def table(made):
    """Probabilities and bounds as arrays."""
    kernel, found = made.kernel(), [made.kernel().to_array()]
    row = np.repeat(np.arange(6), np.diff(kernel.indptr))
    for bound in made.intervals():
        dense = np.zeros((6, 3))
        dense[row, kernel.indices] = bound
        found.append(dense.reshape(3, 2, 3))
    return found


def assert_same(made):
    assert made.has_intervals and "intervals" in repr(made)
    for found, expected in zip(table(made), (P, LOWER, UPPER), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-15)
    assert made.fingerprint == model().fingerprint
    assert np.array_equal(made.action_ids, model().action_ids)


def test_bounds_are_kept_and_matter():
    made = model()
    assert_same(made)
    plain = rm.Model.from_arrays(P, cost=COST, convention="SAS", discount=0.9)
    assert plain.fingerprint != made.fingerprint and "intervals" not in repr(plain)
    assert not plain.has_intervals
    with pytest.raises(ValueError, match="no intervals"):
        plain.intervals()
    for kind in (rm.Intervals(), rm.EllipsoidWithinIntervals(0.1), rm.KLWithinIntervals(0.1)):
        with pytest.raises(ValueError, match="needs a model whose probabilities have intervals"):
            rm.solve(plain, kind)
    with pytest.raises(ValueError, match="read-only"):
        made.intervals()[0][0] = 0.0


def test_conventions():
    by_action = {name: bound.transpose(1, 0, 2) for name, bound in BOX.items()}
    assert_same(rm.Model.from_arrays(P.transpose(1, 0, 2), cost=COST, discount=0.9, **by_action))
    assert_same(rm.Model.from_arrays(Q=P, cost=COST, beta=0.9, **BOX))
    s, a = np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    for order in (np.arange(6), np.array([3, 5, 0, 1, 4, 2])):
        rows = {name: bound.reshape(6, 3)[order] for name, bound in BOX.items()}
        pairs = {"s_indices": s[order], "a_indices": a[order], "beta": 0.9}
        assert_same(rm.Model.from_arrays(Q=P.reshape(6, 3)[order], cost=COST.ravel()[order], **pairs, **rows))
    # As many costs as transitions.
    moves = np.broadcast_to(COST[:, :, None], (3, 2, 3))
    assert_same(rm.Model.from_arrays(P, cost=moves, convention="SAS", discount=0.9, **BOX))


def test_actions_that_a_state_does_not_have():
    cost = COST.copy()
    cost[1, 1] = np.inf
    sp = pytest.importorskip("scipy.sparse")
    dense = rm.Model.from_arrays(P, cost=cost, convention="SAS", discount=0.9, **BOX)
    matrices = [[sp.csr_array(array[:, a]) for a in range(2)] for array in (P, LOWER, UPPER)]
    sparse = rm.Model.from_scipy(
        matrices[0], cost=cost, lower=matrices[1], upper=matrices[2], discount=0.9
    )
    for made in (dense, sparse):
        assert made.n_pairs == 5 and made.action_ids.tolist() == [0, 1, 0, 0, 1]
        lower, upper = made.intervals()
        there = np.isfinite(cost)
        listed = UPPER[there] > 0.0
        assert np.array_equal(upper, UPPER[there][listed]) and np.array_equal(lower, LOWER[there][listed])


def test_sparse_matrices():
    sp = pytest.importorskip("scipy.sparse")
    for form in (sp.csr_array, sp.csc_matrix):
        each = [[form(array[:, a]) for a in range(2)] for array in (P, LOWER, UPPER)]
        one = [form(array.reshape(6, 3)) for array in (P, LOWER, UPPER)]
        for probabilities, lower, upper in (each, one):
            made = rm.Model.from_scipy(probabilities, cost=COST, lower=lower, upper=upper, discount=0.9)
            assert_same(made)
    # Sparse costs of transitions leave the bounds where they are.
    moves = [form(np.broadcast_to(COST[:, [a]], (3, 3))) for a in range(2)]
    assert_same(rm.Model.from_scipy(each[0], cost=moves, lower=each[1], upper=each[2], discount=0.9))
    with pytest.raises(TypeError, match="upper: expected a sparse matrix"):
        rm.Model.from_scipy(one[0], cost=COST, lower=one[1], upper=UPPER.reshape(6, 3))
    with pytest.raises(TypeError, match="lower: expected 2 sparse matrices"):
        rm.Model.from_scipy(each[0], cost=COST, lower=each[1][:1], upper=each[2])
    with pytest.raises(ValueError, match=r"upper has shape \(6, 2\)"):
        rm.Model.from_scipy(one[0], cost=COST, lower=one[1], upper=one[2][:, :2])


def test_nominal_rows_are_chosen_within():
    lower, upper = np.array([0.1, 0.5]), np.array([0.4, 1.0])  # 0.1 + 0.3/2 and 0.5 + 0.5/2
    chosen = np.array([0.25, 0.75])
    arrays = [np.broadcast_to(bound, (1, 2, 2)) for bound in (lower, upper)]
    made = [rm.Model.from_arrays(lower=arrays[0], upper=arrays[1], R=[0.0, 1.0], discount=0.9)]
    pairs = {"s_indices": [0, 1], "a_indices": [0, 0], "beta": 0.9}
    made.append(rm.Model.from_arrays(lower=arrays[0][0], upper=arrays[1][0], R=[0.0, 1.0], **pairs))
    sp = pytest.importorskip("scipy.sparse")
    matrices = [sp.csr_array(array[0]) for array in arrays]
    made.append(rm.Model.from_scipy(lower=matrices[0], upper=matrices[1], R=[0.0, 1.0], discount=0.9))
    pd = pytest.importorskip("pandas")
    columns = {"state": [0, 0, 1, 1], "action": 0, "next": [0, 1, 0, 1], "reward": [0.0, 0.0, 1.0, 1.0]}
    frame = pd.DataFrame({**columns, "l": np.tile(lower, 2), "u": np.tile(upper, 2)})
    made.append(rm.Model.from_dataframe(frame, lower="l", upper="u", discount=0.9))
    for one in made:
        assert one.kernel().to_array() == pytest.approx(np.broadcast_to(chosen, (2, 1, 2)))
        assert one.fingerprint == made[0].fingerprint


def test_wrong_bounds():
    def built(**bounds):
        return rm.Model.from_arrays(P, cost=COST, convention="SAS", **bounds)

    for wrong in ({"lower": LOWER}, {"upper": UPPER}):
        with pytest.raises(TypeError, match="lower and upper come together"):
            built(**wrong)
    with pytest.raises(ValueError, match=r"upper has shape \(3, 2, 2\), expected \(3, 2, 3\)"):
        built(lower=LOWER, upper=UPPER[:, :, :2])
    with pytest.raises(TypeError, match="expected either P"):
        rm.Model.from_arrays(cost=COST)
    for change, what in [
        ((0, 0, 1, 0.5), "interval"),  # above the nominal probability
        ((2, 1, 0, np.nan), "interval"),
        ((2, 1, 0, -0.1), "interval"),
    ]:
        s, a, i, value = change
        lower = LOWER.copy()
        lower[s, a, i] = value
        with pytest.raises(rm.ModelError, match=what) as error:
            built(lower=lower, upper=UPPER)
        assert (error.value.state, error.value.action) == (s, a)
    with pytest.raises(rm.ModelError, match="lower bounds sum to 1.2"):
        rm.Model.from_arrays(lower=np.full((1, 2, 2), 0.6), upper=np.ones((1, 2, 2)), R=[0.0, 1.0])
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"state": [0], "action": [0], "next": [0], "reward": [1.0], "l": [1.0]})
    with pytest.raises(ValueError, match="no column “u”"):
        rm.Model.from_dataframe(frame, lower="l", upper="u")


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_files_and_pickles_keep_them(tmp_path, ending):
    made = model()
    assert_same(pickle.loads(pickle.dumps(made)))
    made.save(tmp_path / f"model.{ending}")
    assert_same(rm.Model.load(tmp_path / f"model.{ending}"))
    assert_same(made.with_discount(0.5).with_discount(0.9))
    sol = rm.solve(made, rm.Intervals())
    again = pickle.loads(pickle.dumps(sol))
    assert again.verify().gap == sol.verify().gap <= sol.target_gap


def test_tables_keep_them():
    pytest.importorskip("pandas")
    frame = model().to_dataframe()
    assert_same(rm.Model.from_dataframe(frame, lower="lower", upper="upper", discount=0.9))
    shuffled = frame.sample(frac=1.0, random_state=0)
    assert shuffled.index.tolist() != frame.index.tolist()
    assert_same(rm.Model.from_dataframe(shuffled, lower="lower", upper="upper", discount=0.9))
    # Without being asked for, they are columns like others.
    assert not rm.Model.from_dataframe(frame).has_intervals


def test_another_kernel_has_none():
    made = model()
    sol = rm.solve(made, rm.Intervals(rectangular="sa"), gap=1e-8)
    with pytest.warns(rm.ModelWarning, match="intervals of probabilities are left out"):
        worst = made.with_kernel(sol.worst_kernel())
    assert not worst.has_intervals
    value = rm.evaluate(worst, sol.policy, rm.Nominal(), gap=1e-8).nominal
    np.testing.assert_allclose(value.values, sol.values, atol=1e-6)


def test_other_sets_do_not_read_them():
    plain = rm.Model.from_arrays(P, cost=COST, convention="SAS", discount=0.9)
    for set in (rm.L1(0.1), rm.CVaR(0.5), rm.Ellipsoid(0.05)):
        np.testing.assert_allclose(
            rm.solve(model(), set, gap=1e-9).values, rm.solve(plain, set, gap=1e-9).values, atol=1e-8
        )


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_prism_and_storm_files(tmp_path):
    """Intervals of PRISM's files; what their numbers are is asked for."""
    path = write(tmp_path / "two.tra", "2 2 3\n0 0 0 [0.1,0.6]\n0 0 1 [0.3,0.8]\n1 0 1 1.0\n")
    write(tmp_path / "two.srew", "2 1\n0 3.0\n")
    read = rm.Model.load(path, discount=0.5)
    assert read.has_intervals and read.objective == "max-reward"
    assert read.kernel().to_array()[0, 0] == pytest.approx([0.4, 0.6])  # 0.1 + 0.6·0.5 and 0.3 + 0.6·0.5
    costs = rm.Model.load(path, discount=0.5, objective="min-cost")
    assert costs.objective == "min-cost" and costs.has_intervals
    # 3 + 0.5·y·v: the less to stay the worse a reward, the more the worse a cost.
    for made, stay in ((read, 0.2), (costs, 0.6)):
        sol = rm.solve(made, rm.Intervals(), gap=1e-9)
        assert sol.values[0] == pytest.approx(3.0 / (1.0 - 0.5 * stay), abs=1e-6)
    with pytest.raises(ValueError, match="objective='best', expected one of min-cost, max-reward"):
        rm.Model.load(path, objective="best")
    model().save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="an objective is of no use to the format json"):
        rm.Model.load(tmp_path / "model.json", objective="min-cost")


def test_rewards_of_storms_files(tmp_path):
    path = write(
        tmp_path / "two.drn",
        "@type: MDP\n@parameters\n\n@reward_models\nfirst second\n@nr_states\n2\n@nr_choices\n2\n@model\n"
        "state 0 [1, 5] init\n\taction 0 [0, 0]\n\t\t1 : 1\nstate 1 [0, 0]\n\taction 0 [0, 0]\n\t\t1 : 1\n",
    )
    with pytest.warns(rm.ModelWarning, match="first"):
        assert rm.Model.load(path, discount=0.5).expected_costs()[0] == 1.0
    assert rm.Model.load(path, discount=0.5, rewards="second").expected_costs()[0] == 5.0


def test_outcomes_are_mixed(tmp_path):
    path = write(
        tmp_path / "outcomes.csv",
        "idstatefrom,idaction,idoutcome,idstateto,probability,reward\n"
        "0,0,0,0,1.0,2.0\n0,0,1,1,1.0,2.0\n1,0,0,1,1.0,0.0\n",
    )
    with pytest.warns(rm.ModelWarning, match="1 of 2 state-action pairs have several outcomes"):
        made = rm.Model.load(path, discount=0.5)
    assert made.kernel().to_array()[0, 0] == pytest.approx([0.5, 0.5])
    # All mixtures of outcomes that are certain: nature takes the one that ends the rewards.
    assert made.has_intervals
    assert rm.solve(made, rm.Intervals()).values[0] == pytest.approx(2.0, abs=1e-6)
