"""Pasic, Williams & Hui 1999, section 3: boundary values as initial values, and subdomains matched.

The equation is y'' = c_0 + c_1 x + c_2 y + c_3 y', any linear one, on four subdomains of length h
with values s_0 to s_4 at their ends.  In each, y = w + phi with w(0) = w'(0) = 0 and
phi = a_0 + a_1 x, and w'' = k, one collocation point in the middle.  The solution is computed here
from (4) to (7); what it must be is typed.  (16) and (18) say the same of systems, block by block,
(8) and (19) are where iterations stop: no formulas to prove.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from sympy import QQ, Expr, Integer, Rational, symbols

from pivotree.analysis.proofs import Claim, Letters, Same, statement

from .equations import PAPER

PARTS = 4
LETTERS = ("h", "c_0", "c_1", "c_2", "c_3", *(f"s_{i}" for i in range(PARTS + 1)))
FIELD = QQ.frac_field(*LETTERS)
INNER = range(1, PARTS)  # interfaces

h, c_0, c_1, c_2, c_3, *s = symbols(LETTERS)
Q = 1 + c_2 * h**2 / 8


def solved(of: Callable[[str], Any], moved: dict[int, Any]) -> dict[str, Any]:
    """y, y' at both ends of each subdomain, and phi_i; ``moved`` is added to the s_i."""
    length = of("h")
    found: dict[str, Any] = {}
    ends = [of(f"s_{i}") + moved.get(i, 0) for i in range(PARTS + 1)]
    for i in range(1, PARTS + 1):
        a, b = ends[i - 1], ends[i]
        middle = length * (2 * i - 1) / 2

        def residual(k: Any, a: Any = a, b: Any = b, middle: Any = middle) -> Any:
            a_1 = (b - a - k * length**2 / 2) / length  # (6), w(e) = k e^2 / 2
            y = k * length**2 / 8 + a + a_1 * length / 2
            slope = k * length / 2 + a_1
            return k - of("c_0") - of("c_1") * middle - of("c_2") * y - of("c_3") * slope

        zero = length * 0
        at_0, at_1 = residual(zero), residual(zero + 1)  # linear in k
        k = -at_0 / (at_1 - at_0)
        a_1 = (b - a - k * length**2 / 2) / length
        found |= {f"first:[{i}]": a, f"last:[{i}]": k * length**2 / 2 + a + a_1 * length}
        found |= {f"slope:[{i}]": a_1, f"slope after:[{i}]": a_1 + k * length, f"w'':[{i}]": k}
    for i in INNER:  # (10)
        found[f"phi:[{i}]"] = found[f"slope:[{i + 1}]"] - found[f"slope after:[{i}]"]
    return found


def matched(of: Callable[[str], Any]) -> dict[str, Any]:
    """The Jacobian by (14) and (15), which are exact here, and phi after one step of (12)."""
    found = solved(of, {})
    step = of("h") * 0 + 1
    J = {}
    for j in INNER:
        there = solved(of, {j: step})
        for i in INNER:
            J[i, j] = there[f"phi:[{i}]"] - found[f"phi:[{i}]"]
    found |= {f"J:[{i},{j}]": x for (i, j), x in J.items()}
    right = {i: -found[f"phi:[{i}]"] for i in INNER}
    left = dict(J)
    for i in INNER[:-1]:  # elimination of a tridiagonal matrix
        gain = left[i + 1, i] / left[i, i]
        left[i + 1, i + 1] = left[i + 1, i + 1] - gain * left[i, i + 1]
        right[i + 1] = right[i + 1] - gain * right[i]
    change: dict[int, Any] = {}
    for i in reversed(INNER):
        more = left[i, i + 1] * change[i + 1] if i + 1 in change else 0
        change[i] = (right[i] - more) / left[i, i]
    after = solved(of, change)
    return found | {f"phi after:[{i}]": after[f"phi:[{i}]"] for i in INNER}


class Subdomains(Letters):
    """The letters, and what is computed of them."""

    letters: ClassVar[tuple[str, ...]] = LETTERS
    domain: ClassVar[Any] = FIELD
    points_taken = 2
    seed = "subdomains"
    made = staticmethod(matched)


def curvature(i: int) -> Expr:
    """w'' in subdomain i, solved for by hand."""
    x = h * Rational(2 * i - 1, 2)
    driven = c_2 * (s[i - 1] + s[i]) / 2 + c_3 * (s[i] - s[i - 1]) / h
    return (c_0 + c_1 * x + driven) / Q


@statement(
    "boundary values as initial values",
    f"{PAPER}, eqs (4) to (7), (9)",
    "y = w + a_0 + a_1 x, a_0 = a, a_1 = (b - a - w(e)) / e: y(0) = a, y(e) = b, y'' = w''",
)
def transformation() -> Iterable[Claim]:
    parts = Subdomains()
    for i in range(1, PARTS + 1):
        yield Same(f"y(x_{i - 1})", parts, parts.of("first", i), s[i - 1])
        yield Same(f"y(x_{i})", parts, parts.of("last", i), s[i])
        yield Same(f"w'', {i}", parts, parts.of("w''", i), curvature(i))
        slope = (s[i] - s[i - 1]) / h
        half = curvature(i) * h / 2
        yield Same(f"y'(x_{i - 1} +)", parts, parts.of("slope", i), slope - half)
        yield Same(f"y'(x_{i} -)", parts, parts.of("slope after", i), slope + half)


@statement(
    "matching at interfaces",
    f"{PAPER}, eqs (10) to (15), (17)",
    "phi_i = y'_r - y'_l; J is tridiagonal; a Newton step makes phi zero where f is linear",
)
def matching() -> Iterable[Claim]:
    parts = Subdomains()
    for i in INNER:
        right, left = (s[i + 1] - s[i]) / h, (s[i] - s[i - 1]) / h
        bent = (curvature(i + 1) + curvature(i)) * h / 2
        yield Same(f"(10), phi_{i}", parts, parts.of("phi", i), right - left - bent)
        for j in INNER:
            typed = {
                -1: 1 / h - h / (2 * Q) * (c_2 / 2 - c_3 / h),
                0: -2 / h - h * c_2 / (2 * Q),
                1: 1 / h - h / (2 * Q) * (c_2 / 2 + c_3 / h),
            }.get(j - i, Integer(0))
            yield Same(f"(17), J_{i}{j}", parts, parts.of("J", i, j), typed)
        yield Same(f"(12), phi_{i} after", parts, parts.of("phi after", i), Integer(0))
