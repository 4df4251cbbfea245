"""``kkt.to_jax`` beside kernels, Pinocchio's derivatives, and differences of a motion."""

import sys
from functools import partial

import numpy as np
import pytest
from designs import listed
from helpers import every_joint
from random_states import difference

jax = pytest.importorskip("jax")

from pivotree import kkt, orderings  # noqa: E402

pytestmark = pytest.mark.peers
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # XLA compiles twice as fast
ABM = orderings.get("abm")
LESS = {"xla_cpu_use_fusion_emitters": False}  # half the time, where XLA knows it; lessons keep it
try:
    jax.jit(abs, compiler_options=LESS)(1.0)
except jax.errors.JaxRuntimeError:
    LESS = {}
jit = partial(jax.jit, compiler_options=LESS)
SPRUNG = ("revolute", "continuous", "prismatic", "cylindrical", "universal")


def state_of(kernel, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    sizes = (kernel.nx, kernel.N, kernel.N)
    return tuple(random.standard_normal(size).astype(dtype) for size in sizes)


def all_joints():
    """Every kind of joint that is not general, with armature and damping."""
    tree = every_joint(general=False)
    for number, body in enumerate(tree.nodes):
        if tree.nodes[body]["joint"] != "fixed":
            tree.nodes[body].update(armature=0.1 + 0.01 * number, damping=0.2)
    return tree


HELD = [
    kkt.cut_joint("j3", None, p=(0.1, 0, 0), rows=(2, 3), baumgarte=(2.0, 5.0)),
    kkt.contact("j2", (0.1, 0.2, 0), damping=3.0, compliance=0.1),
]


@pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
@pytest.mark.parametrize(
    ("loops", "name"), [pytest.param(None, "crbm", marks=pytest.mark.soak), (HELD, "abm")]
)
def test_closed_loops_and_contacts(loops, name):
    """qdd and lambda of the kernel, and their derivatives by q, qd and tau."""
    tree, order = kkt.chain(3) if loops else kkt.four_bar(), orderings.get(name)
    kernel = kkt.compile(tree, order, outputs=("qdd", "lambda"), loops=loops)
    f = kkt.to_jax(tree, order, outputs=("qdd", "lambda"), loops=loops)
    state = state_of(kernel)
    slopes, found = jit(jax.jacfwd(lambda *x: (f(*x),) * 2, (0, 1, 2), has_aux=True))(*state)
    for own, right in zip(found, kernel(*state), strict=True):
        assert difference(own, right) < 1e-12
    exact = kkt.derivatives(kkt.build(tree, *state, loops=loops), ABM)
    for own, right in zip(slopes, (exact, exact.dlam), strict=True):
        for x, by in zip(own, ("dq", "dqd", "dtau"), strict=True):
            assert difference(x, getattr(right, by)) < 1e-11


def test_every_kind_of_joint_and_an_implicit_step():
    tree = all_joints()
    for data in (data for _, data in tree.nodes(data=True) if data["joint"] in SPRUNG):
        data.update(stiffness=30.0, rest=0.4)
    system = kkt.build(tree, implicit=0.01)
    kernel = kkt.compile(system, ABM)
    state = state_of(kernel)
    f = jit(kkt.to_jax(system, ABM))
    assert difference(f(*state), kernel(*state)) < 1e-13
    assert jax.eval_shape(f, *state_of(kernel, dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("name", "tree"),
    [("abm", kkt.binary(1)), pytest.param("virtual_work", kkt.chain(2), marks=pytest.mark.soak)],
)
def test_derivatives_by_pivots_are_those_of_all_operations(name, tree):
    kernel = kkt.compile(tree, orderings.get(name))
    state = state_of(kernel)
    ways = [kkt.to_jax(tree, orderings.get(name), derivatives=d) for d in ("pivots", "operations")]
    forward = [jit(jax.jacfwd(f, (0, 1, 2)))(*state) for f in ways]
    backward = jit(jax.jacrev(ways[0], (0, 1, 2)))(*state)
    for by_pivots, by_operations, reverse in zip(*forward, backward, strict=True):
        assert difference(by_pivots, by_operations) < 1e-11
        assert difference(reverse, by_operations) < 1e-11
    dtau = np.asarray(forward[0][2])
    assert np.abs(dtau - dtau.T).max() < 1e-12 * np.abs(dtau).max()


def test_derivatives_are_pinocchios():
    pinocchio = pytest.importorskip("pinocchio")
    file, _ = kkt.find_robot("ur5")
    model = pinocchio.buildModelFromUrdf(str(file))
    tree = kkt.read_urdf(file)
    f = kkt.to_jax(tree, ABM)
    kernel = kkt.compile(tree, ABM)
    state = state_of(kernel)
    data = model.createData()  # owns what it gives
    right = pinocchio.computeABADerivatives(model, data, *state)
    for mine, theirs in zip(jit(jax.jacfwd(f, (0, 1, 2)))(*state), right, strict=True):
        assert difference(mine, theirs) < 1e-9


@pytest.mark.soak
def test_second_derivatives_are_those_of_all_operations():
    tree = kkt.chain(2)
    ways = [kkt.to_jax(tree, ABM, derivatives=d) for d in ("pivots", "operations")]
    state = state_of(kkt.compile(tree, ABM))
    by_pivots, by_operations = (
        jit(jax.hessian(lambda q, f=f: f(q, *state[1:]).sum()))(state[0]) for f in ways
    )
    assert difference(by_pivots, by_operations) < 1e-12


def with_friction(tree):
    for body in tree.nodes:
        tree.nodes[body]["friction"] = 1.0
    return tree


def screw():
    tree, S = kkt.new_tree("screw"), np.array([[0, 0, 1, 0, 0, 0.1]]).T
    kkt.add_body(tree, "a", joint="general", S=S, mass=1.0, inertia=np.eye(3))
    return tree


def parallel(angle):
    """Two hinges with nothing between them, parallel but for an angle."""
    tree = kkt.new_tree("parallel")
    kkt.add_body(tree, "first", axis=(0, 1, 0), mass=0.0)
    kkt.add_body(tree, "second", "first", axis=(angle, 1, 0), com=(0.2, 0, 0), mass=1.0, inertia=np.eye(3))
    return tree


CHAIN, MANY = kkt.chain(2), np.zeros((3, 2))
REFUSED = {
    "square_root_abm": lambda: kkt.to_jax(CHAIN, orderings.get("square_root_abm")),
    "about centres of mass, which to_jax does": lambda: kkt.to_jax(CHAIN, orderings.get("crbm_com")),
    "outputs holds 'lambda'; use one of qdd": lambda: kkt.to_jax(CHAIN, ABM, outputs=("qdd", "lambda")),
    "to_jax: outputs is empty; ask for one of": lambda: kkt.to_jax(CHAIN, ABM, outputs=()),
    "outputs holds 'lam'; did you mean lambda": lambda: kkt.to_jax(kkt.four_bar(), ABM, outputs="lam"),
    "derivatives is 'finite'; use one of": lambda: kkt.to_jax(CHAIN, ABM, derivatives="finite"),
    r"one state at a time; jax\.vmap": lambda: kkt.to_jax(CHAIN, ABM)(MANY, MANY, MANY),
    "'abm': in any state equation .4. is singular": lambda: kkt.to_jax(parallel(1e-16), ABM),
    "to_jax: dry friction": lambda: kkt.to_jax(with_friction(kkt.chain(2)), ABM),
    "to_jax has no general joints": lambda: kkt.to_jax(screw(), ABM),
}


@pytest.mark.parametrize("told", REFUSED)
def test_what_cannot_be_read_is_one_sentence(told):
    with pytest.raises(kkt.PivotreeError, match=told):
        REFUSED[told]()


@pytest.mark.parametrize("wrong", ["abc", None, [[1.0], 2.0], 1j * np.zeros(2)])
def test_what_is_no_state_is_one_sentence(wrong):
    with pytest.raises(kkt.ModelError, match=r"q holds no real numbers; give \(2,\) of them"):
        kkt.to_jax(CHAIN, ABM)(wrong, np.zeros(2), np.zeros(2))


def test_without_jax_it_is_said_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(kkt.ModelError, match=r"jax is not installed; python -m pip install jax"):
        kkt.to_jax(CHAIN, ABM)


# -- a motion of every joint ------------------------------------------------------------------------


def rates(kernel, x, qd, xp):
    """dx/dt by numpy's or JAX's functions; quaternions are (x, y, z, w)."""
    found, places = [], kernel.places
    for k, kind in enumerate(places.tree.joint):
        own, speed = x[places.of(k)], qd[places.tree.freedoms_of(k)]
        if kind == "planar":
            c, s = xp.cos(own[2]), xp.sin(own[2])
            speed = xp.stack([c * speed[0] - s * speed[1], s * speed[0] + c * speed[1], speed[2]])
        if kind not in ("spherical", "floating"):
            found.append(speed)
            continue
        u, w, spin = own[-4:-1], own[-1], speed[:3]
        if kind == "floating":
            across, scale = xp.cross(u, speed[3:]), 2 / (own[-4:] @ own[-4:])
            found.append(speed[3:] + scale * (w * across + xp.cross(u, across)))
        found += [(w * spin + xp.cross(u, spin)) / 2, -(u @ spin)[None] / 2]
    return xp.concatenate(found)


def ball_and_plane():
    """A base on a plane, and an arm on a ball joint: the rates of both are not those of q."""
    tree, own = kkt.new_tree("ball_and_plane"), {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.eye(3)}
    kkt.add_body(tree, "base", joint="planar", axis=(0, 0, 1), damping=[0.2] * 3, **own)
    kkt.add_body(tree, "arm", "base", joint="spherical", p=(0.3, 0, 0.1), damping=[0.2] * 3, **own)
    return tree


@pytest.mark.parametrize("made", [ball_and_plane, pytest.param(all_joints, marks=pytest.mark.soak)])
def test_a_gradient_through_a_hundred_steps(made):
    """Beside differences of the kernel's motion, extrapolated to the sixth power of their size."""
    system, random, h = kkt.build(made()), np.random.default_rng(1), 0.01
    kernel, f = kkt.compile(system, ABM), kkt.to_jax(system, ABM)
    start = [0.4 * random.standard_normal(size) for size in (kernel.nx, kernel.N, kernel.N)]
    weights = random.standard_normal(kernel.nx + kernel.N)

    def end(x, qd, tau):
        def step(state, _):
            x, qd = state
            qd = qd + h * f(x, qd, tau)
            return (x + h * rates(kernel, x, qd, jax.numpy), qd), None

        (x, qd), _ = jax.lax.scan(step, (x, qd), None, length=100)
        return weights @ jax.numpy.concatenate([x, qd])

    def by_the_kernel(x, qd, tau):
        for _ in range(100):
            qd = qd + h * kernel(x, qd, tau)
            x = x + h * rates(kernel, x, qd, np)
        return weights @ np.concatenate([x, qd])

    slopes = [np.asarray(x) for x in jit(jax.grad(end, (0, 1, 2)))(*start)]
    along, found = [random.standard_normal(slope.shape) for slope in slopes], []
    for size in (4e-3, 2e-3, 1e-3):
        ends = [[x + s * size * by for x, by in zip(start, along, strict=True)] for s in (1, -1)]
        found.append((by_the_kernel(*ends[0]) - by_the_kernel(*ends[1])) / (2 * size))
    once = [(4 * found[i + 1] - found[i]) / 3 for i in range(2)]
    parts = [slope @ by for slope, by in zip(slopes, along, strict=True)]
    assert abs(sum(parts) - (16 * once[1] - once[0]) / 15) < 1e-9 * max(map(abs, parts))


HELD_TO_KERNELS = [
    ("random_tree:n=2,seed=4,joints=spherical", "modified_abm"),
    ("rr_arm", "crbm"),
    ("example1", "projected_abm"),
]


@pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
@pytest.mark.parametrize(("spec", "order"), listed(HELD_TO_KERNELS))
def test_it_keeps_the_digits_of_the_tape(spec, order):
    """As many as the kernel, which has the tape's bits, in the worst of 16 states and both formats.

    Operation by operation there is nothing to compare: XLA fuses products with sums and sums in
    vectors.  Each operation then rounds as often or less, and otherwise, so that errors are of one
    size, those of the kernel or what rounding the data moves; 8 is room for chance.
    """
    system = kkt.build(kkt.load(spec))
    function = orderings.get(order)
    f, kernel = jit(jax.vmap(kkt.to_jax(system, function))), kkt.compile(system, function)
    draw = np.random.default_rng(5)
    x = kernel.configuration(system.state.q) + 0.3 * draw.normal(size=(16, kernel.nx))
    rates, efforts = draw.normal(size=(2, 16, kernel.N))
    numbers = [y.astype(np.float32) for y in (x, rates, efforts)]
    given = [y.astype(float) for y in numbers]
    here = [system.refresh(kernel.coordinates(x), *rest) for x, *rest in zip(*given, strict=True)]
    right = [kkt.eliminate(at, ABM, "dd", records=False).qdd.astype(float) for at in here]
    kappa = max(kkt.conditioning(at).kappa for at in here)
    for state, format in ((numbers, "float32"), (given, "float64")):
        unit, kernel = np.finfo(format).eps / 2, kkt.compile(system, function, format)
        own, tape = (max(map(difference, g(*state), right)) for g in (f, kernel))
        assert own <= 8 * max(tape, kappa * unit), (format, own / max(tape, kappa * unit))


def test_float32_keeps_its_digits_on_a_long_chain():
    """The upper triangle of an update is mirrored, as the program says: else 2.6e-6 is lost."""
    system = kkt.build(kkt.chain(20))
    numbers = [x.astype(np.float32) for x in (system.state.q, system.state.qd, system.state.tau)]
    found = jit(kkt.to_jax(system, ABM))(*numbers)
    right = kkt.eliminate(system.refresh(*(x.astype(float) for x in numbers)), ABM).qdd
    assert found.dtype == np.float32
    assert difference(np.asarray(found, dtype=float), right) < 1e-6
