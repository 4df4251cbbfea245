"""Long chains and large trees: assembly, counts, factor and solve, beside sparse solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from accuracy import backward_error, distance, joints, refined
from large_trees import chain, random_tree
from long_double import forward_dynamics
from numpy.typing import NDArray
from rows import Peer, Row, alone, compared
from solvers import SOLVERS, Problem, prepared

from pivotree import kkt, orderings


def assembly(sizes: tuple[int, ...], rounds: int) -> Iterator[Row]:
    """Equation (4) of a further state, from its entries to compressed columns."""
    for n in sizes:
        system = chain(n)
        matrix = system.matrix
        peer = Peer(matrix.copy, target=3.0, note="data, indices and pointers into new arrays")
        work = f"assemble (4), chain {n:,}"
        yield from compared(work, lambda s=system: _assembled(s), {"copy": peer}, rounds)


def _assembled(system: kkt.System) -> object:
    system.__dict__.pop("matrix", None)
    return system.matrix


def symbolic(n: int, rounds: int) -> Iterator[Row]:
    """Plan, elimination tree, column counts, fill and height of the articulated body method."""
    system = random_tree(n)
    tree = system.tree

    def ours() -> tuple[int, ...]:
        structure = kkt.Structure(tree.names, tree.parent, tree.dof)
        factor = kkt.symbolic(kkt.leaf_to_root(structure))
        return factor.fill_blocks, factor.fill_entries, factor.flops, factor.height

    peer = Peer(None, target=0.25, note="not installed")
    try:
        from cholmod import Cholmod

        factor = Cholmod(system.matrix, kkt.permutation(system))
        note = "elimination tree, postorder and counts of the scalar matrix; ours are of its blocks"
        peer = Peer(factor.analyze, target=0.25, note=note)
    except ImportError:
        pass
    work = f"symbolic counts, random tree {n:,}, ABM order"
    yield from compared(work, ours, {"CHOLMOD analyze, the same order": peer}, rounds)


TARGETS = {"CHOLMOD L D L^T, ABM order": 0.2, "SuperLU, default": 0.02}


def solve(n: int, rounds: int) -> Iterator[Row]:
    """Numeric factor and solution of (4) from its entries."""
    system = chain(n)
    work = f"factor + solve, chain {n:,}"
    problem = Problem(system.matrix, system.rhs, kkt.permutation(system))
    error = backward_error(system, kkt.solve_large(system).unknowns)
    yield alone(f"{work}: backward error", error, target=1e-15, unit="")
    fused = backward_error(system, kkt.solve_large(system, relaxed=True).unknowns)
    yield alone(f"{work}: backward error, relaxed", fused, target=1e-15, unit="")
    peers = {}
    for name in SOLVERS:
        call, x, note = prepared(name, problem)
        its = None if x is None else backward_error(system, x)
        peers[name] = Peer(call, its, TARGETS.get(name), note)
    yield from compared(work, lambda: kkt.solve_large(system).unknowns, peers, rounds, error=error)


def one_state(n: int, rounds: int) -> Iterator[Row]:
    """qdd of a chain, from q, qd and tau or from the entries of (4)."""
    graph = kkt.chain(n)
    system = kkt.build(graph)
    exact = refined(system)[joints(system)]
    call, x, note = prepared("SuperLU, default", Problem(system.matrix, system.rhs, np.arange(0)))
    its = None if x is None else distance(x[joints(system)], exact)
    superlu = {"SuperLU on (4)": Peer(call, its, 0.05, note)}
    error = distance(kkt.solve_large(system).qdd, exact)
    work = f"eliminate (4), chain {n:,}, one state"
    yield from compared(work, lambda: kkt.solve_large(system).qdd, superlu, rounds, error=error)
    q, qd, tau = (graph.graph[key] for key in ("q", "qd", "tau"))
    exact = forward_dynamics(system.tree, q, qd, tau)
    forward, note = mujoco_forward(graph)
    its = None if forward is None else distance(forward(), exact)
    peers = {"MuJoCo mj_forward": Peer(forward, its, 0.02, note)}
    for name, peer in superlu.items():
        its = None if x is None else distance(x[joints(system)], exact)
        peers[name] = replace(peer, error=its)
    kernel = kkt.compile(graph, orderings.get("abm"))
    if not kernel.in_machine_code:  # too long a program
        return
    x = kernel.configuration(q)
    work = f"qdd from q, qd, tau, chain {n:,}, compile"
    error = distance(kernel(x, qd, tau), exact)
    yield from compared(work, lambda: kernel(x, qd, tau), peers, rounds, error=error)


def mujoco_forward(graph: object) -> tuple[Callable[[], NDArray] | None, str]:
    """A call, and what it includes or why there is none."""
    if len(graph) > 1000:
        return None, "its depth limit is near 1024"
    try:
        from simulators import mujoco_forward
    except ImportError:
        return None, "not installed"
    return mujoco_forward(graph), "kinematics, composite inertia, its factor; no constraints"


def traced(n: int, rounds: int) -> Iterator[Row]:
    """float32 with the cancelled and absorbed bits of every pivot, beside an untraced factor."""
    import scipy.sparse.linalg as spla

    from pivotree.kkt.arithmetic import get_format
    from pivotree.kkt.rounding import observe

    system, format = kkt.build(kkt.chain(n)), get_format("float32")
    exact = refined(system)[joints(system)]
    tape = kkt.trace(system, orderings.get("abm"))
    K, r = system.matrix.astype(np.float32), system.rhs.astype(np.float32)
    notes = {
        "SuperLU, factor alone": (lambda: spla.splu(K), 1.0, "factor of (4) in float32"),
        "SuperLU, factor and solve": (lambda: spla.splu(K).solve(r), None, "the same, and qdd"),
    }
    its = distance(spla.splu(K).solve(r)[joints(system)], exact)
    peers = {name: Peer(task, its, target, note) for name, (task, target, note) in notes.items()}
    qdd = kkt.eliminate(system, tape, "float32", records=False).qdd
    yield from compared(
        f"traced float32 elimination, chain {n}, one state",
        lambda: observe(tape, system.entries, format),
        peers,
        rounds,
        error=distance(qdd, exact),
    )
