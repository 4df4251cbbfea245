"""Any order on arrays, body by body, group by group or on panels: the tape's bits, in threads too."""

import dataclasses
from functools import partial

import numpy as np
import pytest
from designs import covering, listed
from helpers import every_joint, relisted

from pivotree import kkt, orderings
from pivotree.kkt.order.dissection import centroids
from pivotree.kkt.proof.residual import backward_error, normwise_error, residue
from pivotree.kkt.scale import front_solve, numeric, schedule, waiting
from pivotree.kkt.scale.bodywise import Bodies
from pivotree.kkt.scale.front_solve import Kinds
from pivotree.kkt.scale.numeric import Analysis, analyse

MECHANISMS = ("abm", "crbm", "virtual_work", "lagrange", "divide_and_conquer")  # of pivots, one order each
ORDERS = [*MECHANISMS, *(name for name in orderings.names() if name not in (*MECHANISMS, "square_root_abm"))]
BODY_BY_BODY = ("abm", "modified_abm", "projected_abm", "joseph_abm", "gain_abm", "bad_abm", "lagrange")
BODY_BY_BODY += ("minimum_degree",)
SYSTEMS = {
    "chain": kkt.build(kkt.chain(9)),
    "forest": kkt.build(relisted(every_joint(), list(every_joint())[::-1])),
    "star": kkt.build(kkt.star(5, "spherical")),
    "all joints": kkt.build(kkt.random_tree(14, seed=3)),
}


def from_dense(system, solution):
    exact = np.linalg.solve(system.matrix.toarray(), system.rhs)
    return np.abs(solution.unknowns - exact).max() / np.abs(exact).max()


@pytest.mark.parametrize(
    ("name", "tree"), listed([("crbm_com", "forest"), ("virtual_work_split", "forest")], 1)
)
def test_dense_solutions_agree(name, tree):
    """Of crbm_com too, whose composites are ten numbers on the tape and 6 x 6 blocks here."""
    solution = kkt.solve_large(SYSTEMS[tree], orderings.get(name))
    assert from_dense(SYSTEMS[tree], solution) < 2e-12
    assert solution.backward_error.normwise < 1e-14


def same_as_the_tape(system, *order):
    """By an order, or by ABM where none is given."""
    solution = kkt.solve_large(system, *order)
    tape = kkt.eliminate(system, *(order or [orderings.get("abm")]), records=False)
    for letter in ("qdd", "pdd", "f"):
        np.testing.assert_array_equal(getattr(solution, letter), getattr(tape, letter))


@pytest.mark.uncached
@pytest.mark.parametrize(("name", "tree"), covering(ORDERS, SYSTEMS))
def test_no_bit_differs_from_the_tape(name, tree):
    """Every registered order but those that are refused, and those of other numbers by name."""
    system = SYSTEMS[tree]
    found = analyse(kkt.plan(orderings.get(name), system.structure))
    assert isinstance(found, Bodies if name in BODY_BY_BODY else Kinds)
    same_as_the_tape(system, orderings.get(name))


@pytest.mark.parametrize(("n", "seed"), listed([(7, 1), (12, 0)], unmarked=1))
def test_no_bit_differs_by_dissection_and_in_any_sequence_of_brackets(n, seed):
    """Nested dissection, and bodies in a random sequence: fronts of every shape."""
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
    halves = kkt.nested_dissection(system.structure)
    groups = [
        [halves.graph.block(int(b)) for b in halves.blocks[halves.group == g]] for g in range(halves.groups)
    ]
    same_as_the_tape(system, kkt.PivotSequence(groups))


def test_kinds_of_groups_do_not_grow_with_a_chain():
    structures = [kkt.build(kkt.chain(n)).structure for n in (64, 256)]
    orders = [orderings.get(name) for name in ("base_to_tip", "natural", "modified_abm_stretched")]
    for make in (kkt.nested_dissection, *(partial(kkt.plan, order) for order in orders)):
        few, many = (analyse(make(structure)) for structure in structures)
        assert isinstance(many, Kinds)
        assert many.count <= few.count + 4 < 20


SWITCHES = [
    {"assembly": "right_looking"},
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


def test_what_is_refused_and_a_body_with_too_many_children_to_be_told_apart():
    """An order that needs them one by one takes panels, or is refused; one of sums does not."""
    system = kkt.build(kkt.star(25, "revolute"))
    for name, own in (("abm", True), ("bad_abm", False)):
        assert isinstance(analyse(kkt.plan(orderings.get(name), system.structure)), Bodies) is own
    for name, tree in (("projected_abm", system), ("square_root_abm", SYSTEMS["chain"])):
        with pytest.raises(kkt.OrderError, match=r"kkt\.eliminate runs it"):
            kkt.solve_large(tree, orderings.get(name))
    for order, words in (
        (kkt.leaf_to_root(system.structure), "order 'abm': is a plan of another tree"),
        (kkt.plan(orderings.get("crbm"), system.structure), "order 'crbm': is a plan of another tree"),
        ("crbm", r"orderings\.get"),
    ):
        with pytest.raises(kkt.OrderError, match=words):
            kkt.solve_large(SYSTEMS["chain"], order)


@pytest.fixture
def small_pieces(monkeypatch):
    """Subtrees for threads where there is hardly any work."""
    monkeypatch.setattr(schedule, "ENOUGH", 0.0)
    monkeypatch.setattr("pivotree.kkt.scale.plan.LEAST", 1)


@pytest.mark.parametrize(
    ("name", "most"), listed([("natural", 10**9), ("virtual_work", 0), ("crbm", 0)], unmarked=1)
)
def test_no_bit_depends_on_the_threads(small_pieces, monkeypatch, name, most):
    monkeypatch.setattr(front_solve, "MOST_OPERATIONS", most)
    system = kkt.build(kkt.random_tree(80, seed=2, joints="revolute+fixed+universal"))
    order = orderings.get(name)
    split = analyse(kkt.plan(order, system.structure)).schedule
    assert split.tasks > 5 and len(split.bins) > 1
    one, two = (kkt.solve_large(system, order, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.unknowns, two.unknowns)
    assert one.backward_error.normwise < 1e-14


@pytest.mark.product
def test_no_bit_depends_on_the_threads_body_by_body(small_pieces):
    system = kkt.build(kkt.random_tree(200, seed=2, joints="revolute"))
    for name in ("bad_abm", "projected_abm", "lagrange"):
        found = analyse(kkt.plan(orderings.get(name), system.structure))
        one, two = (kkt.solve_large(system, found, threads=threads) for threads in (1, 2))
        np.testing.assert_array_equal(one.unknowns, two.unknowns)
        assert len(system.plans[found.key].shares(2).parts) > 1
        assert one.backward_error.normwise < 1e-14


def test_subtrees_update_what_is_above_them_and_nothing_else(small_pieces):
    structure = kkt.build(kkt.random_tree(200, seed=6)).structure
    for plan in (kkt.leaf_to_root(structure), kkt.plan(orderings.get("natural"), structure)):
        factor = kkt.symbolic(plan)
        split = schedule.schedule(factor, np.searchsorted(plan.group, np.arange(plan.groups + 1)))
        group, task = plan.group, split.task
        first = np.repeat(np.arange(len(factor.counts)), factor.counts)
        for earlier, later in zip(group[first], group[factor.column_index], strict=True):
            above = earlier
            while above != later:
                above = split.parent[above]
                assert above >= 0
            if task[earlier] < 0:
                assert task[later] < 0
            elif task[later] >= 0:
                assert task[later] == task[earlier]


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 1023])
def test_dissection_halves_any_tree(n):
    draw = np.random.default_rng(n)
    for parent in (np.arange(-1, n - 1), np.array([draw.integers(-1, max(k, 1)) for k in range(n)])):
        parent[0] = -1
        structure = kkt.Structure(tuple(range(n)), parent, np.ones(n, dtype=np.int64))
        factor = kkt.symbolic(kkt.nested_dissection(structure))
        assert factor.height <= 3 * (1 + int(np.log2(n)))
        assert sorted(centroids(parent)) == list(range(n))


def test_dissection_solves_and_runs_side_by_side(small_pieces):
    system = kkt.build(kkt.chain(500))
    plan = kkt.nested_dissection(system.structure)
    halves, chain = (
        schedule.schedule(kkt.symbolic(p), 3 * np.arange(501)).speed_up
        for p in (plan, kkt.leaf_to_root(system.structure))
    )
    assert halves > 8 and chain < 1.1
    one, two = (kkt.solve_large(system, plan, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.qdd, two.qdd)
    assert one.backward_error.normwise < 1e-13
    abm = kkt.solve_large(system)
    assert np.abs(one.qdd - abm.qdd).max() < 1e-9 * np.abs(abm.qdd).max()


def test_what_does_not_fit_is_refused_with_its_number(monkeypatch):
    system = SYSTEMS["chain"]
    monkeypatch.setattr(numeric, "MOST_BLOCKS", 40)
    with pytest.raises(kkt.SizeError, match="more than 40 blocks"):
        kkt.solve_large(system, orderings.get("crbm"))
    monkeypatch.setattr(numeric, "MOST_BLOCKS", 400)
    for module in (numeric, front_solve):
        monkeypatch.setattr(module, "MOST_BYTES", 1e4)
    with pytest.raises(kkt.SizeError, match=r"takes .*e-05 GB"):
        kkt.solve_large(system, kkt.nested_dissection(system.structure))


def test_a_pivot_that_is_zero_but_for_rounding_gives_no_answer():
    """Lagrange multipliers need the inverse of M^, here of rank 5: a link without inertia."""
    tree = kkt.random_tree(8, seed=2)
    light = list(tree)[4]
    tree.nodes[light].update(mass=0.0, inertia=np.zeros((3, 3)))
    system = kkt.build(tree)
    with pytest.raises(kkt.PivotreeError, match="structurally singular"):
        kkt.eliminate(system, orderings.get("lagrange"))
    with pytest.raises(kkt.SingularError, match=r"float64 keeps .*; kkt.eliminate names it"):
        kkt.solve_large(system, orderings.get("lagrange"))
    assert from_dense(system, kkt.solve_large(system)) < 1e-13


@pytest.mark.parametrize("tree", SYSTEMS)
def test_the_residue_is_no_less_than_the_backward_error(tree):
    """So that a small residue is enough to trust an answer by."""
    system = SYSTEMS[tree]
    found = kkt.solve_large(system)
    near = dataclasses.replace(found, qdd=found.qdd + 1e-3)
    for x in (found._rows, near._rows):
        least = backward_error(system, system.entries, x).normwise
        assert residue(system, system.entries, x) >= least == normwise_error(system, system.entries, x)
    assert least > 1e-8


# -- panels ---------------------------------------------------------------------------------------

WAITING = ("virtual_work", "constraint_force", "divide_and_conquer")  # sums wait apart, on trees with forks
# orders that are sent there where a tree is large, and abm
ON_PANELS = ("abm", "crbm", "natural", "virtual_work_split", *WAITING)
# brackets of several coupled pairs, or of single blocks alone, whose inverse panels form otherwise
OTHER_BRACKETS = ("crbm_block_row", "base_to_tip")


@pytest.fixture
def panels(monkeypatch):
    """No kind of group is few enough to be traced."""
    monkeypatch.setattr(front_solve, "MOST_OPERATIONS", 0)


@pytest.mark.parametrize("name", listed(OTHER_BRACKETS, unmarked=1))
def test_other_brackets_differ_on_panels_by_what_rounding_leaves(panels, name):
    """x - y is K^-1 of what the two leave of (4): at most n units of ||K|| ||x|| in every row."""
    system = SYSTEMS["all joints"]
    solution = kkt.solve_large(system, orderings.get(name))
    tape = kkt.eliminate(system, orderings.get(name), records=False)
    K, x = system.matrix.toarray(), solution.unknowns
    left = len(x) * 2.0**-53 * np.linalg.norm(K, np.inf) * np.abs(x).max()
    bound = 2 * left * np.abs(np.linalg.inv(K)).sum(axis=1)
    of_tape = np.concatenate([tape.pdd.ravel(), tape.qdd, tape.f.ravel()])
    assert (np.abs(x - of_tape) <= bound).all()


@pytest.mark.parametrize(("name", "tree", "apart"), covering(ON_PANELS, SYSTEMS, [False, True], unmarked=1))
def test_no_bit_differs_on_panels(panels, monkeypatch, name, tree, apart):
    """Brackets, pairs, single blocks, the joints that end an order, the way back, and all sums."""
    monkeypatch.setattr(numeric, "bodywise", lambda plan: None)
    if apart:
        monkeypatch.setattr(schedule, "ENOUGH", 0.0)
    system, order = SYSTEMS[tree], orderings.get(name)
    assert isinstance(analyse(kkt.plan(order, system.structure)), Analysis)
    same_as_the_tape(system, order)


@pytest.mark.parametrize("name", listed(WAITING, unmarked=1))
def test_sums_of_branches_are_added_up_where_they_meet(panels, name):
    """On a tree with forks some updates wait apart; with them all in the panels, bits differ."""
    system, order = kkt.build(kkt.random_tree(40, seed=2, joints="revolute")), orderings.get(name)
    found = analyse(kkt.plan(order, system.structure))
    wait = found.layout.waiting
    assert 0 < wait.several.sum() < 0.3 * len(wait.several) and len(wait.added)
    same_as_the_tape(system, order)
    split, layout = found.schedule, found.layout
    at_once = waiting.at_once(len(layout.size), len(split.task))
    one_by_one = dataclasses.replace(found, layout=layout._replace(waiting=at_once))
    other, own = (kkt.solve_large(system, way) for way in (one_by_one, found))
    assert not np.array_equal(other.unknowns, own.unknowns)
    assert np.abs(other.unknowns - own.unknowns).max() < 1e-9 * np.abs(own.unknowns).max()
