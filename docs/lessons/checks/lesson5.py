"""Checks of lesson 5: every algorithm is an order."""

from __future__ import annotations

from pivotree import kkt, orderings

from .verdict import Verdict, check, factor, names

_RIDDLES = ("virtual_work", "lagrange", "crbm_block_row")


def riddle(number: int) -> list[str]:
    """The brackets of an order on a chain of three, without its name."""
    groups = orderings.get(_RIDDLES[number - 1])(kkt.build(kkt.chain(3)).structure)
    return [f"({' '.join(f'{kind}_{body}' for kind, body in group)})" for group in groups]


@check("the name of an order, in quotes")
def name_it(number: int, answer: str) -> Verdict:
    """Which order a riddle is; any order with the same brackets will do."""
    structure = kkt.build(kkt.chain(3)).structure
    order = orderings.get(answer)
    given = [names(group) for group in order(structure.with_links(order.links))]
    truth = [names(group) for group in orderings.get(_RIDDLES[number - 1])(structure)]
    if given == truth:
        return Verdict(True, f"{answer}: {order.source}.")
    at = next(
        (i for i, pair in enumerate(zip(given, truth, strict=False), 1) if pair[0] != pair[1]),
        min(len(given), len(truth)) + 1,
    )
    return Verdict(False, f"{answer} has another bracket at step {at}.")


@check("the name of an order, in quotes")
def shallowest(answer: str) -> Verdict:
    """An order of least height on a chain of 31."""
    tree = kkt.chain(31)
    heights = {name: factor(name, tree).height for name in orderings.names()}
    own, least = factor(answer, tree).height, min(heights.values())
    if own > least:
        return Verdict(False, f"{answer} has height {own}; there is one with less.")
    return Verdict(True, f"Height {own} for 31 bodies; {factor('abm', tree).height} for ABM.")


@check("a height")
def dissected(n: int, answer: int) -> Verdict:
    """The height of divide and conquer on a chain of n."""
    truth = factor("divide_and_conquer", kkt.chain(n)).height
    if answer == truth:
        return Verdict(True, "Every level halves what is left, so that n + 1 = 2^k gives k + 1.")
    if answer == n:
        return Verdict(False, "That would be one body after another; halves go side by side.")
    return Verdict(False, f"The height is {'more' if answer < truth else 'less'} than {answer}.")
