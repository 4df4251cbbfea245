"""What tests of papers ask of the rows of an item."""


def quiet(text):
    """Progress, of which nobody is told."""


def missed(rows):
    """The names of the rows whose criterion is not met."""
    return [row.item for row in rows if row.met is False]


def met(rows):
    """How many criteria are met; none may be missed."""
    assert not missed(rows)
    return sum(row.met is True for row in rows)


def by_item(rows):
    return {row.item: row for row in rows}
