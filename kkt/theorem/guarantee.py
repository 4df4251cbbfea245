"""The theorem of docs/theory/guarantee.md, evaluated: from a robot to the digits of its pivots.

In exact arithmetic, tip to base,

    M^_k = M_k + sum over children Phi_c Mbar_c Phi_c*,   D_k = A_k + H_k M^_k H_k*,
    Mbar_k = M^_k - M^_k H_k* D_k^-1 H_k M^_k.

In floating point the same, with M_k + G_k in the place of M_k and |x* G_k x| <= g_k x* M_k x: the
computed numbers belong to a robot whose inertias are changed by a relative g_k.  All that is behind
that is monotone and homogeneous, so that changes are not added up from body to body: the largest
counts.

Whether a format has the exponents for a robot: underflow and overflow, excluded in every state.

Below the normal numbers an operation is off by less than the least positive number, tiny, and not
by a relative u.  With low below every pivot and every inertia's least eigenvalue, and high above
every entry, that is at most PRODUCTS tiny high^2 / low in an entry of M^ for each child
(docs/theory/guarantee.md, *Limits*).  Where PRODUCTS tiny (high / low)^2 for all children is at most
1e-4 u low it is a ten-thousandth of what is counted for the sum that adds M_k, which the factor
1.25 covers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, Mixed, get_format
from ..base.errors import FormatError
from ..matrix.configuration import in_general
from ..matrix.system import System, build
from ..model.tree import require_graph
from ..order.sequence import TEN, OrderLike, PivotSequence, Rules
from ..proof.idle import span
from ..tape.tape import Tape
from ..tape.trace import trace
from .ranges import Limits, Ranges, ranges_of
from .recursion import Behind, at_rest, pivot_and_size, recursion
from .roundings import roundings
from .support import BOUNDED, Reach, Turn, cancelled, reach, support

Floats = NDArray[np.float64]
PRODUCTS = 500.0  # tiny high^2 / low, of an entry: what all operations of one child lose at most
SINGULAR = 1e-14  # of an inertia's largest eigenvalue: what rounding leaves of one that is zero
FITS = 64.0  # times high^2 or high / low: more than any number that occurs


def singular(system: System, held: Floats, k: int) -> str:
    """Why the inertia of a body, or ``held`` (6, 6) of it in every state, bounds nothing, or ""."""
    tree = system.tree
    own = np.linalg.eigvalsh(tree.inertia[k])
    if not np.isfinite(held).all() or (tree.mass[k] > 0.0 and own[0] > SINGULAR * own[-1]):
        return ""
    eigen = np.linalg.eigvalsh(held)
    if eigen[0] > SINGULAR * eigen[-1]:
        return ""
    why = "a singular inertia" if own[-1] > 0.0 or tree.mass[k] > 0.0 else "no mass"
    return (
        f"body {tree.names[k]}: has {why}, and what hangs on it is not sure to add one in every direction, "
        "by whose least eigenvalue the bound divides; give it an inertia"
    )


def too_narrow(
    system: System, held: Floats, sizes: Reach, moving: NDArray[np.int64], chosen: Format, ranges: Ranges
) -> str:
    """Why the format's exponents may not do for this robot, or an empty sentence."""
    tree, unit = system.tree, chosen.unit
    least, largest = span(chosen)
    # products of Python's floats become infinite where their powers would raise OverflowError
    high = max(1.0, *(float(np.max(x) * np.max(x)) for x in (sizes.size, sizes.carried)))
    low = 1.0
    for k in moving.tolist():
        S = system.entries.S[tree.freedoms_of(k)]
        _, sigma = pivot_and_size(system, held[k], sizes.size[k], k)
        own = S @ held[k] @ S.T  # without armature
        lengths = [float(np.max(sigma, initial=0.0)), *np.abs(S).sum(axis=1).tolist()]
        if tree.parent[k] >= 0:
            lengths.append(float(Turn(system, ranges, k, unit).apply(np.ones(6)).max()))
        high = max(high, max(lengths) * max(lengths))
        # a body without children answers for its pivot alone: nothing is rounded into its inertia
        matrices = [0.5 * (own + own.T), held[k]][: 1 + int((tree.parent == k).any())]
        if not all(np.isfinite(X).all() for X in matrices):  # beyond float64 itself
            low, high = 0.0, np.inf
            break
        if why := singular(system, held[k], k):
            return why
        low = min([low, *(float(np.linalg.eigvalsh(X)[0]) for X in matrices if X.size)])
    children = float(max(1, *np.bincount(tree.parent[tree.parent >= 0], minlength=1)))
    lost = PRODUCTS * children * least
    fits = low > 0.0 and FITS * max(high * high, high / low) <= largest
    if fits and lost * (high / low) * (high / low) <= 1e-4 * unit * low:
        return ""
    return (
        f"format {chosen.name}: with inertias of {low:.0e} to {high:.0e} a product may leave its "
        "range; use a format with more exponent bits, or other units"
    )


# -- the bound ------------------------------------------------------------------------------------


PROVED = {"outer": "abm", "gain": "gain_abm"}  # by the one switch of the order that may differ


@dataclass(frozen=True, eq=False)
class Guarantee:
    """Relative errors ``inertia`` and ``pivot`` (n,) that hold in every state; infinite where none does.

    >>> pt.guarantee(pt.chain(3), pt.orderings.get("virtual_work")).why
    'no bound is proved for virtual_work; there is one for abm and gain_abm'
    """

    inertia: Floats  # (n,) |x* (computed - exact) x| <= inertia_k x* M^_k x
    pivot: Floats  # (n,) relative errors of the pivots of D_k
    worst: Hashable | None  # the body whose own rounding is behind the largest
    why: str  # why nothing can be promised; empty where something is

    @property
    def digits(self) -> float:
        """Decimal digits that every pivot keeps."""
        largest = float(self.pivot.max(initial=0.0))
        return max(0.0, -math.log10(largest)) if largest > 0.0 else math.inf


def guarantee(
    tree: nx.DiGraph[Any],
    order: OrderLike,
    format: str | Format = "float64",
    *,
    limits: Limits = MappingProxyType({}),
) -> Guarantee:
    """Relative errors that no pivot D_k exceeds, in any state of a robot: docs/theory/guarantee.md.

    The states are all joint positions within ``limits``, (low, high) [rad, m] of bodies' joints,
    and else within the model's; sliding joints without limits stay within 0.5 m.  Rates and
    efforts do not enter pivots.  Time and memory grow with the order's operations: O(n) for n bodies.

    Raises ModelError and OrderError as :func:`kkt.build` and :func:`kkt.trace` do, ModelError for a
    body or range of ``limits`` that there is not, and FormatError for a format without a roundoff.

    >>> promised = pt.guarantee(pt.chain(4), pt.orderings.get("abm"), "float32")
    >>> f"{promised.digits:.1f} digits; {promised.worst} is the worst"
    '3.7 digits; j2 is the worst'
    """
    require_graph(tree)
    chosen = get_format(format)
    require_roundoff(chosen)
    system = in_general(build(tree))
    return evaluated(system, trace(system, order), chosen, ranges_of(system, limits))[0]


def evaluated(system: System, tape: Tape, chosen: Format, ranges: Ranges) -> tuple[Guarantee, Behind | None]:
    """Bounds for one order in one format, over all states within the ranges.

    ``tape`` is the order's, traced on this robot; its roundings are what is counted.
    """
    n, unit = system.tree.n, chosen.unit
    why = refusal(system, tape, unit) or _indefinite(system)
    if why:
        return _nothing(n, why), None
    M = np.asarray(chosen.cast(system.entries.M), dtype=float)
    held, sizes = support(system, M), reach(system, ranges, unit)
    why = too_narrow(system, held, sizes, np.flatnonzero(~at_rest(system)), chosen, ranges)
    small = cancelled(system, ranges, sizes, unit)
    if small is not None and not why:
        why = f"joint {system.tree.names[small]}: its rotation and its lever all but cancel"
    if why:
        return _nothing(n, why), None
    total, behind = recursion(system, ranges, M, held, sizes, roundings(tape), unit)
    if total.why:
        return _nothing(n, total.why), None
    return Guarantee(total.inertia, total.pivot, system.tree.names[total.worst], ""), behind


def _indefinite(system: System) -> str:
    """That the theorem, which takes every M_k >= 0, does not hold, or an empty sentence."""
    bodies = system.tree.indefinite()
    if not bodies:
        return ""
    name = system.tree.names[bodies[0]]
    return f"body {name}: its inertia is not positive semidefinite, which the theorem asks of every body"


def _nothing(n: int, why: str) -> Guarantee:
    return Guarantee(np.full(n, np.inf), np.full(n, np.inf), None, why)


def require_roundoff(chosen: Format) -> None:
    """FormatError for a format that has no rounding to bound, or none that is relative."""
    if not chosen.relative:
        raise FormatError(
            f"format {chosen.name!r}",
            "rounds absolutely, the same for small numbers as for large ones, and the bound is for floating "
            "point",
            "use float32 or another of docs/formats.md",
        )
    if isinstance(chosen, Mixed):
        raise FormatError(
            f"format {chosen.name!r}",
            "is several by role or body, and the bound is for one",
            f"use {chosen.base.name}, or pivotree check, which measures formats by role and body",
        )
    if chosen.kind != "float" or not 0.0 < chosen.unit < 1.0:
        raise FormatError(
            f"format {chosen.name!r}",
            "the bound is for floating point of at most float64's digits, each operation rounded once",
            "use float64, float32 or another of docs/formats.md",
        )


def refusal(system: System, tape: Tape, unit: float) -> str:
    """Why the theorem does not speak of this robot, or an empty sentence."""
    tree = system.tree
    order = method(system, tape)
    if order is None:
        return f"no bound is proved for {sequence_of(tape).name}; there is one for abm and gain_abm"
    if system.structure.ties:
        return "loops are closed, and the bound is for trees"
    if unit * tree.n > 1e-3:
        return f"the format has too few digits for {tree.n} bodies"
    if unknown := [k for k in range(tree.n) if tree.joint[k] not in BOUNDED]:
        return f"joint {tree.names[unknown[0]]}: {tree.joint[unknown[0]]}, whose motion has no bound yet"
    several = [k for k in range(tree.n) if tree.dof[k] > 1 and tree.parent[k] >= 0]
    if order == "gain_abm" and several:
        return f"joint {tree.names[several[0]]}: several freedoms, whose gains are not bounded yet"
    return ""


def sequence_of(tape: Tape) -> PivotSequence:
    """The order that a tape was traced for."""
    return tape.program.factor.plan.sequence


def method(system: System, tape: Tape) -> str | None:
    """Which of the orders with a proof this is, by its brackets and switches; None: none."""
    sequence = sequence_of(tape)
    groups = [[tuple(block) for block in group] for group in sequence.groups]
    plain = replace(sequence.rules, rank_update="outer") == Rules()
    if not plain or sequence.links != "whole" or sequence.composites in TEN:
        return None
    brackets = [[("pdd", k), ("qdd", k), ("f", k)] for k in system.structure.tip_to_base]
    return PROVED.get(sequence.rules.rank_update) if groups == brackets else None
