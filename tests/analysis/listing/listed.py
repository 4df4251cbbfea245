"""What tests of listings share: scripts that run on a system's blocks, and lines of the text."""

import re
import subprocess
import sys

import numpy as np

from pivotree.analysis import listing
from pivotree.analysis.listing.python import by_joint


def function_of(text, name="qdd", whole=False, **names):
    """The function that a script defines; if ``whole``, one that gives back all that it makes."""
    if whole:
        text = re.sub(r"(?m)^    return .*\[qdd\[k\].*$", "    return locals()", text)
    space = {"__name__": "listed"}  # the example below the function does not run
    exec(compile(text, "listed", "exec"), space)
    space.update(names)
    return space[name]


def arguments(system, rows=None):
    """parents, M, H, Phi, armatures where there are any, a, b and tau, or ``rows`` in its place."""
    e = system.entries
    armatures = [[np.diag(x) for x in by_joint(system, e.A)]] if e.A.size else []
    given = by_joint(system, e.tau if rows is None else rows)
    return [system.tree.parent.tolist(), e.M, by_joint(system, e.S), e.Phi, *armatures, e.a, e.b, given]


def printed_by(path):
    """The numbers that a script prints when it is run by itself."""
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    return np.array([float(x) for x in done.stdout.strip(" []\n").split()])


def lines_of(one, style="text"):
    """Lines of a listing, without the blanks before them and without what comes in full."""
    return [line.strip() for line in listing.render(one, style).partition("\nin full:")[0].splitlines()]


def formulas(one):
    """Lines of the text that are formulas."""
    lines = listing.render(one).partition("\nin full:")[0].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("for "))
    return [line.strip() for line in lines[start:] if line.startswith("  ") and " = " in line]


def agrees(one, tolerance=1e-11):
    """What the script calls qdd, pdd and f are the matrix's, acc is minus pdd; the names it had."""
    system, met = one.system, set()
    made = function_of(listing.render(one, "python"), whole=True)(*arguments(system))
    x = np.linalg.solve(system.matrix.toarray(), system.rhs)
    for name in ("qdd", "pdd", "acc", "f"):
        kind = "pdd" if name == "acc" else name
        parts = [x[at] for block, at in system.blocks.items() if block.kind == kind]
        scale = max((np.abs(part).max(initial=0.0) for part in parts), default=0.0)
        for k, value in (made[name] if isinstance(made.get(name), dict) else {}).items():
            right = x[system.blocks[kind, system.structure.names[k]]] * (-1.0 if name == "acc" else 1.0)
            assert np.abs(np.ravel(value) - right).max(initial=0.0) <= tolerance * scale, (name, k)
            met.add(name)
    assert "qdd" in met
    return met
