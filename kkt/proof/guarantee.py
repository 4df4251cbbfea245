"""The theorem of docs/guarantee.md, evaluated: from a robot to the digits of its pivots.

In exact arithmetic, tip to base,

    M^_k = M_k + sum over children Phi_c Mbar_c Phi_c*,   D_k = A_k + H_k M^_k H_k*,
    Mbar_k = M^_k - M^_k H_k* D_k^-1 H_k M^_k.

In floating point the same, with M_k + G_k in the place of M_k and |x* G_k x| <= g_k x* M_k x: the
computed numbers belong to a robot whose inertias are changed by a relative g_k.  All that is behind
that is monotone and homogeneous, so that changes are not added up from body to body: the largest
counts.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..base.errors import FormatError
from ..matrix.ranges import Limits, Ranges, ranges_of
from ..matrix.system import System, build
from ..model.payload import Payload, carrying
from ..order.sequence import PivotSequence, Rules
from ..tape.tape import Tape
from ..tape.trace import trace
from .joint_inertia import LARGEST, PHI, SECOND, composites
from .loewner import share
from .reach import Reach, has_armature, reach
from .roundings import Roundings, roundings
from .span import too_narrow
from .support import support

Floats = NDArray[np.float64]
LOCAL = 0.01  # of a pivot, by its own rounding
DEFINITE = 0.5  # of an inertia that is left to the parent, at most
PROVED = {"outer": "abm", "gain": "gain_abm"}  # by the one switch of the order that may differ


@dataclass(frozen=True)
class Guarantee:
    """What holds in every state; ``inertia`` and ``pivot`` are infinite where nothing does.

    >>> pt.guarantee(pt.chain(3), pt.orderings.get("virtual_work")).why
    'no bound is proved for virtual_work; there is one for abm, gain_abm and crbm'
    """

    inertia: Floats  # (n,) |x* (computed - exact) x| <= inertia_k x* M^_k x, of crbm x* M^C_k x
    pivot: Floats  # (n,) relative errors of the pivots of D_k
    worst: Hashable | None  # the body whose own rounding is behind the largest
    why: str  # why nothing can be promised; empty where something is

    @property
    def digits(self) -> float:
        """Decimal digits that every pivot keeps."""
        largest = float(self.pivot.max(initial=0.0))
        return max(0.0, -math.log10(largest)) if largest > 0.0 else math.inf


def guarantee(
    tree: nx.DiGraph,
    order: Any,
    format: str | Format = "float64",
    *,
    payloads: Sequence[Payload] = (),
    limits: Limits = MappingProxyType({}),
) -> Guarantee:
    """Relative errors that no pivot D_k exceeds, in any state of a robot: docs/guarantee.md.

    The states are all joint positions within ``limits``, (low, high) [rad, m] of bodies' joints,
    and else within the model's; sliding joints without limits stay within 0.5 m.  Rates and
    efforts do not enter pivots.  ``payloads`` are carried, each of any mass in its range.

    Raises ModelError and OrderError as :func:`kkt.build` and :func:`kkt.trace` do, ModelError for a
    body or range of ``limits`` and ``payloads`` that there is not, and FormatError for a format
    without a roundoff.

    >>> promised = pt.guarantee(pt.chain(4), pt.orderings.get("abm"), "float32")
    >>> f"{promised.digits:.1f} digits; {promised.worst} is the worst"
    '3.6 digits; j2 is the worst'
    """
    chosen = get_format(format)
    require_roundoff(chosen)
    light, heavy = loaded(tree, payloads)
    return guaranteed(light, heavy, trace(heavy, order), chosen, ranges_of(heavy, limits))


def loaded(tree: nx.DiGraph, payloads: Sequence[Payload]) -> tuple[System, System]:
    """(4) with the least payloads, and with the greatest: one system where there are none."""
    heavy = build(carrying(tree, payloads))
    return build(carrying(tree, payloads, most=False)) if payloads else heavy, heavy


@dataclass(frozen=True)
class Behind:
    """What the bounds of pivots were computed from, of n bodies; bodies at rest are left at zero.

    What is rounded into M^_k is at most ``unit`` |x|* B_k |x|, in all that follow from it.
    """

    M: Floats  # (n, 6, 6) inertias
    least: Floats  # (n, 6, 6) lower bounds of M^_k: M_k, or what children hold up as well
    B: Floats  # (n, 6, 6)
    joints: Floats  # (n, 2) eta of the joint, and units of rounding in its pivot
    sizes: Reach
    counts: Roundings
    unit: float


def guaranteed(
    light: System, heavy: System, tape: Tape, chosen: Format, ranges: Ranges
) -> Guarantee:
    """Bounds for one order in one format, over all states within the ranges: :func:`evaluated`."""
    return evaluated(light, heavy, tape, chosen, ranges)[0]


def evaluated(
    light: System, heavy: System, tape: Tape, chosen: Format, ranges: Ranges
) -> tuple[Guarantee, Behind | None]:
    """Bounds for one order in one format, over all states within the ranges.

    ``tape`` is the order's, traced on the robot with its greatest payloads, ``heavy``; its
    roundings are what is counted.  Inertias are at least those of ``light``.
    """
    n, unit = heavy.tree.n, chosen.unit
    why = refusal(heavy, tape, unit)
    if why:
        return _nothing(n, why), None
    M = least_inertias(light, heavy, chosen)
    rigid = method(heavy, tape) == "crbm"
    held, sizes = support(heavy, M), reach(heavy, ranges, unit, rigid)
    why = too_narrow(heavy, held, sizes, np.flatnonzero(~at_rest(heavy)), chosen)
    if why:
        return _nothing(n, why), None
    if rigid:
        return _of_joint_inertia(heavy, M, ranges, unit), None
    return _recursion(heavy, M, held, sizes, unit, roundings(tape))


def _nothing(n: int, why: str) -> Guarantee:
    return Guarantee(np.full(n, np.inf), np.full(n, np.inf), None, why)


def _of_joint_inertia(system: System, M: Floats, ranges: Ranges, unit: float) -> Guarantee:
    """The bound where composites are formed, and M(q) is factored."""
    tree, found = system.tree, composites(system, M, ranges, unit)
    inertia, joint = SECOND * unit * found.inertia, SECOND * unit * found.joint
    worst = tree.names[found.worst]
    if not inertia.max() <= LARGEST:
        return _nothing(tree.n, _light(tree.names[int(inertia.argmax())], float(inertia.max())))
    if not math.isfinite(joint):
        return _nothing(tree.n, f"body {worst}: no inertia of its own in some direction")
    if not joint <= LARGEST:
        return _nothing(tree.n, (
            f"rounding the joint-space inertia may change it by {joint:.1g} of itself, most where "
            f"body {worst} moves, which is light beside what it carries; abm does not form it"
        ))  # fmt: skip
    pivot = np.full(tree.n, (inertia.max() + joint) * (1.0 + LARGEST))
    return Guarantee(inertia, pivot, worst, "")


def least_inertias(light: System, heavy: System, chosen: Format) -> Floats:
    """(n, 6, 6) what M_k is at least, as the format holds it, with any of the payloads.

    Without payloads that is M_k itself.  With one, inertias grow with its mass, but rounding them
    may take u |M_ij| from each entry: in the Loewner order less than 6 u times the diagonal of the
    heaviest, and a seventh covers what float64 rounds here.
    """
    if light is heavy:
        return np.asarray(chosen.cast(light.entries.M), dtype=float)
    taken = 7.0 * chosen.unit * np.einsum("kii->ki", heavy.entries.M)
    return light.entries.M - taken[:, :, None] * np.eye(6)


def require_roundoff(chosen: Format) -> None:
    """FormatError for a format that has no rounding to bound."""
    if not 0.0 < chosen.unit < 1.0:
        raise FormatError(f"format {chosen.name!r}: has no unit roundoff that a bound could use")


def refusal(system: System, tape: Tape, unit: float) -> str:
    """Why the theorem does not speak of this robot, or an empty sentence."""
    tree = system.tree
    order = method(system, tape)
    if order is None:
        some = ", ".join(PROVED.values())
        return f"no bound is proved for {sequence_of(tape).name}; there is one for {some} and crbm"
    if system.structure.ties:
        return "loops are closed, and the bound is for trees"
    if unit * tree.n > 1e-3:
        return f"the format has too few digits for {tree.n} bodies"
    turning = [k for k in range(tree.n) if tree.joint[k] == "universal"]
    if turning:
        return f"joint {tree.names[turning[0]]}: universal, its axes change with q"
    several = [k for k in range(tree.n) if tree.dof[k] > 1 and tree.parent[k] >= 0]
    if order == "gain_abm" and several:
        return f"joint {tree.names[several[0]]}: several freedoms, whose gains are not bounded yet"
    return ""


def sequence_of(tape: Tape) -> PivotSequence:
    """The order that a tape was traced for."""
    assert tape.program.symbolic is not None
    return tape.program.symbolic.plan.sequence


def method(system: System, tape: Tape) -> str | None:
    """Which of the orders with a proof this is, by its brackets and switches; None: none."""
    sequence, bodies = sequence_of(tape), system.structure.tip_to_base
    groups = [[tuple(block) for block in group] for group in sequence.groups]
    plain = replace(sequence.rules, rank_update="outer") == Rules()
    if not plain or sequence.links != "whole" or sequence.composites != "general":
        return None
    if groups == [[("pdd", k), ("qdd", k), ("f", k)] for k in bodies]:
        return PROVED.get(sequence.rules.rank_update)
    together = [[("pdd", k), ("f", k)] for k in bodies] + [[("qdd", k)] for k in bodies]
    return "crbm" if groups == together and sequence.rules == Rules() else None


def _recursion(
    system: System, M: Floats, held: Floats, sizes: Reach, unit: float, counts: Roundings
) -> tuple[Guarantee, Behind | None]:
    tree = system.tree
    n = tree.n
    inertia, pivot = np.zeros(n), np.zeros(n)
    B, C, merged = np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), np.zeros(n, dtype=int)
    lower, joints = np.zeros((n, 6, 6)), np.zeros((n, 2))
    blame: list[int] = list(range(n))
    reason = ""
    still = at_rest(system)
    for level in reversed(tree.levels):
        for k in level.tolist():
            if still[k]:
                continue
            left = np.zeros(6)
            if merged[k]:
                B[k] += _gathered(counts, sizes, tree.parent, k)
                behind = inertia[k]
                found = _absorbed(system, M[k], held[k], B[k], unit, k, behind)
                part = _passed_on(system, M, held[k], B[k], unit, k, found)
                if part.any():
                    less = _absorbed(system, M[k], held[k], B[k] - np.diag(part), unit, k, behind)
                    # computed inertias stay definite, and as small as sizes take them to be
                    grown = (SECOND * unit * part / sizes.size[k] ** 2).max()
                    if less < found and less + grown <= LARGEST:
                        found, left = less, part
                if not found <= LARGEST and not reason:
                    reason = _light(tree.names[k], found)
                if found > behind:
                    blame[k] = k
                inertia[k] = found
            firm = SECOND * unit * share(held[k], PHI * C[k]) <= LARGEST
            least = held[k] if firm else M[k]
            eta, in_pivot, out = _joint(system, least, sizes.size[k], k, counts)
            lower[k], joints[k] = least, (eta, in_pivot)
            local = SECOND * unit * in_pivot * eta if in_pivot else 0.0
            if not math.isfinite(eta) and not reason:
                reason = f"joint {tree.names[k]}: no inertia of its own in some direction"
            elif not local <= LOCAL and not reason:
                reason = f"joint {tree.names[k]}: rounding its pivot may change it by {local:.1g}"
            pivot[k] = (inertia[k] + local) * (1.0 + LARGEST)
            up = int(tree.parent[k])
            if up >= 0 and not still[up]:
                B[up] += counts.frame[k] * _outer(sizes.sent[k])
                B[up] += out * _outer(sizes.carried[k])
                B[up] += _anywhere(system, left, k)
                C[up] += _outer(sizes.carried[k])
                merged[up] += 1
                if inertia[k] > inertia[up]:
                    inertia[up], blame[up] = inertia[k], blame[k]
    if reason:
        return _nothing(n, reason), None
    promise = Guarantee(inertia, pivot, tree.names[blame[int(pivot.argmax())]], "")
    return promise, Behind(M, lower, B, joints, sizes, counts, unit)


def at_rest(system: System) -> NDArray[np.bool_]:
    """(n,) bodies that no joint moves: their inertia is in no pivot."""
    still = np.zeros(system.tree.n, dtype=bool)
    for level in system.tree.levels:
        above = system.tree.parent[level]
        still[level] = (system.tree.dof[level] == 0) & ((above < 0) | still[above])
    return still


def _gathered(counts: Roundings, sizes: Reach, parent: NDArray[np.int64], k: int) -> Floats:
    """Roundings where children's inertias are summed and M_k is added: the last sum is of M^_k."""
    handed = sum(_outer(sizes.sent[c]) for c in np.flatnonzero(parent == k))
    of_children = np.maximum(counts.gathered[k] - 1, 0) * handed
    return np.asarray(of_children + np.minimum(counts.gathered[k], 1) * _outer(sizes.size[k]))


def _absorbed(
    system: System, M: Floats, held: Floats, B: Floats, unit: float, k: int, behind: float
) -> float:
    """By how much, relatively, M^_k may be changed, with what is ``behind`` it in its subtree.

    Against the body's own inertia the larger counts; against what children hold up as well, the
    two add up.  Of a body on the ground only the directions of its joint matter.
    """
    tree = system.tree
    if tree.parent[k] < 0:
        S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
        M, held, B = (x @ y @ x.T for x, y in ((S, M), (S, held), (np.abs(S), B)))
    own, with_children = (SECOND * unit * share(x, B) for x in (M, held))
    return min(max(own, behind), with_children + behind)


def _passed_on(
    system: System, M: Floats, held: Floats, B: Floats, unit: float, k: int,
    found: float,
) -> Floats:  # fmt: skip
    """(6,) of the diagonal of B, what is left to the parent: rotations in which the body is light.

    A joint about an axis of the frame does not touch them, and no turn of it makes more of them.
    """
    tree, up, left = system.tree, system.tree.parent[k], np.zeros(6)
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    if up < 0 or tree.joint[k] not in ("revolute", "continuous") or np.count_nonzero(S) != 1:
        return left
    part = SECOND * unit * np.diagonal(B) / np.diagonal(held)
    light = (part > 0.1 * found) & (S[0] == 0.0) & (np.arange(6) < 3)
    left[light] = np.diagonal(B)[light]
    if SECOND * unit * share(held, np.diag(left)) > DEFINITE:
        return np.zeros(6)
    heavier = SECOND * unit * share(M[up], _anywhere(system, left, k)) < 0.5 * found
    return left if heavier else np.zeros(6)


def _anywhere(system: System, left: Floats, k: int) -> Floats:
    """(6, 6) what is left of body k, in its parent's frame: at least that in every state."""
    tree = system.tree
    largest, out = float(left.max(initial=0.0)), np.zeros((6, 6))
    if largest > 0.0:
        across = np.abs(system.entries.S[tree.offset[k], :3]) != 1.0
        R = tree.R[k]
        out[:3, :3] = np.abs((R * across) @ R.T) * largest * (1.0 + 1e-6)
    return out


def _joint(
    system: System, M: Floats, size: Floats, k: int, counts: Roundings
) -> tuple[float, float, float]:
    """eta of a joint, and roundings in its pivot and in Mbar: in units, times eta and times size^2.

    H M^ takes ``product`` roundings an entry, D another ``pivot``; eliminating N freedoms N + 1.
    """
    tree = system.tree
    N = int(tree.dof[k])
    if N == 0:
        return 1.0, 0.0, PHI * LARGEST
    S = system.entries.S[tree.offset[k] : tree.offset[k + 1]]
    r, more = float(counts.product[k]), float(counts.pivot[k])
    last = float(counts.beside[k])
    before = 0.0 if N == 1 else N + 1.0
    added = has_armature(system, k)
    in_pivot = before + r + more
    own, sigma = S @ M @ S.T, np.abs(S) @ size
    extra = np.zeros((N, N))
    if added:
        extra = np.diag(system.entries.A[tree.offset[k] : tree.offset[k + 1]])
    sigma = np.sqrt(sigma * sigma + np.diagonal(extra))
    own = 0.5 * (own + own.T) + extra
    # without inertia in the direction of a joint there is no pivot, however little is rounded
    eta = share(own, _outer(sigma)) if (np.diagonal(own) > 0.0).all() else math.inf
    if not in_pivot and math.isfinite(eta):
        eta = 1.0
    root = math.sqrt(eta)
    return eta, in_pivot, PHI * LARGEST + last + 2.0 * root * (before + r) + eta * in_pivot


def _outer(x: Floats) -> Floats:
    return np.outer(x, x)


def _light(body: Hashable, own: float) -> str:
    if not math.isfinite(own):
        return f"body {body}: no inertia of its own in some direction, and children with inertia"
    return (
        f"body {body}: what its children hand to it, rounded, may be {own:.1g} of its inertia; "
        "a heavier link, a shorter or lighter subtree, or a longer format would help"
    )
