"""Figures on pages that no program of the page prints: measured here, and read off the page.

Which test holds which claim is listed in tests/evidence.toml.
"""

import re

import pytest
from helpers import ROOT

import pivotree as pt
from pivotree import analysis, kkt, orderings

pytestmark = pytest.mark.docs


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def cells(name, first):
    """The other cells of the row of a page's tables that begins with a cell, without stars and commas."""
    row = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", page(name), re.M)[1]
    return [cell.strip(" *").replace(",", "") for cell in row.split("|")]


def rounded_to(told, value):
    """Whether a figure is the value, rounded to as many digits as it has."""
    digits = len(re.sub(r"e.*|\D", "", told).lstrip("0"))
    return f"{float(told):.{digits - 1}e}" == f"{value:.{digits - 1}e}"


def test_the_chain_and_the_verdict_of_the_readme():
    """And the first table of the page on elimination, which is of the same chain."""
    orders = ["crbm", "virtual_work", "abm", "gain_abm", "square_root_abm"]
    found = pt.compare(pt.build(pt.chain(100)), orders, ["float32", "float64"])
    rows = {(row.order, row.format): row for row in found.rows}
    for order in orders[:3]:
        fill, flops, single, double = cells("README.md", f"`{order}`")
        row = rows[order, "float32"]
        assert (int(fill), int(flops)) == (row.fill_blocks, row.flops)
        assert rounded_to(single, row.error) and rounded_to(double, rows[order, "float64"].error)
    for order in ("crbm", "abm"):
        told = cells("docs/elimination.md", f"`{order}`")[-1]
        assert rounded_to(told, rows[order, "float32"].error)
    quoted = page("README.md").partition("> In float32")[2].partition("[...]")[0]
    quote = " ".join(f"In float32{quoted}".replace("\n>", "\n").split())
    # both sentences, whole: what is lost against what is kept, and where
    assert quote.count("In float32 ") == quote.count(". The loss enters at ") == 1
    assert found.verdict.replace("chain_100", "chain:100").startswith(f"{quote}.")


def test_condition_numbers_that_the_page_prints():
    specs = {
        "humanoid": "humanoid",
        "chain of 100": "chain:100",
        "Example 3, case 2, m1 = 1e8": "example3:m1=1e8,case=2",
        "`random_tree:n=50,mass_ratio=1e8`": "random_tree:n=50,mass_ratio=1e8",
    }
    for first, spec in specs.items():
        kappa, inertia, largest = cells("docs/conditioning.md", first)
        found = kkt.conditioning(kkt.build(kkt.load(spec)))
        assert rounded_to(kappa, found.kappa) and rounded_to(inertia, found.kappa_inertia), first
        assert largest == max(found.shares, key=found.shares.get), first


@pytest.mark.parametrize("model, freedoms", [("chain:12", 12), ("quadruped", 18), ("humanoid", 50)])
def test_operations_of_derivatives_that_the_page_prints(model, freedoms):
    system, abm = kkt.build(kkt.load(model)), orderings.get("abm")
    *_, operations = cells("docs/derivatives.md", f"`{model}`, {freedoms} freedoms")
    found = kkt.derivatives(system, abm)
    assert int(operations) == found.operations and found.dq.shape == (freedoms, freedoms)
    assert f"{kkt.trace(system, abm).flops:,}" in page("docs/derivatives.md").partition("## ")[0]


def test_the_cheapest_order_of_the_platform():
    found = analysis.search(kkt.load("stewart"))
    least, place, crbm, abm = cells("docs/tune.md", "`stewart`")
    assert int(least) == found.cost and place == "last"
    costs = {one.name: one.flops for one in found.ranking}
    assert (int(crbm), int(abm)) == (costs["crbm"], costs["abm"])
