"""Symbols of the values of a listing: which role of the table of symbols each family has."""

from __future__ import annotations

from collections.abc import Iterable

from ..symbols import NOTATIONS, Symbol
from .general import GROUP
from .loops import Line, Loop
from .nodes import Family, leaves
from .values import Values

ROLES = {  # (label, kinds) -> role, where the label is not the role
    ("entry", ("pdd", "rhs")): "bias",
    ("children", ("pdd", "pdd")): "tilde",
    ("s", ("pdd", "f")): "moved bias",
    ("second", ("pdd", "rhs")): "moved bias",
    ("W", ("qdd", "f")): "U",
    ("A", ("qdd", "qdd")): "D",
    ("own", ("qdd", "qdd")): "D",
    ("entry", ("qdd", "qdd")): "jsim",
    ("entry", ("qdd", "rhs")): "effort",
    ("entry", ("pdd", "qdd")): "F",
    ("s", ("qdd",)): "local",
    ("x", ("qdd",)): "qdd",
    ("x", ("pdd",)): "pdd",
    ("x", ("lam",)): "lam",
    ("own", ("lam", "lam")): "lam pivot",
    ("entry", ("lam", "lam")): "lam other",
    ("entry", ("lam", "rhs")): "lam right",
    ("x", ("f",)): "f",
    ("x", ("fC",)): "constraint",
    ("right", ("f",)): "right",
    ("own", ("fC", "fC")): "S",
    ("entry", ("fC", "fC")): "S other",
    ("entry", ("fC", "rhs")): "S right",
    ("entry", ("pdd", "fC")): "E",
    ("entry", ("pdd", "fJ")): "E along",
    ("own", ("fJ", "fC")): "SJ",
    ("entry", ("fJ", "fC")): "SJ other",
    ("own", ("fJ", "fJ")): "SJJ",
    ("entry", ("fJ", "fJ")): "SJJ other",
    ("entry", ("fJ", "rhs")): "SJ right",
    # by rotations
    ("alpha", ()): "pdd",
    ("beta", ()): "right",
    ("pivots", ()): "D",
    ("G", ()): "rows",
    ("z", ()): "residuals",
}
MATRICES = "WYZVNEJPTGQL"
VECTORS = "wyzuvgherlm"
VECTORIAL = ("z", "s", "residual", "right", "u", "now", "x")  # labels of places that hold vectors


class Names:
    """Symbols of all families of a listing."""

    def __init__(self, values: Values, loops: Iterable[Loop], notation: str) -> None:
        self.table: dict[str, Symbol] = NOTATIONS[notation]
        self.symbols: dict[Family, Symbol] = {}
        inverse_dynamics = values.program.symbolic is None
        loops = list(loops)
        lines = [line for loop in loops for line in loop.lines]
        roles: set[str | None] = set()
        taken: set[str] = set()
        given = {i.info[0] for i in values.program.instructions if i.op == "input"}
        some = [letter for letter in ("A", "G", "compliance") if letter in given]
        rest = ["gamma"] if "gamma" in given else []
        by_group = ["K", "r"] if any(loop.kinds == GROUP for loop in loops) else []
        for letter in ("M", "H", "Phi", *some, "a", "b", "tau", *rest, *by_group):
            role = "qdd" if inverse_dynamics and letter == "tau" else letter
            self.symbols["input", letter] = self.table[role]._replace(
                python="qdd" if role == "qdd" else letter
            )
            taken |= {self.table[role].text, letter}
        taken |= {"qdd", "parent", "N", "n", "k"}
        for line in lines:
            if line.family in self.symbols:
                continue
            what = self.role(line.family, lines, roles)
            roles.add(what)
            symbol = self.table.get(what) if what else None
            if symbol is not None and symbol.python in taken and what not in ("qdd", "tau"):
                symbol = None
            if symbol is None:
                symbol = self._fresh(line.family, taken)
            self.symbols[line.family] = symbol
            taken.add(symbol.python)

    def role(self, family: Family, lines: list[Line], roles: set[str | None]) -> str | None:
        """What a family is; None where it has no name of its own."""
        label, kinds = family[0], family[1]
        if len(family) > 3 and family[3] != 0:
            return None
        if (label, kinds) == ("own", ("pdd", "pdd")):
            made: dict[Family, Line] = {}
            for line in lines:
                made.setdefault(line.family, line)
            seen: set[Family] = set()
            waiting = [family]
            while waiting:  # does a joint's pivot take part in its recursion?
                known = made.get(waiting.pop())
                read = {leaf.family for leaf in leaves(known.expression)} if known else set()
                waiting += read - seen
                seen |= read
            pivots = {f for f in seen if "qdd" in f[1] and f[0] in ("own", "A")}
            return "articulated" if pivots else "composite"
        plain = f"{kinds[0]} {label}" if kinds in (("lam",), GROUP) else label
        role = ROLES.get((label, kinds), plain if kinds in ((), ("H",), ("lam",), GROUP) else None)
        if role == "bias" and "composite" in roles:
            return "composite bias"
        return role

    def _fresh(self, family: Family, taken: set[str]) -> Symbol:
        vector = "rhs" in family[1] or family[0] in VECTORIAL
        letters = VECTORS if vector else MATRICES
        known = {s.text for s in self.symbols.values()} | taken
        for number in range(1, 1000):
            for letter in letters:
                name = letter if number == 1 else f"{letter}{number}"
                if name not in known:
                    return Symbol(name, name if number == 1 else f"{letter}_{{({number})}}", name)
        raise AssertionError("there are letters enough")
