"""Pictures of an elimination, light and dark: the block matrix, part of the way, and all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import brackets
import png
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from order_facts import Function, row_of, symbolic, system

from pivotree import kkt
from pivotree.analysis.figures import Theme, block_state, filmstrip, new_figure, settings, theme
from pivotree.kkt import Structure, SymbolicFactor

CHAIN, TREE = "chain:3", "star:3"
DPI, COLOURS = 180, 24


@dataclass(frozen=True)
class Picture:
    """One file: an order on a tree."""

    file: str
    order: Function
    spec: str

    @property
    def text(self) -> str:
        """What a reader is told who does not see it."""
        if _solves_for_tau(self.order):
            return "Rows and unknowns of (4), as listed and as they are solved: lower triangular"
        found = symbolic(self.order, self.spec)
        what = "A chain of three" if self.spec == CHAIN else "A hub with three leaves"
        fill = f"{found.fill_blocks} blocks of fill"
        return f"{what}: the matrix, part of the way, and all with {fill}"

    def figure(self, style: str = "light") -> Figure:
        look = theme(style=style)
        if _solves_for_tau(self.order):
            return substitution(self.order, look)
        return film(self.order, self.spec, look)


def choose_pictures(orders: Mapping[str, Function]) -> dict[str, list[Picture]]:
    """By order: a chain, and a hub with leaves where it fills otherwise.

    Orders with the same brackets share the files of the first of them.
    """
    first: dict[Any, Picture] = {}
    found: dict[str, list[Picture]] = {}
    for name, order in orders.items():
        stem = name.partition(":")[0]
        specs = {CHAIN: f"{stem}.png"}
        if branching_matters(order):
            specs[TREE] = f"{stem}_tree.png"
        found[name] = [
            first.setdefault(_key(order, spec), Picture(file, order, spec)) for spec, file in specs.items()
        ]
    return found


def choose(orders: Mapping[str, Function]) -> dict[str, dict[str, str]]:
    """By order: files of its pictures, and what is on them."""
    return {
        name: {picture.file: picture.text for picture in pictures}
        for name, pictures in choose_pictures(orders).items()
    }


def write_all(orders: Mapping[str, Function], folder: Path) -> None:
    for picture in {p.file: p for some in choose_pictures(orders).values() for p in some}.values():
        png.write(picture.figure(), folder / picture.file, DPI, COLOURS)
        png.write(picture.figure("dark"), folder / twin(picture.file), DPI, COLOURS)


def twin(file: str) -> str:
    """The file of the same picture for a dark page."""
    return file.replace(".png", "_dark.png")


def _key(order: Function, spec: str) -> Any:
    """What decides a picture: the blocks of every bracket, links and tree."""
    if _solves_for_tau(order):
        return (spec, "tau")
    plan = symbolic(order, spec).plan
    structure = plan.graph.structure
    blocks = tuple(str(plan.graph.block(int(b))) for b in plan.blocks)
    return spec, structure.names, blocks, tuple(plan.group.tolist())


def _solves_for_tau(order: Function) -> bool:
    return order.problem == "tau"


def branching_matters(order: Function) -> bool:
    """Whether a hub with three leaves fills otherwise than a chain of as many bodies."""
    if _solves_for_tau(order):
        return False
    return symbolic(order, TREE).fill_blocks != symbolic(order, "chain:4").fill_blocks


def film(order: Function, spec: str, look: Theme) -> Figure:
    """The matrix, what is left when other blocks begin (or after the first body), and all."""
    found = kkt.symbolic(kkt.plan(order, numbered(spec)))
    groups = found.plan.groups
    kinds = [[block.partition("_")[0] for block in group] for group in brackets.groups(order)]
    another = next((block[0] for block in kinds if block != kinds[0]), None)
    middle = _begun(found, another)
    made, every = (block_state(found, step).told for step in (middle, groups))
    captions = ["the matrix", f"after {middle} of {groups}: {made}", f"after all {groups}: {every}"]
    # pieces of split bodies have no names of their own: they are numbered like bodies
    named = None if found.plan.graph.structure.pieces is None else False
    return filmstrip(found, (0, middle, groups), captions, labels=named, style=look)


def numbered(spec: str) -> Structure:
    """The structure of a tree, bodies numbered tip to base."""
    of = system(spec).structure
    number = {int(k): i for i, k in enumerate(of.order, start=1)}
    return Structure(tuple(number[k] for k in range(of.n)), of.parent, of.dof)


def _begun(found: SymbolicFactor, kind: str | None) -> int:
    """The group before which the first block of a kind stands; 1 where there is no such kind."""
    blocks = (found.plan.graph.block(int(b)) for b in found.plan.blocks)
    of_kind = [block.kind == kind for block in blocks]
    return int(found.plan.group[of_kind].min()) if any(of_kind) else 1


# -- inverse dynamics: no elimination, a permutation ----------------------------------------------


def substitution(order: Function, look: Theme) -> Figure:
    """Rows and unknowns of (4) as listed, and in the order in which they are solved."""
    of = numbered(CHAIN)
    pairs = [(row, unknown) for row, unknown in order(of)]
    bodies = of.tip_to_base
    given = [(kind, k) for kind in ("pdd", "qdd", "f") for k in bodies]
    unknowns = [("tau" if kind == "qdd" else kind, k) for kind, k in given]
    panels = (
        ("as in (4), joint efforts unknown", given, unknowns),
        ("rows and unknowns as they are solved", *map(list, zip(*pairs, strict=True))),
    )
    with settings():
        figure = new_figure("double", 3.75, look)
        for i, (title, rows, columns) in enumerate(panels):
            ax = figure.add_axes((0.05 + 0.5 * i, 0.07, 0.44, 0.44 * 7.0 / 3.75))
            _grid(ax, of, rows, columns, look, framed=i == 1)
            figure.text(
                0.27 + 0.5 * i,
                0.985,
                title,
                ha="center",
                va="top",
                fontsize=9,
                fontweight="bold",
                color=look.ink,
            )
        figure.text(
            0.5,
            0.015,
            "blocks of (4), the solved ones framed; nothing right of a frame: no fill",
            ha="center",
            va="bottom",
            fontsize=8,
            color=look.ink,
        )
    return figure


_NAMES = {"pdd": r"\ddot p", "qdd": r"\ddot q", "f": "f", "tau": r"\tau"}


def _grid(ax: Any, of: Structure, rows: list, columns: list, look: Theme, framed: bool) -> None:
    size = len(rows)
    ax.set(xlim=(0, size), ylim=(size, 0), xticks=[], yticks=[], facecolor=look.page)
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set(color=look.faint, linewidth=0.6)
    at = {unknown: j for j, unknown in enumerate(columns)}
    for i, row in enumerate(rows):
        for unknown in row_of(of, row):
            if unknown not in at:  # qdd is known here
                continue
            j = at[unknown]
            ax.add_patch(Rectangle((j + 0.05, i + 0.05), 0.9, 0.9, color=look.entry, linewidth=0))
            ax.text(
                j + 0.5,
                i + 0.5,
                f"${_entry(of, row, unknown)}$",
                fontsize=8,
                ha="center",
                va="center",
                color=look.ink,
            )
        if framed:
            ax.add_patch(Rectangle((i, i), 1, 1, fill=False, edgecolor=look.ink, linewidth=1.2))
        ax.text(
            -0.12,
            i + 0.5,
            f"${_NAMES[row[0]]}_{row[1]}$",
            fontsize=7.5,
            ha="right",
            va="center",
            color=look.ink,
        )
    for j, (kind, k) in enumerate(columns):
        ax.text(
            j + 0.5, -0.15, f"${_NAMES[kind]}_{k}$", fontsize=7.5, ha="center", va="bottom", color=look.ink
        )


def _entry(of: Any, row: tuple, unknown: tuple) -> str:
    k = row[1]
    if row[0] == "pdd":
        if unknown[0] == "pdd":
            return f"M_{k}"
        return "I" if unknown[1] == row[1] else rf"-\Phi_{{{k}{unknown[1]}}}"
    if row[0] == "qdd":
        return "-I" if unknown[0] == "tau" else f"H_{k}"
    return "I" if unknown[1] == row[1] else rf"-\Phi_{{{unknown[1]}{k}}}^*"
