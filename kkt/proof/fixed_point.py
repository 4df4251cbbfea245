"""ABM on words of one length: binary points by proof, and what rounding then does to pivots.

docs/fixed_point.md.  The first theorem of docs/guarantee.md takes what is rounded into M^_k by the
size of its entries alone.  In fixed point that size is known exactly: half a unit of each last
place.  So the same recursion holds, with absolute errors in the place of counted ones.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..arithmetic.words import LONGEST, Words
from ..base.errors import FormatError
from ..base.kinds import of_kind
from ..matrix.entries import LETTERS
from ..matrix.ranges import Limits, Ranges, ranges_of
from ..matrix.system import System, build, in_general
from ..model.tree import require_graph
from ..tape.tape import Tape
from ..tape.trace import trace
from .accelerations import Accelerations
from .fixed_qdd import accelerations
from .guarantee import method, refusal, sequence_of
from .joint_inertia import LARGEST, PHI
from .motion import Sizes
from .points import NoPivot, Off, Walk, Walked, point_of
from .reach import UP, Reach, has_armature, reach
from .recursion import Behind, Recursion, firm
from .rightsides import Given, pushed, sides_of, within
from .roundings import roundings
from .support import support

Floats = NDArray[np.float64]
SHORTEST = 8  # bits of a word
GROWN = 1.05  # computed sizes over exact ones: 1.02 by the theorems, 1.01 by D, and data
# of Phi, a and b, sizes that are as good as zero: what float64 leaves there is no word
COARSEST = 2.0**-12


@dataclass(frozen=True)
class FixedPoint:
    """ABM of one robot on words: the program, and what holds in every state.

    >>> found = pt.fixed_point(pt.chain(3), pt.orderings.get("abm"), 32)
    >>> found.why, f"{found.digits:.1f} digits"
    ('', '6.9 digits')
    """

    bits: int  # of a word
    system: System
    tape: Tape
    words: Words | None  # None where there is no proof
    walked: Walked | None
    pivot: Floats  # (n,) relative errors of the pivots D_k, at most
    worst: Hashable | None  # the body whose own rounding is behind the largest
    qdd: Accelerations
    why: str  # why nothing can be promised; empty where something is

    @property
    def digits(self) -> float:
        """Decimal digits that every pivot keeps."""
        largest = float(self.pivot.max(initial=0.0))
        return max(0.0, -math.log10(largest)) if largest > 0.0 else math.inf

    def points(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Least and largest binary points, by quantity and body."""
        found: dict[str, dict[str, tuple[int, int]]] = {}
        if self.walked is not None:
            for (body, what), points in self.walked.points.items():
                own = found.setdefault(what, {})
                own[str(self.system.tree.names[body])] = int(points.min()), int(points.max())
        return found


@of_kind
def fixed_point(
    tree: nx.DiGraph,
    order: Any,
    bits: int = 32,
    *,
    rates: Given = MappingProxyType({}),
    efforts: Given = MappingProxyType({}),
    limits: Limits = MappingProxyType({}),
) -> FixedPoint:
    """Binary points with which no operation overflows, in any state of a robot.

    ``bits`` is the length of a word; states, rates and efforts are those of
    :func:`kkt.guarantee_qdd`.  Raises FormatError for words of less than 8 or more than 32 bits,
    and ModelError and OrderError as :func:`kkt.guarantee_qdd` does.

    >>> found = pt.fixed_point(pt.chain(3), pt.orderings.get("crbm"))
    >>> found.why
    'binary points are proved for abm alone, not for crbm'
    """
    require_graph(tree)
    require_length(bits)
    system = in_general(build(tree))
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    return pointed(system, trace(system, order), ranges, effort, bits)


def require_length(bits: int) -> None:
    """FormatError for words that are too short, or whose products do not fit into 64 bits."""
    if not SHORTEST <= bits <= LONGEST:
        raise FormatError(
            f"format fixed{bits}: {bits} bits are no length of a word; use {SHORTEST} to {LONGEST},"
            " as in fixed32"
        )


def pointed(system: System, tape: Tape, ranges: Ranges, effort: Floats, bits: int) -> FixedPoint:
    """The same for a tape, over all states within the ranges."""
    tree, unit = system.tree, math.ldexp(1.0, 2 - bits)
    why = _refused(system, tape, unit)
    if why:
        return _none(system, tape, bits, why)
    M = rounded(system.entries.M, bits)
    held, sizes = support(system, M), reach(system, ranges, unit)
    behind = _before(system, M, firm(system, M, held, sizes, unit), sizes, tape, unit)
    data = within(system, ranges, ranges.rate, effort, M, unit)
    with np.errstate(all="ignore"):
        known = Known(Sizes(system, ranges, behind, data))
    if known.weak is not None:
        body = tree.names[known.weak]
        return _none(system, tape, bits, f"joint {body}: no inertia of its own in some direction")
    inputs, places = known.inputs(tape)
    walk = Walk(tape, bits, inputs, places, known.of, known.pivots / GROWN)
    try:
        walked = walk.walked()
    except NoPivot as error:
        body = tree.names[walk.bodies[error.step]]
        return _none(system, tape, bits, f"joint {body}: its pivot may be rounded to zero")
    found = InWords(system, ranges, M, held, sizes, behind.counts, unit, set(), walked)
    with np.errstate(all="ignore"):
        total = found.total()
    if total.why:
        return _none(system, tape, bits, total.why)
    qdd = accelerations(Sizes(system, ranges, found.behind(), data), walked, known.most)
    if qdd.why:  # without it nothing is known of the right-hand sides' sizes
        return _none(system, tape, bits, qdd.why)
    worst = tree.names[total.worst]
    return FixedPoint(bits, system, tape, walked.words, walked, total.pivot, worst, qdd, "")


def rounded(values: Floats, bits: int) -> Floats:
    """Each number in a word of its own binary point, as :class:`kkt.arithmetic.words.Words`."""
    points = np.array([point_of(abs(x), bits) for x in values.ravel().tolist()])
    points = points.reshape(values.shape)
    return np.asarray(np.ldexp(np.floor(np.ldexp(values, points) + 0.5), -points))


class Known:
    """What is known in every state of the quantities that ABM computes, by body."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes, tree = sizes, sizes.tree
        self.turns, self.reach = sizes.turns, sizes.found.sizes
        n = tree.n
        self.pivots, self.most = np.zeros((2, n))  # of D_k: at least, at most
        for k in range(n):
            if tree.dof[k]:
                self.pivots[k] = float(sizes.pivot[k][0, 0])
                along = float(np.abs(sizes.rows(k))[0] @ self.reach.size[k])
                along *= along
                if has_armature(sizes.system, k):
                    along += float(sizes.system.entries.A[tree.offset[k]])
                self.most[k] = along
        self.total = sizes.bias + sizes.lifted + sizes.effort
        weak = ~((self.pivots > 0.0) | sizes.still | (tree.dof == 0))
        weak |= ~np.isfinite(sizes.data.force) & ~sizes.still
        rest = ~(np.isfinite(self.total) & np.isfinite(sizes.reached).all(axis=1))
        found = np.flatnonzero(weak if weak.any() else rest)
        self.weak = int(found[0]) if len(found) else None  # the first body without a bound

    def inputs(self, tape: Tape) -> tuple[Floats, NDArray[np.int64]]:
        """Sizes of the entries of (4), and their slots."""
        sizes, tree, data = self.sizes, self.sizes.tree, self.sizes.data
        entries, none = sizes.system.entries, np.zeros(0)
        M, floor = np.abs(sizes.found.M), COARSEST * np.ones((tree.n, 6, 6))
        floor[:, :3, 3:] *= np.array([turn.far for turn in self.turns])[:, None, None]
        Phi = np.array([self.carried(k, np.eye(6)) for k in range(tree.n)])
        b = np.sqrt(np.einsum("kii->ki", M) * GROWN) * data.force[:, None]
        of = {
            "M": M,
            "Phi": np.maximum(Phi, floor),
            "S": np.abs(entries.S),
            "a": np.maximum(np.repeat(sizes.own, 3, axis=1), COARSEST),
            "b": np.maximum(b, COARSEST * M.max(axis=(1, 2))[:, None]),
            "tau": data.effort,
            "A": np.abs(entries.A),
            "G": none,
            "gamma": none,
            "compliance": none,
        }
        found, places = [], []
        for letter in LETTERS:
            slots = np.triu(tape.inputs.M) if letter == "M" else tape.inputs.slots(letter)
            take = slots > 1
            places.append(slots[take])
            found.append(of[letter][take] if take.any() else none)
        return np.concatenate(found) * UP, np.concatenate(places)

    def carried(self, k: int, X: Floats) -> Floats:
        """(6, m) |Phi_k| X in every state, for X (6, m) without signs."""
        return np.stack([self.turns[k].apply(x) for x in X.T], axis=1)

    def of(self, k: int, what: str, off: Off) -> Floats | None:
        """Bounds of a quantity's entries, computed from what is rounded already."""
        s, t, reach = self.sizes, self.total[k], self.reach
        size = reach.size[k]
        if what == "M^" or what == "U D^-1 U*":
            return _outer(size, size) * GROWN
        if what == "Mbar":
            return _outer(reach.handed[k], reach.handed[k]) * GROWN
        if what in ("Mbar Phi*", "Phi Mbar Phi*"):
            left = self.carried(k, off.get((k, "Mbar"), np.zeros((6, 6)))).T
            if what == "Mbar Phi*":
                return _outer(reach.handed[k], reach.sent[k]) * GROWN + left
            return _outer(reach.sent[k], reach.sent[k]) * GROWN + self.carried(k, left)
        if what == "D":
            return np.array([[self.most[k]]]) * GROWN
        column = {
            "b^": lambda: size * s.bias[k],
            "b'": lambda: size * (s.bias[k] + s.lifted[k]),
            "alpha": lambda: np.array([t / math.sqrt(self.pivots[k])]),
            "h": lambda: size * t,
            "Phi h": lambda: reach.carried[k] * t,
            "a'": lambda: np.repeat(s.before[k] + s.own[k], 3),
            "qdd": lambda: s.unit[s.here(k)] * s.scale,
            "w": lambda: np.repeat(s.reached[k], 3),
        }.get(what)
        return None if column is None else column()[:, None] * GROWN


@dataclass
class InWords(Recursion):
    """The recursion with what words round, in absolute numbers, in the place of counts."""

    walked: Walked | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for k in np.flatnonzero(~self.still & (self.system.tree.dof > 0)).tolist():
            off = float(self.off(k, "D", (1, 1))[0, 0])
            self.joints[k] = 1.0, off / (self.pivot(k) * self.unit)

    def off(self, k: int, what: str, shape: tuple[int, int] = (6, 6)) -> Floats:
        assert self.walked is not None
        return self.walked.off.get((k, what), np.zeros(shape))

    def pivot(self, k: int) -> float:
        """What D_k is at least."""
        S = self.rows(k)
        own = float((S @ self.least[k] @ S.T)[0, 0])
        if has_armature(self.system, k):
            own += float(self.system.entries.A[self.system.tree.offset[k]])
        return own

    def handed(self, k: int) -> Floats:
        """(6, 6) what is rounded into Mbar_k, entry by entry."""
        E = self.off(k, "Mbar")
        if not self.system.tree.dof[k]:
            return E
        least, size = self.pivot(k), self.sizes.size[k]
        beside = _outer(size, self.off(k, "U", (6, 1))[:, 0]) / math.sqrt(least)
        return E + beside + beside.T + _outer(size, size) * self.off(k, "D", (1, 1)) / least

    def rounded(self, k: int) -> Floats:
        """(6, 6) B_k: what is rounded into M^_k, in units."""
        B = self.off(k, "M^").copy()
        for c in self.children[k]:
            turn = self.turns[c]
            left = np.stack([turn.apply(x) for x in self.handed(c)], axis=1)
            B += self.off(c, "Phi Mbar Phi*") + np.stack([turn.apply(x) for x in left.T], axis=1)
            B += PHI * LARGEST * self.unit * _outer(self.sizes.carried[c], self.sizes.carried[c])
        return np.asarray(B / self.unit) if self.children[k] else np.zeros((6, 6))


def _refused(system: System, tape: Tape, unit: float) -> str:
    """Why nothing is proved of this robot in fixed point, or an empty sentence."""
    tree = system.tree
    if method(system, tape) != "abm":
        return f"binary points are proved for abm alone, not for {sequence_of(tape).name}"
    several = np.flatnonzero(tree.dof > 1)
    if len(several):
        k = int(several[0])
        return f"joint {tree.names[k]}: {tree.joint[k]}, and only joints of one freedom are proved"
    terms = tree.terms
    if terms is not None and (terms.damping + terms.friction + terms.stiffness).any():
        return "joints have springs, damping or friction, which are not among the efforts"
    if pushed(system):
        return pushed(system)
    return refusal(system, tape, unit)


def _before(system: System, M: Floats, least: Floats, sizes: Reach, tape: Tape, unit: float) -> Behind:
    """What sizes of right-hand sides are computed from, before anything is rounded."""
    n = system.tree.n
    two, six = np.zeros((n, 2)), np.zeros((n, 6))
    return Behind(M, least, np.zeros_like(M), two, two, six, sizes, roundings(tape), unit)


def _none(system: System, tape: Tape, bits: int, why: str) -> FixedPoint:
    N = int(system.tree.offset[-1])
    nothing = Accelerations(math.inf, math.inf, np.full(N, np.inf), why)
    pivot = np.full(system.tree.n, np.inf)
    return FixedPoint(bits, system, tape, None, None, pivot, None, nothing, why)


def _outer(x: Floats, y: Floats) -> Floats:
    return np.asarray(x[:, None] * y[None, :])
