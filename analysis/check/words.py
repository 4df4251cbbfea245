"""The page of a check, for a reader who knows none of our words: paragraphs, tables and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.ranges import ACCELERATION

from ..comparison.row import full_digits
from ..readings import get as reading_of
from ..report.words import amount, joined
from .make import ANY, C_FILE, SHIPPED, Checked, Row
from .tried import Mend

SAID = {
    "abm": "ABA: articulated bodies",
    "gain_abm": "ABA, divided by a joint's inertia first",
    "modified_abm": "ABA, a body's own inertia kept apart",
    "projected_abm": "ABA, inertias projected, then added",
    "square_root_abm": "ABA on square roots of inertias, by QR",
    "crbm": "CRBA: mass matrix of composite bodies",
    C_FILE: "sines, cosines and poses are rounded, too",
    ANY: "only the robot's own numbers are rounded",
}
HEADS = ("computed by", "what it is", "digits: this state", "worst", "proved", "operations")
WORDS = {"computed by", "what it is", "change"}  # heads of columns that are no numbers
FEW = 8  # joints up to which a state stands in a command


class Table(NamedTuple):
    """Heads, and rows of texts; columns are numbers but for those of WORDS."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Command(NamedTuple):
    """A line for the shell."""

    text: str


def page(found: Checked, state: str, file: str | None = None) -> Iterator[str | Table | Command]:
    """What is printed, part by part.

    ``state`` says which state the first column is of, and ``file`` where the worst state is written.
    """
    yield _verdict(found)
    yield Table(HEADS, [_cells(row, found.digits) for row in found.rows])
    told = found.row(found.best).why
    why = f" {told[0].upper()}{told[1:]}." if told else ""
    if abm := [row.why for row in found.rows if row.name == "abm" != found.best and row.why]:
        why += f" Here abm has none{', either' * bool(told)}: {abm[0]}." * (abm != [told])
    yield (
        "Digits: 5.0 says that no joint acceleration is off by more than 0.00001 of the largest one in "
        "that state, held against exact arithmetic on the robot's own numbers (in pivotree compare: on these "
        "numbers as rounded, so that the order alone is judged). "
        f"This state: {state}. Worst: of this state, of {found.states} random ones, and of {found.searched} "
        "that were searched near the worst of these. Proved: on these numbers as rounded, for all states "
        "within the limits of positions, rates and efforts in which some joint accelerates by "
        f"{ACCELERATION:g} rad/s² (m/s²) or more; a proof takes every rounding at its worst, and promises "
        f"fewer (0.0: none).{why} Random states: "
        f"{found.distribution}. Operations: additions, multiplications, divisions and roots, from inertias, "
        "axes and forces in a state to accelerations, composite inertias as ten numbers (as 6 x 6 blocks "
        "where all of every symmetric matrix is computed)."
    )
    yield f"Where digits are lost. {found.fault.replace('in this state', 'in its worst state')}"
    yield from _mended(found)
    yield from _commands(found, file)


def _verdict(found: Checked) -> str:
    best, data, asked = found.row(found.best), found.row(ANY), amount(found.digits)
    begin = f"{found.model} in {found.format}: {'' if found.keeps else 'not '}enough for {asked}"
    named = f"{best.name} ({SAID[best.name]})"
    if not found.keeps:
        text = f"{begin}. "
        if data.worst < found.digits:
            text += (
                f"Rounding the robot's own numbers to {found.format} leaves "
                f"{_kept(data.worst, found.digits)} digits at worst, whatever program computes with them; "
                f"the best one, {named}, keeps {_kept(best.worst, found.digits)}."
            )
        else:
            text += f"The best one tried, {named}, keeps {_kept(best.worst, found.digits)} at worst."
        enough = _enough(found)
        return text if enough is None else f"{text} Enough: {enough.what} ({enough.digits:.1f} digits)."
    shipped = [*found.of("program"), *found.of("C")]
    poor = [name for row in shipped if row.worst < found.digits for name in _names(row)]
    text = f"{begin}, but not in {joined(poor)}. " if poor else f"{begin}. "
    text += (
        f"Computed by {named}, {best.worst:.1f} of {full_digits(get_format(found.format)):.1f} digits "
        f"are right at worst in all {1 + found.states + found.searched} states tried."
    )
    rounded = {"C": ", in which poses are rounded, too"}
    kept = [(row, _kept(row.worst, found.digits)) for row in shipped]
    told = [f"{digits} by {joined(_names(row))}{rounded.get(row.kind, '')}" for row, digits in kept]
    return f"{text} As programs ship it: {'; '.join(told)}." if told else text


def _enough(found: Checked, formats: Sequence[str] = ()) -> Mend | None:
    """The cheapest change that is enough for the same robot: with formats one that C is written of."""
    own = (x for x in found.mends if x.enough and x.frames == "own" and x.kind != "armature")
    return next((x for x in own if not formats or (x.format in formats and x.kind != "root")), None)


def _names(row: Row) -> list[str]:
    """An order by its name, programs by theirs in the world."""
    names = row.name.split(", ")
    return [reading_of(name).program.split(",")[0] if row.kind == "program" else name for name in names]


def _kept(digits: float, asked: float) -> str:
    """Digits to one place, rounded down where they would else look like the ones asked."""
    return f"{digits - 0.05 * (digits < asked <= round(digits, 1)):.1f}"


def _cells(row: Row, asked: float) -> tuple[str, ...]:
    said = SAID.get(row.name) or f"as {joined(_names(row))} ship{'' if ', ' in row.name else 's'} it"
    numbers = (("" if x is None else _kept(x, asked)) for x in (row.here, row.worst, row.proved))
    return row.name, said, *numbers, "" if row.operations is None else f"{row.operations:,}"


def _mended(found: Checked) -> Iterator[str | Table]:
    """The cheapest change of each kind that is enough, or the best of it."""
    subject = found.row(found.subject)
    name = joined(_names(subject))
    if subject.worst >= found.digits:
        yield (
            f"What would mend it. Nothing has to be mended for {amount(found.digits)}; --digits asks for "
            f"more. Most is lost by {name}."
        )
        return
    yield (
        f"What would mend {name}, tried in the worst of these states; cost in operations of "
        f"{found.format}, those of longer formats in proportion to their bits (now {subject.operations:,}):"
    )
    first: dict[str, Mend] = {}
    for mend in found.mends:
        first.setdefault(mend.kind, mend)
    heads = ("change", "digits", "cost", f"{found.digits:g} asked")
    told = {True: "enough", False: "too few"}
    rows = [(x.what, _kept(x.digits, found.digits), f"{x.cost:,.0f}", told[x.enough]) for x in first.values()]
    yield Table(heads, rows)
    if found.root:
        yield f"Another root is not among them: {found.root}."


def _commands(found: Checked, file: str | None) -> Iterator[str | Command]:
    words, form = shlex.split(found.model), ["--format", found.format]
    name = re.sub(r"\W+", "_", words[0].rpartition("/")[2].split(".")[0]).strip("_")
    enough = _enough(found, SHIPPED)
    if not found.keeps and enough is not None:
        yield "This writes C that is enough (-o FILE.cu: CUDA):"
        yield _command(
            "export", *words, "--order", enough.order, "--format", enough.format, "-o", f"{name}.c"
        )
    for row in found.of("C") if found.keeps else ():
        kept = _kept(row.worst, found.digits)
        keeps = "is enough" if row.worst >= found.digits else f"keeps {kept} digits at worst"
        yield f"This writes C that {keeps} (-o FILE.cu: CUDA):"
        yield _command("export", *words, "--order", found.best, *form, "-o", f"{name}.c")
    yield f"This computes the worst state of {joined(_names(found.row(found.subject)))} again:"
    program = found.row(found.subject).kind == "program"
    called = ("--as", found.subject.split(", ")[0]) if program else ("--order", found.subject)
    q, qd, tau = (",".join(f"{x:.15g}" for x in found.worst_state[x]) for x in ("q", "qd", "tau"))
    many = len(found.worst_state["q"]) > FEW
    state = ["--q", q, "--state", f"qd:{qd}", "--state", f"tau:{tau}"]
    state = ["--state", f"random:{found.seed}"] if many else state
    yield _command("blame", *words, *called, *form, *(state if file is None else ("--state", file)))
    if file is None and many:
        yield "(That is the worst of the random states; -o FILE.md writes down the worst that was found.)"


def _command(*words: str) -> Command:
    return Command(f"pivotree {shlex.join(words)}")


def markdown(parts: Iterator[str | Table | Command]) -> str:
    """The page as Markdown."""
    return "\n".join(_marked(part) for part in parts)


def _marked(part: str | Table | Command) -> str:
    if isinstance(part, Command):
        return f"    {part.text}\n"
    if isinstance(part, str):
        return f"{part}\n"
    rule = tuple("---" if head in WORDS else "---:" for head in part.heads)
    rows = [[cell.replace("|", "\\|") for cell in row] for row in part.rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in (part.heads, rule, *rows))
