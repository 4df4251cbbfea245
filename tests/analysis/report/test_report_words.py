"""The words and files of a report: verdicts, failures told once, page, sheet and document."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from report_made import FORMATS, ORDERS

from pivotree.analysis.report.page import page
from pivotree.analysis.report.sheet import sheet
from pivotree.analysis.report.words import verdict


def told(report, **changes):
    return verdict(replace(report, **changes))


def having(report, order, format, **changes):
    """The report with one cell changed."""
    return replace(
        report,
        cells=tuple(
            replace(c, **changes) if (c.order, c.format) == (order, format) else c for c in report.cells
        ),
    )


NONE = {"worst": 0.0, "1 %": 0.0, "10 %": 0.0, "median": 0.01}


@pytest.mark.thorough
def test_orders_that_need_different_formats_are_told_apart(made):
    report = having(made[0], "crbm", "float32", keeps=0.9)
    first = verdict(report)[0]
    assert first == "To keep 4 digits in all 30 states, abm needs float32; crbm needs float64."
    report = having(report, "crbm", "float64", keeps=0.9)
    assert "no format tried is enough for crbm" in verdict(report)[0]
    report = having(made[0], "abm", "bfloat16", keeps=1.0)
    assert "bfloat16, the shortest tried, is enough for abm; crbm needs" in verdict(report)[0]


@pytest.mark.slow
def test_best_and_worst_orders_are_named_where_they_differ(made):
    digits = {"worst": 1.0, "1 %": 1.2, "10 %": 1.5, "median": 2.0}
    sentences = verdict(having(made[0], "crbm", "float32", digits=digits))
    (line,) = [s for s in sentences if s.startswith("In float32, abm keeps")]
    assert line.endswith("at worst; crbm 2.0 and 1.0.")


@pytest.mark.thorough
def test_formats_that_keep_nothing_share_a_sentence(made):
    report = made[0]
    for order in ORDERS:
        report = having(report, order, "bfloat16", digits=NONE)
    told = "In bfloat16 none of these orders keeps a digit in half of the states."
    assert told in verdict(report)


@pytest.mark.thorough
def test_failures_and_refusals_are_told_once(made):
    report = made[0]
    for i, (order, format) in enumerate((o, f) for o in ORDERS for f in FORMATS):
        report = having(report, order, format, failed=i, why_failed="a pivot becomes zero")
    sentences = " ".join(
        told(
            report,
            refused={
                "natural": "body 'x': field 'mass' is singular, and order 'natural' pivots on M_k",
                "lagrange": "body 'x': field 'mass' is singular, and order 'lagrange' pivots on M_k",
            },
        )
    )
    assert "crbm in bfloat16 has no answer in 5 of 30 states: a pivot becomes zero." in sentences
    assert sentences.count("has no answer in") == 1 and "Fewer states have no answer" in sentences
    both = "natural and lagrange are not for this robot: body 'x': field 'mass' is singular."
    assert both in sentences


@pytest.mark.thorough
def test_an_unsound_reference_is_never_silent(made, tmp_path):
    """A disagreement near the measured errors stands on the page and on the sheet."""
    seen = replace(made[0].reference, disagreement=1e-3)
    assert not seen.sound
    text = page(replace(made[0], reference=seen))
    assert "NOT SOUND" in text and "1.0e-03" in text
    seen = replace(made[0].reference, trouble="state 3 in tf32: only 2 digits")
    assert "NOT SOUND: state 3 in tf32: only 2 digits" in page(replace(made[0], reference=seen))


@pytest.mark.slow
def test_the_sheet_stays_one_page_however_much_there_is(made):
    """Long verdicts and many formats are cut short, and the sheet says where the rest is."""
    many = tuple(f"p{bits}" for bits in range(4, 16))
    cells = tuple(replace(made[0].cell(o, "float32"), format=f, order=o) for o in ORDERS for f in many)
    report = replace(
        made[0],
        formats=many,
        cells=cells,
        capacity=dict.fromkeys(many, 3.0),
        data=dict.fromkeys(many, NONE),
        verdict=("A long sentence, many times over. " * 12,) * 15,
    )
    figure = sheet(report)
    texts = [text.get_text() for text in figure.texts]
    assert "The rest stands in report.html." in texts
    assert min(text.get_position()[1] for text in figure.texts) > 0.02


class Page(HTMLParser):
    """Tags in balance, and what the page would fetch."""

    def __init__(self, text):
        super().__init__()
        self.open, self.fetched, self.words, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br"):
            self.open.append(tag)
        named = dict(attributes)
        self.fetched += [named["src"]] if "src" in named else []
        self.fetched += [tag] if tag in ("script", "link", "iframe", "object") else []
        self.links += [named["href"]] if tag == "a" else []

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.thorough
def test_the_page_stands_alone(made):
    report, folder = made
    text = (folder / "report.html").read_text(encoding="utf-8")
    seen = Page(text)
    assert seen.open == [] and seen.fetched == []
    assert not re.search(r"url\((?!#)", text) and "@import" not in text
    assert "prefers-color-scheme:dark" in text and "@media print" in text
    words = " ".join(seen.words)
    for sentence in report.verdict:
        assert sentence in words
    for cell in report.cells:
        assert cell.worst.replay in words and cell.worst.file in seen.links
        assert (folder / cell.worst.file).exists()
    assert "largest disagreement" in words and "seed 3" in words
    # pictures take the page's colours, and share no names
    assert text.count("<svg") == 2 and "var(--s0)" in text
    assert "#0072b2" not in text[text.index("<svg") :].lower()
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))


@pytest.mark.thorough
def test_the_sheet_is_one_page(made):
    data = (made[1] / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", data)) == 1
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", data)
    width, height = (float(x) * 25.4 / 72 for x in box.groups())
    assert abs(width - 210) < 0.5 and abs(height - 297) < 0.5


def test_the_document_is_json(made):
    report, folder = made
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert document["states"] == 30 and document["digits"] == 4
    assert len(document["rows"]) == len(ORDERS) * len(FORMATS)
    assert document["cheapest"]["abm"]["all_states"] == "float32"
    assert document["verdict"] == list(report.verdict)
    assert sorted(p.name for p in folder.iterdir()) == [
        "report.html",
        "report.json",
        "report.pdf",
        "states.csv",
        "worst",
    ]
