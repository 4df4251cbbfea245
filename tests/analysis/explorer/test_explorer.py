"""The explorer's own engine, held against the project's: fill, admissibility, labels, numbers."""

import json
import math
import random
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import system_of, tape_of
from hostile_trees import hostile_system

import pivotree as pt
from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer.data import along, carried, entries_of, measured, sliders, structure_of
from pivotree.analysis.explorer.forms import Forms
from pivotree.analysis.figures.labels import Labels
from pivotree.analysis.figures.state import block_state
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.program.tracer import as_counted
from pivotree.kkt.tape.lowering import Patterns

NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def in_javascript(what, of):
    """What the page's modules answer: ``run`` cases, ``read`` a document, or ``round`` numbers."""
    script = Path(__file__).with_name("agreement.mjs")
    asked = json.dumps({"do": what, "of": of})
    done = subprocess.run([NODE, script], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def replayed(data, orders=None, **more):
    """What the page's engine makes of orders in a page's data, all of them or these."""
    data = json.loads(json.dumps(data))
    orders = data["orders"] if orders is None else orders
    return in_javascript(
        "run", [{"data": data, "form": order, "attempts": order["groups"], **more} for order in orders]
    )


def document(system):
    return {
        "structures": {"whole": structure_of(system.structure)},
        "orders": [],
        "entries": entries_of(system),
    }


def geared():
    return kkt.build(with_terms(kkt.random_tree(6, seed=2), 1))


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
    [(0, 10), pytest.param(10, 10, marks=pytest.mark.product), pytest.param(20, 480, marks=pytest.mark.soak)],
)
def test_fill_and_admissibility_at_every_step_of_random_trees(first, count):
    """Fill, cost, what may be a pivot, the elimination tree, qdd; and every step is taken back."""
    seen = Counter()
    for case, factor, found in random_orders(range(first, first + count)):
        seen += walked(*case, factor, found)
    assert seen["refused"] > count // 3 and seen["singular"] >= count // 30, seen
    assert seen["steps"] > 3 * count and seen["counted"] >= seen["equal"] > count // 2, seen


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
    tape = kkt.trace(system, accepted)
    assert found["operations"] == tape.flops, (accepted, system.name)
    want = np.asarray(kkt.eliminate(system, tape, "float32").qdd, float)
    if np.isfinite(want).all():
        assert np.array_equal(np.array(found["qdd"], float), want), (accepted, system.name)
        seen["equal"] += 1
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
    *(("chain:3", 0), ("four_bar", 0)),
    *(pytest.param(spec, 1, marks=pytest.mark.product) for spec in ("random_tree:n=8,seed=3", "gripper")),
]
PARTS += [pytest.param(spec, None, marks=pytest.mark.soak) for spec in (*MODELS, "humanoid", *CLOSED)]


@pytest.mark.parametrize(("spec", "part"), PARTS)
def test_operations_of_the_registered_orders(spec, part):
    """Forces split and whole, links stretched, loops: what the page replays with numbers.

    A quarter of all orders, or in the soak all of them.
    """
    system = geared() if spec == "geared" else system_of(spec)
    closed = bool(system.loops)
    names = orderings.names(loops=closed)
    names = names if part is None else names[part::4]
    data = explorer_data(system, spec, names, ["float32"] if closed else [], story=False)
    orders = [o for o in data["orders"] if o["name"] not in NOT_REPLAYED]
    assert orders
    for one, order in zip(replayed(data, orders), orders, strict=True):
        assert [one["operations"], one["height"]] == [order["flops"], order["height"]]
        assert one["answers"][-1]["fill"] == order["fill"]
        if closed:
            assert one["digits"] == pytest.approx(order["formats"]["float32"]["digits"], abs=0.006)
        steps = np.diff(one["counts"]).tolist()  # of the whole order, and as they were told on the way
        told = [a["worked"] for a in one["answers"]]
        assert sum(told) == sum(steps), order["name"]
        # base_to_tip takes the legs of the humanoid in another sequence than they wait in before it is known
        assert told == steps or (spec, order["name"], told[0]) == ("humanoid", "base_to_tip", 818)
        foretold = [None if a["large"] else step for a, step in zip(one["answers"], told, strict=True)]
        assert [a["foretold"] for a in one["answers"]] == foretold, order["name"]
        # joints and loops that pivotree ends with are one dense pivot, written down at its first
        n, groups = len(data["structures"][order["links"]]["parent"]), order["groups"]
        joints = [all(b // n in (1, 5) for b in group) for group in groups]
        last = next((k for k in range(len(groups), 0, -1) if not joints[k - 1]), 0)
        tape = kkt.trace(system, orderings.get(order["name"]))
        traced = np.cumsum(np.roll(Patterns(as_counted(tape.program), tape.inputs).work(), 1))
        assert traced[: last + 1].tolist() == one["counts"][: last + 1], order["name"]
        assert traced[-1] == one["counts"][-1]


# -- the paper's notation -------------------------------------------------------------------------

LABELLED = {
    "chain:3": ("crbm", "abm", "lagrange", "virtual_work_split", "modified_abm_stretched"),
    "four_bar": ("crbm", "abm", "lagrange", "closed_early", "clusters"),
    "stewart": ("lambda_first",),
    "geared": ("crbm", "lagrange"),
    "binary:2": ("base_to_tip", "minimum_degree", "random:0"),
    "random_tree:n=4,seed=3": ("crbm", "natural", "virtual_work", "modified_abm_stretched"),
}


@pytest.mark.parametrize("spec", covering(LABELLED, unmarked=1))
def test_labels_are_those_of_the_figures_at_every_step(spec):
    system = geared() if spec == "geared" else system_of(spec)
    cases, symbolics = [], []
    for name in LABELLED[spec]:
        plan = kkt.plan(orderings.get(name), system.structure)
        links = plan.sequence.links
        data = document(system)
        data["structures"][links] = structure_of(plan.graph.structure)
        cases.append(
            {
                "data": data,
                "form": {"links": links, "split": plan.graph.split},
                "labels": True,
                "attempts": groups_of(plan),
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


FORMATS = ("float64", "float32", "bfloat16")
NOT_REPLAYED = {"square_root_abm": "it eliminates by rotations of rows, which are no pivots of this matrix"}
NARROW = ("chain:3", "four_bar", "hostile:26")
WIDE = (
    *("random_tree:n=6,seed=2,mass_ratio=1e4", "geared", "binary:2", "stewart", "gripper"),
    *(f"hostile:{seed}" for seed in (1, 13, 37)),
)
REST = ("humanoid", "chain:10", "quadruped:feet=4,compliance=1e-6")
REST += tuple(f"hostile:{seed}" for seed in (0, 2, 3, 6, 14, 15, 20, 24, 27, 31, 35, 39, 47, 49, 51, 55))


THIRDS = [(spec, k % 3) for k, spec in enumerate(WIDE)]


@pytest.mark.uncached
@pytest.mark.parametrize(
    ("spec", "third"),
    [
        *((spec, None) for spec in NARROW),
        *(pytest.param(*case, marks=pytest.mark.product) for case in THIRDS),
        *(pytest.param(spec, None, marks=pytest.mark.soak) for spec in (*WIDE, *REST)),
    ],
)
def test_the_page_computes_what_the_engine_computes_bit_by_bit(spec, third):
    """Every registered order, on chains, wide joints, loops, armature and links without mass.

    Robots take a third of the orders in turn, each order four kinds of them, or in the soak all.
    Those that the engine refuses on a robot, where a pivot has no inverse, are left out.
    """
    system = built(spec)
    data = document(system)
    orders, tapes = [], []
    names = orderings.names(loops=bool(system.loops))
    for name in names if third is None else names[third::3]:
        try:
            tapes.append(kkt.trace(system, orderings.get(name)))
        except (kkt.OrderError, kkt.SingularError):
            continue
        orders.append(shown(data, tapes[-1].program.symbolic.plan))
    seen = Counter()
    answers = in_javascript("end", {"data": data, "orders": orders, "formats": FORMATS})
    for order, tape, all_found in zip(orders, tapes, answers, strict=True):
        for format, found in zip(FORMATS, all_found, strict=True):
            where = (order["name"], format)
            assert found["refused"] is None and found["why"] == NOT_REPLAYED.get(order["name"], ""), where
            if found["why"]:
                assert found["qdd"] is found["operations"] is None
                continue
            assert found["operations"] == tape.flops, where
            want = np.asarray(kkt.eliminate(system, tape, format).qdd, float)
            if np.isfinite(want).all():
                assert np.array_equal(np.array(found["qdd"], float), want), where
                seen[format] += 1
    assert sum(seen.values()) > len(orders), seen


def built(spec):
    kind, _, seed = spec.partition(":")
    if kind == "hostile":
        return hostile_system(int(seed))
    return geared() if spec == "geared" else system_of(spec)


def shown(data, made):
    """An order as the page has it; its links become known to the page's data."""
    sequence, graph = made.sequence, made.graph
    data["structures"].setdefault(sequence.links, structure_of(graph.structure))
    usual = vars(kkt.Rules())
    return {
        "name": sequence.name,
        "links": sequence.links,
        "split": graph.split,
        "rules": {key: value for key, value in vars(sequence.rules).items() if value != usual[key]},
        "groups": groups_of(made),
    }


def groups_of(made):
    ends = np.flatnonzero(np.diff(made.group)) + 1
    return [group.tolist() for group in np.split(made.blocks, ends)]


@pytest.mark.parametrize(
    "rules", [{"couple": "carried"}, {"accumulate": "child_frame", "symmetry": "both triangles"}]
)
def test_switches_that_no_registered_order_has_give_the_engines_bits(rules):
    system = system_of("random_tree:n=8,seed=3")
    sequence = kkt.plan(orderings.get("abm"), system.structure).sequence
    mine = kkt.PivotSequence(sequence.groups, rules=kkt.Rules(**rules))
    data, want = document(system), kkt.eliminate(system, mine, "float32")
    order = shown(data, kkt.plan(mine, system.structure))
    ((found,),) = in_javascript("end", {"data": data, "orders": [order], "formats": ["float32"]})
    assert np.array_equal(found["qdd"], np.asarray(want.qdd, float)) and found["operations"] == want.flops
    plain = kkt.eliminate(system, orderings.get("abm"), "float32")
    assert not np.array_equal(found["qdd"], np.asarray(plain.qdd, float))


def test_a_joint_with_armature_can_be_clicked_first():
    system = geared()
    data = json.loads(json.dumps(explorer_data(system, "geared", ["abm"], ["float64"], story=False)))
    structure = system.structure
    joints = [[(kind, k)] for k in structure.tip_to_base for kind in ("qdd", "pdd", "f")]
    groups = [[int(b)] for b in kkt.plan(joints, structure).blocks]
    order = {"links": "whole", "split": False, "groups": groups}
    (found,) = replayed(data, [order], format="float64", labels=True)
    want = kkt.eliminate(system, joints)
    assert found["qdd"] == pytest.approx(want.qdd, rel=1e-9)
    assert [answer["refused"] for answer in found["answers"]] == [None] * len(joints)
    assert found["answers"][-1]["fill"] == want.fill
    shown = [text for row in found["cells"][0] for text in row if text.startswith("A_")]
    assert len(shown) == structure.n


@pytest.mark.parametrize("name", covering(["bfloat16", "float32", "p20", "p16", "tf32", "float16", "e5m2"]))
def test_rounding_is_the_formats_rounding(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000) * 10.0 ** rng.integers(-45, 39, 2000)
    half = 1.0 + np.arange(1, 2 * 64, 2) * 2.0**-9  # ties of bfloat16 among them
    x = np.concatenate([x, half, -half, half * 2.0**-24, [0.0, 65504.0, 65519.9, 65520.0, 6e-8, 3e-8]])
    texts = in_javascript("round", {"format": name, "numbers": x.tolist()})
    got = np.array([float(v.replace("Infinity", "inf")) for v in texts])
    with np.errstate(over="ignore"):
        want = get_format(name).cast(x).astype(float)
    assert np.array_equal(got, want)


# -- the scalar case: sliders on a line ---------------------------------------------------------------


def laws(masses):
    """Equation (4) of sliders on a line, tip first, from Newton's law and their joints alone.

    Unknowns as the page has them: kind * n + slider, kinds p (minus the acceleration), q and f.
    """
    n = len(masses)
    A = [[Fraction(0)] * (3 * n) for _ in range(3 * n)]
    for k, mass in enumerate(masses):
        p, q, f = k, n + k, 2 * n + k
        A[p][p] = Fraction(mass)
        A[p][f] = A[f][p] = A[q][f] = A[f][q] = Fraction(1)
        if k:  # base first: slider k rides on k - 1
            A[k - 1][f] = A[f][k - 1] = Fraction(-1)
    return A


def remaining(A, gone):
    """What Gauss leaves of a matrix once some unknowns are eliminated: A - B inv(D) B^T, exact."""
    A, gone = [row[:] for row in A], list(gone)
    while gone:
        rows, columns = gone, range(len(A))
        z, x = next((i, j) for i in rows for j in rows if A[i][j])
        pivot = A[z][:]  # row z loses unknown x, in every other row
        for i in range(len(A)):
            if i != z and A[i][x]:
                factor = A[i][x] / pivot[x]
                A[i] = [A[i][j] - factor * pivot[j] for j in columns]
        gone = [i for i in gone if i != x] if z == x else gone
        if z != x:  # exchange the rows, so that x's row is done
            A[z], A[x] = A[x], pivot
            gone = [i for i in gone if i != x]
    return A


def test_numbers_in_the_cells_are_those_of_fractions():
    """All six sequences of the brackets, CRBM, and single pivots, against exact elimination."""
    masses = (2, 3, 5)
    system = kkt.build(sliders(masses, (17, 11, 5)))
    names = ("abm", "crbm")
    data = along(carried(explorer_data(system, "sliders", names, ["float32"], story=False)))
    form = data["orders"][0]
    bodies = [[k, 3 + k, 6 + k] for k in range(3)]
    orders = [list(order) for order in permutations(bodies)]
    orders += [order["groups"] for order in data["orders"]]
    orders += [[[0], [1], [2], [6], [7], [8], [3], [4], [5]], [[1, 7], [4], [2, 8], [0, 6], [5, 3]]]
    asked = [{"data": data, "form": form, "groups": groups, "format": "float64"} for groups in orders]
    for groups, states in zip(orders, in_javascript("numbers", asked), strict=True):
        gone = []
        for members, cells in zip([[], *groups], states, strict=True):
            gone += members
            exact = remaining(laws(masses), gone)
            told = {(i, j): value for i, j, value in cells}
            for i in set(range(9)) - set(gone):
                for j in range(i, 9):
                    if j not in gone:
                        assert abs(told.pop((i, j), 0.0) - exact[i][j]) < 1e-14, (groups, gone, i, j)
            assert not told


# -- as sent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", covering(["chain:3", "geared", "stewart", "humanoid", "random_tree:n=30,seed=3"])
)
def test_the_page_has_the_engines_numbers_bit_by_bit(spec):
    """Entries as they were sent, and the blocks formed of them as those of the matrix."""
    system = system_of(spec) if spec != "geared" else geared()
    sent = document(system)
    read = in_javascript("read", sent)
    assert read["entries"] == sent["entries"]
    e, bodies = system.entries, range(system.tree.n)
    for letter in ("M", "Phi", "a", "b"):
        theirs = [
            (np.zeros(getattr(e, letter)[k].size) if x is None else x)
            for k, x in zip(bodies, read["blocks"][letter], strict=True)
        ]
        assert np.array_equal(theirs, getattr(e, letter).reshape(len(theirs), -1)), letter


TEX = (  # what the page typesets, as Python
    (r"\\(sin|cos)(\^\{\d\})?\\,(\S+?\})", r"\1(\3)\2"),
    (r"([A-Za-z]+)_\{@(\d),?(\w*)\}|(#\d,\d\d)", r"v['\1\2\3\4']"),
    (r"\^\{(\d)\}", r"**\1"),
    (r"(?<=[\w\])]) (?=[\w(])", "*"),
)


@pytest.mark.parametrize("order", ["abm", "crbm", "base_to_tip"])
def test_pivots_in_letters_are_those_of_the_matrix(order):
    """Each text, with the model's numbers for its letters, is what is left of (4) when its turn comes."""
    system, gone = system_of("chain:3"), []
    K, forms, starts = system.matrix.toarray(), Forms(system), system.starts
    numbered = replace(system, tree=replace(system.tree, names=(0, 1, 2)))
    v = {str(x).replace("_", ""): number for x, number in pt.in_letters(numbered).values.items()}
    v |= {"sin": math.sin, "cos": math.cos} | {f"q{k}": float(q) for k, q in enumerate(system.state.q)}
    told = forms.of(tuple(pivot.blocks for pivot in tape_of("chain:3", order).program.pivots))
    assert len(told) == (3 if order == "base_to_tip" else 6)
    for block, number in told.items():
        kind, body = divmod(block, 3)
        x = starts[kind][body] + np.arange(1 if kind else 6)
        left = K[np.ix_(x, x)] - K[np.ix_(x, gone)] @ np.linalg.solve(
            K[np.ix_(gone, gone)], K[np.ix_(gone, x)]
        )
        for i, j, text in forms.texts[number]:
            for old, new in TEX:
                text = re.sub(old, new, text)
            v[f"D{body}" if kind else f"#{body},{i}{j}"] = value = eval(text, {"v": v} | v)
            left[i - 1, j - 1] -= value
        assert np.allclose(np.triu(left), 0.0, atol=1e-13), block
        gone += [*x] if kind else [*x, *(starts[2][body] + np.arange(6))]


@pytest.mark.product
def test_an_answer_that_should_not_be_relied_on_says_so():
    """CRBM on a chain of 40 in float32 keeps fewer than half of the digits; ABM's float64 holds."""
    system = kkt.build(kkt.chain(40))
    proof = kkt.trace(system, orderings.get("abm"))

    def reference(name):
        return kkt.certify(system, 30, rounded_to=name, order=proof)

    crbm = kkt.trace(system, orderings.get("crbm"))
    far = measured(system, crbm, "float32", reference)
    assert far["error"] > 2.0**-12 and "fewer than half of its digits" in far["marked"]
    assert measured(system, proof, "float64", reference)["marked"] is None


def test_an_order_on_a_small_robot_is_measured_in_the_formats_that_were_asked_for():
    tree = kkt.chain(2)
    tree.graph["name"] = "example2"  # which it is not
    data = explorer_data(kkt.build(tree), "chain:2", ["abm"], ["float32"])
    (told,) = data["orders"]
    assert data["frames"]["names"] == ["Mass of j2 ×", "Angle of j2 +"]
    assert 0.0 < told["formats"]["float32"]["error"] < 1e-6 and told["blame"]["format"] == "float32"
