"""Formulas of a block program: what an instruction computes, in the letters of the literature.

M_k, H_k, Phi_pk, a_k, b_k, tau_k are the blocks of (4); M^_k a body's inertia with its children's
added, Mbar_k what its joint leaves of it; R_k, R^_k and G_k the same as weighted rows, with
residuals z_k and weights w_k; D_k the pivot of a joint, B_k and C_k bases of joint and constraint
forces, pdd_k, qdd_k, f_k the solution; G_loop,body, gamma and lam belong to closed loops.  What
is deeper than a few operations gets a short name of its own: T1, T2 and so on, in the order in
which they are met.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from pivotree.kkt.matrix.blocks import Tie
from pivotree.kkt.program.program import Instruction, Place, Program, Ref

from ..listing.nodes import Node, Sum, Term
from ..listing.style import ATOM, PRODUCT, Style
from ..symbols import ASCHER

DEEP = 3  # operations that are written out inside each other
LONG = 64  # characters of a formula that is still written out one operation deeper
DEFINITIONS = 12  # fresh names, after which definitions introduce no more
COPIES = ("mirror", "square")  # the same matrix, said in another way
_LETTER = {role: symbol.keyboard for role, symbol in ASCHER.items()}
_ENTRY, _ROWS = ("pdd", "pdd"), ("pdd",)
PLACED = {  # label of a place and operation there -> letter, kinds of the place's blocks, what follows
    ("entry", "add"): (_LETTER["articulated"], _ENTRY, ""),
    ("inverse", "add"): (f"-{_LETTER['Mbar']}", ("qdd", "f", "f"), ""),
    ("weighed", "weigh"): (_LETTER["weighed"], _ROWS, ""),
    ("rotated", "rotate"): (_LETTER["rotated"], _ROWS, ""),
    ("G", "mul"): (_LETTER["rows"], _ROWS, ""),
    ("z", "rows", (6, 7)): (_LETTER["residuals"], _ROWS, "^T"),  # columns are cut out of the transpose
    ("z", "rows", (7, 8)): (_LETTER["weights"], _ROWS, "^T"),
    ("coupling", "rows"): ("X", _ROWS, "^T"),
    ("shift", "rows"): ("s", _ROWS, "^T"),
}
TAGS = {  # operations of orthogonal elimination
    "weigh": "weighted rows",
    "unweighed": "rows without weight",
    "rotate": "rotated rows",
    "pivot": "pivot rows",
    "weight": "weights",
    "basis": "basis",
}


class Formulas:
    """Texts of the values of one program; names of bodies (n,) in the tree's order."""

    def __init__(
        self, program: Program, names: Sequence[Hashable], parent: np.ndarray, beside: tuple[str, ...] = ()
    ) -> None:
        self.program = program
        self.names = names
        self.parent = parent
        self.beside = beside  # of inputs that are not in (4)
        self.made: dict[int, Instruction] = {i.out: i for i in program.instructions}
        self.fresh: dict[int, str] = {}  # value -> T1, T2 ...
        self.closed: bool = False  # no more fresh names

    def instruction(self, number: int) -> str:
        """What one instruction computes, such as M_2 + Phi_21 M_1 Phi_21^T."""
        return self._short(self.program.instructions[number])

    def where(self) -> dict[str, str]:
        """Definitions of all fresh names, one after another; what is too deep for them is (...)."""
        done: dict[str, str] = {}
        while len(done) < len(self.fresh):
            self.closed = len(self.fresh) >= DEFINITIONS
            value, name = next(islice(self.fresh.items(), len(done), None))
            done[name] = self._short(self.made[value])
        self.closed = False
        return done

    def _short(self, i: Instruction) -> str:
        """An instruction written out, as many operations deep as one line holds."""
        known = dict(self.fresh)
        for depth in range(DEEP, -1, -1):
            self.fresh = dict(known)
            text = PRINTER.text(self._expanded(i, depth))
            if len(text) <= LONG:
                break
        return text

    # -- names --------------------------------------------------------------------------------

    def _subscript(self, *bodies: int) -> str:
        texts = [str(self.names[k]) for k in bodies]
        return "_" + ("".join(texts) if all(len(t) == 1 for t in texts) else ",".join(texts))

    def _input(self, letter: str, k: int) -> str:
        letter = _LETTER.get(letter, letter)
        if letter == _LETTER["Phi"]:
            p = int(self.parent[k])
            return letter + (self._subscript(p, k) if p >= 0 else self._subscript(k))
        if letter == _LETTER["G"]:
            loop, body = [(tie.name, b) for tie in self._ties for b in tie.bodies][k]
            return f"{letter}_{loop},{self.names[body]}"
        if letter in ("gamma", "compliance"):
            return f"{letter}_{self._ties[k].name}"
        if letter == "beside":
            return self.beside[k]
        return letter + self._subscript(k)

    @property
    def _ties(self) -> tuple[Tie, ...]:
        factor = self.program.symbolic
        return () if factor is None else factor.plan.graph.structure.ties

    @cached_property
    def _named(self) -> dict[int, str]:
        """Values that the literature has a letter for."""
        result: dict[int, str] = {}
        for i, place in zip(self.program.instructions, self.program.places, strict=False):
            name = self._placed(i, place)
            if i.op in ("along", "across") and i.args[0] is not None:
                name = _LETTER[i.op] + self._subscript(self.made[i.args[0].value].info[1])
            elif i.op == "mirror" and i.args[0] is not None and i.args[0].sign > 0:
                name = result.get(i.args[0].value)
            elif place.label == "entry" and name is not None and not self._whole(i, name, result):
                name = None
            if name is not None:
                result[i.out] = name
        for record in self.program.pivots:
            if record.factor >= 0 and self.made[record.factor].op in ("factor", "pivot"):
                self._name_pivot(record.factor, result)
        for block, ref in self.program.solution.items():
            if self.made[ref.value].op not in ("input", "eye"):
                sign = "" if ref.sign > 0 else "-"
                result.setdefault(ref.value, f"{sign}{block}")
        return result

    def _name_pivot(self, factor: int, result: dict[int, str]) -> None:
        own = [r for r in self.program.pivots if r.factor == factor]
        blocks = [b for r in own for b in r.blocks]
        one = len(blocks) == 1
        if one and blocks[0].kind == "qdd":
            name = f"{_LETTER['D']}_{blocks[0].body}"
        elif all(b.kind == "qdd" for b in blocks):
            name = "(H Phi M Phi^T H^T)"  # the joint-space inertia, equation (3)
        else:
            name = f"D({blocks[0]})" if one else f"D({blocks[0]}...{blocks[-1]})"
        result[factor] = f"LDL^T of {name}"
        made = self.made[factor]
        ref = made.args[0] if made.op == "factor" else None
        while ref is not None and self.made[ref.value].op not in ("input", "eye"):
            result[ref.value] = name
            source = self.made[ref.value]
            ref = source.args[0] if source.op == "mirror" else None

    def _placed(self, i: Instruction, place: Place) -> str | None:
        """The name of what stands at its place in the elimination: of body k, whose block comes first.

        M^_k = M_k + what the children bring, Mbar_k = M^_k - what the joint takes.  Of weighted rows,
        R_k are M_k's own, R^_k those with the children's; G_k, z_k and w_k are coefficients, residuals
        and weights of the rows that a joint leaves, X_k and s_k coefficients and residuals of those that
        it takes.
        """
        what = PLACED.get((place.label, i.op)) or PLACED.get((place.label, i.op, i.info))
        if what is None or self.program.symbolic is None or place.back:
            return None
        letter, kinds, after = what
        blocks = [self.program.symbolic.plan.graph.block(b) for b in place.blocks if b >= 0]
        body = blocks[0].body
        if tuple(b.kind for b in blocks) != kinds or place.blocks.count(place.blocks[-1]) < len(kinds[1:]):
            return None
        return f"{letter}_{body}{after}"

    def _whole(self, i: Instruction, name: str, known: dict[int, str]) -> bool:
        """Whether a sum has the body's own inertia in it, and not its children's alone."""
        refs = [ref for ref in i.args if ref is not None]
        return any(self.made[ref.value].op == "input" or known.get(ref.value) == name for ref in refs)

    # -- expressions --------------------------------------------------------------------------

    def _node(self, ref: Ref | None, depth: int) -> Any:
        """A use of a value, without its sign."""
        if ref is None:
            return _named("0")
        i = self.made[ref.value]
        if not ref.transposed or i.symmetric or i.op == "eye":
            return self._use(i, depth)
        if i.op == "mul" and depth > 0 and i.out not in self._named:  # (A B)^T is B^T A^T
            a, b = (arg.T for arg in i.args if arg is not None)
            return self._expanded(i._replace(args=(b, a)), depth - 1)
        return Node("T", (self._use(i, depth),))

    def _signed(self, ref: Ref | None, depth: int) -> Any:
        node = self._node(ref, depth)
        return node if ref is None or ref.sign > 0 else Sum((Term(-1, node),))

    def _use(self, i: Instruction, depth: int) -> Any:
        if i.op == "input":
            return _named(self._input(*i.info))
        if i.op == "eye":
            return Node("eye", ())
        if (name := self._named.get(i.out)) is not None:
            return _named(name)
        if depth > 0:
            return self._expanded(i, depth - 1)
        if self.closed and i.out not in self.fresh:
            return _named("(...)")
        return _named(self.fresh.setdefault(i.out, f"T{len(self.fresh) + 1}"))

    def _expanded(self, i: Instruction, depth: int) -> Any:
        """What an instruction computes, its operands ``depth`` operations deep."""
        if i.op in ("input", "eye"):
            return self._use(i, depth)
        if i.op == "add":
            refs = sorted((ref for ref in i.args if ref is not None), key=lambda ref: -ref.sign)
            return Sum(tuple(Term(ref.sign, self._node(ref, depth)) for ref in refs))
        if i.op == "mul":
            return Node("mul", tuple(self._signed(ref, depth) for ref in i.args))
        if i.op in ("solve", "forward"):
            by = self._pivot(i.args[0])
            divisor = _named(f"L({by})" if i.op == "forward" else by)
            return Node("solve", (divisor, *(self._signed(ref, depth) for ref in i.args[1:])))
        if i.op == "inner" and i.args[1] is not None:
            first, second = (self._signed(ref, depth) for ref in (i.args[1].T, i.args[2]))
            return Node("mul", (first, Node("solve", (_named(self._pivot(i.args[0])), second))))
        if i.op == "back":  # L^-T (D^-1 y - r), where L is 1 for a joint of one freedom
            y, r = (self._signed(ref, depth) for ref in i.args[1:])
            inside = Sum((Term(1, Node("solve", (_named(self._pivot(i.args[0])), y))), Term(-1, r)))
            return inside if self.program.shapes[i.out][0] == 1 else Node("mul", (_named("L^-T"), inside))
        if i.op in COPIES and len(i.args) == 1:
            return self._node(i.args[0], depth)
        if i.op in ("divide", "rows"):
            return Node(i.op, (self._node(i.args[0], depth),), (), i.info)
        if i.op in ("factor", "along", "across"):
            what = {"factor": "LDL^T", "along": "joint basis", "across": "constraint basis"}[i.op]
            inner = self._node(i.args[0], depth if i.op == "factor" else 0)
            return _named(f"{what} of {PRINTER.text(inner)}")
        args = tuple(self._signed(arg, 0) for arg in i.args[:4])
        if i.op in ("stack", "square"):
            more = ", ..." if len(i.args) > 4 else ""
            return _named(f"[{', '.join(map(PRINTER.text, args))}{more}]")
        return Node(TAGS.get(i.op, i.op), args)

    def _pivot(self, ref: Ref | None) -> str:
        """The name of what a factor is of."""
        return ((ref and self._named.get(ref.value)) or "D").removeprefix("LDL^T of ")


class Keyboard(Style):
    """Texts in letters of a keyboard, of values that have their names already."""

    def level(self, node: Any) -> tuple[str, int]:
        if isinstance(node, Node) and node.op == "named":
            (text,) = node.info
            return text, PRODUCT if text.startswith("-") else ATOM
        if isinstance(node, Node) and node.op == "rows":
            first, last = node.info
            rows = f"{first + 1}" if last == first + 1 else f"{first + 1}..{last or ''}"
            text, level = self.level(node.args[0])
            return f"{text if level == ATOM else f'({text})'}[{rows}]", ATOM
        return super().level(node)

    def transposed(self, text: str, level: int) -> str:
        if level == ATOM:
            return text.removesuffix("^T") if text.endswith("^T") else f"{text}^T"
        return f"-({text[1:]})^T" if text.startswith("-") and level == PRODUCT else f"({text})^T"

    def inverse(self, leaf: Any) -> str:
        return f"{self.text(leaf)}^-1"


def _named(text: str) -> Node:
    return Node("named", (), (), (text,))


PRINTER = Keyboard()
