"""Peak memory of Model.from_scipy on 10⁷ transitions, in units of the model's own size (Linux).

Ends with an error if the peak is 1.3 times that size or more. What the matrices themselves take is not
counted: they are there before.
"""

from __future__ import annotations

import gc
import sys

import numpy as np
import scipy.sparse as sp

import robust_mdp as rm


def memory(field: str) -> int:
    """Bytes, from the system's accounts of this process."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def matrices(states: int, actions: int, successors: int) -> list[sp.csr_array]:
    rng = np.random.default_rng(0)
    indptr = np.arange(0, states * successors + 1, successors, dtype=np.int32)
    made = []
    for _ in range(actions):
        first = rng.integers(0, states, size=(states, 1), dtype=np.int32)
        columns = np.sort((first + 7 * np.arange(successors, dtype=np.int32)) % states, axis=1)
        weights = rng.random((states, successors)) + 0.1
        weights /= weights.sum(axis=1, keepdims=True)
        arrays = (weights.ravel(), columns.ravel().astype(np.int32), indptr)
        made.append(sp.csr_array(arrays, shape=(states, states)))
    return made


def main() -> int:
    states, actions, successors = 250_000, 4, 10
    P = matrices(states, actions, successors)
    cost = np.random.default_rng(1).random((states, actions))
    rm.Model.from_scipy([sp.eye_array(4, format="csr")] * 2, cost=np.zeros(4))  # what is loaded once
    gc.collect()
    with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
        reset.write("5")  # begin a new peak
    before = memory("VmRSS")
    model = rm.Model.from_scipy(P, cost=cost, discount=0.95)
    peak, after = memory("VmHWM") - before, memory("VmRSS") - before
    # Probabilities and next states; a cost and a start a pair; a start a state.
    size = 12 * model.n_transitions + 12 * model.n_pairs + 8 * states
    print(f"{model}: {size / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB, kept {after / 1e6:.0f} MB")
    print(f"peak of from_scipy: {peak / size:.2f} times the model's own size (must be below 1.3)")
    return int(peak >= 1.3 * size)


if __name__ == "__main__":
    sys.exit(main())
