"""The scalar case of the scenes: sliders on a line, each block of whose matrix is one number.

Rigid bodies that only slide along z, each upon the one before, as in Example 2 of Ascher, Pai &
Cloutier (1996).  Nothing couples that direction with the other five, so that it can be kept alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from pivotree.kkt import add_body, new_tree

ALONG = 5  # of the six rows of a body, moments first: the force along z


def sliders(masses: Sequence[float], efforts: Sequence[float]) -> nx.DiGraph[Any]:
    """Sliders of these masses [kg] under these forces of their joints [N], base first, at rest.

    Their names are numbers from the tip, 1, to the base, as in the paper; each stands 1 m farther on.
    """
    tree = new_tree("sliders", (0.0, 0.0, 0.0))
    count = len(masses)
    for k, mass in enumerate(masses):
        p = (0.0, 0.0, 1.0 if k else 0.0)
        inertia = mass * np.eye(3)
        add_body(
            tree, count - k, count - k + 1 if k else None, mass=mass, inertia=inertia, joint="prismatic", p=p
        )
    zero = np.zeros(count)
    tree.graph.update(q=zero, qd=zero, tau=np.array(efforts, dtype=float))
    return tree


def carried(document: dict[str, Any]) -> dict[str, Any]:
    """A document whose orders let each pivot meet its neighbours at once.

    The number in a cell is then what the next pivot finds there.  What was measured of these orders
    is left out: their operations differ.
    """
    kept = ("name", "source", "what", "links", "split", "groups", "fill", "height")
    orders = [
        {key: order[key] for key in kept} | {"rules": {"couple": "carried"}} for order in document["orders"]
    ]
    return document | {"orders": orders}


def along(document: dict[str, Any]) -> dict[str, Any]:
    """A document of sliders, of whose six directions one is kept: one number a block."""
    entries = document["entries"]
    bodies = range(document["bodies"])
    return document | {
        "structures": {"whole": document["structures"]["whole"] | {"rows": 1}},
        "entries": {
            "M": [[entries["M"][k][7 * ALONG]] for k in bodies],
            "H": [[entries["H"][k][ALONG]] for k in bodies],
            "Phi": [[1.0] for _ in bodies],
            "a": [[entries["a"][k][ALONG]] for k in bodies],
            "b": [[entries["b"][k][ALONG]] for k in bodies],
            "tau": entries["tau"],
            "masks": {
                "M": ["2" for _ in bodies],
                "H": ["1" for _ in bodies],
                "Phi": ["1" for _ in bodies],
                "rows": [[0] for _ in bodies],
            },
        },
    }
