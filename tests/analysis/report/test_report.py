"""The robot report: what it measures, and what it writes; sweeps say how such runs are taken up."""

import csv
import html
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from armature import with_terms
from designs import covering
from helpers import MODELS, every_joint

from pivotree import kkt, orderings
from pivotree.analysis import processes
from pivotree.analysis.report import robot_report
from pivotree.analysis.report.make import prepare
from pivotree.analysis.report.page import page
from pivotree.analysis.report.summary import Notebook, Reference, cells_of, digits, quantiles, worst_state
from pivotree.analysis.report.words import verdict
from pivotree.analysis.states.sample import draw, system_at
from pivotree.analysis.study.measure import WHY, ZERO
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.base.errors import Refusal
from pivotree.kkt.theorem.ranges import ranges_of

ARM = """<robot name="arm">
 <link name="base"/>
 {links}
 <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/><limit lower="-0.5" upper="1.5" velocity="0.25" effort="10"/></joint>
 <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
  <origin xyz="0.3 0 0"/><axis xyz="0 1 0"/><limit lower="0" upper="0" velocity="0"/></joint>
 <joint name="slide" type="prismatic"><parent link="lower"/><child link="tip"/>
  <origin xyz="0.2 0 0" rpy="0.1 0.2 0.3"/><axis xyz="1 0 0"/>
  <limit lower="0.01" upper="0.03" velocity="1e16"/></joint>
 <joint name="wrist" type="continuous"><parent link="tip"/><child link="hand"/>
  <origin xyz="0.1 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="3"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0.01 0.02"/><mass value="{}"/>
 <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
FORMATS = ("float64", "float32", "bfloat16")
ORDERS = ("abm", "crbm")


def table(folder):
    with open(folder / "states.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """A small arm with every way of writing limits."""
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    masses = {"upper": 3.0, "lower": 1.5, "tip": 0.4, "hand": 0.2}
    links = "".join(LINK.format(name, mass, i=0.01 * mass) for name, mass in masses.items())
    path.write_text(ARM.format(links=links))
    return path


@pytest.fixture(scope="module")
def made(arm, tmp_path_factory):
    """One report, written."""
    folder = tmp_path_factory.mktemp("made")
    report = robot_report(kkt.load(arm), "arm", ORDERS, FORMATS, states=30, seed=3, digits=4, folder=folder)
    return report, folder


def test_states_lie_within_the_limits(arm):
    system = kkt.build(kkt.load(arm))
    ranges = ranges_of(system)
    q, qd, qdd = (np.array(x) for x in zip(*(draw(ranges, 0, i) for i in range(400)), strict=True))
    low, high = np.array([-0.5, -np.pi, 0.01, -np.pi]), np.array([1.5, np.pi, 0.03, np.pi])
    assert (q >= low).all() and (q <= high).all()
    assert (q.min(axis=0) < low + 0.05 * (high - low)).all()  # and fill them
    assert (q.max(axis=0) > high - 0.05 * (high - low)).all()
    assert (np.abs(qd).max(axis=0) <= [0.25, 2.0, 0.5, 2.0]).all()
    assert (np.abs(qdd).max(axis=0) <= [10, 10, 5, 10]).all()
    assert "2 joints" in ranges.in_words()  # 0 to 0 is no limit, and a continuous joint has none


@pytest.mark.product
def test_attitudes_are_uniform_over_rotations():
    """The angle of a random rotation has density (1 - cos t) / pi, mean pi/2 + 2/pi."""
    ranges = ranges_of(kkt.build(every_joint()))
    assert len(ranges.attitudes) == 2  # floating and spherical
    start = ranges.attitudes[0]
    angles = [np.linalg.norm(draw(ranges, 1, i)[0][start : start + 3]) for i in range(2000)]
    assert abs(np.mean(angles) - (np.pi / 2 + 2 / np.pi)) < 4 * np.std(angles) / np.sqrt(2000)


@pytest.mark.parametrize("spec", covering(["geared", "arm", "every joint", "panda"], unmarked=2))
def test_efforts_give_the_accelerations_that_were_drawn(arm, spec):
    named = {"every joint": every_joint, "geared": lambda: with_terms(kkt.random_tree(5, 4), 4)}
    tree = named[spec]() if spec in named else kkt.load({"arm": arm, "panda": MODELS["panda"]}[spec])
    ranges = ranges_of(kkt.build(tree))
    for number in range(3):
        q, qd, qdd = draw(ranges, 5, number)
        system = system_at(kkt.build(tree, q), ranges, 5, number)
        assert np.array_equal(system.state.qd, qd)
        exact = np.array([float(x.mid()) for x in kkt.certify(system, 20).qdd])
        assert np.abs(exact - qdd).max() < 1e-9 * np.abs(qdd).max()


@pytest.mark.product
def test_the_worst_states_replay(made):
    """Each model file gives, on its own, the error that the report prints."""
    report, folder = made
    assert len(report.cells) == len(ORDERS) * len(FORMATS)
    for cell in report.cells:
        system = kkt.build(kkt.load(folder / cell.worst.file))
        answer = kkt.eliminate(system, orderings.get(cell.order), cell.format, records=False)
        error = kkt.certify(system, 30, rounded_to=cell.format).error(answer.qdd)
        assert error == pytest.approx(cell.worst.error, rel=1e-9) and cell.worst.certified
        kept = float(digits(np.array(error), report.capacity[cell.format]))
        assert cell.digits["worst"] == pytest.approx(kept, abs=2e-3)
        command = f"{cell.worst.file} --order {cell.order} --format {cell.format}"
        assert cell.worst.replay == f"pivotree blame {command}"


@pytest.mark.product
def test_every_state_is_that_of_a_certified_answer(made, arm):
    report, folder = made
    setup, _ = prepare(kkt.load(arm), "arm", ORDERS, FORMATS, 3)
    rows = table(folder)[:: len(ORDERS) * len(FORMATS) + 1]
    assert rows
    for row in rows:
        system = setup.system_at(int(row["state"]))
        answer = kkt.eliminate(system, orderings.get(row["order"]), row["format"], records=False)
        exact = kkt.certify(system, 30, rounded_to=row["format"])
        assert exact.error(answer.qdd) == pytest.approx(float(row["error"]), rel=1e-4)
        true = kkt.certify(system, 30, rounded_to="float64").error(answer.qdd)
        whole = min(-math.log10(true), report.capacity[row["format"]])
        assert max(whole, 0.0) == pytest.approx(float(row["digits_with_data"]), abs=6e-3)


def test_the_reference_is_certified(made):
    seen = made[0].reference
    assert seen.sound and seen.trouble is None
    assert seen.certified >= 3 * 8 and 0.0 <= seen.disagreement < 1e-25


def test_cells_say_of_states_what_was_measured_of_them():
    """Three states of two orders in one format, of which crbm has no answer in two."""
    setup = SimpleNamespace(
        orders={"crbm": None, "abm": None}, formats=[get_format("float64")], format_names=["float64"]
    )
    usual = {"drawn_again": 0, "failed_as": None, "marked": None, "error_of_data": 1e-9}
    usual |= {"error": 1e-3, "backward_error": 1e-5, "error_with_data": 1e-2}
    lost = {"error": None, "backward_error": None, "error_with_data": None, "failed_as": WHY[ZERO]}
    rows = [usual | {"state": n} | (lost if n > 2 and i == 0 else {}) for n in (7, 1, 4) for i in range(2)]
    notes = Notebook(setup, rows)
    crbm, abm = cells_of(notes, 3.0)
    assert (crbm.failed, crbm.why_failed, crbm.backward_error) == (2, WHY[ZERO], 1e-5)
    assert notes.numbers[worst_state(notes, 0, 0)] == 4  # the first in number without an answer
    assert (abm.keeps, abm.keeps_with_data, crbm.keeps) == (1.0, 0.0, pytest.approx(1 / 3))
    assert Reference(1, 1e-11, 1e-8, None).sound and not Reference(1, 1e-9, 1e-8, None).sound


def test_quantiles_are_values_that_were_seen(made):
    report, folder = made
    rows = table(folder)
    assert len(rows) == 30 * len(ORDERS) * len(FORMATS)
    for cell in report.cells:
        mine = [r for r in rows if (r["order"], r["format"]) == (cell.order, cell.format)]
        kept = sorted(float(r["digits"]) for r in mine)
        assert cell.digits["worst"] == pytest.approx(kept[0], abs=6e-3)
        assert cell.digits["10 %"] == pytest.approx(kept[2], abs=6e-3)
        assert cell.digits["median"] == pytest.approx(kept[14], abs=6e-3)
        assert cell.keeps == sum(x >= 4 for x in kept) / 30
    assert quantiles(np.arange(1000.0)) == {"worst": 0, "1 %": 9, "10 %": 99, "median": 499}


def test_the_cheapest_format_is_the_shortest_that_keeps_the_digits(made):
    report, _ = made
    assert report.by_cost == ["bfloat16", "float32", "float64"]
    assert report.cheapest("abm") == "float32"  # bfloat16 holds 2.4 digits
    assert report.cell("abm", "float32").digits["worst"] >= 4
    assert "each of the two orders measured (abm, crbm) needs float32." in report.verdict[0]
    assert report.verdict[-1].endswith("name those to measure with --order.")


def test_data_rounding_is_told_apart(made):
    """The exact answer moves when its data are rounded, whatever is done to them afterwards."""
    report, folder = made
    for cell in report.cells:
        assert report.data[cell.format]["worst"] <= report.capacity[cell.format] + 1e-9
    for row in table(folder):
        assert float(row["digits_with_data"]) <= report.capacity[row["format"]] + 0.005
    assert report.data["float64"]["worst"] == pytest.approx(report.capacity["float64"], abs=0.01)
    assert report.data["bfloat16"]["median"] < report.capacity["bfloat16"]
    assert any("Rounding the robot's own data" in sentence for sentence in report.verdict)


@pytest.mark.product
def test_the_same_seed_gives_the_same_report(made, arm, tmp_path):
    """Also when the states are measured in several processes, in another order."""
    first, folder = made
    processes.SHORT, before = 0.0, processes.SHORT
    try:
        options = {"states": 30, "seed": 3, "digits": 4, "processes": 2}
        again = robot_report(kkt.load(arm), "arm", ORDERS, FORMATS, folder=tmp_path / "again", **options)
    finally:
        processes.SHORT = before
    drop = {"seconds": None}
    assert again.as_dict() | drop == first.as_dict() | drop
    for name in ("states.csv", "worst/abm_float32.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.uncached
def test_a_format_that_overflows_is_a_row():
    tree = kkt.load("chain:3")
    nx.set_node_attributes(tree, 1e6, "mass")
    report = robot_report(tree, "heavy", ["abm"], ["float16", "float32"], states=4)
    cell = report.cell("abm", "float16")
    assert cell.failed == 4 and cell.digits["median"] == 0.0 and cell.keeps == 0.0
    assert "overflow" in cell.why_failed and cell.worst.error is None
    assert any("float16" in s and "overflow" in s for s in report.verdict)
    assert report.cell("abm", "float32").failed == 0


@pytest.mark.product
def test_a_pivot_that_becomes_zero_counts_as_no_digit():
    """Example 3 at m1 = 1e9: the light body is absorbed in float32, whatever the state."""
    tree = kkt.load("example3:m1=1e9,case=1")
    report = robot_report(tree, "example3", ["abm", "crbm"], ["float32", "float64"], states=6)
    cell = report.cell("crbm", "float32")
    assert cell.failed > 0 and "pivot becomes zero" in cell.why_failed
    assert cell.digits["worst"] == 0.0 and cell.worst.error is None
    assert "pivot becomes zero" in cell.worst.why
    assert any(f"no answer in {cell.failed} of 6" in s or "in any state" in s for s in report.verdict)
    assert report.cell("crbm", "float64").failed == 0


@pytest.mark.product
def test_answers_that_should_not_be_relied_on_are_counted_and_told(tmp_path, arm):
    """A light link under one 1e6 times heavier: all are far off in float32, none in float64."""
    tree = kkt.load("example1:m1=1e6")
    formats = ["float32", "float64"]
    report = robot_report(tree, "example1", ORDERS, formats, states=5, folder=tmp_path / "r")
    rows = [row for row in table(tmp_path / "r") if not row["failed_at"]]
    bound = {"float32": 2.0**-12, "float64": 2.0**-26.5}
    wrong = [row for row in rows if float(row["error"]) > bound[row["format"]]]
    assert wrong and all(row["marked"] for row in wrong)
    for cell in report.cells:
        mine = [row for row in rows if (row["order"], row["format"]) == (cell.order, cell.format)]
        assert cell.marked == sum(bool(row["marked"]) for row in mine)
        most = max((float(row["backward_error"]) for row in mine), default=None)
        assert cell.backward_error == pytest.approx(most, rel=5e-3)
    count = report.cell("crbm", "float32").marked
    other = report.cell("abm", "float32").marked
    assert 0 < other < count and not any(report.cell(o, "float64").marked for o in ORDERS)
    told = f"Of 5 states this marks {other} to {count} in float32 with each of these orders."
    assert any(told in sentence for sentence in report.verdict)
    assert f"crbm in float32: {count} of 5 states" in page(report)
    fine = robot_report(kkt.load(arm), "arm", ["abm"], formats, states=3)
    assert not any("Marked" in sentence for sentence in fine.verdict)


def test_an_order_that_the_inertias_rule_out_is_told(arm):
    tree = kkt.load(arm)
    tree.add_node("sensor", joint="fixed", mass=0.0)
    tree.add_edge("hand", "sensor")
    report = robot_report(tree, "arm", ["abm", "virtual_work"], ["float32"], states=3)
    assert report.orders == ("abm",) and "'sensor'" in report.refused["virtual_work"]
    assert report.verdict[-1].startswith("virtual_work is not for this robot: body 'sensor'")
    with pytest.raises(kkt.SingularError, match=r"virtual_work.*no order that was asked for"):
        robot_report(tree, "arm", ["virtual_work"], ["float32"], states=3)


# -- words and files --------------------------------------------------------------------------------


def having(report, order, format, **changes):
    """The report with one cell changed."""
    kept = report.cell(order, format)
    cells = [replace(kept, **changes) if cell is kept else cell for cell in report.cells]
    return replace(report, cells=tuple(cells))


NONE = {"worst": 0.0, "1 %": 0.0, "10 %": 0.0, "median": 0.01}


def test_orders_that_need_different_formats_keep_more_or_nothing_are_told_apart(made):
    report = having(made[0], "crbm", "float32", keeps=0.9)
    first = verdict(report)[0]
    assert first == "To keep 4 digits in all 30 states, abm needs float32; crbm needs float64."
    report = having(report, "crbm", "float64", keeps=0.9)
    assert "no format tried is enough for crbm" in verdict(report)[0]
    report = having(made[0], "abm", "bfloat16", keeps=1.0)
    assert "bfloat16, the shortest tried, is enough for abm; crbm needs" in verdict(report)[0]
    digits = {"worst": 1.0, "1 %": 1.2, "10 %": 1.5, "median": 2.0}
    sentences = verdict(having(made[0], "crbm", "float32", digits=digits))
    (line,) = [s for s in sentences if s.startswith("In float32, abm keeps")]
    assert line.endswith("at worst; crbm 2.0 and 1.0.")
    report = made[0]
    for order in ORDERS:
        report = having(report, order, "bfloat16", digits=NONE)
    assert "In bfloat16 none of these orders keeps a digit in half of the states." in verdict(report)


def test_failures_and_refusals_are_told_once(made):
    report = made[0]
    for i, (order, format) in enumerate((o, f) for o in ORDERS for f in FORMATS):
        report = having(report, order, format, failed=i, why_failed="a pivot becomes zero")
    why = "body 'x': field 'mass' is singular"
    refused = {o: Refusal(why, detail=f"and order {o!r} pivots on M_k") for o in ("natural", "lagrange")}
    sentences = " ".join(verdict(replace(report, refused=refused)))
    assert "crbm in bfloat16 has no answer in 5 of 30 states: a pivot becomes zero." in sentences
    assert sentences.count("has no answer in") == 1 and "Fewer states have no answer" in sentences
    both = "natural and lagrange are not for this robot: body 'x': field 'mass' is singular."
    assert both in sentences


def test_an_unsound_reference_is_never_silent(made, tmp_path):
    """A disagreement near the measured errors stands on the page and on the sheet."""
    seen = replace(made[0].reference, disagreement=1e-3)
    assert not seen.sound
    text = page(replace(made[0], reference=seen))
    assert "NOT SOUND" in text and "1.0e-03" in text
    seen = replace(made[0].reference, trouble="state 3 in tf32: only 2 digits")
    assert "NOT SOUND: state 3 in tf32: only 2 digits" in page(replace(made[0], reference=seen))


def test_the_page_stands_alone(made):
    report, folder = made
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|iframe|object)\b|\ssrc=|url\((?!#)|@import", text)
    assert "prefers-color-scheme:dark" in text and "@media print" in text
    words = html.unescape(re.sub(r"<[^>]*>", "", text))
    for sentence in report.verdict:
        assert sentence in words
    for cell in report.cells:
        assert cell.worst.replay in words and f'href="{cell.worst.file}"' in text
        assert (folder / cell.worst.file).exists()
    assert "largest disagreement" in words and "seed 3" in words
    # the picture takes the page's colours
    assert text.count("<svg") == 1 and "var(--s0)" in text
    assert "#0072b2" not in text[text.index("<svg") :].lower()
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))


def test_the_page_prints_dark_on_light_on_a4(made, chromium):
    """Also from a dark screen: figures and tables are whole, and what is in detail begins a page."""
    page = chromium.new_page(color_scheme="dark")
    page.goto((made[1] / "report.html").as_uri())
    colours = "() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    assert page.evaluate(colours) != (printed := ["rgb(26, 26, 26)", "rgb(255, 255, 255)"])
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(colours) == printed
    data = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type /Page\b", data)) == 2  # the report, and the worst states
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", data)
    assert [round(float(x) * 25.4 / 72) for x in box.groups()] == [210, 297]
    page.close()
