"""A matrix of one's own: Riccati's recursion is an order."""

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
    # A matrix of one's own: Riccati's recursion is an order

    A predictive controller solves the same optimisation every few milliseconds: the cheapest efforts
    u_0 ... u_N-1 that bring a pendulum upright. Its optimality conditions are one symmetric sparse
    matrix, and `pt.matrix` takes [any such matrix](../matrix.md). As CRBM and ABM are two orders of
    a robot's matrix, the two textbook ways to solve this one, condensing and Riccati's recursion,
    are two orders of its pivots.
    """)
    return


@app.cell
def _():
    import numpy as np

    import pivotree as pt
    from pivotree import kkt
    from pivotree.analysis import figures

    return figures, kkt, np, pt


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The matrix

    The state x = (angle, rate) of a pendulum that stands on its head moves by x_k+1 = A x_k + B u_k in
    steps of 1/8 s. We minimise the sum of x'Qx + u'Ru, and each step is a constraint with a
    multiplier l. So each step brings three blocks: u (1), x (2) and l (2).
    """)
    return


@app.cell
def _(np, pt):
    A, B = np.array([[1.0, 0.125], [1.5, 1.0]]), np.array([[0.0], [0.125]])
    Q, R = np.diag([1.0, 0.125]), np.array([[1 / 64]])

    def controller(steps):
        blocks = {}
        for k in range(steps):
            blocks |= {f"u{k}": [5 * k], f"x{k + 1}": [5 * k + 1, 5 * k + 2]}
            blocks |= {f"l{k + 1}": [5 * k + 3, 5 * k + 4]}
        K, rhs = np.zeros((5 * steps, 5 * steps)), np.zeros(5 * steps)
        for k in range(steps):
            u, x, lam, before = (blocks.get(name) for name in (f"u{k}", f"x{k + 1}", f"l{k + 1}", f"x{k}"))
            K[np.ix_(u, u)], K[np.ix_(x, x)], K[np.ix_(lam, x)], K[np.ix_(lam, u)] = R, Q, -np.eye(2), B
            if before:
                K[np.ix_(lam, before)] = A
        rhs[blocks["l1"]] = -A @ [1.0, 0.0]  # it starts one radian off
        K = np.where(K == 0.0, K.T, K)
        return pt.matrix(K, blocks=blocks, rhs=rhs, name=f"controller of {steps} steps")

    return A, B, Q, R, controller


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Two orders

    The pair (x l) is [[P, -1], [-1, 0]], which has an exact inverse, like (pdd f) of a body; u takes
    the place of qdd. Condensing eliminates all pairs, then all u: CRBM's order. Riccati's
    recursion eliminates each pair with the u before it, from the end: ABM's. What is left at x_k then
    is P_k = Q + A'PA - A'PB (R + B'PB)^-1 B'PA, and the pivot of u is R + B'PB.
    """)
    return


@app.cell
def _(controller, figures, kkt, style):
    def steps_of(structure):
        return range(structure.n // 3, 0, -1)

    def condensing(structure):
        pairs = [[f"x{k}", f"l{k}"] for k in steps_of(structure)]
        return pairs + [[f"u{k - 1}"] for k in steps_of(structure)]

    def riccati(structure):
        return [group for k in steps_of(structure) for group in ([f"x{k}", f"l{k}"], [f"u{k - 1}"])]

    small = controller(6).structure
    figures.compare_orders(
        [kkt.symbolic(kkt.plan(order, small)) for order in (condensing, riccati)], style=style
    )
    return condensing, riccati


@app.cell
def _(A, B, Q, R, controller, np, pt, riccati):
    found = pt.eliminate(controller(10), riccati).qdd  # u, x and l of all steps
    P, gains = Q, []
    for _ in range(10):  # the textbook's recursion, in numpy
        gains.insert(0, np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))
        P = Q + A.T @ P @ A - A.T @ P @ B @ gains[0]
    before = np.vstack([[1.0, 0.0], found.reshape(10, 5)[:-1, 1:3]])
    feedback = -np.einsum("kij,kj->k", np.array(gains), before)
    print("u is the feedback of Riccati's gains:", np.allclose(found[::5], feedback, rtol=1e-10))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What they cost, and what float32 leaves

    `natural` goes forward in time, u, x and l one after another. `minimum_degree`, AMD's rule, takes u_0
    first; l_1, whose block is B R^-1 B' then, of rank one, has the fewest neighbours, and waits for
    x_1. Solvers such as OSQP do not look: they add a small number to the diagonal, and then take any
    order. `qdldl` is the one that QDLDL 0.1.9 chose for ten steps, with 1e-6 subtracted at the
    multipliers.
    """)
    return


@app.cell
def _(condensing, controller, np, pt, riccati):
    orders = [riccati, condensing, "natural", "reverse_cuthill_mckee", "minimum_degree"]
    print(pt.compare(controller(10), orders, ["float32"]))

    chosen = "47 45 46 40 35 30 25 20 15 10 3 0 4 5 2 1 8 9 6 7 13 14 11 12 18 19 16 17 23 24 21 22 28 29 26"
    chosen = [[int(i)] for i in f"{chosen} 27 33 34 31 32 38 39 36 37 43 44 41 48 49 42".split()]

    def qdldl(structure):
        return chosen

    def riccati_by_rows(structure):
        of = controller(10)
        return [[int(i)] for g in riccati(of.structure) for name in g for i in of.blocks["x", name]]

    exact = controller(10)
    softened = exact.matrix - 1e-6 * np.diag(np.tile([0, 0, 0, 1, 1], 10))
    print(
        pt.compare(pt.matrix(softened, rhs=exact.rhs, name="softened"), [qdldl, riccati_by_rows], ["float32"])
    )
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## A longer horizon

    The pendulum falls: A has an eigenvalue of 1.43, and what condensing leaves to the end holds its
    powers, as the joint-space inertia of a long chain holds those of its links. Riccati's pivots do
    not grow with the horizon.
    """)
    return


@app.cell
def _(condensing, controller, pt, riccati):
    for steps in (10, 20, 40, 60):
        for row in pt.compare(controller(steps), [riccati, condensing]).rows:
            kept = "no answer" if row.digits is None else f"{row.digits:.1f} digits"
            print(f"{steps} steps, {row.order} in {row.format}: {row.flops:,} operations, {kept}")
    print(pt.blame(controller(20), condensing, "float32").sentence)
    return


if __name__ == "__main__":
    app.run()
