"""The lessons run, their checks tell right from wrong, and their pages are not stale."""

import contextlib
import importlib.util
import io
import re
import sys

import numpy as np
import pytest
from helpers import ROOT
from matplotlib.figure import Figure

from pivotree import kkt, orderings
from pivotree.kkt.model.robot_data import robots_folder

LESSONS = ROOT / "docs" / "lessons"
STEMS = [path.stem for path in sorted(LESSONS.glob("[1-9]_*.py"))]


@pytest.fixture(scope="module", autouse=True)
def beside():
    """Modules beside the lessons, under names of their own: other folders have a make.py too."""
    before = {name: sys.modules.pop(name, None) for name in ("make", "notebooks", "runner", "key")}
    sys.path.insert(0, str(LESSONS))
    yield
    sys.path.remove(str(LESSONS))
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


def load(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, LESSONS / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="module")
def ran(beside):
    """Every lesson's cells, run once, without marimo."""
    runner = load("runner")
    return {path.stem: runner.run(path) for path in runner.LESSONS}


@pytest.fixture(scope="module")
def key(beside):
    return {answer.number: answer for answer in load("key").key()}


def body(k):
    return [("pdd", k), ("qdd", k), ("f", k)]


def test_there_are_six_lessons_and_the_list_names_them():
    assert [stem[0] for stem in STEMS] == list("123456")
    listed = (LESSONS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\((\d_\w+)\.md\)", listed) == STEMS
    assert "docs/lessons/README.md" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.parametrize("stem", STEMS)
def test_a_lesson_runs_and_has_pictures_and_exercises(ran, stem):
    checks = sys.modules["checks"]
    outputs = [cell.output for cell in ran[stem]]
    assert sum(isinstance(output, Figure) for output in outputs) >= 2
    # the class of the module that the lesson imported
    unanswered = [o for o in outputs if isinstance(o, checks.Verdict)]
    assert len(unanswered) >= 3 and all(o.right is None for o in unanswered)
    assert not any("Error" in cell.printed for cell in ran[stem])


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_a_page_is_what_its_lesson_says(ran, stem):
    make = load("make")
    fresh = make.page(LESSONS / f"{stem}.py", ran[stem])
    committed = (LESSONS / f"{stem}.md").read_text(encoding="utf-8")
    assert fresh == committed, f"{stem}.md is stale; run make lessons"
    for picture in re.findall(r'(?:src|srcset)="([^"]+)"', committed):
        assert (LESSONS / picture).stat().st_size < 100_000


@pytest.mark.slow
@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_is_what_its_lesson_says(ran, stem):
    """It is valid, current, and prints in plain Python what the lesson prints."""
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    file = LESSONS / f"{stem}.ipynb"
    fresh = load("notebooks").notebook(LESSONS / f"{stem}.py", ran[stem])
    assert fresh == file.read_text(encoding="utf-8"), f"{file.name} is stale; run make lessons"
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert notebook.nbformat_minor == 5 and notebook.cells[0].source.startswith("# Lesson ")
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert "marimo" not in code and "mo." not in code and ".value" not in code
    assert "pictures/" not in fresh and not any(cell.get("outputs") for cell in notebook.cells)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, file.name, "exec"), {"__name__": stem})
    assert printed.getvalue() == "".join(cell.printed for cell in ran[stem])


@pytest.mark.peers
@pytest.mark.parametrize("stem", STEMS)
def test_a_notebook_runs_in_jupyter(stem):
    nbclient = pytest.importorskip("nbclient", reason="Jupyter is not installed")
    pytest.importorskip("ipykernel", reason="Jupyter is not installed")
    import nbformat

    notebook = nbformat.read(LESSONS / f"{stem}.ipynb", as_version=4)
    at = {"metadata": {"path": LESSONS}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=at).execute()
    shown = [out for cell in notebook.cells for out in cell.get("outputs", ()) if "data" in out]
    kinds = [kind for out in shown for kind in out.data]
    assert kinds.count("image/png") >= 2 and kinds.count("text/markdown") >= 3
    assert kinds.count("text/html") == 1  # the explorer


def _current(name):
    """What a notebook prints.  Its page and .ipynb say so, but for digits that a processor sets.

    And but for what MJX does, where it is installed.
    """
    file = LESSONS / f"{name}.py"
    cells = load("runner").run(file)
    page, committed = load("make").page(file, cells), file.with_suffix(".md").read_text("utf-8")
    told = r"\d+ derivatives: off by \d\.\d(?: mm; compiled in \d+ s, a Jacobian in \d+ ms)?"
    mjx = r"(?:to_jax: .*\n)?MJX(?::  | is not installed).*"
    number = re.compile(rf"{mjx}|\d(?:\.\d)?e-\d\d|{told}")
    assert number.sub("", page) == number.sub("", committed), f"run docs/lessons/make.py {name}"
    assert load("notebooks").notebook(file, cells) == file.with_suffix(".ipynb").read_text("utf-8")
    return "".join(cell.printed for cell in cells)


@pytest.mark.peers
def test_an_arm_swings_up_by_gradients_and_its_page_says_so(beside):
    pytest.importorskip("jax", reason="jax is an extra: pip install -e '.[jax]'")
    printed = _current("swing_up")
    end = re.search(r"off upright by (\S+), turning at (\S+) rad/s", printed)
    assert float(end[1]) < 0.03 and float(end[2]) < 0.2
    assert float(re.search(r"gradient and difference quotient: (\S+) apart", printed)[1]) < 1e-6


@pytest.mark.peers
def test_pandas_hand_reaches_a_point_by_gradients_and_its_page_says_so(beside):
    pytest.importorskip("jax", reason="jax is an extra: pip install -e '.[jax]'")
    if not robots_folder():
        pytest.skip("robots are an extra: pip install -e '.[robots]'")
    printed = _current("reach")
    end = re.search(r"off by (\S+) mm; .*\nthe joints turn at (\S+) rad/s", printed)
    assert float(end[1]) < 2 and float(end[2]) < 0.02
    mjx = re.search(r"^MJX: .* off by (\S+) mm; |^(MJX is not installed: .*)$", printed, re.M)
    assert mjx and (mjx[2] or float(mjx[1]) < 2)
    assert float(re.search(r"difference quotients: (\S+) apart", printed)[1]) < 1e-6


@pytest.mark.slow
def test_the_answers_are_not_stale():
    committed = (LESSONS / "answers.md").read_text(encoding="utf-8")
    assert load("key").answers() == committed, "answers.md is stale; run make lessons"


@pytest.mark.thorough
def test_no_picture_is_left_over_and_all_are_small():
    pages = [*STEMS, "swing_up", "reach"]
    named = "".join((LESSONS / f"{stem}.md").read_text(encoding="utf-8") for stem in pages)
    files = list((LESSONS / "pictures").iterdir())
    assert all(f"pictures/{path.name}" in named for path in files) and len(files) >= 24
    assert sum(path.stat().st_size for path in LESSONS.rglob("*") if path.is_file()) < 3_000_000


@pytest.mark.thorough
def test_every_exercise_has_an_answer_that_its_check_accepts(ran, key):
    asked = [
        m
        for cells in ran.values()
        for c in cells
        if type(c.output).__name__ == "Text"
        for m in re.findall(r"\*\*(\d\.\d)\*\*", c.output.text)
    ]
    assert asked == list(dict.fromkeys(number[:3] for number in key))
    for number, answer in key.items():
        verdict = answer.verdict()
        assert verdict.right is True, f"{number}: {verdict}"


@pytest.mark.thorough
def test_answers_are_not_in_the_notebooks(key):
    for number, answer in key.items():
        source = (LESSONS / f"{STEMS[int(number[0]) - 1]}.py").read_text(encoding="utf-8")
        value = answer.source.strip()
        assert len(value) < 4 or value not in source or value.startswith('"'), number
        assert f"{answer.check.__name__}({value})" not in source


def heavier(structure):
    """ABM's brackets, base first."""
    return [body(k) for k in structure.base_to_tip]


def crbm(structure):
    return orderings.get("crbm")(structure)


def abm(structure):
    return orderings.get("abm")(structure)


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
    ("3.3", 8, "on 7 links as well"),
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
    ("6.3", abm, "abm takes 4,130"),
    ("6.3", crbm, "It takes 4,900 operations"),
    ("6.3", 12, "return a list of groups"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("number, wrong, said", WRONG)
def test_wrong_answers_are_told_why(key, number, wrong, said):
    answer = key[number]
    verdict = answer.check(*answer.first, wrong)
    assert verdict.right is False and said in verdict.sentence, verdict
    assert str(verdict).startswith("**Not yet.** ") and verdict.sentence.endswith(".")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "number, other",
    [
        ("3.1", [body("j3"), body("j2"), body("j1")]),
        ("4.3", 30),
        ("6.1", [body("j1"), body("j2")]),
        ("5.2", "divide_and_conquer"),
        (
            "6.1",
            [[("pdd", "j2"), ("f", "j2")], [("qdd", "j2")], [("pdd", "j1"), ("f", "j1")], [("qdd", "j1")]],
        ),
    ],
)
def test_other_answers_that_are_right(key, number, other):
    assert key[number].check(other).right is True


@pytest.mark.thorough
def test_no_answer_is_asked_for(key):
    for answer in key.values():
        verdict = answer.check(*answer.first, None)
        assert verdict.right is None and "In the place of None, give " in verdict.sentence


@pytest.mark.thorough
def test_truths_by_other_ways(beside):
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


def test_what_the_prose_of_lesson_4_says_of_crbm(beside):
    """With m_1 = 1e7 right at some angles, off by a half at others; and (11) right at 0 and 45."""

    def error(order, m1, angle):
        system = kkt.build(kkt.example3(m1, 2, angle))
        result = kkt.eliminate(system, orderings.get(order), "float32")
        return kkt.certify(system, 20, rounded_to="float32").error(result.qdd)

    assert error("crbm", 1e7, 20) < 1e-6 and 0.4 < error("crbm", 1e7, 45) < 0.6
    assert error("modified_abm", 1e8, 0) < 1e-7 and error("modified_abm", 1e8, 45) < 1e-7


def test_the_runner_refuses_what_marimo_would(tmp_path):
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
@pytest.mark.parametrize("stem", STEMS)
def test_a_lesson_runs_in_marimo(stem):
    pytest.importorskip("marimo", reason="marimo is an extra: pip install -e '.[lessons]'")
    spec = importlib.util.spec_from_file_location(f"lesson_{stem}", LESSONS / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, _ = module.app.run()
    assert sum(isinstance(output, Figure) for output in outputs) >= 2
