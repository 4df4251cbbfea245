"""The answers of exam.md, asked of the engine: CHECKS[k] says whether answer k + 1 is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import facts
import numpy as np

TEXT = (Path(__file__).resolve().parent / "exam.md").read_text(encoding="utf-8")
RANDOM = "random_tree:6,joints=revolute"


def _column() -> bool:
    """The blocks of f_j2's column."""
    system = facts.system("chain:3")
    column = system.matrix.tocsc()[:, system.blocks["f", "j2"]]
    rows = set(column.nonzero()[0].tolist())
    met = {str(b) for b, span in system.blocks.items() if rows & set(range(span.start, span.stop))}
    return met == {"pdd_j2", "pdd_j1", "qdd_j2"}


def _diagonal() -> bool:
    """No joint of chain:3 has a block of its own, and the row of qdd_j3 meets f_j3 alone."""
    system = facts.system("chain:3")
    joint, force = system.blocks["qdd", "j3"], system.blocks["f", "j3"]
    columns = set(system.matrix.tocsr()[joint].nonzero()[1].tolist())
    return columns <= set(range(force.start, force.stop)) and len(columns) > 0


def _determinant() -> bool:
    det = np.linalg.det(facts.inertia(RANDOM))
    found = [np.prod(facts.pivots(order, RANDOM)) for order in ("crbm", "abm")]
    return bool(np.allclose(found, det, rtol=1e-9))


def _absorbed() -> bool:
    """The sum itself, and the first digit of both orders on Example 2."""
    lost = (np.float32(1) + np.float32(1e8)) - np.float32(1e8)
    crbm, abm = (float(facts.digits(order, "example2:1e8")) for order in ("crbm", "abm"))
    return lost == 0 and crbm < 1.0 and abm > 6.0


def _excess() -> bool:
    """What the condition number forces, and what the orders lose."""
    forced = np.log10(float(facts.kappa("chain:100")))
    crbm, abm = (facts.row(order, "chain:100") for order in ("crbm", "abm"))
    return bool(1.0 < forced < 1.15 and 7.2 - crbm.digits - forced > 5.0 and abm.digits > 6.0)


def _feet() -> bool:
    first = float(facts.soft_digits("lambda_first", 1e-8))
    last = [float(facts.soft_digits(order, 1e-8)) for order in ("crbm", "abm")]
    return first < 1.0 and min(last) > 5.5


CHECKS: tuple[Callable[[], bool], ...] = (
    lambda: facts.unknowns("chain:7") == 91,
    _column,
    _diagonal,
    lambda: [facts.fill(order, "chain:12") for order in ("crbm", "abm")] == [132, 11],
    lambda: (
        [facts.fill(o, m) for o in ("crbm", "abm") for m in ("chain:15", "binary:3")] == [210, 68, 14, 14]
    ),
    _determinant,
    lambda: [facts.crossing(), facts.crossing("general")] == [12, 5],
    _absorbed,
    _excess,
    _feet,
)


def sheet(answers: bool) -> str:
    """The exam as Markdown, with or without answers."""
    return TEXT if answers else re.sub(r"\n+(?: +>[^\n]*\n)+", "\n", TEXT)
