"""The picture of an order in a user's own axes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from pivotree.kkt import Matrix, OrderError, System, plan, symbolic
from pivotree.kkt.base.foreign import is_whole
from pivotree.kkt.matrix.system import require_system

from .matrix import draw
from .state import block_state
from .style import Theme, new_figure, plain, settings, theme


def spy(
    system: System | Matrix,
    order: Any,
    step: int | None = None,
    *,
    ax: Axes | None = None,
    labels: bool | None = None,
    style: str | Theme | None = None,
) -> Axes:
    """The blocks of (4) after ``step`` groups of an order (None: all), drawn into ``ax``.

    ``order`` is a name, a function, a list of groups or ``FILE.py:FUNCTION``; ``ax`` None makes a
    figure.  Rows stand in the order of elimination; the title tells the fill.  The axes keep their
    place in the figure, which must have its size and layout already, since blocks are named where
    they have room.  Returns the axes.  Raises OrderError for an order that cannot be eliminated or
    a step that it does not have.

    >>> ax = pt.spy(pt.build(pt.chain(3)), "crbm")
    >>> ax.get_title()
    'CRBM: 6 blocks of fill + 3 diagonal'
    """
    if not isinstance(system, Matrix):
        require_system(system)
    factor, look = symbolic(plan(order, system.structure)), theme(style=style)
    groups = factor.plan.groups
    if step is not None and not is_whole(step, 0, groups):
        raise OrderError(
            f"spy: step {step!r} is none of order {factor.plan.sequence.name!r}; use 0 to {groups}"
        )
    state = block_state(factor, step)
    if ax is None:
        figure = new_figure("double", 7.0, look)
        ax = figure.add_axes((0.06, 0.03, 0.9, 0.87))
    elif not isinstance(ax, Axes):
        raise OrderError(f"spy: ax is {ax!r}; give matplotlib's Axes")
    whole = ax.get_figure(root=True)
    if whole is None:
        raise OrderError("spy: ax is in no figure any more; give axes of a figure")
    labels = False if isinstance(system, Matrix) else labels  # names of blocks are those of (4)
    box = ax.get_window_extent()
    with settings(look.font):
        draw(
            ax,
            state,
            72 * min(box.width, box.height) / whole.dpi,
            look,
            labels=labels,
            circles=state.step > 0,
        )
        ax.set_title(f"{plain(look.named(factor.plan.sequence.name))}: {state.told}", color=look.ink)
    return ax
