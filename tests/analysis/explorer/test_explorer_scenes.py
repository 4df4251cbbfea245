"""The explorer's five scenes, from its question to the tool."""

import re

import pytest
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import embedded
from pivotree.analysis.explorer.embedded import SCENES


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


def test_a_scene_leads_to_its_lesson_and_the_lesson_to_the_scene():
    story = (ROOT / "analysis/explorer/static/story.mjs").read_text(encoding="utf-8")
    lessons = re.findall(r'lesson: \["(\w+)", "Lesson (\d)"\]', story)
    assert len(lessons) == SCENES
    for scene, (stem, number) in enumerate(lessons, start=1):
        assert stem.startswith(number)
        text = (ROOT / "docs" / "lessons" / f"{stem}.md").read_text(encoding="utf-8")
        assert f"then open `page.html#scene={scene}`" in text, stem


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


def test_a_scene_that_is_not_there_is_refused():
    with pytest.raises(kkt.ModelError, match="is unknown; use 1 to 5, or None"):
        embedded(scene=6)
