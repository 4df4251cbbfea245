"""A scene of the explorer inside a notebook: Jupyter, marimo and VS Code show it by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from pivotree import kkt

from .data import explorer_data
from .page import explorer_page

SCENES = 7
_ALLOWED = "allow-scripts allow-downloads allow-modals allow-popups"


@dataclass(frozen=True)
class Embedded:
    """The page as a frame; what is clicked in it stays in it (the widget hands orders back).

    >>> from pivotree.analysis.explorer import embedded
    >>> frame = embedded("chain:1")
    >>> frame.height, "<iframe" in frame._repr_html_()
    (800, True)
    """

    scene: int | None  # 1 to 7, or None for the whole tool
    page: str = field(repr=False)
    height: int = 800  # [px]

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="The explorer" sandbox="{_ALLOWED}" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #8888;border-radius:6px">'
            "</iframe>"
        )


def embedded(model: str = "chain:3", scene: int | None = None, height: int = 800) -> Embedded:
    """The explorer of a model as the last line of a cell; no widget and no server is needed.

    ``scene`` 1 to 7 opens that scene, None the whole tool; ``height`` is in pixels.  Raises
    ModelError for a model that cannot be read, or a scene that there is not.

    >>> from pivotree.analysis.explorer import embedded
    >>> embedded("chain:3", scene=2)
    Embedded(scene=2, height=800)
    """
    if scene is not None and scene not in range(1, SCENES + 1):
        raise kkt.ModelError(f"scene {scene!r} is unknown; use 1 to {SCENES}, or None for the whole tool")
    system = kkt.build(kkt.load(model))
    data = explorer_data(system, model, ("abm", "crbm"), ["float32"], story=scene is not None)
    opened = data if scene is None else data | {"scene": scene}
    return Embedded(scene, explorer_page(opened), height)
