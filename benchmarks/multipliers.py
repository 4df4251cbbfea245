"""Digits of qdd by where multipliers stand: robots on their feet, in float32.

``python benchmarks/multipliers.py [-o FOLDER] [--fixed] [ROBOT,...]`` prints the table of
docs/loops.md, median and worst error over random states against certified solutions, and draws its
picture into a folder, light and dark; it needs the extra ``robots``.  Bases float, or with
``--fixed`` are held by the world.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from pivotree import kkt
from pivotree.analysis.comparison import Placement, placements
from pivotree.analysis.figures import multiplier_digits, save

FEET = {
    "anymal": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "go2": ("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    "talos": ("left_sole_link", "right_sole_link"),
}


def standing(name: str, fixed: bool = False) -> kkt.System:
    """The robot with all its feet held by sticking contacts, three rows each."""
    tree = kkt.load(f"robot:{name}", floating=not fixed, merge_fixed=True)
    across = np.eye(3)[:2]
    feet = [kkt.contact(foot, (0, 0, 0), tangents=across, name=foot) for foot in FEET[name]]
    return kkt.build(tree, loops=feet)


def table(found: dict[str, list[Placement]]) -> None:
    """Median / worst, and how many states have no answer."""
    orders = list(dict.fromkeys(p.order for p in next(iter(found.values()))))
    print("| robot | compliance | " + " | ".join(f"`{order}`" for order in orders) + " |")
    print("|---|---:|" + "---:|" * len(orders))
    for name, some in found.items():
        for compliance in dict.fromkeys(p.compliance for p in some):
            cells = [told(p) for p in some if p.compliance == compliance]
            print(f"| {name} | {compliance:g} | {' | '.join(cells)} |")


def told(one: Placement) -> str:
    if not one.errors:
        return "needs compliance"
    if not one.answers:
        return f"no answer in {one.unanswered}"
    text = f"{np.median(one.answers):.0e} / {one.answers[-1]:.0e}"
    return f"{text}; no answer in {one.unanswered}" if one.unanswered else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="?", default=",".join(FEET))
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--fixed", action="store_true", help="bases do not float")
    asked = parser.parse_args()
    found = {
        f"{name}, {len(FEET[name])} feet": placements(standing(name, asked.fixed))
        for name in asked.robots.split(",")
    }
    table(found)
    if asked.output is not None:
        for style, ending in (("light", ""), ("dark", "_dark")):
            save(multiplier_digits(found, style=style), asked.output / f"multipliers{ending}.png")


if __name__ == "__main__":
    main()
