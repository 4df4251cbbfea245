"""Cost against the number of bodies: time, memory and fill, with exponents fitted to them."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from large_trees import chain, random_tree
from numpy.typing import NDArray
from rows import Row, alone, in_turn
from scale import mujoco_forward
from solvers import Problem, prepared

from pivotree import kkt
from pivotree.kkt.matrix import PDD, QDD, F

TREES = {"chain": chain, "random tree": random_tree}
LINEAR = (1.0, 0.05)
LARGE = 10_000


@dataclass(frozen=True)
class Curve:
    """One cost over the number of bodies."""

    of: str  # "time" [s], "memory" [bytes] or "fill" [blocks]
    name: str
    n: list[int]
    cost: list[float]

    @property
    def exponent(self) -> float:
        """Slope of the line that is closest, in least squares, to log cost over log n."""
        return float(np.polyfit(np.log(self.n), np.log(self.cost), 1)[0])


def sizes(largest: int) -> list[int]:
    """1e2, 3e2, 1e3, ... up to the largest."""
    return [n for k in range(2, 9) for n in (10**k, 3 * 10**k) if n <= largest]


def curves(largest: int, rounds: int) -> Iterator[Curve | Row]:
    """Articulated bodies on two trees, beside solvers and a composite method on chains."""
    for name, make in TREES.items():
        times, whole, memory = [], [], []
        for n in sizes(largest):
            system = make(n)
            task = {"": lambda s=system: kkt.solve_large(s)}
            task["whole"] = lambda n=n, make=make: kkt.solve_large(make(n))
            taken = in_turn(task, rounds)
            times.append(float(np.median(taken[""])))
            whole.append(float(np.median(taken["whole"])))
            memory.append(float(_allocated(make, n)))
        for of, cost in (("time", times), ("memory", memory)):
            curve = Curve(of, f"ABM, {name}", sizes(largest), cost)
            yield curve
            yield _exponent(curve, f"exponent of {of}, ABM, {name}", LINEAR)
        if largest > LARGE:  # where the call's fixed part is none of it; and the whole from 1000 on, too
            what, wholly = f"exponent of time, ABM, {name}", f"exponent of time from arrays to qdd, {name}"
            for work, cost, least in (what, times, LARGE), (wholly, whole, 1000), (wholly, whole, LARGE):
                late = [k for k, n in enumerate(sizes(largest)) if n >= least]
                rest = Curve("time", "", [sizes(largest)[k] for k in late], [cost[k] for k in late])
                yield _exponent(rest, work, LINEAR)
        yield peak(name, largest)
    for name, most in (("CHOLMOD L D L^T, ABM order", largest), ("SuperLU, default", min(largest, 100_000))):
        yield from _solver(name, sizes(most), rounds)
    yield from _composite(rounds)


def _exponent(curve: Curve, work: str, about: tuple[float, float]) -> Row:
    ends = f"n = {curve.n[0]:,} to {curve.n[-1]:,}"
    return alone(f"{work}, {ends}", curve.exponent, about=about, unit="")


def _solver(name: str, chosen: list[int], rounds: int) -> Iterator[Curve]:
    cost: list[float] = []
    for n in chosen:
        system = chain(n)
        call, _, _ = prepared(name, Problem(system.matrix, system.rhs, kkt.permutation(system)))
        if call is None:
            return
        cost.append(float(np.median(in_turn({"": call}, rounds)[""])))
    yield Curve("time", f"{name}, chain", chosen, cost)


def _composite(rounds: int) -> Iterator[Curve]:
    """MuJoCo's composite rigid bodies, as far as its depth goes."""
    chosen, cost = sizes(1000), []
    for n in chosen:
        forward, _ = mujoco_forward(kkt.chain(n))
        if forward is None:
            return
        cost.append(float(np.median(in_turn({"": forward}, rounds)[""])))
    yield Curve("time", "CRBM in MuJoCo, chain", chosen, cost)


def fill(largest: int) -> Iterator[Curve | Row]:
    """Blocks that fill on a chain, counted by eliminating on structure, and the closed formulas."""
    plans: dict[str, tuple[Callable, Callable[[int], int], str, float]] = {
        "CRBM": (composite, lambda n: n * (n - 1), "n (n - 1)", 2.0),
        "ABM": (kkt.leaf_to_root, lambda n: n - 1, "n - 1", 1.0),
    }
    for name, (order, formula, words, power) in plans.items():
        chosen = sizes(min(largest, 3000) if name == "CRBM" else largest)  # a factor that is listed
        counted = [kkt.symbolic(order(_chain(n))).fill_blocks for n in chosen]
        wrong = sum(abs(c - formula(n)) for n, c in zip(chosen, counted, strict=True))
        curve = Curve("fill", f"{name}, chain", chosen, [float(c) for c in counted])
        yield curve
        words = {"CRBM": "n (n - 1)", "ABM": "n - 1"}[name]
        yield alone(f"fill of {name} on chains: counted less {words}", wrong, target=0, unit="blocks")
        yield _exponent(curve, f"exponent of fill, {name}, chain", (power, 0.05))


def _chain(n: int) -> kkt.Structure:
    return kkt.Structure(tuple(range(n)), np.arange(-1, n - 1), np.ones(n, dtype=np.int64))


def composite(structure: kkt.Structure) -> object:
    """The composite rigid body method's plan from arrays, bodies numbered base to tip."""
    n = structure.n
    tip: NDArray = np.arange(n)[::-1]
    kinds = np.concatenate([np.tile([PDD, F], n), np.full(n, QDD)])
    group = np.concatenate([np.repeat(np.arange(n), 2), n + np.arange(n)])
    bodies = np.concatenate([np.repeat(tip, 2), tip])
    return kkt.plan_from_arrays(structure, kinds, bodies, group, name="crbm")


def _allocated(make: Callable[[int], kkt.System], n: int) -> int:
    """Bytes that Python and numpy hold at most while building, factoring and solving."""
    tracemalloc.start()
    try:
        kkt.solve_large(make(n))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def peak(name: str, n: int) -> Row:
    """Memory of a process of its own that does nothing else."""
    command = [sys.executable, __file__, name, str(n)]
    paths = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=paths)
    work = f"memory of a process, build, factor and solve, {name} {n:,}"
    return alone(work, float(run.stdout), target=8.0, unit="GB")


def _status(field: str) -> int:
    """Bytes; unlike getrusage's, the high-water mark is of this process alone (Linux)."""
    path = Path("/proc/self/status")
    if not path.exists():
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024)
    return 1024 * int(next(t for t in path.read_text().splitlines() if t.startswith(field)).split()[1])


if __name__ == "__main__":
    kkt.solve_large(TREES[sys.argv[1]](int(sys.argv[2])))
    print(_status("VmHWM") / 1e9)
