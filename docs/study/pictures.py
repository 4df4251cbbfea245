"""Pictures and tables of the study, from data.csv.xz and facts.json.

Run ``python docs/study/pictures.py`` after measure.py and facts.py: it writes the tables between the
markers of README.md and facts.md.  The pictures are drawn for the site.
"""

from __future__ import annotations

import csv
import json
import lzma
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pivotree.analysis.figures import MARKERS
from pivotree.papers.sheet import named, panels, shared_legend

HERE = Path(__file__).resolve().parent
SHOWN = ("crbm", "abm", "modified_abm", "projected_abm", "virtual_work", "square_root_abm")
CONSTRUCTED = (
    "example 1",
    "example 3",
    "light wrists",
    "near wrists",
    "heavy tip",
    "heavy base",
    "heavy middle",
    "heavy every second",
    "shoulders",
    "stretched arms",
    "chains",
    "robots",
)
UNIT = 2.0**-24
Rows = list[dict[str, Any]]


def read() -> Rows:
    """Rows of data.csv.xz with their instance's columns, numbers as numbers."""
    with (HERE / "instances.csv").open(encoding="utf-8") as file:
        instances = {line["instance"]: line for line in csv.DictReader(file)}
    with lzma.open(HERE / "data.csv.xz", "rt", encoding="utf-8") as file:
        return [
            line
            | instances[line["instance"]]
            | {"refined": int(line["refined"]), "lost": float(line["lost"])}
            | {k: float(instances[line["instance"]][k]) for k in ("ratio", "kappa")}
            | {"error": float(line["error"]) if line["error"] else None}
            for line in csv.DictReader(file)
        ]


# -- pictures -------------------------------------------------------------------------------------

BELOW: dict[str, Any] = {"loc": "outside lower center", "fontsize": 7.5}


def by_ratio(rows: Rows, style: str) -> Figure:
    """Worst digits lost over mass ratio, one panel a family, one line an order."""
    families = ("example 1", "example 3", "light wrists", "heavy tip", "shoulders", "heavy base")
    with panels(style, "double", 4.2, 2, 3, "y", sharex=True, sharey=True) as (figure, grid, look):
        for ax, family in zip(grid.ravel(), families, strict=True):
            for k, order in enumerate(SHOWN):
                worst: dict[float, float] = defaultdict(float)
                for row in rows:
                    if row["family"] == family and row["order"] == order and not row["refined"]:
                        worst[row["ratio"]] = max(worst[row["ratio"]], row["lost"])
                x = sorted(worst)
                mark = {"marker": MARKERS[k], "markersize": 4, "linewidth": 1.1, "color": look.series[k]}
                ax.plot(x, [worst[r] for r in x], label=order, **mark)
            ax.set(xscale="log", ylim=(-0.3, 7.6))
            named(ax, look, title=family)
        for ax in grid[1]:
            named(ax, look, "mass ratio")
        for ax in grid[:, 0]:
            named(ax, look, y="digits lost beyond κu")
        shared_legend(figure, grid[0, 0], look, ncols=6, **BELOW)
    return figure


def against_kappa(rows: Rows, style: str) -> Figure:
    """Error of every instance over kappa u, one panel an order."""
    with panels(style, "double", 4.0, 2, 3, "", sharex=True, sharey=True) as (figure, grid, look):
        for k, (ax, order) in enumerate(zip(grid.ravel(), SHOWN, strict=True)):
            mine = [r for r in rows if r["order"] == order and not r["refined"]]
            good = [(r["kappa"] * UNIT, r["error"]) for r in mine if r["error"]]
            failed = [r["kappa"] * UNIT for r in mine if r["error"] is None]
            line = np.array([1e-8, 1.0])
            ax.plot(line, line, color=look.faint, linewidth=0.8)
            x, y = (np.array(v) for v in zip(*good, strict=True))
            mark = {"markersize": 2.6, "color": look.series[k], "alpha": 0.6, "markeredgewidth": 0}
            ax.plot(x, np.clip(y, 1e-9, 1e3), MARKERS[k], rasterized=True, **mark)
            if failed:
                ax.plot(failed, [1e3] * len(failed), "x", markersize=4, color=look.series[k])
            ax.set(xscale="log", yscale="log", xlim=(3e-8, 1e-1), ylim=(1e-9, 3e3))
            named(ax, look, title=order)
        for ax in grid[1]:
            named(ax, look, "κ u")
        for ax in grid[:, 0]:
            named(ax, look, y="error in float32")
    return figure


def exhaustion(facts: dict[str, Any], style: str) -> Figure:
    """D_k joint by joint under a heavy tip: exact, and as float32 orders see it."""
    data = facts["rank_exhaustion"]["data"]
    with panels(style, "double", 2.6, 1, 3, "y", sharey=True) as (figure, axes, look):
        for ax, kind in zip(axes, ("planar", "concentric", "generic"), strict=True):
            found = data[kind]
            joint = np.arange(1, len(found["exact"]) + 1)
            ax.plot(joint, found["exact"], color=look.ink, linewidth=1.4, label="exact")
            for k, order in enumerate(("abm", "projected_abm", "square_root_abm"), start=1):
                mark = {"markersize": 4.5, "color": look.series[k], "markerfacecolor": "none"}
                ax.plot(joint, np.abs(found[order]), MARKERS[k], label=order, **mark)
            rule = {"color": look.faint, "linewidth": 0.9, "linestyle": (0, (4, 3))}
            ax.axhline(UNIT * found["exact"][0], label="u times the heavy body's", **rule)
            ax.set(yscale="log")
            named(ax, look, "joint, from the heavy tip", title=f"{kind} axes")
        named(axes[0], look, y="pivot $D_k$")
        shared_legend(figure, axes[0], look, ncols=5, **BELOW)
    return figure


def random_trees(rows: Rows, style: str) -> Figure:
    """Share of adversarial random trees that lose at most so many digits."""
    with panels(style, "double", 3.0, 1, 2, sharey=True) as (figure, axes, look):
        for ax, refined in zip(axes, (0, 1), strict=True):
            for k, order in enumerate(SHOWN):
                lost = sorted(
                    r["lost"]
                    for r in rows
                    if r["family"].startswith("random") and r["order"] == order and r["refined"] == refined
                )
                share = 100.0 * np.arange(1, len(lost) + 1) / len(lost)
                ax.step(lost, share, where="post", color=look.series[k], linewidth=1.2)
                # two marks where the curve has left the axis, at heights of its own
                start = min(int(np.searchsorted(lost, 0.05)), len(lost) - 1)
                at = start + ((len(lost) - 1 - start) * np.array([0.2 + 0.1 * k, 1.0])).astype(int)
                mark = {"color": look.series[k], "markersize": 4.5, "label": order}
                ax.plot(np.array(lost)[at], share[at], MARKERS[k], **mark)
            ax.set(xlim=(-0.1, 7.3), ylim=(0, 102))
            named(ax, look, "digits lost beyond κu", title="one refinement" if refined else "as it is")
        named(axes[0], look, y="% of trees")
        shared_legend(figure, axes[0], look, ncols=6, **BELOW)
    return figure


def figure(name: str, style: str) -> Figure:
    """One of the pictures by its name."""
    if name == "exhaustion":
        facts = json.loads((HERE / "facts.json").read_text(encoding="utf-8"))
        return exhaustion({fact["name"]: fact for fact in facts}, style)
    of = {"by_ratio": by_ratio, "against_kappa": against_kappa, "random_trees": random_trees}
    return of[name](read(), style)


# -- tables ---------------------------------------------------------------------------------------


def markdown(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    head = list(head)
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, rule, *map(list, lines)])


def table_orders(rows: Rows) -> str:
    """Worst and median digits lost: constructed families to 1e4 and beyond, random trees."""
    columns: tuple[tuple[str, Callable[[dict], bool]], ...] = (
        ("ratio to 1e4", lambda r: r["family"] in CONSTRUCTED and r["ratio"] <= 1e4),
        ("1e5 to 1e9", lambda r: r["family"] in CONSTRUCTED and r["ratio"] > 1e4),
        ("random trees", lambda r: r["family"].startswith("random")),
    )
    orders = list(dict.fromkeys(r["order"] for r in rows))
    lines = []
    for order in orders:
        line = [f"`{order}`"]
        for refined in (0, 1):
            for _, inside in columns:
                lost = [
                    r["lost"] for r in rows if r["order"] == order and r["refined"] == refined and inside(r)
                ]
                line.append(f"{max(lost):.1f} ({np.median(lost):.1f})" if lost else "–")
        lines.append(line)
    lines.sort(key=lambda line: [float(cell.split()[0]) if cell != "–" else 9 for cell in line[1:]])
    names = [name for name, _ in columns]
    return markdown(["order", *names, *[f"{name}, refined" for name in names]], lines)


def table_families(rows: Rows) -> str:
    """Worst digits lost in each family, mass ratios to 1e4."""
    families = list(dict.fromkeys(r["family"] for r in rows))
    lines = []
    for family in families:
        mine = [r for r in rows if r["family"] == family and not r["refined"]]
        if family in CONSTRUCTED:
            mine = [r for r in mine if r["ratio"] <= 1e4]
        kappas = [r["kappa"] for r in mine]
        cells = [family, f"{np.median(kappas):.0f} ({max(kappas):.0f})"]
        for order in SHOWN:
            lost = [r["lost"] for r in mine if r["order"] == order]
            cells.append(f"{max(lost):.1f}" if lost else "–")
        lines.append(cells)
    return markdown(["family", "κ: median (worst)", *[f"`{o}`" for o in SHOWN]], lines)


def table_facts(facts: dict[str, Any]) -> str:
    lines = [[f["claim"], f["measured"], f["holds"]] for f in facts.values()]
    return markdown(["claim", "measured here", "holds"], lines).replace("---:", "---")


def table_worst(rows: Rows) -> str:
    lines = []
    for path in sorted((HERE / "worst").glob("*.json")):
        order = path.stem
        mine = [r for r in rows if r["order"] == order and not r["refined"]]
        worst = max(mine, key=lambda r: (round(r["lost"], 1), r["error"] is not None, r["error"] or 0))
        off = "no answer" if worst["error"] is None else f"{worst['error']:.1e}"
        lines.append(
            [
                f"`{order}`",
                f"{worst['family']}: {worst['name']}",
                f"{worst['ratio']:.0e}",
                f"{worst['kappa']:.0f}",
                off,
                f"[model](worst/{path.name})",
            ]
        )
    return markdown(["order", "its worst instance", "ratio", "κ", "error", "replay"], lines)


def fill_in(page: str, name: str, text: str) -> str:
    """The page with the text between a pair of markers replaced."""
    pattern = rf"(<!-- table {name} -->\n).*?(\n<!-- end -->)"
    found, count = re.subn(pattern, lambda m: m[1] + text + m[2], page, flags=re.S)
    if count != 1:
        raise SystemExit(f"docs/study: has {count} places for table {name}; give it one")
    return found


def pages() -> dict[str, str]:
    """File name -> text, of the pages with their tables made anew."""
    rows = read()
    facts = {f["name"]: f for f in json.loads((HERE / "facts.json").read_text(encoding="utf-8"))}
    made = {
        "README.md": {
            "orders": table_orders(rows),
            "families": table_families(rows),
            "worst": table_worst(rows),
        },
        "facts.md": {"facts": table_facts(facts)},
    }
    texts = {}
    for name, tables in made.items():
        texts[name] = (HERE / name).read_text(encoding="utf-8")
        for table, text in tables.items():
            texts[name] = fill_in(texts[name], table, text)
    return texts


def main() -> None:
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
