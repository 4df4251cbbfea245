"""Lesson 3: CRBM and ABM as brackets."""

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
    # Lesson 3: CRBM and ABM as brackets

    Two methods are taught everywhere. The *composite rigid body method* (CRBM; Walker & Orin
    1982) computes the joint-space inertia and factors it. The *articulated body method* (ABM;
    Featherstone 1983) runs along the arm and back. They look like two theories. They are two
    orders of elimination of one matrix (Ascher, Pai & Cloutier 1996).

    An order is a list of brackets, a bracket a list of blocks that are eliminated together.
    """)
    return


@app.cell
def _():
    from pivotree import kkt, orderings

    arm = kkt.build(kkt.chain(3))
    for name in ("crbm", "abm"):
        brackets = orderings.get(name)(arm.structure)
        print(name.ljust(5), *(f"({' '.join(f'{kind}_{k}' for kind, k in b)})" for b in brackets))
    return arm, kkt, orderings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What is left after CRBM's first half

    When all pairs are gone, joints alone are left. The matrix that remains is the joint-space
    inertia, which CRBM is known for: not an input of the method but what elimination leaves.
    """)
    return


@app.cell
def _(arm, kkt, orderings, style):
    from pivotree.analysis import figures

    def factor(order, system):
        return kkt.symbolic(kkt.plan(order, system.structure))

    figures.spy(factor(orderings.get("crbm"), arm), 3, zeros=True, style=style)
    return factor, figures


@app.cell
def _(arm, kkt, orderings):
    inertia = kkt.joint_space_inertia(arm, orderings.get("crbm"))
    for row in inertia:
        print("  ".join(f"{entry:9.6f}" for entry in row))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    (Rows and columns base to tip. The zero between `j2` and `j3` is not the pattern's but this
    arm's, whose axes alternate at right angles.)

    ## The algorithm, read off the pivots

    `analysis.listing` writes an order down as loops. Nothing is typed by hand: the loops are
    found in the program that elimination made. CRBM first, then ABM.
    """)
    return


@app.cell
def _(kkt):
    from pivotree.analysis import listing

    four = kkt.build(kkt.chain(4))
    print(listing.render(listing.of(four, "crbm", "ascher"), "pseudocode"))
    return four, listing


@app.cell
def _(four, listing):
    print(listing.render(listing.of(four, "abm", "ascher"), "pseudocode"))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    R_k, the inertia of body k and all it carries taken as one rigid body, is what CRBM's pairs
    add up. `M^_k` of ABM is less: what the joints below leave of it, since they give way. D_k is
    the pivot of the joint in both.

    ## The same pivots

    In exact fractions, D_k of one is D_k of the other, to the last digit; it is proved for all n
    ([proofs](../proofs.md)). In float32 they differ: the same number is reached along two ways.
    """)
    return


@app.cell
def _(kkt, orderings):
    long = kkt.build(kkt.chain(12))

    def pivots(name, format):
        steps = kkt.eliminate(long, orderings.get(name), format).steps
        return {b.body: s.pivots[-1] for s in steps for b in s.blocks if b.kind == "qdd"}

    exact = {name: pivots(name, "exact") for name in ("crbm", "abm")}
    single = {name: pivots(name, "float32") for name in ("crbm", "abm")}
    print("equal in fractions:", exact["crbm"] == exact["abm"])
    print("body   D_k exact    error of crbm   error of abm   (float32)")
    for k in long.structure.tip_to_base[::3]:
        off = [abs(float(single[name][k]) / float(exact[name][k]) - 1) for name in ("crbm", "abm")]
        print(f"{k:5} {float(exact['abm'][k]):11.8f}  {off[0]:12.1e} {off[1]:14.1e}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## What the brackets cost

    Operations that qdd needs, zeros and ones of the arm not counted.
    """)
    return


@app.cell
def _(mo):
    links = mo.ui.slider(1, 12, value=2, label="number of links")
    links
    return (links,)


@app.cell
def _(kkt, links, orderings):
    some = kkt.build(kkt.chain(links.value))
    for method in ("crbm", "abm"):
        flops = kkt.trace(some, orderings.get(method)).flops
        print(f"{method:5} {flops:7,} operations on {links.value} links")
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3", scene=3)  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Exercises

    **3.1** Write ABM for `kkt.star(2)`, a hub `j1` with two leaves `j2` and `j3`: a list of
    brackets, each a list of blocks such as `("pdd", "j3")`.
    """)
    return


@app.cell
def _():
    import checks

    checks.write_abm(None)
    return (checks,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **3.2** A tree of eight hinges, whose axes point anywhere. How many of the 64 entries of its
    joint-space inertia are zero? Use the rule of lesson 2: which joints ever meet?
    """)
    return


@app.cell
def _(checks):
    import networkx as nx

    print("\n".join(nx.generate_network_text(checks.branched())))
    return


@app.cell
def _(checks):
    checks.inertia_zeros(None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **3.3** On short arms CRBM is the cheaper one. What is the least number of links for which ABM
    needs fewer operations? (Composite inertias are counted as ten numbers, as textbooks have them; as
    whole 6 x 6 matrices they would make ABM the cheaper one from 5 links on.)
    """)
    return


@app.cell
def _(checks):
    checks.crossing(None)
    return


if __name__ == "__main__":
    app.run()
