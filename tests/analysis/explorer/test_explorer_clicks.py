"""On the explorer's page: eliminations by clicks, keys and files; what it tells; and its scenes."""

import json
import re
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from explorer_page import at_block, click, counter, own, status
from helpers import system_of, tape_of

import pivotree as pt
from pivotree import analysis, kkt, orderings
from pivotree.analysis.explorer import embedded, explorer_data, write_page
from pivotree.analysis.explorer.data import text_of
from pivotree.analysis.symbols import ASCHER


def test_a_full_abm_by_clicks(opened):
    """Menu, heading and table name the order that the steps are, though another was replayed."""
    page = opened("chain:3", "crbm@6")
    menu = page.locator("select").first
    page.get_by_role("button", name="To the start").click()
    for k in ("j3", "j2", "j1"):
        page.get_by_role("button", name=re.compile("^(Open|Close) bracket")).click()
        for kind in ("pdd", "qdd", "f"):
            click(page, f"{kind}_{k}")
        page.get_by_role("button", name=re.compile("^(Open|Close) bracket")).click()
        assert "Step" in status(page) and f"pdd_{k}" in status(page)
        assert menu.input_value() == ("abm" if k == "j1" else "/whole")
    assert page.locator("figure.board h2").first.inner_text() == "your order: this is abm"
    assert page.locator("aside tr.now").inner_text().split()[0] == "abm"
    assert "step 3 of 3 · fill 2" in counter(page)
    assert "All blocks are eliminated" in status(page) and "This is abm" in status(page)
    assert float(re.search(r"([\d.]+) digits of qdd kept in float32", status(page))[1]) >= 6.0


def test_a_full_abm_by_keys_alone(opened):
    page = opened("chain:3")
    own(page)
    page.evaluate("document.activeElement.blur()")
    for _ in range(40):  # to the matrix as a reader without a mouse gets there
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "grid":
            break
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    assert page.locator(".strip button:not([tabindex='-1'])").count() == 5  # one chip, and the tools
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


def test_what_keys_and_mouse_reach_is_told(opened):
    page = opened("chain:3", "w.p2q2f2")  # (pdd_j3 qdd_j3 f_j3) is gone
    page.keyboard.press("m")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowDown")
    cell = page.locator("[role=gridcell]")
    assert page.locator(".grid").get_attribute("aria-activedescendant") == cell.get_attribute("id")
    told = cell.get_attribute("aria-label")
    assert told.startswith("row pdd_j2, column pdd_j2: M hat j2.")
    assert "As the next pivot: fills 0 blocks" in told and "operations" in told
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    formula = page.locator(".formula math")
    formula.wait_for()
    told = formula.get_attribute("aria-label")
    assert told.startswith("M hat j2 is M j2 plus Phi j2,j3 M j3 Phi j2,j3 star minus")
    assert formula.locator("msubsup").count() >= 2


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


def filled_by_pdd_j2():
    """Blocks that pdd_j2 fills in as the first pivot of chain:3."""
    order = [[("pdd", k)] for k in ("j2", "j3", "j1")]
    order += [[(kind, k)] for kind in ("f", "qdd") for k in ("j3", "j2", "j1")]
    factor = kkt.symbolic(kkt.plan(order, system_of("chain:3").structure))
    return int((factor.fill_step == 0).sum())


def test_a_preview_comes_before_the_click(opened):
    page = opened("chain:3")
    own(page)
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    told = page.locator("aside .panel").first
    told.get_by_text("As the next pivot").wait_for()
    text = told.inner_text()
    fill = filled_by_pdd_j2()
    assert f"fills {fill} block" in text and "digits of float32 lost" in text
    assert "step 0" in counter(page)
    assert page.locator(".over rect[stroke-dasharray]").count() >= 2 * fill


def test_back_to_the_start_and_play_to_the_end(opened):
    page = opened("chain:3")
    page.get_by_role("button", name="To the end").click()
    last = page.locator(".layer").first.inner_html()
    page.keyboard.press("Home")
    assert "step 0 of 3 · fill 0 · 0 operations" in counter(page)
    assert page.get_by_role("button", name="Undo (U)").is_disabled()
    page.keyboard.press("p")
    page.locator(".counter", has_text="step 3 of 3").wait_for()
    assert page.locator(".layer").first.inner_html() == last


def test_two_orders_in_step(opened):
    page = opened("chain:3")
    page.select_option("select >> nth=1", "crbm")
    assert page.locator(".board").count() == 2
    for k in (1, 2, 3):
        page.get_by_role("button", name="Next step of the order").click()
        assert page.get_by_label(f"Block matrix of crbm, step {k}").count() == 1
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
    assert rings.count() == 2  # itself in the graph, and its pivot in the elimination tree
    page.locator(".robot .body").nth(0).hover(force=True)  # the base
    assert page.locator(".board .over rect").count() == 2  # its rows and its columns
    assert page.locator(".strip .chip.lit").all_inner_texts() == ["p\u0308j1", "fj1", "q\u0308j1"]
    assert rings.count() == 3
    page.mouse.down()
    page.mouse.up()
    assert "Step 3: (pdd_j1 qdd_j1 f_j1)" in status(page)


def unknown(page, place):
    """Where an unknown stands in the elimination graph, by its place in the matrix."""
    dot = page.locator(".views figure").first.locator("svg ellipse").nth(place)
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_graph_shows_what_a_pivot_couples_and_is_a_control(opened):
    page = opened("chain:3", "w")
    pdd_j2 = 3
    page.mouse.move(*unknown(page, pdd_j2))
    assert page.locator(".views figure").first.locator(".over polyline").count() == filled_by_pdd_j2()
    assert page.locator(".strip .chip.lit").all_inner_texts() == ["p\u0308j2"]
    assert page.locator(".robot .name.marked").text_content() == "j2"
    assert page.locator(".board .over rect[stroke-dasharray]").count() >= 2 * filled_by_pdd_j2()
    page.mouse.down()
    page.mouse.up()
    assert "Step 1: (pdd_j2)" in status(page)
    new = page.locator(".views figure").first.locator("polyline[stroke='var(--pt-new)']")
    assert new.count() == filled_by_pdd_j2()  # its neighbours are a clique
    page.mouse.click(*unknown(page, 1))
    assert "Refused: qdd_j3 is structurally zero" in status(page)
    page.keyboard.press("f")
    page.locator("[role=status]", has_text="Finished").wait_for()
    page.mouse.click(*unknown(page, pdd_j2))  # back to its step
    assert counter(page).startswith("step 1 of")


def test_a_limb_is_folded_to_one_block_that_is_eliminated_at_once(opened):
    """Fill and order are those of its bodies, tip to base; the address keeps what is folded."""
    page = opened("chain:4", "w")
    page.select_option("select:has(option[value='2'])", "2")
    assert "One block for the limb of j3, 2 bodies" in status(page)
    assert page.evaluate("location.hash").endswith("&fold=2")
    page.reload()
    page.locator(".grid svg").first.wait_for()
    size = page.locator(".grid").first.bounding_box()
    assert page.locator(".grid").first.get_attribute("aria-rowcount") == "7"
    page.mouse.move(size["x"] + 50, size["y"] + 50)
    assert "fills 2 blocks above the diagonal" in page.locator("aside .panel").first.inner_text()
    page.mouse.click(size["x"] + 50, size["y"] + 50)
    assert "eliminated in 2 steps: fill 2" in status(page)
    assert "order=w.p3q3f3.p2q2f2&fold=2" in page.evaluate("location.hash")
    page.keyboard.press("l")
    assert "The limb of j3 is unfolded" in status(page) and "fold" not in page.evaluate("location.hash")


def test_a_tap_shows_before_it_pivots(opened):
    page = opened("chain:3", "w", has_touch=True)
    spot = at_block(page, "pdd_j2", "pdd_j2")
    page.touchscreen.tap(*spot)
    page.get_by_text("As the next pivot").wait_for()
    assert "step 0" in counter(page)
    page.touchscreen.tap(*spot)
    page.locator(".counter", has_text="step 1").wait_for()


# -- orders from files, and in the address -----------------------------------------------------------


REFUSED = [
    ([[["qdd", "j3"]]], "qdd_j3 is structurally zero"),
    ("[", "is not JSON"),
    ({"steps": []}, "holds no list of groups"),
    ({"groups": [["pdd"]]}, 'step 1 holds "pdd"; a block is ["pdd", "link1"]'),
    ([["pdd:j3"], [7, 13]], "step 2 holds 7; a block is"),
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


def test_an_order_is_opened_from_a_file_and_one_that_the_page_cannot_honour_is_refused(opened, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([[["pdd", "j3"], ["f", "j3"]], ["qdd:j3"]]))
    page = opened("chain:3")
    page.set_input_files("input[type=file]", path)
    page.locator(".counter", has_text="step 2 of 2").wait_for()
    for number, (document, said) in enumerate(REFUSED):
        path = tmp_path / f"mine{number}.json"
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        page.set_input_files("input[type=file]", path)
        page.locator("[role=status].refused", has_text=f"Refused: {path.name}").wait_for()
        assert said in status(page) and "step 2 of 2" in counter(page)  # the order before is still there
    page.evaluate("location.hash = 'order=w.p99'")
    page.locator("[role=status].refused", has_text="does not fit this model").wait_for()
    assert "step 2 of 2" in counter(page)


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
        code = page.evaluate("decodeURIComponent(location.hash)").partition("&order=")[2]
        again = opened(path_of_page, code)  # the address keeps them, too
        assert "step 2 of 2" in counter(again)
        again.locator("summary", has_text="Export").click()
        with again.expect_download() as waiting:
            again.get_by_role("button", name="Export as json").click()
        saved = json.loads(waiting.value.path().read_text())
        assert (saved["links"], saved["rules"], saved["groups"]) == (links, kept, listed[:2])


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


SEEN = ("entry", "fill", "new", "heat5")


def test_heat_is_full_where_all_is_lost(opened):
    """CRBM's last pivot is zero in float32 on Example 2: no block is left, and none is blank."""
    page = opened("example2:m1=1e8", "crbm@4")
    page.keyboard.press("h")
    cells = {name: page.locator(f".layer:not(.over) rect[fill='var(--pt-{name})']") for name in SEEN}
    assert "is zero" in page.locator("aside").inner_text()
    assert [cells[name].count() for name in SEEN] == [0, 0, 0, 1]
    page.select_option("select >> nth=0", "abm")
    page.get_by_role("button", name="To the end of the order").click()
    assert cells["heat5"].count() == 0  # ABM loses nothing here


@pytest.mark.parametrize(("spec", "body", "tilt"), [("chain:4", "j4", 30), ("four_bar", "coupler", 0)])
def test_any_robot_has_a_mass_and_an_angle_to_slide(opened, spec, body, tilt):
    """Digits on the page are those that the engine finds for the robot so changed; the address keeps it."""
    tree = kkt.load(spec)
    tree.nodes[body].update({key: 1e6 * np.asarray(tree.nodes[body][key]) for key in ("mass", "inertia")})
    q = kkt.build(tree).state.q.copy()
    q[-1] += np.deg2rad(tilt)
    page = opened(spec, "crbm@1")
    page.get_by_role("slider", name=f"Mass of {body} ×").fill("6")
    angle = page.get_by_role("slider", name=f"Angle of {body} +")
    assert angle.count() == bool(tilt)
    if tilt:
        angle.fill("2")
    assert page.evaluate("location.hash").endswith(f"&ratio=1000000&tilt={tilt}")
    rows = page.locator("aside tbody tr").all_inner_texts()
    found = {line.split()[0]: float(line.split()[-1]) for line in rows}
    for row in pt.compare(kkt.build(tree, q), ["crbm", "abm"], ["float32"]).rows:
        assert found[row.order] == pytest.approx(row.digits, abs=0.051)


def test_the_table_is_of_the_masses_that_are_set(opened):
    """Each order's digits in it are those that the page tells once the order is replayed."""
    page = opened("example2:m1=1e8", "crbm@4")
    rows = page.locator("aside tbody tr")

    def table():
        return {line.split()[0]: line.split()[-1] for line in rows.all_inner_texts()}

    given = table()
    assert given["crbm"] == "fails" and "measured by pivotree" in page.locator("caption").inner_text()
    page.get_by_role("slider", name="Mass ratio").fill("3")
    found = table()
    assert "angle that are set, computed on this page" in page.locator("caption").inner_text()
    for name in ("crbm", "abm"):
        page.select_option("select >> nth=0", name)
        page.get_by_role("button", name="To the end of the order").click()
        assert f"{found[name]} digits of qdd kept" in page.locator("aside .answer").inner_text()
    page.get_by_role("slider", name="Mass ratio").fill("8")
    assert table()["crbm"] == "fails" and "became" not in page.locator("aside").inner_text()


def test_blame_is_told_of_the_block_pointed_at(opened):
    page = opened("chain:3", "abm@3")
    found = analysis.blame(system_of("chain:3"), "abm", "float32", top=8)
    told = page.locator("aside .panel").first
    shares = {c.step: c.share for c in found.pivots}
    for step, body in enumerate(("j3", "j2", "j1"), start=1):
        page.mouse.move(*at_block(page, f"pdd_{body}", f"pdd_{body}"))
        told.get_by_text(f"pdd_{body}, pdd_{body}").wait_for()
        blamed = re.search(r"Blame: step (\d) causes (-?[1-9]\d*|0) % of the error", told.inner_text())
        assert (blamed is not None) == (step in shares)
        if blamed:
            assert blamed[1] == str(step) and abs(float(blamed[2]) - 100 * shares[step]) <= 0.51
    assert shares


def test_pivots_one_at_a_time_are_told_from_the_order_whose_brackets_they_are(opened):
    page = opened("chain:3", "w")
    for k in ("j3", "j2", "j1"):
        page.mouse.move(*at_block(page, f"pdd_{k}", f"pdd_{k}"))
        page.keyboard.press("e")
    assert "This is abm" in status(page)
    own(page)
    for k in ("j3", "j2", "j1"):
        for kind in ("pdd", "f", "qdd"):
            click(page, f"{kind}_{k}")
    assert "Its pivots are those of abm, one at a time: as brackets they take 456" in status(page)
    own(page)
    for k in ("j3", "j2", "j1"):
        click(page, f"pdd_{k}", f"f_{k}")
    for k in ("j3", "j2", "j1"):
        click(page, f"qdd_{k}")
    assert "This is crbm" in status(page)


def test_an_order_has_one_cost_one_answer_and_one_name(opened):
    """By hand and replayed, the same traced operations and measured digits, at every step."""
    traced, told = tape_of("chain:3", "crbm").flops, []
    for address in ("w.p2f2.p1f1.p0f0.q2.q1.q0", "crbm@6"):
        page = opened("chain:3", address)
        assert counter(page).endswith(f"{traced} operations")
        answer = page.locator("aside .answer").inner_text()
        assert "measured by pivotree" in answer
        told.append(re.search(r"[\d.]+ digits", answer)[0])
        row = page.locator("aside tr.now").inner_text().split()
        assert row[0] == "crbm" and row[3] == str(traced) and f"{row[4]} digits" == told[-1]
        page.keyboard.press("u")
        told[-1] += counter(page).rpartition("fill")[2]
        shown = page.locator("#explorer").inner_html()
        assert "dense operations" not in shown
    assert told[0] == told[1] and told[0].endswith(" operations")


def test_bodies_have_one_name_or_numbers_on_request(opened):
    page = opened("chain:3")
    texts = page.locator(".layer").first
    assert "Bodies:" not in page.locator(".legend").inner_text() and "j3" in texts.inner_text()
    page.get_by_label("names of bodies").uncheck()
    assert "Bodies: 1 = j3, 2 = j2, 3 = j1" in page.locator(".legend").inner_text()
    assert "j3" not in texts.inner_text()


def test_where_multipliers_stand_decides_the_digits(opened, pages):
    """Soft feet condensed first take most digits; last, lambda leaves them."""
    spec = "quadruped:feet=2,compliance=1e-6"
    page = opened(pages(spec, ("abm", "crbm", "lambda_first")))
    system = system_of(spec)
    names = [page.locator(f".beside .robot {what}").all_text_contents() for what in ("text", "title")]
    assert [set(some) for some in names] == [{*map(str, range(1, 14))}, set(system.structure.names)]
    bodies, n = system.structure.order.tolist(), system.structure.n
    by_hand = ".".join(f"p{k}q{k}f{k}" for k in bodies)
    digits = []
    for code in (f"w.l0.l1.{by_hand}", f"w.{by_hand}.l0.l1"):
        page.goto(page.url.partition("#")[0] + f"#order={code}")
        page.locator(".counter", has_text=f"step {n + 2} of {n + 2}").wait_for()
        digits.append(float(page.locator("aside .answer strong").inner_text().partition(" ")[0]))
    assert digits[0] < 3 and digits[1] > digits[0] + 2
    page.goto(page.url.partition("#")[0] + "#scene=7")
    page.locator(".story .grid").hover(position={"x": 12, "y": 12})  # too many blocks for letters in them
    assert page.locator(".cell-told").text_content().endswith("M1, 6 × 6; M: spatial inertia")


# -- scenes ------------------------------------------------------------------------------------------


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


def cell(page, row, column):
    """The place of a cell of the sliders' matrix: rows of equal height, tip first, three a slider."""
    page.locator(".story .grid").scroll_into_view_if_needed()
    box = page.locator(".story .grid").bounding_box()
    side = (box["width"] - 36.0) / len(
        page.evaluate("[...document.querySelectorAll('.slider')].flatMap(() => [0, 0, 0])")
    )
    return box["x"] + 34.0 + (column + 0.5) * side, box["y"] + 34.0 + (row + 0.5) * side


def cells(page, layer=":not(.over)", bold=""):
    """Texts of numbers in a layer of the matrix, by their places."""
    texts = page.locator(f".story .layer{layer} text[text-anchor=middle]{bold}")
    return Counter(texts.all_text_contents())


def told(page):
    return page.locator(".told").text_content()


def test_every_equation_is_its_row_and_its_law(scene):
    """Nine equations, from Newton's law and the joints of sliders of 5, 3 and 2 kg."""
    page = scene(1)
    laws = page.locator(".law")
    texts = [text.replace("\u00a8", "") for text in laws.all_text_contents()]
    assert texts == [
        *("5p1+f1=0", "f1=5", "p1+q1−p2=0"),
        *("−f1+3p2+f2=0", "f2=11", "p2+q2−p3=0"),
        *("−f2+2p3+f3=0", "f3=17", "p3+q3=0"),
    ]
    for row, law in enumerate(("Newton", "the motor", "the joint") * 3):
        laws.nth(row).hover()
        assert law in told(page) and f"slider {row // 3 + 1}" in told(page)
        assert page.locator(".law.marked").count() == 1 and page.locator(".slider.marked").count() == 1
        page.mouse.move(*cell(page, row, row))
        assert laws.nth(row).get_attribute("class") == "law marked"


def test_a_slider_lights_its_rows_and_a_letter_says_what_it_is(scene):
    page = scene(1)
    page.locator(".slider").nth(1).dispatch_event("pointerenter")
    assert "It meets slider 3 and slider 1, and no other" in told(page)
    assert page.locator(".story .over rect").count() == 2  # rows, and columns
    page.locator(".letter").first.focus()
    assert told(page).endswith(f": {ASCHER['pdd'].what}. 3 rows of one number, framed in the matrix.")
    page.mouse.move(*cell(page, 3, 3))
    assert page.locator(".cell-told").text_content().endswith(f"M2 = 3, 1 × 1; M: {ASCHER['M'].what}")
    page.mouse.click(*cell(page, 3, 3))  # a number goes, and the next scene tells what came of it
    assert "#scene=2&steps=" in page.evaluate("location.hash") and "that fills 4 blocks" in told(page)


@pytest.mark.parametrize("row", [0, 3, 6])
def test_what_is_foreseen_is_what_the_click_paints(scene, row):
    """Cells framed before the click, their number told, and painted; numbers foretold, and written."""
    page = scene(2)
    before = cells(page)
    page.mouse.move(*cell(page, row, row))
    words = re.search(r"would fill (.*)\.", told(page))[1]
    number = re.search(r"\d+", words)[0]
    framed = page.locator(".story .over rect[stroke='var(--pt-new)'][stroke-dasharray]")
    foretold = cells(page, ".over", "[font-weight]")
    assert framed.count() == int(number)
    caption = page.locator(".cell-told").text_content()
    page.mouse.click(*cell(page, row, row))
    assert f"that fills {words}" in told(page) and page.locator(".cell-told").text_content() == caption
    painted = page.locator(".story .layer:not(.over) rect[fill='var(--pt-new)']")
    assert painted.count() == int(number) and cells(page) - before == foretold != {}
    assert any("/" in text for text in foretold)  # a mass was divided by
    page.get_by_role("button", name="Undo the last step").press("Enter")  # the focus goes on
    assert cells(page) == before and "One step back" in told(page)
    assert page.evaluate("document.activeElement.title").startswith("Next, scene 3")


def test_zeros_are_refused_and_a_pair_divides_nothing(scene):
    page = scene(3)
    before = cells(page)
    for row in (1, 2, 4, 5, 7, 8):
        page.mouse.click(*cell(page, row, row))
        assert "That cannot go yet" in told(page) and cells(page) == before
    page.mouse.click(*cell(page, 0, 0))
    assert any("/" in text for text in cells(page))
    page.get_by_role("button", name="Undo the last step").click()
    for first, second in ((0, 2), (5, 3), (6, 8)):
        page.mouse.click(*cell(page, first, second))
        assert "is gone" in told(page)
    before = cells(page)
    assert not any("/" in text for text in before)
    page.reload()  # the address holds the scene and its steps
    page.locator(".story .grid svg").first.wait_for()
    assert cells(page) == before
    for row in (1, 4, 7):  # then the joints: CRBM, pair by pair
        page.mouse.click(*cell(page, row, row))
    fill = kkt.symbolic(kkt.plan(orderings.get("crbm"), system_of("chain:3").structure)).fill_blocks
    assert f"All are eliminated: {fill} blocks of fill in all" in told(page)


def test_six_sequences_are_six_eliminations_and_one_is_abm(scene):
    """Scene 4 in all its ways: fill is the engine's, one alone is named, no answer comes unasked."""
    page = scene(4)
    structure = system_of("chain:3").structure
    best = []
    for sequence in permutations(range(3)):
        page.get_by_role("button", name="Scene 4: Find the order", exact=True).click()
        for body in sequence:
            assert "ABM" not in page.locator(".story").inner_text()
            link(page, body)
        order = [[(kind, f"j{body + 1}") for kind in ("pdd", "qdd", "f")] for body in sequence]
        fill = kkt.symbolic(kkt.plan(order, structure)).fill_blocks
        text = told(page)
        assert f"All are eliminated: {fill} blocks of fill in all" in text
        assert ("this is ABM" in text) == (sequence == (2, 1, 0))
        best.append((fill, int(re.search(r"sequence takes (\d+) operations", text)[1])))
        fill, cost = min(best)
        tries = f"Best of {len(best)} tries: {fill} blocks, {cost} operations"
        assert (tries in text) == (len(best) > 1)
    assert min(best) == best[-1] and best.count(best[-1]) == 1
    abm, crbm = (tape_of("chain:30", name).flops for name in ("abm", "crbm"))
    assert f"30 links it takes {abm:,} operations, where CRBM, all joints last, takes {crbm:,}" in told(page)
    hint = page.get_by_role("button", name="A hint")
    asked = [hint.click() or told(page) for _ in range(4)]
    assert len(set(asked)) == 3 and asked[3] == asked[0]


def test_digits_vanish_in_one_order_and_not_in_the_other(scene):
    page = scene(5)
    struck = page.locator(".story .layer:not(.over) .struck")
    exact, single = 1 + 10**8, int(np.float32(1) + np.float32(10**8))
    page.get_by_role("button", name="Run crbm", exact=True).click()
    lost = f"the cell of p\u0308 of slider 2 should hold {exact}, and float32 holds {single}"
    assert lost in told(page) and "pivot is 0;" in told(page)
    assert struck.all_text_contents() == ["1", "1"]  # of 100000001, and the whole pivot
    for _ in range(3):  # back to where the masses are added
        page.get_by_role("button", name="Undo the last step").click()
    assert cells(page)[str(exact)] == 1 and struck.count() == 1
    page.get_by_role("button", name="Run abm", exact=True).click()
    assert "pivot is 1;" in told(page) and struck.count() == 0


@pytest.mark.parametrize("sequence", [(0, 2, 1), (2, 1, 0)])
def test_cells_fatten_to_blocks_and_orders_stay(scene, sequence):
    page = scene(6)
    link(page, sequence[0])
    switch = page.get_by_role("button", name="Make them rigid bodies", exact=True)
    numbers = cells(page).total()
    switch.click()
    assert switch.get_attribute("aria-pressed") == "true" and cells(page).total() > 3 * numbers
    for body in sequence[1:]:
        link(page, body)
    order = [[(kind, f"j{body + 1}") for kind in ("pdd", "qdd", "f")] for body in sequence]
    fill = kkt.symbolic(kkt.plan(order, system_of("chain:3").structure)).fill_blocks
    assert f"All are eliminated: {fill} blocks of fill in all. With rigid bodies" in told(page)
    assert ("this is ABM" in told(page)) == (sequence == (2, 1, 0))


def test_the_last_scene_is_of_the_pages_robot_and_leads_to_the_tool(scene):
    page = scene(7)
    assert "These are the blocks of chain:3" in page.locator(".scene-text").inner_text()
    for body in (2, 1, 0):
        link(page, body)
    abm = tape_of("chain:3", "abm").flops
    assert f"this sequence takes {abm} operations" in told(page) and "this is ABM" in told(page)
    button = page.locator(".scene-buttons .primary")
    assert button.inner_text() == "Now on chain:3"  # what the page is of
    button.click()
    assert "of chain:3 (3 bodies" in page.locator(".about").inner_text()
    assert page.locator(".transport").is_visible() and not page.locator(".story").is_visible()
    page.get_by_role("button", name="Next step of the order").click()
    page.get_by_role("button", name=re.compile("^Seven scenes")).click()
    page.get_by_role("button", name=re.compile("^Next, scene 2")).click()
    for where in ("#scene=1", "abm@1"):  # the steps are still there
        page.go_back()
        page.wait_for_url(f"**{where}")
    assert "step 1 of 3" in counter(page)


@pytest.mark.parametrize("scene", [4, None])
def test_a_scene_is_shown_inside_a_notebook(chromium, tmp_path, scene):
    outside = tmp_path / "notebook.html"
    outside.write_text(f"<!doctype html>{embedded(scene=scene)._repr_html_()}", encoding="utf-8")
    page = chromium.new_page(viewport={"width": 1000, "height": 800})
    said = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(outside.as_uri())
    inside = page.frame_locator("iframe")
    if scene is None:
        inside.locator(".transport").wait_for()
        assert inside.locator(".scene-title").count() == 0
    else:
        inside.locator(".scene-title", has_text="Find the order").wait_for()
        for body in (2, 1, 0):
            inside.locator(".story .robot .body").nth(body).dispatch_event("click")
        inside.locator(".told", has_text="this is ABM").wait_for()
    page.close()
    assert said == []
