"""The block program of an order followed by the derivatives of its qdd, to be listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from numpy.typing import NDArray

from pivotree.kkt.base.errors import ModelError, OrderError
from pivotree.kkt.matrix.blocks import Block, Structure
from pivotree.kkt.matrix.system import System
from pivotree.kkt.model.joints import GENERAL, TYPES
from pivotree.kkt.program.columns import Columns
from pivotree.kkt.program.derivatives import Motion, Moved
from pivotree.kkt.program.program import Program, Ref

BY = ("q", "qd", "tau")  # columns are derivatives by these


def terms_of(system: System) -> dict[str, NDArray]:
    """What efforts lose by q and by qd, (N,) each, where the model has springs and dampers.

    Raises ModelError for a joint whose axes move with its own coordinates.
    """
    tree, state = system.tree, system.state
    for k, kind in enumerate(tree.joint):
        if kind != GENERAL and TYPES[kind].moving:
            raise ModelError(
                f"body {tree.names[k]!r}: the axes of its {kind} joint turn with its own "
                "coordinates; derivatives are listed for axes that are fixed in the body, such as "
                "those of revolute joints with massless links between them"
            )
    if state.terms is None:
        return {}
    stiffness = state.terms.stiffness
    damping = state.terms.damping + state.step * stiffness  # springs too, under implicit steps
    found = {"stiffness": stiffness, "damping": damping}
    return {name: x for name, x in found.items() if x.any()}


def with_derivatives(program: Program, structure: Structure, terms: Collection[str]) -> Program:
    """The program, followed by the columns of every joint: derivatives by q, by qd and by tau.

    They are the engine's (:mod:`kkt.tape.derivatives`), but that all of M^-1, the derivative by
    tau, is computed, where the engine finds one triangle and mirrors it.
    """
    if structure.ties:
        raise OrderError(
            "list: derivatives are listed for trees without closed loops and contacts; leave "
            "these, or --derivatives, out"
        )
    columns = Columns(program, apart=True)
    w = columns.write
    w.pivot, w.back = -1, True
    joints = [k for k in range(structure.n) if structure.dof[k]]
    size = {k: int(structure.dof[k]) for k in joints}

    def diagonal(letter: str) -> dict:
        there = joints if letter in terms else []
        return {k: -w.input(letter, k, (size[k], size[k])) for k in there}

    motion = Motion(
        {k: w.input("qd", k, (size[k], 1)) for k in joints},
        w.input("g", -1, (6, 1)),
        diagonal("stiffness"),
        diagonal("damping"),
        w.input("v", -1, (6, 1)),
    )
    moved = Moved(columns, structure, motion)
    blocks = {k: Block("qdd", structure.names[k]) for k in joints}
    for by in BY:
        for k in joints:
            w.column = (by, k)
            right: Mapping[Block, Ref | None]
            if by == "tau":
                right = {blocks[k]: w.input("one", k, (size[k], size[k]))}
            else:
                right = (moved.by_q if by == "q" else moved.by_qd)(k)
            columns.solve(right, set(blocks.values()))
    return columns.program()
