"""The numbered equations: each proved from the engine's own elimination, or computed.

Statements of ``pivotree prove`` hold what the engine made against the formulas typed from the
paper.  (8) to (14), and all that follows from them, are computed once more by :mod:`.recursion`,
which knows nothing of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pivotree import kkt, orderings

from .. import proved
from ..item import Progress
from ..row import Row, Value, value
from .recursion import joint_accelerations


@dataclass(frozen=True)
class Equations:
    proofs: proved.Proved
    error: float  # of qdd by the equations as typed in :mod:`.recursion`, relative


def measure(progress: Progress, *, only: str = "", n: int = 24, joint: str = "spherical") -> Equations:
    """Statements with ``only`` in their name, and numbers on a chain of n ``joint``s."""
    proofs = proved.prove(progress, "Yamane & Nakamura 2001", only)
    system = kkt.build(kkt.chain(n, joint=joint))
    engine = kkt.eliminate(system, orderings.get("virtual_work"), records=False)
    error = abs(joint_accelerations(system) - engine.qdd).max() / abs(engine.qdd).max()
    return Equations(proofs, float(error))


def values(found: Equations) -> Iterator[Value | Row]:
    yield value("computed", found.error)
    yield from proved.values(found.proofs)
