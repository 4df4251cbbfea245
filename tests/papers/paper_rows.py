"""What tests of papers ask of the rows of an item."""

from dataclasses import replace

from pivotree.papers.paper import items


def quiet(text):
    """Progress, of which nobody is told."""


def rows_of(item, found=None, **settings):
    """Rows of an item, a module or its function, or of what was found, without the item's name."""
    name = item.__name__.rpartition(".")[2]
    (item,) = items(getattr(item, "__module__", item.__name__).split(".")[2], [name])
    rows = item.rows(item.measure(quiet, **settings) if found is None else found)
    return [replace(row, item=row.item.removeprefix(f"{name}: ")) for row in rows]


def missed(rows):
    """The names of the rows whose criterion is not met."""
    return [row.item for row in rows if row.met is False]


def met(rows):
    """How many criteria are met; none may be missed."""
    assert not missed(rows)
    return sum(row.met is True for row in rows)


def by_item(rows):
    return {row.item: row for row in rows}
