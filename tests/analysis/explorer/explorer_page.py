"""The explorer's page as tests use it: where its blocks are, what it says, what it sends."""

import re

from pivotree import kkt, orderings


def status(page):
    return page.locator("[role=status]").first.inner_text()


def counter(page):
    return page.locator(".counter").inner_text()


def at_block(page, row, column):
    """The place of a block on the screen, by its row and column: (4) listed as (6), tip to base."""
    names = [f"{kind}_{k}" for k in ("j3", "j2", "j1") for kind in ("pdd", "qdd", "f")]
    size = {"pdd": 6.0, "qdd": 2.1, "f": 6.0}  # a joint's row is drawn a little thicker
    box = page.locator(".grid").first.bounding_box()
    margin, total = 34.0, sum(size[name.partition("_")[0]] for name in names)
    scale = (box["width"] - margin - 2.0) / total

    def middle(name):
        before = names[: names.index(name)]
        ahead = sum(size[other.partition("_")[0]] for other in before)
        return margin + scale * (ahead + size[name.partition("_")[0]] / 2)

    return box["x"] + middle(column), box["y"] + middle(row)


def click(page, row, column=None):
    page.locator(".grid").first.scroll_into_view_if_needed()
    page.mouse.click(*at_block(page, row, column or row))


def shown(page):
    """The order as the strip shows it, "p3f3|q3", and what it says of it: fill, operations, height."""
    brackets = page.locator(".strip").first.locator(".bracket:not(.rest)")
    chips = "[...e.querySelectorAll('.chip')].map(c => c.dataset.kind + ':' + c.dataset.block)"
    order = [item.evaluate(f"e => {chips}") for item in brackets.all()]
    text = page.locator(".strip .sum").first.inner_text()
    found = [re.search(key, text) for key in (r"fill ([\d,]+)", r"([\d,]+) operations", r"height (\d+)")]
    assert all(found), text
    return order, [int(number[1].replace(",", "")) for number in found]


def drag(page, what, to, part=0.5):
    """A chip or bracket, dragged onto a place of another: from its left side, 0, to its right, 1."""
    start, end = (page.locator(".strip").first.locator(where).first for where in (what, to))
    start.scroll_into_view_if_needed()
    start, end = start.bounding_box(), end.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + part * end["width"], end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def own(page):
    page.select_option("select >> nth=0", "/whole")


def groups_of(system, name):
    """An order as the page sends it: kinds and the bodies' texts."""
    sequence = kkt.plan(orderings.get(name), system.structure).sequence
    return [
        [[kind, " ".join(map(str, body)) if isinstance(body, tuple) else str(body)] for kind, body in group]
        for group in sequence.groups
    ]
