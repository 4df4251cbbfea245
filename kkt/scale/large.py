"""``kkt.solve_large``: trees of up to millions of bodies, and the rule by which answers are trusted.

Orders that go body by body run through templates of machine code (:mod:`.template`).  Any other is
traced on the whole tree, as for :func:`kkt.eliminate`, and its tape is played.

Body by body there is float64 alone, and no factor is kept.  Where the tree, the residual or the forces
on joints give reason, it runs again, several times, on entries perturbed by
:data:`kkt.matrix.entries.ROUNDINGS` roundings: every operation then rounds otherwise, and the distance
of the answers is the error, the data's own rounding included.  Pivots are not inspected: an answer is
refused whose error is :data:`kkt.proof.trust.NO_BIT` or more, unless in equilibrium, or whose backward
error exceeds the bound.  For up to 2000 bodies it is also checked whether (4) itself is singular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Hardware
from ..base.errors import OrderError, SingularError, SizeError
from ..matrix.entries import ROUNDINGS
from ..matrix.system import System, efforts_alone, least_size, require_system
from ..model.spatial import stored
from ..order.sequence import OrderLike, Plan, plan
from ..proof.idle import idle_motion, shaken
from ..proof.soundness import backward_error, rows_of
from ..proof.trust import NO_BIT, bound, mark
from ..solution.eliminate import eliminate
from ..structure.symbolic import symbolic
from ..tape.player import played, signed, started
from ..tape.tape import BackwardError, Unknowns
from ..tape.trace import traced
from .factor import solve
from .plan import Bodies, bodywise, plan_of

Floats = NDArray[np.float64]
DOUBLE, UNIT = Hardware("float64", np.float64), 2.0**-53
LIGHT = 1e-4  # a body is light below this part of the largest; where none is, ABM errs by 1e-10
LOOKED_AT = 2000  # bodies up to which a motion without inertia is looked for, and what holds still
SHAKES = 3  # perturbed solutions; a single one may by chance have the same residue
SOLVED = 2.0**10  # backward error of an accurate answer, in unit roundoffs, at most
MOST_BODIES = 20_000  # of a tape: traced in half a minute
MOST_BLOCKS = 300_000  # of a tape's factor: those of crbm on a chain of 540 bodies


@dataclass(frozen=True, eq=False)
class LargeSolution:
    """``qdd`` (N,), ``pdd`` and ``f`` (n, 6) of (4) in float64, as :class:`kkt.Elimination` has them.

    >>> solution = pt.solve_large(pt.build(pt.chain(1000)))
    >>> solution.qdd.shape, solution.f.shape
    ((1000,), (1000, 6))
    >>> solution.marked is None  # nothing says that the answer is wrong
    True
    """

    system: System
    qdd: Floats = field(repr=False)  # (N,) joint accelerations [rad/s^2, m/s^2]
    pdd: Floats = field(repr=False)  # (n, 6) minus spatial accelerations, gravity included
    f: Floats = field(repr=False)  # (n, 6) joint forces [N m, N]
    error_estimate: float | None = None  # of qdd, relative; None where no second run was needed
    marked: str | None = None  # why the answer should not be relied on (:mod:`kkt.proof.trust`)

    @property
    def unknowns(self) -> Floats:
        """(size,) pdd, qdd, f in the order of equation (4)."""
        return np.concatenate([self.pdd.ravel(), self.qdd, self.f.ravel()])

    @cached_property
    def backward_error(self) -> BackwardError:
        """The answer's backward error in (4), in extended precision where the machine has it."""
        with np.errstate(all="ignore"):
            return backward_error(self.system, self.system.entries, self._rows, np.longdouble)

    @property
    def _rows(self) -> Unknowns:
        return Unknowns(self.pdd, self.qdd, self.f, np.zeros(0))


def trusted(
    system: System, name: str, solve: Callable[[System], LargeSolution], stable: bool
) -> LargeSolution:
    """The solution that ``solve`` finds, marked by the rule of :mod:`kkt.proof.trust`.

    The answer of a ``stable`` order is not checked where no body is light.  Another is accepted
    where no body is light, joints accelerate and its backward error is small; else the entries are
    perturbed by roundings and the answers compared.  Raises SingularError where no digit is right.
    """
    found = solve(system)
    if stable and _even(system):
        return found
    sure, still, left = _looked_at(system, found)
    if sure:
        return found
    idle = idle_motion(system, system.entries, UNIT) if system.tree.n <= LOOKED_AT else None
    if idle is not None:  # efforts that are zero there would leave rates of 0 over 0
        raise SingularError(f"order {name!r}", f"equation (4) is singular to float64: {idle.why}")
    moved = (shaken(system.entries, ROUNDINGS * UNIT, times) for times in range(SHAKES))
    others = np.array([solve(replace(system, entries=entries)).qdd for entries in moved])
    least = least_size(system) if system.tree.n <= LOOKED_AT else 0.0
    off = float(np.max(np.abs(others - found.qdd), initial=0.0))
    size = float(np.max(np.abs(others), initial=least))
    error = off / size if size else 0.0
    why = mark(error, left, "float64", UNIT)
    # in equilibrium: no pivot is needed to lose what forces hold
    rests = still or off <= bound(UNIT) * np.max(np.abs(found.pdd), initial=0.0)
    if not left <= bound(UNIT) or not (error < NO_BIT or rests):
        raise SingularError(
            f"order {name!r}", f"{why}, since a pivot is zero but for rounding", "kkt.eliminate names it"
        )
    return replace(found, error_estimate=error, marked=why)


def _looked_at(system: System, found: LargeSolution) -> tuple[bool, bool, float]:
    """Whether an answer needs no other beside it, whether joints hold still, and its backward error."""
    with np.errstate(all="ignore"):
        still = not _accelerates(system, found)
        even = _even(system) and not still
        if even and residue(system, found._rows) <= SOLVED * UNIT:
            return True, still, 0.0
        left = backward_error(system, system.entries, found._rows).normwise
    return even and left <= SOLVED * UNIT, still, float(left)


def residue(system: System, x: Unknowns) -> float:
    """max |A x - b| / max |x|: no less than the normwise backward error, and found with less work.

    Every acceleration's row holds a force once as it is, so that no norm of A is below 1.
    """
    both = rows_of(system, system.entries, x, -1), x
    left, size = (np.max([np.abs(part).max(initial=0.0) for part in parts]) for parts in both)
    return float(left / size)


def _accelerates(system: System, found: LargeSolution) -> bool:
    """Whether joints accelerate by more than what rounding of the forces on them may do."""
    tree, e = system.tree, system.entries
    force = np.abs(found.f).max(axis=1)[tree.owner]

    def holds(inertia: Floats) -> bool:
        rounded = np.divide(UNIT * force, inertia, out=np.zeros_like(force), where=inertia > 0.0)
        return bool(rounded.max(initial=0.0) <= bound(UNIT) * np.abs(found.qdd).max(initial=0.0))

    # inertia of the body alone is no more than what the joint moves, and is found with less work
    own = (e.S * (e.M[tree.owner] @ e.S[:, :, None])[:, :, 0]).sum(axis=1)
    return ((own > 0.0).all() and holds(own)) or (tree.n <= LOOKED_AT and holds(efforts_alone(tree, e)[1]))


def _even(system: System) -> bool:
    """Whether no body is light: each has at least LIGHT times the largest mass and moment.

    A body's least moment of inertia is compared with a bound for the largest one about a joint.
    """
    if "even" not in system.plans:
        tree = system.tree
        moments, masses, *shifts = map(stored, (tree.moments, tree.mass, tree.com, tree.p))
        mass, squares = masses.max(), (np.einsum("ki,ki->k", x, x) for x in shifts)
        moment = moments.sum(axis=1).max() + mass * sum(x.max() for x in squares)
        light = masses.min() < LIGHT * mass or moments[:, 0].min() < LIGHT * moment
        system.plans["even"] = not light
    return bool(system.plans["even"])


def body_by_body(system: System, bodies: Bodies | None, relaxed: bool = False) -> LargeSolution:
    """The solution in an order that goes body by body, ABM where it is None."""
    key, name = ("abm", "abm") if bodies is None else (bodies.key, bodies.order.name)
    if key not in system.plans:
        system.plans[key] = plan_of(system.tree, system.pattern, bodies)
    plan = system.plans[key]

    def solved(given: System) -> LargeSolution:
        return LargeSolution(given, *solve(given, plan, relaxed))

    return trusted(system, name, solved, bodies is None or bodies.order.is_abm)


def solve_large(
    system: System, order: OrderLike | Plan | None = None, *, relaxed: bool = False
) -> LargeSolution:
    """Factor and solve (4) in float64, body by body wherever the order goes so.

    ``order`` is an order or its plan (:func:`kkt.plan`, :func:`kkt.plan_from_arrays`); None is ABM.
    The operations are those of ``kkt.eliminate(system, order)``, and so are the results to the last
    bit; no step is recorded.

    In an order that goes body by body, bodies whose entries have their zeros and ones in the same
    places share one compiled template; time is proportional to the number of bodies, and ABM needs
    less than 1 kB of memory a body beside the entries of (4). Any other order is traced on the whole
    tree and its tape is kept with the system, on trees of up to 20,000 bodies and factors of up to
    300,000 blocks. With ``relaxed``, which holds for ABM, the machine may round a product and a sum
    once: the bits change, and the error is smaller as a rule.

    ``marked`` says why the answer should not be relied on.  Where bodies are light beside others,
    or the backward error is large, further runs decide (:mod:`kkt.proof.trust`).
    Raises SizeError for larger trees and factors and for too many kinds of bodies, OrderError for the plan of
    another tree, LoopError for closed loops and contacts, and SingularError where a pivot is zero or
    not a number, or zero but for rounding.

    >>> system = pt.build(pt.chain(300))
    >>> solution = pt.solve_large(system)
    >>> tape = pt.eliminate(system, pt.orderings.get("abm"), records=False)
    >>> np.array_equal(solution.qdd, tape.qdd)
    True
    """
    require_system(system)
    system.structure.require_tree("solve_large", "use kkt.eliminate, which takes it")
    if order is None or order == "abm":
        return body_by_body(system, None, bool(relaxed))
    chosen = order if isinstance(order, Plan) else plan(order, system.structure)
    last, bodies = system.plans.get("last plan", (None, None))
    if last is not chosen:
        own, here = chosen.graph.structure, system.structure.with_links(chosen.sequence.links)
        if not (np.array_equal(own.parent, here.parent) and np.array_equal(own.dof, here.dof)):
            raise OrderError(
                f"order {chosen.sequence.name!r}", "is a plan of another tree", "make it of this structure"
            )
        bodies = bodywise(chosen)
        system.plans["last plan"] = chosen, bodies
    if bodies is None:
        return _by_tape(system, chosen)
    found = body_by_body(system, bodies)
    # perturbed answers that agree may all be wrong, but for ABM's; where a tape is at hand, it is judged
    doubtful = found.error_estimate is not None and found.marked is None and not bodies.order.is_abm
    return _by_tape(system, chosen) if doubtful and system.tree.n <= LOOKED_AT else found


def _by_tape(system: System, chosen: Plan) -> LargeSolution:
    """The solution in an order of any kind; its tape is made once for all states of a system."""
    sequence = chosen.sequence
    said = repr((sequence.name, sequence.rules, sequence.links, sequence.composites)).encode()
    key = blake2b(said + chosen.blocks.tobytes() + chosen.group.tobytes()).hexdigest()
    tape, rows = system.plans.get(key, (None, None))
    if tape is None or not tape.reads(system):
        instead = (
            "use abm, or another order that goes body by body, or factor equation (4) by a sparse solver "
            "in the sequence of kkt.permutation(system, order)"
        )
        if system.tree.n > MOST_BODIES:
            raise SizeError(
                f"order {sequence.name!r}",
                f"does not go body by body, and such an order may have {MOST_BODIES:,} bodies, not "
                f"{system.tree.n:,}",
                instead,
            )
        tape = traced(system, symbolic(chosen, most=MOST_BLOCKS))
        rows = tape.unknowns(system)
        system.plans[key] = tape, rows

    v = played(tape, DOUBLE.runner(tape), started(tape, system.entries, DOUBLE))
    pivots = signed(v, tape.pivot_slots)
    if np.isfinite(pivots).all() and pivots.all():
        found = LargeSolution(system, signed(v, rows.qdd), signed(v, rows.pdd), signed(v, rows.f))
        if _looked_at(system, found)[0]:
            return found
    judged = eliminate(system, tape, records=False)
    if judged.failed_at is not None:
        raise SingularError(f"order {sequence.name!r}", judged.failed_at)
    return LargeSolution(system, judged.qdd, judged.pdd, judged.f, judged.error_estimate, judged.marked)
