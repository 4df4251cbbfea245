"""The operations that docs/counts.md gives for Pinocchio are counted again."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from pivotree.analysis.counts.published import PINOCCHIO

pytestmark = pytest.mark.peers
PYTHON = os.environ.get("CASADI_KIN_DYN_PYTHON")


@pytest.mark.skipif(PYTHON is None, reason="CASADI_KIN_DYN_PYTHON names no interpreter with it")
def test_pinocchio_on_symbols():
    script = Path(__file__).with_name("pinocchio_counts.py")
    found = subprocess.run([PYTHON, script], capture_output=True, text=True, check=True).stdout
    for n, counted in json.loads(found.splitlines()[-1]).items():
        wanted = {kind: PINOCCHIO.polynomials[kind](int(n)) for kind in ("mul", "add")}
        assert counted == wanted | {"div": PINOCCHIO.div(int(n)), "sqrt": 0}
