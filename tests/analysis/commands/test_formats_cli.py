"""Formats by name on the command line, and in tables and figures."""

import json

import pytest

from pivotree import kkt
from pivotree.analysis.figures.charts import error_bars
from pivotree.analysis.figures.units import capacity_of, unit_of

FEW = ["--orders", "abm,crbm"]
LEAST = {  # digits that are right at least
    "float16": 2,
    "e5m2": 0,
    "p20e6": 4,
    "float32:up": 5,
    "float32:stochastic:3": 5,
    "float32+mul=bfloat16": 1,
    "float32+D=float64": 6,
    "float32+operands=tf32": 2,
    "dd": 29,
}


@pytest.mark.product
@pytest.mark.parametrize("name,least", LEAST.items())
def test_solve_in_every_kind_of_format(run, name, least):
    code, out, _ = run("solve", "rr_arm", "--format", name, "--json")
    found = json.loads(out)
    assert code == 0 and found["format"] == name and len(found["qdd"]) == 2
    assert (name == "dd") is isinstance(found["qdd"][0], str)
    assert found["error"] < 10.0**-least
    exact = kkt.certify(kkt.build(kkt.load("rr_arm")), 20).qdd  # for data that are not rounded
    off = max(abs(float(x) - float(y)) for x, y in zip(found["qdd"], exact, strict=True))
    assert off <= max(3 * 10.0**-least, 1e-12) * max(abs(float(y)) for y in exact)
    code, out, _ = run("solve", "rr_arm", "--format", name)
    lines = out.splitlines()
    assert code == 0 and len(lines) == 4 and f"abm in {name}: error" in lines[-2]


def test_printed_digits_tell_the_numbers_of_a_format_apart(run):
    for name, most in (("bfloat16", 4), ("float16", 5), ("float32:up", 9), ("dd", 33)):
        _, out, _ = run("solve", "rr_arm", "--format", name)
        number = out.splitlines()[0].split("\t")[1]
        assert len(number.strip("-").replace(".", "")) <= most


def test_a_wide_comparison_goes_on_in_another_table(run):
    formats = ["float32", "bfloat16", "tf32", "float32+mul=bfloat16", "float32:up", "dd"]
    code, out, _ = run("compare", "rr_arm", *FEW, "--formats", ",".join(formats))
    assert code == 0 and "…" not in out.split("fill: blocks")[0]
    headings = [line.split() for line in out.splitlines() if line.startswith(" order")]
    assert [h for line in headings for h in line if h in formats] == formats
    assert len(headings) > 1 and sum("fill" in line for line in headings) == 1
    assert sum(line.startswith(" abm ") for line in out.splitlines()) == len(headings)
    assert all(f"In {name} " in out for name in formats)


def test_a_comparison_says_which_formats_cannot_hold_the_data(run):
    asked = ["compare", "example3:m1=1e6,case=1", *FEW, "--formats", "float16,float32", "--json"]
    code, out, _ = run(*asked)
    rows = json.loads(out)["rows"]
    assert code == 0 and [r["format"] for r in rows] == ["float16", "float32"] * 2
    assert all("body 1: field 'M'" in r["failed_at"] for r in rows if r["format"] == "float16")
    assert all(r["failed_at"] is None for r in rows if r["format"] == "float32")


def test_figures_know_the_digits_of_every_format():
    assert unit_of("bfloat16") == 2.0**-8 and unit_of("exact") is None and unit_of("mine") is None
    assert capacity_of("float32") == pytest.approx(7.22, abs=0.01)
    rows = [{"order": "abm", "format": name, "error": 1e-2, "digits": 2.0} for name in ("tf32", "mine")]
    assert error_bars(rows).axes
