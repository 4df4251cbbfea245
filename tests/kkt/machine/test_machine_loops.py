"""kkt.compile with loops and contacts: rows are constants, multipliers an output."""

from dataclasses import replace

import numpy as np
import pytest
from designs import covering, listed
from machine_kernels import ABM, plain, states, whole
from mechanisms import SYSTEMS
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings

OUTPUTS = ("qdd", "lambda", "pdd", "f")
LETTERS = ("qdd", "lam", "pdd", "f")
pytestmark = pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")


def slides(seed=0):
    """A base with a hinge, two arms of hinges and slides, and loops of every kind between them."""
    draw = np.random.default_rng(seed)
    tree = kkt.new_tree("slides", (0.3, -0.5, -9.7))
    for arm in "ab":
        for i in range(4):
            kkt.add_body(
                tree,
                f"{arm}{i}",
                f"{arm}{i - 1}" if i else None,
                mass=draw.uniform(0.5, 2.0),
                com=draw.normal(size=3),
                inertia=np.diag(draw.uniform(0.1, 0.15, 3)),
                joint="prismatic" if i % 2 else "revolute",
                axis=draw.normal(size=3),
                R=Rotation.random(random_state=i).as_matrix(),
                p=draw.normal(size=3),
            )
    R = Rotation.random(random_state=9).as_matrix()
    return tree, [
        kkt.cut_joint("a3", "b3", "spherical", p=(0.1, 0.2, 0.3), baumgarte=(3.0, 2.0)),
        kkt.cut_joint("a1", None, "revolute", R=R, rows=(0, 3), baumgarte=(1.0, 4.0)),
        kkt.contact("a2", (0.2, 0, 0.1), tangents=[(1, 0, 0)], compliance=1e-2, damping=2.0),
        kkt.contact("b0", (0.2, 0.3, 0.1), (1, 2, 3), on="b2", name="touch"),
    ]


def states_of(kernel, m, seed=0):
    """Hinges at 0, whose sines are exact in every implementation, and slides anywhere."""
    x, qd, tau = np.random.default_rng(seed).normal(size=(3, m, kernel.N))
    x[:, [k for k, kind in enumerate(kernel.places.tree.joint) if kind == "revolute"]] = 0.0
    return x, qd, tau


@pytest.mark.uncached
@pytest.mark.parametrize(
    "order", listed(["abm", "square_root_abm", "closed_early", "crbm", "bad_abm"], unmarked=1)
)
def test_the_bits_are_those_of_the_tape(order):
    """Spatial algebra, rows of loops and the order's tape: the same operations, one by one."""
    tree, loops = slides()
    kernel = kkt.compile(tree, orderings.get(order), outputs=OUTPUTS, loops=loops)
    assert "machine code" in kernel.how and kernel.fields.rows == 8
    states = states_of(kernel, 3)
    together = kernel(*states)
    for i, (q, qd, tau) in enumerate(zip(*states, strict=True)):
        system = kkt.build(tree, q, qd, tau, loops=loops)
        expected = kkt.eliminate(system, orderings.get(order), records=False)
        for name, many, one in zip(LETTERS, together, kernel(q, qd, tau), strict=True):
            assert np.array_equal(many[i], getattr(expected, name)), name
            assert np.array_equal(one, many[i]), name


@pytest.mark.parametrize("format", ["float64", "float32"])
def test_machine_code_gives_the_bits_of_a_plain_interpreter(format):
    tree, loops = slides()
    kernel = kkt.compile(tree, ABM, format, outputs=OUTPUTS, loops=loops)
    given = states(kernel, 2 * kernel.lanes + 3)
    expected = plain(kernel, *given)
    for m in (1, kernel.lanes + 1, len(expected)):
        found = whole(kernel(*(a[:m] for a in given)), m)
        assert found.dtype == format and np.array_equal(found, expected[:m])


HOW = {"abm": {}, "crbm": {"bias": "inverse_dynamics"}, "closed_early": {"frames": "world"}}


@pytest.mark.parametrize(("name", "order"), covering(SYSTEMS, HOW, unmarked=1))
def test_values_are_those_of_elimination_in_any_state(name, order):
    """Of mechanisms that are open and closed, frames of bodies and of the world."""
    system, draw = SYSTEMS[name](), np.random.default_rng(7)
    kernel = kkt.compile(system, orderings.get(order), outputs=OUTPUTS[:2], **HOW[order])
    for _ in range(2):
        q, (qd, tau) = draw.uniform(-1.0, 1.0, kernel.N), draw.normal(size=(2, kernel.N))
        expected = kkt.eliminate(system.refresh(q, qd, tau), ABM)
        found = kernel(kernel.configuration(q), qd, tau)
        for value, letter in zip(found, LETTERS[:2], strict=True):
            wanted = getattr(expected, letter)
            assert np.abs(value - wanted).max() <= 1e-10 * np.abs(wanted).max(), letter


def test_a_kernel_of_a_closed_mechanism_is_right_to_its_certified_answer():
    system = SYSTEMS["four bar"]()
    kernel = kkt.compile(system, ABM, outputs=("qdd", "lambda"))
    exact = kkt.certify(system, 30)
    q = [1.0, *np.arctan2(*_angles(system))]
    qdd, lam = kernel(kernel.configuration(q), system.state.qd, system.state.tau)
    balls = exact.solution[kkt.Block("lam", "pin")].ravel()
    for found, right in ((qdd, exact.qdd), (lam, balls)):
        right = np.array([float(x) for x in right])
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12 * np.abs(right).max())


def _angles(system):
    """Sines and cosines of coupler and rocker, off the poses of the state."""
    return system.state.R[1:, 1, 0], system.state.R[1:, 0, 0]


def test_kernels_of_other_loops_are_other_kernels():
    tree, found = kkt.chain(3), []
    for loop in (
        None,
        kkt.contact("j3", (0.1, 0, 0)),
        kkt.contact("j3", (0.2, 0, 0)),
        kkt.contact("j3", (0.2, 0, 0), compliance=0.5),
        kkt.contact("j2", (0.2, 0, 0)),
    ):
        loops = [] if loop is None else [loop]
        kernel = kkt.compile(tree, ABM, loops=loops)
        found.append(kernel([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [1.0, 0.0, 2.0]).tobytes())
    assert len(set(found)) == len(found)
    tree.graph["loops"] = (kkt.contact("j3", (0.1, 0, 0)),)
    own = kkt.compile(tree, ABM)
    assert own([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [1.0, 0.0, 2.0]).tobytes() == found[1]


def flat():
    """A parallelogram in the plane: where it lies flat, one of its pin's two rows follows."""
    return kkt.load("four_bar:crank=1,coupler=3,rocker=1,base=3,angle=1")


@pytest.mark.parametrize(
    ("order", "format"), covering(["abm", "crbm", "closed_early"], ["float64", "float32"])
)
def test_a_state_in_which_a_loop_is_singular_is_told(order, format):
    """The status names the multiplier where the system is refused, one state or many."""
    tree = flat()
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
    tree = flat()
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


@pytest.mark.parametrize(
    ("load", "format"),
    [
        (arm, "float64"),
        (arm, "float32"),
        pytest.param(lambda: kkt.load("quadruped:feet=4"), "float32", marks=pytest.mark.product),
    ],
)
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
