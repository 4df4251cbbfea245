"""Coupled mimic joints beside Pinocchio's inertia and forces, reduced to the joints that follow none."""

from xml.etree.ElementTree import parse

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytestmark = pytest.mark.peers

import pinocchio as pin  # noqa: E402
from random_states import difference, robots  # noqa: E402

from pivotree import kkt, orderings  # noqa: E402


def mimicking():
    """Robots with joints that move and mimic others that move, which Pinocchio asks for."""
    found = []
    for name, path in robots().items():
        joints = {x.get("name"): x for x in parse(path).getroot().findall("joint")}
        pairs = [
            (x, joints.get(x.find("mimic").get("joint")))
            for x in joints.values()
            if x.find("mimic") is not None and x.get("type") != "fixed"
        ]
        if pairs and all(to is not None and to.get("type") != "fixed" for _, to in pairs):
            found.append(name)
    return found


@pytest.mark.parametrize("robot", mimicking())
def test_mimic_joints_are_coupled_as_pinocchio_reduces_them(robot):
    """Of M and h of its free model, by q = T y."""
    path = robots()[robot]
    tree = kkt.read_urdf(path, merge_fixed=True, mimic="coupled")
    system = kkt.build(tree)
    joints = [tree.nodes[body]["joint_name"] for body in system.tree.names]
    mimic = {
        x.get("name"): (x.find("mimic").get("joint"), float(x.find("mimic").get("multiplier", 1)))
        for x in parse(path).getroot().findall("joint")
        if x.find("mimic") is not None and x.get("name") in joints
    }
    free = [name for name in joints if name not in mimic]
    assert 0 < len(free) < len(joints) == len(system.state.qd)
    tau = np.random.default_rng(len(robot)).normal(size=len(joints))
    tau[[name in mimic for name in joints]] = 0.0

    model = pin.buildModelFromUrdf(str(path))
    q, v, columns = pin.neutral(model), np.zeros(model.nv), []
    for name, angle, rate in zip(joints, tree.graph["q"], tree.graph["qd"], strict=True):
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        v[joint.idx_v] = rate
        columns.append(joint.idx_v)
    data = model.createData()
    M = np.triu(pin.crba(model, data, q))
    M = (M + np.triu(M, 1).T)[np.ix_(columns, columns)]
    h = pin.nonLinearEffects(model, data, q, v)[columns]
    T = np.zeros((len(joints), len(free)))
    for row, name in zip(T, joints, strict=True):
        ratio = 1.0
        while name in mimic:
            name, times = mimic[name]
            ratio *= times
        row[free.index(name)] = ratio
    reduced = T.T @ M @ T
    if np.linalg.matrix_rank(reduced) < len(free):  # fingers without mass, in both
        with pytest.raises(kkt.SingularError, match="is singular"):
            kkt.eliminate(system, orderings.get("abm"))
        return
    expected = np.linalg.solve(reduced, T.T @ (tau - h))
    system = kkt.build(tree, tau=tau)
    here = [joints.index(name) for name in free]
    for order in ("abm", "crbm", "lambda_first"):
        qdd = kkt.eliminate(system, orderings.get(order)).qdd
        assert difference(qdd[here], expected) <= 1e-9, order
