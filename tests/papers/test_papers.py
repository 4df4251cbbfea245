"""``pivotree reproduce``: papers, items and settings by name, refusals, rows, exit codes."""

import importlib
import json
import re
import shlex
import tomllib
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import ROOT
from matplotlib.figure import Figure
from paper_rows import quiet

from pivotree.analysis.cli import main
from pivotree.analysis.cli.commands.reproduce import in_words
from pivotree.analysis.figures.style import theme
from pivotree.analysis.proofs import REGISTRY, Statement, statements
from pivotree.analysis.proofs.prove import Proof
from pivotree.kkt import PivotreeError
from pivotree.papers import PAPERS, proved, sheet
from pivotree.papers.item import printed
from pivotree.papers.make import MARKS, section, sections, whole
from pivotree.papers.paper import Item, items
from pivotree.papers.row import Row, judged, row, value


def reproduce(capsys, *arguments):
    code = main(["reproduce", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_has_items_numbers_and_pages(paper):
    """An item's first line is a whole sentence, and the paper's page of rows says it too."""
    folder = ROOT / "papers" / paper
    assert items(paper) and printed(paper) == tomllib.loads((folder / "printed.toml").read_text())
    page = (folder / "README.md").read_text(encoding="utf-8")
    told = sections((folder / "rows.md").read_text(encoding="utf-8"))
    for item in items(paper):
        own = importlib.import_module(f"pivotree.papers.{paper}.{item.place.partition('.')[0]}")
        owner = item.function if "." in item.place else own
        line = f"{item.says}."
        assert owner.__doc__.startswith(line) and len(item.says.split()) > 4
        assert item.name in page and told[item.name].startswith(f"{line}\n"), item.name
        assert item.settings({}) == {}
    quick = importlib.import_module(f"pivotree.papers.{paper}").QUICK
    for item in items(paper, list(quick)):  # every setting is one of the item's, of its kind
        given = {name: in_words({"": value}).removeprefix("=") for name, value in quick[item.name].items()}
        assert item.settings(given) == item.quick != {}


def test_a_document_of_one_item(capsys):
    code, out, err = reproduce(capsys, "ascher1996", "--item", "structure", "--json")
    document = json.loads(out)
    assert code == 0 and err == "" and document["paper"] == "ascher1996"
    fixed = {"item", "printed", "ours", "criterion", "met", "why"}
    assert fixed | {"distance", "state"} == set(document["rows"][0])
    assert all(row["met"] for row in document["rows"])


RULES = {
    "at most 1e-10": ([1e-10, 0.0], [1.1e-10, 0.0]),
    "at least 10, as the paper says": (10.0, 9.9),
    "above 1": (1.01, 1.0),
    "between 0.1 and 10: no better": ([0.1, 10.0], [0.1, 10.1]),
    "from 1e-1 to 2": (2, 0.09),
    "0.5 ± 0.05": (0.54, 0.56),
    "within 10 %, either way": (110.0, 111.0),  # of the printed 100
    "within 5 % of 1": (0.96, 0.94),
    "within 0.1 of 1": (1.05, 1.2),
    "the same to 1e-8": (1e-8, 2e-8),
    "the same": (100.0, 100.1),
}


@pytest.mark.parametrize("criterion", RULES)
def test_a_criterion_is_judged_by_its_words(criterion):
    met, missed = RULES[criterion]
    assert judged(criterion, 100.0, met) and not judged(criterion, 100.0, missed)
    assert criterion == "the same" or not judged(criterion, 100.0, float("nan"))


def test_words_that_are_no_rule_are_not_guessed():
    with pytest.raises(ValueError, match="is no rule"):
        judged("at most 4 u", None, 1.0)


def test_a_row_is_what_the_file_says_and_what_is_computed():
    data = {
        "rows": {
            "count": {"item": "n = {n}", "printed": 4, "criterion": "within 25 %", "why": "{n} runs"},
            "law": {"item": "law", "printed": "linear", "claim": True, "criterion": "1 ± 0.1", "digits": 2},
            "own": {"item": "own", "criterion": "at most 1", "shown": "{:.1e} apart"},
        }
    }
    count = row("figure", data, value("count", np.int64(5), n=3))
    assert count == Row("figure: n = 3", 4, 5, "within 25 %", True, "3 runs")
    elsewhere = row("figure", data, value("count", 5, none="another arm", n=3))
    assert (elsewhere.state, elsewhere.criterion) == ("open", "none: another arm")
    refuted = row("figure", data, value("law", 1.234))
    assert (refuted.state, refuted.ours, refuted.met) == ("refuted", 1.2, None)
    checked = row("figure", data, value("own", 0.5))
    assert (checked.state, checked.ours) == ("checked", "5.0e-01 apart")
    assert row("figure", data, value("own", 0.5, False)).state == "missed"


@pytest.mark.product
def test_a_quick_study_says_its_settings_and_those_given_go_before(capsys):
    asked = ("pasic1999", "--item", "boundaries", "--set", "quick")
    code, out, _ = reproduce(capsys, *asked, "--set", "orders=1;2")
    assert code == 0 and "with ends=0.1, orders=1;2" in out and "8 rows: 8 met" in out
    code, out, _ = reproduce(capsys, *asked, "--set", "ends=0.05", "--set", "orders=1", "--json")
    (first, *_) = json.loads(out)["rows"]
    assert code == 0 and first["item"].startswith("boundaries: [0, 0.05]")


def test_only_a_missed_criterion_is_exit_1(capsys, monkeypatch):
    four = [
        Row("a", 2, 2, "the same", True),
        Row("b", 1, 2, "the same", False),
        Row("c", "repairs", 5e-4, "at most 1e-5", None, "5e-4 is left", refuted=True),
        Row("d", None, 2, "none", None, "a curve without numbers"),
    ]
    monkeypatch.setattr(Item, "rows", lambda item, found: four)
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure", "--json")
    found = json.loads(out)["rows"]
    assert code == 1 and [row["state"] for row in found] == ["met", "missed", "refuted", "open"]
    assert [row["met"] for row in found] == [True, False, None, None]
    assert [row["distance"] for row in found] == [0.0, 1.0, None, None]
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure")
    assert code == 1 and "MISSED" in out and "1 missed" in out and "+100.0 %" in out
    monkeypatch.setattr(Item, "rows", lambda item, found: four[2:])
    code, out, _ = reproduce(capsys, "ascher1996", "--item", "structure")
    assert (
        code == 0
        and "0 met, 0 checked (the paper prints nothing of it), 0 missed, 1 refuted" in out
        and "1 open" in out
    )
    assert "≠ refuted" in out and "? open" in out and "5e-4 is left" in out


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
    assert Row("a", printed, ours, "", True).state == ("checked" if printed is None else "met")


@pytest.mark.product
def test_figures_are_written_of_an_item_with_other_settings(capsys, tmp_path):
    given = ("--item", "shoulder", "--set", "angles=1;0.01;0.001", "-o", str(tmp_path / "out"), "--json")
    code, out, _ = reproduce(capsys, "ascher1996", *given)
    names = {path.name for path in (tmp_path / "out" / "ascher1996").iterdir()}
    assert code == 0 and names == {"shoulder.png", "shoulder.pdf", "shoulder_dark.png"}
    assert "axes 1, 0.01, 0.001 rad apart" in json.loads(out)["rows"][0]["why"]


REFUSED = {
    "ascher1996 has no 'table9'; use ": "ascher1996 table9",
    "has no setting 'n'; it has ratios": "ascher1996 links n=4",
    "most is 'many'": "ascher1996 links most=many",
    "give it as numbers with semi": "ascher1996 table1 ratios=x",
    "setting most is 0; give 1 or more": "ascher1996 links most=0",
    "setting states is 0; give 1 or more": "ascher1996 stanford states=0",
    "option --runs is 0; give 1 to": "ascher1996 table1 runs=0 ratios=0.02",
    "option --seconds is 0.0; give a number above 0": "ascher1996 table1 seconds=0 ratios=0.02",
    "setting mass is -1.0; give more than 0 [kg]": "ascher1996 shoulder mass=-1",
    "setting m1 is -1.0; give more than 0 [kg]": "ascher1996 tilted m1=-1",
    # -- cloutier1995
    "compile: solver is 'luu'; did you mean lu?": "cloutier1995 figure53 solver=luu",
    "setting angles is 1; give 5 or more": "cloutier1995 figure53 angles=1",
    "setting most is 0.5; give 10 to 1e+100": "cloutier1995 figure54 most=0.5",
    "setting methods: 'crbm_com' is unknown; use ABM; CRBM": "cloutier1995 figure56 methods=CRBM;crbm_com",
    "lengths is (2.0, -1.0); give numbers above zero": "cloutier1995 figure56 ratios=2",
    "planar_robot: lengths is []; give one finite": "cloutier1995 figure59 n=0",
    "setting n is (3,); give two numbers of links or more": "cloutier1995 figure510 n=3",
    "method 'CG' is unknown; use": "cloutier1995 integrators method=CG",
    "setting restitution is 2; give 0.01 to 1": "cloutier1995 drop restitution=2",
    "falling chain: has 0 links; ask for at least one": "cloutier1995 drop links=0",
    "setting stiffness: holds 1 numbers; give": "cloutier1995 drop stiffness=1e4",
    "setting samples is 0; give": "cloutier1995 impact samples=0",
    "setting angles is 0; give": "cloutier1995 methods angles=0",
    "setting exact is 0; give": "cloutier1995 gradients exact=0",
    # -- pasic1999
    "setting subdomains is 2; give 3 or more": "pasic1999 multiple subdomains=2",
    "setting s is 0; give 1 to 64": "pasic1999 figure5 s=0",
    "setting ends is (-0.3,); give more than 0 [s]": "pasic1999 figure5 ends=-0.3",
    "setting orders is 0; give 1 or more": "pasic1999 boundaries orders=0",
    # -- yamane2001
    "spherical: 0 sizes show no growth; let least be 1": "yamane2001 fig6 most=1",
    "family 'foo' is unknown; use dh": "yamane2001 fig6 family=foo",
    "setting most is 2; give 5 or more": "yamane2001 fig7 most=2",
    "no statement of Yamane & Nakamura": "yamane2001 equations only=nothing",
    "setting lines: 'z' is unknown; use": "yamane2001 readings lines=z",
    "setting n is 2; give 3 or more": "yamane2001 readings n=2",
    "a revolute joint has 5 rows, and the chain 2 freedoms; give more": "yamane2001 closed links=2",
    "setting largest is 1; give 3 or more": "yamane2001 section6 largest=1",
    "setting seconds is 0.0; give more than 0 [s]": "yamane2001 snapshots seconds=0",
    "gallery: joint 'foo' is unknown; use one of": "yamane2001 agreement joint=foo",
    # -- featherstone1983
    "setting most is 1; give 2 or more": "featherstone1983 efficiency most=1",
    "setting links is 7; give 8 or more": "featherstone1983 efficiency links=7",
    "family 'x' is unknown; use": "featherstone1983 growth family=x",
    "gallery: 'x' is unknown; use one of": "featherstone1983 robots models=x",
}


@pytest.mark.parametrize("told", REFUSED)
def test_a_setting_that_cannot_be_is_one_sentence(told, capsys):
    paper, item, *given = REFUSED[told].split()
    options = [part for one in given for part in ("--set", one)]
    code, out, err = reproduce(capsys, paper, "--item", item, *options)
    assert (code, out, err.count("\n")) == (2, "", 1) and told in err and len(err) < 520


# -- items at other sizes, with other robots, and what their rows say then --------------------------

RUNS = """
ascher1996 structure: 10 met, 1 checked
ascher1996 tilted angles=7 axes=5 seed=3 tilt=30: 2 met, 4 checked, 8 refuted, 2 open
ascher1996 links ratios=0.01 most=3 states=12: 1 met
ascher1996 shoulder angles=1;0.9: 1 met, 2 refuted
ascher1996 stanford states=50: 2 open
ascher1996 trees sizes=32;64 seeds=2 seed=11: 1 met, 2 open
ascher1996 loops most=5: 6 met
ascher1996 table1 ratios=0.02 runs=1 seconds=0.1 eps=1e-3 solver=cholesky orders=virtual_work;crbm_com: 3 open
ascher1996 table1 ratios=0.02 runs=1 seconds=0.1 tilt=45 orders=projected_abm: 2 open
ascher1996 table1 ratios=0.02 runs=1 seconds=0.1 eps=1e-3 solver=lu clock=float64 orders=crbm_com: 2 open
cloutier1995 figure53 angles=401: 6 met
cloutier1995 figure53 second=1e3 angles=21: 3 met, 3 open
cloutier1995 figure54 angles=41: 3 met, 2 checked
cloutier1995 figure55 angles=401 second=4e4;1e5: 5 met, 2 checked
cloutier1995 figure57 angles=401: 2 met, 1 checked
cloutier1995 figure58 runs=1 seconds=0.5: 2 met, 3 open
cloutier1995 figure59 n=2;3 runs=1 seconds=0.5: 2 checked, 8 open
cloutier1995 figure510 n=2;3;4 runs=1 seconds=0.5: 4 open
cloutier1995 counts: 8 met, 1 missed, 1 open
cloutier1995 integrators accuracies=1e-4;1e-6 seconds=0.5: 1 met
cloutier1995 methods seconds=30;3e5 angles=5: 7 met, 2 checked
cloutier1995 gradients exact=2;4 links=3;9;18 seed=11: 2 met
cloutier1995 impact links=3 samples=200 restitution=0.9 most_friction=1.5 seed=3: 3 met
cloutier1995 impact samples=100 restitution=0 seed=4: 2 met, 1 open
cloutier1995 propagators models=chain:7;random_tree:n=15,seed=8;humanoid;star:6 second=7: 3 met
yamane2001 agreement chains=16 stars=5 trees=2 bodies=14 seed=100: 5 met
yamane2001 readings n=5 lines=a;t: 2 checked, 2 refuted
yamane2001 fig3 leaves=13 trees=3 bodies=35 seed=50: 4 met
yamane2001 fig7 least=2 most=8: 4 met, 2 refuted, 1 open
yamane2001 closed links=9 joint=spherical order=virtual_work: 1 met
yamane2001 section6 largest=3 joint=universal: 3 met
yamane2001 snapshots seconds=0.05 order=abm: 2 met
pasic1999 equation20 states=50 orders=abm: 1 met
pasic1999 figure5 ends=0.35 s=3 scan=0.35 guesses=1: 2 met, 1 missed
pasic1999 multiple ends=1 step=0.02: 2 met
pasic1999 shooting ends=0.35;1: 1 met, 1 open
pasic1999 equation17 order=crbm: 2 met
pasic1999 boundaries ends=0.1 orders=3: 7 met
featherstone1983 aba model=humanoid: 1 met, 5 missed
featherstone1983 robots models=humanoid;binary:4;random_tree:n=25,seed=77: 6 met, 1 refuted
featherstone1983 external models=comb:5;random_tree:n=18,seed=3 seed=9: 6 met, 2 refuted
featherstone1983 efficiency most=9 size=6 seed=6: 5 met
""".strip().splitlines()


@pytest.mark.product
@pytest.mark.parametrize("run", RUNS)
def test_rows_and_figures_of_an_item_at_other_sizes(run):
    asked, _, said = run.rpartition(": ")
    paper, name, *given = shlex.split(asked)
    (item,) = items(paper, [name])
    found = item.measure(quiet, **item.settings(dict(one.split("=", 1) for one in given)))
    states = Counter(row.state for row in item.rows(found))
    assert ", ".join(f"{states[state]} {state}" for state in MARKS if states[state]) == said
    style = ("light", "dark")[len(run) % 2]
    assert all(isinstance(figure, Figure) for figure in item.figures(found, style).values())


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


# Words, or a formula, of which a row is a counterexample; a new one is read in the paper first.
REFUTED = {
    ("ascher1996", "addresses this problem"),
    ("ascher1996", "added stability in case of a general local coordinate system"),
    ("ascher1996", "better results than the CRBM"),
    ("featherstone1983", "Q"),
    ("featherstone1983", "q''"),
    ("pasic1999", "the formula"),
    ("pasic1999", "the solution of Fig. 4"),
    ("pasic1999", "does not depend on the initial guess"),
    ("pasic1999", "for a longer domain, the solution diverges"),
    ("yamane2001", "qdd"),
    ("yamane2001", "O(N^2)"),
    ("yamane2001", "2"),  # the exponent of O(N^2)
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_no_row_flatters(page):
    """Open rows ask nothing and say why, refuted words are printed, no number is only bounded.

    What is asked and not met is missed, never open; and a criterion such as "at least 2" beside a
    printed 6.98 hides how far ours is.
    """
    rows = list(rows_of(page))
    assert rows
    for item, printed_, _ours, distance, criterion, mark in rows:
        if mark == MARKS["open"]:
            assert criterion.startswith("none: "), item
            assert not re.search(r"within|at least|at most|asked|runs", criterion), item
        if mark == MARKS["refuted"]:
            assert printed_ != "–" and (page.parent.name, printed_) in REFUTED, item
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
    title = TITLES[paper]
    for i, source in enumerate(
        (f"{title}, eq (99)", f"Duff 1983; {title}, eq (0)", f"{title} and more, (1)")
    ):
        new = Statement(f"new {i}", source, "a formula", claims)
        monkeypatch.setitem(REGISTRY, new.name, new)
    monkeypatch.setattr(proved, "prove", lambda names, done: [Proof(x, "", "", "proved", 0.0) for x in names])
    (item,) = items(paper, ["equations"])
    found = [row.item.split(": ", 1) for row in item.rows(item.measure(quiet)) if isinstance(row, Row)]
    found = [one[1].split(": ", 1) for one in found if "computed" not in one[1]]
    named = [s.name for s in REGISTRY.values() if f"{title}, " in s.source]
    assert sorted(name for _, name in found) == sorted(named) and len(named) >= 4
    assert found[0][1] == "new 1"
    places = [place for place, _ in found]
    equations = [place for place in places if re.search(r"\(\d", place)]
    assert places[: len(equations)] == equations and equations[-1] == "eq (99)"
    with pytest.raises(PivotreeError, match="no statement of"):
        item.measure(quiet, only="no such")


def test_a_proof_is_met_a_misprint_refuted_and_what_is_not_proved_missed():
    def told(name, status="proved"):
        return proved.told("eq (20)", Proof(name, "", "the formula", status, 0.0))

    assert told("pivots").item == "eq (20): pivots" and told("pivots").state == "met"
    assert told("misprint in m_12").state == "refuted"
    assert told("misprint in f_1", "undecided").state == told("forces", "failed").state == "missed"


def test_a_section_shows_every_state_and_a_page_counts_them():
    rows = (
        Row("x: a | b", 2.0, 2.1, "within 10 %", True),
        Row("x: c", "repairs", 5e-4, "at most 1e-5", None, "5e-4 is left", refuted=True),
        Row("x: d", None, 2, "none: not in the paper", None),
        Row("x: e", None, 2, "at most 3", True),
    )
    part = section("What it is", [row.as_dict() for row in rows])
    assert "| a \\| b | 2 | 2.1 | +5.0 % | within 10 % | ✓ met |" in part
    assert "* 5e-4 is left" in part
    page = whole("ascher1996", {"table2": part})
    assert "4 rows: 1 ✓ met, 1 ✓ checked, 0 ✗ missed, 1 ≠ refuted, 1 ? open." in page
    assert sections(page) == {"table2": part}


def test_a_chart_of_counts_has_means_ranges_failures_and_what_is_printed():
    def ensemble(counts, failed=0):
        """Runs of so many evaluations, of which the first fail."""
        records = [SimpleNamespace(evaluations=n, failed=k < failed or None) for k, n in enumerate(counts)]
        return SimpleNamespace(evaluations=np.array(counts), failed=failed, records=records)

    ax, look = Figure().add_subplot(), theme(style="light")
    runs = [ensemble([10, 20, 60]), ensemble([100, 300], failed=1), ensemble([1, 7, 11], failed=1)]
    sheet.ours(ax, look, 1, "CRBM", (0.1, 0.01, 0.001), runs)
    sheet.theirs(ax, look.ink, 1, "printed", (0.1, 0.01, 0.001), [12, "fail", 14])
    sheet.theirs(ax, look.ink, 1, "none", (0.1,), ["fail"])
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
