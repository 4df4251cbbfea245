"""The explorer's page as it is seen: dark, on paper, on a telephone, large trees."""

import re

import pytest
from explorer_page import counter, status
from helpers import ROOT, system_of

from pivotree import kkt
from pivotree.analysis.explorer import explorer_data, write_folder, write_page
from pivotree.analysis.figures.style import DARK, LIGHT


def test_dark_light_and_paper(opened):
    page = opened("chain:3", color_scheme="dark")

    def colour(selector=".pivotree"):
        return page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")

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


@pytest.mark.slow
def test_300_blocks_are_stepped_through(opened, tmp_path):
    system = system_of("random_tree:n=101,seed=1,joints=revolute")
    data = explorer_data(system, "101 joints", ["crbm", "abm"], [])
    page = opened(write_page(data, tmp_path / "page.html"), "crbm@40")
    assert page.locator(".grid").get_attribute("aria-rowcount") == "303"
    for _ in range(15):
        page.get_by_role("button", name="Next step of the order").click()
    assert "step 55 of 202" in counter(page)
    first = page.locator(".legend rect").first  # as the blocks of a large matrix are drawn
    assert first.get_attribute("fill") == "var(--pt-entryStrong)"


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
