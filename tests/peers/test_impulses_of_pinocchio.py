"""Blows beside Pinocchio's impulse dynamics, where its rows, all of them bilateral, are ours."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
from test_loops_of_pinocchio import Case  # noqa: E402

from pivotree import kkt  # noqa: E402
from pivotree.analysis import contact  # noqa: E402


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [1, 3])
def test_a_hand_that_hits(rows, seed):
    """One point: normal alone with restitution, or sticking and plastic."""
    case = Case(seed)
    model, data, peer = case.peer.model, case.peer.data, case.peer
    body, point = "a5", case.draw.normal(size=3) * 0.2
    q = peer.q(case.q)
    pin.computeJointJacobians(model, data, q)
    joint = model.getJointId(body)
    J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.WORLD)
    place = data.oMi[joint].act(point)
    J = (J[:3] - pin.skew(place) @ J[3:])[[2, 0, 1]][:rows]
    e, pulled = 0.6 if rows == 1 else 0.0, True
    while pulled:  # a bilateral row may pull to hold a point that slides; a contact may not
        qd = case.draw.normal(size=case.N)
        theirs = pin.impulseDynamics(model, data, q, peer.theirs(qd), J, e, 0.0)[peer.columns]
        pulled = J[0, peer.columns] @ qd > 0.0 or data.impulse_c[0] <= 0.0
    tangents = () if rows == 1 else ((1, 0, 0), (0, 1, 0))
    loop = kkt.contact(body, point, (0, 0, 1), tangents, name="p")
    ours = contact.impact(
        kkt.build(case.tree, case.q, qd, loops=[loop]), restitution=e, friction=1e6 * (rows > 1)
    )
    assert ours.qd == pytest.approx(theirs, abs=1e-9 * np.abs(theirs).max())
    assert ours.impulses["p"] == pytest.approx(data.impulse_c, abs=1e-9 * np.abs(theirs).max())
