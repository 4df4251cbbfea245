"""``cash_karp`` beside odeint, rkqs and rkck, written down here for one start, number by number.

Numerical Recipes in C, 2nd ed., section 16.2, as a C compiler reads it: a variable holds a float or
a double, what meets a constant of the book is double, and an assignment rounds.
"""

import math

import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Integration, Motion, simulate
from pivotree.analysis.simulation.cash_karp import CashKarp

NUMBERS = [np.float32, np.float64]


class Book:
    """odeint with its nok and nbad, in one number type; steps are (t, h, tries)."""

    def __init__(self, number, derivs, eps, h1=0.01, most=10_000, renewed=False):
        self.number, self.eps, self.h1, self.most = number, number(eps), number(h1), most
        self.derivs, self.renewed = derivs, renewed
        self.steps, self.calls, self.states = [], 0, []

    def rates(self, y):
        self.calls += 1
        return [self.number(k) for k in self.derivs(y)]

    def odeint(self, ystart, x2):
        number = self.number
        y, x, x2, h = [number(v) for v in ystart], number(0.0), number(x2), self.h1
        for _ in range(self.most):
            dydx = self.rates(y)
            yscal = self.scales(y, dydx, h)
            if x + h - x2 > 0.0:
                h = x2 - x
            y, hdid, h, tries, xnew = self.rkqs(y, dydx, x, h, yscal)
            self.steps.append((float(x), float(hdid), tries))
            self.states.append([float(v) for v in y])
            x = xnew
            if x >= x2:
                return "done"
        return "too many steps"

    def scales(self, y, dydx, h):
        # fabs gives doubles, TINY is one; the product is of two variables
        return [
            self.number(abs(float(v)) + abs(float(d * h)) + 1.0e-30) for v, d in zip(y, dydx, strict=True)
        ]

    def rkqs(self, y, dydx, x, htry, yscal):
        number, h, tries = self.number, htry, 0
        while True:
            tries += 1
            if self.renewed:  # what the book does not do
                yscal = self.scales(y, dydx, h)
            ytemp, yerr = self.rkck(y, dydx, h)
            errmax = number(max(abs(e / s) for e, s in zip(yerr, yscal, strict=True)))
            errmax = errmax / self.eps
            if errmax <= 1.0:
                break
            htemp = number(0.9 * float(h) * math.pow(float(errmax), -0.25))
            h = max(htemp, number(0.1 * float(h)))
            assert x + h != x
        if float(errmax) > 1.89e-4:
            hnext = number(0.9 * float(h) * math.pow(float(errmax), -0.2))
        else:
            hnext = number(5.0 * float(h))
        return ytemp, h, hnext, tries, x + h

    def rkck(self, y, k1, h):
        n = self.number
        c1, c3, c4, c6 = n(37.0 / 378.0), n(250.0 / 621.0), n(125.0 / 594.0), n(512.0 / 1771.0)
        dc1, dc3 = n(float(c1) - 2825.0 / 27648.0), n(float(c3) - 18575.0 / 48384.0)
        dc4, dc5 = n(float(c4) - 13525.0 / 55296.0), n(-277.0 / 14336.0)
        dc6 = n(float(c6) - 0.25)
        k = [k1, self.rates([v + n(0.2) * h * a for v, a in zip(y, k1, strict=True)])]
        for row in (
            (3.0 / 40.0, 9.0 / 40.0),
            (0.3, -0.9, 1.2),
            (-11.0 / 54.0, 2.5, -70.0 / 27.0, 35.0 / 27.0),
            (1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0),
        ):
            at = []
            for i, v in enumerate(y):
                total = n(row[0]) * k[0][i]
                for b, slope in zip(row[1:], k[1:], strict=True):
                    total = total + n(b) * slope[i]
                at.append(v + h * total)
            k.append(self.rates(at))
        k1, _, k3, k4, k5, k6 = k
        yout = [v + h * (c1 * k1[i] + c3 * k3[i] + c4 * k4[i] + c6 * k6[i]) for i, v in enumerate(y)]
        yerr = [
            h * (dc1 * k1[i] + dc3 * k3[i] + dc4 * k4[i] + dc5 * k5[i] + dc6 * k6[i]) for i in range(len(y))
        ]
        return yout, yerr


def duffing(y):
    """A stiff spring that softens, and two rates that forget: steps are refused, some twice."""
    one = y.dtype.type
    a, b = y[..., 0], y[..., 1]
    kick = one(40.0) * b / (one(0.001) + a * a)
    return np.stack([b, -(a * a * a) * one(30.0) - one(0.1) * kick, -one(9.0) * y[..., 2] + a], -1)


def beside(book, record):
    """The record of a run holds the book's steps, tries and states, bit by bit."""
    assert record.accepted == len(book.steps)
    assert record.step_t.tolist() == [t for t, _, _ in book.steps]
    assert record.step.tolist() == [h for _, h, _ in book.steps]
    assert record.y[1:].tolist() == book.states
    assert record.tries.tolist() == [tries for *_, tries in book.steps]
    assert record.rejected == sum(tries - 1 for *_, tries in book.steps)
    assert record.evaluations == book.calls


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("eps", [1e-3, 1e-5])
def test_every_step_is_the_books(number, eps):
    start = np.array([1.0, 0.5, 0.0], dtype=number)
    book = Book(number, lambda y: duffing(np.array(y, dtype=number)), eps)
    assert book.odeint(start, 3.0) == "done"
    (record,) = CashKarp(eps)(duffing, start[None], 3.0)
    assert record.failed is None and max(tries for *_, tries in book.steps) > 1
    beside(book, record)


@pytest.mark.product
@pytest.mark.parametrize("number", NUMBERS)
def test_two_links_move_as_by_the_book(number):
    """The motions of Table 1 of Ascher, Pai & Cloutier 1996, in kernels, starts of two orders together."""
    orders = orderings.get("abm"), orderings.get("crbm")
    motions = [Motion.of(kkt.two_link(0.05), order, np.dtype(number).name) for order in orders]
    states = motions[0].start().astype(number) + np.array([[0.0], [1e-3], [-2e-3]] * 2, dtype=number)
    records = CashKarp(1e-4)([motion.rates for motion in motions], states, 0.5)
    for motion, start, record in zip(np.repeat(motions, 3), states, records, strict=True):
        book = Book(number, lambda y, of=motion: of.rates(np.array([y], dtype=number))[0], 1e-4)
        assert book.odeint(start, 0.5) == "done"
        beside(book, record)


def test_scales_that_are_renewed_at_retries_give_other_steps():
    """The comparison sees it: an integrator that renews the scales is not the book's."""
    start = np.array([1.0, 0.5, 0.0])
    books = [Book(np.float64, lambda y: duffing(np.array(y)), 1e-5, renewed=x) for x in (0, 1)]
    for book in books:
        book.odeint(start, 3.0)
    right, wrong = (book.steps for book in books)
    first = next(i for i, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b)
    assert right[first][2] > 1  # a step that was refused
    (record,) = CashKarp(1e-5)(duffing, start[None], 3.0)
    assert record.step.tolist() != [h for _, h, _ in wrong]


def test_steps_end_at_the_end_and_too_many_are_told():
    start = np.array([[1.0, 0.5, 0.0]])
    book = Book(np.float64, lambda y: duffing(np.array(y)), 1e-6, most=20)
    assert book.odeint(start[0], 3.0) == "too many steps"
    (record,) = CashKarp(1e-6, most=20)(duffing, start, 3.0)
    assert record.failed and record.failed.startswith("more than 20 steps")
    beside(book, record)


@pytest.mark.product
def test_a_clock_of_its_own():
    """Time and step in single precision beside states in double precision, and the reverse."""
    tree = kkt.two_link(0.05)
    runs = {}
    for state in ("float32", "float64"):
        for clock in ("float32", "float64", None):
            chosen = Integration(seconds=1.0, eps=1e-4, state=state, clock=clock)
            runs[state, clock] = simulate(tree, "abm", "float32", chosen).records[0]
            single, steps = (clock or state) == "float32", runs[state, clock].step
            assert (steps.astype(np.float32) == steps).all() == single
    for state in ("float32", "float64"):
        own, other = runs[state, state], runs[state, {"float32": "float64"}.get(state, "float32")]
        assert (own.step == runs[state, None].step).all()
        assert own.step.tolist() != other.step.tolist()
        assert own.evaluations == pytest.approx(other.evaluations, rel=0.1)
