"""The text of an order's page."""

from __future__ import annotations

import inspect
import re
import textwrap
from dataclasses import fields
from typing import Any

import order_facts as facts
from brackets import text as bracketed
from order_notes import About, told
from order_pictures import twin

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.counts import Count, text_of
from pivotree.analysis.proofs import statements

LISTED, LONG = "chain:4", 60  # lines of a listing that is folded away
LETTERS = {
    "n": "bodies",
    "r": "roots",
    "D": "sum of depths (pairs of a body and its ancestor)",
    "h": "levels",
    "Q": "sum of squares of the numbers of children",
    "k": "log2(n + 1)",
}


def wrapped(text: str, width: int = 100) -> str:
    """Paragraphs and list items filled to a width; headings as they are."""
    parts: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        items = paragraph.split("\n* ")
        lines = [item if i == 0 else f"* {item}" for i, item in enumerate(items)]
        filled = [
            textwrap.fill(
                " ".join(line.split()),
                width,
                subsequent_indent="  " if line.startswith("* ") else "",
                break_on_hyphens=False,
                break_long_words=False,
            )
            for line in lines
        ]
        parts.append("\n".join(filled))
    return "\n\n".join(parts)


def page(one: About, everyone: dict[str, About], pictures: dict[str, str]) -> str:
    """The whole text; ``pictures`` are files and what is on them."""
    parts = [
        f"# `{one.name}`: {one.note['title']}",
        wrapped(plain(one.what)),
        f"Source: {plain(one.order.source)}. In code: {code(one.order)}.",
        "## Brackets",
        _brackets(one),
        "## Elimination",
        *(image(file, text) for file, text in pictures.items()),
        _caption(one, pictures),
        "## Listing",
        _listing(one.order),
        "## Operations",
        _operations(one),
        "## Fill and depth",
        _fill(one),
        "## When to use it",
        wrapped(told(one, everyone)),
        *_also(one),
        *_proved(one),
        "---",
        "[All orders](README.md) · [what an order is](../elimination.md) · "
        "[how digits were measured](../study/README.md)",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def image(file: str, text: str) -> str:
    """A picture, and its twin for a dark page."""
    return (
        f'<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="{twin(file)}">\n'
        f'  <img alt="{text}" src="{file}">\n</picture>'
    )


def plain(text: str) -> str:
    """Text in which Markdown finds no emphasis: M^ H* is a product."""
    return re.sub(r"([*~<|])", r"\\\1", text)


def _file(module: str) -> str:
    """Where a module of the package stands in the repository."""
    return module.removeprefix("pivotree.").replace(".", "/") + ".py"


def code(order: Any) -> str:
    """A link to the module of an order."""
    path = _file(order.__module__)
    return f"[`{path}`](../../{path})"


def _brackets(one: About) -> str:
    found = bracketed(one.order)
    lines = ["```", *_lines(found), "```"]
    said = ["On a chain of four bodies; body 1 is at the tip, body 4 at the base."]
    if "'" in found:
        said.append("With a prime: blocks of the massless carrier of a body's children.")
    if "|" in found:
        said.append("A pivot is row|unknown.")
    if one.order.links == "split":
        said.append("On a tree the pieces of split bodies have blocks of their own.")
    changed = switches(one.order)
    if changed:
        text = ", ".join(f"{name} `{value}`" for name, value in changed.items())
        said.append(
            "Switches that are not the defaults "
            f"([what they mean](../elimination.md#brackets-decide-the-roundoff)): {text}."
        )
    return "\n".join(lines) + "\n\n" + wrapped(" ".join(dict.fromkeys(said)))


def _lines(text: str, width: int = 68) -> list[str]:
    lines = [""]
    for group in text.replace(") (", ")\n(").split("\n"):
        if len(lines[-1]) + len(group) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {group}".strip()
    return lines


def switches(order: Any) -> dict[str, str]:
    default = kkt.Rules()
    found = {f.name: getattr(order.rules, f.name) for f in fields(default)}
    changed = {name: value for name, value in found.items() if value != getattr(default, name)}
    return changed | ({"links": order.links} if order.links != "whole" else {})


def _caption(one: About, pictures: dict[str, str]) -> str:
    if one.order.problem == "tau":
        return ""
    text = "Rows and columns in the order of elimination."
    own = one.file.removesuffix(".md")
    others = {re.sub(r"(_tree)?\.png$", "", f): f for f in pictures if not f.startswith(own)}
    for other, file in others.items():
        link = f"[`{other}`]({other}.md)"
        if len(pictures) == 1:
            text += f" Blocks and brackets are those of {link}; what differs is the arithmetic."
        else:
            which = "hub" if file.endswith("_tree.png") else "chain"
            text += f" On the {which}, blocks and brackets are those of {link}."
    return wrapped(text)


def listed(system: kkt.System, order: facts.Function) -> str:
    """An order's lines on a system, without their title; folded away where they are many."""
    text = listing.render(listing.of(system, order, "ascher"))
    lines = [line.rstrip() for line in text.strip().split("\n")][1:]
    while lines and not lines[0]:
        del lines[0]
    block = "\n".join(["```", *lines, "```"])
    if len(lines) <= LONG:
        return block
    return f"<details><summary>{len(lines)} lines</summary>\n\n{block}\n\n</details>"


def _listing(order: facts.Function) -> str:
    command = f"`pivotree list MODEL --order {order.name}`"
    note = wrapped(
        f"On {LISTED}, letters of Ascher, Pai & Cloutier (1996). {command} lists it for any robot; "
        "`--style python` writes a numpy script, `--style latex` an article, `--notation featherstone` or "
        "`yamane` other letters."
    )
    return f"{listed(facts.system(LISTED), order)}\n\n{note}"


KINDS = ("mul", "add", "div")


def _operations(one: About) -> str:
    lines = ["| robots | × | ± | ÷ | known how |", "|---|---|---|---|---|"]
    for family, count in one.scalar.items():
        cells = _cells(count)
        lines.append(f"| `{family}`, {facts.FAMILIES[family]} | {' | '.join(cells)} |")
    goal = "τ" if one.order.problem == "tau" else "qdd"
    text = f"For {goal}, from the entries of (4). Products with zeros and ones are not counted"
    if not one.blocks:
        return "\n".join(lines) + f"\n\n{text}; [more](../counts.md)."
    blocks = [f"    {sign}  {one.blocks[kind]}" for sign, kind in zip("×±÷", KINDS, strict=True)]
    text += "; where every block is full, a chain of n joints with N freedoms each costs (fitted)"
    return "\n".join([*lines, "", wrapped(f"{text}:"), "", *blocks, "", "[More](../counts.md)."])


def _cells(count: Count) -> list[str]:
    if count.polynomials:
        roots = count.polynomials["sqrt"]
        status = count.status + (f"; roots {text_of(roots)}" if roots else "")
        return [*(text_of(count.polynomials[kind]) for kind in KINDS), status]
    if law := facts.halved(count.order, count.family):
        how = f"n = 2^h - 1, fitted, h = {facts.HALVED[0]} to {facts.HALVED[-1]}"
        return [*(text_of(law[kind]) for kind in KINDS), how]
    return ["–", "–", "–", count.status]


def _fill(one: About) -> str:
    lines = ["| tree | bodies | fill, blocks | entries | height |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| `{spec}` | {t.bodies} | {t.fill} | {t.entries} | {t.height} |" for spec, t in one.trees.items()
    ]
    said = [f"{what.capitalize()}: {formula}." for what, formula in one.formulas.items()]
    if said:
        said.append("[Held on small trees](../../tests/analysis/proofs/test_small_trees.py).")
    letters = [
        f"{letter} {meaning}"
        for letter, meaning in LETTERS.items()
        if any(letter in formula.replace("^", " ").split() for formula in one.formulas.values())
    ]
    if letters:
        said.append(f"({'; '.join(letters)}.)")
    if one.order.links != "whole":
        said.append("Counted on the matrix of its own links.")
    if one.order.problem == "tau":
        said.append("Each row holds one unknown that is new: no block is filled.")
    text = wrapped(" ".join(said))
    path = facts.critical_path(one.order)
    if path:
        tail = f"Longest path of pivots that wait for each other, on chain:4:\n\n    {path}"
        text = f"{text}\n\n{tail}" if text else tail
    return "\n".join(lines) + "\n\n" + text


def _link(statement: str) -> str:
    """A statement's name, with a link to where it is written down."""
    found = statements()[statement]
    return f"[*{statement}*](../../{_file(inspect.getmodule(found.claims).__name__)})"


def _also(one: About) -> list[str]:
    """Names of the literature that are this order."""
    lines = [
        f"* `{name}` ({plain(alias.source)}): {plain(alias.same)} What differs: {plain(alias.differs)}."
        for name, alias in orderings.ALIASES.items()
        if alias.order == one.name
    ]
    if not lines:
        return []
    text = (
        "`orderings.get` finds it by these names too. Each is held against its recursion, written "
        "apart ([`tests/orderings/test_aliases.py`](../../tests/orderings/test_aliases.py))."
    )
    return ["## Other names", "\n".join(lines), wrapped(text)]


def _proved(one: About) -> list[str]:
    names = one.note["proved"]
    if not names:
        return []
    known = statements()
    lines = [f"* {_link(name)} ({known[name].source}): {plain(known[name].says)}" for name in names]
    text = "`pivotree prove --only NAME` proves them again; [what proved means](../proofs.md)."
    return ["## Proved", "\n".join(lines), text]
