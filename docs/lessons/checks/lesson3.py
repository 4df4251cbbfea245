"""Checks of lesson 3: CRBM and ABM as brackets."""

from __future__ import annotations

from typing import Any

from pivotree import kkt, orderings

from .verdict import Verdict, check, factor, names, operations


@check("a list of groups, each a list of blocks such as ('pdd', 'j3')")
def write_abm(answer: list) -> Verdict:
    """ABM on a hub with two leaves, by hand; the leaves may come in either order."""
    tree = kkt.star(2)
    structure = kkt.build(tree).structure
    own, abm = factor(answer, tree), factor("abm", tree)
    given = [names(group) for group in answer]
    brackets = [names(group) for group in orderings.get("abm")(structure)]
    if any(group not in brackets for group in given):
        return Verdict(False, f"It fills {own.fill_blocks} blocks, but ABM has one bracket for each body.")
    if {"pdd_j1", "qdd_j1", "f_j1"} != given[-1]:
        return Verdict(False, "ABM's brackets, but one body goes before what hangs on it.")
    return Verdict(True, f"Leaves before the hub, {abm.fill_blocks} blocks of fill.")


def branched() -> Any:
    """A tree with axes in any direction: what is zero in its inertia is zero by structure."""
    return kkt.random_tree(8, seed=4, joints="revolute")


@check("a number of entries")
def inertia_zeros(answer: int) -> Verdict:
    """Zeros of the joint-space inertia that CRBM leaves of ``branched``."""
    inertia = kkt.joint_space_inertia(kkt.build(branched()), orderings.get("crbm"))
    truth = int((inertia == 0.0).sum())
    if answer == truth:
        return Verdict(True, "Two joints meet only if one of them carries the other.")
    if 2 * answer == truth:
        return Verdict(False, "That is one triangle; the matrix is symmetric.")
    return Verdict(False, f"There are {'more' if answer < truth else 'fewer'} than {answer}.")


@check("a number of links")
def crossing(answer: int) -> Verdict:
    """The shortest chain on which ABM takes fewer operations than CRBM."""
    answer = int(answer)
    if not 1 <= answer <= 40:
        return Verdict(False, "Try the slider: it is a short chain.")

    def wins(n: int) -> bool:
        return operations("abm", kkt.chain(n)) < operations("crbm", kkt.chain(n))

    if not wins(answer):
        return Verdict(False, f"With {answer}, CRBM needs no more operations than ABM.")
    if answer > 1 and wins(answer - 1):
        return Verdict(False, f"ABM is cheaper there, but on {answer - 1} links as well.")
    return Verdict(True, "ABM grows as n and CRBM as n^3; on shorter chains the other terms decide.")
