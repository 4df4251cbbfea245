"""``pivotree list``: what it prints and writes, and what it refuses."""

import ast

import pytest

from pivotree import kkt, orderings
from pivotree.analysis import listing
from pivotree.analysis.cli import main


@pytest.mark.thorough
@pytest.mark.parametrize("style", ["text", "pseudocode", "latex", "python"])
def test_the_command_writes_what_the_library_gives(style, tmp_path, capsys):
    flags = [] if style == "text" else [f"--{style}"]
    assert main(["list", "chain:3", "--order", "crbm", *flags]) == 0
    printed = capsys.readouterr().out
    path = tmp_path / "listed"
    assert main(["list", "chain:3", "--order", "crbm", *flags, "-o", str(path)]) == 0
    assert path.read_text() == printed and len(printed) > 300


@pytest.mark.thorough
@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "chain:3", "--order", "no_such_order"],
        ["list", "chain:3", "--notation", "newton"],
        ["list", "no_such_model"],
        ["list", "chain:3", "-o", "/no/such/folder/file.tex"],
        ["list", "chain:3", "-o", " "],
        ["list", "chain:2000", "--order", "crbm"],
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, capfd):
    assert main(arguments) == 2
    error = capfd.readouterr().err
    assert error.startswith("pivotree: ") and error.count("\n") == 1


def test_two_styles_are_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["list", "chain:3", "--latex", "--python"])
    assert stop.value.code == 2 and "not allowed with" in capsys.readouterr().err


def test_no_name_ends_the_docstring_of_a_script():
    """An order in a file is called as the file is, which may come from anyone."""
    name = '"""; run(); """'

    @orderings.order(name, source=f"{name}.json")
    def named(structure):
        return orderings.get("abm")(structure)

    tree = kkt.chain(2)
    tree.graph["name"] = name
    script = listing.render(listing.of(kkt.build(tree), named), "python")
    texts = [node.value for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Constant)]
    assert sum(name in str(text) for text in texts) == 2  # of the script and of its function
    assert not [node for node in ast.walk(ast.parse(script)) if getattr(node, "id", "") == "run"]
