"""The lessons' checks tell right from wrong; their runner is marimo's.

That lessons run, and that pages, notebooks and answers are what they say, is asked by ``make docs-check``.
"""

import importlib.util

import numpy as np
import pytest
from helpers import ROOT
from matplotlib.figure import Figure

from pivotree import kkt, orderings

pytestmark = pytest.mark.docs
FOLDER = ROOT / "docs" / "lessons"
STEMS = [path.stem for path in sorted(FOLDER.glob("[1-9]_*.py"))]


@pytest.fixture(scope="module")
def key(load):
    return {answer.number: answer for answer in load("key").key()}


def body(k):
    return [("pdd", k), ("qdd", k), ("f", k)]


def heavier(structure):
    """ABM's brackets, base first."""
    return [body(k) for k in structure.base_to_tip]


def abm(structure):
    return orderings.get("abm")(structure)


def crbm(structure):
    return orderings.get("crbm")(structure)


def forgetful(structure):
    return abm(structure)[1:]


WRONG = [
    ("1.1", 540, "each freedom has a row as well"),
    ("1.1", 585, "look at the root's joint"),
    ("1.1", 12, "12 rows a body and one a freedom"),
    ("1.1", "many", "is not 12 rows a body"),
    ("1.2", [("pdd", "j1"), ("qdd", "j1")], "zeros at qdd_j1"),
    ("1.2", [("pdd", "j1"), ("f", "j1")], "3 more of its blocks"),
    ("1.2", 5, "is not what is asked for"),
    ("1.3", {1: 4, 2: 5, 3: 4, 4: 6, 5: 6}, "1 wrong; look down the column f_3"),
    ("1.3", [4, 5, 5, 6, 6], "is not what is asked for"),
    ("2.1", [("f", "j3"), ("qdd", "j3")], "met before"),
    ("2.1", [("qdd", "j3"), ("qdd", "j1")], "do not both meet the pivots"),
    ("2.2", 66, "Each pair makes two blocks"),
    ("2.2", 100, "more than 100"),
    ("2.3", crbm, "CRBM fills 20 already"),
    ("2.3", abm, "Start with CRBM's brackets"),
    ("2.3", forgetful, "The engine refuses it: order 'forgetful': leaves out"),
    ("3.1", [body("j1"), body("j2"), body("j3")], "before what hangs on it"),
    ("3.1", [body("j2"), body("j1"), body("j3")], "before what hangs on it"),
    ("3.1", [[*body("j2"), *body("j3")], body("j1")], "one bracket for each body"),
    ("3.1", [body("j2"), body("j1")], "The engine refuses it"),
    ("3.2", 13, "one triangle"),
    ("3.2", 64, "fewer than 64"),
    ("3.3", 4, "CRBM needs no more operations"),
    ("3.3", 13, "on 12 links as well"),
    ("3.3", 4000, "a short chain"),
    ("4.1", 8, "something is left"),
    ("4.1", 17, "with 1e16 already"),
    ("4.1", -1, "between 0 and 30"),
    ("4.2", [("qdd", 2)], "There the zero shows"),
    ("4.2", [("pdd", 1), ("f", 1)], "another bracket"),
    ("4.3", 45, "it survives"),
    ("4.3", 0.0, "it survives"),
    ("4.3", 120, "between 0 and 90"),
    ("5.1, first", "lagrange", "another bracket at step 2"),
    ("5.1, second", "abm", "another bracket at step 1"),
    ("5.1, third", "crmb", "The engine refuses it: order 'crmb' is unknown; nearest: crbm"),
    ("5.2", "abm", "has height 93"),
    ("5.3", 255, "halves go side by side"),
    ("5.3", 8, "more than 8"),
    ("6.1", [[("qdd", "j2")], body("j1"), [("pdd", "j2"), ("f", "j2")]], "structurally zero"),
    ("6.1", [[(kind, k)] for kind in ("pdd", "f", "qdd") for k in ("j2", "j1")], "1 can be had"),
    ("6.2", abm, "Its height is 45"),
    ("6.2", heavier, "Its height is 31"),
    ("6.2", lambda s: orderings.get("divide_and_conquer")(s), "79 blocks, not 28"),
    ("6.3", abm, "abm takes 4,056"),
    ("6.3", crbm, "It takes 4,315 operations"),
    ("6.3", 12, "give a list of groups"),
]


@pytest.mark.parametrize("number, wrong, said", WRONG)
def test_a_wrong_answer_is_told_why(key, number, wrong, said):
    answer = key[number]
    verdict = answer.check(*answer.first, wrong)
    assert verdict.right is False and said in verdict.sentence, verdict
    assert str(verdict).startswith("**Not yet.** ") and verdict.sentence.endswith(".")


def test_no_answer_is_asked_for_and_none_stands_in_a_notebook(key):
    assert {number[0] for number in key} >= {str(i + 1) for i in range(len(STEMS) - 1)}
    for number, answer in key.items():
        verdict = answer.check(*answer.first, None)
        assert verdict.right is None and "In the place of None, give " in verdict.sentence
        source = (FOLDER / f"{STEMS[int(number[0]) - 1]}.py").read_text(encoding="utf-8")
        value = answer.source.strip()
        assert len(value) < 4 or value not in source or value.startswith('"'), number
        assert f"{answer.check.__name__}({value})" not in source


OTHERS = [
    ("3.1", [body("j3"), body("j2"), body("j1")]),
    ("4.3", 30),
    ("6.1", [body("j1"), body("j2")]),
    ("5.2", "divide_and_conquer"),
    ("6.1", [[("pdd", "j2"), ("f", "j2")], [("qdd", "j2")], [("pdd", "j1"), ("f", "j1")], [("qdd", "j1")]]),
]


def test_other_answers_are_right_too(key):
    assert [number for number, other in OTHERS if key[number].check(other).right is not True] == []


def test_truths_by_other_ways(load):
    """Numbers of the key counted without the engine's symbolic factor."""
    checks = load("checks")
    inertia = kkt.build(checks.branched())
    up = inertia.tree.parent.tolist()
    carries = np.zeros((8, 8), dtype=bool)
    for k in range(8):
        j = k
        while j >= 0:
            carries[j, k] = carries[k, j] = True
            j = up[j]
    assert checks.inertia_zeros(int((~carries).sum())).right
    assert checks.least_power(min(k for k in range(30) if 10.0**k + 1.0 == 10.0**k)).right
    assert checks.crbm_fill(12, 12 * 11).right
    three = [checks.factor(order, kkt.chain(3)).fill_blocks for order in (abm, heavier)]
    assert three[0] < three[1]  # base first fills more on three bodies, and not on two
    assert kkt.build(checks.mystery()).structure.tip_to_base == [1, 2, 3, 4, 5, 6]


def test_the_runner_refuses_what_marimo_would(load, tmp_path):
    runner = load("runner")
    head = "import marimo\napp = marimo.App()\n"
    cell = "@app.cell\ndef _({0}):\n    {1}\n    return ({2},)\n"
    early = tmp_path / "early.py"
    early.write_text(head + cell.format("x", "y = x", "y") + cell.format("", "x = 1", "x"))
    with pytest.raises(ValueError, match=r"early.py, line 4: 'x' comes from no earlier cell"):
        runner.run(early)
    twice = tmp_path / "twice.py"
    twice.write_text(head + cell.format("", "x = 1", "x") * 2)
    with pytest.raises(ValueError, match="'x' is defined twice"):
        runner.run(twice)


@pytest.mark.peers
@pytest.mark.parametrize("stem", [STEMS[0], *(pytest.param(x, marks=pytest.mark.soak) for x in STEMS[1:])])
def test_a_lesson_runs_in_marimo(stem, monkeypatch):
    pytest.importorskip("marimo", reason="marimo is an extra: pip install -e '.[lessons]'")
    monkeypatch.syspath_prepend(FOLDER)  # as a notebook's own folder is
    spec = importlib.util.spec_from_file_location(f"lesson_{stem}", FOLDER / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, _ = module.app.run()
    assert any(isinstance(output, Figure) for output in outputs)
