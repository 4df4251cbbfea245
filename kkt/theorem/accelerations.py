"""The second theorem of docs/theory/guarantee_qdd.md, evaluated: how far computed qdd is off, at most.

With J the bodies' Jacobian, the mass matrix is Mass = A + J* blkdiag(M_k) J, and the norm of an
error is that of its energy, |x| = sqrt(x* Mass x).  Computed qdd is exact for inertias M_k + G_k
and forces b_k + f_k, but for what the sweep from base to tip rounds:

    |dqdd|  <=  what G_k does  +  what f_k do  +  sqrt(sum of squares of the innovations).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..arithmetic import Format, get_format
from ..matrix.configuration import in_general
from ..matrix.system import System, build
from ..model.tree import require_graph
from ..order.sequence import OrderLike
from ..proof.idle import span
from ..tape.trace import trace
from .guarantee import Guarantee, evaluated, require_roundoff
from .motion import ByBody, RightSides, Sizes, pushed, sides_of, weight, within
from .ranges import Limits, Ranges, ranges_of
from .recursion import LARGEST, SECOND, Behind, pivot_and_size
from .roundings import eliminated
from .support import UP, share

Floats = NDArray[np.float64]
ROOT3 = math.sqrt(3.0)
# longest paths, where every block is full: entries of M^ a + b^, tau - H b', of Phi times a force
# or Phi* times an acceleration, and tau - H b^ - U* a'; a product, and sums after it
BIAS, PUSH, FRAME, AGAIN = 7, 7, 6, 8
LOST = 1e3  # of n^3 tiny: the energy that operations below the normal numbers amount to, at most


@dataclass(frozen=True, eq=False)
class Accelerations:
    """Errors of qdd that right-hand sides of given sizes do not exceed; infinite where none holds.

    >>> found = pt.guarantee_qdd(pt.chain(2), pt.orderings.get("abm"), rates=1.0, efforts=1.0)
    >>> bool((found.joint < 1e-9).all())
    True
    """

    energy: float  # of the error: sqrt(dqdd* Mass dqdd), at most
    scale: float  # a bound of the same norm of qdd itself
    joint: Floats  # (N,) |error| of each entry of qdd [rad/s^2, m/s^2]
    why: str

    @property
    def digits(self) -> float:
        """Decimal digits of qdd in the energy norm, relative to the scale."""
        if self.energy == 0.0:
            return math.inf
        return max(0.0, -math.log10(self.energy / self.scale)) if not self.why else 0.0


def guarantee_qdd(
    tree: nx.DiGraph[Any],
    order: OrderLike,
    format: str | Format = "float64",
    *,
    rates: ByBody = MappingProxyType({}),
    efforts: ByBody = MappingProxyType({}),
    limits: Limits = MappingProxyType({}),
) -> Accelerations:
    """How far computed qdd is off, at most, in any state of a robot: docs/theory/guarantee_qdd.md.

    The states are those of :func:`kkt.guarantee`, with |qd| at most ``rates`` [rad/s, m/s] and
    |tau| at most ``efforts`` [N m, N]: one number for all joints, or numbers by body.  Else rates
    are the model's, 2 rad/s and 0.5 m/s at most, and efforts the model's, or 10 N m and 10 N; at a
    floating base 0.  No external forces act.

    Raises ModelError, OrderError and FormatError as :func:`kkt.guarantee` does, and ModelError for
    rates and efforts that are none.

    >>> found = pt.guarantee_qdd(pt.chain(4), pt.orderings.get("abm"))
    >>> f"{found.digits:.1f} digits"
    '12.1 digits'
    """
    require_graph(tree)
    chosen = get_format(format)
    require_roundoff(chosen)
    system = in_general(build(tree))
    ranges, effort = sides_of(system, ranges_of(system, limits), rates, efforts)
    bound, behind = evaluated(system, trace(system, order), chosen, ranges)
    return promised(system, ranges, effort, bound, behind, chosen)


def promised(
    system: System, ranges: Ranges, effort: Floats, bound: Guarantee, behind: Behind | None, chosen: Format
) -> Accelerations:
    """The bound over all states with these rates and efforts; of pivots there is one already."""
    terms, why = system.tree.terms, bound.why
    resist = terms is not None and (terms.damping + terms.friction + terms.stiffness).any()
    if resist and not why:
        why = "joints have springs, damping or friction, which are not among the efforts"
    why = why or pushed(system)
    if why or behind is None:
        return Accelerations(math.inf, math.inf, np.full(len(effort), np.inf), why)
    data = within(system, ranges, ranges.rate, effort, behind.M, behind.unit)
    return bounded(system, ranges, behind, data, chosen)


def bounded(system: System, ranges: Ranges, found: Behind, data: RightSides, chosen: Format) -> Accelerations:
    """The bound for all right-hand sides of the sizes ``data``, in all states within the ranges.

    Three parts of the error's energy are summed; each must be small beside what it moves.
    """
    with np.errstate(all="ignore"):
        sizes = Sizes(system, ranges, found, data)
        changed, part = inertias(sizes)
        forces, kept = biases(sizes)
        back, drifts = innovations(sizes)
        energy = SECOND * (changed + forces + back) * UP
        joint, part = sizes.unit * energy, SECOND * part
    why = ""
    if not (math.isfinite(energy) and np.isfinite(joint).all()):
        why = "a link has no inertia of its own in some direction"
    elif not part <= LARGEST:
        why = f"inertias may be changed by {part:.1g}, against the bodies' own"
    elif not (kept and drifts and energy <= LARGEST * sizes.scale):
        why = "what rounding adds to forces and accelerations is not small beside them"
    elif energy > 0.0 and not _exponents(sizes, energy, chosen):
        why = f"format {chosen.name}: a product may leave its range"
    if why:
        return Accelerations(math.inf, sizes.scale, np.full(len(joint), np.inf), why)
    return Accelerations(energy, sizes.scale, joint, "")


def inertias(sizes: Sizes) -> tuple[float, float]:
    """What changed inertias do: the energy of G w, and by how much the mass matrix changes.

    Against bodies' own inertias the largest counts, and against what else holds them the sum: up
    to a part of each body's own all is of the first kind, and the rest of the second.  Of a body on
    the ground what counts is H G w, an effort.
    """
    found, scale = sizes.found, sizes.scale
    plain, on_ground, rows = 0.0, 0.0, [(0.0, 0.0, 0.0)]
    for k in np.flatnonzero(~sizes.still).tolist():
        B = found.unit * found.B[k]
        if not B.any():
            continue
        if sizes.grounded(k) and sizes.tree.dof[k] < 6:
            S = np.abs(sizes.rows(k))
            plain += weight(sizes.pivot[k], S @ B @ np.repeat(sizes.reached[k], 3))
            on_ground += share(sizes.pivot[k], S @ B @ S.T)
            continue
        lifted = float(sizes.size[k] @ sizes.frames[k])
        above = [np.linalg.norm(x) for x in np.split(found.above[k], 2)]
        own, held = found.shares[k]
        rows.append((own, held, held * (scale + math.hypot(lifted, above @ sizes.frames[k]))))
    own, held, cost = np.array(rows).T
    most = own[np.isfinite(own)]
    left = np.where(own > 0.0, 1.0 - np.minimum(most[:, None] / np.where(own > 0.0, own, 1.0), 1.0), 0.0)
    energy = most * scale + left @ cost
    i = int(np.argmin(energy))
    return float(energy[i] + plain), float(most[i] + left[i] @ held + on_ground)


def biases(sizes: Sizes) -> tuple[float, bool]:
    """What is rounded into bias forces on their way to the base, and whether it is small there."""
    found, tree = sizes.found, sizes.tree
    n, unit = tree.n, found.unit
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=n)
    F, added, behind = np.zeros((n, 6)), 0.0, np.zeros(n)
    squares, small = 0.0, True
    for level in reversed(tree.levels):
        for k in level[~sizes.still[level]].tolist():
            # b_k is rounded as it is added to the children's forces, which have errors of their own
            force = (F[k] + found.sizes.size[k] * sizes.bias[k] * bool(children[k])) * unit
            if force.any():
                held = weight(found.least[k], force)
                if sizes.grounded(k) and tree.dof[k] < 6:
                    added += weight(sizes.pivot[k], np.abs(sizes.rows(k)) @ force)
                else:
                    behind[k] += held
                    own = weight(found.M[k], force)
                    if own <= 2.0 * held:
                        squares += own * own
                    else:
                        added += held
                    small &= bool(behind[k] <= LARGEST * sizes.bias[k])
            up = int(tree.parent[k])
            if up >= 0 and not sizes.still[up]:
                # the force that meets the parent, in its frame, and the sum over its children
                behind[up] += behind[k]
                sent = FRAME + children[up] - 1
                total = sizes.bias[k] + sizes.lifted[k] + sizes.effort[k]
                F[up] += found.sizes.carried[k] * (force_units(sizes, k) + sent * total)
    return math.sqrt(squares) + added, small


def force_units(sizes: Sizes, k: int) -> float:
    """Units of rounding in b' + U alpha, times the roots of M^_k's diagonal."""
    N, total = float(sizes.tree.dof[k]), sizes.bias[k] + sizes.lifted[k]
    if not N:
        return float(BIAS * total)
    root = math.sqrt(sizes.found.joints[k, 0])
    with_effort = total + sizes.effort[k]
    r = float(sizes.found.counts.product[k])
    out = (N + 1.0) * total + root * (r + (N + 1.0)) * with_effort
    return float(BIAS * total + out + resting_units(sizes, k))


def resting_units(sizes: Sizes, k: int) -> float:
    """Units of rounding in alpha, the acceleration on a base at rest, its b' rounded as well."""
    total = sizes.bias[k] + sizes.lifted[k]
    root = math.sqrt(sizes.found.joints[k, 0])
    right = PUSH * (sizes.effort[k] + root * total) + root * BIAS * total
    return float(right + pivot_units(sizes, k) * (total + sizes.effort[k]))


def pivot_units(sizes: Sizes, k: int) -> float:
    """Units of a quotient by D_k: a division, or all that a factored D_k takes.

    Rows of L x = b with i terms take i + 1 roundings an entry, those of L* at most N, d one.
    """
    found, N = sizes.found, int(sizes.tree.dof[k])
    eta, in_pivot = found.joints[k]
    if N == 1:
        return float(1.0 + eta * in_pivot)
    own, sigma = pivot_and_size(sizes.system, found.least[k], found.sizes.size[k], k)
    rows = 0.5 * eliminated(N)
    solved = (N + 1.0 + rows[:, None] + rows) * np.outer(sigma, sigma)
    return float(eta * in_pivot + share(own, solved))


def innovations(sizes: Sizes) -> tuple[float, bool]:
    """What the sweep from base to tip rounds, and whether accelerations stay what they are."""
    found, tree = sizes.found, sizes.tree
    drift, squares, small = np.zeros((tree.n, 2)), 0.0, True
    for level in tree.levels:
        for k in level.tolist():
            up, N = int(tree.parent[k]), tree.dof[k]
            turned = np.zeros(2)
            if up >= 0:
                stepped = ROOT3 * sizes.step(k, sizes.reached[up]) + sizes.own[k]
                turned = sizes.step(k, drift[up]) + found.unit * (FRAME + 1) * stepped
            drift[k] = turned
            if N:  # a body's acceleration beside a'_k + H* qdd_k
                drift[k] = turned + found.unit * (N + 1.0) * (sizes.before[k] + joint_motion(sizes, k))
            if sizes.still[k] or not N:
                continue
            rounded = resting_units(sizes, k) if sizes.grounded(k) else qdd_units(sizes, k)
            lost = float(found.unit * rounded + sizes.size[k] @ turned)
            squares += lost * lost
            small &= bool((SECOND * drift[k] <= LARGEST * sizes.reached[k]).all())
    return math.sqrt(squares), small


def qdd_units(sizes: Sizes, k: int) -> float:
    """Units of rounding in qdd_k = (tau - H b^ - U* a') / D_k."""
    root = math.sqrt(sizes.found.joints[k, 0])
    r = float(sizes.found.counts.product[k])
    total = sizes.bias[k] + sizes.seen[k]
    right = (AGAIN + r) * (sizes.effort[k] + root * total)
    return float(right + pivot_units(sizes, k) * (sizes.effort[k] + total))


def joint_motion(sizes: Sizes, k: int) -> Floats:
    """(2,) lengths of |H*| |qdd|; where H has one entry a column that is |w - a'|."""
    along = sizes.along(k)
    if (np.count_nonzero(sizes.rows(k), axis=0) <= 1).all():
        return np.minimum(along, sizes.reached[k] + sizes.before[k])
    return along


def _exponents(sizes: Sizes, energy: float, chosen: Format) -> bool:
    """Whether products of the right-hand side stay within the format's exponents."""
    tree, found = sizes.tree, sizes.found
    least, largest = span(chosen)
    high = max(1.0, float(found.sizes.size.max()), float(found.sizes.carried.max()))
    for k in np.flatnonzero(~sizes.still).tolist():
        _, sigma = pivot_and_size(sizes.system, found.M[k], found.sizes.size[k], k)
        rows = np.abs(sizes.rows(k)).sum(axis=1)
        lengths = [*sigma, *rows, *(sizes.turns[k].apply(np.ones(6)) * (tree.parent[k] >= 0))]
        high = max(high, float(np.max(lengths)))
    motions = (sizes.reached, sizes.before, sizes.own, [sizes.along(k) for k in range(tree.n)])
    forces = (sizes.bias, sizes.lifted, sizes.effort, sizes.data.effort, sizes.data.force)
    top = sum(float(np.max(x, initial=0.0)) for x in (*motions, *forces)) + sizes.scale
    light = [share(found.least[k], np.eye(6)) for k in np.flatnonzero(~sizes.still)]
    worst = max(1.0, float(sizes.unit.max()), *(math.sqrt(x) for x in light if math.isfinite(x)))
    fits = 64.0 * (high * high * top * worst + top) <= largest
    lost = LOST * float(tree.n) ** 3 * least * (high * worst) * (high * worst) * max(1.0, top)
    return bool(fits and lost <= 1e-4 * energy)
