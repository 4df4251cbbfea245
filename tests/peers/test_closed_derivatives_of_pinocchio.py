"""Derivatives with loops and contacts beside Pinocchio's computeConstraintDynamicsDerivatives.

Where both have the same rows the matrices agree.  Of a cut spherical joint between two bodies its
derivatives by q (version 4.1) are not those of its own constraintDynamics; differences of that are
ours, along motions that keep the loop, where all formulations of the rows say the same.
"""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from test_loops_of_pinocchio import Case  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402

ABM = orderings.get("abm")


class Moving:
    """A case in a motion that keeps its loops: ours, Pinocchio's matrices, rows on the rates."""

    def __init__(self, case, loops, theirs):
        self.case, self.peer, self.rows = case, case.peer, theirs
        model, data = self.peer.model, self.peer.data
        theirs = pin.StdVec_RigidConstraintModel(theirs)
        datas = pin.StdVec_RigidConstraintData([c.createData() for c in theirs])
        self.q, draw = self.peer.q(case.q), case.draw
        J = self.jacobian(self.q)
        self.qd, tau = draw.normal(size=case.N), draw.normal(size=case.N) * 5.0
        self.qd -= np.linalg.lstsq(J, J @ self.qd, rcond=None)[0]
        self.system = kkt.build(case.tree, case.q, self.qd, tau, loops=loops)
        settings = pin.ProximalSettings(1e-14, 1e-14, 200)
        pin.initConstraintDynamics(model, data, theirs, datas)

        def qdd(dq, dqd):
            q = pin.integrate(model, self.q, self.peer.theirs(dq))
            v, u = self.peer.theirs(self.qd + dqd), self.peer.theirs(tau)
            found = pin.constraintDynamics(model, data, q, v, u, theirs, datas, settings)
            return found[self.peer.columns]

        self.qdd = qdd
        qdd(0.0 * self.qd, 0.0 * self.qd)
        pin.computeConstraintDynamicsDerivatives(model, data, theirs, datas, settings)
        own = np.ix_(self.peer.columns, self.peer.columns)
        self.exact = [x[own] for x in (data.ddq_dq, data.ddq_dv, data.ddq_dtau)]

    def jacobian(self, q):
        pin.computeJointJacobians(self.peer.model, self.peer.data, q)
        return np.concatenate([self.case.apart(c) for c in self.rows])[:, self.peer.columns]

    def apart(self):
        """Largest relative difference of each matrix."""
        found = kkt.derivatives(self.system, ABM)
        pairs = zip((found.dq, found.dqd, found.dtau), self.exact, strict=True)
        return [np.abs(own - exact).max() / np.abs(exact).max() for own, exact in pairs]


def closed(kind, seed, first="a5", second="b6"):
    case = Case(seed)
    place = pin.SE3(Rotation.random(random_state=seed).as_matrix(), case.draw.normal(size=3) * 0.3)
    there, far = case.rigid(kind, first, second, place)
    loop = kkt.cut_joint(
        first,
        second,
        kind,
        R=place.rotation,
        p=place.translation,
        R_second=far.rotation,
        p_second=far.translation,
    )
    return Moving(case, [loop], [there])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ends", [("a5", "b6"), ("a5", None), (None, "b6")])
def test_a_cut_fixed_joint_has_the_same_matrices(ends, seed):
    assert max(closed("fixed", seed, *ends).apart()) <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_sticking_points_have_the_same_matrices(seed):
    case = Case(seed)
    points = case.draw.normal(size=(2, 3)) * 0.2
    theirs = [
        case.rigid("spherical", b, None, pin.SE3(np.eye(3), p))[0]
        for b, p in zip(("a5", "b6"), points, strict=True)
    ]
    loops = [
        kkt.contact(b, p, (0, 0, 1), [(1, 0, 0), (0, 1, 0)], name=b)
        for b, p in zip(("a5", "b6"), points, strict=True)
    ]
    assert max(Moving(case, loops, theirs).apart()) <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_a_cut_spherical_joint_along_motions_that_keep_it(seed):
    """J dq = 0 and J dqd + dJ qd = 0: there the two formulations say the same."""
    moving = closed("spherical", seed)
    peer, J, step = moving.peer, moving.jacobian(moving.q), 1e-6
    dq = moving.case.draw.normal(size=moving.case.N)
    dq -= np.linalg.lstsq(J, J @ dq, rcond=None)[0]
    ends = [moving.jacobian(pin.integrate(peer.model, moving.q, peer.theirs(s * step * dq))) for s in (1, -1)]
    turned = (ends[0] - ends[1]) / (2 * step) @ moving.qd
    dqd = -np.linalg.lstsq(J, turned, rcond=None)[0]
    along = kkt.directional_derivatives(moving.system, ABM, dq, dqd)
    ends = [moving.qdd(s * step * dq, s * step * dqd) for s in (1, -1)]
    exact = (ends[0] - ends[1]) / (2 * step)
    assert np.abs(along - exact).max() <= 1e-7 * np.abs(exact).max()
    assert moving.apart()[2] <= 1e-9
