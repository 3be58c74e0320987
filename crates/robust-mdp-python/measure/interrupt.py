"""How long Ctrl-C takes: from the signal to KeyboardInterrupt, over everything that may take long.

The aim is at most 200 ms. Times depend on the machine, so that this only prints; what takes longer is
marked.
"""

from __future__ import annotations

import _thread
import pickle
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas  # noqa: F401  # whose import cannot be interrupted
import scipy.sparse as sp

import robust_mdp as rm

AIM = 200.0
# Seconds from the start of the job to the signal.
WAITS = (0.05, 0.15, 0.4)


def latency(job: Callable[[], object], wait: float) -> float | None:
    """Milliseconds; None if the run was over before."""
    sent = [0.0]

    def send() -> None:
        sent[0] = time.perf_counter()
        _thread.interrupt_main()

    timer = threading.Timer(wait, send)
    timer.start()
    try:
        job()
        timer.cancel()
        timer.join()
        time.sleep(0.0)  # an interrupt just sent is raised here, not in the next run
        return None
    except KeyboardInterrupt:
        return 1e3 * (time.perf_counter() - sent[0])


def report(name: str, job: Callable[[], object]) -> None:
    times = [latency(job, wait) for wait in WAITS]
    worst = max((t for t in times if t is not None), default=None)
    word = "over before the signal" if worst is None else f"{worst:6.1f} ms at most"
    print(f"{name:56}{word}{'   <-- too long' if worst is not None and worst > AIM else ''}")


def solves(models: dict[str, rm.Model]) -> None:
    for name, model in models.items():
        for method, oracle in (("vi", None), ("newton", None), ("pi", None), ("fom-vi", None),
                               ("vi", "interior-point")):  # fmt: skip
            report(
                f"{name:32}{method:8}{oracle or ''}",
                lambda: rm.solve(model, rm.KL(0.1), method=method, oracle=oracle, gap=1e-12),  # type: ignore[arg-type]
            )
        report(f"{name:32}sweep", lambda: rm.sweep_radius(model, rm.KL(0.1), [0.1, 0.2], gap=1e-12))


def answers(name: str, model: rm.Model, sol: rm.Solution) -> None:
    """What is done with an answer."""
    set, other = sol.set, rm.KL(0.2)
    actions = np.zeros(model.n_states, dtype=int)
    kernel = model.kernel()
    jobs: dict[str, Callable[[], object]] = {
        "evaluate": lambda: rm.evaluate(model, actions, other, gap=1e-12),
        "evaluate, another discount": lambda: rm.evaluate(model, actions, other, discount=0.9995),
        "worst_kernel": sol.worst_kernel,
        "certificate": lambda: sol._native.certify(model._native, set._native(model), None),
        "verify": sol.verify,
        "simulate, worst kernel": lambda: sol.simulate(episodes=1_000_000, seed=1),
        "simulate, many episodes": lambda: rm.simulate(model, actions, episodes=10_000_000, seed=1),
        "simulate, its kernel": lambda: rm.simulate(model, actions, kernel=kernel, episodes=9),
        "largest_useful_radius": lambda: other.largest_useful_radius(model),
        "with_kernel": lambda: model.with_kernel(kernel),
        "with_discount": lambda: model.with_discount(0.5),
        "pickle": lambda: pickle.loads(pickle.dumps(sol)),
        "calibrate": lambda: rm.instances.calibrate(model),
        "to_dataframe": lambda: (sol.to_dataframe(), model.to_dataframe()),
        "labelled radius": lambda: rm.solve(model, rm.KL(dict.fromkeys(range(model.n_states), 0.1)), gap=1e-12),
    }
    for what, job in jobs.items():
        report(f"{name:32}{what}", job)


def conversions(model: rm.Model, folder: str) -> None:
    """Models from elsewhere and back."""
    kernel, cost = model.kernel(), model.expected_costs()
    frame = model.to_dataframe()
    mixed = frame.sample(frac=1.0, random_state=1)
    labels: Any = mixed.assign(state="s" + mixed["state"].astype(str), next="s" + mixed["next"].astype(str))
    rows, each = kernel.to_scipy(), int(model.n_actions[0])
    matrices = [sp.csr_array(rows[a::each]) for a in range(each)]
    jobs: dict[str, Callable[[], object]] = {
        "from_scipy, one matrix": lambda: rm.Model.from_scipy(rows, cost=cost, discount=0.9),
        "from_scipy, one an action": lambda: rm.Model.from_scipy(matrices, cost=cost, discount=0.9),
        "from_dataframe": lambda: rm.Model.from_dataframe(frame, discount=0.9),
        "from_dataframe, any order": lambda: rm.Model.from_dataframe(mixed, discount=0.9),
        "from_dataframe, labels": lambda: rm.Model.from_dataframe(labels, discount=0.9),
        "from_arrays": lambda: rm.Model.from_arrays(dense, cost=dense[:, :, 0], discount=0.9),
    }
    dense = np.random.default_rng(1).dirichlet(np.ones(1500), size=(1500, 10))
    for what, job in jobs.items():
        report(f"{len(frame):,} transitions: {what}", job)
    for ending in ("json", "csv", "npz"):
        path = f"{folder}/model.{ending}"
        report(f"writing {ending}", lambda: model.save(path))
        model.save(path)
        report(f"reading {ending}", lambda: rm.Model.load(path, discount=0.9))


def main() -> None:
    # A shell turns Ctrl-C off for what it runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore", rm.ConvergenceWarning)
    sparse = rm.instances.garnet(300_000, 4, 3e-5, seed=1, discount=0.999)
    dense = rm.instances.garnet(300, 50, 1.0, seed=1, discount=0.99)
    solves({
        "band, 2000 states": rm.instances.garnet(2000, 3, 0.7, band=1, seed=1, discount=0.9999999),
        "dense, 300 states, 50 actions": dense,
        "sparse, 300000 states": sparse,
    })
    for name, model in (("dense, 300 states, 50 actions", dense), ("sparse, 300000 states", sparse)):
        answers(name, model, rm.solve(model, rm.KL(0.1), gap=1.0))
    report("making 2,000,000 states", lambda: rm.instances.garnet(2_000_000, 4, 4e-6, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        conversions(sparse, folder)


if __name__ == "__main__":
    main()
