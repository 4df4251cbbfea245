"""The explorer's page as a file: small, closed, legible, on every screen; and what leaves it."""

import gzip
import json
import re
from colorsys import rgb_to_hsv
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest
from explorer_page import counter, status
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.explorer import bundle, explorer_data, explorer_page, explorer_styles, write_page
from pivotree.analysis.explorer.page import palette
from pivotree.analysis.figures.style import DARK, LIGHT


@pytest.fixture(scope="module")
def small():
    return explorer_data(system_of("chain:3"), "chain:3", ["abm", "crbm"], ["float32"])


def test_the_page_is_small_and_asks_for_nothing(small):
    code = gzip.compress((bundle() + explorer_styles()).encode())
    assert len(code) <= 85_000
    page = explorer_page(small)
    assert len(gzip.compress(page.encode())) <= 140_000  # with the scenes and their sliders
    assert "default-src 'none'" in page and not re.search(r"^import ", bundle(), re.M)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}


def test_the_page_runs_its_own_code_alone(small, chromium, tmp_path):
    """Markup in every name, an injected script and an injected handler: only the page works."""
    attack = "<img src=x onerror='window.hit=1'><script>window.hit=1</script>"
    whole = small["structures"]["whole"]
    names = [f"{attack}{k}" for k in range(len(whole["names"]))]
    hostile = small | {"model": attack, "structures": {"whole": whole | {"names": names}}}
    page = explorer_page(hostile)
    assert "unsafe" not in page.partition("<style")[0]
    code = "<script>window.hit=1</script><p onclick='window.hit=1'>here</p></body>"
    path = tmp_path / "injected.html"
    path.write_text(page.replace("</body>", code), encoding="utf-8")
    tab, said = chromium.new_page(), []
    tab.on("console", lambda message: said.append(message.text))
    tab.goto(f"{path.as_uri()}#tool")
    tab.wait_for_selector(".grid svg")
    tab.locator('[aria-label^="Next step"]').click()
    tab.evaluate("document.querySelector('p[onclick]').click()")
    assert tab.evaluate("[window.hit, document.styleSheets.length]") == [None, 1]
    tab.close()
    assert len(said) == 2  # what was injected, and nothing of the page's own
    assert all("Content Security Policy" in text for text in said)


def test_switches_of_the_page_are_the_engines():
    static = files("pivotree.analysis.explorer") / "static"
    text = (static / "opening.mjs").read_text(encoding="utf-8")
    table = re.search(r"RULES = \{(.*?)\n\};", text, re.S)[1]
    found = {k: re.findall(r'"([\w ]+)"', v) for k, v in re.findall(r"(\w+): \[(.*?)\]", table)}
    usual = vars(kkt.Rules())
    assert {name: choices[0] for name, choices in found.items()} == usual
    for name, choices in found.items():
        with pytest.raises(kkt.OrderError) as told:
            kkt.Rules(**{name: "none"})
        assert str(told.value).endswith(f"use {' or '.join(choices)}")


@pytest.mark.product
def test_the_page_of_a_large_tree_is_small():
    page = explorer_page(explorer_data(system_of("random_tree:n=41"), "large"))
    assert len(gzip.compress(page.encode())) <= 140_000  # a mass and an angle to slide, too


def test_colours_tell_apart_in_grey():
    """Luminance (WCAG 2) of the heat scale runs one way; text on the page has contrast 4.5."""

    def luminance(colour):
        c = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        return float(c @ [0.2126, 0.7152, 0.0722])

    def contrast(a, b):
        low, high = sorted((luminance(a), luminance(b)))
        return (high + 0.05) / (low + 0.05)

    for dark in (False, True):
        colours = palette(dark)
        heat = [luminance(colours[f"heat{i}"]) for i in range(6)]
        steps = np.diff(heat) if dark else -np.diff(heat)
        assert (steps > 0).all()
        hue = {
            name: rgb_to_hsv(*(int(colours[name][i : i + 2], 16) for i in (1, 3, 5)))[0] for name in colours
        }
        for name in ("fill", "new", "entry"):  # heat is nothing else that is seen
            apart = [abs(hue[f"heat{i}"] - hue[name]) for i in range(1, 5)]
            assert min(min(d, 1 - d) for d in apart) > 0.15, (dark, name)
        pairs = "ink page, soft page, ink entry, ink shade, soft shade, ink heat0, ink heat1, "
        pairs += "ink heat2, heatInk heat3, heatInk heat4, heatInk heat5, newInk new, fillInk fill"
        for ink, paper in map(str.split, pairs.split(", ")):
            assert contrast(colours[ink], colours[paper]) > 4.4, (dark, ink, paper)
        assert contrast(colours["focus"], colours["page"]) >= 3.0


# -- as it is seen -----------------------------------------------------------------------------------


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


def test_focus_can_be_seen(opened):
    page = opened("chain:3")
    page.keyboard.press("Tab")
    width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
    assert width >= 2.0
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    assert page.locator(".over rect").count() >= 2  # the cursor, with a rim of the page's colour


@pytest.mark.parametrize("code", ["", "abm@3&heat=1", "crbm@6&beside=abm"])
def test_a_printed_page_is_two_sheets_with_all_of_its_algorithm(opened, code):
    page = opened("chain:3", code)
    assert 0 < len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) <= 2
    page.emulate_media(media="print")
    assert page.evaluate("(e => e.scrollHeight - e.clientHeight)(document.querySelector('.listing'))") < 9


def test_on_a_phone_the_order_is_chosen_above_the_matrix_and_a_tap_is_told_below_it(opened):
    page = opened("chain:3", "abm@1&beside=crbm", has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('.field span, .panel p').forEach(e => e.append('x'.repeat(80)))")
    tops = [page.locator(what).first.bounding_box()["y"] for what in ("select", ".grid", ".panel", ".legend")]
    assert tops == sorted(tops) and page.locator("h1").bounding_box()["height"] < 30
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Help").click()
    assert page.evaluate("document.querySelector('dialog').scrollTop") == 0


AXE = ROOT / "build" / "node" / "node_modules" / "axe-core" / "axe.min.js"
PLACES = ("scene=2", "scene=5", "tool", "order=crbm@2")  # on a phone; elsewhere all scenes
SCENES = [f"scene={k}" for k in (1, 3, 4, 6, 7)]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: make lint-page")
@pytest.mark.parametrize("scheme, width, more", [("light", 1280, SCENES), ("dark", 390, [])])
def test_axe_finds_nothing(chromium, pages, scheme, width, more):
    """Every scene after a step, and the tool: roles, names, contrast, order of headings."""
    size = {"width": width, "height": 844}
    options = {"color_scheme": scheme, "reduced_motion": "reduce", "bypass_csp": True}
    context = chromium.new_context(viewport=size, **options)
    page, found = context.new_page(), []
    for place in (*PLACES, *more):
        page.goto("about:blank")
        page.goto(f"{pages('chain:3').as_uri()}#{place}")
        page.locator(".grid svg >> visible=true").first.wait_for()
        page.evaluate(AXE.read_text(encoding="utf-8"))
        if page.locator(".story .body").count():
            page.locator(".story .body").nth(1).dispatch_event("click")
        told = page.evaluate("axe.run()")
        assert len(told["passes"]) > 10  # it has looked
        found += [(place, v["id"], v["nodes"][0]["html"]) for v in told["violations"]]
    context.close()
    assert found == []


@pytest.mark.soak
def test_a_large_tree_is_shown_by_densities_and_a_subtree(opened, tmp_path):
    system = kkt.build(kkt.load("random_tree:n=10000,seed=4"))
    data = explorer_data(system, "large", ["abm"], [], story=False)
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


# -- exports -----------------------------------------------------------------------------------------


def test_exports_are_what_they_say(opened, tmp_path, capsys):
    page = opened("chain:3", "abm@3")
    page.locator("summary", has_text="Export").click()
    first = page.get_by_label("First step")
    assert not first.is_visible()
    page.select_option("aside select", "range")

    def exported(kind):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=f"Export as {kind}").click()
        waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
        return tmp_path / waiting.value.suggested_filename

    raw = exported("svg").read_bytes()
    root = ElementTree.fromstring(raw)
    assert root.tag.endswith("svg") and b"var(" not in raw and LIGHT.new.encode() in raw
    assert "chain:3, abm: step 3, fill 2" in "".join(root.itertext())
    raw = exported("png").read_bytes()
    assert raw.startswith(b"\x89PNG") and len(raw) > 20_000
    film = ElementTree.fromstring(exported("film").read_bytes())
    seen = [frame.get("values") for frame in film.iter() if frame.tag.endswith("animate")]
    assert seen == ["1;0", *["0;1;0"] * 3]
    text = exported("tikz").read_text()
    assert text.count(r"\begin{tikzpicture}") == 4 == text.count(r"\end{tikzpicture}")
    assert r"$\hat{M}_{j2}$" in text
    path = exported("json")
    document = json.loads(path.read_text())
    assert document["complete"] and len(document["steps"]) == 3
    order = orderings.get(str(path))
    assert kkt.symbolic(kkt.plan(order, system_of("chain:3").structure)).fill_blocks == 2
    assert main(["solve", "chain:3", "--order", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] < 1e-14
    first.fill("1")
    page.get_by_label("Last step").fill("2")
    text = exported("tikz").read_text()
    assert [*dict.fromkeys(re.findall(r"abm: step (\d)", text))] == ["1", "2"]
    assert "step 3 of 3" in counter(page)
    first.fill("4")
    page.get_by_role("button", name="Export as tikz").click()
    assert "Refused: there are steps 0 to 3, not 4 to 2" in status(page)
