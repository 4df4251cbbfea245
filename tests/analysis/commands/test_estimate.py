"""Long eliminations are asked for by name."""

import argparse

import pytest

from pivotree import kkt, orderings
from pivotree.analysis.cli import estimate


@pytest.mark.product
@pytest.mark.parametrize(
    "arguments,words",
    [
        (
            ["solve", "chain:2000", "--order", "crbm"],
            ["solve chain:2000", "min and 32 GB", "crbm", "such as abm", "--yes"],
        ),
        (
            ["compare", "chain:700"],
            ["without crbm, crbm_block_row, random:0 it takes about", "(--order)", "--yes"],
        ),
        (["blame", "star:1000", "--order", "natural"], ["natural", "--yes"]),
        (["report", "chain:700"], ["report chain:700", "without crbm it takes about", "--yes"]),
        (["tune", "binary:9"], ["tune binary:9", "operations", "--most", "--yes"]),
        (["figure", "film", "chain:500", "-o", "x.gif"], ["about 81 s", "60 pictures", "--yes"]),
        (["figure", "condition", "chain:200", "-o", "x.svg"], ["without crbm", "--yes"]),
        (["export", "chain:2000", "--order", "crbm", "-o", "x.c"], ["crbm", "--yes"]),
        (["compare", "chain:100", "--derivatives"], ["without crbm, ", " more it takes", "--yes"]),
        (["compare", "chain:200", "--derivatives", "--states", "9"], ["GB", "--order", "--yes"]),
        (["blame", "chain:200", "--derivatives"], ["blame chain:200", "GB", "crbm", "--yes"]),
        (["report", "chain:200", "--derivatives"], ["GB of memory", "crbm", "--yes"]),
        (["list", "chain:200", "--order", "crbm"], ["of the same kind, such as chain:10", "--yes"]),
        (["list", "chain:100", "--derivatives"], ["list chain:100", "abm", "--yes"]),
        (["solve", "chain:9000"], ["solve chain:9000: takes about 3 min", "smaller", "--yes"]),
        (["solve", "chain:9000", "--certify", "50"], ["fewer digits with --certify", "--yes"]),
        (["solve", "chain:200", "--format", "exact"], ["solve chain:200", "abm", "--yes"]),
        (["guarantee", "chain:30", "--states", "1000000"], ["give fewer --states", "--yes"]),
        (["guarantee", "chain:80", "--digits", "2", "--by-body"], ["leave out --by-body", "--yes"]),
    ],
)
def test_long_work_is_refused_and_says_what_is_smaller(arguments, words, refused, tmp_path):
    line = refused(*arguments)
    assert not [*tmp_path.iterdir()] and all(word in line for word in words), line


def test_short_work_and_work_that_is_wanted_goes_on(monkeypatch):
    system = kkt.build(kkt.load("chain:2000"))
    orders = {"crbm": orderings.get("crbm")}
    asked = argparse.Namespace(command="solve", model="chain:2000", yes=True)
    estimate.admit(asked, system, orders)
    asked.yes = False
    estimate.admit(asked, system, {"abm": orderings.get("abm")})
    with pytest.raises(kkt.SizeError):
        estimate.admit(asked, system, orders)
    with pytest.raises(kkt.SizeError, match="1 s and 32 GB of memory"):  # memory alone
        estimate.admit(asked, system, orders, lambda size: estimate.Work(1.0, 3.2e10))
    estimate.admit(asked, system, orders, lambda size: estimate.Work(59.0, 3.9e9))


def test_an_order_that_cannot_be_is_refused_where_it_is_eliminated(refused, tmp_path):
    (tmp_path / "order.json").write_text('[[["pdd", "nobody"]]]')
    told = refused("solve", "chain:3", "--order", "order.json")
    assert "nobody" in told and "--yes" not in told


SWEEP = """output = "s.csv"
models = ["chain:{n}"]
orders = ["crbm", "abm"]
[ranges]
n = { from = 2, to = 60, step = 2 }
[states]
number = 20
"""


@pytest.mark.product
def test_a_sweep_of_long_traces_is_refused_before_it_begins(refused, tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP.replace("to = 60", "to = 400"))
    told = refused("sweep", "s.toml")
    for words in ("sweep s.toml: takes about", "to trace every model's orders once", "--yes"):
        assert words in told
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by itself, and what it stands at."""
    now = [0.0]
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(estimate.time, "process_time", lambda: now[0])
    monkeypatch.setattr(estimate.os, "getloadavg", lambda: (0.5, 0.5, 0.5))
    return now


def test_many_pieces_are_judged_by_the_first(clock):
    def judged(total, yes=False, **given):
        pilot = estimate.Pilot(argparse.Namespace(yes=yes), "x", "fewer", **given)
        for done in range(16):  # a tenth of a second each, after one that compiled
            clock[0] += 0.1 if done > 1 else 5.0
            pilot(10 * done, total)
            clock[0] += 0.5

    judged(1000, processes=1)  # 0.06 s a piece
    with pytest.raises(kkt.SizeError, match=r"x: takes about 2 min more for 1,890 of 2,000; what"):
        judged(2000, processes=1)
    judged(2000, processes=2)
    judged(2000, yes=True, processes=1)
    with pytest.raises(kkt.SizeError, match=r"takes about 2 min more for 2,490 of 2,600"):
        judged(2600, processes=1, weight=lambda k: k * (2.0 if k > 20 else 1.0))


def test_pieces_that_load_code_do_not_make_the_others_long(clock):
    pilot = estimate.Pilot(argparse.Namespace(yes=False), "x", "fewer")
    for done in range(1, 40):
        clock[0] += 0.5 if done > 2 else 9.0
        pilot(done, 100)
    assert pilot.judged


def test_a_loaded_machine_makes_no_work_long(clock, monkeypatch):
    def judged():
        pilot = estimate.Pilot(argparse.Namespace(yes=False), "x", "fewer")
        for done in range(16):
            clock[0] += 1.0
            pilot(10 * done, 800)

    with pytest.raises(kkt.SizeError, match=r"x: takes about 7\d s more for 730"):
        judged()
    monkeypatch.setattr("pivotree.kkt.machine.native.processors", lambda: 2)
    monkeypatch.setattr(estimate.os, "getloadavg", lambda: (8.0, 8.0, 8.0))
    judged()
    monkeypatch.delattr(estimate.os, "getloadavg")
    with pytest.raises(kkt.SizeError, match=r"x: takes about 7\d s more for 730"):
        judged()


def test_motions_are_judged_by_how_far_the_first_has_come(clock):
    def judged(count, **given):
        usual = {"seconds": 10.0, "steps": 10_000, "runs": 1, "integrator": "RK45"}
        options = argparse.Namespace(model="x", yes=False, **(usual | given))
        heard = []
        tick = estimate.Motions(options, options, count).of(heard.append)
        for k in range(1, 80):
            clock[0] += 0.1
            tick(0.05 * k)
        assert len(heard) == 79

    judged(1)
    with pytest.raises(kkt.SizeError, match=r"simulate x: takes about 7\d s more; give fewer"):
        judged(4)
    with pytest.raises(kkt.SizeError):
        judged(1, runs=5)
    judged(1, runs=5, integrator="cash_karp")
    with pytest.raises(kkt.SizeError, match="takes about 3 min more"):
        judged(1, seconds=100.0)
    judged(1, seconds=100.0, steps=300)  # after which it is given up


@pytest.mark.product
def test_what_was_judged_to_be_long_is_kept_and_goes_on(run, tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "TRIED", 0.0)
    (tmp_path / "s.toml").write_text(SWEEP.replace("to = 60", "to = 12").replace("20", "4"))
    report = ["report", "chain:2", "--states", "4000", "--orders", "abm", "--formats", "float32"]
    for arguments, kept in ((["sweep", "s.toml", "-j", "1"], "s.csv.parts"), (report, "report-chain-2")):
        monkeypatch.setattr(estimate, "LONG", 1.0 if arguments is report else 30.0)
        monkeypatch.setattr(estimate.time, "perf_counter", iter(range(0, 10**9, 9999)).__next__)
        code, _, told = run(*arguments)
        assert code == 2 and "what was measured is kept" in told and "--yes goes on" in told
        assert (tmp_path / kept).is_dir()
        assert run(*arguments, "--yes")[0] == 0
    assert (tmp_path / "s.csv").exists() and (tmp_path / kept / "report.html").exists()
