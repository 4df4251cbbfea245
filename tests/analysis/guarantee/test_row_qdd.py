"""qdd of square_root_abm stays within its bound, and bounds without a factor of it do not."""

from dataclasses import replace

import numpy as np
import pytest
from designs import covering
from guarantee import drawn
from helpers import tilted
from made import geared, skew
from numpy.testing import assert_array_less
from qdd_cases import Case, Paths, of_sides

import pivotree as pt
from pivotree import kkt, orderings
from pivotree.kkt.tape.trace import trace
from pivotree.kkt.theorem import accelerations, rotations
from pivotree.kkt.theorem.motion import Sizes, of_state
from pivotree.kkt.theorem.rotations import RowSweeps

ORDER = "square_root_abm"
PROMISED = (18, 40, 74, 111, 119, 146, 171, 172, 184, 271, 328, 390)  # 18, 111, 171, 390: rotors
UNIT = 2.0**-24


MILD = kkt.chain(3), kkt.star(2, joint="spherical"), geared(skew(kkt.chain(2)))


@pytest.mark.parametrize("trees,format", covering(["mild", "hostile"], ["float32", "float64"], unmarked=1))
def test_no_error_is_above_the_bound(trees, format):
    if trees == "mild":
        found = [Case(tree, format, ORDER).ratios(3, 0) for tree in MILD]
        assert [len(ratios) for ratios in found] == [3] * 3
    else:
        found = [Case(drawn(seed, 6), format, ORDER).ratios(3, seed) for seed in PROMISED]
        found.append(Case(kkt.example3(m1=1e2, case=2, angle=0.7), format, ORDER).ratios(3, 0))
        assert sum(map(bool, found)) >= 8
    assert max(max(ratios) for ratios in found if ratios) <= 1.0


def rows_of(system, e):
    """Lengths of residuals and energies of efforts as forces, by numpy's QR; joints let go."""
    tree = system.tree
    lengths, forces = np.zeros((2, tree.n))
    rows = [[np.linalg.cholesky(M).T] for M in e.M]
    sides = [[np.linalg.solve(R[0].T, b)] for R, b in zip(rows, e.b, strict=True)]
    p = np.zeros((tree.n, 6))
    for level in reversed(tree.levels):
        for k in level:
            R, z = np.concatenate(rows[k]), np.concatenate(sides[k])
            lengths[k], M = np.linalg.norm(z), R.T @ R
            forces[k] = np.sqrt(p[k] @ np.linalg.solve(M, p[k]))
            here, up = slice(*tree.offset[k : k + 2]), tree.parent[k]
            if up < 0:
                continue
            S = e.S[here]
            Q = np.linalg.qr(R @ S.T)[0]
            rest = np.eye(len(R)) - Q @ Q.T
            rows[up].append(rest @ R @ e.Phi[k].T)
            sides[up].append(rest @ (z + R @ e.a[k]))
            gain = np.linalg.solve(S @ M @ S.T, e.tau[here] - S @ p[k])
            p[up] += e.Phi[k] @ (p[k] + M @ S.T @ gain)
    return lengths, forces


@pytest.mark.product
@pytest.mark.parametrize("seed", [40, 74, 119, 146, 172, 271, 328])
def test_residuals_and_forces_are_no_larger_than_the_proof_says(seed):
    case = Case(drawn(seed, 6), "float64", ORDER)
    assert not case.bound.why and not len(case.state(seed, 0)[2].A)
    for number in range(6):
        _, _, given = case.state(seed, number)
        sizes = Sizes(case.system, case.ranges, case.found, of_state(given, case.found.M))
        sweeps, moving = RowSweeps(sizes, case.found), ~sizes.still
        lengths, forces = rows_of(case.system, given)
        assert_array_less(lengths[moving], sweeps.sigma[moving] * (1 + 1e-6) + 1e-9)
        assert_array_less(forces[moving], sweeps.force[moving] * (1 + 1e-6) + 1e-9)


def test_the_engine_rounds_no_more_often_than_the_proof_counts():
    """Axes of no frame: three entries of H, and of two rows of C, and all else is full."""
    system = tilted(kkt.build(pt.chain(4)))
    longest = Paths(trace(system, orderings.get(ORDER))).longest
    counted = {
        ("weighed", "mul", 1): 3,
        ("carried", "add", 1): rotations.AGAIN,
        ("force", "add", 1): rotations.FRAME,
        ("effort", "add", 1): 3 + 1,
        ("passed", "add", 1): 6 + 2,
        ("beta", "add", 1): accelerations.FRAME + 1,
        ("beside", "add", 1): 2 + 5 + 1,
        ("moved", "back", 1): 2,
        ("qdd", "add", 1): 1 + 1,
    }
    assert all(0 < longest[key] <= count for key, count in counted.items())
    equal = ("beside", "add", 1), ("carried", "add", 1), ("beta", "add", 1)
    assert all(longest[key] == counted[key] for key in equal)


def fan(joint, first, others, children=24):
    """A slide with children, the first of them of another mass."""
    tree = kkt.new_tree("fan")
    for i, mass in enumerate([others, first, *[others] * (children - 1)]):
        up, kind = ("b0", joint) if i else (None, "prismatic")
        given = {"mass": mass, "com": (0, 0, 0), "inertia": mass * np.eye(3), "axis": (1, 0, 0)}
        kkt.add_body(tree, f"b{i}", up, joint=kind, **given)
    return Case(tree, "float32", ORDER)


def alone(monkeypatch):
    """Bounds of what is rounded into forces: on a fan nothing else is off."""
    monkeypatch.setattr(accelerations, "inertias", lambda sizes: (0.0, 0.0))
    monkeypatch.setattr(accelerations, "innovations", lambda *_: (1e-30, True))


def one_beside_dust(x):
    """A one, and numbers that a sum with one does not feel."""
    x[1:], x[1] = np.float32(0.97 * UNIT), 1.0
    return x


@pytest.mark.product
def test_every_effort_that_meets_a_parent_counts(monkeypatch):
    """0.55 of what is proved is reached, and a bound for a single child is refuted."""
    alone(monkeypatch)
    case, of_all = fan("prismatic", 1.0, 1.0), RowSweeps.__init__
    off, promise = of_sides(case, tau=one_beside_dust)
    assert 0.5 * promise.energy < off <= promise.energy

    def of_one(self, sizes, found):
        of_all(self, sizes, found)
        self.children = np.minimum(self.children, 1)

    monkeypatch.setattr(RowSweeps, "__init__", of_one)
    off, promise = of_sides(case, tau=one_beside_dust)
    assert off > promise.energy


@pytest.mark.product
def test_every_stage_of_rotations_counts_for_residuals(monkeypatch):
    alone(monkeypatch)
    case, of_all = fan("fixed", 1.0, 2.0**-12, 60), RowSweeps.__init__
    only = {"b": lambda b: np.stack([one_beside_dust(b[:, i]) * (i == 3) for i in range(6)], 1)}
    off, promise = of_sides(case, **only)
    assert 0.0 < off <= promise.energy

    def of_one(self, sizes, found):
        of_all(self, sizes, replace(found, stages=np.minimum(found.stages, 1.0)))

    monkeypatch.setattr(RowSweeps, "__init__", of_one)
    off, promise = of_sides(case, **only)
    assert off > promise.energy
