"""``pivotree simulate``: what an order's rounding costs an adaptive integrator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pivotree import kkt

from ..estimate import Motions
from ..progress import progress_shown
from ..state import given_values
from .shared import folder_of, items, print_json, tree_of


def run(options: argparse.Namespace) -> int:
    from pivotree.kkt.arithmetic import get_format
    from pivotree.kkt.machine.kernel import FRAMES

    from ...simulation import Integration, begun, simulate
    from ...simulation.motion import silent
    from ...simulation.run import order_of, require_runs
    from ...simulation.words import verdict

    integration = Integration(
        options.seconds,
        options.eps,
        options.integrator,
        options.step,
        options.steps,
        options.floor,
        options.state_type,
        options.clock,
    )
    integration.check()
    require_runs(options.runs)
    if options.frames not in FRAMES:
        raise kkt.PivotreeError(f"option --frames: is {options.frames!r}; use {' or '.join(FRAMES)}")
    formats = items("--format", options.format)
    for name in formats:
        get_format(name)
    folder = None if options.output is None else folder_of(options.output)
    tree = tree_of(options)
    if Path(options.model).suffix.lower() != ".json":  # from rest and passive, unless a file says
        for name in ("qd", "tau"):
            tree.graph.pop(name, None)
    given = given_values(tree, options)
    looped = bool(tree.graph.get("loops"))
    usual = "crbm,abm" if looped else "crbm+cholesky,abm"
    names = items("--order", usual if options.order is None else options.order)
    for name in names:
        order_of(name)
    if options.project and not looped:
        raise kkt.PivotreeError(
            "option --project: is for closed loops and contacts, and this model has none; leave it "
            "out, or give some with --contact or --loops"
        )
    manifold = None
    if looped:
        if not options.project:
            with silent():  # what is wrong with the rows is told before what is amiss
                kkt.build(tree, **given)
        start = given.pop("q", None), given.pop("qd", None)
        tree, manifold = begun(tree, *start, options.project)
    with silent(manifold is not None and not manifold.kept):
        kkt.build(tree, **given)  # what is wrong with the state is told before the long work
    found = []
    with progress_shown() as progress:
        judged = Motions(options, len(formats) * len(names))
        for format in formats:
            for name in names:
                what = f"{name} in {format}"
                progress(f"{what}: compiling")
                found.append(
                    simulate(
                        tree,
                        name,
                        format,
                        integration,
                        runs=options.runs,
                        seed=options.seed,
                        **given,
                        frames=options.frames,
                        manifold=manifold,
                        tick=judged.of(clock(progress, what, options.seconds)),
                    )
                )
    said = verdict(found)
    if folder is not None:
        _draw(found, folder)
    if options.json:
        rows = [simulation.as_dict() for simulation in found]
        print_json({"model": tree.graph["name"], "rows": rows, "verdict": said})
    else:
        _print(found, said)
    return 1 if all(simulation.failed for simulation in found) else 0


def clock(progress: Callable[[str], None], what: str, seconds: float) -> Callable[[float], None]:
    """Tells the time that a motion has reached."""
    return lambda t: progress(f"{what}: {t:.2f} of {seconds:g} s")


def _draw(found: list[Any], folder: Any) -> None:
    """The accepted steps, as a picture and as numbers."""
    from pivotree.kkt.base.errors import csv_line
    from pivotree.kkt.base.files import made, write_whole

    from ...figures import save
    from ...simulation.picture import picture

    made(folder)
    lines = ["order,format,run,t,step"]
    for simulation in found:
        for run, record in enumerate(simulation.records):
            start = csv_line([simulation.order, simulation.format, run])
            pairs = zip(record.step_t.tolist(), record.step.tolist(), strict=True)
            lines += [f"{start},{t!r},{h!r}" for t, h in pairs]
    write_whole(folder / "steps.csv", "\n".join(lines) + "\n")
    for style, ending in (("light", ""), ("dark", "_dark")):
        figure = picture(found, style=style)
        for suffix in (".png",) if ending else (".png", ".pdf"):
            save(figure, folder / f"steps{ending}{suffix}")


def _print(found: list[Any], said: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from ..table import console

    first = found[0]
    out = console(sys.stdout, wide=True)
    shown = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title_justify="left",
        title=escape(f"{first.model}: {first.seconds:g} s by {first.integrator}"),
    )
    loops = ("gap", "its rate") if first.left else ()
    for head in (
        "order",
        "format",
        "evaluations",
        "steps",
        "rejected",
        "operations each",
        "energy drift",
        *loops,
        "s",
        "",
    ):
        shown.add_column(head, justify="left" if head in ("order", "format", "") else "right")
    for simulation in found:
        row = simulation.as_dict()
        spread = f" ± {row['spread']:,.0f}" if row["runs"] > 1 else ""
        drift = "–" if row["energy_drift"] is None else f"{row['energy_drift']:.1e}"
        failed = f"{row['failed']} of {row['runs']} failed: {row['why']}" if row["failed"] else ""
        why = "; ".join(filter(None, (failed, row["doubt"])))
        shown.add_row(
            escape(row["order"]),
            escape(row["format"]),
            f"{row['evaluations']:,.0f}{spread}",
            f"{row['accepted']:,.0f}",
            f"{row['rejected']:,.0f}",
            f"{row['operations']:,}",
            drift,
            *(f"{x:.1e}" for x in simulation.left or ()),
            f"{row['seconds']:.1f}",
            escape(why),
        )
    out.print(shown)
    out.print(escape(said), soft_wrap=True)
