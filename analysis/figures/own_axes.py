"""Axes of a user's that a figure is drawn into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pivotree.kkt import OrderError

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # what a function draws into and returns: a figure of its own where it is given no axes
    One = TypeVar("One", bound="Axes | Figure", default=Figure)
    Own = TypeVar("Own", bound="Axes | Sequence[Axes] | NDArray[Any] | Figure", default=Figure)
else:
    One = Own = Any


def axes_of(ax: Any, pictures: int = 1, title: str | None = None) -> list[Axes]:
    """The axes that a user gives, one a picture, the rest switched off; OrderError for anything else."""
    found = list(dict.fromkeys(np.ravel(np.array(ax, dtype=object)).tolist()))
    for one in found:
        if not isinstance(one, Axes):
            raise OrderError("ax", f"is {one!r}", "give matplotlib's Axes, one a picture")
        if one.get_figure(root=True) is None:
            raise OrderError("ax", "is in no figure any more", "give axes of a figure")
    if len(found) < pictures:
        raise OrderError("ax", f"there are {pictures} pictures and {len(found)} axes", "give one a picture")
    if title:
        raise OrderError("title", "axes of yours stand in a figure of yours", "call its suptitle")
    for spare in found[pictures:]:
        spare.set_axis_off()
    return found[:pictures]


def size_of(ax: Axes) -> tuple[float, float]:
    """Width and height of axes [in], where their figure has laid them out."""
    box = ax.get_window_extent()
    return float(box.width) / ax.figure.dpi, float(box.height) / ax.figure.dpi
