"""The planar RR arm of section 4.1, the torques of Figure 3, and equation (20)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.kkt.model import IN_PLANE

from ..item import Progress, Results, value
from ..measures import Floats
from .collocation import FAR

Pair = tuple[float, ...]  # of links 1 and 2
ORDERS = ("abm", "crbm", "virtual_work", "square_root_abm")


@dataclass(frozen=True)
class Arm:
    """Section 4.1; torques are torque times t, read off the printed angles (README)."""

    length: Pair = (0.4, 0.2)  # l [m]
    centre: Pair = (0.2, 0.1)  # l_c [m]
    moment: Pair = (0.2, 0.04)  # I_33 about the centre of mass [kg m^2]
    mass: Pair = (12.0, 6.0)  # [kg]
    torque: Pair = (0.4, 0.1)  # [N m/s]

    @property
    def tree(self) -> nx.DiGraph[Any]:
        """:func:`kkt.rr_arm` with these numbers."""
        arm = kkt.rr_arm()
        for k, body in enumerate(arm.nodes):
            I33 = self.moment[k]
            arm.nodes[body].update(
                mass=self.mass[k], com=(self.centre[k], 0.0, 0.0), inertia=np.diag([I33 / 10, I33, I33])
            )
        arm.nodes["link2"]["p"] = (self.length[0], 0.0, 0.0)
        return arm

    def torques(self, t: Any) -> Floats:
        """(..., 2) [N m] at times t (...)."""
        return np.asarray(t)[..., None] * np.array(self.torque)

    def accelerations(self, order: str = "abm") -> Accelerations:
        """Theta'' = M^-1 f of equation (2), by an order of elimination of equation (4)."""
        kernel = kkt.compile(self.tree, orderings.get(order), "float64")
        return Accelerations(kernel, self.torques)

    def closed_form(self, t: Any, q: Floats, qd: Floats) -> Floats:
        """The same from the letters of equation (20), by Cramer's rule: no elimination of ours."""
        one, two = q[..., 0], q[..., 1]
        tau = self.torques(t)
        m11, m12, m22, f1, f2 = _formulas()(
            self.length[0],
            *self.centre,
            *self.mass,
            *self.moment,
            tau[..., 0],
            tau[..., 1],
            np.cos(one),
            np.cos(two),
            np.sin(two),
            np.cos(one + two),
            qd[..., 0],
            qd[..., 1],
        )
        d = m11 * m22 - m12 * m12
        return np.stack([(m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d], axis=-1)


@dataclass(frozen=True)
class Accelerations:
    """Theta'' of many states at once, by an order of elimination of equation (4), compiled."""

    kernel: kkt.Kernel
    torque: Callable[[Any], Floats]  # t (m,) -> (m, N) [N m]

    def __call__(self, t: Any, q: Floats, qd: Floats) -> Floats:
        """(..., N) at times t (...) and states q, qd (..., N) of revolute joints.

        Not a number where an iteration has run away: such a state has no acceleration to speak of.
        """
        N = q.shape[-1]
        states = np.concatenate([q, np.broadcast_to(qd, q.shape)], axis=-1).reshape(-1, 2 * N)
        torque = self.torque(np.broadcast_to(t, q.shape[:-1]).ravel())
        with np.errstate(invalid="ignore"):
            lost = ~(np.abs(states) <= FAR).all(axis=1)
        if lost.any():
            states = np.where(lost[:, None], 0.0, states)
        qdd = self.kernel(states[:, :N], states[:, N:], torque)
        qdd[lost] = np.nan
        return qdd.reshape(q.shape)


PAPER = Arm()


@cache
def _formulas() -> Callable[..., Any]:
    """M and f of equation (20), as typed for the proofs."""
    from sympy import lambdify

    from .proofs import equations as typed

    names = "l_1 l_c1 l_c2 m_1 m_2 I_133 I_233 tau_1 tau_2 c_1 c_2 s_2 c_12 td_1 td_2"
    letters = [getattr(typed, name) for name in names.split()]
    down = {typed.g: -IN_PLANE[1]}
    formulas = (typed.M_11, typed.M_12, typed.M_22, typed.F_1_FREE, typed.F_2_FREE)
    return lambdify(letters, [f.subs(down) for f in formulas], "numpy")


def equation20(progress: Progress, *, states: int = 1000, orders: tuple[str, ...] = ORDERS) -> Results:
    """Equation (20): M and f of the RR arm in closed form, beside several orders; proofs: equations.

    Random states by several orders of elimination: largest difference of qdd from (20), relative.
    """
    draw = np.random.default_rng(1999)
    q, qd = draw.uniform(-np.pi, np.pi, (states, 2)), draw.uniform(-10.0, 10.0, (states, 2))
    t = draw.uniform(0.0, 4.0, states)
    exact = PAPER.closed_form(t, q, qd)
    size = np.max(np.abs(exact), axis=1)
    for order in orders:
        progress(f"{states} states by {order}")
        ours = PAPER.accelerations(order)(t, q, qd)
        off = float(np.max(np.max(np.abs(ours - exact), axis=1) / size))
        yield value("accelerations", off, order=order, states=states)
