"""Mechanisms with closed loops in coordinates that need no loop, from textbooks and by themselves.

Nothing of the engine is used: the four-bar in its crank's angle, the Stewart platform in its
platform's pose, both by Kane's equations, J* (M J a + M J' v - f) = 0, and scipy's DOP853.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

G = 9.81


def integrated(slope: Callable, y: np.ndarray, seconds: float) -> np.ndarray:
    """The state at the end."""
    return solve_ivp(slope, (0, seconds), y, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


class FourBar:
    """The linkage of the gallery: rods of 1 kg/m, 1, 3 and 2.5 m on a base of 3 m, gravity in -y.

    Points are complex numbers; the state is the crank's angle and its rate.
    """

    L = np.array([1.0, 3.0, 2.5])  # crank, coupler, rocker
    BASE = 3.0

    def angles(self, theta: float) -> np.ndarray:
        """(3,) of crank, coupler and rocker with the x axis; the loop opens upwards."""
        crank, coupler, rocker = self.L
        far = self.BASE - crank * np.exp(1j * theta)
        cosine = (coupler**2 + abs(far) ** 2 - rocker**2) / (2 * coupler * abs(far))
        phi = np.angle(far) + np.arccos(cosine)
        tip = crank * np.exp(1j * theta) + coupler * np.exp(1j * phi)
        return np.array([theta, phi, np.angle(tip - self.BASE)])

    def derivatives(self, theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The angles, and their first and second derivatives by theta, from the closed loop."""
        a = self.angles(theta)
        arm = self.L * np.exp(1j * a) * [1, 1, -1]  # crank + coupler - rocker = base
        A = np.stack([(1j * arm[1:]).real, (1j * arm[1:]).imag])

        def others(right: complex) -> np.ndarray:
            return np.linalg.solve(A, [right.real, right.imag])

        first = np.concatenate([[1.0], others(-1j * arm[0])])
        second = np.concatenate([[0.0], others((first**2 * arm).sum())])
        return a, first, second

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        theta, rate = y
        a, w, dw = self.derivatives(theta)
        half, mass = self.L / 2, self.L
        J = mass * self.L**2 * (1 + 0.01) / 12
        own = half * np.exp(1j * a)
        v, dv = 1j * w * own, (1j * dw - w**2) * own  # of centres of mass, and derivative by theta
        v[1], dv[1] = v[1] + 2 * v[0], dv[1] + 2 * dv[0]  # the coupler hangs on the crank's tip
        inertia = (mass * abs(v) ** 2 + J * w**2).sum()
        product = (mass * (v.conj() * dv).real + J * w * dw).sum()
        push = -(mass * G * v.imag).sum()
        return np.array([rate, (push - product * rate**2) / inertia])

    def joints(self, y: np.ndarray) -> np.ndarray:
        """q and qd (6,) of crank, coupler beside the crank, and rocker."""
        a, w, _ = self.derivatives(y[0])
        return np.array([a[0], a[1] - a[0], a[2], *(y[1] * np.array([w[0], w[1] - w[0], w[2]]))])


def box(mass: float, size: tuple[float, float, float]) -> np.ndarray:
    """Principal moments of inertia of a cuboid [kg m^2]."""
    square = np.array(size) ** 2
    return mass * (square.sum() - square) / 12


class Stewart:
    """The platform of the gallery, with a spring in each leg.

    The state is position, quaternion xyzw, angular and linear velocity of the platform, the two
    velocities in the world's directions.
    """

    def __init__(self, height: float, stiffness: float) -> None:
        self.stiffness = stiffness
        degrees = [120.0 * (leg // 2) + (12.0, 108.0)[leg % 2] for leg in range(6)]
        above = [120.0 * (leg // 2) + (48.0, 72.0)[leg % 2] for leg in range(6)]
        self.low, self.high = (
            np.array([[r * np.cos(np.radians(x)), r * np.sin(np.radians(x)), 0.0] for x in xs])
            for r, xs in ((0.6, degrees), (0.35, above))
        )
        self.rest = np.linalg.norm(self.high + np.array([0, 0, height]) - self.low, axis=1)
        leg = [(2.0, box(2.0, (0.06, 0.06, 0.4))), (1.0, box(1.0, (0.04, 0.04, 0.4)))]
        self.masses = [(10.0, box(10.0, (0.6, 0.6, 0.05))), *(leg * 6)]

    def legs(self, r: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Upper ends (6, 3), directions (6, 3) and lengths (6,)."""
        ends = r + self.high @ R.T
        span = ends - self.low
        length = np.linalg.norm(span, axis=1)
        return ends, span / length[:, None], length

    def turns(self, r: np.ndarray, R: np.ndarray) -> list[np.ndarray]:
        """Orientations of the bodies: a leg turns about x, then y."""
        found = [R]
        for u in self.legs(r, R)[1]:
            angles = [np.arctan2(-u[1], u[2]), np.arcsin(u[0])]
            found += [Rotation.from_euler("XY", angles).as_matrix()] * 2
        return found

    def velocities(self, r: np.ndarray, R: np.ndarray) -> np.ndarray:
        """(13, 6, 6): angular velocity and that of the centre of mass by the platform's (w, v)."""
        ends, directions, lengths = self.legs(r, R)
        unit = np.eye(6)
        found = [unit]
        for end, u, length in zip(ends, directions, lengths, strict=True):
            speed = unit[3:].T + np.cross(unit[:3].T, end - r)  # (6, 3) of the leg's upper end
            turning = (speed - np.outer(speed @ u, u)) / length
            b = turning[:, 0] / np.sqrt(u[1] ** 2 + u[2] ** 2)
            a = (u[1] * turning[:, 2] - u[2] * turning[:, 1]) / (u[1] ** 2 + u[2] ** 2)
            angle = np.arctan2(-u[1], u[2])
            omega = np.outer(a, [1, 0, 0]) + np.outer(b, [0, np.cos(angle), np.sin(angle)])
            for velocity in (0.2 * turning, speed - 0.2 * turning):
                found.append(np.concatenate([omega, velocity], axis=1).T)
        return np.array(found)

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        r, turn, V = y[:3], Rotation.from_quat(y[3:7]), y[7:]
        R, h = turn.as_matrix(), 1e-5
        J = self.velocities(r, R)
        ahead, behind = (
            self.velocities(r + s * V[3:], (Rotation.from_rotvec(s * V[:3]) * turn).as_matrix())
            for s in (h, -h)
        )
        dJ = (ahead - behind) / (2 * h)
        M, f = np.zeros((6, 6)), np.zeros(6)
        for Jb, dJb, Rb, (mass, moments) in zip(J, dJ, self.turns(r, R), self.masses, strict=True):
            inertia = Rb @ np.diag(moments) @ Rb.T
            heavy = np.block([[inertia, np.zeros((3, 3))], [np.zeros((3, 3)), mass * np.eye(3)]])
            w = Jb[:3] @ V
            M += Jb.T @ heavy @ Jb
            f -= Jb.T @ (heavy @ dJb @ V + np.r_[np.cross(w, inertia @ w), 0, 0, mass * G])
        ends, directions, lengths = self.legs(r, R)
        for end, u, stretch in zip(ends, directions, lengths - self.rest, strict=True):
            f -= self.stiffness * stretch * np.r_[np.cross(end - r, u), u]
        x, w = y[3:7], V[:3]
        spin = 0.5 * np.r_[w * x[3] + np.cross(w, x[:3]), -w @ x[:3]]
        return np.concatenate([V[3:], spin, np.linalg.solve(M, f)])
