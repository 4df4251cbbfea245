"""What the explorer's page tells: its five scenes; formulas, digits, blame, costs, challenges."""

import re

import pytest
from explorer_page import at_block, click, counter, own, status
from helpers import system_of

from pivotree import analysis, kkt, orderings
from pivotree.analysis.explorer import embedded


def test_formulas_are_math(opened):
    page = opened("chain:3", "abm@1")
    page.mouse.move(*at_block(page, "pdd_j2", "pdd_j2"))
    formula = page.locator(".formula math")
    formula.wait_for()
    told = formula.get_attribute("aria-label")
    assert told.startswith("M hat j2 is M j2 plus Phi j2,j3 M j3 Phi j2,j3 star minus")
    assert formula.locator("msubsup").count() >= 2


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


def test_sliders_change_the_example(opened):
    page = opened("example3:m1=1e8,case=2", "abm@2")
    page.get_by_role("slider", name="Mass ratio").fill("9")
    page.get_by_role("slider", name="Tilt").fill("3")
    assert "Mass ratio 1e9, tilt 45°" in status(page)
    assert "the pivot qdd_2" in page.locator("aside").inner_text()  # D_2 is 0, as in Table 2
    page.get_by_role("slider", name="Tilt").fill("0")
    assert "7.2 digits" in page.locator("aside .answer").inner_text()


@pytest.mark.soak
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
        blamed = re.search(r"Blame: step (\d) causes (-?[1-9]\d*|0) % of the error", told.inner_text())
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


def test_abm_one_pivot_at_a_time_and_abm_after_another_order_are_told(opened):
    page = opened("chain:3", "w")
    own(page)
    for k in ("j3", "j2", "j1"):
        for kind in ("pdd", "f", "qdd"):
            click(page, f"{kind}_{k}")
    assert "Its pivots are those of abm, one at a time: as brackets they take 456" in status(page)
    page.select_option("select >> nth=0", "crbm")
    page.keyboard.press("Home")
    for k in ("j3", "j2", "j1"):
        page.mouse.move(*at_block(page, f"pdd_{k}", f"pdd_{k}"))
        page.keyboard.press("e")
    assert "This is abm" in status(page)
    assert "your order: this is abm" in page.locator("body").inner_text()


def test_digits_are_a_challenge_where_orders_differ(opened):
    page = opened("example2:m1=1e8")
    page.locator("summary", has_text="Challenges").click()
    told = page.locator(".challenges").inner_text()
    found = re.search(r"Keep (\d+) digits in (\w+), where (\w+) keeps ([\d.]+)", told)
    assert found and float(found[1]) > float(found[4])


def test_an_order_has_one_cost_one_answer_and_one_name(opened):
    """By hand and replayed, the same traced operations and measured digits, at every step."""
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
            told[-1] += counter(page).rpartition("fill")[2]
            page.locator(".views figure", has_text="operations").first.wait_for()
            shown = page.locator("#explorer").inner_html()
            assert "dense operations" not in shown and "operations, dense" not in shown
        assert told[0] == told[1] and told[0].endswith(" operations")


def test_bodies_have_one_name_or_numbers_on_request(opened):
    page = opened("chain:3")
    texts = page.locator(".layer").first
    assert "Bodies:" not in page.locator(".legend").inner_text() and "j3" in texts.inner_text()
    page.get_by_label("names of bodies").uncheck()
    assert "Bodies: 1 = j3, 2 = j2, 3 = j1" in page.locator(".legend").inner_text()
    assert "j3" not in texts.inner_text()


def test_where_multipliers_stand_is_a_challenge(opened, pages):
    """Soft feet condensed first keep no digit; by hand and last, lambda leaves them."""
    spec = "quadruped:feet=2,compliance=1e-6"
    page = opened(pages(spec, ("abm", "crbm", "lambda_first")))
    page.locator("summary", has_text="Challenges").click()
    item = page.locator(".challenges li", has_text="Where does λ stand?")
    found = re.search(r"CRBM keeps ([\d.]+) digits in float32: keep (\d)", item.inner_text())
    assert found and float(found[1]) < 2 < float(found[2])
    system = system_of(spec)
    bodies, n = system.structure.order.tolist(), system.structure.n
    by_hand = ".".join(f"p{k}q{k}f{k}" for k in bodies)
    for code, reached in ((f"w.l0.l1.{by_hand}", False), (f"w.{by_hand}.l0.l1", True)):
        page.goto(page.url.partition("#")[0] + f"#order={code}")
        page.locator(".counter", has_text=f"step {n + 2} of {n + 2}").wait_for()
        assert ("by hand" in item.inner_text()) or reached == (item.get_attribute("class") == "done")
        digits = float(re.search(r"([\d.]+) digits kept", item.inner_text())[1])
        assert (digits >= float(found[2])) == reached


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
    told.get_by_text("Body j2: rows p̈, q̈ and f. It meets body j1 and body j3").wait_for()
    assert page.locator(".story .over rect").count() == 2  # rows, and columns
    box = page.locator(".story .grid").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] - 20)
    page.locator(".story .robot .body.marked").wait_for()
    assert page.locator(".story .robot .marked title").text_content() == "body j1"


def test_fill_is_seen_before_and_after(scene):
    order = [[("pdd", "j2")]] + [
        [(kind, k)] for kind in ("pdd", "f", "qdd") for k in ("j3", "j2", "j1") if (kind, k) != ("pdd", "j2")
    ]
    factor = kkt.symbolic(kkt.plan(order, system_of("chain:3").structure))
    fill = f"{int((factor.fill_step == 0).sum())} block"
    page = scene(2)
    box = page.locator(".story .grid").bounding_box()
    spot = (box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.47)
    page.mouse.move(*spot)
    page.locator(".told", has_text=f"p̈ of body j2: would fill {fill}").wait_for()
    page.mouse.click(*spot)
    page.locator(".told", has_text=f"is gone: {fill} above the diagonal filled in").wait_for()
    page.get_by_role("button", name="Undo the last step").click()
    assert "One step back" in page.locator(".told").inner_text()


def test_abm_is_found_and_wrong_ways_are_told_why(scene):
    page = scene(4)
    told = page.locator(".told")
    link(page, 1)
    text = told.inner_text()
    assert "Body j3 still hung on it" in text and "(j3, j1)" in text
    page.keyboard.press("u")
    for body in (2, 1, 0):
        link(page, body)
    traced = {
        (n, name): kkt.trace(system_of(f"chain:{n}"), orderings.get(name)).flops
        for n in (3, 10)
        for name in ("abm", "crbm")
    }
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


def test_names_of_siblings_do_not_lie_on_each_other(opened):
    page = opened("binary:2")
    names = page.locator(".robot .name >> visible=true")
    assert names.count() == 7
    for _ in range(3):  # while the robot moves
        boxes = names.evaluate_all(
            "all => all.map(x => (({x, y, width, height}) => [x, y, width, height])"
            "(x.getBoundingClientRect()))"
        )
        for i, (x, y, w, h) in enumerate(boxes):
            for u, v, a, b in boxes[:i]:
                across = min(x + w, u + a) - max(x, u)
                down = min(y + h, v + b) - max(y, v)
                assert across <= 2 or down <= 4, (boxes[i], (u, v, a, b))
        page.wait_for_timeout(400)


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
        inside.locator(".told", has_text="This is ABM").wait_for()
    page.close()
    assert said == []
