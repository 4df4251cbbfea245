"""All that is told of an order: facts, measurements, and its note with its figures put in."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import measured
import order_facts as facts

from pivotree import orderings
from pivotree.analysis.counts import Count, crossings

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class About:
    """All that a page tells of an order."""

    name: str
    order: facts.Function
    note: dict[str, Any]
    trees: dict[str, facts.OnTree]  # by spec
    scalar: dict[str, Count]  # by family
    blocks: dict[str, str]  # by kind of operation; of a chain of n joints of N freedoms
    measured: measured.Measured | None

    @property
    def formulas(self) -> dict[str, str]:
        """Of fill and of height, where there are such."""
        return {what: self.note[what] for what in ("fill", "height") if what in self.note}

    @property
    def file(self) -> str:
        return file_of(self.name)

    @property
    def what(self) -> str:
        return (self.order.__doc__ or "").strip().splitlines()[0]


def file_of(name: str) -> str:
    """``random:0`` has the page random.md."""
    return f"{name.partition(':')[0]}.md"


def notes() -> dict[str, Any]:
    return tomllib.loads((HERE / "notes.toml").read_text(encoding="utf-8"))


def unjudged(order: facts.Function) -> dict[str, Any]:
    """The note of an order that ``notes.toml`` does not name: its docstring speaks for it."""
    first, _, rest = inspect.cleandoc(order.__doc__ or "").partition("\n\n")
    when = rest.strip() or "No study has judged this order yet."
    when = when.replace("{", "{{").replace("}", "}}")
    return {"title": first.rstrip("."), "when": when, "proved": []}


def about(name: str) -> About:
    """Count and look up everything of one order; a few seconds."""
    order = orderings.get(name)
    note = notes().get(name) or unjudged(order)
    scalar = facts.scalar_counts(order)
    chain = scalar["revolute"]
    return About(
        name,
        order,
        note,
        {spec: facts.on_tree(order, spec) for spec in facts.TREES},
        scalar,
        facts.block_counts(order) if chain.polynomials else {},
        measured.measured().get(name),
    )


# -- figures that notes may name ----------------------------------------------------------------


def told(one: About, everyone: dict[str, About]) -> str:
    """When to use an order: its note, with figures for braces."""
    text = one.note["when"].format_map(_known(one, everyone))
    return re.sub(r"(\d)%", r"\1 %", text)


def _known(one: About, everyone: dict[str, About]) -> dict[str, Any]:
    """What stands for the braces of a note."""
    named: dict[str, Any] = {
        name: _figures(other, everyone) for name, other in everyone.items() if name.isidentifier()
    }
    data = measured.facts()
    slow, fast = (
        data["nested_dissection"][f"{order} on chain:31"] for order in ("divide_and_conquer", "abm")
    )
    return named | {
        "me": _figures(one, everyone),
        "fact": data,
        "nested_work": slow[0] / fast[0],
        "nested_backward": slow[2] / fast[2],
        "crossing": crossing(everyone),
    }


def crossing(everyone: dict[str, About]) -> int | None:
    """Links from which CRBM costs more than ABM, all operations together."""
    slow, fast = (everyone[name].scalar["revolute"] for name in ("crbm", "abm"))
    start = max(slow.holds_from or 1, fast.holds_from or 1)
    return crossings(slow.polynomials, fast.polynomials, start)["all"].first


def _figures(one: About, everyone: dict[str, About]) -> SimpleNamespace:
    found = SimpleNamespace(**(vars(one.measured) if one.measured else {}))
    body = facts.per_body(one.scalar["revolute"])
    reference = facts.per_body(everyone["abm"].scalar["revolute"])
    if body and reference:
        found.body, found.versus_abm = body, body / reference - 1
    found.star = facts.per_body(one.scalar["star"])
    found.growth = facts.growth(one.scalar["revolute"])
    found.star_growth = facts.growth(one.scalar["star"])
    for spec, tree in one.trees.items():
        short = {"random_tree": "tree"}.get(spec.partition(":")[0], spec.partition(":")[0])
        setattr(found, f"fill_{short}", tree.fill)
        setattr(found, f"height_{short}", tree.height)
    return found
