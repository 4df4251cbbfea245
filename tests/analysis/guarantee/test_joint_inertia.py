"""docs/theory/guarantee.md, *Composites*: crbm's bound holds, its lemma too, and twins of both fail."""

import numpy as np
import pytest
from guarantee import drawn, ratio

from pivotree import kkt, orderings
from pivotree.analysis.guarantee import guarantee
from pivotree.analysis.states.sample import system_at
from pivotree.kkt.theorem import joint_inertia as bounds
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.kkt.theorem.support import reach, support


def motions(system):
    """J_k (n, 6, N) with v_k = J_k qd, and the composites (n, 6, 6)."""
    tree, entries = system.tree, system.entries
    J, M = np.zeros((tree.n, 6, int(tree.offset[-1]))), entries.M.copy()
    for level in tree.levels:
        for k in level.tolist():
            here = slice(tree.offset[k], tree.offset[k + 1])
            if tree.parent[k] >= 0:
                J[k] = entries.Phi[k].T @ J[tree.parent[k]]
            J[k, :, here] += entries.S[here].T
    for level in reversed(tree.levels[1:]):
        for k in level.tolist():
            M[tree.parent[k]] += entries.Phi[k] @ M[k] @ entries.Phi[k].T
    return J, M


def light_arm(light):
    """Two links of little inertia about points that a stretched arm has on one line."""
    tree = kkt.rr_arm()
    for link, fields in (("link1", ("mass", "inertia")), ("link2", ("inertia",))):
        for field in fields:
            tree.nodes[link][field] = light * np.asarray(tree.nodes[link][field])
    return tree


def test_constants_times_u_alone_are_refuted(monkeypatch):
    """Neither what is carried against the body, nor how near to singular M(q) may come."""
    stretched = {"limits": {"link2": (-1e-3, 1e-3)}, "states": 20}
    (row,) = guarantee(light_arm(1e-4), ["crbm"], ["float64"], **stretched)
    assert row.error <= row.bound.pivot.max()
    monkeypatch.setattr(bounds, "_energies", lambda system, *_: np.eye(system.tree.n))
    monkeypatch.setattr(bounds, "_root", lambda *_: 0.0)
    monkeypatch.setattr(bounds, "_summed", lambda system, *_: np.full(system.tree.n, 12.0))
    (row,) = guarantee(light_arm(1e-4), ["crbm"], ["float64"], **stretched)
    assert row.error > 100.0 * row.bound.pivot.max()


@pytest.mark.parametrize("tree", [kkt.rr_arm(), light_arm(1e-3), drawn(111, 6)])
def test_what_a_joint_moves_is_bounded_by_energies_of_bodies(tree):
    """sum of M_ii qd_i^2 over joint k <= (N e)_k^2 for the qd of least energy; not without v_p."""
    system = kkt.build(tree)
    ranges = ranges_of(system)
    sizes = reach(system, ranges, 2.0**-53, rigid=True)
    least = support(system, system.entries.M, rigid=True)
    N = bounds._energies(system, system.entries.M, least, sizes)
    assert np.isfinite(N).all()
    offset, worst, alone = system.tree.offset, 0.0, 0.0
    for number in range(10):
        here = system_at(system, ranges, 0, number)
        J, composites = motions(here)
        own = np.einsum("kji,kjl,klm->kim", J, here.entries.M, J)
        M = own.sum(axis=0)
        gaps = composites - least
        assert np.linalg.eigvalsh(gaps).min() >= -1e-12 * np.abs(composites).max()
        for i, qd in enumerate(np.linalg.inv(M)):
            k = int(np.searchsorted(offset, i, side="right")) - 1
            joint = slice(offset[k], offset[k + 1])
            moved = np.sqrt((np.diagonal(M)[joint] * qd[joint] ** 2).sum())
            e = np.sqrt(np.abs(np.einsum("i,kij,j->k", qd, own, qd)))
            worst = max(worst, moved / (N[k] @ e))
            alone = max(alone, moved / (N[k, k] * e[k]))
    assert worst <= 1.0 + 1e-9 and alone > 1.0


def test_it_keeps_fewer_digits_than_abm_and_says_why_where_none():
    abm, crbm = (kkt.guarantee(kkt.chain(6), orderings.get(x), "float64").digits for x in ("abm", "crbm"))
    assert abm - 5.0 < crbm < abm - 2.0
    found = kkt.guarantee(kkt.chain(6), orderings.get("crbm"), "float32")
    assert found.digits == 0.0 and "abm does not form it" in found.why


def test_joints_with_armature_are_promised_something():
    tree = kkt.rr_arm()
    for body in tree:
        tree.nodes[body]["armature"] = 0.5
    assert 0.0 < ratio(tree, "crbm", "float64", 5, 0) <= 1.0
