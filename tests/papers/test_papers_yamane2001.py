"""Yamane & Nakamura 2001: its recursion and counts beside other computations, and what must fail."""

import numpy as np
import pytest
from paper_rows import by_item, quiet, rows_of

from pivotree import kkt
from pivotree.analysis.counts import FAMILIES
from pivotree.papers.yamane2001 import agreement, fig3
from pivotree.papers.yamane2001.growth import dense_solution, exponent, fig6, operations
from pivotree.papers.yamane2001.recursion import joint_accelerations, readings


@pytest.mark.parametrize("joint", ["spherical", "universal", "prismatic", "cylindrical"])
def test_section_3_as_typed_gives_certified_accelerations_on_any_chain(joint):
    for n in (1, 2, 9):
        system = kkt.build(kkt.chain(n, joint=joint))
        error = kkt.certify(system, 20).error(joint_accelerations(system))
        assert error is not None and error <= agreement.MOST


def test_the_coupling_of_53_has_its_printed_shape_for_ball_joints_only():
    ball = rows_of(readings, n=5, lines=("S_J",))
    hinge = rows_of(readings, n=5, family="revolute", lines=("S_J",))
    assert ball[0].ours > 1e-2
    assert hinge[0].ours <= 1e-12  # shapes differ there: nothing else than what is meant fits


class Counted:
    """A number that counts the operations done with it."""

    def __init__(self, value, count):
        self.value, self.count = float(value), count

    def _done(self, value):
        self.count[0] += 1
        return Counted(value, self.count)

    def __sub__(self, other):
        return self._done(self.value - getattr(other, "value", other))

    def __mul__(self, other):
        return self._done(self.value * other.value)

    def __truediv__(self, other):
        return self._done(self.value / other.value)


@pytest.mark.parametrize("N", [1, 2, 5, 8])
def test_the_dense_solution_is_counted_as_it_runs(N):
    """By L D L*, on numbers that count what is done with them."""
    draw, count = np.random.default_rng(N), [0]
    square = draw.normal(size=(N, N))
    A, tau, bias = square @ square.T + np.eye(N), draw.normal(size=N), draw.normal(size=N)
    M = np.array([[Counted(x, count) for x in row] for row in A])
    x = np.array([Counted(t, count) - b for t, b in zip(tau, bias, strict=True)])
    for k in range(N):
        column = M[k + 1 :, k] / M[k, k]
        for i in range(k + 1, N):
            M[i, k + 1 : i + 1] = M[i, k + 1 : i + 1] - M[k + 1 : i + 1, k] * column[i - k - 1]
        M[k, k + 1 :] = column
    for k in range(N):
        x[k + 1 :] = x[k + 1 :] - M[k, k + 1 :] * x[k]
    for k in range(N - 1, -1, -1):
        x[k] = x[k] / M[k][k]
        for i in range(k + 1, N):
            x[k] = x[k] - M[k][i] * x[i]
    assert np.allclose([v.value for v in x], np.linalg.solve(A, tau - bias))
    products, sums, quotients = dense_solution(N)
    assert count == [products + sums + quotients] and sums == products + N


def test_folding_unit_vectors_only_saves():
    for family in ("revolute", "star_spherical"):
        whole, folded = operations(FAMILIES[family].system(4))
        assert all(a <= b for a, b in zip(folded, whole, strict=True)) and sum(folded) < sum(whole)


@pytest.mark.product
@pytest.mark.parametrize("family", ["spherical", "prismatic"])
def test_figure_6_virtual_work_is_linear_and_overtakes(family):
    values = list(fig6(quiet, least=2, most=9, family=family))
    assert by_item(rows_of(fig6, values))["virtual work"].met
    found = values[-1].of[0]
    first = found.cheaper_from("virtual_work", "unit vectors")
    assert first is None or first > found.dof[0]
    assert len(found.differences("unit vectors")) > 1  # a cubic method is not called linear


def test_figure_3_sees_what_is_not_split():
    (row,) = rows_of(fig3, leaves=(13,), trees=0)
    assert row.ours.endswith("on a link 14 to 3, met later 13 to 2")


def test_the_fitted_exponent_is_that_of_a_known_curve():
    n = np.arange(4, 40)
    assert exponent(n, 7 * n**2.5) == pytest.approx(2.5)
