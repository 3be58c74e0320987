"""How long Ctrl-C takes: from the signal to KeyboardInterrupt, over methods and models.

The aim is at most 100 ms. Times depend on the machine, so that this only prints.
"""

from __future__ import annotations

import _thread
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable

import robust_mdp as rm


def latency(job: Callable[[], object]) -> float | None:
    """Milliseconds; None if the run was over before."""
    sent = [0.0]

    def send() -> None:
        sent[0] = time.perf_counter()
        _thread.interrupt_main()

    timer = threading.Timer(0.15, send)
    timer.start()
    try:
        job()
        timer.cancel()
        timer.join()
        return None
    except KeyboardInterrupt:
        return 1e3 * (time.perf_counter() - sent[0])


def report(name: str, job: Callable[[], object]) -> None:
    times = [latency(job) for _ in range(3)]
    worst = max((t for t in times if t is not None), default=None)
    word = "over before the signal" if worst is None else f"{worst:6.1f} ms at most"
    print(f"{name:56}{word}")


def main() -> None:
    # A shell turns Ctrl-C off for what it runs in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore", rm.ConvergenceWarning)
    models = {
        "band, 2000 states": rm.instances.garnet(2000, 3, 0.7, band=1, seed=1, discount=0.9999999),
        "dense, 300 states, 50 actions": rm.instances.garnet(300, 50, 1.0, seed=1, discount=0.99),
        "sparse, 300000 states": rm.instances.garnet(300_000, 4, 3e-5, seed=1, discount=0.999),
    }
    for name, model in models.items():
        for method, oracle in (("vi", None), ("newton", None), ("pi", None), ("fom-vi", None),
                               ("vi", "interior-point")):  # fmt: skip
            report(
                f"{name:32}{method:8}{oracle or ''}",
                lambda: rm.solve(model, rm.KL(0.1), method=method, oracle=oracle, gap=1e-12),  # type: ignore[arg-type]
            )
    report("making 2,000,000 states", lambda: rm.instances.garnet(2_000_000, 4, 4e-6, seed=1))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.json"
        models["sparse, 300000 states"].save(path)
        report("reading 300,000 states", lambda: rm.Model.load(path))


if __name__ == "__main__":
    main()
