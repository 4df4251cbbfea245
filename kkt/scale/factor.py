"""Factor and solve from the entries of (4): a pass from tip to base, and one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..machine.recorder import Scalar
from .bracket import Array, Factor, eliminated, recovered, symmetric
from .classes import ANY, UPPER, ZERO, Family, Kind
from .passes import Numbers, Pass
from .steps import UPDATE, Place, Record, Step, Tracer

ENTRIES = (
    Numbers("M", "body", 36, fetched=True),
    Numbers("Phi", "body", 36, fetched=True),
    Numbers("S", "joint", 6, fetched=True),
    Numbers("a", "body", 6, fetched=True),
    Numbers("b", "body", 6, fetched=True),
    Numbers("tau", "joint", 1, fetched=True),
)
FACTOR = (*ENTRIES, Numbers("pivot", "joint", 1), Numbers("record", "stream"))
SOLVE = (
    *(e for e in ENTRIES if e.name not in "Mb"),
    # a leaf's M^ and b^ are its entries
    *(Numbers(e.name, e.by, e.size) for e in ENTRIES if e.name in "Mb"),
    Numbers("record", "stream"),
    Numbers("pdd_up", "parent", 6),
    Numbers("pdd", "body", 6, fetched=True),
    Numbers("qdd", "joint", 1),
    Numbers("f", "body", 6, fetched=True),
)


def passes(kinds: Sequence[Kind]) -> tuple[Pass, Pass]:
    """The two passes for a tree of these kinds of bodies."""
    there, back, records = zip(*(steps_of(kind) for kind in kinds), strict=True)
    leaf, root = tuple(k.leaf for k in kinds), tuple(k.root for k in kinds)
    sizes = {"record": tuple(records)}
    return (
        Pass("factor", True, FACTOR, tuple(there), sizes, leaf, root),
        Pass("solve", False, SOLVE, tuple(back), sizes, leaf, root),
    )


def steps_of(kind: Kind) -> tuple[Step, Step, int]:
    """The steps of a body of a kind, and the numbers that the first hands to the second."""
    N, any6 = kind.dof, (ANY,) * 6
    sizes = {"M": 36, "Phi": 36, "S": 6 * N, "a": 6, "b": 6, "tau": N}
    there = Tracer({**sizes, "children": UPDATE})
    back = Tracer({**sizes, "pdd_up": 6, "record": UPDATE + 7 * N + N * N})

    def blocks(tracer: Tracer) -> tuple[Array, Array, Array, Array]:
        return (
            tracer.array("Phi", kind.Phi).reshape(6, 6),
            tracer.array("S", kind.S).reshape(N, 6),
            tracer.array("a", (ANY if kind.bias else ZERO,) * 6),
            tracer.array("tau", (ANY,) * N),
        )

    M, b = there.array("M", kind.M)[UPPER], there.array("b", any6)
    factor, out = reduced(there, kind, M, b, *blocks(there))
    record = Record("record", there, back, "children")
    up = None if kind.root else back.array("pdd_up", any6)
    pdd, qdd, f = recovered(Factor(*map(record.array, factor)), *blocks(back), up)
    found = {(name, i): x for name, block in (("pdd", pdd), ("qdd", qdd), ("f", f))
             for i, x in enumerate(block)}  # fmt: skip
    backward, slots = record.tightened(back.step(found))
    out |= {("record", i): Scalar(there.recorder, slot) for i, slot in enumerate(slots)}
    return there.step(out), backward, len(slots)


def reduced(
    tracer: Tracer, kind: Family, M: Array, b: Array, Phi: Array, H: Array, a: Array, tau: Array
) -> tuple[Factor, dict[Place, Any]]:
    """The bracket of a body with its children's sum; pivots and update as outputs."""
    children = tracer.array("children", (ZERO if kind.leaf else ANY,) * UPDATE)
    Mhat, bhat = symmetric(children[:21] + M), children[21:] + b
    factor, update, z = eliminated(Mhat, bhat, Phi, H, a, tau)
    out: dict[Place, Any] = {("pivot", j): factor.D[j, j] for j in range(kind.dof)}
    if not kind.root:
        out |= {("update", i): x for i, x in enumerate([*update, *z])}
    return factor, out
