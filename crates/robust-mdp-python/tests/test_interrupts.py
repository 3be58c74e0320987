"""Ctrl-C is heard in everything that may take long. How soon, measure/interrupt.py prints."""

from __future__ import annotations

import _thread
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import robust_mdp as rm
from robust_mdp import _interrupts

BATCH = _interrupts._BATCH


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """Jobs in the background of a shell begin with interrupts turned off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def large():
    return rm.instances.garnet(300_000, 4, 3e-5, seed=1, discount=0.999)


# Native calls: Python's handlers of signals run while they work, and not only when they are done.


def heard(job):
    """How often a handler ran before the job was over."""
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(None))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    try:
        job()
        return len(calls)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="there are no alarms here")
def test_signals_are_heard_in_native_calls(large, tmp_path):
    starts, indptr, to, p, cost, *_ = large._native.arrays()
    jobs = {
        "a model of arrays": lambda: rm._native.Model.from_rows(
            starts, (indptr, to, p, None, None), cost, (0.9, False, None, None, None)
        ),
        "a file": lambda: large._native.save(str(tmp_path / "model.json"), None),
    }
    # Twice may happen in any call: before it begins and when it is done.
    assert {name: count for name, job in jobs.items() if (count := heard(job)) <= 2} == {}


# NumPy


class Watched(np.random.Generator):
    """Remembers how many numbers were drawn at once."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(seed))
        self.most = 0

    def random(self, size):
        self.most = max(self.most, size)
        return super().random(size)


def test_simulations_go_by_batches(monkeypatch):
    model = rm.instances.garnet(12, 3, 0.4, seed=5, discount=0.8)
    policy = rm.solve(model, rm.KL(0.1)).policy
    rng = Watched(3)
    whole = rm.simulate(model, policy, episodes=3 * BATCH + 5, steps=4, seed=rng)
    assert rng.most == BATCH
    # The numbers are those of one batch.
    monkeypatch.setattr(_interrupts, "_BATCH", 10**9)
    once = Watched(3)
    again = rm.simulate(model, policy, episodes=3 * BATCH + 5, steps=4, seed=once)
    assert once.most == 3 * BATCH + 5 and np.array_equal(again.returns, whole.returns)


def test_large_jobs_leave_the_main_thread():
    main = threading.main_thread()
    threads = [_interrupts.interruptibly(size, threading.current_thread) for size in (10, 10**7)]
    assert threads[0] is main and threads[1] is not main
    with pytest.raises(ZeroDivisionError):
        _interrupts.interruptibly(10**7, lambda: 1 // 0)
    elsewhere = []
    job = lambda: elsewhere.append(_interrupts.interruptibly(10**7, threading.current_thread))  # noqa: E731
    other = threading.Thread(target=job)
    other.start()
    other.join()
    assert elsewhere == [other]


def test_large_jobs_can_be_left_behind():
    release = threading.Event()
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        _interrupts.interruptibly(10**7, lambda: release.wait(60))
    release.set()


@pytest.mark.parametrize("labels", [False, True])
def test_long_tables_are_sorted_elsewhere(labels, monkeypatch):
    seen = []
    kept = _interrupts.interruptibly
    monkeypatch.setattr(rm._tables, "interruptibly", lambda size, job: seen.append(size) or kept(size, job))
    model = rm.instances.garnet(3000, 4, 0.008, seed=1, discount=0.9)
    frame = model.to_dataframe().sample(frac=1.0, random_state=1)
    if labels:
        frame["action"] = "a" + frame["action"].astype(str)
    assert len(frame) > 1 << 17
    back = rm.Model.from_dataframe(frame, discount=0.9)
    # Five columns, and the rows in order.
    assert seen == [len(frame)] * 6
    assert labels or back.fingerprint == model.fingerprint


def test_transfers_are_sized_by_the_larger_kernel(monkeypatch):
    """A small model may be given a large kernel, which takes as long as a large model's."""
    from robust_mdp import model as module

    table = {s: {0: [(0.5, s, 1.0, False), (0.5, (s + 1) % 8, 2.0, False)]} for s in range(8)}
    model, sizes = rm.Model.from_gymnasium(table, discount=0.9), []
    kept = module.interruptibly
    monkeypatch.setattr(module, "interruptibly", lambda n, job: sizes.append(n) or kept(n, job))
    model.with_kernel(np.full((8, 1, 8), 1 / 8))
    model.with_kernel(np.eye(8)[:, None, :])
    assert sizes == [64, 16]


# All of it, in a process of its own

CHILD = """
import sys, warnings
import numpy as np, pandas, robust_mdp as rm
warnings.simplefilter("ignore")
model = rm.instances.garnet(30_000, 4, 3e-4, seed=1, discount=0.999)
sol = rm.solve(model, rm.KL(0.1), gap=10.0)
actions, frame = np.zeros(30_000, dtype=int), model.to_dataframe()
jobs = {
    "simulate": lambda: sol.simulate(episodes=10**7),
    "evaluate": lambda: rm.evaluate(model, actions, rm.KL(0.2), gap=1e-12),
    "worst_kernel": sol.worst_kernel,
    "certify": lambda: sol._native.certify(model._native, sol.set._native(model), None),
    "sweep": lambda: rm.sweep_radius(model, rm.KL(0.1), [0.1, 0.2, 0.3], gap=1e-12),
    "table": lambda: rm.Model.from_dataframe(frame, discount=0.9),
}
print("ready", flush=True)
while True:
    jobs[sys.argv[1]]()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another process")
@pytest.mark.parametrize("job", ["simulate", "evaluate", "worst_kernel", "certify", "sweep", "table"])
def test_ctrl_c_ends_it(job):
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + CHILD
    child = subprocess.Popen(
        [sys.executable, "-c", code, job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        threading.Event().wait(0.2)
        child.send_signal(signal.SIGINT)
        _, words = child.communicate(timeout=120)
    finally:
        child.kill()
    assert words.rstrip().endswith("KeyboardInterrupt"), words


