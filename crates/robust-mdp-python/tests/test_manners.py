"""How the package behaves among others: interrupts, threads, warnings, logs, forks, silence."""

from __future__ import annotations

import _thread
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import robust_mdp as rm


@pytest.fixture(autouse=True)
def hears_ctrl_c():
    """Jobs in the background of a shell begin with interrupts turned off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def endless():
    """Mixes so slowly that value iteration would take days."""
    return rm.instances.garnet(2000, 3, 0.7, band=1, seed=1, discount=0.9999999)


def test_ctrl_c(endless):
    # The timer can run because the interpreter is free meanwhile.
    for wait in (0.05, 0.3):
        threading.Timer(wait, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            rm.solve(endless, rm.KL(0.1), method="vi", gap=1e-9, time_limit=60)


def test_ctrl_c_can_return_what_there_is(endless):
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.warns(rm.ConvergenceWarning, match="interrupted"):
        sol = rm.solve(endless, rm.KL(0.1), method="vi", gap=1e-9, time_limit=60, on_interrupt="return")
    assert sol.status == "interrupted" and sol.work["sweeps"] > 0
    assert np.all(sol.lower <= sol.upper)
    with pytest.raises(ValueError, match="on_interrupt"):
        rm.solve(endless, rm.KL(0.1), on_interrupt="ignore")


def test_ctrl_c_keeps_a_checkpoint(endless, tmp_path):
    path, question = tmp_path / "run", {"method": "vi", "gap": 1e-9, "time_limit": 60}
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        rm.solve(endless, rm.KL(0.1), **question, checkpoint=path, checkpoint_every=0)
    assert path.exists()
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.warns(rm.ConvergenceWarning, match="interrupted"):
        sol = rm.solve(endless, rm.KL(0.1), **question, checkpoint=path, on_interrupt="return")
    assert sol.seconds > 0.4 and path.exists()


def test_a_run_that_is_stopped_keeps_its_state_first(tmp_path):
    # Sweeps are long, and an hour lies between two states: what is there was waited for.
    large = rm.instances.garnet(100_000, 3, 0.7, band=1, seed=1, discount=0.9999999)
    for kind in (KeyboardInterrupt, ArithmeticError):
        path = tmp_path / kind.__name__
        asked = []

        def stop(progress, kind=kind, asked=asked):
            asked.append(progress.sweeps)
            raise kind

        with pytest.raises(kind):
            rm.solve(
                large, rm.KL(0.1), method="vi", gap=1e-9, progress=stop,
                checkpoint=path, checkpoint_every=3600,
            )
        assert path.exists() and len(asked) == 1


def test_ctrl_c_in_a_sweep(endless):
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        rm.sweep_radius(endless, rm.KL(0.1), [0.1, 0.2, 0.3], method="vi", gap=1e-9, time_limit=60)


def test_other_threads_run(endless):
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(len(counted))
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.warns(rm.ConvergenceWarning, match="time-limit"):
        rm.solve(endless, rm.KL(0.1), method="vi", gap=1e-9, time_limit=0.5, threads=1)
    done.set()
    thread.join()
    assert len(counted) > 10


def test_solves_in_several_threads():
    model = rm.instances.garnet(30, 4, 0.3, seed=2)
    expected = rm.solve(model, rm.KL(0.1)).values
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(rm.solve(model, rm.KL(0.1)).values))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4 and all(np.array_equal(expected, v) for v in answers)


def test_progress(endless):
    seen = []
    with pytest.warns(rm.ConvergenceWarning):
        rm.solve(endless, rm.KL(0.1), method="vi", gap=1e-9, time_limit=0.6, progress=seen.append)
    assert len(seen) >= 2
    assert [p.sweeps for p in seen] == sorted(p.sweeps for p in seen)
    assert all(0.0 <= p.fraction <= 1.0 and p.lower <= p.upper for p in seen)
    quick = []
    rm.solve(rm.instances.machine(10), rm.KL(0.1), progress=quick.append)
    assert quick and quick[-1].fraction == 1.0


def test_callbacks_may_stop_a_run(endless):
    class Enough(Exception):
        pass

    def stop(_):
        raise Enough

    with pytest.raises(Enough):
        rm.solve(endless, rm.KL(0.1), method="vi", gap=1e-9, progress=stop)


def test_limits_warn_and_bounds_hold():
    model = rm.instances.garnet(20, 3, 0.4, seed=3, discount=0.99)
    exact = rm.solve(model, rm.KL(0.1), gap=1e-8)
    with pytest.warns(rm.ConvergenceWarning, match="sweep-limit") as caught:
        sol = rm.solve(model, rm.KL(0.1), method="vi", max_sweeps=3)
    # The warning is about the line that asked.
    assert caught[0].filename == __file__
    assert sol.status == "sweep-limit" and not sol.is_certified
    assert np.all(sol.lower <= exact.upper) and np.all(exact.lower <= sol.upper)


def test_long_traces_are_thinned():
    model = rm.instances.garnet(30, 2, 0.7, band=1, seed=1, discount=0.99999)
    with pytest.warns(rm.ConvergenceWarning, match="sweep-limit"):
        sol = rm.solve(model, rm.KL(0.1), method="vi", gap=1e-9, max_sweeps=5000)
    sweeps = sol.trace["sweeps"]
    assert 1000 < len(sweeps) <= 2048
    assert np.all(np.diff(sweeps) > 0) and sweeps[-1] == 5000


def test_vacuous_radii_warn():
    with pytest.warns(rm.ModelWarning, match="vacuous"):
        rm.solve(rm.instances.machine(10), rm.KL(100.0))


def test_logging(caplog):
    with caplog.at_level(logging.INFO, logger="robust_mdp"):
        rm.solve(rm.instances.machine(10), rm.KL(0.1))
    assert any("certified" in record.getMessage() for record in caplog.records)


def test_silence():
    code = (
        "import robust_mdp as rm, sys\n"
        "sol = rm.solve(rm.instances.machine(10), rm.KL(0.1)); sol.verify(); sol.worst_kernel()\n"
        "assert not {'matplotlib', 'scipy', 'pandas', 'gymnasium'} & set(sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def _everything(threads):
    """An array from every call that works on several threads."""
    model, of = rm.instances.machine(10), {"threads": threads}
    sol = rm.solve(model, rm.KL(0.1), **of)
    sweep = rm.sweep_radius(model, rm.KL(0.0), [0.1, 0.2], **of)
    return {
        "solve": sol.values,
        "worst_kernel": sol.worst_kernel().data,
        "simulate": sol.simulate(episodes=5, seed=0).returns,
        "certificate": np.frombuffer(sol.certificate.data, dtype=np.uint8),
        "verify": sol.verify().lower,
        "sweep_radius": sweep.nominal,
        "evaluate": rm.evaluate(model, sol, rm.KL(0.1), **of).worst.lower,
    }


def _worst_kernel_in_child(queue, sol):
    queue.put(sol.worst_kernel().data)


def _everything_in_child(queue, threads):
    queue.put(_everything(threads))


def _in_child(target, argument):
    """What a forked process puts into its queue; one that hangs is ended."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=target, args=(queue, argument), daemon=True)
    with warnings.catch_warnings():
        # Newer interpreters warn of any fork beside threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    try:
        return queue.get(timeout=60)
    finally:
        child.kill()
        child.join()


_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@_forks
def test_forks():
    expected = _everything(None)
    for threads in (None, 2, 1):
        answer = _in_child(_everything_in_child, threads)
        assert answer.keys() == expected.keys()
        for name, array in expected.items():
            assert np.array_equal(answer[name], array), name


@_forks
def test_forks_after_a_worst_kernel_alone():
    # In a process of its own, whose only pool is the one that the worst kernel was found with.
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np, robust_mdp as rm, test_manners as t\n"
        "model = rm.instances.machine(10)\n"
        "one = rm.solve(model, rm.KL(0.1), threads=1)\n"
        "sol = rm.Solution(model, one.set, one._native, one._trace, None, 2)\n"
        "first = sol.worst_kernel().data\n"
        "assert np.array_equal(t._in_child(t._worst_kernel_in_child, sol), first)\n"
    )
    here = os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", code, here], check=True, timeout=120)
