"""docs/theory/guarantee.md: the bound holds over random trees, and a wrong constant is found out."""

from dataclasses import replace

import numpy as np
import pytest
from designs import covering
from guarantee import drawn, ratio
from helpers import bracketed
from made import exact_inertias
from numpy.testing import assert_allclose

from pivotree import kkt, orderings
from pivotree.analysis.guarantee.rows import guarantee
from pivotree.analysis.states.sample import system_at
from pivotree.kkt.theorem import guarantee as bounds
from pivotree.kkt.theorem import recursion
from pivotree.kkt.theorem import support as reaches
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.kkt.theorem.support import angles, averaged, axis_of, let_go, reach, share, support

PROMISED = (9, 14, 18, 74, 79, 111, 119, 134)  # hostile


def test_share_is_above_every_perturbation_and_nearly_reached():
    draw = np.random.default_rng(0)
    root = draw.normal(size=(4, 4))
    M, t = root @ root.T, draw.uniform(0, 1, 4)
    B = np.outer(t, t)
    g = share(M, B)
    worst = 0.0
    for signs in draw.choice([-1.0, 1.0], size=(200, 4)):
        G = B * np.outer(signs, signs)
        worst = max(worst, np.abs(np.linalg.eigvals(np.linalg.solve(M, G))).max())
    assert worst <= g <= worst * 1.0001
    assert share(np.diag([1.0, 0.0]), np.ones((2, 2))) == np.inf
    assert share(np.eye(2), np.zeros((2, 2))) == 0.0


def test_the_mean_over_turns_is_the_integral():
    draw = np.random.default_rng(1)
    root = draw.normal(size=(6, 6))
    N, total = root @ root.T, np.zeros((6, 6))
    for angle in np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False):
        c, s = np.cos(angle), np.sin(angle)
        T = np.kron(np.eye(2), [[1, 0, 0], [0, c, -s], [0, s, c]])
        total += T @ N @ T.T / 16
    assert_allclose(averaged(N, 0), total, atol=1e-12)


def test_boxes_of_an_angle_bound_what_a_child_hands_on_at_every_angle_in_them():
    draw, system = np.random.default_rng(0), kkt.build(kkt.chain(2))
    rest, L = (x @ x.T for x in draw.normal(size=(2, 6, 6)))
    found, z = angles(system, ranges_of(system, {"j2": (-0.5, 1.5)}), rest, L, 1), axis_of(system, 1)
    for q in draw.uniform(-0.5, 1.5, 30):
        box, Phi = int((q + 0.5) / 2.0 * len(found.least)), system.refresh(q=[0.0, q]).entries.Phi[1]
        assert (np.abs(Phi) <= found.Phi[box]).all()
        handed = rest + Phi @ let_go(L, z) @ Phi.T
        gap = np.linalg.eigvalsh(handed - found.least[box])
        assert gap.min() > 0.0 and gap.max() < 0.1 * np.linalg.eigvalsh(handed).max()


@pytest.mark.product
@pytest.mark.parametrize("seed", PROMISED)
def test_inertias_lie_between_support_and_reach(seed):
    system = kkt.build(drawn(seed, 6))
    ranges = ranges_of(system)
    held, sizes = support(system, system.entries.M), reach(system, ranges, 2.0**-53)
    for number in range(20):
        here = system_at(system, ranges, 0, number)
        M = exact_inertias(here)
        diagonal = np.sqrt(np.einsum("kii->ki", M))
        assert (diagonal <= sizes.size * (1 + 1e-12)).all()
        scale = np.sqrt(np.einsum("kii->ki", M))
        gap = (M - held) / scale[:, :, None] / scale[:, None, :]
        assert np.linalg.eigvalsh(gap).min() >= -1e-12


SOUND = {  # order: hostile trees that its theorem speaks of, others, and how many are promised at least
    "abm": (PROMISED, [kkt.chain(6), kkt.rr_arm()], 6),
    "gain_abm": (PROMISED, [kkt.chain(6), kkt.rr_arm()], 4),
}


@pytest.mark.uncached
@pytest.mark.parametrize("order,name", covering(SOUND, ["float64", "float32"], unmarked=1))
def test_no_pivot_is_further_off_than_proved(order, name):
    seeds, others, least = SOUND[order]
    found = [ratio(drawn(seed, 6), order, name, 2, seed) for seed in seeds]
    own = [ratio(tree, order, name, 2, 0) for tree in others]
    seen = [value for value in found + own if value is not None]
    assert len(seen) >= least and None not in own
    assert 0.0 < max(seen) <= 1.0


def test_without_the_child_against_the_parent_the_bound_is_refuted(monkeypatch):
    """rho_k left out: constants times u alone, as one might think who sees no inverse."""
    heavy = kkt.example3(m1=1e6, case=2, angle=0.7)
    assert ratio(heavy, "abm", "float64", 3, 0) <= 1.0
    monkeypatch.setattr(recursion, "share", lambda M, B: 30.0 if B.any() else 0.0)
    assert ratio(heavy, "abm", "float64", 3, 0) > 1.0


def test_a_format_without_the_exponents_gets_no_promise(monkeypatch):
    """A product that falls below float16's normal numbers is not off by u; the attack found it."""
    assert ratio(drawn(145, 12), "abm", "float16", 4, 145) is None
    (row,) = guarantee(kkt.rr_arm(), ["abm"], ["float16"], states=0)
    assert "more exponent bits" in row.bound.why
    monkeypatch.setattr(bounds, "too_narrow", lambda *_: "")
    assert ratio(drawn(145, 12), "abm", "float16", 4, 145) > 1.0


@pytest.mark.parametrize("of", ["axis", "armature"])
def test_a_pivot_beyond_the_exponents_gets_no_promise(of, monkeypatch):
    """Inertias and their squares fit float32, and D = A + H M^ H* does not."""
    tree, S = kkt.new_tree("far"), np.eye(6)[:, :1] * (1e25 if of == "axis" else 1.0)
    whole = {"mass": 1.0, "com": (0, 0, 0.1), "inertia": np.eye(3)}
    kkt.add_body(tree, "b", joint="general", S=S, **whole)
    geared = {"armature": 1e39} if of == "armature" else {}
    kkt.add_body(tree, "c", "b", axis=(1, 0, 0), **geared, **whole)
    with np.errstate(all="ignore"):
        (row,) = guarantee(tree, ["abm"], ["float32"], states=0)
        assert row.bound.digits == 0.0 and "more exponent bits" in row.bound.why
        monkeypatch.setattr(bounds, "too_narrow", lambda *_: "")
        assert ratio(tree, "abm", "float32", 1, 0) > 1.0


def test_inertias_whose_squares_leave_float64_get_no_promise():
    """A ratio of 1e300 is named, and does not end in an OverflowError."""
    tree = kkt.chain(1)
    tree.nodes["j1"].update(inertia=np.eye(3) * 1e-300, com=np.zeros(3), mass=1e5)
    for chosen in ("float64", "float32"):
        (row,) = guarantee(tree, ["abm"], [chosen], states=0)
        assert row.bound.digits == 0.0 and "more exponent bits" in row.bound.why


@pytest.mark.parametrize(
    ("tree", "order", "why"),
    [
        (kkt.chain(3), "virtual_work", "no bound is proved for virtual_work;"),
        (kkt.example3(m1=1e9), "abm", "what its children hand to it"),
        (kkt.chain(3, joint="universal"), "abm", "universal"),
        (kkt.star(2, joint="spherical"), "gain_abm", "several freedoms"),
    ],
)
def test_where_nothing_is_promised_the_row_says_why(tree, order, why):
    (row,) = guarantee(tree, [order], ["float32"], states=1)
    assert row.bound.digits == 0.0 and row.bound.worst is None and why in row.bound.why


@pytest.mark.parametrize(("linear", "found"), [((1, 0, 0), 1), ((1, 1, 1), None)])
def test_a_lever_that_cancels_gets_no_promise(linear, found, monkeypatch):
    """A third row of p~ R of which a body sees nothing but what float64 leaves."""
    tree, half = kkt.new_tree("cancels"), np.sqrt(0.5)
    body = {"mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3)}
    R = [[half, -half, 0], [half, half, 0], [0, 0, 1]]
    kkt.add_body(tree, "a", **body)
    kkt.add_body(tree, "b", "a", joint="fixed", R=R, p=(1.0, 1.0, 0.0), **body)
    system = kkt.build(tree)
    ranges, size = ranges_of(system), np.zeros((2, 6))
    size[1, 3:] = linear
    carried = np.array([0.0 * size[0], reaches.Turn(system, ranges, 1, 2.0**-53).apply(size[1])])
    sizes = replace(reach(system, ranges, 2.0**-53), size=size, carried=carried)
    assert reaches.cancelled(system, ranges, sizes, 2.0**-53) == found
    monkeypatch.setattr(bounds, "cancelled", lambda *_: found)
    (row,) = guarantee(tree, ["abm"], ["float64"], states=0)
    assert ("joint b: its rotation" in row.bound.why) == (found == 1)


def test_a_longer_format_promises_as_many_digits_more():
    abm = orderings.get("abm")
    short, long = (kkt.guarantee(kkt.chain(4), abm, name) for name in ("float32", "float64"))
    assert long.digits - short.digits == pytest.approx(29 * np.log10(2.0), abs=0.01)


def test_an_order_is_known_by_its_brackets_and_not_by_its_name():
    @orderings.order("abm", source="a lie")
    def liar(structure):
        return orderings.get("virtual_work")(structure)

    named = kkt.PivotSequence(bracketed(kkt.build(kkt.chain(3)).structure), name="mine")
    assert kkt.guarantee(kkt.chain(3), named).digits > 9
    assert "no bound is proved for abm" in kkt.guarantee(kkt.chain(3), liar).why
    for other in ("crbm", "square_root_abm", "crbm_block_row"):
        assert "no bound is proved" in kkt.guarantee(kkt.rr_arm(), orderings.get(other)).why
