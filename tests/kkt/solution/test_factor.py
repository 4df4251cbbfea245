"""The factor of an order: against dense algebra, scipy's SuperLU, and the bits of eliminate."""

import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import every_joint
from scipy.sparse.linalg import gmres, splu
from test_matrix import poisson, poses, program

import pivotree as pt
from pivotree import kkt, orderings

ORDERS = ("abm", "crbm", "natural", "minimum_degree", "modified_abm", "gain_abm", "joseph_abm")
ORDERS += ("bad_abm", "crbm_block_row", "projected_abm", "random:3")


SYSTEMS = {
    "geared": lambda: kkt.build(with_terms(kkt.chain(4), 1)),
    "held": lambda: kkt.build(kkt.chain(5), loops=[POINT]),
    "four_bar": lambda: kkt.build(kkt.four_bar()),
    "every joint": lambda: kkt.build(kkt.default_state(every_joint())),
}
ONES_OWN = {
    "poisson": lambda: pt.matrix(poisson(9)),
    "program": lambda: pt.matrix(program(40, 12)),
    "zeros": lambda: pt.matrix(poses(7, 3).toarray() * (np.eye(21) * (np.arange(21) % 3 > 0) == 0)),
    "poses": lambda: pt.matrix(poses(14, 8), blocks=[1, 2, 3] * 7),
    "scattered": lambda: pt.matrix(poses(3, 1), blocks={"a": [0, 5, 7], "b": [8], "c": [2, 3, 6, 1, 4]}),
}
BRACKETS = [[k, 40 + k] for k in range(12)] + [[k] for k in range(12, 40)]  # multipliers with variables
POINT = kkt.contact("j5", (0.1, 0.0, 0.0), (1.0, 0.0, 0.0), [(0.0, 1.0, 0.0)])


def answer(system, made):
    """qdd of the factor's own solution, bodies in the tree's order; of a matrix of one's own, all of x."""
    x = made.solve(system.rhs)
    if system.name == "matrix":
        return x
    return np.concatenate([x[system.blocks["qdd", k]] for k in system.tree.names])


OWN = [*covering(("natural", "minimum_degree", "bunch_kaufman"), ONES_OWN, unmarked=4), (BRACKETS, "program")]


@pytest.mark.parametrize(("name", "model"), [*covering(ORDERS, SYSTEMS), *OWN])
def test_the_factor_is_the_permuted_matrix_and_solves_with_the_order_s_bits(name, model):
    order, system = name if name is BRACKETS else orderings.get(name), (SYSTEMS | ONES_OWN)[model]()
    made = kkt.factor(system, order)
    A, size = system.matrix.toarray(), system.size
    # P A P^T = L D L^T, to rounding of the products that it is a sum of, and of entries that cancel
    assert sorted(made.perm.tolist()) == list(range(size))
    L, D = made.L.toarray(), made.D.toarray()
    P = A[np.ix_(made.perm, made.perm)]
    near = np.abs(L) @ np.abs(D) @ np.abs(L).T + np.abs(P).max() / 60
    assert (np.abs(L @ D @ L.T - P) <= 60 * 2.0**-53 * near).all()
    # L is unit lower triangular, D has blocks of one and two rows, and A's inertia
    assert np.array_equal(L, np.tril(L)) and (L.diagonal() == 1.0).all()
    beside = np.flatnonzero(np.diagonal(D, 1))
    assert np.array_equal(D, np.triu(np.tril(D, 1), -1)) and (np.diff(beside) > 1).all()
    assert (np.linalg.eigvalsh(D) > 0).sum() == (np.linalg.eigvalsh(A) > 0).sum()
    # solutions are those of the order, bit by bit, and of SuperLU
    assert np.array_equal(answer(system, made), kkt.eliminate(system, order).qdd)
    B = np.random.default_rng(1).normal(size=(size, 70))
    X = made.solve(B)
    assert np.allclose(X, splu(system.matrix).solve(B), rtol=1e-6, atol=1e-6 * np.abs(X).max())
    assert all(np.array_equal(made.solve(B[:, i]), X[:, i]) for i in (0, 64, 69))


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_a_shorter_format_has_its_own_factor(name):
    system, order = kkt.build(kkt.chain(6)), orderings.get("abm")
    made, plain = kkt.factor(system, order, name), kkt.eliminate(system, order, name)
    assert np.array_equal(answer(system, made), plain.qdd)
    assert made.L.dtype == made.D.dtype == kkt.arithmetic.get_format(name).dtype
    unit = kkt.arithmetic.get_format(name).unit
    P = system.matrix.toarray()[np.ix_(made.perm, made.perm)]
    L, D = made.L.toarray().astype(float), made.D.toarray().astype(float)
    off = np.abs(L @ D @ L.T - P)
    assert (off <= 60 * unit * (np.abs(L) @ np.abs(D) @ np.abs(L).T)).all()
    assert off.max() > unit / 100  # and it is no factor of float64
    assert made.solve(np.eye(system.size)[:, :2]).shape == (system.size, 2)


def test_the_next_state_keeps_the_symbolic_part():
    system, order = kkt.build(kkt.humanoid()), orderings.get("crbm")
    made = kkt.factor(system, order)
    other = system.refresh(q=np.linspace(0.1, 0.9, len(system.entries.tau)))
    again = made.update(other)
    assert again.symbolic is made.symbolic
    fresh = kkt.factor(other, order)
    assert np.array_equal(again.L.toarray(), fresh.L.toarray())
    assert np.array_equal(answer(other, again), kkt.eliminate(other, order).qdd)
    assert np.array_equal(answer(system, made), kkt.eliminate(system, order).qdd)  # it is as it was
    with pytest.raises(kkt.OrderError, match="traced on another tree"):
        made.update(kkt.build(kkt.chain(3)))
    own = kkt.factor(pt.matrix(poisson(4)), "minimum_fill")
    other = pt.matrix(3 * poisson(4), rhs=np.arange(16.0))
    assert np.array_equal(own.update(other).solve(other.rhs), kkt.eliminate(other, "minimum_fill").qdd)
    renamed = pt.matrix(poisson(4), blocks={f"r{i}": [i] for i in range(16)})
    for wrong in (pt.matrix(poisson(3)), pt.matrix(np.eye(16)), renamed, system):
        with pytest.raises(kkt.OrderError, match="entries in these places; call factor for another"):
            own.update(wrong)


def test_the_inverse_is_a_linear_operator():
    """A preconditioner of another state: GMRES needs a few steps, and one in its own."""
    tree = kkt.chain(8)
    made = kkt.factor(kkt.build(tree, q=np.full(8, 0.3)), orderings.get("abm"))
    for q, most in ((0.3, 1), (0.31, 12)):
        system, steps = kkt.build(tree, q=np.full(8, q)), []
        x, failed = gmres(
            system.matrix,
            system.rhs,
            M=made.inverse,
            rtol=1e-10,
            callback=steps.append,
            callback_type="pr_norm",
        )
        assert failed == 0 and len(steps) <= most
        assert np.abs(system.matrix @ x - system.rhs).max() < 1e-6 * np.abs(x).max()
    identity = np.eye(made.inverse.shape[0])
    assert np.array_equal(made.inverse @ identity, made.solve(identity))
    assert np.array_equal(made.inverse.T @ identity[0], made.solve(identity[0]))


@pytest.mark.parametrize(
    ("order", "format", "told"),
    [
        ("lagrange", "float64", "splits forces"),
        ("modified_abm_stretched", "float64", "puts bodies into pieces"),
        ("square_root_abm", "float64", "eliminates by rotations, which leave no L D L"),
        ("crbm_com", "float64", "has composites of ten numbers"),
        ("abm", "mp:30", "has no factor; use float64"),
        ("abm", "exact", "has no factor; use float64"),
    ],
)
def test_what_has_no_factor_is_refused(order, format, told):
    with pytest.raises(kkt.PivotreeError, match=told):
        kkt.factor(kkt.build(kkt.chain(3)), orderings.get(order), format)


def test_a_pivot_without_a_digit_is_refused():
    """In float32 CRBM keeps no digit of D_2 of Example 3; ABM in float64 does."""
    system = kkt.build(kkt.example3(m1=1e8, case=1))
    with pytest.raises(kkt.SingularError, match="qdd"):
        kkt.factor(system, orderings.get("crbm"), "float32")
    kkt.factor(system, orderings.get("abm"))


@pytest.mark.parametrize(
    ("b", "told"),
    [
        (np.zeros(3), r"has shape \(3,\) and type float64; give real numbers, \(39,\) or \(39, m\)"),
        (np.zeros((39, 1, 1)), "has shape"),
        (np.zeros(39, dtype=complex), "type complex128"),
        (np.full(39, np.nan), "cannot hold a right-hand side"),
        (["a"] * 39, "type <U1"),
    ],
)
def test_a_right_hand_side_that_is_none_is_refused(b, told):
    made = kkt.factor(kkt.build(kkt.chain(3)), orderings.get("abm"))
    with pytest.raises(kkt.PivotreeError, match=told):
        made.solve(b)
