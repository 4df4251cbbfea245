r"""Figures as LaTeX: block matrices by TikZ and as pmatrix.

Every text is a document that compiles by itself, cut to its picture, with article and TikZ alone;
inside a paper, by ``\input``, it is that picture in the paper's own fonts, no wider than a line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .state import FILL, NEW, ORIGINAL, ZERO, ZEROED, BlockState, block_state
from .style import WIDTHS

_LIMIT = 200  # blocks; LaTeX has little memory
_NAMED = 48  # blocks; with more, squares without a name

_COLOURS = r"""\definecolor{blockentrycolor}{HTML}{0072B2}%
\definecolor{blockfillcolor}{HTML}{E69F00}%
\definecolor{blocknewcolor}{HTML}{D55E00}%
"""
# \@nodocument is \relax once a document has begun.  A document by itself ships one page, as large
# as its box in pdfTeX, XeTeX and LuaTeX; part of another, it is that box, no wider than a line.
_HEAD = r"""% A document by itself. In one of yours: HEAD
% in the preamble, and \input{this file} in a figure.
\expandafter\ifx\csname @nodocument\endcsname\relax
\def\finish{\leavevmode\box0 }%
\else
\documentclass{article}
HEAD
\begin{document}
\hsize=WIDTHin \linewidth=\hsize
\def\finish{%
\ifdefined\pdfpagewidth\else\let\pdfpagewidth\pagewidth\let\pdfpageheight\pageheight\fi
\pdfpagewidth=\dimexpr\wd0+12pt\relax \pdfpageheight=\dimexpr\ht0+\dp0+12pt\relax
\hoffset=\dimexpr6pt-1in\relax \voffset=\dimexpr6pt-1in\relax
\shipout\box0 \end{document}}%
\fi
"""
_END = r"""\ifdim\wd0>\linewidth \setbox0=\hbox{\resizebox{\linewidth}{!}{\box0}}\fi
\finish
"""
_STYLES = r"""\begin{tikzpicture}[
  blockentry/.style={fill=blockentrycolor},
  blockfill/.style={fill=blockfillcolor!35},
  blocknew/.style={fill=blocknewcolor!45, draw=blocknewcolor, thick},
  blockpivot/.style={draw=black, circle, thick, inner sep=0.5pt},
]
"""
_MATRIX = r"""\matrix (m) [matrix of math nodes, nodes in empty cells, left delimiter=(,
  right delimiter=), nodes={anchor=center, inner sep=2pt, minimum width=1.5em,
  minimum height=1.5em}, column sep=2pt, row sep=2pt] {
"""
_PMATRIX = r"""\renewcommand{\arraystretch}{1.3}%
\def\pivot#1{\tikz[baseline=(p.base)]
  \node[draw, circle, thick, inner sep=1pt] (p) {$#1$};}%
\def\filled#1{{\color{blockfillcolor!60!black}\underline{#1}}}%
\def\newfill#1{{\color{blocknewcolor}\underline{\underline{#1}}}}%
"""
_PREAMBLES = {  # by what is in the picture
    "matrix": r"\usepackage{tikz} \usetikzlibrary{matrix}",
    "squares": r"\usepackage{tikz}",
    "pmatrix": r"\usepackage{amsmath,tikz}",
}


def _document(what: str, setup: str, box: str, width: str) -> str:
    """``box`` is TeX's, horizontal or vertical; ``setup`` stands before it, in its group."""
    head = _HEAD.replace("HEAD", _PREAMBLES[what]).replace("WIDTH", f"{WIDTHS[width]:g}")
    return f"{head}{{{setup}\\global\\setbox0={box}}}%\n{_END}"


def tikz(symbolic: SymbolicFactor, step: int | None = None, width: str = "double") -> str:
    r"""A document that compiles by itself: the blocks after ``step`` groups (None: all).

    Blocks without a name in the paper stand as \times, as its 0-structures do; of many blocks,
    squares are drawn.  What the last step has filled in is marked apart.  Raises FormatError where
    the matrix is too large for LaTeX, OrderError for a step there is not.

    >>> from pivotree.analysis.figures import tikz
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
    >>> tikz(factor).splitlines()[0]
    '% A document by itself. In one of yours: \\usepackage{tikz} \\usetikzlibrary{matrix}'
    """
    state = block_state(symbolic, step)
    if state.blocks > _LIMIT:
        raise FormatError(
            f"figure: {state.blocks} block rows are too many for LaTeX (at most {_LIMIT}); "
            "write a .pdf or .svg instead"
        )
    few = state.blocks <= _NAMED
    picture = _nodes(state, step is not None) if few else _squares(state, step is not None)
    return _document("matrix" if few else "squares", _COLOURS, f"\\hbox{{%\n{picture}}}", width)


def _nodes(state: BlockState, last: bool) -> str:
    """A matrix of nodes; with ``last``, what the last step has filled in is marked apart."""

    def node(text: str, kind: int, pivot: bool) -> str:
        styles = ["blocknew" if last and kind == NEW else "blockfill"] if kind in (FILL, NEW) else []
        styles += ["blockpivot"] if pivot else []
        return f"|[{', '.join(styles)}]| {text}" if styles else text

    rows = _rows(state, False, node)
    return _about(state) + _STYLES + _MATRIX + rows + "};\n\\end{tikzpicture}"


def _squares(state: BlockState, last: bool) -> str:
    """Blocks as squares, runs of neighbours in a row as one."""
    table = state.table()
    lines = [f"\\draw (0,0) rectangle ({state.blocks},{state.blocks});\n"]
    for i, row in enumerate(table):
        ends = np.flatnonzero(np.diff(row, prepend=-1, append=-1))
        for j, after in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            if row[j] == ZERO:
                continue
            new = last and row[j] == NEW
            style = _SQUARES["new" if new else "entry" if row[j] == ORIGINAL else "fill"]
            lines.append(f"\\path[{style}] ({j},{i}) rectangle ({after},{i + 1});\n")
    side = f"{0.6 / state.blocks:.6f}\\linewidth"
    start = f"\\begin{{tikzpicture}}[x={{{side}}}, y={{-{side}}}]\n"
    return _about(state) + start + "".join(lines) + "\\end{tikzpicture}"


_SQUARES = {
    "entry": "fill=blockentrycolor",
    "fill": "fill=blockfillcolor",
    "new": "fill=blocknewcolor!50!black",
}


def pmatrix(symbolic: SymbolicFactor, step: int | None = None, width: str = "double") -> str:
    r"""The same blocks between \begin{pmatrix} and \end{pmatrix}, to be copied into a paper.

    Pivots are circled by \pivot, fill is underlined by \filled (\newfill for the last step), and
    what the elimination has made zero is 0.  Raises as :func:`tikz` does.

    >>> from pivotree.analysis.figures import pmatrix
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(1)).structure))
    >>> print(*(line for line in pmatrix(factor).splitlines() if "&" in line), sep="\n")
    M_{1} & \pivot{I} &  \\ % \ddot{p}_{1}
    \pivot{I} &  & H_{1}^{*} \\ % f_{1}
    & 0 & \pivot{\filled{D_{1}}} \\ % \ddot{q}_{1}
    """
    state = block_state(symbolic, step)
    if state.blocks > _NAMED:
        raise too_many(state.blocks, _NAMED)

    def entry(text: str, kind: int, pivot: bool) -> str:
        if kind in (FILL, NEW):
            text = rf"\{'newfill' if kind == NEW and step is not None else 'filled'}{{{text}}}"
        return rf"\pivot{{{text}}}" if pivot else text

    setup = f"{_COLOURS}{_PMATRIX}\\setcounter{{MaxMatrixCols}}{{{max(10, state.blocks)}}}%\n{_about(state)}"
    rows = _rows(state, True, entry)
    body = "\\hbox{$\\displaystyle\n\\begin{pmatrix}\n" + rows + "\\end{pmatrix}$}"
    return _document("pmatrix", setup, body, width)


def _rows(state: BlockState, zeros: bool, dressed: Callable[[str, int, bool], str]) -> str:
    """The blocks as lines of a table, each followed by its unknown.

    ``dressed`` makes a cell of a block's symbol, of its kind, and of whether it is a pivot.
    """
    names, table = Labels(state), state.table(zeros=zeros)
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    symbols = {ZERO: "", ZEROED: "0"}
    lines = []
    for i in range(state.blocks):
        cells = []
        for j, kind in enumerate(table[i].tolist()):
            text = symbols[kind] if kind in symbols else names.cell(i, j) or r"\times"
            cells.append(dressed(text, kind, (i, j) in pivots))
        lines.append(f"  {' & '.join(cells)} \\\\ % {_one_line(names.unknown(i))}\n")
    return "".join(lines)


def too_many(blocks: int, most: int) -> FormatError:
    return FormatError(
        f"figure: {blocks} block rows are too many to be set as symbols (at most {most}); use kind spy"
    )


def _about(state: BlockState) -> str:
    """Comments: the order, the step, and who the bodies are."""
    plan = state.symbolic.plan
    comment = f"% order {_one_line(plan.sequence.name)}, after {state.step} of {plan.groups} steps\n"
    key = Labels(state).key()
    return comment + (f"% bodies: {_one_line(key)}\n" if key else "")


def _one_line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())
