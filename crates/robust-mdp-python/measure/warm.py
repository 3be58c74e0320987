"""What starting radii from their neighbours saves, by method and model.

Run with the wheel that is shipped (RELEASE=1 crates/robust-mdp-python/test):
    target/python/venv/bin/python crates/robust-mdp-python/measure/warm.py
"""

from __future__ import annotations

import math
import time
import warnings

import gymnasium
import numpy as np

import robust_mdp as rm

METHODS = ("auto", "pi", "vi", "gs-vi", "anderson", "avi", "fom-vi")


def inventory(most: int = 50, demand: float = 15.0, discount: float = 0.95) -> rm.Model:
    """Stock up to `most`, Poisson demand, lost sales; costs of orders, holding and shortage."""
    sizes = np.arange(most + 41)
    chance = np.exp(sizes * math.log(demand) - demand - [math.lgamma(k + 1) for k in sizes])
    pairs = [(s, a) for s in range(most + 1) for a in range(most + 1 - s)]
    rows, cost = np.zeros((len(pairs), most + 1)), np.zeros(len(pairs))
    for row, (k, (s, a)) in zip(rows, enumerate(pairs), strict=True):
        stock = s + a
        row[1 : stock + 1] = chance[:stock][::-1]
        row[0] = 1.0 - row.sum()
        lost = chance[stock:] @ (sizes[stock:] - stock)
        cost[k] = 3.0 * (a > 0) + a + 0.1 * row @ np.arange(most + 1) + 6.0 * lost
    s, a = np.transpose(pairs)
    return rm.Model.from_arrays(Q=rows, cost=cost, s_indices=s, a_indices=a, beta=discount)


def measured(model: rm.Model, kind: rm.UncertaintySet, method: str, warm: bool) -> tuple[float, ...]:
    """Sweeps, kernel passes and milliseconds a radius; the least time of three."""
    radii, least = np.geomspace(1e-3, 1.0, 17), math.inf
    gap = 1e-2 if method == "fom-vi" else 1e-6
    for _ in range(1 if method == "fom-vi" else 3):
        start = time.perf_counter()
        sweep = rm.sweep_radius(
            model, kind, radii, method=method, gap=gap, threads=1, warm_start=warm
        )
        least = min(least, time.perf_counter() - start)
    work = [sum(sol.work[name] for sol in sweep) for name in ("sweeps", "kernel_passes")]
    return tuple(total / len(radii) for total in (*work, 1e3 * least))


def main() -> None:
    lake = gymnasium.make("FrozenLake-v1", map_name="8x8", max_episode_steps=-1)
    models = {
        "FrozenLake 8x8": rm.Model.from_gymnasium(lake, discount=0.99),
        "Garnet 100": rm.instances.garnet(100, 10, 0.2, discount=0.99),
        "inventory": inventory(),
    }
    print("| model | set | method | sweeps | kernel passes | ms |\n|---|---|---|---|---|---|")
    for name, model in models.items():
        for kind in (rm.KL(0.0), rm.Ellipsoid(0.0)):
            for method in METHODS:
                cold, warm = (measured(model, kind, method, w) for w in (False, True))
                pairs = [f"{c:.3g} → {w:.3g}" for c, w in zip(cold, warm, strict=True)]
                print(f"| {name} | {type(kind).__name__} | {method} |", " | ".join(pairs), "|", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RobustMDPWarning)
        main()
