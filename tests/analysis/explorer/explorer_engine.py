"""The page's engine under node: what it says of orders that it is given."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from armature import with_terms

from pivotree import kkt
from pivotree.analysis.explorer.data import structure_of
from pivotree.analysis.explorer.entries import entries_of

NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def in_javascript(what, of):
    """What the page's modules answer: ``run`` cases, ``read`` a packed document, or ``round`` numbers."""
    script = Path(__file__).with_name("agreement.mjs")
    asked = json.dumps({"do": what, "of": of})
    done = subprocess.run([NODE, script], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def replayed(data, orders=None, **more):
    """What the page's engine makes of orders in a page's data, all of them or these."""
    data = json.loads(json.dumps(data))
    orders = data["orders"] if orders is None else orders
    return in_javascript(
        "run", [{"data": data, "form": order, "attempts": order["groups"], **more} for order in orders]
    )


def document(system):
    return {
        "structures": {"whole": structure_of(system.structure)},
        "orders": [],
        "entries": entries_of(system),
    }


def geared():
    return kkt.build(with_terms(kkt.random_tree(6, seed=2), 1))
