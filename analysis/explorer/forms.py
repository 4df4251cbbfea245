"""The pivots of a small robot in letters, for the page: what stands on the diagonal when their turn comes.

Blocks of (4) are eliminated on the polynomials of :mod:`..letters`.  In a text ``@k`` is what the page calls
body k, and ``#k,ij`` entry i, j of the pivot of that body's pdd, which is told before.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt import Block, System

from ..letters import in_letters

BODIES = 3  # of a robot whose forms can be read
SHORT = 3  # terms of an entry, beyond which later pivots call it by its name
_WRITTEN = (  # what sympy writes, in TeX: functions, powers, letters of a body
    (r"(sin|cos)\((\w+)\)(?:\*\*(\d))?", r"\\\1^{\3}\\,\2"),
    (r"\*\*(\d+)", r"^{\1}"),
    (r"\b([A-Za-z]+)_(\d+)([a-z]+)", r"\1_{@\2,\3}"),
    (r"\b([A-Za-z]+)_(\d+)", r"\1_{@\2}"),
    (r"\*", " "),
)


class Forms:
    """Pivots of one robot by any of its orders; ``texts`` has each once: [row, column, TeX] an entry.

    Raises ModelError for a robot that has no letters, as :func:`~pivotree.in_letters` does.
    """

    def __init__(self, system: System) -> None:
        tree, self.system = system.tree, system
        robot = in_letters(replace(system, tree=replace(tree, names=tuple(range(tree.n)))))
        self.ring, self.texts = robot.ring, list[list[Any]]()
        self.K = np.full((system.size,) * 2, self.ring.number(0.0))
        for k, (p, q, f) in enumerate(zip(*system.starts, strict=True)):
            self.K[p : p + 6, p : p + 6] = robot.entries.M[k]
            above = [(6 * tree.parent[k], -robot.entries.Phi[k])] if tree.parent[k] >= 0 else []
            own = robot.entries.S[tree.freedoms_of(k)]
            for at, block in (*above, (p, self.ring.array(np.eye(6))), (q, own)):
                rows = slice(at, at + len(block))
                self.K[rows, f : f + 6], self.K[f : f + 6, rows] = block, block.T

    def of(self, sequence: tuple[tuple[Block, ...], ...]) -> dict[int, int]:
        """Number of a pivot's first block -> its text; up to the first pivot that is a body's inverse."""
        K, found, half = self.K.copy(), dict[int, int](), self.ring.number(0.5)
        starts, dof, names = self.system.starts, self.system.tree.dof, self.system.tree.names
        for (kind, body), *pair in sequence:
            if kind not in ("pdd", "qdd") or body not in names:
                break
            k, moving = names.index(body), kind == "qdd"
            x = starts[moving][k] + np.arange(dof[k] if moving else 6)
            found[moving * len(names) + k] = self._told(K, x, f"#{k}" if pair else None)
            if not (moving or pair):
                break
            for at, i in enumerate(x):  # K less W U* + U W*, U half of W / D, or the pair's V - W X / 2
                z = i if moving else starts[2][k] + at
                W, V = K[:, z].copy(), K[:, i]
                name = f"D_{k}{'xyzuvw'[at] if len(x) > 1 else ''}"
                U = W * self._inverse(K[i, i].value, name) * half if moving else V - W * (K[i, i] * half)
                rows = [row for row in range(len(K)) if row not in (i, z) and (W[row].value or U[row].value)]
                K[np.ix_(rows, rows)] -= np.outer(W[rows], U[rows]) + np.outer(U[rows], W[rows])
                K[[i, z]] = K[:, [i, z]] = self.ring.number(0.0)
        return found

    def _told(self, K: NDArray[Any], x: NDArray[Any], name: str | None) -> int:
        """The number of a block's text; its long entries are then named, where a name is given."""
        import sympy

        text = []
        for i, j in combinations_with_replacement(range(len(x)), 2):
            value = K[x[i], x[j]].value
            if value:
                text.append([i + 1, j + 1, self._tex(value)])
            if name and len(value) > SHORT:
                letter = self.ring.kept(self.ring.named(value))
                self.ring.symbol[str(letter.value)] = sympy.Symbol(f"{name},{i + 1}{j + 1}")
                K[x[i], x[j]] = K[x[j], x[i]] = letter
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def _inverse(self, value: Any, name: str) -> Any:
        """1 / D, D by its name."""
        import sympy

        inverse = self.ring.inverse(value)
        letter = str(inverse).removeprefix("-")
        if letter in self.ring.defined:
            self.ring.symbol[letter] = (1 if letter == str(inverse) else -1) / sympy.Symbol(name)
        return self.ring.kept(inverse)

    def _tex(self, value: Any) -> str:
        """A polynomial, in which 1 - cos^2 is sin^2 again."""
        terms = self.ring.defined.get(str(value), value).to_dict()
        for at in [at for at, name in enumerate(self.ring.letters) if name.startswith("cos ")]:
            for powers in [powers for powers in terms if powers[at] > 1]:
                less = (*powers[:at], powers[at] - 2, *powers[at + 1 :])
                if powers in terms and terms.get(less) == -terms[powers]:
                    del terms[powers]
                    terms[*less[: at - 1], less[at - 1] + 2, *less[at:]] = terms.pop(less)
        text = str(self.ring.expression(self.ring.context.from_dict(terms)))
        for old, new in _WRITTEN:
            text = re.sub(old, new, text)
        return text.replace("^{}", "")
