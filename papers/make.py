"""Make the pictures of the papers' pages: ``python papers/make.py [PAPER ...]``.

Runs ``pivotree reproduce`` on each and keeps its PNG files, light and dark, in few colours.
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

from analysis.cli import main
from papers import PAPERS

COLOURS = 64


def make(paper: str) -> None:
    here = Path(__file__).parent / paper / "figures"
    here.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        main(["reproduce", paper, "-o", folder])
        for path in sorted((Path(folder) / paper).glob("*.png")):
            (here / path.name).write_bytes(reduced(path))


def reduced(path: Path) -> bytes:
    """A PNG file in at most 64 colours, without dithering: a third of the size."""
    data = BytesIO()
    image = Image.open(path).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    return data.getvalue()


if __name__ == "__main__":
    for name in sys.argv[1:] or PAPERS:
        make(name)
