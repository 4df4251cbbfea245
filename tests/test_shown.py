"""A short repr for what a person prints, and a face in notebooks."""

import io
import re
import xml.etree.ElementTree as ElementTree

import matplotlib.image
import numpy as np
import pytest

import pivotree as pt
from pivotree.analysis import figures


@pytest.fixture(scope="module")
def system():
    return pt.build(pt.chain(3))


def test_a_line_says_what_there_is(system):
    assert repr(system.tree) == "<BodyTree chain_3: 3 bodies, 3 freedoms, joints 3 revolute>"
    told = f"3 bodies, 3 freedoms, {system.size} unknowns, {system.matrix.nnz} nonzeros"
    assert repr(system) == f"<System chain_3: {told}>"
    result = pt.eliminate(system, pt.orderings.get("abm"))
    assert repr(result).startswith("<Elimination abm in float64: 3 bodies, 3 freedoms, ")
    assert f"{result.flops} operations" in repr(result)
    kernel = pt.kkt.compile(system.graph, pt.orderings.get("abm"), "float32")
    assert repr(kernel).startswith("<Kernel abm in float32: 3 bodies, 3 freedoms, outputs qdd, ")


@pytest.mark.parametrize("layout", ["kind", "body"])
def test_nonzeros_are_those_of_the_matrix(layout):
    for tree in (pt.binary(4), pt.humanoid(), pt.chain(7)):
        loops = [pt.contact(list(tree)[-1], (0.1, 0.0, 0.2))]
        system = pt.build(tree, layout=layout, loops=loops)
        assert system.nonzeros == system.matrix.nnz


def test_what_failed_or_is_marked_is_said():
    system = pt.build(pt.two_link(r=1e-3))
    result = pt.eliminate(system, pt.orderings.get("crbm"), "float32")
    assert (result.marked or result.failed_at) is not None
    assert (result.marked or result.failed_at)[:40] in repr(result)


def test_a_notebook_shows_a_table_and_the_matrix(system):
    html = system._repr_html_()
    picture = ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
    cells = re.findall(r"M\d+ \d+h1v1h-1z", picture.find("path").get("d"))
    assert len(cells) == system.matrix.nnz  # 39 unknowns: an entry is a cell
    assert "nonzeros" in html and "chain_3" in html
    assert "<svg" not in system.tree._repr_html_()


def test_a_notebook_shows_a_figure_at_two_pixels_for_one(system):
    factor = pt.kkt.symbolic(pt.kkt.plan(pt.orderings.get("abm"), system.structure))
    image, size = figures.spy(factor)._repr_png_()
    pixels = matplotlib.image.imread(io.BytesIO(image))
    assert pixels.shape[:2] == (2 * size["height"], 2 * size["width"]) and size["width"] > 300
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 10
