"""A sweep, made once for all tests of sweeps."""

import pytest
from sweep_runs import SMALL, config

from pivotree.analysis.sweep import read_config, sweep


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    sweep(read_config(config(folder, SMALL)), jobs=1)
    return folder / "s.csv"
