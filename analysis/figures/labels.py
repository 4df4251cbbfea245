r"""Names of blocks as TeX in the notation of Ascher, Pai & Cloutier 1996, section 2.

What an elimination has changed is named only where the name is right: \hat M_k once all below
body k is eliminated, D_k and the joint-space inertia \mathcal M where they stand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

import numpy as np

from pivotree.kkt import Partition
from pivotree.kkt.matrix.blocks import FC, FJ, LAM, PDD, QDD, F, Structure

from ..symbols import tex_letters
from .state import ORIGINAL, ZERO, BlockState, updates

_TEX = tex_letters()
_UNKNOWN = {
    PDD: _TEX["pdd"],
    QDD: _TEX["qdd"],
    F: _TEX["f"],
    FJ: _TEX["f"],
    FC: _TEX["f"],
    LAM: _TEX["multiplier"],
}
_PART = {FJ: "^{J}", FC: "^{C}"}  # of a force: along the joint, and beside it


class Labels:
    """TeX of rows and blocks of one state, without the dollar signs."""

    def __init__(self, state: BlockState) -> None:
        self.state = state
        plan = state.symbolic.plan
        self.structure: Structure = plan.graph.structure
        self.kind: list[int] = plan.graph.kind[plan.blocks].tolist()
        self.body: list[int] = plan.graph.member[plan.blocks].tolist()  # of multipliers, their loop
        self.carrier: dict[int, int] = self.structure.carriers
        self.body_of: dict[int, int] = {c: k for k, c in self.carrier.items()}  # of each massless carrier
        self.own: list[int] = [int(k) for k in self.structure.order if int(k) not in self.body_of]
        self.numbered: bool = not all(_short(self.structure.names[k]) for k in self.own)
        if self.numbered:
            self.subscript: dict[int, str] = {k: str(i) for i, k in enumerate(self.own, start=1)}
        else:
            self.subscript = {k: str(self.structure.names[k]) for k in self.own}
        self.subscript.update({c: self.subscript[k] for c, k in self.body_of.items()})

    def key(self) -> str:
        """Numbers beside names, as '1 = hand, 2 = arm'; empty where names are used.

        A space inside a pair breaks no line.
        """
        if not self.numbered:
            return ""
        names = self.structure.names
        return ", ".join(f"{self.subscript[k]}\xa0=\xa0{names[k]}" for k in self.own)

    def unknown(self, position: int) -> str:
        k = self.body[position]
        kind = self.kind[position]
        if isinstance(self.structure, Partition):
            name = str(self.structure.names[k])
            own = name.isascii() and name.isalnum() and name[0].isalpha() and len(name) <= 5
            return rf"\mathrm{{{name}}}" if own else f"x_{{{self.subscript[k]}}}"
        if kind == LAM:
            return f"{_UNKNOWN[LAM]}_{{{self._loop(k)}}}"
        prime = "'" if k in self.body_of else ""
        return f"{_UNKNOWN[kind]}{prime}_{{{self.subscript[k]}}}{_PART.get(kind, '')}"

    def cell(self, i: int, j: int) -> str:
        """The block in row i, column j; empty where it has no name in the paper."""
        if isinstance(self.structure, Partition):
            return ""  # the letters are those of (4)
        if i == j:
            return self._diagonal(i)
        low, high = min(i, j), max(i, j)
        changes = self._changes(low, high)
        kinds = {self.kind[i], self.kind[j]}
        if (low, high) in self._original:
            return "" if changes else self._entry(i, j)
        if self._met_a_loop(low):
            return ""
        if kinds == {QDD}:
            return self._inertia(i, j)
        if kinds == {PDD, QDD} and len(changes) == 1:
            return self._projected(i, j)
        return ""

    # -- as entered ---------------------------------------------------------------------------

    def _entry(self, i: int, j: int) -> str:
        """M, H, Phi and 1 of (4); the split force's bases B and C of Yamane & Nakamura (11)."""
        if self.kind[i] == LAM:
            return self._tie(self.body[i], self.body[j])
        if self.kind[j] == LAM:
            return f"{self._tie(self.body[j], self.body[i])}^{{*}}"
        if self.kind[i] >= F:  # f's row holds the adjoint of f's column
            sign, *factors = self._factors(j, i)
            return sign + "".join(x if x == "I" else f"{x}^{{*}}" for x in reversed(factors))
        return "".join(self._factors(i, j))

    def _factors(self, i: int, j: int) -> list[str]:
        """A sign, and what is multiplied."""
        k, c = self.body[i], self.body[j]
        if self.kind[i] == QDD:
            return ["", f"{_TEX['H']}_{{{self.subscript[k]}}}" if self.kind[j] == F else "I"]
        bases = {FJ: _TEX["along"], FC: _TEX["across"]}
        basis = [f"{B}_{{{self.subscript[c]}}}" for kind, B in bases.items() if kind == self.kind[j]]
        if k == c:
            return ["", *(basis or ["I"])]
        return ["-", self._phi(k, c), *basis]

    def _tie(self, loop: int, body: int) -> str:
        """G of a loop on one of its bodies, with its sign."""
        tie = self.structure.ties[loop]
        sign = "-" if tie.signs[tie.bodies.index(body)] < 0 else ""
        return f"{sign}{_TEX['G']}_{{{self._loop(loop)},{self.subscript[body]}}}"

    def _loop(self, loop: int) -> str:
        """The subscript of a loop: its name where all are short, else its number."""
        names = self.structure.constraints
        return str(names[loop] if all(map(_short, names)) else loop + 1)

    def _phi(self, parent: int, child: int) -> str:
        p, c = self.subscript[parent], self.subscript[child]
        return rf"{_TEX['Phi']}_{{{p}{'' if len(p) == len(c) == 1 else ','}{c}}}"

    # -- as eliminated ------------------------------------------------------------------------

    def _diagonal(self, i: int) -> str:
        k, kind = self.body[i], self.kind[i]
        if self.state.diagonal[i] == ZERO:
            return "0"
        if kind == LAM or (self._met_a_loop(i) and self.state.updated[i]):
            return ""
        if kind == PDD:
            return self._articulated(i) if self.state.updated[i] else self._mass(_TEX["M"], k)
        if kind != QDD:
            return ""
        if not self.state.updated[i]:
            return self._mass(_TEX["A"], k)
        gone = self._gone_before(i)
        below = [c for c in self._below[k] if QDD in self._kinds_of(c)]
        if not self._reduced(gone, k):
            return ""
        alone = not below and (PDD, int(self.structure.parent[k])) not in gone
        if (below or alone or self.state.done[i]) and all((QDD, c) in gone for c in below):
            return f"{_TEX['D']}_{{{self.subscript[k]}}}"
        if not any((QDD, c) in gone for c in below):
            return self._calligraphic(k, k)
        return ""

    def _articulated(self, i: int) -> str:
        """M-hat, the composite inertia R of footnote 6, or M' for a sum that is not complete."""
        k, gone = self.body[i], self._gone_before(i)
        if k in self.body_of:  # all that a carrier holds is what its children hand on
            whole = all((kind, c) in gone for c in self._below[k] for kind in self._kinds_of(c))
            return self._mass(_TEX["tilde"], k) if whole else ""
        if any(b in (k, *self._above[k]) for _, b in gone):
            return ""
        below = self._below[k]
        if all((kind, c) in gone for c in below for kind in self._kinds_of(c)):
            return self._mass(_TEX["articulated"], k)
        bodies_only = all((kind, c) in gone for c in below for kind in (PDD, F))
        if bodies_only and not any((QDD, c) in gone for c in below):
            return self._mass(_TEX["composite"], k)
        return f"{_TEX['M']}_{{{self.subscript[k]}}}'"

    def _mass(self, letter: str, k: int) -> str:
        if self.structure.pieces[k] > 1:  # a piece of a split link has a share of M
            return ""
        return f"{letter}_{{{self.subscript[k]}}}"

    def _inertia(self, i: int, j: int) -> str:
        """The joint-space inertia between a joint and one above it, before any is eliminated."""
        low, high = sorted((self.body[i], self.body[j]), key=lambda k: len(self._above[k]))
        gone = self._gone_before(min(i, j))
        ready = low in self._above[high] and self._reduced(gone, high) and (PDD, low) in gone
        if not ready or any((QDD, c) in gone for c in (high, *self._below[high])):
            return ""
        return self._calligraphic(self.body[i], self.body[j])

    def _calligraphic(self, a: int, b: int) -> str:
        a_text, b_text = self.subscript[a], self.subscript[b]
        comma = "" if len(a_text) == len(b_text) == 1 else ","
        return rf"{_TEX['inertia']}_{{{a_text}{comma}{b_text}}}"

    def _projected(self, i: int, j: int) -> str:
        """-H_k M^_k Phi*, the one block that ABM fills in for each body, or its adjoint."""
        turned = self.kind[i] == PDD
        parent, k = (self.body[i], self.body[j]) if turned else (self.body[j], self.body[i])
        if self.structure.parent[k] != parent or (PDD, k) not in self._position:
            return ""
        x = self._position[PDD, k]
        M = self._diagonal(x)
        if not M or "'" in M or self.state.symbolic.pivot[x] != 1:
            return ""
        H, Phi = f"{_TEX['H']}_{{{self.subscript[k]}}}", self._phi(parent, k)
        return f"-{Phi}{M}{H}^{{*}}" if turned else f"-{H}{M}{Phi}^{{*}}"

    # -- who has been eliminated --------------------------------------------------------------

    def _reduced(self, gone: set[tuple[int, int]], k: int) -> bool:
        """pdd and f of k and all below are gone, no body is half gone, no joint above is gone."""
        if any(((PDD, b) in gone) != ((F, b) in gone) for b in range(self.structure.n)):
            return False
        below = all((PDD, c) in gone for c in (k, *self._below[k]))
        return below and not any((QDD, a) in gone for a in self._above[k])

    def _met_a_loop(self, position: int) -> bool:
        """Whether multipliers were pivots before a row was: the papers name nothing after that."""
        return LAM in self.kind[: min(position, int(self.state.done.sum()))]

    def _gone_before(self, position: int) -> set[tuple[int, int]]:
        """(kind, body) of the pivots that acted before a row was a pivot, in this state."""
        end = min(position, int(self.state.done.sum()))
        return set(zip(self.kind[:end], self.body[:end], strict=True))

    def _changes(self, low: int, high: int) -> list[int]:
        done = self.state.done
        return [t for t in self._updates.get((low, high), ()) if done[t]]

    def _kinds_of(self, k: int) -> list[int]:
        return [kind for kind in (PDD, QDD, F, FJ, FC) if (kind, k) in self._position]

    @cached_property
    def _position(self) -> dict[tuple[int, int], int]:
        return {pair: t for t, pair in enumerate(zip(self.kind, self.body, strict=True))}

    @cached_property
    def _updates(self) -> dict[tuple[int, int], list[int]]:
        return updates(self.state.symbolic)

    @cached_property
    def _original(self) -> set[tuple[int, int]]:
        s = self.state
        old = s.kind == ORIGINAL
        return set(zip(s.row[old].tolist(), s.col[old].tolist(), strict=True))

    @cached_property
    def _above(self) -> dict[int, list[int]]:
        return {k: list(self._climb(k)) for k in range(self.structure.n)}

    def _climb(self, k: int) -> Iterator[int]:
        above = self.body_of.get(k, int(self.structure.parent[k]))  # a carrier is below its body
        while above >= 0:
            yield above
            above = self.body_of.get(above, int(self.structure.parent[above]))

    @cached_property
    def _below(self) -> dict[int, list[int]]:
        below: dict[int, list[int]] = {k: [] for k in range(self.structure.n)}
        for k, above in self._above.items():
            for a in above:
                below[a].append(k)
        return below


def _short(name: Hashable) -> bool:
    """A number or a single letter can stand as a subscript."""
    if isinstance(name, int | np.integer):
        return True
    return isinstance(name, str) and len(name) == 1 and name.isalnum() and name.isascii()
