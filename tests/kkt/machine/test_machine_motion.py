"""Kernels along a motion: sines, configurations, energy; what is refused; threads; counts."""

import threading

import mpmath
import networkx as nx
import numpy as np
import pytest
from helpers import ALL_JOINTS, Mechanics
from machine_kernels import general, states
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.analysis.counts.families import family_of
from pivotree.analysis.counts.published import ABM
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.configuration import from_quaternion, to_quaternion
from pivotree.kkt.machine.forward_dynamics import recorder_for
from pivotree.kkt.machine.interpreter import Interpreter
from pivotree.kkt.machine.recorder import Recorder
from pivotree.kkt.machine.scalar_program import finished
from pivotree.kkt.machine.trigonometry import LARGEST, sine_and_cosine


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
            draw.uniform(-7, 7, 3000),
            draw.uniform(-LARGEST, LARGEST, 3000),
            multiples,
            np.nextafter(multiples.astype(chosen.dtype), np.inf),
            10.0 ** draw.uniform(-12, 0, 200),
            [0.0, np.pi / 4, -np.pi / 4],
        ]
    ).astype(chosen.dtype)
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
