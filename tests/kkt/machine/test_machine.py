"""kkt.compile: the same bits however a kernel is run, and the values that elimination gives."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from designs import covering, listed
from helpers import ALL_JOINTS, Mechanics, every_joint
from machine_kernels import ABM, ORDERS, TREES, general, kernel_of, plain, slides, states, whole
from mechanisms import SYSTEMS, parallelogram
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.forward_dynamics import recorder_for
from pivotree.kkt.machine.kinematics import directions
from pivotree.kkt.machine.native import compiled
from pivotree.kkt.machine.recorder import (
    LARGEST,
    Interpreter,
    Recorder,
    depth_first,
    finished,
    sine_and_cosine,
)
from pivotree.kkt.model.rotations import from_quaternion, to_quaternion

ALL = ("qdd", "pdd", "f")
pytestmark = pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")


@pytest.mark.parametrize(
    ("name", "order", "format"), covering(TREES, ORDERS, ["float64", "float32"], unmarked=1)
)
def test_machine_code_gives_the_bits_of_a_plain_interpreter(name, order, format):
    """Of qdd alone in float32, and of all unknowns in float64."""
    kernel = kernel_of(name, order, format, ALL if format == "float64" else ("qdd",))
    assert kernel.format == format and kernel.order == order and "machine code" in kernel.how
    x, qd, tau = states(kernel, 2 * kernel.lanes + 3)
    expected = plain(kernel, x, qd, tau)
    assert np.isfinite(expected).all() and expected.dtype == format
    for m in (1, 2, kernel.lanes, kernel.lanes + 1, len(x), len(x)):
        assert np.array_equal(whole(kernel(x[:m], qd[:m], tau[:m]), m), expected[:m])
    for _ in range(3):  # of qdd alone by way of a desk from the second time on
        assert np.array_equal(whole(kernel(x[1], qd[1], tau[1]), 1)[0], expected[1])


def test_a_program_cut_into_functions_or_in_another_order_gives_the_same_bits():
    tree = kkt.random_tree(3, 0, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, ABM, outputs=("f", "qdd"))
    x, qd, tau = states(kernel, 10)
    expected = plain(kernel, x, qd, tau)
    native = compiled(kernel.straight, np.float64, 4, kernel.fields.sizes, piece=60)
    assert len(kernel.straight) > 30 * 60
    out = np.empty_like(expected)
    assert native.run([x, qd, tau], out) and np.array_equal(out, expected)
    other = depth_first(kernel.straight)
    assert other.operations == kernel.straight.operations
    assert not np.array_equal(other.op, kernel.straight.op)
    again = Interpreter(other, kernel.number).run(np.concatenate([x, qd, tau], axis=1))
    assert np.array_equal(again, expected)


@pytest.mark.uncached
@pytest.mark.parametrize(("name", "order"), covering(list(TREES)[:4], ORDERS, unmarked=1))
def test_values_are_those_of_elimination(name, order):
    tree = TREES[name](order)
    kernel = kernel_of(name, order, "float64", ALL)
    draw = np.random.default_rng(3)
    for _ in range(3):
        q, qd, tau = draw.normal(size=(3, kernel.N))
        system = kkt.build(tree, q, qd, tau)
        expected = kkt.eliminate(system, orderings.get(order), records=False)
        got = kernel(kernel.configuration(q), qd, tau)
        for value, letter in zip(got, ALL, strict=True):
            wanted = getattr(expected, letter)
            assert value.shape == wanted.shape
            assert np.abs(value - wanted).max() <= 1e-11 * np.abs(wanted).max(), letter


def test_joint_space_inertia_is_an_output():
    tree = kkt.random_tree(7, 2, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia", "qdd"))
    q = np.random.default_rng(1).normal(size=kernel.N)
    inertia, _ = kernel(kernel.configuration(q), np.zeros(kernel.N))
    expected = kkt.joint_space_inertia(kkt.build(tree, q), orderings.get("crbm"))
    assert np.abs(inertia - expected).max() <= 1e-13 * np.abs(expected).max()
    with pytest.raises(kkt.OrderError, match="use crbm"):
        kkt.compile(tree, ABM, outputs=("inertia",))


def test_wrenches_are_constants_or_an_input():
    tree = kkt.random_tree(2, 6, joints=ALL_JOINTS)
    f_ext, qd, tau = np.random.default_rng(2).normal(size=(2, 6)), tree.graph["qd"], tree.graph["tau"]
    system = kkt.build(tree, f_ext=f_ext)
    expected = kkt.eliminate(system, ABM, records=False).qdd
    constant, moving = kkt.compile(system, ABM), kkt.compile(tree, ABM, inputs=("wrench",))
    x = constant.configuration()
    found = [constant(x, qd, tau), moving([x] * 3, qd, tau, [f_ext] * 3)[2]]
    for value in (*found, *(moving(x, qd, tau, f_ext) for _ in range(2))):  # the second by way of a desk
        assert np.abs(value - expected).max() <= 1e-12 * np.abs(expected).max()
    assert np.array_equal(moving(x, qd, tau), kkt.compile(tree, ABM)(x, qd, tau))


@pytest.mark.parametrize("format", listed(["tf32:zero", "float32+mul=tf32", "bfloat16", "p11", "float16"]))
def test_other_formats_are_interpreted_operation_by_operation(format):
    tree = kkt.chain(4)
    kernel = kkt.compile(tree, ABM, format)
    assert kernel.how == f"interpreted, each operation rounded to {format}"
    x, qd, tau = kernel.configuration(), tree.graph["qd"], tree.graph["tau"]
    got = kernel(np.stack([x, x]), qd, tau)
    chosen = get_format(format)
    assert np.array_equal(chosen.cast(got[0]), got[0]) and np.array_equal(*got)
    truth = kkt.eliminate(kkt.build(tree), ABM, records=False).qdd
    assert 0 < np.abs(got[0] - truth).max() <= 200 * chosen.unit * np.abs(truth).max()


# -- frames of the world --------------------------------------------------------------------------


def in_both_frames(system, order, wrench=(), **options):
    """Answers of a kernel in the links' own frames, and in the world's."""
    order = orderings.get(order)
    kernels = [kkt.compile(system, order, frames=f, **options) for f in ("own", "world")]
    state = kernels[0].configuration(), system.state.qd, system.state.tau, *wrench
    return [kernel(*state) for kernel in kernels]


def test_a_dense_solver_and_a_check_in_the_world_s_frame():
    system = kkt.build(kkt.random_tree(3, 1))
    (_, _), (qdd, status) = in_both_frames(system, "crbm_com", solver="cholesky", check=True)
    assert status == 0 and kkt.certify(system, 16).error(qdd) < 1e-12


def test_motions_and_forces_come_in_the_world_s_directions_and_wrenches_in_the_body_s():
    system = kkt.build(kkt.random_tree(4, 4, joints=ALL_JOINTS))
    wrench = np.random.default_rng(5).normal(size=(4, 6))
    own, world = in_both_frames(system, "abm", (wrench,), outputs=ALL, inputs=("wrench",))
    A = directions(system.tree.parent, system.state.R)
    assert np.abs(world[0] - own[0]).max() <= 1e-11 * np.abs(own[0]).max()
    for mine, theirs in zip(own[1:], world[1:], strict=True):
        turned = np.einsum("nij,nhj->nhi", A, mine.reshape(4, 2, 3)).reshape(4, 6)
        assert np.abs(theirs - turned).max() <= 1e-11 * np.abs(turned).max()
        assert np.abs(theirs - mine).max() > 1e-3 * np.abs(mine).max()


# -- derivatives beside qdd: those of kkt.derivatives ---------------------------------------------


DERIVED = ("qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau")


def states_of_q(kernel, count):
    q, qd, tau = np.random.default_rng(1).normal(size=(3, count, kernel.N))
    return q, np.array([kernel.configuration(row) for row in q]), qd, tau


JOINTS = ("cylindrical+prismatic", "revolute+universal", "planar+spherical", "floating")


@pytest.mark.parametrize(
    ("joints", "order", "format"), covering(JOINTS, ["abm", "crbm"], ["float64", "float32"], unmarked=1)
)
def test_a_kernel_gives_them_in_many_states(joints, order, format):
    """Every kind of joint with its terms, one state and a batch."""
    tree = kkt.random_tree(1 if joints == "floating" else 2, seed=3, joints=joints)
    for _, data in tree.nodes(data=True):
        data |= {"armature": 0.3, "damping": 0.2}
    kernel = kkt.compile(tree, orderings.get(order), format, outputs=DERIVED)
    q, x, qd, tau = states_of_q(kernel, 3)
    batch, close = kernel(x, qd, tau), 1e-11 if format == "float64" else 1e-3
    for i in range(3):
        exact = kkt.derivatives(kkt.build(tree, q[i], qd[i], tau[i]), ABM)
        expected = exact.qdd, exact.dq, exact.dqd, exact.dtau
        for found, right, many in zip(kernel(x[i], qd[i], tau[i]), expected, batch, strict=True):
            assert np.array_equal(found, many[i])
            assert np.abs(found - right).max() <= close * np.abs(right).max()


OF_LOOPS = [f"d{of}_d{by}" for of in ("qdd", "lambda") for by in ("q", "qd", "tau")]


@pytest.mark.parametrize("model", listed(["hanging", "four_bar"], unmarked=1))
def test_a_kernel_gives_those_of_closed_loops(model):
    """Poses of the loops, gains and all that is differentiated by, in states where loops open."""
    tree = kkt.chain(3) if model == "hanging" else getattr(kkt, model)()
    loops = None
    if model == "hanging":
        loops = [
            kkt.cut_joint("j3", None, p=(0.1, 0, 0), rows=(2, 3), baumgarte=(2.0, 5.0)),
            kkt.contact("j2", (0.1, 0.2, 0), damping=3.0, compliance=0.1),
        ]
    outputs = ["qdd", "lambda", *OF_LOOPS]
    kernel = kkt.compile(tree, ABM, outputs=outputs, loops=loops)
    q, x, qd, tau = states_of_q(kernel, 2)
    batch, alone = kernel(x, qd, tau), kernel(x[1], qd[1], tau[1])
    for i in range(2):
        system = kkt.build(tree, q[i], qd[i], tau[i], loops=loops)
        exact = kkt.derivatives(system, ABM)
        for name, many, one in zip(outputs[2:], batch[2:], alone[2:], strict=True):
            own = exact if name.startswith("dqdd") else exact.dlam
            expected = getattr(own, name.split("_")[1])
            scale = np.abs(expected).max()
            assert np.abs(many[i] - expected).max() <= 1e-10 * scale, name
            assert i != 1 or np.array_equal(one, many[1])


@pytest.mark.parametrize("order", listed(["crbm", "abm"], unmarked=1))
def test_what_else_is_asked_changes_no_bit(order):
    """Of crbm joints' reciprocals are all quotients, and the tip's is a constant."""
    tree, asked = kkt.chain(3), (("qdd",), DERIVED, DERIVED[1:], DERIVED[3:])
    plain, beside, alone, last = (kkt.compile(tree, orderings.get(order), outputs=x) for x in asked)
    _, *given = states_of_q(plain, 4)
    qdd, *matrices = beside(*given)
    assert np.array_equal(qdd, plain(*given)) and np.array_equal(matrices[2], last(*given))
    assert all(map(np.array_equal, matrices, alone(*given)))
    assert sum(last.operations.values()) < sum(beside.operations.values()) / 2
    assert order == "abm" or alone.operations["div"] == 2 < plain.operations["div"]


def test_a_checked_kernel_takes_them():
    kernel = kkt.compile(kkt.chain(3), ABM, outputs=("qdd", "dqdd_dq"), check=True)
    qdd, dq, status = kernel(*states_of_q(kernel, 2)[1:])
    assert qdd.shape == (2, 3) and dq.shape == (2, 3, 3) and not status.any()


@pytest.mark.parametrize("spec", listed(["random_tree:n=4,seed=3,joints=revolute", "example3"], unmarked=1))
def test_an_order_that_leaves_the_inertia_walks_no_subtree_for_a_column(spec):
    """crbm's kernel agrees with abm's in fewer operations than its columns take one by one."""
    tree, crbm = kkt.load(spec), orderings.get("crbm")
    kernel = kkt.compile(tree, crbm, outputs=DERIVED)
    q, x, qd, tau = (a[0] for a in states_of_q(kernel, 1))
    system = kkt.build(tree, q, qd, tau)
    blocks = replace(crbm, composites="general")  # which the kernel forms
    exact, alone = kkt.derivatives(system, ABM), kkt.derivatives(system, blocks)
    expected = exact.qdd, exact.dq, exact.dqd, exact.dtau
    for found, right in zip(kernel(x, qd, tau), expected, strict=True):
        assert np.abs(found - right).max() <= 1e-11 * np.abs(right).max()
    if len(tree) > 3:
        assert sum(kernel.operations.values()) < alone.operations


@pytest.mark.parametrize(("lanes", "format"), covering([2, 4, 8, 16], ["float64", "float32"], unmarked=1))
def test_results_of_vectors_of_any_width_stand_in_their_places(lanes, format):
    """Squares of results and the rest of them, also of a vector with fewer states than lanes."""
    kernel = kkt.compile(kkt.chain(5), orderings.get("crbm"), format, outputs=("qdd", "dqdd_dtau"))
    _, *given = states_of_q(kernel, lanes + 1)
    given = [array.astype(kernel.number.dtype) for array in given]
    found = np.empty((2, lanes + 1, kernel.fields.numbers), kernel.number.dtype)
    assert found.shape[2] % 4 and found.shape[2] > 16
    for out, width in zip(found, (1, lanes), strict=True):
        native = compiled(kernel.straight, kernel.number.dtype, width, kernel.fields.sizes)
        assert native.run(given, out)
    assert np.array_equal(*found)


# -- loops and contacts: rows are constants, multipliers an output ----------------------------------

CLOSED = ("qdd", "lambda", "pdd", "f")
LETTERS = ("qdd", "lam", "pdd", "f")


def states_at_hinges(kernel, m):
    """Hinges at 0, whose sines are exact in every implementation, and slides anywhere."""
    x, qd, tau = np.random.default_rng(0).normal(size=(3, m, kernel.N))
    x[:, [k for k, kind in enumerate(kernel.places.tree.joint) if kind == "revolute"]] = 0.0
    return x, qd, tau


@pytest.mark.uncached
@pytest.mark.parametrize("order", listed(["abm", "closed_early", "crbm"], unmarked=1))
def test_the_bits_are_those_of_the_tape(order):
    """Spatial algebra, rows of loops and the order's tape: the same operations, one by one."""
    tree = slides()
    kernel = kkt.compile(tree, orderings.get(order), outputs=CLOSED)
    assert "machine code" in kernel.how and kernel.fields.rows == 7
    states = states_at_hinges(kernel, 3)
    together = kernel(*states)
    for i, (q, qd, tau) in enumerate(zip(*states, strict=True)):
        system = kkt.build(tree, q, qd, tau)
        expected = kkt.eliminate(system, orderings.get(order), records=False)
        for name, many, one in zip(LETTERS, together, kernel(q, qd, tau), strict=True):
            assert np.array_equal(many[i], getattr(expected, name)), name
            assert np.array_equal(one, many[i]), name


HOW = {"abm": {}, "crbm": {"bias": "inverse_dynamics"}, "closed_early": {"frames": "world"}}


@pytest.mark.parametrize(
    ("name", "order"), covering(["four bar", "slider crank", "one cross link", "standing"], HOW, unmarked=1)
)
def test_values_are_those_of_elimination_in_any_state(name, order):
    """Of mechanisms that are open and closed, frames of bodies and of the world."""
    system, draw = SYSTEMS[name](), np.random.default_rng(7)
    kernel = kkt.compile(system, orderings.get(order), outputs=CLOSED[:2], **HOW[order])
    for _ in range(2):
        q, (qd, tau) = draw.uniform(-1.0, 1.0, kernel.N), draw.normal(size=(2, kernel.N))
        expected = kkt.eliminate(system.refresh(q, qd, tau), ABM)
        found = kernel(kernel.configuration(q), qd, tau)
        for value, letter in zip(found, LETTERS[:2], strict=True):
            wanted = getattr(expected, letter)
            assert np.abs(value - wanted).max() <= 1e-10 * np.abs(wanted).max(), letter


def test_kernels_of_other_loops_are_other_kernels():
    tree, state = kkt.chain(3), ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
    feet = [kkt.contact("j3", (0.1, 0, 0)), kkt.contact("j3", (0.2, 0, 0)), kkt.contact("j2", (0.2, 0, 0))]
    feet.append(kkt.contact("j3", (0.2, 0, 0), compliance=0.5))
    found = [kkt.compile(tree, ABM, loops=loops)(*state).tobytes() for loops in ([], *([x] for x in feet))]
    assert len(set(found)) == len(found)
    tree.graph["loops"] = tuple(feet[:1])
    assert kkt.compile(tree, ABM)(*state).tobytes() == found[1]


@pytest.mark.parametrize(
    ("order", "format"), covering(["abm", "crbm", "closed_early"], ["float64", "float32"])
)
def test_a_state_in_which_a_loop_is_singular_is_told(order, format):
    """The status names the multiplier where the system is refused, one state or many."""
    tree = parallelogram()
    kernel = kkt.compile(tree, orderings.get(order), format, outputs=("qdd", "lambda"), check=True)
    start = np.array(tree.graph["q"])
    doubles = np.array([start, [0, 0, 0], 0.9 * start, [np.pi, -np.pi, np.pi], [1e-12, 0, 0]])
    q = doubles.astype(format)
    *_, status = kernel(q, 0 * q, 0 * q + 1)
    assert (status != 0).tolist() == [False, True, False, True, True]
    for state, exactly, code in zip(q, doubles, status.tolist(), strict=True):
        assert kernel(state, 0 * state, 0 * state + 1)[-1] == code
        said = kernel.reason(code)
        if code:
            assert said.startswith("pivot lam_pin, step ") and said.endswith(f"zero for {format}")
            with pytest.raises(kkt.ModelError, match="loop 'pin': row 2 follows"):
                kkt.build(tree, exactly)
        else:
            kkt.build(tree, exactly)
    rows = plain(kernel, q, 0 * q, 0 * q + 1)
    assert np.array_equal(kernel.judged.judge(rows)[:, -1], status)


def test_rows_that_are_redundant_in_every_state():
    """Rigid they are refused when the kernel is made; softened they have a pivot, and an answer."""
    tree = parallelogram()
    (pin,) = tree.graph["loops"]
    twice = [pin, replace(pin, name="again")]
    with pytest.raises(kkt.ModelError, match="'again': rows 2, 3 follow"):
        kkt.compile(tree, ABM, check=True, loops=twice)
    kernel = kkt.compile(tree, ABM, check=True, loops=kkt.softened(twice, 1e-3))
    q = np.array(tree.graph["q"])
    assert kernel(q, 0 * q, 0 * q + 1)[1] == 0
    one = kkt.compile(tree, ABM, check=True, loops=[pin])(q, 0 * q, 0 * q + 1)
    assert one[1] == 0 and one[0].shape == (3,)


def arm():
    """A chain whose tip stands on the ground."""
    tree = kkt.chain(3)
    tree.graph["loops"] = (kkt.contact("j3", (0.1, 0, 0), tangents=[(1, 0, 0)]),)
    return tree


@pytest.mark.parametrize(("load", "format"), listed([(arm, "float32"), (arm, "float64")], unmarked=1))
def test_a_status_is_what_elimination_says(load, format):
    """On stiff ground: lambda first loses float32's digits, lambda last loses none."""
    tree = load()
    system = kkt.build(tree, loops=kkt.softened(tree.graph["loops"], 1e-6))
    for order in ("lambda_first_abm", "abm"):
        kernel = kkt.compile(system, orderings.get(order), format, check=True)
        plain = kkt.compile(system, orderings.get(order), format)
        state = kernel.configuration(system.graph.graph.get("q")), system.state.qd, system.state.tau
        qdd, status = kernel(*state)
        said = kkt.eliminate(system, orderings.get(order), format)
        assert np.array_equal(qdd, plain(*state))
        assert bool(status) == bool(said.marked or said.failed_at)
        assert bool(status) == (format == "float32" and order == "lambda_first_abm")


# -- along a motion: sines, configurations, rates, energy; counts of operations -------------------


@pytest.mark.parametrize("format", ["float64", "float32"])
def test_sine_and_cosine_are_within_a_unit_in_the_last_place(format):
    chosen, precision = get_format(format), {"float64": 53, "float32": 24}[format]
    recorder: Recorder = recorder_for(chosen, 1)
    program = finished(recorder, 1, list(sine_and_cosine(recorder, 2, precision)))
    assert {kind for kind, count in program.operations.items() if count} == {"add", "mul"}
    draw = np.random.default_rng(7)
    multiples = np.arange(-8192, 8193, 37) * (np.pi / 2)
    near = np.nextafter(multiples.astype(chosen.dtype), np.inf)
    x = [draw.uniform(-7, 7, 3000), draw.uniform(-LARGEST, LARGEST, 3000), multiples, near]
    x += [10.0 ** draw.uniform(-12, 0, 200), [0.0, np.pi / 4, -np.pi / 4]]
    x = np.concatenate(x).astype(chosen.dtype)
    got = Interpreter(program, chosen).run(x[:, None])
    with mpmath.workprec(150):
        for column, function in ((0, mpmath.sin), (1, mpmath.cos)):
            exact = [function(mpmath.mpf(float(v))) for v in x]
            last = np.spacing(np.abs(np.array([float(e) for e in exact]).astype(chosen.dtype)))
            wrong = [
                abs(mpmath.mpf(float(g)) - e) / float(u)
                for g, e, u in zip(got[:, column], exact, last, strict=True)
            ]
            assert max(wrong) <= 1.0


def test_configurations_round_trip():
    tree = kkt.random_tree(12, 5, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, ABM)
    q = np.random.default_rng(4).uniform(-1.0, 1.0, kernel.N)
    x = kernel.configuration(q)
    assert kernel.nx > kernel.N
    assert np.abs(kernel.coordinates(x) - q).max() < 1e-14
    by_quaternion = [x[kernel.places.of(k)] for k in range(kernel.places.tree.n)]
    turned = kernel.configuration(dict(zip(tree.nodes, by_quaternion, strict=True)))
    assert np.abs(turned - x).max() < 1e-14
    screws = kkt.compile(general(), ABM)
    q = np.array([0.7, -0.4, 0.9, 0.2])
    assert screws.nx == 1 + 7 + 1
    assert np.abs(screws.coordinates(screws.configuration(q)) - q).max() < 1e-12
    w = np.random.default_rng(5).normal(size=(50, 3))
    exact = Rotation.from_rotvec(w)
    assert np.abs(from_quaternion(3.0 * to_quaternion(w)) - exact.as_matrix()).max() < 1e-14


@pytest.mark.parametrize("tree", [every_joint(general=False), general()])
def test_rates_are_derivatives_of_poses(tree):
    """Poses a little later are those of mechanics of the tests' own, whatever a joint's numbers are."""
    kernel = kkt.compile(tree, ABM)
    q, qd = 0.5 * np.random.default_rng(6).normal(size=(2, kernel.N))
    if tree.name == "general":  # its pair would leave the screws that coordinates can name
        qd[1:3] = 0.0
    x, h = kernel.configuration(q), 1e-5
    rate = kernel.rate(x, qd)
    assert kernel.rate(np.stack([x, x]).astype(np.float32), qd).dtype == np.float32
    found = kkt.build(tree, kernel.coordinates(x + h * rate)).state
    later = Mechanics(tree, q, qd).moved(np.zeros(kernel.N), h)
    for R, p, body in zip(found.R, found.p, tree, strict=True):
        assert np.abs(R - later.pose[body][0]).max() < 1e-8
        assert np.abs(p - later.pose[body][1]).max() < 1e-8
