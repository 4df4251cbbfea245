"""Lesson 2: Elimination and fill."""

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
    # Lesson 2: Elimination and fill

    To eliminate an unknown is to solve one equation for it and to put the result into the others.
    What that does to the pattern of a matrix is a rule of one line:

    > **What meets the pivot meets each other afterwards.**

    If the unknown x occurs in the equations of u and of v, then putting x into them makes u and v
    meet. Where they had not met before, a zero of the matrix has become nonzero: *fill*. Fill is
    memory, and every block of it is arithmetic later on. In one matrix, which blocks are filled
    depends on the order in which unknowns are eliminated, and on nothing else.
    """)
    return


@app.cell
def _():
    from pivotree import kkt, orderings
    from pivotree.analysis import figures

    def factor(order, tree):
        """The pattern of an elimination; no numbers are computed."""
        return kkt.symbolic(kkt.plan(order, kkt.build(tree).structure))

    crbm, abm = orderings.get("crbm"), orderings.get("abm")
    return abm, crbm, factor, figures, kkt, orderings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Step by step

    Three links again, their blocks sorted for the order `crbm`: first acceleration and force of
    each body from the tip, as a pair `(pdd f)`, then the joints. Move the slider through the
    elimination. Rings are pivots, dark orange is new fill, small noughts are what has
    been made zero.
    """)
    return


@app.cell
def _(mo):
    step = mo.ui.slider(0, 6, value=2, label="brackets eliminated")
    step
    return (step,)


@app.cell
def _(crbm, factor, figures, kkt, step, style):
    figures.spy(factor(crbm, kkt.chain(3)), step.value, zeros=True, style=style)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Why a pair? The block between `pdd_k` and `f_k` is the identity, so that the two can be
    eliminated together without arithmetic on it. The inverse of

        M  1                0   1
        1  0       is       1  -M

    and no number has been divided. What is added to the parent is `Phi M Phi*`, with M itself.
    One thing is special about the pair, because of the zero in the inverse: what met `pdd_k`
    comes to meet what met `f_k`, but not one another.
    """)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Two orders, two fills

    The same matrix in the order `abm`: bracket after bracket, `(pdd qdd f)` of one body, tip to
    base. The joint is gone before its parent's turn comes.
    """)
    return


@app.cell
def _(abm, crbm, factor, figures, kkt, style):
    both = [factor(crbm, kkt.chain(6)), factor(abm, kkt.chain(6))]
    figures.compare_orders(both, style=style, title="A chain of six")
    return


@app.cell
def _(abm, crbm, factor, kkt):
    print("links   crbm   abm")
    for n in range(1, 7):
        fills = [factor(order, kkt.chain(n)).fill_blocks for order in (crbm, abm)]
        print(f"{n:5} {fills[0]:6} {fills[1]:5}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    In CRBM every joint stays until the end, and each step towards the base makes all joints that
    wait meet one body more. In ABM one block a body is filled: a joint with its parent's
    acceleration.

    On a tree that branches, a joint meets its ancestors only, and the two orders are nearer to
    each other. A random order tells what fill can be. Fill and operations on a binary tree of
    seven bodies:
    """)
    return


@app.cell
def _(factor, kkt, orderings):
    tree = kkt.binary(2)
    print("order      fill  operations")
    for name in ("crbm", "abm", "random:0"):
        order = orderings.get(name)
        work = kkt.trace(kkt.build(tree), order).flops
        print(f"{name:8} {factor(order, tree).fill_blocks:6} {work:11,}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What may not be first

    The diagonal blocks of `qdd` and `f` are zero at the start: a joint cannot be a pivot before
    something has been added there. An order that tries is refused.
    """)
    return


@app.cell
def _(factor, kkt):
    def joint_first(structure):
        return [[(kind, k)] for k in structure.tip_to_base for kind in ("qdd", "pdd", "f")]

    try:
        factor(joint_first, kkt.chain(2))
    except kkt.OrderError as refusal:
        print(refusal)
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3", scene=2)  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Exercises

    **2.1** On the chain of three, CRBM's first bracket is `(pdd_j3 f_j3)`, at the tip. It fills
    one block off the diagonal. Which two unknowns meet there? Find them by the rule before you
    look at the slider.
    """)
    return


@app.cell
def _():
    import checks

    checks.first_fill(None)
    return (checks,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **2.2** Continue the table: how many blocks does CRBM fill on a chain of 12 links?
    """)
    return


@app.cell
def _(checks):
    checks.crbm_fill(12, None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **2.3** CRBM takes the joints tip to base. Write an order that begins with the same brackets
    `(pdd f)` and fills *more* blocks on the binary tree, by another order of the joints. The
    function below is CRBM; `structure` also has `base_to_tip`, `children(k)` and `parent_of(k)`.
    Hand it to the check in the place of None.
    """)
    return


@app.cell
def _(checks):
    def mine(structure):
        pairs = [[("pdd", k), ("f", k)] for k in structure.tip_to_base]
        joints = [[("qdd", k)] for k in structure.tip_to_base]
        return pairs + joints

    checks.more_fill(None)
    return


if __name__ == "__main__":
    app.run()
