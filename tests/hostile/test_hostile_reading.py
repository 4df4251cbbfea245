"""Files and code that cannot be read or run: one sentence, exit 2, never a traceback."""

import json
import os
import re
from xml.etree import ElementTree

import pytest
from designs import covering, listed
from hostile_words import COMMANDS, GOOD, HOSTILE, positional, words

from pivotree import kkt, orderings
from pivotree.analysis import cli
from pivotree.kkt.arithmetic import Custom
from pivotree.kkt.base.foreign import foreign


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(10**12)


UNREADABLE = {
    "fifo": os.mkfifo,
    "zeros": lambda path: os.symlink("/dev/zero", path),
    "null": lambda path: os.symlink("/dev/null", path),
    "folder": os.mkdir,
    "missing": lambda path: None,
    "loop": lambda path: os.symlink(path.name, path),
    "huge": sparse,
    "empty": lambda path: path.write_bytes(b""),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "utf-16": lambda path: path.write_bytes(GOOD.encode("utf-16")),
    "deep": lambda path: path.write_text("[" * 100_000),
    "deeper": lambda path: path.write_text('{"a":' * 100_000),
    "xml": lambda path: path.write_text("<robot>" * 10_000),
}


@pytest.mark.parametrize(
    "command,kind", covering([*positional("MODEL"), *positional("CONFIG")], UNREADABLE, unmarked=8)
)
def test_files_that_cannot_be_read(refused, tmp_path, command, kind):
    suffixes = (".toml",) if command in positional("CONFIG") else (".json", ".urdf")
    for suffix in suffixes:
        if kind == "utf-16" and suffix == ".urdf":
            continue  # XML says its encoding
        path = tmp_path / f"in{suffix}"
        UNREADABLE[kind](path)
        line = refused(*words(command, MODEL=str(path), CONFIG=str(path)))
        assert re.search(rf"in{suffix}(:| is) ", line)


@pytest.mark.parametrize("name", ["a\0b.json", "\ud800.json"])
def test_a_name_that_no_file_can_have(name):
    with pytest.raises(kkt.ModelError, match="cannot be read"):
        kkt.read_model(name)


WITH_ORDERS = [name for name, parser in COMMANDS.items() if "--order" in parser._option_string_actions]


@pytest.mark.parametrize(
    "command,kind",
    covering(WITH_ORDERS, ["fifo", "zeros", "folder", "missing", "loop", "huge", "binary"], unmarked=8),
)
def test_order_files_that_cannot_be_read(refused, tmp_path, command, kind):
    for suffix, name in ((".json", "in.json"), (".py", "in.py:f")):
        UNREADABLE[kind](tmp_path / f"in{suffix}")
        assert "order in." in refused(*words(command, **{"--order": name}))


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "\ud800", "\0", "\u2028", "x" * 501])
def test_names_that_no_figure_or_file_could_show(name):
    tree = kkt.new_tree("t")
    with pytest.raises(kkt.ModelError, match="field 'name'"):
        kkt.add_body(tree, name, mass=1.0)
    kkt.add_body(tree, "a", mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    tree.graph["name"] = name
    with pytest.raises(kkt.ModelError, match=r"tree .* field 'name'"):
        kkt.build(tree)
    with pytest.raises(kkt.ModelError, match="field 'name'"):
        kkt.tree_from_arrays([-1], mass=[1.0], names=[name])
    tree.graph["name"] = "t"
    with pytest.raises(kkt.ModelError, match=r"loop .* field 'name'"):
        kkt.build(tree, loops=[kkt.contact("a", point=(0, 0, 0), name=name)])


@pytest.mark.product
@pytest.mark.parametrize("name", listed(HOSTILE["odd names"], 3, pytest.mark.soak))
def test_odd_names_that_are_names(run, tmp_path, name):
    (tmp_path / "in.json").write_text(GOOD.replace('"a"', json.dumps(name)))
    code, out, lines = run("solve", "in.json", "--json")
    assert code == 0 and not lines and len(json.loads(out)["qdd"]) == 2
    code, out, _ = run("solve", "in.json")
    assert code == 0 and out.splitlines()[0].startswith(f"{name}\t")
    assert run("figure", "spy", "in.json", "-o", "o.svg")[0] == 0
    ElementTree.parse(tmp_path / "o.svg")
    assert not (tmp_path.parent / "x").exists()


ABM = "[[('pdd', k), ('qdd', k), ('f', k)] for k in s.tip_to_base]"
RAISING = {
    "own class at import": "class E(BaseException): pass\nraise E('a\\n\\x1b[31m')",
    "own class in a hash": "class E(BaseException): pass\nclass B:\n"
    "    def __hash__(self): raise E('x')\ndef f(s): return [[('pdd', B())]]",
    "no text for itself": "class E(Exception):\n    def __str__(self): raise SystemExit(3)\n"
    "def f(s): raise E",
    "no text for its block": "class B:\n    def __repr__(self): raise ValueError('x')\n"
    "def f(s): return [[('pdd', B())]]",
    "exit": "def f(s): raise SystemExit(0)",
    "midway": "def f(s):\n    yield [('pdd', 'j1')]\n    raise GeneratorExit",
    "while it is read": "class L(list):\n    def __len__(self): raise BaseException('x')\n"
    "def f(s): return [L([('pdd', 'j1')])]",
    "without end": "def f(s): return f(s)",
    "a million words": "def f(s): raise ValueError('x' * 1000000)",
    "no end of a text": "def f(s): return '",
    "a module's own": "def __getattr__(name): raise BaseException(name)",
    "a name": f"from pivotree.kkt import Order\nf = Order(lambda s: {ABM}, '\\ud800')",
    "a long name": f"from pivotree.kkt import Order\nf = Order(lambda s: {ABM}, 'x' * 1000000)",
    "rules": f"from pivotree.kkt import Order\nf = Order(lambda s: {ABM}, 'x', rules='y')",
}


@pytest.mark.parametrize("what", RAISING)
def test_whatever_an_order_raises_is_one_sentence(refused, tmp_path, what):
    (tmp_path / "own.py").write_text(RAISING[what])
    for command in ("solve", "compare"):
        line = refused(*words(command, **{"--order": "own.py:f"}))
        assert line.startswith("pivotree: order")
    with pytest.raises(kkt.OrderError):
        kkt.eliminate(kkt.build(kkt.chain(2)), orderings.get(f"{tmp_path}/own.py:f"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["own.py"]  # and no __pycache__


def test_ctrl_c_in_an_order_is_ctrl_c(run, tmp_path):
    (tmp_path / "own.py").write_text("def f(s): raise KeyboardInterrupt")
    assert run("solve", "chain:1", "--order", "own.py:f")[0] == cli.INTERRUPTED


def _raising(op, x, y):
    raise GeneratorExit("x")


class Raising:
    """A number that can do nothing."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        raise SystemExit(0)

    __sub__ = __mul__ = __truediv__ = __neg__ = __add__


@pytest.mark.uncached
@pytest.mark.parametrize("operate", [_raising, Raising])
def test_whatever_a_number_raises_is_one_sentence(operate):
    own = Custom("mine", 1e-3, operate)
    with pytest.raises(kkt.FormatError, match=r"raises (GeneratorExit|SystemExit|TypeError)"):
        kkt.eliminate(kkt.build(kkt.chain(2)), orderings.get("abm"), own)


def test_only_ctrl_c_the_end_of_memory_and_our_own_go_through():
    for passing in (KeyboardInterrupt(), MemoryError(), kkt.ModelError("ours")):
        with pytest.raises(type(passing)) as caught, foreign("order 'f'"):
            raise passing
        assert caught.value is passing
    with pytest.raises(KeyboardInterrupt), foreign("order 'f'"):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error
