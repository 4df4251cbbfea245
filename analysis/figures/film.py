"""An elimination that moves: one picture a bracket, for a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from pivotree.kkt import FormatError, SymbolicFactor
from pivotree.kkt.base.files import beside

from .spy import spy, stops
from .style import Theme, settings, theme

FRAMES = 60  # of an animation, the first and the last matrix among them
MOVING = (".gif", ".mp4")
_DPI = {"single": 200, "double": 110}


def animation(
    symbolic: SymbolicFactor,
    path: str | Path,
    *,
    frames: int = FRAMES,
    seconds: float = 0.7,
    labels: bool | None = None,
    width: str = "single",
    style: str | Theme = "light",
    scale: int = 1,
    progress: Callable[[str], None] = lambda text: None,
) -> Path:
    """Write the elimination as a .gif, or where ffmpeg is found as an .mp4; returns the path.

    One picture a bracket, or ``frames`` of them; each is shown for ``seconds``, or less where
    they are many; ``scale`` 2 doubles the resolution of a screen's picture.  Raises FormatError
    where there is no ffmpeg, for another suffix, and for a folder that cannot be written to.

    >>> from pivotree.analysis.figures import animation
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(1)).structure))
    >>> animation(factor, "abm.gif", seconds=0.5).name
    'abm.gif'
    """
    path = Path(path)
    writer = writer_of(path)
    steps = stops(symbolic.plan.groups, frames)
    each = min(seconds, 12.0 / len(steps))
    with beside(path) as part:
        _write(symbolic, steps, part, writer(fps=1.0 / each), labels, width, style, scale, progress)
    return path


def writer_of(path: Path) -> Any:
    """The class that writes a moving picture; FormatError where this machine has none.

    >>> from pathlib import Path
    >>> from pivotree.analysis.figures import writer_of
    >>> writer_of(Path("abm.gif")).__name__
    'PillowWriter'
    """
    from matplotlib.animation import FFMpegWriter, PillowWriter

    suffix = path.suffix.lower()
    if suffix == ".gif":
        return PillowWriter
    if suffix != ".mp4":
        raise FormatError(f"figure {path}: {suffix!r} does not move; use {' or '.join(MOVING)}")
    if not FFMpegWriter.isAvailable():
        raise FormatError(
            f"figure {path}: an .mp4 needs the program ffmpeg, which is not found; install it or write a .gif"
        )
    return FFMpegWriter


def _write(
    symbolic: SymbolicFactor,
    steps: Sequence[int],
    path: Path,
    writer: Any,
    labels: bool | None,
    width: str,
    style: str | Theme,
    scale: int,
    progress: Callable[[str], None],
) -> None:
    """All pictures are as large as the one with the longest legend, so that nothing jumps."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    pictures: list[Any] = []
    for since, step in zip([0, *steps[:-1]], steps, strict=True):
        progress(f"picture {len(pictures) + 1} of {len(steps)}")
        with settings(theme(style=style).font):
            figure = spy(symbolic, step, labels=labels, width=width, style=style, zeros=True, since=since)
            figure.set_dpi(scale * _DPI[width])
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    page = pictures[0][0, 0]
    tall = max(picture.shape[0] for picture in pictures)
    tall += tall % 2
    wide = pictures[0].shape[1] - pictures[0].shape[1] % 2
    screen = Figure(figsize=(wide / 100, tall / 100), dpi=100)
    FigureCanvasAgg(screen)
    ax = screen.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    blank = np.broadcast_to(page, (tall, wide, 3))
    shown = ax.imshow(blank, interpolation="nearest", aspect="auto")
    with matplotlib.rc_context({"savefig.bbox": None}):
        writer.setup(screen, str(path), dpi=100)
        try:
            for k, picture in enumerate(pictures):
                frame = blank.copy()
                frame[: picture.shape[0]] = picture[:, :wide]
                shown.set_data(frame)
                for _ in range(4 if k == len(pictures) - 1 else 1):  # the end stays for a while
                    writer.grab_frame(facecolor="white")
        except BaseException:
            if path.suffix.lower() == ".mp4":  # a .gif is made at the end: not where Ctrl-C comes
                writer.finish()  # ffmpeg ends
            raise
        writer.finish()
