"""The numbered equations: each proved from the engine's own elimination, or computed.

Statements of ``pivotree prove`` hold what the engine made against the formulas typed from the
paper.  (8) to (14), and all that follows from them, are computed once more by :mod:`.recursion`,
which knows nothing of the engine.
"""

from __future__ import annotations

from pivotree import kkt, orderings

from .. import proved
from ..item import Progress, Results, value
from ..measures import apart
from .recursion import joint_accelerations


def measure(progress: Progress, *, only: str = "", n: int = 24, joint: str = "spherical") -> Results:
    """Numbers on a chain of n ``joint``s, and statements with ``only`` in their name."""
    system = kkt.build(kkt.chain(n, joint=joint))
    engine = kkt.eliminate(system, orderings.get("virtual_work"), records=False)
    off = apart(joint_accelerations(system), engine.qdd)
    yield value("computed", off, off <= 1e-12)
    yield from proved.rows(progress, "Yamane & Nakamura 2001", only)
