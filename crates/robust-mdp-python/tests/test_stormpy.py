"""Storm and this library on the same interval models: files of each are read by the other, with the same values."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import robust_mdp as rm

stormpy = pytest.importorskip(
    "stormpy", reason="stormpy is not installed: wheels of version 2 are for Python 3.11 and newer on Linux"
)
STORM = Path(__file__).parents[2] / "robust-mdp" / "tests" / "storm"
sys.path.insert(0, str(STORM))
record = pytest.importorskip("record", reason="needs stormpy 2, which it is written for")
examples = pytest.importorskip("stormpy.examples.files")

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


def assert_same(found, expected):
    values, terminal = found
    np.testing.assert_allclose(values, np.where(terminal, 0.0, expected), rtol=1e-8, atol=1e-8)


def written(folder, seed, width, may_stay):
    """A random game in our words, as a file of Storm, and what Storm makes of that. It ends in its last state
    (“deadlock”); in the one before, one stays for ever or goes to the end."""
    rng = np.random.default_rng(seed)
    states, least = 9, 0.1
    listed = []
    for _ in range(states - 2):
        actions = []
        for _ in range(3):
            p = rng.dirichlet(np.ones(4))
            low = np.maximum(p - width * rng.random(4), least * p)
            high = np.minimum(p + width * rng.random(4), 1.0)
            to = rng.choice(states, 4, replace=False)
            rows = zip(to.tolist(), p.tolist(), [0.0] * 4, low.tolist(), high.tolist(), strict=True)
            actions.append({"cost": rng.uniform(0.5, 3.0), "next": [list(row) for row in rows]})
        listed.append({"actions": actions})
    listed.append({"actions": [{"cost": 0.0, "next": [[states - 2 if may_stay else states - 1, 1.0]]}]})
    listed.append({"actions": []})
    game = {"format": "robust-mdp", "version": 1, "objective": "min-cost", "discount": 1.0, "states": listed}
    (folder / "game.json").write_text(json.dumps(game))
    model, path = rm.Model.load(folder / "game.json"), folder / "game.drn"
    assert model.has_intervals
    model.save(path)
    return path, stormpy.build_model_from_drn[stormpy.Interval](path)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [0.05, 0.4])
def test_storm_reads_intervals_and_reaches_as_often(tmp_path, seed, width):
    path, model = written(tmp_path, seed, width, may_stay=True)
    different = []
    for short, nature, objective, direction in QUESTIONS:
        expected = record.values(model, f'P{short}=? [F "deadlock"]', nature)
        assert_same(ours(path, objective, direction, reach="deadlock"), expected)
        different.append(expected[0])
    # Where nothing is certain, four questions have four answers: what is configured is what ran.
    assert seed != 4 or len(set(np.round(different, 6))) == 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("short, nature, objective, direction", QUESTIONS)
def test_storm_reads_costs_and_adds_them_up(tmp_path, seed, short, nature, objective, direction):
    path, model = written(tmp_path, seed, 0.1, may_stay=False)
    expected = record.values(model, f'R{{"cost"}}{short}=? [F "deadlock"]', nature)
    assert_same(ours(path, objective, direction), expected)


PROGRAMS = [
    (examples.prism_dtmc_die, "one", "coin_flips", "done"),
    (examples._path("idtmc", "die-intervals.pm"), "one", "coin_flips", "done"),
    (examples._path("mdp", "two_dice.nm"), "two", "coinflips", "done"),
    (examples.prism_mdp_coin_2_2, "all_coins_equal_1", None, None),
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
    # Of doubles Storm has ten digits in files, and fewer in values of chains.
    checked = stormpy.build_model[stormpy.Rational](symbolic) if numbers is float else model
    is_chain = model.model_type == stormpy.models.ModelType.DTMC
    for short, nature, objective, direction in QUESTIONS:
        if numbers is float and nature == "COOPERATIVE":
            continue
        if is_chain:
            # Of a chain Storm is told what nature does.
            short, nature = "", "MAXIMIZE" if (objective == "min-cost") == (direction == "worst") else "MINIMIZE"
        nature = nature if numbers in INTERVALS else None
        reached = record.values(checked, f'P{short}=? [F "{label}"]', nature)
        assert_same(ours(path, objective, direction, reach=label), reached)
        if reward is not None:
            spent = record.values(checked, f'R{{"{reward}"}}{short}=? [F "{end}"]', nature)
            assert_same(ours(path, objective, direction, rewards=reward), spent)


def test_recorded_files_are_what_stormpy_writes(tmp_path):
    if stormpy.__version__ != "2.0.0":
        pytest.skip(f"recorded with stormpy 2.0.0, and this is {stormpy.__version__}")
    record.record(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in STORM.iterdir() if path.suffix in (".drn", ".json"))
    for name in made:
        assert (tmp_path / name).read_text() == (STORM / name).read_text(), name
