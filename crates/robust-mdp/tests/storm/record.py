#!/usr/bin/env python3
"""Writes the files of this folder with stormpy: models in every kind of number, and what Storm says of them.

record.py [FOLDER]    (this folder unless given)
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import stormpy
import stormpy.developer
import stormpy.environments
import stormpy.io
import stormpy.transformations

HERE = Path(__file__).parent

COURIER = """mdp
module courier
  // 0 depot, 1 street, 2 canal, 3 detour, 4 door, 5 lost
  at : [0..5] init 0;
  [street] at=0 -> 1/3 : (at'=1) + 2/3 : (at'=0);
  [canal] at=0 -> 0.7 : (at'=2) + 0.2 : (at'=0) + 0.1 : (at'=5);
  [walk] at=1 -> 0.85 : (at'=4) + 0.15 : (at'=3);
  [run] at=1 -> 0.6 : (at'=4) + 0.1 : (at'=5) + 0.3 : (at'=1);
  [row] at=2 -> 6/7 : (at'=4) + 1/7 : (at'=3);
  [] at=3 -> 1/2 : (at'=0) + 1/2 : (at'=3);
endmodule
rewards "minutes"
  at=0 : 2;
  at=3 : 10;
  [street] true : 5;
  [canal] true : 1.5;
endrewards
rewards "tolls"
  [canal] true : 1/3;
  [row] true : 1e-7;
endrewards
label "door" = at=4;
label "lost" = at=5;
"""

LOOPS = """dtmc
module rounds
  at : [0..4] init 0;
  [] at=0 -> [0.25, 0.5] : (at'=1) + [1/3, 2/3] : (at'=2) + [0.02, 0.125] : (at'=0);
  [] at=1 -> [0.1, 0.9] : (at'=3) + [0.1, 0.9] : (at'=0);
  [] at=2 -> [0.2, 0.3] : (at'=4) + [0.7, 0.8] : (at'=1);
endmodule
rewards "steps"
  at<3 : 1;
endrewards
label "left" = at=3;
"""

NUMBERS = {
    "double": float,
    "rational": stormpy.Rational,
    "parametric": stormpy.RationalFunction,
    "interval": stormpy.Interval,
    "rational-interval": stormpy.RationalInterval,
}


def build(program, numbers, everything):
    """A model of a program, with names of choices and what variables are in each state, or without."""
    options = stormpy.BuilderOptions(build_full=everything)
    options.set_build_all_reward_models()
    options.set_build_all_labels()
    return stormpy.build_model[NUMBERS[numbers]](program, options=options)


def parsed(text, folder):
    path = folder / "program.prism"
    path.write_text(text)
    try:
        return stormpy.parse_prism_program(str(path))
    finally:
        path.unlink()


def precise(model):
    """What Storm computes with, as near as it comes to what is asked."""
    environment = stormpy.environments.default(model)
    numbers = environment.solver().min_max()
    numbers.precision = stormpy.Rational("1/1000000000000")
    numbers.relative_termination_criterion = False
    return environment


def values(model, query, mode=None):
    """Values of all states."""
    query = stormpy.parse_properties(query)[0]
    nature = {} if mode is None else {"uncertainty_resolution_mode": getattr(stormpy.UncertaintyResolutionMode, mode)}
    found = stormpy.model_checking(model, query, environment=precise(model), **nature)
    return [float(Fraction(str(found.get_value(s)))) for s in range(model.nr_states)]


def queries(name):
    """What is asked of a model: how to read its file, which kernels count, and the same in Storm's words."""
    is_chain, is_certain = name.startswith("loops-"), name == "courier-rational"
    goal, rewards = ("left", ["steps"]) if is_chain else ("door", ["minutes", "tolls"])
    natures = {"worst": None} if is_certain else {"worst": "ROBUST", "best": "COOPERATIVE"}
    if is_chain:
        # Of a chain Storm is told what nature does: here it is against costs, or for them.
        natures = {"worst": "MAXIMIZE", "best": "MINIMIZE"}
    for short, objective in {"": "min-cost"}.items() if is_chain else {"min": "min-cost", "max": "max-reward"}.items():
        for direction, mode in natures.items():
            asked = {"objective": objective, "direction": direction}
            yield {**asked, "reach": goal}, f'P{short}=? [F "{goal}"]', mode
            for reward in rewards:
                yield {**asked, "rewards": reward}, f'R{{"{reward}"}}{short}=? [F "deadlock"]', mode


def record(folder):
    stormpy.developer.set_log_level(stormpy.developer.LogLevel.ERR)
    courier, loops = parsed(COURIER, folder), parsed(LOOPS, folder)
    models = {f"courier-{kind}": build(courier, kind, everything=True) for kind in NUMBERS}
    models["courier-plain"] = build(courier, "double", everything=False)
    models["courier-within"] = stormpy.transformations.add_uncertainty(models["courier-double"], 0.05)
    for kind in ("interval", "rational-interval"):
        models[f"loops-{kind}"] = build(loops, kind, everything=True)
    for name, model in models.items():
        stormpy.io.export_to_drn(model, str(folder / f"{name}.drn"))
    # What is the same model in other numbers has the values of exact ones.
    same = [name for name in models if name.startswith("courier-") and name != "courier-within"]
    recorded = []
    for checked, names in {
        "courier-rational": same,
        "courier-within": ["courier-within"],
        "loops-interval": ["loops-interval", "loops-rational-interval"],
    }.items():
        for asked, query, mode in queries(checked):
            found = values(models[checked], query, mode)
            recorded.append({"files": names, **asked, "query": query, "nature": mode, "values": found})
    lines = ",\n".join(json.dumps(line) for line in recorded)
    (folder / "values.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
