"""Kernels that say whether their answer holds, and what no kernel is made of."""

import re
from itertools import product

import flint
import numpy as np
import pytest
from designs import covering, listed
from helpers import Mechanics
from hostile_trees import Truth, hostile_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_kernels import ABM, NO_UNIVERSAL, plain, states
from strategies import trees

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.recorder import LARGEST
from pivotree.kkt.program.joint_space import SOLVERS

DIAGONAL = np.diag([0.01, 0.02, 0.02])
HINGE = {"joint": "revolute", "axis": (0.6, 0.0, 0.8)}
POINT = {"mass": 1.0, "inertia": np.zeros((3, 3))}


def ball_and_point(behind):
    """A body on a hinge, a point mass on a ball joint, and perhaps a whole body on another."""
    tree = kkt.new_tree("ball and point")
    base = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.15])}
    kkt.add_body(tree, "base", **HINGE, **base)
    kkt.add_body(tree, "p", "base", joint="spherical", com=(0.1, 0.2, 0.3), p=(0.3, 0.1, 0.0), **POINT)
    if behind:
        whole = {"mass": 1.0, "com": (0.05, 0.02, 0.1), "inertia": DIAGONAL}
        kkt.add_body(tree, "c", "p", joint="spherical", p=(0.1, 0.3, 0.2), **whole)
    N = 7 if behind else 4
    tree.graph |= {"q": 0.1 * np.arange(1, N + 1), "qd": np.ones(N), "tau": np.ones(N)}
    return tree


def two_points():
    """Two point masses on hinges that meet: singular where the arm is stretched, and only there."""
    tree, far = kkt.new_tree("two points"), (0.8, 0.0, -0.6)
    kkt.add_body(tree, "a", **HINGE, **(POINT | {"mass": 0.0}))
    kkt.add_body(tree, "b", "a", com=far, p=far, **HINGE, **POINT)
    return tree


@pytest.mark.uncached
@pytest.mark.parametrize(
    ("order", "format"),
    covering(["abm", "crbm", "square_root_abm", "lagrange"], ["float64", "float32"], unmarked=1),
)
def test_a_checked_kernel_has_the_bits_of_one_that_is_not(order, format):
    tree, outputs = kkt.random_tree(3, 0, joints=NO_UNIVERSAL), ("qdd", "f")
    other, checked = (
        kkt.compile(tree, orderings.get(order), format, outputs=outputs, check=c) for c in (False, True)
    )
    given = states(other, 2 * other.lanes + 3, seed=4)
    for wanted, found in zip(other(*given), checked(*given), strict=False):
        assert np.array_equal(wanted, found)
    status = checked(*given)[2]
    assert status.dtype == np.int32 and status.shape == (len(given[0]),) and not status.any()
    one = checked(*(v[1] for v in given))
    assert np.array_equal(one[0], other(*given)[0][1]) and one[2] == 0 and type(one[2]) is int


@pytest.mark.parametrize(("solver", "format"), covering([None, *SOLVERS], ["float64", "float32"], unmarked=2))
def test_a_state_in_which_an_arm_is_singular_is_told_in_machine_code(solver, format):
    """At q_2 = 0 and pi; the status is that of numpy on the same rows, one state or many."""
    kernel = kkt.compile(two_points(), orderings.get("crbm"), format, solver=solver, check=True)
    q = np.array([[0.3, 0.0], [0.3, 1.0], [-0.2, np.pi], [0.1, 2.0], [0.0, 1e-12]], dtype=format)
    qd = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, -1.0], [0.5, 0.5], [0.0, 1.0]], dtype=format)
    _, status = kernel(q, qd, 0 * qd)
    assert status[[1, 3]].tolist() == [0, 0] and (status[[0, 2, 4]] != 0).all()
    assert np.array_equal(kernel.judged.judge(plain(kernel, q, qd, 0 * qd))[:, -1], status)
    assert [kernel(*state)[1] for state in zip(q, qd, strict=True)] == status.tolist()
    for code in status[[0, 2, 4]].tolist():
        assert re.fullmatch(
            rf"pivot qdd_[ab], step \d: zero for {format}"
            rf"|qdd: overflow or not a number|{format} keeps fewer than half of its digits here",
            kernel.reason(code),
        )
    assert kernel.reason(0) is None


LOST = [(3, "abm", 3e38, "qdd: overflow or not a number"), (30, "crbm", 0.0, "float32 keeps fewer than half")]


@pytest.mark.parametrize(("n", "order", "effort", "told"), listed(LOST, unmarked=1))
def test_an_overflow_and_an_answer_that_is_lost_are_told(n, order, effort, told):
    """Efforts beyond float32 on ABM, and CRBM on a chain that float32 is too short for."""
    kernel = kkt.compile(kkt.chain(n), orderings.get(order), "float32", check=True)
    _, status = kernel(kernel.configuration(), np.zeros(n), np.full(n, effort))
    assert kernel.reason(status).startswith(told)


@pytest.mark.parametrize("q", [(2 * LARGEST, 0.1), (0.1, 2 * LARGEST)])
def test_an_angle_whose_sine_is_wrong_is_told_at_either_axis_of_a_joint(q):
    tree = kkt.new_tree("universal")
    kkt.add_body(tree, "u", joint="universal", axis=np.eye(3)[:2], mass=1, com=(0.1, 0.2, 0.3))
    kernel = kkt.compile(tree, ABM, check=True)
    assert kernel(np.array(q), *np.zeros((2, 2)))[1] != 0 == kernel([0.1, 0.1], *np.zeros((2, 2)))[1]


@pytest.mark.parametrize("format", ["float64", "float32", "bfloat16"])
def test_a_pivot_that_no_state_mends_is_refused_when_a_kernel_is_made(format):
    singular = r"in any state equation \(4\) is singular to \w+: the point mass 'p' hangs on"
    for order in ("abm", "crbm"):
        with pytest.raises(kkt.SingularError, match=singular):
            kkt.compile(ball_and_point(False), orderings.get(order), format)
    regular = ball_and_point(True)
    with pytest.raises(kkt.SingularError, match=r"in any state pivot pdd_p, step 4: zero"):
        kkt.compile(regular, orderings.get("lagrange"), format)
    kernel = kkt.compile(regular, ABM, format, check=True)
    qdd, status = kernel(kernel.configuration(), np.ones(7), np.ones(7))
    printed = [-13.87, 2.49, 27.75, 40.01, 89.74, 12.56, 37.81]  # certified
    assert status == 0
    assert np.abs(qdd - printed).max() < 89.74 * (0.1 if format == "bfloat16" else 1e-4)


@pytest.mark.parametrize("solver", [None, *SOLVERS])
def test_constants_whose_root_or_quotient_is_no_number_are_told_in_a_sentence(solver):
    """Slides along one line, the heavy one behind the light one: M is (m, m; m, m) in float32."""
    tree = kkt.new_tree("slides")
    for name, up, mass in (("light", None, 1e-8), ("heavy", "light", 0.3)):
        kkt.add_body(tree, name, up, joint="prismatic", axis=(0, 0, 1), mass=mass, inertia=mass * DIAGONAL)
    with pytest.raises(kkt.SingularError, match=r"order 'crbm': in any state a number is divided"):
        kkt.compile(tree, orderings.get("crbm"), "float32", solver=solver)
    right = kkt.compile(tree, orderings.get("crbm"), check=True)
    qdd, status = right(np.zeros(2), np.zeros(2), np.array([0.0, 1.0]))
    assert abs(qdd[0] / -1e8 - 1.0) < 1e-7 and status == 0
    # nothing is rounded on one line: a pivot so small is told to be zero though it is not
    alarm = kkt.compile(tree, ABM, "float32", check=True)
    qdd, status = alarm(np.zeros(2), np.zeros(2), np.array([0.0, 1.0]))
    assert abs(qdd[0] / -1e8 - 1.0) < 1e-5
    assert alarm.reason(status) == "pivot qdd_light, step 2: zero for float32"


@pytest.mark.parametrize(("lever", "rate"), [(1.0, 1.0), (1e4, 100.0), (1.0, 3e3)])
def test_what_float32_loses_in_the_kinematics_is_told(lever, rate):
    """Right answers have status 0 and wrong ones none: float64 judges; long levers, and fast rates."""
    tree = kkt.new_tree("far")
    link = {"mass": 1.0, "com": (0.2, -0.1, 0.3), "inertia": 4 * DIAGONAL}
    for k, axis in enumerate(((1, 2, 3), (3, -1, 1), (1, 1, -2))):
        far = (lever if k == 2 else 1.0) * np.array((1.0, 2.0, -1.0))
        kkt.add_body(tree, k, k - 1 if k else None, axis=axis, p=far, **link)
    kernel, draw = kkt.compile(tree, ABM, "float32", check=True), np.random.default_rng(7)
    states = [draw.uniform(-3, 3, (64, 3)), rate * draw.normal(size=(64, 3)), np.zeros((64, 3))]
    states = [x.astype("f4") for x in states]
    qdd, status = kernel(*states)
    right = kkt.compile(tree, ABM)(*states)
    error = np.abs(qdd - right).max(axis=1) / np.abs(right).max(axis=1)
    assert (error > 2.0**-12).any() == (lever > 1.0) and status[error > 2.0**-12].all()
    assert not status[error < 2.0**-13].any()
    assert np.array_equal(kernel.judged.judge(plain(kernel, *states))[:, -1], status)
    assert [kernel(*state)[1] for state in zip(*states, strict=True)] == status.tolist()


NAMES = orderings.names()


def answers(seed, orders):
    """Of a hostile tree, every other one with armature, by order and format: the truth, qdd and status."""
    tree = hostile_tree(seed, rotors=seed % 2 == 1)
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
            state = kernel.configuration(), system.state.qd, system.state.tau
            *qdd, status = kernel.judged.judge(plain(kernel, *(a[None] for a in state)))[0]
            yield name, Truth(system, format), qdd, int(status), get_format(format).unit


@pytest.mark.parametrize(
    "seed", [*listed(range(40, 56)), *(pytest.param(x, marks=pytest.mark.soak) for x in range(56, 80))]
)
def test_no_kernel_of_a_hostile_tree_gives_a_wrong_number_silently(seed):
    """Without a status an answer is right to half of its digits, or to what its condition allows.

    Half of the digits is the bound of the check; 30 kappa u, kappa of the entries of (4), is what
    the kinematics of the format may move the answer by.  In equilibrium qdd is zero to the rounding
    of what balances, of which 10 m/s^2 are gravity.
    """
    for name, truth, qdd, status, unit in answers(seed, ["abm", NAMES[seed % len(NAMES)]]):
        if status == 0 and len(qdd):
            assert not truth.singular, name
            error, size = truth.error(qdd), float(max(abs(flint.arb(x)) for x in truth.qdd))
            few = error <= unit**0.5 or error * size <= 100 * unit
            assert few or error <= 30 * truth.condition() * unit < 0.1, name


@pytest.mark.parametrize("second", [1e4, 3e5])
def test_a_small_pivot_with_its_digits_is_no_zero(second):
    """A thin link of 3e5 m behind one of 1 m: abm's D_1 is far below its terms, and right."""
    tree = kkt.new_tree("two links", (0.0, -9.8, 0.0))
    for k, length in enumerate((1.0, second)):
        inertia = np.diag([length / 6, *[length * (length**2 + 1) / 12] * 2])
        link = {"mass": length, "com": (length / 2, 0, 0), "inertia": inertia}
        kkt.add_body(tree, k, k - 1 if k else None, p=(float(k), 0, 0), **link)
    kernel = kkt.compile(tree, ABM, "float32")
    for angle in (0.3, 1.0, 2.5):
        system = kkt.build(tree, [0.0, angle])
        x = kernel([0.0, angle], np.zeros(2), np.zeros(2))
        assert kkt.certify(system, 16).error(np.asarray(x, float)) < 1e-5


# -- every order and solver on small trees, against balls -----------------------------------------


LEAVING = ("crbm", "crbm_block_row")  # orders that leave the joint-space inertia
OTHERS = [name for name in NAMES if name not in LEAVING]


def interpreted(kernel, system):
    """qdd (N,) by the program, one operation after another: the bits of machine code, sooner."""
    state = kernel.configuration(), system.state.qd, system.state.tau
    return plain(kernel, *(a[None] for a in state))[0]


@pytest.mark.parametrize(
    "examples", [3, pytest.param(10, marks=pytest.mark.product), pytest.param(2500, marks=pytest.mark.soak)]
)
def test_every_order_and_solver_is_right_on_small_trees(examples):
    """To 1e-11 of the largest entry, qdd and the joint-space inertia."""

    @settings(max_examples=examples)
    @given(trees(4, NO_UNIVERSAL), st.sampled_from(OTHERS))
    def right(tree, other):
        system, M = kkt.build(tree), Mechanics(tree, tree.graph["q"], tree.graph["qd"]).inertia()
        qdd = np.array([float(x) for x in kkt.certify(system, 20).decimals()])
        tapes = {name: kkt.trace(system, orderings.get(name)) for name in (*LEAVING, other)}
        for solver in (None, *SOLVERS):
            for name in tapes if solver is None else LEAVING:
                found = interpreted(kkt.compile(system, tapes[name], solver=solver), system)
                assert np.abs(found - qdd).max(initial=0.0) <= 1e-11 * np.abs(qdd).max(initial=0.0), name
        for name in LEAVING:
            inertia = kkt.joint_space_inertia(system, tapes[name])
            assert np.array_equal(inertia, inertia.T)
            np.linalg.cholesky(inertia)  # LinAlgError where it is not positive
            assert np.abs(inertia - M).max(initial=0.0) <= 1e-11 * np.abs(M).max(initial=0.0)

    right()


@pytest.mark.parametrize(("solver", "format"), covering([None, *SOLVERS], ["float64", "float32"], unmarked=1))
def test_machine_code_of_every_solver_has_those_bits(solver, format):
    """On trees where the inertia comes with the other sign, or a root's argument does."""
    for kinds, name in product([("fixed", "revolute"), ("spherical", "fixed")], LEAVING):
        tree = kkt.random_tree(2, seed=1, joints="revolute")
        for data, kind in zip(tree.nodes.values(), kinds, strict=True):
            data["joint"] = kind
        system = kkt.build(kkt.default_state(tree))
        kernel = kkt.compile(system, orderings.get(name), format, solver=solver)
        found = kernel(kernel.configuration(), system.state.qd, system.state.tau)
        assert np.array_equal(found, interpreted(kernel, system))
        exact = kkt.certify(system, 20)
        assert exact.error(found) < (1e-13 if format == "float64" else 1e-5)
