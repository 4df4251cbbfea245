"""Options that cannot be: each refusal of a command, of a report, a motion or a figure, by name."""

from pathlib import Path

import pytest

from pivotree import kkt
from pivotree.analysis.cli import main

# What is told, and the command, which writes nothing.  Files that it reads are in FILES.
REFUSED = {
    # -- compare, solve, spy, blame
    "order 'abm': is asked for twice; give each": "compare chain:2 --orders abm,abm",
    "format 'float32': is asked for twice; give": "compare chain:2 --formats float32,float32",
    "compares digits alone, without --refine; leave": "compare chain:2 --derivatives --refine 1",
    "option --frames: 'bent' is unknown; use given, aligned": "compare chain:2 --frames bent",
    "option --refine: 101 is no number of corrections; use 0 to": "solve chain:2 --refine 101",
    "option --residual: 'x' is unknown; use dynamics or": "solve chain:2 --residual x",
    "option --certify: 0 is no number of digits; use 1 to": "solve chain:2 --certify 0",
    "order 'crbm' in float32: pivot qdd_2, step 4: zero; use another order": (
        "solve example3:m1=1e8 --order crbm --format float32"
    ),
    "order 'crbm' in float16: pivot": (
        "solve example3:m1=1e4 --contact 2 --proximal 1e-4 --order crbm --format float16"
    ),
    "iterates by itself, and not with --certify": ("solve chain:2 --contact j2 --proximal 1e-4 --certify 5"),
    "option --step: 4 is outside this order's steps; use 0 to 3": "spy chain:3 --step 4 -o x.svg",
    "suffix '.bmp' is unknown; use .png, .pdf": "spy chain:3 -o x.bmp",
    "option --top: is 0; give at least 1": "blame chain:2 --top 0",
    "has no joint that moves, and so no acceleration": "blame still.json",
    "output 'j1': is no derivative here; use dq": "blame chain:2 --derivatives --output j1",
    "output 'j9': is no joint acceleration here; use a body": "blame chain:2 --output j9",
    # -- export, tune
    "a file in fixed32 has qdd as its only output": ("export chain:2 --format fixed32 --wrench -o x.c"),
    "option --cost: 'x' is unknown; use flops": "tune chain:2 --cost x",
    "option --composites: 'x' is unknown; use rigid or general": "tune chain:2 --composites x",
    "option --format: 'float16' cannot be timed; use float32 or": "tune chain:2 --format float16",
    "option --most: is 0; give 1 order or more": "tune chain:2 --most 0",
    "x.txt is no name of an order file; give one that ends in .json": "tune chain:2 -o x.txt",
    # -- figure
    "option --width: 'triple' is unknown; use": "figure matrix chain:2 --width triple -o x.pdf",
    "option --font: 'comic' is unknown; use": "figure matrix chain:2 --font comic -o x.pdf",
    "this kind shows one order, not 2; name one": "figure trees chain:2 --orders abm,crbm -o x.pdf",
    "option --step: 9 is outside this order's steps": "figure trees chain:2 --step 9 -o x.pdf",
    "kind 'trees' does not move; use kind film": "figure trees chain:2 -o x.gif",
    "kind 'digits' has no LaTeX; write a .pdf, or": "figure digits chain:2 -o x.tex",
    "block rows leave no room for symbols of 5 pt": "figure matrix chain:9 --width single -o x.pdf",
    "block rows are too many to be set as symbols (at most": "figure matrix chain:40 -o x.pdf",
    "nothing to hold against exact arithmetic": ("figure cancelled chain:2 --format exact -o x.pdf"),
    # -- report
    "is found for the digits of qdd, not of its derivatives": ("report chain:2 --armature --derivatives"),
    "format 'exact': a report needs formats of a fixed": "report chain:2 --formats exact -o r",
    "order 'inverse_dynamics': solves for tau, not for qdd": (
        "report chain:2 --orders inverse_dynamics -o r"
    ),
    "still.json: has no joint that moves; a report needs": "report still.json -o r",
    "no order that was asked for remains": "report light.json --orders virtual_work -o r",
    "option --states: 0 is no number of states; use 1 to": "report chain:2 --states 0 -o r",
    "option --states: 10000000 states of 30 joints": (
        "report chain:30 --states 10000000 --yes --orders abm,crbm --formats float32,tf32 -o r"
    ),
    "option --seed: -1 is no seed; use a whole number": "report chain:2 --seed -1 -o r",
    "option --digits: 99.0 is out of range; use 1 to 15": "report chain:2 --digits 99 -o r",
    "output folder taken: is not empty; give another": "report chain:2 -o taken",
    "format 'float32': is asked for twice; give each one once": (
        "report chain:2 --formats float32,float32 -o r"
    ),
    # -- simulate
    "option --frames: is 'bent'; use": "simulate chain:2 --frames bent",
    "integrator 'euler': is unknown; use": "simulate chain:2 --integrator euler",
    "option --eps: is 0.0; give a number above 0": "simulate chain:2 --eps 0",
    "option --steps: is 0; give 1 or more": "simulate chain:2 --steps 0",
    "steps in 10 s; give a longer one": "simulate chain:2 --integrator midpoint --step 1e-9",
    "option --state-type: is 'float16'; use float64 or": "simulate chain:2 --state-type float16",
    "option --clock: is Cash-Karp's alone": "simulate chain:2 --integrator RK45 --clock float32",
    "there is no dense method 'qr'; use": "simulate chain:2 --order crbm+qr",
    "option --seed: -1 is no seed; give a whole number": "simulate chain:2 --seed -1",
    "option --runs: is 0; give 1 or more": "simulate chain:2 --runs 0",
    "option --runs: is 1000000000; give 1 to": "simulate chain:2 --runs 1000000000",
    "integrator midpoint: needs joints whose rates are": (
        "simulate chain:2,joint=spherical --integrator midpoint --seconds 0.01"
    ),
    # -- guarantee
    "option --seed: -1 is negative; use 0 or more": "guarantee chain:2 --seed -1",
    "option --states: -1 is no number of states": "guarantee chain:2 --states -1",
    "binary points take no payloads in a range": ("guarantee chain:2 --formats fixed32 --payload j2=0:1"),
    "are promised 15 digits of pivots and qdd": (
        "guarantee chain:2 --digits 15 --orders abm --formats float32"
    ),
    # -- list, counts, prove
    "notation 'mine' is unknown; use ascher": "list chain:2 --notation mine",
    "pairs of blocks on this tree, too many to read": "list chain:1500 --order crbm --yes",
    "derivatives are listed for trees without closed loops": "list four_bar --derivatives",
    "solves for tau; list the derivatives of abm's qdd": (
        "list chain:2 --order inverse_dynamics --derivatives"
    ),
    "order 'virtual_work' pivots on M_k at step 2": "counts --orders virtual_work",
    "there is no statement 'equation (99)'; nearest": "prove --only equation~(99)",
    # -- sweep
    "option --jobs: is 0; give 1 to": "sweep c.toml --jobs 0",
    "c.toml: models[0]: contact: body 'j9' is unknown": "sweep c.toml",
    "is 'x'; give a name that ends in .csv or .parquet": "sweep named.toml",
    "s.csv: holds other columns than this sweep (lacks": "sweep taken.toml",
    "s.parquet: cannot be read as a sweep's .parquet": "sweep parquet.toml",
}
SWEEP = 'output = "%s"\nmodels = [%s]\norders = ["abm"]\n'
FILES = {
    "c.toml": SWEEP % ("s.csv", '{ model = "chain:3", contact = "j9" }'),
    "named.toml": SWEEP % ("x", '"chain:3"'),
    "taken.toml": SWEEP % ("taken/s.csv", '"chain:3"'),
    "parquet.toml": SWEEP % ("taken/s.parquet", '"chain:3"'),
    "taken/s.csv": "key,other\n",
    "taken/s.parquet": "none",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "taken").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    tree = kkt.new_tree("still")
    kkt.add_body(tree, "b", mass=1.0, inertia=kkt.chain(1).nodes["j1"]["inertia"], joint="fixed")
    kkt.write_model(folder / "still.json", kkt.build(tree).state)
    tree = kkt.chain(3)
    tree.nodes["j2"].update(mass=0.0, inertia=0.0 * tree.nodes["j2"]["inertia"])
    kkt.write_model(folder / "light.json", kkt.build(tree).state)
    return folder


@pytest.mark.product
@pytest.mark.parametrize("told", REFUSED)
def test_a_refusal_of_an_option_is_one_line(told, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    there = sorted(Path().rglob("*"))
    assert main([word.replace("~", " ") for word in REFUSED[told].split()]) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("pivotree: ... ")]
    assert out == "" and len(lines) == 1 and told in lines[0] and len(lines[0]) < 520, err
    assert sorted(Path().rglob("*")) == there
