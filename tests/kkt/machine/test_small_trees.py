"""Kernels of every order and solver on small trees, fixed joints among them, against balls.

Every shape of tree to four bodies meets every mix of five joints: 2,780 trees.  To three bodies
each meets all orders and all solvers of the joint-space inertia, where an order leaves one; of four
bodies each meets both of those orders with one solver in turn, and one of the other orders in turn.
They run where PIVOTREE_EVERY_SMALL_TREE is set (ten minutes of one processor), a sample elsewhere:

    PIVOTREE_EVERY_SMALL_TREE=1 nice python -m pytest tests/kkt/machine/test_small_trees.py -n 2
"""

import os
from itertools import product

import numpy as np
import pytest
from helpers import Mechanics
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.interpreter import Interpreter
from pivotree.kkt.machine.joint_space import SOLVERS

KINDS = ("revolute", "prismatic", "fixed", "spherical", "floating")
SHAPES = [  # parents of trees, each shape once
    (-1,),
    (-1, 0),
    (-1, 0, 1),
    (-1, 0, 0),
    (-1, 0, 1, 2),
    (-1, 0, 1, 1),
    (-1, 0, 0, 1),
    (-1, 0, 0, 0),
]
EVERY = [(shape, kinds) for shape in SHAPES for kinds in product(KINDS, repeat=len(shape))]
SAMPLE = EVERY[:30] + EVERY[30::200]  # to two bodies each, and some
PARTS = 40  # of all trees, so that processes share them
ALL = "PIVOTREE_EVERY_SMALL_TREE" in os.environ
LEAVING = ("crbm", "crbm_block_row")  # orders that leave the joint-space inertia
OTHERS = [name for name in orderings.names() if name not in LEAVING]
TOLERANCE = 1e-11  # of the largest entry


def tree_of(shape, kinds):
    """Bodies of like masses, frames and axes in any direction; the same tree for the same case."""
    draw = np.random.default_rng([KINDS.index(kind) for kind in kinds] + [p + 1 for p in shape])
    tree = kkt.new_tree("small")
    for k, (up, kind) in enumerate(zip(shape, kinds, strict=True)):
        square = draw.normal(size=(3, 3))
        moment = square @ square.T + 0.2 * np.eye(3)
        kkt.add_body(
            tree,
            f"b{k}",
            None if up < 0 else f"b{up}",
            joint=kind,
            mass=draw.uniform(0.5, 2.0),
            com=0.2 * draw.normal(size=3),
            axis=draw.normal(size=3),
            inertia=0.05 * (np.trace(moment) * np.eye(3) - moment),
            p=0.3 * draw.normal(size=3),
            R=Rotation.random(random_state=int(draw.integers(1000))).as_matrix(),
        )
    return kkt.default_state(tree, rate=1.0, effort=1.0)


def joint_space(tree, q):
    """Sum over bodies of J* M J, J the body's velocity by joint rates; no code of the project."""
    mechanics = Mechanics(tree, q, 0.0 * q)
    stops = np.concatenate([[0], np.cumsum([mechanics.dof(b) for b in mechanics.names])])
    N, J, total = int(stops[-1]), {}, 0.0
    for k, b in enumerate(mechanics.names):  # parents come first
        up = mechanics.parent[b]
        J[b] = np.zeros((6, N)) if up is None else mechanics.Phi[b].T @ J[up]
        J[b][:, stops[k] : stops[k + 1]] += mechanics.S[b]
        total = total + J[b].T @ mechanics.M[b] @ J[b]
    return total


def off(found, wanted):
    """Largest difference, over the largest entry; infinite where it is not a number."""
    if not np.size(wanted):
        return 0.0 if np.shape(found) == np.shape(wanted) else np.inf
    error = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    return error if np.isfinite(error) else np.inf


def interpreted(kernel, system):
    """qdd by the program, one operation after another: the bits of machine code, sooner.

    (N,), or of a kernel of several orders (orders, N).
    """
    state = np.concatenate([kernel.configuration(), system.state.qd, system.state.tau])
    found = Interpreter(kernel.straight, get_format(kernel.format)).run(state[None])[0]
    return found if kernel.fields.orders == 1 else found.reshape(kernel.fields.orders, -1)


def errors_on(shape, kinds, names, solvers):
    """Of orders, solvers and joint-space inertias on one tree, by name."""
    tree = tree_of(shape, kinds)
    system = kkt.build(tree)
    exact = kkt.certify(system, 20)
    qdd = np.array([float(x) for x in exact.decimals()])
    M = joint_space(tree, tree.graph["q"])
    tapes = {name: kkt.trace(system, orderings.get(name)) for name in names}
    errors = {}
    for solver in dict.fromkeys((None, *solvers)):
        able = names if solver is None else LEAVING
        # one program of several orders: poses and bias are traced once, the answers are the same
        kernel = kkt.compile(system, [tapes[name] for name in able], solver=solver)
        for name, found in zip(able, np.atleast_2d(interpreted(kernel, system)), strict=True):
            errors[name, solver] = off(found, qdd)
    for name in LEAVING:
        inertia = kkt.joint_space_inertia(system, tapes[name])
        assert np.array_equal(inertia, inertia.T)
        np.linalg.cholesky(inertia)  # LinAlgError where it is not positive
        errors[name, "inertia"] = off(inertia, M)
    return errors


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS) if ALL else [None])
def test_every_order_and_solver_is_right_on_every_small_tree(part):
    cases = SAMPLE if part is None else EVERY[part::PARTS]
    wrong, worst = {}, 0.0
    for i, (shape, kinds) in enumerate(cases):
        solvers, others = (None, *SOLVERS), OTHERS
        if part is None or len(shape) == 4:
            others = [OTHERS[i % len(OTHERS)]]
        if part is not None and len(shape) == 4:
            solvers = [solvers[i % 4]]
        found = errors_on(shape, kinds, [*LEAVING, *others], solvers)
        worst = max(worst, *found.values())
        wrong |= {(shape, kinds, *where): e for where, e in found.items() if not e <= TOLERANCE}
    print(f"{len(cases)} trees, worst error {worst:.1e}")
    assert wrong == {}


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["float64", "float32"])
@pytest.mark.parametrize("solver", [None, *SOLVERS])
def test_machine_code_of_every_solver_has_those_bits(solver, format):
    """On trees where the inertia comes with the other sign, or a root's argument does."""
    cases = [((-1, 0), ("fixed", "revolute")), ((-1, 0), ("spherical", "fixed"))]
    for (shape, kinds), name in product(cases, LEAVING):
        system = kkt.build(tree_of(shape, kinds))
        kernel = kkt.compile(system, orderings.get(name), format, solver=solver)
        found = kernel(kernel.configuration(), system.state.qd, system.state.tau)
        assert np.array_equal(found, interpreted(kernel, system))
        exact = kkt.certify(system, 20)
        assert exact.error(found) < (1e-13 if format == "float64" else 1e-5)
