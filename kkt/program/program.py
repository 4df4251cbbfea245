"""The block program: what an elimination does, as straight-line instructions on named blocks.

A program depends on the tree and the sequence of pivots only, never on a number.  It is built by
:mod:`kkt.program.tracer` and read by the tape, the listing and the proofs.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..matrix.blocks import Block
from ..structure.symbolic import SymbolicFactor


class Ref(NamedTuple):
    """A use of a value: possibly transposed, possibly with the other sign."""

    value: int
    transposed: bool = False
    sign: int = 1

    @property
    def T(self) -> Ref:
        return Ref(self.value, not self.transposed, self.sign)

    def __neg__(self) -> Ref:
        return Ref(self.value, self.transposed, -self.sign)


class Instruction(NamedTuple):
    """``out = op(args)``.  Values are numbered in the order in which they are made.

    ==========  =============================================================================
    input       a block of (4): info = (letter, body); letters M H Phi a b tau A; of loops, info =
                ("G", side) and (gamma or compliance, loop); in a residual also the unknowns pdd
                qdd f lam, and their corrections dpdd dqdd df dlam
    eye         the identity; info = size
    same        A under a name of its own, in programs that are read as formulas
    mul         A B; with ``symmetric`` the upper triangle is formed and mirrored
    add         A + B (signs are in the references)
    factor      A = L D L^T without pivoting; the pivots D_k of the paper stand on its diagonal;
                info = group of each row, where several groups are factored at once
    forward     L^-1 C for a factor
    solve       A^-1 C for a factor
    inner       Y1^T D^-1 Y2 for a factor and two results of ``forward``; (c c^T)/d for one row
    stack       blocks one above another; info = (rows, columns), None for a zero block
    rows        info = (first, last), last None for the end
    square      a symmetric matrix from the blocks of its upper triangle; info = sizes
    mirror      the upper triangle, mirrored
    along       S -> B, a basis of joint forces with H B = 1
    across      S -> C, a basis of constraint forces with H C = 0
    divide      A / info, info a whole number
    shift       Phi M Phi^T of a rigid inertia, by ten numbers
    join        the sum of two rigid inertias, by ten numbers
    centred     M -> a rigid inertia as [[E, c~], [-c~, m 1]], about its centre of mass
    carried     the same in the parent's frame, of Phi and such a block
    met         two such blocks as one body
    about_joint such a block -> M
    basis       S -> [S E], E the identity beside the rows that ``along`` uses
    weigh       K, u -> rows [D R, R^-T u, D] of K = R^T D R; info = (N, body)
    unweighed   what is left of u in rows without weight
    rotate      such rows, and G, z, w of one set of weighted rows after another -> unit rows
                [r, z, w], the N pivot rows first; rows that are zero are left out; info = (N,)
    pivot       the N pivot rows -> the factor L D L^T of D_k
    weight      w_i v_i, row by row
    back        L^-T (D^-1 y - r) for a factor
    ==========  =============================================================================
    """

    op: str
    out: int
    args: tuple[Ref | None, ...]
    step: int  # group that it belongs to, -1 for what precedes the elimination
    symmetric: bool = False
    info: tuple = ()

    @property
    def present(self) -> tuple[Ref, ...]:
        """The operands that are no block of zeros."""
        return tuple(ref for ref in self.args if ref is not None)


class Place(NamedTuple):
    """Where in the elimination an instruction stands: what it works on, and in whose pivot."""

    label: str  # entry, pivot, update, half, right, x and so on
    blocks: tuple[int, ...] = ()  # numbers in the block graph; -1 for the right-hand side
    pivot: int = -1  # base pivot that is at work, as a number of ``Program.pivots``
    back: bool = False  # in the way back


class PivotRecord(NamedTuple):
    """One base pivot of the sequence, in the order of elimination."""

    blocks: tuple[Block, ...]
    step: int  # group
    pair: bool  # used through the exact inverse [[0, 1], [1, -X]]
    factor: int  # value of the factor, -1 for a pair
    rows: tuple[int, int] = (0, 0)  # of the factor that belong to these blocks


@dataclass(frozen=True)
class Program:
    """Instructions in order, with what comes out of them."""

    name: str  # of the sequence
    gain: bool  # updates (c/d) c^T instead of (c c^T)/d
    groups: int  # steps
    symbolic: SymbolicFactor | None  # None for a substitution, which fills nothing
    instructions: tuple[Instruction, ...]
    shapes: tuple[tuple[int, int], ...]  # (rows, columns) of each value
    pivots: tuple[PivotRecord, ...]
    solution: dict[Block, Ref]  # pdd, qdd and f of every body of the tree, lam of every loop
    inertia: Ref | None  # joint-space inertia, where the last pivots are all the qdd, then lam
    inertia_bodies: tuple[Hashable, ...]  # bodies of its rows
    places: tuple[Place, ...] = ()  # of each instruction, for who reads the program as formulas
    composites: str = "general"  # or ten numbers, see :mod:`.composites`

    def live(self, kinds: tuple[str, ...]) -> NDArray[np.bool_]:
        """(instructions,) those that the solution's blocks of these kinds need."""
        wanted = np.zeros(len(self.shapes), dtype=bool)
        for block, ref in self.solution.items():
            if block.kind in kinds:
                wanted[ref.value] = True
        for record in self.pivots:
            if record.factor >= 0:
                wanted[record.factor] = True
        keep = np.zeros(len(self.instructions), dtype=bool)
        for i in range(len(self.instructions) - 1, -1, -1):
            instruction = self.instructions[i]
            if wanted[instruction.out]:
                keep[i] = True
                for arg in instruction.args:
                    if arg is not None:
                        wanted[arg.value] = True
        return keep
