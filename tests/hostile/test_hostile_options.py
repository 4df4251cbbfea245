"""Options out of range, sentences, and Ctrl-C: one line on standard error."""

import json
import re
import shutil

import pytest
from hostile_words import COMMANDS, output_of, positional, words

from pivotree import kkt
from pivotree.analysis import cli
from pivotree.kkt.base.errors import LONGEST, sentence
from pivotree.kkt.base.foreign import LONGEST_NAME

OPTIONS = [
    (command, action.option_strings[-1], action.type is not None)
    for command, parser in COMMANDS.items()
    for action in parser._actions
    if action.option_strings and action.nargs != 0 and action is not output_of(command)
]
NUMBERS = ["nan", "inf", "-1", "0", "1e400", str(10**30), "9" * 5000]
TEXTS = ["", "nan", "\x1b[31m", "1,,2", "x" * 1_000_000, "\u202e"]
# What is in range all the same: no corrections, step or seed 0; seeds, times and limits as large
# as one likes; names of functions in C; a format where a figure shows none.
LARGE = str(10**30)
SEEDS = ("--seed",)
IN_RANGE = {
    "0": "figure --step, guarantee --states",
    LARGE: "blame --top, simulate --seconds, simulate --eps",
    "nan": "export --name",
    TEXTS[4]: "export --name",
}


def in_range(command, option, value):
    seed = option in SEEDS and value in ("0", LARGE)
    shown = (command, option) == ("figure", "--format") and value in TEXTS
    return seed or shown or f"{command} {option}" in IN_RANGE.get(value, "").split(", ")


@pytest.mark.product
@pytest.mark.parametrize("command,option,typed", OPTIONS)
def test_options_out_of_range(run, tmp_path, command, option, typed):
    values = [*TEXTS[:3], *NUMBERS] if typed else TEXTS
    right = [value for value in values if in_range(command, option, value)]
    for value in (value for value in values if value not in right[1:]):  # one that is right does its work
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        if option == "--port" and value == "0":  # served until Ctrl-C
            continue
        given = [command, "chain:1", f"--port={value}"] if option == "--port" else None
        code, _, lines = run(*(given or words(command, **{option: value})))
        expected = 0 if value in right else 2
        assert (code, len(lines)) == (expected, expected // 2), (value[:20], lines)
        assert all(len(line) <= LONGEST + 10 for line in lines)


@pytest.mark.parametrize("command", positional("MODEL"))
def test_specs_beyond_reason(refused, command):
    specs = ["chain:1000000000", f"comb:{10**30}", "random_tree:n=1000000000", "binary:60", f"star:{10**18}"]
    specs += [f"chain:{'9' * 5000}", "x" * 10**6, "chain:1,axes=\x1b", ""]
    for spec in specs:
        refused(*words(command, MODEL=spec))


def test_arguments_that_are_no_text(refused):
    for command in COMMANDS:
        assert "'\\udcff'" in refused(command, "\udcff"), command


@pytest.mark.product
@pytest.mark.parametrize(
    "arguments,why",
    [
        ("--integrator Radau --seconds 1e6", "Radau breaks off: .* at t = "),
        ("--integrator BDF --seconds 10 --eps 1e-300", "BDF breaks off: .* at t = "),
        ("--integrator LSODA,steps=100 --seconds 1e300", "gives up after 100 steps at t = "),
        ("--integrator cash_karp,steps=100 --seconds 1e300", "more than 100 steps at t = "),
    ],
)
def test_motions_that_go_nowhere(run, arguments, why):
    code, out, lines = run("simulate", "chain:3", "--order", "abm", "--json", *arguments.split())
    (row,) = json.loads(out)["rows"]
    assert code == 1 and lines == [] and row["failed"] == 1 and re.match(why, row["why"])


def test_a_sentence_is_one_short_line_of_what_can_be_printed():
    assert sentence("a\n  b\t\u2028c  d") == "a b c  d"
    assert sentence("\x1b[31m\ud800\u202e\0é漢") == "\\x1b[31m\\ud800\\u202e\\x00é漢"
    for long in ("x" * 10**6, "x " * 10**6, "\0" * 10**6, f"file {'x' * 10**6}: give a file"):
        assert len(sentence(long)) <= LONGEST and sentence(sentence(long)) == sentence(long)
    assert sentence(f"file {'x' * 10**6}: give a file").endswith("x: give a file")
    assert str(kkt.OrderError("a\n" + "b" * 10**6)).startswith("a bbb")
    assert LONGEST_NAME <= LONGEST


def test_ctrl_c_behind_an_error_of_compiled_code(run, monkeypatch):
    def interrupted(options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("<built-in> returned a result with an exception set") from error

    monkeypatch.setattr("pivotree.analysis.cli.commands.orders.run", interrupted)
    code, out, lines = run("orders")
    assert (code, out, lines) == (cli.INTERRUPTED, "", ["pivotree: interrupted"])


@pytest.mark.uncached
@pytest.mark.parametrize("stem,asked", [("own", "1 / 0"), ("deep", "[]")])
def test_where_an_order_fails_is_said_in_its_own_file(refused, tmp_path, stem, asked):
    """Of the frames behind an error those of the engine and of the orders are not told."""
    (tmp_path / f"{stem}.py").write_text(f"def f(structure):\n    return structure.children({asked})\n")
    assert f"({stem}.py, line 2)" in refused(*words("solve", **{"--order": f"{stem}.py:f"}))
