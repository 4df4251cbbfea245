"""What efforts, gravity and rates would do to each joint alone: the size beside which qdd is wrong.

A robot that holds still has qdd = 0, since its efforts carry its weight; what rounding leaves there
is small beside what either would do without the other.  An error of qdd is therefore taken relative
to the largest joint acceleration, or to :data:`SHARE` of what one cause alone would do, where that is
more: in ordinary states it is not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model.mass import locked_inertia
from ..model.parents import levels
from ..model.spatial import Array, matvec, transpose
from ..model.tree import BodyTree
from .entries import Entries
from .system import System

Floats = NDArray[np.float64]
SHARE = 0.01  # less of it than this is what a cancellation has left


def least_size(system: System) -> float:
    """The size [rad/s^2, m/s^2] that an error of qdd is relative to, where no qdd is larger.

    >>> from pivotree.kkt.matrix.unopposed import least_size
    >>> pendulum = pt.build(pt.chain(1), q=[0.3], qd=[0.0], tau=[0.0])
    >>> qdd = pt.eliminate(pendulum, pt.orderings.get("abm")).qdd
    >>> bool(np.isclose(least_size(pendulum), 0.01 * abs(qdd[0])))
    True
    """
    if "_least_size" not in system.__dict__:
        found = unopposed(system.tree, system.entries)
        system.__dict__["_least_size"] = SHARE * float(found.max(initial=0.0))
    return float(system.__dict__["_least_size"])


def unopposed(tree: BodyTree, entries: Entries) -> Floats:
    """(N,) accelerations [rad/s^2, m/s^2] that one cause would give, all joints beyond locked.

    The inertia that a joint moves then is the diagonal of the joint-space inertia.  A joint that
    moves none has 0.
    """
    efforts, inertia = efforts_alone(tree, entries)
    return alone(np.abs(efforts).max(axis=0, initial=0.0), inertia)


def alone(efforts: Array, inertia: Array) -> Array:
    """(N,) what efforts do to the inertia that their joints move, in any number type; 0 without one.

    An inertia of an array of objects that is no float depends on the state, and is there.
    """
    moves = inertia > 0.0 if inertia.dtype != object else [not isinstance(x, float) or x > 0 for x in inertia]
    return np.divide(efforts, inertia, out=np.full_like(efforts, 0.0), where=np.asarray(moves, dtype=bool))


def efforts_alone(tree: BodyTree, entries: Entries) -> tuple[Floats, Floats]:
    """(3, N) efforts [N m, N] that act alone, and (N,) the inertia that each joint would move.

    They are tau, what holds gravity, and what holds rates, wrenches and biases: inverse dynamics of
    the open tree at qdd = 0 (Featherstone, Rigid Body Dynamics Algorithms, section 5.3).
    """
    e, Phi, parent = entries, entries.Phi, tree.parent
    depth = levels(parent)[1:]
    owner = np.repeat(np.arange(tree.n), tree.dof)
    # accelerations without qdd, outwards: of gravity, which enters at the roots, and of rates
    roots = np.flatnonzero(parent < 0)
    base = np.concatenate([np.zeros(3), -tree.gravity])
    lift = np.zeros_like(e.a)
    lift[roots] = matvec(transpose(Phi[roots]), np.broadcast_to(base, (len(roots), 6)))
    alpha = np.stack([lift, e.a - lift], axis=2)
    for level in depth:
        alpha[level] += transpose(Phi[level]) @ alpha[parent[level]]
    # forces on subtrees, inwards
    force = e.M @ alpha
    force[:, :, 1] += e.b
    for level in reversed(depth):
        np.add.at(force, parent[level], Phi[level] @ force[level])
    held = (e.S[:, None, :] @ force[owner])[:, 0, :]
    moved = locked_inertia(parent, Phi, e.M, e.S, owner)
    return np.vstack([e.tau, held.T]), moved + (e.A if len(e.A) else 0.0)
