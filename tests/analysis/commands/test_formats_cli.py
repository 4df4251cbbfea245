"""Formats by name on the command line, and in tables and figures."""

import pytest

from pivotree.analysis.figures.charts import capacity_of, error_bars, unit_of

FEW = ["--orders", "abm,crbm"]


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


def test_figures_know_the_digits_of_every_format():
    assert unit_of("bfloat16") == 2.0**-8 and unit_of("exact") is None and unit_of("mine") is None
    assert capacity_of("float32") == pytest.approx(7.22, abs=0.01)
    rows = [{"order": "abm", "format": name, "error": 1e-2, "digits": 2.0} for name in ("tf32", "mine")]
    assert error_bars(rows).axes
