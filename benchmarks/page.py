"""The table in the terminal; its result in docs/benchmarks.md, and the whole of it in NOTES.md."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pivotree.kkt.base import write_whole

TITLES = {
    "arms": "Arms: joint accelerations",
    "humanoid": "A humanoid of 50 degrees of freedom with floating base",
    "contacts": "A quadruped on its feet: accelerations and forces of contacts",
    "compile": "Compiling",
    "assembly": "Assembly of (4)",
    "symbolic": "Symbolic counts",
    "solve": "Factor and solve",
    "chains": "One state of a long chain",
    "traced": "Traced elimination",
    "orders": "Orders by METIS",
    "searched": "Orders that a search finds",
    "growth": "Growth",
    "fill": "Fill",
}
HEADS = ("work", "ours", "peer", "theirs", "ratio", "spread", "target", "met", "error: ours", "the peer's")
WIDE = 240  # letters of a line that goes to a file
WORSE = 2.0  # times the peer's error
NAMES = {
    "pin": "Pinocchio",
    "mujoco": "MuJoCo",
    "mkl": "MKL",
    "pivotree": "Pivotree",
    "python-mumps": "python-mumps",
    "qdldl": "QDLDL",
}
START, END = "<!-- measured -->\n", "<!-- end of measured -->\n"
RESULT, RESULT_END = "<!-- result -->\n", "<!-- end of result -->\n"
FIRST_SCREEN = (  # work and peer of the rows that stand above everything
    ("chain:7, 7 dof: one state", "Pinocchio"),
    ("humanoid, 50 dof: one state", "Pinocchio"),
    ("humanoid, 50 dof: 100,000 states", "Pinocchio"),
    ("factor + solve, chain 100,000", "CHOLMOD L D L^T, ABM order"),
    ("factor + solve, chain 100,000", "SuperLU, default"),
    ("factor + solve, random tree 1,000,000", "CHOLMOD L D L^T, ABM order"),
)
SHOWN = (0, 2, 1, 3, 4)  # their columns: work, peer, ours, theirs, ratio


def amount(value: float | None, unit: str) -> str:
    """A number with its unit; seconds in what shows three digits."""
    if value is None:
        return ""
    if unit == "s":
        for scale, word in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
            if value * scale >= 1.0 or word == "µs":
                return f"{value * scale:.3g} {word}"
    if unit in ("blocks", "steps", "operations"):
        return f"{value:,.0f}"
    return f"{value:.3g} {unit}".strip()


def target(row: dict[str, Any]) -> str:
    if row["about"]:
        return f"{row['about'][0]:.2f} ± {row['about'][1]:.2f}"
    if row["target"] is None:
        return ""
    alone = not row["peer"]
    return f"≤ {amount(row['target'], row['unit']) if alone else format(row['target'], '.3g')}"


def spread(row: dict[str, Any]) -> str:
    if not row["spread"]:
        return ""
    low, high = row["spread"]
    if row["ratio"] is None:
        return f"{amount(low, row['unit'])} to {amount(high, row['unit'])}"
    return f"{low:.3g} to {high:.3g}"


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A row as the columns of ``HEADS``."""
    met = {True: "yes", False: "no", None: ""}[row["met"]]
    errors = ["" if e is None else f"{e:.1e}" for e in (row["error"], row["their_error"])]
    if row.get("worst"):
        errors = [f"{e}, {worst:.1e}" for e, worst in zip(errors, row["worst"], strict=True)]
    theirs = amount(row["theirs"], row["unit"])
    if row["theirs"] is None and (row["peer"] or row["ours"] is None):
        theirs = row["note"]
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    ours = amount(row["ours"], row["unit"]) if not row["about"] else f"{row['ours']:.3f}"
    return row["work"], ours, row["peer"], theirs, ratio, spread(row), target(row), met, *errors


def printed(document: dict[str, Any]) -> None:
    """One table on standard output, a rule between its sections."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    table = Table(*HEADS, title=f"{document['date']}, {about(document)}")
    table.columns[0].min_width = 32
    section = None
    for row in document["rows"]:
        if section not in (None, row["section"]):
            table.add_section()
        section = row["section"]
        table.add_row(*cells(row), style="bold" if row["met"] is False else "")
    console.print(table)
    console.print(reading(document), highlight=False)


def about(document: dict[str, Any]) -> str:
    """The machine in words."""
    m = document["machine"]
    memory = f", {m['memory']:g} GB" if m["memory"] else ""
    return f"{m['processor']}, {m['cores']} cores{memory}"


def reading(document: dict[str, Any]) -> str:
    """What the table says, as one paragraph: targets met and missed, where accuracy is worse."""
    rows = document["rows"]
    judged = [row for row in rows if row["met"] is not None]
    missed = [row for row in judged if not row["met"]]
    text = [f"{len(judged) - len(missed)} of {len(judged)} targets are met."] if judged else []
    if document["quick"]:
        text = ["Small sizes: targets are not judged."]
    if missed:
        text.append(f"Missed: {'; '.join(map(_missed, missed))}.")
    worse = [
        row
        for row in rows
        if None not in (row["error"], row["their_error"]) and row["error"] > WORSE * row["their_error"]
    ]
    if worse:
        listed = (
            f"{row['work']} ({row['error']:.1e}, {row['peer']} {row['their_error']:.1e})" for row in worse
        )
        text.append(f"Ours has more than {WORSE:g} times the peer's error in: {'; '.join(listed)}.")
    absent = {row["peer"] or row["work"] for row in rows if "not installed" in row["note"]}
    if absent:
        text.append(f"Not installed: {'; '.join(sorted(absent))}.")
    return " ".join(text)


def _missed(row: dict[str, Any]) -> str:
    found = cells(row)[1 if row["ratio"] is None else 4]
    beside = f" beside {row['peer']}" if row["peer"] else ""
    return f"{row['work']}{beside} ({found}, {target(row)})"


def _markdown(document: dict[str, Any]) -> Iterator[str]:
    versions = document["machine"]["versions"]
    named = (f"{NAMES.get(name, name)} {version}" for name, version in versions.items())
    loads = " and ".join(f"{load:g}" for load in document["load"] if load is not None)
    yield (
        f"{document['date']}: {about(document)}, {document['machine']['system']}, load {loads} "
        f"before and after; Python {document['machine']['python']}, {', '.join(named)}. "
        f"{document['rounds']} rounds, fewer where a call takes seconds."
    )
    yield from ("", reading(document))
    for name, title in TITLES.items():
        rows = [row for row in document["rows"] if row["section"] == name]
        if not rows:
            continue
        yield from ("", f"### {title}", "", f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|")
        for row in rows:
            yield f"| {' | '.join(cells(row))} |"
        notes: dict[str, dict[str, None]] = {}
        for row in rows:
            if row["note"] and row["theirs"]:
                notes.setdefault(row["peer"], {})[row["note"]] = None
        if notes:
            told = "; ".join(f"{peer}: {' or '.join(all_)}" for peer, all_ in notes.items())
            yield from ("", f"What a peer's time covers: {told}.")


def _result(document: dict[str, Any]) -> Iterator[str]:
    """The first screen: how many targets are met, how often a peer is faster, and a few rows."""
    judged = [row["met"] for row in document["rows"] if row["met"] is not None]
    ratios = [row["ratio"] for row in document["rows"] if row["ratio"] is not None]
    slower = sum(ratio > 1.0 for ratio in ratios)
    if judged:
        whole = "[the whole run](../benchmarks/NOTES.md#the-whole-run) names the rest"
        yield f"**{sum(judged)} of {len(judged)} targets are met**; {whole}."
    yield f"In {slower} of {len(ratios)} comparisons ours takes more time than the other."
    yield from ("", "(`python benchmarks/table.py --page`)", "")
    yield from (f"| {' | '.join(HEADS[k] for k in SHOWN)} |", "|---" * len(SHOWN) + "|")
    for row in document["rows"]:
        if (row["work"], row["peer"]) in FIRST_SCREEN:
            yield f"| {' | '.join(cells(row)[k] for k in SHOWN)} |"


def write_page(document: dict[str, Any], *paths: Path) -> None:
    """Write the measured parts, each between its two marks, which stand on one of the pages."""
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    for start, end, lines in ((RESULT, RESULT_END, _result), (START, END, _markdown)):
        places = [path for path, text in texts.items() if start in text and end in text]
        if len(places) != 1:
            named = " and ".join(map(str, paths))
            raise SystemExit(f"{named}: give the lines {start.strip()} and {end.strip()} to one of them")
        before, _, rest = texts[places[0]].partition(start)
        texts[places[0]] = before + start + "\n".join(lines(document)) + "\n" + end + rest.partition(end)[2]
    for path, text in texts.items():
        write_whole(path, text)
