"""Where a listing holds: on any tree, on chains, on its own tree, with loops."""

import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from designs import covering
from flint import fmpq, fmpq_mat
from listed import arguments, function_of, lines_of, printed_by

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.cli import main
from pivotree.analysis.listing.listing import contexts
from pivotree.analysis.listing.nodes import Leaf, Sum
from pivotree.analysis.listing.text import in_full

ANY = covering(["abm", "crbm", "bad_abm", "gain_abm", "joseph_abm", "modified_abm", "lagrange"])


def told(model, order):
    return listing.of(kkt.build(kkt.load(model)), order)


def test_lines_of_chains_refuse_a_tree_and_lines_of_one_tree_another():
    small = told("chain:3", "virtual_work")
    assert small.holds_on == "chains" and "lines on chains" in listing.render(small)
    run = function_of(listing.render(small, "python"))
    system = kkt.build(kkt.load("chain:7"))
    exact = kkt.eliminate(system, orderings.get("abm"), "float64").qdd
    assert np.allclose(run(*arguments(system)), exact, rtol=1e-11)
    with pytest.raises(ValueError, match="chains"):
        run([-1, 0, 0], *arguments(kkt.build(kkt.load("star:2")))[1:])

    one = told("binary:2", "divide_and_conquer")
    texts = [listing.render(one, style) for style in ("text", "latex")]
    assert one.holds_on == "this tree" and all("lines on this tree" in text for text in texts)
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


def drawn(seed, N):
    """Blocks of bodies with so many freedoms, of any values."""
    draw = random.Random(seed)

    def fractions(*shape):
        flat = [Fraction(draw.randint(-5, 5)) for _ in range(int(np.prod(shape)))]
        return np.array(flat, dtype=object).reshape(shape)

    half = [fractions(6, 6) for _ in N]
    given = {"M": [h @ h.T + unit(6) for h in half], "H": [fractions(m, 6) for m in N]}
    given |= {"Phi": [fractions(6, 6) for _ in N]}
    given |= {name: [fractions(6) for _ in N] for name in ("a", "b")}
    return given | {"tau": [fractions(m) for m in N]}


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
    parent, N = [-1, 0, 1, 0, 2, 2, 4], [2, 1, 3, 1, 1, 2, 1]
    given = drawn(order, N)
    listed = told("chain:3", order)
    assert listed.holds_on == "any tree"
    text = listing.render(listed, "python").replace(" else 0.0", " else 0")  # which would round
    exact_numpy = SimpleNamespace(**vars(np) | {"eye": unit})
    run = function_of(text, solve=exactly, along=along, across=across, np=exact_numpy)
    assert list(run(parent, *given.values())) == list(equation_4(parent, *given.values()))


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
    one = told("binary:2", order)
    given = drawn(order, one.tree.dof)
    whole = {(line.family, line.index): line for line in in_full(one.lines())}
    known, compared = {}, 0
    for loop in one.loops:
        for k in loop.bodies:
            for line in loop.lines:
                for context in contexts(one.tree, line, k):
                    index = tuple(one.tree.body(i, context) for i in line.index)
                    made = value(line.expression, known, given, one.tree, context)
                    known[line.family, index] = made
                    put = whole.get((line.family, line.index))
                    if put is not None:
                        again = value(put.expression, known, given, one.tree, context)
                        assert np.all(again == made)
                        compared += 1
    assert compared > len(one.tree.dof)


def mechanism(name):
    """A model of the gallery, with its loops."""
    return kkt.build(kkt.load(name))


def test_lambda_is_a_step_of_the_recursion():
    """Abm, multipliers last: rows carried to the base, mobility summed, and the way back."""
    one = listing.of(mechanism("quadruped:feet=4"), "abm")
    lines = lines_of(one)
    assert "W_kj = G_jkᵀ [k ∈ tied(j)] + Σ_{c ∈ toward(k,j)} X_cᵀ Z_jc   for j ∈ held(k)" in lines
    assert "Λ_k = Δ_k⁻¹ (δ_k - Σ_{c ∈ later(k)} Δ_kc Λ_c)" in lines
    assert lines.index("for k in loops:") < lines.index("for k in loops, last to first:")
    assert "13 is front_left_shank" in listing.render(one)


def test_lambda_first_adds_the_stiffness_to_the_inertia():
    across = [(1, 0, 0), (0, 1, 0)]
    tip = kkt.contact("j2", (0, 0, 0.1), (0, 0, 1), across, compliance=1e-3, name="tip")
    system = kkt.build(kkt.chain(2), loops=[tip])
    one = listing.of(system, "lambda_first_abm", "ascher")
    lines = lines_of(one)
    stiff = "M^_k = M_k + Σ_{c ∈ ties(k)} G_ckᵀ ε_c⁻¹ G_ck + Σ_{c ∈ children(k)} Φ_c (M^_c - U_c"
    assert any(line.startswith(stiff) for line in lines)
    assert "Λ_k = ε_k⁻¹ (γ_k + Σ_{c ∈ tied(k)} G_kc p¨_c)" in lines


def test_the_file_runs_by_itself(tmp_path):
    path = tmp_path / "listed.py"
    assert main(["list", "quadruped", "--order", "crbm", "--style", "python", "-o", str(path)]) == 0
    wanted = kkt.eliminate(kkt.build(kkt.load("quadruped")), orderings.get("abm")).qdd
    assert np.abs(printed_by(path) - wanted).max() <= 1e-6 * np.abs(wanted).max()
