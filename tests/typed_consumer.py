"""What a user's type checker knows of Pivotree: make lint runs mypy and pyright on it, and no test does."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from typing import assert_type

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import pivotree as pt

system = pt.build(pt.humanoid())
assert_type(system, pt.System)
assert_type(pt.kkt.eliminate(system, pt.orderings.get("abm"), "float32"), pt.Elimination)
assert_type(pt.eliminate(pt.in_letters("rr_arm"), "abm", "sympy"), pt.Elimination)
assert_type(pt.eliminate(pt.matrix([[2.0]]), "natural"), pt.Elimination)
assert_type(pt.compare(system, ["crbm", "abm"], ["float32"]), pt.Comparison)
assert_type(pt.compare(system, ["crbm", "abm"]).verdict, str)
assert_type(pt.arithmetic.Binary("mine", precision=12), pt.kkt.arithmetic.Binary)
assert_type(pt.__version__, str)
assert_type(pt.analysis.figures.error_bars([]), Figure)
assert_type(pt.analysis.figures.error_bars([], ax=Figure().add_subplot()), Axes)

# What is misspelt is refused: of these comments none is unused.
pt.eliminat(system, "abm")  # type: ignore[attr-defined]
print(pt.eliminate(system, "abm").qd)  # type: ignore[attr-defined]
pt.compare(system, orders=3)  # type: ignore[arg-type]
pt.eliminate("humanoid", "abm")  # type: ignore[arg-type]
pt.eliminate(system, 3)  # type: ignore[arg-type]
