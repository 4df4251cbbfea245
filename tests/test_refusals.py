"""Refusals of functions that nothing else asks for what they refuse: one sentence each."""

from types import SimpleNamespace

import numpy as np
import pytest
from refusals import names, spoken

import pivotree as pt
from pivotree import kkt, orderings
from pivotree.analysis import complements, contact, figures
from pivotree.analysis.cli import main
from pivotree.analysis.counts import family_of
from pivotree.analysis.explorer.server import ExplorerServer
from pivotree.analysis.explorer.widget import Explorer
from pivotree.analysis.figures.kinds import kind_of
from pivotree.analysis.figures.labels import place_labels
from pivotree.kkt.matrix.ranges import ranges_of
from pivotree.kkt.model.payload import Payload, carrying
from pivotree.kkt.proof.rightsides import sides_of

TREE = kkt.chain(3)
SYSTEM = kkt.build(TREE)
FOOT = kkt.build(TREE, loops=[kkt.contact("j3", (0.1, 0.0, 0.0), name="foot")])
ABM, TAU = orderings.get("abm"), orderings.get("inverse_dynamics")


def compiled(**options):
    return lambda: kkt.compile(TREE, ABM, **options)


def substituted(*rows):
    return lambda: kkt.inverse_dynamics(SYSTEM, np.zeros(3), lambda structure: list(rows))


def changed(change, read=kkt.build):
    """What reads a chain of three in which something has been changed."""

    def call():
        tree = kkt.chain(3)
        change(tree)
        read(tree)

    return call


def arrays(**fields):
    return lambda: kkt.tree_from_arrays([-1, 0], **{"mass": 1.0, "inertia": np.eye(3)} | fields)


REFUSED = {
    "tree: field 'mass' is [[1], [1, 2]]; give 2 numbers": arrays(mass=[[1], [1, 2]]),
    "tree: a networkx.DiGraph is expected, not int": lambda: kkt.build(3),
    "body 'a': parent 'b' is unknown; add the parent first or use None": (
        lambda: kkt.add_body(kkt.new_tree("t"), "a", "b", mass=1.0)
    ),
    "payload: body 'j9' is unknown; use one of j1": lambda: carrying(TREE, [Payload("j9", 1.0)]),
    "order: links 'bent' are unknown; use whole": lambda: SYSTEM.structure.with_links("bent"),
    "links are 'bent'; use whole": lambda: kkt.PivotSequence([], "mine", links="bent"),
    "limits: body 'j9' is unknown; use one of j1": lambda: ranges_of(SYSTEM, {"j9": (0, 1)}),
    "rates: body 'j9' is unknown; use one of j1": lambda: sides_of(
        SYSTEM, ranges_of(SYSTEM), {"j9": 1.0}, {}
    ),
    "derivatives: also names 'mas'; use": lambda: kkt.derivatives(SYSTEM, ABM, also=["mas"]),
    "orders: problem is 'f'; use 'qdd' or 'tau'": lambda: orderings.names("f"),
    "body 'j9': is not in the tree; use one of": lambda: kkt.joined(TREE, "j9", None),
    # -- inverse dynamics
    "state: field 'qdd' is ['x']; give 3 numbers": lambda: kkt.inverse_dynamics(SYSTEM, ["x"], TAU),
    "state: field 'qdd' has shape (2,); give 3": lambda: kkt.inverse_dynamics(SYSTEM, [1, 2], TAU),
    "state: field 'qdd' overflows float16; use a larger range": (
        lambda: kkt.inverse_dynamics(SYSTEM, [1e9, 0, 0], TAU, "float16")
    ),
    "row pdd_j1 needs pdd_j1, which is not known yet; put it first": substituted(
        (("pdd", "j1"), ("f", "j1"))
    ),
    "row f_j1 has no invertible block for f_j1": substituted((("f", "j1"), ("f", "j1"))),
    # -- trees
    "tree: has no bodies; add at least one with kkt.add_body": lambda: kkt.build(kkt.new_tree("t")),
    "body 'j3': has two parents": changed(lambda t: t.add_edge("j1", "j3")),
    "body 'j1': parent 'j4' is unknown; add it with": changed(lambda t: t.add_edge("j4", "j1")),
    "body 'j4': field 'mass' is missing; give it in kg": changed(lambda t: t.add_node("j4")),
    "field 'axis' holds two parallel axes; a universal joint needs two": changed(
        lambda t: t.nodes["j3"].update(joint="universal", axis=[[1, 0, 0], [1, 0, 0]])
    ),
    "payload of body 'j1': from 0 to -1 kg; give finite masses": lambda: Payload("j1", -1.0),
    "payload of body 'j1': field 'at' has shape (2,)": lambda: Payload("j1", 1.0, 0.0, (0, 0)),
    "rates of body 'j1': -1 is no largest size; give 0 or more": lambda: sides_of(
        SYSTEM, ranges_of(SYSTEM), {"j1": -1.0}, {}
    ),
    "order 'abm': solves for qdd; use orderings.get('inverse_dynamics')": (
        lambda: kkt.inverse_dynamics(SYSTEM, np.zeros(3), ABM)
    ),
    "format 'ball:50': inverse_dynamics needs a floating-point format, exact": (
        lambda: kkt.inverse_dynamics(SYSTEM, np.zeros(3), TAU, "ball:50")
    ),
    "format 'exact': its rounding errors cannot be blamed": lambda: pt.blame(SYSTEM, ABM, "exact"),
    "format 'exact': the bound is for floating point of at most float64's digits": (
        lambda: kkt.guarantee(TREE, ABM, "exact")
    ),
    "format 'mp:50': the bound is for floating point of at most float64's digits": (
        lambda: pt.analysis.guarantee.guarantee(TREE, ["abm"], ["mp:50"], 1)
    ),
    "field 'bias' belongs to one state, and a compiled program to all": changed(
        lambda t: t.nodes["j2"].update(bias=np.ones(6)), lambda t: kkt.compile(t, ABM)
    ),
    "field 'bias' belongs to one state, and a compiled program to all; give": changed(
        lambda t: t.nodes["j2"].update(bias=np.ones(6)), kkt.compile_large
    ),
    "overflows float32; use a format with a larger range": changed(
        lambda t: t.nodes["j2"].update(mass=1e200), lambda t: kkt.compile(t, ABM, "float32")
    ),
    "compile: outputs is the text 'qdd'; give a tuple of names": compiled(outputs="qdd"),
    "compile: outputs is None; give a tuple of names": compiled(outputs=None),
    "compile: inputs is b'wrench'; give a tuple of names": compiled(inputs=b"wrench"),
    "bias 'inverse_dynamics' leaves pdd and f without velocities": compiled(
        bias="inverse_dynamics", outputs=("f",)
    ),
    "export: C is written with strict arithmetic; compile without relaxed": (
        lambda: kkt.compile(TREE, ABM, relaxed=True).export_c("arm.c")
    ),
    "field 'x' has shape (2,); give 3 numbers, or m x 3 for m states": (
        lambda: kkt.compile(TREE, ABM)(np.zeros(2), np.zeros(3), np.zeros(3))
    ),
    # -- machine code
    "compile: solver is 'choleski'; did you mean cholesky?": compiled(solver="choleski"),
    "compile: solver is 3; use one of": compiled(solver=3),
    "compile: bias is 'carried'; use one of": compiled(bias="carried"),
    "compile: frames is 'owned'; did you mean own?": compiled(frames="owned"),
    "compile: check is of qdd; ask for it among the outputs": compiled(check=True, outputs=("f",)),
    "compile: outputs is empty; ask for one of": compiled(outputs=()),
    "solver 'cholesky' finds qdd alone; ask for qdd": compiled(solver="cholesky", outputs=("f",)),
    "export: C has no bfloat16; compile in float64 or float32": (
        lambda: kkt.compile(TREE, ABM, "bfloat16").export_c("arm.c")
    ),
    "export: 'a\"b.c' cannot be included by a program in C": (
        lambda: kkt.compile(TREE, ABM).export_c('a"b.c')
    ),
    # -- large trees
    "kind, body and group must be integers, equally many": (
        lambda: kkt.plan_from_arrays(SYSTEM.structure, [0], [0, 1], [0])
    ),
    "block 0 is kind 9 of body 0; kinds run from 0 to": (
        lambda: kkt.plan_from_arrays(SYSTEM.structure, [9], [0], [0])
    ),
    "groups must ascend; sort the blocks by group": (
        lambda: kkt.plan_from_arrays(SYSTEM.structure, [0, 0], [0, 1], [1, 0])
    ),
    # -- contacts
    "floor: no points; give (body, (x, y, z)) for each": lambda: contact.Floor.of(TREE, []),
    "impact: law is 'newtn'; did you mean newton?": lambda: contact.impact(FOOT, law="newtn"),
    "contacts: friction names 'paw'; the contacts are 'foot'": (
        lambda: contact.impact(FOOT, friction={"paw": 1.0})
    ),
    "joint friction: body 'j9' is unknown; use one of j1": (
        lambda: contact.JointFriction.of(TREE, dry={"j9": 1.0})
    ),
    "springs: field 'relax' is 2.0; give 0 to 1": (
        lambda: contact.Springs(contact.Floor.of(TREE, [("j3", (0, 0, 0))]), relax=2.0)
    ),
    "springs: method is 'euler'; use one of": (
        lambda: contact.Springs(contact.Floor.of(TREE, [("j3", (0, 0, 0))])).run(
            np.zeros((1, 7)), 0.1, method="euler"
        )
    ),
    # -- counts, complements
    "complement: form is 'third'; use one of": lambda: complements.solve(SYSTEM, "third"),
    "family 'planer' is unknown; did you mean planar?": (lambda: family_of("planer")),
    "family 'planar+rotor': 'rotor' is unknown; write planar+": (lambda: family_of("planar+rotor")),
    # -- the explorer
    "option --port: 65536 is no port; use 0 to 65535": lambda: ExplorerServer(SYSTEM, {}, 65536),
    "Explorer: a int is no model; give a System, a tree, or a name": lambda: Explorer(3),
    # -- figures
    "figure: kind 'matrx' is unknown; did you mean matrix": (lambda: kind_of("matrx")),
    "order 'abm': has no step 9; use 0 to 3": lambda: figures.block_state(
        kkt.symbolic(kkt.plan(ABM, SYSTEM.structure)), 9
    ),
    "style 'lihgt' is unknown; use light": lambda: figures.theme(style="lihgt"),
    "font 'comic' is unknown; use stix": lambda: figures.settings("comic"),
    "width 'triple' is unknown; use single": lambda: figures.new_figure("triple", 2.0, False),
    "axes: belong to no figure; make them": lambda: place_labels(
        SimpleNamespace(get_figure=lambda root: None), [], [], [], "black"
    ),
}


@pytest.mark.parametrize("told", REFUSED)
def test_a_refusal_is_one_sentence(told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, kkt.PivotreeError)) as error:
        REFUSED[told]()
    assert told in str(error.value) and "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


CRBM = orderings.get("crbm")
LIMITS = {  # the limit that is lowered, what it then is, and a call that is beyond it
    "order 'crbm': needs more than 1e+02 operations on this tree": (
        "kkt.tape.lowering.LIMIT",
        100,
        lambda: kkt.trace(SYSTEM, CRBM),
    ),
    "pairs of blocks on this tree, more than 1e+00; use an order with less fill": (
        "kkt.tape.trace.MAX_UPDATES",
        1,
        lambda: kkt.trace(SYSTEM, CRBM),
    ),
    "operations on this tree, more than 1e+01 in one program; use an order": (
        "kkt.machine.forward_dynamics.LONGEST",
        10,
        lambda: kkt.compile(kkt.star(9), CRBM),
    ),
    "chain_3: a condition number takes": (
        "kkt.solution.conditioning.MOST",
        10,
        lambda: kkt.conditioning(SYSTEM),
    ),
    "operations are too many to blame; use an order with less fill": (
        "kkt.rounding.contributions.MOST",
        10,
        lambda: pt.blame(SYSTEM, ABM),
    ),
    "blow: sliding stops and starts more than 0 times; lower the friction": (
        "analysis.contact.laws.MOST",
        0,
        lambda: contact.poisson(np.eye(2), np.array([-1.0, 0.1]), e=0.5, mu=0.1),
    ),
}


@pytest.mark.parametrize("told", LIMITS)
def test_what_is_beyond_a_limit_is_one_sentence(told, monkeypatch):
    place, limit, call = LIMITS[told]
    monkeypatch.setattr(f"pivotree.{place}", limit)
    with pytest.raises((ValueError, kkt.PivotreeError)) as error:
        call()
    assert told in str(error.value) and "\n" not in str(error.value)


COMMANDS = {
    "option --states: leave out --frames": "compare chain:2 --states 2 --frames aligned",
    "option --states: draws its states; leave out --qd": "compare chain:2 --states 2 --qd 0,0",
    "option --armature: writes nothing; leave -o out": "report chain:2 --armature -o out",
    "option --item: belongs to one paper; name it": "reproduce all --item equations",
    "option --set: 'x' is no setting; give NAME=VALUE": ("reproduce ascher1996 --item equations --set x"),
    "option -o: page.txt is no page; give a name that ends in .md": "counts -o page.txt",
    "option -o: writes the page of all orders; leave out": "counts --orders abm -o page.md",
    "option -o: writes a page and serves none": "explore chain:2 -o page.html --port 8000",
    "figure: KIND is missing; give KIND MODEL -o FILE": "figure",
    "option --digits: formats are chosen for one": "guarantee chain:2 --digits 3 --orders crbm",
    "option --limits: 'j1' is no range; write j1=-1:1": "guarantee chain:2 --limits j1",
    "hands the work to a cluster; leave one of them out": ("sweep c.toml --jobs 2 --scheduler tcp://x"),
}


@pytest.mark.parametrize("told", COMMANDS)
def test_a_refusal_of_a_command_is_one_line(told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(COMMANDS[told].split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and told in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "sentence", "named"),
    [
        ("chain has 0 bodies", "gallery: chain has 0 bodies; ask for 1", True),
        (r"has \d bodies", "gallery: chain has 0 bodies; ask for 1", True),
        ("has 1 bodies", "gallery: chain has 0 bodies; ask for 1", False),
        ("two words|b", "gallery: chain has 0 bodies; ask for 1", False),  # one letter is found
        ("of (these", "use one of (these)", True),
    ],
)
def test_what_names_a_refusal(text, sentence, named):
    assert names(text, sentence) == named
    assert spoken("zero or") and not spoken("square_root_abm") and not spoken("j1 3")
