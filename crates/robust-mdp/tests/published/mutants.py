#!/usr/bin/env python3
"""FOM-VI broken on purpose, one way at a time: tests/published.rs must notice every one.

    crates/robust-mdp/tests/published/mutants.py [NAME…]
    crates/robust-mdp/tests/published/mutants.py --check    only that every piece is there, once

Each mutant replaces a piece of the source in a copy of the workspace under target/mutants, where the test
must still compile and must fail. Ends with the number of mutants killed and left alive; exit code 1 if any
is alive. Needs Cargo and git alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SOURCE = Path("crates/robust-mdp/src")

# name: (file, what stands there, what is put in its place)
MUTANTS = {
    # The proximal steps of the kernel, one a set and a geometry: steps a little short, budgets a little large.
    "ellipsoid l2 step": ("sets/proximal/ray.rs", "*slope = sigma * x;", "*slope = 0.99 * sigma * x;"),
    "ellipsoid l2 budget": (
        "sets/proximal/ray.rs",
        "follow(block, y,",
        "follow(Block { radius: 1.01 * block.radius, ..block }, y,",
    ),
    "kl l1 step": ("sets/proximal/tilt.rs", "scratch.slope[k] = sigma * x;", "scratch.slope[k] = 0.99 * sigma * x;"),
    "kl l1 budget": (
        "sets/proximal/tilt.rs",
        "{ follow(block, log_ratio,",
        "{ follow(Block { radius: 1.01 * block.radius, ..block }, log_ratio,",
    ),
    "step by entries": ("sets/proximal/separable.rs", "*y += sigma * x * b;", "*y += 0.99 * sigma * x * b;"),
    "budget by entries": (
        "sets/proximal/separable.rs",
        "let goal = self.block.radius;",
        "let goal = 1.01 * self.block.radius;",
    ),
    "ellipsoid l1 entry": (
        "sets/proximal/omega.rs",
        "simd.mul_add_e_f64s(by, p, z)",
        "simd.mul_add_e_f64s(simd.splat_f64s(0.99 * s), p, z)",
    ),
    "kl l2 entry": (
        "sets/proximal/omega.rs",
        "simd.add_f64s(simd.div_f64s(z, by), log)",
        "simd.add_f64s(simd.div_f64s(z, simd.splat_f64s(1.01 * s)), log)",
    ),
    "chi2 l2 entry": ("sets/chi2.rs", "let slope = p / (p + 2.0 * s);", "let slope = (p + 0.01) / (p + 0.01 + 2.0 * s);"),
    "l1 l2 entry above the nominal one": ("sets/l1.rs", "if z > p + s { z - s }", "if z > p + s { 0.99 * (z - s) }"),
    "l1 l2 entry below the nominal one": ("sets/l1.rs", "(z + s).min(p) };", "(0.99 * (z + s)).min(p) };"),
    "first kernel in the entropy": ("sets/proximal/mod.rs", "const MIXED: f64 = 0.1;", "const MIXED: f64 = 0.11;"),
    # Those of the policy.
    "policy l2": ("geometry.rs", "project_simplex(mirror, x);", "project_simplex(mirror, x);\n                x.reverse();"),
    "policy l1": ("geometry.rs", "*x = (m - top).exp();", "*x = (0.99 * (m - top)).exp();"),
    # Step sizes.
    "paper's Θ_Y": (
        "oracle/first_order.rs",
        "(self.value_bound * states.sqrt(), theta_x, rows, 1.0)",
        "(self.value_bound * states.sqrt(), theta_x, 2.0 * rows, 1.0)",
    ),
    "paper's modulus of the entropy": (
        "oracle/first_order.rs",
        "(self.value_bound, theta_x, rows * rows * states.ln(), rows)",
        "(self.value_bound, theta_x, rows * rows * states.ln(), 0.5 * rows)",
    ),
    "paper's bound of the values": ("oracle/first_order.rs", "model.discount() * bound", "bound"),
    "centred coupling in l2": (
        "oracle/first_order.rs",
        "b.iter().map(|b| (b - mean) * (b - mean)).sum::<f64>().sqrt()",
        "b.iter().map(|b| (b - mid) * (b - mid)).sum::<f64>().sqrt() + 0.0 * mean",
    ),
    "centred coupling in l1": ("oracle/first_order.rs", "return 0.5 * (high - low);", "return high - low;"),
    "centred Θ_X": (
        "oracle/first_order.rs",
        "if euclidean_x { 0.5 * (1.0 - 1.0 / rows) }",
        "if euclidean_x { 0.5 }",
    ),
    "centred Θ_Y of KL": ("sets/proximal/tilt.rs", "budget.min(rows * width.ln())", "rows * width.ln()"),
    "centred Θ_Y of the ellipsoid": ("sets/proximal/omega.rs", "(2.0 * budget * width)", "(budget * width)"),
    "centred Θ_Y in l2": ("sets/proximal/mod.rs", "budget.min(rows)", "rows.max(budget)"),
    "centred Θ_Y in l2 by entries": ("sets/proximal/separable.rs", "budget.min(rows)", "rows.max(budget)"),
    "balance of the players": ("oracle/first_order.rs", "(theta_x / theta_y).sqrt()", "theta_x / theta_y"),
    # The methods.
    "no extrapolation": ("saddle.rs", "*e = 2.0 * x - *e;", "*e = *x;"),
    "mirror prox averages the wrong points": (
        "saddle.rs",
        "add(weight, other, x_sum);",
        "add(weight, point, x_sum);",
    ),
    "mirror descent without shrinking steps": (
        "saddle.rs",
        "((schedule.first + i + 1) as f64).sqrt().recip()",
        "1.0",
    ),
    # Weights, averages, epochs, values.
    "weights from 0": ("saddle.rs", "let t = (self.first + i + 1) as f64", "let t = (self.first + i) as f64"),
    "weights begin anew": ("saddle.rs", "let t = (self.first + i + 1) as f64", "let t = (i + 1) as f64"),
    "weights t instead of t²": ("saddle.rs", "2.0 => t * t,", "2.0 => t,"),
    "average of the last epoch for all": (
        "loops/fom_vi/mod.rs",
        "*sum = if fresh { *x } else { *sum + x };",
        "*sum = *x;",
    ),
    "average of all epochs for the last": (
        "loops/fom_vi/mod.rs",
        "*sum = if fresh { *x } else { *sum + x };",
        "*sum += x;",
    ),
    "kernels of all epochs for the last": ("loops/fom_vi/mod.rs", "if fresh {\n                y_sum.fill(0.0);", "if false {\n                y_sum.fill(0.0);"),
    "epochs a step longer": ("loops/fom_vi/settings.rs", ".ceil().clamp(1.0, 1e15) as u64", ".ceil().clamp(1.0, 1e15) as u64 + 1"),
    "values of the best action": ("loops/fom_vi/mod.rs", "next[0] += x / weight * (g / weight);", "next[0] = (g / weight).min(if next[0] == 0.0 { f64::MAX } else { next[0] });\n                let _ = x;"),
    "iterates begin anew every epoch": (
        "loops/fom_vi/mod.rs",
        "x_epoch.fill(0.0);\n",
        "x_epoch.fill(0.0);\n            oracle.start(&game, x, y);\n",
    ),
    # The start.
    "first values": ("loops/fom_vi/mod.rs", "StepRule::Paper => vec![0.0; states],", "StepRule::Paper => cheapest_costs(model),"),
    "no step where nothing is at stake": (
        "oracle/first_order.rs",
        "if self.states <= 1 || self.value_bound <= 0.0",
        "if self.states <= 1 || self.value_bound <= 0.0 || coupling(game.block(0.0), self.setup.y) <= 1e-9",
    ),
    "best output instead of the last": (
        "loops/fom_vi/certification.rs",
        "run.incumbent.replace(&policy",
        "run.incumbent.improve(&policy",
    ),
}


def copy(to: Path) -> None:
    """The tracked and the new files and no others, with old times where nothing changed."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "crates", "bench", "fuzz", "README.md"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    files = {Path(name) for name in [*filter(None, names), "Cargo.toml", "Cargo.lock"] if (ROOT / name).is_file()}
    for old in [path for path in to.rglob("*") if path.is_file() and path.relative_to(to) not in files]:
        old.unlink()
    for name in files:
        source, target = ROOT / name, to / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def cargo(tree: Path, *more: str) -> bool:
    # The test takes a second without optimisation, and the library a sixth of the time to build.
    quick = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "1"}
    environment = {**os.environ, **quick, "CARGO_TARGET_DIR": str(tree.parent / "target")}
    command = ["cargo", "test", "--locked", "--quiet", "-p", "robust-mdp", "--test", "published", *more]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True).returncode == 0


def misplaced() -> list[str]:
    """Mutants whose piece does not stand in the source once."""
    counts = {name: (ROOT / SOURCE / file).read_text().count(old) for name, (file, old, _) in MUTANTS.items()}
    return [f"{name}: {MUTANTS[name][0]} has its piece {n} times" for name, n in counts.items() if n != 1]


def main(names: list[str]) -> int:
    if wrong := misplaced():
        print("\n".join(wrong))
        return 1
    if names == ["--check"]:
        print(f"{len(MUTANTS)} pieces are there")
        return 0
    tree = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "mutants" / "tree"
    copy(tree)
    if not cargo(tree):
        print("the test fails without any mutant")
        return 1
    killed, alive = 0, []
    for name in names or MUTANTS:
        file, old, new = MUTANTS[name]
        path = tree / SOURCE / file
        text = path.read_text()
        path.write_text(text.replace(old, new))
        built = cargo(tree, "--no-run")
        passed = built and cargo(tree)
        path.write_text(text)
        if not built:
            print(f"{name}: does not compile")
            return 1
        print(f"{name}: {'ALIVE' if passed else 'killed'}", flush=True)
        killed += not passed
        alive += [name] if passed else []
    print(f"{killed} killed, {len(alive)} alive")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
