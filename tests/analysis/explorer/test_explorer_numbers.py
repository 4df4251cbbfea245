"""Numbers of the page's engine, held against the project's: digits, answers, rounding."""

import json
import subprocess

import numpy as np
import pytest
from explorer_engine import NODE, geared, in_javascript, needs_node
from helpers import ROOT, system_of

from pivotree import kkt, orderings
from pivotree.analysis.explorer import explorer_data


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("spec", ["chain:3", "example1", "random_tree:n=6,seed=2,mass_ratio=1e4", "geared"])
def test_the_pages_digits_are_those_of_the_programs(spec):
    """Other operations are folded away, so that last digits differ: within one digit, mostly less.

    Only orders without rules of their own; their answers are held against certified ones.
    """
    system = system_of(spec) if spec != "geared" else geared()
    names = ("crbm", "abm", "bad_abm", "virtual_work", "lagrange", "minimum_degree")
    data = json.loads(json.dumps(explorer_data(system, spec, names, ["float64", "float32"])))
    cases = [
        {"data": data, "form": order, "attempts": order["groups"], "format": format}
        for order in data["orders"]
        for format in ("float64", "float32")
    ]
    gaps = []
    for case, found in zip(cases, in_javascript(cases), strict=True):
        measured = case["form"]["formats"][case["format"]]["digits"]
        gaps.append(abs(found["digits"] - measured))
        assert gaps[-1] < 1.5, (case["form"]["name"], case["format"], found["digits"], measured)
    assert np.median(gaps) < 0.5


@pytest.mark.thorough
@needs_node
def test_a_joint_with_armature_can_be_clicked_first():
    system = geared()
    data = json.loads(json.dumps(explorer_data(system, "geared", ["abm"], ["float64"])))
    structure = system.structure
    joints = [(kind, k) for k in structure.tip_to_base for kind in ("qdd", "pdd", "f")]
    plan = kkt.plan([[block] for block in joints], structure)
    attempts = [[int(b)] for b in plan.blocks]
    form = {"links": "whole", "split": False}
    (found,) = in_javascript(
        [{"data": data, "form": form, "attempts": attempts, "format": "float64", "labels": True}]
    )
    want = kkt.eliminate(system, [[block] for block in joints])
    assert found["qdd"] == pytest.approx(want.qdd, rel=1e-9)
    assert [answer["refused"] for answer in found["answers"]] == [None] * len(joints)
    assert found["answers"][-1]["fill"] == want.fill
    shown = [text for row in found["cells"][0] for text in row if text.startswith("A_")]
    assert len(shown) == structure.n


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize("terms", [False, True])
def test_double_precision_answers_are_the_programs_answers(terms):
    system = geared() if terms else system_of("random_tree:n=6,seed=2")
    data = json.loads(json.dumps(explorer_data(system, "tree", ["abm", "lagrange"], ["float64"])))
    cases = [
        {"data": data, "form": order, "attempts": order["groups"], "format": "float64"}
        for order in data["orders"]
    ]
    for case, found in zip(cases, in_javascript(cases), strict=True):
        want = kkt.eliminate(system, orderings.get(case["form"]["name"])).qdd
        assert found["qdd"] == pytest.approx(want, rel=1e-9)


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize(
    ("m1", "angle", "order", "keeps"),
    [(1e7, 0, "crbm", True), (1e8, 0, "crbm", False), (1e9, 0, "abm", True), (1e9, 45, "abm", False)],
)
def test_table_2_of_ascher_1996_on_the_page(m1, angle, order, keeps):
    """D_2 is 1 or 0 in float32, as printed; exactly it is 1 and qdd_1 = 971.19 + 981 / m1."""
    system = kkt.build(kkt.model.gallery.example3(m1=m1, case=2 if angle else 1))
    data = json.loads(json.dumps(explorer_data(system, "example3", [order], ["float32"])))
    case = {
        "data": data,
        "form": data["orders"][0],
        "attempts": data["orders"][0]["groups"],
        "format": "float32",
    }
    (found,) = in_javascript([case])
    if keeps:
        assert max(map(abs, found["qdd"])) == pytest.approx(971.19, rel=1e-5)
    else:
        assert found["error"] is None


@pytest.mark.thorough
@needs_node
@pytest.mark.parametrize("name", ["float32", "p20", "p16", "tf32", "bfloat16", "float16", "e5m2"])
def test_rounding_is_the_formats_rounding(name):
    from pivotree.kkt.arithmetic import get_format

    rng = np.random.default_rng(0)
    x = rng.normal(size=2000) * 10.0 ** rng.integers(-45, 39, 2000)
    half = 1.0 + np.arange(1, 2 * 64, 2) * 2.0**-9  # ties of bfloat16 among them
    x = np.concatenate([x, half, -half, half * 2.0**-24, [0.0, 65504.0, 65519.9, 65520.0, 6e-8, 3e-8]])
    source = (ROOT / "analysis/explorer/static/arithmetic.mjs").as_uri()
    script = (
        f"import {{ rounding }} from {json.dumps(source)};"
        "let t='';process.stdin.on('data',d=>t+=d).on('end',()=>"
        f"console.log(JSON.stringify(JSON.parse(t).map(rounding('{name}')).map(String))))"
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script],
        input=json.dumps(x.tolist()),
        capture_output=True,
        text=True,
        check=True,
    )
    got = np.array([float(v.replace("Infinity", "inf")) for v in json.loads(done.stdout)])
    with np.errstate(over="ignore"):
        want = get_format(name).cast(x).astype(float)
    assert np.array_equal(got, want)
