"""Closed loops and contacts that are wrong or redundant are told in one sentence."""

import numpy as np
import pytest
from mechanisms import TILT, built, four_bar, rod

from pivotree import kkt, orderings


@pytest.mark.parametrize("tilt", [None, TILT])
def test_rows_that_follow_from_others_are_refused_with_those_to_keep(tilt):
    """In tilted frames no entry of such a row is zero, and only numbers show its rank."""
    tree, q, qd, loop = four_bar(1.0, tilt=tilt, rows=None)
    with pytest.raises(
        kkt.ModelError, match=r"loop 'pin': rows 0, 1, 4 follow from .* keep rows=\(2, 3\), or give"
    ):
        kkt.build(tree, q, qd, loops=[loop])
    kept = four_bar(1.0, tilt=tilt)[3]
    other = kkt.cut_joint("coupler", None, "spherical", p=kept.p[0], name="second")
    with pytest.raises(kkt.ModelError, match=r"loop 'second': row.* follow"):
        built(tree, [kept, other])
    _, _, _, three = four_bar(1.0, tilt=tilt, rows=(0, 2, 3))
    with pytest.raises(kkt.ModelError, match=r"row 0 follows .* keep rows=\(2, 3\)"):
        kkt.build(tree, q, qd, loops=[three])


def test_a_state_in_which_rows_become_dependent_is_refused_on_refresh():
    """Two links folded flat, their tip held at a point: the rows meet in one direction."""
    tree = kkt.new_tree("flat")
    kkt.add_body(tree, "a", **rod(1.0, 1.0))
    kkt.add_body(tree, "b", "a", p=(1, 0, 0), **rod(1.0, 1.0))
    loop = kkt.cut_joint("b", None, "revolute", p=(1, 0, 0), rows=(2, 3), name="tip")
    with pytest.warns(kkt.LoopWarning):
        system = kkt.build(tree, [0.3, 0.4], loops=[loop])
    with pytest.raises(kkt.ModelError, match="loop 'tip': row 2 follows"):
        system.refresh([0.3, 0.0])


CUT = {"first": "coupler", "second": "rocker", "name": "pin"}


@pytest.mark.product
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"second": "rockr"}, "loop 'pin': body 'rockr' is unknown; did you mean rocker?"),
        ({"second": "coupler"}, "loop 'pin': ties 'coupler' to itself"),
        ({"joint": "universal"}, "field 'joint' is 'universal'; cut the loop at one of"),
        ({"joint": "general"}, "field 'S' is missing"),
        ({"joint": "general", "S": np.ones((6, 2))}, "field 'S' has rank 1 and 2 columns"),
        ({"joint": "general", "S": [[1.0], [1.0, 2.0]]}, "give 6 x 1 numbers"),
        ({"joint": "general", "S": np.eye(6)[:, :2], "baumgarte": (1, 1)}, "is not known; give \\(a, 0.0\\)"),
        ({"axis": (0, 0, 0)}, "field 'axis' is zero"),
        ({"p": (1, 2)}, "field 'p' has shape \\(2,\\); give 3 numbers"),
        ({"p": (np.nan, 0, 0)}, "field 'p' holds nan; give finite numbers"),
        ({"R_second": np.ones((3, 3))}, "field 'R_second' is not a rotation"),
        ({"rows": (5,)}, "field 'rows' is \\(5,\\); give some of 0 to 4, each once"),
        ({"rows": (2, 2)}, "field 'rows' is"),
        ({"baumgarte": (-1, 0)}, "field 'baumgarte' holds -1.0; give 2 numbers, zero or more"),
        ({"compliance": -1.0}, "field 'compliance' holds -1.0; give"),
        ({"compliance": (1, 2)}, "field 'compliance' has shape \\(2,\\); give 5 numbers"),
        # of a contact
        ({"body": "rocker", "normal": (0, 0, 0)}, "its normal and 0 tangents have rank 0"),
        ({"body": "rocker", "tangents": [(0, 0, 2)]}, "its normal and 1 tangents have rank 1"),
        ({"body": "rocker", "tangents": [(1, 0)]}, "field 'tangents' has shape"),
        ({"body": "rocker", "tangents": [(1, 0, 0), (1,)]}, "field 'tangents' is"),
        ({"body": "rocker", "damping": -1.0}, "field 'damping' holds -1.0; give a number, zero or more"),
        ({"body": "rocker", "point": "tip"}, "field 'point' is 'tip'"),
    ],
)
def test_loops_that_are_wrong_are_told_in_one_sentence(given, told):
    with pytest.raises(kkt.ModelError, match=told):
        if "body" in given:
            loop = kkt.contact(**{"point": (2.5, 0, 0)} | given)
        else:
            loop = kkt.cut_joint(**CUT | given)
        kkt.build(four_bar(1.0)[0], loops=[loop])


@pytest.mark.parametrize("loops", [[1], kkt.contact("rocker", (0, 0, 0), (1, 0, 0))])
def test_loops_that_are_no_list(loops):
    with pytest.raises(kkt.ModelError, match="loops: no list is given; give one of"):
        kkt.build(four_bar(1.0)[0], loops=loops)


def test_a_ring_of_loops_closes_itself():
    """b - a, c - b and a - c add up to nothing, each pair of them being sound."""
    tree = kkt.new_tree("sliders")
    for body in "abc":
        kkt.add_body(tree, body, mass=1.0, joint="prismatic", axis=(1, 0, 0))
    ring = [kkt.contact(two, (0, 0, 0), (1, 0, 0), on=one) for one, two in ("ab", "bc", "ca")]
    for left_out in range(3):
        kkt.build(tree, loops=[loop for i, loop in enumerate(ring) if i != left_out])
    with pytest.raises(kkt.ModelError, match=r"loop 'c-a': row 0 follows from .*; leave it out"):
        kkt.build(tree, loops=ring)


def test_a_truss_is_certified_to_stand_still():
    tree = kkt.new_tree("truss")
    kkt.add_body(tree, "a", **rod(1.0, 1.0))
    kkt.add_body(tree, "b", "a", p=(1, 0, 0), **rod(1.0, 1.0))
    loop = kkt.cut_joint("b", None, "spherical", p=(1, 0, 0), compliance=(0, 0, 1), name="tip")
    with pytest.warns(kkt.LoopWarning):
        system = kkt.build(tree, [0.3, 0.9], tau=[1.0, 2.0], loops=[loop])
    assert np.abs(kkt.eliminate(system, orderings.get("abm")).qdd).max() <= 1e-14
    assert kkt.certify(system, 20).decimals() == ["0", "0"]


def test_massless_links_that_a_soft_contact_holds_are_answered():
    """Nothing has a mass, and (4) is regular: the contact takes all of tau, and gives way by it."""
    tree = kkt.new_tree("slider")
    kkt.add_body(tree, "s", mass=0.0, joint="prismatic", axis=(1, 0, 0))
    foot = kkt.contact("s", (0, 0, 0), (1, 0, 0), compliance=0.1)
    system = kkt.build(tree, tau=[2.0], loops=[foot])
    found = kkt.eliminate(system, orderings.get("lambda_first"), "exact")
    assert [float(x) for x in (*found.qdd, *found.lam)] == pytest.approx([0.2, -2.0])
    with pytest.raises(kkt.SingularError, match="where its loops are cut: the massless body 's' is on a"):
        kkt.eliminate(system, orderings.get("abm"))


def test_an_open_loop_is_warned_of():
    tree, q, _, loop = four_bar(1.0, p_second=(2.4, 0, 0))
    with pytest.warns(kkt.LoopWarning, match=r"loop 'pin' is open by 0\.08"):
        kkt.build(tree, q, loops=[loop])
