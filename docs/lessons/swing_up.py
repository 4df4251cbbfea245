"""Gradients: swing up an arm."""

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
    # Gradients: swing up an arm

    An arm of two rods, 0.5 m and 1 kg each, hangs from a pin. Its shoulder turns freely; the only
    motor sits at the elbow and gives 8 N m at most. Which torques stand the arm up, at rest, in
    three seconds?

    `kkt.to_jax` makes forward dynamics by an order a function of JAX arrays. A hundred steps of it
    are one function of a hundred torques, JAX differentiates that, and the gradient goes to SciPy's
    L-BFGS. Differentiation reuses the pivots ([orders inside JAX](../jax.md)). It needs
    `pip install -e ".[jax]"`.
    """)
    return


@app.cell
def _():
    import jax
    import jax.numpy as jnp
    import numpy as np
    from scipy.optimize import minimize

    from pivotree import kkt, orderings
    from pivotree.analysis import figures

    jax.config.update("jax_enable_x64", True)
    return figures, jax, jnp, kkt, minimize, np, orderings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## A hundred steps

    Angles turn about z, gravity points along -y, and q = (-π/2, 0) hangs. A torque is
    8 tanh(u) N m, so that every u is allowed. A step of 0.03 s is semi-implicit: the new rates move
    the joints.
    """)
    return


@app.cell
def _(jax, jnp, kkt, np, orderings):
    down, limit, step = np.array([-np.pi / 2, 0.0]), 8.0, 0.03
    arm = kkt.chain(2, axes="z", length=0.5, gravity=(0.0, -9.81, 0.0))
    dynamics = kkt.to_jax(arm, orderings.get("abm"))

    @jax.jit
    def motion(u):
        def one(state, effort):
            q, qd = state
            tau = jnp.stack([jnp.zeros(()), limit * jnp.tanh(effort)])
            qd = qd + step * dynamics(q, qd, tau)
            q = q + step * qd
            return (q, qd), (q, qd)

        return jax.lax.scan(one, (down, jnp.zeros(2)), u)[1]

    return down, dynamics, limit, motion, step


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Torques by their gradient

    A cost says how far the end is from upright and from rest, and what speed costs on the way.
    An arm is chaotic, so speed is dear at first and cheap at last: four descents, each from where
    the last one ended. At u = 0 the arm hangs still and the gradient is zero, so the search starts
    from a small swing. Where it ends far from upright, another swing is tried.
    """)
    return


@app.cell
def _(jax, jnp, minimize, motion, np, step):
    def missed(q, qd):
        """Squares of the distance from upright [of the unit circle] and from rest [rad/s] at the end."""
        return 2 * jnp.sum(1 - jnp.sin(jnp.cumsum(q[-1]))), qd[-1] @ qd[-1]

    def cost(u, end, speed):
        q, qd = motion(u)
        off, rate = missed(q, qd)
        return end * (off / 2 + 0.02 * rate) + step * (
            speed * jnp.sum(qd**2) + 1e-3 * jnp.sum(jnp.tanh(u) ** 2)
        )

    value_and_gradient = jax.jit(jax.value_and_grad(cost))

    def numbers(u, *weights):
        value, gradient = value_and_gradient(u, *weights)
        return float(np.nan_to_num(value, nan=1e9)), np.nan_to_num(gradient)

    def swing(frequency):
        u = 0.2 * np.cos(frequency * step * np.arange(100))
        for weights in ((50.0, 0.1), (500.0, 0.01), (5000.0, 0.001), (5000.0, 0.0001)):
            found = minimize(
                numbers, u, weights, "L-BFGS-B", jac=True, options={"maxiter": 400, "maxcor": 30}
            )
            u = found.x
        return u

    for frequency in (5.0, 4.0, 6.0, 4.5, 5.5, 3.0):
        u = swing(frequency)
        off, rate = (float(x) ** 0.5 for x in missed(*motion(u)))
        if off < 0.02 and rate < 0.1:
            break
    print(f"off upright by {off:.0e}, turning at {rate:.0e} rad/s")
    return u, value_and_gradient


@app.cell
def _(figures, limit, motion, np, step, style, u):
    q = np.asarray(motion(u)[0])
    look = figures.theme(style=style)
    with figures.settings():
        figure = figures.new_figure("double", 3.0, look)
        figure.set_layout_engine("constrained")
        arms, lines = figure.subplots(1, 2)
        for k in range(0, 100, 3):
            angles = np.cumsum(q[k])
            rods = 0.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
            ends = np.cumsum([[0, 0], *rods], axis=0)
            arms.plot(*ends.T, "-", color=look.series[0], alpha=0.15 + 0.6 * k / 100, linewidth=1)
        arms.plot(*ends.T, "o-", color=look.series[1], linewidth=2.5, markersize=4)
        arms.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
        arms.set_title("the arm, every third step; the last in bold", color=look.ink)
        times = step * np.arange(1, 101)
        drawn = {
            "torque at the elbow, N m": limit * np.tanh(u),
            "shoulder, rad": q[:, 0],
            "elbow, rad": q[:, 1],
        }
        for (name, values), colour in zip(drawn.items(), look.series, strict=False):
            lines.plot(times, values, color=colour, label=name)
        lines.set_xlabel("time [s]", color=look.ink)
        lines.legend(frameon=False, labelcolor=look.ink, fontsize=8)
        for ax in (arms, lines):
            figures.style_axes(ax, look, grid="both")
    figure
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    These torques move this discrete arm so. A standing arm falls from the smallest push, and a step
    of another length is such a push: to stay up it needs feedback.

    ## Is the gradient right?

    Along one direction it must be the difference quotient of the cost. The motion is chaotic even
    in the first swing, and a quotient needs a small step: 1e-5 is already wrong by 5e-4.
    """)
    return


@app.cell
def _(np, step, value_and_gradient):
    here = 0.2 * np.cos(5.0 * step * np.arange(100))
    along = np.random.default_rng(0).standard_normal(100)
    slope = value_and_gradient(here, 50.0, 0.1)[1] @ along
    small = 1e-7
    ahead, behind = (value_and_gradient(here + sign * small * along, 50.0, 0.1)[0] for sign in (1, -1))
    apart = abs(float((ahead - behind) / (2 * small) / slope) - 1)
    print(f"gradient and difference quotient: {apart:.0e} apart")
    return


if __name__ == "__main__":
    app.run()
