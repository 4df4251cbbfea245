"""Every order that is feasible on large trees: fill, height, time in one and two threads, accuracy.

    python benchmarks/orders.py [--n 1e5] [--trees chain,random] [--rounds 5] [--only abm,...]

Plan and analysis (symbolic factor, subtrees and storage) in processor seconds; factor and solve
after them in processor seconds of one thread, then in wall time of one and of two: the least of a
few rounds taken in turn.  "can" is what subtrees leave for any number of threads: the work over
that of the top and of the largest share.  CHOLMOD (which cvxopt brings) and SuperLU factor and
solve in ABM's order and in nested dissection's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from large_trees import chain, random_tree
from scale import order_of
from solvers import Problem, Solver, cholmod_given, prepared, superlu_given

from pivotree import kkt, orderings
from pivotree.kkt.scale.numeric import analyse
from pivotree.kkt.scale.schedule import schedule

TREES = {"chain": chain, "random": random_tree}
ORDERS = (
    "abm",
    "bad_abm",
    "lagrange",
    "minimum_degree",
    "virtual_work",
    "virtual_work_split",
    "constraint_force",
    "divide_and_conquer",
    "base_to_tip",
    "natural",
)
PEERS = {
    "CHOLMOD": Solver(cholmod_given, "numeric factor, solve"),
    "SuperLU": Solver(superlu_given, "analysis, numeric factor, solve; no pivoting"),
}


def least(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Processor seconds and wall seconds of each task, all of them in turn."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            used, start = time.process_time(), time.perf_counter()
            task()
            times[name].append((time.process_time() - used, time.perf_counter() - start))
    return {name: [min(t) for t in zip(*pairs, strict=True)] for name, pairs in times.items()}


def timed(make: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    made = make()
    return time.process_time() - start, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=float, default=1e5)
    parser.add_argument("--trees", default="chain,random")
    parser.add_argument("--only", default=",".join(ORDERS))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for tree in asked.trees.split(","):
        system = TREES[tree](int(asked.n))
        run(tree, system, [name for name in asked.only.split(",") if name], asked.rounds)


def run(tree: str, system: kkt.System, names: list[str], rounds: int) -> None:
    structure = system.structure
    small = TREES[tree](50)  # compiles
    makes: dict[str, Callable[[kkt.Structure], object]] = {
        "abm (solve_large)": lambda s: None,
        "nested_dissection": kkt.nested_dissection,
        **{name: partial(kkt.plan, orderings.get(name)) for name in names},
    }
    print(f"{tree} of {structure.n:,} bodies")
    print("| order | plan | analysis | fill / n | height | solve | wall, 1 and 2 | can | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, make in makes.items():
        kkt.solve_large(small, make(small.structure), threads=2)
        planned, plan = timed(lambda make=make: make(structure))
        took, analysis, told, can = 0.0, None, " | ", ""
        if plan is not None:
            took, analysis = timed(lambda plan=plan: analyse(plan))
            factor = kkt.symbolic(plan)
            first = np.searchsorted(plan.group, np.arange(plan.groups + 1))
            can = f"{schedule(factor, first).speed_up:.1f}"
            told = f"{factor.fill_blocks / structure.n:.2f} | {factor.height}"
        tasks = {
            str(threads): partial(kkt.solve_large, system, analysis, threads=threads) for threads in (1, 2)
        }
        one, two = (task() for task in tasks.values())
        if not np.array_equal(one.unknowns, two.unknowns):
            raise ArithmeticError(f"{name}: two threads give other bits than one")
        times = least(tasks, rounds)
        left = one.backward_error.normwise
        print(
            f"| `{name}` | {planned:.2f} s | {took:.2f} s | {told} | {times['1'][0]:.3f} s | "
            f"{times['1'][1]:.2f}, {times['2'][1]:.2f} s | {can} | {left:.1e} |",
            flush=True,
        )
    for name in ("leaf_to_root", "nested_dissection"):
        problem = Problem(system.matrix, system.rhs, order_of(system, getattr(kkt, name)(structure)))
        for peer, solver in PEERS.items():
            call, _, note = prepared(peer, problem, solver)
            if call is None:
                print(f"{peer}, {name}: {note}")
                continue
            seconds = least({peer: call}, rounds)[peer]
            print(f"{peer}, {name}: {seconds[0]:.3f} s ({solver.includes})", flush=True)


if __name__ == "__main__":
    main()
