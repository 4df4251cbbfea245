"""``kkt.to_jax`` beside kernels, Pinocchio's derivatives and motions in many digits."""

import sys

import mpmath as mp
import numpy as np
import pytest

jax = pytest.importorskip("jax")

from pivotree import kkt, orderings  # noqa: E402

pytestmark = pytest.mark.peers
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # XLA compiles twice as fast
BLOCKS = ("abm", "gain_abm", "crbm", "modified_abm", "projected_abm", "natural")
SPLIT = ("virtual_work", "divide_and_conquer")


def state_of(kernel, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    sizes = (kernel.nx, kernel.N, kernel.N)
    return tuple(random.standard_normal(size).astype(dtype) for size in sizes)


def off(found, right):
    found, right = (np.asarray(x, dtype=float) for x in (found, right))
    return float(np.abs(found - right).max() / np.abs(right).max())


def all_joints():
    """A tree that has every kind of joint that is not general, armature and damping."""
    tree, up = kkt.new_tree("joints"), None
    kinds = {
        "floating": {},
        "spherical": {},
        "revolute": {"axis": [0, 0, 1]},
        "universal": {"axis": [[1, 0, 0], [0, 1, 0]]},
        "prismatic": {"axis": [1, 0, 0]},
        "fixed": {},
        "cylindrical": {"axis": [0, 1, 0]},
        "planar": {"axis": [0, 0, 1]},
    }
    for i, (kind, more) in enumerate(kinds.items()):
        terms = {} if kind == "fixed" else {"armature": 0.1 + 0.01 * i, "damping": 0.2}
        kkt.add_body(
            tree,
            kind,
            up,
            joint=kind,
            mass=1.0 + i,
            com=[0.1, 0.02 * i, 0.3],
            inertia=np.diag([0.3, 0.4, 0.5]),
            p=[0.1, 0.2, 0.3],
            **more,
            **terms,
        )
        up = kind
    return tree


@pytest.mark.parametrize("name", [*BLOCKS, *SPLIT])
def test_accelerations_are_those_of_the_kernel(name):
    tree, order = kkt.binary(2), orderings.get(name)
    kernel = kkt.compile(tree, order)
    state = state_of(kernel)
    assert off(jax.jit(kkt.to_jax(tree, order))(*state), kernel(*state)) < 1e-13


HELD = [
    kkt.cut_joint("j3", None, p=(0.1, 0, 0), rows=(2, 3), baumgarte=(2.0, 5.0)),
    kkt.contact("j2", (0.1, 0.2, 0), damping=3.0, compliance=0.1),
]


@pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
@pytest.mark.parametrize(("loops", "name"), [(None, "crbm"), (HELD, "abm")])
def test_closed_loops_and_contacts(loops, name):
    """qdd and lambda of the kernel, and their derivatives by q, qd and tau."""
    tree, order = kkt.chain(3) if loops else kkt.four_bar(), orderings.get(name)
    kernel = kkt.compile(tree, order, outputs=("qdd", "lambda"), loops=loops)
    f = kkt.to_jax(tree, order, outputs=("qdd", "lambda"), loops=loops)
    state = state_of(kernel)
    found, slopes = jax.jit(lambda *x: (f(*x), jax.jacfwd(f, (0, 1, 2))(*x)))(*state)
    for own, right in zip(found, kernel(*state), strict=True):
        assert off(own, right) < 1e-12
    exact = kkt.derivatives(kkt.build(tree, *state, loops=loops), orderings.get("abm"))
    for own, right in zip(slopes, (exact, exact.dlam), strict=True):
        for x, by in zip(own, ("dq", "dqd", "dtau"), strict=True):
            assert off(x, getattr(right, by)) < 1e-11


def test_a_humanoid():
    kernel, f = (make(kkt.humanoid(), orderings.get("crbm")) for make in (kkt.compile, kkt.to_jax))
    state = state_of(kernel)
    assert off(jax.jit(f)(*state), kernel(*state)) < 1e-13


def test_every_kind_of_joint_and_an_implicit_step():
    system = kkt.build(all_joints(), implicit=0.01)
    kernel = kkt.compile(system, orderings.get("abm"))
    state = state_of(kernel)
    f = jax.jit(kkt.to_jax(system, orderings.get("abm")))
    assert off(f(*state), kernel(*state)) < 1e-13
    single = state_of(kernel, dtype=np.float32)
    assert f(*single).dtype == np.float32
    assert off(f(*single), kernel(*single)) < 1e-4


def test_many_states_are_as_one():
    tree = kkt.chain(3)
    kernel = kkt.compile(tree, orderings.get("abm"))
    f = kkt.to_jax(tree, orderings.get("abm"))
    states = [np.stack(x) for x in zip(*(state_of(kernel, seed) for seed in range(5)), strict=True)]
    assert off(jax.jit(jax.vmap(f))(*states), kernel(*states)) < 1e-12


@pytest.mark.parametrize(("name", "tree"), [("abm", kkt.binary(2)), ("virtual_work", kkt.chain(2))])
def test_derivatives_by_pivots_are_those_of_all_operations(name, tree):
    kernel = kkt.compile(tree, orderings.get(name))
    state = state_of(kernel)
    ways = [kkt.to_jax(tree, orderings.get(name), derivatives=d) for d in ("pivots", "operations")]
    forward = [jax.jit(jax.jacfwd(f, (0, 1, 2)))(*state) for f in ways]
    backward = jax.jit(jax.jacrev(ways[0], (0, 1, 2)))(*state)
    for by_pivots, by_operations, reverse in zip(*forward, backward, strict=True):
        assert off(by_pivots, by_operations) < 1e-11
        assert off(reverse, by_operations) < 1e-11
    dtau = np.asarray(forward[0][2])
    assert np.abs(dtau - dtau.T).max() < 1e-12 * np.abs(dtau).max()


def test_derivatives_are_pinocchios():
    pinocchio = pytest.importorskip("pinocchio")
    file, _ = kkt.find_robot("ur5")
    model = pinocchio.buildModelFromUrdf(str(file))
    tree = kkt.read_urdf(file)
    f = kkt.to_jax(tree, orderings.get("abm"))
    kernel = kkt.compile(tree, orderings.get("abm"))
    state = state_of(kernel)
    data = model.createData()  # owns what it gives
    right = pinocchio.computeABADerivatives(model, data, *state)
    for mine, theirs in zip(jax.jit(jax.jacfwd(f, (0, 1, 2)))(*state), right, strict=True):
        assert off(mine, theirs) < 1e-9


def test_second_derivatives_are_those_of_all_operations():
    tree = kkt.chain(2)
    abm = orderings.get("abm")
    ways = [kkt.to_jax(tree, abm, derivatives=d) for d in ("pivots", "operations")]
    state = state_of(kkt.compile(tree, orderings.get("abm")))
    by_pivots, by_operations = (
        jax.jit(jax.hessian(lambda q, f=f: f(q, *state[1:]).sum()))(state[0]) for f in ways
    )
    assert off(by_pivots, by_operations) < 1e-12


MASS, LENGTH, CENTRE, INERTIA, GRAVITY = (1.2, 0.7), 0.5, (0.25, 0.2), (0.03, 0.02), 9.81


def two_links():
    """Two links in the x-y plane, gravity along -y."""
    tree = kkt.new_tree("two_links", gravity=(0.0, -GRAVITY, 0.0))
    for i, up in enumerate((None, 0)):
        kkt.add_body(
            tree,
            i,
            up,
            mass=MASS[i],
            com=(CENTRE[i], 0.0, 0.0),
            p=(LENGTH * i, 0.0, 0.0),
            inertia=np.diag([0.01, 0.03, INERTIA[i]]),
        )
    return tree


def test_a_gradient_through_a_hundred_steps():
    """Right: central differences, in 40 digits, of the same steps by Lagrange's equations."""
    f, h, effort = kkt.to_jax(two_links(), orderings.get("abm")), 0.01, np.array([0.2, -0.1])

    def end(start):
        def step(state, _):
            q, qd = state
            qd = qd + h * f(q, qd, effort)
            return (q + h * qd, qd), None

        (q, qd), _ = jax.lax.scan(step, (start, jax.numpy.zeros(2)), None, length=100)
        return (q * q).sum() + qd.sum()

    start = np.array([0.3, -0.8])
    found = np.asarray(jax.jit(jax.grad(end))(start))
    right = []
    with mp.workdps(40):
        small = mp.mpf(10) ** -12
        for i in range(2):
            ends = [
                longer([x + sign * small * (i == j) for j, x in enumerate(start)], effort, h)
                for sign in (1, -1)
            ]
            right.append(float((ends[0] - ends[1]) / (2 * small)))
    assert off(found, right) < 1e-6
    assert off(found, right) < 1e-11  # as it was measured


def longer(start, effort, h):
    """What ``end`` computes, in mpmath."""
    q, qd = [mp.mpf(float(x)) if not isinstance(x, mp.mpf) else x for x in start], [mp.mpf(0)] * 2
    (m1, m2), length, (c1, c2), (i1, i2) = MASS, mp.mpf(LENGTH), map(mp.mpf, CENTRE), INERTIA
    m1, m2, i1, i2, g, h = (mp.mpf(x) for x in (m1, m2, i1, i2, GRAVITY, h))
    for _ in range(100):
        c, s = mp.cos(q[1]), mp.sin(q[1])
        M11 = i1 + i2 + m1 * c1**2 + m2 * (length**2 + c2**2 + 2 * length * c2 * c)
        M12, M22 = i2 + m2 * (c2**2 + length * c2 * c), i2 + m2 * c2**2
        turn = m2 * length * c2 * s
        far = m2 * g * c2 * mp.cos(q[0] + q[1])
        left = [
            mp.mpf(effort[0])
            + turn * (2 * qd[0] * qd[1] + qd[1] ** 2)
            - (m1 * c1 + m2 * length) * g * mp.cos(q[0])
            - far,
            mp.mpf(effort[1]) - turn * qd[0] ** 2 - far,
        ]
        det = M11 * M22 - M12**2
        qdd = [(M22 * left[0] - M12 * left[1]) / det, (M11 * left[1] - M12 * left[0]) / det]
        qd = [v + h * a for v, a in zip(qd, qdd, strict=True)]
        q = [x + h * v for x, v in zip(q, qd, strict=True)]
    return sum(x * x for x in q) + sum(qd)


def test_what_cannot_be_read_is_one_sentence(monkeypatch):
    chain, abm = kkt.chain(2), orderings.get("abm")
    with pytest.raises(kkt.OrderError, match="square_root_abm"):
        kkt.to_jax(chain, orderings.get("square_root_abm"))
    with pytest.raises(kkt.OrderError, match="about centres of mass, which to_jax does"):
        kkt.to_jax(chain, orderings.get("crbm_com"))
    with pytest.raises(kkt.ModelError, match="to_jax: outputs holds 'lambda'; use one of qdd"):
        kkt.to_jax(chain, abm, outputs=("qdd", "lambda"))
    with pytest.raises(kkt.ModelError, match="outputs holds 'lam'; did you mean lambda"):
        kkt.to_jax(kkt.four_bar(), abm, outputs="lam")
    with pytest.raises(kkt.ModelError, match="outputs is None; give a tuple of names"):
        kkt.to_jax(chain, abm, outputs=None)
    with pytest.raises(kkt.ModelError, match="outputs is empty; ask for one of qdd"):
        kkt.to_jax(chain, abm, outputs=())
    for wrong in ("abc", None, [[1.0], 2.0], 1j * np.zeros(2)):
        with pytest.raises(kkt.ModelError, match=r"q holds no real numbers; give \(2,\) of them"):
            kkt.to_jax(chain, abm)(wrong, np.zeros(2), np.zeros(2))
    with pytest.raises(kkt.ModelError, match="derivatives is 'finite'; use one of"):
        kkt.to_jax(chain, abm, derivatives="finite")
    with pytest.raises(kkt.ModelError, match=r"one state at a time; jax\.vmap"):
        kkt.to_jax(chain, abm)(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 2)))
    rough = kkt.chain(2)
    for body in rough.nodes:
        rough.nodes[body]["friction"] = 1.0
    with pytest.raises(kkt.ArmatureError, match=r"to_jax: dry friction"):
        kkt.to_jax(rough, abm)
    screw = kkt.new_tree("screw")
    S = np.array([[0, 0, 1, 0, 0, 0.1]]).T
    kkt.add_body(screw, "a", joint="general", S=S, mass=1.0, inertia=np.eye(3))
    with pytest.raises(kkt.ModelError, match="to_jax has no general joints"):
        kkt.to_jax(screw, abm)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(kkt.ModelError, match=r"jax is not installed; python -m pip install jax"):
        kkt.to_jax(chain, abm)
