"""Sweeps: which rows there are, what they tell, and configurations that are wrong."""

import json
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
from helpers import ROOT
from sweep_runs import config, table

from pivotree import kkt, orderings
from pivotree.analysis.cli import main
from pivotree.analysis.sweep import read_config, sweep
from pivotree.analysis.sweep.measure import fingerprint, traced


def test_every_case_has_one_row_in_the_sequence_of_the_config(small):
    rows = table(small)
    cases = [(r["model"], r["state"], r["order"], r["format"]) for r in rows]
    models = ["chain:3", "two_link:r=0.5", "two_link:r=0.001", "binary:1", "binary:2"]
    expected = [
        (model, state, order, format)
        for model in models
        for state in "012"
        for order in ("crbm", "abm")
        for format in ("float32", "bfloat16")
    ]
    assert cases == expected
    assert len({r["key"] for r in rows}) == len(rows)
    assert [r["r"] for r in rows if r["model"] == "two_link:r=0.5"] == ["0.5"] * 12
    assert {r["k"] for r in rows if r["model"] == "chain:3"} == {""}


@pytest.mark.product
def test_answers_of_a_robot_that_is_badly_scaled_are_marked_or_refused(tmp_path, capsys):
    """A payload of 1e6 times the wrist's mass: every row is right, or says that it is not."""
    text = """
output = "{output}"
models = ["example1:m1=1e6", "example3:m1=1e8,case=2", "ur5"]
orders = ["crbm", "abm", "square_root_abm", "virtual_work"]
[states]
number = 5
"""
    ur5 = ROOT / "tests" / "models" / "ur5.json"
    path = config(tmp_path, text.replace('"ur5"', f'"{ur5}"'))
    assert main(["sweep", str(path), "--json", "-j", "1"]) == 0
    summary = json.loads(capsys.readouterr().out)
    rows = table(tmp_path / "s.csv")
    bound = {"float32": 2.0**-12, "float64": 2.0**-26.5}
    wrong = [r for r in rows if r["error"] and float(r["error"]) > bound[r["format"]]]
    assert wrong and all(r["marked"] for r in wrong)
    assert not any(r["marked"] and r["failed_at"] for r in rows)
    right = [r for r in rows if r["model"].endswith("ur5.json")]
    assert right and not any(r["marked"] or r["failed_at"] for r in right)
    assert summary["marked"] == sum(bool(r["marked"]) for r in rows) >= len(wrong)
    assert summary["failed"] == sum(bool(r["failed_at"]) for r in rows)
    (tmp_path / "s.csv").unlink()
    assert main(["sweep", str(path), "-j", "1"]) == 0
    assert f", {summary['marked']} marked as not to be relied on" in capsys.readouterr().out


def test_models_of_one_pattern_share_tapes_and_others_do_not():
    systems = [kkt.build(kkt.load(f"two_link:r={r}"), q=[0.3, 0.4]) for r in (0.5, 0.1)]
    first, second = (traced(system, "crbm", fingerprint(system)) for system in systems)
    assert first is second
    assert first.tape.flops == kkt.trace(systems[1], orderings.get("crbm")).flops
    assert fingerprint(systems[0]) != fingerprint(kkt.build(kkt.chain(2), q=[0.3, 0.4]))


def test_what_a_model_rules_out_is_told_in_its_rows(tmp_path):
    tree = kkt.new_tree("light")
    for body, parent, mass in ((1, None, 1.0), (2, 1, 0.0), (3, 2, 1.0)):
        link = {"com": (0.05, 0, 0), "axis": (0, int(body == 2), int(body != 2)), "p": (0.1, 0, 0)}
        kkt.add_body(tree, body, parent, mass=mass, inertia=0.1 * mass * np.eye(3), **link)
    kkt.write_model(tmp_path / "light.json", kkt.build(tree).state)
    text = f'models = ["{tmp_path}/light.json"]\norders = ["virtual_work", "abm"]\n'
    summary = sweep(read_config(config(tmp_path, 'output = "{output}"\n' + text)), jobs=1)
    refused, fine = table(tmp_path / "s.csv")[::2], table(tmp_path / "s.csv")[2:]
    assert summary.failed == 2
    assert "order 'virtual_work' pivots on M_k at step 2" in refused[0]["failed_at"]
    assert refused[0]["error"] == refused[0]["fill"] == ""
    assert all(not row["failed_at"] and float(row["error"]) < 1e-5 for row in fine)


ONE = 'output = "s.csv"\norders = ["abm"]\nmodels = [{ %s }]\n'
RANGE = 'output = "s.csv"\norders = ["abm"]\nmodels = ["chain:{n}"]\n[ranges]\nn = %s'
MINIMAL = 'output = "s.csv"\nmodels = ["chain:3"]\norders = ["abm"]\n'
WRONG = {
    "models = [": "is no TOML",
    'models = ["chain:3"]\norders = ["abm"]': "field 'output' is missing; give a text",
    MINIMAL.replace("s.csv", "s.txt"): "field 'output' is 's.txt'; give a name that ends in .csv",
    MINIMAL.replace("chain:3", "chian:3"): "models[0]: gallery: 'chian' is unknown; did you mean",
    MINIMAL.replace("chain:3", "chain:{n}"): "models[0] takes range 'n', not given; write a table",
    MINIMAL.replace("chain:3", "none.urdf"): "models[0]: none.urdf: does not exist",
    MINIMAL.replace('"chain:3"', '"chain:3", "chain:3"'): "field 'models[1]' is 'chain:3'; give ea",
    MINIMAL.replace('"chain:3"', "7"): "field 'models[0].model' is 7; give a text",
    MINIMAL.replace('"chain:3"', ""): "field 'models' is []; give a list of models",
    MINIMAL.replace("abm", "amb"): "orders[0]: order 'amb' is unknown; nearest: abm",
    MINIMAL.replace("abm", "inverse_dynamics"): "give an order that solves for qdd",
    MINIMAL + 'formats = ["float33"]': "formats[0]: format 'float33'",
    MINIMAL + 'formats = ["exact"]': "field 'formats[0]' is 'exact'; give a floating-point",
    MINIMAL + 'measure = ["err"]': "field 'measure[0]' is 'err'; give one of error",
    MINIMAL + "state = 3": "field 'state' is unknown in the file; did you mean states",
    MINIMAL + "[states]\nnumber = 0": "field 'states.number' is 0; give a whole number",
    MINIMAL + "[states]\nsed = 0": "field 'sed' is unknown in table 'states' of it; did you mean",
    MINIMAL + '[states]\nnumber = 2\ndistribution = "given"': "give 1, a model's own state",
    MINIMAL + "[ranges]\nn = [3]": "range 'n' is taken by no model; write {n} into one",
    MINIMAL.replace("chain:3", "chain:{n}") + "[ranges]\nn = {from = 1, to = 9}": "give either step or count",
    MINIMAL.replace("chain:3", "chain:{state}")
    + "[ranges]\nstate = [3]": "range 'state' has the name of a column",
    MINIMAL.replace("chain:3", "two_link:r={r}")
    + "[ranges]\nr = {from = 0, to = 1, count = 3, scale = 'log'}": "for scale 'log', ends above 0",
    MINIMAL + "states = 3": "field 'states' is 3; give a table",
    MINIMAL + "derivatives = true": "field 'derivatives' is unknown in the file",
    MINIMAL.replace('orders = ["abm"]', ""): "field 'orders' is missing; give a list of names",
    MINIMAL.replace('["abm"]', '"abm"'): "field 'orders' is 'abm'; give a list of names",
    MINIMAL.replace('["abm"]', "[3]"): "field 'orders[0]' is 3; give a text",
    MINIMAL.replace('["abm"]', '["abm", "abm"]'): "field 'orders[1]' is 'abm'; give each name once",
    ONE % 'model = "r.urdf", merge_fixed = 1': "field 'models[0].merge_fixed' is 1; give true or",
    MINIMAL + "[simulate]\nseconds = 1": "field 'simulate' is unknown in the file",
    ONE % 'model = "chain:3", contact = "j3"': "field 'contact' is unknown in table",
    ONE % 'model = "chain:3", floating = true': "a .urdf file or robot:NAME, or leave out floating",
    RANGE % "[true]": "field 'ranges.n' is [True]; give a list of values, or {from, to, step}",
    RANGE % '[3, "4"]': "give texts alone, or numbers alone",
    RANGE % "3": "field 'ranges.n' is 3; give a list of values, or {from, to, step}",
    RANGE % "{from = 3, to = 1, step = 1}": "give a step above 0, 'to' not below 'from', 10,",
    RANGE % '{from = "1", to = 3, step = 1}': "field 'ranges.n.from' is '1'; give a number",
    RANGE % f"{{from = 1, to = 1{400 * '0'}, count = 2}}": "0; give a number",
}


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_wrong_configs_are_one_sentence(text, tmp_path, capsys):
    with chdir(tmp_path):
        Path("c.toml").write_text(text)
        assert main(["sweep", "c.toml"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("pivotree: c.toml") and told.count("\n") == 1
    assert WRONG[text] in told
    assert [path.name for path in tmp_path.iterdir()] == ["c.toml"]


def test_what_a_config_may_hold(tmp_path, monkeypatch):
    """Ranges of texts and of powers, an order of one's own, a model file with a contact."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("def f(s): return [[('pdd', k), ('qdd', k), ('f', k)] for k in s]")
    kkt.write_model("arm.json", kkt.build(kkt.chain(3), loops=[kkt.contact("j3", (0, 0, 0))]).state)
    Path("c.toml").write_text(
        'output = "s.csv"\norders = ["own.py:f"]\nmodels = ["{kind}:3", "two_link:r={r}", "arm.json"]\n'
        '[ranges]\nkind = ["chain", "star"]\nr = {from = 0.001, to = 0.1, count = 3, scale = "log"}'
    )
    found = read_config(Path("c.toml"))
    labels = [model.text for model in found.models]
    assert labels[:2] == ["chain:3", "star:3"] and (len(found.models), found.states) == (6, 1)
    assert [float(label.partition("=")[2]) for label in labels[2:5]] == pytest.approx([0.001, 0.01, 0.1])
    assert labels[5:] == ["arm.json"] and len(found.models[5].tree().graph["loops"]) == 1
    assert found.order_digests[0].startswith("own.py:f ")
