"""Coupled mimic joints beside Pinocchio's reduced model (``mimic=True``): inertia and forces."""

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


def inertia_and_forces(model, tree, system):
    """Pinocchio's M and h in the state of a tree, and its column of each joint of one freedom."""
    q, v, column = pin.neutral(model), np.zeros(model.nv), {}
    for k, body in enumerate(system.tree.names):
        name, at = tree.nodes[body]["joint_name"], int(system.tree.offset[k])
        joint = model.joints[model.getJointId(name)]
        if "Mimic" in joint.shortname():
            continue
        assert joint.nv == 1
        angle = tree.graph["q"][at]
        q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        v[joint.idx_v], column[name] = tree.graph["qd"][at], joint.idx_v
    data = model.createData()
    M = np.triu(pin.crba(model, data, q))
    return M + np.triu(M, 1).T, pin.nonLinearEffects(model, data, q, v).copy(), column


@pytest.mark.parametrize("robot", mimicking())
def test_mimic_joints_are_coupled_as_pinocchio_reduces_them(robot):
    """By its own ``mimic=True`` where it reads the file, and by q = T y of its free model."""
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
    effort = dict(zip(joints, tau, strict=True))

    model = pin.buildModelFromUrdf(str(path))
    M, h, column = inertia_and_forces(model, tree, system)
    T = np.zeros((len(joints), len(free)))
    for name in joints:
        ratio, followed = 1.0, name
        while followed in mimic:
            followed, times = mimic[followed]
            ratio *= times
        T[column[name], free.index(followed)] = ratio
    given = np.zeros(len(joints))
    given[[column[name] for name in joints]] = tau
    if np.linalg.matrix_rank(T.T @ M @ T) < len(free):  # fingers without mass, in both
        with pytest.raises(kkt.SingularError, match="no mass beyond it"):
            kkt.eliminate(system, orderings.get("abm"))
        return
    expected = [np.linalg.solve(T.T @ M @ T, T.T @ (given - h))]
    try:
        model = pin.buildModelFromUrdf(str(path), mimic=True)
    except ValueError:  # the joint that is followed comes later in its tree
        assert robot in ("talos_full", "talos_full_box")
    else:
        M, h, column = inertia_and_forces(model, tree, system)
        given = np.zeros(model.nv)
        there = [column[name] for name in free]
        given[there] = [effort[name] for name in free]
        expected.append(np.linalg.solve(M, given - h)[there])
    system = kkt.build(tree, tau=tau)
    here = [joints.index(name) for name in free]
    for order in ("abm", "crbm", "lambda_first"):
        qdd = kkt.eliminate(system, orderings.get(order)).qdd
        for reduced in expected:
            assert difference(qdd[here], reduced) <= 1e-9, order
