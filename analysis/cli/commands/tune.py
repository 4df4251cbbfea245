"""``pivotree tune``: the cheapest order for a robot or a matrix, in words, beside registered ones."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pivotree import analysis, kkt, orderings
from pivotree.kkt.order.sequence import as_sequence

from ..arguments import Parser, add_json, add_model
from ..limits import operations, refuse
from ..progress import progress_shown
from .shared import file_of, matrix_of, one_of, print_json, system_of_any, tree_of

BESIDE = ("crbm", "abm")
OF_MATRIX = ("natural", "minimum_degree")  # beside the cheapest order of a matrix
COUNTED = 10.0  # times that an operation takes where it is counted
SQUARED = 600.0  # operations that the search of a matrix takes for each pair of blocks
SHOWN = 40  # blocks whose order is told in words
UPDATES = {"gain": "(c/d) c*", "outer": "(c c*)/d", "joseph": "Joseph's"}

EXAMPLES = ("tune robot.urdf", "tune robot.urdf -o mine.json")


def declare(command: Parser) -> None:
    add_model(command, state=False, matrix=True)
    command.add_argument(
        "--composites",
        metavar="HOW",
        help="composite inertias, as in compare: general, or rigid, which the kernel forms as ten numbers",
    )
    command.add_argument("--most", type=int, default=60, metavar="N", help="orders to count (60)")
    add_json(command)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the order: FILE.json, for --order, or FILE.py, which is run by --order FILE.py:tuned",
    )


def run(options: argparse.Namespace) -> int:
    if options.composites is not None:
        one_of("--composites", options.composites, ("rigid", "general"))
    if options.most < 1:
        raise kkt.OrderError("option --most", f"is {options.most}", "give 1 order or more")
    file = None if options.output is None else file_of(options.output, "order file", (".json", ".py"))
    if (matrix := matrix_of(options, "most", "output")) is not None:
        return _of_matrix(options, matrix, file)
    with progress_shown() as progress:
        tree = tree_of(options)
        system = system_of_any(tree)
        _admit(options, system)
        composites = options.composites or "counted"
        found = analysis.search(system, composites=composites, most=options.most, progress=progress)
        wanted = {"tuned": found.sequence} | {name: orderings.get(name) for name in BESIDE}
        rows = []
        for name, order in wanted.items():
            formed = replace(as_sequence(order, system.structure), composites=composites)
            kernel = sum(kkt.compile(system, formed).operations.values())
            rows.append({"order": name, "flops": kkt.trace(system, formed).flops, "kernel": kernel})
    from ..table import counted, in_kernel

    caption = (
        f"operations: {counted(composites, choice=True)}, as compare counts them; "
        f"in the kernel: {in_kernel(composites)}"
    )
    return _told(options, found, rows, words(found, system.structure), file, caption)


def _told(
    options: argparse.Namespace,
    found: Any,
    rows: list[dict[str, Any]],
    said: str,
    file: Path | None,
    caption: str,
) -> int:
    """Write the order, if a file is named for it; print a row for each order, and what is known of it."""
    _write(file, found)
    if options.json:
        print_json(
            {
                "model": options.model,
                "cost": "flops",
                "value": found.cost,
                "composites": found.composites,
                "searched": found.searched,
                "counted": found.counted,
                "winner": found.best.name,
                "words": said,
                "rows": rows,
                "order": found.as_json(),
                "ranking": found.records()[:20],
            }
        )
        return 0
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    last = list(rows[0])[-1]
    cells = ((row["order"], f"{row['flops']:,}", f"{row[last]:,}") for row in rows)
    heads = ("order", "operations", {"kernel": "in the kernel"}.get(last, last))
    out.say(options.model)
    out.print(grid("", heads, cells, words=("order",)))
    out.say(*filter(None, (caption, said)))
    return 0


def _write(file: Path | None, found: analysis.SearchResult) -> None:
    """The winner as an order file, or as a Python file whose function ``tuned`` is the order."""
    if file is None:
        return
    from pivotree.kkt.base.files import write_whole

    document = found.as_json()
    if file.suffix == ".json":
        write_whole(file, json.dumps(document, indent=1) + "\n")
        return
    said = {"links": document["links"], "composites": document["composites"], **document["rules"]}
    switches = "".join(f", {key}={value!r}" for key, value in said.items())
    groups = "".join(f"    {[tuple(block) for block in group]},\n" for group in found.sequence.groups)
    write_whole(
        file,
        f"""import pivotree as pt

GROUPS = [
{groups}]


@pt.order("tuned", source="pivotree tune: {found.cost:,} operations"{switches})
def tuned(structure):
    return GROUPS
""",
    )


def _of_matrix(options: argparse.Namespace, matrix: kkt.Matrix, file: Path | None) -> int:
    """The cheapest order of a matrix of one's own, beside registered ones."""
    from ...cheapest.matrices import largest_front, least_front

    refuse(options, SQUARED * matrix.structure.n**2, "", "compare counts minimum_degree and minimum_fill")
    rows: list[dict[str, Any]] = []
    with progress_shown() as progress:
        found = analysis.search(matrix, most=options.most, progress=progress)
        gain = orderings.varied("minimum_degree", rank_update="gain")
        wanted = {"tuned": found.sequence} | {x.name: x for x in (*map(orderings.get, OF_MATRIX), gain)}
        for name, order in wanted.items():
            with suppress(kkt.OrderError):  # one that this matrix does not allow is no rival
                made = kkt.eliminate(matrix, order)
                rows += [{"order": name, "flops": made.flops, "fill": made.fill}] * (made.failed_at is None)
    listed = [" ".join(str(block[1]) for block in group) for group in found.sequence.groups]
    said = f"Blocks go in the order {', '.join(listed[:SHOWN])}{', ...' * (len(listed) > SHOWN)}."
    said += f" Rank updates are {UPDATES[found.sequence.rules.rank_update]}." + _cost(found)
    largest = largest_front(kkt.symbolic(kkt.plan(found.sequence, matrix.structure)))
    single = "" if matrix.structure.armature.all() else " of single pivots"
    least = least_front(matrix.structure, paired=not single)
    said += f" Its largest front has {largest} rows; no order{single} has less than {least}."
    return _told(options, found, rows, said, file, "")


def _admit(options: argparse.Namespace, system: kkt.System) -> None:
    """Refuse a search that is plainly too long: it counts --most orders twice, and all registered ones."""
    orders = map(orderings.get, orderings.names(loops=bool(system.loops)))
    total = 2 * options.most * operations(system, orderings.get("abm"))
    total += sum(operations(system, order) for order in orders)
    refuse(options, COUNTED * total, "", "give fewer orders with --most, or a smaller model")


def words(found: analysis.SearchResult, structure: kkt.Structure) -> str:
    """The winner in plain words: which joints go where, and what is known of the rest."""
    if found.best.name != "search":
        text = f"The registered order {found.best.name} is the cheapest that was found."
    else:
        text = "Tip to base; " + _joints(found.sequence, structure)
        text += f" Rank updates are {UPDATES[found.sequence.rules.rank_update]}."
    if structure.constraints:
        named = [str(group[0][1]) for group in found.sequence.groups if group[0][0] == "lam"]
        own = f" of {', '.join(named)} have brackets of their own, all others" if named else ""
        text += f" Multipliers{own} come last."
    if found.composites == "rigid":
        text += " Inertias behind which no joint is eliminated are ten numbers."
    return text + _cost(found)


def _cost(found: analysis.SearchResult) -> str:
    return f" It takes {found.cost:,} operations; {found.counted} orders were counted, {found.searched}."


def _joints(sequence: kkt.PivotSequence, structure: kkt.Structure) -> str:
    """Which joints are eliminated where."""
    own, together = 0, []
    body: Any = None
    for group in sequence.groups:
        pairs = [b for kind, b in group if kind == "pdd"]
        body = pairs[-1] if pairs else body
        joints = [b for kind, b in group if kind == "qdd"]
        if joints == [body]:
            own += 1
        elif joints:
            place = "at the end" if structure.parent_of(body) is None else f"at {body}"
            listed = ", ".join(map(str, joints[:6]))
            more = f" and {len(joints) - 6} more" if len(joints) > 6 else ""
            inside = "" if pairs or place == "at the end" else " after its bracket"
            together.append(f"the joints of {listed}{more} {place}{inside}")
    parts = ["; ".join(together)] if together else []
    if own:
        each = f"{own} joints with their own bodies" if own > 1 else "one joint with its own body"
        parts.append(f"{each}, as in abm")
    return "; ".join(parts) + "."
