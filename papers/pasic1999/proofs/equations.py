"""Pasic, Williams & Hui 1999, section 4.1: equation (20), the planar RR arm, from equation (4).

Two terms of (20) are misprinted, and each is stated here by what it is wrong by:

* m_12 has l_c3 where l_c2 is meant; the arm has two links;
* f_1 lacks - l_2 f_3y.  The axes of f_3 are those of link 2, as its terms with l_1 say, and it is
  what the hand exerts on its surroundings, as the signs say.  At the tip it gives f_2 as printed,
  and f_1 with - l_2 f_3y.  No other reading mends the print: wherever on link 2 the wrench acts,
  f_1 - f_2 is the same.

With f_3 = 0, as in the paper's example, f_1 and f_2 are right as printed.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import symbols

from pivotree.analysis.proofs import Arm, Claim, Misprint, Same, statement

PAPER = "Pasic, Williams & Hui 1999"

# Equation (20), typed; f_1 and f_2 first without the hand.
l_1, l_2, l_c1, l_c2, l_c3, m_1, m_2, g = symbols("l_1 l_2 l_c1 l_c2 l_c3 m_1 m_2 g")
c_1, c_2, s_2, c_12, td_1, td_2 = symbols("c_1 c_2 s_2 c_12 thetad_1 thetad_2")
I_133, I_233, tau_1, tau_2 = symbols("I_133 I_233 tau_1 tau_2")
n_3z, f_3x, f_3y = symbols("n_3z f_3x f_3y")

M_11 = I_133 + I_233 + m_1 * l_c1**2 + m_2 * l_1**2 + m_2 * l_c2**2 + 2 * m_2 * l_1 * l_c2 * c_2
M_12_PRINTED = I_233 + m_2 * l_c2**2 + m_2 * l_1 * l_c3 * c_2
M_12 = I_233 + m_2 * l_c2**2 + m_2 * l_1 * l_c2 * c_2
M_22 = I_233 + m_2 * l_c2**2
F_1_FREE = (
    tau_1
    + 2 * m_2 * l_1 * l_c2 * s_2 * td_1 * td_2
    + m_2 * l_1 * l_c2 * s_2 * td_2**2
    - m_2 * g * l_c2 * c_12
    - m_1 * g * l_c1 * c_1
    - m_2 * g * l_1 * c_1
)
F_2_FREE = tau_2 - m_2 * l_1 * l_c2 * s_2 * td_1**2 - m_2 * g * l_c2 * c_12
F_1_PRINTED = F_1_FREE - n_3z - l_1 * f_3x * s_2 - l_1 * f_3y * c_2
F_1 = F_1_PRINTED - l_2 * f_3y
F_2 = F_2_FREE - n_3z - l_2 * f_3y

REDUCED = (("crbm", 2), ("crbm_block_row", 1))  # orders, and steps until joints alone are left


@statement(
    "RR arm: inertia",
    f"{PAPER}, eq (20)",
    "m_11, m_12 (l_c2 where l_c3 is printed) and m_22 are what CRBM leaves of (4)",
)
def inertia() -> Iterable[Claim]:
    """Of twelve moments of inertia only I_133 and I_233 stay."""
    arm = Arm()
    for order, steps in REDUCED:
        for i, j, right in ((1, 1, M_11), (1, 2, M_12), (2, 1, M_12), (2, 2, M_22)):
            left = arm.engine(order, steps, f"qdd_{i},qdd_{j}")
            yield Same(f"{order}: m_{i}{j}", arm, left, right)


@statement(
    "RR arm: misprint in m_12", f"{PAPER}, eq (20)", "as printed, m_12 is wrong by m_2 l_1 (l_c2 - l_c3) c_2"
)
def misprint_of_inertia() -> Iterable[Claim]:
    arm = Arm()
    for order, steps in REDUCED:
        left = arm.engine(order, steps, "qdd_1,qdd_2")
        printed = Same(f"{order}: m_12 as printed", arm, left, M_12_PRINTED)
        yield Misprint(printed, M_12)
        lacks = m_2 * l_1 * l_c2 * c_2 - m_2 * l_1 * l_c3 * c_2
        yield Same(f"{order}: what m_12 lacks", arm, left - M_12_PRINTED, lacks)


@statement(
    "RR arm: forces",
    f"{PAPER}, eq (20)",
    "f_1 (with - l_2 f_3y, which is not printed) and f_2 are tau - c of (4)",
)
def forces() -> Iterable[Claim]:
    """The hand exerts (n_3, f_3) on its surroundings, at the tip and in axes of link 2."""
    arm = Arm()
    for order, steps in REDUCED:
        for i, right in ((1, F_1), (2, F_2)):
            yield Same(f"{order}: f_{i}", arm, arm.engine(order, steps, f"rhs qdd_{i}"), right)


@statement(
    "RR arm: misprint in f_1",
    f"{PAPER}, eq (20)",
    "as printed, f_1 is wrong by - l_2 f_3y, wherever on link 2 the wrench acts",
)
def misprint_of_forces() -> Iterable[Claim]:
    """Without f_3 the print is right; with it, f_1 - f_2 does not know where the wrench acts."""
    arm, anywhere = Arm(), Arm(("x_3", "y_3"))
    for order, steps in REDUCED:
        f_1 = arm.engine(order, steps, "rhs qdd_1")
        printed = Same(f"{order}: f_1 as printed", arm, f_1, F_1_PRINTED)
        yield Misprint(printed, F_1)
        yield Same(f"{order}: what f_1 lacks", arm, f_1 - F_1_PRINTED, -l_2 * f_3y)
        f_1, f_2 = (anywhere.engine(order, steps, f"rhs qdd_{i}") for i in (1, 2))
        right = F_1_FREE - F_2_FREE - l_1 * f_3x * s_2 - l_1 * f_3y * c_2
        yield Same(f"{order}: f_1 - f_2", anywhere, f_1 - f_2, right)
        printed = Same(f"{order}: f_1 - f_2 as printed", anywhere, f_1 - f_2, F_1_PRINTED - F_2)
        yield Misprint(printed, right)


@statement(
    "RR arm: accelerations", f"{PAPER}, eqs (2), (20)", "M Theta'' = f for qdd of ABM, bracketed or not"
)
def accelerations() -> Iterable[Claim]:
    arm = Arm()
    for order in ("abm", "bad_abm"):
        q_1, q_2 = (arm.engine(order, None, f"qdd_{i}") for i in (1, 2))
        yield Same(f"{order}: row 1", arm, M_11 * q_1 + M_12 * q_2, F_1)
        yield Same(f"{order}: row 2", arm, M_12 * q_1 + M_22 * q_2, F_2)


@statement(
    "RR arm: pivots",
    f"{PAPER}, eq (20); Ascher, Pai & Cloutier 1996, below eq (7)",
    "D_2 = m_22 and D_1 = m_11 - m_12^2 / m_22",
)
def pivots() -> Iterable[Claim]:
    """The articulated body's pivots are those of elimination in eq (20)."""
    arm = Arm()
    for order, two, one in (("bad_abm", 1, 3), ("crbm", 2, 3)):
        D_2 = arm.engine(order, two, "qdd_2,qdd_2")
        yield Same(f"{order}: D_2", arm, D_2, M_22)
        D_1 = arm.engine(order, one, "qdd_1,qdd_1")
        yield Same(f"{order}: D_1", arm, D_1, M_11 - M_12**2 / M_22)
