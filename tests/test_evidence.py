"""Each claim of README and docs has something that holds it, outside the soak: tests/evidence.toml.

What must be covered: of the README and the first page of docs every row of a table and every sentence
with a figure, and every sentence of "What stands behind the numbers"; of every other page the bold
sentence with which it opens, and at least one claim.
"""

import ast
import re
import tomllib
from functools import cache

import pytest
from helpers import ROOT

TESTS = ROOT / "tests"
EVIDENCE = tomllib.loads((TESTS / "evidence.toml").read_text(encoding="utf-8"))
CLAIMS = [
    (page, words, [held] if isinstance(held, str) else held)
    for page, claims in EVIDENCE.items()
    for words, held in claims.items()
]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "papers").glob("*/README.md"))
)
WHOLE = ("README.md", "docs/index.md")  # of these every figure
# figures that nobody measures: formulas and versions, years, places in papers
GIVEN = r"Python 3\.\d+|float\d+|\(\d\)|\(?\b(?:19|20)\d\d\b\)?|`[^`]*`|\]\([^)]*\)|^> \*|<.*?>|\.\[.*?\]"


def flat(text):
    """A text on one line, without the marks of quotes."""
    return " ".join(re.sub(r"^> ?", "", text, flags=re.M).split())


def page_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


# -- tests, and what marks them ---------------------------------------------------------------------


def marked_in(source):
    """Name -> whether it is soak, of every test of a file, not of single cases."""
    tree, soak = ast.parse(source), "pytest.mark.soak"
    given = [node for node in tree.body if isinstance(node, ast.Assign)]
    whole = any(ast.unparse(x.targets[0]) == "pytestmark" and soak in ast.unparse(x.value) for x in given)
    return {
        node.name: whole or any(ast.unparse(mark) == soak for mark in node.decorator_list)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@cache
def marks_of(file):
    path = TESTS / file
    return marked_in(path.read_text(encoding="utf-8")) if path.exists() else {}


def fault(held):
    """Why something does not hold a claim; None where it does."""
    kind, _, name = held.partition(" ")
    if kind == "docs-check":
        parts = ast.parse(page_of("docs/check.py")).body
        known = {node.name for node in parts if isinstance(node, ast.FunctionDef)}
        return None if name in known else f"docs/check.py has no part {name}"
    if kind == "golden":
        return None if (TESTS / "guard" / "golden" / f"{name}.txt").exists() else f"no golden file {name}"
    file, _, test = held.partition("::")
    if test not in marks_of(file):
        return f"tests/{file} has no {test}"
    return f"tests/{held} is soak" if marks_of(file)[test] else None


def test_every_claim_is_held_by_something_that_is_there_and_no_soak():
    faults = {(page, words[:60]): why for page, words, some in CLAIMS for x in some if (why := fault(x))}
    assert not faults, "\n".join(f"{page}: {words!r}: {why}" for (page, words), why in faults.items())


def test_a_test_that_is_gone_or_soak_is_noticed():
    assert fault("test_evidence.py::test_of_nothing") and fault("docs-check nothing")
    part = '@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.soak)])\ndef test_a(x): 0'
    assert marked_in(part) == {"test_a": False}
    assert marked_in(f"pytestmark = [pytest.mark.docs, pytest.mark.soak]\n{part}") == {"test_a": True}
    assert marked_in("@pytest.mark.soak\ndef test_b(): 0") == {"test_b": True}


# -- claims on pages --------------------------------------------------------------------------------


def test_words_of_claims_stand_on_their_pages():
    pages = {page: flat(page_of(page)) for page in EVIDENCE}
    gone = [f"{page}: {words!r}" for page, words, _ in CLAIMS if flat(words) not in pages[page]]
    assert not gone, "\n".join(gone)


def sentences(text):
    """Sentences and rows of tables of a page, one at a time, with the heading that they stand under."""
    text = re.sub(r"^(```.*?^```|<picture>.*?</picture>|> \*\*.*?$)", "", text, flags=re.M | re.S)
    for part in re.split(r"^#+ ", text, flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        for paragraph in re.split(r"\n\s*\n", body):
            if paragraph.lstrip().startswith("|"):
                yield from ((heading, flat(row)) for row in paragraph.strip().splitlines())
            else:
                for sentence in re.split(r"(?<=[.:?;])\s+(?=[A-Z(`*\[])", flat(paragraph)):
                    yield heading, sentence


def uncovered(name):
    """Sentences of a page that must be covered, and have no word in common with any of its claims."""
    claims = [flat(words) for words in EVIDENCE.get(name, {})]
    for heading, sentence in sentences(page_of(name)):
        figure = re.search(r"\d", re.sub(GIVEN, "", sentence)) and not re.fullmatch(r"[|:\- ]+", sentence)
        told = re.search(r"[a-z]", re.sub(r"\[.*?\]\(.*?\)", "", sentence))  # more than links
        must = (told and heading == "What stands behind the numbers") or (figure and heading != "Cite")
        if must and not any(words in sentence or sentence in words for words in claims):
            yield sentence


@pytest.mark.parametrize("name", WHOLE)
def test_every_figure_of_the_first_pages_is_a_claim(name):
    assert list(uncovered(name)) == []


def test_every_page_has_claims_and_the_bold_sentence_that_it_opens_with_is_one():
    without = [name for name in PAGES if not EVIDENCE.get(name)]
    for name in PAGES:
        lead = page_of(name).partition("\n## ")[0].partition("\n\n")[2].lstrip()
        opening = re.match(r"\*\*(?:(?!\*\*).)+(?<!\?)\*\*", flat(lead))  # a question claims nothing
        if opening and not any(flat(words).startswith(opening[0]) for words in EVIDENCE.get(name, ())):
            without.append(f"{name}: {opening[0]}")
    assert without == []
