"""What a solve from Python takes beyond the library's own call: medians of solves in turn.

The aim is at most 5 % + 1 ms. Times depend on the machine, so that this only prints.
"""

from __future__ import annotations

import time

import numpy as np

import robust_mdp as rm
from robust_mdp import _native
from robust_mdp.solving import _options

MODELS = {
    "machine, 10 states": rm.instances.machine(10, discount=0.9),
    "Garnet, 100 states, 100 actions": rm.instances.garnet(100, 100, 0.5, seed=1, discount=0.95),
    "Garnet, 1000 states, 10 actions": rm.instances.garnet(1000, 10, 0.1, seed=1, discount=0.99),
    "Garnet, 100000 states, 4 actions": rm.instances.garnet(100_000, 4, 8e-5, seed=1, discount=0.95),
}


def main() -> None:
    print(f"{'model':34}{'set':12}{'threads':>8}{'library ms':>12}{'Python ms':>12}{'beyond':>10}")
    for name, model in MODELS.items():
        for set in (rm.KL(0.05), rm.Ellipsoid(0.02, support="nominal")):
            for threads in (1, None):
                own, whole = [], []
                options = _options("auto", None, None, None, None, threads, None, None)
                native = set._native(model)
                for _ in range(5 if model.n_states > 10_000 else 41):
                    start = time.perf_counter()
                    rm.solve(model, set, threads=threads)
                    whole.append(time.perf_counter() - start)
                    own.append(_native.time_solve(model._native, native, options))
                inside, outside = 1e3 * np.median(own), 1e3 * np.median(whole)
                allowed = 0.05 * inside + 1.0
                word = "ok" if outside - inside <= allowed else "too much"
                label = "all" if threads is None else str(threads)
                kind = type(set).__name__
                print(
                    f"{name:34}{kind:12}{label:>8}{inside:12.3f}{outside:12.3f}"
                    f"{outside - inside:9.3f}  {word}"
                )


if __name__ == "__main__":
    main()
