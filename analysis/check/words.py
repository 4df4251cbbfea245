"""The page of a check, for a reader who knows none of our words: paragraphs, tables and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.theorem.ranges import ACCELERATION

from ..comparison import full_digits
from ..readings import get as reading_of
from ..report.words import amount, joined
from .make import Checked, Row
from .mends import Mend

SAID = {
    "abm": "articulated bodies (ABA)",
    "gain_abm": "ABA, gains before products",
    "modified_abm": "ABA, sums kept apart",
    "projected_abm": "ABA, projected sums",
    "square_root_abm": "ABA by rotations (QR)",
    "crbm": "composite bodies, mass matrix factored (CRBA)",
    "data": "what rounding the robot's numbers leaves",
}
KINDS = ("order", "frames", "format", "armature")
FEW = 8  # joints up to which a state stands in a command


class Table(NamedTuple):
    """Heads, and rows of texts; the first column is of words."""

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
    yield _table(found)
    proved = f"some joint accelerates by {ACCELERATION:g} rad/s² (m/s²) or more"
    told = found.row(found.best).why
    why = f" (none of {found.best}: {told})" if told else ""
    yield (
        "Digits: 5.0 says that no joint acceleration is off by more than 0.00001 of the largest one in "
        "that state, held against exact arithmetic on the robot's own numbers. "
        f"This state: {state}. Worst: of {found.states} random states, and of {found.searched} that were "
        f"searched near the worst of these. Proved: for all states within the limits of positions, rates and "
        f"efforts in which {proved}; a proof takes every rounding at its worst{why}. Random states: "
        f"{found.distribution}."
    )
    yield f"Where digits are lost. {found.fault.replace('in this state', 'in its worst state')}"
    yield from _mended(found)
    yield from _commands(found, file)


def _verdict(found: Checked) -> str:
    best, asked = found.row(found.best), amount(found.digits)
    most = full_digits(get_format(found.format))
    many = f"all {found.states + found.searched} states tried"
    begin = f"{found.model} in {found.format}: "
    if not found.keeps:
        text = f"{begin}do not keep it for {asked}. "
        if found.data.worst < found.digits:
            text += (
                f"Rounding the robot's own numbers to {found.format} leaves {found.data.worst:.1f} digits at "
                f"worst, whatever computes; the best order, {best.name}, keeps {best.worst:.1f}."
            )
        else:
            text += f"The best order tried, {best.name}, keeps {best.worst:.1f} at worst."
        own = (x for x in found.mends if x.enough and x.frames == "own" and x.kind != "armature")
        enough = next(own, None)
        return text if enough is None else f"{text} Enough: {_told(enough)}."
    poor = [name for row in _programs(found) if row.worst < found.digits for name in _names(row)]
    if found.exported is not None and found.exported[1] < found.digits:
        poor.append("its C file")
    text = f"{begin}keep it, but not in {joined(poor)}. " if poor else f"{begin}keep it. "
    text += (
        f"Computed by {best.name}, {best.worst:.1f} of {most:.1f} digits are left at worst in {many}; "
        f"{asked} {'is' if found.digits == 1 else 'are'} asked for."
    )
    told = [f"{row.worst:.1f} by {_called(row)}" for row in _programs(found)]
    if found.exported is not None:
        told.append(f"{found.exported[1]:.1f} by the C file, in which positions are rounded, too")
    return f"{text} As programs ship it: {'; '.join(told)}." if told else text


def _programs(found: Checked) -> list[Row]:
    return [row for row in found.rows if row.name not in SAID]


def _names(row: Row) -> list[str]:
    """Programs by their names in the world."""
    return [reading_of(name).program.split(",")[0] for name in row.name.split(", ")]


def _called(row: Row) -> str:
    return joined(_names(row))


def _table(found: Checked) -> Table:
    heads = ("computed by", "what it is", "this state", "worst", "proved", "operations")
    rows = []
    for row in sorted(found.rows, key=lambda row: row.name != found.best):
        said = SAID.get(row.name) or f"as {_called(row)} ship{'' if ', ' in row.name else 's'} it"
        proved = "" if row.proved is None else f"{row.proved:.1f}"
        rows.append((row.name, said, f"{row.here:.1f}", f"{row.worst:.1f}", proved, f"{row.operations:,}"))
    if found.exported is not None:
        here, worst = (f"{x:.1f}" for x in found.exported)
        rows.insert(1, ("its C file", "all of it, from positions on", here, worst, "", ""))
    rows.append(("(any)", SAID["data"], f"{found.data.here:.1f}", f"{found.data.worst:.1f}", "", ""))
    return Table(heads, rows)


def _told(mend: Mend) -> str:
    return f"{mend.what} ({mend.digits:.1f} digits)"


def _mended(found: Checked) -> Iterator[str | Table]:
    """The cheapest change of each kind that is enough, or the best of it."""
    subject = found.row(found.subject)
    name = found.subject if found.subject in SAID else _called(subject)
    if subject.worst >= found.digits:
        yield (
            f"What would mend it. Nothing has to be mended for {amount(found.digits)}; --digits asks for "
            f"more. {name[0].upper()}{name[1:]} loses most."
        )
        return
    yield (
        f"What would mend {name}, tried in the worst of these states; cost in operations of "
        f"{found.format}, those of float64 counted by their longer numbers (now {subject.operations:,}):"
    )
    first = {kind: next((x for x in found.mends if x.kind == kind), None) for kind in KINDS}
    some = sorted((x for x in first.values() if x is not None), key=found.mends.index)
    rows = [(x.what, f"{x.digits:.1f}", f"{x.cost:,.0f}", "enough" if x.enough else "too few") for x in some]
    yield Table(("change", "digits", "cost", f"{found.digits:g} asked"), rows)


def _commands(found: Checked, file: str | None) -> Iterator[str | Command]:
    if found.exported is not None:
        kept = found.exported[1]
        keeps = (
            "that keeps it"
            if kept >= found.digits
            else f"of {found.best}, which keeps {kept:.1f} digits at worst"
        )
        yield f"The C file {keeps} (-o FILE.cu: CUDA):"
        words = shlex.split(found.model)
        name = re.sub(r"\W+", "_", words[0].rpartition("/")[2].split(".")[0]).strip("_")
        options = ["--order", found.best, "--format", found.format, "-o", f"{name}.c"]
        yield Command(f"pivotree export {shlex.join([*words, *options])}")
    yield f"The worst state of {found.subject} again:"
    as_one = ["--order", found.subject] if found.subject in SAID else ["--as", found.subject.split(", ")[0]]
    words = ["blame", *shlex.split(found.model), *as_one, "--format", found.format]
    q, qd, tau = (",".join(f"{x:.15g}" for x in found.worst_state[x]) for x in ("q", "qd", "tau"))
    if file is not None:
        words += ["--state", file]
    elif len(found.worst_state["q"]) <= FEW:
        words += ["--q", q, "--state", f"qd:{qd}", "--state", f"tau:{tau}"]
    else:
        words += ["--state", f"random:{found.seed}"]
    yield Command(f"pivotree {shlex.join(words)}")
    if file is None and len(found.worst_state["q"]) > FEW:
        yield "(That is the worst of the random states; -o FILE.md writes down the worst that was found.)"


def markdown(parts: Iterator[str | Table | Command]) -> str:
    """The page as Markdown."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Command):
            lines.append(f"    {part.text}\n")
        elif isinstance(part, Table):
            sides = " | ".join(["---", *("---" if x == "what it is" else "---:" for x in part.heads[1:])])
            each = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in (part.heads, *part.rows)]
            lines.append("\n".join(f"| {x} |" for x in (each[0], sides, *each[1:])) + "\n")
        else:
            lines.append(f"{part}\n")
    return "\n".join(lines)
