"""The explorer's own engine, held against the project's: fill, admissibility, labels."""

import random
import re
from collections import Counter

import numpy as np
import pytest
from armature import with_terms
from designs import covering
from explorer_engine import document, geared, in_javascript, needs_node, replayed
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer.data import structure_of
from pivotree.analysis.figures.curves import traced_counts
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.state import block_state

pytestmark = needs_node


def factored(groups, structure, split):
    """The symbolic factor of some groups and, after them, of what is left: pdd, forces, joints.

    Multipliers come last, as they do where an order leaves them out.  Returns it with None, or None
    with the step that is refused and the words.
    """
    named = {block for group in groups for block in group}
    kinds = ("pdd", "fJ", "fC", "qdd") if split else ("pdd", "f", "qdd")
    size = {"pdd": lambda d: 6, "f": lambda d: 6, "qdd": int, "fJ": int, "fC": lambda d: 6 - d}
    rest = [
        [(kind, body)]
        for kind in kinds
        for body, dof in zip(structure.names, structure.dof, strict=True)
        if (kind, body) not in named and size[kind](dof)
    ]
    try:
        return kkt.symbolic(kkt.plan([*groups, *rest], structure)), None
    except kkt.OrderError as error:
        return None, (int(re.search(r"at step (\d+)", str(error))[1]), str(error))


def with_contacts(tree, rng):
    """One or two points held, some softly; a rigid one that the joints rule out is soft too."""
    bodies = list(tree)
    held = rng.sample(bodies, min(len(bodies), rng.randint(1, 2)))
    across = [(1, 0, 0), (0, 1, 0)][: rng.randint(0, 2)]
    for soft in (rng.choice((0.0, 1e-3)), 1e-3):
        loops = [
            kkt.contact(body, (0.1, 0.2, 0.3), tangents=across, compliance=soft, name=f"c{i}")
            for i, body in enumerate(held)
        ]
        try:
            return kkt.build(tree, loops=loops)
        except kkt.ModelError:
            continue
    raise AssertionError("soft rows follow from no others")


def random_case(seed):
    """A tree, brackets that are tried one after another, and what the project says of each."""
    rng = random.Random(seed)
    tree = kkt.random_tree(n=rng.randint(1, 7), seed=seed)
    tree = with_terms(tree, seed) if seed % 4 == 0 else tree
    system = with_contacts(tree, rng) if seed % 3 == 1 else kkt.build(tree)
    structure, split = system.structure, rng.random() < 0.3
    kinds = ("pdd", "qdd", "fJ", "fC") if split else ("pdd", "qdd", "f")
    size = {"pdd": lambda d: 6, "f": lambda d: 6, "qdd": int, "fJ": int, "fC": lambda d: 6 - d}
    left = [
        (kind, body)
        for body, dof in zip(structure.names, structure.dof, strict=True)
        for kind in kinds
        if size[kind](dof)
    ]
    left += [("lam", name) for name in structure.constraints]
    rng.shuffle(left)
    accepted, attempts, expected = [], [], []
    refusals = 0
    while left:
        bracket = [left.pop() for _ in range(min(len(left), rng.choice((1, 1, 1, 1, 2, 4))))]
        if rng.random() < 0.4:  # complete a body: more often admissible
            mates = [b for b in left if b[1] == bracket[0][1]]
            bracket += mates
            left = [b for b in left if b not in mates]
        factor, refused = factored([*accepted, bracket], structure, split)
        attempts.append(bracket)
        if factor is None and refused[0] == len(accepted) + 1:
            expected.append(refused[1])
            refusals += 1
            left = bracket + left
            rng.shuffle(left)
            if refusals > 12:  # no way forward by chance: the sure one
                left.sort(key=lambda b: ("lam", "qdd", "fC", "fJ", "f", "pdd").index(b[0]))
            continue
        accepted.append(bracket)
        expected.append(None)
    return system, split, attempts, expected, accepted


def numbers_of(blocks, graph):
    return [graph.number(kind, body) for kind, body in blocks]


def random_orders(seeds):
    """Cases of :func:`random_case`, their symbolic factors, and what the page says of them."""
    made = [random_case(seed) for seed in seeds]
    cases, factors = [], []
    for system, split, attempts, _, accepted in made:
        plan = kkt.plan(accepted, system.structure)
        factors.append(kkt.symbolic(plan))
        blocks = [numbers_of(bracket, plan.graph) for bracket in attempts]
        form = {"links": "whole", "split": split}
        cases.append({"data": document(system), "form": form, "attempts": blocks})
    return zip(made, factors, in_javascript("run", cases), strict=True)


def singular_pivot(system, groups):
    """What the project says of a sequence whose pivot is singular whatever the numbers, or None."""
    try:
        kkt.trace(system, groups)
    except kkt.OrderError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("first", "count"),
    [(0, 10), pytest.param(10, 60, marks=pytest.mark.product), pytest.param(70, 430, marks=pytest.mark.soak)],
)
def test_fill_and_admissibility_at_every_step_of_random_trees(first, count):
    """Fill, cost, what may be a pivot, the elimination tree; and every step is taken back."""
    seen = Counter()
    for case, factor, found in random_orders(range(first, first + count)):
        seen += walked(*case, factor, found)
    assert seen["refused"] > count // 3 and seen["singular"] >= count // 30, seen
    assert seen["steps"] > 3 * count and seen["counted"] > count // 2, seen


def walked(system, split, attempts, expected, accepted, factor, found):
    """One case, step by step; how many of each kind it had."""
    seen = Counter()
    graph, group, blocks = factor.plan.graph, factor.plan.group, factor.plan.blocks
    made = {tuple(sorted(edge)): 0 for edge in graph.edges.T.tolist()}
    fill = np.sort(blocks[factor.fill], axis=0).T.tolist()
    made_later = dict(zip(map(tuple, fill), (factor.fill_step + 1).tolist(), strict=True))
    s, w = factor.size.astype(float), factor._widths.astype(float)
    flops = s**3 / 3 + s * s * w * 2 + s * w * (w + 1)
    first = first_updates(factor)
    step = 0
    for bracket, words, said in zip(attempts, expected, found["answers"], strict=True):
        assert said["foreseen"] == said["refused"] and said["untouched"] and said["same"]
        if words is not None:
            assert "structurally zero" in said["refused"], (bracket, words, said["refused"])
            named = re.search(r"pivot (\S+) at step", words)[1]
            assert said["refused"].startswith(f"{named} is")
            seen["refused"] += 1
            continue
        step += 1
        if said["refused"]:
            rank = re.search(r"has rank (\d+) of (\d+)", said["refused"])
            tape = singular_pivot(system, accepted)
            assert rank and tape, (bracket, said["refused"], tape)
            assert f"at step {step} is structurally singular" in tape
            assert f"(rank {rank[1]} of {rank[2]})" in tape
            assert found["operations"] is None and found["undone"]  # no end is reached
            seen["singular"] += 1
            return seen
        now = made | {edge: at for edge, at in made_later.items() if at <= step}
        assert [tuple(x) for x in said["made"]] == sorted((*edge, at) for edge, at in now.items())
        assert said["fill"] == len(now) - len(made)
        assert said["flops"] == pytest.approx(flops[group < step].sum(), abs=1e-2)
        left = blocks[group >= step]
        assert said["left"] == sorted(left.tolist())
        ready = {b for t, b in enumerate(blocks) if group[t] >= step and first[t] < step}
        ready |= {b for b in left.tolist() if graph.diagonal[b]}
        assert set(said["pivotable"]) == ready
        seen["steps"] += 1
    parents = {int(blocks[t]): int(blocks[p]) if p >= 0 else -1 for t, p in enumerate(factor.parent.tolist())}
    assert dict(found["tree"]) == parents and found["height"] == factor.height and found["undone"]
    assert found["operations"] == kkt.trace(system, accepted).flops, (accepted, system.name)
    seen["counted"] += 1
    return seen


def first_updates(factor):
    """(B,) group that first adds to each diagonal block, spelt out pivot by pivot."""
    first = np.full(len(factor.pivot), factor.plan.groups)
    for t, kind in enumerate(factor.pivot.tolist()):
        if kind == 1:
            continue
        own = factor.column_index[factor.column_pointer[t] : factor.column_pointer[t + 1]]
        first[own] = np.minimum(first[own], factor.plan.group[t])
    return first


# -- registered orders ----------------------------------------------------------------------------

MODELS = ("chain:3", "random_tree:n=8,seed=3", "geared", "binary:2")
CLOSED = ("four_bar", "stewart", "gripper", "quadruped:feet=4,compliance=1e-6")
PARTS = [
    pytest.param(spec, part, marks=() if spec in ("chain:3", "four_bar") else pytest.mark.product)
    for models in (MODELS, CLOSED)
    for part, spec in enumerate(models)
]
PARTS += [pytest.param(spec, None, marks=pytest.mark.soak) for spec in (*MODELS, "humanoid", *CLOSED)]


@pytest.mark.parametrize(("spec", "part"), PARTS)
def test_operations_of_the_registered_orders(spec, part):
    """Forces split and whole, links stretched, loops: what the page replays with numbers.

    A quarter of all orders on each of four trees and of four mechanisms, or all of them.
    """
    system = geared() if spec == "geared" else system_of(spec)
    closed = bool(system.loops)
    names = orderings.names(loops=closed)
    names = names if part is None else names[part::4]
    data = explorer_data(system, spec, names, ["float32"] if closed else [], story=False)
    orders = [o for o in data["orders"] if o["links"] != "split" and not o["rules"]]
    assert orders
    for one, order in zip(replayed(data, orders), orders, strict=True):
        assert [one["operations"], one["height"]] == [order["flops"], order["height"]]
        assert one["answers"][-1]["fill"] == order["fill"]
        if closed:
            assert abs(one["digits"] - order["formats"]["float32"]["digits"]) < 1.5
        steps = np.diff(one["counts"])  # of the whole order, and as they were told on the way
        assert [a["worked"] for a in one["answers"]] == steps.tolist(), order["name"]
        assert [a["foretold"] for a in one["answers"]] == steps.tolist(), order["name"]
        # joints and loops that pivotree ends with are one dense pivot, written down at its first
        n, groups = len(data["structures"][order["links"]]["parent"]), order["groups"]
        joints = [all(b // n in (1, 5) for b in group) for group in groups]
        last = next((k for k in range(len(groups), 0, -1) if not joints[k - 1]), 0)
        traced = traced_counts(kkt.trace(system, orderings.get(order["name"])))
        assert traced[: last + 1].tolist() == one["counts"][: last + 1], order["name"]
        assert traced[-1] == one["counts"][-1]


# -- the paper's notation -------------------------------------------------------------------------

LABELLED = {
    "chain:3": ("crbm", "abm", "lagrange", "virtual_work_split", "modified_abm_stretched"),
    "four_bar": ("crbm", "abm", "lagrange", "closed_early"),
    "stewart": ("abm", "lambda_first"),
    "geared": ("crbm", "abm", "lagrange", "minimum_degree"),
    "binary:2": ("crbm", "abm", "lagrange", "base_to_tip", "minimum_degree", "random:0"),
    "random_tree:n=4,seed=3": ("crbm", "natural", "virtual_work", "modified_abm_stretched"),
}


@pytest.mark.parametrize("spec", covering(LABELLED))
def test_labels_are_those_of_the_figures_at_every_step(spec):
    system = geared() if spec == "geared" else system_of(spec)
    cases, symbolics = [], []
    for name in LABELLED[spec]:
        plan = kkt.plan(orderings.get(name), system.structure)
        links = plan.sequence.links
        data = document(system)
        data["structures"][links] = structure_of(plan.graph.structure)
        ends = np.flatnonzero(np.diff(plan.group)) + 1
        cases.append(
            {
                "data": data,
                "form": {"links": links, "split": plan.graph.split},
                "labels": True,
                "attempts": [group.tolist() for group in np.split(plan.blocks, ends)],
            }
        )
        symbolics.append(kkt.symbolic(plan))
    named = 0
    for symbolic, case, found in zip(symbolics, cases, in_javascript("run", cases), strict=True):
        own = case["data"]["structures"][case["form"]["links"]]
        graph, n = symbolic.plan.graph, len(own["names"])
        kinds = (0, 1, 3, 4) if graph.split else (0, 1, 2)
        rows = [kind * n + k for k in own["order"] for kind in kinds if graph.size[kind * n + k]]
        rows += [5 * n + c for c in range(len(own.get("ties", ())))]
        place = {int(b): t for t, b in enumerate(symbolic.plan.blocks)}
        assert len(found["cells"]) == symbolic.plan.groups + 1
        for step, cells in enumerate(found["cells"]):
            labels = Labels(block_state(symbolic, step))
            want = [[labels.cell(place[i], place[j]) for j in rows] for i in rows]
            assert cells == want, (case["form"], step)
            named += sum(bool(text) for row in want for text in row)
    assert named > 500
