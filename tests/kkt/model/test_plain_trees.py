"""A networkx tree of a user's own: joints on edges, and words that nothing reads."""

import numpy as np
import pytest
from helpers import ROOT

from pivotree import kkt
from pivotree.kkt.model.joints import GENERAL, TYPES
from pivotree.kkt.model.tree import FROM_FILES, OF_BODIES, OF_TREES

MISSPELT = {
    "body 'j2': field 'armatur' is unknown; did you mean armature": lambda t: t.nodes["j2"].update(armatur=1),
    "body 'j2': field 'inertia' is missing": lambda t: t.nodes["j2"].pop("inertia"),
    "body 'j1': field 'mass' is missing": lambda t: t.nodes["j1"].pop("mass"),
    "body 'j2': the edge from 'j1' holds 'axis', and so does": lambda t: t.edges["j1", "j2"].update(axis=X),
    "body 'j2': the edge from 'j1' holds 'mass', which is": lambda t: t.edges["j1", "j2"].update(mass=1),
}
X = (1.0, 0.0, 0.0)
MEANT = {"center": "com", "I": "inertia", "inertai": "inertia", "m": "mass", "Mass": "mass", "axes": "axis"}
MEANT |= {"type": "joint", "jont": "joint", "rotation": "R", "xyz": "p", "stifness": "stiffness"}
MISSPELT |= {
    f"body 'j2': field {word!r} is unknown; did you mean .*{right}": lambda t, w=word: t.nodes["j2"].update(
        {w: X}
    )
    for word, right in MEANT.items()
}
MISSPELT |= {
    f"the edge from 'j1': field {word!r} is unknown; did you mean .*{right}": lambda t, w=word: t.edges[
        "j1", "j2"
    ].update({w: X})
    for word, right in {"dampin": "damping", "limit": "limits", "frictoin": "friction"}.items()
}
MISSPELT |= {
    f"tree: field {word!r} of its graph is unknown; did you mean .*{right}": lambda t, w=word: t.graph.update(
        {w: X}
    )
    for word, right in {"g": "gravity", "gravty": "gravity", "velocity": "qd", "loop": "loops"}.items()
}


@pytest.mark.parametrize("sentence", MISSPELT)
def test_what_nothing_reads_is_refused_in_a_networkx_tree(sentence):
    tree = kkt.chain(3)
    MISSPELT[sentence](tree)
    with pytest.raises(kkt.ModelError, match=sentence):
        kkt.build(tree)


def test_the_page_on_trees_names_every_field():
    page = (ROOT / "docs" / "tree.md").read_text(encoding="utf-8")
    words = {*OF_BODIES, *OF_TREES, *TYPES, GENERAL} - {*FROM_FILES}
    assert not {word for word in words if f"`{word}`" not in page}


def test_a_joint_may_stand_on_the_edge_to_its_body():
    tree = kkt.humanoid()
    moved = tree.copy()
    for parent, child in moved.edges:
        own = moved.nodes[child]
        joint = {field: own.pop(field) for field in ("joint", "axis", "R", "p") if field in own}
        moved.edges[parent, child].update(joint)
    before = {edge: dict(given) for *edge, given in moved.edges(data=True) for edge in [tuple(edge)]}
    for made in (lambda t: t, kkt.factored, lambda t: kkt.default_state(t.copy())):
        a, b = kkt.build(made(tree)), kkt.build(made(moved))
        assert np.array_equal(a.matrix.toarray(), b.matrix.toarray()) and np.array_equal(a.rhs, b.rhs)
        assert np.array_equal(b.refresh(q=b.state.q + 0.1).rhs, a.refresh(q=a.state.q + 0.1).rhs)
    assert before == {edge: dict(given) for *edge, given in moved.edges(data=True) for edge in [tuple(edge)]}
    twice = kkt.coupled_joints(moved, "head", "neck_roll", 0.5)
    assert np.array_equal(twice.C, kkt.coupled_joints(tree, "head", "neck_roll", 0.5).C)
    moved.add_edge("head", "neck_roll", joint="fixed")
    with pytest.raises(kkt.ModelError, match="two parents"):
        kkt.build(moved)
