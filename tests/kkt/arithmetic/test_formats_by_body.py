"""Formats by body: float32@torso=float64, read as an emulation of its own reads it."""

import mpmath
import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.kkt.arithmetic import ADD, DIV, MUL, SUB, Binary, Mixed, get_format
from pivotree.kkt.tape.run import rounded_into, signed

ABM = orderings.get("abm")
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
    v = [mpmath.mpf(float(x)) for x in rounded_into(tape, system.entries, get_format(data))]
    for chunk in tape.chunks():
        for op, dst, a, b, step in zip(*(x.tolist() for x in chunk), strict=True):
            with mpmath.workprec(bits(by_body.get(bodies[step], rule))):
                x, y = +v[a], +v[b]
                v[dst] = {ADD: x + y, SUB: x - y, MUL: x * y, DIV: x / y if y else y}[op]
    return [float(x) for x in signed(v, tape.unknowns(system).qdd)]


@pytest.mark.product
@pytest.mark.parametrize("robot", sorted(ROBOTS))
@pytest.mark.parametrize("order", ["abm", "gain_abm"])
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


@pytest.mark.parametrize("order", ["abm", "gain_abm", "crbm", "square_root_abm"])
def test_all_bodies_alike_are_one_format(order):
    """Every operation is some body's, of these orders; the records of both are the same bits."""
    system = kkt.build(kkt.chain(4))
    every = "p20+add=float64" + "".join(f"@{k}=p20" for k in system.tree.names)
    one, other = (kkt.eliminate(system, orderings.get(order), x).qdd for x in ("p20", every))
    np.testing.assert_array_equal(one, other)


def test_what_a_body_adds_is_by_role_again():
    system = kkt.build(kkt.chain(3))
    mixed = get_format("p20@j2=p20+add=float64")
    assert isinstance(mixed.bodies[0][1], Mixed) and mixed.unit == 2.0**-20
    plain, coarse = (kkt.eliminate(system, ABM, x).qdd for x in (mixed, "p20"))
    assert (plain != coarse).any()
    made = Mixed("mine", get_format("p20"), bodies=(("j2", get_format("p20+add=float64")),))
    np.testing.assert_array_equal(plain, kkt.eliminate(system, ABM, made).qdd)


@pytest.mark.parametrize(
    "name, says",
    [
        ("float32@", "'@' is no body and format; use float32@torso=float64"),
        ("float32@torso", "'@torso' is no body and format"),
        ("@torso=float64", "has no format before @"),
        ("float32@a=p20@a=p21", "'@a=p21' is given twice"),
        ("float32@a=mp:50", "mp:50 cannot be mixed"),
        ("float32@a=floa64", "format 'floa64' is unknown"),
        ("exact@a=float32", "exact cannot be mixed"),
    ],
)
def test_bad_names_are_one_sentence(name, says):
    with pytest.raises(kkt.FormatError, match=None) as error:
        get_format(name)
    assert says in str(error.value)


def test_a_body_that_there_is_not_is_named():
    system = kkt.build(kkt.chain(3))
    with pytest.raises(kkt.FormatError, match="body 'j22' is unknown; did you mean j2"):
        kkt.eliminate(system, ABM, "float32@j22=float64")
    with pytest.raises(kkt.FormatError, match="body 'j22' is unknown"):
        kkt.guarantee(kkt.chain(3), ABM, "float32@j22=float64")
    with pytest.raises(kkt.FormatError, match="no kernel runs in it"):
        kkt.compile(kkt.chain(3), ABM, "float32@j2=float64")


def test_modes_and_widths_of_ones_own_may_stand_for_a_body():
    system = kkt.build(kkt.chain(3))
    mine = Mixed("mine", get_format("float64"), bodies=(("j1", Binary("p9", 9, rounding="zero")),))
    named = kkt.eliminate(system, ABM, "float64@j1=p9:zero").qdd
    np.testing.assert_array_equal(kkt.eliminate(system, ABM, mine).qdd, named)
