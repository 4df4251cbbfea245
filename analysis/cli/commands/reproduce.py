"""``pivotree reproduce``: what the papers print, beside ours."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from pivotree import kkt

from ..arguments import Parser, add_json
from ..progress import progress_shown
from .shared import draw, folder_of, items, print_json

EXAMPLES = ("reproduce ascher1996", "reproduce ascher1996 --item table1")


def declare(command: Parser) -> None:
    command.add_argument(
        "paper",
        metavar="PAPER",
        help="ascher1996, cloutier1995, yamane2001, pasic1999, featherstone1983, or all",
    )
    command.add_argument("--item", metavar="X,Y", help="tables and figures; all if not given")
    command.add_argument("--list", action="store_true", help="print the items and exit")
    command.add_argument(
        "--set",
        action="append",
        metavar="NAME=VALUE",
        help="a setting of the item, as in runs=10 or ratios=0.05;0.02; quick: smaller studies of the same "
        "items, with fewer runs, angles and robots; may be repeated",
    )
    add_json(command)
    command.add_argument("-o", "--output", metavar="DIR", help="write figures into this folder")


def run(options: argparse.Namespace) -> int:
    # the papers come after this package: they are loaded by name, and are not its base
    papers = import_module("pivotree.papers.paper")
    asked = papers.papers(options.paper)
    only = None if options.item is None else items("--item", options.item)
    if only is not None and len(asked) > 1:
        raise kkt.PivotreeError("option --item", "belongs to one paper", "name it instead of all")
    chosen = [(paper, papers.items(paper, only)) for paper in asked]
    if options.list:
        _list(chosen, options.json)
        return 0
    told = options.set or []
    quick, given = "quick" in told, settings([each for each in told if each != "quick"])
    if given and (only is None or len(only) != 1):
        raise kkt.PivotreeError("option --set", "belongs to one item", "name it with --item")
    output = None if options.output is None else folder_of(options.output)
    documents = []
    for paper, found in chosen:
        rows = []
        for item in found:
            settled = (item.quick if quick else {}) | item.settings(given)
            rows += _one(item, settled, bool(given), output and output / paper, not options.json)
        documents.append({"paper": paper, "rows": [row.as_dict() for row in rows]})
    if options.json:
        print_json(documents[0] if len(documents) == 1 else documents)
    else:
        _sum(documents)
    states = {row["state"] for document in documents for row in document["rows"]}
    return 1 if "missed" in states else 0


def _list(chosen: list[tuple[str, Any]], as_json: bool) -> None:
    """The items of papers, and what each is."""
    listed = [
        {"paper": paper, "items": [{"name": item.name, "says": item.says} for item in found]}
        for paper, found in chosen
    ]
    if as_json:
        print_json(listed)
        return
    for paper, found in chosen:
        print(paper, *(f"  {item.name:22s} {item.says}" for item in found), sep="\n")


def settings(texts: list[str]) -> dict[str, str]:
    """NAME=VALUE of every --set."""
    given = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (equals and name.strip() and value.strip()) or name.strip() in given:
            what = f"names {name.strip()!r} twice" if name.strip() in given else f"{text!r} is no setting"
            raise kkt.PivotreeError("option --set", what, "give NAME=VALUE, as in runs=10")
        given[name.strip()] = value.strip()
    return given


def _one(item: Any, chosen: dict[str, Any], own: bool, folder: Path | None, show: bool) -> list[Any]:
    """Measure an item; print its rows and write its pictures as soon as they are there."""
    start = time.perf_counter()
    with progress_shown() as progress:
        progress(f"{item.paper} {item.name}")
        try:
            found = item.measure(lambda text: progress(f"{item.name}: {text}"), **chosen)
        except (ArithmeticError, ValueError, IndexError) as error:
            if not own or isinstance(error, kkt.PivotreeError):
                raise
            raise kkt.PivotreeError(
                "option --set",
                f"{item.name} cannot be measured with {in_words(chosen)} ({type(error).__name__}: {error})",
                "give values nearer to its own",
            ) from error
    rows = item.rows(found)
    if folder is not None:
        draw(folder, lambda style: item.figures(found, style))
    if show:
        _print(item, rows, chosen, time.perf_counter() - start)
    return rows


def _print(item: Any, rows: list[Any], chosen: dict[str, Any], seconds: float) -> None:
    from ..table import console, grid

    out = console(sys.stdout, wide=True)
    words = ("", "printed", "ours", "criterion", "state")
    told = (cells(row.as_dict(), MARKS) for row in rows)
    title, heads = f"{item.paper} {item.name}: {item.says}", (*words[:3], "distance", *words[3:])
    out.print(grid(title, heads, told, words=words, wrapped=words, caption=f"{seconds:.1f} s"))
    if chosen:
        out.say(f"  with {in_words(chosen)}")
    out.say(*dict.fromkeys(f"  {row.why}" for row in rows if row.why))


def cells(row: dict[str, Any], marks: dict[str, str]) -> list[str]:
    """A row of a table: its name, what is printed and ours, their distance, the criterion and the state."""
    numbers = text(row["printed"]), text(row["ours"]), apart(row["distance"])
    return [row["item"].partition(": ")[2] or row["item"], *numbers, row["criterion"], marks[row["state"]]]


def in_words(settings: dict[str, Any]) -> str:
    """Settings as ``--set`` takes them: runs=2, ratios=0.1;0.01."""
    return ", ".join(
        f"{name}={';'.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in settings.items()
    )


MARKS = {"met": "met", "checked": "checked", "missed": "MISSED", "refuted": "≠ refuted", "open": "? open"}


def apart(distance: float | None) -> str:
    """A relative difference in percent, with a sign: +1.3 %."""
    if distance is None:
        return ""
    share = 100.0 * distance
    if share == 0.0:
        return "0"
    return f"{share:+.1f} %" if 0.1 <= abs(share) < 1e4 else f"{share:+.0e} %"


def text(value: Any) -> str:
    """A number or several, as a table shows them."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return " ".join(map(text, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _sum(documents: list[dict[str, Any]]) -> None:
    rows = [row for document in documents for row in document["rows"]]
    count = {state: sum(row["state"] == state for row in rows) for state in MARKS}
    print(
        f"{len(rows)} rows: {count['met']} met, {count['checked']} checked (the paper prints nothing "
        f"of it), {count['missed']} missed, {count['refuted']} refuted (the paper's claim does not "
        f"hold here), {count['open']} open (nothing to be held against, or not reproducible)."
    )
