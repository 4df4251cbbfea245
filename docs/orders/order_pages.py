"""The text of a page and of the table of all orders, from facts and notes."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import measured
import order_facts as facts
from brackets import Sequence, sequence_of

import kkt
import orderings
from analysis import listing
from analysis.counts import Count, crossings
from analysis.counts.words import wrapped
from analysis.proofs import statements

HERE = Path(__file__).resolve().parent
LISTED, LONG = "chain:4", 60  # lines of a listing that is folded away
COURSES = {
    "odd-even": "Odd-even: every other body of a branch, then every other one of those left.",
    "nested": "Nested: both halves of a branch, then the body between them.",
    "as listed": "As listed: in the order in which the model lists its bodies.",
}
LETTERS = {
    "n": "bodies", "r": "roots", "D": "sum of depths (pairs of a body and its ancestor)",
    "h": "levels", "Q": "sum of squares of the numbers of children", "k": "log2(n + 1)",
}  # fmt: skip


@dataclass(frozen=True)
class About:
    """All that a page tells of an order."""

    name: str
    order: facts.Function
    note: dict[str, Any]
    sequence: Sequence
    trees: dict[str, facts.OnTree]  # by spec
    scalar: dict[str, Count]  # by family
    blocks: dict[str, str]  # by kind of operation; of a chain of n joints of N freedoms
    formulas: dict[str, facts.Formula]
    measured: measured.Measured | None

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


def about(name: str) -> About:
    """Count and look up everything of one order; a few seconds."""
    order = orderings.get(name)
    scalar = facts.scalar_counts(order)
    chain = scalar["revolute"]
    return About(
        name, order, notes()[name], sequence_of(order),
        {spec: facts.on_tree(order, spec) for spec in facts.TREES},
        scalar,
        facts.block_counts(order) if chain.polynomials else {},
        facts.formulas(order),
        measured.measured().get(name),
    )  # fmt: skip


# -- the page of an order -----------------------------------------------------------------------


def page(one: About, everyone: dict[str, About], pictures: dict[str, str]) -> str:
    """The whole text; ``pictures`` are files and what is on them."""
    parts = [
        f"# `{one.name}`: {one.note['title']}",
        wrapped(plain(one.what)),
        f"Source: {plain(one.order.source)}. In code: {_code(one.order)}.",  # type: ignore[attr-defined]
        "## Brackets",
        _brackets(one),
        "## Elimination",
        *(f"![{text}]({file})" for file, text in pictures.items()),
        _caption(one, pictures),
        "## Listing",
        _listing(one.order),
        "## Operations",
        _operations(one),
        "## Fill and depth",
        _fill(one),
        "## When to use it",
        wrapped(one.note["when"].format_map(_known(one, everyone))),
        *_proved(one),
        "---",
        "[All orders](README.md) · [what an order is](../elimination.md) · "
        "[how digits were measured](../study/README.md)",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(text: str) -> str:
    """Text in which Markdown finds no emphasis: M^ H* is a product."""
    return re.sub(r"([*~<|])", r"\\\1", text)


def _code(order: Any) -> str:
    path = order.__module__.replace(".", "/") + ".py"
    return f"[`{path}`](../../{path})"


def _brackets(one: About) -> str:
    sequence = one.sequence
    lines = ["```", *_lines(sequence), "```"]
    said = []
    if not sequence.phases:
        said.append("No two bodies are met alike; these are the brackets on a chain of four.")
    elif sequence.where:
        said.append("So on chains; on trees bodies are met in other ways.")
    said += [COURSES[p.course] for p in sequence.phases if p.course in COURSES]
    if any(p.optional for p in sequence.phases):
        said.append("In square brackets: of bodies with children, the massless carrier's blocks.")
    if any("|" in what for p in sequence.phases for b in p.brackets for what in b):
        said.append("A pivot is (row | unknown).")
    links = one.order.links  # type: ignore[attr-defined]
    if links == "split":
        said.append("k runs over bodies and the pieces of split ones, which are numbered alike.")
    said.append("Body 1 is at a tip, body n at the base.")
    changed = _switches(one.order)
    if changed:
        text = ", ".join(f"{name} `{value}`" for name, value in changed.items())
        said.append(
            "Switches that are not the defaults "
            f"([what they mean](../elimination.md#brackets-decide-the-roundoff)): {text}."
        )
    return "\n".join(lines) + "\n\n" + wrapped(" ".join(dict.fromkeys(said)))


def _lines(sequence: Sequence, width: int = 68) -> list[str]:
    if sequence.phases:
        return sequence.text.split("\n")
    lines = [""]
    for group in sequence.text.replace(") (", ")\n(").split("\n"):
        if len(lines[-1]) + len(group) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {group}".strip()
    return lines


def _switches(order: Any) -> dict[str, str]:
    default = kkt.Rules()
    found = {f.name: getattr(order.rules, f.name) for f in fields(default)}
    changed = {name: value for name, value in found.items() if value != getattr(default, name)}
    return changed | ({"links": order.links} if order.links != "whole" else {})


def _caption(one: About, pictures: dict[str, str]) -> str:
    if one.order.problem == "tau":  # type: ignore[attr-defined]
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


def _listing(order: facts.Function) -> str:
    name = order.order_name  # type: ignore[attr-defined]
    text = listing.of(facts.system(LISTED), order, "ascher").text()
    lines = [line.rstrip() for line in text.strip().split("\n")][1:]
    while lines and not lines[0]:
        del lines[0]
    block = "\n".join(["```", *lines, "```"])
    if len(lines) > LONG:
        block = f"<details><summary>{len(lines)} lines</summary>\n\n{block}\n\n</details>"
    command = f"`pivotree list MODEL --order {name}`"
    note = wrapped(
        f"On {LISTED}, letters of Ascher, Pai & Cloutier (1996). {command} lists it for any robot; "
        "`--python` writes a numpy script, `--latex` an article, `--notation featherstone` or "
        "`yamane` other letters."
    )
    return f"{block}\n\n{note}"


KINDS = ("mul", "add", "div")


def _operations(one: About) -> str:
    lines = ["| robots | × | ± | ÷ | known how |", "|---|---|---|---|---|"]
    for family, count in one.scalar.items():
        cells = _cells(count)
        lines.append(f"| `{family}`, {facts.FAMILIES[family]} | {' | '.join(cells)} |")
    goal = "τ" if one.order.problem == "tau" else "qdd"  # type: ignore[attr-defined]
    text = f"For {goal}, from the entries of (4). Products with zeros and ones are not counted"
    if not one.blocks:
        return "\n".join(lines) + f"\n\n{text}; [more](../counts.md)."
    blocks = [f"    {sign}  {one.blocks[kind]}" for sign, kind in zip("×±÷", KINDS, strict=True)]
    text += "; where every block is full, a chain of n joints with N freedoms each costs (fitted)"
    return "\n".join([*lines, "", wrapped(f"{text}:"), "", *blocks, "", "[More](../counts.md)."])


def _cells(count: Count) -> list[str]:
    if count.polynomials:
        roots = count.polynomials["sqrt"]
        status = count.status + (f"; roots {roots.text()}" if roots.coefficients else "")
        return [*(count.polynomials[kind].text() for kind in KINDS), status]
    if count.powers is not None:
        how = f"n = 2^h - 1, fitted, h = {count.powers.first} to {count.powers.last}"
        return [*(count.powers.text(kind) for kind in KINDS), how]
    return ["–", "–", "–", count.why]


def _fill(one: About) -> str:
    lines = ["| tree | bodies | fill, blocks | entries | height |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| `{spec}` | {t.bodies} | {t.fill} | {t.entries} | {t.height} |"
        for spec, t in one.trees.items()
    ]
    said = []
    for what, formula in one.formulas.items():
        scope = f" ({formula.scope})" if formula.scope else ""
        said.append(f"{what.capitalize()}: {formula.text}{scope}, {_link(formula.statement)}.")
    letters = [
        f"{letter} {meaning}"
        for letter, meaning in LETTERS.items()
        if any(letter in f.text.replace("^", " ").split() for f in one.formulas.values())
    ]
    if letters:
        said.append(f"({'; '.join(letters)}.)")
    if one.order.links != "whole":  # type: ignore[attr-defined]
        said.append("Counted on the matrix of its own links.")
    if one.order.problem == "tau":  # type: ignore[attr-defined]
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
    file = inspect.getmodule(found.claims).__name__.replace(".", "/")  # type: ignore[union-attr]
    return f"[*{statement}*](../../{file}.py)"


def _proved(one: About) -> list[str]:
    names = dict.fromkeys([*one.note["proved"], *facts.about(one.order)])
    if not names:
        return []
    known = statements()
    lines = [f"* {_link(name)} ({known[name].source}): {plain(known[name].says)}" for name in names]
    text = "`pivotree prove --only NAME` proves them again; [what proved means](../proofs.md)."
    return ["## Proved", "\n".join(lines), text]


# -- figures that notes may name ----------------------------------------------------------------


def _known(one: About, everyone: dict[str, About]) -> dict[str, Any]:
    """What stands for the braces of a note."""
    known: dict[str, Any] = {
        name: _figures(other, everyone) for name, other in everyone.items() if name.isidentifier()
    }
    data = measured.facts()
    slow, fast = (
        data["nested_dissection"][f"{order} on chain:31"] for order in ("divide_and_conquer", "abm")
    )
    return known | {
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


# -- the table of all orders --------------------------------------------------------------------

HEAD = """# All orders

Every order that is registered, each with a page: its bracket sequence, a picture, a listing,
counts, fill, depth, when to use it. `make pages` writes this folder.

| order | what it is | source |
|---|---|---|
"""

SEQUENCES = """
## Brackets

What stands in a bracket is eliminated together, for k = 1..n; body 1 is at a tip. Switches are told
where they are not the defaults. [What both do](../elimination.md#brackets-decide-the-roundoff).

| order | brackets | switches |
|---|---|---|
"""

FILL = """
## Fill and height

Off-diagonal blocks of one triangle that are zero in the matrix and not at some step; and blocks on
the longest path of pivots that wait for each other. A formula is there where it is proved.

| order | fill | chain:10 | star:10 | binary:3 | height | chain:10 | binary:3 |
|---|---|---:|---:|---:|---|---:|---:|
"""

COST = """
## Cost and digits

How operations grow on a chain of n and on a hub with n leaves, and what one more revolute body
costs (skew axes). Then float32: decimal digits kept on chain:100, and the worst that was lost
beyond what the condition number allows, on constructed robots with mass ratios to 1e4 and on random
trees ([the study](../study/README.md); a dash: not in it).

| order | chain | star | a body | kept | lost, 1e4 | lost, trees |
|---|---|---|---:|---:|---:|---:|
"""


def table(everyone: dict[str, About]) -> str:
    """docs/orders/README.md."""
    parts = [HEAD, SEQUENCES, FILL, COST]
    rows: list[list[str]] = [[], [], [], []]
    for one in everyone.values():
        link = f"[`{one.name}`]({one.file})"
        title = one.note["title"][0].upper() + one.note["title"][1:]
        rows[0].append(f"| {link} | {title} | {plain(one.order.source)} |")  # type: ignore[attr-defined]
        short = one.sequence.short.replace("|", r"\|")
        switches = ", ".join(f"{k} {v}" for k, v in _switches(one.order).items())
        rows[1].append(f"| {link} | {short} | {switches} |")
        on = [one.trees[spec] for spec in ("chain:10", "star:10", "binary:3")]
        cells = [
            _formula(one, "fill"), *(str(t.fill) for t in on),
            _formula(one, "height"), str(on[0].height), str(on[2].height),
        ]  # fmt: skip
        rows[2].append(f"| {link} | {' | '.join(cells)} |")
        body = facts.per_body(one.scalar["revolute"])
        digits = one.measured
        cells = [
            facts.growth(one.scalar["revolute"]) or "–",
            facts.growth(one.scalar["star"]) or "–",
            f"{body:.0f}" if body else "–",
            *(f"{x:.1f}" for x in ((digits.kept, digits.near, digits.trees) if digits else ())),
        ]  # fmt: skip
        cells += ["–"] * (6 - len(cells))
        rows[3].append(f"| {link} | {' | '.join(cells)} |")
    text = "".join(head + "\n".join(lines) + "\n" for head, lines in zip(parts, rows, strict=True))
    letters = "; ".join(f"{letter} {meaning}" for letter, meaning in LETTERS.items())
    return text.replace(
        "\n## Cost and digits", f"\n{wrapped('Letters: ' + letters + '.')}\n\n## Cost and digits"
    )


def _formula(one: About, what: str) -> str:
    found = one.formulas.get(what)
    if found is None:
        return ""
    return f"{found.text} ({found.scope})" if found.scope else found.text
