"""Pages of methods beside orders: their programs run, and their tables are what is measured."""

import re
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis import complements, gradients, inertia
from pivotree.analysis.report import robot_report

PAGES = ("complements", "contact", "gradients")
TREES = ("chain:10", "chain:100", "humanoid")


def page(name):
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def run(name):
    """What the page's programs leave behind, one after another as they stand."""
    names = {}
    for program in re.findall(r"^```python\n(.*?)^```", page(name), re.S | re.M):
        exec(compile(program, name, "exec"), names)
    return names


def table(name, head):
    """{first cell: others} of the table that starts with a head."""
    text = page(name).split(f"| {head} |", 1)[1].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    return {first: cells for first, *cells in rows}


@pytest.mark.slow
def test_table_of_walker_and_orins_methods():
    for method, cells in table("gradients", "method").items():
        number = int(method.partition(",")[0])
        for i, spec in enumerate(TREES):
            here = system(spec)
            assert int(cells[i]) == inertia.columns(here, number).operations
            x = np.asarray(inertia.solve(here, number, "float32"), float)
            assert near(cells[3 + i], certified(spec, "float32").error(x))


@cache
def system(spec):
    return kkt.build(kkt.from_spec(spec))


@cache
def certified(spec, format="float64"):
    return kkt.certify(system(spec), 16, rounded_to=format)


def near(told, measured):
    """An error told in one digit; nan is None or nan."""
    if told == "nan":
        return measured is None or not np.isfinite(measured)
    return 0.3 <= measured / float(told) <= 3.0


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAGES)
def test_the_site_leads_to_the_page(name):
    assert f"\n{name}\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_programs_of_the_page_on_gradients():
    left = run("gradients")
    assert left["alone"].iterations == pytest.approx(673, rel=0.1)
    assert left["helped"].iterations == 13 and left["helped"].failed is None
    exact = kkt.certify(left["system"], 16)
    assert not left["failed"] and exact.error(left["qdd"]) < 1e-11
    assert left["M"].operations == 343650 and exact.error(left["qdd_by_columns"]) < 1e-8


@pytest.mark.thorough
def test_programs_of_the_page_on_complements():
    left = run("complements")
    assert left["whole"].P.shape == (600, 100)
    exact = kkt.certify(left["system"], 16)
    assert exact.error(left["qdd"]) < exact.error(left["worse"])


@pytest.mark.slow
def test_programs_of_the_page_on_contact():
    left = run("contact")
    rough, feet = left["rough"], left["feet"]
    assert rough.gain < 0.0 and rough.blows >= 4 and left["slippery"].blows == 1
    for foot in feet:
        p = rough.impulses[foot]
        assert np.linalg.norm(p[1:]) <= 0.6 * p[0] * (1 + 1e-9)
        assert rough.after[foot][0] >= -1e-11
    pressing = left["standing"].forces
    assert all((pressing[f] > 0.0) != (left["standing"].accelerations[f] > 0.0) for f in feet)
    assert len(left["rigid"].blows) >= 3 and left["rigid"].depth <= 1e-5
    energy = left["springs"].energy(left["record"].y)
    assert energy[-1] < 0.9 * energy[0]
    assert left["held"].sticks.any() and not left["held"].sticks.all()


@pytest.mark.slow
def test_tables_of_the_page_on_gradients():
    told = table("gradients", "preconditioner")
    ways = {
        "none": {},
        "`crbm` in float32": {"preconditioner": "crbm"},
        "`abm` in float32": {"preconditioner": "abm"},
        "`abm` in bfloat16": {"preconditioner": "abm", "by": "bfloat16"},
    }
    assert list(told) == list(ways)
    for column, spec in enumerate(TREES):
        here = system(spec)
        exact = certified(spec)
        for way, options in ways.items():
            found, cell = gradients.solve(here, **options), told[way][column]
            assert (cell == "fails") == (found.failed is not None)
            if cell != "fails":
                iterations, error = cell.split(", ")
                assert found.iterations == pytest.approx(int(iterations), rel=0.1)
                assert near(error, exact.error(found.x))
        for order, cells in table("gradients", "by itself, float64").items():
            x = kkt.eliminate(here, orderings.get(order.strip("`")), records=False).qdd
            assert near(cells[column], exact.error(x))
        for count in (gradients.equation(here, "float64")[2], kkt.trace(here, orderings.get("abm")).flops):
            assert str(count) in page("gradients").replace(",", "")


@pytest.mark.slow
def test_table_of_the_page_on_complements():
    told = table("complements", "method")
    for i, spec in enumerate(TREES):
        here = kkt.build(kkt.from_spec(spec))
        for j, format in enumerate(("float64", "float32")):
            exact = kkt.certify(here, 16, rounded_to=format)
            for method, cells in told.items():
                if method.endswith("form"):
                    x = complements.solve(here, method.partition(" ")[0], format)
                else:
                    order = orderings.get(method.strip("`"))
                    x = kkt.eliminate(here, order, format, records=False).qdd
                assert near(cells[2 * i + j], exact.error(np.asarray(x, float))), (method, spec)


@pytest.mark.slow
def test_table_of_the_page_on_derivatives():
    """What the picture's program prints, and two of its cells measured again."""
    spec = spec_from_file_location("picture", ROOT / "docs" / "derivatives_picture.py")
    picture = module_from_spec(spec)
    spec.loader.exec_module(picture)
    measured = picture.read()
    assert picture.page(measured) in page("derivatives")
    model = "chain:12"
    found = robot_report(
        kkt.chain(12), model, ["abm", "crbm"], ["float32"], states=30, quantity="derivatives"
    )
    for cell in found.cells:
        for matrix, kept in {"all": cell.digits, **cell.fields}.items():
            assert measured[model, cell.order, matrix] == (kept["median"], kept["worst"])
