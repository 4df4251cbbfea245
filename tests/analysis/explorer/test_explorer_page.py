"""The explorer's page as a file: small, closed, legible."""

import gzip
import re

import numpy as np
import pytest
from helpers import system_of

from pivotree.analysis.explorer import bundle, explorer_data, explorer_page, explorer_styles, write_folder
from pivotree.analysis.explorer.palette import palette


@pytest.fixture(scope="module")
def small():
    return explorer_data(system_of("chain:3"), "chain:3", ["abm", "crbm"], ["float32"])


def test_the_page_is_small_and_asks_for_nothing(small):
    code = gzip.compress((bundle() + explorer_styles()).encode())
    assert len(code) <= 70_000
    page = explorer_page(small)
    assert len(gzip.compress(page.encode())) <= 120_000  # with the five scenes and their two robots
    assert "default-src 'none'" in page and "import " not in bundle()
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"}


def test_a_name_cannot_end_the_data(small):
    page = explorer_page(small | {"model": "</script><script>alert(1)</script>"})
    assert "<script>alert" not in page and page.count("</script>") == 2


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


def test_the_folder_has_no_inline_code(small, tmp_path):
    paths = write_folder(small, tmp_path / "new")
    assert sorted(path.name for path in paths) == ["explorer.css", "explorer.js", "index.html"]
    page = (tmp_path / "new" / "index.html").read_text(encoding="utf-8")
    assert "unsafe-inline" not in page and "<style" not in page and " style=" not in page
    assert re.findall(r"<script[^>]*>", page) == [
        '<script type="application/json" id="data">',
        '<script src="explorer.js" defer>',
    ]


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
        pairs = "ink page, soft page, ink entry, ink shade, soft shade, ink heat0, ink heat1, "
        pairs += "ink heat2, heatInk heat3, heatInk heat4, heatInk heat5, newInk new, fillInk fill"
        for ink, paper in map(str.split, pairs.split(", ")):
            assert contrast(colours[ink], colours[paper]) > 4.4, (dark, ink, paper)
        assert contrast(colours["focus"], colours["page"]) >= 3.0


def test_the_first_screen_is_painted_before_the_script_works(chromium, pages):
    """An order of events, no time: the heading is on the screen when the first button is made."""
    page = chromium.new_page()
    page.add_init_script(
        """new MutationObserver((_, watch) => {
          if (!document.querySelector("button")) return;
          window.made = performance.now();
          watch.disconnect();
        }).observe(document, { childList: true, subtree: true });"""
    )
    page.goto(pages("chain:3").as_uri())
    first = page.evaluate(  # playwright's own waiting would evaluate text, which the page forbids
        """async () => {
          const painted = () => performance.getEntriesByType("paint");
          while (!window.made || !painted().length) await new Promise(requestAnimationFrame);
          return painted()[0].startTime;
        }"""
    )
    assert first < page.evaluate("made")
    page.close()
