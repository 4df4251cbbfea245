"""kkt.compile: the same bits however it is run, and the values that elimination gives."""

import mpmath
import numpy as np
import pytest
from helpers import ALL_JOINTS, printed, system_of
from machine_kernels import ORDERS, TREES, kernel_of, plain, states

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.machine.interpreter import Interpreter
from pivotree.kkt.machine.native import compiled
from pivotree.kkt.machine.scalar_program import depth_first


@pytest.mark.thorough
@pytest.mark.parametrize("format", ["float64", "float32"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "name", [pytest.param(t, marks=pytest.mark.slow) if t == "random" else t for t in TREES]
)
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
