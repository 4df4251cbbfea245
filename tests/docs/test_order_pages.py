"""What the pages of orders say, held against something that did not write them.

That fill and heights on trees are
those of booleans, by tests/kkt/structure/test_fill.py.
"""

import re

import numpy as np
import pytest
from designs import listed
from helpers import ROOT
from oracle import Oracle, needed_height
from PIL import Image

from pivotree import kkt, orderings
from pivotree.analysis import counts
from pivotree.analysis.figures import KINDS

pytestmark = pytest.mark.docs
FOLDER = ROOT / "docs" / "orders"
QDD = orderings.names()


# -- fill and height ----------------------------------------------------------------------------


def oracle(order, of):
    """Elimination of a dense boolean matrix, which shares nothing with the engine."""
    sequence = kkt.plan(orderings.get(order), of).sequence
    return Oracle(sequence.groups, of.with_links(sequence.links))


@pytest.mark.parametrize("order", listed(orderings.LOOPS, unmarked=1))
def test_counts_of_an_order_of_loops_are_those_of_booleans_and_of_the_tape(load, order):
    soft, page = order not in ("closed_early", "clusters"), load("loop_pages").page(order)
    found = re.findall(r"^\| `([a-z_]+(?::[^`]*)?)` \|((?: [\d,]+ \|){8})$", page, re.M)
    assert len(found) == 6 and ("compliance of 0.01" in page) == soft
    for spec, cells in found:
        loops = kkt.load(spec).graph["loops"]
        system = kkt.build(kkt.load(spec), loops=kkt.softened(loops, 1e-2) if soft else loops)
        seen, abm = oracle(order, system.structure), oracle("abm", system.structure)
        entries = sum(np.prod([seen.size[b] for b in ends]) for ends in seen.fill)
        blocks = [system.structure.n, len(system.entries.gamma), len(seen.fill), entries]
        flops = [kkt.trace(system, orderings.get(name)).flops for name in (order, "abm")]
        numbers = [*blocks, needed_height(seen, seen.order), flops[0], len(abm.fill), flops[1]]
        assert numbers == [int(cell.replace(",", "")) for cell in cells.strip(" |").split("|")]


@pytest.mark.soak
def test_a_law_of_halved_chains_holds_beyond_those_that_were_counted(load):
    law = load("order_facts").halved("constraint_force", "revolute")
    chain = counts.FAMILIES["revolute"].system(255)
    total = counts.count_robot(orderings.get("constraint_force"), chain).total
    assert total == tuple(law[kind](255, 8) for kind in counts.KINDS)


def test_inverse_dynamics_is_a_permutation_to_a_triangle(load):
    """Rows and unknowns of the matrix itself, qdd known and tau unknown: nothing above."""
    facts, order = load("order_facts"), orderings.get("inverse_dynamics")
    for spec in facts.TREES:
        found = facts.on_tree(order, spec)
        system = kkt.build(kkt.from_spec(spec))
        matrix = system.matrix.toarray() != 0
        depth = {}
        pairs = order(system.structure)
        for i, (row, unknown) in enumerate(pairs):
            needs = []
            for j, (_, other) in enumerate(pairs):
                if other[0] == "tau":  # the effort is the unknown of its own row alone
                    there = row == ("qdd", other[1])
                else:
                    there = matrix[system.blocks[row], system.blocks[other]].any()
                assert not (there and j > i), "an unknown that is not solved yet"
                needs += [other] if there and j < i else []
            depth[unknown] = 1 + max((depth[b] for b in needs), default=0)
        assert found.fill == 0 and found.height == max(depth.values())


def test_no_order_is_shallower_than_divide_and_conquer_on_deep_trees():
    for spec in ("chain:15", "binary:4", "humanoid"):
        of = kkt.build(kkt.from_spec(spec)).structure
        height = {o: kkt.symbolic(kkt.plan(orderings.get(o), of)).height for o in QDD}
        assert height["divide_and_conquer"] == min(height.values())


# -- brackets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", QDD)
def test_brackets_on_a_page_are_the_groups_of_the_order(load, order):
    """Bodies by their place from the tip; the blocks of carriers have a prime."""
    told = load("order_pages")._lines(load("brackets").text(orderings.get(order)))
    groups = [part.split() for line in told for part in re.findall(r"\(([^)]*)\)", line)]
    of = kkt.build(kkt.chain(4)).structure
    place = {k: i for i, k in enumerate(of.tip_to_base, start=1)}
    own = [[f"{kind}_{place.get(k)}" for kind, k in group] for group in orderings.get(order)(of)]
    same = [[one for one in group if "'" not in one] for group in groups]
    assert same == [[one for one in group if not one.endswith("None")] for group in own]


# -- what is made for the site alone ----------------------------------------------------------------


def test_pictures_of_each_sort_are_drawn(load, tmp_path):
    """``make docs-check`` puts dots in their place."""
    pictures, loops, png = load("order_pictures"), load("loop_pages"), load("png")
    some = {"abm": orderings.get("abm"), "inverse_dynamics": orderings.get("inverse_dynamics")}
    figures = [one.figure("dark") for found in pictures.choose_pictures(some).values() for one in found]
    for figure in [*figures, loops.film("lambda_first")]:
        png.write(figure, tmp_path / "a.png", pictures.DPI, pictures.COLOURS)
        with Image.open(tmp_path / "a.png") as image:
            assert image.width > 900 and len(image.getcolors()) > 3


@pytest.mark.parametrize("name", ["benchmarks", "derivatives", "study/exhaustion", "study/random_trees"])
def test_pictures_of_kept_pages_are_drawn(check, name, tmp_path, monkeypatch):
    monkeypatch.setattr(check.generated, "PICTURES", {name: check.generated.PICTURES[name]})
    check.generated.pictures(tmp_path, True)
    for end in ("", "_dark"):
        with Image.open(tmp_path / f"{name}{end}.png") as image:
            assert image.width > 1000 and len(image.getcolors()) > 3


def test_a_kind_of_figure_is_drawn_for_the_gallery(check, tmp_path):
    """In light, dark, and as LaTeX."""
    with check.beside(check.HERE / "gallery") as load:
        make = load("make")
        request = make.Request(kkt.build(kkt.chain(1)))
        make.draw(KINDS["film"], request, "chain_3", tmp_path)
        make.draw(KINDS["spy"], request, "chain_3", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"chain_3_film_dark.png", "chain_3_spy.tex"} <= names


def test_every_kind_of_figure_is_in_the_gallery(check, tmp_path):
    check.generated.gallery(tmp_path, False)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"## {kind.name}\n" in text and f"_{kind.name}_dark.png" in text
    pictures = re.findall(r'src(?:set)?="([^"]+)"', text)
    assert len(pictures) >= 2 * len(KINDS) > 0 and all((tmp_path / name).exists() for name in pictures)
