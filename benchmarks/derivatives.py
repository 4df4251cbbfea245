"""Digits of the derivatives of qdd by order and format, and what they cost: docs/derivatives.md.

``python benchmarks/derivatives.py [MODEL ...] [--format float32] [--orders abm,crbm] [--states 3]``
prints the worst error of qdd and of its three matrices over random states, each relative to the
largest entry, against 50 proved digits for the model's doubles.  ``--stored`` takes the state that
the model brings, and counts operations of qdd and of the three matrices.
``--robots 60`` takes every robot of example-robot-data with so many freedoms at most, fixed and
floating; it needs the extra ``robots``.  A MODEL ``feet:anymal`` is that
robot on its feet, floating (:mod:`multipliers`).  Models with loops have three columns more, of the
matrices of lambda.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
from multipliers import standing
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.states import draw, ranges_of, system_at
from pivotree.kkt.model import robot_files

MODELS = ("chain:12", "quadruped", "humanoid")
ORDERS = "abm,gain_abm,joseph_abm,crbm"
FIELDS = ("qdd", "dq", "dqd", "dtau")


def parts(found: kkt.Derivatives) -> list[NDArray]:
    """qdd and its matrices, and those of lambda where there are loops."""
    own = [getattr(found, name) for name in FIELDS]
    return own if found.dlam is None else [*own, *(getattr(found.dlam, x) for x in FIELDS[1:])]


def proved(system: kkt.System) -> list[NDArray]:
    """All of them, doubles next to 50 digits."""
    found = parts(kkt.derivatives(system, orderings.get("abm"), "ball:50"))
    return [np.array([float(x.mid()) for x in matrix.flat]) for matrix in found]


def errors(system: kkt.System, order: str, format: str, exact: list[NDArray]) -> list[float]:
    """Largest difference over the largest entry; infinite where there is no answer."""
    try:
        found = parts(kkt.derivatives(system, orderings.get(order), format))
    except kkt.SingularError:
        return [np.inf] * len(exact)
    told = []
    for own, right in zip(found, exact, strict=True):
        off = np.abs(own.astype(float).ravel() - right).max()
        told.append(float(off / (np.abs(right).max() or 1.0)))
    return told


def counted(system: kkt.System, order: str) -> list[int]:
    """Operations of qdd, and of the three matrices, qdd included."""
    own = orderings.get(order)
    matrices = kkt.derivatives(system, own).operations
    return [kkt.trace(system, own).flops, matrices]


def systems(tree: nx.DiGraph, states: int, stored: bool) -> list[kkt.System]:
    if stored:
        return [kkt.build(tree)]
    ranges = ranges_of(kkt.build(tree))
    system = kkt.build(tree, *draw(ranges, 1, 0)[:2])
    return [system_at(system, ranges, 1, number) for number in range(states)]


def robots(most: int) -> Iterator[tuple[str, nx.DiGraph]]:
    """Every file once, fixed and floating."""
    paths: dict[Path, str] = {}
    for name, (path, _) in robot_files().items():
        paths.setdefault(path, name)
    for path, name in sorted(paths.items(), key=lambda item: item[1]):
        for floating in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # mimic joints are free, inertias as they stand
                try:
                    tree = kkt.read_urdf(path, floating, True, "free")
                except kkt.ModelError:  # a rotor craft that is held still: no body is left
                    continue
                few = 0 < kkt.compile_tree(tree).N <= most
            if few:
                yield f"{name}{', floating' if floating else ''}", tree


def loaded(models: Iterable[str]) -> Iterator[tuple[str, nx.DiGraph]]:
    for name in models:
        if name.startswith("feet:"):
            held = standing(name.removeprefix("feet:"))
            held.graph.graph["loops"] = held.loops
            yield name, held.graph
        else:
            yield name, kkt.load(name, merge_fixed=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--format", default="float32")
    parser.add_argument("--orders", default=ORDERS)
    parser.add_argument("--states", type=int, default=3)
    parser.add_argument("--stored", action="store_true", help="the state that the model brings")
    parser.add_argument("--robots", type=int, default=0, metavar="FREEDOMS")
    asked = parser.parse_args()
    more = ("of qdd", "of the matrices") if asked.stored else ()
    heads: tuple[str, ...] = ()
    for name, tree in robots(asked.robots) if asked.robots else loaded(asked.models or MODELS):
        some = systems(tree, asked.states, asked.stored)
        lam = [f"lambda, {x}" for x in FIELDS[1:]] if some[0].loops else []
        if heads != (heads := ("model", "order", *FIELDS, *lam, *more)):
            print("| " + " | ".join(heads) + " |\n|---|---|" + "---:|" * (len(heads) - 2))
        exact = [proved(system) for system in some]
        for order in asked.orders.split(","):
            pairs = zip(some, exact, strict=True)
            found = [errors(system, order, asked.format, right) for system, right in pairs]
            worst = np.max(found, axis=0)
            cells = [f"{x:.0e}" if np.isfinite(x) else "no answer" for x in worst]
            cells += [f"{count:,}" for count in counted(some[0], order)] if asked.stored else []
            print(f"| {name} | `{order}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
