"""The same examples in every run; what is compiled in a run is compiled once, and kept for none."""

import os
import shutil
import sys
import tempfile

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same", derandomize=True, database=None, deadline=None, max_examples=50, print_blob=False,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.load_profile("same")


def pytest_configure(config):
    """A new folder for compiled programs, which the processes of this run share."""
    if not hasattr(config, "workerinput"):
        os.environ["PIVOTREE_CACHE"] = tempfile.mkdtemp(prefix="pivotree-tests-")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["PIVOTREE_CACHE"], ignore_errors=True)


@pytest.fixture(autouse=True)
def traced_once(request):
    """Each order is lowered once on each robot, but in tests that change the program."""
    if "monkeypatch" in request.fixturenames or "pivotree.kkt" not in sys.modules:
        yield
        return
    import tapes

    module = sys.modules["pivotree.kkt.tape.trace"]
    module.lower = tapes.lowered_once
    yield
    module.lower = tapes.lower
