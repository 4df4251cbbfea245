"""docs/reading.md quotes the code as it is."""

import re

from helpers import ROOT

QUOTED = re.compile(r"^`([\w/]+\.py)`\n\n```py\n(.*?)^```", re.M | re.S)


def lines(text):
    """Without indentation, which a quotation loses."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def test_every_quotation_stands_in_its_file():
    quoted = QUOTED.findall((ROOT / "docs/reading.md").read_text("utf-8"))
    assert len(quoted) == 20
    strange = [(file, code) for file, code in quoted if lines(code) not in lines((ROOT / file).read_text())]
    assert strange == []
