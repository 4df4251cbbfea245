"""Kernels that tests of machine code share, states for them, a plain interpreter, and compilers of C."""

import ctypes
import shutil
import subprocess
from functools import cache

import networkx as nx
import numpy as np
import pytest
from helpers import ALL_JOINTS
from scipy.spatial.transform import Rotation

from pivotree import kkt, orderings
from pivotree.kkt.machine.checking import in_stages
from pivotree.kkt.machine.recorder import Interpreter

ABM = orderings.get("abm")
ORDERS = ("abm", "crbm", "modified_abm", "virtual_work", "square_root_abm", "divide_and_conquer")
ALONG = ("virtual_work", "square_root_abm", "divide_and_conquer")  # split f: no universal joint
NO_UNIVERSAL = ALL_JOINTS.replace("universal+", "")

# -- trees and kernels ----------------------------------------------------------------------------


def general():
    """A screw, a slide, and a joint of two motions that do not commute, none along an axis."""
    tree, parent = kkt.new_tree("general"), None
    motions = {
        "screw": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2]],
        "pair": [[0.3, 0.2, -0.5, 0.1, 0.4, 0.2], [0.1, 0.0, 0.0, 0.3, 0.0, 0.2]],
        "slide": [[0.0, 0.0, 0.0, 0.1, 0.4, 0.2]],
    }
    link = {"mass": 1.5, "com": (0.1, 0.2, 0.3), "inertia": np.diag([1.0, 1.2, 1.1]), "p": (0.1, 0.2, 0.0)}
    for name, rows in motions.items():
        kkt.add_body(tree, name, parent, joint="general", S=np.array(rows).T, **link)
        parent = name
    return kkt.default_state(tree)


def children_first(tree):
    """The tree at q = 0, where poses of general joints have zeros, its bodies in the reverse order."""
    other = nx.DiGraph(name=f"{tree.graph['name']}, children first")
    other.add_nodes_from(reversed(list(tree.nodes(data=True))))
    other.add_edges_from(tree.edges)
    return other


def slides():
    """Two arms of hinges and slides, and loops of every kind between them."""
    draw = np.random.default_rng(0)
    tree = kkt.new_tree("slides", (0.3, -0.5, -9.7))
    for arm in "ab":
        for i in range(3):
            kkt.add_body(
                tree,
                f"{arm}{i}",
                f"{arm}{i - 1}" if i else None,
                mass=draw.uniform(0.5, 2.0),
                com=draw.normal(size=3),
                inertia=np.diag(draw.uniform(0.1, 0.15, 3)),
                joint="prismatic" if i % 2 else "revolute",
                axis=draw.normal(size=3),
                R=Rotation.random(random_state=i).as_matrix(),
                p=draw.normal(size=3),
            )
    R = Rotation.random(random_state=9).as_matrix()
    tree.graph["loops"] = [
        kkt.cut_joint("a2", "b2", "spherical", p=(0.1, 0.2, 0.3), baumgarte=(3.0, 2.0)),
        kkt.cut_joint("a1", None, "revolute", R=R, rows=(3,), baumgarte=(1.0, 4.0)),
        kkt.contact("a2", (0.2, 0, 0.1), tangents=[(1, 0, 0)], compliance=1e-2, damping=2.0),
        kkt.contact("b0", (0.2, 0.3, 0.1), (1, 2, 3), on="b2", name="touch"),
    ]
    return kkt.default_state(tree)


TREES = {
    "chain": lambda order: kkt.chain(5),
    "two_link": lambda order: kkt.two_link(),
    "random": lambda order: kkt.random_tree(5, 0, joints=NO_UNIVERSAL if order in ALONG else ALL_JOINTS),
    "general": lambda order: general(),
    "closed": lambda order: kkt.chain(4) if order == "square_root_abm" else slides(),
}


@cache
def kernel_of(name, order, format, outputs=("qdd",)):
    """Compiled once for all tests of a process."""
    return kkt.compile(TREES[name](order), orderings.get(order), format, outputs=outputs)


def states(kernel, m, seed=0):
    """x, qd and tau of m states near the kernel's own, in its number type."""
    draw = np.random.default_rng(seed)
    x = kernel.configuration() + 0.2 * draw.normal(size=(m, kernel.nx))
    return [a.astype(kernel.number.dtype) for a in (x, *draw.normal(size=(2, m, kernel.N)))]


def plain(kernel, *arrays):
    """The kernel's program in these states, one operation after another."""
    given = np.concatenate(arrays, axis=1).astype(kernel.number.dtype)
    programs = [stage.straight for stage in kernel.stages]
    return in_stages(programs, kernel.number, given, lambda i, f, x: Interpreter(programs[i], f).run(x))


def whole(values, m):
    """Outputs, one or several, as rows of numbers."""
    values = values if isinstance(values, tuple) else (values,)
    return np.concatenate([v.reshape(m, -1) for v in values], axis=1)


# -- C --------------------------------------------------------------------------------------------

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
STRICT = "-std=c99 -pedantic -Wall -Wextra -Werror -O2 -ffp-contract=off"
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")


def built(compiler, source, flags=STRICT):
    """The library of a source file, and the finished process of the compiler."""
    library = source.with_suffix(".so")
    command = [compiler, *flags.split(), "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    return library, subprocess.run(command, capture_output=True, text=True, check=False)


def called(library, name, arrays, sizes, dtype):
    """What the C function returns, and its outputs one after another."""
    outs = [np.full(size, np.nan, dtype=dtype) for size in sizes]
    function = getattr(ctypes.CDLL(str(library)), name)
    given = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *outs)]
    return function(*given), np.concatenate(outs)
