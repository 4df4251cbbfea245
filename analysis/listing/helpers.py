"""Functions that the lines of a listing call: they stand above the script's own."""

from __future__ import annotations

from .script import Script


def helpers(script: Script) -> str:
    """The text of the functions that a script's lines call."""
    text = ""
    if script.functions & {"along", "across", "basis"}:
        text += SPLIT
    if script.functions & {"crm", "crf"}:
        text += CROSS
    if script.functions & {"weigh", "rotate"}:
        text += ROTATIONS
    if "merge" in script.functions:
        text += MERGE
    if script.functions & {"stack", "square", "part"}:
        text += DENSE
    if "equation_4" in script.functions:
        text += EQUATION_4
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


CROSS = '''

def skew(d):
    return np.array([[0.0, -d[2], d[1]], [d[2], 0.0, -d[0]], [-d[1], d[0], 0.0]])


def crm(u):
    """[u]x: what u x multiplies motions by; angular parts come first."""
    turn = skew(u[:3])
    return np.block([[turn, np.zeros((3, 3))], [skew(u[3:]), turn]])


def crf(f):
    """What turns a motion v into v x* f."""
    force = skew(f[3:])
    return -np.block([[skew(f[:3]), force], [force, np.zeros((3, 3))]])
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


def rotate(own, sets, N, A=None):
    """Rows, and armatures A, merged into a body's own: rows [r, z, w, u], the joint's first.

    u: on the parent's motion along the joint, beside qdd in the joint's rows.
    """
    own = own[own[:, 7] > 0]
    rows = [own[:, :7] / np.sqrt(own[:, 7:])]
    rows += [np.sqrt(w)[:, None] * np.column_stack([x, z]) for x, z, w in sets]
    rows = np.concatenate(rows)
    rows = np.hstack([rows, rows[:, :N], np.zeros((len(rows), N))])
    if A is not None:
        rotors = np.hstack([np.eye(N, 7), np.zeros((N, N)), -np.eye(N)])
        rows = np.concatenate([rows, np.sqrt(A) @ rotors])
    R = np.linalg.qr(rows, mode="r")
    u = np.concatenate([R[:N, 7 : 7 + N], R[N:, 7 + N :]])
    R = np.column_stack([R[:, :7], np.ones(len(R)), u])
    return R[np.delete(R, [6, 7], 1).any(axis=1)]
'''


MERGE = '''

def quotient(v, w):
    """v over w, row by row."""
    return (np.transpose(v) / w).T


def merge(sets, size, soft=None):
    """Rows rotated into a triangle: L and D of their form, soft rows among them, and residuals."""
    rows = [np.sqrt(w)[:, None] * np.column_stack([x, z]) for x, z, w in sets]
    if soft is not None:
        rows.append(np.sqrt(soft) @ np.eye(size, size + 1))
    R = np.linalg.qr(np.concatenate(rows), mode="r")[:size]
    return R[:, :size].T, np.ones(size), R[:, size]


def triangle(merged):
    """L and D of a form."""
    return merged[:2]


def rest(merged):
    """The residuals of its rows."""
    return merged[2]
'''


DENSE = '''

def size(block, N):
    kind, k = block
    return {"qdd": N[k], "fJ": N[k], "fC": 6 - N[k], "lam": N[k]}.get(kind, 6)


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


EQUATION_4 = '''

def equation_4(links, N, M, H, Phi, a, b, tau, A=None, G=(), gamma=(), compliance=(), split=False):
    """Blocks of the matrix and of the right-hand side of (4).

    links: parent and body of every link, and among how many its body's inertia is shared.
    """
    K, r = {}, {}

    def put(i, j, x):
        K[i, j], K[j, i] = x, x.T

    for k, (up, o, parts) in enumerate(links):
        joint = N[o] > 0 and (o == k or not parts)  # other parts are welded to the first
        if parts:
            put(("pdd", k), ("pdd", k), M[o] / parts)
        r["pdd", k] = b[o] / parts if parts else np.zeros(6)
        if joint and parts:
            r["qdd", k] = tau[o]
            if A is not None:
                put(("qdd", k), ("qdd", k), A[o])
        forces = {"f": np.eye(6)}
        if split:
            forces = {"fJ": along(H[o]), "fC": across(H[o])} if joint else {"fC": np.eye(6)}
        first = o == k or not parts
        for kind, basis in forces.items():
            if basis.size:
                put(("pdd", k), (kind, k), basis)
                r[kind, k] = -basis.T @ a[o] if first else np.zeros(6)
            if basis.size and joint and kind != "fC":
                put(("qdd", o), (kind, k), H[o] @ basis)
            if basis.size and up >= 0:
                put(("pdd", up), (kind, k), -(Phi[o] if first else np.eye(6)) @ basis)
    for (c, k), x in dict(G).items():
        put(("lam", c), ("pdd", k), x)
        r["lam", c] = -gamma[c]
        if c in compliance and compliance[c].any():
            put(("lam", c), ("lam", c), -compliance[c])
    return K, r


def coupled(groups, blocks):
    """Of each group, those that it has a block with."""
    group_of = {i: k for k, group in enumerate(groups) for i in group}
    near = {k: set() for k in range(len(groups))}
    for i, j in blocks:
        near[group_of[i]] |= {group_of[j]} - {group_of[i]}
    return near


def gathered(cells, rows, columns, N):
    """The matrix between two groups."""
    return np.block([
        [cells.get((i, j), np.zeros((size(i, N), size(j, N)))) for j in columns] for i in rows
    ])
'''
