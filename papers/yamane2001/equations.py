"""The numbered equations: where each is proved or computed, and the proofs run.

A statement of ``analysis/proofs`` holds what the engine made against the formula typed from the
paper, and is falsified on purpose to see that it is refused.  Equations (8) to (53) are computed
once more by :mod:`.recursion`, which knows nothing of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from pivotree import kkt, orderings
from pivotree.analysis.proofs.prove import Proof, prove_one
from pivotree.kkt.base.errors import nearest

from ..paper import Progress, printed
from ..row import Row
from .recursion import joint_accelerations


@dataclass(frozen=True)
class Proved:
    """A line of the table of equations."""

    eq: str
    says: str
    where: str
    proof: Proof | None  # None where it is computed or left out
    error: float | None  # of qdd by the equations as typed in :mod:`.recursion`


def measure(
    progress: Progress, *, only: tuple[str, ...] = (), n: int = 24, joint: str = "spherical"
) -> list[Proved]:
    """All equations, or those of the statements in ``only``; numbers on a chain of n ``joint``s."""
    told = printed("yamane2001")["equations"]["rows"]
    known = [row["statement"] for row in told if "statement" in row]
    for name in only:
        if name not in known:
            raise kkt.PivotreeError(f"equations: {name!r} is no statement; {nearest(name, known)}")
    system = kkt.build(kkt.chain(n, joint=joint))
    engine = kkt.eliminate(system, orderings.get("virtual_work"), records=False)
    found = []
    for row in told:
        statement = row.get("statement")
        if only and statement not in only:
            continue
        progress(f"{row['eq']}")
        error = None
        if statement is None:
            typed = joint_accelerations(system)
            error = float(abs(typed - engine.qdd).max() / abs(engine.qdd).max())
        proof = None if statement is None else prove_one(statement)
        found.append(Proved(row["eq"], row["says"], row["where"], proof, error))
    return found


def rows(found: list[Proved]) -> list[Row]:
    result = []
    for one in found:
        name = f"{one.eq}"
        if one.proof is not None:
            p = one.proof
            told = f"{p.status}: {p.claims} equalities, {p.killed} of {p.mutants} mutants refused"
            result.append(Row(name, one.says, told, "proved, mutants refused", p.holds,
                              f"statement {p.name!r}: {p.why}" if p.why else ""))  # fmt: skip
        else:
            assert one.error is not None
            result.append(Row(name, one.says, one.error, "qdd as the engine's, to 1e-12",
                              one.error <= 1e-12, f"computed by {one.where}"))  # fmt: skip
    return result
