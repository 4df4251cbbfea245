"""Model files: to the last bit and back, and what is refused."""

import json
import math
import os
from types import SimpleNamespace

import numpy as np
import pytest
from arithmetic import same
from helpers import MODELS, one_sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import reals

from pivotree import kkt
from pivotree.analysis import states
from pivotree.kkt.model.modelfile import read_model, write_model


def state(**changes):
    """Three bodies, a child before its parent and a fixed joint, with awkward doubles."""
    rng = np.random.default_rng(1)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    values = {
        "names": ("tip", "base", 7),
        "parent": np.array([1, -1, 0]),
        "R": np.stack([turn, np.eye(3), turn @ turn]),
        "p": rng.normal(size=(3, 3)) / 3,
        "S": (np.eye(6)[:, [2, 5]] / 3, np.eye(6)[:, [0]], np.zeros((6, 0))),
        "mass": np.array([0.1, 1 / 3, 5e-324]),
        "com": rng.normal(size=(3, 3)),
        "inertia": np.stack([np.diag([1.0, 2.0, 2.5]) * x for x in (1 / 7, 1e-9, 3e8)]),
        "qd": np.array([1 / 3, -0.0, 0.1]),
        "tau": np.array([1e-300, 2.0, np.pi]),
        "gravity": np.array([0.0, 0.1, -9.81]),
        "joint_bias": np.array([[0.0] * 6, [0.1, 0, 0, 0, 0, 1 / 3], [0.0] * 6]),
        "wrench": np.array([[1 / 3] * 6, [0.0] * 6, [0.0] * 6]),
    }
    return SimpleNamespace(**({"loops": (), "terms": None} | values | changes))


@pytest.mark.parametrize("path", MODELS.values(), ids=MODELS)
def test_reference_models_are_read_as_they_are_written(path):
    tree = read_model(path)
    document = json.loads(path.read_text())
    assert [*tree.nodes] == [body["name"] for body in document["bodies"]]
    assert tree.graph["expected"] == document["expected"]
    assert tree.graph["source"] == str(path) and not tree.graph["q"].any()
    assert list(tree.graph["qd"]) == document["velocity"]


@given(data=st.data())
@settings(max_examples=20)
def test_any_finite_numbers_come_back_to_the_last_bit(tmp_path_factory, data):
    """Signed zeros and subnormals too; names are texts, and parents stand before their children."""
    path = tmp_path_factory.getbasetemp() / "drawn.json"
    base = state()
    shapes = {name: np.shape(getattr(base, name)) for name in ("p", "com", "joint_bias", "wrench")}
    shapes |= {"qd": (3,), "tau": (3,), "gravity": (3,)}
    draw = lambda shape: data.draw(st.lists(reals(), min_size=(n := math.prod(shape)), max_size=n))  # noqa: E731
    numbers = {name: np.reshape(draw(shape), shape) for name, shape in shapes.items()}
    numbers["mass"] = np.abs(draw((3,)))
    old = state(**numbers)
    write_model(path, old, name="three")
    tree = read_model(path)
    compiled, order = kkt.compile_tree(tree), [1, 0, 2]
    assert tree.graph["name"] == "three" and compiled.joint == ("general", "general", "fixed")
    assert compiled.names == ("base", "tip", "7") and list(compiled.parent) == [-1, 0, 1]
    assert (old.R[order] == compiled.R).all() and (compiled.inertia == old.inertia[order]).all()
    assert (compiled.S[0] == old.S[1]).all() and (compiled.S[1] == old.S[0]).all()
    for k, name in enumerate(old.names):
        node = tree.nodes[str(name)]
        for key, was in (
            ("p", old.p),
            ("com", old.com),
            ("mass", old.mass),
            ("bias", old.joint_bias),
            ("wrench", old.wrench),
        ):
            assert same(node.get(key, 0.0 * was[k]), was[k]).all()
    found = {"base": [0], "tip": [1, 2], "7": []}
    before = {"tip": [0, 1], "base": [2], "7": []}
    for key in ("qd", "tau"):
        for name, at in found.items():
            assert same(np.asarray(tree.graph[key])[at], getattr(old, key)[before[name]]).all()
    assert same(tree.graph["gravity"], old.gravity).all()


def test_writing_replaces_or_leaves_alone(tmp_path):
    path = tmp_path / "m.json"
    write_model(path, state())
    first = path.read_text()
    for field in ("mass", "qd", "wrench"):
        broken = getattr(state(), field).copy()
        broken.flat[0] = np.nan
        with pytest.raises(kkt.ModelError, match="not finite; nothing written"):
            write_model(path, state(**{field: broken}))
    with pytest.raises(kkt.ModelError, match="'7': name is used twice"):
        write_model(path, state(names=("7", "base", 7)))
    with pytest.raises(kkt.ModelError, match="cycle"):
        write_model(path, state(parent=np.array([1, 0, 0])))
    with pytest.raises(kkt.FormatError, match="cannot be written"):
        write_model(tmp_path / "nowhere" / "m.json", state())
    assert path.read_text() == first and os.listdir(tmp_path) == ["m.json"]


@pytest.fixture
def change(tmp_path):
    """Write a good model file with one thing changed; returns its path."""

    def put(edit):
        path = tmp_path / "m.json"
        write_model(path, state())
        document = json.loads(path.read_text())
        edit(document)
        path.write_text(json.dumps(document))
        return path

    return put


def body(k, key, value):
    return lambda document: document["bodies"][k].__setitem__(key, value)


def top(key, value):
    return lambda document: document.__setitem__(key, value)


def test_children_may_stand_before_their_parents(change):
    tree = read_model(change(lambda document: document["bodies"].reverse()))
    assert list(kkt.compile_tree(tree).parent) == [1, 2, -1]


@pytest.mark.product
@pytest.mark.parametrize(
    "edit, words",
    [
        (top("schema", "pivotree-model/3"), "is no model file; give an object with 'schema': 'pivotree-"),
        (top("gravty", [0.0, 0.0, -9.81]), "field 'gravty' is unknown; did you mean gravity"),
        (body(1, "armatur", 0.1), "body 'tip': field 'armatur' is unknown; did you mean armature"),
        (lambda document: document.pop("velocity"), "field 'velocity' is missing"),
        (top("velocity", [1.0, 2.0]), "'velocity' has shape \\(2,\\); give 3"),
        (top("effort", [1.0, "2", 3.0]), "a text is no number; give 3"),
        (top("effort", [1.0, True, 3.0]), "a truth value is no number; give 3"),
        (top("effort", [1.0, 10**400, 3.0]), "'effort' holds (inf|a number beyond)"),
        (top("gravity", [0.0, float("nan"), 0.0]), "holds NaN, where numbers are finite"),
        (top("gravity", -9.81), "'gravity' has shape \\(\\); give 3 numbers"),
        (top("bodies", []), "'bodies' is empty"),
        (top("bodies", [3]), "body 1 of 'bodies' is 3; give an object"),
        (top("name", 3), "field 'name' is 3; give a text"),
        (top("expected", []), r"'expected' is \[\]; give an object"),
        (lambda document: document["bodies"][1].pop("mass"), "body 'tip': field 'mass' is missing"),
        (lambda document: document["bodies"][0].pop("parent"), "'base': field 'parent' is miss"),
        (body(1, "parent", "bass"), "body 'tip': parent 'bass' is unknown"),
        (body(1, "name", "base"), "'base': name is used twice"),
        (body(0, "parent", "tip"), "cycle"),
        (body(0, "mass", -1.0), "body 'base': field 'mass' is -1.0; give zero or more"),
        (body(1, "name", ""), "body 2 of 'bodies': field 'name' is ''; give a text"),
        (body(0, "com", [0.0, 1.0]), "'com' has shape \\(2,\\); give 3 numbers"),
        (body(0, "R", [[2.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]), "'R' is not a rotation"),
        (body(0, "inertia_com", [[1.0, 1, 0], [0, 1.0, 0], [0, 0, 1.0]]), "not symmetric"),
        (body(0, "S", [[1.0]] * 5), "'S' has shape .5, 1.; give 6 x N numbers, angular first"),
        (body(0, "S", [[1.0]] * 5 + [[]]), "'S' is .*; give 6 x N numbers"),
        (body(0, "S", [[0.0]] * 6), "body 'base': field 'S' has rank 0 and 1 columns"),
        (body(1, "bias", [1.0]), "'bias' has shape \\(1,\\); give 6 numbers"),
    ],
)
def test_bad_files_are_told_in_one_sentence(change, edit, words):
    path = change(edit)
    with one_sentence(kkt.ModelError, words, start=str(path)):
        read_model(path)


@pytest.mark.parametrize(
    "content, words",
    [
        (b'{\n "schema": ,}', "line 2, column 12 is not JSON"),
        (b"", "line 1, column 1 is not JSON"),
        (b"[1]", "is no model file; give an object"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[" * 100000, "JSON"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "beyond reason"),
    ],
)
def test_files_that_are_no_json(tmp_path, content, words):
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(kkt.ModelError, match=words):
        read_model(path)


def test_load_tells_paths_from_names(tmp_path):
    with pytest.raises(kkt.ModelError, match=r"arm\.urdf: does not exist"):
        kkt.load("arm.urdf")
    other = tmp_path / "robot.sdf"
    other.write_text("<sdf/>")
    with pytest.raises(kkt.ModelError, match=r"is no \.urdf or \.xacro, no \.json model file"):
        kkt.load(other)
    with pytest.raises(kkt.ModelError, match=r"robot\.sdfx: does not exist"):
        kkt.load(f"{other}x")
    write_model(tmp_path / "m.JSON", state())
    assert kkt.load(tmp_path / "m.JSON").number_of_nodes() == 3


def test_a_bias_is_that_of_one_state(tmp_path):
    """S° qd of a universal joint in motion is written as six numbers, which no other rates may use."""
    tree = kkt.new_tree("wrist")
    body = {"mass": 1.0, "com": (0.1, 0.2, -0.3), "inertia": np.diag([0.10, 0.12, 0.13])}
    kkt.add_body(tree, "wrist", joint="universal", axis=[(1, 0, 0), (0, 1, 0)], **body)
    system = kkt.build(tree, q=[0.4, 0.7], qd=[1.0, 2.0])
    path = tmp_path / "wrist.json"
    kkt.write_model(path, system.state)
    found = kkt.build(read_model(path))
    assert np.array_equal(found.rhs, system.rhs)
    assert found.refresh(tau=[1.0, 0.0]).rhs[6] == 1.0
    words = "body 'wrist': field 'bias' belongs to the rates"
    for other in (
        lambda: kkt.default_state(read_model(path)),
        lambda: kkt.build(read_model(path), qd=[0.0, 0.0]),
        lambda: found.refresh(qd=[1.0, 2.5]),
        lambda: states.system_at(found, states.ranges_of(found), seed=0, number=1),
    ):
        with pytest.raises(kkt.ModelError, match=words):
            other()
