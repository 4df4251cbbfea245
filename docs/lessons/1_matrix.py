"""Lesson 1: The matrix from a tree."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    style = mo.app_meta().theme  # pictures are light or dark as the page is
    return mo, style


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    # Lesson 1: The matrix from a tree

    A robot arm is a tree of rigid bodies: each hangs on its parent by a joint, and the first on
    the ground. Given the torques of the motors, how does it accelerate? In this lesson you write
    the question down as one system of linear equations, and learn to read its matrix.

    Three kinds of unknown belong to each body k:

    | unknown | rows | what it is |
    |---|---:|---|
    | `pdd_k` | 6 | minus the body's acceleration: three angular numbers, three linear |
    | `qdd_k` | 1 for a hinge | the acceleration of its joint |
    | `f_k` | 6 | what its parent gives it through the joint: a moment and a force |

    Three laws hold, one for each kind:

        row pdd_k   M_k pdd_k + f_k - sum over children c of Phi_c f_c  =  b_k
        row qdd_k   H_k f_k                                             =  tau_k
        row f_k     pdd_k + H_k* qdd_k - Phi_k* pdd_parent              =  -a_k

    The first is Newton's law of one body: inertia M_k times acceleration is what comes in through
    its own joint, less what is handed on to its children. The second says that the motor supplies
    the part of f_k that lies along the joint axis H_k. The third says that a body moves as its
    parent does, and besides that only along its joint. Phi carries a force from one joint to the
    next. b_k, tau_k and a_k are known: velocities, gravity and motors.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Three links

    `kkt.chain(3)` is an arm of three equal links, base to tip `j1`, `j2`, `j3`. `kkt.build` makes
    the equations. Nothing is eliminated yet.
    """)
    return


@app.cell
def _():
    from pivotree import kkt

    arm = kkt.build(kkt.chain(3))
    print(arm.matrix.shape, "matrix,", arm.matrix.nnz, "entries stored")
    for block, where in arm.blocks.items():
        print(f"{block!s:8} unknowns {where.start:2} to {where.stop - 1}")
    return arm, kkt


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    In symbols, each letter a block, sorted body by body. **Pictures number bodies from the tip**,
    as the papers do: 1 is `j3` here, and the base is the last.
    """)
    return


@app.cell
def _(arm, kkt, style):
    from pivotree import orderings
    from pivotree.analysis import figures

    def structure_of(system):
        """The pattern of the matrix, body by body; step 0: nothing eliminated."""
        return kkt.symbolic(kkt.plan(orderings.get("natural"), system.structure))

    figures.spy(structure_of(arm), 0, style=style)
    return figures, structure_of


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Read one row of it against the laws above. Then notice three things. The matrix is symmetric.
    M_k stands on the diagonal, and only there: the diagonal blocks of f and qdd are zero, which
    will decide what may be eliminated first. And two bodies meet only where one is the parent of
    the other, through Phi: *the matrix is the tree*. (Frames on the diagonal are brackets,
    for lesson 3.)
    """)
    return


@app.cell
def _(mo):
    links = mo.ui.slider(1, 8, value=5, label="number of links")
    links
    return (links,)


@app.cell
def _(figures, kkt, links, structure_of, style):
    chain = structure_of(kkt.build(kkt.chain(links.value)))
    figures.spy(chain, 0, labels=False, style=style)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## It is all that is needed

    Any solver for sparse equations answers the question now. No algorithm of robot dynamics is
    used here; the joint accelerations are those that a textbook's method gives.
    """)
    return


@app.cell
def _(arm, kkt):
    from scipy.sparse.linalg import spsolve

    solution = spsolve(arm.matrix, arm.rhs)
    textbook = kkt.eliminate(arm, [[("pdd", k), ("qdd", k), ("f", k)] for k in ("j3", "j2", "j1")])
    for i, k in enumerate(arm.tree.names):
        (by_scipy,) = solution[arm.blocks["qdd", k]]
        print(f"qdd_{k}   {by_scipy:12.6f} by scipy   {textbook.qdd[i]:12.6f} by elimination")
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3", scene=1)  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Exercises

    Change `None`; the sentence below the cell answers.

    **1.1** How many rows has the matrix of `kkt.humanoid()`? Bodies and joints can be counted in
    `kkt.build(kkt.humanoid()).structure`: `n`, and `dof`, the freedoms of each joint.
    """)
    return


@app.cell
def _():
    import checks

    checks.rows(None)
    return (checks,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **1.2** `kkt.star(3)` is a hub `j1` with three leaves `j2`, `j3`, `j4`. Which blocks of the
    row `pdd_j1` are not zero? Name their columns, such as `[("pdd", "j1"), ...]`.
    """)
    return


@app.cell
def _(checks):
    checks.neighbours(None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **1.3** Here is a matrix. What is the tree? Give every body's parent, such as `{1: 2, 2: 3}`,
    without the root.
    """)
    return


@app.cell
def _(checks, figures, kkt, structure_of, style):
    unknown = structure_of(kkt.build(checks.mystery()))
    figures.spy(unknown, 0, labels=False, style=style, title="whose matrix?")
    return


@app.cell
def _(checks):
    checks.parents(None)
    return


if __name__ == "__main__":
    app.run()
