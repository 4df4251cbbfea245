"""Two sweeps, made once for all tests of sweeps."""

import pytest
from sweep_runs import LONG, SLOW, SMALL, config

from pivotree.analysis.sweep import read_config, sweep


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    sweep(read_config(config(folder, SMALL)), jobs=1)
    return folder / "s.csv"


@pytest.fixture(scope="session")
def long(tmp_path_factory):
    """A sweep of many pieces in a folder, and its table by an uninterrupted run."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "slow.py").write_text(SLOW)
    sweep(read_config(config(folder, LONG, "whole.csv")), jobs=1)
    return folder, (folder / "whole.csv").read_bytes()
