"""Trees of up to a million bodies: time, memory and accuracy, beside sparse solvers and simulators.

    python benchmarks/scale.py [--largest 1e6] [--repeat 5] [--peak N]

Processor seconds, medians of runs taken in turn; ratios are ours / the peer's in the same run.
Peers that are not installed are left out (cvxopt brings CHOLMOD; pypardiso; mujoco).  Results go
to benchmarks/results/scale-DATE.json, and scale_plot.py draws them.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from large_trees import chain, random_tree

import kkt
from kkt.elimination.large import residual_of

RESULTS = Path(__file__).parent / "results"
Times = dict[str, float]
VERSIONS = ("numpy", "scipy", "numba", "cvxopt", "pypardiso", "mujoco")


def medians(tasks: dict[str, Callable[[], object]], repeat: int, of: Any = np.median) -> Times:
    """Processor seconds of each task, all of them in turn; ``of`` the runs, the median."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeat):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            times[name].append(time.process_time() - start)
    return {name: float(of(t)) for name, t in times.items()}


def told(what: str, **numbers: Any) -> dict[str, Any]:
    text = ", ".join(
        f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in numbers.items()
    )
    print(f"{what}: {text}", flush=True)
    return {"what": what, **numbers}


def fresh_matrix(system: kkt.System) -> sp.csc_array:
    """Equation (4) assembled anew: structure and values."""
    system.__dict__.pop("matrix", None)
    return system.matrix


def assembly(n: int, repeat: int) -> dict[str, Any]:
    system = chain(n)
    matrix = fresh_matrix(system)
    tasks = {"ours": lambda: fresh_matrix(system), "copy": lambda: matrix.copy()}
    times = medians(tasks, repeat, of=np.min)  # of a copy the best: pages may have to be made
    ratio = times["ours"] / times["copy"]
    return told(f"assemble chain {n}", **times, entries=int(matrix.nnz), ratio=ratio)


def order_of(system: kkt.System) -> np.ndarray:
    """Unknowns in the order of the articulated body method: pdd, f, qdd, children first."""
    tree, n = system.tree, system.tree.n
    plan = kkt.leaf_to_root(system.structure)
    start = np.zeros(plan.graph.count, dtype=np.int64)
    N = int(tree.offset[-1])
    start[:n], start[n : 2 * n] = 6 * np.arange(n), 6 * n + tree.offset[:-1]
    start[2 * n : 3 * n] = 6 * n + N + 6 * np.arange(n)
    size = plan.graph.size[plan.blocks]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return np.repeat(start[plan.blocks], size) + within


def symbolic_counts(n: int, repeat: int) -> dict[str, Any]:
    """Plan, elimination tree, column counts, fill and height of the articulated body method."""
    system = random_tree(n)

    def ours() -> kkt.SymbolicFactor:
        structure = kkt.Structure(system.tree.names, system.tree.parent, system.tree.dof)
        factor = kkt.symbolic(kkt.leaf_to_root(structure))
        _ = factor.fill_blocks, factor.fill_entries, factor.flops, factor.height
        return factor

    factor = ours()
    counts = {"fill_blocks": factor.fill_blocks, "height": factor.height, "flops": factor.flops}
    times = medians({"ours": ours}, repeat)
    try:
        from cholmod import Cholmod
    except ImportError:
        return told(f"symbolic counts random tree {n}", **times, **counts)
    cholmod = Cholmod(system.matrix, order_of(system))
    cholmod.analyze()
    times |= medians({"cholmod": cholmod.analyze}, repeat)
    ratio = times["ours"] / times["cholmod"]
    return told(f"symbolic counts random tree {n}", **times, **counts, ratio=ratio)


def solved(system: kkt.System, x: np.ndarray) -> dict[str, float]:
    """Backward error of a solution, and qdd's distance from ours."""
    left = residual_of(system, x)
    n, N = system.tree.n, len(system.entries.tau)
    qdd, ours = x[6 * n : 6 * n + N], kkt.solve_large(system).qdd
    off = np.abs(qdd - ours).max() / np.abs(ours).max()
    return {"backward": left.normwise, "componentwise": left.componentwise, "from_ours": float(off)}


def factor_and_solve(n: int, repeat: int) -> list[dict[str, Any]]:
    system = chain(n)
    K, r = system.matrix, system.rhs
    tasks: dict[str, Callable[[], Any]] = {"ours": lambda: kkt.solve_large(system).unknowns}
    tasks["SuperLU, default"] = lambda: spla.splu(K).solve(r)
    order = order_of(system)
    if n <= 100_000:
        P = K[order][:, order].tocsc()

        def given() -> np.ndarray:
            factor = spla.splu(P, permc_spec="NATURAL", diag_pivot_thresh=0.0,
                               options={"SymmetricMode": True})  # fmt: skip
            x = np.empty_like(r)
            x[order] = factor.solve(r[order])
            return x

        tasks["SuperLU, ABM order"] = given
    try:
        from cholmod import Cholmod

        simplicial = Cholmod(K, order)
        simplicial.analyze()
        tasks["CHOLMOD LDL^T, ABM order"] = lambda: simplicial.solve(r)
    except ImportError:
        pass
    try:
        import pypardiso

        upper = sp.triu(K, format="csr")

        def pardiso() -> np.ndarray:
            solver = pypardiso.PyPardisoSolver(mtype=-2)
            x = solver.solve(upper, r)  # analysis, factor and solve
            solver.free_memory(everything=True)
            return x

        tasks["PARDISO LDL^T"] = pardiso
    except ImportError:
        pass
    accuracy = {name: solved(system, task()) for name, task in tasks.items()}
    times = medians(tasks, repeat)
    return [
        told(
            f"factor + solve chain {n}", by=name, time=t, ratio=times["ours"] / t, **accuracy[name]
        )
        for name, t in times.items()
    ]


def one_state(n: int, repeat: int) -> list[dict[str, Any]]:
    """qdd of one state from q, qd, tau: kinematics, bias, entries of (4), factor and solve."""
    graph = kkt.chain(n)
    system = kkt.build(graph)
    q, qd, tau = (graph.graph[key] for key in ("q", "qd", "tau"))
    tasks: dict[str, Callable[[], Any]] = {
        "ours": lambda: kkt.solve_large(system.refresh(q, qd, tau)).qdd,
        "ours, from the entries": lambda: kkt.solve_large(system).qdd,
    }
    K, r, N = system.matrix, system.rhs, len(tau)
    tasks["SuperLU on (4)"] = lambda: spla.splu(K).solve(r)[6 * n : 6 * n + N]
    try:
        from simulators import mujoco_forward

        if n <= 1000:
            tasks["MuJoCo mj_forward"] = mujoco_forward(graph)
    except ImportError:
        pass
    exact = tasks["ours"]()
    off = {k: float(np.abs(t() - exact).max() / np.abs(exact).max()) for k, t in tasks.items()}
    times = medians(tasks, repeat)
    return [
        told(
            f"one state, chain {n}",
            by=name,
            time=t,
            ratio=times["ours"] / t,
            ratio_of_elimination=times["ours, from the entries"] / t,
            qdd_from_ours=off[name],
        )
        for name, t in times.items()
    ]


def growth(make: Callable[[int], kkt.System], name: str, largest: int) -> dict[str, Any]:
    """Time of factor and solve, and its arrays' bytes, over n; slopes of log against log."""
    sizes = [n for n in (10**k for k in range(2, 7)) if n <= largest]
    times, memory, error = [], [], []
    for n in sizes:
        system = make(n)
        kkt.solve_large(system)
        times.append(medians({"x": lambda s=system: kkt.solve_large(s)}, 5 + 10**5 // n)["x"])
        memory.append(_peak(name, n))
        error.append(kkt.solve_large(system).residual.normwise)
    last = slice(max(len(sizes) - 3, 0), None)  # below, memory is that of the libraries
    slope = {
        "time_exponent": float(np.polyfit(np.log(sizes[1:]), np.log(times[1:]), 1)[0]),
        "memory_exponent": float(np.polyfit(np.log(sizes[last]), np.log(memory[last]), 1)[0]),
    }
    return told(f"growth, {name}", n=sizes, times=times, memory=memory, backward=error, **slope)


def _peak(name: str, n: int) -> float:
    """Bytes that building, factoring and solving take at most, above an idle process."""
    command = [sys.executable, __file__, "--peak", str(n), "--tree", name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def peak(name: str, n: int) -> None:
    kkt.solve_large(TREES[name](10))
    kkt.solve_large(TREES[name](2000))
    before = _status("VmRSS")
    kkt.solve_large(TREES[name](n))
    print(max(_status("VmHWM") - before, 0))


def _status(field: str) -> int:
    """Bytes; unlike getrusage's, the high-water mark is of this process alone (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


TREES = {"chain": chain, "random tree": random_tree}


def versions() -> dict[str, str]:
    found = {}
    for package in VERSIONS:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=float, default=1e6)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peak", type=int)
    parser.add_argument("--tree", default="chain", choices=TREES)
    chosen = parser.parse_args()
    if chosen.peak:
        peak(chosen.tree, chosen.peak)
        return
    largest, repeat = int(chosen.largest), chosen.repeat
    rows: list[dict[str, Any]] = []
    rows += [assembly(n, repeat) for n in (100_000, 1_000_000) if n <= largest]
    rows += [row for n in (1000, 10_000) for row in one_state(n, repeat)]
    rows += factor_and_solve(min(largest, 100_000), repeat)
    rows.append(symbolic_counts(largest, repeat))
    rows += [growth(make, name, largest) for name, make in TREES.items()]
    date = datetime.date.today().isoformat()
    machine = {"processor": platform.processor() or platform.machine(), "versions": versions(),
               "python": platform.python_version()}  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"scale-{date}.json"
    path.write_text(json.dumps({"date": date, "machine": machine, "rows": rows}, indent=1) + "\n")
    print(path)


if __name__ == "__main__":
    main()
