r"""Figures as LaTeX: block matrices by TikZ and as pmatrix, and trees.

Every text is a document that compiles by itself, cut to its picture, with article and TikZ alone;
inside a paper, by ``\input``, it is that picture in the paper's own fonts, no wider than a line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import FormatError, SymbolicFactor

from .labels import Labels
from .state import FILL, NEW, ORIGINAL, ZERO, ZEROED, BlockState, block_state
from .style import LIGHT, WIDTHS, Theme

_LIMIT = 200  # blocks; LaTeX has little memory
_NAMED = 48  # blocks; with more, squares and dots without a name

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
_TREE = r"""\begin{tikzpicture}[x=1cm, y=-0.75cm, node/.style={draw, circle, inner sep=1pt,
  minimum size=1.7em, font=\footnotesize}]
"""
_DOTS = r"""\begin{tikzpicture}[x=0.42cm, y=-0.22cm,
  node/.style={draw, circle, very thin, inner sep=0pt, minimum size=1.3mm}]
"""
_PREAMBLES = {  # by what is in the picture
    "matrix": r"\usepackage{tikz} \usetikzlibrary{matrix}",
    "squares": r"\usepackage{tikz}",
    "tree": r"\usepackage{tikz}",
    "pmatrix": r"\usepackage{amsmath,tikz}",
}


def _document(what: str, setup: str, box: str, width: str) -> str:
    """``box`` is TeX's, horizontal or vertical; ``setup`` stands before it, in its group."""
    head = _HEAD.replace("HEAD", _PREAMBLES[what]).replace("WIDTH", f"{WIDTHS[width]:g}")
    return f"{head}{{{setup}\\global\\setbox0={box}}}%\n{_END}"


def tikz(symbolic: SymbolicFactor, step: int | None = None, width: str = "double") -> str:
    r"""A document that compiles by itself: the blocks after ``step`` groups (None: all).

    Blocks without a name in the paper stand as \times, as its 0-structures do; of many blocks,
    squares are drawn.  Raises FormatError where the matrix is too large for LaTeX, OrderError for
    a step there is not.

    >>> from pivotree.analysis.figures import tikz
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.chain(3)).structure))
    >>> tikz(factor).splitlines()[0]
    '% A document by itself. In one of yours: \\usepackage{tikz} \\usetikzlibrary{matrix}'
    """
    state = block_state(symbolic, step)
    picture = _picture(state, step is not None)
    return _document(_drawn(state.blocks), _COLOURS, f"\\hbox{{%\n{picture}}}", width)


def tikz_panels(states: Sequence[BlockState], width: str = "double", look: Theme = LIGHT) -> str:
    """A document that compiles by itself: matrices side by side, as many as a line holds, each
    with its order and its fill; more than two are drawn as squares.

    Raises FormatError where one is too large for LaTeX.
    """
    panels = []
    squares = len(states) > 2 or max(state.blocks for state in states) > _NAMED
    for state in states:
        _require_page(state.blocks)
        title = f"{_named(state.symbolic, look)}: {state.told}"
        picture = _squares(state, False, 0.46) if squares else _picture(state, False)
        panels.append((title if state.step else "the matrix", picture))
    what = "squares" if squares else "matrix"
    return _document(what, _COLOURS, _side_by_side(panels), width)


def _side_by_side(panels: Sequence[tuple[str, str]]) -> str:
    """Titles and pictures as a paragraph, whose lines TeX breaks."""
    boxes = []
    for title, picture in panels:
        # boxes, and no table: its & is the matrix's
        fitted = (
            f"\\setbox2=\\hbox{{%\n{picture}}}%\n"
            "\\ifdim\\wd2>\\linewidth \\setbox2=\\hbox{\\resizebox{\\linewidth}{!}{\\box2}}\\fi"
        )
        boxes.append(f"\\vtop{{\\hbox{{{title}}}\\kern4pt\n{fitted}\\box2 }}%\n")
    between = "\\hskip 1.5em plus 1em\\relax\n"
    return (
        "\\vbox{\\parindent=0pt \\parskip=0pt \\lineskiplimit=8pt \\lineskip=12pt\n"
        f"\\hsize=\\linewidth \\raggedright\\leavevmode\n{between.join(boxes)}\\par}}"
    )


def _drawn(blocks: int) -> str:
    return "matrix" if blocks <= _NAMED else "squares"


def _picture(state: BlockState, last: bool) -> str:
    """One matrix; with ``last``, what the last step has filled in is marked apart."""
    _require_page(state.blocks)
    if _drawn(state.blocks) == "squares":
        return _squares(state, last, 0.6)
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


def _squares(state: BlockState, last: bool, share: float) -> str:
    """Blocks as squares, runs of neighbours in a row as one; ``share`` of a line wide."""
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
    side = f"{share / state.blocks:.6f}\\linewidth"
    about = _about(state.symbolic, state.step, Labels(state))
    start = f"\\begin{{tikzpicture}}[x={{{side}}}, y={{-{side}}}]\n"
    return about + start + "".join(lines) + "\\end{tikzpicture}"


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
    setup = (
        f"{_COLOURS}{_PMATRIX}\\setcounter{{MaxMatrixCols}}{{{max(10, state.blocks)}}}%\n"
        f"{_about(symbolic, state.step, names)}"
    )
    body = "\\hbox{$\\displaystyle\n\\begin{pmatrix}\n" + "".join(lines) + "\\end{pmatrix}$}"
    return _document("pmatrix", setup, body, width)


def tikz_tree(symbolic: SymbolicFactor, width: str = "double", look: Theme = LIGHT) -> str:
    """The tree of bodies beside the elimination tree (Davis 2006, section 4.1).

    Every body has one colour.  Raises FormatError where a tree is too large for LaTeX.

    >>> from pivotree.analysis.figures import tikz_tree
    >>> factor = pt.symbolic(pt.plan(pt.orderings.get("abm"), pt.build(pt.star(3)).structure))
    >>> "elimination tree of ABM" in tikz_tree(factor)
    True
    """
    from .trees import bodies_of, body_colours, body_parents

    _require_page(len(symbolic.parent))
    names = Labels(block_state(symbolic, 0))
    colours = body_colours(symbolic, LIGHT)
    setup = "".join(
        f"\\definecolor{{body{k}}}{{HTML}}{{{_hex(colour)}}}%\n" for k, colour in enumerate(colours)
    )
    up = body_parents(symbolic)
    panels = (
        (
            f"{len(up)} bod{'ies' if len(up) != 1 else 'y'}",
            _tree(up, list(range(len(up))), [names.subscript.get(k, "") for k in range(len(up))], colours),
        ),
        (
            f"elimination tree of {_named(symbolic, look)}",
            _tree(
                symbolic.parent,
                bodies_of(symbolic).tolist(),
                [names.unknown(t) for t in range(len(symbolic.parent))],
                colours,
            ),
        ),
    )
    about = _about(symbolic, symbolic.plan.groups, names)
    return _document("tree", setup + about, _side_by_side(panels), width)


def _tree(
    parent: NDArray[np.int64], owner: list[int], labels: list[str], colours: NDArray[np.float64]
) -> str:
    from .trees import ink_on, tree_layout

    named = len(parent) <= _NAMED
    lines = [_TREE if named else _DOTS]
    for t, (x, y) in enumerate(tree_layout(parent)):
        ink = "black" if ink_on(colours[owner[t]]) == "#000000" else "white"
        text = f"${labels[t]}$" if named else ""
        lines.append(f"\\node[node, fill=body{owner[t]}, text={ink}] (n{t}) at ({x:g},{y:g}) {{{text}}};\n")
    lines += [f"\\draw (n{t}) -- (n{up});\n" for t, up in enumerate(parent) if up >= 0]
    return "".join(lines) + "\\end{tikzpicture}"


def too_many(blocks: int, most: int) -> FormatError:
    return FormatError(
        f"figure: {blocks} block rows are too many to be set as symbols (at most {most}); use kind spy"
    )


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


def _named(symbolic: SymbolicFactor, look: Theme) -> str:
    """An order's name as the figures' other formats have it."""
    return escaped(look.named(symbolic.plan.sequence.name).replace(r"\$", "$"))


def _hex(colour: np.ndarray) -> str:
    return "".join(f"{int(255 * c + 0.5):02X}" for c in colour)


def escaped(text: str) -> str:
    """Words as LaTeX prints them, whatever letters they have."""
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


_SPECIAL = {letter: f"\\{letter}" for letter in "_%&#${}"}
_SPECIAL |= {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _one_line(text: str) -> str:
    """A comment must not break its line."""
    return " ".join(text.split())
