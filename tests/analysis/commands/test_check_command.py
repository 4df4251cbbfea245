"""A check's digits are measured, its worst state is there, its mends keep what they say, its page is true."""

import shlex
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt, orderings
from pivotree.analysis.check import check
from pivotree.analysis.check.make import ANY, C_FILE, ORDERS
from pivotree.analysis.check.rooted import other_roots, rooted
from pivotree.analysis.check.tried import Elsewhere, Robot, Tried, search
from pivotree.analysis.check.words import Command, markdown, page
from pivotree.analysis.cli.parser import parser
from pivotree.analysis.readings.readings import of_order

PAGE = (ROOT / "docs" / "will-it-keep.md").read_text(encoding="utf-8")
LIGHT = "chain:8"  # of a program that loses digits at the tip


@cache
def found(spec=LIGHT, **asked):
    return check(kkt.load(spec), spec, **asked)


def digits(system, way):
    """Digits of a way in one state, against a certified answer for the system's own numbers."""
    qdd = kkt.eliminate(*way.traced(system), way.precision).qdd
    return -np.log10(kkt.certify(system, digits=30).error(qdd))


def test_digits_are_those_of_certified_answers():
    ours, system = found(states=20, digits=3.0), kkt.build(kkt.load(LIGHT))
    worst = kkt.build(kkt.load(LIGHT), **ours.worst_state)
    rows = ours.of("order", "program")
    for row in rows:
        way = of_order(row.order, "float32", row.frames, row.symmetry)
        assert row.here == pytest.approx(digits(system, way), abs=0.01)
        kept = digits(worst, way)
        assert row.worst <= kept + 0.01 and (row.name != ours.subject or row.worst >= kept - 0.01)
    assert ours.row(ours.subject).worst == min(row.worst for row in rows)
    assert {row.name for row in rows} == {*ORDERS, "mjx, warp, brax", "newton"} and not ours.refused
    best = ours.row(ours.best)
    assert best.worst >= max(row.worst for row in ours.of("order")) - 0.5
    assert ours.keeps == (best.worst >= 3.0) and ours.row(ANY).worst <= 7.3
    assert ours.row(C_FILE).worst <= ours.row(C_FILE).here + 0.01 <= 7.3


def test_the_search_goes_on_from_the_worst_and_finds_worse():
    robot, way = Robot(kkt.load("chain:6")), of_order("crbm", "float32")
    random = robot.random(30)
    worse = search(random, way)
    errors = worse.errors(way)
    assert errors[0] > random.errors(way).max() and (np.diff(errors) <= 0.0).all()
    assert (np.abs(worse.q) <= robot.ranges.upper).all() and (np.abs(worse.qd) <= robot.ranges.rate).all()
    qdd = kkt.eliminate(worse.system(0), orderings.get("abm")).qdd
    assert np.abs(random.truth.high - qdd).max(axis=1).min() < 0.05  # those drawn, but for short efforts


def test_what_is_proved_holds_in_the_states_that_were_tried():
    proved = found("chain:2", format="float64", states=30).row("abm").proved
    tried = Robot(kkt.load("chain:2")).random(30)
    fast = np.abs(tried.truth.high).max(axis=1) >= 9.0
    assert fast.any() and proved > 8.0
    assert (-np.log10(tried.errors(of_order("abm", "float64")))[fast] >= proved - 0.1).all()


def test_mends_are_cheapest_first_and_keep_what_they_say():
    ours = found(states=20, digits=4.5)
    enough = [mend for mend in ours.mends if mend.enough]
    assert enough and [mend.cost for mend in enough] == sorted(mend.cost for mend in enough)
    assert all(mend.enough == (mend.digits >= 4.5) for mend in ours.mends)
    assert {mend.kind for mend in ours.mends} == {"order", "frames", "symmetry", "format", "armature"}
    hard = Tried(Robot(kkt.load(LIGHT)), *(np.array([ours.worst_state[x]]) for x in ("q", "qd", "tau")))
    for mend in (mend for mend in ours.mends if mend.kind != "armature"):
        way = of_order(mend.order, mend.format, mend.frames, mend.symmetry)
        assert -np.log10(hard.errors(way)[0]) >= mend.digits - 0.01
    costs = {x.format: x.cost for x in ours.mends if (x.order, x.frames) == (ours.best, "own")}
    assert costs["float64"] == pytest.approx(costs["float32"] * 53 / 24)


def test_another_root_mends_a_robot_that_is_written_from_a_light_body_on():
    own = kkt.build(kkt.load("quadruped"), qd=np.linspace(-1.0, 1.0, 18), tau=np.linspace(2.0, -3.0, 18))
    light = rooted(own, "front_left_shank")
    before, after = (kkt.eliminate(one, orderings.get("abm")).qdd for one in (own, light))
    assert np.allclose(before[6:], np.delete(after, range(3, 9)), rtol=1e-9)  # all joints but the base
    states, way = Robot(light.graph).random(30), of_order("abm", "float32")
    kept = [-np.log10(one.errors(way).max()) for one in (states, Elsewhere(states, "trunk"))]
    assert "keeps {:.1f}\ndigits by `abm` in 30 random states, and {:.1f} once".format(*kept) in PAGE
    assert other_roots(light) == ["trunk"] and not other_roots(own) and found(states=20, digits=3.0).root


def test_another_root_keeps_loops_and_a_base_with_a_rotor_has_none():
    tree = kkt.quadruped()
    own = kkt.build(tree, loops=[kkt.contact("front_left_shank", (0.0, 0.0, -0.2))])
    before, after = (kkt.eliminate(s, orderings.get("abm")) for s in (own, rooted(own, "front_left_shank")))
    assert np.allclose(before.lam, after.lam, rtol=1e-9) and not np.allclose(before.lam, 0.0)
    tree.nodes["trunk"]["armature"] = 0.1
    with pytest.raises(kkt.ModelError, match="does not float freely"):
        rooted(kkt.build(tree), "front_left_shank")


def test_the_page_s_commands_are_commands_and_its_words_follow_the_digits():
    for asked, words in ((3.0, ": enough for 3 "), (6.9, ": not enough for"), (4.5, "but not in Newton")):
        parts = list(page(found(states=20, digits=asked), "its own", "worst.json"))
        assert words in markdown(iter(parts))
        for part in (part for part in parts if isinstance(part, Command)):
            assert part.text.startswith("pivotree ")
            parser().parse_args(shlex.split(part.text)[1:])


def test_the_worst_state_is_said_again_by_the_command_that_replays_it(run, tmp_path):
    code, out, _ = run("check", LIGHT, "--states", "15", "--digits", "4.5", "-o", tmp_path / "page.md")
    told = (tmp_path / "page.md").read_text()
    assert code == 0 and told.startswith(f"{LIGHT} in float32: ") and "| newton |" in told
    command = next(line for line in told.splitlines() if line.startswith("    pivotree blame"))
    kept = " ".join(next(x for x in told.split("\n\n") if x.startswith("Where digits")).split())
    code, out, _ = run(*shlex.split(command)[1:])
    assert code == 0 and out.split(". ")[0].replace("this state", "its worst state") in kept


def test_digits_that_fall_short_do_not_look_like_the_ones_asked():
    ours = found(states=20, digits=3.0)
    rows = tuple(replace(row, here=6.0, worst=4.97, proved=None) for row in ours.rows)
    told = markdown(page(replace(ours, digits=5.0, rows=rows), "")).partition("Digits: 5.0")[0]
    assert "not enough for 5 digits" in told and "5.0" not in told and "keeps 4.9." in told


def test_what_is_not_proved_of_abm_is_told_beside_another_best_order():
    ours = found("chain:3", format="bfloat16", states=5, digits=1.0)
    best = next(row.name for row in ours.rows if row.kind == "order" and row.name not in ("abm", "gain_abm"))
    told = markdown(page(replace(ours, best=best), ""))
    assert "Here abm has none, either: the format has too few digits for 3 bodies." in told
    assert "Proved: on these numbers as rounded, for all states" in told
    assert "those of longer formats in proportion to their bits" in told or not ours.mends


@pytest.mark.product
def test_the_page_of_docs_is_what_is_printed():
    ours = found("humanoid")
    for row in ours.rows:
        assert f"| {row.here:.1f} | {row.worst:.1f} |" in next(
            line for line in PAGE.splitlines() if line.startswith(f"| {row.name} |")
        )
    assert any(f"| {x.what} | {x.digits:.1f} |" in PAGE for x in ours.mends if x.kind == "root")
    assert next(iter(page(ours, ""))) in " ".join(PAGE.replace("> ", "").split())
