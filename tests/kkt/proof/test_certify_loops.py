"""Certified accelerations and multipliers of loops and contacts, beside FLINT's dense solution."""

import json

import flint
import numpy as np
import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.simulation import closed

CLOSED = ("four_bar", "stewart", "delta", "gripper")
SPECS = (*CLOSED, *(f"quadruped:feet={feet}" for feet in range(1, 5)))


def moving(spec):
    """In a random motion that keeps the loops, under random efforts."""
    tree = kkt.from_spec(spec)
    N, draw = int(kkt.compile_tree(tree).offset[-1]), np.random.default_rng(len(spec))
    tree = closed(tree, qd=draw.normal(size=N), project=True)
    return kkt.build(tree, tau=5.0 * draw.normal(size=N))


def dense(system):
    """All unknowns by arb_mat.solve on the whole matrix of (4), entries as doubles."""
    rows = [[flint.arb(float(x)) for x in row] for row in system.matrix.toarray()]
    right = [[flint.arb(float(x))] for x in system.rhs]
    return flint.arb_mat(rows).solve(flint.arb_mat(right), algorithm="lu")


@pytest.mark.product
@pytest.mark.parametrize("spec", SPECS)
def test_fifty_digits_of_qdd_and_lambda_are_those_of_the_whole_matrix(spec):
    system = moving(spec)
    found = kkt.certify(system, 50, rounded_to="float64")
    assert found.digits == 50 and len(found.lam) == len(system.entries.gamma)
    with flint.ctx.workprec(found.bits):
        x = dense(system)
        kinds = {"qdd": system.tree.names, "lam": system.structure.constraints}
        for kind, names in kinds.items():
            unknowns = [
                (ball, x[i, 0])
                for name in names
                if (kind, name) in found.solution
                for ball, i in zip(
                    found.solution[kind, name],
                    range(*system.blocks[kind, name].indices(len(system.rhs))),
                    strict=True,
                )
            ]
            size = max(abs(float(ball.mid())) for ball, _ in unknowns)
            for ball, same in unknowns:
                assert ball.overlaps(same)
                assert float(ball.rad()) <= 1e-50 * size and float(same.rad()) <= 1e-40 * size
    lam = np.array([float(ball) for ball in found.lam])
    ours = kkt.eliminate(system, orderings.get("abm")).lam
    assert np.abs(ours - lam).max() <= 1e-10 * np.abs(lam).max()


def test_a_multiplier_that_carries_nothing_is_certified():
    """Symmetric: the coupling of two equal pendulums side by side has no effort."""
    tree = kkt.new_tree("pendulums")
    for name in "ab":
        rod = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": np.eye(3)}
        kkt.add_body(tree, name, axis=(0, 1, 0), **rod)
    tree.graph["loops"] = [kkt.coupled_joints(tree, "b", "a", 1.0)]
    found = kkt.certify(kkt.build(tree, [0.3, 0.3]), 50)
    assert len(found.lam) == 1 and abs(float(found.lam[0])) < 1e-50


def test_solve_prints_the_balls_of_multipliers(capsys):
    assert main(["solve", "four_bar", "--certify", "50", "--json"]) == 0
    balls = json.loads(capsys.readouterr().out)["lam_balls"]
    assert len(balls) == 2 and all(len(ball["mid"].strip("-").split("e")[0]) > 50 for ball in balls)
    assert main(["solve", "four_bar", "--certify", "20"]) == 0
    out = capsys.readouterr().out
    assert "\nlam pin[1]\t" in out and "20 digits of every qdd and lambda proved by abm" in out
