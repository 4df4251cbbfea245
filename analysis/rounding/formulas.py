"""Formulas of a block program: what an instruction computes, in the letters of the literature.

M_k, H_k, Phi_pk, a_k, b_k, tau_k are the blocks of (4); M^_k a body's inertia with its children's
added, Mbar_k what its joint leaves of it; R_k, R^_k and G_k the same as weighted rows, with
residuals z_k and weights w_k; D_k the pivot of a joint, B_k and C_k bases of joint and constraint
forces, pdd_k, qdd_k, f_k the solution; G_loop,body, gamma and lam belong to closed loops.  What
is deeper than a few operations gets a short name of its own: T1, T2 and so on, in the order in
which they are met.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from itertools import islice

import numpy as np

from pivotree.kkt.matrix.blocks import Tie
from pivotree.kkt.program.program import Instruction, Program, Ref

DEEP = 3  # operations that are written out inside each other
LONG = 64  # characters of a formula that is still written out one operation deeper
DEFINITIONS = 12  # fresh names, after which definitions introduce no more
SUM, PRODUCT, ATOM = range(3)  # how tightly a text holds together
COPIES = ("mirror", "square")  # the same matrix, said in another way
TAGS = {  # operations of orthogonal elimination
    "weigh": "weighted rows",
    "unweighed": "rows without weight",
    "rotate": "rotated rows",
    "merge": "merged rows",
    "pivot": "pivot rows",
    "weight": "weights",
    "basis": "basis",
}


class Formulas:
    """Texts of the values of one program; names of bodies (n,) in the tree's order."""

    def __init__(
        self, program: Program, names: tuple[Hashable, ...], parent: np.ndarray, beside: tuple[str, ...] = ()
    ) -> None:
        self.program, self.names, self.parent = program, names, parent
        self.beside = beside  # of inputs that are not in (4)
        self.made = {i.out: i for i in program.instructions}
        self.fresh: dict[int, str] = {}  # value -> T1, T2 ...
        self.closed = False  # no more fresh names

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
            text = self._expanded(i, depth)[0]
            if len(text) <= LONG:
                break
        return text

    # -- names --------------------------------------------------------------------------------

    def body(self, k: int) -> str:
        return str(self.names[k])

    def _subscript(self, *bodies: int) -> str:
        texts = [self.body(k) for k in bodies]
        return "_" + ("".join(texts) if all(len(t) == 1 for t in texts) else ",".join(texts))

    def _input(self, letter: str, k: int) -> str:
        if letter == "Phi":
            p = int(self.parent[k])
            return "Phi" + (self._subscript(p, k) if p >= 0 else self._subscript(k))
        if letter == "G":
            loop, body = [(tie.name, b) for tie in self._ties for b in tie.bodies][k]
            return f"G_{loop},{self.body(body)}"
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
        for i in self.program.instructions:
            if i.op in ("along", "across") and i.args[0] is not None:
                source = self.made[i.args[0].value]
                result[i.out] = ("B" if i.op == "along" else "C") + self._subscript(source.info[1])
            name = self._inertia(i, result) or self._weighted(i)
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
            name = f"D_{blocks[0].body}"
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

    def _inertia(self, i: Instruction, known: dict[int, str]) -> str | None:
        """M^_k = M_k + what the children bring; Mbar_k = M^_k - what the joint takes."""
        if i.op == "mirror" and i.args[0] is not None:
            return known.get(i.args[0].value) if i.args[0].sign > 0 else None
        if i.op != "add":
            return None
        for ref, other in (i.args, i.args[::-1]):
            if ref is None or other is None:
                continue
            made = self.made[ref.value]
            k = made.info[1] if made.op == "input" and made.info[0] == "M" else None
            hat = known.get(ref.value, "")
            if k is None and not hat.startswith("M^_"):
                continue
            sign = "" if ref.sign > 0 else "-"
            suffix = self._subscript(k) if k is not None else hat[2:]
            if self._carried(other):
                return f"{sign}M^{suffix}"
            if self.made[other.value].op in ("inner", "mul"):
                return f"{sign}Mbar{suffix}"
        return None

    def _weighted(self, i: Instruction) -> str | None:
        """Weighted rows of M_k: R_k its own, R^_k with the children's, and their parts.

        G_k, z_k and w_k are coefficients, residuals and weights of the rows that a joint leaves,
        X_k and s_k coefficients and residuals of those that it takes.
        """
        if i.op in ("weigh", "rotate"):
            return ("R" if i.op == "weigh" else "R^") + self._subscript(i.info[1])
        if i.op not in ("rows", "mul") or i.args[0] is None:
            return None
        inner, source = i, self.made[i.args[0].value]
        while source.op == "rows" and source.args[0] is not None:
            inner, source = source, self.made[source.args[0].value]
        if source.op != "rotate" or inner is i:
            return None
        left, k = inner.info[1] is None, self._subscript(source.info[1])
        if i.op == "mul":
            return f"G{k}" if left and self._basis(i.args[1]) else None
        letters = {(6, 7): "zs", (7, 8): "w "}.get(i.info, " X")  # of rows that are left, taken
        letter = letters[0 if left else 1]
        return None if letter == " " else f"{letter}{k}^T"  # columns are cut out of the transpose

    def _basis(self, ref: Ref | None) -> bool:
        return ref is not None and self.made[ref.value].op == "across"

    def _carried(self, ref: Ref) -> bool:
        """Whether a value came through Phi: it is a child's, or a sum of children's."""
        i = self.made[ref.value]
        if i.op in ("add", "mirror"):
            return any(self._carried(arg) for arg in i.args if arg is not None)
        if i.op != "mul":
            return False
        first = i.args[0]
        made = None if first is None else self.made[first.value]
        if made is not None and made.op == "mul":
            return self._carried(first)  # type: ignore[arg-type]
        return made is not None and made.op == "input" and made.info[0] == "Phi"

    def _known(self, value: int) -> str | None:
        return self._named.get(value)

    # -- texts --------------------------------------------------------------------------------

    def _text(self, ref: Ref | None, depth: int) -> tuple[str, int]:
        """A use of a value, without its sign: text, and how tightly it holds together."""
        if ref is None:
            return "0", ATOM
        i = self.made[ref.value]
        if not ref.transposed or self._symmetric(i):
            return self._use(i, depth)
        if i.op == "mul" and depth > 0 and self._known(i.out) is None:  # (A B)^T is B^T A^T
            a, b = (arg.T for arg in i.args if arg is not None)
            return self._expanded(i._replace(args=(b, a)), depth - 1)
        text, level = self._use(i, depth)
        if level == ATOM:
            return text.removesuffix("^T") if text.endswith("^T") else f"{text}^T", ATOM
        if text.startswith("-") and level == PRODUCT:
            return f"-({text[1:]})^T", PRODUCT
        return f"({text})^T", ATOM

    def _symmetric(self, i: Instruction) -> bool:
        return i.symmetric or i.op == "eye"

    def _use(self, i: Instruction, depth: int) -> tuple[str, int]:
        if i.op == "input":
            return self._input(*i.info), ATOM
        if i.op == "eye":
            return "1", ATOM
        name = self._known(i.out)
        if name is not None:
            return name, PRODUCT if name.startswith("-") else ATOM
        if depth > 0:
            return self._expanded(i, depth - 1)
        if self.closed and i.out not in self.fresh:
            return "(...)", ATOM
        return self.fresh.setdefault(i.out, f"T{len(self.fresh) + 1}"), ATOM

    def _expanded(self, i: Instruction, depth: int) -> tuple[str, int]:
        """What an instruction computes, its operands ``depth`` operations deep."""
        if i.op == "add":
            return self._sum(i, depth)
        if i.op in ("mul", "solve", "forward", "inner"):
            return self._product(i, depth)
        if i.op == "back":
            return self._back(i, depth)
        if i.op in COPIES and len(i.args) == 1:
            return self._text(i.args[0], depth)
        if i.op == "divide":
            text, level = self._text(i.args[0], depth)
            return f"{text if level == ATOM else f'({text})'} / {i.info[0]}", PRODUCT
        if i.op == "factor":
            return f"LDL^T of {self._text(i.args[0], depth)[0]}", PRODUCT
        if i.op == "rows":
            text, level = self._text(i.args[0], depth)
            first, last = i.info
            inside = text if level == ATOM else f"({text})"
            rows = f"{first + 1}" if last == first + 1 else f"{first + 1}..{last or ''}"
            return f"{inside}[{rows}]", ATOM
        if i.op in ("input", "eye"):
            return self._use(i, depth)
        if i.op in ("along", "across"):
            what = "joint" if i.op == "along" else "constraint"
            return f"{what} basis of {self._text(i.args[0], 0)[0]}", PRODUCT
        inside = ", ".join(
            ("-" if arg is not None and arg.sign < 0 else "") + self._text(arg, 0)[0] for arg in i.args[:4]
        )
        if i.op in ("stack", "square"):
            return f"[{inside}{', ...' if len(i.args) > 4 else ''}]", ATOM
        return f"{TAGS.get(i.op, i.op)}({inside})", ATOM

    def _sum(self, i: Instruction, depth: int) -> tuple[str, int]:
        parts: list[tuple[bool, str]] = []
        refs = sorted(i.args, key=lambda ref: ref is not None and ref.sign < 0)
        for ref in refs:
            assert ref is not None
            text, level = self._text(ref, depth)
            negative = ref.sign < 0
            if text.startswith("-") and level != SUM:  # the sign of a sum is its first term's alone
                text, negative = text[1:], not negative
            if level == SUM and (negative or (parts and text.startswith("-"))):
                text = f"({text})"
            parts.append((negative, text))
        lead = "-" if parts[0][0] else ""
        rest = "".join(f" {'-' if negative else '+'} {text}" for negative, text in parts[1:])
        return f"{lead}{parts[0][1]}{rest}", SUM

    def _product(self, i: Instruction, depth: int) -> tuple[str, int]:
        negative = sum(ref.sign < 0 for ref in i.args if ref is not None) % 2 == 1
        factors: list[tuple[str, int]]
        if i.op == "mul":
            factors = [self._text(ref, depth) for ref in i.args]
        else:
            factor = self._inverse(i.args[0], "L" if i.op == "forward" else "")
            if i.op == "inner":
                assert i.args[1] is not None
                first, second = (self._text(ref, depth) for ref in (i.args[1].T, i.args[2]))
                factors = [first, factor, second]
            else:
                factors = [factor, *(self._text(ref, depth) for ref in i.args[1:])]
        texts = []
        for text, level in factors:
            if text.startswith("-") and level != SUM:
                text, negative = text[1:], not negative
            texts.append(f"({text})" if level == SUM else text)
        kept = [text for text in texts if text != "1"] or ["1"]
        return ("-" if negative else "") + " ".join(kept), PRODUCT

    def _back(self, i: Instruction, depth: int) -> tuple[str, int]:
        """L^-T (D^-1 y - r), where L is 1 for a joint of one freedom."""
        _, y, r = i.args
        assert y is not None and r is not None
        texts = [self._text(ref, depth) for ref in (y, r)]
        first, second = (f"({text})" if level == SUM else text for text, level in texts)
        lead, between = "-" if y.sign < 0 else "", "+" if r.sign < 0 else "-"
        text = f"{lead}{self._inverse(i.args[0], '')[0]} {first} {between} {second}"
        return (text, SUM) if self.program.shapes[i.out][0] == 1 else (f"L^-T ({text})", PRODUCT)

    def _inverse(self, ref: Ref | None, part: str) -> tuple[str, int]:
        """D^-1, or L^-1 of its factor."""
        assert ref is not None
        name = (self._known(ref.value) or "D").removeprefix("LDL^T of ")
        return (f"L({name})^-1" if part else f"{name}^-1"), ATOM
