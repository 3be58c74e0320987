"""The Rust half of the package. Nothing here is public."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CertificateError",
    "Model",
    "ModelError",
    "Solution",
    "UncertaintySet",
    "after_fork",
    "best_kernel",
    "calibrate",
    "evaluate",
    "garnet",
    "healthcare",
    "machine",
    "sets",
    "solve",
    "sweep_radius",
    "time_solve",
    "verify",
    "worst_kernel",
]

_Floats = NDArray[np.float64]
_Longs = NDArray[np.int64]
_Shorts = NDArray[np.int32]
_Bounds = tuple[float, float]
_Valued = tuple[_Floats, _Floats, _Bounds]

class ModelError(ValueError):
    """The model is not a Markov decision process; `state` and `action` say where, if in one place."""

    state: int | None
    action: int | None

class CertificateError(ValueError):
    """A certificate does not prove what it claims."""

@final
class Model:
    @staticmethod
    def from_rows(
        state_starts: NDArray[Any], rows: Any, cost: _Floats, about_model: Any
    ) -> Model: ...
    @staticmethod
    def from_actions(
        matrices: Sequence[Any], states: int, cost: _Floats, about_model: Any
    ) -> Model: ...
    @staticmethod
    def from_dense(
        prob: _Floats, further: _Floats | None, bounds: Any, cost: _Floats, about_model: Any
    ) -> Model: ...
    @staticmethod
    def load(
        path: str,
        format: str | None,
        discount: float | None,
        reach: list[str],
        rewards: str | None,
        maximise: bool | None,
    ) -> tuple[Model, list[str]]: ...
    @staticmethod
    def holds_discount(path: str, format: str | None) -> bool: ...
    def save(self, path: str, format: str | None) -> list[str]: ...
    def with_discount(self, discount: float) -> Model: ...
    def losses(self, format: str) -> list[str]: ...
    def are_named(self) -> tuple[bool, bool]: ...
    def with_unlisted_cost(self, cost: float) -> Model: ...
    @property
    def unlisted_costs(self) -> tuple[float, float] | None: ...
    @property
    def states(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def transitions(self) -> int: ...
    @property
    def is_dense(self) -> bool: ...
    @property
    def has_intervals(self) -> bool: ...
    @property
    def discount(self) -> float: ...
    @property
    def maximise(self) -> bool: ...
    @property
    def largest_cost(self) -> float: ...
    @property
    def initial(self) -> _Floats | None: ...
    @property
    def fingerprint(self) -> int: ...
    def state_names(self) -> list[str]: ...
    def action_names(self) -> list[str]: ...
    def state_starts(self) -> _Longs: ...
    def arrays(
        self,
    ) -> tuple[
        _Longs, _Longs, _Shorts, _Floats, _Floats, _Floats | None, list[_Floats] | None
    ]: ...
    def scenarios(self, kernels: Sequence[Model | _Floats]) -> list[_Floats]: ...
    def write_policy(self, path: str, policy: _Floats) -> None: ...
    def read_policy(self, path: str) -> _Floats: ...

@final
class UncertaintySet:
    def __new__(
        cls,
        distance: str,
        radius: _Floats,
        per: str,
        rectangular: str,
        support: str,
        weights: _Floats | None,
        entry_weights: tuple[str, _Floats] | None,
        ground: tuple[str, _Floats] | None,
        scenarios: Sequence[_Floats] | None,
    ) -> UncertaintySet: ...
    def check(self, model: Model) -> None: ...
    def vacuity(self, model: Model) -> str | None: ...
    def largest_useful_radius(self, model: Model) -> float: ...

@final
class Solution:
    @property
    def lower(self) -> _Floats: ...
    @property
    def upper(self) -> _Floats: ...
    @property
    def values(self) -> _Floats: ...
    @property
    def policy(self) -> _Floats: ...
    @property
    def status(self) -> str: ...
    @property
    def criterion(self) -> str: ...
    @property
    def horizon(self) -> int | None: ...
    @property
    def direction(self) -> str: ...
    @property
    def deterministic(self) -> bool: ...
    def stage(self, step: int) -> list[_Floats]: ...
    @property
    def bias(self) -> _Floats | None: ...
    @property
    def ending(self) -> tuple[bool, _Floats] | None: ...
    @property
    def gap(self) -> float: ...
    @property
    def target_gap(self) -> float: ...
    @property
    def initial_value(self) -> _Bounds: ...
    @property
    def method(self) -> str: ...
    @property
    def oracle(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def work(self) -> tuple[int, int, int, int, float]: ...
    @property
    def warnings(self) -> list[str]: ...
    def certify(self, model: Model, set: UncertaintySet, threads: int | None) -> bytes: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Solution: ...

def solve(
    model: Model,
    set: UncertaintySet,
    options: str,
    start: _Floats | None,
    checkpoint: tuple[str, float] | None,
    certified: bool,
    keep: bool,
    progress: Callable[..., object] | None,
) -> tuple[Solution, _Floats, bytes | None, str | None]: ...
def time_solve(model: Model, set: UncertaintySet, options: str) -> float: ...
def sweep_radius(
    model: Model,
    set: UncertaintySet,
    radii: _Floats,
    asked: str,
    warm: bool,
    progress: Callable[[int, int], object] | None,
) -> list[tuple[Solution, _Bounds]]: ...
def evaluate(
    model: Model,
    set: UncertaintySet,
    policy: _Floats,
    best: bool,
    gap: float | None,
    threads: int | None,
) -> tuple[str, _Valued, _Valued, float, float]: ...
def worst_kernel(
    model: Model,
    set: UncertaintySet,
    policy: _Floats,
    values: _Floats,
    threads: int | None,
) -> tuple[_Longs, _Shorts, _Floats]: ...
def best_kernel(
    model: Model,
    set: UncertaintySet,
    policy: _Floats,
    values: _Floats,
    threads: int | None,
) -> tuple[_Longs, _Shorts, _Floats]: ...
def verify(
    model: Model, certificate: bytes, threads: int | None
) -> tuple[_Floats, _Floats, _Bounds, float]: ...
def garnet(
    states: int,
    actions: int,
    branching: float,
    costs: str,
    band: int | None,
    discount: float,
    seed: int,
) -> Model: ...
def healthcare(states: int, discount: float) -> Model: ...
def machine(states: int, discount: float) -> Model: ...
def calibrate(
    model: Model,
    set: str,
    samples: int,
    quantile: float,
    mixing: float,
    branching: float,
    seed: int,
) -> _Floats: ...
def sets() -> list[tuple[str, str, str, bool, bool, str]]: ...
def after_fork() -> None: ...
