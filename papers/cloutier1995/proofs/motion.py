"""What (4) is made of: Phi, M_k, a_k and b_k of Ascher 1996, section 2, and Cloutier 1995, ch. 2.

Entries of the toolkit's blocks in letters, against what the papers print.  The thesis has linear
parts first, here as in Ascher 1996 the angular ones are.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from sympy import Integer, Matrix, diff, expand, eye, symbols, zeros

from pivotree.analysis.proofs import Claim, RigidBodies, Same, statement

from ...ascher1996.proofs.equations import PAPER as ASCHER
from .equations import PAPER as THESIS

c, s, w, u, m = symbols("c_2 s_2 w_2 u_2 m_1")
v = Matrix(symbols("v_1 v_2 v_3 v_4 v_5 v_6"))
d, p, l_3, l_4, g = (Matrix(symbols(f"{x}x {x}y {x}z")) for x in ("d_1", "p_2", "l_3", "l_4", "g_0"))
E = Matrix(3, 3, lambda i, j: symbols(f"E_{i + 1}{j + 1}"))
J = Matrix(3, 3, lambda i, j: symbols(f"J_{min(i, j) + 1}{max(i, j) + 1}"))
omega, linear = Matrix(v[:3]), Matrix(v[3:])
R = Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])  # of joint 2, about z
AXIS = Matrix([0, 0, w, 0, 0, u])  # H* q' of joint 2


def tilde(x: Matrix) -> Matrix:
    return Matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def moved(R: Matrix, p: Matrix) -> Matrix:
    """[[E, l~ E], [0, E]]: forces at C, in its axes, as forces at O in those of O."""
    return Matrix.vstack(Matrix.hstack(R, tilde(p) * R), Matrix.hstack(zeros(3), R))


PHI = moved(R, p)


def entries(bodies: RigidBodies, block: str, right: Matrix) -> Iterable[Claim]:
    """Every entry of a block, those that must be zero too."""
    rows, columns = right.shape
    for i, j in product(range(rows), range(columns)):
        at = (i + 1,) if columns == 1 else (i + 1, j + 1)
        name = f"{block}, entry {', '.join(map(str, at))}"
        yield Same(name, bodies, bodies.of(block, *at), Integer(0) + right[i, j])


@statement(
    "transformation operators",
    f"{THESIS}, secs. 2.4.2, 2.4.3",
    "Phi_O,C = [[1, l~], [0, 1]], Phi_O,C = Phi_O,V Phi_V,C, X = Phi R; f_O = f_C, tau + l x f",
)
def transformations() -> Iterable[Claim]:
    bodies = RigidBodies()
    yield from entries(bodies, "Phi_34", moved(eye(3), l_3) * moved(eye(3), l_4))
    yield from entries(bodies, "X_3", moved(eye(3), l_3) * moved(E, zeros(3, 1)))


@statement(
    "spatial inertia",
    f"{ASCHER}, sec. 2; {THESIS}, sec. 2.4.4",
    "M_k = [[J - m d~ d~, m d~], [-m d~, m 1]] = Phi diag(J, m 1) Phi*",
)
def inertia() -> Iterable[Claim]:
    """As Ascher prints it, then as the thesis moves it from the centre of mass."""
    bodies = RigidBodies()
    top = Matrix.hstack(J - m * tilde(d) * tilde(d), m * tilde(d))
    yield from entries(bodies, "M_1", Matrix.vstack(top, Matrix.hstack(-m * tilde(d), m * eye(3))))
    centre = Matrix.vstack(Matrix.hstack(J, zeros(3)), Matrix.hstack(zeros(3), m * eye(3)))
    shift = moved(eye(3), d)
    yield from entries(bodies, "M_1", shift * centre * shift.T)


@statement(
    "velocities and Coriolis accelerations",
    f"{ASCHER}, eq (1); {THESIS}, secs. 2.4.2, 2.5",
    "p'_k = Phi* p'_k+1 + H* q'_k, and a_k = (d/dt Phi*) p'_k+1, gravity in a root's",
)
def velocities() -> Iterable[Claim]:
    """(1) differentiated: c' = - s w, s' = c w, p_z' = u for a joint about and along z."""
    bodies = RigidBodies()
    yield from entries(bodies, "v_2", PHI.T * v + AXIS)
    rate = PHI.T.applyfunc(lambda x: -s * w * diff(x, c) + c * w * diff(x, s) + u * diff(x, p[2]))
    yield from entries(bodies, "a_2", (rate * v).applyfunc(expand))
    yield from entries(bodies, "a_1", Matrix.vstack(zeros(3, 1), -g))


@statement(
    "gyroscopic forces",
    f"{THESIS}, sec. 2.4.4; {ASCHER}, eq (2)",
    "b = gamma_O: omega x J omega at C, and m omega x (v + omega x d), carried to O",
)
def gyroscopic() -> Iterable[Claim]:
    """Newton and Euler at the centre of mass: m a_C = f, J alpha + omega x J omega = tau.

    v is written in axes that turn with the body, so that the point O accelerates by d/dt v +
    omega x v; p'' holds the first part, and what is left over is b.
    """
    bodies = RigidBodies()
    force = m * omega.cross(linear + omega.cross(d))
    moment = omega.cross(J * omega) + d.cross(force)
    yield from entries(bodies, "b_1", Matrix.vstack(moment, force))
