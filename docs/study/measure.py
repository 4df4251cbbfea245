"""Errors and digits lost of every order on the hard family: instances.csv, data.csv.xz, worst/.

Run ``python docs/study/measure.py`` (some ten minutes on two cores; ``--quick`` takes some of every
family).
"""

from __future__ import annotations

import csv
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import families
from families import Instance
from rich.progress import track

from pivotree import kkt, orderings
from pivotree.analysis.comparison import lost_by_order
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.solution.conditioning import conditioning
from pivotree.kkt.tape import Tape

HERE = Path(__file__).resolve().parent
FORMAT = "float32"
SKIPPED = {"natural", "random:0"}  # base_to_tip stands for orders that nobody chose
LONG = 120  # bodies; a longer chain is left to the orders whose cost is O(n)
LINEAR = (
    "abm",
    "modified_abm",
    "projected_abm",
    "square_root_abm",
    "joseph_abm",
    "gain_abm",
    "bad_abm",
    "virtual_work",
    "lagrange",
)
ALIGNED = ("abm", "crbm", "modified_abm")  # run in frames aligned with the joint axes too
DIGITS = 20  # certified digits of the answers


class Row(NamedTuple):
    """One instance, order and number of refinement steps."""

    family: str
    name: str
    ratio: float  # heaviest mass over lightest
    kappa: float  # componentwise condition number of qdd with respect to the entries of (4)
    kappa_inertia: float  # of the joint-space inertia, 2-norm
    order: str
    refined: int  # refinement steps asked for
    error: float | None  # max |qdd - exact| / max |exact|; None where a pivot failed
    lost: float  # digits lost beyond kappa u; all of them where a pivot failed
    backward_error: float | None  # normwise, of the answer in (4)
    marked: str  # "marked": the answer says itself that it should not be relied on


def main(quick: bool) -> None:
    groups = [list(g) for _, g in groupby(families.everything(quick), lambda i: (i.family, i.name))]
    rows: list[Row] = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in track(pool.map(measured, groups), "instances", len(groups), console=_console()):
            rows += found
    write(rows, "_quick" if quick else "")
    if not quick:
        save_worst(rows)


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True)


def write(rows: list[Row], mark: str = "") -> None:
    """instances.csv, one line an instance, and data.csv.xz, one an instance, order and refinement."""
    numbers: dict[tuple, int] = {}
    lines = [(numbers.setdefault(row[:5], len(numbers)), *row[5:]) for row in rows]
    table(
        HERE / f"instances{mark}.csv", ("instance", *Row._fields[:5]), [(n, *x) for x, n in numbers.items()]
    )
    table(HERE / f"data{mark}.csv.xz", ("instance", *Row._fields[5:]), lines)


def table(path: Path, head: tuple[str, ...], lines: list[tuple]) -> None:
    beside = path.with_suffix(".new")
    with (lzma.open if path.suffix == ".xz" else open)(beside, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([_short(x) for x in line] for line in lines)
    beside.replace(path)


def _short(x: Any) -> Any:
    return "" if x is None else f"{x:.3g}" if isinstance(x, float) else x


def measured(instances: list[Instance]) -> list[Row]:
    """Rows of instances that share a tree: tapes are traced once for a pattern of zeros."""
    tapes: dict[str, Tape | None] = {}
    aligned: dict[str, Any] = {}
    rows: list[Row] = []
    for instance in instances:
        rows += list(_one(instance, tapes, aligned))
    return rows


def _one(instance: Instance, tapes: dict, aligned: dict) -> Iterator[Row]:
    system = instance.system
    unit = get_format(FORMAT).unit
    exact = kkt.certify(system, DIGITS, rounded_to=FORMAT)
    condition = conditioning(system)
    turned = kkt.aligned(system)
    exact_turned = kkt.certify(turned, DIGITS, rounded_to=FORMAT)
    wanted = [n for n in orderings.names() if n not in SKIPPED]
    if system.tree.n > LONG:
        wanted = [n for n in wanted if n in LINEAR]
    jobs = [(n, n, system, exact, tapes) for n in wanted]
    jobs += [(f"{n}, aligned", n, turned, exact_turned, aligned) for n in ALIGNED if n in wanted]
    for label, name, where, answer, known in jobs:
        tape = _tape(where, name, known)
        if tape is None:
            continue
        for refined in (0, 1):
            result = kkt.eliminate(where, tape, FORMAT, records=False, refine=refined)
            error = None if result.failed_at else answer.error(result.qdd)
            left = None if result.backward_error is None else result.backward_error.normwise
            yield Row(
                instance.family,
                instance.name,
                instance.ratio,
                condition.kappa,
                condition.kappa_inertia,
                label,
                refined,
                error,
                lost_by_order(error, condition.kappa, unit) or 0.0,
                left,
                "marked" if result.marked else "",
            )


def _tape(system: kkt.System, name: str, known: dict) -> Any:
    """The order's tape, traced anew where the pattern has changed; None where it is refused."""
    tape = known.get(name)
    try:
        if tape is not None:
            tape.require(system)
            return tape
    except kkt.OrderError:
        pass
    try:
        known[name] = kkt.trace(system, orderings.get(name))
    except (kkt.SingularError, kkt.SizeError, kkt.OrderError):
        known[name] = None
    return known[name]


def save_worst(rows: list[Row]) -> None:
    """Every order's worst instance as a model file, for ``pivotree blame``."""
    folder = HERE / "worst"
    folder.mkdir(exist_ok=True)
    every: Callable[[], Iterator[Instance]] = families.everything
    worst: dict[str, Row] = {}
    for row in rows:
        if row.refined == 0 and not row.order.endswith("aligned"):
            best = worst.get(row.order)
            if best is None or _badness(row) > _badness(best):
                worst[row.order] = row
    wanted = {(r.family, r.name, r.ratio): r for r in worst.values()}
    for instance in every():
        for order, row in worst.items():
            if (row.family, row.name, row.ratio) == (instance.family, instance.name, instance.ratio):
                kkt.write_model(folder / f"{order.replace(':', '_')}.json", instance.system.state)
    print(f"{len(wanted)} worst instances of {len(worst)} orders in {folder}", file=sys.stderr)


def _badness(row: Row) -> tuple[float, bool, float]:
    """Digits lost first; an answer that is far off before one that failed by name."""
    return (round(row.lost, 1), row.error is not None, row.error or 0.0)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
