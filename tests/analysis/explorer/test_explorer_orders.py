"""Orders that come to the explorer's page: from files, and in its address."""

import json
import re
from importlib.resources import files

import pytest
from explorer_page import click, counter, own, status
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data, write_page
from pivotree.analysis.explorer.data import text_of


def test_an_order_is_opened_from_a_file(opened, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([[["pdd", "j3"], ["f", "j3"]], ["qdd:j3"]]))
    page = opened("chain:3")
    page.set_input_files("input[type=file]", path)
    page.locator(".counter", has_text="step 2 of 2").wait_for()
    path.write_text(json.dumps([[["qdd", "j3"]]]))
    page.set_input_files("input[type=file]", path)
    page.locator("[role=status]", has_text="mine.json: qdd_j3 is structurally zero").wait_for()
    assert "step 2 of 2" in counter(page)  # the order before is still there


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[", "is not JSON"),
        ({"steps": []}, "holds no list of groups"),
        ({"groups": [["pdd"]]}, 'step 1 holds "pdd"; a block is ["pdd", "link1"]'),
        ([["pdd:j3"], [7, 13]], "step 2 names its pivot by numbers, which only pivotree solve"),
        ([["pdd:j9"]], "this model has no block pdd j9"),
        ({"groups": [], "rule": {}}, 'holds "rule"; write "rules"'),
        ({"groups": [], "links": "split"}, 'links are "split"; this page has whole'),
        ({"groups": [], "rules": {"coupel": "carried"}}, 'switch "coupel" is unknown; use couple,'),
        ({"groups": [], "rules": {"couple": "loose"}}, "use inverse or carried"),
        (
            {"groups": [], "rules": {"elimination": "orthogonal", "couple": "carried"}},
            "switch couple means nothing to elimination orthogonal",
        ),
    ],
)
def test_a_file_that_the_page_cannot_honour_is_refused(opened, tmp_path, document, said):
    path = tmp_path / "mine.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    page = opened("chain:3", "abm@2")
    page.set_input_files("input[type=file]", path)
    page.locator("[role=status].refused", has_text="Refused: mine.json").wait_for()
    assert said in status(page) and "step 2 of 3" in counter(page)


@pytest.mark.thorough
def test_a_file_keeps_its_switches_and_links(opened, tmp_path):
    system = system_of("chain:3")
    orders = ["abm", "gain_abm", "modified_abm_stretched"]
    data = explorer_data(system, "chain:3", orders, ["float32"])
    path_of_page = write_page(data, tmp_path / "page.html")
    gain = {"rank_update": "gain", "couple": "inverse"}  # the second is as usual, and left out
    for name, links, rules, kept in [
        ("gain_abm", "whole", gain, {"rank_update": "gain"}),
        ("modified_abm_stretched", "stretched", {}, {}),
    ]:
        groups = kkt.plan(orderings.get(name), system.structure).sequence.groups
        listed = [[[kind, text_of(body)] for kind, body in group] for group in groups]
        path = tmp_path / "mine.json"
        path.write_text(json.dumps({"groups": listed[:2], "links": links, "rules": rules}))
        page = opened(path_of_page)
        page.set_input_files("input[type=file]", path)
        page.locator(".counter", has_text="step 2 of 2").wait_for()
        code = page.evaluate("decodeURIComponent(location.hash)").removeprefix("#order=")
        again = opened(path_of_page, code)  # the address keeps them, too
        assert "step 2 of 2" in counter(again)
        again.locator("summary", has_text="Export").click()
        with again.expect_download() as waiting:
            again.get_by_role("button", name="Export as json").click()
        saved = json.loads(waiting.value.path().read_text())
        assert (saved["links"], saved["rules"], saved["groups"]) == (links, kept, listed[:2])


def test_switches_of_the_page_are_the_engines():
    static = files("pivotree.analysis.explorer") / "static"
    text = (static / "opening.mjs").read_text(encoding="utf-8")
    table = re.search(r"RULES = \{(.*?)\n\};", text, re.S)[1]
    found = {k: re.findall(r'"(\w+)"', v) for k, v in re.findall(r"(\w+): \[(.*?)\]", table)}
    usual = vars(kkt.Rules())
    assert {name: choices[0] for name, choices in found.items()} == usual
    for name, choices in found.items():
        with pytest.raises(kkt.OrderError) as told:
            kkt.Rules(**{name: "none"})
        assert str(told.value).endswith(f"use {' or '.join(choices)}")


@pytest.mark.thorough
def test_the_order_is_shared_in_the_address(opened):
    page = opened("chain:3")
    own(page)
    click(page, "pdd_j3", "f_j3")
    click(page, "qdd_j3")
    code = page.evaluate("location.hash")
    again = opened("chain:3", code.removeprefix("#order="))
    assert counter(again) == counter(page).replace("of 3", "of 2")
    assert again.evaluate("location.hash") == code
    bad = opened("chain:3", "w.p99")
    assert "does not fit this model" in status(bad)


def test_an_address_that_does_not_fit_keeps_what_is_done(opened):
    page = opened("chain:3", "w.p2q2f2.p1q1f1")
    page.evaluate("location.hash = 'order=w.p99'")
    page.locator("[role=status].refused", has_text="does not fit this model").wait_for()
    assert "step 2 of 2" in counter(page)
