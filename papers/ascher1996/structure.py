"""The 0-structure of (6) after the forward elimination, and the circled pivots, n = 3.

Rows of (6) come in threes, pdd_k, qdd_k, f_k from tip to base.  Row pdd_k is taken as it stands
when its turn comes, row qdd_k once (pdd_k, f_k) is used, row f_k as it is in (6); the engine's
elimination says which blocks are there.  What is left is block upper triangular but for
permutation, with the pivots (3k, 3k-2), an identity, and (3k-1, 3k-1), D_k.
"""

from __future__ import annotations

from typing import Any

from pivotree import kkt
from pivotree.kkt.program.tracer import Remaining, remaining

from ..item import Progress, Results, printed, value
from ..measures import error

KINDS = ("pdd", "qdd", "f")


def measure(progress: Progress, *, links: int = 3) -> Results:
    """The structure for a chain of so many links, and an elimination by the circled pivots."""
    system = kkt.build(kkt.chain(links))
    left = remains(progress, system)
    for i, (said, ours) in enumerate(zip(expected(links), left, strict=True)):
        yield value("row", ours, said == ours, i=i + 1, printed=said)
    found, pivots = backward(left), circled(links)
    yield value("pivots", _text(found), found == pivots, printed=_text(pivots))
    given = [list(pivot) for pivot in reversed(found)]  # as the elimination meets them
    result = kkt.eliminate(system, lambda structure: given, "float64")
    yield value("error", error(kkt.certify(system, 30), result.qdd))


def remains(progress: Progress, system: kkt.System) -> list[str]:
    """Rows of what the elimination leaves: "x" where a block may be nonzero, "." where it is zero."""
    bodies = system.structure.tip_to_base
    groups = [group for k in bodies for group in ([("pdd", k), ("f", k)], [("qdd", k)])]
    factor = kkt.symbolic(kkt.plan(kkt.PivotSequence(groups), system.structure))
    columns = [(kind, k) for k in bodies for kind in KINDS]
    left: dict[Any, str] = {}
    for i, k in enumerate(bodies):
        progress(f"body {i + 1} of {len(bodies)}")
        for kind, steps in (("pdd", 2 * i), ("qdd", 2 * i + 1), ("f", 2 * i)):
            left[kind, k] = _row(remaining(factor, steps), (kind, k), columns)
    return [left[column] for column in columns]


def _row(left: Remaining, row: Any, columns: list[Any]) -> str:
    entries = {(tuple(a), tuple(b)) for a, b in left.entries}
    return "".join("x" if (row, column) in entries else "." for column in columns)


def expected(links: int) -> list[str]:
    """The printed structure of n = 3, continued to other numbers of links by its own rule."""
    said = printed("ascher1996")["structure"]
    if links == 3:
        return list(said["blocks"])
    wide = 3 * links
    rows = []
    for k in range(links):
        for row in said["blocks"][:3] if k < links - 1 else said["blocks"][6:]:
            own = row[:4] if k < links - 1 else row[6:]
            rows.append(("." * (3 * k) + own).ljust(wide, "."))
    return rows


def backward(left: list[str]) -> list[tuple[int, int]]:
    """Pivots in the order in which rows of what is left give one new pdd or qdd each.

    The forces are left out, as the paper says: row and column of the joint acceleration of the
    base come first, since its row meets nothing else.  Rows that give nothing new are not taken.
    """
    forces = set(range(3, len(left) + 1, 3))
    known: set[int] = set()
    found: list[tuple[int, int]] = []
    while True:
        for i, row in enumerate(left, start=1):
            new = {j for j, mark in enumerate(row, start=1) if mark == "x"} - known
            if len(new) == 1 and not new & forces:
                (column,) = new
                known.add(column)
                found.append((i, column))
                break
        else:
            return found


def circled(links: int) -> list[tuple[int, int]]:
    """The pivots that the paper circles, (3k-1, 3k-1) and (3k, 3k-2) for k = n ... 1."""
    said = printed("ascher1996")["structure"]["circled"]  # offsets from 3k
    return [(3 * k + i, 3 * k + j) for k in range(links, 0, -1) for i, j in said]


def _text(pivots: list[tuple[int, int]]) -> str:
    return " ".join(f"({i},{j})" for i, j in pivots)
