"""What is public says what it takes: arrays by name, with shapes and units, and what is raised."""

import inspect
import re

import pytest

import pivotree as pt

ARRAY = re.compile(r"Array|Floats|Sequence\[float")
FUNCTIONS = {
    f"{room.__name__}.{name}": getattr(room, name)
    for room in (pt.kkt, pt.orderings, pt.analysis)
    for name in room.__all__
    if inspect.isfunction(getattr(room, name))
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_says_what_it_takes_and_raises(name):
    function = FUNCTIONS[name]
    doc, signature = inspect.getdoc(function) or "", inspect.signature(function)
    assert doc, "no docstring"
    if signature.parameters:
        assert "aises" in doc, "what it raises is not said"
    arrays = [p for p, v in signature.parameters.items() if ARRAY.search(str(v.annotation))]
    unnamed = [p for p in arrays if f"``{p}``" not in doc]
    assert not unnamed, f"arrays that the text does not name: {unnamed}"
    if arrays or ARRAY.search(str(signature.return_annotation)):
        assert re.search(r"\([^()]*\b(N|n|B|t|m|3|6)\b[^()]*\)|N x N", doc), "no shape"
        assert re.search(r"\[[^\]]+\]", doc), "no unit"


def test_there_are_functions_to_look_at():
    assert len(FUNCTIONS) > 50 and "pivotree.kkt.eliminate" in FUNCTIONS
