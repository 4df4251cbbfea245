"""The cheapest order: held against all orders of a class, spelt out here, and against (4)."""

import contextlib
import json
import random
from itertools import product

import networkx as nx
import numpy as np
import pytest
from designs import listed

import pivotree as pt
from pivotree import analysis, kkt, orderings
from pivotree.analysis.cheapest import matrices
from pivotree.analysis.cli import main


def all_orders(structure):
    """Every tip-to-base order: each joint at its body or above, in the bracket or after it."""
    line = {k: [k] for k in structure.names}
    for k in structure.base_to_tip:
        if structure.parent_of(k) is not None:
            line[k] = [k, *line[structure.parent_of(k)]]
    joints = [k for k in structure.tip_to_base if structure.dof[structure.index[k]]]
    for places in product(*(line[k] for k in joints)):
        for inside in product((True, False), repeat=len(set(places))):
            kept = dict(zip(sorted(set(places), key=str), inside, strict=True))
            groups = []
            for k in structure.tip_to_base:
                pair = [("pdd", k), ("f", k)]
                here = [("qdd", j) for j, place in zip(joints, places, strict=True) if place == k]
                if here and not kept[k]:
                    groups += [pair, here]
                else:
                    groups.append(pair + here)
            yield groups


SMALL = [("chain:2", "rigid"), ("random_tree:n=3,seed=2", "general"), ("chain:3", "rigid")]


@pytest.mark.parametrize(("spec", "composites"), listed(SMALL, unmarked=1))
def test_small_trees_are_searched_to_their_cheapest_order(spec, composites):
    system = kkt.build(kkt.load(spec))
    found = analysis.search(system, composites=composites)
    costs = [
        kkt.trace(system, kkt.PivotSequence(g, rules=kkt.Rules(rank_update=u)), composites).flops
        for g in all_orders(system.structure)
        for u in ("outer", "gain")
    ]
    family = [r.flops for r in found.ranking if r.name == "search"]
    assert min(family) == min(costs)
    assert found.cost == min([*costs, *(r.flops for r in found.ranking)])
    assert set(family) <= set(costs)


@pytest.mark.product
@pytest.mark.parametrize("seed", range(2))
def test_never_worse_than_a_registered_order(seed):
    system = kkt.build(kkt.random_tree(5, seed=seed))
    found = analysis.search(system, most=20)
    assert found.cost == kkt.trace(system, found.sequence).flops
    for name in ("crbm", "abm", "gain_abm", "square_root_abm", "virtual_work", "natural"):
        assert found.cost <= kkt.trace(system, orderings.get(name)).flops


@pytest.mark.parametrize("composites", listed(["rigid", "general"], unmarked=1))
def test_an_order_goes_through_json(tmp_path, composites):
    """What was counted is what the file runs, in every command that takes orders."""
    tree = kkt.binary(2)
    system = kkt.build(tree)
    found = analysis.search(system, most=5, composites=composites)
    assert found.sequence.composites == composites
    file = tmp_path / "order.json"
    file.write_text(json.dumps(found.as_json()))
    order = orderings.get(str(file))
    tape = kkt.trace(system, order)
    assert tape.flops == found.cost
    (row,) = analysis.compare(system, [order], ["float32"]).rows
    assert row.flops == found.cost and row.digits > 5
    assert kkt.compile(tree, order).operations == kkt.compile(tree, tape).operations
    other = "general" if composites == "rigid" else "rigid"
    assert kkt.trace(system, order, other).flops == kkt.trace(system, found.sequence, other).flops
    assert kkt.trace(system, order, other).flops != found.cost


@pytest.mark.product
def test_an_order_with_ten_numbers_is_refused_where_it_is_not_exact(tmp_path, capsys):
    file = tmp_path / "ten.json"
    file.write_text(json.dumps(analysis.search(kkt.chain(3), composites="rigid").as_json()))
    row = analysis.compare(kkt.build(kkt.chain(3)), [orderings.get(str(file))], ["exact"]).rows[0]
    assert "composites 'rigid'" in row.failed_at and row.error is None
    assert main(["solve", "chain:3", "--order", str(file), "--certify", "20"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "composites" in said


def test_a_function_may_have_composites_of_ten_numbers():
    @orderings.order("ten", source="test", composites="rigid")
    def ten(structure):
        return [[("pdd", k), ("f", k)] for k in structure.tip_to_base] + [
            [("qdd", k)] for k in structure.tip_to_base
        ]

    system = kkt.build(kkt.random_tree(6, seed=1))
    assert kkt.trace(system, ten).flops == kkt.trace(system, orderings.get("crbm"), "rigid").flops
    with pytest.raises(kkt.OrderError, match="composites is 'nine'"):
        kkt.trace(system, ten, "nine")


WRONG = {"most is 0": {"most": 0}, "is 'ten'": {"composites": "ten"}}


@pytest.mark.parametrize("said", WRONG)
def test_bad_input_is_one_sentence(said):
    with pytest.raises(kkt.OrderError, match=said):
        analysis.search(kkt.chain(2), **WRONG[said])


@pytest.mark.product
def test_tune_prints_the_winner_and_measures_it(capsys, tmp_path):
    file = tmp_path / "order.json"
    kkt.write_model(file, kkt.build(kkt.chain(1, joint="spherical")).state)  # at q = 0, with zeros of its own
    assert main(["tune", str(file), "--most", "1"]) == 0 and capsys.readouterr().out
    assert main(["tune", "chain:3", "--json", "-o", str(file)]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = {row["order"]: row for row in said["rows"]}
    assert set(rows) == {"tuned", "crbm", "abm"}
    assert said["value"] == rows["tuned"]["flops"] <= min(rows[k]["flops"] for k in ("crbm", "abm"))
    assert main(["solve", "chain:3", "--order", str(file)]) == 0


def test_orders_of_a_matrix_whose_numbers_make_a_pivot_zero_are_no_rivals():
    """Row 1 less row 0 is zero on the diagonal: no structure shows it."""
    matrix = pt.matrix(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]))
    with pytest.raises(kkt.SingularError, match=r"zero for these numbers; use another .*regular matrix$"):
        pt.eliminate(matrix, "natural", "exact")
    for row in pt.search(matrix).ranking:
        assert pt.eliminate(matrix, row.sequence, "exact").qdd.tolist() == [1, 1, 1]
    A = np.array([[1.0, 1, 1], [1, 1, 2], [1, 2, 0]])
    with pytest.raises(kkt.OrderError, match="every order that was tried has a pivot that is zero for these"):
        pt.search(pt.matrix(A, [[0, 1], [2]]))
    assert pt.eliminate(pt.matrix(A), pt.search(pt.matrix(A)).sequence).error_estimate < 1e-15


def orders_with_pairs(names):
    """Every order of names, each alone or with the next one."""
    if not names:
        yield []
    for k, first in enumerate(names):
        rest = [*names[:k], *names[k + 1 :]]
        yield from ([[first], *groups] for groups in orders_with_pairs(rest))
        for j, second in enumerate(rest):
            yield from ([[first, second], *more] for more in orders_with_pairs([*rest[:j], *rest[j + 1 :]]))


@pytest.mark.parametrize("zeros", [False, True])
def test_no_order_has_a_smaller_front_than_the_bound(zeros):
    """All orders of all graphs of four blocks."""
    source, equal = random.Random(4), 0
    for graph in [x for x in nx.graph_atlas_g() if len(x) == 4]:
        size = [source.choice([1, 1, 2, 3]) for _ in graph]
        own = [not zeros or source.random() < 0.6 for _ in graph]
        pattern = nx.to_numpy_array(graph) + np.diag(own)
        if not pattern.any(axis=0).all():  # such a matrix is refused
            continue
        A = pattern.repeat(size, axis=0).repeat(size, axis=1)
        structure, fronts = pt.matrix(A, blocks=size).structure, []
        for groups in orders_with_pairs(list(range(4))):
            with contextlib.suppress(kkt.OrderError):
                fronts.append(matrices.largest_front(kkt.symbolic(kkt.plan(groups, structure))))
        assert min(fronts, default=99) >= matrices.least_front(structure)
        equal += min(fronts, default=99) == matrices.least_front(structure)
    assert equal >= (2 if zeros else 8)
    grid = pt.matrix(nx.grid_2d_graph(6, 6)).structure
    assert 5 <= matrices.least_front(grid) <= 7
