"""Lesson 5: Every algorithm is an order."""

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
    # Lesson 5: Every algorithm is an order

    CRBM and ABM are two orders of one matrix. Other algorithms were found by other ways: the
    principle of virtual work, Lagrange multipliers, recursions for parallel computers. Each of
    them is an order of the same matrix too.

    Some split the force of a joint in two: `fJ_k` along the joint, which the motor supplies, and
    `fC_k` across it, the constraint force. `(qdd_k fJ_k)` is then a pair as `(pdd_k f_k)` is. To
    eliminate every `pdd` first is to cut all joints open and let the bodies fly free; to
    eliminate constraint forces afterwards is to close joint after joint.
    """)
    return


@app.cell
def _():
    from pivotree import kkt, orderings
    from pivotree.analysis import figures

    chosen = ("crbm", "abm", "virtual_work", "lagrange", "divide_and_conquer", "base_to_tip")
    for name in chosen:
        order = orderings.get(name)
        print(f"{name}\n    {order.__doc__.splitlines()[0]}\n    {order.source}")
    return chosen, figures, kkt, orderings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Six algorithms, one matrix

    A chain of eight links, each picture the same matrix with rows in another order.
    """)
    return


@app.cell
def _(chosen, figures, kkt, orderings, style):
    def factor(name, tree):
        return kkt.symbolic(kkt.plan(orderings.get(name), kkt.build(tree).structure))

    figures.compare_orders([factor(name, kkt.chain(8)) for name in chosen], style=style)
    return (factor,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Less fill is not all that one can want. The *height* is the number of pivots that must wait
    for each other: with enough processors it is the time. ABM runs along the whole chain. Divide
    and conquer eliminates the joint in the middle last, so that both halves go side by side, and
    each half likewise: the height is about log2 n, and the price is fill.
    """)
    return


@app.cell
def _(mo):
    links = mo.ui.slider(3, 31, value=15, step=2, label="number of links")
    links
    return (links,)


@app.cell
def _(chosen, factor, kkt, links, orderings):
    print(f"{links.value} links              fill  height  operations")
    for method in chosen:
        found = factor(method, kkt.chain(links.value))
        flops = kkt.trace(kkt.build(kkt.chain(links.value)), orderings.get(method)).flops
        print(f"{method:20} {found.fill_blocks:6} {found.height:7} {flops:11,}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    In the *elimination tree* each block hangs below the first block that it changes: leaves go
    first, branches side by side. Here is that of divide and conquer on a chain of seven, whose
    last block stands on top; the explorer draws it beside the tree of the bodies. (Pairs
    `(qdd fJ)` are shown and not counted in the height: qdd meets nothing but its own fJ, so that
    no other block changes with the pair.)
    """)
    return


@app.cell
def _(factor, kkt):
    import networkx as nx

    _found = factor("divide_and_conquer", kkt.chain(7))
    _blocks = [str(_found.plan.graph.block(int(block))) for block in _found.plan.blocks]
    _pairs = zip(_blocks, _found.parent, strict=True)
    _hangs = nx.DiGraph((_blocks[up], block) for block, up in _pairs if up >= 0)
    print("\n".join(nx.generate_network_text(_hangs)))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The algorithm that an order is

    From pivots to a textbook's page: Lagrange multipliers, found as an algorithm in 1996 by
    Baraff. K and K^J are the directions across and along a joint, A_k the inertia of a body, n_k
    the constraint force, theta'' the acceleration of a body; loops and lines are found in the
    pivots.
    """)
    return


@app.cell
def _(kkt):
    from pivotree.analysis import listing

    print(listing.render(listing.of(kkt.build(kkt.chain(4)), "lagrange"), "pseudocode"))
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3", scene=4)  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Every order has a page with its picture, algorithm, cost and proofs: [all
    orders](../orders/README.md).

    ## Exercises

    **5.1** The brackets of three algorithms on a chain of three, tip `j3`. Which ones are they?
    Give the names of orders; `orderings.names()` lists all, the table above tells what most of
    them do.
    """)
    return


@app.cell
def _():
    import checks

    for number in (1, 2, 3):
        print(number, *checks.riddle(number))
    return (checks,)


@app.cell
def _(checks):
    checks.name_it(1, None)
    return


@app.cell
def _(checks):
    checks.name_it(2, None)
    return


@app.cell
def _(checks):
    checks.name_it(3, None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **5.2** Which of `orderings.names()` has the least height on a chain of 31 links? One name
    will do.
    """)
    return


@app.cell
def _(checks):
    checks.shallowest(None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **5.3** Move the slider to 3, 7, 15 and 31 links, and note the heights of divide and conquer.
    What is it for 255 links?
    """)
    return


@app.cell
def _(checks):
    checks.dissected(255, None)
    return


if __name__ == "__main__":
    app.run()
