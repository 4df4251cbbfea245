"""Formats on whole tapes: the carrier against native float32, mixed, double-double, one's own."""

import gmpy2
import ml_dtypes
import mpmath
import numpy as np
import pytest
from arithmetic import operate, record, same
from designs import covering, listed
from helpers import MODELS, system_of, tape_of

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SUB, Binary, Mixed, get_format
from pivotree.kkt.rounding.contributions import linearised
from pivotree.kkt.tape.player import signed, started

ABM = orderings.get("abm")

SPECS = ["example3:m1=1e8,case=2", "example1:q1=1", "random_tree:n=5,seed=3", "quadruped"]
LARGE = 40  # bodies; above, orders that fill much are left out


@pytest.mark.parametrize(
    "spec",
    [*listed(SPECS, unmarked=1), *(pytest.param(x, marks=pytest.mark.soak) for x in [*MODELS, "humanoid"])],
)
def test_float32_on_the_carrier_is_the_processors(spec):
    """Operands and result of every operation of every order's tape, zero pivots and nan too."""
    compared = 0
    large = ("abm", "bad_abm", "modified_abm", "square_root_abm", "projected_abm", "crbm")
    for order in large if system_of(spec).tree.n > LARGE else orderings.names():
        try:
            tape = tape_of(spec, order)
        except (kkt.SingularError, kkt.OrderError):
            continue
        entries = system_of(spec).entries
        native, carried = (record(tape, entries, get_format(f)) for f in ("float32", "p24e8"))
        assert native.r.dtype == np.float32 and carried.r.dtype == np.float64
        for column in ("start", "x", "y", "r", "v"):
            assert same(getattr(native, column), getattr(carried, column)).all(), (order, column)
        compared += 1
    assert compared >= 4


def by_hand(tape, entries, start, rounding):
    """The tape, one Python operation after another; rounding(place, op, x, y) gives the result."""
    v = [float(x) for x in start]
    results = []
    for chunk in tape.chunks():
        for op, d, a, b in zip(*(c.tolist() for c in chunk[:4]), strict=True):
            v[d] = rounding(len(results), op, v[a], v[b])
            results.append(v[d])
    return np.array(results)


@pytest.mark.parametrize("name", listed(["float16", "float32:up", "p7e10", "bfloat16", "tf32", "p12:zero"]))
def test_a_tape_in_mpfr(name):
    """Every operation of a robot's tape, by MPFR with the format's precision and range."""
    format = get_format(name)
    system, tape = system_of("ur5"), tape_of("ur5", "abm")
    context = gmpy2.context(
        precision=format.precision,
        emin=format.emin - format.precision + 2,
        emax=format.emax + 1,
        subnormalize=True,
        round={"up": gmpy2.RoundUp, "zero": gmpy2.RoundToZero}.get(format.rounding, 0),
    )
    functions = (context.add, context.sub, context.mul, context.div)
    ours = record(tape, system.entries, format)
    theirs = by_hand(
        tape,
        system.entries,
        ours.start,
        lambda _, op, x, y: float(functions[op](gmpy2.mpfr(x), gmpy2.mpfr(y))),
    )
    assert same(ours.r, theirs).all()


# -- mixed formats --------------------------------------------------------------------------------

single, brain = np.float32, ml_dtypes.bfloat16


def sums_of(op, x, y):
    return x + y if op == ADD else x - y if op == SUB else x / y


def products_in_bfloat16(_, op, x, y):
    if op == MUL:
        return float(brain(brain(x).astype(single) * brain(y).astype(single)))
    return float(sums_of(op, single(x), single(y)))


def sums_in_float32(_, op, x, y):
    if op in (ADD, SUB):
        return float(sums_of(op, single(x), single(y)))
    x, y = brain(x).astype(single), brain(y).astype(single)
    return float(brain(x * y if op == MUL else x / y))


def operands_in_tf32(_, op, x, y):
    if op == MUL:
        with gmpy2.context(precision=11):
            x, y = float(gmpy2.mpfr(x)), float(gmpy2.mpfr(y))
        return float(single(x * y))
    return float(sums_of(op, single(x), single(y)))


@pytest.mark.parametrize("order", ["abm", "crbm"])
@pytest.mark.parametrize(
    "name,rounding",
    [
        ("float32+mul=bfloat16", products_in_bfloat16),
        ("bfloat16+add=float32", sums_in_float32),
        ("float32+operands=tf32", operands_in_tf32),
    ],
)
def test_mixed_formats_against_numpy_and_ml_dtypes(name, rounding, order):
    system, tape = system_of("ur5"), tape_of("ur5", order)
    ours = record(tape, system.entries, get_format(name))
    assert same(ours.r, by_hand(tape, system.entries, ours.start, rounding)).all()
    pure = record(tape, system.entries, get_format(name.partition("+")[0]))
    assert not same(ours.r, pure.r).all()


def marked(tape):
    """Operations of the program that have a number of the diagonal."""
    ends = zip(tape.program.instructions, tape.first[:-1], tape.first[1:], strict=True)
    return {instruction.op for instruction, *end in ends if tape.on_diagonal(*end).any()}


def test_the_diagonal_alone_in_float64():
    """crbm: the joint-space inertia's factor and its solves, and the sums before; no more."""
    system, tape = system_of("chain_10"), tape_of("chain_10", "crbm")
    inside = tape.on_diagonal(0, tape.length)
    assert {"factor", "solve"} <= marked(tape) and inside.mean() < 0.5
    for low in range(0, tape.length, 997):  # as chunks ask for it
        high = min(low + 997, tape.length)
        assert (tape.on_diagonal(low, high) == inside[low:high]).all()

    def rounding(place, op, x, y):
        if not inside[place]:
            x, y = single(x), single(y)
        return float(x * y if op == MUL else sums_of(op, x, y))

    ours = record(tape, system.entries, get_format("float32+D=float64"))
    assert same(ours.r, by_hand(tape, system.entries, ours.start, rounding)).all()
    assert (ours.r[inside] != ours.r[inside].astype(single)).any()
    assert (ours.r[~inside] == ours.r[~inside].astype(single)).all()


def test_d_of_modified_abm_is_projected_and_summed_in_its_own_format():
    """H M H* + H M~ H*: example 3 with H of two equal entries; M^ itself is formed in the base."""
    tape = tape_of("example3:m1=1e8,case=2", "modified_abm")
    assert {"mul", "add", "solve"} <= marked(tape)
    assert tape.on_diagonal(0, tape.length).mean() < 0.3


@pytest.mark.parametrize(
    ("name", "order"),
    covering(["float32+mul=bfloat16", "bfloat16+add=float32", "p12:stochastic"], ["crbm", "abm"]),
)
def test_recorded_operands_explain_the_whole_error(name, order):
    """What slots held, not what was rounded from it: local errors times adjoints add up."""
    system, tape, format = system_of("chain_10"), tape_of("chain_10", order), get_format(name)
    run = linearised(tape, system.entries, format)
    slot = int(tape.solution[kkt.Block("qdd", system.tree.names[0])][0, 0])
    error = run.output(slot) - run.shadowed(slot)
    assert abs(error) > 1e-5
    assert float(run.swept({slot: 1.0})[0].sum()) == pytest.approx(error, rel=1e-6)


def test_a_mixture_of_one_format_is_that_format():
    system, tape = system_of("panda"), tape_of("panda", "crbm")
    pure = record(tape, system.entries, get_format("p24e8"))
    by_body = "p24e8+add=float64" + "".join(f"@{body}=float32" for body in system.tree.names)
    for name in ("float32+mul=float32", "float32+D=float32+operands=p24e8", "p24e8+add=p24", by_body):
        assert same(record(tape, system.entries, get_format(name)).r, pure.r).all()
    double = record(tape, system.entries, get_format("float64"))
    assert same(record(tape, system.entries, get_format("float64+D=float64")).r, double.r).all()


# -- formats by body -----------------------------------------------------------------------------

ROBOTS = {
    "chain": lambda: kkt.chain(4),
    "tree": lambda: kkt.load("random_tree:n=6,seed=3"),
    "star": lambda: kkt.star(3, joint="spherical"),
}


def bits(name):
    """(p, p) of operands and results of each operation."""
    return {"p20": 20, "p24": 24, "float32": 24, "float64": 53}[name]


def emulated(system, tape, data, rule, by_body):
    """qdd by mpmath: each operation on operands rounded to its body's bits, and rounded itself.

    Step s of abm is that of the s-th body from the tips, whoever wrote the numbers that it reads.
    """
    bodies = list(system.structure.tip_to_base)
    v = [mpmath.mpf(float(x)) for x in started(tape, system.entries, get_format(data))]
    for chunk in tape.chunks():
        for op, dst, a, b, step in zip(*(x.tolist() for x in chunk), strict=True):
            with mpmath.workprec(bits(by_body.get(bodies[step], rule))):
                x, y = +v[a], +v[b]
                v[dst] = {ADD: x + y, SUB: x - y, MUL: x * y, DIV: x / y if y else y}[op]
    return [float(x) for x in signed(v, tape.unknowns(system).qdd)]


@pytest.mark.parametrize(
    ("robot", "order"), listed([("tree", "gain_abm"), ("chain", "abm"), ("star", "gain_abm")], unmarked=1)
)
def test_it_has_the_bits_of_another_emulation(robot, order):
    """p24 rather than float32, whose products may underflow: mpmath has no least number."""
    system = kkt.build(ROBOTS[robot]())
    tape, names = kkt.trace(system, orderings.get(order)), list(system.tree.names)
    chosen = {names[0]: "float64", names[-1]: "p20", names[1]: "p24"}
    name = "p24+add=p20+mul=p20+div=p20" + "".join(f"@{k}={x}" for k, x in chosen.items())
    found = kkt.eliminate(system, tape, name).qdd
    mine = emulated(system, tape, "p24", "p20", chosen)
    np.testing.assert_array_equal(found, mine)
    ignored = emulated(system, tape, "p24", "p20", {})
    other = emulated(system, tape, "p24", "p20", {names[0]: "float64"})
    assert (np.array(mine) != ignored).any() and (np.array(mine) != other).any()


def test_what_a_body_adds_is_by_role_again():
    system = kkt.build(kkt.chain(3))
    mixed = get_format("p20@j2=p20+add=float64")
    assert isinstance(mixed.bodies[0][1], Mixed) and mixed.unit == 2.0**-20
    plain, coarse = (kkt.eliminate(system, ABM, x).qdd for x in (mixed, "p20"))
    assert (plain != coarse).any()
    made = Mixed("mine", get_format("p20"), bodies=(("j2", get_format("p20+add=float64")),))
    np.testing.assert_array_equal(plain, kkt.eliminate(system, ABM, made).qdd)
    mine = Mixed("mine", get_format("float64"), bodies=(("j1", Binary("p9", 9, rounding="zero")),))
    named = kkt.eliminate(system, ABM, "float64@j1=p9:zero").qdd
    np.testing.assert_array_equal(kkt.eliminate(system, ABM, mine).qdd, named)


# -- double-double --------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "sqrt"])
def test_double_double_operations(operation):
    """Within 2^-104 of the exact result of pairs, by fractions of 250 digits."""
    rng, count = np.random.default_rng(9), 2000
    high = np.ldexp(rng.random((2, count)) + 0.5, rng.integers(-60, 60, (2, count)))
    low = high * (rng.random((2, count)) - 0.5) * 2.0**-53
    x, y = high + 1j * low
    if operation != "sqrt":
        x = x * rng.choice([-1, 1], count)
    format = get_format("dd")
    ours = operate(format, operation, x, y)
    with mpmath.workdps(250):
        for r, u, w in zip(ours, x, y, strict=True):
            u, w, r = (mpmath.mpf(z.real) + mpmath.mpf(z.imag) for z in (u, w, r))
            exact = {"add": u + w, "sub": u - w, "mul": u * w, "div": u / w, "sqrt": mpmath.sqrt(abs(u))}[
                operation
            ]
            assert abs(r - exact) <= abs(exact) * format.unit
    assert operate(format, "sqrt", np.zeros(1, complex), np.zeros(1, complex))[0] == 0.0


@pytest.mark.parametrize("spec", listed(["ur5", "panda"], unmarked=1))
def test_double_double_keeps_30_digits(spec):
    system = system_of(spec)
    exact = kkt.certify(system, 45, rounded_to="dd", order=tape_of(spec, "abm"))
    result = kkt.eliminate(system, tape_of(spec, "abm"), "dd")
    assert result.failed_at is None and result.format == "dd"
    assert exact.error(result.qdd) < 1e-30
    inertia = kkt.joint_space_inertia(system, orderings.get("crbm"), "dd")
    plain = kkt.joint_space_inertia(system, orderings.get("crbm"))
    assert abs(inertia.astype(float) - plain).max() <= 1e-13 * abs(plain).max()


@pytest.mark.uncached
def test_double_double_names_an_overflow_and_goes_back_by_inverse_dynamics():
    beyond = system_of("example3:m1=1e305,case=2")  # products overflow
    result = kkt.eliminate(beyond, orderings.get("crbm"), "dd")
    assert result.failed_at and "not a number" in result.failed_at
    # pairs may have a gap: m2 + m1 - m1 is m2, where float64 has lost it
    heavy = kkt.build(kkt.example3(2.0**133, 1))
    assert kkt.eliminate(heavy, orderings.get("crbm"), "dd").failed_at is None
    assert "zero" in kkt.eliminate(heavy, orderings.get("crbm")).failed_at
    system = system_of("ur5")
    qdd = kkt.eliminate(system, tape_of("ur5", "abm")).qdd
    there = kkt.inverse_dynamics(system, qdd, orderings.get("inverse_dynamics"), "dd").tau
    assert abs(there.astype(float) - system.entries.tau).max() <= 1e-12 * 1e3
