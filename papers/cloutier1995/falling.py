"""A planar chain over a floor: where its points are, and what forces on them do.

Links are rods with the inertia of rectangles, in the x-y plane, gravity along -y, floor y = 0.  The
chain hangs on a fixed joint, or is free: then two massless slides carry its first link.  What may
touch the floor are the free ends and the joints.  Weights and contact forces are external wrenches
of equation (4), so that one kernel answers both: with weights and rates, the free accelerations;
with a unit force alone, a column of M^-1 J^T, with which G K^-1 G^T, K the matrix of (4), is the
Schur complement that contact rows would leave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import kkt
import orderings

Floats = NDArray[np.float64]
WIDTH = 0.02  # [m]


@dataclass(frozen=True)
class Falling:
    """n links; p = n + 1 points, from the first joint to the tip; N freedoms."""

    graph: nx.DiGraph
    kernel: Any
    lengths: Floats  # (n,) [m]
    masses: Floats  # (n,) [kg]
    free: bool
    gravity: float  # [m/s^2]
    slides: int = field(init=False)  # bodies before the first link

    def __post_init__(self) -> None:
        object.__setattr__(self, "slides", 2 if self.free else 0)

    @property
    def N(self) -> int:
        return len(self.lengths) + self.slides

    @property
    def touching(self) -> slice:
        """Points that may touch the floor: all but a fixed first joint."""
        return slice(0 if self.free else 1, None)

    # -- geometry; q and v are (..., N) ------------------------------------------------------------

    def directions(self, q: Floats) -> Floats:
        """(..., n, 2) unit vectors along the links."""
        angle = np.cumsum(q[..., self.slides :], -1)
        u = np.empty((*angle.shape, 2))
        u[..., 0], u[..., 1] = np.cos(angle), np.sin(angle)
        return u

    def places(self, q: Floats, u: Floats | None = None) -> Floats:
        """(..., p, 2) the points."""
        u = self.directions(q) if u is None else u
        r = np.zeros((*q.shape[:-1], len(self.lengths) + 1, 2))
        np.cumsum(self.lengths[:, None] * u, -2, out=r[..., 1:, :])
        if self.free:
            r += q[..., None, :2]
        return r

    def rows(self, r: Floats, points: Any, axis: int) -> Floats:
        """(..., c, N) velocities of points along x or y (axis 0 or 1) over rates."""
        points = np.asarray(points)
        arm = r[..., points, None, 1 - axis] - r[..., None, :-1, 1 - axis]  # from joint k
        J = np.zeros((*arm.shape[:-1], self.N))
        moved = points[:, None] > np.arange(len(self.lengths))
        J[..., self.slides :] = np.where(moved, arm if axis else -arm, 0.0)
        if self.free:
            J[..., axis] = 1.0
        return J

    def drift(self, u: Floats, v: Floats) -> Floats:
        """(..., p, 2) accelerations of the points at zero qdd."""
        omega = np.cumsum(v[..., self.slides :], -1)
        a = np.zeros((*omega.shape[:-1], omega.shape[-1] + 1, 2))
        np.cumsum(-(self.lengths * omega**2)[..., None] * u, -2, out=a[..., 1:, :])
        return a

    def speeds(self, u: Floats, v: Floats) -> Floats:
        """(..., p, 2) velocities of the points."""
        omega = np.cumsum(v[..., self.slides :], -1)
        turned = np.stack([-u[..., 1], u[..., 0]], -1)
        w = np.zeros((*omega.shape[:-1], omega.shape[-1] + 1, 2))
        np.cumsum((self.lengths * omega)[..., None] * turned, -2, out=w[..., 1:, :])
        return w + v[..., None, :2] if self.free else w

    def energy(self, q: Floats, v: Floats) -> Floats:
        """(...,) kinetic and potential [J], zero at rest on the floor."""
        u = self.directions(q)
        r, speed = self.places(q, u), self.speeds(u, v)
        middle = (speed[..., 1:, :] + speed[..., :-1, :]) / 2
        omega = np.cumsum(v[..., self.slides :], -1)
        turning = self.masses * (self.lengths**2 + WIDTH**2) / 12 * omega**2
        height = (r[..., 1:, 1] + r[..., :-1, 1]) / 2
        kinetic = (self.masses * (middle**2).sum(-1) + turning).sum(-1) / 2
        return kinetic + (self.masses * self.gravity * height).sum(-1)

    # -- equation (4) ------------------------------------------------------------------------------

    def accelerations(self, q: Floats, v: Floats, forces: Floats, u: Floats) -> Floats:
        """(m, N) qdd of m states, under weights and forces (m, p, 2) [N] on the points."""
        return np.asarray(self.kernel(q, v, None, self._weights(u) + self._wrench(u, forces)))

    def free_and_responses(
        self, q: Floats, v: Floats, units: Floats, u: Floats
    ) -> tuple[Floats, Floats]:
        """qdd without contact (N,), and what each of c unit forces (c, p, 2) adds to it (c, N)."""
        rates = np.zeros((len(units) + 1, self.N))
        rates[0] = v
        wrench = np.empty((len(units) + 1, self.N, 6))
        wrench[0] = self._weights(u)
        if len(units):
            wrench[1:] = self._wrench(u, units)
        found = np.asarray(self.kernel(q, rates, None, wrench))
        return found[0], found[1:]

    def _weights(self, u: Floats) -> Floats:
        return self._on_links(u, np.array([0.0, -1.0]) * (self.masses * self.gravity)[:, None],
                              self.lengths / 2)  # fmt: skip

    def _wrench(self, u: Floats, forces: Floats) -> Floats:
        """Forces on points: the first on the first link's joint, every other on a link's end."""
        wrench = self._on_links(u, forces[..., 1:, :], self.lengths)
        along, first = u[..., 0, :], forces[..., 0, :]
        wrench[..., self.slides, 3] += (along * first).sum(-1)
        wrench[..., self.slides, 4] += along[..., 0] * first[..., 1] - along[..., 1] * first[..., 0]
        return wrench

    def _on_links(self, u: Floats, forces: Floats, at: Floats) -> Floats:
        """(..., bodies, 6) wrenches of world forces (..., n, 2) at distances ``at`` along links."""
        along = (u * forces).sum(-1)
        across = u[..., 0] * forces[..., 1] - u[..., 1] * forces[..., 0]
        wrench = np.zeros((*along.shape[:-1], self.N, 6))
        links = wrench[..., self.slides :, :]
        links[..., 2], links[..., 3], links[..., 4] = at * across, along, across
        return wrench


def falling(
    n: int, *, free: bool = True, length: float = 0.25, mass: float = 0.5, gravity: float = 9.8,
    order: str = "abm",
) -> Falling:  # fmt: skip
    """n equal links, free or hanging on a fixed joint in the origin, with a kernel of an order."""
    if n < 1:
        raise kkt.ModelError(f"falling chain has {n} links; ask for at least one")
    tree = kkt.new_tree(f"falling_{n}", (0.0, 0.0, 0.0))  # weights are wrenches
    parent = None
    if free:
        for name, axis in (("x", (1.0, 0.0, 0.0)), ("y", (0.0, 1.0, 0.0))):
            kkt.add_body(tree, name, parent, mass=0.0, joint="prismatic", axis=axis)
            parent = name
    about = mass * (length**2 + WIDTH**2) / 12
    inertia = np.diag([mass * WIDTH**2 / 6, about, about])
    for k in range(n):
        place = (length if k else 0.0, 0.0, 0.0)
        kkt.add_body(tree, f"link{k + 1}", parent, mass=mass, com=(length / 2, 0.0, 0.0),
                     inertia=inertia, p=place)  # fmt: skip
        parent = f"link{k + 1}"
    kernel = kkt.compile(tree, orderings.get(order), inputs=("wrench",))
    return Falling(tree, kernel, np.full(n, length), np.full(n, mass), free, gravity)
