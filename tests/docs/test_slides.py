"""Slides say what the engine says, and fit; the exam's answers are right."""

import re
import subprocess
import sys

import pytest
from helpers import ROOT

SLIDES = ROOT / "docs" / "slides"


@pytest.fixture(scope="module")
def modules():
    """facts, exam and make, which lie beside the slides."""
    sys.path.insert(0, str(SLIDES))
    try:
        import exam
        import facts
        import make

        yield facts, exam, make
    finally:
        sys.path.remove(str(SLIDES))
        for name in ("exam", "facts", "make"):
            sys.modules.pop(name, None)


def asked(text):
    """The numbers of questions in a sheet."""
    return [int(k) for k in re.findall(r"^(\d+)\. \(\d+ points\)", text, re.M)]


@pytest.mark.thorough
def test_every_answer_of_the_exam_is_so(modules):
    _, exam, _ = modules
    wrong = [k for k, check in enumerate(exam.CHECKS, 1) if not check()]
    assert not wrong, f"the engine says otherwise: answers {wrong}"


def test_a_sheet_without_answers_has_all_questions_and_no_answer(modules):
    _, exam, _ = modules
    full, plain = exam.sheet(answers=True), exam.sheet(answers=False)
    assert asked(full) == asked(plain) == list(range(1, len(exam.CHECKS) + 1))
    assert full.count("\n   > ") + full.count("\n    > ") > len(exam.CHECKS) and ">" not in [
        line.strip()[:1] for line in plain.splitlines()
    ]


def test_a_wrong_answer_would_be_found(modules, monkeypatch):
    facts, exam, _ = modules
    monkeypatch.setattr(facts, "fill", lambda order, model: 0)
    monkeypatch.setattr(facts, "unknowns", lambda model: 90)
    assert not exam.CHECKS[0]() and not exam.CHECKS[3]() and not exam.CHECKS[4]()


@pytest.mark.slow
def test_lectures_are_whole_and_every_slide_fits(tmp_path, request):
    done = subprocess.run([sys.executable, SLIDES / "make.py", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    decks = {minutes: tmp_path / f"lecture_{minutes}.html" for minutes in (45, 90)}
    counts = {m: deck.read_text().count("<section>") for m, deck in decks.items()}
    assert 8 < counts[45] < counts[90]
    for deck in decks.values():
        text = deck.read_text()
        assert "{{" not in text and "nan" not in re.sub(r"base64,[^\"]+", "", text)
        assert not re.search(r'(src|href)="(?!data:)', text)  # nothing from elsewhere
    chromium = request.getfixturevalue("chromium")
    pages = re.findall(rb"/Type\s*/Page[^s]", (tmp_path / "lecture_90.pdf").read_bytes())
    assert len(pages) == counts[90]
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    page.goto(decks[90].as_uri())
    for k in range(counts[90]):
        spilt = page.evaluate(
            "() => { const s = document.querySelector('section.now'); "
            "const b = s.getBoundingClientRect(); return [...s.children].filter(c => { "
            "const r = c.getBoundingClientRect(); return r.bottom > b.bottom + 1 || "
            "r.right > b.right + 1; }).map(c => c.tagName + c.className) }"
        )
        assert spilt == [], f"slide {k + 1}: {spilt}"
        page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == f"#{counts[90]}"
    page.close()
