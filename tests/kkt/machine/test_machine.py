"""kkt.compile: the same bits however it is run, and the values that elimination gives."""

import threading
from functools import cache

import mpmath
import networkx as nx
import numpy as np
import pytest
from helpers import ALL_JOINTS, Mechanics, printed, system_of
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis.counts.families import family_of
from pivotree.analysis.counts.published import ABM
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.configuration import from_quaternion, to_quaternion
from pivotree.kkt.machine.forward_dynamics import recorder_for
from pivotree.kkt.machine.interpreter import Interpreter
from pivotree.kkt.machine.native import compiled
from pivotree.kkt.machine.recorder import Recorder
from pivotree.kkt.machine.scalar_program import depth_first, finished
from pivotree.kkt.machine.trigonometry import LARGEST, sine_and_cosine

ORDERS = (
    "abm", "crbm", "modified_abm", "virtual_work", "square_root_abm", "divide_and_conquer",
)  # fmt: skip
ALONG = ("virtual_work", "square_root_abm", "divide_and_conquer")  # split f: no universal joint
NO_UNIVERSAL = ALL_JOINTS.replace("universal+", "")


def general():
    """A screw, a slide, and a joint of two motions that do not commute, none along an axis."""
    tree = kkt.new_tree("general")
    motions = {
        "screw": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2]],
        "pair": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2], [0.1, 0.0, 0.0, 0.3, 0.0, 0.2]],
        "slide": [[0.0, 0.0, 0.0, 0.1, 0.4, 0.2]],
    }
    parent = None
    for name, rows in motions.items():
        kkt.add_body(
            tree, name, parent, mass=1.5, com=(0.1, 0.2, 0.3), inertia=np.diag([1.0, 1.2, 1.1]),
            joint="general", S=np.array(rows).T, p=(0.1, 0.2, 0.0),
        )  # fmt: skip
        parent = name
    return kkt.default_state(tree)


TREES = {
    "chain": lambda order: kkt.chain(5),
    "two_link": lambda order: kkt.two_link(),
    "random": lambda order: kkt.random_tree(
        5, 0, joints=NO_UNIVERSAL if order in ALONG else ALL_JOINTS
    ),
    "general": lambda order: general(),
}


@cache
def kernel_of(name, order, format, outputs=("qdd",)):
    """Compiled once for all tests of this file."""
    return kkt.compile(TREES[name](order), orderings.get(order), format, outputs=outputs)


def states(kernel, m, seed=0):
    draw = np.random.default_rng(seed)
    x = kernel.configuration() + 0.2 * draw.normal(size=(m, kernel.nx))
    return x, draw.normal(size=(m, kernel.N)), draw.normal(size=(m, kernel.N))


def plain(kernel, x, qd, tau):
    """The same program, one operation after another."""
    run = Interpreter(kernel.straight, get_format(kernel.format))
    return run.run(np.concatenate([x, qd, tau], axis=1).astype(run.format.dtype))


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["float64", "float32"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", TREES)
def test_machine_code_gives_the_bits_of_a_plain_interpreter(name, order, format):
    """Of qdd alone in float32, and of all unknowns in float64."""
    outputs = {"float64": ("qdd", "pdd", "f"), "float32": ("qdd",)}[format]
    kernel = kernel_of(name, order, format, outputs)
    assert kernel.format == format and kernel.order == order and "machine code" in kernel.how
    x, qd, tau = states(kernel, 2 * kernel.lanes + 3)
    expected = plain(kernel, x, qd, tau)
    assert np.isfinite(expected).all() and expected.dtype == format
    x, qd, tau = (v.astype(format) for v in (x, qd, tau))
    for m in (1, 2, kernel.lanes, kernel.lanes + 1, len(x), len(x)):
        assert np.array_equal(whole(kernel(x[:m], qd[:m], tau[:m]), m), expected[:m])
    for _ in range(3):  # of qdd alone by way of a desk from the second time on
        one = kernel(x[1], qd[1], tau[1])
        assert np.array_equal(whole(one, 1)[0], expected[1])


def whole(values, m):
    """Outputs, one or several, as rows of numbers."""
    values = values if isinstance(values, tuple) else (values,)
    return np.concatenate([v.reshape(m, -1) for v in values], axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_bits_do_not_depend_on_the_width_of_vectors(lanes):
    kernel = kernel_of("random", "abm", "float64", ("qdd", "pdd", "f"))
    x, qd, tau = states(kernel, 13)
    out = np.empty((13, len(kernel.straight.outputs)))
    assert kernel.native(lanes).run([x, qd, tau], out)
    assert np.array_equal(out, plain(kernel, x, qd, tau))


@pytest.mark.thorough
def test_a_program_cut_into_functions_or_in_another_order_gives_the_same_bits():
    tree = kkt.random_tree(3, 0, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, orderings.get("abm"), outputs=("f", "qdd"))
    x, qd, tau = states(kernel, 10)
    expected = plain(kernel, x, qd, tau)
    native = compiled(kernel.straight, np.float64, 4, kernel.fields.sizes, piece=60)
    assert native.pieces > 30
    out = np.empty_like(expected)
    assert native.run([x, qd, tau], out) and np.array_equal(out, expected)
    other = depth_first(kernel.straight)
    assert other.operations == kernel.straight.operations
    assert not np.array_equal(other.op, kernel.straight.op)
    again = Interpreter(other, kernel.number).run(np.concatenate([x, qd, tau], axis=1))
    assert np.array_equal(again, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", TREES)
def test_values_are_those_of_elimination(name, order):
    tree = TREES[name](order)
    kernel = kernel_of(name, order, "float64", ("qdd", "pdd", "f"))
    draw = np.random.default_rng(3)
    for _ in range(3):
        q, qd, tau = draw.normal(size=(3, kernel.N))
        system = kkt.build(tree, q, qd, tau)
        expected = kkt.eliminate(system, orderings.get(order), records=False)
        got = kernel(kernel.configuration(q), qd, tau)
        for value, letter in zip(got, ("qdd", "pdd", "f"), strict=True):
            wanted = getattr(expected, letter)
            assert value.shape == wanted.shape
            assert np.abs(value - wanted).max() <= 1e-11 * np.abs(wanted).max(), letter


def test_on_a_chain_the_bits_are_those_of_elimination():
    """The tape is the same, and planar kinematics in the same order of operations."""
    tree = kkt.chain(7)
    kernel = kkt.compile(tree, orderings.get("abm"))
    at_rest = np.zeros(7)
    expected = kkt.eliminate(kkt.build(tree, at_rest), orderings.get("abm"), records=False).qdd
    stored = tree.graph
    assert np.array_equal(kernel(at_rest, stored["qd"], stored["tau"]), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("spec", ["chain_10", "panda", "ur5", "anymal_c_ff"])
def test_reference_models_keep_their_digits(spec):
    """A model file is one state: its joints are general, and stand at x = configuration(0)."""
    system = system_of(spec)
    kernel = kkt.compile(system, orderings.get("abm"))
    state = system.state
    qdd = kernel(kernel.configuration(np.zeros(kernel.N)), state.qd, state.tau)
    exact = [mpmath.mpf(x) for x in printed(spec)]
    error = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(qdd, exact, strict=True))
    assert error <= 1e-12 * max(map(abs, exact))


@pytest.mark.thorough
def test_joint_space_inertia_is_an_output():
    tree = kkt.random_tree(7, 2, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, orderings.get("crbm"), outputs=("inertia", "qdd"))
    q = np.random.default_rng(1).normal(size=kernel.N)
    inertia, qdd = kernel(kernel.configuration(q), np.zeros(kernel.N))
    expected = kkt.joint_space_inertia(kkt.build(tree, q), orderings.get("crbm"))
    assert np.abs(inertia - expected).max() <= 1e-13 * np.abs(expected).max()
    assert qdd.shape == (kernel.N,)
    with pytest.raises(kkt.OrderError, match="use crbm"):
        kkt.compile(tree, orderings.get("abm"), outputs=("inertia",))


@pytest.mark.thorough
def test_wrenches_are_constants_or_an_input():
    tree = kkt.random_tree(5, 6, joints=ALL_JOINTS)
    draw = np.random.default_rng(2)
    f_ext, order = draw.normal(size=(5, 6)), orderings.get("abm")
    stored = tree.graph
    system = kkt.build(tree, f_ext=f_ext)
    expected = kkt.eliminate(system, order, records=False).qdd
    constant = kkt.compile(system, order)
    moving = kkt.compile(tree, order, inputs=("wrench",))
    x = constant.configuration()
    for value in (
        constant(x, stored["qd"], stored["tau"]),
        moving(x, stored["qd"], stored["tau"], f_ext),
        moving([x] * 3, stored["qd"], stored["tau"], [f_ext] * 3)[2],
        moving(x, stored["qd"], stored["tau"], f_ext),  # by way of a desk
    ):
        assert np.abs(value - expected).max() <= 1e-12 * np.abs(expected).max()
    without = moving(x, stored["qd"], stored["tau"])
    assert np.array_equal(without, kkt.compile(tree, order)(x, stored["qd"], stored["tau"]))


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["bfloat16", "p11", "float16", "tf32:zero", "float32+mul=tf32"])
def test_other_formats_are_interpreted_operation_by_operation(format):
    tree, order = kkt.chain(4), orderings.get("abm")
    kernel = kkt.compile(tree, order, format)
    assert kernel.how == f"interpreted, each operation rounded to {format}"
    x, qd, tau = kernel.configuration(), tree.graph["qd"], tree.graph["tau"]
    got = kernel(np.stack([x, x]), qd, tau)
    chosen = get_format(format)
    assert np.array_equal(chosen.cast(got[0]), got[0]) and np.array_equal(*got)
    truth = kkt.eliminate(kkt.build(tree), order, records=False).qdd
    assert 0 < np.abs(got[0] - truth).max() <= 200 * chosen.unit * np.abs(truth).max()


@pytest.mark.thorough
def test_an_interpreted_float32_is_the_machine_s():
    """24 bits on a float64 carrier, program and all, but for the sines' own rounding."""
    tree, order = kkt.random_tree(5, 3, joints="prismatic+spherical+floating"), orderings.get("abm")
    machine, carried = (kkt.compile(tree, order, f) for f in ("float32", "p24"))
    x, qd, tau = states(machine, 4)
    assert carried.operations["sin"] == 0
    assert np.array_equal(machine(x, qd, tau).astype(float), carried(x, qd, tau))


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["float64", "float32"])
def test_sine_and_cosine_are_within_a_unit_in_the_last_place(format):
    precision = {"float64": 53, "float32": 24}[format]
    chosen = get_format(format)
    recorder: Recorder = recorder_for(chosen, 1)
    program = finished(recorder, 1, list(sine_and_cosine(recorder, 2, precision)))
    assert {kind for kind, count in program.operations.items() if count} == {"add", "mul"}
    draw = np.random.default_rng(7)
    multiples = np.arange(-8192, 8193, 37) * (np.pi / 2)
    x = np.concatenate(
        [
            draw.uniform(-7, 7, 3000), draw.uniform(-LARGEST, LARGEST, 3000), multiples,
            np.nextafter(multiples.astype(chosen.dtype), np.inf), 10.0 ** draw.uniform(-12, 0, 200),
            [0.0, np.pi / 4, -np.pi / 4],
        ]
    ).astype(chosen.dtype)  # fmt: skip
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
    kernel = kkt.compile(tree, orderings.get("abm"))
    q = np.random.default_rng(4).uniform(-1.0, 1.0, kernel.N)
    x = kernel.configuration(q)
    assert kernel.nx > kernel.N
    assert np.abs(kernel.coordinates(x) - q).max() < 1e-14
    turned = kernel.configuration(dict(zip(tree.nodes, _by_quaternion(kernel, x), strict=True)))
    assert np.abs(turned - x).max() < 1e-14
    screws = kkt.compile(general(), orderings.get("abm"))
    q = np.array([0.7, -0.4, 0.9, 0.2])
    assert screws.nx == 1 + 7 + 1
    assert np.abs(screws.coordinates(screws.configuration(q)) - q).max() < 1e-12
    w = np.random.default_rng(5).normal(size=(50, 3))
    exact = Rotation.from_rotvec(w)
    assert np.abs(from_quaternion(3.0 * to_quaternion(w)) - exact.as_matrix()).max() < 1e-14


def _by_quaternion(kernel, x):
    """What kkt.build takes for each body: quaternions where there are any."""
    return [x[kernel.places.of(k)] for k in range(kernel.places.tree.n)]


@pytest.mark.parametrize("tree", [kkt.random_tree(14, 5, joints=ALL_JOINTS), general()])
def test_rates_are_derivatives_of_poses(tree):
    """S qd is the velocity of a body relative to its parent, whatever its numbers are."""
    kernel = kkt.compile(tree, orderings.get("abm"))
    draw = np.random.default_rng(6)
    q, qd = 0.5 * draw.normal(size=(2, kernel.N))
    x = kernel.configuration(q)
    rate, h = kernel.rate(x, qd), 1e-5
    assert kernel.rate(np.stack([x, x]).astype(np.float32), qd).dtype == np.float32
    body = kernel.places.tree

    def poses(numbers):
        state = kkt.build(tree, kernel.coordinates(numbers)).state
        return state.R, state.p

    if tree.name == "general":  # its pair leaves the screws that coordinates can name
        x_pair = kernel.places.of(1)
        rate[x_pair] = 0.0
    (R1, p1), (R0, p0) = poses(x + h * rate), poses(x - h * rate)
    state = kkt.build(tree, q).state
    for k in range(body.n):
        if tree.name == "general" and k == 1:
            continue
        S = state.S[k]
        v = S @ qd[body.offset[k] : body.offset[k + 1]] if S.size else np.zeros(6)
        spin = state.R[k].T @ (R1[k] - R0[k]) / (2 * h)
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        assert np.abs(omega - v[:3]).max() < 1e-8
        assert np.abs(state.R[k].T @ (p1[k] - p0[k]) / (2 * h) - v[3:]).max() < 1e-8


@pytest.mark.thorough
def test_energy_is_kept_along_the_motion():
    """Runge-Kutta on kernel and rate: kinetic and potential energy, by mechanics of the tests'."""
    tree = kkt.random_tree(5, 8, joints="spherical+universal+floating+cylindrical")
    kernel = kkt.compile(tree, orderings.get("abm"))
    x, qd = kernel.configuration(), np.array(tree.graph["qd"])

    def slope(x, qd):
        return kernel.rate(x, qd), kernel(x, qd)

    def energy(x, qd):
        return Mechanics(tree, kernel.coordinates(x), qd).energy()

    before, h = energy(x, qd), 1e-3
    for _ in range(100):
        a = slope(x, qd)
        b = slope(x + h / 2 * a[0], qd + h / 2 * a[1])
        c = slope(x + h / 2 * b[0], qd + h / 2 * b[1])
        d = slope(x + h * c[0], qd + h * c[1])
        x = x + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        qd = qd + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
    assert abs(energy(x, qd) - before) < 1e-7 * max(1.0, abs(before))


@pytest.mark.thorough
def test_what_is_wrong_is_one_sentence():
    tree, order = kkt.random_tree(4, 1, joints=ALL_JOINTS), orderings.get("abm")
    kernel = kkt.compile(tree, order)
    x, qd = kernel.configuration(), np.zeros(kernel.N)
    kernel(x, qd)
    for other in (x.tolist(), x.astype(">f8"), np.stack([x, 0 * x], 1)[:, 0], x[::-1].copy()[::-1]):
        assert np.array_equal(kernel(other, qd), kernel(x, list(qd)))
    single = x.astype(np.float32)
    assert np.array_equal(kernel(single, qd), kernel(single.astype(float), qd))
    for arguments, told in (
        ((x[1:], qd), "field 'x' has shape"),
        ((x[None, None], qd), "field 'x' has shape"),
        ((x, qd[:1]), "field 'qd' has shape"),
        ((x, qd, 1.0), "field 'tau' has shape"),
        ((x, qd * np.nan), "field 'qd' holds nan at"),
        ((np.stack([x, x * np.inf]), qd), "state 1; give finite"),
        ((np.stack([x] * 3), np.stack([qd] * 2)), "has 2 states, and another 3"),
        ((x, qd, qd + 1j), "field 'tau' holds no real numbers"),
        (("x", qd), "field 'x' holds no real numbers"),
        ((x, [10**400] * kernel.N), "field 'qd' holds no real numbers"),
        ((x, np.zeros(kernel.N, "m8[s]")), "field 'qd' holds no real numbers"),
        ((x, np.zeros(kernel.N, [("rate", float)])), "field 'qd' holds no real numbers"),
        ((x, np.ma.array(qd, mask=True)), "field 'qd' holds no real numbers"),
        ((x, qd, None, np.zeros((4, 6))), "no input of this kernel"),
    ):
        with pytest.raises(kkt.ModelError, match=told):
            kernel(*arguments)
    assert kernel(np.zeros((0, kernel.nx)), np.zeros((0, kernel.N))).shape == (0, kernel.N)
    with pytest.raises(kkt.ModelError, match="did you mean qdd"):
        kkt.compile(tree, order, outputs=("qd",))
    with pytest.raises(kkt.ModelError, match="a tuple of names"):
        kkt.compile(tree, order, outputs="qdd")
    with pytest.raises(kkt.ModelError, match="without velocities and gravity"):
        kkt.compile(tree, order, outputs=("qdd", "f"), bias="inverse_dynamics")
    with pytest.raises(kkt.FormatError, match="no kernel runs in it"):
        kkt.compile(tree, order, "mp:50")
    with pytest.raises(kkt.OrderError, match="pass orderings"):
        kkt.compile(tree, "abm")
    universal = kkt.random_tree(3, 1, joints="universal")
    with pytest.raises(kkt.OrderError, match="universal, turn with q"):
        kkt.compile(universal, orderings.get("virtual_work"))
    heavy = nx.DiGraph(kkt.chain(2))
    heavy.nodes["j1"]["mass"] = 1e39
    with pytest.raises(kkt.FormatError, match="overflows float32"):
        kkt.compile(heavy, order, "float32")


@pytest.mark.thorough
def test_kernels_are_shared_between_threads():
    tree = kkt.random_tree(6, 9, joints=ALL_JOINTS)
    kernel = kkt.compile(tree, orderings.get("abm"))
    x, qd, tau = states(kernel, 40)
    expected, wrong = kernel(x, qd, tau), []

    def work(i):
        for _ in range(200):
            if not np.array_equal(kernel(x[i], qd[i], tau[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_operations_are_counted():
    kernel = kkt.compile(kkt.two_link(), orderings.get("abm"))
    assert kernel.operations["sin"] == kernel.operations["cos"] == 2
    assert kernel.operations["sqrt"] == 0 < kernel.operations["div"]
    assert sum(kernel.operations.values()) == len(kernel.program)


@pytest.mark.parametrize("n", [4, 7])
def test_abm_takes_no_more_than_the_published_operations(n):
    """On an arm of Denavit-Hartenberg frames, from joint positions on, bias and all."""
    kernel = kkt.compile(family_of("dh").system(n).graph, orderings.get("abm"))
    assert kernel.operations["mul"] <= ABM.mul(n) and kernel.operations["add"] <= ABM.add(n)
