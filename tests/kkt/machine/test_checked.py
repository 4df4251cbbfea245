"""Kernels that say whether their answer holds, and what no kernel is made of."""

import re

import flint
import numpy as np
import pytest
from helpers import ALL_JOINTS
from hostile_trees import Truth, hostile_tree

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.interpreter import Interpreter

EVERY = orderings.names()
DIAGONAL = np.diag([0.01, 0.02, 0.02])


def ball_and_point(behind):
    """A body on a hinge, a point mass on a ball joint, and perhaps a whole body on another."""
    tree = kkt.new_tree("ball and point")
    kkt.add_body(
        tree,
        "base",
        joint="revolute",
        axis=(0.6, 0.0, 0.8),
        mass=2.0,
        com=(0.1, 0.2, 0.3),
        inertia=np.diag([0.1, 0.2, 0.15]),
    )
    kkt.add_body(
        tree,
        "p",
        "base",
        joint="spherical",
        mass=1.0,
        com=(0.1, 0.2, 0.3),
        p=(0.3, 0.1, 0.0),
        inertia=np.zeros((3, 3)),
    )
    if behind:
        kkt.add_body(
            tree,
            "c",
            "p",
            joint="spherical",
            mass=1.0,
            com=(0.05, 0.02, 0.1),
            inertia=DIAGONAL,
            p=(0.1, 0.3, 0.2),
        )
    N = 7 if behind else 4
    tree.graph |= {"q": 0.1 * np.arange(1, N + 1), "qd": np.ones(N), "tau": np.ones(N)}
    return tree


def two_points():
    """Two point masses on hinges that meet: singular where the arm is stretched, and only there."""
    tree = kkt.new_tree("two points")
    zero = np.zeros((3, 3))
    kkt.add_body(tree, "a", joint="revolute", axis=(0.6, 0.0, 0.8), mass=0.0, inertia=zero)
    kkt.add_body(
        tree,
        "b",
        "a",
        joint="revolute",
        axis=(0.6, 0.0, 0.8),
        mass=1.0,
        com=(0.8, 0.0, -0.6),
        inertia=zero,
        p=(0.8, 0.0, -0.6),
    )
    return tree


def states(kernel, m, dtype):
    draw = np.random.default_rng(4)
    x = kernel.configuration() + 0.2 * draw.normal(size=(m, kernel.nx))
    return tuple(v.astype(dtype) for v in (x, *draw.normal(size=(2, m, kernel.N))))


@pytest.mark.slow
@pytest.mark.parametrize("format", ["float64", "float32"])
@pytest.mark.parametrize("order", ["abm", "crbm", "square_root_abm", "lagrange"])
def test_a_checked_kernel_has_the_bits_of_one_that_is_not(order, format):
    tree = kkt.random_tree(5, 0, joints=ALL_JOINTS.replace("universal+", ""))
    plain = kkt.compile(tree, orderings.get(order), format, outputs=("qdd", "f"))
    checked = kkt.compile(tree, orderings.get(order), format, outputs=("qdd", "f"), check=True)
    given = states(plain, 2 * plain.lanes + 3, format)
    for wanted, found in zip(plain(*given), checked(*given), strict=False):
        assert np.array_equal(wanted, found)
    status = checked(*given)[2]
    assert status.dtype == np.int32 and status.shape == (len(given[0]),) and not status.any()
    one = checked(*(v[1] for v in given))
    assert np.array_equal(one[0], plain(*given)[0][1]) and one[2] == 0 and type(one[2]) is int


@pytest.mark.thorough
def test_each_of_several_orders_has_its_status():
    tree = ball_and_point(True)
    both = kkt.compile(tree, [orderings.get("abm"), orderings.get("crbm")], "float32", check=True)
    alone = kkt.compile(tree, orderings.get("crbm"), "float32", check=True)
    given = states(both, 5, "float32")
    (_, first), (qdd, second) = both(*given)
    assert np.array_equal(qdd, alone(*given)[0])
    assert first.tolist() == second.tolist() == [0] * 5


@pytest.mark.thorough
@pytest.mark.parametrize("solver", [None, "cholesky", "lu", "gauss_jordan"])
@pytest.mark.parametrize("format", ["float64", "float32"])
def test_a_state_in_which_an_arm_is_singular_is_told_in_machine_code(format, solver):
    """At q_2 = 0 and pi; the status is that of numpy on the same rows, one state or many."""
    kernel = kkt.compile(two_points(), orderings.get("crbm"), format, solver=solver, check=True)
    q = np.array([[0.3, 0.0], [0.3, 1.0], [-0.2, np.pi], [0.1, 2.0], [0.0, 1e-12]], dtype=format)
    qd = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, -1.0], [0.5, 0.5], [0.0, 1.0]], dtype=format)
    _, status = kernel(q, qd, 0 * qd)
    assert status[[1, 3]].tolist() == [0, 0] and (status[[0, 2, 4]] != 0).all()
    rows = Interpreter(kernel.straight, get_format(format)).run(np.hstack([q, qd, 0 * qd]))
    assert np.array_equal(kernel.judged.judge(rows)[:, -1], status)
    assert [kernel(*state)[1] for state in zip(q, qd, strict=True)] == status.tolist()
    for code in status[[0, 2, 4]].tolist():
        assert re.fullmatch(
            rf"pivot qdd_[ab], step \d: zero for {format}"
            rf"|qdd: overflow or not a number|{format} keeps fewer than half of its digits here",
            kernel.reason(code),
        )
    assert kernel.reason(0) is None


@pytest.mark.slow
def test_an_overflow_and_a_lost_answer_are_told_apart():
    """Efforts beyond float32, and CRBM on a chain that float32 is too short for."""
    kernel = kkt.compile(kkt.chain(100), orderings.get("crbm"), "float32", check=True)
    state = kernel.configuration(), np.zeros(100), np.zeros(100)
    assert kernel.reason(kernel(*state)[1]) == "float32 keeps fewer than half of its digits here"
    short = kkt.compile(kkt.chain(3), orderings.get("abm"), "float32", check=True)
    _, status = short(short.configuration(), np.zeros(3), np.full(3, 3e38))
    assert short.reason(status) == "qdd: overflow or not a number"


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["float64", "float32", "bfloat16"])
def test_a_pivot_that_no_state_mends_is_refused_when_a_kernel_is_made(format):
    singular = r"in any state equation \(4\) is singular to \w+: the point mass 'p' hangs on"
    for order in ("abm", "crbm"):
        with pytest.raises(kkt.SingularError, match=singular):
            kkt.compile(ball_and_point(False), orderings.get(order), format)
    regular = ball_and_point(True)
    with pytest.raises(kkt.SingularError, match=r"in any state pivot pdd_p, step 4: zero"):
        kkt.compile(regular, orderings.get("lagrange"), format)
    kernel = kkt.compile(regular, orderings.get("abm"), format, check=True)
    qdd, status = kernel(kernel.configuration(), np.ones(7), np.ones(7))
    printed = [-13.87, 2.49, 27.75, 40.01, 89.74, 12.56, 37.81]  # certified
    assert status == 0
    assert np.abs(qdd - printed).max() < 89.74 * (0.1 if format == "bfloat16" else 1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("solver", [None, "cholesky", "lu", "gauss_jordan"])
def test_constants_whose_root_or_quotient_is_no_number_are_told_in_a_sentence(solver):
    """Slides along one line, the heavy one behind the light one: M is (m, m; m, m) in float32."""
    tree = kkt.new_tree("slides")
    for name, up, mass in (("light", None, 1e-8), ("heavy", "light", 0.3)):
        kkt.add_body(
            tree, name, up, joint="prismatic", axis=(0.0, 0.0, 1.0), mass=mass, inertia=mass * DIAGONAL
        )
    with pytest.raises(kkt.SingularError, match=r"order 'crbm': in any state a number is divided"):
        kkt.compile(tree, orderings.get("crbm"), "float32", solver=solver)
    right = kkt.compile(tree, orderings.get("crbm"), check=True)
    qdd, status = right(np.zeros(2), np.zeros(2), np.array([0.0, 1.0]))
    assert abs(qdd[0] / -1e8 - 1.0) < 1e-7 and status == 0
    # nothing is rounded on one line: a pivot so small is told to be zero though it is not
    alarm = kkt.compile(tree, orderings.get("abm"), "float32", check=True)
    qdd, status = alarm(np.zeros(2), np.zeros(2), np.array([0.0, 1.0]))
    assert abs(qdd[0] / -1e8 - 1.0) < 1e-5
    assert alarm.reason(status) == "pivot qdd_light, step 2: zero for float32"


def test_what_cannot_be_checked_is_refused_in_a_sentence(tmp_path):
    order = orderings.get("crbm")
    with pytest.raises(kkt.ModelError, match="check is of qdd; ask for it"):
        kkt.compile(kkt.chain(2), order, outputs=("inertia",), check=True)
    kernel = kkt.compile(kkt.chain(2), order, check=True)
    with pytest.raises(kkt.ModelError, match="C has no status; compile without check"):
        kernel.export_c(tmp_path / "arm.c")


def answers(seed, orders):
    """Of a hostile tree by order and format: the true solution, qdd and status; or None."""
    tree = hostile_tree(seed)
    try:
        system = kkt.build(tree)
    except kkt.PivotreeError:
        return
    for name in orders:
        for format in ("float64", "float32"):
            try:
                kernel = kkt.compile(tree, orderings.get(name), format, check=True)
            except kkt.PivotreeError:
                continue  # refused by name
            state = np.concatenate([kernel.configuration(), system.state.qd, system.state.tau])
            rows = Interpreter(kernel.straight, get_format(format)).run(state[None])
            *qdd, status = kernel.judged.judge(rows)[0]
            yield name, Truth(system, format), qdd, int(status), get_format(format).unit


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(40, 80))
def test_no_kernel_of_a_hostile_tree_gives_a_wrong_number_silently(seed):
    """Without a status an answer is right to half of its digits, or to what its condition allows.

    Half of the digits is the bound of the check; 30 kappa u, kappa of the entries of (4), is what
    the kinematics of the format may move the answer by.  In equilibrium qdd is zero to the rounding
    of what balances, of which 10 m/s^2 are gravity.
    """
    for name, truth, qdd, status, unit in answers(seed, ["abm", EVERY[seed % len(EVERY)]]):
        if status == 0 and len(qdd):
            assert not truth.singular, name
            error, size = truth.error(qdd), float(max(abs(flint.arb(x)) for x in truth.qdd))
            few = error <= unit**0.5 or error * size <= 100 * unit
            assert few or error <= 30 * truth.condition() * unit < 0.1, name


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_checked_kernel_of_a_large_tree_has_the_bits_of_one_that_is_not(threads):
    tree = kkt.random_tree(40, 1, joints=ALL_JOINTS)
    plain, checked = (kkt.compile_large(tree, threads=threads, check=c) for c in (False, True))
    N = int(kkt.compile_tree(tree).offset[-1])
    for seed in range(3):
        state = 0.3 * np.random.default_rng(seed).normal(size=(3, N))
        qdd, status = checked(*state)
        assert np.array_equal(qdd, plain(*state)) and status == 0


@pytest.mark.thorough
def test_kernels_of_large_trees_tell_of_singular_states_and_refuse_singular_trees():
    with pytest.raises(kkt.SingularError, match="pivot qdd_p: zero for float64 in any state; give"):
        kkt.compile_large(ball_and_point(False))
    kernel = kkt.compile_large(two_points(), check=True)
    rate = np.array([0.5, 0.7])
    status = [kernel(np.array(q), rate)[1] for q in ([0.3, 0.0], [0.3, 1.0], [-0.2, np.pi])]
    assert kernel.reason(status[0]) == "pivot qdd_a: zero for float64"
    assert status[1] == 0 and kernel.reason(0) is None
    assert kernel.reason(status[2]) == "float64 keeps fewer than half of its digits here"


@pytest.mark.parametrize("second", [1e4, 3e5])
def test_a_small_pivot_with_its_digits_is_no_zero(second):
    """A thin link of 3e5 m behind one of 1 m: abm's D_1 is far below its terms, and right."""
    tree = kkt.new_tree("two links", (0.0, -9.8, 0.0))
    for k, length in enumerate((1.0, second)):
        inertia = np.diag([length / 6, *[length * (length**2 + 1) / 12] * 2])
        kkt.add_body(
            tree,
            k,
            k - 1 if k else None,
            mass=length,
            com=(length / 2, 0, 0),
            inertia=inertia,
            p=(float(k), 0, 0),
        )
    kernel = kkt.compile(tree, orderings.get("abm"), "float32")
    for angle in (0.3, 1.0, 2.5):
        system = kkt.build(tree, [0.0, angle])
        x = kernel([0.0, angle], np.zeros(2), np.zeros(2))
        assert kkt.certify(system, 16).error(np.asarray(x, float)) < 1e-5
