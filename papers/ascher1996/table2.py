"""Table 2: D_2 and the tip's acceleration in Example 3, CRBM, ABM and modified ABM.

M_k = m_k 1, Phi = 1, a = b = 0, H along an axis (case 1) or between two (case 2), in single
precision.  The printed digits of case 2 belong to one order of operations, which the paper does
not state: D summed entry by entry, and CRBM's last pivot formed from
(M_2 + Phi M_1 Phi*) - Phi M_1 H_1* D_1^-1 H_1 M_1 Phi* on the 6 x 6.  The engine's own orders lose
the same cells, with other digits in those that are wrong.  At masses between the printed ones the
same arithmetic fails for the modified ABM too: in case 2 it gives D_2 = -6e-8, -1 and -3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree import kkt, orderings
from pivotree.analysis.inertia import product
from pivotree.kkt.program import BlockReader, Instruction, Program

from ..item import Progress, Results, Value, picture, printed, value

Single = NDArray[np.float32]
BETWEEN = (3e7, 6e7, 1.2e8)  # masses beside the printed powers of ten, case 2
NAMES = {"crbm": "CRBM", "abm": "ABM", "modified_abm": "eq (11)"}
PIVOTS = {"crbm": "bad_abm", "abm": "abm", "modified_abm": "modified_abm"}  # of the printed digits


@dataclass(frozen=True)
class Cell:
    """One method at one mass ratio."""

    m1: float
    case: int
    method: str
    summed: tuple[float, float]  # D_2, signed, and qdd_1, D summed entry by entry
    engine: tuple[float, float]  # by the engine's order of the same name
    exact: float  # qdd_1, certified, of the model's doubles rounded to single precision
    printed: tuple[str, str] | None  # None beside the paper's rows

    @property
    def name(self) -> str:
        return f"m1 = {label(self.m1)}, case {self.case}, {self.method}"

    def nearer_than(self, other: Cell) -> bool:
        """Whether qdd_1 is nearer to the exact one than another method's, or that one has none."""
        off, beside = (abs(cell.summed[1] - cell.exact) for cell in (self, other))
        return off < beside or (math.isnan(beside) and not math.isnan(off))


def measure(progress: Progress, *, between: tuple[float, ...] = BETWEEN, points: int = 61) -> Results:
    """The seven rows as printed, and in case 2 masses ``between``.

    The curve of case 2 has ``points`` masses from 1e6 to 1e9, evenly in their logarithms.
    """
    wanted = [(row["m1"], row["case"], row) for row in printed("ascher1996")["table2"]["lines"]]
    wanted += [(m1, 2, None) for m1 in between]
    cells = list(_cells(progress, wanted))
    crbm = {(cell.m1, cell.case): cell for cell in cells if cell.method == "crbm"}
    for cell in cells:
        if cell.printed is not None or cell.method == "modified_abm":
            yield _beside(cell, crbm[cell.m1, cell.case])
    curve = list(_cells(progress, [(m1, 2, None) for m1 in np.logspace(6, 9, points).tolist()]))
    curve += [cell for cell in cells if cell.case == 2]
    drawn = {
        name: [(cell.m1, cell.summed[0]) for cell in curve if cell.method == method]
        for method, name in NAMES.items()
    }
    yield picture("table2", "pivots", drawn)


def _cells(progress: Progress, wanted: list[tuple[float, int, Any]]) -> Iterable[Cell]:
    columns = printed("ascher1996")["table2"]["columns"]
    for m1, case, row in wanted:
        progress(f"m1 = {label(m1)}, case {case}")
        system = kkt.build(kkt.example3(m1, case))
        exact = kkt.certify(system, 20, rounded_to="float32")
        tip = system.tree.names.index(1)
        for column, method in enumerate(columns):
            tape = kkt.trace(system, orderings.get(PIVOTS[method]))
            qdd, pivots = read(tape.program, system)
            said = None if row is None else (row["D2"][column], row["qdd1"][column])
            yield Cell(
                m1,
                case,
                method,
                (float(pivots[-1]), float(qdd[1])),
                _engine(system, method, tip),
                float(exact.qdd[tip]),
                said,
            )


def _engine(system: kkt.System, method: str, tip: int) -> tuple[float, float]:
    """D_2 and qdd_1 by the engine's own order; not numbers where it refuses the pivot."""
    own = kkt.eliminate(system, orderings.get(method), "float32")
    last = next((step for step in own.steps if ("qdd", 2) in step.blocks), None)
    if last is None or not len(last.pivots):
        return math.nan, math.nan
    return float(last.pivots[-1]), float(own.qdd[tip])


def label(m1: float) -> str:
    """A mass with all its digits and no more: 1e7, 1.2e8."""
    return np.format_float_scientific(m1, trim="-", exp_digits=1).replace("+", "")


def _beside(cell: Cell, crbm: Cell) -> Value:
    """The row of a cell: printed digits, or what the paper's arithmetic gives at another mass."""
    ours, engine = (in_print(values, cell.printed) for values in (cell.summed, cell.engine))
    if cell.printed is not None:
        told = f"{cell.name}: the engine's {cell.method} gives {', '.join(engine)}"
        why, said = "" if engine == ours else told, list(cell.printed)
        return value("cell", ours, ours == said, cell=cell.name, printed=said, why=why)
    better = cell.nearer_than(crbm)
    return value("between_modified", ours, better, cell=cell.name, exact=f"{cell.exact:.2f}")


def in_print(values: tuple[float, float], model: tuple[str, str] | None) -> list[str]:
    """D_2 and qdd_1 with as many decimals as the paper gives them; a dash where D_2 = 0.

    A D_2 that these decimals would show as zero is shown by its first digit.
    """
    D2, qdd1 = values
    if D2 == 0.0:
        return ["0", "-"]
    decimals = len(model[0].partition(".")[2]) if model else 2
    shown = f"{D2:.{max(decimals, 1)}f}"
    return [
        f"{D2:.0e}" if float(shown) == 0.0 else shown,
        f"{qdd1:.2f}" if abs(qdd1) < 1e7 else f"{qdd1:.2e}",
    ]


# -- an order's block program in single precision, D = H M H* summed entry by entry -------------------


def read(program: Program, system: kkt.System) -> tuple[dict[Any, np.float32], list[np.float32]]:
    """qdd of every body and the pivots D_k in the order of elimination, joints of one freedom.

    The engine forms M H* first and then H (M H*).  The digits of the table appear where D is the double
    sum over i, then j, of fl(fl(h_i M_ij) h_j) instead; all other operations are the engine's.
    """
    reader = _Reader(program, system)
    with np.errstate(all="ignore"):  # a pivot of 0 is shown, not stopped at
        reader.read(program.instructions)
    qdd = {block.body: reader(ref)[0, 0] for block, ref in program.solution.items() if block.kind == "qdd"}
    return qdd, [reader.values[p.factor][0, 0] for p in program.pivots if not p.pair]


class _Reader(BlockReader):
    def __init__(self, program: Program, system: kkt.System) -> None:
        super().__init__()
        self.entries = system.entries
        self.offset = system.tree.offset
        self.made = {i.out: i for i in program.instructions}

    def _eye(self, i: Instruction) -> Single:
        return np.eye(i.info[0], dtype=np.float32)

    def _mul(self, i: Instruction, a: Single, b: Single) -> Single:
        quadratic = self.quadratic(i)
        return product(a, b) if quadratic is None else quadratic

    def _solve(self, i: Instruction, d: Single, c: Single) -> Single:
        return c / d

    def _inner(self, i: Instruction, d: Single, y: Single, z: Single) -> Single:
        square: Single = product(y.T, z)  # c c*
        return square / d

    def _input(self, i: Instruction) -> Single:
        letter, body = i.info
        joint = slice(self.offset[body], self.offset[body + 1])
        if letter in ("H", "tau"):
            value = (self.entries.S if letter == "H" else self.entries.tau[:, None])[joint]
        else:
            value = getattr(self.entries, letter)[body]
        return np.atleast_2d(value if value.ndim == 2 else value[:, None]).astype(np.float32)

    def quadratic(self, i: Instruction) -> Single | None:
        """H X H* as a double sum, where this product is the second half of one."""
        left, right = i.args
        assert left is not None and right is not None
        for half, h in ((left, right), (right, left)):
            made = self.made[half.value]
            if not (i.symmetric and made.op == "mul" and self(h).size == 6):
                continue
            inner = {arg.value for arg in made.args if arg is not None}
            if h.value not in inner or self(half).size != 6:
                continue
            X = next(arg for arg in made.args if arg is not None and arg.value != h.value)
            sign = np.float32(half.sign * h.sign)
            for arg in made.args:
                if arg is not None and arg.value == h.value:
                    sign *= np.float32(arg.sign)
            return sign * double_sum(self.values[h.value].ravel(), self(X))
        return None


def double_sum(h: Single, X: Single) -> Single:
    """(1, 1): sum over i, then j, of fl(fl(h_i X_ij) h_j), each operation rounded."""
    total = np.float32(0.0)
    for i in range(len(h)):
        for j in range(len(h)):
            total += (h[i] * X[i, j]) * h[j]
    return np.array([[total]], dtype=np.float32)
