"""``pivotree simulate``: what an order's rounding costs an adaptive integrator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pivotree import kkt
from pivotree.kkt.base.reading import read_number
from pivotree.kkt.order.sequence import as_orders

from ..arguments import Parser, add_format, add_json, add_model, add_order, add_state
from ..progress import Progress, progress_shown
from ..state import values_in_words
from .shared import draw, folder_of, formats_of, names_of, print_json, tree_of

EXAMPLES = (
    "simulate robot.urdf --seconds 2",
    "simulate two_link --integrator DOP853",
    "simulate four_bar --format float64 --eps 1e-10 --integrator DOP853",
)


def declare(command: Parser) -> None:
    command.description = "Integrate a robot's motion, and count what each order takes."
    add_model(command, state=False)
    about = "where the motion starts; without these options the model's own positions,\n"
    add_state(command, f"{about}  at rest and without efforts, or with those that a .json model holds")
    command.add_argument(
        "--project",
        action="store_true",
        help="start from the nearest state that keeps the loops and contacts",
    )
    add_order(command, None, several=True)
    add_format(command, "float32", several=True)
    command.add_argument(
        "--integrator",
        default="cash_karp",
        metavar="I",
        help="one of (cash_karp): cash_karp (adaptive, of Numerical Recipes), "
        "or scipy's RK45, DOP853, Radau, BDF, LSODA; settings behind commas: "
        "step=0.01 (the first one [s]), floor=0.1 (size below which errors count "
        "as absolute), steps=10000 (after which a run is given up), state=float64 and clock=float64 "
        "(number types of the states, and of Cash-Karp's time and step)",
    )
    command.add_argument("--seconds", type=float, default=10.0, metavar="X", help="of motion [s] (10)")
    command.add_argument(
        "--eps", type=float, default=1e-4, metavar="X", help="accuracy of each step (0.0001)"
    )
    command.add_argument(
        "--runs", type=int, default=1, metavar="X", help="from starts one roundoff apart (1)"
    )
    add_json(command)
    command.add_argument("-o", "--output", metavar="DIR", help="write the picture of the steps")


def run(options: argparse.Namespace) -> int:
    from ...simulation import begun, simulate
    from ...simulation.motion import silent
    from ...simulation.run import order_of, require_runs, verdict

    integration = replace(integration_of(options.integrator), seconds=options.seconds, eps=options.eps)
    integration.check()
    require_runs(options.runs)
    formats = formats_of(options)
    folder = None if options.output is None else folder_of(options.output)
    tree = tree_of(options)
    if Path(options.model).suffix.lower() != ".json":  # from rest and passive, unless a file says
        for name in ("qd", "tau"):
            tree.graph.pop(name, None)
    given, *_ = values_in_words(tree, options, {}, "")
    looped = bool(tree.graph.get("loops"))
    usual = "crbm,abm" if looped else "crbm+cholesky,abm"
    names = names_of("--order", usual if options.order is None else options.order)
    solvers = [order_of(name)[1] for name in names]
    orders = as_orders(name.partition("+")[0] for name in names)
    if options.project and not looped:
        what = "is for closed loops and contacts, and this model has none"
        raise kkt.PivotreeError("option --project", what, "leave it out, or give --contact or --loops")
    # what is wrong with the rows, or the state, is told before the long work
    manifold = None
    if looped:
        if not options.project:
            with silent():
                kkt.build(tree, **given)
        start = given.pop("q", None), given.pop("qd", None)
        tree, manifold = begun(tree, *start, options.project)
    with silent(manifold is not None and not manifold.kept):
        kkt.build(tree, **given)

    found: list[Any] = []
    with progress_shown("compiling", len(formats) * len(names)) as progress:
        for format in formats:
            for name, order, solver in zip(names, orders, solvers, strict=True):
                what = f"{name} in {format}"
                progress(f"{what}: compiling", len(found))
                tick = clock(progress, what, options.seconds, len(found))
                more: dict[str, Any] = {"runs": options.runs, "manifold": manifold, "tick": tick}
                found.append(simulate(tree, order, format, integration, **given, **more, solver=solver))
    said = verdict(found)
    if folder is not None:
        _draw(found, folder)
    if options.json:
        rows = [simulation.as_dict() for simulation in found]
        print_json({"model": tree.graph["name"], "rows": rows, "verdict": said})
    else:
        _print(found, said, options.model)
    return 1 if all(simulation.failed for simulation in found) else 0


SETTINGS: dict[str, Any] = {"step": float, "floor": float, "steps": int, "state": str, "clock": str}


def integration_of(text: str) -> Any:
    """The integrator that ``--integrator`` names, and its settings behind commas."""
    from ...simulation import Integration

    name, *settings = (part.strip() for part in text.split(","))
    found: dict[str, Any] = {}
    for item in settings:
        field, equals, value = item.partition("=")
        if not equals or field not in SETTINGS:
            raise kkt.PivotreeError(
                "option --integrator", f"{item!r} is no setting", f"give NAME,{'=X,'.join(SETTINGS)}=X"
            )
        if field in found:
            raise kkt.PivotreeError("option --integrator", f"gives {field} twice", "give it once")
        try:
            found[field] = value if SETTINGS[field] is str else read_number(value, SETTINGS[field])
        except ValueError:
            what = f"{item!r} is no {'whole ' * (field == 'steps')}number"
            raise kkt.PivotreeError("option --integrator", what) from None
    return Integration(**{"integrator": name, "floor": 0.1, **found})


def clock(progress: Progress, what: str, seconds: float, done: int) -> Callable[[float], None]:
    """Tells the time that a motion has reached, after so many motions that are ``done``."""
    return lambda t: progress(f"{what}: {t:.2f} of {seconds:g} s", done + t / seconds)


def _draw(found: list[Any], folder: Any) -> None:
    """The accepted steps, as a picture and as numbers."""
    from pivotree.kkt.base.files import made, write_whole

    from ...simulation.picture import picture
    from ...sweep.store import csv_lines

    made(folder)
    rows: list[list[Any]] = [["order", "format", "run", "t", "step"]]
    for simulation in found:
        for run, record in enumerate(simulation.records):
            pairs = zip(record.step_t.tolist(), record.step.tolist(), strict=True)
            rows += [[simulation.order, simulation.format, run, t, h] for t, h in pairs]
    write_whole(folder / "steps.csv", csv_lines(rows))
    draw(folder, lambda style: {"steps": picture(found, style=style)})


def _print(found: list[Any], said: str, model: str) -> None:
    from ..table import console, grid, in_kernel

    first = found[0]
    out = console(sys.stdout, wide=True)
    heads = ("order", "format", "evaluations", "steps", "rejected", "operations each", "energy drift")
    heads = (*heads, *(("gap", "its rate") if first.left else ()), "time [s]", "")

    def cells(simulation: Any) -> tuple[str, ...]:
        row = simulation.as_dict()
        spread = f" ± {row['spread']:,.0f}" if row["runs"] > 1 else ""
        failed = f"{row['failed']} of {row['runs']} failed: {row['why']}" if row["failed"] else ""
        return (
            row["order"],
            row["format"],
            f"{row['evaluations']:,.0f}{spread}",
            f"{row['accepted']:,.0f}",
            f"{row['rejected']:,.0f}",
            f"{row['operations']:,}",
            "–" if row["energy_drift"] is None else f"{row['energy_drift']:.1e}",
            *(f"{x:.1e}" for x in simulation.left or ()),
            f"{row['seconds']:.1f}",
            "; ".join(filter(None, (failed, row["doubt"]))),
        )

    title = f"{model}: {first.seconds:g} s of motion by {first.integrator}"
    caption = (
        f"operations each: of one evaluation, {in_kernel('counted')}; energy drift: the largest change of "
        "the energy, less the efforts' work, over the largest kinetic energy"
        + "; gap and its rate: the largest of all loops [rad, m, and per s]" * bool(first.left)
        + "; time: of the computer, compiling left out"
    )
    words = ("order", "format", "")
    out.print(grid(title, heads, map(cells, found), words=words, wrapped=("",), caption=caption))
    out.say(said)
