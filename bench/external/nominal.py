"""Nominal baselines: modified policy iteration by SciPy and by QuantEcon.

    python nominal.py model.npz [--case JSON] [--gap 1e-6] [--repeats 30]

Reads a model that `rmdp generate garnet ... -o model.npz` wrote (see docs/model-format.md), solves
min_a c_a + λ⟨y_a, v⟩ on one thread and prints one result a line in the schema of bench/README.md.
Building matrices and compiling is not timed. Each method gets the best of several numbers of inner
steps; its time is the least of the repeats with that number.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import time

import numpy as np
import quantecon
import scipy
import scipy.sparse as sparse
from quantecon.markov import DiscreteDP
from scipy.sparse import _sparsetools

INNER_STEPS = (3, 5, 8, 10, 15, 20)


class Model:
    """A model to minimise: rows of the kernel, one cost a row, every state with as many actions."""

    def __init__(self, path):
        file = np.load(path)
        if "P" in file:
            states, actions, _ = file["P"].shape
            self.kernel = sparse.csr_matrix(file["P"].reshape(states * actions, states))
            self.cost = file["C"].reshape(-1)
        else:
            shape = tuple(file["shape"])
            kernel = (file["data"], file["indices"].astype(np.int32), file["indptr"].astype(np.int32))
            self.kernel = sparse.csr_matrix(kernel, shape=shape)
            self.cost = file["C"]
            states = shape[1]
            actions, rest = divmod(shape[0], states)
            if rest or (np.diff(file["state_ptr"]) != actions).any():
                raise SystemExit("nominal.py: every state must have as many actions")
        self.states, self.actions = int(states), int(actions)
        self.discount = float(file["discount"])
        self.first = np.arange(self.states, dtype=np.int32) * np.int32(self.actions)

    def bellman(self, values):
        """F(v) and the greedy rows."""
        q = self.cost + self.discount * (self.kernel @ values)
        action = q.reshape(self.states, self.actions).argmin(axis=1).astype(np.int32)
        rows = self.first + action
        return q[rows], rows

    def certified_gap(self, values):
        """λ/(1−λ)·span(F(v) − v): the width of the MacQueen–Porteus bounds after one more sweep."""
        change = self.bellman(values)[0] - values
        return float(self.discount / (1 - self.discount) * np.ptp(change))


class SciPy:
    """Modified policy iteration, written for speed: preallocated products without the dispatch of
    scipy.sparse, the greedy policy's rows gathered only when the policy changes, span stop."""

    name = "scipy-mpi"
    version = scipy.__version__

    def __init__(self, model):
        self.model = model
        kernel = model.kernel
        self.q = np.empty(kernel.shape[0])
        self.table = self.q.reshape(model.states, model.actions)
        self.scaled = kernel.data * model.discount  # λ is folded into the kernel once
        self.indptr, self.indices = kernel.indptr, kernel.indices
        self.ptr = np.zeros(model.states + 1, dtype=np.int32)

    def solve(self, gap, inner):
        model, q, n = self.model, self.q, self.model.states
        product, gather = _sparsetools.csr_matvec, _sparsetools.csr_row_index
        target = gap * (1 - model.discount) / model.discount
        values = self.table_minimum()
        policy = None
        sweeps = steps = 0
        work = np.empty(n)
        while True:
            q[:] = model.cost
            product(len(q), n, self.indptr, self.indices, self.scaled, values, q)
            rows = model.first + self.table.argmin(axis=1).astype(np.int32)
            image = q[rows]
            sweeps += 1
            change = image - values
            low, high = change.min(), change.max()
            if high - low <= target:
                # The middle of F(v) + λ/(1−λ)·[min d, max d].
                shift = 0.5 * model.discount / (1 - model.discount) * (low + high)
                return image + shift, sweeps, steps
            if policy is None or (rows != policy).any():
                policy, cost = rows, model.cost[rows]
                lengths = self.indptr[rows + 1] - self.indptr[rows]
                np.cumsum(lengths, out=self.ptr[1:])
                index = np.empty(self.ptr[-1], dtype=np.int32)
                data = np.empty(self.ptr[-1])
                gather(n, rows, self.indptr, self.indices, self.scaled, index, data)
            values = image
            for _ in range(inner):
                work[:] = cost
                product(n, n, self.ptr, index, data, values, work)
                values, work = work, values
            steps += inner
            if not inner:
                work = np.empty(n)

    def table_minimum(self):
        """Costs of the cheapest actions, brought to the level of a long run."""
        least = self.model.cost.reshape(self.table.shape).min(axis=1)
        return least + least.mean() * self.model.discount / (1 - self.model.discount)


class QuantEcon:
    """DiscreteDP with state–action pairs and a sparse kernel, its own modified policy iteration."""

    name = "quantecon-mpi"
    version = quantecon.__version__

    def __init__(self, model):
        rows = np.arange(model.states * model.actions)
        states, actions = rows // model.actions, rows % model.actions
        self.program = DiscreteDP(-model.cost, model.kernel, model.discount, states, actions)
        self.program.max_iter = 100_000

    def solve(self, gap, inner):
        result = self.program.solve(method="modified_policy_iteration", epsilon=gap, k=inner)
        return -result.v, int(result.num_iter), int(result.num_iter) * inner


def timed(method, gap, inner):
    started = time.perf_counter()
    answer = method.solve(gap, inner)
    return time.perf_counter() - started, answer


def measure(method, model, gap, repeats):
    """The fields of a result that belong to the method."""
    method.solve(gap, INNER_STEPS[0])  # compiles and warms the caches
    tries = {inner: min(timed(method, gap, inner)[0] for _ in range(5)) for inner in INNER_STEPS}
    inner = min(tries, key=tries.get)
    runs = [timed(method, gap, inner) for _ in range(repeats)]
    values, sweeps, steps = runs[0][1]
    certified = model.certified_gap(values)
    kernels = sweeps + steps / model.actions
    return {
        "status": "certified" if certified <= gap else "precision-limit",
        "gap": certified,
        "method": method.name,
        "ran": {"method": method.name, "oracle": None, "reason": f"{inner} inner steps, version {method.version}"},
        "seconds": min(seconds for seconds, _ in runs),
        "repeats": repeats,
        "sweeps": sweeps,
        "kernel_passes": kernels,
        "value": float(values.mean()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="an .npz file written by rmdp generate")
    parser.add_argument("--case", type=json.loads, default={}, help="fields that name the case")
    parser.add_argument("--gap", type=float, default=1e-6)
    parser.add_argument("--repeats", type=int, default=30)
    arguments = parser.parse_args()
    model = Model(arguments.model)
    instance = {
        "family": os.path.basename(arguments.model),
        "states": model.states,
        "actions": model.actions,
        "branching": model.kernel.nnz / (model.states * model.actions * model.states),
        "costs": "iid",
        "band": None,
        "discount": model.discount,
        "seed": 0,
    }
    case = {
        "regime": "nominal",
        "instance": instance,
        "set": "none",
        "radius": 0.0,
        "rectangular": "s",
        "support": "nominal",
    } | arguments.case
    for method in (SciPy(model), QuantEcon(model)):
        fields = {"suite": "nominal", **case, "gap_asked": arguments.gap, "threads": 1}
        fields |= {"oracle": None, "transitions": int(model.kernel.nnz)}
        print(json.dumps(fields | measure(method, model, arguments.gap, arguments.repeats)), flush=True)


if __name__ == "__main__":
    main()
