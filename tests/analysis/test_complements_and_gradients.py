"""Orthogonal complements and conjugate gradients on trees of the reader's own."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from armature import with_terms
from designs import listed
from helpers import Mechanics, every_joint
from scipy.sparse.linalg import cg

from pivotree import analysis, kkt, orderings
from pivotree.analysis.comparison import compare_derivatives
from pivotree.kkt.matrix.state import coordinates
from pivotree.papers.cloutier1995.complements import Complement


def dense(system):
    """qdd by LAPACK on equation (4) written down apart (tests/helpers.py), joints in all kinds."""
    tree = system.tree
    q = coordinates(tree, system.graph, None)
    mechanics = Mechanics(system.graph, q, system.state.qd)
    K, rhs = mechanics.equation4(system.state.tau)
    return scipy.linalg.solve(K, rhs)[6 * tree.n : 6 * tree.n + tree.N]


def in_motion(tree, seed=1):
    """A tree in a drawn state, which stands in the tree too."""
    draw = np.random.default_rng(seed)
    N = kkt.compile_tree(tree).N
    tree.graph.update(q=draw.uniform(-1, 1, N), qd=draw.normal(size=N), tau=draw.normal(size=N) * 5)
    return kkt.build(tree)


def far(x, exact):
    return float(np.abs(np.asarray(x, float) - exact).max() / np.abs(exact).max())


@pytest.mark.parametrize("seed", listed(range(3), unmarked=1))
def test_complements_and_gradients_on_every_joint_beside_lapack(seed):
    system = in_motion(every_joint(), seed)
    exact = dense(system)
    for number, least, most in ((np.float64, 0.0, 1e-11), (np.float32, 1e-9, 1e-3)):
        complement = Complement.of(system, lambda x, number=number: x.astype(number))
        for x in (complement.first(), complement.second()):
            assert x.dtype == number and least < far(x, exact) <= most
    assert far(analysis.gradients.solve(system).x, exact) <= 1e-10
    pushed = kkt.build(with_terms(system.graph.copy(), seed), f_ext=np.ones((system.tree.n, 6)))
    right = kkt.eliminate(pushed, "abm").qdd
    assert far(analysis.gradients.solve(pushed).x, right) <= 1e-10  # M v knows no wrench and no spring
    for order in ("crbm", "abm"):
        found = analysis.gradients.solve(system, preconditioner=order)
        assert far(found.x, exact) <= 1e-11 and found.iterations <= 6


def test_the_second_forms_pivots_are_those_of_abm():
    system = in_motion(kkt.from_spec("random_tree:n=9,seed=2,joints=revolute+prismatic+fixed"))
    steps = kkt.eliminate(system, orderings.get("abm")).steps
    D = {step.blocks[0].body: step.pivots for step in steps}
    mine = np.concatenate([D[name] for name, d in zip(system.tree.names, system.tree.dof, strict=True) if d])
    assert Complement.of(system).pivots() == pytest.approx(mine, rel=1e-11)


def test_massless_links_and_point_masses_have_complements():
    """M_k need not be positive definite, only the joint-space inertia."""
    tree = kkt.chain(4)
    tree.nodes["j2"].update(mass=0.0, inertia=np.zeros((3, 3)))
    tree.nodes["j1"].update(inertia=np.zeros((3, 3)), com=(0.3, 0.2, 0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = in_motion(tree)
        exact = kkt.certify(system, 16)
    complement = Complement.of(system)
    for x in (complement.first(), complement.second()):
        assert exact.error(x) <= 1e-10


@pytest.mark.product
def test_an_iteration_that_fails_says_so():
    """bfloat16 loses the sign of a pivot of 40 links: nothing to go on with."""
    system = in_motion(kkt.chain(40))
    lost = analysis.gradients.solve(system, preconditioner="crbm", by="bfloat16")
    assert "preconditioner" in lost.failed and lost.residuals[-1] > 1e-9
    short = analysis.gradients.solve(system, most=5)
    assert "after 5 iterations" in short.failed and short.iterations == 5


@pytest.mark.product
def test_gradients_end_in_fractions():
    """Fractions start from the model's doubles, as certified answers do; at most N iterations."""
    system = in_motion(with_terms(kkt.chain(3), 2))
    N = len(system.state.tau)
    found = analysis.gradients.solve(system, "exact")
    assert found.iterations <= N and found.residuals[-1] == 0.0
    exact = kkt.eliminate(system, orderings.get("abm"), "exact").qdd
    assert (found.x == exact).all()


@pytest.mark.product
def test_scipys_own_iteration_takes_operator_and_preconditioner():
    system = in_motion(kkt.humanoid())
    exact = kkt.certify(system, 16)
    _, efforts, _ = analysis.gradients.equation(system, "float64")
    rounds = []
    qdd, failed = cg(
        analysis.gradients.operator(system),
        efforts,
        rtol=1e-13,
        maxiter=50,
        M=analysis.gradients.preconditioner(system, "abm", "bfloat16"),
        callback=rounds.append,
    )
    assert not failed and exact.error(qdd) <= 1e-11
    assert 3 < len(rounds) < 30  # eight bits are few, but enough
    M = analysis.gradients.operator(system) @ np.eye(len(efforts))
    assert pytest.approx(M, abs=1e-12) == kkt.joint_space_inertia(system, orderings.get("crbm"))


def test_an_inertia_without_a_root_is_refused():
    tree = kkt.chain(2)
    tree.nodes["j1"]["inertia"] = np.diag([1.0, 1.0, -0.1])
    with pytest.warns(kkt.InertiaWarning):
        system = kkt.build(tree)
    with pytest.raises(kkt.SingularError, match=r"body 'j1'.*negative eigenvalue"):
        Complement.of(system)


def test_fixed_trees_have_nothing_to_solve():
    tree = kkt.new_tree("post")
    kkt.add_body(tree, "post", mass=1.0, inertia=np.eye(3), joint="fixed")
    system = kkt.build(tree)
    assert (
        analysis.gradients.solve(system).x.shape == (0,) == analysis.gradients.solve(system, "exact").x.shape
    )
    assert compare_derivatives(system, ["abm"], ["float32"])[0].errors["dq"] == 0.0
