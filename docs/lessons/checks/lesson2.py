"""Checks of lesson 2: elimination and fill."""

from __future__ import annotations

from typing import Any

from pivotree import kkt
from pivotree.analysis.figures import NEW, block_state

from .verdict import Verdict, check, factor, listed, names, solves


@check("two blocks, such as [('qdd', 'j1'), ('f', 'j2')]")
def first_fill(answer: list) -> Verdict:
    """The block that CRBM's first bracket makes on a chain of three."""
    found = factor("crbm", kkt.chain(3))
    state = block_state(found, 1, 0)
    block = [str(found.plan.graph.block(int(b))) for b in found.plan.blocks]
    new = [{block[i], block[j]} for i, j, k in zip(state.row, state.col, state.kind, strict=True) if k == NEW]
    old = [{block[i], block[j]} for i, j, k in zip(state.row, state.col, state.kind, strict=True) if k != NEW]
    given = names(answer)
    if given in new:
        return Verdict(True, "Both met f_j3, and what meets a pivot meets each other after it.")
    if given in old:
        return Verdict(False, "These two met before: that is no fill.")
    return Verdict(False, f"{listed(given)} do not both meet the pivots pdd_j3 and f_j3.")


@check("a number of blocks")
def crbm_fill(n: int, answer: int) -> Verdict:
    """CRBM's fill on a chain of n."""
    truth = factor("crbm", kkt.chain(n)).fill_blocks
    if answer == truth:
        return Verdict(True, f"Two blocks for each of {truth // 2} pairs of joint and ancestor.")
    if 2 * answer == truth:
        return Verdict(False, "Each pair makes two blocks: qdd with pdd, and qdd with qdd.")
    return Verdict(False, f"It makes {'more' if answer < truth else 'fewer'} than {answer}.")


@check("a function from the structure to a list of groups")
def more_fill(answer: Any) -> Verdict:
    """(pdd f) as in CRBM, then the joints in an order that fills more on binary(2)."""
    tree = kkt.binary(2)
    structure = kkt.build(tree).structure
    own, crbm = factor(answer, tree), factor("crbm", tree)
    groups = [names(group) for group in kkt.plan(answer, structure).sequence.groups]
    head = [{f"pdd_{k}", f"f_{k}"} for k in structure.tip_to_base]
    solves(answer, tree)
    if groups[: len(head)] != head:
        return Verdict(False, "Start with CRBM's brackets (pdd f), tip to base; move joints only.")
    if own.fill_blocks <= crbm.fill_blocks:
        return Verdict(False, f"It fills {own.fill_blocks} blocks; CRBM fills {crbm.fill_blocks} already.")
    return Verdict(
        True,
        f"{own.fill_blocks} blocks against {crbm.fill_blocks}: a joint that goes before those "
        "that hang on it makes its branches meet.",
    )
