"""A listing holds where it says: on any tree, on chains, or on its own tree alone."""

import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from designs import covering
from flint import fmpq, fmpq_mat
from listed import arguments, function_of

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.counts.counting import count_blocks
from pivotree.analysis.listing.full import in_full
from pivotree.analysis.listing.nodes import Leaf, Sum
from pivotree.analysis.listing.unroll import contexts

ANY = covering(["abm", "crbm", "bad_abm", "gain_abm", "joseph_abm", "modified_abm", "lagrange"])

COSTED = ("abm", "crbm", "gain_abm", "modified_abm", "inverse_dynamics")


def told(model, order):
    return listing.of(kkt.build(kkt.load(model)), order)


def test_lines_of_chains_refuse_a_tree():
    small = told("chain:3", "virtual_work")
    assert small.holds_on == "chains" and "lines on chains" in listing.render(small)
    run = function_of(listing.render(small, "python"))
    system = kkt.build(kkt.load("chain:7"))
    exact = kkt.eliminate(system, orderings.get("abm"), "float64").qdd
    assert np.allclose(run(*arguments(system)), exact, rtol=1e-11)
    with pytest.raises(ValueError, match="chains"):
        run([-1, 0, 0], *arguments(kkt.build(kkt.load("star:2")))[1:])


@pytest.mark.parametrize("order", covering(["base_to_tip", "divide_and_conquer", "random:0"], unmarked=1))
def test_lines_of_one_tree_refuse_another(order):
    one = told("binary:2", order)
    assert one.holds_on == "this tree" and "lines on this tree" in listing.render(one)
    run = function_of(listing.render(one, "python"))
    with pytest.raises(ValueError, match="another tree"):
        run([-1, 0, 1], *arguments(kkt.build(kkt.load("chain:3")))[1:])


# -- the same formulas in fractions: equal, not close ---------------------------------------------


def exactly(A, b):
    """A x = b in fractions, by FLINT."""
    A, b = np.array(A, dtype=object), np.array(b, dtype=object)
    columns = b.reshape(len(b), -1)
    x = rationals(A).solve(rationals(columns)).tolist()
    return np.array([[Fraction(int(v.p), int(v.q)) for v in row] for row in x]).reshape(b.shape)


def rationals(A):
    return fmpq_mat([[fmpq(v.numerator, v.denominator) for v in map(Fraction, row)] for row in A])


def fractions(draw, *shape):
    flat = [Fraction(draw.randint(-5, 5)) for _ in range(int(np.prod(shape)))]
    return np.array(flat, dtype=object).reshape(shape)


def equation_4(parent, M, H, Phi, a, b, tau):
    """qdd of (4), assembled here row by row and solved densely."""
    n, N = len(parent), [len(h) for h in H]
    first = np.cumsum([0, *N])
    size = 12 * n + first[-1]
    A, right = np.full((size, size), Fraction(0)), np.full(size, Fraction(0))
    pdd = [slice(6 * k, 6 * k + 6) for k in range(n)]
    f = [slice(6 * (n + k), 6 * (n + k) + 6) for k in range(n)]
    qdd = [slice(12 * n + first[k], 12 * n + first[k + 1]) for k in range(n)]
    one = unit(6)
    for k in range(n):
        A[pdd[k], pdd[k]], A[pdd[k], f[k]], A[f[k], pdd[k]] = M[k], one, one
        A[qdd[k], f[k]], A[f[k], qdd[k]] = H[k], H[k].T
        right[pdd[k]], right[qdd[k]], right[f[k]] = b[k], tau[k], -a[k]
        if parent[k] >= 0:
            A[pdd[parent[k]], f[k]] = -Phi[k]
            A[f[k], pdd[parent[k]]] = -Phi[k].T
    x = exactly(A, right)
    return np.concatenate([x[qdd[k]] for k in range(n)])


@pytest.mark.product
@pytest.mark.parametrize("order", ANY)
def test_the_formulas_are_exact(order):
    """Lines of a chain of three on another tree, blocks of any values: no rounding, so no tolerance."""
    draw = random.Random(order)
    parent, N = [-1, 0, 1, 0, 2, 2, 4], [2, 1, 3, 1, 1, 2, 1]
    half = [fractions(draw, 6, 6) for _ in parent]
    M = [h @ h.T + unit(6) for h in half]
    H = [fractions(draw, m, 6) for m in N]
    Phi = [fractions(draw, 6, 6) for _ in parent]
    a, b = ([fractions(draw, 6) for _ in parent] for _ in range(2))
    tau = [fractions(draw, m) for m in N]
    listed = told("chain:3", order)
    assert listed.holds_on == "any tree"
    text = listing.render(listed, "python").replace(" else 0.0", " else 0")  # which would round
    exact_numpy = SimpleNamespace(**vars(np) | {"eye": unit})
    run = function_of(text, solve=exactly, along=along, across=across, np=exact_numpy)
    got = run(parent, M, H, Phi, a, b, tau)
    assert list(got) == list(equation_4(parent, M, H, Phi, a, b, tau))


def unit(n):
    return np.array([[Fraction(int(r == c)) for c in range(n)] for r in range(n)], dtype=object)


def along(H):
    """B with H B = 1."""
    return H.T @ exactly(H @ H.T, unit(len(H)))


def across(H):
    """C with H C = 0, of full rank."""
    columns = sympy.Matrix(
        [[sympy.Rational(v.numerator, v.denominator) for v in row] for row in H]
    ).nullspace()
    return np.array([[Fraction(int(v.p), int(v.q)) for v in column] for column in columns], dtype=object).T


# -- recursions in full ---------------------------------------------------------------------------


def test_abm_in_full_is_the_slides_symbol_by_symbol():
    """Johnson & Su, inertia & bias forces (3) and joint acceleration (2)."""
    text = listing.render(told("chain:3", "abm"))
    for line in (
        "I^A_k = I_k + Σ_{c ∈ children(k)} X_cᵀ (I^A_c - I^A_c s_c s_cᵀ I^A_c / (s_cᵀ I^A_c s_c)) X_c",
        "p^A_k = v_k × I_k v_k + Σ_{c ∈ children(k)} X_cᵀ (p^A_c + I^A_c (c_c + s_c "
        "(Q_c - s_cᵀ (p^A_c + I^A_c c_c)) / (s_cᵀ I^A_c s_c)))",
        "q''_k = (Q_k - s_kᵀ (p^A_k + I^A_k (c_k + X_k a_λ(k)))) / (s_kᵀ I^A_k s_k)",
    ):
        assert f"  {line}\n" in text


def value(node, known, given, tree, context):
    """An expression in fractions; ``known`` holds the values made so far."""
    if isinstance(node, Leaf):
        index = tuple(tree.body(i, context) for i in node.index)
        name = node.family[1] if node.family[0] == "input" else None
        block = given[name][index[0]] if name else known[node.family, index]
        return block.T if node.transposed else block
    if isinstance(node, Sum):
        total = 0
        for term in node.terms:
            for inner in tree.spread(term.over, context):
                if tree.holds(term.when, inner):
                    total = total + term.sign * value(term.node, known, given, tree, inner)
        return total
    args = [value(arg, known, given, tree, context) for arg in node.args]
    if node.op == "mul":
        return args[0] @ args[1]
    if node.op == "solve":
        return exactly(args[0], args[1])
    if node.op == "inner":
        return args[1].T @ exactly(args[0], args[2])
    assert node.op in ("T", "pivot")
    return args[0].T if node.op == "T" else args[0]


@pytest.mark.parametrize(
    "order", covering(["abm", "crbm", "gain_abm", "bad_abm", "modified_abm"], unmarked=1)
)
def test_lines_in_full_have_the_values_of_the_lines(order):
    draw = random.Random(order)
    one = told("binary:2", order)
    n, N = len(one.tree.parent), one.tree.dof
    half = [fractions(draw, 6, 6) for _ in range(n)]
    given = {
        "M": [h @ h.T + unit(6) for h in half],
        "H": [fractions(draw, m, 6) for m in N],
        "Phi": [fractions(draw, 6, 6) for _ in range(n)],
        "a": [fractions(draw, 6) for _ in range(n)],
        "b": [fractions(draw, 6) for _ in range(n)],
        "tau": [fractions(draw, m) for m in N],
    }
    whole = {(line.family, line.index): line for line in in_full(one.lines())}
    known, compared = {}, 0
    for loop in one.loops:
        for case, k in loop.steps:
            for line in loop.cases[case].lines:
                for context in contexts(one.tree, line, k):
                    index = tuple(one.tree.body(i, context) for i in line.index)
                    made = value(line.expression, known, given, one.tree, context)
                    known[line.family, index] = made
                    put = whole.get((line.family, line.index))
                    if put is not None:
                        again = value(put.expression, known, given, one.tree, context)
                        assert np.all(again == made)
                        compared += 1
    assert compared > n


# -- costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "model"), covering(COSTED, ["chain:4", "star:3", "binary:2"]))
def test_costs_of_lines_add_up_to_those_of_the_tape(order, model):
    """Of the tape with full blocks, which leaves out accelerations that qdd does not need."""
    one = told(model, order)
    dof = one.tree.dof
    mul, add, *_ = count_blocks(orderings.get(order), one.tree.parent, dof).total
    leaves = sum(N for N, children in zip(dof, one.tree.children, strict=True) if not children)
    spare = 6 * leaves if "abm" in order else 0
    assert (one.total.mul - spare, one.total.add - spare) == (mul, add)
