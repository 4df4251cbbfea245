"""``pivotree reproduce``: papers, items and settings by name, rows as documents, exit codes."""

import json
import re
import tomllib
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import ROOT
from matplotlib.figure import Figure

from pivotree.analysis.cli import main
from pivotree.analysis.figures.style import theme
from pivotree.analysis.proofs import REGISTRY, Statement, statements
from pivotree.analysis.proofs.prove import Proof
from pivotree.kkt import PivotreeError
from pivotree.papers import PAPERS, counted, proved
from pivotree.papers.make import MARKS, section, sections, whole
from pivotree.papers.paper import items, printed
from pivotree.papers.row import Row, claim

ITEMS = [(paper, item) for paper in PAPERS for item in items(paper)]


def reproduce(capsys, *arguments):
    code = main(["reproduce", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_has_items_numbers_and_a_page(paper):
    assert items(paper)
    assert printed(paper) == tomllib.loads((ROOT / f"papers/{paper}/printed.toml").read_text())
    page = (ROOT / f"papers/{paper}/README.md").read_text(encoding="utf-8")
    for item in items(paper):
        assert item.name in page, f"README of {paper} leaves out {item.name}"


@pytest.mark.thorough
@pytest.mark.parametrize("paper,item", ITEMS, ids=lambda x: getattr(x, "name", x))
def test_an_item_says_what_it_is_and_has_the_two_functions(paper, item):
    """Its first line is a whole sentence, and the paper's page of rows says it too."""
    line = item.module.__doc__.partition("\n\n")[0].removesuffix("\n")
    assert line == f"{item.says}." and len(item.says.split()) > 4
    page = sections((ROOT / f"papers/{paper}/rows.md").read_text(encoding="utf-8"))
    assert page[item.name].startswith(f"{line}\n")
    assert callable(item.module.measure) and callable(item.module.rows)
    assert item.settings({}) == {}


@pytest.mark.thorough
def test_a_document_of_one_item(capsys):
    code, out, err = reproduce(capsys, "ascher1996", "--item", "structure", "--json")
    document = json.loads(out)
    assert code == 0 and err == "" and document["paper"] == "ascher1996"
    fixed = {"item", "printed", "ours", "criterion", "met", "why"}
    assert fixed | {"distance", "state"} == set(document["rows"][0])
    assert all(row["met"] for row in document["rows"])


def test_a_missed_criterion_is_exit_1(capsys, monkeypatch):
    from pivotree.papers.ascher1996 import structure

    missed = [Row("a", 1, 2, "the same", False), Row("b", None, 2, "none", None, "a curve")]
    monkeypatch.setattr(structure, "rows", lambda found: missed)
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure")
    assert code == 1 and "MISSED" in out and "1 missed" in out and "+100.0 %" in out
    monkeypatch.setattr(structure, "rows", lambda found: missed[1:])
    assert reproduce(capsys, "ascher1996", "--item", "structure")[0] == 0


def test_a_refuted_claim_and_an_open_row_are_said_and_fail_nothing(capsys, monkeypatch):
    from pivotree.papers.ascher1996 import structure

    four = [
        Row("a", 2, 2, "the same", True),
        Row("b", 2, 3, "the same", False),
        claim("c", "repairs", 5e-4, "at most 1e-5", False, "5e-4 is left"),
        Row("d", None, 2, "none", None, "a curve without numbers"),
    ]
    monkeypatch.setattr(structure, "rows", lambda found: four)
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure", "--json")
    found = json.loads(out)["rows"]
    assert code == 1 and [row["state"] for row in found] == ["met", "missed", "refuted", "open"]
    assert [row["met"] for row in found] == [True, False, None, None]
    assert [row["distance"] for row in found] == [0.0, 0.5, None, None]
    monkeypatch.setattr(structure, "rows", lambda found: four[2:])
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure")
    assert code == 0 and "0 met, 0 missed, 1 refuted" in out and "1 open" in out
    assert "≠ refuted" in out and "? open" in out and "5e-4 is left" in out


def test_a_claim_that_holds_is_met():
    assert claim("a", "repairs", 5e-6, "at most 1e-5", True, "").state == "met"


@pytest.mark.parametrize(
    "printed,ours,apart",
    [
        (2.0, 1.0, -0.5),
        (-2.0, -1.0, 0.5),
        ("1.03", "1.03", 0.0),
        ([1.0, 2.0], [1.1, 1.0], -0.5),
        (["fail", 2], ["fail", 3], 0.5),
        ([1.0], [1.0, 2.0], None),
        (0, 0.0, 0.0),
        (0, 1.0, None),
        ("smooth", 1.0, None),
        (1.0, float("inf"), None),
        (True, 1, None),
        (None, 1.0, None),
    ],
)
def test_the_distance_to_a_printed_number(printed, ours, apart):
    assert Row("a", printed, ours, "", None, "").distance == apart


@pytest.mark.thorough
def test_figures_are_written(capsys, tmp_path):
    folder = tmp_path / "out"
    code, _, _ = reproduce(capsys, "ascher1996", "--item", "structure", "-o", str(folder))
    names = {path.name for path in (folder / "ascher1996").iterdir()}
    assert code == 0 and names == {"structure.png", "structure.pdf", "structure_dark.png"}


def test_settings_of_an_item(capsys):
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure", "--set", "links=4", "--json")
    rows = [row for row in json.loads(out)["rows"] if ": row " in row["item"]]
    assert code == 0 and len(rows) == 12


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["acher1996"], "paper 'acher1996': is unknown; use .*nearest: ascher1996"),
        (["ascher1996", "--item", "table9"], "ascher1996 has no 'table9'; use "),
        (["all", "--item", "table2"], "belongs to one paper"),
        (["ascher1996", "--set", "links=4"], "belongs to one item"),
        (["ascher1996", "--item", "structure", "--set", "links"], "'links' is no setting"),
        (["ascher1996", "--item", "structure", "--set", "n=4"], "has no setting 'n'; it has links"),
        (["ascher1996", "--item", "structure", "--set", "links=many"], "links is 'many'"),
        (["ascher1996", "--item", "table1", "--set", "ratios=x"], "give it as numbers with semi"),
    ],
)
def test_what_is_wrong_is_one_sentence(capsys, arguments, message):
    code, out, err = reproduce(capsys, *arguments)
    assert code == 2 and out == "" and err.count("\n") == 1
    assert re.search(message, err), err


# -- the pages of rows -----------------------------------------------------------------------------

PAGES = sorted((ROOT / "papers").glob("*/rows.md"))
CELLS = re.compile(r"(?<!\\)\|")


def rows_of(page):
    """(item, printed, ours, distance, criterion, mark) of every row of a page."""
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in CELLS.split(line)[1:-1]]
        if len(cells) == 6 and cells[5] in MARKS.values():
            yield cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_a_page_of_rows_is_what_the_script_writes(page):
    written = page.read_text(encoding="utf-8")
    known = sections(written)
    names = [item.name for item in items(page.parent.name)]
    assert list(known) == [name for name in names if name in known]
    assert whole(page.parent.name, known) == written
    assert len(list(rows_of(page))) == sum(int(n) for n in re.findall(r"(\d+) [✓✗≠?]", written))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_no_row_flatters(page):
    """Open rows ask nothing and say why, refuted claims are printed, no number is only bounded.

    What is asked and not met is missed, never open; and a criterion such as "at least 2" beside a
    printed 6.98 hides how far ours is.
    """
    for item, printed_, _ours, distance, criterion, mark in rows_of(page):
        if mark == MARKS["open"]:
            assert criterion.startswith("none: "), item
            assert not re.search(r"within|at least|at most|asked|runs", criterion), item
        if mark == MARKS["refuted"]:
            assert printed_ != "–", item
        if distance and mark == MARKS["met"]:
            assert not criterion.startswith(("at least", "at most", "above", "below")), item


TITLES = {
    "ascher1996": "Ascher, Pai & Cloutier 1996",
    "cloutier1995": "Cloutier 1995",
    "yamane2001": "Yamane & Nakamura 2001",
    "pasic1999": "Pasic, Williams & Hui 1999",
    "featherstone1983": "Johnson & Su",
}


@pytest.mark.parametrize("paper", PAPERS)
def test_the_equations_of_a_paper_are_all_statements_that_name_it(paper, monkeypatch):
    """One that is new is there without being listed anywhere else."""
    claims = statements()["equation (9)"].claims
    for i, source in enumerate(
        (
            f"{TITLES[paper]}, eq (99)",
            f"Duff 1983; {TITLES[paper]}, eq (0)",
            f"{TITLES[paper]} and others, eq (1)",
        )
    ):
        new = Statement(f"new {i}", source, "a formula", claims)
        monkeypatch.setitem(REGISTRY, new.name, new)
    monkeypatch.setattr(proved, "prove_one", lambda name, progress: statements()[name])
    module = items(paper, ["equations"])[0].module
    found = module.measure(lambda text: None)
    found = getattr(found, "proofs", found)
    named = [s.name for s in REGISTRY.values() if f"{TITLES[paper]}, " in s.source]
    assert sorted(s.name for _, s in found) == sorted(named) and len(named) >= 4
    assert found[0][1].name == "new 1"
    equations = [place for place, _ in found if re.search(r"\(\d", place)]
    assert [place for place, _ in found][: len(equations)] == equations
    assert equations[-1] == "eq (99)"
    with pytest.raises(PivotreeError, match="no statement of"):
        module.measure(lambda text: None, only="no such")


def test_a_proof_is_met_a_misprint_refuted_and_what_is_not_proved_missed():
    def proof(name, status="proved", killed=8):
        return "eq (20)", Proof(name, "", "the formula", status, 0.0, mutants=8, killed=killed)

    found = [
        proof("pivots"),
        proof("misprint in m_12"),
        proof("misprint in f_1", "undecided"),
        proof("forces", killed=7),
    ]
    assert [row.state for row in proved.rows(found)] == ["met", "refuted", "missed", "missed"]
    assert proved.rows(found)[0].item == "eq (20): pivots"


def test_a_section_shows_every_state_and_a_page_counts_them():
    document = [
        row.as_dict()
        for row in (
            Row("x: a | b", 2.0, 2.1, "within 10 %", True),
            claim("x: c", "repairs", 5e-4, "at most 1e-5", False, "5e-4 is left"),
            Row("x: d", None, 2, "none: not in the paper", None),
        )
    ]
    part = section("What it is", document)
    assert "| a \\| b | 2 | 2.1 | +5.0 % | within 10 % | ✓ met |" in part
    assert "* 5e-4 is left" in part
    page = whole("ascher1996", {"table2": part})
    assert "3 rows: 1 ✓ met, 0 ✗ missed, 1 ≠ refuted, 1 ? open." in page
    assert sections(page) == {"table2": part}


def test_a_chart_of_counts_has_means_ranges_failures_and_what_is_printed():
    def ensemble(counts, failed=0):
        return SimpleNamespace(
            mean=np.mean(counts), evaluations=np.array(counts, dtype=float), failed=failed, records=counts
        )

    ax, look = Figure().add_subplot(), theme(style="light")
    runs = [ensemble([10, 20, 60]), ensemble([100, 300], failed=1), ensemble([7, 9, 11], failed=1)]
    counted.ours(ax, look, 1, "CRBM", (0.1, 0.01, 0.001), runs)
    counted.theirs(ax, look.ink, 1, "printed", (0.1, 0.01, 0.001), [12, "fail", 14])
    counted.theirs(ax, look.ink, 1, "none", (0.1,), ["fail"])
    (container,) = ax.containers
    mean, _, (bars,) = container
    assert np.array_equal(mean.get_ydata(), [30.0, np.nan, 9.0], equal_nan=True)
    drawn = [bar[:, 1].tolist() for bar in bars.get_segments() if len(bar)]
    assert [bar for bar in drawn if np.isfinite(bar).all()] == [[10, 60], [7, 11]]
    crossed = next(line for line in ax.lines if line.get_marker() == "x")
    assert crossed.get_xydata().tolist() == [[0.01, 300.0]]  # half of its runs fail
    printed_ = next(line for line in ax.lines if line.get_label() == "printed")
    assert printed_.get_xydata().tolist() == [[0.1, 12.0], [0.001, 14.0]]
    assert "none" not in [line.get_label() for line in ax.lines]
