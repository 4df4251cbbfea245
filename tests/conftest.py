"""The same examples in every run; what is compiled in a run is compiled once, and kept for none.

A file's tests share one Chromium.
"""

import gc
import os
import shutil
import sys
import tempfile
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]

settings.register_profile(
    "same",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("same")


def pytest_configure(config):
    """A new folder for compiled programs, which the processes of this run share.

    Garbage is collected in large batches: of tens of thousands of tests' objects it takes a sixth
    of the time otherwise.
    """
    gc.set_threshold(50_000, 20, 20)
    if not hasattr(config, "workerinput"):
        os.environ["PIVOTREE_CACHE"] = tempfile.mkdtemp(prefix="pivotree-tests-")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs a browser is marked so; of a function's cases that are all products the first is none.

    So make test has a case of every statement that holds for many.  A test without cases would be skipped and
    find nothing: it is an error, but of peers where example-robot-data is not installed.
    """
    empty = [item.nodeid for item in items if "NOTSET" in item.name.partition("[")[2]]
    if empty:
        there = import_module("pivotree.kkt.model.robots").robots_folder()
        if there or any("/peers/" not in name for name in empty):
            raise pytest.UsageError(f"a list of cases is empty: {', '.join(empty)}")
    plain = {item.function for item in items if "product" not in [mark.name for mark in item.own_markers]}
    for item in items:
        if "chromium" in item.fixturenames:
            item.add_marker("browser")
        if hasattr(item, "callspec") and item.function not in plain:
            plain.add(item.function)
            item.own_markers = [mark for mark in item.own_markers if mark.name != "product"]


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["PIVOTREE_CACHE"], ignore_errors=True)


@pytest.fixture(autouse=True)
def traced_once(request):
    """Each order is lowered once on each robot, but in tests that change the program.

    Tests that are marked uncached lower their programs as users do: every room has some.
    """
    if (
        request.node.get_closest_marker("uncached")
        or "monkeypatch" in request.fixturenames
        or "pivotree.kkt" not in sys.modules
    ):
        yield
        return
    import tapes

    import_module("pivotree.kkt.tape.trace")
    modules = [sys.modules[name] for name in tapes.LOWERING if name in sys.modules]
    for module in modules:
        module.lower = tapes.lowered_once
    yield
    for module in modules:
        module.lower = tapes.lower


@pytest.fixture(scope="module")
def chromium():
    """The Chromium that is installed, headless; a file's tests share it."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()
