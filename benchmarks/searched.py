"""The order that pivotree.search finds for a robot, beside CRBM and ABM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from rows import Peer, Row, compared

from pivotree import analysis, kkt, orderings
from pivotree.analysis import states
from pivotree.kkt.model import robots_folder

CLASSICS = ("crbm", "abm")
# operations of a first search, and of CRBM and ABM with inertias of 6 x 6 numbers, by which a search has
# to win at least
FIRST = {
    "panda": (3638, 4136, 3818),
    "anymal": (5299, 5469, 5903),
    "talos": (19701, 33467, 21091),
    "tiago_dual": (42396, 74882, 44836),
}
STATES = 256  # of one batch
CHECKED = 3  # states whose error is found


def rows(names: tuple[str, ...], rounds: int) -> Iterator[Row]:
    """Operations from the entries of (4) to qdd, and the time of a state in a batch, float64."""
    for name in names:
        if not robots_folder():
            yield Row(f"{name}: searched order", note="example-robot-data is not installed")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kkt.MimicWarning)
            warnings.simplefilter("ignore", kkt.InertiaWarning)
            yield from _beside(name, kkt.build(kkt.load(f"robot:{name}", merge_fixed=False)), rounds)


def _beside(name: str, system: kkt.System, rounds: int) -> Iterator[Row]:
    found = analysis.search(system, composites="rigid")
    best = kkt.trace(system, found.sequence)
    dense = {order: kkt.trace(system, orderings.get(order), "general") for order in CLASSICS}
    ten = {order: kkt.trace(system, orderings.get(order)) for order in CLASSICS}
    first, *others = FIRST[name]
    for k, order in enumerate(CLASSICS):
        for words, tapes, target in ((DENSE, dense, first / others[k]), (TEN, ten, None)):
            theirs = tapes[order].flops
            yield Row(
                f"{name}: searched order",
                best.flops,
                None,
                order.upper() + words,
                theirs,
                None,
                best.flops / theirs,
                target=target,
                unit="operations",
            )
    tapes = [best, *ten.values()]
    calls = [_batch(kkt.compile(system, tape)) for tape in tapes]
    wrong = _errors(system, tapes)
    peers = {
        order.upper() + TEN: Peer(call, error)
        for order, call, error in zip(CLASSICS, calls[1:], wrong[1:], strict=True)
    }
    work = f"{name}: searched order, {STATES} states"
    yield from compared(work, calls[0], peers, rounds, error=wrong[0])


TEN, DENSE = ", inertias of ten numbers", ", inertias of 6 x 6 numbers"


def _batch(kernel: kkt.Kernel) -> partial:
    draw = np.random.default_rng(0)
    x = np.tile(kernel.configuration(), (STATES, 1)) + draw.uniform(-1, 1, (STATES, 1))
    return partial(kernel, x, *draw.standard_normal((2, STATES, kernel.N)))


def _errors(system: kkt.System, tapes: list) -> list[float]:
    """Largest error of qdd of each tape in float64 over random states."""
    ranges = states.ranges_of(system)
    drawn = [states.system_at(system, ranges, 0, number) for number in range(CHECKED)]
    exact = [kkt.certify(here, 20) for here in drawn]
    found = [[x.error(kkt.eliminate(x.system, tape).qdd) for x in exact] for tape in tapes]
    return [float(np.max(errors)) for errors in found]
