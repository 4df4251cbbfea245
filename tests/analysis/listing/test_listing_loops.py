"""Listings with closed loops and contacts: where lambda stands, and that its lines are right.

Scripts are run as they are written, but for the line that gives qdd back, and what they call qdd,
pdd, f and lam is held against the unknowns of the matrix that have these names.
"""

import numpy as np
import pytest
from designs import covering
from listed import arguments, function_of, lines_of, printed_by

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.cli import main

ORDERS = orderings.names(loops=True)


def mechanism(name, mu=None):
    """A model of the gallery, its loops soft where ``mu`` is given."""
    tree = kkt.load(name)
    loops = tree.graph["loops"]
    return kkt.build(tree, loops=loops if mu is None else kkt.softened(loops, mu))


def found(system, order):
    """All that the script of a listing makes, by name."""
    script = function_of(listing.render(listing.of(system, order, "ascher"), "python"), whole=True)
    ties, matrix, at = system.structure.ties, system.matrix.toarray(), system.blocks
    G = {
        (c, k): matrix[at["lam", tie.name], at["pdd", system.structure.names[k]]]
        for c, tie in enumerate(ties)
        for k in tie.bodies
    }
    given = [-system.rhs[at["lam", tie.name]] for tie in ties]
    soft = [-matrix[at["lam", tie.name], at["lam", tie.name]] for tie in ties]
    more = [soft] if any(tie.compliant for tie in ties) else []
    return script(*arguments(system), G, given, *more)


def agrees(system, order, tolerance=1e-11):
    """Whether what the script calls lam, qdd, pdd and f are the matrix's; the names it had."""
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    made, met = found(system, order), set()
    places = {kind: [] for kind in ("lam", "qdd", "pdd", "f")}
    for block, at in system.blocks.items():
        places[block.kind].append(at)
    n, names = system.tree.n, system.structure.names
    count = len(made["N"]) - len(system.structure.ties)  # with pieces and carriers of bodies
    for kind in places:
        for k, value in (made[kind] if isinstance(made.get(kind), dict) else {}).items():
            if kind != "lam" and k >= n:
                continue
            body = system.structure.constraints[k - count] if kind == "lam" else names[k]
            right = x[system.blocks[kind, body]]
            scale = max(np.abs(x[at]).max(initial=0.0) for at in places[kind])
            assert np.abs(np.ravel(value) - right).max(initial=0.0) <= tolerance * scale, (kind, k)
            met.add(kind)
    assert {"lam", "qdd"} <= met
    return met


@pytest.mark.parametrize(
    ("order", "model"), covering(ORDERS, ["four_bar", "gripper", "soft gripper", "delta"])
)
def test_what_the_lines_find_are_the_unknowns_of_the_matrix(order, model):
    soft = model.startswith("soft ")
    agrees(mechanism(model.removeprefix("soft "), 1e-2 if soft else None), order, 1e-8)


@pytest.mark.product
@pytest.mark.parametrize("order", ["lambda_first", "lcaba", "closed_early", "square_root_abm"])
def test_wherever_lambda_stands_on_many_feet(order):
    agrees(mechanism("quadruped:feet=4"), order, 1e-9)


def test_lambda_is_a_step_of_the_recursion():
    """Abm, multipliers last: rows carried to the base, mobility summed, and the way back."""
    one = listing.of(mechanism("quadruped:feet=4"), "abm")
    lines = lines_of(one)
    assert "W_kj = G_jkᵀ [k ∈ tied(j)] + Σ_{c ∈ toward(k,j)} X_cᵀ Z_jc   for j ∈ held(k)" in lines
    assert "Λ_k = Δ_k⁻¹ (δ_k - Σ_{c ∈ later(k)} Δ_kc Λ_c)" in lines
    assert lines.index("for k in loops:") < lines.index("for k in loops, last to first:")
    assert "13 is front_left_shank" in listing.render(one)


def test_lambda_first_adds_the_stiffness_to_the_inertia():
    across = [(1, 0, 0), (0, 1, 0)]
    tip = kkt.contact("j2", (0, 0, 0.1), (0, 0, 1), across, compliance=1e-3, name="tip")
    system = kkt.build(kkt.chain(2), loops=[tip])
    lines = lines_of(listing.of(system, "lambda_first_abm", "ascher"))
    stiff = "M^_k = M_k + Σ_{c ∈ ties(k)} G_ckᵀ ε_c⁻¹ G_ck + Σ_{c ∈ children(k)} Φ_c (M^_c - U_c"
    assert any(line.startswith(stiff) for line in lines)
    assert "Λ_k = ε_k⁻¹ (γ_k + Σ_{c ∈ tied(k)} G_kc p¨_c)" in lines
    agrees(system, "lambda_first_abm", 1e-9)


def test_a_body_and_a_loop_of_one_name_are_two_things():
    tree = kkt.chain(3)
    agrees(kkt.build(tree, loops=[kkt.contact("j3", (0, 0, 0.1), (0, 1, 0), name="j3")]), "abm")


def test_coupled_joints_have_rows_on_the_bodies_beside_them():
    tree = kkt.chain(4)
    agrees(kkt.build(tree, loops=[kkt.coupled_joints(tree, "j4", "j2", -0.5)]), "crbm")


def test_the_file_runs_by_itself(tmp_path, capsys):
    path = tmp_path / "listed.py"
    command = ["list", "quadruped", "--contact", "front_left_shank", "--compliance", "1e-3"]
    assert main([*command, "--order", "lambda_first", "--python", "-o", str(path)]) == 0
    tree = kkt.load("quadruped")
    foot = kkt.contact("front_left_shank", (0, 0, 0), (0, 0, 1), [(1, 0, 0), (0, 1, 0)], compliance=1e-3)
    system = kkt.build(tree, loops=[foot])
    wanted = kkt.eliminate(system, orderings.get("abm")).qdd
    assert np.abs(printed_by(path) - wanted).max() <= 1e-6 * np.abs(wanted).max()
    with pytest.raises(ValueError, match="other loops and contacts"):
        n = system.tree.n
        function_of(path.read_text())(*arguments(system), {(0, n - 1): np.zeros((3, 6))}, [], [])


def test_rotations_find_all_multipliers_in_one_step():
    """Rows of every joint on lambda, rotated into one triangle; forces of all loops as one."""
    lines = lines_of(listing.of(mechanism("quadruped:feet=4"), "square_root_abm", "ascher"))
    at = lines.index("for all loops together, k = 13:")
    assert lines[at + 1].startswith("Δ^_k = merge(set(quotient(stack[forward(D_c, Q_cd)ᵀ for d ∈")
    assert "Δ_k = triangle(Δ^_k)" in lines and "Λ_j = Λ^_k[lam_j]   for j ∈ loops" in lines
    assert "P_kj = Σ_{c ∈ toward(k,j)} Φ_c P¯_cj   for j ∈ held(k)   if k has children" in lines
    assert "loops: all loops and contacts." in lines and not any("J1" in line for line in lines)


@pytest.mark.parametrize("style", ["--latex", "--pseudocode"])
def test_other_styles_tell_of_loops(style, capsys):
    assert main(["list", "four_bar", style]) == 0
    text = capsys.readouterr().out
    assert "in loops" in text and "3 is pin" in text
