"""Marks of this folder."""


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds; leave out with -m 'not slow'")
