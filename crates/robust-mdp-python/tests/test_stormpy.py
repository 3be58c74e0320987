"""Storm and this library on the same interval models: files of each are read by the other, with the same values."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import robust_mdp as rm

stormpy = pytest.importorskip(
    "stormpy", reason="stormpy cannot be imported: it has wheels for Python 3.11 and newer on Linux and macOS alone"
)
STORM = Path(__file__).parents[2] / "robust-mdp" / "tests" / "storm"
sys.path.insert(0, str(STORM))
record = pytest.importorskip("record", reason="needs stormpy 2, which it is written for")

# Natures and policies: a query of Storm, what it says of nature, and how this library has it.
QUESTIONS = [
    ("min", "ROBUST", "min-cost", "worst"),
    ("max", "ROBUST", "max-reward", "worst"),
    ("min", "COOPERATIVE", "min-cost", "best"),
    ("max", "COOPERATIVE", "max-reward", "best"),
]
INTERVALS = (stormpy.Interval, stormpy.RationalInterval)


@pytest.fixture(autouse=True)
def quiet():
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.ERR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.ModelWarning)
        yield


def ours(path, objective, direction, **asked):
    """Values of all states of a file, and which of them are terminal."""
    model = rm.Model.load(path, objective=objective, discount=1.0, **asked)
    kind = rm.Intervals() if model.has_intervals else rm.Nominal()
    found = rm.solve(model, kind, objective="total", direction=direction, gap=1e-9)
    assert found.status == "certified" and np.all(found.upper - found.lower <= 1e-9)
    return found.values, model.n_actions == 0


def assert_same(found, expected, tolerance=1e-8):
    values, terminal = found
    np.testing.assert_allclose(values, np.where(terminal, 0.0, expected), rtol=tolerance, atol=tolerance)


def game(seed, width, choices=3, states=9):
    """A random model of intervals that ends in its last state (“deadlock”) or stays for ever in the one before it."""
    rng = np.random.default_rng(seed)
    P = np.zeros((states, choices, states))
    for row in P.reshape(-1, states)[: (states - 2) * choices]:
        row[rng.choice(states, 4, replace=False)] = rng.dirichlet(np.ones(4))
    lower = np.where(P > 0.0, np.maximum(P - width * rng.random(P.shape), 0.1 * P), 0.0)
    upper = np.where(P > 0.0, np.minimum(P + width * rng.random(P.shape), 1.0), 0.0)
    cost = rng.uniform(0.5, 3.0, (states, choices))
    cost[-2:] = 0.0
    for table in (P, lower, upper):
        table[-2, :, -2] = 1.0
    used = np.indices(cost.shape)[0].ravel() < states - 1
    s, a = (index.ravel()[used] for index in np.indices(cost.shape))
    rows = [table.reshape(-1, states)[used] for table in (P, lower, upper)]
    return s, a, rows, cost.ravel()[used]


def written(folder, seed, width, **more):
    s, a, (P, lower, upper), cost = game(seed, width, **more)
    box = {"lower": lower, "upper": upper} if width else {}
    model = rm.Model.from_arrays(Q=P, cost=cost, s_indices=s, a_indices=a, beta=1.0, **box)
    model.save(folder / "game.drn")
    numbers = stormpy.Interval if width else float
    return folder / "game.drn", stormpy.build_model_from_drn[numbers](folder / "game.drn")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [0.05, 0.4])
def test_storm_reads_intervals_and_reaches_as_often(tmp_path, seed, width):
    path, model = written(tmp_path, seed, width)
    assert model.is_interval_model if hasattr(model, "is_interval_model") else True
    different = []
    for short, nature, objective, direction in QUESTIONS:
        expected = record.values(model, f'P{short}=? [F "deadlock"]', nature)
        assert_same(ours(path, objective, direction, reach="deadlock"), expected)
        different.append(expected[0])
    # Four questions, four answers: what is configured is what ran.
    assert len(set(np.round(different, 6))) == 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("short, nature, objective, direction", QUESTIONS)
def test_storm_reads_costs_and_adds_them_up(tmp_path, seed, short, nature, objective, direction):
    s, a, (P, lower, upper), cost = game(seed, 0.1)
    # Whoever would stay for ever goes to the end instead.
    for table in (P, lower, upper):
        table[s == 7] = np.eye(9)[8]
    model = rm.Model.from_arrays(Q=P, cost=cost, s_indices=s, a_indices=a, beta=1.0, lower=lower, upper=upper)
    model.save(tmp_path / "game.drn.gz")
    theirs = stormpy.build_model_from_drn[stormpy.Interval](tmp_path / "game.drn.gz")
    expected = record.values(theirs, f'R{{"cost"}}{short}=? [F "deadlock"]', nature)
    assert_same(ours(tmp_path / "game.drn.gz", objective, direction), expected)


PROGRAMS = [
    (stormpy.examples.files.prism_dtmc_die, "one", "coin_flips", "done"),
    (stormpy.examples.files._path("idtmc", "die-intervals.pm"), "one", "coin_flips", "done"),
    (stormpy.examples.files._path("mdp", "two_dice.nm"), "two", "coinflips", "done"),
    (stormpy.examples.files.prism_mdp_coin_2_2, "all_coins_equal_1", "steps", "finished"),
]


@pytest.mark.parametrize("numbers", [float, *INTERVALS], ids=lambda numbers: numbers.__name__)
@pytest.mark.parametrize("program, label, reward, end", PROGRAMS, ids=lambda value: Path(str(value)).stem)
def test_programs_that_come_with_stormpy(tmp_path, program, label, reward, end, numbers):
    if "intervals" in program and numbers is float:
        pytest.skip("a program with intervals has no numbers")
    symbolic = stormpy.parse_prism_program(program)
    model = stormpy.build_model[numbers](symbolic, options=stormpy.BuilderOptions(build_full=True))
    path = tmp_path / "model.drn"
    stormpy.io.export_to_drn(model, path)
    is_chain = model.model_type == stormpy.ModelType.DTMC
    for short, nature, objective, direction in QUESTIONS:
        if numbers is float and nature == "COOPERATIVE":
            continue
        if is_chain:
            short, nature = "", {"ROBUST": "MAXIMIZE", "COOPERATIVE": "MINIMIZE"}[nature]
            nature = nature if objective == "min-cost" else {"MAXIMIZE": "MINIMIZE", "MINIMIZE": "MAXIMIZE"}[nature]
        nature = nature if numbers in INTERVALS else None
        reached = record.values(model, f'P{short}=? [F "{label}"]', nature)
        assert_same(ours(path, objective, direction, reach=label), reached, 1e-7)
        spent = record.values(model, f'R{{"{reward}"}}{short}=? [F "{end}"]', nature)
        if np.all(np.isfinite(spent)):
            assert_same(ours(path, objective, direction, rewards=reward), spent, 1e-7)


def test_recorded_files_are_what_stormpy_writes(tmp_path):
    if stormpy.__version__ != "2.0.0":
        pytest.skip(f"recorded with stormpy 2.0.0, and this is {stormpy.__version__}")
    record.record(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in STORM.iterdir() if path.suffix in (".drn", ".json"))
    for name in made:
        assert (tmp_path / name).read_text() == (STORM / name).read_text(), name
