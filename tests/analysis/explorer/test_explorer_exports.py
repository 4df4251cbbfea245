"""What leaves the explorer's page: pictures, listings and orders in files."""

import json
import re
from xml.etree import ElementTree

import pytest
from explorer_page import counter, status
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.figures.style import LIGHT


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
