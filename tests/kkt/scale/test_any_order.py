"""Any order on arrays, body by body or by the tape of the whole tree: the tape's bits."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse.linalg as spla
from designs import covering, listed
from helpers import every_joint, relisted

from pivotree import kkt, orderings
from pivotree.kkt.proof.soundness import backward_error
from pivotree.kkt.scale import large
from pivotree.kkt.scale.plan import bodywise

MECHANISMS = ("abm", "crbm", "virtual_work", "lagrange", "divide_and_conquer")  # of pivots, one order each
ORDERS = [*MECHANISMS, *(name for name in orderings.names() if name not in MECHANISMS)]
BODY_BY_BODY = ("abm", "modified_abm", "joseph_abm", "gain_abm", "minimum_degree")
SYSTEMS = {
    "chain": kkt.build(kkt.chain(9)),
    "forest": kkt.build(relisted(every_joint(), list(every_joint())[::-1])),
    "star": kkt.build(kkt.star(5, "spherical")),
    "all joints": kkt.build(kkt.random_tree(14, seed=3)),
}


def from_dense(system, solution):
    exact = np.linalg.solve(system.matrix.toarray(), system.rhs)
    return np.abs(solution.unknowns - exact).max() / np.abs(exact).max()


def same_as_the_tape(system, *order):
    """By an order, or by ABM where none is given."""
    solution = kkt.solve_large(system, *order)
    tape = kkt.eliminate(system, *(order or [orderings.get("abm")]), records=False)
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(solution, letter), getattr(tape, letter))


@pytest.mark.uncached
@pytest.mark.parametrize(("name", "tree"), covering(ORDERS, SYSTEMS))
def test_no_bit_differs_from_the_tape(name, tree):
    system = SYSTEMS[tree]
    found = bodywise(kkt.plan(orderings.get(name), system.structure))
    if (name, tree) != ("natural", "forest"):  # listed from the tips, its natural order is ABM's
        assert (found is not None) == (name in BODY_BY_BODY)
    same_as_the_tape(system, orderings.get(name))


@pytest.mark.parametrize(("n", "seed"), listed([(7, 1), (12, 0)], unmarked=1))
def test_no_bit_differs_in_any_sequence_of_brackets(n, seed):
    """Bodies in a random sequence: fronts of every shape."""
    joints = "revolute+prismatic+spherical+fixed+universal"
    system = kkt.build(kkt.random_tree(n, seed=seed, joints=joints))
    bodies = np.random.default_rng(seed).permutation(np.array(system.structure.names, dtype=object))
    brackets = [[(kind, k) for kind in ("pdd", "qdd", "f")] for k in bodies]
    loose = [[(kind, k)] for k in bodies for kind in ("pdd", "f", "qdd")]
    for rules in (kkt.Rules(), kkt.Rules(rank_update="gain"), kkt.Rules(couple="carried")):
        same_as_the_tape(system, kkt.PivotSequence(brackets, rules=rules))
        same_as_the_tape(system, kkt.PivotSequence(loose, rules=rules))
    for rank_update in ("joseph", "outer"):
        rules = kkt.Rules(accumulate="unassembled", rank_update=rank_update)
        same_as_the_tape(system, kkt.PivotSequence(brackets, rules=rules))


SWITCHES = [
    {"assembly": "right_looking", "symmetry": "both triangles"},
    {"couple": "carried", "rank_update": "gain"},
    {"accumulate": "child_frame"},
    {"accumulate": "projected", "rank_update": "joseph"},
    {"accumulate": "unassembled", "rank_update": "gain"},
]
GROUPS = {  # of one body
    "identities": [["pdd", "fJ"], ["qdd"], ["fC"]],  # a row of the identity is read that no body made
    "one": [["pdd", "qdd", "f"]],
    "single": [["pdd"], ["f"], ["qdd"]],
    "split": [["pdd", "qdd", "fJ", "fC"]],
}


@pytest.mark.parametrize(("rules", "groups"), covering(SWITCHES, GROUPS, unmarked=1))
def test_no_bit_differs_whatever_the_rules(rules, groups):
    """On bodies with many kinds of children, siblings from the last to the first."""
    system = kkt.build(kkt.random_tree(14, seed=5, joints="fixed+spherical+revolute"))
    structure = system.structure
    bodies = [structure.names[k] for level in structure.levels[::-1] for k in level[::-1]]
    own = [[(kind, k) for kind in group] for k in bodies for group in GROUPS[groups]]
    same_as_the_tape(system, kkt.PivotSequence(own, rules=kkt.Rules(**rules)))


def test_a_tape_is_traced_once_for_all_states(monkeypatch):
    system = kkt.build(kkt.random_tree(14, seed=3))
    kkt.solve_large(system, orderings.get("crbm"))
    monkeypatch.setattr(large, "traced", None)
    N = len(system.entries.tau)
    moved = system.refresh(np.full(N, 0.2), np.full(N, 0.1))
    same_as_the_tape(moved, orderings.get("crbm"))


def test_what_does_not_fit_is_refused_with_what_does_it(monkeypatch):
    """The advice is taken: a sparse solver in the order's sequence finds what ABM finds."""
    system, crbm = kkt.build(kkt.chain(9)), orderings.get("crbm")
    monkeypatch.setattr(large, "MOST_BLOCKS", 40)
    with pytest.raises(kkt.SizeError, match="more than 40 blocks"):
        kkt.solve_large(system, crbm)
    monkeypatch.setattr(large, "MOST_BODIES", 8)
    with pytest.raises(
        kkt.SizeError, match=r"may have 8 bodies, not 9; .* kkt\.permutation\(system, order\)"
    ):
        kkt.solve_large(system, crbm)


@pytest.mark.parametrize("name", ["abm", "crbm", "natural"])
@pytest.mark.parametrize("tree", ["all joints", "four bar"])
def test_an_order_is_a_permutation_for_sparse_solvers(tree, name):
    """Every leading block of pivots fills as the symbolic factor says, and the answer is ours."""
    graph = kkt.four_bar() if tree == "four bar" else kkt.random_tree(14, seed=3)
    system = kkt.build(graph)
    p, K = kkt.permutation(system, orderings.get(name)), system.matrix
    assert sorted(p.tolist()) == list(range(system.size))
    factor = spla.splu(K[p][:, p].tocsc(), permc_spec="NATURAL", options={"SymmetricMode": True})
    x = np.empty(system.size)
    x[p] = factor.solve(system.rhs[p])
    at = np.concatenate([np.arange(s.start, s.stop) for s in (system.blocks["qdd", k] for k in graph)])
    right = kkt.eliminate(system, orderings.get("abm"), records=False).qdd
    assert np.abs(x[at] - right).max() < 1e-9 * np.abs(right).max()
    plan, last = kkt.plan(orderings.get(name), system.structure), 0
    for t, block in enumerate(plan.blocks.tolist()):
        own = p[last : last + int(plan.graph.size[block])]
        last += len(own)
        name_of = plan.graph.block(block)
        assert own.tolist() == list(range(*system.blocks[name_of.kind, name_of.body].indices(system.size))), t


@pytest.mark.parametrize(
    ("name", "why"), [("virtual_work", "splits forces"), ("modified_abm_stretched", "pieces")]
)
def test_unknowns_that_are_not_those_of_4_are_no_permutation(name, why):
    with pytest.raises(kkt.OrderError, match=why):
        kkt.permutation(SYSTEMS["chain"], orderings.get(name))


def test_a_pivot_that_is_zero_but_for_rounding_is_refused_as_by_eliminate():
    """Lagrange multipliers need the inverse of M^, here of rank 5: a link without inertia."""
    tree = kkt.random_tree(8, seed=2)
    light = list(tree)[4]
    tree.nodes[light].update(mass=0.0, inertia=np.zeros((3, 3)))
    system = kkt.build(tree)
    for solve in (kkt.eliminate, kkt.solve_large):
        with pytest.raises(kkt.OrderError, match=r"pivot pdd_b5 .* is structurally singular"):
            solve(system, orderings.get("lagrange"))
    assert from_dense(system, kkt.solve_large(system)) < 1e-13


def test_a_flywheel_that_hardly_accelerates_is_marked_as_its_tape_is():
    """Forces of 1e9 N hold it on its axis, and an effort of 1e-6 N m turns it."""
    tree = kkt.new_tree("flywheel", gravity=(0, 0, 0))
    J = np.array([[360, 97, -9], [97, 370, -108], [-9, -108, 396.0]])
    kkt.add_body(tree, "wheel", mass=58551.0, com=(0.119, 0.268, -0.189), inertia=J, axis=(0, 0, 1))
    system = kkt.build(tree, [0.3], [200.0], [1e-6])
    right = 1e-6 / (396.0 + 58551.0 * (0.119**2 + 0.268**2))
    for name in ("natural", "virtual_work", "abm"):
        large, tape = kkt.solve_large(system, orderings.get(name)), kkt.eliminate(system, orderings.get(name))
        assert large.qdd == tape.qdd
        assert bool(large.marked) == bool(tape.marked) == (abs(large.qdd[0] / right - 1.0) > 1e-8)


@pytest.mark.parametrize("tree", SYSTEMS)
def test_the_residue_is_no_less_than_the_backward_error(tree):
    """So that a small residue is enough to trust an answer by."""
    system = SYSTEMS[tree]
    found = kkt.solve_large(system)
    near = dataclasses.replace(found, qdd=found.qdd + 1e-3)
    for x in (found._rows, near._rows):
        least = backward_error(system, system.entries, x).normwise
        assert large.residue(system, x) >= least
    assert least > 1e-8


SHORT = ["example1:l1=2.01e4,l2=0.000112,q1=1.2", "example1:l1=1.82e4,l2=0.00278,q1=0.771"]


@pytest.mark.parametrize("name", [*SHORT, "two_link:r=1e-10", "two_link:r=1e-6"])
@pytest.mark.parametrize("order", ["crbm", "bad_abm", "virtual_work", "divide_and_conquer", "minimum_degree"])
def test_answers_that_lose_digits_are_marked_as_by_eliminate(name, order):
    system = kkt.build(kkt.load(name))
    large, small = kkt.solve_large(system, order), kkt.eliminate(system, orderings.get(order))
    assert bool(large.marked) == bool(small.marked) == (kkt.certify(system, 30).error(large.qdd) > 1.5e-8)
