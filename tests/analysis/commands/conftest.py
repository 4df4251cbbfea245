"""Commands are run in this process, and refusals are one line."""

import pytest

from pivotree.analysis import cli


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit code, standard output, standard error."""

    def call(*arguments):
        capsys.readouterr()
        try:
            code = cli.main([str(a) for a in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(run):
    """The one line of a refusal: exit 2, nothing on standard output, no traceback."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 2 and out == ""
        (line,) = err.splitlines()
        assert line.startswith("pivotree: ") and "Traceback" not in err
        return line.removeprefix("pivotree: ")

    return call
