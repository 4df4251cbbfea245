"""Lesson 4: Why digits vanish."""

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
    # Lesson 4: Why digits vanish

    In exact arithmetic every order gives the same answer. In a computer a number has 24 bits
    (float32) or 53 (float64), and a sum keeps only what fits. On one arm, two orders can differ
    in all digits. This lesson follows Examples 1 to 3 of Ascher, Pai & Cloutier (1996).

    Digits are lost in a sum of something large and something small. It is called *absorption*:
    """)
    return


@app.cell
def _():
    import numpy as np

    for large in (1e6, 1e7, 1e8):
        total = np.float32(large) + np.float32(1.0)
        print(f"{large:.0e} + 1 = {total:12,.0f}   minus {large:.0e} = {total - np.float32(large)}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    The 1 is gone in the sum; the subtraction, which is exact, only shows it. Whether an order
    works is a question of what is added to what *first*.

    ## Example 2: two sliders on one line

    A heavy body 1 slides on a light body 2, which slides on the ground, along the same line; m_2
    = 1. Push body 2 alone: body 1 is not taken along, since its joint gives way. What the base's
    joint feels, its pivot D_2, is therefore m_2 = 1, whatever m_1 is.

    CRBM adds masses first, D_2 = (m_2 + m_1) - m_1. ABM takes away what the joint gives first,
    D_2 = m_2 + (m_1 - m_1).
    """)
    return


@app.cell
def _(mo):
    exponent = mo.ui.slider(0, 12, value=8, label="m_1 = 10^k, k")
    exponent
    return (exponent,)


@app.cell
def _(exponent):
    from pivotree import analysis, kkt, orderings

    def pivot(system, order, body=2, format="float32"):
        """D_k: the last pivot of the step that eliminates qdd_k."""
        steps = kkt.eliminate(system, orderings.get(order), format).steps
        (found,) = (s.pivots[-1] for s in steps if ("qdd", body) in s.blocks)
        return float(found)

    sliders = kkt.build(kkt.example2(10.0**exponent.value))
    for name in ("crbm", "abm", "modified_abm"):
        print(f"m_1 = 1e{exponent.value}   {name:13} D_2 = {pivot(sliders, name):g}")
    return analysis, kkt, orderings, pivot, sliders


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    `analysis.blame` follows every rounding error to its end and says where it came from:
    """)
    return


@app.cell
def _(analysis, mo, sliders):
    mo.md(f"> {analysis.blame(sliders, 'crbm', 'float32').sentence}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Example 3: the same, tilted

    Nothing of this depends on directions, one would think. Turn the coordinates by an angle, so
    that the line of the joints is (0, sin, cos) and no axis of coordinates. Now m_1 - m_1 is not
    one stored zero: it is a matrix of large entries that is zero along one oblique direction, up
    to rounding. What rounding leaves there, some 1e-7 of m_1, is added to m_2 = 1.
    """)
    return


@app.cell
def _(mo):
    mass = mo.ui.slider(4, 9, value=6, label="m_1 = 10^k, k")
    mass
    return (mass,)


@app.cell
def _(kkt, mass, orderings):
    compared = ("crbm", "abm", "modified_abm", "projected_abm", "square_root_abm")

    def error(system, order):
        """Relative error of qdd in float32, against the certified answer."""
        result = kkt.eliminate(system, orderings.get(order), "float32")
        exact = kkt.certify(system, 20, rounded_to="float32")
        return "failed" if result.failed_at else f"{exact.error(result.qdd):.0e}"

    print("angle ", *(f"{name:>15}" for name in compared))
    for angle in (0, 20, 45, 75):
        tilted = kkt.build(kkt.example3(10.0**mass.value, 2, angle))
        print(f"{angle:4}° ", *(f"{error(tilted, name):>15}" for name in compared))
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    `modified_abm` is equation (11) of the paper, which keeps the heavy part apart until D is
    formed. At 45 degrees it works, as the paper prints; see exercise 4.3. With m_1 = 1e7 CRBM,
    too, is right at some angles and off by a half at others: luck of rounding. `projected_abm`
    takes out of the joint's axis what the child's joint has taken away already. `square_root_abm`
    never forms the difference: it rotates weighted rows, as least squares are solved
    ([elimination by rotations](../elimination.md#elimination-by-rotations)).

    ## Example 1: a real arm

    A short light link, 2 cm and 0.1 kg, carries a long heavy one, 2 m and 10 kg. The tip joint is
    turned through a full circle; at every angle the base joint's acceleration is computed in
    float32, and its relative error drawn. The arm is in a plane, its axes along z.
    """)
    return


@app.cell
def _(kkt, orderings):
    from math import pi

    turns = [2 * pi * i / 60 for i in range(60)]

    def sweep(tilt):
        """For each order, errors of the base joint's acceleration over the circle."""
        arm = kkt.build(kkt.example1(q1=1.0, tilt=tilt))
        base = arm.tree.names.index(2)
        traced = {o: kkt.trace(arm, orderings.get(o)) for o in ("crbm", "abm", "square_root_abm")}
        errors = {name: [] for name in traced}
        for angle in turns:
            state = arm.refresh(q=[0.0, angle])
            exact = float(kkt.certify(state, 20, rounded_to="float32").qdd[base])
            for name, tape in traced.items():
                qdd = kkt.eliminate(state, tape, "float32", records=False).qdd
                errors[name].append(abs(float(qdd[base]) / exact - 1))
        return errors

    return pi, sweep, turns


@app.cell(hide_code=True)
def _(pi, style, sweep, turns):
    from pivotree.analysis.figures import MARKERS, new_figure, settings, style_axes, theme

    look = theme(style=style)
    with settings():
        circle = new_figure("double", 2.6, look)
        for panel, (tilt, about) in enumerate(((0.0, "as it is"), (pi / 4, "tilted by 45°"))):
            ax = circle.add_axes((0.09 + 0.48 * panel, 0.2, 0.41, 0.66))
            for i, (who, off) in enumerate(sweep(tilt).items()):
                off = [max(e, 1e-10) for e in off]  # an exact answer has a place at the bottom
                kind = {"color": look.series[i], "marker": MARKERS[i], "label": who}
                ax.semilogy(turns, off, linestyle="", markersize=3, **kind)
            ax.set(xlabel="angle of the tip joint [rad]", title=about, ylim=(5e-11, 10))
            style_axes(ax, look, grid="y")
        circle.axes[0].set_ylabel("error of the base joint")
        circle.axes[0].legend(frameon=False, labelcolor=look.ink, fontsize=7, loc="upper right")
    circle
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    CRBM keeps three or four digits of seven at most angles. ABM keeps nearly all, until the same
    arm is written in tilted coordinates. An integrator that is fed with such accelerations takes
    the noise for motion and makes its steps smaller: the paper calls it *formulation stiffness*.

    Is it the arm's fault? A condition number says by how much qdd moves where the data are
    rounded. That of qdd is small; that of the joint-space inertia, which CRBM forms on its way,
    is not:
    """)
    return


@app.cell
def _(kkt):
    condition = kkt.conditioning(kkt.build(kkt.example1(q1=1.0)))
    print(f"condition of qdd {condition.kappa:.1f}")
    print(f"condition of the joint-space inertia {condition.kappa_inertia:.1e}")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    Nothing needs to be extreme for that. Thirty equal links: errors of the pivots D_k, step by
    step.
    """)
    return


@app.cell
def _(kkt, orderings, style):
    from pivotree.analysis import figures

    thirty = kkt.build(kkt.chain(30))
    runs = {o: kkt.eliminate(thirty, orderings.get(o), "float32") for o in ("crbm", "abm")}
    figures.pivot_errors(runs, title="chain of 30, float32", style=style)
    return


@app.cell(hide_code=True)
def _():
    from pivotree.analysis.explorer import embedded

    embedded("chain:3", scene=5)  # to play with
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Exercises

    **4.1** In Example 2 float32 loses D_2 at m_1 = 1e8, when CRBM computes it. At which power of
    ten, 10^k, is it 0 for the first time in **float64**? Give k. A float64 has 53 bits.
    """)
    return


@app.cell
def _():
    import checks

    checks.least_power(None)
    return (checks,)


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **4.2** CRBM on two bodies has the brackets `(pdd_1 f_1)`, `(pdd_2 f_2)`, `(qdd_1)`,
    `(qdd_2)`. The pivot of `qdd_2` is 0 for m_1 = 1e8. The digits were lost before: which bracket
    is the first whose own block is wrong? Give it as a list of blocks.
    """)
    return


@app.cell
def _(checks):
    checks.culprit(None)
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    **4.3** At 0 and at 45 degrees equation (11) is right to seven digits with m_1 = 1e8. Is it a
    remedy? Find an angle between 0 and 90 degrees at which `modified_abm` loses qdd.
    """)
    return


@app.cell
def _(checks):
    checks.unlucky(None)
    return


if __name__ == "__main__":
    app.run()
