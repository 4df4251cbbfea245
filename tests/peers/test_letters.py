"""The column of Pinocchio in the table of letters (docs/glossary.md): each entry, as a number."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
from pinocchio_peer import ANGULAR_FIRST, model_of  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402


def block(system, row, column):
    return system.matrix[system.blocks[row], system.blocks[column]].toarray()


def ours(matrix):
    return np.array(matrix)[np.ix_(ANGULAR_FIRST, ANGULAR_FIRST)]


def same(ours, theirs):
    return np.allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_accelerations_forces_and_entries():
    """Of a chain in which nothing is special: entries of (4), its solution, and Pinocchio's data."""
    tree = kkt.chain(5, axes="zyx")
    q, qd, tau = np.random.default_rng(3).uniform(-1, 1, (3, 5))
    system = kkt.build(tree, q, qd, tau)
    result = kkt.eliminate(system, orderings.get("abm"))
    model = model_of(tree)
    model.gravity.linear = system.tree.gravity
    data = model.createData()
    pin.crba(model, data, q)
    composite = [np.array(data.Ycrb[i].matrix()) for i in range(1, 6)]
    inertia = np.triu(data.M) + np.triu(data.M, 1).T
    pin.aba(model, data, q, qd, tau, pin.Convention.LOCAL)
    for i in range(1, 6):
        assert same(-result.pdd[i - 1], data.a_gf[i].vector[ANGULAR_FIRST])
        assert same(result.f[i - 1], data.f[i].vector[ANGULAR_FIRST])
    assert same(result.qdd, data.ddq)
    assert not same(-result.pdd[0], data.a[1].vector[ANGULAR_FIRST])  # a has no gravity in it
    names = system.tree.names
    M_hat = {k: block(system, ("pdd", k), ("pdd", k)) for k in names}
    R = {k: M_hat[k].copy() for k in names}
    b = {k: system.rhs[system.blocks["pdd", k]] for k in names}
    for i, k in reversed(list(enumerate(names, start=1))):
        H = block(system, ("qdd", k), ("f", k))
        joint = data.joints[i]
        bias = data.v[i].cross(data.h[i])
        assert same(block(system, ("pdd", k), ("pdd", k)), ours(model.inertias[i].matrix()))
        assert same(H[0], joint.S.ravel()[ANGULAR_FIRST])
        assert same(b[k], bias.vector[ANGULAR_FIRST])
        assert same(R[k], ours(composite[i - 1]))
        D = H @ M_hat[k] @ H.T
        assert same(1 / D, joint.Dinv)
        assert same((M_hat[k] @ H.T)[:, 0], joint.U.ravel()[ANGULAR_FIRST])
        Mbar = M_hat[k] - M_hat[k] @ H.T @ H @ M_hat[k] / D
        if i == 1:
            assert same(M_hat[k], ours(data.Yaba[i]))  # at the world nothing is handed on
            continue
        assert same(Mbar, ours(data.Yaba[i]))
        parent = names[i - 2]
        Phi = -block(system, ("pdd", parent), ("f", k))
        assert same(Phi, ours(data.liMi[i].dualAction))
        M_hat[parent] = M_hat[parent] + Phi @ Mbar @ Phi.T
        R[parent] = R[parent] + Phi @ R[k] @ Phi.T
    assert same(kkt.joint_space_inertia(system, orderings.get("crbm")), inertia)
