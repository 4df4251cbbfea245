"""Modules that stand beside the pages of docs, which is no package."""

import importlib
import sys

import pytest
from helpers import ROOT


@pytest.fixture(scope="module")
def check():
    """docs/check.py."""
    sys.path.insert(0, str(ROOT / "docs"))
    yield importlib.import_module("check")
    sys.path.remove(str(ROOT / "docs"))
    del sys.modules["check"]


@pytest.fixture(scope="module")
def load(request, check):
    """Imports modules of the folder that a file of tests is about."""
    with check.beside(request.module.FOLDER) as load:
        yield load
