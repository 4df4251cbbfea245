"""Orders of a user's own, drawn brackets under all switches, and what is refused."""

import inspect
import json
import pickle
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest
from designs import listed
from helpers import bracketed, one_sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import spsolve
from strategies import SPLIT, WHOLE, brackets, trees

from pivotree import kkt, orderings
from pivotree.analysis import compare
from pivotree.analysis.cheapest.search import exported
from pivotree.analysis.counts import table
from pivotree.kkt.order.sequence import as_order, as_orders, as_sequence

# -- a user's order -----------------------------------------------------------------------------

FILE = """
from pivotree import orderings

@orderings.order("decorated", source="a notebook", rank_update="gain")
def mine(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]

def bare(structure):
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]
"""


@pytest.fixture
def three():
    return kkt.build(kkt.chain(3))


def test_bare_and_decorated_functions_are_abm(three, tmp_path):
    (tmp_path / "own.py").write_text(FILE)
    abm = kkt.eliminate(three, orderings.get("abm"))

    def local(structure):
        return bracketed(structure)

    for function in (local, orderings.get(f"{tmp_path}/own.py:bare"), bracketed(three.structure)):
        assert (kkt.eliminate(three, function).qdd == abm.qdd).all()
    assert kkt.eliminate(three, local).order == "local"
    decorated = orderings.get(f"{tmp_path}/own.py:mine")
    result = kkt.eliminate(three, decorated)
    assert result.order == "decorated" and decorated.source == "a notebook"
    assert decorated.rules.rank_update == "gain"
    assert kkt.certify(three, 20).error(result.qdd) <= 1e-14


def test_what_an_order_of_a_file_prints_goes_to_standard_error(three, tmp_path, capsys):
    """Also where it, or a group, is a generator, which runs after it was called."""
    whole = "  for k in structure.tip_to_base:\n    yield [*part(k)]"
    lazy = "  return [part(k) for k in structure.tip_to_base]"
    part = "def part(k):\n  print(k)\n  yield from [(kind, k) for kind in ('pdd', 'qdd', 'f')]\n"
    for body in (whole, lazy):
        start = f"print('loaded')\n{part}def mine(structure):\n"
        (tmp_path / "noisy.py").write_text(start + body)
        found = kkt.eliminate(three, f"{tmp_path / 'noisy.py'}:mine")
        assert np.array_equal(found.qdd, kkt.eliminate(three, "abm").qdd)
        out, err = capsys.readouterr()
        assert out == "" and err.split() == ["loaded", "j3", "j2", "j1"]


def test_orders_of_files_that_are_called_alike_are_told_apart(three, tmp_path):
    names = [f"{tmp_path / one}.py:bare" for one in "ab"]
    for one in "ab":
        (tmp_path / f"{one}.py").write_text(FILE)
    assert [order.name for order in as_orders([*names, "abm", "abm"])] == [*names, "abm", "abm"]
    assert [order.name for order in as_orders([names[0], "abm"])] == ["bare", "abm"]
    assert [row.order for row in table(names, ["planar"])] == names
    rows = compare(three, [*names, "crbm"], ["float32"]).rows
    assert [row.order for row in rows] == [*names, "crbm"] and rows[0].flops == rows[1].flops


def test_an_order_is_a_function_with_a_name(three):
    """It is pickled by its name, as a function is, and a function, a sequence and a list are orders, too."""
    abm = orderings.get("abm")
    assert pickle.loads(pickle.dumps(abm)) is abm
    assert (abm.__name__, abm.__module__) == ("abm", "pivotree.orderings.abm")
    assert inspect.signature(abm) == inspect.signature(abm.function)
    groups = abm(three.structure)
    sequence = kkt.PivotSequence(groups, "mine", "a notebook", kkt.Rules(rank_update="gain"))
    for one, name in ((abm, "abm"), (abm.function, "abm"), (sequence, "mine"), (groups, "order")):
        order = as_order(one)
        assert (order.name, order.problem) == (name, "qdd")
        assert list(as_sequence(order, three.structure).groups) == groups
    assert as_order(sequence).rules is sequence.rules
    with pytest.raises(FrozenInstanceError):
        abm.name = "other"


def test_a_json_list_of_groups_is_abm(three, tmp_path):
    """Blocks as pairs and as texts, side by side."""
    groups = [[["pdd", body], f"qdd:{body}", ["f", body]] for body in ("j3", "j2", "j1")]
    (tmp_path / "own.json").write_text(json.dumps(groups))
    result = kkt.eliminate(three, orderings.get(f"{tmp_path}/own.json"))
    assert (result.qdd == kkt.eliminate(three, orderings.get("abm")).qdd).all()
    assert result.order == "own" and [len(s.blocks) for s in result.steps] == [3, 3, 3]
    every = {"groups": groups, "rules": asdict(kkt.Rules())}
    (tmp_path / "own.json").write_text(json.dumps(every))
    assert orderings.get(f"{tmp_path}/own.json").rules == kkt.Rules()


def test_what_is_no_block_in_json_is_told(three, tmp_path):
    (tmp_path / "own.json").write_text('[[["pdd", "j1", "j2"]]]')
    with one_sentence(kkt.OrderError, "order 'own': step 1 holds"):
        kkt.eliminate(three, orderings.get(f"{tmp_path}/own.json"))


def test_json_finds_bodies_whose_names_are_numbers(tmp_path):
    system = kkt.build(kkt.example1())  # bodies 1 and 2
    groups = [[[kind, k] for kind in ("pdd", "qdd", "f")] for k in ("1", 2)]
    (tmp_path / "numbers.json").write_text(json.dumps(groups))
    result = kkt.eliminate(system, orderings.get(f"{tmp_path}/numbers.json"))
    assert kkt.certify(system, 20).error(result.qdd) <= 1e-12


@pytest.mark.product
@pytest.mark.parametrize(
    "name,text,message",
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "3", "holds no list of groups"),
        ("a.json", '{"groups": [], "rules": {"copule": "x"}}', "rules are"),
        ("a.json", '{"groups": [], "rules": {"couple": "x"}}', "switch 'couple'"),
        ("a.json", '{"groups": [], "links": [3]}', r"links are \[3\]"),
        ("a.json", '{"groups": [], "composites": "ten"}', "composites is 'ten'; use counted or"),
        ("a.json", '{"groups": [], "link": {}}', "holds 'link'; write 'links'"),
        ("missing.json", None, "No such file or directory"),
        ("a.py:f", None, "No such file or directory"),
        ("a.py:f", "def g(structure): return []\ndef _h(): pass", "has no function 'f'; it has g$"),
        ("a.py:f", "def f(:", "raises SyntaxError"),
        ("a.py:f", "raise RuntimeError('no')", r"raises RuntimeError: no \(a.py, line 1\)"),
    ],
)
def test_files_that_hold_no_order(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name.partition(":")[0]).write_text(text)
    with one_sentence(kkt.OrderError, message):
        orderings.get(f"{tmp_path}/{name}")


# -- refusals -----------------------------------------------------------------------------------


def pivots(*names):
    """'pdd1 f1, qdd1' as groups on the bodies j1, j2 of a chain."""
    return [
        [(b.rstrip("0123456789"), "j" + b[-1]) for b in group.split()]
        for text in names
        for group in text.split(",")
    ]


ALL2 = "pdd2 qdd2 f2"
REFUSED = [
    (
        "qdd first",
        ["qdd2", "pdd2 f2", "pdd1 qdd1 f1"],
        r"pivot qdd_j2 at step 1 is structurally zero; eliminate pdd_j2 and f_j2 first, or bracket",
    ),
    (
        "f first",
        [ALL2, "f1", "pdd1", "qdd1"],
        r"pivot f_j1 at step 2 is structurally zero; eliminate pdd_j1 first, or bracket the two",
    ),
    (
        "fC alone",
        ["fC2", "pdd2", "qdd2 fJ2", "pdd1", "qdd1 fJ1", "fC1"],
        r"pivot fC_j2 at step 1 is structurally zero; eliminate pdd_j2 first",
    ),
    ("left out", [ALL2, "pdd1 f1"], r"leaves out qdd_j1; name every block once"),
    ("much left out", [ALL2], r"leaves out .*_j1 and 2 more"),
    ("twice", [ALL2, "pdd1 qdd1 f1", "f2"], r"eliminates f_j2 twice, again at step 3"),
    ("twice in one", [ALL2 + " pdd2", "pdd1 qdd1 f1"], r"eliminates pdd_j2 twice, again at step 1"),
    ("unknown body", [ALL2, "pdd1 qdd1 f3"], r"step 2 names the unknown body 'j3'"),
    ("unknown kind", [ALL2, "pdd1 qdd1 force1"], r"step 2 names kind 'force'; use pdd, qdd, f"),
    ("both kinds of force", [ALL2, "pdd1", "qdd1 fJ1", "fC1"], r"names f_j2 beside split forces"),
]


@pytest.mark.parametrize("groups,message", [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refusals_name_block_step_and_remedy(groups, message):
    system = kkt.build(kkt.chain(2))
    with one_sentence(kkt.OrderError, message, start="order 'order': "):
        kkt.eliminate(system, pivots(*groups))


def test_a_singular_pivot_is_refused_by_its_rank():
    """With body 1 gone, the joint of body 1 is all that moves: f_2 sees a compliance of rank 1.

    Base to tip, f_2 before its pdd_2: nonzero as a block, so that counting zeros finds nothing.
    """
    system = kkt.build(kkt.chain(2))
    groups = pivots("pdd1 f1", "qdd1", "f2", "pdd2", "qdd2")
    with pytest.raises(kkt.OrderError) as refusal:
        kkt.eliminate(system, groups)
    text = str(refusal.value)
    assert "pivot f_j2 at step 3 is structurally singular (rank 1 of 6)" in text
    assert "since pdd_j2 comes after it; use an order that pairs the two" in text and "\n" not in text
    # and the remedy helps
    mended = pivots("pdd1 f1", "qdd1", "pdd2", "f2", "qdd2")
    error = kkt.certify(system, 20).error(kkt.eliminate(system, mended).qdd)
    assert error is not None and error <= 1e-12


@pytest.mark.parametrize(
    "order,message",
    [
        (lambda s: None, "returns NoneType; give a list"),
        (lambda s: [[], 3], "step 2 is 3; give a list of groups"),
        ([["pdd"]], "a block is a pair"),
        ([("pdd", 1)], "and a step a list of blocks"),
    ],
)
def test_what_is_no_order(order, message):
    with pytest.raises(kkt.OrderError, match=message):
        kkt.eliminate(kkt.build(kkt.chain(2)), order)
    with pytest.raises(kkt.OrderError, match=message):
        kkt.plan(order, kkt.build(kkt.chain(2)).structure)


# -- random brackets and switches ---------------------------------------------------------------

SWITCHES = {
    "couple": ("inverse", "carried"),
    "assembly": ("multifrontal", "right_looking"),
    "accumulate": ("assembled", "unassembled", "projected"),
    "rank_update": ("outer", "gain", "joseph"),
    "symmetry": ("mirrored", "both triangles"),
}


@pytest.mark.product
@pytest.mark.parametrize("stages", [WHOLE, SPLIT], ids=["whole", "split"])
@given(data=st.data())
@settings(max_examples=20)
def test_any_brackets_under_any_switches(stages, data):
    """Whatever the bracket and the switches, the answer is scipy's; only its rounding differs."""
    system = kkt.build(data.draw(trees(joints="revolute")))
    x = spsolve(system.matrix, system.rhs)
    exact = np.concatenate([x[system.blocks["qdd", b]] for b in system.tree.names])
    groups = data.draw(brackets(system.tree.names, stages))
    rules = data.draw(st.builds(kkt.Rules, **{k: st.sampled_from(v) for k, v in SWITCHES.items()}))
    result = kkt.eliminate(system, kkt.PivotSequence(groups, rules=rules))
    assert result.failed_at is None
    assert np.abs(result.qdd - exact).max() <= 1e-8 * np.abs(exact).max()


@pytest.mark.product
@given(data=st.data())
@settings(max_examples=20)
def test_an_order_written_as_json_is_read_as_it_was(tmp_path_factory, data):
    structure = kkt.build(data.draw(trees(4))).structure
    stages = data.draw(st.sampled_from([WHOLE, SPLIT]))
    groups = data.draw(brackets(structure.names, stages))
    rules = data.draw(st.builds(kkt.Rules, **{k: st.sampled_from(v) for k, v in SWITCHES.items()}))
    links = "split" if stages is SPLIT else "whole"
    sequence = kkt.PivotSequence(groups, name="drawn", links=links, rules=rules)
    path = tmp_path_factory.getbasetemp() / "drawn.json"
    path.write_text(json.dumps(exported(sequence)))
    read = kkt.plan(orderings.get(str(path)), structure)
    assert read.sequence.groups == kkt.plan(sequence, structure).sequence.groups
    assert (read.sequence.rules, read.sequence.links) == (rules, links)


@pytest.mark.parametrize(("links", "rank_update"), listed([(2, "outer"), (3, "gain"), (6, "outer")]))
def test_dense_blocks_of_every_size(links, rank_update):
    """14 to 42 rows in one dense pivot, with entries 0 and 1: small and large ones are alike."""
    system = kkt.build(kkt.chain(links))
    bodies = system.structure.tip_to_base
    groups = [[("pdd", k) for k in bodies], [("f", k) for k in bodies] + [("qdd", k) for k in bodies]]
    order = kkt.PivotSequence(groups, rules=kkt.Rules(rank_update=rank_update))
    dense = np.linalg.solve(system.matrix.toarray(), system.rhs)
    exact = np.concatenate([dense[system.blocks["qdd", k]] for k in system.tree.names])
    np.testing.assert_allclose(kkt.eliminate(system, order).qdd, exact, rtol=1e-9)
