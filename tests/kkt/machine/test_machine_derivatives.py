"""Kernels give derivatives beside qdd: those of ``kkt.derivatives``, and refusals by name."""

import numpy as np
import pytest
from helpers import every_joint

from pivotree import kkt, orderings
from pivotree.kkt.machine.abreast import widths_of
from pivotree.kkt.machine.native import compiled

ABM = orderings.get("abm")
ALL = ("qdd", "dqdd_dq", "dqdd_dqd", "dqdd_dtau")


def states(kernel, tree, count, seed=1):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(count, kernel.N))
    x = np.array([kernel.configuration(row) for row in q])
    return q, x, rng.normal(size=(count, kernel.N)), rng.normal(size=(count, kernel.N))


JOINTS = (
    "revolute+universal",
    "planar+spherical",
    "cylindrical+prismatic",
    pytest.param("floating", marks=pytest.mark.slow),
)


@pytest.mark.thorough
@pytest.mark.parametrize("joints", JOINTS)
@pytest.mark.parametrize(("order", "format"), [("abm", "float64"), ("crbm", "float32")])
def test_a_kernel_gives_them_in_many_states(joints, order, format):
    """Every kind of joint with its terms, one state and a batch."""
    tree = kkt.random_tree(2, seed=3, joints=joints)
    for _, data in tree.nodes(data=True):
        data["armature"] = 0.3 if data["joint"] != "fixed" else 0.0
        data["damping"] = 0.2 if data["joint"] != "fixed" else 0.0
    kernel = kkt.compile(tree, orderings.get(order), format, outputs=ALL)
    q, x, qd, tau = states(kernel, tree, 3)
    batch = kernel(x, qd, tau)
    for i in range(3):
        alone = kernel(x[i], qd[i], tau[i])
        exact = kkt.derivatives(kkt.build(tree, q[i], qd[i], tau[i]), ABM)
        pairs = zip(alone, (exact.qdd, exact.dq, exact.dqd, exact.dtau), batch, strict=True)
        for found, expected, many in pairs:
            assert np.array_equal(found, many[i])
            close = 1e-11 if format == "float64" else 1e-3
            assert np.abs(found - expected).max() <= close * np.abs(expected).max()


DERIVED = [
    f"d{of}_d{by}" for of in ("qdd", "lambda") for by in ("q", "qd", "tau", "parameters", "gravity", "wrench")
]


@pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
@pytest.mark.thorough
@pytest.mark.parametrize("model", ["four_bar", "gripper", "hanging"])
def test_a_kernel_gives_those_of_closed_loops(model):
    """Poses of the loops, gains and all that is differentiated by, in states where loops open."""
    tree = kkt.chain(3) if model == "hanging" else getattr(kkt, model)()
    loops = None
    if model == "hanging":
        loops = [
            kkt.cut_joint("j3", None, p=(0.1, 0, 0), rows=(2, 3), baumgarte=(2.0, 5.0)),
            kkt.contact("j2", (0.1, 0.2, 0), damping=3.0, compliance=0.1),
        ]
    outputs = ["qdd", "lambda", *DERIVED]
    kernel = kkt.compile(tree, ABM, outputs=outputs, loops=loops)
    q, x, qd, tau = states(kernel, tree, 3)
    batch, alone = kernel(x, qd, tau), kernel(x[1], qd[1], tau[1])
    for i in range(3):
        system = kkt.build(tree, q[i], qd[i], tau[i], loops=loops)
        exact = kkt.derivatives(system, ABM, also=["parameters", "gravity", "wrench"])
        for name, many, one in zip(outputs[2:], batch[2:], alone[2:], strict=True):
            own = exact if name.startswith("dqdd") else exact.dlam
            expected = getattr(own, name.split("_")[1])
            scale = np.abs(expected).max()
            assert np.abs(many[i] - expected).max() <= 1e-10 * scale, name
            assert i != 1 or np.array_equal(one, many[1])


def test_qdd_keeps_its_bits_beside_them():
    tree = kkt.chain(3)
    plain, more = (kkt.compile(tree, ABM, outputs=outputs) for outputs in (("qdd",), ALL))
    _, x, qd, tau = states(plain, tree, 4)
    assert np.array_equal(plain(x, qd, tau), more(x, qd, tau)[0])
    alone = kkt.compile(tree, ABM, outputs=("dqdd_dtau",))
    assert np.array_equal(alone(x, qd, tau), more(x, qd, tau)[3])
    assert sum(alone.operations.values()) < sum(more.operations.values()) / 2


def test_a_checked_kernel_and_several_orders_take_them():
    tree = kkt.chain(3)
    orders = [ABM, orderings.get("crbm")]
    kernel = kkt.compile(tree, orders, outputs=("qdd", "dqdd_dq"), check=True)
    _, x, qd, tau = states(kernel, tree, 2)
    (qdd, dq, status), (_, other, _) = kernel(x, qd, tau)
    assert qdd.shape == (2, 3) and dq.shape == (2, 3, 3) and not status.any()
    assert other == pytest.approx(dq, rel=1e-8, abs=1e-8)


def test_what_a_kernel_refuses():
    tree, outputs = kkt.chain(3), ("qdd", "dqdd_dq")
    for options in ({"bias": "inverse_dynamics"}, {"frames": "world"}):
        with pytest.raises(kkt.ModelError, match="dqdd_dq follows from the bias"):
            kkt.compile(tree, ABM, outputs=outputs, **options)
    with pytest.raises(kkt.ModelError, match="did you mean dqdd_dq"):
        kkt.compile(tree, ABM, outputs=("dqdd_q",))
    for name in ("dlambda_dq", "lambda"):
        with pytest.raises(kkt.ModelError, match=f"{name} is an output, and chain_3 has no loops"):
            kkt.compile(tree, ABM, outputs=("qdd", name))
    with pytest.raises(kkt.ModelError, match="did you mean dlambda_dqd"):
        kkt.compile(kkt.four_bar(), ABM, outputs=("dlambda_qd",))
    with pytest.raises(kkt.ModelError, match="no tangent space"):
        kkt.compile(every_joint(), ABM, outputs=outputs)
    with pytest.raises(kkt.OrderError, match="rotations"):
        kkt.compile(tree, orderings.get("square_root_abm"), outputs=outputs)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tree",
    [
        kkt.random_tree(4, seed=3, joints="revolute"),
        kkt.example3(),
        pytest.param(kkt.quadruped(), marks=pytest.mark.slow),
    ],
)
def test_an_order_that_leaves_the_inertia_walks_no_subtree_for_a_column(tree):
    """crbm's kernel agrees with abm's in fewer operations than its columns take one by one."""
    crbm = orderings.get("crbm")
    kernel = kkt.compile(tree, crbm, outputs=ALL)
    q, x, qd, tau = (a[0] for a in states(kernel, tree, 1))
    system = kkt.build(tree, q, qd, tau)
    exact, alone = kkt.derivatives(system, ABM), kkt.derivatives(system, crbm)
    expected = exact.qdd, exact.dq, exact.dqd, exact.dtau
    for found, right in zip(kernel(x, qd, tau), expected, strict=True):
        assert np.abs(found - right).max() <= 1e-11 * np.abs(right).max()
    if len(tree) > 3:
        assert sum(kernel.operations.values()) < alone.operations


def test_their_pivots_are_divided_by_once_and_qdd_keeps_its_own():
    """Of crbm: joints' reciprocals are all quotients, and what else is asked changes no bit."""
    tree, crbm = kkt.chain(5), orderings.get("crbm")
    outputs = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
    alone, beside, plain = (
        kkt.compile(tree, crbm, outputs=x) for x in (outputs, ("qdd", *outputs), ("qdd",))
    )
    assert alone.operations["div"] == 4 < plain.operations["div"]  # the tip's is a constant
    _, x, qd, tau = states(plain, tree, 4)
    qdd, *matrices = beside(x, qd, tau)
    assert np.array_equal(qdd, plain(x, qd, tau))
    assert all(map(np.array_equal, matrices, alone(x, qd, tau)))


@pytest.mark.thorough
def test_a_free_base_that_turns_or_slides_moves_its_own_acceleration_alone():
    """A turned base sees gravity turned, and one that slides as a whole sees nothing else."""
    kernel = kkt.compile(kkt.quadruped(), orderings.get("crbm"), outputs=ALL[1:3])
    _, x, qd, tau = states(kernel, kkt.quadruped(), 1)
    dq, dqd = kernel(x[0], qd[0], tau[0])
    R = kkt.build(kkt.quadruped(), kernel.coordinates(x[0])).state.R[0]
    g = R.T @ [0.0, 0.0, -9.81]
    for matrix, columns, vector in ((dq, slice(0, 3), g), (dqd, slice(3, 6), -qd[0, :3])):
        expected = np.zeros((kernel.N, 3))
        expected[3:6] = np.cross(vector, np.eye(3)).T
        assert np.allclose(matrix[:, columns], expected, rtol=0, atol=1e-12)
    assert not dq[:, 3:6].any()


@pytest.mark.thorough
def test_like_operations_side_by_side_change_no_bit():
    """Of one state, in pieces so short that vectors are handed on, and against a batch."""
    kernel = kkt.compile(kkt.chain(5), orderings.get("crbm"), outputs=ALL[1:])
    assert (widths_of(kernel.straight, 8) > 1).sum() > 50  # vectors
    _, x, qd, tau = states(kernel, kkt.chain(5), 2)
    sizes = kernel.fields.sizes
    found = np.empty((3, 2, len(kernel.straight.outputs)))
    for out, (lanes, abreast) in zip(found, ((8, 1), (1, 8), (1, 4)), strict=True):
        native = compiled(kernel.straight, np.float64, lanes, sizes, piece=400, abreast=abreast)
        assert native.run([x, qd, tau], out)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


@pytest.mark.parametrize("format", ["float64", "float32"])
@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_results_of_vectors_of_any_width_stand_in_their_places(lanes, format):
    """Squares of results and the rest of them, also of a vector with fewer states than lanes."""
    kernel = kkt.compile(kkt.chain(5), orderings.get("crbm"), format, outputs=("qdd", "dqdd_dtau"))
    _, *given = states(kernel, kkt.chain(5), lanes + 1)
    given = [array.astype(kernel.number.dtype) for array in given]
    found = np.empty((2, lanes + 1, kernel.fields.numbers), kernel.number.dtype)
    assert found.shape[2] % 4 and found.shape[2] > 16
    for out, width in zip(found, (1, lanes), strict=True):
        native = compiled(kernel.straight, kernel.number.dtype, width, kernel.fields.sizes)
        assert native.run(given, out)
    assert np.array_equal(*found)
