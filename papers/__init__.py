"""The papers, reproduced: one folder a paper, one function a table or figure.

>>> from pivotree.papers import PAPERS
>>> from pivotree.papers.ascher1996 import table2
>>> PAPERS[0], table2.__doc__.splitlines()[0]
('ascher1996', "Table 2: D_2 and the tip's acceleration in Example 3, CRBM, ABM and modified ABM.")

A module of an item, such as ``papers/ascher1996/table2.py``, begins with one line that says what
it reproduces, and has a function ``measure(progress, **settings)``.  A module of several items has a
function for each, by the item's name, whose first line says the same.  It runs the project's engine;
settings have the paper's values as defaults, so that other ratios, numbers of links or seeds are a
call away.  It yields, made by functions of :mod:`papers.item`,

``value(name, ours)``
    for each row of the item: the row's name and what was computed.
``picture(name, how, ...)``
    for each figure, in the paper's own form: the function of the paper's ``pictures.py`` that draws
    it, and what it is given; the style, light or dark, comes last.

A paper's ``__init__`` lists its items in the paper's order, as ``module.item`` where the module has
several, and in ``QUICK`` the settings of a smaller study, for ``pivotree reproduce --set quick``.
``printed.toml`` holds its numbers, and the rows by their names: what is printed, the criterion, and why a
row is missed, refuted or open.
"""

if __name__ == "papers":  # not twice: its exceptions would be other classes
    raise ImportError("import pivotree.papers")

__all__ = ["PAPERS"]

PAPERS = ("ascher1996", "cloutier1995", "yamane2001", "pasic1999", "featherstone1983")
"""Folders of the papers that are reproduced, as ``pivotree reproduce`` names them.

>>> pt.papers.PAPERS[0]
'ascher1996'
"""
