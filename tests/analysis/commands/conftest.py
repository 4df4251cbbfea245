"""Commands are run in this process, in the test's own folder, and refusals are one line."""

from contextlib import chdir

import pytest

from pivotree.analysis import cli


@pytest.fixture
def run(capsys, tmp_path):
    """Run a command in this process: exit code, standard output, standard error."""

    def call(*arguments):
        capsys.readouterr()
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        return (code, *capsys.readouterr())

    with chdir(tmp_path):
        yield call


@pytest.fixture
def refused(run):
    """The one line of a refusal: exit 2, nothing on standard output, no traceback."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 2 and out == "", err
        (line,) = [line for line in err.splitlines() if not line.startswith("pivotree: ... ")]
        assert line.startswith("pivotree: ") and "Traceback" not in err
        return line.removeprefix("pivotree: ")

    return call
