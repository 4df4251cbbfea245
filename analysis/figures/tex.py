r"""Figures as LaTeX: block matrices as pmatrix.

Every text is a document that compiles by itself, cut to its picture, with article and TikZ alone;
inside a paper, by ``\input``, it is that picture in the paper's own fonts, no wider than a line.
"""

from __future__ import annotations

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .state import FILL, NEW, ZERO, ZEROED, BlockState, block_state
from .style import inches

_MOST = 48  # blocks; a wider matrix cannot be read

_COLOURS = r"""\definecolor{blockfillcolor}{HTML}{E69F00}%
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
_PMATRIX = r"""\renewcommand{\arraystretch}{1.3}%
\def\pivot#1{\tikz[baseline=(p.base)]
  \node[draw, circle, thick, inner sep=1pt] (p) {$#1$};}%
\def\filled#1{{\color{blockfillcolor!60!black}\underline{#1}}}%
\def\newfill#1{{\color{blocknewcolor}\underline{\underline{#1}}}}%
"""


def _document(setup: str, box: str, width: str) -> str:
    """``box`` is TeX's; ``setup`` stands before it, in its group."""
    head = _HEAD.replace("HEAD", r"\usepackage{amsmath,tikz}").replace("WIDTH", f"{inches(width):g}")
    return f"{head}{{{setup}\\global\\setbox0={box}}}%\n{_END}"


def pmatrix(symbolic: SymbolicFactor, step: int | None = None, width: str = "double") -> str:
    r"""A document that compiles by itself: the blocks after ``step`` groups (None: all) as a pmatrix.

    Pivots are circled by \pivot, fill is underlined by \filled (\newfill for the last step), and
    what the elimination has made zero is 0; a block without a name in the paper is a \times.
    Raises FormatError where the matrix is too large to be read, OrderError for a step there is not.

    >>> from pivotree.analysis.figures import pmatrix
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(1)).structure))
    >>> print(*(line for line in pmatrix(factor).splitlines() if "&" in line), sep="\n")
    M_{1} & \pivot{I} &  \\ % \ddot{p}_{1}
    \pivot{I} &  & H_{1}^{*} \\ % f_{1}
    & 0 & \pivot{\filled{D_{1}}} \\ % \ddot{q}_{1}
    """
    state = block_state(symbolic, step)
    if state.blocks > _MOST:
        raise FormatError(
            "figure",
            f"{state.blocks} block rows are too many to be set as symbols (at most {_MOST})",
            "write a .pdf or .svg instead",
        )
    names, table = Labels(state), state.table(zeros=True)
    pivots = {tuple(pair) for pair in state.pivots.tolist()}
    symbols = {ZERO: "", ZEROED: "0"}

    def entry(text: str, kind: int, pivot: bool) -> str:
        if kind in (FILL, NEW):
            text = rf"\{'newfill' if kind == NEW and step is not None else 'filled'}{{{text}}}"
        return rf"\pivot{{{text}}}" if pivot else text

    setup = f"{_COLOURS}{_PMATRIX}\\setcounter{{MaxMatrixCols}}{{{max(10, state.blocks)}}}%\n{_about(state)}"
    rows = ""
    for i in range(state.blocks):
        cells = []
        for j, kind in enumerate(table[i].tolist()):
            text = symbols[kind] if kind in symbols else names.cell(i, j) or r"\times"
            cells.append(entry(text, kind, (i, j) in pivots))
        rows += f"  {' & '.join(cells)} \\\\ % {_one_line(names.unknown(i))}\n"
    body = "\\hbox{$\\displaystyle\n\\begin{pmatrix}\n" + rows + "\\end{pmatrix}$}"
    return _document(setup, body, width)


def _about(state: BlockState) -> str:
    """Comments: the order, the step, and who the bodies are."""
    plan = state.symbolic.plan
    comment = f"% order {_one_line(plan.sequence.name)}, after {state.step} of {plan.groups} steps\n"
    key = Labels(state).key()
    return comment + (f"% bodies: {_one_line(key)}\n" if key else "")


def _one_line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())
