"""Closed forms in letters, against Kane's method of sympy and against numbers."""

import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import pivotree as pt
from pivotree import kkt
from pivotree.analysis import closed_form, letters
from pivotree.analysis.cli import main

Z, Y, X = (0, 0, 1), (0, 1, 0), (1, 0, 0)
ARMS = {  # joint and axis of each link, the first at the base
    "planar arm of two": [("revolute", Z)] * 2,
    "planar arm of three": [("revolute", Z)] * 3,
    "arm with crossed axes": [("revolute", Z), ("revolute", Y)],
    "pendulum on a cart": [("prismatic", X), ("revolute", Z)],
    "slide on an arm": [("revolute", Z), ("prismatic", X)],
}


def letters_of(k):
    return sympy.symbols(f"m{k} c{k} l{k} A{k} B{k} C{k}", positive=True)


def tree_of(links):
    tree = kkt.new_tree("arm")
    tree.graph["gravity"] = (0, -sympy.Symbol("g"), 0)
    for k, (joint, axis) in enumerate(links, 1):
        m, c, length, *J = letters_of(k)
        beside = {"com": (c, 0, 0), "inertia": sympy.diag(*J).tolist(), "p": (length, 0, 0)}
        kkt.add_body(tree, f"b{k}", f"b{k - 1}" if k > 1 else None, mass=m, joint=joint, axis=axis, **beside)
    return tree


def by_kane(links):
    """qdd by Kane's method in the same letters, with q_k and qd_k as symbols."""
    g, world, here = sympy.Symbol("g"), ReferenceFrame("N"), Point("O")
    here.set_vel(world, 0)
    frame, bodies, weights = world, [], []
    q, u = (dynamicsymbols(f"{letter}1:{len(links) + 1}") for letter in "qu")
    for k, (joint, axis) in enumerate(links, 1):
        m, c, length, *J = letters_of(k)
        along = sum(x * e for x, e in zip(axis, frame, strict=True))
        slides = joint == "prismatic"
        there = here.locatenew(f"O{k}", length * frame.x + (q[k - 1] * along if slides else 0 * along))
        carried = here.vel(world) + frame.ang_vel_in(world).cross(there.pos_from(here))
        there.set_vel(world, carried + (u[k - 1] * along if slides else 0 * along))
        own = frame if slides else frame.orientnew(f"F{k}", "Axis", (q[k - 1], along))
        if not slides:
            own.set_ang_vel(frame, u[k - 1] * along)
        centre = there.locatenew(f"C{k}", c * own.x)
        centre.v2pt_theory(there, world, own)
        bodies.append(RigidBody(f"B{k}", centre, own, m, (inertia(own, *J), centre)))
        weights.append((centre, -m * g * world.y))
        frame, here = own, there
    kane = KanesMethod(world, q, u, [x.diff() - v for x, v in zip(q, u, strict=True)])
    kane.kanes_equations(bodies, weights)
    tau = sympy.Matrix(sympy.symbols(f"tau_1:{len(links) + 1}"))
    names = {u[k - 1]: sympy.Symbol(f"qd_{k}") for k in range(1, len(links) + 1)}
    names |= {q[k - 1]: sympy.Symbol(f"q_{k}") for k in range(1, len(links) + 1)}
    return kane.mass_matrix.subs(names), (kane.forcing + tau).subs(names)


@pytest.mark.parametrize(("name", "order"), [*zip(ARMS, itertools.cycle(["crbm", "abm"]), strict=False)])
def test_letters_are_those_of_kanes_method(name, order):
    links, source = ARMS[name], random.Random(name)
    found, (M, forces) = closed_form(tree_of(links), order), by_kane(links)
    letters = sorted(set().union(M.free_symbols, forces.free_symbols), key=str)
    values = {x: source.uniform(0.5, 1.5) for x in letters}
    mass, right = (np.array(A.subs(values), dtype=float) for A in (M, forces))
    qdd = answered(found, {str(x): value for x, value in values.items()})
    np.testing.assert_allclose(qdd, np.linalg.solve(mass, right).ravel(), rtol=1e-11)
    if order == "crbm":
        np.testing.assert_allclose(np.array(found.inertia.subs(values), dtype=float), mass, rtol=1e-12)


def answered(found, values):
    """qdd by the function of Python that a closed form writes."""
    program = {}
    exec(found.to_python(), program)
    code = program["qdd"].__code__
    return program["qdd"](*(values[x] for x in code.co_varnames[: code.co_argcount]))


@pytest.mark.parametrize("spec", ["chain:3", "random_tree:n=2,seed=1,joints=universal+prismatic"])
def test_letters_are_those_of_eliminate(spec):
    """With every number of the robot put in, in a state that is drawn; long parts have names."""
    tree, source = kkt.load(spec), random.Random(spec)
    found = closed_form(tree, "abm", longest=30)
    drawn = {letter: [source.uniform(-1, 1) for _ in found.qdd] for letter in ("q", "qd", "tau")}
    values = {str(name): value for name, value in found.values.items()}
    for letter, numbers in drawn.items():
        values |= {str(x).replace("qdd", letter): value for x, value in zip(found.qdd, numbers, strict=True)}
    exact = kkt.certify(kkt.build(tree, **drawn), digits=20)
    assert exact.error(np.array(answered(found, values))) < 1e-9
    assert any(str(name).startswith("x_") for name in found.defined)


def test_the_textbooks_arm_of_two_links():
    """D_1 is the articulated inertia about the first joint (Featherstone 1983)."""
    found = closed_form(kkt.load("rr_arm"), "abm")
    m1, m2, c1, c2, J1, J2, length, q = sympy.symbols("m_1 m_2 c_1 c_2 I_1zz I_2zz l_2 q_2")
    D1, D2 = sympy.symbols("D_1 D_2")
    assert found.defined[D2] == J2 + m2 * c2**2
    coupled = (m2 * length * c2 * sympy.cos(q)) ** 2 / D2
    assert sympy.expand(found.defined[D1] - (J1 + m1 * c1**2 + m2 * length**2 - coupled)) == 0
    assert r"\frac" in found.to_latex()


def test_letters_of_two_bodies_and_of_the_model_itself_are_not_mixed_up():
    tree = kkt.new_tree("two")
    for name, parent, mass in (("a-b", None, 2.0), ("a_b", "a-b", 3.0)):
        kkt.add_body(tree, name, parent, mass=mass, com=(0.5, 0, 0), inertia=np.eye(3) / 10)
    found = closed_form(tree)
    assert found.values[sympy.Symbol("m_1")] == 2.0 and found.values[sympy.Symbol("m_2")] == 3.0
    tree.nodes["a_b"]["mass"] = sympy.Symbol("m")
    own = closed_form(tree)  # the number that stood in for m is told to nobody
    assert own.values == {} and sympy.Symbol("m") in own.defined[sympy.Symbol("D_2")].free_symbols
    tree.nodes["a_b"]["mass"] = sympy.Symbol("D_1")
    with pytest.raises(kkt.ModelError, match="D_1 has another meaning"):
        closed_form(tree)


def written(path, gravity="-g", **changed):
    """A model file of two rods in letters; each word of ``changed`` is a field of the second one."""
    flat, S = np.eye(3).tolist(), [[0], [0], [1], [0], [0], [0]]
    bodies = []
    for k, before in (("1", None), ("2", "rod1")):
        J = f"m{k}*l{k}**2/12"
        rod = {"mass": f"m{k}", "com": [f"l{k}/2", 0, 0], "inertia_com": [[0, 0, 0], [0, J, 0], [0, 0, J]]}
        place = {"name": f"rod{k}", "parent": before, "R": flat, "p": ["l1" if before else 0, 0, 0], "S": S}
        bodies.append(place | rod)
    bodies[1] |= changed
    model = {"schema": "pivotree-model/1", "gravity": [0, gravity, 0], "velocity": [0, 0], "effort": [0, 0]}
    path.write_text(json.dumps(model | {"bodies": bodies}))
    return str(path)


def test_a_model_file_in_letters_is_the_tree_in_letters(tmp_path, capsys):
    tree = kkt.new_tree("arm")
    tree.graph["gravity"] = (0, -sympy.Symbol("g"), 0)
    for k, before in (("1", None), ("2", "rod1")):
        m, length = sympy.symbols(f"m{k} l{k}")
        J, p = sympy.diag(0, *[m * length**2 / 12] * 2).tolist(), (sympy.Symbol("l1"), 0, 0)
        rod = {"mass": m, "com": (length / 2, 0, 0), "inertia": J, "p": p if before else (0, 0, 0)}
        kkt.add_body(tree, f"rod{k}", before, **rod)
    file = written(tmp_path / "arm.json")
    assert str(closed_form(file, "crbm")) == str(closed_form(tree, "crbm"))
    assert list(pt.in_letters(file).ring.own) == ["g", "l1", "l2", "m1", "m2"]
    assert main(["solve", file, "--symbolic"]) == 0
    assert capsys.readouterr().out.startswith("D_2 = l2**2*m2/3\nD_1 = l1**2*(m1/3 - ")
    assert main(["prove", file, "--orders", "abm,crbm"]) == 0
    for command in ("solve", "compare", "check", "list", "explore"):
        assert main([command, written(tmp_path / "arm.json", -9.81)]) == 2
        found = capsys.readouterr().err
        assert "arm.json: body 'rod1': field 'mass' is 'm1', and a text is no number; give numbers" in found
        assert "or read letters by pivotree solve FILE --symbolic or pivotree prove FILE --order A,B" in found
    assert main(["solve", written(tmp_path / "arm.json", mass="(m + n)*m - m**2 - m*n"), "--symbolic"]) == 2
    assert "is '(m + n)*m - m**2 - m*n', which is zero; give 0 for no mass" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (x, "is refused there")
            for x in ("m**10**9", "__import__('os')", "m.real", "f(m)", "1j", "2*inf", "1e1_0*m")
        ),
        *(
            (x, "is refused there")
            for x in ("True", "m**1.0", "m**-1", "m**11", "0X10*m", "m₁", "a\x00", "1e999")
        ),
        ("m if m else 1", "is refused there"),
        *((x, "has letters or is zero, divides") for x in ("1/0", "m/l", "1/(m-m)")),
        *((x, "is no formula; give names") for x in ("", "m1 m2", "2m", "lambda", "(" * 150)),
        *((x, "1,000 terms, or a") for x in ("((a+b+c)**9)**9", "((9**10)**10)**10", "*".join("a" * 41))),
        ("x" * 10_000_000, "has 10,000,000 characters; give at most 200"),
        ("*".join(["1e30"] * 20), "holds inf; give finite numbers"),
    ],
)
def test_a_text_that_is_no_polynomial_is_refused_in_one_sentence(tmp_path, capsys, text, told):
    for field, value in (("mass", text), ("com", [0, text, 0])):
        assert main(["solve", written(tmp_path / "arm.json", **{field: value}), "--symbolic"]) == 2
        found = capsys.readouterr().err
        assert (
            f"arm.json: body 'rod2': field {field!r} " in found and told in found and found.count("\n") == 1
        )


def test_orders_have_one_closed_form_and_a_wrong_one_fails(monkeypatch, capsys):
    assert letters.equal_forms(kkt.load("rr_arm"), ["abm", "natural"], "state") == [True, True]
    assert letters.equal_forms(kkt.load("chain:1"), ["abm", "square_root_abm", "lagrange"]) == [True]
    ring = letters.InLetters(kkt.chain(30), None, 100, None, ["abm"]).ring
    assert [x for x in ring.letters if x.startswith("1/")] == [f"1/{i}" for i in range(30)]
    held = kkt.chain(1)
    kkt.add_body(held, "tool", "j1", mass=1.0, joint="fixed")
    assert letters.equal_forms(held, ["abm", "square_root_abm", "minimum_degree"]) == [True]
    assert main(["prove", "rr_arm", "--order", "abm,crbm,minimum_degree"]) == 0
    assert "2 of 2 accelerations of rr_arm are the same" in capsys.readouterr().out
    wrong, right = iter([1, 2]), letters._accelerations
    monkeypatch.setattr(
        letters, "_accelerations", lambda *given, c=wrong: [x * k for k in [next(c)] for x in right(*given)]
    )
    assert main(["prove", "rr_arm", "--orders", "abm,crbm", "--json"]) == 1
    assert '"equal": [\n  false,\n  false\n ]' in capsys.readouterr().out
    for words, told in (
        ("prove rr_arm", "takes MODEL --order A,B of a robot"),
        ("prove rr_arm --orders abm", "'abm' is one; give two or more"),
        ("prove chain:5 --orders abm,crbm", "prove it of fewer bodies"),
    ):
        assert main(words.split()) == 2 and told in capsys.readouterr().err


def test_the_format_sympy_is_exact_in_numbers_and_in_letters():
    system = kkt.build(kkt.load("chain:2"), q=[0.3, 0.4], qd=[1, 2], tau=[3, 4])
    found, exact = (kkt.eliminate(system, "abm", name) for name in ("sympy", "exact"))
    assert [type(x) for x in found.qdd] == [sympy.Rational] * 2
    assert [Fraction(int(x.p), int(x.q)) for x in found.qdd] == list(exact.qdd)
    assert pt.eliminate(pt.matrix([[2, 1], [1, 2]]), "natural", "sympy").x[0] == 1
    robot = pt.in_letters(kkt.load("chain:2"))
    whole = pt.eliminate(robot, "crbm", "sympy")
    state = zip(("q", "qd", "tau"), ([0.3, 0.4], [1, 2], [3, 4]), strict=True)
    values = {f"{x}_{k}": value for x, pair in state for k, value in enumerate(pair, 1)}
    values |= {str(name): value for name, value in robot.values.items()}
    for name in ("qdd", "f"):
        got = [float(x.subs(values)) for x in getattr(whole, name).ravel()]
        np.testing.assert_allclose(got, getattr(exact, name).ravel().astype(float), atol=1e-9)
    with pytest.raises(kkt.FormatError, match="is in letters; use the format sympy"):
        pt.eliminate(robot, "abm", "float32")
    with pytest.raises(kkt.SizeError, match="chain_30: has 30 freedoms"):
        pt.in_letters(kkt.load("chain:30"))


def test_what_has_no_letters_is_refused(capsys):
    for model, words in (
        ("four_bar", "closed loops"),
        ("quadruped", "is a quaternion; use revolute"),
        ("random_tree:n=3,joints=spherical", "quaternion"),
        ("chain:12", "300 parts of 100 terms are not enough"),
    ):
        assert main(["solve", model, "--format", "sympy"]) == 2
        assert words in capsys.readouterr().err
    assert main(["solve", "rr_arm", "--symbolic", "--order", "crbm"]) == 0
    assert capsys.readouterr().out.startswith("M = [[I_1zz + I_2zz + ")
