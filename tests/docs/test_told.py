"""Numbers in the sentences of slides, lessons, scenes and the exam, computed here and read off them.

Sentences are not kept: a number is found by the words around it, on the page where it stands.  What a
cell of a lesson prints, and {{...}} on a slide, is computed where it stands already.
"""

import itertools
import math
import re

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.explorer.data import sliders
from pivotree.analysis.symbols import ASCHER

pytestmark = pytest.mark.docs
FOLDER = ROOT / "docs" / "slides"
PAGES = {"exam": "docs/slides/exam.md", "lecture": "docs/slides/lecture.md", "explorer": "docs/explorer.md"}
PAGES |= {"play": "docs/play.md", "index": "docs/index.md", "story": "analysis/explorer/static/scenes.mjs"}
PAGES |= {
    f"lesson {path.stem[0]}": f"docs/lessons/{path.name}" for path in FOLDER.parent.glob("lessons/[1-6]_*.py")
}
WORDS = {"no": 0, "none": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
NUMBER = rf"(\d[\d,]*\.?\d*|{'|'.join(WORDS)})"

# A page, words on it with # for each number, and what the numbers are, by docs/slides/facts.py.
TOLD = """
exam | > #: each body has # accelerations, # forces | unknowns("chain:7"), 6, 6
exam | > CRBM # = n (n | fill("crbm", "chain:12")
exam | ABM # = n − 1 | fill("abm", "chain:12")
exam | Two trees have # bodies | system("binary:3").tree.n
exam | CRBM fills # blocks on the chain and # on | fill("crbm", "chain:15"), fill("crbm", "binary:3")
exam | ABM fills # on both | *{fill("abm", "chain:15"), fill("abm", "binary:3")}
exam | From # on, and from # where composites are whole | crossing(), crossing("general")
exam | = #, since a sum keeps # bits. ABM forms 1 | pivot("crbm"), 24
exam | the condition number of q̈ is # | float(kappa("chain:100"))
exam | may cost # of float32's # digits | forced("chain:100"), SINGLE
exam | CRBM loses more than # besides | int(SINGLE - kept("crbm", "chain:100") - forced("chain:100"))
exam | ABM keeps # digits of the same data | int(kept("abm", "chain:100"))
exam | after CRBM or ABM, # digits are kept | round(min(float(soft_digits(o, 1e-8)) for o in ("crbm", "abm")))
lecture | slides on one of # kg. What does the base's joint feel? # kg | light(), pivot("abm")
lesson 3 | make ABM the cheaper one from # links on | crossing("general")
lesson 4 | a number has # bits (float32) or # (float64) | 24, 53
lesson 4 | CRBM keeps # or # digits of # at most angles | *at_most_angles("crbm"), int(SINGLE)
lesson 4 | equation (11) is right to # digits | int(min(kept("modified_abm", m) for m in TURNED))
explorer | chain:3 takes # by CRBM and # by ABM | cost(list_of("crbm")), cost(list_of("abm"))
explorer | one order keeps # digits and the other # | int(kept("abm", TWO)), int(kept("crbm", TWO))
story | # sequences are possible. # of them is | len(costs()), costs().count(cost(list_of("abm")))
story | In float32 a number has # digits | int(SINGLE)
story | A light slider of # kg, and on it one of # tonnes | light(), heavy() / 1000
"""
TOLD = [[part.strip() for part in line.split(" | ")] for line in TOLD.strip().splitlines()]
# Results that a sentence may tell; each of them on these pages stands above.
RESULT = re.compile(
    rf"\b{NUMBER} (?:blocks? of fill|filled blocks?|operations|digits)\b"
    r"|\b(?:CRBM|ABM) (?:fills |takes |keeps )?(\d[\d,.]*\b)"
)
TWO, SINGLE = "example2:1e8", -math.log10(2.0**-24)
TURNED = ("example3:m1=1e8,case=1", "example3:m1=1e8,case=2")


def page(name):
    """The text of a page in one line, without what it computes itself."""
    text = (ROOT / PAGES[name]).read_text(encoding="utf-8")
    return " ".join(re.sub(r"\{\{.*?\}\}", "{{}}", re.sub(r"^ *>", " >", text, flags=re.M)).split())


def place(name, words):
    """Where words with numbers stand on a page; a line of a quotation begins with >."""
    pattern = r"\s*(?:> )?".join(
        NUMBER if x == "#" else re.escape(x) for x in re.findall(r"#|[^\s#]+", words)
    )
    found = re.search(pattern, page(name), re.I)
    assert found, f"{PAGES[name]} no longer says {words!r}"
    return found


@pytest.fixture(scope="module")
def facts(load):
    """Names that expressions may have: those of docs/slides/facts.py, and a few more."""
    known = vars(load("facts"))
    system = known["system"]

    def cost(groups):
        return kkt.trace(system("chain:3"), groups).flops

    def at_most_angles(order):
        """Digits of the base joint on four of five angles of Example 1: the least, and the most."""
        arm = system("example1")
        tape, base, digits = kkt.trace(arm, orderings.get(order)), arm.tree.names.index(2), []
        for angle in np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False):
            state = arm.refresh(q=[0.0, angle])
            exact = float(kkt.certify(state, 20, rounded_to="float32").qdd[base])
            off = float(kkt.eliminate(state, tape, "float32", records=False).qdd[base]) / exact - 1
            digits.append(-math.log10(abs(off) + 1e-12))
        return [math.floor(x) for x in np.percentile(digits, [10, 90])]

    return known | {
        "TWO": TWO,
        "SINGLE": SINGLE,
        "TURNED": TURNED,
        "cost": cost,
        "at_most_angles": at_most_angles,
        "list_of": orderings.get,
        "costs": lambda: [cost([*map(bracket, s)]) for s in itertools.permutations(("j1", "j2", "j3"))],
        "kept": lambda order, model: float(known["digits"](order, model)),
        "forced": lambda model: math.log10(float(known["kappa"](model))),
        "light": lambda: min(system(TWO).tree.mass),
        "heavy": lambda: max(system(TWO).tree.mass),
        "pivot": lambda order: last_pivot(system(TWO), order),
    }


def bracket(body):
    return [(kind, body) for kind in ("pdd", "qdd", "f")]


def last_pivot(system, order):
    """Of the base's joint in float32; 0 where the order is refused for it."""
    steps = kkt.eliminate(system, orderings.get(order), "float32").steps
    return float(next(step for step in steps if ("qdd", 2) in step.blocks).pivots[-1])


@pytest.mark.parametrize("model", ["chain:10", "chain:100", "robot:ur5"])
def test_slides_exam_and_lessons_count_as_the_engine_does(facts, check, model):
    with check.beside(FOLDER.parent / "lessons") as load:
        for order in ("crbm", "abm"):
            count = kkt.trace(kkt.build(kkt.load(model)), orderings.get(order)).flops
            assert facts["flops"](order, model) == f"{count:,}"
            assert load("checks").operations(order, kkt.load(model)) == count


@pytest.mark.parametrize("minutes", [45, 90])
def test_a_lecture_takes_the_time_that_its_notes_say(minutes):
    """Every slide has a note, and a number of minutes."""
    slides = re.split(r"^---$", (ROOT / PAGES["lecture"]).read_text(encoding="utf-8"), flags=re.M)
    shown = [text for text in slides if minutes == 90 or not text.strip().startswith("<!-- 90 -->")]
    notes = [re.findall(r"^<!-- note (\d+): .+ -->$", text, re.M) for text in shown]
    assert all(len(found) == 1 for found in notes)
    assert sum(int(found[0]) for found in notes) == minutes


# What says the sign of p, and on which page, once.
SIGN = {
    "README.md": r"minus its\s+acceleration",
    "docs/lessons/1_matrix.py": r"minus the body's acceleration",
    PAGES["lecture"]: r"\{\{what\(\"pdd\"\)\}\}",
    PAGES["story"]: r"unknowns: \{pdd=\}",
}


@pytest.mark.parametrize("place", SIGN)
def test_the_sign_of_p_is_said_once_and_is_that_of_the_matrix(place):
    """Newton's accelerations of three sliders, against (4) solved by numpy."""
    masses, efforts = np.array([2.0, 3.0, 5.0]), np.array([17.0, 11.0, 5.0])
    newton = (efforts - np.append(efforts[1:], 0.0)) / masses  # base first; no slider presses on the last
    system = kkt.build(sliders(masses, efforts))
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    assert np.allclose(x[5:18:6], -newton) and ASCHER["pdd"].what.startswith("minus")
    assert len(re.findall(SIGN[place], (ROOT / place).read_text(encoding="utf-8"))) == 1


def value(text):
    return WORDS[text.lower()] if text.lower() in WORDS else float(text.replace(",", ""))


@pytest.mark.parametrize("name, words, told_by", TOLD, ids=[f"{name}: {words}" for name, words, _ in TOLD])
def test_a_number_that_is_told_is_what_the_engine_finds(facts, name, words, told_by):
    told, found = place(name, words).groups(), eval(f"[{told_by}]", facts)
    decimals = [len(text.partition(".")[2]) for text in told]
    assert [*map(value, told)] == [round(x, n) for x, n in zip(found, decimals, strict=True)]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "index"])
def test_no_result_is_told_that_nothing_computes(name):
    """The figures of docs/index.md are those of the study, and tests/evidence.toml says who holds them."""
    text = page(name)
    held = [place(on, words).span() for on, words, _ in TOLD if on == name]
    for found in RESULT.finditer(text):
        where = text[max(0, found.start() - 60) : found.end() + 20]
        assert any(a <= found.start() <= b for a, b in held), where
