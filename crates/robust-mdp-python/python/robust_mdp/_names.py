"""Whether what was made for one model is for another one too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True)
class Names:
    """What a model calls its states and actions, as digests; None where they have numbers alone."""

    states: bytes | None
    actions: bytes | None
    ids: bytes

    @staticmethod
    def of(model: Model) -> Names:
        states, actions = model._native.are_named()
        return Names(
            _digest(model.state_names) if states else None,
            _digest(model._native.action_names()) if actions else None,
            blake2b(model.action_ids.tobytes(), digest_size=16).digest(),
        )

    def refuse_others(self, what: str, model: Model) -> None:
        """Refuses a model of other names or numbers; one without names may be any."""
        own, other = self, Names.of(model)
        for field in fields(self):
            mine, its = getattr(own, field.name), getattr(other, field.name)
            if mine is not None and its is not None and mine != its:
                raise ValueError(f"the {what} is one of another model: {_IN_WORDS[field.name]} differ")


_IN_WORDS = {
    "states": "names of states",
    "actions": "names of actions",
    "ids": "numbers of actions",
}


def _digest(names: Iterable[str]) -> bytes:
    made = blake2b(digest_size=16)
    for name in names:
        text = name.encode()
        made.update(len(text).to_bytes(8, "little") + text)
    return made.digest()
