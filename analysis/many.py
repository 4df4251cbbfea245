"""Many states of one tree at a time: a forest of copies, each in a state of its own.

Poses, bias and entries of (4) are formed by the same operations on more bodies, so that every copy
agrees bit for bit with a system that is built alone.
"""

from __future__ import annotations

from dataclasses import astuple, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.matrix.closures import closures
from pivotree.kkt.matrix.entries import Entries, Pattern, assemble
from pivotree.kkt.matrix.state import State, kinematics, node_field
from pivotree.kkt.matrix.system import SHARE, System, unopposed
from pivotree.kkt.model.joints import JointTerms
from pivotree.kkt.model.loops import Loop
from pivotree.kkt.model.tree import BodyTree

Floats = NDArray[np.float64]


def forest_of(system: System, q: Floats, qd: Floats) -> tuple[BodyTree, Entries]:
    """m copies of a system's tree, at q and qd (m, N), and the entries of (4) for efforts 0.

    Biases and wrenches come from the tree.  Rows of loops are those of each copy, one copy after
    another; whether they depend on each other in a state is not checked.
    """
    m, forest = len(q), copies(system.tree, len(q))
    R, p, S, bias = kinematics(forest, q.ravel(), qd.ravel())
    own, wrench = (node_field(system.tree, system.graph, name) for name in ("bias", "wrench"))
    state = State(
        forest.names,
        forest.parent,
        R,
        p,
        S,
        forest.mass,
        forest.com,
        forest.inertia,
        q.ravel(),
        qd.ravel(),
        np.zeros(q.size),
        forest.gravity,
        bias + _tiled(own, m),
        _tiled(wrench, m),
        closures(forest, R, p, q.ravel(), _copied(system, m)),
        None if forest.terms is None else forest.terms.at(q.ravel(), forest.sprung_balls),
        system.state.step,
    )
    return forest, assemble(state)


def _copied(system: System, m: int) -> list[Loop]:
    """The loops of m copies, copy by copy, on bodies called 0, 1, 2, ..."""
    index, n = system.structure.index, system.tree.n

    def of(loop: Loop, i: int) -> Loop:
        first, second = (None if b is None else i * n + index[b] for b in loop.bodies)
        return replace(loop, bodies=(first, second), beside=loop.beside and of(loop.beside, i))

    return [of(loop, i) for i in range(m) for loop in system.loops]


def copies(tree: BodyTree, m: int) -> BodyTree:
    """m copies of a tree, one after another; bodies are called 0, 1, 2, ..."""
    n = tree.n
    first = n * np.arange(m)[:, None]
    parent = np.where(tree.parent < 0, -1, tree.parent + first).ravel()
    S = {i * n + k: value for i in range(m) for k, value in tree.S.items()}
    tiled: dict[str, Any] = {
        x: _tiled(getattr(tree, x), m) for x in ("axis", "R", "p", "mass", "com", "inertia")
    }
    terms = None if tree.terms is None else JointTerms(*(_tiled(x, m) for x in astuple(tree.terms)))
    names = tuple(range(m * n))
    return replace(tree, names=names, parent=parent, joint=tree.joint * m, S=S, terms=terms, **tiled)


def apart(entries: Entries, m: int) -> Entries:
    """Entries of m copies, with m as the first axis."""
    arrays = (getattr(entries, entry.name) for entry in fields(entries))
    return Entries(*(array.reshape(m, len(array) // m, *array.shape[1:]) for array in arrays))


def least_sizes(system: System, entries: Entries) -> Floats:
    """(m,) the least size of m states' entries, m in front (:func:`kkt.matrix.system.least_size`)."""
    m = len(entries.tau)
    whole = (getattr(entries, entry.name) for entry in fields(entries))
    flat = Entries(*(x.reshape(x.shape[0] * x.shape[1], *x.shape[2:]) for x in whole))
    found = unopposed(copies(system.tree, m), flat).reshape(m, -1)
    return np.asarray(SHARE * found.max(axis=1, initial=0.0))


def _tiled(array: Floats, m: int) -> Floats:
    return np.tile(array, (m, *(1,) * (array.ndim - 1)))


def held(pattern: Pattern, entries: Entries) -> NDArray[np.bool_]:
    """(m,) states whose entries, m in front, are zero and one where the pattern says so."""
    result = ~entries.M[:, ~pattern.M].any(axis=1) & ~entries.a[:, ~pattern.a].any(axis=(1, 2))
    pairs = (
        (entries.Phi, pattern.Phi, pattern.Phi_one),
        (entries.S, pattern.S, pattern.S_one),
        (entries.G, pattern.G, pattern.G_one),
    )
    for values, mask, one in pairs:
        result &= ~values[:, ~mask].any(axis=1) & (values[:, one] == 1.0).all(axis=1)
    return np.asarray(result)
