"""Prove every statement, one after another or side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pivotree.analysis.processes import elsewhere, here

from .claim import FAILED, FRACTIONS, POLYNOMIALS, PROVED, REWRITER, UNDECIDED, Verdict, all_of

READERS = (REWRITER, POLYNOMIALS, FRACTIONS)


@dataclass(frozen=True)
class Proof:
    """One statement, decided."""

    name: str
    source: str
    says: str
    status: str  # proved, failed or undecided
    seconds: float
    why: str = ""
    claims: int = 0
    readers: Mapping[str, str] = field(default_factory=dict)  # the status that each gives
    symbols: int = 0  # claims that polynomials decided, with a symbol for every entry

    def as_dict(self) -> dict[str, Any]:
        keys = ("name", "source", "status", "seconds", "why", "claims")
        row = {key: getattr(self, key) for key in keys}
        return row | {r: self.readers.get(r) for r in READERS} | {"symbols": self.symbols}

    @property
    def holds(self) -> bool:
        return self.status == PROVED


def prove_one(name: str) -> Proof:
    """Decide one statement of the registry."""
    from . import statements

    s = statements()[name]
    begin = time.perf_counter()
    claims: list[Any] = []
    try:
        claims = list(s.claims())
        verdict = all_of(claims) if claims else Verdict(UNDECIDED, "there is nothing to prove")
    except Exception as error:  # a statement that breaks is not proved; say so and go on
        claims, verdict = [], Verdict(FAILED, f"{type(error).__name__}: {error}")
    told = verdict.status, time.perf_counter() - begin, verdict.why
    return Proof(s.name, s.source, s.says, *told, len(claims), verdict.readers, verdict.symbols)


def prove(
    names: list[str], workers: int | None = None, done: Callable[[Proof], None] = lambda proof: None
) -> list[Proof]:
    """Decide statements side by side; ``done`` hears of each as it comes.  In the given order."""
    found: dict[str, Proof] = {}
    workers = min(workers or os.cpu_count() or 1, len(names))
    proofs = here(prove_one, iter(names)) if workers < 2 else elsewhere(prove_one, iter(names), workers)
    for proof in proofs:
        found[proof.name] = proof
        done(proof)
    return [found[name] for name in names]
