"""A report from a tree: measured, summed up, written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import networkx as nx

from pivotree import orderings
from pivotree.kkt import (
    FormatError,
    ModelError,
    OrderError,
    PivotreeError,
    SingularError,
    SizeError,
    compile_tree,
    trace,
)
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.files import check_folder, made, write_whole, writing
from pivotree.kkt.base.foreign import is_number, is_whole
from pivotree.kkt.proof.idle import lost_to_range, wider
from pivotree.kkt.tape.trust import bound

from ..states.closing import ClosedRanges
from ..states.measure import Measured, Setup
from ..states.sample import drawn_system
from ..states.traced import TracedOrder
from .gather import gather
from .notebook import Notebook, most_digits, records
from .page import page
from .summary import Cell, Report, cells_of, quantiles, worst_state
from .words import verdict
from .worst import Inspector

ORDERS = ("abm", "modified_abm", "crbm", "square_root_abm")
FORMATS = ("float64", "float32", "tf32", "bfloat16")
MOST_STATES = 10_000_000
TABLE, PAGE, DOCUMENT = "states.csv", "report.html", "report.json"
DIGITS = (1.0, 15.0)  # that may be asked for


def default_orders() -> list[str]:
    return [name for name in ORDERS if name in orderings.ORDERS]


def default_formats() -> list[str]:
    known = []
    for name in FORMATS:
        try:
            known.append(get_format(name).name)
        except FormatError:
            continue
    return known


def robot_report(
    tree: nx.DiGraph,
    model: str,
    orders: Sequence[str] | None = None,
    formats: Sequence[str] | None = None,
    *,
    states: int = 1000,
    seed: int = 0,
    digits: float = 3.0,
    folder: str | os.PathLike[str] | None = None,
    processes: int | None = 1,
    quantity: str = "qdd",
    progress: Callable[[str, int | None], None] = lambda text, done: None,
) -> Report:
    """Digits kept by orders in number formats, over random states of a robot.

    ``quantity`` "derivatives" has those of d qdd / dq, dqd and dtau in the place of qdd's, the
    worst of the three matrices, each relative to its own largest entry.
    ``folder`` (new, empty, or of a run that was ended) receives the page as HTML,
    ``report.json``, ``states.csv`` and the worst states as model files.  ``processes`` None uses
    every core.
    ``progress`` is told what is being done and, while states are measured, how many are done.
    A run that is ended leaves its states in the folder, and the next one with the same arguments,
    or with fewer states, goes on from there.  Time grows with states times formats times the
    orders' operations; each order is traced once.  Raises PivotreeError, one sentence, for input
    that is wrong.

    >>> from pivotree.analysis.report import robot_report
    >>> print(robot_report(pt.chain(3), "chain:3", states=5).verdict[0])
    To keep 3 digits in all 5 states, ...
    """
    began = time.perf_counter()
    check(states, seed, digits)
    names = _once("order", default_orders() if orders is None else orders)
    wanted = default_formats() if formats is None else formats
    wanted = [wanted] if isinstance(wanted, str) else wanted
    chosen = _once("format", [get_format(name).name for name in wanted])
    folder = None if folder is None else Path(folder)
    if folder is not None:
        check_empty(folder)
    setup, refused = prepare(tree, model, names, chosen, seed, quantity, lambda text: progress(text, None))
    if folder is not None:
        made(folder)
    notes = Notebook(setup, states, None if folder is None else folder / TABLE)

    def keep(measured: Measured) -> None:
        notes.keep(measured)
        progress("states", notes.done)

    try:
        gather(setup, notes.missing(), keep, processes)
        notes.finish()
        report = summed_up(notes, model, digits, refused, folder, lambda t: progress(t, None))
        report = _called(report, setup.called)
        report = replace(report, seconds=time.perf_counter() - began)
        if folder is not None:
            progress("the page", None)
            write_report(report, folder)
        notes.close(done=True)
    finally:
        notes.close()
    return report


def _called(report: Report, names: dict[str, str]) -> Report:
    """The report with orders of one's own called as in one state."""
    renamed = replace(
        report,
        orders=tuple(names[order] for order in report.orders),
        cells=tuple(replace(cell, order=names[cell.order]) for cell in report.cells),
        costs={names[order]: cost for order, cost in report.costs.items()},
    )
    return replace(renamed, verdict=verdict(renamed))


def summed_up(
    notes: Notebook,
    model: str,
    digits: float,
    refused: dict[str, str],
    folder: Path | None,
    progress: Callable[[str], None],
) -> Report:
    """The report of the states, their worst ones certified and saved."""
    setup, inspector = notes.setup, Inspector(notes, folder, model)
    cells = []
    for cell in cells_of(notes, digits):
        progress(f"the worst state of {cell.order} in {cell.format}")
        cells.append(replace(cell, worst=inspector.worst(cell)))
    inspector.sample(progress)
    system = setup.system
    report = Report(
        model=model,
        bodies=system.tree.n,
        dof=int(system.tree.offset[-1]),
        seed=setup.seed,
        states=notes.done,
        wanted=digits,
        distribution=_distribution(notes),
        orders=tuple(setup.orders),
        costs={name: order.costs for name, order in setup.orders.items()},
        formats=setup.format_names,
        capacity={f.name: round(most_digits(f.unit), 3) for f in setup.formats},
        cells=tuple(cells),
        data={f: quantiles(notes.data[:, j]) for j, f in enumerate(setup.format_names)},
        refused=refused,
        seconds=0.0,
        reference=inspector.reference,
        quantity=setup.quantity,
        narrow=dict(_narrow(notes, cells)),
    )
    return replace(report, verdict=verdict(report))


def _narrow(notes: Notebook, cells: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """Formats whose range is why the worst state of an order has no answer, or a marked one, in words."""
    setup = notes.setup
    for j, chosen in enumerate(setup.formats):
        poor = [i for i, cell in enumerate(cells[j :: len(setup.formats)]) if cell.failed or cell.marked]
        for i in poor if wider(setup.system, chosen) else ():
            name, row = list(setup.orders)[i], worst_state(notes, i, j)
            if notes.failed[row, i, j] or not notes.error[row, i, j] <= bound(chosen.unit):
                system = setup.system_at(int(notes.numbers[row]))
                if why := lost_to_range(system, trace(system, orderings.get(name)), chosen):
                    yield chosen.name, why
                    break


def _distribution(notes: Notebook) -> str:
    """How states were drawn, and how many draws led to none."""
    words = notes.setup.ranges.in_words()
    if not isinstance(notes.setup.ranges, ClosedRanges):
        return words
    draws = "1 draw" if notes.again == 1 else f"{notes.again} draws"
    return f"{words} ({draws} for these {notes.done} states)"


def prepare(
    tree: nx.DiGraph,
    model: str,
    orders: Sequence[str],
    formats: Sequence[str],
    seed: int,
    quantity: str = "qdd",
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[Setup, dict[str, str]]:
    """The setup, and the orders that this robot rules out with the reason."""
    for name in formats:
        if get_format(name).kind != "float":
            raise FormatError(
                f"format {name!r}: a report needs formats of a fixed precision; use "
                f"{', '.join(default_formats())}"
            )
    for name in orders:
        if orderings.get(name).problem != "qdd":
            raise OrderError(
                f"order {name!r}: solves for tau, not for qdd; use {', '.join(default_orders())}"
            )
    if not int(compile_tree(tree).offset[-1]):
        raise ModelError(f"{model}: has no joint that moves; a report needs at least one")
    system, ranges = drawn_system(tree, seed)
    progress("tracing abm, for the reference")
    proof = TracedOrder(trace(system, orderings.get("abm")), system, quantity)
    found: dict[str, TracedOrder] = {}
    refused: dict[str, str] = {}
    for name in orders:
        progress(f"tracing {name}")
        try:
            tape = proof if name == "abm" else trace(system, orderings.get(name))
            found[name] = tape if isinstance(tape, TracedOrder) else TracedOrder(tape, system, quantity)
        except (OrderError, SingularError, SizeError) as error:
            refused[name] = _without_name(error.why, name)
    if not found:
        name, why = next(iter(refused.items()))
        raise SingularError(f"order {name!r}: {why}; no order that was asked for remains")
    names = tuple(get_format(name).name for name in formats)
    return Setup(system, ranges, seed, found, proof, names), refused


def _without_name(text: str, name: str) -> str:
    own = f"order {name!r}: "
    return text.removeprefix(own) if text.startswith(own) else text


def check(states: int, seed: int, digits: float) -> None:
    """Raise PivotreeError for numbers that make no report."""
    if not is_whole(states, 1, MOST_STATES):
        raise PivotreeError(f"option --states: {states!r} is no number of states; use 1 to {MOST_STATES:,}")
    if not is_whole(seed, 0):
        raise PivotreeError(f"option --seed: {seed!r} is no seed; use a whole number from 0 on")
    low, high = DIGITS
    if not is_number(digits) or not low <= digits <= high:
        raise PivotreeError(f"option --digits: {digits!r} is out of range; use {low:g} to {high:g}")


def check_empty(folder: Path) -> None:
    """Raise PivotreeError where something is already there but the states of an ended run."""
    check_folder(folder)
    with writing(folder, "output folder "):
        taken = folder.exists() and any(folder.iterdir()) and not records(folder / TABLE).is_file()
    if taken:
        raise PivotreeError(f"output folder {folder}: is not empty; give another with -o, or remove it")


def _once(what: str, names: Sequence[str]) -> list[str]:
    names = [names] if isinstance(names, str) else names
    if not names:
        raise PivotreeError(f"{what}: none is given; name at least one")
    for name in names:
        if list(names).count(name) > 1:
            raise PivotreeError(f"{what} {name!r}: is asked for twice; give each one once")
    return list(names)


# -- files ----------------------------------------------------------------------------------------


def write_report(report: Report, folder: Path) -> list[Path]:
    """``report.json`` and ``report.html``; returns their paths."""
    document = json.dumps(report.as_dict(), indent=1, allow_nan=False)
    return [write_whole(folder / DOCUMENT, document + "\n"), write_whole(folder / PAGE, page(report))]
