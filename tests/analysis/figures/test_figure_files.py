"""Figures: files of every kind, and LaTeX."""

import re

import matplotlib
import numpy as np
import pytest
from test_figures import ORDERS, ROWS, factor

from pivotree import kkt
from pivotree.analysis import figures
from pivotree.analysis.figures.state import ZERO, block_state

# -- files ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_svg_of_a_thousand_bodies_stays_small(order, tmp_path):
    path = figures.save_spy(factor("chain:1000", order), tmp_path / "spy.svg")
    assert path.stat().st_size < 1_000_000


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg", ".tex"])
def test_files_are_the_same_every_time(suffix, tmp_path):
    symbolic = factor("chain:4", "crbm")
    first, second = (figures.save_spy(symbolic, tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second
    assert not re.search(rb"CreationDate|<dc:date>", first)


@pytest.mark.thorough
def test_global_settings_stay_as_they_are(tmp_path):
    def now():
        return {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}

    before = now()
    figures.save_spy(factor("chain:3", "abm"), tmp_path / "spy.svg")
    assert now() == before


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["missing/spy.png", "file/spy.tex"])
def test_a_folder_that_cannot_be_written_to(place, tmp_path):
    (tmp_path / "file").write_text("")
    path = tmp_path / place
    with pytest.raises(kkt.PivotreeError) as caught:
        figures.save_spy(factor("chain:3", "abm"), path)
    text = str(caught.value)
    assert text.startswith(f"{path}: cannot be written (") and "\n" not in text
    assert text.endswith("give a place that can, or make room")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize("name", ["spy.gif", "spy"])
def test_an_unknown_suffix(name, tmp_path):
    with pytest.raises(kkt.FormatError, match=r"use \.png, \.pdf, \.svg, \.tex, \.pgf$"):
        figures.save_spy(factor("chain:3", "abm"), tmp_path / name)
    with pytest.raises(kkt.FormatError, match="does not hold a drawn figure"):
        figures.save(figures.error_bars(ROWS), tmp_path / "digits.tex")


@pytest.mark.thorough
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "spy.svg"
    path.write_text("old")

    def broken(self, data):
        self.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", broken)
    with pytest.raises(kkt.FormatError, match="No space left"):
        figures.save_spy(factor("chain:3", "abm"), path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


# -- LaTeX ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_tex_is_balanced_and_circles_every_pivot(order):
    symbolic = factor("chain:3", order)
    text = figures.tikz(symbolic)
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended) == ["document", "tikzpicture"]
    body = re.sub(r"%.*", "", text)
    assert body.count("{") == body.count("}") and body.count("[") == body.count("]")
    rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\")]
    state = block_state(symbolic)
    assert len(rows) == state.blocks
    cells = [row.rstrip().removesuffix(r"\\").split("&") for row in rows]
    assert {len(row) for row in cells} == {state.blocks}
    circled = {(i, j) for i, row in enumerate(cells) for j, c in enumerate(row) if "pivot" in c}
    assert circled == {tuple(p) for p in state.pivots.tolist()}
    empty = np.array([[not cell.strip() for cell in row] for row in cells])
    assert (empty == (state.table() == ZERO)).all()


def test_tex_too_large_for_a_page():
    with pytest.raises(kkt.FormatError, match="too many for LaTeX"):
        figures.tikz(factor("chain:100", "abm"))
