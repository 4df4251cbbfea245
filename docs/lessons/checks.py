"""Exercises that check themselves: what is right is computed by the engine, never typed here.

The checks lie beside the notebooks, not in the installed package: marimo puts a notebook's folder
on the path, and who only computes dynamics has no use for them.  Every check returns a Verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

import numpy as np

from pivotree import analysis, kkt, orderings
from pivotree.analysis.figures import NEW, block_state
from pivotree.kkt import PivotreeError
from pivotree.kkt.arithmetic import get_format


@dataclass(frozen=True)
class Verdict:
    """One sentence on an answer; ``right`` is None while there is none."""

    right: bool | None
    sentence: str

    def __str__(self) -> str:
        head = {None: "No answer yet", True: "Right", False: "Not yet"}[self.right]
        return f"**{head}.** {self.sentence}"

    _repr_markdown_ = __str__


def check(what: str) -> Callable[[Callable[..., Verdict]], Callable[..., Verdict]]:
    """No answer, or one that the engine refuses, is told in a sentence; ``what`` is asked for."""

    def mark(function: Callable[..., Verdict]) -> Callable[..., Verdict]:
        @wraps(function)
        def told(*answer: Any) -> Verdict:
            if answer[-1] is None:
                return Verdict(None, f"In the place of None, give {what}.")
            try:
                return function(*answer)
            except PivotreeError as error:
                return Verdict(False, f"The engine refuses it: {error}.")
            except (TypeError, ValueError, KeyError, AttributeError):
                return Verdict(False, f"{answer[-1]!r} is not what is asked for; give {what}.")

        return told

    return mark


def factor(order: Any, tree: Any) -> kkt.SymbolicFactor:
    """Structure of the factor: fill, height."""
    if isinstance(order, str):
        order = orderings.get(order)
    return kkt.symbolic(kkt.plan(order, kkt.build(tree).structure))


def operations(order: Any, tree: Any) -> int:
    """Scalar operations for qdd."""
    if isinstance(order, str):
        order = orderings.get(order)
    return kkt.trace(kkt.build(tree), order).flops


def solves(order: Any, tree: Any) -> None:
    """Raises where an order does not give qdd in float64, certified, to ten digits."""
    system = kkt.build(tree)
    result = kkt.eliminate(system, order, "float64", records=False)
    if result.failed_at or kkt.certify(system, 20).error(result.qdd) > 1e-10:
        raise kkt.OrderError("it does not give qdd to ten digits in float64")


def last_pivot(result: kkt.Elimination, body: Any) -> Any:
    """D_k: the pivot of qdd_k, the last one of the step that eliminates it."""
    (step,) = (s for s in result.steps if ("qdd", body) in s.blocks)
    return step.pivots[-1]


def names(blocks: Iterable[Any]) -> set[str]:
    """Blocks as texts: ("pdd", "j1") is "pdd_j1"."""
    return {f"{kind}_{body}" for kind, body in blocks}


def listed(texts: Iterable[str]) -> str:
    return ", ".join(sorted(texts)) or "none"


# -- lesson 1: the matrix from a tree --------------------------------------------------------------


@check("a number of rows")
def rows(answer: int) -> Verdict:
    """Rows of the humanoid's matrix."""
    system = kkt.build(kkt.humanoid())
    n, dof = system.tree.n, system.size - 12 * system.tree.n
    if answer == system.size:
        return Verdict(True, f"12 for each of {n} bodies and one for each of {dof} freedoms.")
    if answer == 12 * n:
        return Verdict(False, "Those are accelerations and forces; each freedom has a row as well.")
    if answer == 13 * n:
        return Verdict(False, "That gives every body one freedom; look at the root's joint.")
    return Verdict(False, f"{answer} is not 12 rows a body and one a freedom.")


@check("a list of blocks such as ('f', 'j2')")
def neighbours(answer: list) -> Verdict:
    """Nonzero blocks in the row pdd_j1 of star(3), read off the matrix."""
    system = kkt.build(kkt.star(3))
    row = system.matrix.tocsr()[system.blocks["pdd", "j1"]]
    truth = {str(block) for block, where in system.blocks.items() if abs(row[:, where]).sum() > 0}
    given = names(answer)
    if given == truth:
        return Verdict(True, "Its own inertia, its own force, and the force of every child.")
    if given - truth:
        return Verdict(False, f"The row has zeros at {listed(given - truth)}.")
    return Verdict(False, f"{len(truth - given)} more of its blocks are not zero.")


@cache
def mystery() -> Any:
    """A tree to be found from its matrix; body k is number k of the picture."""
    tree = kkt.new_tree("mystery")
    for body, parent in ((6, None), (4, 6), (5, 6), (1, 4), (2, 5), (3, 5)):
        place = {"com": (0.05, 0.0, 0.0), "p": (0.1, 0.0, 0.0)}
        kkt.add_body(tree, body, parent, mass=1.0, inertia=0.001 * np.eye(3), **place)
    return tree


@check("the parent of every body, such as {1: 2, 2: 3}, the root left out")
def parents(answer: dict) -> Verdict:
    """The mystery tree, its Phi blocks read off the matrix."""
    system = kkt.build(mystery())
    bodies, matrix = system.tree.names, system.matrix.tocsr()

    def meet(parent: int, child: int) -> bool:
        block = matrix[system.blocks["pdd", parent], system.blocks["f", child]]
        return parent != child and abs(block).sum() > 0

    truth = {c: p for c in bodies for p in bodies if meet(p, c)}
    wrong = sorted(c for c in {*truth, *answer} if answer.get(c) != truth.get(c))
    if not wrong:
        return Verdict(True, "A block Phi in row pdd_p and column f_c says that p is c's parent.")
    return Verdict(False, f"{len(wrong)} wrong; look down the column f_{wrong[0]} for a second row pdd.")


# -- lesson 2: elimination and fill ----------------------------------------------------------------


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


# -- lesson 3: CRBM and ABM as brackets ------------------------------------------------------------


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


# -- lesson 4: why digits vanish -------------------------------------------------------------------


def d2(m1: float, order: str, format: str) -> float:
    """The base's pivot D_2 in Example 2, whose exact value is 1."""
    result = kkt.eliminate(kkt.build(kkt.example2(m1)), orderings.get(order), format)
    return float(last_pivot(result, 2))


@check("an exponent, a whole number")
def least_power(answer: int) -> Verdict:
    """The least k with CRBM's D_2 = 0 in float64 for m1 = 10^k."""
    answer = int(answer)
    if not 0 <= answer <= 30:
        return Verdict(False, "Give k of 10^k, between 0 and 30.")
    if d2(10.0**answer, "crbm", "float64") != 0.0:
        return Verdict(False, f"With m1 = 1e{answer} something is left of D_2 in float64.")
    if answer > 0 and d2(10.0 ** (answer - 1), "crbm", "float64") == 0.0:
        return Verdict(False, f"D_2 is 0 there, but with 1e{answer - 1} already.")
    unit = get_format("float64").unit
    return Verdict(True, f"1e{answer} + 1 is 1e{answer} in a float64, whose unit is {unit:.1e}.")


@check("the blocks of one bracket, such as [('qdd', 1)]")
def culprit(answer: list) -> Verdict:
    """The bracket that blame names in Example 2, m1 = 1e8, crbm in float32."""
    found = analysis.blame(kkt.build(kkt.example2(1e8)), "crbm", "float32").top[0]
    blocks = set(found.pivot.strip("()").split())
    if names(answer) == blocks:
        return Verdict(True, f"{found.formula} is where the mass of body {found.body} goes.")
    if names(answer) == {"qdd_2"}:
        return Verdict(False, "There the zero shows; the digits were lost in an earlier sum.")
    return Verdict(False, "The sum that swallows m_2 belongs to another bracket.")


@check("an angle in degrees")
def unlucky(answer: float) -> Verdict:
    """An angle of Example 3 at which equation (11) loses qdd, m1 = 1e8."""
    if not 0 <= float(answer) <= 90:
        return Verdict(False, "Give an angle between 0 and 90 degrees.")
    system = kkt.build(kkt.example3(1e8, 2, float(answer)))
    result = kkt.eliminate(system, orderings.get("modified_abm"), "float32")
    if result.failed_at:
        return Verdict(
            True,
            f"At {answer} degrees its D_2 has no digit left: keeping M and M~ apart does not help "
            "where M~ itself is rounded.",
        )
    error = kkt.certify(system, 20, rounded_to="float32").error(result.qdd)
    if error < 0.01:
        return Verdict(False, f"At {answer} degrees its error is {error:.0e}: it survives.")
    return Verdict(
        True,
        f"At {answer} degrees its error is {100 * error:.0f} %: keeping M and M~ apart does "
        "not help where M~ itself is rounded.",
    )


# -- lesson 5: every algorithm is an order ---------------------------------------------------------


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


# -- lesson 6: design your own order ---------------------------------------------------------------


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
