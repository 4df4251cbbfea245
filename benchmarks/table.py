"""Every figure of speed beside the peers that are installed, measured in one run.

    python benchmarks/table.py [--only NAME ...] [--quick] [--rounds N] [--page]

Tasks of a row run in turn, round after round, after a warm-up; times are medians of processor
time, a ratio is the median over rounds of ours over the peer's, and its spread the quartiles.
Everything runs on one thread but what says otherwise.  One document goes to benchmarks/results/;
--page also writes docs/benchmarks.md and its pictures.  Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUICK, FULL = 3, 11
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    rounds: int
    quick: bool  # small sizes: that everything runs, not what it costs

    @property
    def few(self) -> int:
        """Rounds of what takes seconds."""
        return max(3, self.rounds // 2)

    def size(self, n: int) -> int:
        return max(100, n // 1000) if self.quick else n

    def names(self, all_: tuple[str, ...]) -> tuple[str, ...]:
        return all_[-1:] if self.quick else all_


def sections(extent: Extent) -> dict[str, Callable[[], Iterator[Any]]]:
    """Parts of the table by name; libraries are loaded here, after the threads are set."""
    import dissection
    import growth
    import robots
    import scale
    import searched

    size, rounds, few = extent.size, extent.rounds, extent.few
    arms, whole = ((extent.names(names), target) for names, target in (robots.ARMS, robots.WHOLE))
    compiled = (*arms[0], *(() if extent.quick else whole[0]))
    return {
        "arms": lambda: robots.rows(arms, size(100_000), rounds),
        "humanoid": lambda: robots.rows(whole, size(100_000), rounds),
        "contacts": lambda: robots.standing(size(100_000), rounds),
        "compile": lambda: robots.compiling(compiled, 1 if extent.quick else 3),
        "assembly": lambda: scale.assembly((size(100_000), size(1_000_000)), few),
        "symbolic": lambda: scale.symbolic(size(1_000_000), few),
        "solve": lambda: scale.solve(size(100_000), few),
        "chains": lambda: (row for n in (1000, 10_000) for row in scale.one_state(size(n), rounds)),
        "traced": lambda: scale.traced(100, 3 * rounds),
        "orders": lambda: dissection.orders(size(100_000), few),
        "growth": lambda: growth.curves(300 if extent.quick else 1_000_000, few),
        "searched": lambda: searched.rows(extent.names(tuple(searched.FIRST)[::-1]), rounds),
        "fill": lambda: growth.fill(size(1_000_000)),
    }


NAMES = (
    "arms",
    "humanoid",
    "contacts",
    "compile",
    "assembly",
    "symbolic",
    "solve",
    "chains",
    "traced",
    "orders",
    "searched",
    "growth",
    "fill",
)


def measured(extent: Extent, chosen: tuple[str, ...], place: Path) -> dict[str, Any]:
    """The document: rows of every section, curves, machine, versions, load before and after.

    It is written to ``place`` after every section, so that a run that is stopped keeps what it has.
    """
    from machine import load, machine
    from rich.console import Console
    from rows import Row

    from pivotree.kkt.base import write_whole

    console, began = Console(stderr=True), time.perf_counter()
    document: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "quick": extent.quick,
        "rounds": extent.rounds,
        "machine": machine(),
        "load": [load()],
        "rows": [],
        "curves": [],
        "failed": [],
    }
    parts = sections(extent)
    for k, name in enumerate(chosen):
        console.print(f"[bold]{name}[/bold], {k + 1} of {len(chosen)}")
        start = time.perf_counter()
        try:
            for found in parts[name]():
                _enter(document, name, found, console)
        except Exception as failure:  # the other sections are worth their time
            console.print_exception()
            _enter(document, name, Row(name, note=f"failed: {failure}"), console)
            document["failed"].append(name)
        console.print(f"  {time.perf_counter() - start:.0f} s", style="dim", highlight=False)
        document["load"] = [document["load"][0], load()]
        document["seconds"] = round(time.perf_counter() - began)
        write_whole(place, json.dumps(document, indent=1) + "\n")
    return document


def _enter(document: dict[str, Any], section: str, found: Any, console: Any) -> None:
    """A row or a curve into the document, and a word of it to the console."""
    if not hasattr(found, "work"):
        document["curves"].append({**asdict(found), "exponent": found.exponent})
        return
    met = None if document["quick"] else found.met
    document["rows"].append({"section": section, **asdict(found), "met": met})
    console.print(f"  {found.work} {found.peer}", style="dim", highlight=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        nargs="+",
        choices=NAMES,
        metavar="NAME",
        default=NAMES,
        help=f"sections: {', '.join(NAMES)}",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--rounds", type=int, help=f"of each row ({FULL}; {QUICK} with --quick)")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="folder of the data")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md, too")
    options = parser.parse_args()
    if options.rounds is not None and options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: must be 1 or more")
    if options.page and (options.quick or tuple(options.only) != NAMES):
        parser.error("--page: takes a whole run; leave out --only and --quick")
    if "numpy" in sys.modules:
        parser.error("numpy is loaded already, and may have more than one thread")
    os.environ.update(dict.fromkeys(THREADS, "1"))
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    extent = Extent(options.rounds or (QUICK if options.quick else FULL), options.quick)
    options.results.mkdir(parents=True, exist_ok=True)
    name = "quick" if options.quick else "table"
    part = "" if tuple(options.only) == NAMES else f"-{'-'.join(options.only)}"
    place = options.results / f"{name}{part}-{datetime.now(UTC).date().isoformat()}.json"
    document = measured(extent, tuple(options.only), place)

    from page import printed, write_page

    if options.page:
        write_page(document, HERE.parent / "docs" / "benchmarks.md", HERE / "NOTES.md")
    printed(document)
    print(place)
    if document["failed"]:
        sys.exit(f"table: failed in {', '.join(document['failed'])}; what it raised is above")


if __name__ == "__main__":
    main()
