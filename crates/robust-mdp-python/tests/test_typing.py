"""Types: the package and its users under mypy and pyright, and the stub against the module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import robust_mdp as rm

PACKAGE = Path(rm.__file__).parent

USER = """
import numpy as np
import robust_mdp as rm

model = rm.Model.from_arrays(np.zeros((2, 3, 3)), R=np.zeros(3), discount=0.9)
sol = rm.solve(model, rm.KL(0.1), method="newton", gap=1e-6, progress=lambda p: print(p.fraction))
low: float = sol.value.lower
first: float = float(sol.values[0])
proof: rm.Certificate = sol.certificate
action: int = sol.policy.sample(0)
frame: object = sol.to_dataframe()
again = rm.solve(model, rm.KL([0.1, 0.2, 0.3]), start=sol, checkpoint="run")
wider: rm.KL = rm.KL(0.1).with_radius(0.2)
named = rm.Model.from_arrays(np.zeros((2, 3, 3)), R={"a": 1.0, "b": 2.0, "c": 3.0}, initial={"a": 1.0})
rm.solve(named, rm.KL({"a": 0.1, "b": 0.2, "c": 0.3}), start={"a": 1.0, "b": 2.0, "c": 3.0})
rm.evaluate(named, {"a": "go", "b": "go", "c": "stay"}, rm.KL({("a", "go"): 0.1}, rectangular="sa"))
rm.solve(model, rm.L1(0.1, entry_weights=np.ones(3)))
rm.solve(named, rm.Wasserstein(0.1, positions={"a": 0.0, "b": 1.0, "c": 2.0}))
rm.solve(named, rm.Wasserstein(0.1, distances={"a": {"b": 1.0}}))
level: rm.CVaR = rm.CVaR.at_level({"a": 0.5, "b": 0.5, "c": 0.5})
room = rm.Model.from_arrays(lower=np.zeros((2, 3, 3)), upper=np.ones((2, 3, 3)), R=np.zeros(3))
within: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = room.intervals()[0]
rm.solve(room, rm.Intervals(), discount=0.9)
steps: tuple[rm.Stage, ...] = rm.solve(model, rm.KL(0.1), objective="finite", horizon=3).stages
relative: object = rm.solve(model, rm.KL(0.1), objective="average", direction="best", deterministic=True).bias
best: rm.Bounds = rm.evaluate(model, steps[0].policy, rm.KL(0.1), direction="best").best
for one in rm.sweep_radius(model, rm.Ellipsoid(0.0), [0.1]):
    print(one.status)
"""


def run(*arguments, cwd):
    # pyright looks for packages where the first python of the path has them.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        env={**os.environ, "PATH": path, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_and_a_user_are_typed(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = True\n"
        "[mypy-cvxpy.*,gymnasium.*,pandas.*,polars.*,scipy.*]\nignore_missing_imports = True\n"
    )
    run("mypy", "--config-file", "mypy.ini", "-p", "robust_mdp", "-m", "user", cwd=tmp_path)


def test_pyright_agrees(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "user.py").write_text("# pyright: strict\n" + USER)
    run("pyright", "--pythonpath", sys.executable, str(PACKAGE), "user.py", cwd=tmp_path)
    # What users see has a type, all of it.
    run("pyright", "--verifytypes", "robust_mdp", "--ignoreexternal", cwd=tmp_path)


def test_wrong_uses_are_found(tmp_path):
    (tmp_path / "user.py").write_text(
        "import robust_mdp as rm\n"
        "rm.solve(rm.instances.machine(10), rm.KL(0.1), method='magic')  # type: ignore[arg-type]\n"
        "rm.solve(rm.instances.machine(10), 0.1)  # type: ignore[arg-type]\n"
        "rm.KL(0.1, entry_weights=[1.0])  # type: ignore[call-arg]\n"
    )
    run("mypy", "--strict", "--follow-imports=silent", "user.py", cwd=tmp_path)


def test_the_stub_is_that_of_the_module(tmp_path):
    run("mypy.stubtest", "robust_mdp._native", "--ignore-disjoint-bases", cwd=tmp_path)


def test_what_is_public_is_documented():
    assert (PACKAGE / "py.typed").exists()
    for name in rm.__all__:
        thing = getattr(rm, name)
        assert (thing.__doc__ or "").strip(), name
        if isinstance(thing, type):
            for part, value in vars(thing).items():
                member = getattr(value, "__func__", value)
                if not part.startswith("_") and (callable(member) or isinstance(value, property)):
                    assert (getattr(value, "__doc__", None) or "").strip(), f"{name}.{part}"
