"""The page's engine under node: what it says of orders that it is given."""

import json
import shutil
import subprocess

import pytest
from armature import with_terms
from helpers import ROOT

from pivotree import kkt
from pivotree.analysis.explorer.data import structure_of
from pivotree.analysis.explorer.entries import entries_of

NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def in_javascript(cases):
    script = ROOT / "tests" / "explorer_agreement.mjs"
    done = subprocess.run(
        [NODE, str(script)], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def document(system):
    return {
        "structures": {"whole": structure_of(system.structure)},
        "orders": [],
        "entries": entries_of(system),
    }


def geared():
    return kkt.build(with_terms(kkt.random_tree(6, seed=2), 1))
