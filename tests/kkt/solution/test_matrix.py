"""A symmetric matrix of one's own: fill and operations as SuperLU has them, digits as fractions say."""

import ctypes
import gzip
import sys
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from helpers import ROOT
from scipy.io import mmwrite
from scipy.sparse.linalg import splu

import pivotree as pt
from pivotree import analysis, kkt
from pivotree.orderings import graphs

USUAL = ("natural", "minimum_degree", "minimum_fill", "reverse_cuthill_mckee", "nested_dissection")


def poisson(n):
    """The five-point Laplacian of a square."""
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line)


def program(n, rows, seed=0):
    """H and A of a convex quadratic program with sparse constraints."""
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=0.05, rng=rng)
    some = sp.random_array((rows, n), density=0.15, rng=rng)
    return half @ half.T + sp.eye_array(n), some + sp.eye_array(rows, n)


def poses(count, closures, seed=0):
    """The normal equations of a pose graph: a path of planar poses, blocks 3 x 3, and closed loops."""
    rng = np.random.default_rng(seed)
    ends = [(i, i + 1) for i in range(count - 1)]
    ends += [tuple(sorted(rng.choice(count, 2, replace=False))) for _ in range(closures)]
    A = np.eye(3 * count)
    for i, j in ends:
        J = np.zeros((3, 3 * count))
        J[:, 3 * i : 3 * i + 3], J[:, 3 * j : 3 * j + 3] = rng.normal(size=(2, 3, 3))
        A += J.T @ J
    return sp.csc_array((A + A.T) / 2)


SYSTEMS = {
    "diagonal": pt.matrix(np.diag([2.0, 4.0, 8.0]), name="diagonal"),
    "poisson": pt.matrix(poisson(9), name="poisson"),
    "program": pt.matrix(program(40, 12), name="program"),
    "poses": pt.matrix(poses(14, 8), name="poses"),
    "poses in blocks": pt.matrix(poses(14, 8), blocks=[3] * 14, name="poses in blocks"),
}


def superlu_columns(system, order):
    """(size,) entries below the diagonal of each column of L, by SuperLU in the order of the pivots."""
    chosen = kkt.plan(order, system.structure)
    p = np.concatenate([system.rows[int(chosen.graph.member[b])] for b in chosen.blocks])
    A = sp.csc_matrix(system.matrix[p][:, p])
    options = {"SymmetricMode": True, "Equil": False}
    lu = splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, relax=1, panel_size=1, options=options)
    assert np.array_equal(lu.perm_r, np.arange(system.size))
    return np.diff(lu.L.indptr) - 1


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("order", USUAL)
def test_fill_and_operations_are_those_of_superlu(name, order):
    if order == "nested_dissection":
        pytest.importorskip("pymetis")
    system = SYSTEMS[name]
    factor = kkt.symbolic(kkt.plan(order, system.structure))
    below = superlu_columns(system, order)
    entries = sp.tril(system.matrix, -1).nnz
    if len(system.rows) == system.size:  # every row a block
        assert factor.fill_blocks == below.sum() - entries
        # per column of c entries: c (c + 1) / 2 updates, each a product, a quotient and a difference, which
        # an entry that was zero does not take; c of them for the right-hand side; and on the way back
        # c products and differences, and a quotient
        operations = (3 * below * (below + 1) // 2 + 3 * below + 2 * below + 1).sum()
        operations -= factor.fill_blocks + int((system.matrix.diagonal() == 0.0).sum())
        assert kkt.eliminate(system, order).flops == operations
    assert factor.fill_entries + entries == below.sum()


@pytest.mark.peers
@pytest.mark.parametrize("name", ["poisson", "program", "poses"])
def test_columns_are_those_of_cholmod(name, monkeypatch):
    pytest.importorskip("cvxopt")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from cholmod import Cholmod

    system = SYSTEMS[name]
    for order in USUAL[:4]:
        plan = kkt.plan(order, system.structure)
        peer = Cholmod(system.matrix, np.array([plan.graph.member[b] for b in plan.blocks]))
        peer.analyze()
        factor = ctypes.cast(peer.factor, ctypes.POINTER(ctypes.c_void_p))  # n, minor, Perm, ColCount
        counts = ctypes.cast(factor[3], ctypes.POINTER(ctypes.c_int64))[: system.size]
        assert sorted(counts) == sorted(superlu_columns(system, order) + 1)


@pytest.mark.parametrize("name", SYSTEMS)
def test_answers_are_exact_certified_and_those_of_scipy(name):
    system = SYSTEMS[name]
    right = splu(sp.csc_matrix(system.matrix)).solve(system.rhs)
    for order in ("minimum_degree", "natural"):
        found = kkt.eliminate(system, order)
        assert found.failed_at is None and found.marked is None and found.backward_error.normwise < 1e-15
        assert np.allclose(found.qdd, right, rtol=1e-7)
    assert kkt.certify(system, 25, order="minimum_degree").error(found.qdd) < 1e-9
    assert kkt.eliminate(system, "minimum_degree", "float32").error_estimate < 1e-2


def test_exact_fractions_solve_the_matrix_exactly():
    x = kkt.eliminate(system := pt.matrix(program(8, 3), name="small"), "minimum_degree", "exact").qdd
    A, b = (np.vectorize(Fraction, otypes=[object])(y) for y in (system.matrix.toarray(), system.rhs))
    assert (A @ x == b).all()
    balls = kkt.certify(system, 30).balls()
    assert all(abs(Fraction(ball.mid) - y) <= Fraction(ball.rad) for ball, y in zip(balls, x, strict=True))


def test_an_order_that_is_given_takes_no_elimination_where_no_block_waits(monkeypatch):
    arrow = np.eye(30)
    arrow[0], arrow[:, 0] = 1.0, 1.0
    monkeypatch.setattr(graphs, "_attempt", None)  # some 10 s of it for 400 rows
    for name, fill in (("natural", 29 * 28 // 2), ("reverse_cuthill_mckee", 0)):
        plan = kkt.plan(name, pt.matrix(arrow).structure)
        assert len(plan.sequence.groups) == 30 and kkt.symbolic(plan).fill_blocks == fill


def test_minimum_fill_takes_the_block_that_makes_the_fewest_new_couplings():
    structure = pt.matrix(nx.disjoint_union(nx.grid_2d_graph(3, 3), nx.complete_graph(8))).structure
    graph = structure.graph.copy()
    for ((_, k),) in kkt.plan("minimum_fill", structure).sequence.groups:
        new = {x: nx.complement(graph.subgraph(graph[x])).number_of_edges() for x in graph}
        assert new[k] == min(new.values())
        graph.add_edges_from(combinations(graph[k], 2))
        graph.remove_node(k)


def test_whatever_is_a_matrix_is_read(tmp_path):
    A = poisson(3)
    right = pt.matrix(A).matrix.toarray()
    mmwrite(tmp_path / "a.mtx", sp.coo_matrix(A), symmetry="symmetric")
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    for given in (A.toarray(), sp.coo_array(A), str(tmp_path / "a.mtx"), tmp_path / "a.mtx.gz"):
        assert np.array_equal(pt.matrix(given).matrix.toarray(), right)
    assert pt.matrix(tmp_path / "a.mtx").name == "a"
    graph = nx.grid_2d_graph(3, 3)
    laplacian = nx.laplacian_matrix(graph).toarray() + np.eye(9)
    assert np.array_equal(pt.matrix(graph).matrix.toarray(), laplacian)
    H, C = program(6, 2)
    K = pt.matrix((H, C)).matrix.toarray()
    assert np.array_equal(K[6:, :6], C.toarray()) and not K[6:, 6:].any()


def test_blocks_have_names_sizes_or_rows_and_brackets_are_groups_of_them():
    A = poisson(4)
    rows = {"red": [0, 2, 5, 7, 8, 10, 13, 15], "black": [1, 3, 4, 6, 9, 11, 12, 14]}
    system = pt.matrix(A, blocks=rows)
    assert system.structure.names == ("red", "black") == next(iter(system.structure.graph.edges))
    for order in ([["red"], ["black"]], [["black", "red"]], [[("x", "red"), ("x", "black")]]):
        found = kkt.eliminate(system, order)
        assert np.allclose(found.qdd, 1.0) and found.fill == 0
    assert pt.matrix(A, blocks=[4] * 4).structure.dof.tolist() == [4] * 4
    assert pt.matrix(A, blocks=[range(8), range(8, 16)]).structure.n == 2


def test_a_comparison_and_a_picture():
    found = analysis.compare(SYSTEMS["program"], formats=["float32"])
    by = {row.order: row for row in found.rows if row.digits > 4}
    assert len(by) == len(found.rows) and by["minimum_degree"].fill_blocks < by["natural"].fill_blocks
    assert "52 blocks, 52 unknowns" in repr(found) and "state" not in found.verdict
    beside = analysis.compare(SYSTEMS["poisson"], ["abm", "natural"], ["float64"]).rows
    assert "a matrix has blocks alone" in beside[0].failed_at and beside[1].digits > 13
    assert analysis.spy(SYSTEMS["poses in blocks"], "natural").get_title().startswith("natural: ")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: pt.matrix(np.ones((2, 3))), "has shape .2, 3.; give a square matrix"),
        (lambda: pt.matrix(np.array([[1.0, 2.0], [3.0, 1.0]])), r"entries \(0, 1\) and \(1, 0\) differ"),
        (lambda: pt.matrix(np.full((2, 2), np.nan)), "field .A. holds nan; give finite numbers"),
        (lambda: pt.matrix(np.eye(2) * 1j), "matrix: holds complex numbers; give real numbers"),
        (lambda: pt.matrix(np.ma.masked_equal(np.eye(2), 0)), "has masked entries; give real numbers, all"),
        (
            lambda: pt.matrix((np.ma.masked_equal(np.eye(2), 0), np.ones((1, 2)))),
            "has masked entries; give real",
        ),
        (lambda: kkt.eliminate(pt.matrix(KKT), [0, 1, 2]), "a list of blocks: .* names of a matrix"),
        (lambda: kkt.eliminate(pt.matrix(np.ones((2, 2))), "natural", "exact"), "or a regular matrix"),
        (lambda: pt.matrix((np.eye(2),)), "tuple is no matrix .* or .H, A."),
        (lambda: pt.matrix((np.eye(2), np.ones((1, 3)))), "tuple is no matrix .*incompatible row"),
        (lambda: pt.matrix(nx.Graph()), "Graph is no matrix .Graph has no nodes"),
        (lambda: pt.matrix(np.eye(3), blocks=3), "blocks are 3; give names and lists of rows"),
        (lambda: pt.matrix(np.eye(3), rhs=["a"] * 3), "and a text is no number; give 3 numbers"),
        (lambda: kkt.eliminate(pt.matrix(KKT), kkt.trace(CHAIN, "abm")), "pass the order itself"),
        (lambda: kkt.trace(pt.matrix(KKT), "natural"), "taken by eliminate, factor, certify, compare, blame"),
        (lambda: pt.factor(pt.matrix(KKT), [[2], [0], [1]]), "pivot 2 at step 1 is structurally zero"),
        (lambda: pt.factor(pt.matrix(np.ones((2, 2))), "natural"), "pivot x_1, step 2: zero"),
        (lambda: kkt.plan("natural", TWO.structure), "block 0 of 2 unknowns is zero, and .* cut such blocks"),
        (lambda: kkt.plan("natural", MANY.structure), "block 'a' of 2 unknowns is zero"),
        (lambda: kkt.plan("natural", pt.matrix(KKT[[0, 2, 2]][:, [0, 2, 2]]).structure), "singular whatever"),
        (lambda: kkt.symbolic(kkt.plan([[0, 1]], TWO.structure)), "cut them into rows and bracket the two"),
        (lambda: pt.matrix("none.mtx"), "none.mtx: .*; give a Matrix Market file"),
        (lambda: pt.matrix(object()), "object is no matrix"),
        (lambda: pt.matrix(np.eye(3), blocks=[[0, 1]]), "rows 0 to 2 once; list them all"),
        (lambda: pt.matrix(np.eye(3), rhs=[1.0]), r"field .rhs. has shape \(1,\); give 3 numbers"),
        (lambda: kkt.eliminate(pt.matrix(np.eye(2)), "crbm"), "order .crbm.: a matrix has blocks alone"),
        (lambda: kkt.eliminate(pt.matrix(np.eye(2)), [[0], [5]]), "step 2 names the unknown block 5"),
        (lambda: kkt.eliminate(pt.matrix(np.eye(2)), [[0]]), "leaves out x_1; name every block once"),
        (lambda: kkt.eliminate(pt.matrix(np.eye(2)), [[0], [1]], refine=1), "leave the rest out"),
        (
            lambda: kkt.eliminate(pt.matrix(1e9 * np.eye(2)), "natural", "float16"),
            "an entry overflows float16",
        ),
        (
            lambda: kkt.certify(pt.matrix(1e9 * np.eye(2)), 9, rounded_to="float16"),
            "matrix: an entry overflows float16",
        ),
        (
            lambda: kkt.certify(pt.matrix(np.eye(2)), rounded_to="exact"),
            "format 'exact': rounds no data; use",
        ),
        (lambda: kkt.eliminate(CHAIN, "minimum_fill"), "asks for a graph of blocks, which a matrix has"),
        (
            lambda: kkt.certify(pt.matrix(np.ones((2, 2))), 10, order="natural"),
            "zero at .* bits; the matrix is",
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(make, told):
    with pytest.raises(kkt.PivotreeError, match=told):
        make()


def test_without_metis_nested_dissection_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(kkt.OrderError, match="needs METIS; python -m pip install pymetis, or use"):
        kkt.plan("nested_dissection", pt.matrix(KKT).structure)


CHAIN = kkt.build(kkt.chain(2))
TWO = pt.matrix(np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(2)), blocks=[2, 2])
LETTERS = dict(zip("abcdefghijklmnopqrst", np.arange(40).reshape(20, 2), strict=True))
MANY = pt.matrix(np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(20)), blocks=LETTERS)
KKT = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]])


def test_a_pivot_that_is_zero_has_no_answer():
    """Numbers make it zero that the structure does not, exactly and but for rounding."""
    A = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 1.0]])
    assert kkt.eliminate(pt.matrix(A), [[0], [1], [2]]).failed_at == "pivot x_1, step 2: zero"
    assert np.allclose(kkt.eliminate(pt.matrix(A), [[1], [2], [0]]).qdd, 1.0)
    A[1, 1] = 1.0 + 2.0**-30  # of which float32 has nothing
    lost = kkt.eliminate(pt.matrix(A), [[0], [1], [2]], "float32")
    assert lost.failed_at == "pivot x_1, step 2: zero"


@pytest.mark.parametrize("most", [1, 3])
def test_multipliers_wait_until_no_pivot_is_zero(most):
    """Of QPs whose A has full rank, in blocks of up to so many rows."""
    rng, solved = np.random.default_rng(most), 0
    for _ in range(25):
        x, z = (rng.integers(1, most + 1, size=rng.integers(*few)) for few in ((4, 8), (1, 5)))
        C = rng.normal(size=(sum(z), sum(x))) * (rng.random((len(z), len(x))) < 0.5).repeat(x, 1).repeat(z, 0)
        K = np.block([[np.diag(rng.uniform(1, 2, sum(x))), C.T], [C, np.zeros((sum(z), sum(z)))]])
        for name in (*USUAL[:4], "bunch_kaufman") if np.linalg.cond(K) < 1e3 else ():
            system, solved = pt.matrix(K, blocks=[*map(int, x), *map(int, z)]), solved + 1
            assert np.allclose(kkt.eliminate(system, name).x, 1.0)
    assert solved > 40


def test_a_block_that_would_take_the_last_chance_of_another_comes_later():
    P = np.diag([0.0, 1, 1, 0, 0])
    P[[0, 0, 1, 2, 2, 3], [1, 4, 3, 3, 4, 4]] = 1.0
    A = np.random.default_rng(1).normal(size=(8, 8)) * P.repeat([1, 1, 1, 2, 3], 0).repeat([1, 1, 1, 2, 3], 1)
    assert np.allclose(kkt.eliminate(pt.matrix(A + A.T, blocks=[1, 1, 1, 2, 3]), "natural").x, 1.0)


@pytest.mark.parametrize("name", [*USUAL[:4], "bunch_kaufman"])
def test_zeros_wait_for_an_unknown_beside_them_or_are_a_pivot_of_two_with_it(name):
    assert kkt.plan(name, pt.matrix(KKT).structure).sequence.groups[0] != [("x", 2)]
    assert kkt.eliminate(pt.matrix(np.array([[0.0, 3.0], [3.0, 0.0]])), name, "exact").qdd.tolist() == [1, 1]
    rng, solved = np.random.default_rng(1), 0
    for _ in range(30):
        A = rng.normal(size=(8, 8)) * (rng.random((8, 8)) < 0.4)
        A = A + A.T + np.diag(3.0 * (rng.random(8) < 0.4) - 2 * A.diagonal())
        system = pt.matrix(A, rhs=rng.normal(size=8))
        if np.linalg.cond(A) > 1e3:
            continue
        found = kkt.eliminate(system, name)
        factor, made, solved = found.symbolic, kkt.factor(system, name), solved + 1
        assert np.allclose(found.qdd, np.linalg.solve(A, system.rhs))
        left = A[np.ix_(made.perm, made.perm)]
        ever = before = left != 0.0
        for t in range(8):
            if factor.pivot[t] < 2:
                end = t + 1 + int(factor.pivot[t])
                left[end:, end:] -= left[end:, t:end] @ np.linalg.solve(left[t:end, t:end], left[t:end, end:])
                ever = ever | np.pad(np.abs(left[end:, end:]) > 1e-11, [(end, 0)] * 2)
        assert factor.fill_blocks == np.tril(ever & ~before, -1).sum()
    assert solved > 4
