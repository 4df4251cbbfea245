"""A lower bound on the operations that multipliers of loops and contacts add to a tree's order.

Where multipliers follow the joints that move them, at their loop's end or last, their rows are
carried from body to body, Phi w for every column; every joint that moves them adds (c/d) c* to
their own block, c being its effect on each row; and that block is factored.  All of this is counted
on the sparsest columns that are possible: those of CRBM, without the row along the joint of every
body that they pass, which is zero once that joint is eliminated.  Soft multipliers that come first
add G* G / compliance to the bodies instead.  A loop costs no less than the cheaper of the two; what
two loops add to each other's blocks is counted where neither can come first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Structure
from pivotree.kkt.model.parents import paths
from pivotree.kkt.tape import emit
from pivotree.kkt.tape.inputs import InputSlots

Slots = NDArray[np.int64]
# of an entry beside the diagonal: a quotient; a product and a sum on the diagonal, on the
# right-hand side, and on the way back
FACTOR = 7


def added_by_loops(structure: Structure, inputs: InputSlots) -> int:
    """Operations beside those of its tree that every order of the family takes at least."""
    total, side = 0, 0
    rigid: list[NDArray[np.bool_]] = []  # (N, m) of each: rows that every joint moves
    for c, tie in enumerate(structure.ties):
        G = {}
        for k in tie.bodies:
            G[k] = np.abs(inputs.block("G", side))
            side += 1
        behind, moved = _carried(structure, inputs, c, G)
        own = behind + _joints(moved) + _factor(moved)
        if tie.compliant:
            total += min(own, sum(map(_first, np.hstack(list(G.values())))))
        else:
            total += own
            rigid.append(moved)
    for i, one in enumerate(rigid):
        for other in rigid[:i]:
            together = one[:, :, None] & other[:, None, :]
            sizes = one.sum(axis=1), other.sum(axis=1)
            total += int((np.maximum(sizes[0] - 1, 0) * np.maximum(sizes[1] - 1, 0)).sum())
            entries = int(np.count_nonzero(together.any(axis=0)))
            total += int(np.count_nonzero(together)) - entries + FACTOR * entries
    return total


def _carried(
    structure: Structure, inputs: InputSlots, c: int, G: dict[int, Slots]
) -> tuple[int, NDArray[np.bool_]]:
    """Operations of Phi w, and the rows of a loop that each joint rate moves (N, m)."""
    tie, e = structure.ties[c], emit.Emitter(1 << 40)
    moving = set(paths(tie.bodies, structure.parent))
    columns: dict[int, Slots] = {k: block.T for k, block in G.items()}
    moved = []
    for k in (k for k in structure.order.tolist() if k in moving):
        H, w, up = inputs.block("H", k), columns[k], int(structure.parent[k])
        if structure.dof[k]:
            moved.append((H != 0).astype(int) @ (w != 0).astype(int) > 0)
        if up < 0:
            continue
        one_axis = (H == 1).any(axis=0)[:, None] & (np.abs(H).sum() == len(H))
        w = np.where(one_axis, 0, w)
        there = emit.mul(e, inputs.block("Phi", k), w)
        columns[up] = np.where(columns[up] == 0, there, columns[up]) if up in columns else there
    return e.count, np.concatenate([np.zeros((0, tie.rows), dtype=bool), *moved])


def _joints(moved: NDArray[np.bool_]) -> int:
    """Operations of (c/d) c* of every joint, of which one c may be 1, and of sums over joints."""
    size = moved.sum(axis=1)
    pairs = size * (size + 1) // 2
    entries = np.count_nonzero(np.triu((moved[:, :, None] & moved[:, None, :]).any(axis=0)))
    return int((2 * pairs).sum() - entries)


def _factor(moved: NDArray[np.bool_]) -> int:
    """Operations of the factor of the loop's own block."""
    pattern = (moved[:, :, None] & moved[:, None, :]).any(axis=0)
    return FACTOR * int(np.count_nonzero(np.triu(pattern, 1)))


def _first(g: Slots) -> int:
    """Operations of (g/c) g* of a soft row g, entries that are 1 left out."""
    size = int(np.count_nonzero(g > 1))
    return size + size * (size - 1) // 2
