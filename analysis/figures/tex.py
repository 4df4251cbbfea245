r"""Figures as LaTeX: block matrices by TikZ and as pmatrix, and the elimination tree.

Every text is a document that compiles by itself, cut to its picture, with article and TikZ alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .state import FILL, NEW, ZERO, ZEROED, BlockState, block_state
from .style import LIGHT

_LIMIT = 90  # blocks; a wider matrix fits no page

_COLOURS = r"""\definecolor{blockfillcolor}{HTML}{E69F00}
\definecolor{blocknewcolor}{HTML}{D55E00}
"""
# the page is as large as the box, in pdfTeX, XeTeX and LuaTeX
_END = r"""
\ifdefined\pdfpagewidth\else\let\pdfpagewidth\pagewidth\let\pdfpageheight\pageheight\fi
\pdfpagewidth=\dimexpr\wd0+12pt\relax
\pdfpageheight=\dimexpr\ht0+\dp0+12pt\relax
\hoffset=\dimexpr6pt-1in\relax
\voffset=\dimexpr6pt-1in\relax
\shipout\box0
\end{document}
"""
_HEAD = (
    r"""\documentclass{article}
\usepackage{tikz}
\usetikzlibrary{matrix}
"""
    + _COLOURS
    + r"""\begin{document}
\setbox0=\hbox{%
"""
)
_STYLES = r"""\begin{tikzpicture}[
  blockfill/.style={fill=blockfillcolor!35},
  blocknew/.style={fill=blocknewcolor!45, draw=blocknewcolor, thick},
  blockpivot/.style={draw=black, circle, thick, inner sep=0.5pt},
]
"""
_MATRIX = r"""\matrix (m) [matrix of math nodes, nodes in empty cells, left delimiter=(,
  right delimiter=), nodes={anchor=center, inner sep=2pt, minimum width=1.5em,
  minimum height=1.5em}, column sep=2pt, row sep=2pt] {
"""
_PMATRIX = (
    r"""\documentclass{article}
\usepackage{amsmath,tikz}
"""
    + _COLOURS
    + r"""\renewcommand{\arraystretch}{1.3}
\newcommand{\pivot}[1]{\tikz[baseline=(p.base)]
  \node[draw, circle, thick, inner sep=1pt] (p) {$#1$};}
\newcommand{\filled}[1]{{\color{blockfillcolor!60!black}\underline{#1}}}
\newcommand{\newfill}[1]{{\color{blocknewcolor}\underline{\underline{#1}}}}
"""
)
_TREE = r"""\documentclass{article}
\usepackage{tikz}
\begin{document}
\setbox0=\hbox{%
\begin{tikzpicture}[x=1cm, y=-0.75cm, node/.style={draw, circle, inner sep=1pt,
  minimum size=1.7em, font=\footnotesize}]
"""


def tikz(symbolic: SymbolicFactor, step: int | None = None) -> str:
    r"""A document that compiles by itself: the blocks after ``step`` groups (None: all).

    Blocks without a name in the paper stand as \times, as its 0-structures do.  Raises
    FormatError where the matrix is too large for a page, OrderError for a step there is not.
    """
    state = block_state(symbolic, step)
    return _HEAD + _picture(state, step is not None) + "}%" + _END


def tikz_panels(states: Sequence[BlockState]) -> str:
    """A document that compiles by itself: matrices side by side, each with its order and its fill.

    Raises FormatError where one is too large for a page.
    """
    panels = []
    for state in states:
        blocks = state.fill_blocks
        told = f"{blocks:,} block{'s' if blocks != 1 else ''} of fill"
        order = state.symbolic.plan.sequence.name.replace("_", r"\_")
        title = f"{order}: {told}" if state.step else "the matrix"
        # boxes, and no table: its & is the matrix's
        head = f"\\vbox{{\\hbox{{{title}}}\\kern4pt\n\\hbox{{%\n"
        panels.append(f"{head}{_picture(state, False)}}}}}%\n")
    return _HEAD + "\\quad\n".join(panels) + "}%" + _END


def _picture(state: BlockState, last: bool) -> str:
    """One matrix; with ``last``, what the last step has filled in is marked apart."""
    _require_page(state.blocks)
    names, table = Labels(state), state.table()
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    lines = []
    for i in range(state.blocks):
        cells = []
        for j in range(state.blocks):
            styles = []
            if last and table[i, j] == NEW:
                styles.append("blocknew")
            elif table[i, j] in (FILL, NEW):
                styles.append("blockfill")
            if (i, j) in pivots:
                styles.append("blockpivot")
            text = "" if table[i, j] == ZERO else names.cell(i, j) or r"\times"
            cells.append(f"|[{', '.join(styles)}]| {text}" if styles else text)
        lines.append(f"  {' & '.join(cells)} \\\\ % {_one_line(names.unknown(i))}\n")
    about = _about(state.symbolic, state.step, names)
    return about + _STYLES + _MATRIX + "".join(lines) + "};\n\\end{tikzpicture}"


def pmatrix(symbolic: SymbolicFactor, step: int | None = None) -> str:
    r"""The same blocks between \begin{pmatrix} and \end{pmatrix}, to be copied into a paper.

    Pivots are circled by \pivot, fill is underlined by \filled (\newfill for the last step), and
    what the elimination has made zero is 0.  Raises as :func:`tikz` does.
    """
    state = block_state(symbolic, step)
    _require_page(state.blocks)
    names, table = Labels(state), state.table(zeros=True)
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    lines = []
    for i in range(state.blocks):
        cells = []
        for j in range(state.blocks):
            kind = int(table[i, j])
            text = "" if kind == ZERO else names.cell(i, j) or r"\times"
            if kind == ZEROED:
                text = "0"
            elif kind in (FILL, NEW):
                text = rf"\{'newfill' if kind == NEW and step is not None else 'filled'}{{{text}}}"
            cells.append(rf"\pivot{{{text}}}" if (i, j) in pivots else text)
        lines.append(f"  {' & '.join(cells)} \\\\ % {_one_line(names.unknown(i))}\n")
    body = "\\setbox0=\\hbox{$\\displaystyle\n\\begin{pmatrix}\n" + "".join(lines)
    return (
        _PMATRIX
        + f"\\setcounter{{MaxMatrixCols}}{{{max(10, state.blocks)}}}\n\\begin{{document}}\n"
        + _about(symbolic, state.step, names)
        + body
        + "\\end{pmatrix}$}%"
        + _END
    )


def tikz_tree(symbolic: SymbolicFactor) -> str:
    """The elimination tree (Davis 2006, section 4.1), blocks of one body in one colour.

    Raises FormatError where the tree is too large for a page.
    """
    from .trees import bodies_of, body_colours, ink_on, tree_layout

    count = len(symbolic.parent)
    _require_page(count)
    names = Labels(block_state(symbolic, 0))
    place = tree_layout(symbolic.parent)
    colours = body_colours(symbolic, LIGHT)
    lines = [
        f"\\definecolor{{body{k}}}{{HTML}}{{{_hex(colour)}}}\n" for k, colour in enumerate(colours)
    ]
    owner = bodies_of(symbolic)
    for t, (x, y) in enumerate(place):
        ink = "black" if ink_on(colours[owner[t]]) == "#000000" else "white"
        lines.append(
            f"\\node[node, fill=body{owner[t]}, text={ink}] (n{t}) at ({x:g},{y:g}) "
            f"{{${names.unknown(t)}$}};\n"
        )
    lines += [f"\\draw (n{t}) -- (n{up});\n" for t, up in enumerate(symbolic.parent) if up >= 0]
    about = _about(symbolic, symbolic.plan.groups, names)
    return _TREE + about + "".join(lines) + "\\end{tikzpicture}}%" + _END


def _require_page(blocks: int) -> None:
    if blocks > _LIMIT:
        raise FormatError(
            f"figure: {blocks} block rows are too many for LaTeX (at most {_LIMIT}); "
            "write a .pdf or .svg instead"
        )


def _about(symbolic: SymbolicFactor, step: int, names: Labels) -> str:
    """Comments: the order, the step, and who the bodies are."""
    order = symbolic.plan.sequence.name
    comment = f"% order {_one_line(order)}, after {step} of {symbolic.plan.groups} steps\n"
    key = names.key()
    return comment + (f"% bodies: {_one_line(key)}\n" if key else "")


def _hex(colour: np.ndarray) -> str:
    return "".join(f"{int(255 * c + 0.5):02X}" for c in colour)


def _one_line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())
