"""The explorer's own engine, held against the project's: fill, admissibility, labels."""

import random
import re

import numpy as np
import pytest
from armature import with_terms
from explorer_engine import document, geared, in_javascript, needs_node
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer.data import structure_of
from pivotree.analysis.figures.curves import traced_counts
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.state import block_state


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
    tree = kkt.model.gallery.random_tree(n=rng.randint(1, 7), seed=seed)
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


@pytest.fixture(scope="module")
def random_cases():
    return random_orders(range(500))


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
    return made, factors, in_javascript(cases)


def singular_pivot(system, groups):
    """What the project says of a sequence whose pivot is singular whatever the numbers, or None."""
    try:
        kkt.trace(system, groups)
    except kkt.OrderError as error:
        return str(error)
    return None


def same_counts(cases):
    """Operations of orders that the page's engine went through to the end: page's and trace's."""
    counted = 0
    for (system, *_, accepted), _, found in cases:
        if any("rank" in (said["refused"] or "") for said in found["answers"]):
            assert found["operations"] is None  # singular whatever the numbers: no end is reached
            continue
        assert found["operations"] == kkt.trace(system, accepted).flops, (accepted, system.name)
        counted += 1
    return counted


@needs_node
@pytest.mark.thorough
def test_operations_of_an_order_made_by_hand_are_those_of_its_trace():
    assert same_counts(zip(*random_orders(range(12)), strict=True)) > 4


@needs_node
@pytest.mark.slow
def test_operations_of_200_random_orders_are_those_of_their_traces(random_cases):
    assert same_counts(zip(*(of[:200] for of in random_cases), strict=True)) > 80


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize(
    "spec",
    [
        "chain:3",
        "binary:2",
        "humanoid",
        "geared",
        "four_bar",
        "stewart",
        "gripper",
        "quadruped:feet=4,compliance=1e-6",
    ],
)
def test_operations_of_the_registered_orders(spec):
    """Forces split and whole, links stretched, loops: what the page replays with numbers."""
    system = kkt.build(with_terms(kkt.chain(4), 1)) if spec == "geared" else system_of(spec)
    formats = ["float32"] if system.loops else []
    data = explorer_data(system, spec, formats=formats, story=False)
    orders = [o for o in data["orders"] if o["links"] != "split" and not o["rules"]]
    assert {"crbm", "abm", "virtual_work", "divide_and_conquer"} <= {o["name"] for o in orders}
    found = in_javascript(
        [
            {"data": data, "form": {k: o[k] for k in ("links", "split", "rules")}, "attempts": o["groups"]}
            for o in orders
        ]
    )
    assert [one["operations"] for one in found] == [o["flops"] for o in orders]
    for one, order in zip(found, orders, strict=True):
        steps = np.diff(one["counts"])  # of the whole order, and as they were told on the way
        assert (
            [a["worked"] for a in one["answers"]] == steps.tolist() == [a["foretold"] for a in one["answers"]]
        ), order["name"]
        # joints and loops that pivotree ends with are one dense pivot, written down at its first
        n, groups = len(data["structures"][order["links"]]["parent"]), order["groups"]
        joints = [all(b // n in (1, 5) for b in group) for group in groups]
        last = next((k for k in range(len(groups), 0, -1) if not joints[k - 1]), 0)
        traced = traced_counts(kkt.trace(system, orderings.get(order["name"])))
        assert traced[: last + 1].tolist() == one["counts"][: last + 1], order["name"]
        assert traced[-1] == one["counts"][-1]
    assert [one["height"] for one in found] == [o["height"] for o in orders]
    assert [one["answers"][-1]["fill"] for one in found] == [o["fill"] for o in orders]
    if system.loops:
        assert {"lambda_first", "closed_early"} <= {o["name"] for o in orders}
        assert (
            max(
                abs(one["digits"] - o["formats"]["float32"]["digits"])
                for one, o in zip(found, orders, strict=True)
            )
            < 1.5
        )


@pytest.mark.slow
@needs_node
def test_fill_and_admissibility_at_every_step_of_500_random_trees(random_cases):
    """Fill, cost, what may be a pivot, the elimination tree; and every step is taken back."""
    refused = singular = steps = 0
    for (system, _, attempts, expected, accepted), factor, found in zip(*random_cases, strict=True):
        graph, group = factor.plan.graph, factor.plan.group
        blocks = factor.plan.blocks
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
                refused += 1
                continue
            step += 1
            if said["refused"]:
                rank = re.search(r"has rank (\d+) of (\d+)", said["refused"])
                tape = singular_pivot(system, accepted)
                assert rank and tape, (bracket, said["refused"], tape)
                assert f"at step {step} is structurally singular" in tape
                assert f"(rank {rank[1]} of {rank[2]})" in tape
                singular += 1
                break
            now = made | {edge: at for edge, at in made_later.items() if at <= step}
            assert [tuple(x) for x in said["made"]] == sorted((*edge, at) for edge, at in now.items())
            assert said["fill"] == len(now) - len(made)
            assert said["flops"] == pytest.approx(flops[group < step].sum(), abs=1e-2)
            left = blocks[group >= step]
            assert said["left"] == sorted(left.tolist())
            ready = {b for t, b in enumerate(blocks) if group[t] >= step and first[t] < step}
            ready |= {b for b in left.tolist() if graph.diagonal[b]}
            assert set(said["pivotable"]) == ready
            steps += 1
        else:
            if len(attempts) % 3 == 0:  # tracing costs more than all the rest
                assert singular_pivot(system, accepted) is None
            parents = {
                int(blocks[t]): int(blocks[p]) if p >= 0 else -1 for t, p in enumerate(factor.parent.tolist())
            }
            assert dict(found["tree"]) == parents and found["height"] == factor.height
        assert found["undone"]
    assert refused > 200 and singular > 20 and steps > 2000, (refused, singular, steps)


def first_updates(factor):
    """(B,) group that first adds to each diagonal block, spelt out pivot by pivot."""
    first = np.full(len(factor.pivot), factor.plan.groups)
    for t, kind in enumerate(factor.pivot.tolist()):
        if kind == 1:
            continue
        own = factor.column_index[factor.column_pointer[t] : factor.column_pointer[t + 1]]
        first[own] = np.minimum(first[own], factor.plan.group[t])
    return first


# -- the paper's notation -------------------------------------------------------------------------

LABELLED = {
    "four_bar": ("crbm", "abm", "lagrange", "closed_early"),
    "stewart": ("abm", "lambda_first"),
    "geared": ("crbm", "abm", "lagrange", "minimum_degree"),
    "chain:3": None,
    "binary:2": ("crbm", "abm", "lagrange", "base_to_tip", "minimum_degree", "random:0"),
    "random_tree:n=4,seed=3": ("crbm", "abm", "natural", "virtual_work", "modified_abm_stretched"),
}


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize("spec", LABELLED)
def test_labels_are_those_of_the_figures_at_every_step(spec):
    system = geared() if spec == "geared" else system_of(spec)
    cases, symbolics = [], []
    for name in LABELLED[spec] or orderings.names():
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
    for symbolic, case, found in zip(symbolics, cases, in_javascript(cases), strict=True):
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
