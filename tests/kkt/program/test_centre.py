"""Composites by mass, centre of mass and inertia about it: the order crbm_com."""

import json

import numpy as np
import pytest
from designs import listed
from helpers import Mechanics, every_joint

from pivotree import analysis, kkt, orderings
from pivotree.analysis.cli import main

CRBM, COM = orderings.get("crbm"), orderings.get("crbm_com")


TREES = {
    "chain": lambda: kkt.chain(7),
    "two links": lambda: kkt.two_link(0.002),
    "every joint": every_joint,
    "floating": lambda: kkt.from_spec("random_tree:n=6,seed=2,joints=floating"),
    "spherical": lambda: kkt.from_spec("random_tree:n=6,seed=5,joints=spherical"),
    "humanoid": kkt.humanoid,
}


@pytest.mark.uncached
@pytest.mark.parametrize("name", listed(TREES, unmarked=3))
def test_the_inertia_is_that_of_the_bodies(name):
    """Of all three kinds of composites, in fewer operations."""
    tree = TREES[name]()
    system, H = kkt.build(tree), Mechanics(tree, tree.graph["q"], tree.graph["qd"]).inertia()
    for order in (CRBM, COM, kkt.trace(system, CRBM, "rigid")):
        assert np.abs(kkt.joint_space_inertia(system, order) - H).max() < 1e-13 * np.abs(H).max()
    exact = kkt.certify(system)
    assert exact.error(kkt.eliminate(system, COM, records=False).qdd) < 1e-11


def test_a_body_without_mass_has_no_centre():
    tree = kkt.chain(4)
    for body in ("j2", "j3"):
        tree.nodes[body].update(mass=0.0, inertia=np.zeros((3, 3)))
    tree.nodes["j3"]["inertia"] = np.diag([0.1, 0.2, 0.25])  # a rotor
    system = kkt.build(tree)
    H = kkt.joint_space_inertia(system, CRBM)
    for order in (COM, kkt.trace(system, CRBM, "rigid")):
        assert np.abs(kkt.joint_space_inertia(system, order) - H).max() < 1e-13 * np.abs(H).max()


def test_the_pivots_are_crbms_and_the_composites_are_not():
    system = kkt.build(kkt.random_tree(8, seed=3))
    plain, com = (kkt.trace(system, order) for order in (CRBM, COM))
    ten = kkt.trace(system, CRBM, "rigid")
    assert com.program.pivots == plain.program.pivots and com.program.composites == "centre"
    assert ten.flops == plain.flops < com.flops < plain.played
    found = [kkt.eliminate(system, t, "float32").qdd for t in (plain, com, ten)]
    assert len({f.tobytes() for f in found}) == 3


def test_it_is_compared_where_it_is_named_and_refused_where_it_is_not_exact(tmp_path, capsys):
    assert "crbm_com" in orderings.ORDERS and "crbm_com" not in orderings.names()
    system = kkt.build(kkt.chain(4))
    rows = analysis.compare(system, ["crbm", "crbm_com"], ["float32", "tf32", "exact"]).rows
    by = {(row.order, row.format): row for row in rows}
    assert by["crbm_com", "float32"].digits > 5 and by["crbm_com", "tf32"].digits > 1
    assert "composites 'centre'" in by["crbm_com", "exact"].failed_at
    file = tmp_path / "com.json"
    groups = [[list(block) for block in group] for group in COM(system.structure)]
    file.write_text(json.dumps({"groups": groups, "composites": "centre"}))
    again = orderings.get(str(file))
    assert kkt.trace(system, again).flops == kkt.trace(system, COM).flops
    with pytest.raises(kkt.FormatError, match="rotations are not so in dd; give it composites"):
        kkt.eliminate(system, COM, "dd")  # whose entries are doubles
    for command in (
        ["solve", "chain:3", "--order", "crbm_com", "--certify", "20"],
        ["solve", "chain:3", "--order", "crbm_com", "--format", "mp:30"],
        ["explore", "chain:3", "--orders", "crbm_com", "-o", str(tmp_path / "page.html")],
    ):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "composites" in said
    assert main(["list", "chain:3", "--order", "crbm_com"]) == 0  # formulas tell of blocks
    assert "R_k = M_k + Σ_{c ∈ children(k)} Φ_c R_c Φ_cᵀ" in capsys.readouterr().out
