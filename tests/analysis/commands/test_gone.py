"""Options that went are refused with what is written in their place, which is understood."""

import pytest

from pivotree.analysis.cli.gone import GONE
from pivotree.analysis.cli.parser import joined, parser

URDF = "solve r.urdf"
CASES = {  # as it was written, and as it is
    "spy chain:3": "figure spy chain:3 -o a.png",
    f"{URDF} --arg a:=1": f"{URDF} --urdf a:=1",
    f"{URDF} --package a=b": f"{URDF} --urdf package:a=b",
    f"{URDF} --keep-fixed": f"{URDF} --urdf keep-fixed",
    f"{URDF} --mimic free": f"{URDF} --urdf mimic=free",
    f"{URDF} --floating": f"{URDF} --urdf floating",
    f"{URDF} --dynamics": f"{URDF} --urdf dynamics",
    "solve chain:2 --compliance 1 --contact j2": "solve chain:2 --contact j2,compliance=1",
    "solve chain:2 --random 7": "solve chain:2 --state random:7",
    "solve chain:2 --qd=1,2": "solve chain:2 --state qd:1,2",
    "solve chain:2 --tau 1,2": "solve chain:2 --state tau:1,2",
    "compare chain:2 --residual equations": "compare chain:2 --refine 1:equations",
    "figure trees chain:2 --dark": "figure trees chain:2 --style dark",
    "figure trees chain:2 --gray": "figure trees chain:2 --style gray",
    "figure trees chain:2 --font sans": "figure trees chain:2 --style light,sans",
    "list chain:2 --latex": "list chain:2 --style latex",
    "list chain:2 --python": "list chain:2 --style python",
    "list chain:2 --pseudocode": "list chain:2 --style pseudocode",
    "export chain:2 --c a.c": "export chain:2 -o a.c",
    "export chain:2 --cuda a.cu": "export chain:2 -o a.cu",
    "simulate chain:2 --step 1": "simulate chain:2 --integrator cash_karp,step=1",
    "simulate chain:2 --steps 9": "simulate chain:2 --integrator cash_karp,steps=9",
    "simulate chain:2 --floor 9": "simulate chain:2 --integrator cash_karp,floor=9",
    "simulate chain:2 --state-type float32": "simulate chain:2 --integrator cash_karp,state=float32",
    "simulate chain:2 --clock float32": "simulate chain:2 --integrator cash_karp,clock=float32",
    "guarantee chain:2 --by-body": "check chain:2",
    "guarantee chain:2 --digits 4": "check chain:2 --digits 4",
    "reproduce all --quick": "reproduce all --set quick",
}


@pytest.mark.parametrize("old", CASES)
def test_what_went_is_refused_with_what_is_in_its_place(old, refused):
    words = old.split()
    name = next(word for word in words if word in GONE or word.startswith("--")).partition("=")[0]
    assert f"{name} is gone; use {GONE[name]}" in refused(*words).replace("'", "")
    new = CASES[old].split()
    parser(new[0]).parse_args(joined(new))


def test_every_name_that_went_has_a_case():
    assert {word.partition("=")[0] for old in CASES for word in old.split()} >= {*GONE}


def test_an_option_that_is_given_twice_is_refused(refused):
    """The second took the place of the first without a word."""
    for words in ("--order abm --order crbm", "--orders abm --order=crbm", "--order abm --orders abm"):
        assert "option --order: is given twice" in refused("compare", "chain:3", *words.split())
    assert "option -o: is given twice" in refused(*["export", "chain:2", "-o", "a.c", "--output", "b.c"])
    both = parser("solve").parse_args(["solve", "chain:2", "--state", "qd:1,2", "--state", "tau:1,2"])
    assert both.state == ["qd:1,2", "tau:1,2"]
