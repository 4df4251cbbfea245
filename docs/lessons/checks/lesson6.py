"""Checks of lesson 6: design your own order."""

from __future__ import annotations

from typing import Any

from pivotree import kkt

from .verdict import Verdict, check, factor, operations, solves


@check("a list of groups with all six blocks")
def repaired(answer: list) -> Verdict:
    """A feasible order of chain(2) with the least fill there is."""
    tree = kkt.chain(2)
    own, least = factor(answer, tree).fill_blocks, factor("abm", tree).fill_blocks
    solves(answer, tree)
    if own > least:
        return Verdict(False, f"It solves (4) with {own} blocks of fill; {least} can be had.")
    return Verdict(True, f"It solves (4) with {own} block{'s' if own != 1 else ''} of fill.")


def limits(n: int = 15) -> tuple[int, int]:
    """Height and fill that an order of a chain of n may have: 2/3 and twice of ABM's."""
    abm = factor("abm", kkt.chain(n))
    return 2 * abm.height // 3, 2 * abm.fill_blocks


@check("a function from the structure to a list of groups")
def shallow_and_sparse(answer: Any) -> Verdict:
    """An order between ABM and divide and conquer."""
    tree = kkt.chain(15)
    own, (height, fill) = factor(answer, tree), limits()
    solves(answer, tree)
    if own.height > height:
        return Verdict(False, f"Its height is {own.height}, more than {height}: too much waits.")
    if own.fill_blocks > fill:
        return Verdict(False, f"Height {own.height}, but {own.fill_blocks} blocks, not {fill}.")
    return Verdict(True, f"Height {own.height} with {own.fill_blocks} blocks of fill.")


@check("a function from the structure to a list of groups")
def cheaper(answer: Any) -> Verdict:
    """Fewer operations on a chain of 12 than CRBM and ABM."""
    tree = kkt.chain(12)
    solves(answer, tree)
    own = operations(answer, tree)
    classics = {name: operations(name, tree) for name in ("crbm", "abm")}
    best = min(classics, key=lambda name: classics[name])
    if own >= classics[best]:
        return Verdict(False, f"It takes {own:,} operations; {best} takes {classics[best]:,}.")
    told = " and ".join(f"{name} {count:,}" for name, count in classics.items())
    return Verdict(True, f"It takes {own:,} operations; {told}.")
