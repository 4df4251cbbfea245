"""What blame found: as data, in words and as a table."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pivotree.kkt.base.shown import Tabled

MAIN = 0.3  # least share with which one culprit is named for the whole error
MANY = 1e4  # errors of so many units of rounding are written as powers of ten
BOTH_SIGNS = 2.5  # sum of the top shares' magnitudes from which they cancel each other


@dataclass(frozen=True)
class Culprit:
    """Operations that belong together, and their share of the error."""

    formula: str  # what they compute; for a pivot or a body, its name
    pivot: str | None  # blocks of the step
    step: int | None  # 1-based
    body: Hashable
    entry: tuple[int, int] | None  # of the result, 1-based
    share: float  # of the explained error, signed; shares of all operations add up to 1

    def as_dict(self) -> dict[str, object]:
        body = self.body if isinstance(self.body, int | str) or self.body is None else str(self.body)
        return self.__dict__ | {"body": body, "entry": self.entry and list(self.entry)}


@dataclass(frozen=True, repr=False, eq=False)
class Blame(Tabled):
    """The error of one output, and the shares of operations, pivots and bodies in it.

    Errors are absolute errors of the output over max |qdd|, as in a comparison, or of derivatives
    over the largest entry of the output's matrix.

    >>> found = pt.blame(pt.build(pt.chain(20)), "crbm", "float32")
    >>> found.output, f"{found.true_error:.0e}"
    ('qdd_j4', '3e-04')
    >>> found.top[0].formula
    'Phi_j2,j3 Phi_j3,j4 M^_j4 H_j4^T'
    """

    model: str
    order: str
    format: str
    unit: float  # unit roundoff of the format
    output: str  # qdd_BODY, qdd_BODY[j] with several freedoms, dq[BODY,BODY] of derivatives, or the
    #              pivot that vanished
    true_error: float | None  # |computed - certified|; None where it is not a number
    explained: float | None  # sum of contributions, positive where it has the error's sign
    ratio: float | None  # explained / true; None where that has no meaning
    why: str | None  # the reason why ``ratio`` is None
    top: tuple[Culprit, ...]  # entries of block formulas
    blocks: tuple[Culprit, ...]  # whole block formulas
    pivots: tuple[Culprit, ...]
    bodies: tuple[Culprit, ...]
    input_rounding: float | None  # error of the output that rounding the data alone brings
    shadow: str  # float64 or dd
    where: dict[str, str] = field(default_factory=dict)  # names that the formulas introduce
    shown: ClassVar[tuple[str, ...]] = ("share", "formula", "entry", "body", "pivot")

    def facts(self) -> dict[str, Any]:
        name = f"{self.order} in {self.format} on {self.model}"
        error = {} if self.true_error is None else {"error": self.true_error}
        return {"name": name, "output": self.output} | error

    def records(self) -> list[dict[str, Any]]:
        return [culprit.as_dict() for culprit in self.top]

    def as_dict(self) -> dict[str, Any]:
        """The JSON document of ``pivotree blame --json``."""
        document = self.__dict__ | {"top": self.records()}
        for key in ("blocks", "pivots", "bodies"):
            document[key] = [culprit.as_dict() for culprit in document[key]]
        return document

    @property
    def sentence(self) -> str:
        """The main culprit in words, then how far the shares explain the error."""
        text = f"{self.order} in {self.format} on {self.model}: {_error(self)}"
        if self.top:
            text += f" {_culprit(self)}"
        if self.why is not None and self.true_error != 0.0:
            text += f" No ratio is given: {self.why}."
        elif self.ratio is not None:
            text += f" All operations together explain {100.0 * self.ratio:.4g} % of the true error."
        if self.input_rounding is not None:
            text += f" Rounding the data alone moves this output by {self.input_rounding:.1e}."
        return text


def _error(b: Blame) -> str:
    if b.output.startswith("pivot "):
        return f"{b.output} has lost its value."
    if b.true_error is None:
        return f"{b.output} is not a number."
    if b.true_error == 0.0:
        return f"{b.output} is exact, so that no operation is to blame."
    units = b.true_error / b.unit
    matrix = b.output.partition("[")[0]
    whose = {"qdd": "acceleration", "x": "unknown"}
    largest = whose.get(matrix.partition("_")[0], f"entry of {matrix}")
    return (
        f"{b.output} is off by {b.true_error:.1e} of the largest {largest}, "
        f"{f'{units:.1f}' if units < MANY else f'{units:.1e}'} units of rounding."
    )


def _culprit(b: Blame) -> str:
    first = b.top[0]
    if sum(abs(c.share) for c in b.top) > BOTH_SIGNS:
        what = "Roundings of both signs nearly cancel; the largest is"
    elif first.share < 0.0:
        what = "Roundings of both signs cancel in part; the largest, against the error, is"
    elif abs(first.share) >= MAIN:
        return f"{described(first)}: {percent(first.share)} of the error."
    else:
        what = "No single entry dominates; the largest is"
    told = f"{what} {described(first)}, with {percent(first.share)}"
    whole = (f"; body {body.body} as a whole has {percent(body.share)}" for body in b.bodies[:1])
    return f"{told}{''.join(whole)}."


def described(c: Culprit) -> str:
    """The formula, its entry and its body, as in M_2 + Phi_21 M_1 Phi_21^T, entry (6,6), body 2."""
    entry = "" if c.entry is None else f", entry ({c.entry[0]},{c.entry[1]})"
    body = "" if c.body is None else f", body {c.body}"
    return f"{c.formula}{entry}{body}"


PLAIN = (  # what a formula of blame is, in words; the first that fits
    (r"^LDL\^T of \(H Phi|^\(H Phi M", "factoring the joint-space inertia, all joints at once"),
    (r"^LDL\^T of", "factoring the inertia that the joint feels"),
    (r"tau_", "what is left of the effort for the joint, bodies' forces subtracted"),
    (r"D_\S+\^-1 .*(T\d+|M)\S*\^T$|D_\S+\^-1 H_\S+ M", "what the joint takes from the body's inertia"),
    (r"\^-1", "dividing by the inertia that the joint feels"),
    (r"[Hw]_\S+ .*H_\S+\^T$", "the inertia that the joint feels"),
    (r"^\S*M\S* [+-] |^M\^_\S+$", "the sum of the body's inertia and what its children bring"),
    (r"H_\S+\^T$", "inertia times joint axis"),
    (r"\ba_|\bb_", "forces and accelerations by rates and gravity"),
    (r"^-?H_", "a force along the joint axis"),
    (r"qdd_\S+$", "the joint's own acceleration"),
    (r"^-?Phi_|Phi_\S+\^T$", "carrying an inertia or a force from a body to its parent"),
)


def in_words(c: Culprit) -> str:
    """The sum that a culprit is, for readers who know none of our letters."""
    return next((words for pattern, words in PLAIN if re.search(pattern, c.formula)), "one sum")


def percent(share: float) -> str:
    x = 100.0 * share
    x = round(x, 1) + 0.0  # no -0.0
    return f"{x:.0f} %" if abs(x) >= 10.0 else f"{x:.1f} %"


def rest(b: Blame) -> list[str]:
    """Lines below the table: bodies, pivots, and the names that formulas introduce."""
    lines = []
    for heading, culprits in (("bodies", b.bodies), ("pivots", b.pivots)):
        shown = ", ".join(f"{c.formula} {percent(c.share)}" for c in culprits[:5])
        if shown:
            lines.append(f"{heading}: {shown}")
    used = _names(" ".join(c.formula for c in b.top))
    waiting = list(used)
    while waiting:
        found = _names(b.where.get(waiting.pop(), "")) - used
        used |= found
        waiting += found
    lines += [f"{name} = {formula}" for name, formula in b.where.items() if name in used]
    return lines


def _names(text: str) -> set[str]:
    """T1, T2 and so on."""
    return set(re.findall(r"\bT\d+\b", text))
