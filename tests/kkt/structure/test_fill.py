"""Fill, feasibility and heights, against elimination of a dense boolean matrix written out here.

The formulas are those of branch-induced sparsity (Featherstone 2005) and of Ascher, Pai &
Cloutier 1996, section 2, for n bodies, r roots and D body-ancestor pairs: articulated bodies fill
n - r blocks, composite bodies 2 D.
"""

import itertools
import random

import flint
import numpy as np
import pytest
from designs import covering
from helpers import bracketed, every_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Infeasible, Oracle, needed_height
from strategies import brackets, scrambled, shapes

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic.shadows import PRIME, residue
from pivotree.kkt.matrix.blocks import PDD, QDD, F
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


def test_nested_dissection_of_1023_links_trades_fill_for_height():
    """Height 11 instead of 3069: pdd, then fC in a balanced tree, 10 deep; (qdd fJ) is beside."""
    of = structure(range(-1, 1022))
    nested = kkt.symbolic(kkt.plan(orderings.get("divide_and_conquer"), of))
    assert nested.height == 1 + 10 and factor(bracketed(of), of).height == 3069
    assert nested.fill_blocks > 3 * 1022


@pytest.mark.parametrize(("order", "shape"), covering(orderings.names(), ["every joint", *SHAPES]))
def test_every_order_fills_what_the_oracle_fills(order, shape):
    """Fixed joints have no qdd, floating ones no fC: absent blocks are neither pivots nor fill."""
    of = structure(SHAPES[shape]) if shape in SHAPES else kkt.build(every_joint()).structure
    sequence = kkt.plan(orderings.get(order), of).sequence
    agrees(sequence.groups, of.with_links(sequence.links))


# -- random orders ------------------------------------------------------------------------------


@pytest.mark.product
def test_any_order_agrees_with_the_oracle_or_is_refused_with_it():
    refused = []

    @given(data=st.data())
    @settings(max_examples=150)
    def every_order(data):
        of = structure(data.draw(shapes(7, roots=False)))
        groups = data.draw(st.one_of(brackets(of.names), scrambled(of.names)))
        try:
            Oracle(groups, of)
        except Infeasible as zero:
            block, step = zero.args
            refused.append(groups)
            with pytest.raises(kkt.OrderError, match="structurally zero") as refusal:
                kkt.symbolic(kkt.plan(groups, of))
            text = str(refusal.value)
            assert f"pivot {block[0]}_{block[1]} at step {step} " in text
            assert "eliminate pdd_" in text
        else:
            agrees(groups, of)

    every_order()
    assert 15 < len(refused) < 135


# -- beside numbers ------------------------------------------------------------------------------


def skewed(parents):
    """Bodies on joints without a common direction, so that no block vanishes by chance."""
    rng, tree = np.random.default_rng(2), kkt.new_tree("skewed")
    for k, up in enumerate(parents):
        com, axis, p = rng.normal(size=(3, 3))
        above = None if up < 0 else f"b{up}"
        kkt.add_body(tree, f"b{k}", above, mass=1.0, com=com, inertia=np.eye(3), axis=axis, p=p)
    return tree


def residues_of(system, split):
    """(4) modulo a prime, and its blocks; with ``split`` each f as fJ, along B, and fC, along C.

    H B = 1 and H C = 0: along C a unit vector less its share of the one where H is largest.
    """
    entries = [[int(residue(x)) for x in row] for row in system.matrix.toarray().tolist()]
    A, blocks = np.array(entries, dtype=object), {tuple(b): np.r_[s] for b, s in system.blocks.items()}
    if not split:
        return A, blocks
    for k in system.tree.names:
        f, turn = blocks.pop(("f", k)), np.eye(6, dtype=int).astype(object)
        H = A[blocks["qdd", k][0], f]
        most = int(np.argmax(np.abs(system.matrix.toarray()[blocks["qdd", k][0], f])))
        turn[most] = [-h * pow(int(H[most]), -1, PRIME) % PRIME for h in H]
        turn[most, most] = pow(int(H[most]), -1, PRIME)
        A[f] = turn.T.dot(A[f]) % PRIME
        A[:, f] = A[:, f].dot(turn) % PRIME
        blocks["fJ", k], blocks["fC", k] = f[[most]], np.delete(f, most)
    return A, blocks


def filled_modulo(A, left, symbolic):
    """Pairs of blocks that are nonzero at some step, pivot by pivot, and zero in the matrix."""

    def coupled():
        pairs = itertools.combinations(left, 2)
        return {frozenset((a, b)) for a, b in pairs if A[np.ix_(left[a], left[b])].any()}

    before, found = coupled(), set()
    blocks = [tuple(symbolic.plan.graph.block(int(b))) for b in symbolic.plan.blocks]
    pairs = (symbolic.pivot == PAIR_FIRST).tolist()
    while len(left) > 1 + pairs[len(blocks) - len(left)]:
        t = len(blocks) - len(left)
        rows = np.concatenate([left.pop(b) for b in blocks[t : t + 1 + pairs[t]]])
        rest = np.concatenate(list(left.values()))
        inverse = modulo(A[np.ix_(rows, rows)]).inv()
        couples = modulo(A[np.ix_(rest, rows)])
        update = (couples * inverse * couples.transpose()).entries()
        change = np.array([int(x) for x in update], dtype=object).reshape(len(rest), len(rest))
        A[np.ix_(rest, rest)] = (A[np.ix_(rest, rest)] - change) % PRIME
        found |= coupled()
    return found - before


def modulo(block):
    return flint.nmod_mat(*block.shape, [int(x) for x in block.ravel()], PRIME)


FILLED = {
    "chain": [-1, 0, 1, 2],
    "star": [-1, 0, 0, 0],
    "binary": [-1, 0, 0, 1, 1],
    "two roots": random_parents(7, 4, 2),
}
RANDOM = [f"random:{seed}" for seed in (0, 3, 12)]


@pytest.mark.uncached
@pytest.mark.parametrize("parents", FILLED.values(), ids=FILLED)
def test_fill_is_what_numbers_fill(parents):
    """In every order that has a name; with single pivots at random it is at most so many."""
    system, less = kkt.build(skewed(parents)), 0
    for order in [*sorted({*orderings.names()} - {"random:0"}), *RANDOM]:
        plan = kkt.plan(orderings.get(order), system.structure)
        if plan.sequence.links != "whole":
            continue  # of another matrix
        symbolic = kkt.symbolic(plan)
        own = set(fill_of(symbolic))
        found = filled_modulo(*residues_of(system, plan.graph.split), symbolic)
        assert found <= own and (found == own or order in RANDOM), order
        less += len(own) - len(found)
    assert (less > 0) == (parents != FILLED["chain"])


# -- size ---------------------------------------------------------------------------------------


@pytest.mark.product
def test_a_tree_of_100_000_bodies():
    n, roots = 100_000, 3
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


def crbm_of_chain(n):
    structure = kkt.Structure(tuple(range(n)), np.arange(-1, n - 1), np.ones(n, dtype=np.int64))
    tip = np.arange(n)[::-1]
    kinds = np.concatenate([np.tile([PDD, F], n), np.full(n, QDD)])
    group = np.concatenate([np.repeat(np.arange(n), 2), n + np.arange(n)])
    return kkt.plan_from_arrays(structure, kinds, np.concatenate([np.repeat(tip, 2), tip]), group)


@pytest.mark.parametrize("n", [1, 2, 100, 1000])
def test_crbm_fills_two_blocks_for_each_body_and_ancestor(n):
    assert kkt.symbolic(crbm_of_chain(n)).fill_blocks == n * (n - 1)
