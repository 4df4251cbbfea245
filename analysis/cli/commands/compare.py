"""``pivotree compare``: the main job."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.order.sequence import as_orders

from ..arguments import Parser, add_derivatives, add_format, add_json, add_model, add_order, add_refinement
from ..limits import SPARSER, admit, played
from ..progress import progress_shown
from .shared import (
    folder_of,
    formats_of,
    matrix_of,
    names_of,
    one_of,
    one_state,
    orders_of,
    print_json,
    refinement,
    refuse_beside,
    state_document,
    system_and_state,
)

if TYPE_CHECKING:
    from ...comparison import Comparison

EXAMPLES = (
    "compare chain:100",
    "compare robot.urdf --order crbm,abm --q shoulder=0.3,elbow=-1.2",
    "compare robot.urdf --as mjx,newton,pinocchio",
    "compare robot.urdf --derivatives",
    "compare chain:100 --symmetry both --order abm,joseph_abm",
    "compare robot.urdf --order mine.py:my_order,abm -o figures",
)


def declare(command: Parser) -> None:
    add_model(command, matrix=True)
    command.add_argument(
        "--frames",
        default="given",
        metavar="HOW",
        help="of the joints (given): given, aligned with their axes, or factored: placements "
        "as frames of their own",
    )
    add_order(command, None, several=True)
    command.add_argument(
        "--as",
        dest="readings",
        metavar="NAMES",
        help="orders as programs ship them: mjx,newton,pinocchio (pivotree readings: all of them)",
    )
    add_format(command, "float32,float64", several=True)
    add_refinement(command)
    add_derivatives(command)
    command.add_argument(
        "--symmetry",
        metavar="HOW",
        help="of symmetric blocks (mirrored): mirrored, or both, a second row with both triangles formed",
    )
    command.add_argument(
        "--composites",
        metavar="HOW",
        help="composite inertias (formed as 6 x 6 blocks, counted as ten numbers): general, counted as "
        "blocks, or rigid, formed as ten numbers",
    )
    command.add_argument("--bits", action="store_true", help="also the most bits that one addition loses")
    add_json(command)
    command.add_argument("-o", "--output", metavar="DIR", help="write figures into this folder")


def run(options: argparse.Namespace) -> int:
    if (matrix := matrix_of(options)) is not None:
        return _of_matrix(options, matrix)
    if options.readings is not None:
        return _as_programs(options)
    if options.derivatives:
        return _derivatives(options)
    folder = None if options.output is None else folder_of(options.output)
    names, formats = orders_of(options), formats_of(options)
    corrections, residual = refinement(options)
    _rules_known(options)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        wanted = _wanted(system, names)
        orders = [wanted[name] for name in names or wanted]
        if options.symmetry == "both":
            wanted = _in_both(wanted)
            orders = list(wanted.values())
        # each order is played once, and once more for each correction
        plays = [get_format(name) for name in formats] * (1 + corrections)
        admit(options, system, wanted, played(system, plays))
        from ...comparison import compare as compare_orders

        result = compare_orders(
            system,
            orders,
            formats,
            refine=corrections,
            residual=residual,
            composites=options.composites,
            reach=options.bits or options.json or folder is not None,
            progress=progress,
        )
        result = replace(result, model=options.model, state=state)  # as the user calls them
        if folder is not None:
            from ...figures import write_all

            progress("figures")
            files = write_all(result, folder)
    told = [result.verdict, one_state(options.model, state)]
    if folder is not None:
        size = sum(f.stat().st_size for f in files) / 1e6
        told.append(f"{len(files)} files in {folder} ({size:.1f} MB)")
    return _told(options, result, state_document(system, state), told)


def _wanted(system: kkt.System, names: list[str] | None) -> dict[str, kkt.Order]:
    """Orders by the names that are given, or all that are registered."""
    asked = orderings.names(loops=bool(system.loops)) if names is None else names
    return dict(zip(asked, as_orders(asked), strict=True))


def _rules_known(options: argparse.Namespace) -> None:
    """Refuse unknown rules, and both triangles of ten numbers."""
    for option, choices in (("symmetry", ("mirrored", "both")), ("composites", ("general", "rigid"))):
        value = getattr(options, option)
        if value is not None:
            one_of(f"--{option}", value, choices)
    if options.symmetry == "both" and options.composites == "rigid":
        raise kkt.PivotreeError(
            "option --symmetry", "ten numbers have no second triangle", "leave out --composites rigid"
        )


def _in_both(wanted: dict[str, kkt.Order]) -> dict[str, kkt.Order]:
    """Each order, and after it the same with both triangles, but where it has none to mirror."""
    found: dict[str, kkt.Order] = {}
    for name, order in wanted.items():
        found[name] = order
        if order.rules.elimination == "gauss" and order.composites in ("counted", "general"):
            other = orderings.varied(order, symmetry="both triangles")
            found[other.name] = other
    return found


def _told(options: argparse.Namespace, result: Comparison, state: dict[str, Any], lines: list[str]) -> int:
    """Print a comparison, as JSON or as tables and sentences; 1 where no order gives an answer."""
    if options.json:
        print_json({"model": options.model, **state, **result.as_dict()})
    else:
        from ..table import comparison_tables, console

        out = console(sys.stdout)
        for table in comparison_tables(result, out.width, options.bits):
            out.print(table)
        out.say(*lines)
    return 0 if any(row.error is not None for row in result.rows) else 1


def _as_programs(options: argparse.Namespace) -> int:
    """Orders in the frames of programs, beside the same orders in each body's own."""
    others = {x: f"--{x}" for x in ("order", "derivatives", "refine", "frames", "symmetry", "composites")}
    refuse_beside("--as", "says order and frames itself", options, **others, output="-o")
    from ... import readings

    names, formats = names_of("--as", options.readings), formats_of(options)
    orders = {readings.get(name).order for name in names}
    with progress_shown() as progress:
        system, state = system_and_state(options)
        plays = [get_format(name) for name in formats]
        admit(options, system, {name: orderings.get(name) for name in orders}, played(system, plays))
        found = readings.compare_as(system, names, formats, progress)
    found = replace(found, model=options.model, state=state)
    told = [found.verdict, *readings.advice(found), one_state(options.model, state)]
    return _told(options, found, state_document(system, state), told)


def _of_matrix(options: argparse.Namespace, matrix: kkt.Matrix) -> int:
    """Orders on the matrix of a Matrix Market file."""
    from ...comparison import compare as compare_orders
    from ...comparison.comparison import asked

    formats = formats_of(options)
    orders, plays = asked(matrix, orders_of(options), formats)
    admit(options, matrix, orders, played(matrix, plays), SPARSER)
    with progress_shown() as progress:
        result = compare_orders(matrix, orders.values(), formats, progress=progress)
    result = replace(result, model=options.model)
    return _told(options, result, {}, [result.verdict])


def _derivatives(options: argparse.Namespace) -> int:
    """Digits of the derivatives of qdd by q, qd and tau."""
    others = {x: f"--{x}" for x in ("bits", "refine", "symmetry", "composites")}
    refuse_beside("--derivatives", "compares digits alone", options, **others, output="-o")
    names, formats = orders_of(options), formats_of(options)
    with progress_shown() as progress:
        system, state = system_and_state(options)
        wanted = _wanted(system, names)
        admit(options, system, wanted, played(system, map(get_format, formats), derivatives=True))
        from ...comparison import compare_derivatives

        found = compare_derivatives(system, names, formats, progress)
    of_orders = [max(row.errors.values()) for row in found if row.operations is not None]
    code = 0 if min(of_orders, default=math.inf) < math.inf else 1
    if options.json:
        rows = [row.as_dict() for row in found]
        print_json({"model": options.model, **state_document(system, state), "rows": rows})
        return code
    from ..table import console, derivatives_table

    out = console(sys.stdout)
    out.print(derivatives_table(options.model, found))
    out.say(*(f"do not rely on {row.order}: {row.marked}" for row in found if row.marked))
    out.say(*dict.fromkeys(f"none: {row.refused}" for row in found if row.refused is not None))
    out.say(one_state(options.model, state))
    return code
