"""The explorer's page in headless Chromium: by clicks, by keys, exported, printed."""

import json
import re
import shutil
from importlib.resources import files
from xml.etree import ElementTree

import pytest
from helpers import ROOT, system_of

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.explorer import explorer_data, write_folder, write_page
from pivotree.analysis.explorer.data import text_of
from pivotree.analysis.figures.style import DARK, LIGHT

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by the spec of their model, each written once."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def page_of(spec, orders=("abm", "crbm", "lagrange"), formats=("float32",)):
        if spec not in known:
            data = explorer_data(kkt.build(kkt.load(spec)), spec, orders, formats)
            known[spec] = write_page(data, folder / f"{len(known)}.html")
        return known[spec]

    return page_of


@pytest.fixture
def opened(chromium, pages):
    """Opens a page; at the end nothing was said on the console and nothing left the machine."""
    said, asked, contexts = [], [], []

    def open_page(path, code="", **options):
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        path = path if hasattr(path, "as_uri") else pages(path)
        page.goto(path.as_uri() + (f"#order={code}" if code else "#tool"))
        page.wait_for_selector(".grid svg, .grid canvas")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in asked), asked


def status(page):
    return page.locator("[role=status]").first.inner_text()


def counter(page):
    return page.locator(".counter").inner_text()


def at_block(page, row, column):
    """The place of a block on the screen, by its row and column: (4) listed as (6), tip to base."""
    names = [f"{kind}_{k}" for k in ("j3", "j2", "j1") for kind in ("pdd", "qdd", "f")]
    size = {"pdd": 6.0, "qdd": 2.1, "f": 6.0}  # a joint's row is drawn a little thicker
    box = page.locator(".grid").first.bounding_box()
    margin, total = 34.0, sum(size[name.partition("_")[0]] for name in names)
    scale = (box["width"] - margin - 2.0) / total

    def middle(name):
        before = names[: names.index(name)]
        ahead = sum(size[other.partition("_")[0]] for other in before)
        return margin + scale * (ahead + size[name.partition("_")[0]] / 2)

    return box["x"] + middle(column), box["y"] + middle(row)


def click(page, row, column=None):
    page.locator(".grid").first.scroll_into_view_if_needed()
    page.mouse.click(*at_block(page, row, column or row))


def own(page):
    page.select_option("select >> nth=0", "/whole")


# -- through an elimination -----------------------------------------------------------------------


@pytest.mark.thorough
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


@pytest.mark.thorough
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
            assert (
                page.locator(".grid").first.get_attribute("data-cell") == f"{kind}_{k} {kind}_{k}"
            )
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


def test_a_rank_is_told(opened):
    # the joint above has gone through f of its child: one row of six is left to pivot on
    page = opened("chain:3", "w.p1f1.q1")
    click(page, "f_j3")
    assert "f_j3 has rank 1 of 6: eliminate pdd_j3 first" in status(page)


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


def test_undo_to_the_start_and_back(opened):
    page = opened("chain:3")
    page.get_by_role("button", name="To the end").click()
    last = page.locator(".layer").first.inner_html()
    for _ in range(3):
        page.get_by_role("button", name="Undo (U)").click()
    assert "step 0 of 3 · fill 0 · 0 dense operations" in counter(page)
    assert page.get_by_role("button", name="Undo (U)").is_disabled()
    for _ in range(3):
        page.get_by_role("button", name="Redo (R)").click()
    assert page.locator(".layer").first.inner_html() == last


def test_play_runs_to_the_end(opened):
    page = opened("chain:3")
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


def test_views_are_linked(opened):
    page = opened("chain:3", "abm@2")
    page.mouse.move(*at_block(page, "pdd_j3", "pdd_j3"))
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


@pytest.mark.thorough
def test_checkpoints_bring_back_a_state(opened):
    page = opened("chain:3", "abm@2")
    page.keyboard.press("c")
    page.keyboard.type("before the base")
    page.keyboard.press("Enter")
    assert "Checkpoint before the base is set" in status(page)
    page.get_by_role("button", name="To the end").click()
    page.get_by_role("button", name="Go to checkpoint before the base").click()
    assert "step 2 of 3" in counter(page)


@pytest.mark.thorough
def test_formulas_are_math(opened):
    page = opened("chain:3", "abm@1")
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    formula = page.locator(".formula math")
    formula.wait_for()
    told = formula.get_attribute("aria-label")
    assert told.startswith("M hat j2 is M j2 plus Phi j2,j3 M j3 Phi j2,j3 star minus")
    assert formula.locator("msubsup").count() >= 2


@pytest.mark.thorough
def test_heat_shows_digits_lost(opened):
    page = opened("chain:3", "lagrange@4")
    page.select_option("select >> nth=3", "bfloat16")
    page.keyboard.press("h")
    assert page.locator(".legend-heat .heat").count() == 6
    cells = page.locator(".layer").first.locator("rect[fill^='var(--pt-heat']")
    assert cells.count() > 4
    numbers = page.locator(".layer").first.locator("text").all_text_contents()
    lost = [float(text) for text in numbers if re.fullmatch(r"\d(\.\d)?", text)]
    assert len(lost) > 4 and 0.0 < max(lost) <= 2.5
    page.select_option("select >> nth=3", "float64")
    assert "float64 has no shadow" in page.locator(".legend-heat").inner_text()


@pytest.mark.slow
def test_sliders_change_the_example(opened):
    page = opened("example3:m1=1e8,case=2", "abm@2")
    page.get_by_role("slider", name="Mass ratio").fill("9")
    page.get_by_role("slider", name="Tilt").fill("3")
    assert "Mass ratio 1e9, tilt 45°" in status(page)
    assert "the pivot qdd_2" in page.locator("aside").inner_text()  # D_2 is 0, as in Table 2
    page.get_by_role("slider", name="Tilt").fill("0")
    assert "7.2 digits" in page.locator("aside .answer").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["example1", "example2:m1=1e6"])
def test_the_other_examples_have_sliders_too(opened, spec):
    page = opened(spec, "abm@2")
    kept = set()
    for ratio in ("0", "6"):
        page.get_by_role("slider", name="Mass ratio").fill(ratio)
        page.get_by_role("slider", name="Tilt").fill("2")
        assert "tilt" in status(page)
        kept.add(page.locator("aside .answer").inner_text())
    assert len(kept) == 2 and all("against the certified answer" in text for text in kept)


def test_blame_is_told_of_the_block_pointed_at(opened):
    page = opened("chain:3", "abm@3")
    found = analysis.blame(system_of("chain:3"), "abm", "float32", top=8)
    told = page.locator("aside .panel").first
    shares = {c.step: c.share for c in found.pivots}
    for step, body in enumerate(("j3", "j2", "j1"), start=1):
        page.mouse.move(*at_block(page, f"pdd_{body}", f"pdd_{body}"))
        told.get_by_text(f"pdd_{body}, pdd_{body}").wait_for()
        blamed = re.search(
            r"Blame: step (\d) causes (-?[1-9]\d*|0) % of the error", told.inner_text()
        )
        assert (blamed is not None) == (step in shares)
        if blamed:
            assert blamed[1] == str(step) and abs(float(blamed[2]) - 100 * shares[step]) <= 0.51
    assert shares


def test_challenges_say_how_far_they_are_and_give_hints(opened):
    page = opened("chain:3")
    page.locator("summary", has_text="Challenges").click()
    items = page.locator(".challenges li")
    page.select_option("select >> nth=0", "crbm")
    page.get_by_role("button", name="To the end").click()
    fill, last = (items.nth(k).inner_text() for k in (0, 1))
    assert "6 filled, but replayed" in fill and "6 filled, but replayed" in last
    for words in ("take blocks that few others touch", "A body at a tip has one neighbour"):
        items.first.get_by_role("button", name="Hint").click()
        assert words in items.first.inner_text() and words in status(page)


def test_no_key_meets_challenges_and_no_steps_meet_two(opened):
    page = opened("chain:3", "w")
    page.locator("summary", has_text="Challenges").click()
    reached = page.locator(".challenges li.done")
    page.keyboard.press("f")
    page.locator("[role=status]", has_text="Finished").wait_for()
    assert reached.count() == 0  # ABM, but not by hand
    own(page)
    for k in ("j3", "j2", "j1"):
        page.mouse.move(*at_block(page, f"pdd_{k}", f"pdd_{k}"))
        page.keyboard.press("e")
    assert "This is abm" in status(page) and reached.count() == 1
    page.select_option("select >> nth=3", "bfloat16")
    assert reached.count() == 1
    own(page)
    for k in ("j3", "j2", "j1"):
        click(page, f"pdd_{k}", f"f_{k}")
    for k in ("j3", "j2", "j1"):
        click(page, f"qdd_{k}")
    assert "This is crbm" in status(page) and reached.count() == 2
    page.reload()
    page.locator(".grid svg").first.wait_for()
    assert reached.count() == 2


def test_digits_are_a_challenge_where_orders_differ(opened):
    page = opened("example2:m1=1e8")
    page.locator("summary", has_text="Challenges").click()
    told = page.locator(".challenges").inner_text()
    found = re.search(r"Keep (\d+) digits in (\w+), where (\w+) keeps ([\d.]+)", told)
    assert found and float(found[1]) > float(found[4])


# -- costs, names, addresses ----------------------------------------------------------------------


def test_an_order_has_one_cost_one_answer_and_one_name(opened):
    """By hand and replayed, the same traced operations and measured digits; dense ones by name."""
    system = system_of("chain:3")
    by_hand = {"abm": "w.p2q2f2.p1q1f1.p0q0f0", "crbm": "w.p2f2.p1f1.p0f0.q2.q1.q0"}
    for name, code in by_hand.items():
        traced = kkt.trace(system, orderings.get(name)).flops
        told = []
        for address in (code, f"{name}@{len(code.split('.')) - 1}"):
            page = opened("chain:3", address)
            assert counter(page).endswith(f"{traced} operations")
            answer = page.locator("aside .answer").inner_text()
            assert "measured by pivotree" in answer
            told.append(re.search(r"[\d.]+ digits", answer)[0])
            row = page.locator("aside tr.now").inner_text().split()
            assert row[0] == name and row[3] == str(traced) and f"{row[4]} digits" == told[-1]
            page.keyboard.press("u")
            assert counter(page).endswith("dense operations")
        assert told[0] == told[1]


def test_bodies_have_one_name_or_numbers_on_request(opened):
    page = opened("chain:3")
    texts = page.locator(".layer").first
    assert "Bodies:" not in page.locator(".legend").inner_text() and "j3" in texts.inner_text()
    page.get_by_label("names of bodies").uncheck()
    assert "Bodies: 1 = j3, 2 = j2, 3 = j1" in page.locator(".legend").inner_text()
    assert "j3" not in texts.inner_text()


def test_an_address_that_does_not_fit_keeps_what_is_done(opened):
    page = opened("chain:3", "w.p2q2f2.p1q1f1")
    page.evaluate("location.hash = 'order=w.p99'")
    page.locator("[role=status].refused", has_text="does not fit this model").wait_for()
    assert "step 2 of 2" in counter(page)


def test_nothing_moves_when_a_block_is_pointed_at(opened):
    page = opened("chain:3", "abm@2")
    where = "[...document.querySelectorAll('aside > *')].map(e => e.getBoundingClientRect().top)"
    before = page.evaluate(where)
    for row, column in (("pdd_j3", "pdd_j3"), ("pdd_j1", "pdd_j1"), ("f_j2", "pdd_j1")):
        page.mouse.move(*at_block(page, row, column))
        assert page.evaluate(where) == before


def test_a_tap_shows_before_it_pivots(opened):
    page = opened("chain:3", "w", has_touch=True)
    spot = at_block(page, "pdd_j2", "pdd_j2")
    page.touchscreen.tap(*spot)
    page.get_by_text("As the next pivot").wait_for()
    assert "step 0" in counter(page)
    page.touchscreen.tap(*spot)
    page.locator(".counter", has_text="step 1").wait_for()


# -- the scenes -----------------------------------------------------------------------------------


@pytest.fixture
def scene(opened, pages):
    """A scene by its number."""

    def open_scene(number, **options):
        path = pages("chain:3")
        page = opened(path, **options)
        page.goto(path.as_uri() + f"#scene={number}")
        page.locator(".scene-title").wait_for()
        page.locator(".story .grid svg").first.wait_for()
        return page

    return open_scene


def link(page, body):
    """A link of the robot, which moves: its joint, pressed where it is."""
    page.locator(".story .robot .body").nth(body).dispatch_event("click")


def test_the_page_asks_its_question_first_and_every_screen_holds_it(chromium, pages):
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        context = chromium.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        page.goto(pages("chain:3").as_uri())
        page.locator(".story .grid svg").first.wait_for()
        assert page.locator("h1").inner_text() == "In which order would you eliminate?"
        grid = page.locator(".story .grid").bounding_box()
        assert grid["y"] < 260 and grid["y"] + grid["height"] <= height
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".story .robot").bounding_box()["y"] < height
        context.close()


def test_a_link_lights_its_rows_and_a_row_its_link(scene):
    page = scene(1)
    page.locator(".story .robot .body").nth(1).dispatch_event("pointerenter")
    told = page.locator(".told")
    told.get_by_text("Body 2: rows p̈, q̈ and f. It meets body 3 and body 1").wait_for()
    assert page.locator(".story .over rect").count() == 2  # rows, and columns
    box = page.locator(".story .grid").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20)
    page.locator(".story .robot .body.marked").wait_for()
    assert page.locator(".story .robot .marked title").text_content() == "body 3"


def test_fill_is_seen_before_and_after(scene):
    order = [[("pdd", "j2")]] + [[(kind, k)] for kind in ("pdd", "f", "qdd")
             for k in ("j3", "j2", "j1") if (kind, k) != ("pdd", "j2")]  # fmt: skip
    factor = kkt.symbolic(kkt.plan(order, system_of("chain:3").structure))
    fill = f"{int((factor.fill_step == 0).sum())} block"
    page = scene(2)
    box = page.locator(".story .grid").bounding_box()
    spot = (box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.47)
    page.mouse.move(*spot)
    page.locator(".told", has_text=f"p̈ of body 2: would fill {fill}").wait_for()
    page.mouse.click(*spot)
    page.locator(".told", has_text=f"is gone: {fill} filled in").wait_for()
    page.get_by_role("button", name="Undo the last step").click()
    assert "One step back" in page.locator(".told").inner_text()


def test_abm_is_found_and_wrong_ways_are_told_why(scene):
    page = scene(4)
    told = page.locator(".told")
    link(page, 1)
    text = told.inner_text()
    assert "Body 1 still hung on it" in text and "(1, 3)" in text
    page.keyboard.press("u")
    for body in (2, 1, 0):
        link(page, body)
    traced = {
        (n, name): kkt.trace(system_of(f"chain:{n}"), orderings.get(name)).flops
        for n in (3, 10) for name in ("abm", "crbm")
    }  # fmt: skip
    text = told.inner_text()
    assert f"This is ABM, the articulated body method: 2 blocks of fill, {traced[3, 'abm']}" in text
    assert f"CRBM, all joints last, fills 6 and takes {traced[3, 'crbm']}" in text
    assert f"ABM takes {traced[10, 'abm']:,} and CRBM {traced[10, 'crbm']:,}" in text


def test_digits_vanish_in_one_order_and_not_in_the_other(scene):
    page = scene(5)
    for name, words in (("crbm", "pivot is 0;"), ("abm", "pivot is 1;")):
        page.get_by_role("button", name=f"Run {name}", exact=True).click()
        assert words in page.locator(".told").inner_text()
    page.locator(".scene-buttons .primary").click()
    assert page.locator(".transport").is_visible() and not page.locator(".story").is_visible()
    page.get_by_role("button", name=re.compile("^Five scenes")).click()
    assert page.locator(".scene-title").inner_text() == "The arm is a matrix"


# -- out of the page ------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["SVG", "PNG", "PDF", "TikZ", "JSON"])
def test_exports_are_what_they_say(opened, kind, tmp_path, capsys):
    page = opened("chain:3", "abm@3")
    page.locator("summary", has_text="Export").click()
    page.select_option("aside select", "range")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Export as {kind.lower()}").click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    raw = path.read_bytes()
    if kind == "SVG":
        root = ElementTree.fromstring(raw)
        assert root.tag.endswith("svg") and b"var(" not in raw and LIGHT.new.encode() in raw
        assert "chain:3, abm: step 3, fill 2" in "".join(root.itertext())
    elif kind == "PNG":
        assert raw.startswith(b"\x89PNG") and len(raw) > 20_000
    elif kind == "PDF":
        assert raw.startswith(b"%PDF-1.4") and raw.rstrip().endswith(b"%%EOF")
        assert raw.count(b"/Type /Page ") == 4
        start = int(re.search(rb"startxref\n(\d+)", raw)[1])
        assert raw[start:].startswith(b"xref")
        for number, offset in enumerate(re.findall(rb"(\d{10}) 00000 n", raw), start=1):
            assert raw[int(offset) :].startswith(b"%d 0 obj" % number)
    elif kind == "TikZ":
        text = raw.decode()
        assert text.count(r"\begin{tikzpicture}") == 4 == text.count(r"\end{tikzpicture}")
        assert r"$\hat{M}_{j2}$" in text
    else:
        assert json.loads(raw)["complete"] and len(json.loads(raw)["steps"]) == 3
        order = orderings.get(str(path))
        fill = kkt.symbolic(kkt.plan(order, system_of("chain:3").structure)).fill_blocks
        assert fill == 2
        assert main(["solve", "chain:3", "--order", str(path), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["error"] < 1e-14


def test_a_range_of_steps_is_exported(opened):
    page = opened("chain:3", "abm@1")
    page.locator("summary", has_text="Export").click()
    first = page.get_by_label("First step")
    assert not first.is_visible()
    page.select_option("aside select", "range")
    first.fill("1")
    page.get_by_label("Last step").fill("2")  # one that is still ahead
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export as tikz").click()
    assert waiting.value.suggested_filename == "chain_3_abm_1_2.tex"
    text = waiting.value.path().read_text()
    assert [*dict.fromkeys(re.findall(r"abm: step (\d)", text))] == ["1", "2"]
    assert "step 1 of 3" in counter(page)
    assert page.evaluate("location.hash").endswith("abm%401")
    first.fill("3")
    page.get_by_role("button", name="Export as tikz").click()
    assert "Refused: there are steps 0 to 3, not 3 to 2" in status(page)


def test_dark_light_and_paper(opened):
    page = opened("chain:3", color_scheme="dark")

    def colour(selector=".pivotree"):
        return page.evaluate(
            f"getComputedStyle(document.querySelector('{selector}')).backgroundColor"
        )

    def rgb(text):
        return "rgb({}, {}, {})".format(*(int(text[i : i + 2], 16) for i in (1, 3, 5)))

    assert colour() == rgb(DARK.page) == colour("body")
    page.get_by_role("button", name=re.compile("^Theme")).click()
    page.get_by_role("button", name=re.compile("^Theme")).click()
    assert colour() == rgb(LIGHT.page) == colour("body")
    page.get_by_role("button", name=re.compile("^Theme")).click()
    page.emulate_media(media="print", color_scheme="dark")
    assert colour() == rgb(LIGHT.page) == colour("body")
    assert not page.locator(".transport").is_visible() and page.locator(".grid").is_visible()
    page.emulate_media(media="screen", color_scheme="dark", reduced_motion="reduce")
    button = "getComputedStyle(document.querySelector('button')).transitionDuration"
    assert page.evaluate(button) == "0s"


@pytest.mark.thorough
def test_focus_can_be_seen(opened):
    page = opened("chain:3")
    page.keyboard.press("Tab")
    width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
    assert width >= 2.0
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    assert page.locator(".over rect").count() >= 2  # the cursor, with a rim of the page's colour


@pytest.mark.thorough
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_serious(opened, pages, colours):
    """axe-core, where `npm install --no-save axe-core` has put it."""
    axe = ROOT / "node_modules/axe-core/axe.min.js"
    if not axe.exists():
        pytest.skip("axe-core is not installed")
    for at in ("scene=1", "scene=5", "order=abm@2"):
        page = opened("chain:3", color_scheme=colours, bypass_csp=True)
        page.goto(pages("chain:3").as_uri() + f"#{at}")
        page.locator(".grid svg >> visible=true").first.wait_for()
        page.add_script_tag(content=axe.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document)")["violations"]
        serious = [v["id"] for v in found if v["impact"] in ("serious", "critical")]
        assert serious == []


def test_narrow_screens_do_not_scroll_sideways(opened):
    page = opened("chain:3", "crbm@2")
    page.set_viewport_size({"width": 375, "height": 740})
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    texts = page.locator(".views svg text")  # curves stand one below the other, to be read
    sizes = [texts.nth(i).bounding_box()["height"] for i in range(texts.count())]
    assert len(sizes) > 9 and min(sizes) >= 10.0, sizes


def test_the_folder_works_without_inline_code(opened, tmp_path):
    data = explorer_data(system_of("chain:3"), "chain:3", ["abm"], ["float32"])
    write_folder(data, tmp_path / "strict")
    page = opened(tmp_path / "strict" / "index.html")
    page.get_by_role("button", name="To the end").click()
    assert "All blocks are eliminated" in status(page)


# -- speed and size -------------------------------------------------------------------------------


@pytest.mark.slow
def test_300_blocks_are_stepped_through(opened):
    page = opened(pages_of_a_hundred(), "crbm@40")
    assert page.locator(".grid").get_attribute("aria-rowcount") == "303"
    for _ in range(15):
        page.get_by_role("button", name="Next step of the order").click()
    assert "step 55 of 202" in counter(page)
    first = page.locator(".legend rect").first  # as the blocks of a large matrix are drawn
    assert first.get_attribute("fill") == "var(--pt-entryStrong)"


_HUNDRED = {}


def pages_of_a_hundred():
    """101 joints, 303 blocks a side; its numbers are the page's own."""
    if not _HUNDRED:
        import tempfile
        from pathlib import Path

        system = kkt.build(kkt.load("random_tree:n=101,seed=1,joints=revolute"))
        data = explorer_data(system, "101 joints", ["crbm", "abm"], [])
        _HUNDRED["page"] = write_page(data, Path(tempfile.mkdtemp()) / "page.html")
    return _HUNDRED["page"]


@pytest.mark.slow
def test_a_large_tree_is_shown_by_densities_and_a_subtree(opened, tmp_path):
    system = kkt.build(kkt.load("random_tree:n=10000,seed=4"))
    data = explorer_data(system, "large", ["abm"], [])
    page = opened(write_page(data, tmp_path / "large.html"))
    text = page.locator("body").inner_text()
    assert "10,000 bodies: too many to draw block by block" in text
    assert re.search(r"each dot stands for \d+ by \d+ blocks", text)
    page.select_option("select >> nth=0", "abm")
    assert "abm fills 9,999 blocks" in page.locator("figcaption").first.inner_text()
    _, fill, height = page.locator("tbody tr").first.locator("td").all_inner_texts()
    assert int(fill) == 99 and 0 < int(height) <= 300
    assert "Below: the subtree of" in status(page)
    page.get_by_role("button", name="Next step of the order").click()
    assert "step 1 of" in counter(page)
