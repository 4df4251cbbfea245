"""Pictures of pages: PNG of few colours."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from pivotree.analysis.figures import settings
from pivotree.kkt.base import beside


def drawn(figure: Figure, dpi: int) -> Image.Image:
    """What a figure looks like with so many dots an inch."""
    with settings():
        figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def write(picture: Image.Image | Figure, path: Path, dpi: int = 200, colours: int = 24) -> None:
    """A picture, written beside its place and then moved there; its folder is made."""
    image = picture if isinstance(picture, Image.Image) else drawn(picture, dpi)
    data = io.BytesIO()
    image.quantize(colours, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    with beside(path) as part:
        part.write_bytes(data.getvalue())
