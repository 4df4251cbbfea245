"""Digits of gradients: compare and blame, held against what was not read from a float."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.comparison.gradients import DATA, FIELDS, compare_derivatives
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.matrix.entries import LETTERS, Entries

ABM = orderings.get("abm")


def tree_of(gravity=(1.0, -2.0, -9.0)):
    """Four bodies with a branch, a joint that slides, tilted gravity."""
    tree = kkt.random_tree(4, seed=5, joints="revolute")
    tree.nodes["b4"]["joint"] = "prismatic"
    tree.graph["gravity"] = gravity
    return tree


def robot(gravity=(1.0, -2.0, -9.0)):
    state = [0.3, -0.2, 0.5, 0.7], [1.0, -0.5, 0.25, 2.0], [0.3, 0.1, -0.2, 0.4]
    return kkt.build(tree_of(gravity), *state)


def rounded(system, format):
    """The same system, its entries and all that derivatives read beside them rounded."""
    cast = get_format(format).cast
    entries = Entries(*(cast(getattr(system.entries, x)).astype(float) for x in LETTERS))
    state = system.state
    own = {x: cast(getattr(state, x)).astype(float) for x in ("qd", "gravity")}
    return replace(system, entries=entries, state=replace(state, **own))


def largest(found, exact):
    return np.abs(found - exact).max() / np.abs(exact).max()


@pytest.mark.product
def test_errors_are_those_for_the_rounded_data_and_for_the_model():
    """By another order in double-double on rounded entries, and in 40 digits on the model."""
    system = robot()
    near = kkt.derivatives(rounded(system, "float32"), orderings.get("crbm"), "dd")
    true = kkt.derivatives(system, ABM, "mp:40")
    abm, crbm, data = compare_derivatives(system, ["abm", "crbm"], ["float32"])
    assert (data.order, data.operations) == (DATA, None)
    for name in FIELDS:
        own, exact, whole = (
            np.array(getattr(one, name), dtype=float)
            for one in (kkt.derivatives(system, ABM, "float32"), near, true)
        )
        assert abm.errors[name] == pytest.approx(largest(own, exact), rel=1e-6) and own.any()
        assert abm.errors_with_data[name] == pytest.approx(largest(own, whole), rel=1e-6)
        assert data.errors[name] == pytest.approx(largest(exact, whole), rel=1e-6)
    assert abm.errors != crbm.errors and min(crbm.errors.values()) > 0.0


def test_longer_formats_are_told_apart():
    """References are held to 32 digits: no format is told more, and none is cut to a double's."""
    system = kkt.build(kkt.chain(3), qd=[1.0, -0.5, 0.25])
    rows = compare_derivatives(system, ["abm"], ["mp:25", "mp:60", "dd"])
    digits = {row.format: row.digits["dq"] for row in rows if row.order == "abm"}
    assert digits["mp:25"] == 25.0 and digits["mp:60"] <= 31.92 and 28.0 < digits["dd"] < 32.0


@pytest.mark.product
@pytest.mark.parametrize("format", ["float32", None])
def test_certified_derivatives_are_those_of_another_order(format):
    """In balls by abm, and in double-double or 50 digits by base_to_tip; every kind of number."""
    system, other = robot(), orderings.get("base_to_tip")
    order = TracedOrder(kkt.trace(system, ABM), system, "derivatives")
    found = order.certified(system, 30, None if format is None else get_format(format))
    held = rounded(system, format) if format else system
    exact = kkt.derivatives(held, other, "dd" if format else "mp:50")
    for k, name in enumerate(FIELDS):
        matrix = np.array(getattr(exact, name), dtype=float)
        own = found.high[k].reshape(len(matrix), -1)
        own = own[:, 0] if name == "qdd" else own
        assert largest(own, matrix) < 1e-15


def test_a_tape_is_read_in_other_states_and_refused_where_it_cannot_be():
    system = robot()
    order = TracedOrder(kkt.trace(system, ABM), system, "derivatives")
    moved = system.refresh(q=[0.1, -0.7, 0.2, 0.4], qd=[0.3, 2.0, -1.0, 0.5], tau=np.ones(4))
    found = order.answered(get_format("float64"), order.values(moved)[None])[0]
    exact = kkt.derivatives(moved, ABM)
    assert np.array_equal(found[1], exact.dq.ravel()) and np.array_equal(found[3], exact.dtau.ravel())
    weightless = robot((0.0, 0.0, 0.0))
    with pytest.raises(kkt.OrderError, match="trace them again"):
        order.values(weightless)


# -- blame ---------------------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize("order", ["abm", "crbm", "gain_abm"])
def test_blame_explains_the_error_of_an_entry(order):
    system = robot()
    own = kkt.derivatives(system, orderings.get(order), "float32")
    near = kkt.derivatives(rounded(system, "float32"), orderings.get("virtual_work"), "dd")
    for name in FIELDS[1:]:
        x, y = (np.array(getattr(one, name), dtype=float) for one in (own, near))
        i, j = divmod(int(np.abs(x - y).argmax()), len(x))
        found = analysis.blame(system, order, "float32", name, quantity="derivatives")
        assert found.output == f"{name}[b{i + 1},b{j + 1}]"
        assert found.true_error == pytest.approx(largest(x, y), rel=1e-6)
        assert found.ratio == pytest.approx(1.0, abs=1e-6)
        assert sum(c.share for c in found.bodies) == pytest.approx(1.0, abs=1e-9)
    entry = analysis.blame(system, order, "float32", "dq[b1,b4]", quantity="derivatives")
    assert entry.output == "dq[b1,b4]" and "largest entry of dq" in entry.sentence


def test_blame_names_what_is_not_in_equation_4():
    """Rates and gravity stand beside (4); a formula that has them calls them so."""
    found = analysis.blame(robot(), "abm", "float32", "dqd", quantity="derivatives", top=400)
    text = " ".join([*(c.formula for c in found.blocks), *found.where.values()])
    assert "qd_b" in text and any(c.formula.startswith("dr - dK x") for c in found.pivots)


def test_blame_of_a_pivot_that_vanishes():
    system = kkt.build(kkt.from_spec("example3:m1=1e8,case=2"))
    found = analysis.blame(system, "crbm", "float32", quantity="derivatives")
    assert found.output.startswith("pivot ") and found.ratio is None


# -- the command line ----------------------------------------------------------------------------


@pytest.mark.product
@pytest.mark.parametrize(
    "words",
    [
        "chain:3 --derivatives --orders square_root_abm",
        "chain:5 --derivatives --orders crbm --formats e4m3",  # infinite errors
    ],
)
def test_exit_code_1_says_that_no_order_gave_an_answer(words, capsys):
    assert main(["compare", *words.split(), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"]
