"""All orders in four tables, which docs/orders/README.md has on the site."""

from __future__ import annotations

import order_facts as facts
from brackets import text as bracketed
from order_notes import About
from order_pages import LETTERS, plain, switches, wrapped

from pivotree import orderings

HEAD = """| order | what it is | source |
|---|---|---|
"""

OTHERS = """
Methods of the literature that are one of these, found by their names too; its page tells what is
the same and what differs.

| name | order | source |
|---|---|---|
"""

SEQUENCES = """
## Brackets

What stands in a bracket is eliminated together; here on a chain of four, body 1 at the tip. Switches are
told where they are not the defaults. [What both do](../elimination.md#brackets-decide-the-roundoff).

| order | brackets | switches |
|---|---|---|
"""

FILL = """
## Fill and height

Off-diagonal blocks of one triangle that are zero in the matrix and not at some step, of `random:0` at
most so many; and blocks on the longest path of pivots that wait for each other. A formula holds on
every tree of up to eight bodies and, of chains, on those of up to twelve.

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
    """The tables, with their headings."""
    parts = [HEAD, SEQUENCES, FILL, COST]
    others = "".join(
        f"| `{name}` | `{alias.order}` | {plain(alias.source)} |\n"
        for name, alias in orderings.ALIASES.items()
    )
    rows: list[list[str]] = [[], [], [], []]
    for one in everyone.values():
        link = f"[`{one.name}`]({one.file})"
        title = one.note["title"][0].upper() + one.note["title"][1:]
        rows[0].append(f"| {link} | {title} | {plain(one.order.source)} |")
        short = f"`{bracketed(one.order)}`".replace("|", r"\|")
        changed = ", ".join(f"{k} {v}" for k, v in switches(one.order).items())
        rows[1].append(f"| {link} | {short} | {changed} |")
        on = [one.trees[spec] for spec in ("chain:10", "star:10", "binary:3")]
        cells = [
            one.formulas.get("fill", ""),
            *(str(t.fill) for t in on),
            one.formulas.get("height", ""),
            str(on[0].height),
            str(on[2].height),
        ]
        rows[2].append(f"| {link} | {' | '.join(cells)} |")
        body = facts.per_body(one.scalar["revolute"])
        digits = one.measured
        cells = [
            facts.growth(one.scalar["revolute"]) or "–",
            facts.growth(one.scalar["star"]) or "–",
            f"{body:.0f}" if body else "–",
            *(f"{x:.1f}" for x in ((digits.kept, digits.near, digits.trees) if digits else ())),
        ]
        cells += ["–"] * (6 - len(cells))
        rows[3].append(f"| {link} | {' | '.join(cells)} |")
    text = "".join(head + "\n".join(lines) + "\n" for head, lines in zip(parts, rows, strict=True))
    text = text.replace(SEQUENCES, OTHERS + others + SEQUENCES)
    letters = "; ".join(f"{letter} {meaning}" for letter, meaning in LETTERS.items())
    return text.replace(
        "\n## Cost and digits", f"\n{wrapped('Letters: ' + letters + '.')}\n\n## Cost and digits"
    )
