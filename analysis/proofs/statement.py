"""The registry of statements: a name, a source with its equation, and the claims to prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    name: str
    source: str  # paper, comma, equation; of several papers with "; " between
    says: str  # the formula in plain letters
    claims: Callable[[], Iterable[Any]]

    def place(self, paper: str) -> str | None:
        """Where in a paper its source has it, as "eqs (6), (7)"; None where it names another."""
        for part in self.source.split("; "):
            if part.startswith(f"{paper}, "):
                return part.removeprefix(f"{paper}, ")
        return None


REGISTRY: dict[str, Statement] = {}


def statement(name: str, source: str, says: str) -> Callable[..., Callable[[], Iterable[Any]]]:
    """Register a function that yields the claims of one statement."""

    def keep(function: Callable[[], Iterable[Any]]) -> Callable[[], Iterable[Any]]:
        if name in REGISTRY:
            raise ValueError(f"statement {name!r}: is there twice")
        REGISTRY[name] = Statement(name, source, says, function)
        return function

    return keep
