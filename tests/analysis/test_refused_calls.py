"""Refusals of analysis that only a program meets, or surroundings that are made: by their words."""

from importlib import import_module

import numpy as np
import pytest
import sympy as sp
from designs import listed
from helpers import one_sentence

from pivotree import closed_form, kkt, matrix, orderings
from pivotree.analysis import (
    blame,
    compare,
    contact,
    figures,
    gradients,
    inertia,
    listing,
    processes,
    readings,
)
from pivotree.analysis.algebra.algebra import Algebra, one, polynomial
from pivotree.analysis.check.rooted import rooted
from pivotree.analysis.cli import main
from pivotree.analysis.comparison import compare_derivatives
from pivotree.analysis.counts import family_of
from pivotree.analysis.explorer import embedded, explorer_data
from pivotree.analysis.explorer.widget import Explorer
from pivotree.analysis.figures import kinds
from pivotree.analysis.guarantee import guarantee
from pivotree.analysis.letters import InLetters, equal_forms
from pivotree.analysis.proofs import fields
from pivotree.analysis.report import robot_report
from pivotree.analysis.simulation import Integration, Motion, side_by_side, simulate
from pivotree.analysis.sweep import read_config, sweep
from pivotree.papers.cloutier1995 import complements
from pivotree.papers.cloutier1995.floor import Floor, Springs

TREE = kkt.chain(3)
SYSTEM = kkt.build(TREE)
FOOT = kkt.build(TREE, loops=[kkt.contact("j3", (0.1, 0.0, 0.0), name="foot")])
ABM, RK45 = orderings.get("abm"), Integration(1.0, integrator="RK45")
HARD = kkt.build(kkt.load("example3:m1=1e8"), qd=[1.0, 1.0], loops=[kkt.contact(2, (0, 0, 0))])
TURNED = np.array([[1.0, 1.0, -0.5], [1.0, 4.0, 0.0], [-0.5, 0.0, 1.0]])
BRACKETS = [[(kind, k) for kind in ("pdd", "qdd", "f")] for k in ("j3", "j2", "j1")]
ROTATED = kkt.PivotSequence(
    [[(kind, k) for kind in ("pdd", "qdd", "f")] for k in ("j3", "j4", "j2", "j1")],
    rules=kkt.Rules(elimination="orthogonal"),
)
MINE = kkt.PivotSequence(BRACKETS, "mine", composites="rigid")
RING = InLetters(kkt.chain(1), None, 9, None, ["abm"]).ring
A, M = sp.MatrixSymbol("A", 2, 2), sp.Symbol("m")
BLOCKS = matrix(np.eye(200))


def heavy(mass, S=None, **terms):
    """A body of any mass on a revolute joint, or on a general one that S (1, 6) moves."""
    tree = kkt.new_tree("heavy")
    joint = {} if S is None else {"joint": "general", "S": S.T}
    kkt.add_body(tree, "b", mass=mass, inertia=np.eye(3), **joint, **terms)
    return tree


def letters():
    algebra = Algebra()
    algebra.letter("A", (2, 2))
    algebra.letter("A", (3, 3))


def floor(**options):
    return Floor.of(TREE, [("j3", (0.0, 0.0, 0.0))], **options)


def special():
    """A placement in letters that is zero for the number that first stands for the letter."""
    tree = kkt.chain(2)
    tree.nodes["j2"]["p"] = np.array([sp.Symbol("l") - sp.Rational(7, 10), 0, 0], dtype=object)
    return tree


def worked():
    tree = kkt.chain(1, joint="spherical")
    tau = np.ones(3)
    motion = Motion(tree, kkt.compile(tree, ABM), tau, None)
    motion.work(motion.start()[None])


REFUSED = {
    "use elimination 'gauss', whose groups are told": lambda: listing.of(kkt.build(kkt.star(3)), ROTATED),
    "closed form: longest is 0; give 1 term or more": lambda: closed_form(TREE, longest=0),
    "an entry of Phi is 0 in the model's numbers, and": lambda: closed_form(special()),
    "closed form: the order divides by more than 1 pivots": (
        lambda: list(map(RING.inverse, RING.context.gens()))
    ),
    # -- algebra and proofs
    "letter 'A': stands for a block of shape (2, 2) already": letters,
    "2x2 + 3x3: blocks do not fit": lambda: one(2) + one(3),
    "formula holds HadamardProduct, which is no": lambda: polynomial(sp.HadamardProduct(A, A), Algebra(), {}),
    "HadamardProduct, which is no operation on": lambda: fields.Field.value(None, sp.HadamardProduct(A, A)),
    # -- forms of M, complements, gradients
    "format 'float16': columns are found in float64 or": (lambda: inertia.columns(SYSTEM, "float16")),
    "format 'exact': a preconditioner needs a": lambda: gradients.preconditioner(SYSTEM, format="exact"),
    "closed form: letters is 'x'; leave it out, or use": lambda: closed_form(TREE, ABM, "x"),
    "armature, damping and springs have no": lambda: closed_form(heavy(1, damping=1.0), ABM),
    "turns by more than its q; scale its S": lambda: closed_form(heavy(1.0, 2.0 * np.eye(6)[:1]), ABM),
    "sin(m) is no polynomial; give polynomials in letters": lambda: closed_form(heavy(sp.sin(M)), ABM),
    "field 'mass' is I*m; give real numbers up to 1.8e308": lambda: closed_form(heavy(sp.I * M), ABM),
    # -- contact
    "floor: field 'normal' is zero; give a direction": lambda: floor(normal=(0, 0, 0)),
    "Newton's law with this": lambda: contact.newton(TURNED, np.array([-1.0, 100.0, 100.0]), 0.0, 4.0),
    "blow: A is not positive": lambda: contact.poisson(np.ones((2, 2)), np.array([-1.0, 1.0]), 0.5, 0.1),
    "contacts: order 'crbm' in float32": lambda: contact.impact(HARD, order="crbm", format="float32"),
    "format 'exact': contacts need a floating-point format": (lambda: contact.impact(SYSTEM, format="exact")),
    "springs: stiffness is 0.0; give a number above": lambda: Springs(floor()).start([0] * 3, [0] * 3, [0.0]),
    # -- counts, listings
    "style 'html' is unknown; use text": (lambda: listing.render(listing.of(SYSTEM, "abm"), "html")),
    "compare: a matrix has no inertias; leave composites": lambda: compare(BLOCKS, composites="rigid"),
    "compare: a matrix takes orders and formats": lambda: compare(BLOCKS, refine=1),
    "has 200 blocks, and the page draws 150; give pt.matrix larger": lambda: explorer_data(BLOCKS, "m"),
    "quantity 'f': a matrix has x alone; leave it out": lambda: blame(BLOCKS, "natural", quantity="f"),
    "system: this asks for a robot;": lambda: gradients.solve(BLOCKS),
    "this asks for a robot; a matrix of one's": lambda: inertia.solve(BLOCKS),
    "asks for a robot; a matrix of one's own": lambda: contact.impact(BLOCKS),
    "for a robot; a matrix of one's own is": lambda: compare_derivatives(BLOCKS),
    "figure: has no picture; give one step or order": lambda: figures.compare_orders([]),
    "equal forms: no order is given; name two": lambda: equal_forms(TREE, []),
    "tree: a networkx.DiGraph is expected, not Matrix": lambda: simulate(BLOCKS),
    "its root does not float freely, so that no other": lambda: rooted(SYSTEM, "j2"),
    # -- the explorer
    "order 'mine': has composites of ten": lambda: explorer_data(SYSTEM, "chain:3", [MINE], ["float32"]),
    "scene 9 is unknown; use 1 to 7, or None": lambda: embedded("chain:3", scene=9),
    # -- figures
    # -- listings and blame
    "top: 0 culprits cannot be named; give at least 1": lambda: blame(SYSTEM, ABM, top=0),
    "top: True culprits cannot be named; give at least 1": lambda: blame(SYSTEM, ABM, top=True),
    "output \"('j', 1)\"": lambda: blame(SYSTEM, "abm", output=("j", 1)),
    "order: none": lambda: compare(SYSTEM, []),
    "order 'abm' is asked for twice; give each": lambda: guarantee(TREE, ["abm", "abm"], ["float32"], 1),
    "format 'tf32' is asked for twice": lambda: guarantee(TREE, ["abm"], ["tf32", "tf32"], 1),
    "reading 'mjx' is asked for twice": lambda: readings.compare_as(SYSTEM, ["mjx", "mjx"]),
    "order 'crbm' is asked for twice": lambda: explorer_data(SYSTEM, orders=["crbm", "crbm"]),
    "format 'float32' is asked for twice": lambda: explorer_data(SYSTEM, formats=["float32", "float32"]),
    # -- motions, states, reports
    "format: none": lambda: robot_report(TREE, "m", formats=[]),
    "--seed: -1 is no seed; give a whole number": lambda: simulate(TREE, "abm", seed=-1),
    "integrator: RK45 takes one motion; use cash_karp": (
        lambda: side_by_side([Motion.of(TREE, ABM)] * 2, [np.zeros(6)] * 2, "float64", RK45, 1)
    ),
    "--seed: -1 is negative; use 0 or more": lambda: guarantee(TREE, ["abm"], ["float32"], 1, -1),
    "--states: True is no number of states": lambda: robot_report(TREE, "c", states=True),
    "--seed: True is no seed": lambda: robot_report(TREE, "c", seed=True),
    "--digits: True is out of range": lambda: robot_report(TREE, "c", digits=True),
    "field 'tau' drives a spherical joint, whose work is": worked,
    "floor: no points; give (body, (x, y, z)) for each": lambda: Floor.of(TREE, []),
    "impact: law is 'newtn'; did you mean newton?": lambda: contact.impact(FOOT, law="newtn"),
    "contacts: friction names 'paw'; the contacts are": lambda: contact.impact(FOOT, friction={"paw": 1.0}),
    "springs: field 'relax' is 2.0; give 0": lambda: Springs(floor(), relax=2.0),
    "method is 'euler'; use one of": lambda: Springs(floor()).run(np.zeros((1, 7)), 0.1, method="euler"),
    "the natural orthogonal complement: takes trees without": lambda: complements.Complement.of(FOOT),
    "conjugate gradients: takes trees without closed loops": lambda: gradients.solve(FOOT),
    "format 'mp:30': conjugate gradients run in float64": lambda: gradients.solve(SYSTEM, "mp:30"),
    "order 'abn' is unknown; nearest": lambda: gradients.solve(SYSTEM, preconditioner="abn"),
    "family 'planer' is unknown; did you mean planar?": (lambda: family_of("planer")),
    "family 'planar+rotor': 'rotor' is unknown; write planar+": (lambda: family_of("planar+rotor")),
    "Explorer: a int is no model; give a System, a tree, or a name": lambda: Explorer(3),
    "figure: kind 'order' is unknown; did you mean orders": (lambda: kinds.kind_of("order")),
    "has no step 9; use 0": lambda: figures.block_state(kkt.symbolic(kkt.plan(ABM, SYSTEM.structure)), 9),
    "style 'lihgt' is unknown; use light": lambda: figures.theme(style="lihgt"),
    "font 'comic' is unknown; use stix": lambda: figures.settings("comic"),
    "width 'triple' is unknown; use single": lambda: figures.new_figure("triple", 2.0),
}


@pytest.mark.parametrize("told", listed(REFUSED))
def test_a_refusal_is_one_sentence(told):
    with one_sentence((ValueError, TypeError, kkt.PivotreeError), told=told):
        REFUSED[told]()


def raising(error):
    def call(*_, **__):
        raise error

    return call


def killed():
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    return TerminatedWorkerError("killed")


MADE = {  # what is changed, to what, and the call that then is refused
    "impact: points still come nearer after 0 blows; lower the friction": (
        "contact.impacts.MOST",
        0,
        lambda: contact.impacts._one_by_one(np.eye(2), -np.ones(2), np.arange(2), [0] * 2, [0] * 2, "newton"),
    ),
    "table: 9 blocks are more than 3, too many for a dense table": (
        "figures.state._LIMIT",
        3,
        lambda: figures.block_state(kkt.symbolic(kkt.plan(ABM, SYSTEM.structure)), 0).table(),
    ),
    "workers: processes were killed 3 times before a result": (
        "processes._gathered",
        lambda *_: raising(killed())(),
        lambda: list(processes.elsewhere(str, iter([1]), 2)),
    ),
    "blow: sliding stops and starts more than 0 times; lower the friction": (
        "contact.laws.MOST",
        0,
        lambda: contact.poisson(np.eye(2), np.array([-1.0, 0.1]), e=0.5, mu=0.1),
    ),
}


@pytest.mark.parametrize("told", MADE)
def test_a_refusal_of_surroundings_is_one_sentence(told, monkeypatch):
    place, value, call = MADE[told]
    room, _, name = place.rpartition(".")
    monkeypatch.setattr(import_module(f"pivotree.analysis.{room}"), name, value)
    with one_sentence((ValueError, kkt.PivotreeError), told=told):
        call()


def test_a_sweep_over_a_robot_without_an_answer_says_why_in_its_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tree = kkt.new_tree("light")
    kkt.add_body(tree, "tip", mass=0.0)
    kkt.write_model("light.json", kkt.build(tree).state)
    kinds.Path("c.toml").write_text('output = "s.csv"\nmodels = ["light.json"]\norders = ["abm"]')
    assert sweep(read_config(kinds.Path("c.toml")), jobs=1).failed == 2
    assert "no link has a mass; give each link that a joint moves" in kinds.Path("s.csv").read_text()


def test_a_setting_with_which_an_item_ends_in_an_error_of_arithmetic(monkeypatch, capsys):
    monkeypatch.setattr("pivotree.papers.paper.Item.measure", raising(ZeroDivisionError("by zero")))
    asked_for = ["reproduce", "ascher1996", "--item", "links", "--set", "most=4"]
    assert main(asked_for) == 2
    told = "links cannot be measured with most=4 (ZeroDivisionError: by zero); give values"
    assert told in capsys.readouterr().err
