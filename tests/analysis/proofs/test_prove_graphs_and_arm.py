"""Statements about fill on all small trees, and about the planar arm of Pasic, Williams & Hui."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from pivotree import kkt
from pivotree.analysis.proofs import boolean, fill, graphs, pasic1999, statements
from pivotree.analysis.proofs.arm import blocks
from pivotree.analysis.proofs.arm_claims import Arm, Same
from pivotree.analysis.proofs.claim import FAILED, PROVED, UNDECIDED
from pivotree.analysis.proofs.trees import all_shapes, forests, level_sequences, numbers, trees

# -- trees --------------------------------------------------------------------------------------


def canonical(parents, root=-1):
    return tuple(sorted(canonical(parents, k) for k, up in enumerate(parents) if up == root))


def test_all_rooted_trees_are_there_once():
    """Against all arrays of parents, up to isomorphism, and the known counts (OEIS A000081)."""
    assert [len(list(level_sequences(n))) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    for n in range(1, 7):
        every = itertools.product(*(range(-1, k) for k in range(n)))
        shapes = {canonical(parents) for parents in every}
        assert {canonical(p) for p in forests(n)} == shapes and len(forests(n)) == len(shapes)
        assert {canonical(p) for p in trees(n)} == {s for s in shapes if len(s) == 1}
    assert len({canonical(p) for p in trees(8)}) == 115


def test_numbers_of_a_tree():
    found = numbers((-1, 0, 0, 1, -1))
    assert found == {"n": 5, "r": 2, "D": 4, "h": 3, "P": 6, "Q": 5, "k": 2}


# -- fill ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *(pytest.param(x, marks=pytest.mark.soak) for x in (1, 2))])
def test_booleans_count_what_the_engine_counts_in_any_order(seed):
    for parents in all_shapes():
        order = f"random:{seed}"
        factor, outcome = graphs.factor(order, parents), graphs.outcome(order, parents)
        assert (factor.fill_blocks, factor.height) == (len(outcome.fill), outcome.height)


def test_booleans_refuse_a_zero_pivot():
    with pytest.raises(ValueError, match="zero"):
        boolean.eliminate((-1,), [[("f", 0)], [("pdd", 0)], [("qdd", 0)]])


@pytest.mark.product
@pytest.mark.parametrize("parents", [(-1, 0), pytest.param((-1, -1), marks=pytest.mark.soak)])
def test_the_search_finds_the_least_of_all_orders(parents):
    """Of two bodies: every permutation of the blocks, with (pdd f) in one bracket or apart."""
    least = 99
    for together in itertools.product((True, False), repeat=2):
        groups = [[("qdd", 0)], [("qdd", 1)]]
        for body, joined in enumerate(together):
            pair = [("pdd", body), ("f", body)]
            groups += [pair] if joined else [pair[:1], pair[1:]]
        for sequence in itertools.permutations(groups):
            try:
                plan = kkt.plan(list(sequence), graphs.structure(parents))
                least = min(least, kkt.symbolic(plan).fill_blocks)
            except kkt.OrderError:
                continue
    count, groups = boolean.least_fill(parents)
    assert count == least == len(boolean.eliminate(parents, groups).fill)


def test_a_wrong_count_fails_and_one_that_cannot_be_read_is_undecided():
    n, w = sp.symbols("n w")
    right = fill.fills("n - r", "abm", fill.n - fill.r, all_shapes())
    assert right.decide().status == PROVED
    wrong = replace(right, right=fill.n - fill.r + 1)
    assert wrong.decide().status == FAILED and "parents (-1,)" in wrong.decide().why
    for unknown in (w, n + sp.log(n)):
        assert replace(right, right=unknown).decide().status == UNDECIDED
    miscounted = replace(right, engine=lambda parents: right.engine(parents) + len(parents) // 8)
    assert "the engine counts 8, booleans 7" in miscounted.decide().why


def test_fill_at_another_place_fails():
    claim = next(iter(statements()["where fill sits"].claims()))
    for places in ((("qdd", "pdd", "ancestor"),), (("qdd", "f", "parent"),), ()):
        assert replace(claim, places=places).decide().status == FAILED


# -- the arm ------------------------------------------------------------------------------------


def test_the_arm_in_letters_is_the_arm_of_the_gallery():
    """Blocks of (4) at the gallery's numbers, against what kkt.build makes of its tree."""
    tree = kkt.load("rr_arm")
    q, qd, tau = np.array([0.3, -0.8]), np.array([0.7, 1.1]), np.array([0.4, 0.1])
    tree.graph.update(q=q, qd=qd, tau=tau)
    system = kkt.build(tree)
    at = {"l_1": 0.4, "l_2": 0.2, "l_c1": 0.2, "l_c2": 0.1, "m_1": 12.0, "m_2": 6.0, "g": 9.81}
    for k, I33 in ((1, 0.2), (2, 0.04)):
        at |= {f"I_{k}11": I33 / 10, f"I_{k}22": I33, f"I_{k}33": I33}
        at |= {f"c_{k}": np.cos(q[k - 1]), f"s_{k}": np.sin(q[k - 1])}
        at |= {f"thetad_{k}": qd[k - 1], f"tau_{k}": tau[k - 1]}
    ours = blocks(lambda name: at.get(name, 0.0), ("l_2", None))
    A, x = system.matrix.toarray(), system.rhs
    for k, link in enumerate(("link1", "link2")):
        pdd, qdd, f = (system.blocks[kind, link] for kind in ("pdd", "qdd", "f"))
        pairs = [(A[pdd, pdd], ours["M", k]), (A[qdd, f], ours["H", k])]
        pairs += [(x[pdd], ours["b", k][:, 0]), (x[f], -ours["a", k][:, 0])]
        pairs += [(x[qdd], ours["tau", k][:, 0])]
        if k:
            pairs.append((A[system.blocks["pdd", "link1"], f], -ours["Phi", k]))
        for theirs, block in pairs:
            np.testing.assert_allclose(theirs, block.astype(float), atol=1e-12)


@pytest.mark.product
def test_typed_forces_are_those_of_lagrange():
    """M Theta'' - f = 0 from kinetic and potential energy and the work of the hand's wrench."""
    t = sp.symbols("t")
    one, two = sp.Function("one")(t), sp.Function("two")(t)
    p = pasic1999
    both = one + two

    def along(angle, length):
        return sp.Matrix([sp.cos(angle), sp.sin(angle)]) * length

    masses = [
        (p.m_1, along(one, p.l_c1), p.I_133, one),
        (p.m_2, along(one, p.l_1) + along(both, p.l_c2), p.I_233, both),
    ]
    L = sum(
        m * x.diff(t).dot(x.diff(t)) / 2 + I_33 * angle.diff(t) ** 2 / 2 - m * p.g * x[1]
        for m, x, I_33, angle in masses
    )
    tip = along(one, p.l_1) + along(both, p.l_2)
    force = along(both, p.f_3x) + along(both + sp.pi / 2, p.f_3y)  # by the hand, axes of link 2
    thetadd = sp.Matrix([one.diff(t, 2), two.diff(t, 2)])
    M = sp.Matrix([[p.M_11, p.M_12], [p.M_12, p.M_22]])
    names = {
        p.c_1: sp.cos(one),
        p.c_2: sp.cos(two),
        p.s_2: sp.sin(two),
        p.c_12: sp.cos(both),
        p.td_1: one.diff(t),
        p.td_2: two.diff(t),
    }
    typed = (M * thetadd - sp.Matrix([p.F_1, p.F_2])).subs(names)
    for row, (angle, tau) in enumerate(((one, p.tau_1), (two, p.tau_2))):
        lagrange = L.diff(angle.diff(t)).diff(t) - L.diff(angle)
        work = tau - force.dot(tip.diff(angle)) - p.n_3z * both.diff(angle)
        assert sp.simplify(sp.expand(lagrange - work - typed[row], trig=True)) == 0


def test_a_wrong_term_fails_and_what_is_no_polynomial_is_undecided():
    arm = Arm()
    claim = Same("m_22", arm, arm.engine("crbm", 2, "qdd_2,qdd_2"), pasic1999.M_22)
    assert claim.decide().status == PROVED
    for wrong in (pasic1999.M_22 + pasic1999.l_1, pasic1999.M_22 * 2, pasic1999.M_12):
        assert replace(claim, right=wrong).decide().status == FAILED
    assert replace(claim, right=sp.sqrt(pasic1999.M_22**2)).decide().status == UNDECIDED
    assert replace(claim, right=sp.sqrt(pasic1999.M_22**2)).rejected() == {"sympy": True}


def test_circles_are_what_makes_formulas_equal():
    """c^2 + s^2 = 1 is used, and c s = 1 is not."""
    arm, (c, s) = Arm(), sp.symbols("c_2 s_2")
    assert Same("circle", arm, c**2 + s**2, sp.Integer(1)).decide().status == PROVED
    assert Same("no circle", arm, c**2 - s**2, sp.Integer(1)).decide().status == FAILED
