"""The errors that input can cause; the text of each is one sentence.

Every error that a user can cause derives from :class:`PivotreeError`; its text names the file,
the body or joint, the field, what is wrong and what would be right.  The command line prints
that text and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .text import sentence


class Refusal(str):
    """Why there is no answer, as one sentence that keeps what is wrong apart from what would help."""

    reason: str  # the subject and what is wrong with it

    def __new__(cls, reason: str, detail: str = "", remedy: str = "") -> Refusal:
        told = super().__new__(cls, sentence(f"{reason}{detail and ', '}{detail}{remedy and '; '}{remedy}"))
        told.reason = sentence(reason)
        return told


def reason_of(why: str) -> str:
    """What is wrong, without details and remedies where they are told apart."""
    return why.reason if isinstance(why, Refusal) else why


class PivotreeError(Exception):
    """Base of all errors that the input causes; its text is one line of bounded length.

    >>> try:
    ...     pt.load("chain:-1")
    ... except pt.PivotreeError as error:
    ...     print(type(error).__name__)
    ModelError
    """

    def __init__(self, text: object = "") -> None:
        super().__init__(sentence(text))
        self.why = text if isinstance(text, Refusal) else str(self)


class ModelError(PivotreeError, ValueError):
    """A tree, robot file, model file or state that does not describe a tree of rigid bodies.

    >>> pt.chain(0)
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ModelError: gallery: chain has 0 bodies; ask for 1 to 10,000,000
    """


class OrderError(PivotreeError, ValueError):
    """An order that is unknown, incomplete, or cannot be pivoted on in this structure.

    >>> pt.orderings.get("abc")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.OrderError: order 'abc' is unknown; nearest: abm, lcaba, bad_abm
    """


class LoopError(OrderError):
    """A closed loop or contact was given to an order, or a reader of programs, that takes no loops.

    >>> pt.leaf_to_root(pt.build(pt.chain(3), loops=[pt.contact("j3", (0.1, 0.0, 0.0))]).structure)
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.LoopError: plan_from_arrays takes trees without closed loops and ...
    """


class ArmatureError(OrderError):
    """Joints have armature, damping, friction or springs that an order or a reader does not know.

    >>> armed = pt.chain(2)
    >>> armed.nodes["j2"]["friction"] = 0.01  # [N m]
    >>> pt.compile(armed, pt.orderings.get("abm"))
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.ArmatureError: compile: dry friction turns with the sign of ...
    """


class UnreadableError(PivotreeError):
    """A file cannot be read or is malformed; the text is the reason, which a sentence quotes."""


class SingularError(PivotreeError, ArithmeticError):
    """A pivot became zero, indefinite or not a number while eliminating.

    >>> massless = pt.new_tree("massless")
    >>> pt.add_body(massless, "a", mass=0.0)
    >>> pt.eliminate(pt.build(massless), pt.orderings.get("abm"))
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.SingularError: massless: no link has a mass; give each link that a ...
    """


class Undefined(ArithmeticError):
    """A quotient or root of constants is undefined, so that a program fails in any state."""


class CertificationError(PivotreeError, ArithmeticError):
    """No precision of ball arithmetic within the limits certifies the digits that are asked for.

    >>> pt.conditioning(pt.build(pt.example3(m1=1e30)))
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.CertificationError: example3: float64 by 'abm' keeps no two ...
    """


class FormatError(PivotreeError, ValueError):
    """An unknown number format, or a file format or place that cannot be written.

    >>> pt.eliminate(pt.build(pt.chain(1)), pt.orderings.get("abm"), "float33")
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.FormatError: format 'float33' is unknown; did you mean float32 or ...
    """


class SizeError(PivotreeError, MemoryError):
    """A trace that would not fit in memory.

    >>> pt.symbolic(pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(100)).structure), most=1000)
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.SizeError: order 'crbm': its factor has more than 1,000 blocks on ...
    """


def close_names(word: str, names: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """:func:`difflib.get_close_matches`, with a guard against very long words.

    difflib takes seconds for a word of a million letters.  A word that is far longer than every
    name is close to none of them, and is not compared.
    """
    known = list(names)
    longest = max(map(len, known), default=0)
    if 2 * longest < cutoff * (len(word) + longest):
        return []
    return difflib.get_close_matches(word, known, n, cutoff)


def nearest(word: str, names: Iterable[str]) -> str:
    """'did you mean a or b?' where names are close to the word, else 'use one of' all names."""
    known = sorted(names)
    close = close_names(str(word), known, 3, 0.55)
    return f"did you mean {' or '.join(close)}?" if close else f"use one of {', '.join(known)}"
