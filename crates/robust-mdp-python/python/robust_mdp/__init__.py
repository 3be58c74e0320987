"""Robust Markov decision processes: a policy, the worst-case kernel and a proof of how good they are.

You give a model and say how wrong it may be; :func:`solve` gives a policy and two bounds in every
state. No kernel of the uncertainty set makes the policy worse than the one, and no policy can be
better than the other.

>>> import robust_mdp as rm
>>> model = rm.instances.machine(states=10, discount=0.8)
>>> sol = rm.solve(model, rm.KL(radius=0.05))
>>> sol.status
'certified'
>>> bool(sol.gap <= sol.target_gap)
True
>>> sol.policy[7]  # probabilities of "no repair" and "repair" in the worst condition
array([0., 1.])
"""

import logging as _logging
import os as _os

from . import instances, sets
from ._messages import ConvergenceWarning, ModelWarning, RobustMDPWarning
from ._native import CertificateError, ModelError
from ._native import after_fork as _after_fork
from .certificate import Certificate, Verified, verify
from .kernel import Kernel
from .model import Model
from .policy import Policy
from .radii import RadiusSweep
from .results import Bounds, Evaluation, Interval
from .sets import *  # noqa: F403
from .simulation import Simulation, simulate
from .solution import Solution
from .solving import FirstOrder, Progress, evaluate, solve, sweep_radius
from .stages import Stage

__all__ = [
    "Bounds",
    "Certificate",
    "CertificateError",
    "ConvergenceWarning",
    "Evaluation",
    "FirstOrder",
    "Interval",
    "Kernel",
    "Model",
    "ModelError",
    "ModelWarning",
    "Policy",
    "Progress",
    "RadiusSweep",
    "RobustMDPWarning",
    "Simulation",
    "Solution",
    "Stage",
    "Verified",
    "evaluate",
    "instances",
    "simulate",
    "solve",
    "sweep_radius",
    "verify",
]
__all__ += sets.__all__

_logging.getLogger("robust_mdp").addHandler(_logging.NullHandler())

if hasattr(_os, "register_at_fork"):
    # Threads do not survive a fork; a forked process works on one.
    _os.register_at_fork(after_in_child=_after_fork)
