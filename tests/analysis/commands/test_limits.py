"""Long eliminations are asked for by name."""

import argparse

import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import limits
from pivotree.analysis.cli.commands import tune


@pytest.mark.product
@pytest.mark.parametrize(
    "arguments,words",
    [
        (["solve", "chain:2000", "--order", "crbm"], ["solve chain:2000", "by crbm", "such as abm", "--yes"]),
        (["compare", "chain:700"], ["leave out crbm, ", "(--order)", "--yes"]),
        (["blame", "star:1000", "--order", "natural"], ["natural", "--yes"]),
        (["report", "chain:700"], ["report chain:700", "leave out crbm (--order)", "--yes"]),
        (["tune", "binary:9"], ["tune binary:9", "operations", "--most", "--yes"]),
        (["export", "chain:2000", "--order", "crbm", "-o", "x.c"], ["crbm", "--yes"]),
        (["compare", "chain:100", "--derivatives"], ["leave out crbm, ", " more (--order)", "--yes"]),
        (["blame", "chain:200", "--derivatives"], ["blame chain:200", "crbm", "--yes"]),
        (["list", "chain:200", "--order", "crbm"], ["of the same kind, such as chain:10", "--yes"]),
        (["solve", "chain:1500", "--certify", "100000"], ["fewer digits with --certify", "--yes"]),
        (["solve", "chain:200", "--format", "exact"], ["solve chain:200", "abm", "--yes"]),
        (["guarantee", "chain:30", "--states", "1000000"], ["give fewer --states", "--yes"]),
    ],
)
def test_long_work_is_refused_and_says_what_is_smaller(arguments, words, refused, tmp_path):
    line = refused(*arguments)
    assert not [*tmp_path.iterdir()] and all(word in line for word in words), line


@pytest.mark.parametrize("model", ["chain:100", "humanoid", "random_tree:n=100,seed=1"])
def test_all_orders_on_usual_models_are_not_long(model):
    system = kkt.build(kkt.load(model))
    asked = argparse.Namespace(command="compare", model=model, yes=False)
    both = [kkt.arithmetic.get_format(name) for name in ("float32", "float64")]
    every = {name: orderings.get(name) for name in orderings.names()}
    limits.admit(asked, system, every, limits.played(system, both))
    tune._admit(argparse.Namespace(command="tune", model=model, yes=False, most=60), system)


def test_orders_of_a_large_model_are_refused_before_they_are_counted(monkeypatch):
    system = kkt.build(kkt.load("chain:12000"))
    asked = argparse.Namespace(command="compare", model="chain:12000", yes=False)
    orders = dict.fromkeys(orderings.names())
    monkeypatch.setattr(limits, "operations", lambda _, order: 2e7 if order == "abm" else 1 / 0)
    with pytest.raises(
        kkt.SizeError, match=f"by {len(orders)} orders, .* name fewer orders, such as --order abm"
    ):
        limits.admit(asked, system, orders, 10.0)
    monkeypatch.setattr(limits, "operations", lambda *_: 500.0 * 12000)
    limits.admit(asked, system, {"abm": None}, 10.0)


def test_advice_and_yes_lead_on():
    """Without the orders that are named the work is admitted, and with --yes all of it."""
    system = kkt.build(kkt.load("chain:700"))
    asked = argparse.Namespace(command="compare", model="chain:700", yes=False)
    orders = {name: orderings.get(name) for name in ("crbm", "abm", "gain_abm")}
    with pytest.raises(kkt.SizeError, match=r"most of them by crbm, .* leave out crbm \(--order\)"):
        limits.admit(asked, system, orders)
    limits.admit(asked, system, {name: orders[name] for name in ("abm", "gain_abm")})
    asked.yes = True
    limits.admit(asked, system, orders)


def test_an_order_that_cannot_be_is_refused_where_it_is_eliminated(refused, tmp_path):
    (tmp_path / "order.json").write_text('[[["pdd", "nobody"]]]')
    told = refused("solve", "chain:3", "--order", "order.json")
    assert "nobody" in told and "--yes" not in told
