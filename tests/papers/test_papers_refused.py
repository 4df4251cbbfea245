"""Settings that an item of a paper cannot be measured with: one sentence of ``reproduce``."""

from types import SimpleNamespace

import numpy as np
import pytest

from pivotree import kkt
from pivotree.analysis.cli import main
from pivotree.papers.pasic1999 import equation17
from pivotree.papers.pasic1999.arm import PAPER

REFUSED = {
    "setting most: is 0; give 1 or more": "ascher1996 links most=0",
    "setting states: is 0; give 1 or more": "ascher1996 stanford states=0",
    "setting mass: is -1.0; give more than 0 [kg]": "ascher1996 shoulder mass=-1",
    "setting every: is 91; give 0.1 to 90": "ascher1996 tilted every=91",
    "setting m1: is -1.0; give more than 0 [kg]": "ascher1996 tilted m1=-1",
    # -- cloutier1995
    "compile: solver is 'luu'; did you mean lu?": "cloutier1995 figure53 solver=luu",
    "setting angles: is 1; give 5 or more": "cloutier1995 figure53 angles=1",
    "setting most: is 0.5; give 10 to 1e+100": "cloutier1995 figure54 most=0.5",
    "setting methods: 'crbm_com' is unknown; use ABM; CRBM": ("cloutier1995 figure56 methods=CRBM;crbm_com"),
    "lengths is (2.0, -1.0); give numbers above zero": "cloutier1995 figure56 ratios=2",
    "planar_robot: lengths is []; give one finite": "cloutier1995 figure59 n=0",
    "setting n: is (3,); give two numbers of links or more": "cloutier1995 figure510 n=3",
    "method 'CG': is unknown; use": "cloutier1995 integrators method=CG",
    "setting restitution: is 2; give 0.01 to 1": "cloutier1995 drop restitution=2",
    "falling chain has 0 links; ask for at least one": "cloutier1995 drop links=0",
    "setting stiffness: holds 1 numbers; give": "cloutier1995 drop stiffness=1e4",
    "setting step: is 0; give": "cloutier1995 drop step=0",
    "setting samples: is 0; give": "cloutier1995 impact samples=0",
    "9 contacts on 8 links: give at most one a link": "cloutier1995 contact_rows contacts=9",
    "setting held: is 0; give 1 to 8": "cloutier1995 contact_rows held=0",
    "setting angles: is 0; give": "cloutier1995 methods angles=0",
    "setting exact: is 0; give": "cloutier1995 gradients exact=0",
    "setting frames: is 0; give": "cloutier1995 animation frames=0",
    "setting ratio: is 1.5; give": "cloutier1995 animation ratio=1.5",
    # -- pasic1999
    "arm: setting 'mass' is (1.0, 2.0, 3.0); give two": "pasic1999 figure4 mass=1;2;3",
    "a step of 9 s does not fit into": "pasic1999 figure4 steps=9",
    "setting iterations: is 0; give 1 or more": "pasic1999 figure4 iterations=0",
    "setting subdomains: is 1; give 3 or more": "pasic1999 figure6 subdomains=1",
    "figure6: setting 'target' is (1.0,); give two angles": "pasic1999 figure6 target=1",
    "setting subdomains: is 2; give 3 or more": "pasic1999 equation17 subdomains=2",
    "order 'crbm': names no constraint forces": "pasic1999 equation17 eliminations=crbm",
    "order 'abn' is unknown": "pasic1999 figure5 order=abn",
    "setting s: is 0; give 1 to 64": "pasic1999 figure5 s=0",
    "setting ends: is (-0.3,); give more than 0 [s]": "pasic1999 figure5 ends=-0.3",
    "contraction's end is 'nan'; give it as": "pasic1999 contraction end=nan",
    "setting points: is 1; give 2 or more": "pasic1999 boundaries points=1",
    "setting orders: is 0; give 1 or more": "pasic1999 boundaries orders=0",
    "setting subdomains: is 0; give 3 or more": "pasic1999 local subdomains=0",
    "setting subdomains: is -1; give 3 or more": "pasic1999 multiple subdomains=-1",
    # -- yamane2001
    "spherical: 0 sizes show no growth; let least be 1": "yamane2001 fig6 most=1",
    "family 'foo' is unknown; use dh": "yamane2001 fig6 family=foo",
    "setting most: is 2; give 5 or more": "yamane2001 fig7 most=2",
    "no statement of Yamane & Nakamura": "yamane2001 equations only=nothing",
    "setting lines: 'z' is unknown; use": "yamane2001 readings lines=z",
    "setting n: is 2; give 3 or more": "yamane2001 readings n=2",
    "a revolute joint has 5 rows, and the chain 2 freedoms; give more": "yamane2001 closed links=2",
    "setting largest: is 1; give 3 or more": "yamane2001 section6 largest=1",
    "setting pictures: is 0; give 2 or more": "yamane2001 snapshots pictures=0",
    "setting seconds: is 0.0; give more than 0 [s]": "yamane2001 snapshots seconds=0",
    "gallery: joint 'foo' is unknown; use one of": "yamane2001 agreement joint=foo",
    # -- featherstone1983
    "setting most: is 1; give 2 or more": "featherstone1983 efficiency most=1",
    "setting links: is 7; give 8 or more": "featherstone1983 efficiency links=7",
    "family 'x' is unknown; use": "featherstone1983 growth family=x",
    "gallery: 'x' is unknown; use one of": "featherstone1983 robots models=x",
}


@pytest.mark.thorough
@pytest.mark.parametrize("told", REFUSED)
def test_a_setting_that_cannot_be_is_one_sentence(told, capsys):
    paper, item, *given = REFUSED[told].split()
    options = [part for one in given for part in ("--set", one)]
    assert main(["reproduce", paper, "--item", item, *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and told in err and len(err) < 520


def test_subdomains_on_which_the_iteration_diverges_are_one_sentence():
    straight = SimpleNamespace(sol=lambda t: np.stack([t, t]))
    with pytest.raises(kkt.PivotreeError, match="diverges on subdomains of 10 s; give more of"):
        equation17._jacobian(PAPER.accelerations("abm"), straight, np.arange(4) * 10.0, 3)
