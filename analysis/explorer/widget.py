"""The explorer in a notebook (Jupyter, marimo, VS Code): a widget whose order is back in Python.

>>> from pivotree.analysis.explorer.widget import Explorer
>>> explorer = Explorer("chain:3")  # shown; eliminate by hand, then      # doctest: +SKIP
>>> pt.eliminate(explorer.system, explorer.order, "float32").qdd  # doctest: +SKIP
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from pivotree import kkt
from pivotree.kkt.base.files import write_whole

from .asked import question_of, refusal, sequence_of
from .data import explorer_data
from .entries import FORMATS
from .live import SECONDS, Live
from .page import explorer_styles, shell
from .palette import palette

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
    of [kind, body], ``links``, ``rules``, and ``complete``.  A question about digits holds the
    kernel, for ``seconds`` at most.
    """

    _esm = shell("widget")
    _css = explorer_styles()
    data = traitlets.Dict().tag(sync=True)
    code = traitlets.Unicode("").tag(sync=True)
    groups: Any = traitlets.List().tag(sync=True)
    links = traitlets.Unicode("whole").tag(sync=True)
    rules = traitlets.Dict().tag(sync=True)
    complete = traitlets.Bool(False).tag(sync=True)
    _live: Live | None = None

    def __init__(
        self,
        model: kkt.System | nx.DiGraph | str | Path,
        orders: Sequence[str | Callable[..., Any]] | None = None,
        formats: Sequence[str] = FORMATS,
        seconds: float = SECONDS,
    ) -> None:
        name = None
        if isinstance(model, str | Path):
            name, model = str(model), kkt.load(str(model))
        if isinstance(model, nx.DiGraph):
            model = kkt.build(model)
        if not isinstance(model, kkt.System):
            raise kkt.ModelError(
                f"Explorer: a {type(model).__name__} is no model; give a System, a tree, "
                "or a name such as chain:3"
            )
        self.system = model
        colours = {"light": palette(False), "dark": palette(True)}
        data = explorer_data(model, name, orders, formats) | {"palette": colours}
        super().__init__(data=data)
        live = self._live = Live(model, seconds)
        weakref.finalize(self, live.close)
        self.on_msg(self._asked)

    @property
    def order(self) -> kkt.PivotSequence:
        """The order so far, for kkt.eliminate and all else that takes one."""
        rules = kkt.Rules(**self.rules)
        return sequence_of(self.groups, self.system.structure, self.links, rules)

    def save(self, path: str | Path) -> Path:
        """Write the order as JSON, as ``--order`` reads it.

        Raises FormatError where it cannot be written.
        """
        document = {
            "schema": "pivotree-order/1",
            "model": self.data["model"],
            "complete": self.complete,
            "links": self.links,
            "rules": self.rules,
            "groups": self.groups,
        }
        return write_whole(path, json.dumps(document, indent=1) + "\n")

    def close(self) -> None:
        """End the widget and the process that measures for it."""
        if self._live is not None:
            self._live.close()
        super().close()

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the page."""
        if self._live is None or not isinstance(content, dict):
            return
        try:
            answer = self._live.answer(question_of(content.get("question")))
        except kkt.PivotreeError as error:
            answer = refusal(str(error))
        self.send({"id": content.get("id"), "answer": answer})
