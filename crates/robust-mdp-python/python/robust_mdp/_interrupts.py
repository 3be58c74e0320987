"""Long work in NumPy, so that Ctrl-C is heard meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from numpy.typing import NDArray

T = TypeVar("T")

# Elements that NumPy works on in one go.
_BATCH = 1 << 16
# Fewer elements than this are dealt with at once.
_FEW = 1 << 18
# Seconds between two looks at signals.
_TICK = 0.02


def batches(count: int) -> Iterator[slice]:
    """Python hears Ctrl-C between two batches."""
    return (slice(k, min(k + _BATCH, count)) for k in range(0, count, _BATCH))


def items(array: NDArray[Any]) -> Iterator[Any]:
    """The elements as Python has them."""
    for part in batches(len(array)):
        yield from array[part].tolist()


def interruptibly(size: int, job: Callable[[], T]) -> T:
    """What `job`, on so many elements, returns.

    NumPy sorts and gathers without a look at signals. Large jobs run on a thread of their own; one that
    Ctrl-C has ended is left to finish by itself.
    """
    if size < _FEW or threading.current_thread() is not threading.main_thread():
        return job()
    answers: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            answers.append(job())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="robust-mdp", daemon=True).start()
    while not done.wait(_TICK):
        pass
    if errors:
        raise errors[0]
    return answers[0]
