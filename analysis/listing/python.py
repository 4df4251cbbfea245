"""``list --python``: a script that runs."""

from __future__ import annotations

import textwrap

import numpy as np

from pivotree.kkt.solution.eliminate import eliminate

from .general import CHAINS, THIS_TREE, freedoms
from .listing import Listing
from .script import TREE, Script


def python(listing: Listing) -> str:
    """The listing as a standalone numpy script, with the model's data below."""
    script = Script(listing)
    body: list[str] = []
    for loop in listing.loops:
        body += script.loop(loop)
    made = list(
        dict.fromkeys(listing.names.symbols[line.family].python for line in listing.lines())
    )
    given = _given(listing)
    result = listing.problem
    own = "n" if listing.tree.structure.copy_of is None else "len(PARENT)"  # pieces come after
    head = [
        f"def {result}(parent, {', '.join(given)}):",
        *textwrap.indent(_docstring(listing), "    ").splitlines(),
        "    n, N = len(parent), [len(h) for h in H]",
    ]
    structure = listing.tree.structure
    if structure.copy_of is not None:
        head += [
            "    if list(parent) != PARENT or N != FREEDOMS:",
            '        raise ValueError("the pieces of the links below belong to another tree")',
            "    parent, whole, carrier = PIECE_PARENT, PIECE_OF, CARRIER",
            "    n, N = len(parent), PIECE_N",
        ]
    elif listing.holds_on == CHAINS:
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
            f"    if any(m not in ({roots} if up < 0 else {others}) "
            "for m, up in zip(kinds, parent)):",
            '        raise ValueError("these lines are those of joints of other freedoms")',
        ]
    tree = [name for name in TREE if name in script.used]
    tree = sorted(tree, key=_ORDER.index)
    setup = "\n".join(TREE[name] for name in tree)
    head += textwrap.indent(setup, "    ").splitlines()
    if len(made) == 1:
        head.append(f"    {made[0]} = {{}}")
    else:
        names = f"({', '.join(made)})"
        head += textwrap.wrap(names, 66, initial_indent="    ", subsequent_indent="     ")
        head[-1] += f" = ({{}} for _ in range({len(made)}))"
    tail = (
        f"    return np.concatenate([{result}[k] for k in range({own}) if N[k]])"
        if any(listing.system.tree.dof)
        else "    return np.zeros(0)"
    )
    lines = [*head, *("    " + line for line in body), tail]
    text = "\n".join(lines)
    needs = ["solve"] if "solve(" in text else []
    imports = "import numpy as np\n" + ("from numpy.linalg import solve\n" if needs else "")
    helpers = _helpers(script, given)
    first = f'"""{listing.order} on {listing.system.name}, listed by pivotree."""\n\n'
    return (
        first
        + imports
        + "\n"
        + _tables(listing)
        + helpers
        + "\n\n"
        + text
        + "\n\n\n"
        + _data(listing)
    )


_ORDER = [
    "children", "ancestors", "tip_to_base", "rank", "siblings", "below", "subtree", "path",
    "joints", "near", "before", "after", "siblings before", "siblings after", "roots", "bodies",
]  # fmt: skip


def _given(listing: Listing) -> list[str]:
    """The function's arguments after ``parent``."""
    armature = ["A"] if listing.tree.structure.armature is not None else []
    return ["M", "H", "Phi", *armature, "a", "b", "tau" if listing.problem == "qdd" else "qdd"]


def _docstring(listing: Listing) -> str:
    what = "Joint accelerations" if listing.problem == "qdd" else "Joint efforts"
    source = f" ({listing.source})" if listing.source else ""
    first = textwrap.wrap(f'"""{what} by {listing.order}{source}.', 92)
    text = "\n".join(first) + "\n\n"
    text += (
        "parent[k] is the body that k hangs on, -1 for none; M (6, 6) inertias, H (N_k, 6) joint\n"
        "axes, Phi (6, 6) force transforms to the parent, a and b (6,) bias accelerations and\n"
        "forces, tau or qdd (N_k,), all of them lists by body.\n"
        + ("A (N_k, N_k) are armatures.\n" if "A" in _given(listing) else "")
    )
    for family, symbol in listing.names.symbols.items():
        if family[0] != "input" and symbol.what:
            text += f"{symbol.python}: {symbol.what}.\n"
    return text + '"""'


def _helpers(script: Script, given: list[str]) -> str:
    text = ""
    if script.functions & {"along", "across", "basis"}:
        text += SPLIT
    if script.functions & {"weigh", "rotate"}:
        text += ROTATIONS + (GEARED if "A" in given else ROTATE)
    if script.functions & {"stack", "square", "part"}:
        text += DENSE
    return text


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


ROTATIONS = '''

def basis(H):
    """[S E]: joint axes, and directions beside them."""
    other = [i for i in range(6) if i not in rows_of(H)]
    return np.hstack([H.T, np.eye(6)[:, other]])


def weigh(K, u):
    """K = R^T D R as rows [D R, R^-T u, D]."""
    A, u, rows = K.copy(), u.copy(), np.zeros((6, 8))
    for j in range(6):
        rows[j] = [*A[j], u[j], A[j, j]]
        if A[j, j]:
            u = u - A[j] / A[j, j] * u[j]
            A = A - np.outer(A[j], A[j] / A[j, j])
        u[j] = A[j] = A[:, j] = 0.0
    return rows


def unweighed(rows):
    """What is left of u where the weight is zero."""
    return np.where(rows[:, 7] == 0, rows[:, 6], 0.0)


def cut(x, part, N):
    """Rows along the joint, beside it, what it leaves; residuals and weights of columns."""
    parts = {"along": (0, N), "beside": (N, 6), "left": (N, None), "turned": (8, None)}
    return x[slice(*parts[part])] if part in parts else x[6 + (part == "weights")]


def pivot(rows):
    """L and D of the joint's rows."""
    return rows[:, : len(rows)].T, rows[:, 7]


def forward(factor, c):
    return np.linalg.solve(factor[0], c)


def back(factor, y, r):
    """L^-T (D^-1 y - r)."""
    return np.linalg.solve(factor[0].T, y / factor[1] - r)
'''


ROTATE = '''

def rotate(own, sets, N):
    """Rows merged into a body's own: unit rows [r, z, w], the joint's N first."""
    rows = np.concatenate([np.zeros((0, 8)), *(np.column_stack(s) for s in sets)])
    done = []
    for j in range(6):
        pivot, d = own[j, :7].copy(), own[j, 7]
        if d:
            for row in rows:
                x, w, h = row[j], row[7], row[:7].copy()
                new = d + w * x * x
                row[:7] -= x / d * pivot
                row[7] *= d / new
                pivot, d = pivot + w * x * h, new
        elif j < N:
            wx = rows[:, 7] * rows[:, j]
            pivot, d = wx @ rows[:, :7], wx @ rows[:, j]
            rows[:, :7] -= np.outer(rows[:, j] / d, pivot)
        else:
            continue
        rows[:, j] = 0.0
        done.append([*(pivot / d), d])
    return np.array([*done, *(row for row in rows if row[7] and row[:6].any())])
'''


GEARED = '''

def rotate(own, sets, N, A=np.zeros((0, 0))):
    """Rows, and armatures A, merged into a body's own: unit rows [r, z, w, u], the joint's first.

    u: on the parent's motion along the joint, beside qdd in the joint's rows.
    """
    rotors = np.hstack([np.eye(N, 6), np.zeros((N, 1)), A.sum(1)[:, None], -np.eye(N)])
    rows = np.concatenate([np.zeros((0, 8)), *(np.column_stack(s) for s in sets)])
    own, rows = (np.pad(x, ((0, 0), (0, N))) for x in (own, rows))
    rows = np.concatenate([rows, rotors])
    for j in range(N):
        if not own[j, 7]:  # no row of the body's own: the rotor's
            own[j], own[j, 7], rows[j - N, 7] = A[j, j] * rotors[j], A[j, j], 0.0
    done = []
    for j in range(6):
        pivot, d = own[j].copy(), own[j, 7]
        u = pivot[:N] + pivot[8:]
        if d:
            for row in rows:
                x, w, h = row[j], row[7], row.copy()
                new = d + w * x * x
                row -= x / d * pivot
                row[7] = w * d / new
                pivot, u, d = pivot + w * x * h, u + w * x * (h[:N] + h[8:]), new
        elif j < N:
            w, wx = rows[:, 7].copy(), rows[:, 7] * rows[:, j]
            pivot, d, u = wx @ rows, wx @ rows[:, j], wx @ (rows[:, :N] + rows[:, 8:])
            rows -= np.outer(rows[:, j] / d, pivot)
            rows[:, 7] = w
        else:
            continue
        rows[:, j] = 0.0
        done.append([*(pivot[:7] / d), d, *((u if j < N else pivot[8:]) / d)])
    return np.array([*done, *(row for row in rows if row[7] and np.delete(row, [6, 7]).any())])
'''


DENSE = '''

def size(block, N):
    kind, k = block
    return {"qdd": N[k], "fJ": N[k], "fC": 6 - N[k]}.get(kind, 6)


def stack(cells, blocks, N):
    """Blocks one above another."""
    columns = np.shape(next(iter(cells.values())))[1:]
    return np.concatenate([cells.get(b, np.zeros((size(b, N), *columns))) for b in blocks])


def square(cells, blocks, N):
    """A symmetric matrix from the blocks of its upper triangle."""
    cells = {**{(j, i): x.T for (i, j), x in cells.items()}, **cells}
    return np.block([
        [cells.get((i, j), np.zeros((size(i, N), size(j, N)))) for j in blocks] for i in blocks
    ])


def part(x, block, blocks, N):
    """The rows of one block of a stack."""
    before = blocks[: blocks.index(block)]
    first = sum(size(b, N) for b in before)
    return x[first : first + size(block, N)]
'''


def _tables(listing: Listing) -> str:
    lines = []
    tables = listing.tree.tables
    structure = listing.tree.structure
    if listing.holds_on == THIS_TREE:
        lines.append(f"PARENT = {listing.system.tree.parent.tolist()}")
        lines.append(f"FREEDOMS = {[int(N) for N in listing.system.tree.dof]}")
    if structure.copy_of is not None:
        lines.append(f"PIECE_PARENT = {listing.tree.parent}")
        lines.append(f"PIECE_OF = {listing.tree.whole}")
        lines.append(f"PIECE_N = {listing.tree.dof}")
        lines.append(f"CARRIER = {listing.tree.carrier}")
    for name, table in tables.items():
        lines.append(f"{name} = {_short(table)}")
    return "\n".join(textwrap.fill(line, 98, subsequent_indent="    ") for line in lines) + (
        "\n" if lines else ""
    )


def _short(table: dict) -> str:
    return repr(
        {
            key: tuple(int(x) if not isinstance(x, tuple) else x for x in value)
            for key, value in table.items()
        }
    )


def _data(listing: Listing) -> str:
    system = listing.system
    e, offset = system.entries, system.tree.offset
    n = system.tree.n

    def array(values: np.ndarray) -> str:
        text = repr((np.asarray(values, dtype=float) + 0.0).tolist())  # no -0.0
        return text.replace(".0,", ".,").replace(".0]", ".]")

    def rows(name: str, blocks: list[str]) -> str:
        inside = "".join(
            textwrap.fill(
                block, 94, initial_indent="    ", subsequent_indent="     ", break_on_hyphens=False
            )
            + ",\n"
            for block in blocks
        )
        return f"{name} = [\n{inside}]\n"

    H = [e.S[offset[k] : offset[k + 1]] for k in range(n)]
    tau = [e.tau[offset[k] : offset[k + 1]] for k in range(n)]
    A = [np.diag(e.A[offset[k] : offset[k + 1]]) for k in range(n)] if e.A.size else []
    names = _given(listing)
    given = [array(t) for t in tau]
    if listing.problem == "tau":  # the accelerations under the model's efforts
        qdd = eliminate(system, None).qdd
        given = [array(qdd[offset[k] : offset[k + 1]]) for k in range(n)]
    parent = textwrap.fill(f"parent = {system.tree.parent.tolist()}", 98, subsequent_indent="    ")
    data = (
        f"{parent}\n"
        + rows("M", [array(x) for x in e.M])
        + rows("H", [array(x) if len(x) else "np.zeros((0, 6))" for x in H])
        + rows("Phi", [array(x) for x in e.Phi])
        + (rows("A", [array(x) if len(x) else "np.zeros((0, 0))" for x in A]) if A else "")
        + rows("a", [array(x) for x in e.a])
        + rows("b", [array(x) for x in e.b])
        + rows(names[-1], given)
        + f"{', '.join(names)} = (\n"
        + "    [np.array(x, dtype=float) for x in blocks]\n"
        + f"    for blocks in ({', '.join(names)})\n)\n"
        + f"print({listing.problem}(parent, {', '.join(names)}))\n"
    )
    text = 'if __name__ == "__main__":\n'
    return text + textwrap.indent(data, "    ")
