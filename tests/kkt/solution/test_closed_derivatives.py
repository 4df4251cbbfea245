"""Derivatives of qdd and lambda with closed loops and contacts: differences in 60 digits."""

from dataclasses import replace

import numpy as np
import pytest
from designs import listed
from scipy.spatial.transform import Rotation
from test_derivatives import ABM, FIELDS, JOINTS, Differences, apart

from pivotree import kkt, orderings

QUARTERS = Rotation.create_group("O").as_matrix().round()  # 24 turns, exact in binary
BINARY = 1 / 64


def binary(rng, size):
    return np.round(rng.normal(size=size) / BINARY) * BINARY


def right_angled(n, seed, joints):
    """A random tree whose joints stand at right angles and at q = 0, where every pose is exact.

    So the poses of loops, which are found along two ways, agree to the last digit.
    """
    tree, rng = kkt.random_tree(n, seed=seed, joints=joints), np.random.default_rng(seed)
    tree.graph["gravity"] = tuple(rng.normal(size=3))
    for _, data in tree.nodes(data=True):
        data.update(R=QUARTERS[rng.integers(24)], p=binary(rng, 3), wrench=rng.normal(size=6))
        if data["joint"] != "fixed":
            data["axis"] = np.eye(3)[rng.permutation(3)[: np.size(data["axis"]) // 3]].squeeze()
            data["armature"], data["damping"] = rng.uniform(0.1, 1.0, size=2)
    N = kkt.compile_tree(tree).N
    tree.graph.update(q=np.zeros(N), qd=rng.normal(size=N), tau=rng.normal(size=N))
    return tree


def tied(tree, kind, rng):
    """A loop of one kind between two bodies of a tree or a body and the world, open and moving."""
    names = list(tree)
    first, second = (names[i] for i in rng.permutation(len(names))[:2])
    soft = {"compliance": 0.25}
    if kind == "contact":
        return kkt.contact(
            second, binary(rng, 3), (0.0, 0, 1), [(1.0, 0, 0), (0, 1.0, 0)], damping=0.5, name=kind, **soft
        )
    if kind == "between":
        return kkt.contact(second, binary(rng, 3), on=first, name=kind, **soft)
    if kind in ("coupled", "held"):
        one = [n for n in names if tree.nodes[n]["joint"] in ("revolute", "prismatic")][:2]
        to = one[1] if kind == "coupled" else None
        return kkt.coupled_joints(tree, one[0], to, 0.5, damping=0.25, name=kind, **soft)
    # the gap of a turn in no axis is a rotation vector, found in float64
    gains = (0.5, 0.0) if kind in ("fixed", "general", "prismatic") else (0.5, 2.0)
    ends = {"spherical": (None, second), "cylindrical": (first, None)}.get(kind, (first, second))
    given = {x: QUARTERS[rng.integers(24)] for x in ("R", "R_second")} | soft
    given |= {x: binary(rng, 3) for x in ("p", "p_second")}
    given |= {"S": binary(rng, (6, 2))} if kind == "general" else {}
    return kkt.cut_joint(*ends, kind, name=kind, baumgarte=gains, **given)


KINDS = ("contact", "revolute", "prismatic", "cylindrical", "spherical", "planar", "fixed", "general")
KINDS += ("between",)


def closed(kinds, joints="revolute+prismatic", n=5, seed=3):
    tree, rng = right_angled(n, seed, joints), np.random.default_rng(seed + len(kinds))
    return kkt.build(tree, loops=[tied(tree, kind, rng) for kind in kinds])


pytestmark = pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
MANY = ("contact", "spherical", "general")
SLIDES = "revolute+prismatic"
CLOSED = [  # every kind of loop, and every kind of joint, some of which couple
    (("coupled",), SLIDES),
    *(((kind,), JOINTS[i % len(JOINTS)]) for i, kind in enumerate(KINDS)),
    (("held",), SLIDES),
    (MANY, "revolute+universal+spherical"),
]


@pytest.mark.parametrize("angle", [0.9, 2.5])
def test_the_gap_of_a_turn_in_no_axis_is_differentiated_as_a_rotation_vector(angle):
    """Baumgarte's pull on a weld that is open by so many radians, against differences of doubles."""
    tree = kkt.random_tree(4, seed=4, joints="revolute")
    cut = kkt.cut_joint(list(tree)[-1], None, "fixed", baumgarte=(0.5, 20.0), compliance=0.1)
    gap = kkt.build(tree, loops=[cut]).state.loops[0].gap[:3]
    away = Rotation.from_rotvec((angle / np.linalg.norm(gap) - 1.0) * gap).as_matrix()
    system, h = kkt.build(tree, loops=[replace(cut, R=np.stack([cut.R[0], away]))]), 1e-5
    assert np.linalg.norm(system.state.loops[0].gap[:3]) == pytest.approx(angle)
    q, dq = system.state.q, kkt.derivatives(system, ABM).dq
    for j, e in enumerate(h * np.eye(len(q))):
        ahead, back = (kkt.eliminate(system.refresh(q + s * e), ABM).qdd for s in (1, -1))
        assert np.abs((ahead - back) / (2 * h) - dq[:, j]).max() <= 1e-7 * np.abs(dq).max()


@pytest.mark.parametrize(("kinds", "joints"), listed(CLOSED, unmarked=1))
def test_they_are_the_limits_of_differences(kinds, joints):
    """Central differences in 60 digits agree to 30 for every kind of loop and of joint, where no
    loop is closed and nothing rests; of qdd and of lambda."""
    system = closed(kinds, joints, n=5 if joints == SLIDES else 3 if joints in JOINTS[:4] else 2)
    found, limits = kkt.derivatives(system, ABM, "mp:50"), Differences(system)
    for field in FIELDS:
        both = limits.derivative(field)
        for own, exact in ((found, both["qdd"]), (found.dlam, both["lam"])):
            if not any(exact.flat):  # as of a row on sliding joints by rates
                assert not any(getattr(own, field).flat)
            else:
                assert apart(getattr(own, field), exact) <= 1e-30, field


@pytest.mark.parametrize("order", listed(["closed_early", "lambda_first", "crbm", "lcaba"]))
def test_every_order_and_number_type_gives_them(order):
    """In fractions the orders agree to the last digit; wherever lambda stands."""
    system = closed(("contact", "revolute"), n=3)
    exact = kkt.derivatives(system, ABM, "exact")
    other = kkt.derivatives(system, orderings.get(order), "exact")
    single = kkt.derivatives(system, orderings.get(order), "float32")
    for field in FIELDS:
        assert (getattr(other, field) == getattr(exact, field)).all()
        assert (getattr(other.dlam, field) == getattr(exact.dlam, field)).all()
        for own, true in ((single, exact), (single.dlam, exact.dlam)):
            x = getattr(true, field).astype(float)
            assert np.abs(getattr(own, field) - x).max() <= 1e-3 * np.abs(x).max()


@pytest.mark.parametrize("joint", listed(["fixed", "prismatic", "revolute"], unmarked=1))
def test_the_gap_of_an_open_loop_counts(joint):
    """Baumgarte's b: differences in float64, about any turn."""
    tree = kkt.random_tree(4, seed=1, joints="revolute")
    knee = kkt.cut_joint("b4", "b3", joint, p=(0.1, 0.2, 0.3), baumgarte=(1.0, 30.0))
    plain = kkt.cut_joint("b4", "b3", joint, p=(0.1, 0.2, 0.3))
    knee, plain = (kkt.softened([x], 0.5)[0] for x in (knee, plain))
    q = np.array([0.3, 0.5, -0.4, 0.7])
    system = kkt.build(tree, q=q, qd=[1.0, -1.0, 0.5, 2.0], loops=[knee])
    found, columns, step = kkt.derivatives(system, ABM), [], 1e-6
    for move in step * np.eye(4):
        ends = [
            kkt.eliminate(kkt.build(tree, q=q + s * move, qd=system.state.qd, loops=[knee]), ABM)
            for s in (1, -1)
        ]
        columns.append([(getattr(ends[0], x) - getattr(ends[1], x)) / 2e-6 for x in ("qdd", "lam")])
    without = kkt.derivatives(kkt.build(tree, q=q, qd=system.state.qd, loops=[plain]), ABM)
    for own, other, i in ((found, without, 0), (found.dlam, without.dlam, 1)):
        exact = np.array([column[i] for column in columns]).T
        assert np.abs(own.dq - exact).max() <= 1e-7 * np.abs(exact).max()
        assert np.abs(own.dq - other.dq).max() >= 1e-2 * np.abs(exact).max()


@pytest.mark.uncached
def test_by_efforts_they_are_the_inverse_of_motions_that_loops_allow():
    """Rows of lambda on rates keep dtau: J dtau = 0; and lambda's by efforts is J's other half."""
    system = kkt.build(kkt.four_bar())
    found = kkt.derivatives(system, ABM)
    assert np.array_equal(found.dtau, found.dtau.T)
    assert np.array_equal(found.dtau, kkt.joint_space_inverse(system, ABM))
    assert np.linalg.matrix_rank(found.dtau, tol=1e-9) == 1  # one freedom is left
    assert kkt.derivatives(kkt.build(kkt.chain(2)), ABM).dlam is None
