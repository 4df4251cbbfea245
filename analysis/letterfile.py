"""Model files in letters: a body's mass, com, inertia_com and p, and gravity, may be texts: "m1*l1**2/12".

A text is taken apart by Python's parser, and nothing of it is run: names, numbers, + - * /, brackets and
small whole powers are all that it may hold.  How long its polynomial may become is known before it is made.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import ModelError, load, read_model

if TYPE_CHECKING:
    import sympy

    Shapes = dict[str, tuple[int, ...]]

#: fields of a body, and of the file, that may be texts
OF_BODIES: Shapes = {"mass": (), "com": (3,), "inertia_com": (3, 3), "p": (3,)}
OF_FILES: Shapes = {"gravity": (3,)}
CHARACTERS, TERMS, POWER, DEGREE = 200, 1000, 10, 40  # of a text, at most
LEAST, LARGEST = 1e-30, 1e30  # of its numbers
ODD = re.compile(r"[^\w.+*/() -]|\b\d[\d.]*(?:[eE][+-]?\d+)?_|\b0[boxBOX]", re.ASCII)
WANTED = f"give names, finite numbers, + - * /, brackets and powers up to {POWER}"


class Part(NamedTuple):
    """A part of a text, and how many terms and which degree it may have; numbers have a degree, too."""

    value: sympy.Expr
    terms: int
    degree: int


def load_letters(spec: str | os.PathLike[str], **options: Any) -> nx.DiGraph[Any]:
    """The tree that ``kkt.load`` reads; of a model file that has texts for numbers, in letters.

    Raises ModelError, one sentence with the file, the body and the field, for a text that is refused.

    >>> from pivotree.analysis.letterfile import load_letters
    >>> len(load_letters("rr_arm"))
    2
    """
    file = os.fspath(spec).strip()
    if not file.lower().endswith(".json") or not os.path.lexists(file):
        return load(spec, **options)
    found: list[tuple[Any, str, NDArray[Any]]] = []

    def in_numbers(document: dict[str, Any]) -> None:
        """Numbers for texts, which are kept in ``found``."""
        bodies = document.get("bodies")
        owners = [x for x in bodies if isinstance(x, dict)] if isinstance(bodies, list) else []
        for fields in [*owners, document]:
            of_body = fields is not document
            for field, shape in (OF_BODIES if of_body else OF_FILES).items():
                value = np.array(fields.get(field), dtype=object)
                kinds = {type(x) for x in value.flat}
                if value.shape != shape or str not in kinds or not kinds <= {str, int, float}:
                    continue  # numbers, or what the reader refuses
                where = f"body {fields.get('name')!r}" if of_body else ""
                parts = [parsed(x, where, field) if isinstance(x, str) else x for x in value.flat]
                if field == "mass" and not parts[0].expand():
                    what = f"field 'mass' is {fields[field]!r}, which is zero"
                    raise ModelError(where, what, "give 0 for no mass")
                letters = np.array(parts, dtype=object).reshape(shape)
                name = {"inertia_com": "inertia"}.get(field, field)  # in a tree
                found.append((fields.get("name") if of_body else None, name, letters))
                fields[field] = stood(letters, where, field).tolist()

    tree = read_model(file, in_numbers)
    for body, name, letters in found:
        (tree.graph if body is None else tree.nodes[body])[name] = letters
    return tree


def stood(value: NDArray[Any], where: str, field: str) -> NDArray[np.float64]:
    """Numbers for an array with expressions, one for each letter; none of them is special.

    Raises ModelError, with ``where`` for its subject, for what is no real number then.
    """
    import sympy

    own = [x for x in value.flat if isinstance(x, sympy.Expr)]
    letters = sorted(set().union(*(x.free_symbols for x in own)), key=str)
    chosen = {letter: sympy.Rational(7 + i, 10) for i, letter in enumerate(letters)}
    numbers = [x.subs(chosen) if isinstance(x, sympy.Expr) else x for x in value.flat]
    try:
        found = np.array(numbers, dtype=float).reshape(value.shape)
    except (TypeError, OverflowError):
        what = f"field {field!r} is {value.tolist()}"
        raise ModelError(where, what, "give real numbers up to 1.8e308") from None
    return np.abs(found) if field == "mass" else found  # whichever of two letters is the larger


def parsed(text: str, where: str, field: str) -> sympy.Expr:
    """The polynomial that a text says; ``where`` is the subject of a ModelError."""
    told = f"field {field!r} is {text!r}, and"
    if len(text) > CHARACTERS:
        raise ModelError(where, f"{told} that has {len(text):,} characters", f"give at most {CHARACTERS}")
    if odd := ODD.search(text):
        raise ModelError(where, f"{told} {odd[0]!r} is refused there", WANTED)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "2if"
            return _part(ast.parse(text.strip(), mode="eval").body).value
    except ValueError as error:
        raise ModelError(where, f"{told} {error}", WANTED) from None
    except (SyntaxError, MemoryError, RecursionError):
        raise ModelError(where, f"{told} that is no formula", WANTED) from None


def _part(node: ast.expr) -> Part:
    """What a node of a text's tree says.  Raises ValueError for what is refused."""
    import sympy

    made = None
    match node:
        case ast.Name(id=name) if name.lower() not in ("inf", "infinity", "nan"):
            return Part(sympy.Symbol(name), 1, 1)
        case ast.Constant(int() | float() as x) if type(x) is not bool and (not x or LEAST <= x <= LARGEST):
            exact = Fraction(repr(x))  # the shortest decimal of a float
            made = Part(sympy.Rational(exact.numerator, exact.denominator), 1, 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _part(inner)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            part = _part(inner)
            return part._replace(value=-part.value)
        case ast.BinOp(left, ast.Pow(), ast.Constant(value=n)) if type(n) is int and 1 <= n <= POWER:
            a = _part(left)
            made = Part(a.value**n, comb(a.terms + n - 1, n), n * a.degree)
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            a, b = _part(left), _part(right)
            total = a.value + b.value if isinstance(sign, ast.Add) else a.value - b.value
            made = Part(total, a.terms + b.terms, max(a.degree, b.degree))
        case ast.BinOp(left, ast.Mult(), right):
            a, b = _part(left), _part(right)
            made = Part(a.value * b.value, a.terms * b.terms, a.degree + b.degree)
        case ast.BinOp(left, ast.Div(), right):
            a, b = _part(left), _part(right)
            if b.value.free_symbols or b.value == 0:
                raise ValueError(f"{ast.unparse(right)}, which has letters or is zero, divides there")
            made = Part(a.value / b.value, a.terms, a.degree + b.degree)
    if made is None:
        raise ValueError(f"{ast.unparse(node)} is refused there")
    if made.terms > TERMS or made.degree > DEGREE:
        raise ValueError(
            f"{ast.unparse(node)} may have more than {TERMS:,} terms, or a degree above {DEGREE}"
        )
    return made
