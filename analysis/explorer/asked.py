"""What a page asks of Python: how many digits an order keeps that was made on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pivotree import orderings
from pivotree.kkt import FormatError, OrderError, PivotreeError, PivotSequence, Rules, Structure, System
from pivotree.kkt import trace as traced
from pivotree.kkt.matrix.blocks import LINKS

from .data import References, measured, text_of
from .entries import FORMATS

Groups = tuple[tuple[tuple[str, str], ...], ...]


@dataclass(frozen=True)
class Question:
    """An order as the page writes it, and the format that it is measured in."""

    groups: Groups  # of (kind, body), the body by its text
    format: str
    links: str
    rules: Rules


def question_of(document: Any) -> Question:
    """``{"groups", "format", "links", "rules"}`` as decoded from JSON; the last two may be missing.

    Raises OrderError or FormatError, one sentence, for anything else.
    """
    if not isinstance(document, Mapping):
        raise OrderError("request: is no object; send groups, format, links and rules")
    format = document.get("format")
    if not isinstance(format, str) or format not in FORMATS:
        raise FormatError(f"request: format {str(format)[:40]!r} is unknown; use {', '.join(FORMATS)}")
    links = document.get("links", "whole")
    if not isinstance(links, str) or links not in LINKS:
        raise OrderError(f"request: links {str(links)[:40]!r} is unknown; use {', '.join(LINKS)}")
    return Question(_groups(document.get("groups")), format, links, rules_of(document.get("rules")))


def _groups(value: Any) -> Groups:
    if not (isinstance(value, list) and all(isinstance(group, list) for group in value)):
        raise OrderError("request: groups are no list of groups; send [[['pdd', 'link1'], ...]]")
    for step, group in enumerate(value, start=1):
        for block in group:
            pair = isinstance(block, list) and len(block) == 2
            if not (pair and all(isinstance(x, str) for x in block)):
                raise OrderError(f"request: step {step} holds {str(block)[:40]}; a block is ['pdd', 'link1']")
    return tuple(tuple((kind, body) for kind, body in group) for group in value)


def rules_of(value: Any) -> Rules:
    """Switches by name; None and {} are the default ones."""
    known = vars(Rules())
    if value is not None and not (isinstance(value, Mapping) and value.keys() <= known.keys()):
        raise OrderError(
            f"request: rules {str(value)[:60]!r} are no switches; give some of {', '.join(known)}"
        )
    return Rules(**(value or {}))


def sequence_of(
    groups: Sequence[Sequence[Sequence[str]]],
    structure: Structure,
    links: str = "whole",
    rules: Rules | None = None,
) -> PivotSequence:
    """The order, with the bodies of the structure in the place of their texts."""
    names: dict[tuple[bool, str], Any] = {}  # of loops, and of bodies, by their texts
    for name in structure.constraints:
        names.setdefault((True, text_of(name)), name)
    for name in structure.with_links(links).names:
        names.setdefault((False, text_of(name)), name)
    found = [[(kind, names.get((kind == "lam", body), body)) for kind, body in group] for group in groups]
    return PivotSequence(found, "yours", "the explorer", rules or Rules(), links)


class Measurer:
    """Answers questions about one system; certified solutions are kept between them."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.references: References | None = None

    def __call__(self, question: Question) -> dict[str, Any]:
        """``error``, ``digits`` and ``failed``; refused in a sentence."""
        sequence = sequence_of(question.groups, self.system.structure, question.links, question.rules)
        try:
            tape = traced(self.system, sequence)
            if self.references is None:
                proof = traced(self.system, orderings.get("abm"))
                self.references = References(self.system, proof, self.system.name)
            found = measured(self.system, tape, question.format, self.references)
        except PivotreeError as error:
            return refusal(str(error))
        if found["failed"] is None and found["error"] is None:
            return refusal("qdd is not a number")
        return refusal("") | {"flops": tape.flops} | found


def refusal(why: str) -> dict[str, Any]:
    """An answer without digits."""
    return {"error": None, "digits": None, "failed": " ".join(why.split())}
