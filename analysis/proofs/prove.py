"""Prove every statement, and see that what is wrong on purpose is not proved."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from pivotree.kkt.base.processes import deaf, end_with, ended

from .claim import FAILED, FRACTIONS, PROVED, REWRITER, SYMPY, UNDECIDED, Verdict, all_of

READERS = (REWRITER, SYMPY, FRACTIONS)

MUTANTS = 8  # of a statement, at most
FEWEST = 5


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
    mutants: int = 0  # formulas with one thing wrong
    killed: int = 0  # of those, rejected by all readers
    survivors: tuple[str, ...] = ()
    readers: Mapping[str, str] = field(default_factory=dict)  # the status that each gives
    symbols: int = 0  # claims that sympy decided with a symbol for every entry

    def as_dict(self) -> dict[str, Any]:
        keys = ("name", "source", "status", "seconds", "why", "claims", "mutants", "killed")
        row = {key: getattr(self, key) for key in keys}
        return row | {r: self.readers.get(r) for r in READERS} | {"symbols": self.symbols}

    @property
    def holds(self) -> bool:
        """Proved, with every mutant rejected."""
        return self.status == PROVED and self.killed == self.mutants


def prove_one(name: str, progress: Callable[[str], None] = lambda text: None) -> Proof:
    """Decide one statement of the registry; ``progress`` hears how far it is."""
    from . import statements

    s = statements()[name]
    begin = time.perf_counter()
    claims: list[Any] = []
    try:
        for claim in s.claims():
            claims.append(claim)
            progress(f"{name}: equality {len(claims)} written")
        verdict = (
            all_of(_told(claims, f"{name}: equality", progress))
            if claims
            else Verdict(UNDECIDED, "there is nothing to prove")
        )
    except Exception as error:  # a statement that breaks is not proved; say so and go on
        claims, verdict = [], Verdict(FAILED, f"{type(error).__name__}: {error}")
    wrong = _chosen(claims, random.Random(name))
    passed = [
        (c.text, [r for r, no in c.rejected().items() if not no])
        for c in _told(wrong, f"{name}: mutant", progress)
    ]
    survivors = tuple(f"{text} (by {', '.join(by)})" for text, by in passed if by)
    if len(wrong) < FEWEST and verdict.status == PROVED:
        verdict = Verdict(FAILED, f"only {len(wrong)} mutants of it could be made")
    return Proof(
        s.name,
        s.source,
        s.says,
        verdict.status,
        time.perf_counter() - begin,
        verdict.why,
        len(claims),
        len(wrong),
        len(wrong) - len(survivors),
        survivors,
        verdict.readers,
        verdict.symbols,
    )


def _told(claims: list[Any], what: str, progress: Callable[[str], None]) -> Iterator[Any]:
    for i, claim in enumerate(claims, start=1):
        progress(f"{what} {i} of {len(claims)}")
        yield claim


def _chosen(claims: list[Any], draw: random.Random) -> list[Any]:
    """Mutants taken from the claims in turn, those of long formulas first."""
    ordered = draw.sample(claims, len(claims))
    ordered.sort(key=lambda claim: -len(str(getattr(claim, "right", ""))))
    waiting = [claim.mutants(draw) for claim in ordered]
    chosen: list[Any] = []
    while waiting and len(chosen) < MUTANTS:
        source = waiting.pop(0)
        found = next(source, None)
        if found is not None:
            chosen.append(found)
            waiting.append(source)
    return chosen


def prove(names: list[str], workers: int, done: Callable[[Proof], None] | None = None) -> list[Proof]:
    """Decide statements side by side; ``done`` hears of each as it comes.  In the given order."""
    found: dict[str, Proof] = {}
    if workers < 2 or len(names) < 2:
        for name in names:
            found[name] = prove_one(name)
            if done is not None:
                done(found[name])
    else:
        with ProcessPoolExecutor(workers, None, end_with, (os.getpid(),)) as pool, ended():
            with deaf():
                waiting = [pool.submit(prove_one, name) for name in names]
            for future in as_completed(waiting):
                proof = future.result()
                found[proof.name] = proof
                if done is not None:
                    done(proof)
    return [found[name] for name in names]
