"""Redundant constraints: rows of the matrix on which no elimination can pivot.

The rows of all constraints, written on the joints' rates, must be independent; a row with a
compliance always is.  A planar four-bar linkage in space has five rows and needs two: its joints
satisfy the other three by themselves, and no equation determines the forces in these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..model.fields import Floats
from ..model.loops import OPEN, extends, path
from ..model.spatial import force_transform
from .closures import Closure
from .state import State

TOLERANCE = 1e-7  # of a row's size: its part across the rows before it that counts as zero
Rates = dict[int, tuple[Floats, float]]  # by body: the rows on its joint's rates, and their size


def require_independent(state: State) -> None:
    """Raise ModelError, naming the constraint and the rows to keep, where rows depend on others."""
    stiff = [np.flatnonzero(c.loop.compliance == 0.0) for c in state.loops]
    for c, lost in following(state, stiff):
        raise _told(state.loops[c], lost)
    loop = unfollowed(state)
    if loop is not None and all(np.abs(c.whole.gap).max(initial=0.0) <= OPEN for c in state.loops):
        raise ModelError(
            f"loop {loop!r}",
            "a row that follows from others where the robot is as in its file does not in this state, which "
            "closes the loops another way",
            "give a state nearer to the file's",
        )


def unfollowed(state: State) -> Hashable | None:
    """The loop with a row that (4) does without, and that in this state no other rows imply."""
    more = [replace(c, loop=c.loop.having(c.loop.implied)) for c in state.loops if c.loop.implied is not None]
    if not more:
        return None
    loops = (*state.loops, *more)
    rows = dict(following(replace(state, loops=loops), [np.arange(c.rows) for c in loops]))
    first = len(state.loops)
    return next((c.loop.name for i, c in enumerate(more, first) if len(rows.get(i, ())) < c.rows), None)


def following(state: State, stiff: list[NDArray[np.int64]]) -> Iterator[tuple[int, list[int]]]:
    """Constraints with redundant rows, and these rows; only ``stiff`` rows are tested."""
    if not any(kept.size for kept in stiff):
        return
    rates = [on_rates(state, closure) for closure in state.loops]

    # rows can depend on each other only where they move the same joints
    for together in _clusters(rates):
        columns = {k: 0 for c in together for k in rates[c]}
        width = 0
        for k in columns:
            columns[k], width = width, width + state.S[k].shape[1]

        # Gram and Schmidt, row by row, in the order of the constraints
        basis: list[Floats] = []
        for c in together:
            J = np.zeros((state.loops[c].rows, width))
            size = np.zeros(len(J))
            for k, (block, scale) in rates[c].items():
                J[:, columns[k] : columns[k] + block.shape[1]] = block
                size = np.maximum(size, scale)
            lost = [r for r in stiff[c].tolist() if not extends(basis, J[r], TOLERANCE * float(size[r]))]
            if lost:
                yield c, lost


def on_rates(state: State, closure: Closure) -> Rates:
    """C* (X_c2 v_2 - X_c1 v_1) as rows on the rates of the joints that move it."""
    result: Rates = {}
    for pair in closure.pairs:
        moving = set(path(pair.bodies, state.parent))
        for place, k, sign in pair.sides:
            g = sign * pair.loop.C.T @ force_transform(pair.R[place], pair.p[place]).T
            while k in moving:
                S = state.S[k]
                if S.shape[1]:
                    size = np.linalg.norm(g, axis=1) * np.linalg.norm(S)
                    before = result.get(k, (0.0, 0.0))
                    result[k] = (before[0] + g @ S, np.maximum(before[1], size))
                g = g @ force_transform(state.R[k], state.p[k]).T
                k = int(state.parent[k])
    return result


def _clusters(rates: list[Rates]) -> list[list[int]]:
    """Constraints that share joints, directly or through others; each in the given order."""
    shared = nx.Graph()
    shared.add_nodes_from(range(len(rates)))
    shared.add_edges_from((c, ("joint", k)) for c, row in enumerate(rates) for k in row)
    return [sorted(x for x in part if isinstance(x, int)) for part in nx.connected_components(shared)]


def _told(closure: Closure, lost: list[int]) -> ModelError:
    loop = closure.loop
    kept = tuple(x for r, x in enumerate(loop.numbers) if r not in lost)
    numbers = ", ".join(str(loop.numbers[r]) for r in lost)
    what = f"row {numbers} follows" if len(lost) == 1 else f"rows {numbers} follow"
    remedy = f"keep rows={kept}" if kept else "leave it out"
    if loop.point and kept:
        remedy = f"leave out the direction{'s' * (len(lost) > 1)}"
    contact = "--contact BODY,compliance=1e-6, or " if loop.point else ""
    where = f"{contact}in the call or the file of --loops that makes it"
    return ModelError(
        f"loop {loop.name!r}",
        f"{what} from its other rows, the tree's joints and the loops before it, in this state",
        f"{remedy}, or give a compliance ({where}), or another state, or iterate: proximal=100 of "
        "kkt.eliminate",
    )
