"""Marks of this folder, and no cache on disk: what is tested is made by the code that is tested."""

import os

os.environ["PIVOTREE_CACHE"] = "off"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")
