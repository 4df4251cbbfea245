"""Checks of lesson 4: why digits vanish."""

from __future__ import annotations

from pivotree import analysis, kkt, orderings
from pivotree.kkt.arithmetic import get_format

from .verdict import Verdict, check, last_pivot, names


def d2(m1: float, order: str, format: str) -> float:
    """The base's pivot D_2 in Example 2, whose exact value is 1."""
    result = kkt.eliminate(kkt.build(kkt.example2(m1)), orderings.get(order), format)
    return float(last_pivot(result, 2))


@check("an exponent, a whole number")
def least_power(answer: int) -> Verdict:
    """The least k with CRBM's D_2 = 0 in float64 for m1 = 10^k."""
    answer = int(answer)
    if not 0 <= answer <= 30:
        return Verdict(False, "Give k of 10^k, between 0 and 30.")
    if d2(10.0**answer, "crbm", "float64") != 0.0:
        return Verdict(False, f"With m1 = 1e{answer} something is left of D_2 in float64.")
    if answer > 0 and d2(10.0 ** (answer - 1), "crbm", "float64") == 0.0:
        return Verdict(False, f"D_2 is 0 there, but with 1e{answer - 1} already.")
    unit = get_format("float64").unit
    return Verdict(True, f"1e{answer} + 1 is 1e{answer} in a float64, whose unit is {unit:.1e}.")


@check("the blocks of one bracket, such as [('qdd', 1)]")
def culprit(answer: list) -> Verdict:
    """The bracket that blame names in Example 2, m1 = 1e8, crbm in float32."""
    found = analysis.blame(kkt.build(kkt.example2(1e8)), "crbm", "float32").top[0]
    blocks = set(found.pivot.strip("()").split())
    if names(answer) == blocks:
        return Verdict(True, f"{found.formula} is where the mass of body {found.body} goes.")
    if names(answer) == {"qdd_2"}:
        return Verdict(False, "There the zero shows; the digits were lost in an earlier sum.")
    return Verdict(False, "The sum that swallows m_2 belongs to another bracket.")


@check("an angle in degrees")
def unlucky(answer: float) -> Verdict:
    """An angle of Example 3 at which equation (11) loses qdd, m1 = 1e8."""
    if not 0 <= float(answer) <= 90:
        return Verdict(False, "Give an angle between 0 and 90 degrees.")
    system = kkt.build(kkt.example3(1e8, 2, float(answer)))
    result = kkt.eliminate(system, orderings.get("modified_abm"), "float32")
    if result.failed_at:
        return Verdict(
            True,
            f"At {answer} degrees its D_2 has no digit left: keeping M and M~ apart does not help "
            "where M~ itself is rounded.",
        )
    error = kkt.certify(system, 20, rounded_to="float32").error(result.qdd)
    if error < 0.01:
        return Verdict(False, f"At {answer} degrees its error is {error:.0e}: it survives.")
    return Verdict(
        True,
        f"At {answer} degrees its error is {100 * error:.0f} %: keeping M and M~ apart does "
        "not help where M~ itself is rounded.",
    )
