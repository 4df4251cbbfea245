"""What a command writes where, and how it ends: results, refusals, warnings, exit codes."""

import json
import shlex

import pytest

from pivotree.analysis.cli.parser import COMMANDS, parser

# A command at work that prints a document, and its exit code; one that it refuses
DOCUMENTS = {
    "check": (0, "chain:2 --states 2", "chain:2 --states 0"),
    "compare": (0, "chain:2 --orders abm --formats float32", "none.urdf"),
    "compare of nothing": (1, "example3:m1=1e8 --orders crbm --formats float32", "chain:0"),
    "solve": (0, "chain:2", "example3:m1=1e8 --order crbm --format float32"),
    "report": (0, "chain:2 --states 2 --orders abm --formats float32 -o r", "chain:2 --states 0"),
    "guarantee": (0, "chain:2 --states 1 --orders abm --formats float32", "chain:2 --states -1"),
    "blame": (0, "chain:2 --order abm", "chain:2 --of j9"),
    "prove": (0, "--only 'equation (4)'", "--only 'equation (99)'"),
    "counts": (0, "--orders abm --family planar", "--orders amb"),
    "simulate": (0, "chain:2 --order abm --seconds 0.01", "chain:2 --eps 0"),
    "simulate of nothing": (1, "chain:2 --order abm --integrator cash_karp,steps=1", "chain:2 --runs 0"),
    "sweep": (0, "c.toml -j 1", "none.toml"),
    "tune": (0, "chain:2 --most 2", "chain:2 --most 0"),
    "reproduce": (0, "ascher1996 --item structure", "ascher1996 --item table9"),
    "orders": (0, "", "--all"),
    "models": (0, "", "--all"),
    "readings": (0, "", "--all"),
}


def test_every_command_that_prints_a_document_is_here():
    known = parser()._subparsers._group_actions[0].choices
    with_json = {name for name in COMMANDS if "--json" in known[name]._option_string_actions}
    assert with_json == {name.split()[0] for name in DOCUMENTS}


@pytest.mark.product
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_alone_stands_on_standard_output(name, run, tmp_path):
    (tmp_path / "c.toml").write_text('output = "s.csv"\nmodels = ["chain:2"]\norders = ["abm"]\n')
    wanted, given, refused = DOCUMENTS[name]
    command = name.split()[0]
    code, out, err = run(command, *shlex.split(given), "--json")
    assert code == wanted and json.loads(out, parse_constant=lambda name: 1 / 0)
    assert all(line.startswith(("pivotree: ... ", "pivotree: warning: ")) for line in err.splitlines()), err
    code, out, err = run(command, *shlex.split(refused), "--json")
    assert code == 2 and out == "" and err.startswith("pivotree: ") and err.count("\n") == 1, err
