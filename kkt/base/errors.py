"""The errors that input can cause; the text of each is one sentence.

Every error that a user can cause derives from :class:`PivotreeError`; its text names the file,
the body or joint, the field, what is wrong and what would be right.  The command line prints
that text and exits with 2.

Texts from outside are made fit for display.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

LONGEST = 500  # characters of a sentence
_WORD = re.compile(r"\S{121,}")
_BREAK = re.compile(r"(?<! ) *+[^\S ]\s*+")  # white space that is more than blanks, in linear time


def sentence(text: object, longest: int = LONGEST) -> str:
    """A text as one line that any terminal shows as it is: no breaks, no control characters.

    Line breaks become blanks, and characters that cannot be printed become Python's escapes.  In a
    text longer than ``longest`` the middle of long words, and then of the text, is left out.
    """
    line = _BREAK.sub(" ", str(text)).strip()
    if len(line) > longest:
        line = _WORD.sub(lambda word: _shortened(word[0], 60, 30), line)
    line = "".join([c if c.isprintable() else ascii(c)[1:-1] for c in line])
    return line if len(line) <= longest else _shortened(line, longest * 3 // 5, longest // 3)


def _shortened(text: str, head: int, tail: int) -> str:
    return f"{text[:head]}…{text[-tail:]}"


class Refusal(str):
    """Why there is no answer, as one sentence: a subject, what is wrong with it, and what would help.

    Only here do the three become a sentence.  What is wrong may be another error, which keeps its own
    parts; with no subject, the first argument is all that is wrong.
    """

    subject: str  # the file, body, order or option
    reason: str  # what is wrong with it
    remedy: str  # what would be right, or ""
    detail: str  # where and by how much, which may differ where the reason is the same, or ""

    def __new__(cls, subject: object, reason: object = "", remedy: str = "", detail: str = "") -> Refusal:
        where, wrong = (str(subject), reason) if reason else ("", subject)
        inner = getattr(wrong, "why", wrong)
        if isinstance(inner, Refusal):
            where, wrong = ": ".join(filter(None, (where, inner.subject))), inner.reason
            detail = ", ".join(filter(None, (inner.detail, detail)))
            remedy = "; ".join(filter(None, (inner.remedy, remedy)))
        what = str(wrong)
        joint = " " if what.startswith("is ") else ": "  # order 'abn' is unknown
        text = f"{where}{where and joint}{what}{detail and ', '}{detail}{remedy and '; '}{remedy}"
        told = super().__new__(cls, sentence(text))
        told.subject, told.reason, told.remedy, told.detail = where, what, remedy, detail
        return told


def reason_of(why: str) -> str:
    """What is wrong with what, without details and remedies where they are told apart."""
    return Refusal(why.subject, why.reason) if isinstance(why, Refusal) else why


class PivotreeError(Exception):
    """Base of all errors that the input causes, told by the three parts of its :class:`Refusal`, ``why``.

    >>> try:
    ...     pt.chain(0)
    ... except pt.PivotreeError as error:
    ...     print(error.why.subject, error.why.reason, error.why.remedy, sep=" | ")
    gallery | chain has 0 bodies | ask for 1 to 10,000,000
    """

    def __init__(self, subject: object = "", reason: object = "", remedy: str = "", detail: str = "") -> None:
        self.why = Refusal(subject, reason, remedy, detail)
        super().__init__(str(self.why))


class PivotreeWarning(UserWarning):
    """All warnings; ``code`` is a word for each kind: loop, inertia, mimic, urdf, mjcf, or files (on disk).

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always", pt.PivotreeWarning)
    ...     pin = pt.cut_joint("j3", None, "spherical", p=(0.1, 0.0, 0.0))
    ...     system = pt.build(pt.chain(3), loops=[pin])
    >>> print(said[0].category.code, said[0].message)
    loop loop 'j3-world' is open by 0.29 (rad or m) in this state; its rows hold accelerations, so ...
    """

    code = "files"


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
    pivotree.kkt.base.errors.LoopError: plan_from_arrays: takes trees without closed loops and ...
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
    """A tree, trace, factor or text that would be too large to make.

    >>> pt.symbolic(pt.plan(pt.orderings.get("crbm"), pt.build(pt.chain(100)).structure), most=1000)
    Traceback (most recent call last):
        ...
    pivotree.kkt.base.errors.SizeError: order 'crbm': its factor has more than 1,000 blocks on ...
    """


def close_names(word: str, names: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """:func:`difflib.get_close_matches` in any case of letters, with a guard against very long words.

    difflib takes seconds for a word of a million letters.  A word that is far longer than every
    name is close to none of them, and is not compared.
    """
    known = {name.lower(): name for name in names}
    longest = max(map(len, known), default=0)
    if 2 * longest < cutoff * (len(word) + longest):
        return []
    return [known[near] for near in difflib.get_close_matches(word.lower(), known, n, cutoff)]


def require_once(what: str, names: Sequence[str]) -> None:
    """Raise PivotreeError where no name is given, or one twice."""
    if not names:
        raise PivotreeError(what, "none is given", "name at least one")
    for name in names:
        if names.count(name) > 1:
            raise PivotreeError(f"{what} {name!r}", "is asked for twice", "give each its own name, once")


def nearest(word: str, names: Iterable[str]) -> str:
    """'did you mean a or b?' where names are close to the word, else 'use one of' all names."""
    known = sorted(names)
    close = close_names(str(word), known, 3, 0.55)
    return f"did you mean {' or '.join(close)}?" if close else f"use one of {', '.join(known)}"
