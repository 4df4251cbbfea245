"""The explorer in a notebook (Jupyter, marimo, VS Code): a widget whose order is back in Python.

>>> from pivotree.analysis.explorer.widget import Explorer
>>> explorer = Explorer("chain:3")  # shown; eliminate by hand, then      # doctest: +SKIP
>>> pt.eliminate(explorer.system, explorer.order, "float32").qdd  # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from pivotree import kkt
from pivotree.kkt.base.files import write_whole

from .data import FORMATS, explorer_data, text_of
from .page import explorer_styles, palette, widget_module

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError("the explorer in a notebook needs anywidget; python -m pip install anywidget") from None


class Explorer(anywidget.AnyWidget):
    """Equation (4) of a model, eliminated by hand.

    ``model`` is a System, a tree, or what the command line takes for MODEL; ``orders`` and
    ``formats`` are those of :func:`explorer_data`.  Five traits follow the page and may be
    observed: ``code`` (the order as the page's address holds it; setting it shows it), ``groups``
    of [kind, body], ``links``, ``rules``, and ``complete``.
    """

    _esm = widget_module()
    _css = explorer_styles()
    data = traitlets.Dict().tag(sync=True)
    code = traitlets.Unicode("").tag(sync=True)
    groups: Any = traitlets.List().tag(sync=True)
    links = traitlets.Unicode("whole").tag(sync=True)
    rules = traitlets.Dict().tag(sync=True)
    complete = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        model: kkt.System | nx.DiGraph[Any] | str | Path,
        orders: Sequence[str | Callable[..., Any]] | None = None,
        formats: Sequence[str] = FORMATS,
    ) -> None:
        name = None
        if isinstance(model, str | Path):
            name, model = str(model), kkt.load(str(model))
        if isinstance(model, nx.DiGraph):
            model = kkt.build(model)
        if not isinstance(model, kkt.System):
            raise kkt.ModelError(
                "Explorer",
                f"a {type(model).__name__} is no model",
                "give a System, a tree, or a name such as chain:3",
            )
        self.system = model
        colours = {"light": palette(False), "dark": palette(True)}
        data = explorer_data(model, name, orders, formats) | {"palette": colours}
        super().__init__(data=data)

    @property
    def order(self) -> kkt.PivotSequence:
        """The order so far, for kkt.eliminate and all else that takes one."""
        structure = self.system.structure
        names: dict[tuple[bool, str], Any] = {}  # of loops, and of bodies, by the texts that the page has
        for name in structure.constraints:
            names.setdefault((True, text_of(name)), name)
        for name in structure.with_links(self.links).names:
            names.setdefault((False, text_of(name)), name)
        found = [
            [(kind, names.get((kind == "lam", body), body)) for kind, body in group] for group in self.groups
        ]
        return kkt.PivotSequence(found, "yours", "the explorer", kkt.Rules(**self.rules), self.links)

    def save(self, path: str | Path) -> Path:
        """Write the order as JSON, as ``--order`` reads it.

        Raises FormatError where it cannot be written.
        """
        document = {"schema": "pivotree-order/1", "model": self.data["model"]}
        document |= {trait: getattr(self, trait) for trait in ("complete", "links", "rules", "groups")}
        return write_whole(path, json.dumps(document, indent=1) + "\n")
