"""Cases of a sweep and their keys, and the pieces of work that they are cut into."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import sha256

from .config import Config
from .models import Model
from .settings import Settings

# The edition of Pivotree's arithmetic: rows of two editions never stand in one table.  It is raised by
# one when a change gives any case other bits, operations or fill, or refuses it for another reason:
# another rounding, another program of an order, another reference, another rule on what is an answer,
# other random states; not when a release leaves the numbers alone.  A test holds the numbers of an
# edition against those that were printed with it.
EDITION = 6

ROWS, STATES = 240, 64  # of a piece of work: handing it over costs nothing, and vectors are full


@dataclass(frozen=True)
class Task:
    """One model in some of its states, in all orders and formats but the cases that are done."""

    settings: Settings
    model: Model
    first: int  # state
    keys: tuple[str | None, ...]  # states x orders x formats; None where the case is done


def keys_of(config: Config, model: Model, first: int, states: int) -> list[str]:
    """Keys of a model's cases, states x orders x formats: hashes of what a case is.

    A key says nothing of the place of the case in its sweep, nor of what is measured; before its
    dot stands the edition of Pivotree's arithmetic.
    """
    settings = config.settings
    state = f"random {settings.seed}" if settings.random else "given"
    base = sha256(f"{state}\n{model.digest}\n".encode())
    keys = []
    for number in range(first, first + states):
        for order in config.order_digests:
            for format in settings.formats:
                case = base.copy()
                case.update(f"{number}\n{order}\n{format}".encode())
                keys.append(f"{EDITION}.{case.hexdigest()[:32]}")
    return keys


def positions(config: Config) -> dict[str, int]:
    """Where the row of each key stands in the finished table."""
    at: dict[str, int] = {}
    for model in config.models:
        for key in keys_of(config, model, 0, config.states):
            at[key] = len(at)
    return at


def tasks(config: Config, done: Container[str]) -> Iterator[Task]:
    """What is left to do, in the sequence of the cases."""
    settings = config.settings
    block = max(1, ROWS // (len(settings.orders) * len(settings.formats)))
    if settings.together:
        block = max(block, STATES)
    for model in config.models:
        for first in range(0, config.states, block):
            keys = keys_of(config, model, first, min(block, config.states - first))
            left = tuple(None if key in done else key for key in keys)
            if any(left):
                yield Task(settings, model, first, left)
