"""Table 2: D_2 and the tip's acceleration in Example 3, CRBM, ABM and modified ABM.

M_k = m_k 1, Phi = 1, a = b = 0, H along an axis (case 1) or between two (case 2), in single
precision.  The printed digits of case 2 belong to one order of operations, which the paper does
not state: D summed entry by entry (:mod:`.double_sum`), and CRBM's last pivot formed from
(M_2 + Phi M_1 Phi*) - Phi M_1 H_1* D_1^-1 H_1 M_1 Phi* on the 6 x 6.  The engine's own orders lose
the same cells, with other digits in those that are wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import kkt
import orderings

from ..paper import Progress, printed
from ..row import Row
from .double_sum import read

PIVOTS = {"crbm": "bad_abm", "abm": "abm", "modified_abm": "modified_abm"}  # of the printed digits


@dataclass(frozen=True)
class Cell:
    """One method at one mass ratio."""

    m1: float
    case: int
    method: str
    summed: tuple[float, float]  # D_2 and qdd_1, D summed entry by entry
    engine: tuple[float, float]  # by the engine's order of the same name
    exact: float  # qdd_1, certified, of the model's doubles rounded to single precision
    printed: tuple[str, str] | None  # None beside the paper's rows


def measure(
    progress: Progress, *, masses: tuple[float, ...] = (), cases: tuple[int, ...] = (1, 2)
) -> list[Cell]:
    """The seven rows as printed, or other masses ``m1`` in the given cases."""
    table = printed("ascher1996")["table2"]
    rows = [(row["m1"], row["case"], row) for row in table["rows"]]
    if masses:
        rows = [(m1, case, None) for case in cases for m1 in masses]
    cells = []
    for m1, case, row in rows:
        progress(f"m1 = {m1:.0e}, case {case}")
        system = kkt.build(kkt.example3(m1, case))
        exact = kkt.certify(system, 20, rounded_to="float32")
        tip = system.tree.names.index(1)
        for column, method in enumerate(table["columns"]):
            tape = kkt.trace(system, orderings.get(PIVOTS[method]))
            qdd, pivots = read(tape.program, system)
            own = kkt.eliminate(system, orderings.get(method), "float32")
            last = next(step for step in own.steps if ("qdd", 2) in step.blocks)
            said = None if row is None else (row["D2"][column], row["qdd1"][column])
            cells.append(
                Cell(m1, case, method, (float(pivots[-1]), float(qdd[1])),
                     (float(last.pivots[-1]), float(own.qdd[tip])), float(exact.qdd[tip]), said)
            )  # fmt: skip
    return cells


def rows(cells: list[Cell]) -> list[Row]:
    result = []
    for cell in cells:
        ours = in_print(cell.summed, cell.printed)
        engine = in_print(cell.engine, cell.printed)
        name = f"m1 = {cell.m1:.0e}, case {cell.case}, {cell.method}"
        if cell.printed is None:
            result.append(Row(name, None, [*ours, *engine], "none: not in the paper", None))
            continue
        result.append(
            Row(name, list(cell.printed), ours, "the printed digits", ours == list(cell.printed),
                "" if engine == ours else
                f"{name}: the engine's {cell.method} gives {', '.join(engine)}")
        )  # fmt: skip
    return result


def in_print(values: tuple[float, float], model: tuple[str, str] | None) -> list[str]:
    """D_2 and qdd_1 with as many decimals as the paper gives them; a dash where D_2 = 0."""
    D2, qdd1 = values
    if D2 == 0.0:
        return ["0", "-"]
    decimals = len(model[0].partition(".")[2]) if model else 2
    return [f"{D2:.{max(decimals, 1)}f}", f"{qdd1:.2f}"]
