"""The bracket sequence of an order, found from the groups that it makes of some trees.

Groups fold where every body is met by the same brackets: ``(pdd_k f_k) (qdd_k)  for k = 1..n``.
Nothing is looked up by name, so that the same code folds an order of the reader's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from pivotree.kkt import Structure

Entry = tuple[str, int]  # what is eliminated, and the index of its body
Bracket = tuple[str, ...]  # what is eliminated together, of one body
MOST = 4  # brackets of one body in a row

# Trees on which a sequence is looked at: parents by index, bodies listed in no special order
CHAINS = tuple(tuple(range(-1, n - 1)) for n in range(3, 13))
TREES = (
    (1, 2, 3, -1),
    (-1, 0, 0, 0, 0),
    (2, 4, 4, 2, -1, 2, 1, 0),
    (-1, 0, 0, 1, 1, 2, 2),
    (-1, -1, 0, 1, 1, 4, 4, 4, 4),
)


@dataclass(frozen=True)
class Phase:
    """Brackets that every body meets, one body after another."""

    brackets: tuple[Bracket, ...]
    joined: bool  # the brackets of all bodies are one
    optional: frozenset[str]  # what only bodies with children have
    course: str  # how the bodies follow each other

    @property
    def pivots(self) -> str:
        """``(pdd_k qdd_k f_k)``."""
        inner = [
            " ".join(
                part
                for some, run in groupby(one, self.optional.__contains__)
                for part in [_entries(run, some)]
            )
            for one in self.brackets
        ]
        if self.joined:
            return f"({inner[0]}, k = 1..n)"
        return " ".join(f"({one})" for one in inner)

    @property
    def rest(self) -> str:
        """What the line of this phase says after its pivots."""
        return self.course if self.joined else f"for k = 1..n, {self.course}"


@dataclass(frozen=True)
class Sequence:
    """An order as phases, or where it does not fold, its groups on a chain of four bodies."""

    phases: tuple[Phase, ...]
    where: str  # trees on which it folds: "" for all that were looked at, or "chains"
    listed: str  # groups on a chain of four, bodies numbered tip to base

    @property
    def text(self) -> str:
        if not self.phases:
            return self.listed
        wide = max(len(phase.pivots) for phase in self.phases)
        return "\n".join(f"{phase.pivots:<{wide}}  {phase.rest}" for phase in self.phases)

    @property
    def short(self) -> str:
        """For a table: brackets, and each course that is not the one before it."""
        if not self.phases:
            return "does not fold"
        said, parts = "", []
        for phase in reversed(self.phases):
            new = phase.course != said
            parts.append(f"`{phase.pivots}`" + (f" {phase.course}" if new else ""))
            said = phase.course
        return ", ".join(reversed(parts))


def sequence_of(order: Callable[..., Any]) -> Sequence:
    """The sequence of an order, from its groups on chains and trees."""
    listed = _listed(order, structure(CHAINS[1]))
    for shapes, where in (((*CHAINS, *TREES), ""), (CHAINS, "chains")):
        found = [_folded(order, structure(parents)) for parents in shapes]
        phases = _common(found)
        if phases:
            return Sequence(phases, where, listed)
    return Sequence((), "none", listed)


def structure(parents: Iterable[int]) -> Structure:
    """Bodies named by their index, joints of one freedom."""
    up = np.array(list(parents), dtype=np.int64)
    return Structure(tuple(range(len(up))), up, np.ones(len(up), dtype=np.int64))


# -- reading groups -----------------------------------------------------------------------------


def entries(order: Callable[..., Any], of: Structure) -> list[list[Entry]]:
    """Groups of (what, body).  Carriers of stretched links are their body's, with a prime; a
    pivot off the diagonal is ``row|unknown``."""
    linked = of.with_links(order.links)
    groups = order(of)
    if order.problem == "tau":
        return [[(f"{row}|{unknown}", linked.index[body])] for (row, body), (unknown, _) in groups]

    def entry(kind: str, body: Any) -> Entry:
        k = linked.index[body]
        if linked.carrier[k]:
            return f"{kind}'", int(linked.copy_of[k])
        return kind, k

    return [[entry(kind, body) for kind, body in group] for group in groups]


def _listed(order: Callable[..., Any], of: Structure) -> str:
    number = {int(k): i for i, k in enumerate(of.order, start=1)}
    return " ".join(
        "(" + " ".join(f"{what}_{number[k]}" for what, k in group) + ")" for group in entries(order, of)
    )


def _entries(run: Iterable[str], some: bool) -> str:
    """``pdd_k f_k``, ``f_k | pdd_k``; in square brackets where only some bodies have it."""
    text = " ".join(" | ".join(f"{part}_k" for part in what.split("|")) for what in run)
    return f"[{text}]" if some else text


# -- folding ------------------------------------------------------------------------------------

Run = tuple[tuple[Bracket, ...], bool, list[int]]  # brackets, joined, bodies as they come


def _folded(order: Callable[..., Any], of: Structure) -> tuple[Structure, frozenset[str], list[Run]] | None:
    """Runs that meet every body once each; None where groups do not fold like that."""
    groups = entries(order, of)
    linked = of.with_links(order.links)
    bodies = {k for k in range(linked.n) if not linked.carrier[k]}
    optional = _optional(groups, of, bodies)
    runs: list[Run] = []
    at = 0
    while at < len(groups):
        if len({k for _, k in groups[at]}) > 1:
            run, length = _across(groups[at]), 1
        else:
            tried = [_run(groups, at, width, optional) for width in range(1, MOST + 1)]
            run, length = max(tried, key=lambda pair: pair[1])
        if run is None or set(run[2]) != bodies:
            return None
        runs.append(run)
        at += length
    return linked, optional, runs


def _optional(groups: list[list[Entry]], of: Structure, bodies: set[int]) -> frozenset[str]:
    inner = {int(up) for up in of.parent if up >= 0}
    having: dict[str, set[int]] = {}
    for group in groups:
        for what, k in group:
            having.setdefault(what, set()).add(k)
    return frozenset(what for what, some in having.items() if some == inner and some != bodies)


def _across(group: list[Entry]) -> Run | None:
    """One bracket of many bodies: the same of each, body after body."""
    parts: list[tuple[int, list[str]]] = []
    for what, k in group:
        if not parts or parts[-1][0] != k:
            parts.append((k, []))
        parts[-1][1].append(what)
    kinds = {tuple(whats) for _, whats in parts}
    bodies = [k for k, _ in parts]
    if len(kinds) > 1 or len(set(bodies)) < len(bodies):
        return None
    return (kinds.pop(),), True, bodies


def _run(groups: list[list[Entry]], at: int, width: int, optional: frozenset[str]) -> tuple[Run | None, int]:
    """As many bodies as meet the ``width`` brackets of the first one, and the groups passed."""
    bodies: list[int] = []
    fullest: tuple[Bracket, ...] = ()
    first: tuple[Bracket, ...] | None = None
    while True:
        here = groups[at + len(bodies) * width :][:width]
        owners = {k for group in here for _, k in group}
        if len(here) < width or len(owners) != 1 or owners & set(bodies):
            break
        brackets = tuple(tuple(what for what, _ in group) for group in here)
        bare = tuple(tuple(w for w in one if w not in optional) for one in brackets)
        if first is not None and bare != first:
            break
        first, fullest = bare, max(fullest, brackets, key=lambda b: sum(map(len, b)))
        bodies += owners
    return ((fullest, False, bodies) if bodies else None), width * len(bodies)


def _common(found: list[Any]) -> tuple[Phase, ...]:
    """Phases that all trees share, and the courses of their bodies; () where they differ."""
    if any(one is None for one in found):
        return ()
    # on a lone chain the fullest brackets are those of the largest tree: all have them
    forms = {tuple((brackets, joined) for brackets, joined, _ in runs) for _, _, runs in found}
    if len(forms) != 1:
        return ()
    optional = frozenset().union(*(some for _, some, _ in found))
    phases = []
    for i, (brackets, joined) in enumerate(forms.pop()):
        course = _course([(linked, runs[i][2]) for linked, _, runs in found])
        if course is None:
            return ()
        phases.append(Phase(brackets, joined, optional, course))
    return tuple(phases)


# -- how bodies follow each other ---------------------------------------------------------------

Seen = list[tuple[Structure, list[int]]]


def _course(seen: Seen) -> str | None:
    """A word for the order of bodies that is true on all trees; None where there is none."""
    chains = [(of, bodies) for of, bodies in seen if list(of.parent) == list(range(-1, of.n - 1))]
    for word, true, where in (
        ("as listed", lambda of, bodies: bodies == sorted(bodies), seen),
        ("tip to base", _upward, seen),
        ("base to tip", lambda of, bodies: _upward(of, bodies[::-1]), seen),
        ("odd-even", lambda of, bodies: _odd_even(bodies), chains),
        ("nested", lambda of, bodies: _nested(bodies), chains),
    ):
        if all(true(of, bodies) for of, bodies in where):
            return word
    return None


def _upward(of: Structure, bodies: list[int]) -> bool:
    """Children before parents."""
    place = {k: i for i, k in enumerate(bodies)}
    return all(place[k] < place[int(of.parent[k])] for k in bodies if int(of.parent[k]) in place)


def _odd_even(bodies: list[int]) -> bool:
    """Every other body of a chain, then every other one of those left, and so on."""
    left, at = sorted(bodies), 0
    while left:
        for start in (0, 1):
            taken = left[start::2]
            if set(taken) == set(bodies[at : at + len(taken)]) and taken:
                break
        else:
            return False
        at += len(taken)
        left = [k for k in left if k not in taken]
    return True


def _nested(bodies: list[int]) -> bool:
    """The last body of a chain halves it, and so on in both halves."""
    if not bodies:
        return True
    cut = bodies[-1]
    halves = [[k for k in bodies if k < cut], [k for k in bodies if k > cut]]
    return max(map(len, halves)) <= len(bodies) // 2 and all(map(_nested, halves))
