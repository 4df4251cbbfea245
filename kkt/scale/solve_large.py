"""The public function for large trees: millions of bodies one by one, or any order as rows."""

from __future__ import annotations

from typing import Any

from ..matrix.system import System, require_system
from .large import LargeSolution, body_by_body


def solve_large(system: System, order: Any = None, *, relaxed: bool = False) -> LargeSolution:
    """Factor and solve (4) in float64, without tracing a tape of the whole tree.

    ``order`` is an order, its plan (:func:`kkt.plan`, :func:`kkt.plan_from_arrays`) or the plan's
    analysis; None is ABM.  The operations are those of ``kkt.eliminate(system, order)``, and so are
    the results to the last bit, but for composites of ten numbers, which stay 6 x 6 blocks here; no
    step is recorded.

    In an order that goes body by body, bodies whose entries have their zeros and ones in the same
    places share one compiled template; time is proportional to the number of bodies, and ABM needs
    less than 1 kB of memory a body beside the entries of (4). Of any other order the block program
    of the whole tree is played (:mod:`.rows`), on trees of up to 20,000 bodies and factors of up to
    300,000 blocks. With ``relaxed``, which holds for ABM, the machine may round a product and a sum
    once: the bits change, and the error is smaller as a rule.

    ``marked`` says why the answer should not be relied on.  Where bodies are light beside others,
    or the backward error is large, further runs decide (:mod:`kkt.tape.trust`).
    Raises OrderError for rotations, SizeError for more than that and for too many kinds of bodies,
    LoopError for closed loops and contacts, and SingularError where a pivot is zero or not a number,
    or zero but for rounding.

    >>> system = pt.build(pt.chain(300))
    >>> solution = pt.solve_large(system)
    >>> tape = pt.eliminate(system, pt.orderings.get("abm"), records=False)
    >>> np.array_equal(solution.qdd, tape.qdd)
    True
    """
    require_system(system)
    if order is not None and order != "abm":
        from .rows import solve_in_order  # here, since its compiled loops take time to load

        return solve_in_order(system, order)
    system.structure.require_tree("solve_large", "use kkt.eliminate, which takes it")
    return body_by_body(system, None, bool(relaxed))
