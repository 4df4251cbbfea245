"""Pages of the orders that say where the multipliers of closed loops and contacts stand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from order_notes import notes
from order_pages import code, image, listed, plain, wrapped

from pivotree import kkt, orderings
from pivotree.analysis.figures import Theme, filmstrip, theme
from pivotree.kkt import Structure

MECHANISMS = ("four_bar", "gripper", "delta", "stewart", "quadruped:feet=1", "quadruped:feet=4")
DRAWN = "four_bar"
SOFT = 1e-2  # compliance of the rows, where an order puts soft ones first
BESIDE = "abm"  # which has lambda last

HEAD = """
## Closed loops and contacts

Orders that say [where multipliers stand](../loops.md#where-multipliers-stand-in-an-order); on a
tree each is the order that it comes from. All others have them last. Blocks of fill and operations
on `stewart`, then on `quadruped:feet=4`, beside the operations of `abm`; rows are soft where the
order puts soft ones first.

| order | what it is | source | fill | operations | `abm` | fill | operations | `abm` |
|---|---|---|---:|---:|---:|---:|---:|---:|
"""


@dataclass(frozen=True)
class OnMechanism:
    """What an order does to the blocks of one mechanism."""

    bodies: int
    rows: int  # multipliers
    fill: int  # blocks of one triangle
    entries: int
    height: int
    flops: int


@cache
def system(spec: str, soft: bool) -> kkt.System:
    tree = kkt.load(spec)
    loops = tree.graph["loops"]
    return kkt.build(tree, loops=kkt.softened(loops, SOFT) if soft else loops)


@cache
def first(name: str) -> bool:
    """Whether an order eliminates soft multipliers before any body."""
    return orderings.get(name)(system(DRAWN, True).structure)[0][0][0] == "lam"


@cache
def on_mechanism(name: str, spec: str, soft: bool) -> OnMechanism:
    of = system(spec, soft)
    order = orderings.get(name)
    found = kkt.symbolic(kkt.plan(order, of.structure))
    flops = kkt.trace(of, order).flops
    return OnMechanism(
        of.structure.n, len(of.entries.gamma), found.fill_blocks, found.fill_entries, found.height, flops
    )


def texts() -> dict[str, str]:
    """File name -> text, a page for each order."""
    return {f"{name}.md": page(name) for name in orderings.LOOPS}


def page(name: str) -> str:
    order: Any = orderings.get(name)
    note = notes()[name]
    soft = first(name)
    parts = [
        f"# `{name}`: {note['title']}",
        wrapped(plain((order.__doc__ or "").strip().splitlines()[0])),
        f"Source: {plain(order.source)}. In code: {code(order)}.",
        "## Brackets",
        _brackets(name),
        "## Elimination",
        _picture(name),
        "## Listing",
        _listing(name),
        "## Fill and operations",
        _table(name),
        wrapped(
            f"Beside them `{BESIDE}`, which has all multipliers last. Bodies and rows of loops are "
            "counted; height: blocks on the longest path of pivots that wait for each other; "
            "operations for qdd, from the entries of (4), products with zeros and ones left out."
            + (f" Rows have a compliance of {SOFT:g}." if soft else " Rows are rigid.")
        ),
        "## When to use it",
        wrapped(note["when"].strip()),
        "---",
        "[All orders](README.md) · [loops and contacts](../loops.md) · [what an order is](../elimination.md)",
    ]
    return "\n\n".join(parts) + "\n"


def table() -> str:
    """The part of README.md that is about them."""
    rows = []
    for name in orderings.LOOPS:
        title = notes()[name]["title"]
        cells = [f"[`{name}`]({name}.md)", title[0].upper() + title[1:], plain(orderings.get(name).source)]
        for spec in ("stewart", "quadruped:feet=4"):
            own, other = (on_mechanism(n, spec, first(name)) for n in (name, BESIDE))
            cells += [str(own.fill), f"{own.flops:,}", f"{other.flops:,}"]
        rows.append(f"| {' | '.join(cells)} |")
    return HEAD + "\n".join(rows) + "\n"


def _brackets(name: str) -> str:
    """Groups on the mechanism that is drawn, by the names of its bodies and its loop."""
    of = system(DRAWN, first(name)).structure
    groups = [
        "(" + " ".join(f"{kind}_{body}" for kind, body in group) + ")"
        for group in kkt.plan(orderings.get(name), of).sequence.groups
    ]
    text = f"On `{DRAWN}`, whose loop is cut at the pin between coupler and rocker"
    text += ", its rows soft." if first(name) else "."
    return "```\n" + "\n".join(groups) + "\n```\n\n" + wrapped(text)


def _table(name: str) -> str:
    lines = [
        f"| mechanism | bodies | rows | fill, blocks | entries | height | operations | `{BESIDE}`: "
        "fill | operations |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for spec in MECHANISMS:
        own, other = (on_mechanism(n, spec, first(name)) for n in (name, BESIDE))
        lines.append(
            f"| `{spec}` | {own.bodies} | {own.rows} | {own.fill} | {own.entries} | {own.height} | "
            f"{own.flops:,} | {other.fill} | {other.flops:,} |"
        )
    return "\n".join(lines)


def _listing(name: str) -> str:
    block = listed(system(DRAWN, first(name)), orderings.get(name))
    soft = f"pivotree list quadruped:feet=4,compliance={SOFT:g} --order {name}"
    command = soft if first(name) else f"pivotree list {DRAWN} --order {name}"
    return (
        block
        + "\n\n"
        + wrapped(
            f"On {DRAWN}, letters of Ascher, Pai & Cloutier (1996). `{command}` lists it"
            + (" with feet on the ground." if first(name) else "; `--contact` takes any robot's feet.")
        )
    )


# -- pictures -------------------------------------------------------------------------------------


def pictures() -> dict[str, str]:
    """Files, and the order that each shows."""
    return {f"{name}.png": name for name in orderings.LOOPS}


def _picture(name: str) -> str:
    fill = factor(name).fill_blocks
    shown = f"A four-bar linkage: the matrix, part of the way, and all with {fill} blocks of fill"
    told = "Rows and columns in the order of elimination; bodies are numbered tip to base, 1 the coupler."
    return f"{image(f'{name}.png', shown)}\n\n{told}"


@cache
def factor(name: str) -> kkt.SymbolicFactor:
    """Of the mechanism that is drawn, its bodies numbered tip to base and its loop a letter."""
    of = system(DRAWN, first(name)).structure
    number = {int(k): i for i, k in enumerate(of.order, start=1)}
    numbered = Structure(
        tuple(number[k] for k in range(of.n)),
        of.parent,
        of.dof,
        ties=tuple(tie._replace(name="c") for tie in of.ties),
    )
    return kkt.symbolic(kkt.plan(orderings.get(name), numbered))


def film(name: str, style: str = "light") -> Any:
    """The matrix, what is left after two bodies' blocks, and all."""
    found = factor(name)
    groups = found.plan.groups
    middle = groups // 2
    made = int((found.fill_step < middle).sum())
    captions = [
        "the matrix",
        f"after {middle} of {groups}: fill {made}",
        f"after all {groups}: fill {found.fill_blocks}",
    ]
    look: Theme = theme(style=style)
    return filmstrip(found, (0, middle, groups), captions, style=look)
