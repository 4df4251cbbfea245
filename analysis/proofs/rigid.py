"""A rigid body and its neighbour in letters, by the toolkit's own functions of them.

Body 1 moves with any velocity; body 2 hangs on it by a joint along and about the z axis that both
frames share, so that R and p change as R' = R z~ w and p' = u z.  The functions of
:mod:`kkt.model.spatial` and :mod:`kkt.matrix.entries` are given letters instead of numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from flint import fmpq
from sympy import QQ

from pivotree.kkt.matrix.entries import bias, velocities
from pivotree.kkt.model.spatial import force_transform, spatial_inertia

from .scalars import Letters, on_circle

XYZ = "xyz"
MOMENTS = ("J_11", "J_12", "J_13", "J_22", "J_23", "J_33")
LETTERS = (
    *("c_2", "s_2", "w_2", "u_2", "m_1"),  # angle, rates of joint 2; mass
    *(f"v_{i}" for i in range(1, 7)),  # of body 1, angular first
    *(f"{letter}_{k}{e}" for letter, k in (("d", 1), ("p", 2), ("l", 3), ("l", 4)) for e in XYZ),
    *(f"g_0{e}" for e in XYZ),
    *(f"E_{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),  # a rotation, or any matrix
    *MOMENTS,  # about the centre of mass
)
array = partial(np.array, dtype=object)
FIELD = QQ.frac_field(*LETTERS)


def made(of: Callable[[str], Any]) -> dict[str, Any]:
    """All entries that statements name: "a_2:[1]", "Phi_34:[1,1]" and so on."""
    zero = of("m_1") * 0
    one = zero + 1

    def vector(letter: str) -> Any:
        return [of(f"{letter}{e}") for e in XYZ]

    def moved(axis: list[Any]) -> Any:
        """Phi of a translation."""
        eye = [[one if i == j else zero for j in range(3)] for i in range(3)]
        return force_transform(array(eye), array(axis))

    R = [[of("c_2"), -of("s_2"), zero], [of("s_2"), of("c_2"), zero], [zero, zero, one]]
    J = [[of(f"J_{min(i, j)}{max(i, j)}") for j in (1, 2, 3)] for i in (1, 2, 3)]
    E = [[of(f"E_{i}{j}") for j in (1, 2, 3)] for i in (1, 2, 3)]
    M = spatial_inertia(array([of("m_1")]), array([vector("d_1")]), array([J]))[0]
    Phi = np.stack([moved([zero] * 3), force_transform(array(R), array(vector("p_2")))])
    joint = [zero, zero, of("w_2"), zero, zero, of("u_2")]
    rates = array([[of(f"v_{i}") for i in range(1, 7)], joint])
    parent, none = np.array([-1, 0]), rates * 0
    a, b = bias(parent, np.stack([M, M]), Phi, rates, none, none, array(vector("g_0")))
    v = velocities(parent, Phi, rates)
    both = [x + y for x, y in zip(vector("l_3"), vector("l_4"), strict=True)]
    blocks = {
        "M_1": M,
        "Phi_2": Phi[1],
        "v_2": v[1],
        "a_1": a[0],
        "a_2": a[1],
        "b_1": b[0],
        "Phi_3": moved(vector("l_3")),
        "Phi_4": moved(vector("l_4")),
        "Phi_34": moved(both),
        "X_3": force_transform(array(E), array(vector("l_3"))),
    }
    return {
        f"{name}:[{','.join(str(i + 1) for i in at)}]": x
        for name, block in blocks.items()
        for at, x in np.ndenumerate(block)
    }


class RigidBodies(Letters):
    """The letters and the blocks of both bodies that are made of them."""

    letters: ClassVar[tuple[str, ...]] = LETTERS
    domain: ClassVar[Any] = FIELD
    points_taken = 2
    seed = "bodies"
    made = staticmethod(made)

    def drawn(self, draw: random.Random) -> dict[str, fmpq]:
        known = {x: fmpq(draw.randint(-30, 30), draw.randint(1, 30)) for x in LETTERS}
        known["c_2"], known["s_2"] = on_circle(draw)
        return known

    def is_zero(self, x: Any) -> bool:
        """On the circle of c_2 and s_2."""
        c, s = (self.letter(name).numer for name in ("c_2", "s_2"))
        return bool(x.numer.rem([c**2 + s**2 - 1]) == 0)
