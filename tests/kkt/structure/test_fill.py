"""Fill, feasibility and heights, against elimination of a dense boolean matrix written out here.

The formulas are those of branch-induced sparsity (Featherstone 2005) and of Ascher, Pai &
Cloutier 1996, section 2, for n bodies, r roots and D body-ancestor pairs: articulated bodies fill
n - r blocks, composite bodies 2 D.
"""

import itertools
import random

import numpy as np
import pytest
from helpers import bracketed, every_joint
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import Infeasible, Oracle, needed_height
from strategies import brackets, scrambled, shapes

from pivotree import kkt, orderings
from pivotree.kkt.structure.symbolic import PAIR_FIRST, SINGLE


def structure(parents, dof=None):
    """Bodies b0 ... with parents given by index, -1 for the world."""
    return kkt.Structure(
        tuple(f"b{k}" for k in range(len(parents))),
        np.array(parents, dtype=np.int64),
        np.ones(len(parents), dtype=np.int64) if dof is None else np.array(dof, dtype=np.int64),
    )


def random_parents(n, seed, roots=1):
    draw = random.Random(seed)
    return [-1 if k < roots else draw.randrange(k) for k in range(n)]


CHAIN5, STAR6, BINARY15 = [*range(-1, 4)], [-1] + [0] * 5, [-1] + [k // 2 for k in range(14)]
SHAPES = {
    "one": [-1],
    "chain": CHAIN5,
    "star": STAR6,
    "binary": BINARY15,
    "random": random_parents(18, 1),
    "listed backwards": [1, 2, 3, -1],
    "two roots": [-1, -1, 0, 1, 2, 2, 3],
    "forest": random_parents(20, 2, roots=4),
}


def factor(groups, of, **rules):
    return kkt.symbolic(kkt.plan(kkt.PivotSequence(groups, rules=kkt.Rules(**rules)), of))


def depths(parents):
    def depth(k):
        return 0 if parents[k] < 0 else 1 + depth(parents[k])

    return [depth(k) for k in range(len(parents))]


# -- beside the oracle ---------------------------------------------------------------------------


def fill_of(symbolic):
    """{pair of blocks: step} of a symbolic factor."""
    block = symbolic.plan.graph.block
    named = [tuple(block(int(b))) for b in symbolic.plan.blocks]
    return {
        frozenset((named[i], named[j])): int(step) + 1
        for i, j, step in zip(*symbolic.fill, symbolic.fill_step, strict=True)
    }


def agrees(groups, of, **rules):
    """The symbolic factor and the oracle say the same; returns the factor."""
    symbolic, oracle = factor(groups, of, **rules), Oracle(groups, of)
    blocks = [tuple(symbolic.plan.graph.block(int(b))) for b in symbolic.plan.blocks]
    assert blocks == oracle.order
    assert fill_of(symbolic) == oracle.fill
    assert symbolic.fill_blocks == len(oracle.fill)
    assert symbolic.counts.tolist() == [oracle.counts[b] for b in blocks]
    assert symbolic.fill_entries == sum(np.prod([oracle.size[b] for b in ends]) for ends in oracle.fill)
    check_tree(symbolic, oracle, blocks)
    return symbolic


def check_tree(symbolic, oracle, blocks):
    """Elimination tree, its height and its postorder (Liu 1990; Davis 2006, chapter 4)."""
    parent = symbolic.parent.tolist()
    for t, up in enumerate(parent):
        assert up == -1 or up > t
    if all(len(pivot) == 1 for pivot, _ in oracle.changed):
        # Liu's definition: the parent is the first later neighbour
        later = symbolic.column_index
        for t in range(len(blocks)):
            column = later[symbolic.column_pointer[t] : symbolic.column_pointer[t + 1]]
            assert parent[t] == (column.min() if column.size else -1)
    assert symbolic.height == symbolic.levels.max() == needed_height(oracle, blocks)
    post = symbolic.post.tolist()
    assert sorted(post) == list(range(len(blocks)))
    below = {t: {t} for t in range(len(blocks))}
    for t, up in enumerate(parent):
        if up >= 0:
            below[up] |= below[t]
    for i, t in enumerate(post):  # a subtree stands together, its root last
        assert set(post[i - len(below[t]) + 1 : i + 1]) == below[t]


# -- formulas -----------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("parents", SHAPES.values(), ids=SHAPES)
def test_formulas(parents):
    of, n = structure(parents), len(parents)
    D, r = sum(depths(parents)), sum(p < 0 for p in parents)
    tips = of.tip_to_base
    pairs = [[("pdd", k), ("f", k)] for k in tips]
    joints = [[("qdd", k)] for k in tips]
    unbracketed = [group for two in zip(pairs, joints, strict=True) for group in two]
    assert agrees(bracketed(of), of).fill_blocks == n - r
    assert agrees(unbracketed, of).fill_blocks == n - r
    assert agrees(pairs + joints, of).fill_blocks == 2 * D
    # pdd and f one by one: what cancels exactly on branches is counted as well
    within = [n]
    if r > 1:
        root_of = {}
        for k in of.order[::-1].tolist():
            root_of[k] = k if parents[k] < 0 else root_of[parents[k]]
        within = [list(root_of.values()).count(k) for k in range(n) if parents[k] < 0]
    single = [[block] for two in pairs for block in two]
    extra = sum(m * (m - 1) // 2 for m in within)
    assert agrees(single + joints, of).fill_blocks == 2 * D + extra


def test_no_pivot_needs_one_that_is_not_below_it():
    """A parent whose update meets two children's joints, eliminated before the children."""
    of = structure([-1, 0, 0])
    groups = [
        [("pdd", "b0"), ("f", "b0")],
        [("pdd", "b2"), ("pdd", "b1"), ("f", "b1"), ("f", "b2")],
        [("qdd", "b1"), ("qdd", "b0"), ("qdd", "b2")],
    ]
    symbolic, oracle = factor(groups, of), Oracle(groups, of)
    assert symbolic.height == needed_height(oracle, oracle.order) == 6


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_height_of_abm_on_a_chain_is_3n(n):
    symbolic = factor(bracketed(structure(range(-1, n - 1))), structure(range(-1, n - 1)))
    assert symbolic.height == 3 * n and symbolic.fill_blocks == n - 1


def test_nested_dissection_of_1023_links_trades_fill_for_height():
    """Height 11 instead of 3069: pdd, then fC in a balanced tree, 10 deep; (qdd fJ) is beside."""
    of = structure(range(-1, 1022))
    nested = kkt.symbolic(kkt.plan(orderings.get("divide_and_conquer"), of))
    assert nested.height == 1 + 10 and factor(bracketed(of), of).height == 3069
    assert nested.fill_blocks > 3 * 1022


@pytest.mark.product
@pytest.mark.parametrize("order", orderings.names())
@pytest.mark.parametrize("parents", SHAPES.values(), ids=SHAPES)
def test_every_order_fills_what_the_oracle_fills(order, parents):
    of = structure(parents)
    sequence = kkt.plan(orderings.get(order), of).sequence
    agrees(sequence.groups, of.with_links(sequence.links))


@pytest.mark.product
@pytest.mark.parametrize("order", orderings.names())
def test_joints_of_any_freedom(order):
    """Fixed joints have no qdd, floating ones no fC: absent blocks are neither pivots nor fill."""
    of = kkt.build(every_joint()).structure
    assert {0, 6} <= set(of.dof.tolist())
    sequence = kkt.plan(orderings.get(order), of).sequence
    agrees(sequence.groups, of.with_links(sequence.links))


# -- random orders ------------------------------------------------------------------------------


def named(shape):
    """The structure of a drawn tree."""
    return structure(np.array(shape, dtype=np.int64))


@pytest.mark.product
def test_any_order_agrees_with_the_oracle_or_is_refused_with_it():
    refused = []

    @given(data=st.data())
    @settings(max_examples=400)
    def every_order(data):
        of = named(data.draw(shapes(7, roots=False)))
        groups = data.draw(st.one_of(brackets(of.names), scrambled(of.names)))
        try:
            Oracle(groups, of)
        except Infeasible as zero:
            block, step = zero.args
            refused.append(groups)
            with pytest.raises(kkt.OrderError, match="structurally zero") as refusal:
                factor(groups, of)
            text = str(refusal.value)
            assert f"pivot {block[0]}_{block[1]} at step {step} " in text
            assert "eliminate pdd_" in text
        else:
            agrees(groups, of)

    every_order()
    assert 40 < len(refused) < 360


TREES4 = [p for n in range(2, 5) for p in itertools.product(*(range(-1, k) for k in range(n)))]
TREES4 = [p for p in TREES4 if p.count(-1) == 1]


@pytest.mark.product
@given(data=st.data())
@settings(max_examples=200)
def test_no_order_fills_less_than_n_minus_1(data):
    of = structure(data.draw(st.sampled_from(TREES4)))
    groups = data.draw(st.one_of(brackets(of.names), scrambled(of.names)))
    try:
        fill = factor(groups, of).fill_blocks
    except kkt.OrderError:
        assume(False)
    assert fill >= of.n - 1 == factor(bracketed(of), of).fill_blocks


# -- the paper's pictures -----------------------------------------------------------------------


def stored_blocks(matrix, blocks):
    dense = abs(matrix.toarray()) > 0
    return {(a, b) for a in blocks for b in blocks if dense[blocks[a], blocks[b]].any()}


def test_zero_structure_of_equation_6_for_three_bodies():
    """Block rows of (6) as printed, 1 standing for a stored block; the tip is number 1."""
    printed = [
        "1.1......",
        "..1......",
        "11.1.....",
        "..11.1...",
        ".....1...",
        "...11.1..",
        ".....11.1",
        "........1",
        "......11.",
    ]
    system = kkt.build(kkt.chain(3), layout="body")
    rows = list(system.blocks)
    assert [b.body for b in rows[::3]] == ["j3", "j2", "j1"]
    stored = stored_blocks(system.matrix, system.blocks)
    assert ["".join("1" if (a, b) in stored else "." for b in rows) for a in rows] == printed


def skewed(parents):
    """Bodies on joints without a common direction, so that no block vanishes by chance."""
    rng, tree = np.random.default_rng(2), kkt.new_tree("skewed")
    for k, up in enumerate(parents):
        com, axis, p = rng.normal(size=(3, 3))
        above = None if up < 0 else f"b{up}"
        kkt.add_body(tree, f"b{k}", above, mass=1.0, com=com, inertia=np.eye(3), axis=axis, p=p)
    return tree


def in_numbers(system, pivots):
    """After each pivot, {pair of blocks: largest entry} of what is left, by numpy's inverse."""
    A, left = system.matrix.toarray(), dict(system.blocks)
    for pivot in pivots:
        rows = np.concatenate([np.r_[left.pop(kkt.Block(*b))] for b in pivot])
        rest = np.concatenate([np.r_[s] for s in left.values()] or [np.zeros(0, int)]).astype(int)
        B = np.linalg.inv(A[np.ix_(rows, rows)])
        A[np.ix_(rest, rest)] -= A[np.ix_(rest, rows)] @ B @ A[np.ix_(rows, rest)]
        yield {
            frozenset((tuple(a), tuple(b))): np.abs(A[left[a], left[b]]).max(initial=0.0)
            for a, b in itertools.combinations(left, 2)
        }


@pytest.mark.uncached
@pytest.mark.parametrize("order", ["bad_abm", "crbm"])
@pytest.mark.parametrize("parents", [[-1, 0, 1], [-1, 0, 0, 0], random_parents(8, 4, 2)], ids=str)
def test_fill_is_what_numbers_fill(order, parents):
    system = kkt.build(skewed(parents))
    symbolic = kkt.symbolic(kkt.plan(orderings.get(order), system.structure))
    before = {frozenset(pair) for pair in stored_blocks(system.matrix, system.blocks)}
    states = in_numbers(system, symbolic.plan.sequence.groups)
    fill = {pair for state in states for pair, size in state.items() if size > 1e-9}
    assert set(fill_of(symbolic)) == fill - before


def test_zero_structures_after_elimination_for_three_bodies():
    """ABM fills (3k - 1, 3k + 1) only; CRBM each joint's ancestors (Ascher 1996, section 2)."""
    of = structure([-1, 0, 1])
    assert set(fill_of(factor(bracketed(of), of))) == {
        frozenset((("qdd", "b2"), ("pdd", "b1"))),
        frozenset((("qdd", "b1"), ("pdd", "b0"))),
    }
    crbm = fill_of(kkt.symbolic(kkt.plan(orderings.get("crbm"), of)))
    assert set(crbm) == {
        frozenset((("qdd", f"b{k}"), (kind, f"b{up}")))
        for k in range(3)
        for up in range(k)
        for kind in ("pdd", "qdd")
    }


def test_single_pivots_on_branches_count_what_cancels():
    """(pdd)(f) one by one couples the siblings' joints; their sum is zero but for rounding."""
    system = kkt.build(skewed([-1, 0, 0, 0]))
    of = system.structure
    pivots = [[(kind, k)] for k in of.tip_to_base for kind in ("pdd", "f")]
    joints = [[("qdd", k)] for k in of.tip_to_base]
    states = list(in_numbers(system, pivots))
    siblings = {frozenset((("qdd", a), ("qdd", b))) for a, b in itertools.combinations(("b1", "b2", "b3"), 2)}
    assert siblings <= set(fill_of(factor(pivots + joints, of)))
    for pair in siblings:
        assert max(state[pair] for state in states) > 1e-3 and states[-1][pair] < 1e-12
    crbm = kkt.symbolic(kkt.plan(orderings.get("crbm"), of))
    assert not siblings & set(fill_of(crbm))


# -- size ---------------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("roots", [1, 3])
def test_a_tree_of_100_000_bodies(roots):
    n = 100_000
    rng = np.random.default_rng(7)
    parents = np.full(n, -1)
    parents[roots:] = (rng.random(n - roots) * np.arange(roots, n)).astype(int)
    shuffled = rng.permutation(n)  # numbers of bodies say nothing
    listed = np.empty(n, dtype=np.int64)
    listed[shuffled] = np.where(parents < 0, -1, shuffled[parents])
    of = structure(listed)
    symbolic = factor(bracketed(of), of)
    assert symbolic.fill_blocks == n - roots == len(symbolic.fill[0])
    # pdd with f, qdd, parent's... : 2 + 1 + parent's pdd with f and with qdd
    assert int(symbolic.counts.sum()) == 2 * n + 2 * (n - roots)
    depth = np.zeros(n, dtype=int)
    for k in range(roots, n):
        depth[k] = depth[parents[k]] + 1
    assert symbolic.height == 3 * (depth.max() + 1)
    assert (symbolic.pivot == PAIR_FIRST).sum() == (symbolic.pivot == SINGLE).sum() == n
