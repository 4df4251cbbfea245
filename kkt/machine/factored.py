"""Factored transforms: a joint's fixed placement as massless frames of its own.

Phi of a body is the fixed placement of its joint, a shift and a turn, times the joint's own motion.
Multiplied out it has few zeros; one factor after the other, each with its own, may cost less.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..matrix.system import System, build
from ..model.fields import Floats
from ..model.tree import compile_tree, require_graph
from ..tape.emit import Emitter, mul, mul_symmetric

WAYS = ("shift", "placement", "shift and turn", "shifts and turn")  # to cut a placement
ROUNDING = 2e-15  # of lengths
Poses = list[tuple[str, Floats, Floats]]


def factored(tree: nx.DiGraph[Any]) -> nx.DiGraph[Any]:
    """The tree with placements cut into factors where that takes fewer operations.

    Body b then hangs on massless bodies, fixed in b's parent and called (b, "shift"), (b, "turn"),
    (b, "along") or (b, "placement"); names, joints, frames and accelerations of the bodies stay.
    Operations of Phi M Phi^T for a full M are compared.  Orders that pivot on M_k refuse massless
    bodies.  Raises ModelError as :func:`kkt.build` does.

    >>> tree = pt.humanoid()
    >>> len(tree), len(pt.factored(tree))
    (45, 86)
    """
    tree = require_graph(tree)
    whole = build(tree)
    moving = [
        name
        for name, joint in zip(whole.tree.names, whole.tree.joint, strict=True)
        if joint != "fixed" and whole.structure.parent_of(name) is not None
    ]
    best: dict[Hashable, tuple[int, str]] = {name: (_cost(whole, name), "") for name in moving}
    for way in WAYS:
        apart, frames = _apart(tree, dict.fromkeys(moving, way))
        system = build(apart)
        for name in moving:
            cost = sum(_cost(system, body) for body in [*frames[name], name])
            best[name] = min(best[name], (cost, way), key=lambda pair: pair[0])
    result, _ = _apart(tree, {name: way for name, (_, way) in best.items() if way})
    result.graph["name"] = f"{whole.name} factored"
    return result


def _cut(way: str, R: Floats, p: Floats, axis: Floats, size: float) -> tuple[Poses, Floats, Floats]:
    """Frames from the parent on, and the placement R, p that is left to the joint.

    The second of two shifts is along the joint's ``axis`` (3,), which is not one of the parent's; a length
    that is but rounding beside ``size`` is 0.
    """
    still, here, along = np.eye(3), np.zeros(3), R @ axis
    if way == "placement":
        return [("placement", R, p)], still, here
    second: Poses = []
    if way == "shifts and turn" and np.count_nonzero(along) > 1:
        i = np.abs(along).argmax()
        far = p[i] / along[i]
        rest = p - far * along
        p, second = np.where(np.abs(rest) <= ROUNDING * size, 0.0, rest), [("along", still, far * axis)]
    shift = [("shift", still, p)] if p.any() else []
    if way == "shift":
        return shift, R, here
    return [*shift, ("turn", R, here), *second], still, here


def _apart(
    tree: nx.DiGraph[Any], ways: Mapping[Hashable, str]
) -> tuple[nx.DiGraph[Any], dict[Hashable, list[Hashable]]]:
    """A copy where the bodies in ``ways`` hang on factors of their placements, and the factors."""
    compiled = compile_tree(tree)
    size = float(np.abs(compiled.p).max(initial=0.0))
    result, above = nx.DiGraph(**tree.graph), dict[Hashable, Hashable]()
    frames: dict[Hashable, list[Hashable]] = {name: [] for name in ways}
    for k, (name, data) in enumerate(tree.nodes(data=True)):
        parent = next(tree.predecessors(name), None)
        if name in ways:
            parts, R, p = _cut(ways[name], compiled.R[k], compiled.p[k], compiled.axis[k, 0], size)
            for part, turn, shift in parts:
                frame: Hashable = (name, part)
                while frame in tree:
                    frame = (frame, part)
                result.add_node(frame, mass=0.0, joint="fixed", R=turn, p=shift)
                above[frame] = parent
                frames[name].append(frame)
                parent = frame
            data = data | {"R": R, "p": p}
        result.add_node(name, **data)
        above[name] = parent
    result.add_edges_from((up, b) for b, up in above.items() if up is not None)  # bodies stay in their order
    return result, frames


def _cost(system: System, name: Hashable) -> int:
    """Operations of Phi M Phi^T, zeros and ones of this Phi folded away."""
    k, pattern = system.structure.index[name], system.pattern
    e, Phi = Emitter(0), np.zeros((6, 6), dtype=np.int64)
    Phi[pattern.Phi[k]] = 2 + np.arange(pattern.Phi[k].sum())
    Phi[pattern.Phi_one[k]] = 1
    mul_symmetric(e, Phi, mul(e, _full(), Phi.T))
    return e.count


def _full() -> NDArray[np.int64]:
    """Slots of a symmetric matrix without zeros."""
    i, j = np.indices((6, 6))
    return 100 + 6 * np.minimum(i, j) + np.maximum(i, j)
