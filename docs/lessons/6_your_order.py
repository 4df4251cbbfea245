"""Lesson 6: Design your own order."""

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
    # Lesson 6: Design your own order

    An order is a function: it is handed the structure of a tree, never its numbers, and returns a
    list of brackets. Three rules:

    1. Every block is named once: `pdd`, `qdd` and `f` of each body.
    2. No pivot may be zero. `pdd` before `f` before `qdd`, body by body, is always allowed;
       inside a bracket the engine finds the way itself.
    3. What stands in one bracket is eliminated together: its inverse is formed before the rest of
       the matrix is touched. Brackets do not change the answer. They change what is added to what
       first, and so the cost and the digits; where they make a pair `(pdd f)`, the fill as well.

    The structure knows `tip_to_base`, `base_to_tip`, `children(k)`, `parent_of(k)` and `names`.
    """)
    return


@app.cell
def _():
    from pivotree import analysis, kkt, orderings
    from pivotree.analysis import figures

    def body(k):
        """ABM's bracket."""
        return [("pdd", k), ("qdd", k), ("f", k)]

    return analysis, body, figures, kkt, orderings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## An order between two orders

    CRBM is cheap on short chains, ABM on long ones. Why not both? Cut the chain into pieces of m
    bodies, tip to base. In a piece, pairs first and then its joints, as CRBM does; piece after
    piece, as ABM. With m = 1 the pivots are ABM's, with m = n this is CRBM.
    """)
    return


@app.cell
def _(mo):
    piece = mo.ui.slider(1, 12, value=3, label="bodies in a piece")
    piece
    return (piece,)


@app.cell
def _(figures, kkt, orderings, piece, style):
    def in_pieces(m):
        @orderings.order(f"pieces_of_{m}", source="lesson 6")
        def order(structure):
            bodies, groups = structure.tip_to_base, []
            for i in range(0, len(bodies), m):
                groups += [[("pdd", k), ("f", k)] for k in bodies[i : i + m]]
                groups += [[("qdd", k)] for k in bodies[i : i + m]]
            return groups

        return order

    def factor(order, tree):
        return kkt.symbolic(kkt.plan(order, kkt.build(tree).structure))

    figures.before_after(factor(in_pieces(piece.value), kkt.chain(12)), style=style)
    return factor, in_pieces


@app.cell
def _(analysis, in_pieces, kkt):
    twelve = kkt.build(kkt.chain(12))
    tried = [*map(in_pieces, (1, 2, 3, 4, 6, 12)), "abm", "crbm"]
    print("order           fill  operations  error (float32)")
    for row in analysis.compare(twelve, tried, ["float32"]).rows:
        print(f"{row.order:14} {row.fill_blocks:5} {row.flops:11,} {row.error:16.0e}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    The table shows what measuring is for. On this chain pieces do not pay, and most of them cost
    digits. On a robot that branches it can be otherwise, if by a hair.

    ## An order for a robot

    A humanoid has a head, two legs, and two arms with three fingers each. Here the last body of
    each branch is treated as CRBM would, all others as ABM.
    """)
    return


@app.cell
def _(analysis, body, kkt, orderings):
    @orderings.order("crbm_in_hands", source="lesson 6")
    def crbm_in_hands(structure):
        fingers = [k for k in structure.tip_to_base if not structure.children(k)]
        rest = [k for k in structure.tip_to_base if structure.children(k)]
        pairs = [[("pdd", k), ("f", k)] for k in fingers]
        return pairs + [[("qdd", k)] for k in fingers] + [body(k) for k in rest]

    robot = kkt.build(kkt.humanoid())
    found = analysis.compare(robot, [crbm_in_hands, "abm", "crbm"], ["float32"])
    for line in found.rows:
        print(f"{line.order:14} {line.fill_blocks:4} blocks {line.flops:8,} operations")
    print()
    print(found.verdict)
    return (crbm_in_hands,)


@app.cell
def _(crbm_in_hands, factor, figures, kkt, style):
    figures.spy(factor(crbm_in_hands, kkt.humanoid()), style=style)
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3")  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    An order in a file of your own runs from the command line as the others do: `pivotree compare
    robot.urdf --orders my_orders.py:mine,abm`; `pivotree list` writes it down as an algorithm,
    and `pivotree blame` says where it loses digits.

    ## Exercises

    **6.1** This order of `kkt.chain(2)` is refused. Put its brackets right: a list with all six
    blocks that is accepted and fills as few blocks as can be. The tip is `j2`.
    """)
    return


@app.cell
def _(factor, kkt):
    import checks

    pair_1, pair_2 = ([("pdd", k), ("f", k)] for k in ("j1", "j2"))
    broken = [[("qdd", "j2")], pair_1, pair_2, [("qdd", "j1")]]
    try:
        factor(broken, kkt.chain(2))
    except kkt.OrderError as refusal:
        print(refusal)
    checks.repaired(None)
    return (checks,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **6.2** Two processors, one chain of 15 links. Write an order whose height is at most two
    thirds of ABM's and whose fill at most twice ABM's. The function below is ABM; a chain has two
    ends.
    """)
    return


@app.cell
def _(body, checks):
    def two_hands(structure):
        return [body(k) for k in structure.tip_to_base]

    height, fill = checks.limits()
    print(f"height at most {height}, fill at most {fill}")
    checks.shallow_and_sparse(None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **6.3** Write an order that solves for qdd of `kkt.chain(12)` with fewer operations than
    both CRBM and ABM need. Then draw it with `figures.spy`, and give it to `analysis.compare`.
    """)
    return


@app.cell
def _(checks):
    checks.cheaper(None)
    return


if __name__ == "__main__":
    app.run()
