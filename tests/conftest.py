"""Examples that are the same in every run, and no cache on disk that is older than the run."""

import os

from hypothesis import HealthCheck, settings

os.environ["PIVOTREE_CACHE"] = "off"
settings.register_profile(
    "same", derandomize=True, database=None, deadline=None, max_examples=50, print_blob=False,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
settings.load_profile("same")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")
