"""Every order on trees that are large for most: fill, height, time and accuracy.

    python benchmarks/orders.py [--n 2e3] [--trees chain,random] [--rounds 5] [--only abm,...]

Plan, and the first solution, which traces the order, in processor seconds; factor and solve after
them in processor seconds, the least of a few rounds, with the checks of the answer, and ``from q`` with
``system.refresh`` before.  CHOLMOD (which cvxopt brings) and
SuperLU factor and solve in ABM's order.  At last the most memory that the process had.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from large_trees import chain, random_tree
from solvers import Problem, Solver, cholmod_given, prepared, superlu_given

from pivotree import kkt, orderings

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


Made = TypeVar("Made")


def least(task: Callable[[], object], rounds: int) -> float:
    """Processor seconds of a task."""
    return min(timed(task)[0] for _ in range(rounds))


def timed(make: Callable[[], Made]) -> tuple[float, Made]:
    start = time.process_time()
    made = make()
    return time.process_time() - start, made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=float, default=2e3)
    parser.add_argument("--trees", default="chain,random")
    parser.add_argument("--only", default=",".join(ORDERS))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    for tree in asked.trees.split(","):
        system = TREES[tree](int(asked.n))
        run(tree, system, [name for name in asked.only.split(",") if name], asked.rounds)
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def run(tree: str, system: kkt.System, names: list[str], rounds: int) -> None:
    structure = system.structure
    small = TREES[tree](50)  # compiles
    makes = {name: partial(kkt.plan, orderings.get(name)) for name in names}
    print(f"{tree} of {structure.n:,} bodies")
    print("| order | plan | first | fill / n | height | solve | from q | error |")
    print("|---|---|---|---|---|---|---|---|")
    q = system.state.q, system.state.qd, system.state.tau
    for name, make in makes.items():
        kkt.solve_large(small, make(small.structure))
        planned, plan = timed(partial(make, structure))
        factor = kkt.symbolic(plan)
        solve = partial(kkt.solve_large, system, plan)
        took, found = timed(solve)
        renewed = least(lambda plan=plan: kkt.solve_large(system.refresh(*q), plan), rounds)
        error = found.backward_error.normwise
        print(
            f"| `{name}` | {planned:.2f} s | {took:.2f} s | {factor.fill_blocks / structure.n:.2f} | "
            f"{factor.height} | {least(solve, rounds):.4f} s | {renewed:.4f} s | {error:.1e} |",
            flush=True,
        )
    problem = Problem(system.matrix, system.rhs, kkt.permutation(system))
    for peer, solver in PEERS.items():
        call, _, note = prepared(peer, problem, solver)
        if call is None:
            print(f"{peer}: {note}")
            continue
        print(f"{peer}: {least(call, rounds):.3f} s ({solver.includes})", flush=True)


if __name__ == "__main__":
    main()
