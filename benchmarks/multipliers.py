"""Digits of qdd by where multipliers stand: robots on their feet, in float32.

``python benchmarks/multipliers.py [ROBOT,...]`` prints the table of docs/loops.md, median and worst
error over random states against certified solutions; it needs the extra ``robots``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import networkx as nx
import numpy as np

from pivotree import analysis, kkt
from pivotree.analysis.states import draw, ranges_of

FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "talos": ("left_sole_link", "right_sole_link"),
}
ORDERS = ("lambda_first", "lambda_first_abm", "crbm", "abm")
COMPLIANCES = (1e-2, 1e-4, 1e-6, 1e-8, 0.0)
STATES = 8


def systems(name: str, compliance: float) -> Iterator[kkt.System]:
    """The robot in random states of seed 0, all its feet held by sticking contacts."""
    tree: nx.DiGraph = kkt.load(f"robot:{name}", merge_fixed=True)
    across = np.eye(3)[:2]
    feet = [
        kkt.contact(foot, (0, 0, 0), tangents=across, compliance=compliance, name=foot)
        for foot in FEET[name]
    ]
    base = kkt.build(tree, loops=())
    ranges = ranges_of(base)
    for number in range(STATES):
        q, qd, _ = draw(ranges, 0, number)
        yield kkt.build(tree, q, qd, base.state.tau, loops=feet)


def main(names: list[str]) -> None:
    print("| robot | compliance | " + " | ".join(f"`{order}`" for order in ORDERS) + " |")
    print("|---|---:|" + "---:|" * len(ORDERS))
    for name in names:
        for compliance in COMPLIANCES:
            errors: dict[str, list[float]] = {order: [] for order in ORDERS}
            chosen = ORDERS if compliance else ORDERS[2:]
            for system in systems(name, compliance):
                for row in analysis.compare(system, chosen, ["float32"]).rows:
                    errors[row.order].append(np.inf if row.error is None else float(row.error))
            cells = [told(errors[order]) for order in ORDERS]
            print(f"| {name}, {len(FEET[name])} feet | {compliance:g} | {' | '.join(cells)} |")


def told(errors: list[float]) -> str:
    """Median / worst, and how many states have no answer."""
    if not errors:
        return "needs compliance"
    none = sum(not np.isfinite(e) for e in errors)
    found = sorted(e for e in errors if np.isfinite(e))
    if not found:
        return f"no answer in {none}"
    text = f"{np.median(found):.0e} / {found[-1]:.0e}"
    return f"{text}; no answer in {none}" if none else text


if __name__ == "__main__":
    main(sys.argv[1].split(",") if len(sys.argv) > 1 else list(FEET))
