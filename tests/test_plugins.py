"""Another package adds orders by its entry points."""

import importlib
import sys

import pytest

import pivotree as pt
from pivotree.analysis.cli import main

MODULE = """
import pivotree as pt

def tips(structure):
    "Every joint first, tip to base."
    return [[("pdd", k), ("qdd", k), ("f", k)] for k in structure.tip_to_base]

marked = pt.order("tips_too", source="a thesis")(tips)
"""
ENTRIES = """
[pivotree.orders]
tips = their_orders:tips
number = their_orders:__name__
gone = their_orders:gone
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A distribution that is installed: its module, and what it says of itself."""
    about = tmp_path / "their_orders-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-orders\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "their_orders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("their_orders", None)


def test_an_order_of_another_package(package, capsys):
    system = pt.build(pt.chain(3))
    theirs = pt.eliminate(system, pt.orderings.get("tips"))
    assert (theirs.qdd == pt.eliminate(system, pt.orderings.get("abm")).qdd).all()
    assert main(["solve", "chain:3", "--order", "tips"]) == 0
    capsys.readouterr()
    assert main(["orders"]) == 0
    told = capsys.readouterr().out
    assert "Every joint first" in told and "cannot be loaded" in told


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gone", "their-orders, their_orders:gone: raises AttributeError"),
        ("number", "is no function of a structure"),
        ("tip", "tips"),
    ],
)
def test_one_that_cannot_be_had_is_one_sentence(package, name, says, capsys):
    assert main(["solve", "chain:2", "--order", name]) == 2
    told = capsys.readouterr().err
    assert says in told and told.count("\n") == 1
