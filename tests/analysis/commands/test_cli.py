"""The command line: answers, exit codes, and what help says."""

import argparse
import json
import math
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from helpers import MODELS, ROOT, printed

from pivotree import kkt, orderings
from pivotree.analysis.cli.parser import parser
from pivotree.analysis.counts import count_robot
from pivotree.analysis.explorer import explorer_data

WALK = """compare --order crbm --format float32
compare --order crbm --format float32 --composites rigid
tune --most 1
check --states 5
solve --order crbm"""


def test_an_order_costs_the_same_in_every_command(run):
    """Each says what it counts, and so do the page's data, polynomials and figures."""
    both = [(words, 3005, "ten numbers") for words in WALK.split("\n")]
    both += [(f"{words} --composites general", 4309, "6 x 6 blocks") for words in WALK.split("\n")[0:3:2]]
    for words, count, head in both:
        command, *rest = words.split()
        out = run(command, "chain:10", *rest)[1]
        assert re.search(rf"^ ?crbm .*\b{count:,} ", out, re.M), words
        assert f"composite inertias as {head}" in " ".join(out.split()), words
    system, crbm = kkt.build(kkt.chain(10)), orderings.get("crbm")
    (shown,) = explorer_data(system, "chain:10", ["crbm"], story=False)["orders"]
    told = [shown["flops"], sum(count_robot(crbm, system).total), kkt.trace(system, crbm).flops]
    assert {*told, kkt.eliminate(system, crbm, "exact").flops} == {3005}


@pytest.mark.parametrize("model", ["chain:10", str(MODELS["ur5"])])
def test_what_else_tells_a_cost_tells_the_engines(run, model):
    """Reports, captions and both heads of an export; blame and list tell none; sweeps: test_sweep_loops."""
    system = kkt.build(kkt.load(model))
    few = ("--order", "crbm,abm", "--format", "float32", "--states", 2, "-o", "report")
    costs = json.loads(run("report", model, *few, "--json")[1])["costs"]
    assert [*costs] == ["crbm", "abm"]
    for name, told in costs.items():
        assert told["flops"] == kkt.trace(system, orderings.get(name)).flops
        given = (model, "--order", name)
        assert run("figure", "spy", *given, "-o", "spy.svg")[0] == 0
        filled = f"fills in {told['fill']} blocks off the diagonal ({told['fill_entries']} entries)"
        assert filled in " ".join(Path("spy_caption.tex").read_text().split())
        said = run("blame", *given)[1] + run("list", *given)[1]
        assert f"\n{name} on " in said and not re.search(r"\d operations", said)
        counted = kkt.compile(system, orderings.get(name)).counted
        assert f": {counted}\n" in run("export", *given, "-o", "kernel.c")[1]
        assert Path("kernel.c").read_text().partition(".\n")[0].endswith(f": {counted}")


@pytest.mark.parametrize(("how", "crossing"), [((), 12), (("--composites", "general"), 5)])
def test_abm_is_the_cheaper_one_from_so_many_links_on(run, how, crossing):
    for n in (crossing - 1, crossing):
        given = ("--order", "crbm,abm", "--format", "float32", *how, "--json")
        rows = json.loads(run("compare", f"chain:{n}", *given)[1])["rows"]
        assert (rows[0]["flops"] > rows[1]["flops"]) is (n == crossing)
    assert run("compare", "chain:2", "--composites", "ten")[0] == 2


def test_compare_has_a_second_row_where_both_triangles_are_formed(run):
    """Long chains lose digits by it, with (c c*)/d but not in Joseph's form; the pages say how many."""
    given = ("--symmetry", "both", "--format", "float32")
    code, out, _ = run("compare", "chain:100", "--order", "abm,joseph_abm,square_root_abm", *given, "--json")
    errors = {row["order"]: row["error"] for row in json.loads(out)["rows"]}
    assert code == 0 and list(errors)[::2] == ["abm", "joseph_abm", "square_root_abm"] and len(errors) == 5
    assert [f"{errors[name]:.1e}" for name in errors][:2] == ["1.4e-07", "2.5e-04"]
    assert errors["joseph_abm, both triangles"] < 2e-7
    for words in ("--as mjx", "--derivatives"):
        assert run("compare", "chain:2", *words.split(), "--symmetry", "both")[0] == 2


@pytest.mark.uncached
@pytest.mark.parametrize("format", ["float64", "mp:50", "ball:45", "exact"])
def test_solve_json_has_the_digits_of_its_format(run, format):
    """Beyond double precision they are decimal strings."""
    code, out, _ = run("solve", MODELS["ur5"], "--order", "crbm", "--format", format, "--json")
    found = json.loads(out)
    bound = "1e-12" if format == "float64" else "1e-39"
    assert code == 0 and found["format"] == format and found["error"] < float(bound)
    for number, exact in zip(found["qdd"], printed("ur5"), strict=True):
        assert isinstance(number, float if format == "float64" else str)
        assert abs(Decimal(number) - Decimal(exact)) <= abs(Decimal(exact)) * Decimal(bound)


def test_solve_takes_a_state(run):
    """qdd of a point pendulum: (tau - m g l sin q) / (m l^2), gravity along -z, axis y."""
    code, out, _ = run("solve", "chain:1,axes=y", "--q=0.5", "--state=qd:0", "--state=tau:0.25", "--json")
    m, half, width, g = 1.0, 0.05, 0.02, 9.81
    inertia = m * (0.1**2 + width**2) / 12 + m * half**2
    # a turn by q about y lowers the rod, which lies along x, by half sin q
    exact = (0.25 + m * g * half * math.cos(0.5)) / inertia
    assert code == 0 and abs(json.loads(out)["qdd"][0] / exact - 1) < 1e-13


# -- real processes -----------------------------------------------------------------------------


def process(*arguments):
    return subprocess.run(
        [sys.executable, "-P", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )


@pytest.mark.product
def test_a_process_refuses():
    done = process("-m", "pivotree", "solve", "chain:3", "--order", "amb")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "nearest: " in done.stderr


def test_help_loads_nothing_heavy_and_the_library_draws_nothing():
    heavy = ("numpy", "scipy", "sympy", "matplotlib", "numba", "networkx", "flint", "mpmath")
    code = (
        "import sys\nfrom pivotree.analysis import cli\n"
        "try:\n    cli.main(['--help'])\n"
        "except SystemExit as stop:\n    print(stop.code)\n"
        f"print([m for m in {heavy!r} if m in sys.modules])\n"
        "from pivotree import kkt\nprint({'matplotlib', 'sympy'} & set(sys.modules))"
    )
    done = process("-c", code)
    lines = done.stdout.splitlines()
    assert lines[-3:] == ["0", "[]", "set()"], done.stdout[-300:] + done.stderr


# -- help ---------------------------------------------------------------------------------------


def test_help_says_what_is_a_program_and_is_run():
    """Where an order of one's own, or a xacro file, may be given."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    found = 0
    for command in commands.choices.values():
        for action in command._actions:
            told = action.help or ""
            if action.metavar == "MODEL" and ".xacro" in told:
                found += "a .xacro file is a program" in told
                assert "program" in told
            if ".py:" in told.lower():
                found += 1
                assert "is run" in told.replace("\n", " "), told
    assert found > 12
