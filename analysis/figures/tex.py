r"""A block matrix as LaTeX: TikZ inside \left( \right), pivots circled as in Ascher 1996."""

from __future__ import annotations

from kkt import FormatError, SymbolicFactor

from .labels import Labels
from .state import FILL, NEW, ZERO, block_state

_LIMIT = 90  # blocks; a wider matrix fits no page

_HEAD = r"""\documentclass[border=6pt]{standalone}
\usepackage{tikz}
\usetikzlibrary{matrix}
\definecolor{blockfillcolor}{HTML}{E69F00}
\definecolor{blocknewcolor}{HTML}{D55E00}
\begin{document}
\begin{tikzpicture}[
  blockfill/.style={fill=blockfillcolor!35},
  blocknew/.style={fill=blocknewcolor!45, draw=blocknewcolor, thick},
  blockpivot/.style={draw=black, circle, thick, inner sep=0.5pt},
]
"""
_MATRIX = r"""\matrix (m) [matrix of math nodes, nodes in empty cells, left delimiter=(,
  right delimiter=), nodes={anchor=center, inner sep=2pt, minimum width=1.5em,
  minimum height=1.5em}, column sep=2pt, row sep=2pt] {
"""
_TAIL = r"""};
\end{tikzpicture}
\end{document}
"""


def tikz(symbolic: SymbolicFactor, step: int | None = None) -> str:
    r"""A document that compiles by itself: the blocks after ``step`` groups (None: all).

    Blocks without a name in the paper stand as \times, as its 0-structures do.  Raises
    FormatError where the matrix is too large for a page, OrderError for a step there is not.
    """
    state = block_state(symbolic, step)
    if state.blocks > _LIMIT:
        raise FormatError(
            f"figure: {state.blocks} block rows are too many for LaTeX (at most {_LIMIT}); "
            "write a .pdf or .svg instead"
        )
    names, table = Labels(state), state.table()
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    lines = []
    for i in range(state.blocks):
        cells = []
        for j in range(state.blocks):
            styles = []
            if step is not None and table[i, j] == NEW:
                styles.append("blocknew")
            elif table[i, j] in (FILL, NEW):
                styles.append("blockfill")
            if (i, j) in pivots:
                styles.append("blockpivot")
            text = "" if table[i, j] == ZERO else names.cell(i, j) or r"\times"
            cells.append(f"|[{', '.join(styles)}]| {text}" if styles else text)
        lines.append(f"  {' & '.join(cells)} \\\\ % {_one_line(names.unknown(i))}\n")
    order = symbolic.plan.sequence.name
    comment = f"% order {_one_line(order)}, after {state.step} of {symbolic.plan.groups} steps\n"
    key = names.key()
    below = f"% bodies: {_one_line(key)}\n" if key else ""
    return _HEAD + comment + below + _MATRIX + "".join(lines) + _TAIL


def _one_line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())
