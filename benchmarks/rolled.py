"""Programs rolled up beside the same programs in one line: the table of docs/machine.md.

``python benchmarks/rolled.py [--format float32]``; times are the least of some rounds in turn.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt.machine.native import Native, compiled, width
from pivotree.kkt.machine.rolled import Rolled, rolled
from pivotree.kkt.machine.scalar_program import ScalarProgram

CASES: dict[str, tuple[str, Any]] = {
    "chain 100": ("abm", lambda: kkt.chain(100)),
    "chain 300": ("bad_abm", lambda: kkt.chain(300)),
    "chain 1000": ("abm", lambda: kkt.chain(1000)),
    "chain 50": ("crbm", lambda: kkt.chain(50)),
    "chain 300, in halves": ("divide_and_conquer", lambda: kkt.chain(300)),
    "comb 100": ("abm", lambda: kkt.comb(100)),
    "humanoid": ("abm", kkt.humanoid),
    "random 300, revolute": ("abm", lambda: kkt.random_tree(300, 0, joints="revolute")),
    "random 300, all joints": ("abm", lambda: kkt.random_tree(300, 0)),
}
HEAD = (
    "| tree, order | operations | in functions | called | LLVM | straight | one state | straight "
    "| vectors | straight |\n|---|---|---|---|---|---|---|---|---|---|"
)
ROUNDS, FEW, MANY = 9, 4, 64  # states, alone and in vectors


def row(name: str, format: str) -> str:
    order, tree = CASES[name]
    kernel = kkt.compile(tree(), orderings.get(order), format)
    loop = kernel.rolled or rolled(kernel.straight)
    ways: tuple[Rolled | ScalarProgram, ...] = loop, kernel.straight
    dtype, sizes = kernel.number.dtype, kernel.fields.sizes
    lanes = width() // np.dtype(dtype).itemsize
    made, spent = [], []
    for way in ways:
        start = time.process_time()
        one = compiled(way, dtype, 1, sizes)
        spent.append(time.process_time() - start)
        made.append((one, compiled(way, dtype, lanes, sizes)))
    least = np.full((2, 2), np.inf)
    for _ in range(ROUNDS):
        for i, pair in enumerate(made):
            for j, (native, m) in enumerate(zip(pair, (FEW, MANY), strict=True)):
                least[i, j] = min(least[i, j], _seconds(native, sizes, m))
    (one, vector), (one_straight, vector_straight) = (1e6 * least).tolist()
    return (
        f"| {name}, {order} | {len(kernel.straight):,} | {loop.code:,} | {loop.calls:,} "
        f"| {spent[0]:.2f} s | {spent[1]:.2f} s | {one:.0f} us | {one_straight:.0f} us "
        f"| {vector:.1f} us | {vector_straight:.1f} us |"
    )


def _seconds(native: Native, sizes: tuple[int, ...], m: int) -> float:
    """Of one state among m."""
    dtype = native.constants.dtype
    draw = np.random.default_rng(0)
    given = [draw.normal(size=(m, size)).astype(dtype) for size in sizes]
    out = np.empty((m, native.outputs), dtype=dtype)
    start = time.perf_counter()
    native.run(given, out)
    return (time.perf_counter() - start) / m


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", default="float64", choices=("float64", "float32"))
    chosen = parser.parse_args().format
    print(HEAD)
    for case in CASES:
        print(row(case, chosen), flush=True)
