"""Solutions, evaluations, sweeps, policies and simulations."""

from __future__ import annotations

import pickle
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import robust_mdp as rm

METHODS = ["auto", "fom-vi", "vi", "gs-vi", "anderson", "avi", "pi", "newton"]


@pytest.fixture(scope="module")
def model():
    return rm.instances.garnet(12, 3, 0.4, seed=5, discount=0.8)


@pytest.fixture(scope="module")
def solution(model):
    return rm.solve(model, rm.KL(0.1), gap=1e-8)


@pytest.mark.parametrize("set", [rm.KL(0.1), rm.Ellipsoid(0.05)], ids=repr)
@pytest.mark.parametrize("method", METHODS)
def test_methods_agree(model, set, method):
    exact = rm.solve(model, set, gap=1e-9)
    sol = rm.solve(model, set, method=method, gap=1e-3)
    assert sol.is_certified and sol.gap <= 1e-3
    assert sol.method == ("newton" if method == "auto" else method)
    assert (sol.work["first_order_steps"] > 0) == (sol.oracle == "first-order") == (method == "fom-vi")
    assert np.all(sol.lower <= exact.upper) and np.all(exact.lower <= sol.upper)


@pytest.mark.parametrize("oracle", ["exact", "first-order", "interior-point"])
def test_oracles_agree(model, solution, oracle):
    sol = rm.solve(model, rm.KL(0.1), method="vi", oracle=oracle, gap=1e-2)
    assert (sol.method, sol.oracle) == ("vi", oracle)
    assert (sol.work["first_order_steps"] > 0) == (oracle == "first-order")
    assert np.all(sol.lower <= solution.upper) and np.all(solution.lower <= sol.upper)


def test_first_order_settings(model):
    settings = rm.FirstOrder(setup="l1,l1", method="mirror-prox", steps="centred", weights=1.0)
    sol = rm.solve(model, rm.KL(0.1), method="fom-vi", first_order=settings, gap=0.1)
    assert sol.is_certified and sol.method == "fom-vi" and sol.work["first_order_steps"] > 0
    # Every setting counts: another one leads elsewhere.
    others = {"setup": "l2,l2", "method": "pda", "steps": "paper", "weights": 2.0, "epochs": 1.0, "average": "all"}
    for name, value in others.items():
        other = rm.solve(
            model, rm.KL(0.1), method="fom-vi", first_order=replace(settings, **{name: value}), gap=0.1
        )
        assert not np.array_equal(other.upper, sol.upper), name
    for wrong in ({"setup": "l3,l1"}, {"method": "sgd"}, {"average": "some"}, {"weights": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            bad = rm.FirstOrder(**wrong)
            rm.solve(model, rm.KL(0.1), method="fom-vi", first_order=bad)
    with pytest.raises(ValueError, match="have an effect only"):
        rm.solve(model, rm.KL(0.1), first_order=settings)


def test_threads_change_nothing(model, solution):
    for threads in (1, 2, 3):
        again = rm.solve(model, rm.KL(0.1), gap=1e-8, threads=threads)
        assert np.array_equal(again.values, solution.values)
        assert np.array_equal(again.policy.probabilities, solution.policy.probabilities)


def test_what_a_solution_says(model, solution):
    assert solution.status == "certified" and solution.gap <= 1e-8 == solution.target_gap
    assert np.all(solution.lower <= solution.values) and np.all(solution.values <= solution.upper)
    assert solution.value.lower <= solution.value.mid <= solution.value.upper
    assert solution.guarantee == solution.value.upper
    assert solution.work["sweeps"] >= 1 and solution.seconds > 0.0
    assert set(solution.trace) >= {"sweeps", "gap", "lower", "upper", "seconds"}
    assert np.all(np.diff(solution.trace["sweeps"]) > 0)
    assert "certified" in repr(solution) and "<table>" in solution._repr_html_()
    frame = solution.to_dataframe()
    assert len(frame) == model.n_states and frame["lower"].tolist() == solution.lower.tolist()


def test_solutions_cannot_be_changed(solution):
    for array in (solution.values, solution.lower, solution.policy.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        solution.gap = 0.0
    with pytest.raises(AttributeError):
        solution.policy.probabilities = None
    with pytest.raises(AttributeError):
        del solution.policy.probabilities


def test_solutions_go_through_pickle(solution):
    back = pickle.loads(pickle.dumps(solution))
    assert repr(back) == repr(solution) and back.set == solution.set
    assert np.array_equal(back.values, solution.values)
    assert np.array_equal(back.trace["gap"], solution.trace["gap"])
    assert back.certificate == solution.certificate
    assert back.verify().value == solution.verify().value
    policy = pickle.loads(pickle.dumps(solution.policy))
    assert np.array_equal(np.asarray(policy), np.asarray(solution.policy))
    assert pickle.loads(pickle.dumps(rm.KL([0.1, 0.2]))) == rm.KL([0.1, 0.2])


def test_what_comes_out_of_pickle_cannot_be_changed(model, solution):
    sweep = rm.sweep_radius(model, rm.KL(0.0), [0.0, 0.1])
    value = rm.evaluate(model, solution, rm.KL(0.1))
    assert np.all(sweep.lower <= sweep.upper) and len(value.worst.values) == 12
    back, again = pickle.loads(pickle.dumps((sweep, value)))
    kept = [
        *((getattr(back, name), getattr(sweep, name)) for name in ("radii", "nominal", "lower", "upper")),
        *((getattr(again.worst, name), getattr(value.worst, name)) for name in ("lower", "upper", "values")),
    ]
    for array, expected in kept:
        assert np.array_equal(array, expected)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    with pytest.raises(AttributeError):
        back.radii = None
    proved, episodes = solution.verify(), solution.simulate(episodes=3, seed=1)
    proved, episodes = pickle.loads(pickle.dumps((proved, episodes)))
    arrays = [x for r in (proved, episodes) for x in vars(r).values() if isinstance(x, np.ndarray)]
    assert len(arrays) >= 3 and not any(array.flags.writeable for array in arrays)


def test_certificates(tmp_path, model, solution):
    certificate = solution.certificate
    proved = rm.verify(model, certificate)
    assert proved.gap <= 1e-7 and certificate.claim[2] == proved.gap
    assert certificate.fingerprint == model.fingerprint and certificate.discount == 0.8
    with pytest.raises(rm.CertificateError, match="version 5, expected 8"):
        rm.Certificate(certificate.data[:8] + b"\x05\0\0\0" + certificate.data[12:])
    certificate.save(tmp_path / "proof")
    assert rm.Certificate.load(tmp_path / "proof") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["proof"]
    with pytest.raises(rm.CertificateError, match="another"):
        rm.verify(model, certificate, discount=0.81)
    with pytest.raises(rm.CertificateError, match="another model"):
        rm.verify(rm.instances.garnet(13, 3, 0.4), certificate)
    damaged = bytearray(certificate.data)
    damaged[-20] ^= 1
    with pytest.raises(rm.CertificateError, match="damaged"):
        rm.verify(model, bytes(damaged))
    with pytest.raises(rm.CertificateError, match="RMDPCERT"):
        rm.Certificate(b"nothing")


def test_certified_solves_report_what_is_proved(model):
    sol = rm.solve(model, rm.KL(0.1), gap=1e-8, certify=True)
    assert np.array_equal(sol.verify().lower, sol.lower)
    assert np.array_equal(sol.verify().upper, sol.upper)
    assert pickle.loads(pickle.dumps(sol)).certificate == sol.certificate


def test_the_worst_kernel_is_in_the_set_and_attains_the_value(model, solution):
    worst = solution.worst_kernel()
    y, y0 = worst.to_array(), model.kernel().to_array()
    assert np.allclose(y.sum(axis=2), 1.0)
    assert np.all(y[y0 == 0.0] == 0.0)
    ratio = np.divide(y, y0, out=np.ones_like(y), where=(y0 > 0) & (y > 0))
    assert np.all((y * np.log(ratio)).sum(axis=(1, 2)) <= 0.1 + 1e-9)
    # Under this kernel the policy costs what was bounded.
    value = rm.evaluate(model.with_kernel(worst), solution.policy, rm.Nominal(), gap=1e-9)
    assert np.allclose(value.nominal.values, solution.values, atol=1e-6)
    assert np.allclose(worst.to_scipy().toarray(), y.reshape(-1, model.n_states))


def test_evaluation(model, solution):
    own = rm.evaluate(model, solution.policy, rm.KL(0.1), gap=1e-8)
    assert np.allclose(own.worst.values, solution.values, atol=1e-7)
    assert np.all(own.nominal.lower <= own.worst.upper)
    greedy = np.argmax(np.asarray(solution.policy), axis=1)
    table = np.eye(3)[greedy]
    assert rm.evaluate(model, solution, rm.KL(0.1)).worst.value.upper > 0.0
    forms = [greedy, table, table.ravel(), rm.Policy(model, greedy)]
    values = [rm.evaluate(model, form, rm.KL(0.1), gap=1e-8).worst.values for form in forms]
    assert all(np.array_equal(values[0], other) for other in values[1:])
    assert np.all(values[0] >= solution.lower - 1e-7)
    assert "worst" in repr(own) and "<table>" in own._repr_html_()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (np.zeros((12, 3)), "state 0: the policy is not a distribution"),
        (np.full((12, 2), 0.5), "shape"),
        (np.full(12, 7), "state 0 has no action 7"),
        (np.full((12, 3), [1.5, -0.5, 0.0]), "state 0: the policy is not a distribution"),
        (np.full((12, 3), np.nan), "state 0: the policy is not a distribution"),
    ],
)
def test_wrong_policies(model, policy, words):
    with pytest.raises(ValueError, match=words):
        rm.evaluate(model, policy, rm.KL(0.1))


def same(a, b):
    return (
        np.array_equal(a.lower, b.lower)
        and np.array_equal(a.upper, b.upper)
        and np.array_equal(a.policy.probabilities, b.policy.probabilities)
    )


def test_sweeps(model):
    radii = [0.0, 0.01, 0.1, 1.0, 0.5, 0.2, 0.05]
    seen = []
    sweep = rm.sweep_radius(model, rm.KL(0.0), radii, gap=1e-8, progress=lambda *at: seen.append(at))
    assert seen[-1] == (7, 7)
    cold = rm.sweep_radius(model, rm.KL(0.0), radii, gap=1e-8, warm_start=False)
    for radius, warm, sol in zip(radii, sweep, cold, strict=True):
        assert same(rm.solve(model, rm.KL(radius), gap=1e-8), sol)
        assert warm.set == sol.set == rm.KL(radius) and warm.is_certified
        assert np.all(warm.lower <= sol.upper) and np.all(sol.lower <= warm.upper)
    sweeps = [sum(sol.work["sweeps"] for sol in of) for of in (sweep, cold)]
    assert sweeps[0] < sweeps[1]
    order = np.argsort(sweep.radii)
    assert np.all(np.diff(sweep.lower[order]) >= -1e-7)
    assert np.all(sweep.nominal <= sweep.upper + 1e-7)
    assert sweep.to_dataframe()["radius"].tolist() == radii
    for threads in (1, 2, 5):
        again = rm.sweep_radius(model, rm.KL(0.0), radii, gap=1e-8, threads=threads)
        assert np.array_equal(again.nominal, sweep.nominal)
        assert all(same(a, b) for a, b in zip(again, sweep, strict=True))
    few = rm.sweep_radius(model, rm.KL(0.0), [0.1], method="anderson", anderson=2, warm_start=False)
    assert same(few[0], rm.solve(model, rm.KL(0.1), method="anderson", anderson=2))
    assert len(rm.sweep_radius(model, rm.KL(0.0), [])) == 0
    assert "7 radii" in repr(sweep) and "<table>" in sweep._repr_html_()
    for wrong in ([0.1, -1.0], [0.1, np.nan]):
        with pytest.raises(ValueError, match="radius"):
            rm.sweep_radius(model, rm.KL(0.0), wrong)


def test_starts(model, solution):
    for method in METHODS:
        cold = rm.solve(model, rm.KL(0.1), method=method, gap=1e-3)
        for start in (solution, solution.values, np.full(12, 1e9)):
            warm = rm.solve(model, rm.KL(0.1), method=method, gap=1e-3, start=start)
            assert warm.method == cold.method == ("newton" if method == "auto" else method)
            assert np.all(warm.lower <= cold.upper) and np.all(cold.lower <= warm.upper)
    assert rm.solve(model, rm.KL(0.1), start=solution).work["sweeps"] == 1
    rewards = rm.Model.from_arrays(model.kernel().to_array(), R=-np.ones((12, 3)), discount=0.8)
    assert rm.solve(rewards, rm.KL(0.1), start=np.full(12, -5.0)).work["sweeps"] == 1
    with pytest.raises(ValueError, match="11 starting values, expected one for each of 12"):
        rm.solve(model, rm.KL(0.1), start=np.zeros(11))
    with pytest.raises(ValueError, match="state 3: the starting value is NaN"):
        rm.solve(model, rm.KL(0.1), start=np.where(np.arange(12) == 3, np.nan, 0.0))


def test_checkpoints(tmp_path, model):
    path, question = tmp_path / "run", {"method": "vi", "gap": 1e-8}
    whole = rm.solve(model, rm.KL(0.1), **question)
    for limit in (5, 9, 20):
        with pytest.warns(rm.ConvergenceWarning, match="sweep-limit"):
            rm.solve(model, rm.KL(0.1), **question, max_sweeps=limit, checkpoint=path)
        assert path.exists()
    with pytest.raises(ValueError, match="run: .*with radius 0.1, and this one has 0.2"):
        rm.solve(model, rm.KL(0.2), **question, checkpoint=path)
    resumed = rm.solve(model, rm.KL(0.1), **question, checkpoint=path, threads=1)
    assert same(resumed, whole) and resumed.work == whole.work
    assert not path.exists()
    path.write_text("something else")
    with pytest.raises(ValueError, match="not a checkpoint"):
        rm.solve(model, rm.KL(0.1), checkpoint=path)
    assert path.read_text() == "something else"
    with pytest.raises(IsADirectoryError):
        rm.solve(model, rm.KL(0.1), checkpoint=tmp_path)
    # The answer is not lost with the checkpoint.
    with pytest.warns(rm.RobustMDPWarning) as caught:
        rm.solve(model, rm.KL(0.1), **question, max_sweeps=5, checkpoint=tmp_path / "no" / "run")
    assert any("checkpoint" in str(each.message) for each in caught)


def test_radii_of_states_and_pairs(model):
    each = rm.solve(model, rm.KL(np.full(12, 0.1)), gap=1e-8)
    assert np.array_equal(each.values, rm.solve(model, rm.KL(0.1), gap=1e-8).values)
    sa = rm.solve(model, rm.KL(np.full((12, 3), 0.1), rectangular="sa"), gap=1e-8)
    flat = rm.solve(model, rm.KL(np.full(36, 0.1), rectangular="sa"), gap=1e-8)
    one = rm.solve(model, rm.KL(0.1, rectangular="sa"), gap=1e-8)
    assert np.array_equal(sa.values, flat.values)
    assert np.allclose(sa.values, one.values, atol=1e-8)
    with pytest.raises(ValueError, match="s-rectangular"):
        rm.solve(model, rm.KL(np.full((12, 3), 0.1)))
    with pytest.raises(ValueError, match="shape"):
        rm.solve(model, rm.KL([0.1, 0.2], rectangular="sa"))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: rm.KL(-0.1), ValueError),
        (lambda: rm.KL(float("nan")), ValueError),
        (lambda: rm.KL("wide"), TypeError),
        (lambda: rm.KL(0.1, rectangular="t"), ValueError),
        (lambda: rm.Ellipsoid(0.1, support="none"), ValueError),
        (lambda: rm.Nominal(0.1), ValueError),
    ],
)
def test_wrong_sets(make, error):
    with pytest.raises(error):
        make()


def test_sets_are_values():
    assert rm.KL(0.1) == rm.KL(0.1) != rm.KL(0.2)
    assert rm.KL(0.1) != rm.Ellipsoid(0.1)
    assert len({rm.KL(0.1), rm.KL(0.1), rm.KL([0.1])}) == 2
    assert repr(rm.KL([0.1, 0.2])) == "KL(radius=<2 radii up to 0.2>, rectangular='s')"
    with pytest.raises(AttributeError):
        rm.KL(0.1).radius = 0.2
    assert rm.Ellipsoid(0.1, support="nominal").with_radius(0.2).support == "nominal"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"method": "magic"}, ValueError, "method='magic', expected one of auto, fom-vi"),
        ({"oracle": "magic"}, ValueError, "oracle='magic', expected one of exact"),
        ({"progress": True}, TypeError, "progress: expected something to call"),
        ({"method": 3}, TypeError, "method: expected a name"),
        ({"gap": 0.0}, ValueError, "gap"),
        ({"gap": float("nan")}, ValueError, "gap"),
        ({"gap": "small"}, TypeError, "gap"),
        ({"threads": 0}, ValueError, "threads=0"),
        ({"threads": 1.5}, TypeError, "threads"),
        ({"max_sweeps": -1}, ValueError, "max_sweeps"),
        ({"discount": 1.0}, ValueError, "discount"),
        ({"discount": "much"}, TypeError, "discount"),
        ({"anderson": 3}, ValueError, "anderson"),
        ({"method": "fom-vi", "oracle": "exact"}, ValueError, "fom-vi"),
    ],
)
def test_wrong_questions(model, arguments, error, words):
    with pytest.raises(error, match=words):
        rm.solve(model, rm.KL(0.1), **arguments)


def test_numbers_may_be_large(model, solution):
    most = {"threads": 10**30, "max_sweeps": 10**30, "time_limit": 1e30}
    assert same(rm.solve(model, rm.KL(0.1), gap=1e-8, **most), solution)


def test_wrong_types(model, solution):
    with pytest.raises(TypeError, match="policy|model"):
        rm.Policy(3, [0])
    with pytest.raises(TypeError, match="expected a Certificate or bytes"):
        rm.verify(model, "proof")
    with pytest.raises(TypeError, match="model"):
        rm.verify(3, solution.certificate)
    with pytest.raises(TypeError, match="several numbers, not 0.1"):
        rm.sweep_radius(model, rm.KL(0.1), 0.1)
    with pytest.raises(ValueError, match="another model"):
        rm.evaluate(rm.instances.garnet(9, 4, 0.4), solution.policy, rm.KL(0.1))
    with pytest.raises(TypeError, match="model"):
        rm.solve("model", rm.KL(0.1))
    with pytest.raises(TypeError, match="set"):
        rm.solve(model, 0.1)


def test_discounts_are_needed_and_can_be_replaced(model):
    bare = rm.Model.from_arrays(model.kernel().to_array(), cost=np.ones((12, 3)))
    with pytest.raises(ValueError, match="discount="):
        rm.solve(bare, rm.KL(0.1))
    for discount in (0.5, 0.9, 0.5):
        sol = rm.solve(bare, rm.KL(0.1), discount=discount, gap=1e-8)
        assert sol.model.discount == discount
        assert sol.values == pytest.approx(1.0 / (1.0 - discount), abs=1e-7)
        assert rm.verify(bare, sol.certificate).gap < 1e-6


def test_policies(tmp_path, model, solution):
    policy = solution.policy
    assert len(policy) == 12 and policy[0].sum() == pytest.approx(1.0)
    assert np.asarray(policy).shape == (12, 3)
    states = np.arange(12).repeat(2000).reshape(12, 2000)
    drawn = policy.sample(states, rng=1)
    assert drawn.shape == states.shape
    assert np.array_equal(drawn, policy.sample(states, rng=1))
    shares = np.stack([(drawn == a).mean(axis=1) for a in range(3)], axis=1)
    assert np.abs(shares - np.asarray(policy)).max() < 0.06  # five deviations of 2000 draws
    assert isinstance(policy.sample(3), int) and isinstance(policy.sample(np.int64(3)), int)
    assert policy.sample([]).shape == (0,) and policy.sample([3, 4]).shape == (2,)
    assert np.array_equal(policy[-1], policy[11]) and policy.actions(-1).tolist() == [0, 1, 2]
    for wrong, error in ((12, IndexError), (-13, IndexError), ("a", TypeError), (1.0, TypeError)):
        for ask in (policy.__getitem__, policy.actions):
            with pytest.raises(error):
                ask(wrong)
    policy.save(tmp_path / "policy.csv", model)
    back = rm.Policy.load(tmp_path / "policy.csv", model)
    # Rows are divided by their sums on reading, and these are one but for rounding.
    assert np.allclose(back, policy, rtol=1e-15, atol=0)
    assert policy.to_dataframe()["probability"].sum() == pytest.approx(12.0)
    for wrong, error in ((12, ValueError), (-1, ValueError), (0.5, TypeError), ("a", TypeError)):
        with pytest.raises(error):
            policy.sample(wrong)


def test_simulation(model, solution):
    under = {
        "worst": solution.value.mid,
        "nominal": rm.evaluate(model, solution.policy, rm.Nominal()).nominal.value.mid,
    }
    for kernel, value in under.items():
        run = solution.simulate(kernel, episodes=4000, seed=3)
        assert abs(run.mean - value) < 5.0 * run.standard_error
    y = solution.worst_kernel()
    runs = [
        rm.simulate(model, solution.policy, kernel=form, episodes=50, seed=1).returns
        for form in (y, y.to_array(), y.to_scipy())
    ]
    assert all(np.array_equal(runs[0], other) for other in runs[1:])
    from_one = rm.simulate(model, solution.policy, episodes=2000, seed=2, start=4, steps=60)
    nominal = rm.evaluate(model, solution.policy, rm.Nominal()).nominal.values[4]
    assert abs(from_one.mean - nominal) < 5.0 * from_one.standard_error
    assert from_one.lengths.tolist() == [60] * 2000
    bad = y.to_array() * 0.5
    with pytest.raises(rm.ModelError, match="state 0, action 0"):
        rm.simulate(model, solution.policy, kernel=bad)
    for wrong in ({"start": 99}, {"start": 1.5}, {"start": "a"}, {"start": [0, 1]}, {"steps": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            rm.simulate(model, solution, **wrong)
    with pytest.raises(TypeError, match="episodes"):
        rm.simulate(model, solution, episodes=10.0)


def test_simulations_end_in_terminal_states():
    P = {0: {0: [(0.5, 0, 1.0, False), (0.5, 1, 7.0, True)]}, 1: {0: [(1.0, 1, 0.0, True)]}}
    model = rm.Model.from_gymnasium(P, discount=0.5, initial=[1.0, 0.0])
    run = rm.simulate(model, np.zeros(2, dtype=int), episodes=4000, seed=0)
    # v = ½(1 + ½v) + ½·7 = 16/3; two steps on average.
    assert abs(run.mean - 16 / 3) < 5.0 * run.standard_error
    assert run.lengths.min() == 1 and abs(run.lengths.mean() - 2.0) < 0.2


def test_plots(solution, model):
    for kind in ("overview", "convergence", "policy", "values"):
        assert solution.plot(kind).axes
    figure, ax = plt.subplots()
    assert solution.plot("convergence", ax=ax) is figure
    sweep = rm.sweep_radius(model, rm.KL(0.0), [0.0, 0.1, 0.2])
    assert sweep.plot().axes
    with pytest.raises(ValueError, match="keep no trace"):
        sweep[0].plot("convergence")
    with pytest.raises(ValueError, match="kind"):
        solution.plot("pie")
    plt.close("all")


def test_calibrated_radii(model):
    radii = rm.instances.calibrate(model, rm.KL)
    assert radii.shape == (12,) and np.all(radii >= 0.0)
    sol = rm.solve(model, rm.KL(radii))
    assert sol.is_certified
    assert rm.KL(0.1).largest_useful_radius(model) > radii.max()


def test_evaluations_are_tables(model, solution):
    value = rm.evaluate(model, solution, rm.KL(0.1))
    table = value.to_dataframe()
    assert table.index.name == "state" and len(table) == 12
    for name, bounds in (("worst", value.worst), ("nominal", value.nominal)):
        assert np.array_equal(table[f"{name}_lower"], bounds.lower)
        assert np.array_equal(table[f"{name}_value"], bounds.to_dataframe()["value"])


def test_auto_tells_its_rule_and_no_reason_that_nothing_computed() -> None:
    dense = rm.instances.garnet(states=30, actions=3, branching=0.5, seed=1, discount=0.9)
    for model, uncertainty in [(dense, rm.KL(0.1)), (rm.instances.machine(), rm.Nominal())]:
        solution = rm.solve(model, uncertainty, gap=0.1)
        assert solution.reason == "the same for every model and set"
        assert f"(chosen by auto: {solution.reason})" in solution._repr_html_()
    first_order = rm.solve(dense, rm.KL(0.1), gap=0.1, oracle="first-order")
    assert first_order.reason == "the loop made for the first-order oracle"
    assert rm.solve(dense, rm.KL(0.1), gap=0.1, method="newton").reason is None
