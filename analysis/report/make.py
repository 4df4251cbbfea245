"""A report from a tree: measured, summed up, written."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx

from pivotree import orderings
from pivotree.kkt import FormatError, OrderError, PivotreeError, SingularError, trace
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.errors import Refusal, require_once
from pivotree.kkt.base.files import check_folder, made, write_whole, writing
from pivotree.kkt.base.foreign import is_number, is_whole
from pivotree.kkt.proof.idle import lost_to_range, wider
from pivotree.kkt.proof.trust import bound

from ..states.sample import ClosedRanges, require_joints
from ..states.traced import TracedOrder
from ..sweep.config import MOST_STATES, Config, Settings, order_digest
from ..sweep.measure import positions
from ..sweep.measure import prepare as prepare_model
from ..sweep.models import model_of
from ..sweep.run import sweep
from .page import page
from .summary import Cell, Notebook, Report, Setup, cells_of, most_digits, quantiles, worst_state
from .words import verdict
from .worst import FOLDER as WORST
from .worst import Inspector

ORDERS = ("abm", "modified_abm", "crbm", "square_root_abm")
FORMATS = ("float64", "float32", "tf32", "bfloat16")
COLUMNS = (
    *("error", "digits", "backward_error", "marked", "failed_at", "failed_as"),
    *("error_with_data", "digits_with_data", "error_of_data", "drawn_again"),
)
PARTS = "states.csv.parts"  # of a run that was ended
TABLE, PAGE, DOCUMENT = "states.csv", "report.html", "report.json"
DIGITS = (1.0, 15.0)  # that may be asked for


def robot_report(
    tree: nx.DiGraph[Any],
    model: str,
    orders: Sequence[str] | None = None,
    formats: Sequence[str] | None = None,
    *,
    states: int = 1000,
    seed: int = 0,
    digits: float = 3.0,
    folder: str | os.PathLike[str] | None = None,
    processes: int | None = 1,
    progress: Callable[[str, int | None], None] = lambda text, done: None,
) -> Report:
    """Digits kept by orders in number formats, over random states of a robot.

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
    require_numbers(states, seed, digits)
    names = _listed(ORDERS if orders is None else orders)
    chosen = [get_format(name).name for name in _listed(FORMATS if formats is None else formats)]
    require_once("order", names)
    require_once("format", chosen)
    folder = None if folder is None else Path(folder)
    if folder is not None:
        check_empty(folder)
    progress("tracing the orders", None)
    setup, refused = prepare(tree, model, names, chosen, seed)
    settings = _settings(setup.orders, chosen, seed)
    with nullcontext(str(made(folder))) if folder else TemporaryDirectory() as place:
        table, digests = Path(place) / TABLE, tuple(map(order_digest, settings.orders))
        config = Config(table, settings, (model_of(tree, model),), states, table, digests)
        notes = Notebook(setup, _rows(config, processes, progress))
    report = summed_up(notes, model, digits, refused, folder, lambda t: progress(t, None))
    report = replace(report, seconds=time.perf_counter() - began)
    if folder is not None:
        progress("the page", None)
        document = json.dumps(report.as_dict(), indent=1, allow_nan=False)
        write_whole(folder / DOCUMENT, document + "\n")
        write_whole(folder / PAGE, page(report))
    return report


def _settings(orders: Iterable[str], formats: Sequence[str], seed: int) -> Settings:
    """What a report's rows hold: the columns of a sweep."""
    return Settings(tuple(orders), tuple(formats), COLUMNS, True, seed, ())


def _rows(
    config: Config, processes: int | None, progress: Callable[[str, int | None], None]
) -> list[dict[str, Any]]:
    """What is measured of every state, in the sequence of the cases: kept on disk as it comes."""
    each = len(config.settings.orders) * len(config.settings.formats)

    def told(done: int, missing: int, before: int) -> None:
        progress("states", (done + before) // each)

    sweep(config, processes, progress=told)
    places = positions(config)
    with config.output.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["key"] in places]


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
        dof=system.tree.N,
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
    tree: nx.DiGraph[Any], model: str, orders: Sequence[str], formats: Sequence[str], seed: int
) -> tuple[Setup, dict[str, str]]:
    """The setup, and the orders that this robot rules out with the reason."""
    for name in formats:
        if get_format(name).kind != "float":
            raise FormatError(
                f"format {name!r}", "a report needs formats of a fixed precision", f"use {', '.join(FORMATS)}"
            )
    for name in orders:
        if orderings.get(name).problem != "qdd":
            raise OrderError(f"order {name!r}", "solves for tau, not for qdd", f"use {', '.join(ORDERS)}")
    prepared = prepare_model(_settings(orders, formats, seed), model_of(tree, model))
    require_joints(prepared.system)
    traced = {name: prepared.orders[name] for name in orders}
    refused = {name: _without_name(x, name) for name, x in traced.items() if isinstance(x, str)}
    found = {name: x for name, x in traced.items() if isinstance(x, TracedOrder)}
    if not found:
        name, why = next(iter(refused.items()))
        raise SingularError(f"order {name!r}", why, "no order that was asked for remains")
    assert prepared.ranges is not None
    return Setup(prepared.system, prepared.ranges, seed, found, prepared.proof, tuple(formats)), refused


def _without_name(why: str, name: str) -> str:
    if isinstance(why, Refusal) and why.subject == f"order {name!r}":
        return Refusal(why.reason, remedy=why.remedy, detail=why.detail)
    return why


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def require_numbers(states: int, seed: int, digits: float) -> None:
    """Raise PivotreeError for numbers that make no report."""
    if not is_whole(states, 1, MOST_STATES):
        raise PivotreeError(
            "option --states", f"{states!r} is no number of states", f"use 1 to {MOST_STATES:,}"
        )
    if not is_whole(seed, 0):
        raise PivotreeError("option --seed", f"{seed!r} is no seed", "use a whole number from 0 on")
    low, high = DIGITS
    if not is_number(digits) or not low <= digits <= high:
        raise PivotreeError("option --digits", f"{digits!r} is out of range", f"use {low:g} to {high:g}")


def check_empty(folder: Path) -> None:
    """Raise PivotreeError where something is already there but the states of an ended run."""
    check_folder(folder)
    with writing(folder, "output folder "):
        there = {path.name for path in folder.iterdir()} if folder.exists() else set()
        others = {name for name in there if not name.startswith(".")} - {TABLE, PARTS, WORST, DOCUMENT}
        ended = there & {TABLE, PARTS} and not others  # before its page, which comes last
        taken = there and not ended
    if taken:
        raise PivotreeError(f"output folder {folder}", "is not empty", "give another with -o, or remove it")
