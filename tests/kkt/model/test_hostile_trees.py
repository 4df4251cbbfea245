"""The random hostile trees themselves, and the oracle that says what is exactly true of them."""

import flint
import numpy as np
import pytest
from designs import covering, listed
from helpers import ROOT
from hostile_trees import Truth, dense, entries_of, hostile_system

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.proof.idle import idle_motion


@pytest.mark.product
def test_the_trees_are_hostile_and_the_same_in_every_run():
    systems = [hostile_system(seed) for seed in range(40)]
    kinds = {kind for s in systems for kind in s.tree.joint}
    assert {"fixed", "revolute", "prismatic", "spherical", "floating", "planar"} < kinds
    assert any(s.loops for s in systems) and any((s.tree.mass == 0.0).any() for s in systems)
    truths = [Truth(s, "float64") for s in systems]
    assert 5 < sum(t.singular for t in truths) < 25
    again = hostile_system(7)
    assert np.array_equal(again.rhs, systems[7].rhs)


@pytest.mark.parametrize(("seed", "format"), covering(range(0, 40, 5), ["float32", "exact"]))
def test_the_oracle_agrees_with_certified_answers(seed, format):
    for rotors in (False, True):
        system = hostile_system(seed, rotors=rotors)
        truth = Truth(system, format)
        try:
            proved = kkt.certify(system, 20, rounded_to=None if format == "exact" else format)
        except kkt.PivotreeError:
            continue  # singular, or an order that this tree rules out
        assert not truth.singular and truth.error(proved.qdd) <= 1e-19


FOUND = ROOT / "tests" / "models" / "hostile"
FLOATS = ["float32", "float64", "mp:50"]


def found(name):
    return kkt.build(kkt.read_model(FOUND / f"{name}.json"))


@pytest.mark.product
@pytest.mark.parametrize("format", FLOATS)
def test_a_pivot_that_is_zero_is_named_though_rounding_leaves_something(format):
    """A regular robot (kappa 19) whose M^ of a point mass on a ball joint lagrange inverts."""
    system = found("zero_pivot_lagrange")
    result = kkt.eliminate(system, orderings.get("lagrange"), format)
    assert result.failed_at.startswith(f"pivot pdd_p, step 4: zero for {format}")
    assert "another order" in result.failed_at and result.backward_error is None
    for order in ("abm", "crbm", "square_root_abm"):
        if order == "square_root_abm" and format == "mp:50":
            continue
        try:
            other = kkt.eliminate(system, orderings.get(order), format)
        except kkt.SingularError:
            continue  # rotations need M_k
        truth = Truth(system, format)
        assert other.failed_at is None and other.marked is None
        assert truth.error(other.qdd) <= 10 * get_format(format).unit * 19


@pytest.mark.parametrize(
    ("order", "format"),
    covering(["abm", "crbm", "bad_abm", "natural", "joseph_abm"], [*FLOATS, "dd", "p12e8"]),
)
def test_a_singular_robot_is_refused_whatever_the_order(order, format):
    system = found("singular_point_mass")
    try:
        said = kkt.eliminate(system, orderings.get(order), format).failed_at
    except kkt.PivotreeError as error:
        said = str(error)
    assert said is not None
    assert "the point mass 'b'" in said or "zero" in said or "M_k" in said
    with pytest.raises(kkt.SingularError, match="is zero"):
        kkt.eliminate(system, orderings.get("crbm"), "exact")


FOUND_ONCE = [178, 297, 1017, 1236, 1366, 1611, 2690, 2872, 2904]


@pytest.mark.parametrize(
    "seed", [*listed(FOUND_ONCE), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(60))]
)
def test_every_answer_is_as_good_as_it_says_or_refused(seed):
    """Orders in turn, three formats: right to half the digits, marked, or refused with a reason."""
    for rotors in (False, True):
        check(seed, FLOATS[:2] if seed % 4 else ["float64", "dd", "mp:30"], rotors)


def check(seed, formats, rotors):
    system = hostile_system(seed, rotors=rotors)
    names = [name for name in orderings.names() if name != "inverse_dynamics"]
    truths = {f: Truth(system, f) for f in formats}
    for name in names[seed % 3 :: 3]:
        try:
            tape = kkt.trace(system, orderings.get(name))
        except kkt.PivotreeError:
            continue
        for f in formats:
            try:
                result = kkt.eliminate(system, tape, f, records=bool(seed % 2))
            except kkt.SingularError:
                continue
            if result.failed_at is not None:
                continue
            assert not truths[f].singular, (name, f)
            unit = get_format(f).unit
            bound = max(np.sqrt(unit), 3.0 * result.error_estimate)
            assert truths[f].error(result.qdd) <= bound or result.marked
            off = truths[f].error_of_multipliers(result.lam)
            assert off <= 3.0 * np.sqrt(unit) or result.marked, (name, f)


@pytest.mark.parametrize(("seed", "name"), [(17, "lagrange"), (41, "natural")])
def test_a_wrong_lambda_is_marked_where_qdd_is_right(seed, name):
    system = hostile_system(seed, loops=1.0)
    result, truth = kkt.eliminate(system, orderings.get(name), "float32"), Truth(system, "float32")
    assert truth.error(result.qdd) < 2e-4 < 1e-3 < truth.error_of_multipliers(result.lam)
    assert "error of lambda about" in result.marked


def test_lambda_that_is_zero_is_no_loss_of_digits():
    """Of a linkage in free fall all forces are zero but for rounding: beside its weight they are."""
    pytest.importorskip("mujoco")
    tree = kkt.read_mjcf(ROOT / "tests" / "models" / "field" / "falling_pair.xml")
    system = kkt.build(tree, tau=np.zeros(7))
    for name in ("abm", "crbm"):
        result = kkt.eliminate(system, orderings.get(name), "float32")
        assert result.marked is None and len(result.lam) and np.abs(result.lam).max() < 1e-4


@pytest.mark.parametrize("records", [True, False])
def test_the_backward_error_of_balls_is_no_less_than_that_of_any_point_in_them(records):
    """The residual in rational numbers, at midpoints and at ends of the balls."""
    system = kkt.build(kkt.random_tree(4, 1))
    result = kkt.eliminate(system, orderings.get("abm"), "ball:20", records=records)
    bound = result.backward_error
    assert 0.0 < bound.normwise <= bound.componentwise < 1e-20 and result.marked is None
    K, r, _ = dense(system, entries_of(system, "ball:20"))
    balls = np.concatenate([result.pdd.ravel(), result.qdd, result.f.ravel()])
    for end in (flint.arb.mid, flint.arb.lower, flint.arb.upper):
        with flint.ctx.workprec(4000):
            x = np.array([_rational(end(y)) for y in balls], dtype=object)
        left, size = abs(K @ x - r), abs(K) @ abs(x) + abs(r)
        scale = max(abs(K) @ np.full(len(x), flint.fmpq(1))) * max(abs(x)) + max(abs(r))
        assert float(max(left) / scale) <= bound.normwise
        rows = [a / b for a, b in zip(left, size, strict=True) if b != 0]
        assert float(max(rows)) <= bound.componentwise


def _rational(ball):
    mantissa, exponent = ball.man_exp()
    return flint.fmpq(mantissa) * flint.fmpq(2) ** int(exponent)


@pytest.mark.parametrize(
    "n", [pytest.param(20, marks=pytest.mark.product), pytest.param(10_000, marks=pytest.mark.soak)]
)
def test_a_massless_link_at_the_end_of_a_long_chain_is_named(n):
    """Its joint and the last one have one axis, but for rounding; apart they are regular."""
    axis = np.array([0.6, 0.0, 0.8])
    for shift, idle in ((0.25 * axis, True), (np.array([0.3, 0.0, 0.1]), False)):
        tree = kkt.chain(n - 2)
        last = list(tree)[-1]
        tip = {"mass": 1.0, "com": (0.1, 0.2, 0.1), "inertia": np.diag([0.1, 0.2, 0.15])}
        kkt.add_body(tree, "light", last, axis=axis, mass=0.0, inertia=np.zeros((3, 3)), p=(0.3, 0.1, 0.2))
        kkt.add_body(tree, "tip", "light", axis=axis, p=shift, **tip)
        system = kkt.build(tree, 0.3 * np.sin(np.arange(n)), np.zeros(n), np.zeros(n))
        found = idle_motion(system, system.entries, 2.0**-53)
        assert (found is not None) is idle
        if found is not None:
            assert found.why.startswith("the joints of 'light', 'tip' can move against each other")
            assert not found.rates[:-2].any() and found.rates[-2] == pytest.approx(-found.rates[-1])
    assert kkt.solve_large(system).marked is None


@pytest.mark.parametrize("order", ["abm", "crbm"])
def test_a_hinge_in_front_of_a_ball_is_singular_by_every_order(order):
    """Also where rounding hides the motion of the two against each other; no order is to blame."""
    solid = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.2, 0.3, 0.4])}
    for seed in range(8):
        draw = np.random.default_rng(seed)
        tree = kkt.new_tree("wrist")
        kkt.add_body(tree, "arm", axis=draw.normal(size=3), **solid)
        hinge = {"axis": draw.normal(size=3), "p": draw.normal(size=3)}
        kkt.add_body(tree, "hinge", "arm", mass=0.0, inertia=np.zeros((3, 3)), **hinge)
        kkt.add_body(tree, "ball", "hinge", joint="spherical", **solid)
        kkt.add_body(tree, "hand", "ball", p=draw.normal(size=3), **solid)
        q = draw.normal(size=6)
        with pytest.raises(kkt.SingularError, match=r"wrist is singular: the joints? of 'hinge'"):
            kkt.eliminate(kkt.build(tree, q), orderings.get(order))
        tree.nodes["hinge"].update(solid)
        assert kkt.eliminate(kkt.build(tree, q), orderings.get(order)).marked is None


def test_a_robot_that_is_only_badly_scaled_is_not_called_singular():
    """A light base under a heavy link: ABM keeps two digits in bfloat16, CRBM's pivot is lost."""
    system = kkt.build(kkt.two_link(0.001))
    kept = kkt.eliminate(system, orderings.get("abm"), "bfloat16")
    assert kept.failed_at is None and kept.marked is None and kept.error_estimate < 0.02
    lost = kkt.eliminate(system, orderings.get("crbm"), "bfloat16")
    assert lost.failed_at == "pivot qdd_2, step 4: zero"
