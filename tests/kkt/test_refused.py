"""Refusals of kkt and of orders: what is called, and words of the one sentence.

Readers of files have tables of their own; `make refusals` says which refusals no test names.
"""

import os
from dataclasses import replace
from pathlib import Path

import flint
import gmpy2
import networkx as nx
import numpy as np
import pytest
from armature import with_terms
from helpers import every_joint
from test_arguments import ASKED, FOUND

import pivotree as pt
from pivotree import kkt, orderings
from pivotree.analysis.states.traced import TracedOrder
from pivotree.kkt.arithmetic import Custom, Mixed, get_format
from pivotree.kkt.machine.forward_dynamics import system_to_trace
from pivotree.kkt.program import BlockReader, Instruction
from pivotree.kkt.tape.derivatives import differentiated, numbers_of
from pivotree.kkt.theorem.motion import sides_of
from pivotree.kkt.theorem.ranges import ranges_of
from pivotree.papers.featherstone1983.efficiency import lagrangian
from pivotree.papers.yamane2001.recursion import joint_accelerations

TREE = kkt.chain(3)
GEARED = with_terms(kkt.chain(3), 1)
PIN = kkt.four_bar().graph["loops"]
SYSTEM = kkt.build(TREE)
FOOT = kkt.contact("j3", (0.1, 0.0, 0.0), tangents=[(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])


def fresh():
    """A system on which nothing is traced yet."""
    return kkt.build(TREE)


ABM, CRBM, TAU = map(orderings.get, ("abm", "crbm", "inverse_dynamics"))
CLOSED, OTHER = kkt.build(kkt.four_bar()), kkt.build(kkt.star(5)).structure
ROTATIONS = orderings.get("square_root_abm")
FULL = np.ones((SYSTEM.size, 1))
INERTIA = np.eye(3)


def tree_of(*bodies, **graph):
    """A chain of bodies, each given by what kkt.add_body takes beside a mass and an inertia."""
    tree, last = kkt.new_tree("t"), None
    for number, body in enumerate(bodies):
        name = body.pop("name", "abcdef"[number])
        kkt.add_body(tree, name, last, **{"mass": 1.0, "inertia": INERTIA} | body)
        last = name
    tree.graph.update(graph)
    return tree


def pin(com, axis=(0.0, 0.0, 1.0), **first):
    """A point mass on a joint, beyond a body: where com lies along the axis, nothing turns."""
    beyond = {"inertia": 0 * INERTIA, "com": com, "axis": axis, "p": (1.0, 0.0, 0.0)}
    return kkt.build(tree_of({"com": (1.0, 0.0, 0.0), **first}, beyond, q=[0.1, 0.2], tau=[0.1, 0.1]))


SKEW = {"com": (0.1, 0.2, 0.0), "axis": (0.1, 0.2, 0.0)}  # zero but for rounding


def uneven():
    """A robot with a link that weighs next to nothing between heavy ones."""
    tree = kkt.chain(3)
    for body, mass in zip(tree, (1.0, 1e-10, 1e10), strict=True):
        tree.nodes[body].update(mass=mass, inertia=tree.nodes[body]["inertia"] * mass)
    return kkt.build(tree)


def late(structure):
    """CRBM, whose updates are made when they are read."""
    return kkt.PivotSequence(CRBM(structure), "late", rules=kkt.Rules(assembly="right_looking"))


def written(name, text):
    Path(name).write_text(text)
    return name


def fifo():
    os.mkfifo("pipe.json")
    return "pipe.json"


def general(columns, **more):
    return tree_of({"joint": "general", "S": np.eye(6)[:, :columns], **more})


def same_names():
    feet = [kkt.contact("j3", (x, 0.0, 0.0), compliance=1e-3, name=n) for x, n in ((0, 1), (1, "1"))]
    return kkt.build(TREE, loops=feet)


def inverse(qdd, order, *format):
    return lambda: kkt.inverse_dynamics(SYSTEM, qdd, order, *format)


def substituted(*rows):
    return inverse(np.zeros(3), lambda structure: list(rows))


def sides(rate):
    return lambda: sides_of(SYSTEM, ranges_of(SYSTEM), rate, {})


def right(rhs, *format):
    return lambda: kkt.eliminate(SYSTEM, ABM, *format, rhs=rhs)


def changed(change, read=kkt.build):
    """What reads a chain of three in which something has been changed."""

    def call():
        tree = kkt.chain(3)
        change(tree)
        read(tree)

    return call


DAMPED = (
    "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>"
    "<limit effort='1' velocity='1'/><dynamics damping='-1'/></joint></robot>"
)
REFUSED = {
    # -- arguments of another kind
    "loop: None and lists are no names; give a text": lambda: kkt.contact([], (0, 0, 0)),
    "needs mu as its compliance, and there are none; build": lambda: kkt.eliminate(SYSTEM, ABM, proximal=3),
    "format 'exact:up': exact fractions are not rounded": lambda: kkt.eliminate(SYSTEM, ABM, "exact:up"),
    "entries (0, 1) and (1, 0) differ; give a symmetric": lambda: pt.matrix(np.triu(np.ones((2, 2)))),
    "limits is 3; give a mapping of bodies": lambda: kkt.guarantee(TREE, ABM, limits=3),
    "rates: 'fast' is no number; give one": lambda: kkt.guarantee_qdd(TREE, ABM, rates="fast"),
    "'com' is (True, 0, 0), and a truth value is no": lambda: kkt.compile_tree(
        tree_of({"com": (True, 0, 0)})
    ),
    "order 'order': groups are 3; give a list of lists": lambda: kkt.PivotSequence(3),
    "order 'order': source is 3; give a text": lambda: kkt.PivotSequence([], source=3),
    "eliminate: reference is 3; give what kkt.certify": lambda: kkt.eliminate(SYSTEM, ABM, reference=3),
    "order 3 is no function of a structure; give": inverse(np.ones(3), 3),
    "order 3 is no name; give one as a text": lambda: orderings.get(3),
    "compare: orders is 3; give a list of names": lambda: pt.compare(SYSTEM, 3),
    "top: 'x' culprits cannot be named; give at least 1": lambda: pt.blame(SYSTEM, "abm", top="x"),
    "load: spec is []; give a path, as text": lambda: kkt.load([]),
    "chain: n is 'x'; give a whole number": lambda: kkt.chain("x"),
    # -- files
    "pipe.json: cannot be read (is no plain file)": lambda: kkt.load(fifo()),
    "has the field 'name' twice in one": lambda: kkt.load(written("m.json", '{"name": "a", "name": "b"}')),
    "'dynamics damping' is -1; give zero": lambda: kkt.load(written("damped.urdf", DAMPED), dynamics=True),
    "tree: bodies form a cycle; a tree has none": lambda: kkt.write_model(
        "m.json", replace(SYSTEM.state, parent=np.array([2, 0, 1]))
    ),
    "loops: two would have one name as texts; give": lambda: kkt.write_model("m.json", same_names().state),
    "a file holds no step": lambda: kkt.write_model("m.json", kkt.build(GEARED, implicit=0.1).state),
    # -- trees
    "field 'gravity' has shape": lambda: kkt.new_tree("a", gravity=(0.0, 1.0)),
    "body 'j1': field 'joint' is 'wheel'": changed(
        lambda t: t.nodes["j1"].update(joint="wheel"), kkt.default_state
    ),
    "body 'j2': field 'wrench' has shape": changed(lambda t: t.nodes["j2"].update(wrench=[1.0, 2.0])),
    "loop 'pin': name is used twice": lambda: kkt.build(kkt.four_bar(), loops=[*PIN, *PIN]),
    "in this state, which closes the loops another way; give": lambda: kkt.build(
        TREE, loops=[replace(FOOT.having(FOOT.C[:, :1]), implied=FOOT.C[:, 1:])]
    ),
    "loop 'j1': row 0 follows": lambda: kkt.build(
        TREE, loops=[kkt.coupled_joints(TREE, "j2", "j1", 2.0), kkt.coupled_joints(TREE, "j1", "j2", 0.5)]
    ),
    "bodies 'j1' -> 'j2' -> 'j3' form a cycle": changed(lambda t: t.add_edge("j3", "j1")),
    "body 'a\\x01': field 'name' holds the control character": lambda: kkt.build(tree_of({"name": "a\x01"})),
    "body 'a': field 'mass' holds a number beyond 1.8e308": lambda: kkt.build(tree_of({"mass": 10**400})),
    "chain is given 'n' twice; give it once": lambda: kkt.from_spec("chain:3,n=4"),
    "two_link argument 'r' is nan; give a finite number": lambda: kkt.from_spec("two_link:r=nan"),
    "field 'tangents' is 'all'; give none, one or two": lambda: kkt.contact("a", (0, 0, 0), tangents="all"),
    # -- orders
    "name a function of it, as in mine.py:FUNCTION": lambda: orderings.get("mine.py"),
    "'abm': does not leave all qdd": lambda: kkt.joint_space_inertia(SYSTEM, ABM),
    "unknown body 'j22'; did you mean j2?": lambda: kkt.eliminate(SYSTEM, [[("pdd", "j22")]]),
    "order 3: its name is no text; give it another": lambda: kkt.PivotSequence([], name=3),
    "order 'order': rules are {}; give kkt.Rules": lambda: kkt.PivotSequence([], rules={}),
    "operation 'input': has no meaning in what this program is read in": lambda: BlockReader().read(
        kkt.trace(SYSTEM, ABM).program.instructions
    ),
    "operation 'along': has no meaning in": lambda: BlockReader().basis("B", Instruction("along", 1, (), -1)),
    # -- numbers
    "joint_space_inertia needs a floating-point": lambda: kkt.joint_space_inertia(SYSTEM, CRBM, "exact"),
    "'crbm': pivot qdd_b, step 3: zero; use": lambda: kkt.joint_space_inverse(pin(**SKEW), CRBM, "float32"),
    "t: only 0 digits of K^-1 B are": lambda: kkt.joint_space_inverse(pin(**SKEW), ABM, "ball:20"),
    "field 'M' of equation (4) overflows float16": lambda: TracedOrder(
        kkt.trace(kkt.build(kkt.example2()), ABM), kkt.build(kkt.example2()), "derivatives"
    ).certified(kkt.build(kkt.example2()), 10, get_format("float16")),
    "traced where rates, gravity or poses of loops were zero": lambda: numbers_of(
        differentiated(kkt.trace(SYSTEM, ABM), SYSTEM).tape,
        kkt.build(kkt.chain(3, gravity=(1.0, 0.0, -9.81))),
    ),
    "only joints of one freedom": lambda: kkt.guarantee(
        tree_of({"joint": "spherical"}), ABM, limits={"a": (0, 1)}
    ),
    "limits of body 'j1': 1 to 0 is no range; give": lambda: kkt.guarantee(TREE, ABM, limits={"j1": (1, 0)}),
    "rounds absolutely": lambda: kkt.guarantee(TREE, ABM, "q16.16"),
    "body 'j22' is unknown; did you mean j2": lambda: kkt.eliminate(SYSTEM, ABM, "float32@j22=float64"),
    "keeps no two digits": lambda: kkt.conditioning(kkt.build(kkt.example3(1e17, 2)), CRBM),
    # -- machine code
    "overflows float32": changed(
        lambda t: t.nodes["j1"].update(mass=1e39), lambda t: kkt.compile(t, ABM, "float32")
    ),
    "no tangent space": lambda: kkt.compile(every_joint(), ABM, outputs=("qdd", "dqdd_dq")),
    "overflows at 1.33e+300, a constant of the": lambda: kkt.compile(kkt.example1(m1=1e300), ABM, "float32"),
    "CUDA is written with strict": lambda: kkt.compile(TREE, ABM, relaxed=True).export_cuda("x.cu"),
    "leave friction out at body 'j1'": lambda: kkt.compile(GEARED, ABM),
    "no coordinates of its general joint": lambda: kkt.compile(general(2), ABM).coordinates(
        [0, 0, 0, 0.5, 0.5, 0.5, 0.5]
    ),
    # -- derivatives and right-hand sides
    f"'rhs' has shape ({SYSTEM.size},); give {SYSTEM.size} rows": right(FULL[:, 0]),
    f"'rhs' has shape (3, 1); give {SYSTEM.size} rows": right(FULL[:3]),
    "finite": right(FULL * np.nan),
    "rotations take the right-hand side along": lambda: kkt.joint_space_inverse(SYSTEM, ROTATIONS),
    "overflows in a right-hand side": right(FULL * 1e30, "float16"),
    "loop 'world-j9': body 'j9' is unknown": lambda: kkt.build(TREE, loops=[kkt.contact("j9", (0, 0, 0))]),
    **{
        f"{x} certified digits is no number of digits; ask for 1 to 1000000": lambda x=x: kkt.certify(
            SYSTEM, x
        )
        for x in (0, 1_000_001, 2.5)
    },
    "format 'mp:5': rounds no data; use float64": lambda: kkt.certify(SYSTEM, 9, rounded_to="mp:5"),
    # -- forms that papers have
    "serial chains": lambda: joint_accelerations(kkt.build(kkt.star(3))),
    "is no chain of joints with one freedom": lambda: lagrangian(kkt.build(kkt.star(3))),
    "or is pushed": lambda: lagrangian(kkt.build(kkt.chain(1), f_ext=np.ones((1, 6)))),
    # -- formats, and what watches them
    "unit is 2; give the unit roundoff": lambda: Custom("mine", 2, abs),
    "unit is 0.0": lambda: Custom("mine", 0.0, abs),
    "operate is 'float32'; give a function": lambda: Custom("mine", 0.1, "float32"),
    "exact cannot be mixed": lambda: Mixed("mine", get_format("exact")),
    "numbers of class 'mpc': raises TypeError": lambda: kkt.eliminate(
        SYSTEM, ABM, Custom("mute", 2.0**-53, gmpy2.mpc)
    ),
    # -- large trees
    "order 'abm' is a plan of another tree": lambda: kkt.solve_large(SYSTEM, kkt.leaf_to_root(OTHER)),
    "order 'crbm' is a plan of another tree": lambda: kkt.solve_large(SYSTEM, kkt.plan(CRBM, OTHER)),
    "and 'pin' is one; use kkt.eliminate, which takes it": lambda: kkt.solve_large(kkt.build(kkt.four_bar())),
    "equation (4) is singular to float64: the point mass 'b'": lambda: kkt.solve_large(pin((0.0, 0.0, 0.0))),
    "'virtual_work': pivot fC_j1, step 9: zero for float64": lambda: kkt.solve_large(
        uneven(), orderings.get("virtual_work")
    ),
    "order 'abm': pivot qdd_b is zero or not a number": lambda: kkt.solve_large(pin((1e-170, 0.0, 0.0))),
    "proximal: iterates by itself, and not with refine or rhs": lambda: kkt.eliminate(
        SYSTEM, ABM, proximal=3, refine=1
    ),
    "field 'S' allows every": lambda: kkt.cut_joint("j1", None, "general", S=np.eye(6)),
    "gallery: comb needs 'n'; write comb:n=... or comb:VALUE": lambda: kkt.load("comb"),
    # -- what is another thing
    "plan: Order is none; pass plan(order, system.structure)": lambda: kkt.symbolic(ABM),
    "structure: System is none; pass build(...).structure": lambda: kkt.plan(ABM, SYSTEM),
    "structure: DiGraph is none; pass build(": lambda: kkt.leaf_to_root(TREE),
    "write_model: str is no state; give a path": lambda: kkt.write_model("chain:3", "a.json"),
    "proximal: System is no loop or contact; give": lambda: kkt.softened(SYSTEM, 1e-4),
    "DiGraph is expected, not BodyTree": lambda: kkt.guarantee(kkt.compile_tree(TREE), ABM),
    "tree 'chain:3' is a name; pass load('chain": lambda: kkt.guarantee_qdd("chain:3", ABM),
    # -- inverse dynamics, ranges, compiled programs
    "contacts, and 'pin' is one": lambda: kkt.inverse_dynamics(kkt.build(kkt.four_bar()), np.zeros(3), TAU),
    "tree: a networkx.DiGraph is expected, not MultiD": lambda: kkt.build(nx.MultiDiGraph([(0, 1)])),
    "'b' is unknown; add the parent first": lambda: kkt.add_body(kkt.new_tree("t"), "a", "b", mass=1.0),
    "order: links 'bent' are unknown; use whole": lambda: SYSTEM.structure.with_links("bent"),
    "links are 'bent'; use whole": lambda: kkt.PivotSequence([], "mine", links="bent"),
    "limits: body 'j9' is unknown; use one of j1": lambda: ranges_of(SYSTEM, {"j9": (0, 1)}),
    "rates: body 'j9' is unknown; use one of j1": sides({"j9": 1.0}),
    "orders: problem is 'f'; use 'qdd' or 'tau'": lambda: orderings.names("f"),
    "state: field 'qdd' is ['x'], and a text is no number; give 3": inverse(["x"], TAU),
    "state: field 'qdd' overflows float16; use a larger range": inverse([1e9, 0, 0], TAU, "float16"),
    "row pdd_j1 needs pdd_j1, which is not known yet; put": substituted((("pdd", "j1"), ("f", "j1"))),
    "row f_j1 has no invertible block for f_j1": substituted((("f", "j1"), ("f", "j1"))),
    "tree: has no bodies; add at least one with kkt.add_body": lambda: kkt.build(kkt.new_tree("t")),
    "body 'j3': has two parents": changed(lambda t: t.add_edge("j1", "j3")),
    "body 'j1': parent 'j4' is unknown; add it with": changed(lambda t: t.add_edge("j4", "j1")),
    "body 'j4': field 'mass' is missing; give it in kg": changed(lambda t: t.add_node("j4")),
    "field 'axis' holds two parallel axes; a universal joint needs two": changed(
        lambda t: t.nodes["j3"].update(joint="universal", axis=[[1, 0, 0], [1, 0, 0]])
    ),
    "rates of body 'j1': -1 is no largest size; give 0 or more": sides({"j1": -1.0}),
    "order 'abm': solves for qdd; use orderings.get('inverse_dynamics')": inverse(np.zeros(3), ABM),
    "format 'ball:50': inverse_dynamics needs a floating-point": inverse(np.zeros(3), TAU, "ball:50"),
    "format 'exact': its rounding errors cannot be blamed": lambda: pt.blame(SYSTEM, ABM, "exact"),
    "format 'mp:50': the bound is for floating point of at most float64's digits": lambda: (
        pt.analysis.guarantee.guarantee(TREE, ["abm"], ["mp:50"], 1)
    ),
    "field 'bias' belongs to one state, and a compiled program to all": changed(
        lambda t: t.nodes["j2"].update(bias=np.ones(6)), lambda t: kkt.compile(t, ABM)
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def told_by(call):
    """The sentence of a refusal, which leaves nothing behind but what the call wrote to be read."""
    with pytest.raises((ValueError, kkt.PivotreeError)) as error:
        call()
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.product
@pytest.mark.parametrize("words", REFUSED)
def test_a_refusal_is_one_sentence(words):
    assert words in told_by(REFUSED[words])


def wrong_residual(*_):
    return {kkt.Block("pdd", "j1"): [flint.arb(1)]}


LOWERED = [  # places of limits or parts, what is put there, a call that meets it, and words
    (
        "kkt.base.reading.read_text.__defaults__",
        (1,),
        lambda: kkt.load(written("j.json", "[]")),
        "j.json: cannot be read (it is larger than 1 bytes)",
    ),
    (
        "kkt.scale.plan.LIMIT kkt.scale.plan.MOST",
        0,
        lambda: kkt.solve_large(kkt.build(kkt.chain(5))),
        "tree: has 3 kinds of bodies for this order, more than 0",
    ),
    (
        "kkt.scale.large.LOOKED_AT",
        0,
        lambda: kkt.solve_large(pin((0.8, 0.6, 0.5), (0.8, 0.6, 0.5))),
        "since a pivot is zero but for rounding; kkt.eliminate names it",
    ),
    (
        "kkt.scale.large.MOST_BODIES",
        1,
        lambda: kkt.solve_large(SYSTEM, late),
        "an order may have 1 bodies, not",
    ),
    ("kkt.tape.lowering.SLOTS", 100, lambda: kkt.trace(fresh(), ABM), "tape: needs more than 100 slots; use"),
    ("kkt.proof.certify.residual", wrong_residual, lambda: kkt.certify(SYSTEM, 5), "not satisfy row pdd_j1"),
    ("kkt.tape.lowering.LIMIT", 100, lambda: kkt.trace(fresh(), CRBM), "'crbm': needs more than 1e+02"),
    ("kkt.tape.trace.MAX_UPDATES", 1, lambda: kkt.trace(fresh(), CRBM), "on this tree, more than 1e+00; use"),
    (
        "kkt.machine.forward_dynamics.LONGEST",
        10,
        lambda: kkt.compile(kkt.star(9), CRBM),
        "operations on this tree, more than 1e+01 in one program; use an order",
    ),
    ("kkt.solution.conditioning.MOST_SWEPT", 10, lambda: kkt.conditioning(SYSTEM), "use a smaller tree"),
    ("kkt.rounding.contributions.MOST_OPERATIONS", 10, lambda: pt.blame(SYSTEM, ABM), "too many to look"),
]


@pytest.mark.parametrize(("places", "value", "call", "words"), LOWERED)
def test_a_refusal_beyond_a_limit_is_one_sentence(places, value, call, words, monkeypatch):
    for place in places.split():
        monkeypatch.setattr(f"pivotree.{place}", value)
    assert words in told_by(call)


@pytest.mark.parametrize("name", [name for name, given in ASKED.items() if "system" in given])
def test_what_is_no_system(name):
    """A tree, its arrays and a name: each sentence says what makes a system of it."""
    for given, right in (
        (TREE, "system: DiGraph is none; pass build(...) of a tree"),
        (kkt.compile_tree(TREE), "system: BodyTree is none; pass build(...) of a tree"),
        ("chain:3", "system: str is none; pass build(load(...))"),
    ):
        with pytest.raises(kkt.ModelError) as error:
            FOUND[name](**ASKED[name] | {"system": given})
        assert str(error.value) == right


@pytest.mark.parametrize("value", [np.True_, [False]])
@pytest.mark.parametrize("field", ["mass", "armature", "damping", "friction", "stiffness", "rest"])
def test_a_truth_value_is_no_number(field, value):
    tree = pt.new_tree("flag")
    pt.add_body(tree, "a", **{"mass": 1.0, field: value})
    with pytest.raises(pt.ModelError, match=f"body 'a': field '{field}' (is|has)"):
        pt.compile_tree(tree)


def test_of_several_wrong_arguments_the_first_is_told():
    """Whatever order they are given in, and whatever the hashes of names are in this process."""
    with pytest.raises(pt.ModelError, match=r"chain: n is 1\.5; give a whole number"):
        pt.chain(mass="m", length="l", axes=4, joint=3, n=1.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pt.chain(), r"chain\(\) missing 1 required positional argument: 'n'"),
        (lambda: pt.chain(3, bodies=5), r"chain\(\) got an unexpected keyword argument"),
    ],
)
def test_a_call_with_other_arguments_names_the_function(call, words):
    with pytest.raises(TypeError, match=words):
        call()


def test_a_loop_that_no_program_follows_is_told_of_what_was_called():
    turning = pt.cut_joint(None, "j3", "prismatic", baumgarte=(1.0, 1.0), rows=(0, 2))
    with pytest.warns(pt.LoopWarning):
        system = pt.build(TREE, loops=[turning])
    for what in ("compile", "to_jax"):
        with pytest.raises(pt.LoopError, match=f"^{what}: loop 'world-j3' has a gain on the turn"):
            system_to_trace(system, what=what)
