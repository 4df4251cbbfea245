"""The papers, reproduced: one folder a paper, one module a table or figure.

A module of an item, such as ``papers/ascher1996/table2.py``, begins with one line that says what
it reproduces, and has up to three functions:

``measure(progress, **settings)``
    runs the project's engine and returns what was found; settings have the paper's values as
    defaults, so that other ratios, numbers of links or seeds are a call away.
``rows(found)``
    the list of :class:`papers.row.Row`: printed, ours, criterion, met.
``figures(found, style)``
    (optional) name -> matplotlib Figure, in the paper's own form; style light, dark or gray.

A paper's ``__init__`` lists its items in the paper's order; ``printed.toml`` holds its numbers.
"""

PAPERS = ("ascher1996", "cloutier1995", "yamane2001", "pasic1999", "featherstone1983")
