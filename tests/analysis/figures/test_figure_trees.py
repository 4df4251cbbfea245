"""The tree of bodies and the elimination tree, as they are laid out and coloured."""

import re

import numpy as np
import pytest
from helpers import system_of
from matplotlib.backends.backend_agg import FigureCanvasAgg
from test_figures import factor

from pivotree.analysis import figures
from pivotree.analysis.figures.style import LIGHT
from pivotree.analysis.figures.trees import bodies_of, body_colours, tree_layout, walk


@pytest.mark.parametrize("spec", ["chain:4", "star:5", "binary:3", "random_tree:n=60,seed=2"])
def test_layout_of_a_tree(spec):
    parent = system_of(spec).structure.parent
    place = tree_layout(parent)
    inner = parent >= 0
    assert (place[inner, 1] == place[parent[inner], 1] + 1).all()
    assert len({tuple(p) for p in place.round(6).tolist()}) == len(parent)  # no two on one place
    for k in np.unique(parent[inner]):
        x = place[parent == k, 0]
        assert place[k, 0] == pytest.approx((x.min() + x.max()) / 2)
    levels = [np.sort(place[place[:, 1] == d, 0]) for d in np.unique(place[:, 1])]
    assert all((np.diff(level) >= 1 - 1e-9).all() for level in levels)


def test_the_elimination_tree_has_the_colours_of_the_bodies():
    for order in ("abm", "virtual_work", "modified_abm_stretched"):
        symbolic = factor("binary:3", order)
        owner = bodies_of(symbolic)
        plan = symbolic.plan
        n = plan.graph.structure.n
        names = [plan.graph.structure.names[int(b) % n] for b in plan.blocks]
        own = system_of("binary:3").structure.names
        told = [name[0] if isinstance(name, tuple) else name for name in names]
        assert [own[k] for k in owner] == told
        colours = body_colours(symbolic, LIGHT)
        assert len({tuple(c) for c in colours.round(9).tolist()}) == len(own)


def test_walk_visits_parents_first_and_subtrees_together():
    parent = system_of("random_tree:n=50,seed=1").structure.parent
    order = walk(parent)
    assert sorted(order) == list(range(50))
    place = {k: i for i, k in enumerate(order)}
    for k in range(50):
        assert parent[k] < 0 or place[parent[k]] < place[k]
        below = [j for j in range(50) if k in _line(j, parent)]
        at = sorted(place[j] for j in below)
        assert at == list(range(at[0], at[0] + len(at)))


def _line(k, parent):
    while k >= 0:
        yield k
        k = int(parent[k])


@pytest.mark.thorough
@pytest.mark.parametrize("spec", ["star:4", "binary:3"])
def test_the_base_is_above_in_every_tree(spec):
    """Of both trees, on the page and in LaTeX, where y points down too."""
    made = factor(spec, "crbm")
    figure = figures.trees(made)
    FigureCanvasAgg(figure).draw()
    parents = (made.plan.graph.structure.parent, made.parent)
    drawn = [ax.collections[-1].get_offsets() for ax in figure.axes]
    heights = [ax.transData.transform(places)[:, 1] for ax, places in zip(figure.axes, drawn, strict=True)]
    text = figures.tikz_tree(made)
    assert text.count("y=-") == 2
    pictures = text.split(r"\begin{tikzpicture}")[1:]
    for picture in pictures:
        found = re.findall(r"\(n(\d+)\) at \([-\d.]+,([-\d.]+)\)", picture)
        heights.append(np.array([-float(y) for _, y in found]))
    for up, height in zip(parents * 2, heights, strict=True):
        assert len(up) == len(height)
        below = np.flatnonzero(np.asarray(up) >= 0)
        assert len(below) and (height[np.asarray(up)[below]] > height[below]).all()
