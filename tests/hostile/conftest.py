"""Commands that must answer in time: a refusal is one line, and no call hangs."""

import faulthandler
import sys

import pytest
from hostile_words import LIMIT, refusals

from pivotree.analysis import cli
from pivotree.kkt.base.errors import LONGEST


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own: exit code, standard output, the lines of a refusal."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capsys.readouterr()
        faulthandler.dump_traceback_later(LIMIT, exit=True, file=sys.__stderr__)
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        finally:
            faulthandler.cancel_dump_traceback_later()
        out, err = capsys.readouterr()
        assert all(c.isprintable() or c == "\n" for c in err), ascii(err)
        lines = refusals(err)
        assert not list(tmp_path.rglob(".*.part*"))
        return code, out, lines

    return call


@pytest.fixture
def refused(run):
    def call(*arguments):
        code, out, lines = run(*arguments)
        assert (code, out, len(lines)) == (2, "", 1), (code, lines)
        assert lines[0].startswith("pivotree: ") and len(lines[0]) <= LONGEST + 10
        return lines[0]

    return call
