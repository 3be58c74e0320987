"""FOM-VI as published, against a NumPy program that was written from the paper."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import robust_mdp as rm
from published import CASES, EPOCHS, L1, L2, Case, model, run, table

NEAR = 1e-9
RECORDED = Path(__file__).parents[2] / "robust-mdp" / "tests" / "published" / "epochs.json"
THE_PAPERS = [case for case in CASES if case.steps == "paper"]


def question(case: Case) -> tuple[rm.Model, rm.UncertaintySet]:
    known = model(case.next_costs)
    costs = known.own[..., None] + known.further if case.next_costs else known.own
    nominal = rm.Model.from_arrays(known.P, cost=costs, discount=known.discount)
    rectangular = "sa" if case.per_action else "s"
    if case.set in ("kl", "chi2"):
        return nominal, {"kl": rm.KL, "chi2": rm.Chi2}[case.set](case.radius, rectangular=rectangular)
    if case.set == "l1":
        return nominal, rm.L1(case.radius, rectangular=rectangular, support=case.support)
    return nominal, rm.Ellipsoid(case.radius, rectangular=rectangular, support=case.support)


def solved(case: Case, epochs: int) -> rm.Solution:
    settings = rm.FirstOrder(
        steps="paper", setup=",".join(case.setup), weights=case.p, epochs=case.q, method=case.method
    )
    with pytest.warns(rm.ConvergenceWarning):
        sol = rm.solve(
            *question(case), method="fom-vi", first_order=settings, gap=1e-11, max_sweeps=epochs, threads=1
        )
    assert sol.method == "fom-vi"
    return sol


def test_the_papers_cases_are_there():
    for p, q in EPOCHS:
        for name, setup in [("ellipsoid", L2), ("kl", L1)]:
            assert any((c.set, c.setup, c.p, c.q) == (name, setup, p, q) for c in THE_PAPERS)


@pytest.mark.filterwarnings("ignore::robust_mdp.ModelWarning")
@pytest.mark.parametrize("case", THE_PAPERS, ids=str)
def test_policies_and_gaps_agree_after_every_epoch(case):
    expected = run(case)
    trace = solved(case, case.epochs).trace
    steps = np.cumsum([epoch**case.q for epoch in range(1, case.epochs + 1)])
    np.testing.assert_array_equal(trace["first_order_steps"], steps)
    lower, upper = (np.array([epoch[name] for epoch in expected]) for name in ("lower", "upper"))
    near = {"rtol": NEAR, "atol": NEAR}
    np.testing.assert_allclose(trace["output_lower"], lower.mean(axis=1), **near)
    np.testing.assert_allclose(trace["output_upper"], upper.mean(axis=1), **near)
    np.testing.assert_allclose(trace["output_gap"], (upper - lower).max(axis=1), **near)
    for epoch, at in enumerate(expected, start=1):
        sol = solved(case, epoch)
        policy = np.array([sol.policy[s] for s in range(len(at["policy"]))])
        np.testing.assert_allclose(policy, at["policy"], **near)
        np.testing.assert_allclose(sol.upper, at["upper"], **near)


@pytest.mark.skipif(not RECORDED.exists(), reason="the tests were copied without the library's")
def test_what_the_library_is_compared_with_is_what_the_program_finds():
    recorded, now = json.loads(RECORDED.read_text()), json.loads(json.dumps(table()))
    assert recorded["models"] == now["models"]
    assert [row["case"] for row in recorded["cases"]] == [row["case"] for row in now["cases"]]
    for old, new in zip(recorded["cases"], now["cases"], strict=True):
        for before, after in zip(old["epochs"], new["epochs"], strict=True):
            for name in ("policy", "lower", "upper"):
                np.testing.assert_allclose(before[name], after[name], rtol=1e-10, atol=1e-10)
