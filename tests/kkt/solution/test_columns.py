"""More right-hand sides of the same pivots, against dense algebra and against runs of their own."""

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
from designs import covering, listed
from helpers import every_joint, tape_of
from hostile_trees import Truth, hostile_system

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.tape.player import run

ORDERS = ("crbm", "abm", "virtual_work", "gain_abm", "modified_abm_stretched", "constraint_force")
ORDERS += ("divide_and_conquer",)


@pytest.fixture(scope="module")
def mixed():
    """Every joint, a body with four children (links that are split), and a massless link."""
    tree = every_joint()
    for hand in "abc":
        kkt.add_body(tree, hand, "tip", mass=1.0, com=(0.1, 0.2, 0.3), inertia=0.1 * np.eye(3))
    return kkt.build(kkt.default_state(tree))


def sides(system, seed=0):
    """A full column, one of zeros, a unit one, one on two bodies alone, and a copy of it."""
    rng = np.random.default_rng(seed)
    B = np.zeros((system.size, 5))
    B[:, 0] = rng.normal(size=system.size)
    B[system.blocks["pdd", "plate"], 3] = rng.normal(size=6)
    B[system.blocks["f", "wheel"], 3] = rng.normal(size=6)
    B[system.blocks["qdd", "tip"], 2] = 1.0
    B[:, 4] = B[:, 3]
    return B


def solved_by_itself(system, tape, format, column):
    """The unknowns of a run whose own right-hand side is the column."""
    n, blocks, names = system.tree.n, system.blocks, system.tree.names
    a, b = -np.array([[column[blocks["f", k]], -column[blocks["pdd", k]]] for k in names]).swapaxes(0, 1)
    joints = [blocks["qdd", k] for k in names]
    tau = np.concatenate([column[where] for where in joints])
    assert a.shape == (n, 6)
    given = system.entries._replace(a=a, b=b, tau=tau)
    solution, _, _ = run(tape, given, get_format(format))
    x = np.zeros(system.size, dtype=get_format(format).dtype)
    for block, values in solution.items():
        x[blocks[block]] = values
    return x


@pytest.mark.parametrize("name", listed(ORDERS, unmarked=1))
def test_all_orders_solve_for_them_and_give_the_joint_space_inverse(mixed, name):
    system, B = mixed, sides(mixed)
    found = kkt.eliminate(system, orderings.get(name), records=False, rhs=B).columns
    exact = np.linalg.solve(system.matrix.toarray(), B)
    assert np.abs(found.values - exact).max() <= 1e-12 * np.abs(exact).max()
    assert not found.values[:, 1].any()
    assert kkt.eliminate(system, orderings.get(name), rhs=B[:, :0]).columns.values.shape == (system.size, 0)
    assert np.count_nonzero(found.values) <= found.nonzeros < found.values.size
    inverse = kkt.joint_space_inverse(mixed, orderings.get(name)).values
    M = kkt.joint_space_inertia(mixed, orderings.get("crbm"))
    assert np.array_equal(inverse, inverse.T)
    assert np.abs(inverse @ M - np.eye(len(M))).max() <= 1e-11


@pytest.mark.uncached
@pytest.mark.parametrize(
    ("format", "name"), covering(["float64", "float32", "bfloat16", "dd"], ["abm", "crbm"])
)
def test_a_column_has_the_bits_of_a_run_of_its_own(mixed, format, name):
    """Sums, their order and their signs are those of the right-hand side that (4) has."""
    # a body without bias acceleration has no slots for it, and a column may have rows there
    mixed = replace(mixed, pattern=replace(mixed.pattern, a=np.ones(mixed.tree.n, bool)), plans={})
    tape = kkt.trace(mixed, orderings.get(name))
    B = sides(mixed, 4)
    found = kkt.eliminate(mixed, tape, format, records=False, rhs=B).columns.values
    for j in range(B.shape[1]):
        own = get_format(format).shown(solved_by_itself(mixed, tape, format, B[:, j]))
        assert np.array_equal(found[:, j], own)


@pytest.mark.parametrize("format", ["float32", "float64", "mp:30", "ball:30"])
def test_the_own_answer_keeps_its_bits(format):
    system, tape = kkt.build(kkt.binary(3)), tape_of("binary:3", "abm")
    B = np.random.default_rng(1).normal(size=(system.size, 2))
    alone = kkt.eliminate(system, tape, format)
    beside = kkt.eliminate(system, tape, format, rhs=B)
    for kind in ("qdd", "pdd", "f"):
        pairs = zip(getattr(alone, kind).flat, getattr(beside, kind).flat, strict=True)
        assert all(str(x) == str(y) for x, y in pairs)
    assert (alone.flops, str(alone.steps)) == (beside.flops, str(beside.steps))
    assert alone.columns is None


def test_fractions_and_balls_solve_exactly(mixed):
    """K X = B in fractions to the last digit, and every ball holds the fraction."""
    system = kkt.build(kkt.random_tree(4, seed=2))
    B = np.random.default_rng(3).normal(size=(system.size, 2))
    X = kkt.eliminate(system, orderings.get("abm"), "exact", rhs=B).columns.values
    balls = kkt.eliminate(system, orderings.get("crbm"), "ball:40", rhs=B).columns.values
    mp = kkt.eliminate(system, orderings.get("crbm"), "mp:40", rhs=B).columns.values
    assert isinstance(X.flat[0], Fraction)
    for x, ball, number in zip(X.flat, balls.flat, mp.flat, strict=True):
        with flint.ctx.workprec(400):
            assert flint.arb(flint.fmpq(x.numerator, x.denominator)) in ball
            assert float(ball.rad()) <= 1e-40 * abs(float(x))
        assert abs(float(Fraction(str(number)) - x)) <= 1e-38 * abs(float(x))
    # the model's doubles make M in fractions, and its rounding differs from the matrix's
    left = system.matrix.toarray() @ X.astype(float)
    assert left == pytest.approx(B, rel=1e-9, abs=1e-9)


def test_a_column_of_a_tip_touches_its_ancestors_only_on_the_way_in(mixed):
    """Of two trees on the world: a column on the one leaves the other at zero."""
    B, arm = np.zeros((mixed.size, 1)), ("post", frozenset("x"))
    B[mixed.blocks["qdd", arm[1]]] = 1.0
    found = kkt.eliminate(mixed, orderings.get("abm"), rhs=B).columns
    assert not any(found.values[rows].any() for (_, body), rows in mixed.blocks.items() if body not in arm)
    dense = kkt.eliminate(mixed, orderings.get("abm"), rhs=np.ones((mixed.size, 1))).columns
    assert found.nonzeros < dense.nonzeros / 2
    assert found.operations < dense.operations / 2


@pytest.mark.filterwarnings("ignore::pivotree.kkt.LoopWarning")
@pytest.mark.parametrize("order", ["abm", "crbm", "virtual_work"])
def test_j_inverse_m_j_is_what_lambda_solves_for(order):
    """As a page says it. With these rows in (4), block (lam, lam) of K^-1 is minus its inverse."""
    tree, first, last, q = kkt.chain(6, axes="xyz"), "j2", "j6", [0.3, -0.4, 0.5, 0.6, 0.7, 0.1]
    points = [
        kkt.contact(last, (0.1, 0.2, 0.3), on=first, name="contact"),
        kkt.cut_joint(None, last, rows=(2, 3), p=(0.1, 0, 0), name="turning"),
        kkt.coupled_joints(tree, last, first, 2.0, name="coupled"),
    ]
    system = kkt.build(tree, q=q)
    held = kkt.build(tree, q=q, loops=points)
    J = held.matrix.toarray()[-4:, : system.size]
    found = J.dot(kkt.eliminate(system, orderings.get(order), "mp:50", rhs=J.T).columns.values)
    rows = np.zeros((held.size, 4))
    rows[-4:] = np.eye(4)
    inverse = kkt.eliminate(held, orderings.get("abm"), "mp:50", rhs=rows).columns.values[-4:]
    assert np.abs(found.dot(-inverse) - np.eye(4)).max() <= 1e-12  # of J in float64


def asked_of(system, order, format):
    """Everything that takes further right-hand sides of the same pivots, each by itself."""
    B = np.zeros((system.size, 1))
    B[system.blocks["qdd", system.tree.names[-1]]] = 1.0
    return {
        "inverse": lambda: kkt.joint_space_inverse(system, order, format),
        "derivatives": lambda: kkt.derivatives(system, order, format),
        "columns": lambda: kkt.eliminate(system, order, format, records=False, rhs=B).columns,
    }


def test_they_are_marked_where_they_lose_half_of_their_digits():
    """The estimate is the distance to the exact answer for the same entries, to a factor of 2."""
    system, crbm = kkt.build(kkt.chain(15)), orderings.get("crbm")
    right = kkt.joint_space_inverse(system, orderings.get("abm"), "ball:40")
    exact = np.array([float(x.mid()) for x in right.values.flat]).reshape(right.values.shape)
    assert right.marked is None and right.error_estimate is None
    found = kkt.joint_space_inverse(system, crbm, "tf32")
    error = np.abs(np.asarray(found, dtype=float) - exact).max() / np.abs(exact).max()
    assert error > 0.05 and error / 2 < found.error_estimate < 2 * error
    assert "tf32 keeps fewer than half" in found.marked and found.marked[:30] in repr(found)
    for format, order, bound in (("tf32", "crbm", 2.0**-5.5), ("float32", "abm", 2.0**-12)):
        for name, ask in asked_of(system, orderings.get(order), format).items():
            told = ask()
            assert bool(told.marked) == (told.error_estimate > bound), name
            assert bool(told.marked) == (order == "crbm")


def test_they_are_refused_where_a_pivot_is_zero_for_the_format():
    """In tf32 crbm leaves -0.06 of a pivot that is 0.06; the answers would be off by 10 %."""
    system, crbm = kkt.build(kkt.chain(30)), orderings.get("crbm")
    told = kkt.eliminate(system, crbm, "tf32", records=False).failed_at
    assert "zero for tf32" in told
    asked = asked_of(system, crbm, "tf32")
    assert asked.pop("columns")() is None
    for name in ("inverse", "derivatives"):
        with pytest.raises(kkt.SingularError) as error:
            asked[name]()
        assert told in str(error.value), name


@pytest.mark.parametrize("seed", listed([17, 8, 41, *range(1, 40, 6)]))
def test_the_inverse_of_hostile_trees_is_right_marked_or_refused(seed):
    """Beside rational numbers; every other tree has armature."""
    system = hostile_system(seed, loops=0.6, rotors=seed % 2 == 1)
    joints = [system.blocks["qdd", b] for b in system.tree.names]
    places = np.concatenate([np.arange(x.start, x.stop) for x in joints])
    for format in ("float32", "float64"):
        truth = Truth(system, format)
        if not truth.singular:
            unit = [[int(i == j) for j in places] for i in range(system.size)]
            whole = flint.fmpq_mat(truth.K.tolist()).solve(flint.fmpq_mat(unit))
            exact = np.array(
                [[float(Fraction(str(whole[int(i), j]))) for j in range(len(places))] for i in places]
            )
        for name in ("crbm", "abm", "lagrange", "natural"):
            try:
                found = kkt.joint_space_inverse(system, orderings.get(name), format)
            except kkt.PivotreeError:
                continue
            assert not truth.singular, (name, format)
            off = np.abs(found.values.astype(float) - exact).max() / np.abs(exact).max()
            bound = max(np.sqrt(get_format(format).unit), 3.0 * found.error_estimate)
            assert found.marked or off <= bound, (name, format)
