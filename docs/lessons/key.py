"""The answer key: every answer as code that the checks accept, every number from the engine.

``answers()`` is the text of answers.md, which make.py writes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import checks
from checks import Verdict, factor, operations

from pivotree import analysis, kkt, orderings


@dataclass(frozen=True)
class Answer:
    """One exercise: its check, what to put in the place of None, and why."""

    number: str
    check: Callable[..., Verdict]
    source: str  # Python; the last name it defines, or its only expression, is the answer
    why: str
    first: tuple[Any, ...] = ()  # what the notebook hands to the check before the answer

    @property
    def value(self) -> Any:
        """The answer itself."""
        if "answer" not in self.source:
            return eval(self.source)
        space: dict[str, Any] = {}
        exec(self.source, space)
        return space["answer"]

    def verdict(self) -> Verdict:
        return self.check(*self.first, self.value)


def _code(text: str) -> str:
    return textwrap.dedent(text).strip()


def key() -> list[Answer]:
    """All answers, lesson after lesson."""
    return [*_matrix(), *_fill(), *_brackets(), *_digits(), *_orders(), *_own()]


def _matrix() -> list[Answer]:
    robot = kkt.build(kkt.humanoid())
    n, dof = robot.structure.n, int(robot.structure.dof.sum())
    root = int(robot.structure.dof[0])
    star = kkt.build(kkt.star(3)).structure
    return [
        Answer(
            "1.1",
            checks.rows,
            f"{12 * n + dof}",
            f"12 x {n} bodies + {dof} freedoms: {n - 1} hinges, and {root} of the pelvis, which "
            "floats. Whoever counts one freedom a body gets "
            f"{13 * n}.",
        ),
        Answer(
            "1.2",
            checks.neighbours,
            '[("pdd", "j1"), *[("f", k) for k in ("j1", "j2", "j3", "j4")]]',
            f"The law of the row: M_k, the own force with a 1, and -Phi for each of "
            f"{len(star.children('j1'))} children. No qdd: a joint's acceleration stands in the "
            "row of its force.",
        ),
        Answer(
            "1.3",
            checks.parents,
            "{1: 4, 2: 5, 3: 5, 4: 6, 5: 6}",
            "In the column of f_c there are two blocks in rows pdd: the 1 in the body's own row, "
            "and -Phi in its parent's. The root's column has one.",
        ),
    ]


def _fill() -> list[Answer]:
    crbm = {n: factor("crbm", kkt.chain(n)).fill_blocks for n in (2, 3, 4, 12)}
    more = factor(_outward, kkt.binary(2)).fill_blocks
    less = factor("crbm", kkt.binary(2)).fill_blocks
    return [
        Answer(
            "2.1",
            checks.first_fill,
            '[("qdd", "j3"), ("pdd", "j2")]',
            "f_j3 meets qdd_j3 (through H) and pdd_j2 (through Phi). Both meet the pivot, so they "
            "meet each other: the block is -Phi M H*.",
        ),
        Answer(
            "2.2",
            checks.crbm_fill,
            f"{crbm[12]}",
            f"{crbm[2]}, {crbm[3]}, {crbm[4]}, ...: n (n - 1). Every joint comes to meet pdd and "
            "qdd of each of its ancestors, and there are n (n - 1) / 2 pairs of a joint and an "
            "ancestor. On any tree it is twice the sum of depths.",
            (12,),
        ),
        Answer(
            "2.3",
            checks.more_fill,
            _code("""
            def answer(structure):
                pairs = [[("pdd", k), ("f", k)] for k in structure.tip_to_base]
                return pairs + [[("qdd", k)] for k in structure.base_to_tip]
            """),
            f"Base to tip: {more} blocks against {less}. The root's joint meets all others; "
            "eliminated first, it makes joints of different branches meet. The zeros of the "
            "joint-space inertia stay where every joint goes before its ancestors.",
        ),
    ]


def _outward(structure: kkt.Structure) -> list:
    pairs = [[("pdd", k), ("f", k)] for k in structure.tip_to_base]
    return pairs + [[("qdd", k)] for k in structure.base_to_tip]


def _brackets() -> list[Answer]:
    tree = kkt.build(checks.branched()).structure
    depths = int(tree.depth.sum())
    zeros = tree.n**2 - tree.n - 2 * depths
    costs = {n: [operations(name, kkt.chain(n)) for name in ("crbm", "abm")] for n in range(1, 41)}
    least = next(n for n, (crbm, abm) in costs.items() if abm < crbm)
    return [
        Answer(
            "3.1",
            checks.write_abm,
            '[[("pdd", k), ("qdd", k), ("f", k)] for k in ("j2", "j3", "j1")]',
            "The leaves may change places: they do not meet. Inside a bracket the engine orders "
            "the blocks itself.",
        ),
        Answer(
            "3.2",
            checks.inertia_zeros,
            f"{zeros}",
            "An entry is not zero where the two joints are the same or one carries the other: "
            f"{tree.n} + 2 x {depths}, {depths} being the sum of depths. {tree.n**2} - {tree.n} - "
            f"{2 * depths} = {zeros}.",
        ),
        Answer(
            "3.3",
            checks.crossing,
            f"{least}",
            "; ".join(
                f"{n} links: crbm {costs[n][0]:,}, abm {costs[n][1]:,} operations" for n in (least - 1, least)
            )
            + ". It is the count for this chain, whose zeros are not multiplied; other arms "
            "cross elsewhere.",
        ),
    ]


def _digits() -> list[Answer]:
    lost = next(k for k in range(31) if checks.d2(10.0**k, "crbm", "float64") == 0.0)
    single = next(k for k in range(31) if checks.d2(10.0**k, "crbm", "float32") == 0.0)
    blamed = analysis.blame(kkt.build(kkt.example2(1e8)), "crbm", "float32").top[0]
    tilted = {angle: _error_11(angle) for angle in (20, 30, 75)}
    return [
        Answer(
            "4.1",
            checks.least_power,
            f"{lost}",
            f"1e{lost} + 1 needs {(10**lost + 1).bit_length()} bits, and a float64 has 53. In "
            f"float32 it is {single}: 1e{single} + 1 needs {(10**single + 1).bit_length()} bits of "
            "24. More bits move the limit and do not remove it.",
        ),
        Answer(
            "4.2",
            checks.culprit,
            '[("pdd", 2), ("f", 2)]',
            f"blame names {blamed.formula}, entry {blamed.entry}, {100 * blamed.share:.0f} %: "
            "M_2 is on the diagonal of pdd_2, and M_1 has been added there when its bracket is "
            "eliminated. At qdd_2 the loss is seen, not made.",
        ),
        Answer(
            "4.3",
            checks.unlucky,
            "20",
            "Nearly any: "
            + ", ".join(f"{a} degrees, error {100 * e:.0f} %" for a, e in tilted.items())
            + ". At 45 degrees sin and cos are the same float, and H M~ H* rounds to 0 by luck. "
            "Table 2 of the paper has only 0 and 45.",
        ),
    ]


def _error_11(angle: float) -> float:
    system = kkt.build(kkt.example3(1e8, 2, angle))
    result = kkt.eliminate(system, orderings.get("modified_abm"), "float32")
    return kkt.certify(system, 20, rounded_to="float32").error(result.qdd)


def _orders() -> list[Answer]:
    tree = kkt.chain(31)
    heights = {name: factor(name, tree).height for name in orderings.names()}
    least = min(heights.values())
    best = [name for name, height in heights.items() if height == least]
    halves = [factor("divide_and_conquer", kkt.chain(n)).height for n in (3, 7, 15, 31)]
    far = factor("divide_and_conquer", kkt.chain(255)).height
    return [
        Answer(
            "5.1, first",
            checks.name_it,
            '"virtual_work"',
            "All bodies free, all motors, then constraint forces from the tip.",
            (1,),
        ),
        Answer(
            "5.1, second",
            checks.name_it,
            '"lagrange"',
            "The same blocks, body by body: the constraint force of a joint goes before the next "
            f"body is touched; {factor('lagrange', tree).fill_blocks} blocks of fill on 31 links, "
            f"where virtual_work makes {factor('virtual_work', tree).fill_blocks}.",
            (2,),
        ),
        Answer(
            "5.1, third",
            checks.name_it,
            '"crbm_block_row"',
            "CRBM's pivots in two brackets: the inverse of the first holds all of Phi.",
            (3,),
        ),
        Answer(
            "5.2",
            checks.shallowest,
            f'"{best[0]}"',
            f"Height {least} for {' and '.join(best)}; abm has {heights['abm']}. Both take every "
            "other joint, or halves, at the same time.",
        ),
        Answer(
            "5.3",
            checks.dissected,
            f"{far}",
            f"{', '.join(map(str, halves))} for 3, 7, 15, 31: k + 1 for n = 2^k - 1.",
            (255,),
        ),
    ]


def _own() -> list[Answer]:
    abm, dnc = (factor(name, kkt.chain(15)) for name in ("abm", "divide_and_conquer"))
    ends = _run(_ENDS)
    both = factor(ends, kkt.chain(15))
    own, abm_takes, crbm_takes = (operations(x, kkt.chain(12)) for x in (_run(_TIPS), "abm", "crbm"))
    return [
        Answer(
            "6.1",
            checks.repaired,
            '[[("pdd", k), ("qdd", k), ("f", k)] for k in ("j2", "j1")]',
            "Any order with the tip's joint after its pair and before its parent will do; "
            "`(pdd_j2 f_j2) (qdd_j2) (pdd_j1 f_j1) (qdd_j1)` is as good. On two bodies, so are "
            "ABM's brackets base first; on three no longer.",
        ),
        Answer(
            "6.2",
            checks.shallow_and_sparse,
            _ENDS,
            f"ABM from the tip, and from the base at the same time: height {both.height} and "
            f"{both.fill_blocks} blocks, where ABM has {abm.height} and {abm.fill_blocks}, divide "
            f"and conquer {dnc.height} and {dnc.fill_blocks}. The order in the list does not "
            "matter as long as neither half waits for the other.",
        ),
        Answer(
            "6.3",
            checks.cheaper,
            _TIPS,
            f"{own:,} operations; abm {abm_takes:,}, crbm {crbm_takes:,}. Taking the joint of the tip "
            f"apart from its pair saves {abm_takes - own} operations, since the tip's inertia moves as "
            "ten numbers then. It is no law: apart in every body of the chain, it costs more "
            "(pieces_of_1 in the lesson's table).",
        ),
    ]


_ENDS = _code("""
    def answer(structure):
        bodies, groups = list(structure.tip_to_base), []
        while bodies:
            groups.append([("pdd", bodies[0]), ("qdd", bodies[0]), ("f", bodies.pop(0))])
            if bodies:
                groups.append([("pdd", bodies[-1]), ("qdd", bodies[-1]), ("f", bodies.pop())])
        return groups
    """)
_TIPS = _code("""
    def answer(structure):
        tips = [k for k in structure.tip_to_base if not structure.children(k)]
        rest = [k for k in structure.tip_to_base if structure.children(k)]
        groups = [[("pdd", k), ("f", k)] for k in tips] + [[("qdd", k)] for k in tips]
        return groups + [[("pdd", k), ("qdd", k), ("f", k)] for k in rest]
    """)


def _run(source: str) -> Any:
    space: dict[str, Any] = {}
    exec(source, space)
    return space["answer"]


_HEAD = """# Answers, for teachers

What to put in the place of `None`, the sentence that the check gives, and why. The numbers are
computed by the engine when this page is made (`make site`), and the tests hand every answer to
its check. Other answers can be right: a check looks at what an order does.
"""


def answers() -> str:
    """The text of answers.md."""
    parts = [_HEAD]
    for answer in key():
        parts.append(f"## {answer.number}\n")
        parts.append(f"```python\n{answer.source}\n```\n")
        parts.append(f"> {answer.verdict()}\n")
        parts.append("\n".join(textwrap.wrap(answer.why, 100)) + "\n")
    return "\n".join(parts)
