"""``list --python``: a script that runs."""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pivotree.kkt.base.errors import OrderError, sentence
from pivotree.kkt.matrix.system import System
from pivotree.kkt.solution.eliminate import eliminate

from .general import CHAINS, THIS_TREE, freedoms
from .listing import Listing
from .script import Script
from .vocabulary import SETS


def python(listing: Listing) -> str:
    """The listing as a standalone numpy script, with the model's data below.

    Raises OrderError for what is no loop over the bodies of a tree, pivot by pivot: for orders that
    their groups tell, for rotations, and for closed loops and contacts.
    """
    if (why := _untold(listing)) is not None:
        raise OrderError(f"order {listing.order!r}: {why}; use style text, pseudocode or latex")
    script = Script(listing)
    body: list[str] = []
    for loop in listing.loops:
        body += script.loop(loop)
    made = list(dict.fromkeys(listing.names.symbols[line.family].python for line in listing.lines()))
    given = _given(listing)
    result = listing.problem
    head = [
        f"def {result}(parent, {', '.join(given)}):",
        *textwrap.indent(_docstring(listing, given), "    ").splitlines(),
        "    n, N = len(parent), [len(h) for h in H]",
    ]
    head += _guards(listing)
    setup = "\n".join(SETS[name].table(name) for name in script.used)
    head += textwrap.indent(setup, "    ").splitlines()
    if len(made) == 1:
        head.append(f"    {made[0]} = {{}}")
    else:
        names = f"({', '.join(made)})"
        head += textwrap.wrap(names, 66, initial_indent="    ", subsequent_indent="     ")
        head[-1] += f" = ({{}} for _ in range({len(made)}))"
    tail = (
        f"    return np.concatenate([{result}[k] for k in range(n) if N[k]])"
        if any(listing.system.tree.dof)
        else "    return np.zeros(0)"
    )
    lines = [*head, *("    " + line for line in body), tail]
    text = "\n".join(lines)
    needs = ["solve"] if "solve(" in text else []
    imports = "import numpy as np\n" + ("from numpy.linalg import solve\n" if needs else "")
    said = f"{listing.order} on {listing.system.name}, listed by pivotree."
    first = f'"""{_quoted(said)}"""\n\n'
    return (
        first
        + imports
        + "\n"
        + _tables(listing, script)
        + SPLIT * script.split
        + "\n\n"
        + text
        + "\n\n\n"
        + _data(listing, given)
    )


SPLIT = '''

def rows_of(H):
    """Rows of H.T that the split of forces solves for: large pivots, one a joint axis."""
    S, rows = H.T.copy(), []
    for j in range(S.shape[1]):
        row = int(np.argmax(abs(S[:, j])))
        rows.append(row)
        S = S - np.outer(S[:, j], S[row] / S[row, j])
        S[row] = 0.0
    return rows


def along(H):
    """B (6, N) with H B = 1."""
    rows, B = rows_of(H), np.zeros(H.T.shape)
    B[rows] = np.linalg.inv(H[:, rows])
    return B


def across(H):
    """C (6, 6 - N) with H C = 0."""
    rows = rows_of(H)
    other = [i for i in range(6) if i not in rows]
    C = np.zeros((6, len(other)))
    C[other] = np.eye(len(other))
    C[rows] = -np.linalg.solve(H[:, rows], H[:, other])
    return C
'''


def _untold(listing: Listing) -> str | None:
    """Why there is no script of a listing; None where there is one."""
    factor = listing.values.program.symbolic
    if listing.groups:
        return "is told by its groups, and a script by loops over bodies"
    if factor is not None and factor.plan.sequence.rules.elimination != "gauss":
        return "rotates rows, and a script takes pivots"
    return "has no script where loops close" if listing.tree.structure.ties else None


def _guards(listing: Listing) -> list[str]:
    """The beginning of the function: it refuses trees on which these lines do not hold."""
    head = []
    if listing.holds_on == CHAINS:
        head += [
            "    if len({k for k in parent if k >= 0}) < sum(k >= 0 for k in parent):",
            '        raise ValueError("these lines are those of chains; a body here carries two")',
        ]
    elif listing.holds_on == THIS_TREE:
        head += [
            "    if list(parent) != PARENT or N != FREEDOMS:",
            '        raise ValueError("these lines are those of another tree")',
        ]
    if listing.holds_on != THIS_TREE:
        roots, others = freedoms(listing.telling)
        head += [
            "    kinds = [m if m in (0, 1, 6) else 2 for m in N]  # 2 stands for 2 to 5",
            f"    if any(m not in ({roots} if up < 0 else {others}) for m, up in zip(kinds, parent)):",
            '        raise ValueError("these lines are those of joints of other freedoms")',
        ]
    return head


def _given(listing: Listing) -> dict[str, Any]:
    """The function's arguments after ``parent``: lists of blocks by body."""
    system = listing.system
    e = system.entries
    given: dict[str, Any] = {"M": e.M, "H": by_joint(system, e.S), "Phi": e.Phi}
    if listing.tree.structure.armature.any():
        given["A"] = [np.diag(block) for block in by_joint(system, e.A)]
    given |= {"a": e.a, "b": e.b}
    if listing.problem == "qdd":
        given["tau"] = by_joint(system, e.tau)
    else:  # the accelerations under the model's efforts
        given["qdd"] = by_joint(system, eliminate(system, None).qdd)
    return given


def _quoted(text: str) -> str:
    """Words of a docstring, which no name in them ends."""
    return sentence(text).replace("\\", "\\\\").replace('"', '\\"')


def _docstring(listing: Listing, given: Collection[str]) -> str:
    what = "Joint accelerations" if listing.problem == "qdd" else "Joint efforts"
    source = f" ({listing.source})" if listing.source else ""
    said = _quoted(f"{what} by {listing.order}{source}.")
    first = textwrap.wrap(f'"""{said}', 92, break_long_words=False)
    text = "\n".join(first) + "\n\n"
    text += (
        "parent[k] is the body that k hangs on, -1 for none; M (6, 6) inertias, H (N_k, 6) joint\n"
        "axes, Phi (6, 6) force transforms to the parent, a and b (6,) bias accelerations and\n"
        "forces, tau or qdd (N_k,), all of them lists by body.\n"
        + ("A (N_k, N_k) are armatures.\n" if "A" in given else "")
    )
    for family, symbol in listing.names.symbols.items():
        if family[0] != "input" and symbol.what:
            text += f"{symbol.python}: {symbol.what}.\n"
    return text + '"""'


def _tables(listing: Listing, script: Script) -> str:
    lines = []
    if listing.holds_on == THIS_TREE:
        lines.append(f"PARENT = {listing.system.tree.parent.tolist()}")
        lines.append(f"FREEDOMS = {[int(N) for N in listing.system.tree.dof]}")
    if "turn" in script.used:
        lines.append(f"TURN = {[*listing.tree.turn]}")
    return "".join(textwrap.fill(line, 98, subsequent_indent="    ") + "\n" for line in lines)


def _data(listing: Listing, given: dict[str, Any]) -> str:
    """The model's blocks, and the statement that prints what the function makes of them."""
    parent = listing.system.tree.parent.tolist()
    text = textwrap.fill(f"parent = {parent}", 98, subsequent_indent="    ") + "\n"
    text += "".join(_written(name, blocks) for name, blocks in given.items())
    lists = ", ".join(given)
    text += f"{lists} = (\n    [np.array(x, dtype=float) for x in blocks]\n    for blocks in ({lists})\n)\n"
    text += f"print({listing.problem}(parent, {lists}))\n"
    return 'if __name__ == "__main__":\n' + textwrap.indent(text, "    ")


def _written(name: str, blocks: Any) -> str:
    """The statement that gives a name its list of blocks."""

    def array(x: NDArray[Any]) -> str:
        if x.ndim > 1 and not len(x):
            return f"np.zeros({x.shape})"
        text = repr((np.asarray(x, dtype=float) + 0.0).tolist())  # no -0.0
        return text.replace(".0,", ".,").replace(".0]", ".]")

    fill = textwrap.TextWrapper(94, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False)
    inside = "".join(fill.fill(array(x)) + ",\n" for x in blocks)
    return f"{name} = [\n{inside}]\n"


def by_joint(system: System, x: np.ndarray) -> list[np.ndarray]:
    """(N,) numbers as blocks (N_k,) of every body."""
    offset = system.tree.offset
    return [x[offset[k] : offset[k + 1]] for k in range(system.tree.n)]
