"""kkt.compile with frames "world": the same accelerations, in the world's directions."""

import numpy as np
import pytest
from helpers import ALL_JOINTS
from machine_kernels import general

from pivotree import kkt, orderings
from pivotree.kkt.machine.configuration import Configuration
from pivotree.kkt.machine.forward_dynamics import in_world
from pivotree.kkt.machine.kinematics import directions

WHOLE = ("abm", "modified_abm", "crbm_com")


def both(system, order, **options):
    """Answers of a kernel in the links' own frames, and in the world's."""
    order = orderings.get(order)
    kernels = [kkt.compile(system, order, frames=f, **options) for f in ("own", "world")]
    state = kernels[0].configuration(), system.state.qd, system.state.tau
    return [kernel(*state) for kernel in kernels]


@pytest.mark.thorough
@pytest.mark.parametrize("order", WHOLE)
@pytest.mark.parametrize("make", [lambda: kkt.random_tree(5, 4, joints=ALL_JOINTS), general])
def test_accelerations_are_the_same_in_every_frame(order, make):
    system = kkt.build(make())
    own, world = both(system, order)
    assert np.abs(world - own).max() <= 1e-11 * np.abs(own).max()


@pytest.mark.thorough
def test_a_dense_solver_and_a_check_in_the_world_s_frame():
    system = kkt.build(kkt.random_tree(4, 1))
    exact = kkt.certify(system, 16)
    (_, _), (qdd, status) = both(system, "crbm_com", solver="cholesky", check=True)
    assert status == 0 and exact.error(qdd) < 1e-12


@pytest.mark.thorough
def test_motions_and_forces_come_in_the_world_s_directions_and_wrenches_in_the_body_s():
    system = kkt.build(kkt.random_tree(4, 4, joints=ALL_JOINTS))
    wrench = np.random.default_rng(5).normal(size=(4, 6))
    kernels = [
        kkt.compile(
            system, orderings.get("abm"), outputs=("qdd", "pdd", "f"), inputs=("wrench",), frames=frames
        )
        for frames in ("own", "world")
    ]
    state = kernels[0].configuration(), system.state.qd, system.state.tau, wrench
    own, world = (kernel(*state) for kernel in kernels)
    A = directions(system.tree.parent, system.state.R)
    assert np.abs(world[0] - own[0]).max() <= 1e-11 * np.abs(own[0]).max()
    for mine, theirs in zip(own[1:], world[1:], strict=True):
        turned = np.einsum("nij,nhj->nhi", A, mine.reshape(4, 2, 3)).reshape(4, 6)
        assert np.abs(theirs - turned).max() <= 1e-11 * np.abs(turned).max()
        assert np.abs(theirs - mine).max() > 1e-3 * np.abs(mine).max()


def test_phi_only_shifts_and_planar_zeros_stay():
    system = kkt.build(kkt.two_link(0.1))
    pattern = in_world(system, Configuration(system.tree, system.graph)).pattern
    unit = np.eye(6, dtype=bool)
    assert (pattern.Phi_one == unit).all()
    assert pattern.Phi.sum() == 2 * 6 + 4  # of p~ the second body's x and y
    assert (pattern.S == [False, False, True, False, False, False]).all()
    assert not pattern.M[:, 2, :2].any() and pattern.M[:, 0, 1].all()


@pytest.mark.thorough
def test_an_inertia_that_turns_is_rounded_in_every_state_anew():
    """What makes CRBM rougher: the tip's own moment of inertia is no constant any more."""
    tree, q = kkt.two_link(0.01), np.linspace(0.0, 6.0, 301)
    for composites in ("crbm", "crbm_com"):
        seen = {}
        for frames in ("own", "world"):
            kernel = kkt.compile(
                tree, orderings.get(composites), "float32", outputs=("inertia",), frames=frames
            )
            M = kernel(np.stack([0.3 + q, q], 1), np.zeros((301, 2)), None)
            seen[frames] = M[:, 1, 1]
        assert len(set(seen["own"])) == 1 and len(set(seen["world"])) > 2
        assert np.abs(seen["world"] / seen["own"][0] - 1.0).max() < 16 * 2.0**-24


@pytest.mark.parametrize("order", ["virtual_work", "square_root_abm", "lagrange"])
def test_orders_that_split_along_turning_axes_are_refused(order):
    with pytest.raises(kkt.OrderError, match="turn in the world's frame"):
        kkt.compile(kkt.chain(3), orderings.get(order), frames="world")


def test_unknown_frames_are_told_in_a_sentence():
    with pytest.raises(kkt.ModelError, match="frames is 'word'"):
        kkt.compile(kkt.chain(3), orderings.get("abm"), frames="word")


def test_programs_of_both_frames_are_kept_apart():
    """Traced again, or read from the disk: each is its own."""
    lengths = [
        [len(kkt.compile(kkt.chain(4), orderings.get("abm"), frames=f).straight) for f in ("own", "world")]
        for _ in range(2)
    ]
    assert lengths[0] == lengths[1] and lengths[0][0] != lengths[0][1]
