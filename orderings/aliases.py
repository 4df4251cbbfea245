"""Other names, from the literature, of orders that are registered here: the table ``aliases.toml``.

>>> pt.orderings.get("vereshchagin") is pt.orderings.get("abm")
True

tests/orderings/test_aliases.py checks each, pivot by pivot, against its recursion, written on its
own after Cloutier 1995 (section 3.3) and Featherstone 2008: the originals were not at hand.
ELSEWHERE has methods that are no order of pivots, and the room of the project that holds them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pivotree.kkt.base.reading import read_text


@dataclass(frozen=True)
class Alias:
    """Another name of a registered order.

    >>> pt.orderings.ALIASES["vereshchagin"].order
    'abm'
    """

    order: str
    source: str
    same: str
    differs: str


_TABLE = tomllib.loads(read_text(Path(__file__).with_suffix(".toml")))
ALIASES = {name: Alias(**told) for name, told in _TABLE.items()}
"""Methods of the literature that are a registered order under another name.

>>> sorted(pt.orderings.ALIASES)[:3]
['armstrong', 'baraff', 'brandl_johanni_otter']
"""

ELSEWHERE = {
    "walker_orin_1": "analysis.inertia.solve(system)",
    "walker_orin_4": "analysis.gradients.solve(system)",
}
