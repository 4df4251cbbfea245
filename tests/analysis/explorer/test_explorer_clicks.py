"""Through an elimination on the explorer's page: by clicks, by keys, and by orders that come to it."""

import json
import re

from explorer_page import at_block, click, counter, own, status
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data, write_page
from pivotree.analysis.explorer.data import text_of


def test_a_full_abm_by_clicks(opened):
    page = opened("chain:3")
    own(page)
    for k in ("j3", "j2", "j1"):
        page.get_by_role("button", name=re.compile("^(Open|Close) bracket")).click()
        for kind in ("pdd", "qdd", "f"):
            click(page, f"{kind}_{k}")
        page.get_by_role("button", name=re.compile("^(Open|Close) bracket")).click()
        assert "Step" in status(page) and f"pdd_{k}" in status(page)
    assert "step 3 of 3 · fill 2" in counter(page)
    assert "All blocks are eliminated" in status(page) and "digits of qdd kept" in status(page)
    kept = float(re.search(r"([\d.]+) digits of qdd kept in float32", status(page))[1])
    assert kept >= 6.0
    challenge = page.locator(".challenges li").first
    assert "done" in (challenge.get_attribute("class") or "")


def test_a_full_abm_by_keys_alone(opened):
    page = opened("chain:3")
    own(page)
    page.keyboard.press("Escape")
    page.locator("body").press("Tab")
    page.evaluate("document.activeElement.blur()")
    for _ in range(40):  # to the matrix as a reader without a mouse gets there
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    for k in ("j3", "j2", "j1"):
        page.keyboard.press("b")
        for kind in ("pdd", "qdd", "f"):
            assert page.locator(".grid").first.get_attribute("data-cell") == f"{kind}_{k} {kind}_{k}"
            page.keyboard.press("Enter")
            page.keyboard.press("Shift+ArrowDown")
        page.keyboard.press("b")
    assert "step 3 of 3 · fill 2" in counter(page) and "All blocks are eliminated" in status(page)
    page.keyboard.press("u")
    assert "Undone: step 3" in status(page)
    page.keyboard.press("Control+y")
    assert "step 3 of 3" in counter(page)
    page.keyboard.press("Home")
    assert "step 0 of 3" in counter(page)


def test_what_the_keys_reach_is_told(opened):
    page = opened("chain:3", "w.p2q2f2")  # (pdd_j3 qdd_j3 f_j3) is gone
    page.keyboard.press("m")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    cell = page.locator("[role=gridcell]")
    assert page.locator(".grid").get_attribute("aria-activedescendant") == cell.get_attribute("id")
    told = cell.get_attribute("aria-label")
    assert told.startswith("row pdd_j2, column pdd_j2: M hat j2.")
    assert "As the next pivot: fills 0 blocks" in told and "operations" in told


def test_refusals_say_why(opened):
    page = opened("chain:3")
    own(page)
    for row, column, words in [
        ("qdd_j3", "f_j3", "(qdd_j3, f_j3) is not square: 1x6"),
        ("qdd_j3", None, "qdd_j3 is structurally zero: eliminate pdd_j3 and f_j3 first"),
        ("f_j3", None, "f_j3 is structurally zero: eliminate pdd_j3 first"),
        ("pdd_j2", "f_j3", "is no identity"),
        ("pdd_j3", "pdd_j1", "(pdd_j3, pdd_j1) is zero"),
    ]:
        click(page, row, column)
        assert words in status(page), (row, column, status(page))
        assert "refused" in page.locator("[role=status]").get_attribute("class")
    click(page, "pdd_j3", "f_j3")  # the paper's pivot off the diagonal
    assert "Step 1: (pdd_j3 f_j3)" in status(page)
    click(page, "pdd_j3")
    assert "eliminated already, at step 1" in status(page)


def test_a_preview_comes_before_the_click(opened):
    page = opened("chain:3")
    own(page)
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    told = page.locator("aside .panel").first
    told.get_by_text("As the next pivot").wait_for()
    text = told.inner_text()
    order = [[("pdd", "j2")]]
    rest = [[b] for b in (("pdd", "j3"), ("pdd", "j1"))]
    rest += [[(kind, k)] for kind in ("f", "qdd") for k in ("j3", "j2", "j1")]
    factor = kkt.symbolic(kkt.plan(order + rest, system_of("chain:3").structure))
    fill = int((factor.fill_step == 0).sum())
    assert f"fills {fill} block" in text and "digits of float32 lost" in text
    assert "step 0" in counter(page)
    assert page.locator(".over rect[stroke-dasharray]").count() >= 2 * fill


def test_undo_to_the_start_and_back_and_play_to_the_end(opened):
    page = opened("chain:3")
    page.get_by_role("button", name="To the end").click()
    last = page.locator(".layer").first.inner_html()
    for _ in range(3):
        page.get_by_role("button", name="Undo (U)").click()
    assert "step 0 of 3 · fill 0 · 0 operations" in counter(page)
    assert page.get_by_role("button", name="Undo (U)").is_disabled()
    for _ in range(3):
        page.get_by_role("button", name="Redo (R)").click()
    assert page.locator(".layer").first.inner_html() == last
    page.keyboard.press("Home")
    page.keyboard.press("p")
    page.locator(".counter", has_text="step 3 of 3").wait_for()


def test_two_orders_in_step(opened):
    page = opened("chain:3")
    page.select_option("select >> nth=1", "crbm")
    assert page.locator(".board").count() == 2
    for k in (1, 2, 3):
        page.get_by_role("button", name="Next step of the order").click()
        label = page.locator(".board .grid").nth(1).get_attribute("aria-label")
        assert label == f"Block matrix of crbm, step {k}"
    page.get_by_role("button", name="Undo (U)").click()
    assert "step 2" in page.locator(".board .grid").nth(1).get_attribute("aria-label")
    page.select_option("select >> nth=1", "lagrange")  # and a third
    assert page.locator(".board").count() == 3
    first, second = (page.locator(".board .layer").nth(i).inner_html() for i in (0, 2))
    assert first != second
    page.get_by_role("button", name="Take crbm away").click()
    assert page.locator(".board h2").all_inner_texts() == ["abm", "lagrange"]


def test_views_are_linked_and_pointing_moves_nothing(opened):
    page = opened("chain:3", "abm@2")
    where = "[...document.querySelectorAll('aside > *')].map(e => e.getBoundingClientRect().top)"
    before = page.evaluate(where)
    for row, column in (("pdd_j1", "pdd_j1"), ("f_j2", "pdd_j1")):
        page.mouse.move(*at_block(page, row, column))
        assert page.evaluate(where) == before
    page.mouse.move(*at_block(page, "pdd_j3", "pdd_j3"))
    assert page.evaluate(where) == before
    rings = page.locator(".views .over ellipse")
    assert rings.count() == 2  # its body, and its pivot in the elimination tree
    body = page.locator(".views .image").first
    body.scroll_into_view_if_needed()
    box = body.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 14)  # the base
    assert page.locator(".over rect[stroke-dasharray]").count() == 3
    page.mouse.down()
    page.mouse.up()
    assert "Step 3: (pdd_j1 qdd_j1 f_j1)" in status(page)


def test_checkpoints_bring_back_a_state(opened):
    page = opened("chain:3", "abm@2")
    page.keyboard.press("c")
    page.keyboard.type("before the base")
    page.keyboard.press("Enter")
    assert "Checkpoint before the base is set" in status(page)
    page.get_by_role("button", name="To the end").click()
    page.get_by_role("button", name="Go to checkpoint before the base").click()
    assert "step 2 of 3" in counter(page)


def test_a_tap_shows_before_it_pivots(opened):
    page = opened("chain:3", "w", has_touch=True)
    spot = at_block(page, "pdd_j2", "pdd_j2")
    page.touchscreen.tap(*spot)
    page.get_by_text("As the next pivot").wait_for()
    assert "step 0" in counter(page)
    page.touchscreen.tap(*spot)
    page.locator(".counter", has_text="step 1").wait_for()


# -- orders from files, and in the address -----------------------------------------------------------


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


REFUSED = [
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
]


def test_a_file_that_the_page_cannot_honour_is_refused(opened, tmp_path):
    page = opened("chain:3", "abm@2")
    for number, (document, said) in enumerate(REFUSED):
        path = tmp_path / f"mine{number}.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        page.set_input_files("input[type=file]", path)
        page.locator("[role=status].refused", has_text=f"Refused: {path.name}").wait_for()
        assert said in status(page) and "step 2 of 3" in counter(page)


def test_a_file_keeps_its_switches_and_links(opened, tmp_path):
    system = system_of("chain:3")
    orders = ["abm", "gain_abm", "modified_abm_stretched"]
    data = explorer_data(system, "chain:3", orders, ["float32"], story=False)
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


def test_the_order_is_shared_in_the_address(opened):
    page = opened("chain:3")
    own(page)
    click(page, "pdd_j3", "f_j3")
    click(page, "qdd_j3")
    code = page.evaluate("location.hash")
    again = opened("chain:3", code.removeprefix("#order="))
    assert counter(again) == counter(page).replace("of 3", "of 2")
    assert again.evaluate("location.hash") == code


def test_an_address_that_does_not_fit_keeps_what_is_done(opened):
    page = opened("chain:3", "w.p2q2f2.p1q1f1")
    page.evaluate("location.hash = 'order=w.p99'")
    page.locator("[role=status].refused", has_text="does not fit this model").wait_for()
    assert "step 2 of 2" in counter(page)
