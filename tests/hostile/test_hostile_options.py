"""Options out of range, sentences, and Ctrl-C: one line on standard error."""

import json
import re
import shutil

import pytest
from hostile_words import COMMANDS, output_of, positional, words

from pivotree import kkt
from pivotree.analysis import cli
from pivotree.kkt.base.reading import read_json
from pivotree.kkt.base.text import LONGEST, LONGEST_NAME, sentence

OPTIONS = [
    (command, action.option_strings[-1], action.type is not None)
    for command, parser in COMMANDS.items()
    for action in parser._actions
    if action.option_strings and action.nargs != 0 and action is not output_of(command)
]
NUMBERS = ["nan", "inf", "-1", "0", "1e400", str(10**30), "9" * 5000]
TEXTS = ["", "nan", "\x1b[31m", "1,,2", "x" * 1_000_000, "\u202e"]
# What is in range all the same: no corrections, step or seed 0; seeds, times and limits as large
# as one likes; names of functions in C; a format where a figure shows none; an empty clock is none.
LARGE = str(10**30)
STATED = [command for command, option, _ in OPTIONS if option == "--random"]
IN_RANGE = {
    ("compare", "--refine"): {"0"},
    ("solve", "--refine"): {"0"},
    ("spy", "--step"): {"0"},
    ("figure", "--step"): {"0"},
    ("figure", "--format"): {*TEXTS},
    ("report", "--seed"): {"0", LARGE},
    ("blame", "--top"): {LARGE},
    ("tune", "--most"): {LARGE},
    **{("simulate", f"--{name}"): {LARGE} for name in ("seconds", "eps", "step", "floor", "steps")},
    ("simulate", "--seed"): {"0", LARGE},
    ("guarantee", "--seed"): {"0", LARGE},
    **{(name, "--random"): {"0", LARGE} for name in STATED},
    ("guarantee", "--states"): {"0"},
    ("simulate", "--clock"): {""},
    ("export", "--name"): {"nan", TEXTS[4]},
}


@pytest.mark.product
@pytest.mark.parametrize("command,option,typed", OPTIONS)
def test_options_out_of_range(run, tmp_path, command, option, typed):
    for value in [*TEXTS, *NUMBERS] if typed else TEXTS:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        if option == "--port":  # served until Ctrl-C where it is right
            if value == "0":
                continue
            code, _, lines = run(command, "chain:1", f"{option}={value}", "--no-browser")
        else:
            code, _, lines = run(*words(command, **{option: value}))
        expected = 0 if value in IN_RANGE.get((command, option), ()) else 2
        assert (code, len(lines)) == (expected, expected // 2), (value[:20], lines)
        assert all(len(line) <= LONGEST + 10 for line in lines)


@pytest.mark.parametrize("command", positional("MODEL"))
def test_specs_beyond_reason(refused, command):
    for spec in (
        "chain:1000000000",
        f"comb:{10**30}",
        "random_tree:n=1000000000",
        "binary:60",
        f"star:{10**18}",
        "featherstone:1000000000",
        f"chain:{'9' * 5000}",
        "x" * 10**6,
        "chain:1,axes=\x1b",
        "two_link:r=nan",
        "",
    ):
        refused(*words(command, MODEL=spec))


@pytest.mark.parametrize("command", COMMANDS)
def test_arguments_that_are_no_text(refused, command):
    assert "'\\udcff'" in refused(command, "\udcff")


@pytest.mark.product
@pytest.mark.parametrize(
    "arguments,why",
    [
        ("--integrator Radau --seconds 1e6", "Radau breaks off: .* at t = "),
        ("--integrator BDF --seconds 10 --eps 1e-300", "BDF breaks off: .* at t = "),
        ("--integrator LSODA --seconds 1e300 --steps 100", "gives up after 100 steps at t = "),
        ("--integrator RK45 --seconds 1e300 --steps 100", "gives up after 100 steps at t = "),
        ("--seconds 1e300 --steps 100", "more than 100 steps at t = "),
    ],
)
def test_motions_that_go_nowhere(run, arguments, why):
    code, out, lines = run("simulate", "chain:3", "--order", "abm", "--json", *arguments.split())
    (row,) = json.loads(out)["rows"]
    assert code == 1 and lines == [] and row["failed"] == 1 and re.match(why, row["why"])


def test_steps_too_short_to_count(refused):
    why = refused("simulate", "chain:3", "--integrator", "midpoint", "--step", "1e-300")
    assert "--step: is 1e-300, more than 10,000,000 steps" in why


def test_a_sentence_is_one_short_line_of_what_can_be_printed():
    assert sentence("a\n  b\t\u2028c  d") == "a b c  d"
    assert sentence("\x1b[31m\ud800\u202e\0é漢") == "\\x1b[31m\\ud800\\u202e\\x00é漢"
    for long in ("x" * 10**6, "x " * 10**6, "\0" * 10**6, f"file {'x' * 10**6}: give a file"):
        assert len(sentence(long)) <= LONGEST and sentence(sentence(long)) == sentence(long)
    assert sentence(f"file {'x' * 10**6}: give a file").endswith("x: give a file")
    assert str(kkt.OrderError("a\n" + "b" * 10**6)).startswith("a bbb")
    assert LONGEST_NAME <= LONGEST


def test_json_says_everything_once(tmp_path):
    path = tmp_path / "a.json"
    for text, why in (('{"a": [{"b": 1, "b": 1}]}', "'b' twice"), ("[-Infinity]", "-Infinity")):
        path.write_text(text)
        with pytest.raises(kkt.PivotreeError, match=why):
            read_json(path)


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
def test_where_an_order_fails_is_said_in_its_own_file(refused, tmp_path):
    """Of the frames behind an error those of the engine and of the orders are not told."""
    (tmp_path / "own.py").write_text("def f(structure):\n    return structure.children(1 / 0)\n")
    assert "(own.py, line 2)" in refused(*words("solve", **{"--order": "own.py:f"}))
    (tmp_path / "deep.py").write_text("def f(structure):\n    return structure.children([])\n")
    assert "(deep.py, line 2)" in refused(*words("solve", **{"--order": "deep.py:f"}))
