"""An arm and its report, made once for all tests of reports."""

import pytest
from report_made import ARM, FORMATS, LINK, ORDERS

from pivotree import kkt
from pivotree.analysis.report import robot_report


@pytest.fixture(scope="session")
def arm(tmp_path_factory):
    """A small arm with every way of writing limits."""
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    masses = {"upper": 3.0, "lower": 1.5, "tip": 0.4, "hand": 0.2}
    links = "".join(LINK.format(name, mass, i=0.01 * mass) for name, mass in masses.items())
    path.write_text(ARM.format(links=links))
    return path


@pytest.fixture(scope="session")
def made(arm, tmp_path_factory):
    """One report, written."""
    folder = tmp_path_factory.mktemp("made")
    report = robot_report(kkt.load(arm), "arm", ORDERS, FORMATS, states=30, seed=3, digits=4, folder=folder)
    return report, folder
