"""Functions that the lines of a listing call: they stand above the script's own."""

from __future__ import annotations

from .script import Script


def helpers(script: Script) -> str:
    """The text of the functions that a script's lines call."""
    text = ""
    if script.functions & {"along", "across"}:
        text += SPLIT
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
