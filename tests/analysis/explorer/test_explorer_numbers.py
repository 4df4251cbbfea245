"""Numbers of the page's engine, held against the project's: digits, answers, rounding, packing."""

import json

import numpy as np
import pytest
from designs import covering
from explorer_engine import document, geared, in_javascript, needs_node, replayed
from helpers import system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data
from pivotree.analysis.explorer.packed import packed
from pivotree.kkt.arithmetic import get_format

pytestmark = needs_node
ORDERS = ("crbm", "abm", "bad_abm", "virtual_work", "lagrange", "minimum_degree")
FORMATS = ("float64", "float32")


@pytest.mark.uncached
@pytest.mark.parametrize(
    "spec", covering(["chain:3", "geared", "example1", "random_tree:n=6,seed=2,mass_ratio=1e4"], unmarked=1)
)
def test_the_pages_digits_are_those_of_the_programs(spec):
    """Other operations are folded away, so that last digits differ: within one digit, mostly less.

    Only orders without rules of their own; their answers are held against certified ones.
    """
    system = system_of(spec) if spec != "geared" else geared()
    data = explorer_data(system, spec, ORDERS, FORMATS, story=False)
    gaps = []
    for format in FORMATS:
        for order, found in zip(data["orders"], replayed(data, format=format), strict=True):
            measured = order["formats"][format]["digits"]
            gaps.append(abs(found["digits"] - measured))
            assert gaps[-1] < 1.5, (order["name"], format, found["digits"], measured)
            want = kkt.eliminate(system, orderings.get(order["name"])).qdd
            if format == "float64":
                assert found["qdd"] == pytest.approx(want, rel=1e-9)
    assert np.median(gaps) < 0.5


def test_a_joint_with_armature_can_be_clicked_first():
    system = geared()
    data = json.loads(json.dumps(explorer_data(system, "geared", ["abm"], ["float64"], story=False)))
    structure = system.structure
    joints = [[(kind, k)] for k in structure.tip_to_base for kind in ("qdd", "pdd", "f")]
    groups = [[int(b)] for b in kkt.plan(joints, structure).blocks]
    order = {"links": "whole", "split": False, "groups": groups}
    (found,) = replayed(data, [order], format="float64", labels=True)
    want = kkt.eliminate(system, joints)
    assert found["qdd"] == pytest.approx(want.qdd, rel=1e-9)
    assert [answer["refused"] for answer in found["answers"]] == [None] * len(joints)
    assert found["answers"][-1]["fill"] == want.fill
    shown = [text for row in found["cells"][0] for text in row if text.startswith("A_")]
    assert len(shown) == structure.n


@pytest.mark.parametrize(
    ("m1", "angle", "order", "keeps"),
    [(1e7, 0, "crbm", True), (1e8, 0, "crbm", False), (1e9, 0, "abm", True), (1e9, 45, "abm", False)],
)
def test_table_2_of_ascher_1996_on_the_page(m1, angle, order, keeps):
    """D_2 is 1 or 0 in float32, as printed; exactly it is 1 and qdd_1 = 971.19 + 981 / m1."""
    system = kkt.build(kkt.example3(m1=m1, case=2 if angle else 1))
    data = explorer_data(system, "example3", [order], ["float32"], story=False)
    (found,) = replayed(data, format="float32")
    if keeps:
        assert max(map(abs, found["qdd"])) == pytest.approx(971.19, rel=1e-5)
    else:
        assert found["error"] is None


@pytest.mark.parametrize("name", covering(["bfloat16", "float32", "p20", "p16", "tf32", "float16", "e5m2"]))
def test_rounding_is_the_formats_rounding(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000) * 10.0 ** rng.integers(-45, 39, 2000)
    half = 1.0 + np.arange(1, 2 * 64, 2) * 2.0**-9  # ties of bfloat16 among them
    x = np.concatenate([x, half, -half, half * 2.0**-24, [0.0, 65504.0, 65519.9, 65520.0, 6e-8, 3e-8]])
    texts = in_javascript("round", {"format": name, "numbers": x.tolist()})
    got = np.array([float(v.replace("Infinity", "inf")) for v in texts])
    with np.errstate(over="ignore"):
        want = get_format(name).cast(x).astype(float)
    assert np.array_equal(got, want)


# -- packed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", covering(["chain:3", "geared", "stewart", "humanoid", "random_tree:n=30,seed=3"])
)
def test_the_page_has_the_engines_numbers_bit_by_bit(spec):
    """Entries as they were sent, and the blocks formed of them as those of the matrix."""
    system = system_of(spec) if spec != "geared" else geared()
    sent = document(system)
    read = in_javascript("read", packed({"document": sent, "list": []}))
    assert read["entries"] == sent["entries"]
    e, bodies = system.entries, range(system.tree.n)
    for letter in ("M", "Phi", "a", "b"):
        theirs = [
            (np.zeros(getattr(e, letter)[k].size) if x is None else x)
            for k, x in zip(bodies, read["blocks"][letter], strict=True)
        ]
        assert np.array_equal(theirs, getattr(e, letter).reshape(len(theirs), -1)), letter


def test_every_double_arrives():
    """Random bits of both signs, subnormals and the largest among them."""
    bits = np.random.default_rng(5).integers(0, 2**64, 500, dtype=np.uint64).view(float)
    numbers = [float(x) for x in bits[np.isfinite(bits)]] + [5e-324, -1.7976931348623157e308, 0.1]
    sent = packed({"document": document(system_of("chain:1")), "list": numbers})
    assert list(map(float, in_javascript("read", sent)["list"])) == numbers
    assert '"list": {"doubles"' in json.dumps(sent)
