"""A short repr for what a person prints, and a face in notebooks."""

import copy
import io
import pickle
import re
import sys
import xml.etree.ElementTree as ElementTree

import flint
import matplotlib.image
import numpy as np
import pytest

import pivotree as pt
from pivotree.analysis import figures
from pivotree.analysis.check import check
from pivotree.analysis.report import robot_report
from pivotree.analysis.simulation import Integration, simulate


@pytest.fixture(scope="module")
def system():
    return pt.build(pt.chain(3))


def test_a_line_says_what_there_is(system):
    assert repr(system.tree) == "<BodyTree chain_3: 3 bodies, 3 freedoms, joints 3 revolute>"
    told = f"3 bodies, 3 freedoms, {system.size} unknowns, {system.matrix.nnz} nonzeros"
    assert repr(system) == f"<System chain_3: {told}>"
    assert repr(system.state) == "<State 3 bodies: 3 freedoms, 0 loops>"
    planned = pt.plan("abm", system.structure)
    assert repr(planned) == "<Plan abm: 9 blocks, 3 groups>"
    told = "9 blocks, 3 groups, 2 blocks of fill, 9 blocks high"
    assert repr(pt.symbolic(planned)) == f"<SymbolicFactor abm: {told}>"
    result = pt.eliminate(system, pt.orderings.get("abm"))
    assert repr(result).startswith("<Elimination abm in float64: 3 bodies, 3 freedoms, ")
    assert f"{result.flops} operations" in repr(result)
    kernel = pt.kkt.compile(system.graph, pt.orderings.get("abm"), "float32")
    assert repr(kernel).startswith("<Kernel abm in float32: 3 bodies, 3 freedoms, outputs qdd, ")
    proved = pt.certify(system, digits=20)
    assert repr(proved) == f"<Certified chain_3: 20 digits, {proved.bits} bits, order abm>"


def test_an_answer_of_a_matrix_counts_its_unknowns():
    found = pt.eliminate(pt.matrix(np.eye(3)), "natural")
    assert repr(found).startswith("<Elimination natural in float64: 3 unknowns, 0 blocks of fill, ")


def test_nonzeros_are_those_of_the_matrix():
    for tree in (pt.binary(4), pt.humanoid(), pt.chain(7)):
        system = pt.build(tree, loops=[pt.contact(list(tree)[-1], (0.1, 0.0, 0.2))])
        assert system.nonzeros == system.matrix.nnz


def test_results_with_rows_are_tables_of_text_of_html_and_of_pandas(system):
    found = pt.compare(system, ["crbm", "abm"], ["float32"])
    blamed = pt.blame(pt.build(pt.chain(20)), "crbm", "float32")
    asked = robot_report(pt.chain(2), "chain:2", ["crbm", "abm"], ["float32"], states=3)
    for result in (found, blamed, asked, pt.search(system), found.eliminations["abm", "float32"]):
        rows, (first, head, *lines) = result.records(), str(result).splitlines()
        assert first == repr(result) and len(lines) == len(rows) > 1 and len(first) < 120
        assert set(head.split()) <= set(result.shown) <= set(rows[0])
        frame = result.to_frame()
        assert list(frame.columns) == list(rows[0]) and len(frame) == len(rows)
        html = ElementTree.fromstring(result._repr_html_())
        assert [th.text for th in html.iter("th")] == head.split()
        assert len(list(html.iter("tr"))) == len(rows) + 1
    assert list(found.to_frame().flops) == [row.flops for row in found.rows]


def test_without_pandas_one_sentence_says_what_to_install(system, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(pt.ModelError, match="pandas is not installed; python -m pip install pandas"):
        pt.compare(system, ["abm"], ["float32"]).to_frame()


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
    letters = ["M", "M", "M", "-Φ", "-Φ", "1", "1", "1", "Hᵀ", "Hᵀ", "Hᵀ"]  # one triangle, by blocks
    assert sorted(text.text for text in picture.iter("text")) == sorted([*letters, *"HHH111", "-Φᵀ", "-Φᵀ"])
    assert "nonzeros" in html and "chain_3" in html
    assert "<svg" not in system.tree._repr_html_()


def test_a_notebook_shows_a_figure_at_two_pixels_for_one(system):
    factor = pt.kkt.symbolic(pt.kkt.plan(pt.orderings.get("abm"), system.structure))
    image, size = figures.spy(factor)._repr_png_()
    pixels = matplotlib.image.imread(io.BytesIO(image))
    assert pixels.shape[:2] == (2 * size["height"], 2 * size["width"]) and size["width"] > 300
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 10


RETURNED = {
    "parts": lambda s: (s, s.tree, s.structure, s.state, s.pattern, s.entries, pt.contact("j3", (0, 0, 0.1))),
    "orders": lambda s: (pt.orderings.get("abm"), plan := pt.plan("abm", s.structure), plan.sequence),
    "records": lambda s: (pt.symbolic(pt.plan("abm", s.structure)), pt.trace(s, "abm"), pt.factor(s, "abm")),
    "answers": lambda s: (one := pt.eliminate(s, "abm", refine=1), one.refinement, one.steps[0]),
    "columns": lambda s: (pt.derivatives(s, "abm"), pt.joint_space_inverse(s, "abm"), pt.conditioning(s)),
    "large": lambda s: (pt.inverse_dynamics(s, np.ones(3), "inverse_dynamics"), pt.solve_large(s, "abm")),
    "tables": lambda s: (one := pt.compare(s, ["crbm"]), one.rows[0], pt.blame(s, "crbm"), pt.search(s)),
    "proofs": lambda s: (pt.guarantee(s.graph, "abm"), pt.guarantee_qdd(s.graph, "abm")),
    "letters": lambda s: (pt.closed_form(s.graph), pt.in_letters(s.graph)),
    "checks": lambda s: (check(s.graph, "x", states=5), robot_report(s.graph, "x", ["abm"], states=3)),
    "pictures": lambda s: (one := figures.Request(s), figures.block_state(one.symbolic), figures.LIGHT),
    "matrices": lambda s: (one := pt.matrix(np.eye(4), [2, 2]), one.structure, pt.eliminate(one, "natural")),
    "motions": lambda s: (simulate(s.graph, "abm", integration=Integration(seconds=0.1)),),
}


@pytest.mark.parametrize("kind", RETURNED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_returned_has_a_short_repr_and_is_pickled_copied_and_compared(system, kind):
    for one in RETURNED[kind](pt.build(pt.chain(40)) if kind == "parts" else system):
        assert len(repr(one)) < 500 and repr(one).count("\n") < 3, type(one)
        for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert type(other) is type(one) and (one == one) is True and isinstance(one == other, bool)
            assert repr(other) == repr(one) or " object at 0x" in repr(one)


def test_a_pickled_kernel_and_a_certificate_answer_as_before(system):
    kernel, proved = pt.compile(system.graph, "abm"), pt.certify(system, 40)
    state = np.ones((3, 4, kernel.N))
    again, found = pickle.loads(pickle.dumps((kernel, proved)))
    assert np.array_equal(again(*state), kernel(*state)) and repr(again) == repr(kernel)
    assert found.decimals() == proved.decimals() and all(map(flint.arb.contains, found.qdd, proved.qdd))
