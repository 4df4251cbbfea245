"""Long eliminations are asked for by name."""

import argparse

import pytest

from pivotree import kkt, orderings
from pivotree.analysis import cli
from pivotree.analysis.cli import estimate


@pytest.mark.parametrize(
    "arguments,words",
    [(["solve", "chain:2000", "--order", "crbm"],
      ["solve chain:2000", "about 3 h", "GB", "crbm", "such as abm", "--yes"]),
     (["compare", "chain:700"],
      ["without crbm, crbm_block_row it takes about", "(--orders)", "--yes"]),
     (["blame", "star:1000", "--order", "natural"], ["natural", "--yes"]),
     (["export", "chain:2000", "--order", "crbm", "-o", "x.c"], ["crbm", "--yes"])],
)  # fmt: skip
def test_long_work_is_refused_and_says_what_is_smaller(
    arguments, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and not [*tmp_path.iterdir()]
    for word in words:
        assert word in err, err


def test_short_work_and_work_that_is_wanted_goes_on(monkeypatch):
    system = kkt.build(kkt.load("chain:2000"))
    orders = {"crbm": orderings.get("crbm")}
    asked = argparse.Namespace(command="solve", model="chain:2000", yes=True)
    estimate.admit(asked, system, orders)
    asked.yes = False
    estimate.admit(asked, system, {"abm": orderings.get("abm")})
    with pytest.raises(kkt.SizeError):
        estimate.admit(asked, system, orders)
    monkeypatch.setattr(estimate, "SECONDS", 1e-10)
    with pytest.raises(kkt.SizeError, match="GB of memory"):  # its memory alone is too much
        estimate.admit(asked, system, orders)
    monkeypatch.setattr(estimate, "BYTES", 1e-3)
    estimate.admit(asked, system, orders)


def test_an_order_that_cannot_be_is_refused_where_it_is_eliminated(tmp_path, capsys):
    order = tmp_path / "order.json"
    order.write_text('[[["pdd", "nobody"]]]')
    assert cli.main(["solve", "chain:3", "--order", str(order)]) == 2
    told = capsys.readouterr().err
    assert "nobody" in told and "--yes" not in told
