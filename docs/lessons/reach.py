"""Gradients: a reach of Panda's hand."""

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
    # Gradients: a reach of Panda's hand

    Franka's Panda, an arm of seven joints, stands at rest. Which torques bring its hand to a given
    point in one second, so that it is at rest again?

    The arm's motion over fifty steps is one function of 350 torques. JAX differentiates it by the
    pivots of the articulated body method, as in [Swing up an arm by gradients](swing_up.md), and
    SciPy's `least_squares` takes Gauss-Newton steps with what comes out. It needs
    `pip install -e ".[jax,robots]"`, and `pip install mujoco-mjx` for the same reach through
    MuJoCo's MJX at the end, which is left out without it.
    """)
    return


@app.cell
def _():
    import contextlib
    import io
    import time
    import warnings

    import jax
    import jax.numpy as jnp
    import numpy as np
    from scipy.optimize import least_squares

    from pivotree import kkt, orderings
    from pivotree.analysis import figures

    jax.config.update("jax_enable_x64", True)
    return contextlib, figures, io, jax, jnp, kkt, least_squares, np, orderings, time, warnings


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The arm, its hand, and fifty steps

    Links on fixed joints are merged into the bodies that carry them, and the fingers are held. The
    hand is a point 0.21 m along the axis of the last joint.

    The unknowns are accelerations u rather than torques: each step's torques are what holds the arm
    where it starts, and M u besides, where M is the joint-space inertia at the start. So an unknown
    of the shoulder and one of the wrist move the hand about equally far. A tanh keeps torques
    within the limits of Franka's data sheet, 87 N m and at the wrist 12 N m. A step of 0.02 s is
    semi-implicit: the new rates move the joints.
    """)
    return


@app.cell
def _(jax, jnp, kkt, np, orderings, warnings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file couples the fingers, which are held here
        panda = kkt.load("robot:panda")
    for finger in ("panda_leftfinger", "panda_rightfinger"):
        panda.nodes[finger]["joint"] = "fixed"
    for name in ("q", "qd", "tau"):  # the state of all nine joints
        panda.graph.pop(name, None)
    dynamics = kkt.to_jax(panda, orderings.get("abm"))

    arm, steps, step = kkt.compile_tree(panda), 50, 0.02
    limit = np.array([87.0] * 4 + [12.0] * 3)
    start, rest = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.8, 0.8]), np.zeros(7)
    target = np.array([0.35, 0.45, 0.35])
    inertia = np.linalg.inv(jax.jacfwd(dynamics, 2)(start, rest, rest))
    hold = -inertia @ np.asarray(dynamics(start, rest, rest))

    def torques(u):
        return limit * jnp.tanh((hold + u.reshape(steps, 7) @ inertia) / limit)

    def places(q):
        """(8, 3) where the joints and the hand are [m]."""
        R, p, found = jnp.eye(3), jnp.zeros(3), []
        for k in range(7):
            p, R = p + R @ arm.p[k], R @ arm.R[k]
            c, s = jnp.cos(q[k]), jnp.sin(q[k])
            R = R @ jnp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])  # all axes are z
            found.append(p)
        return jnp.stack([*found, p + R @ np.array([0.0, 0.0, 0.21])])

    def motion(u, accelerations=dynamics):
        def one(state, tau):
            q, qd = state
            qd = qd + step * accelerations(q, qd, tau)
            q = q + step * qd
            return (q, qd), (q, qd)

        return jax.lax.scan(one, (start, rest), torques(u))[1]

    far = np.linalg.norm(target - places(start)[-1])
    print(f"the hand starts {far:.2f} m from the point")
    return arm, dynamics, limit, motion, places, start, step, steps, target, torques


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Torques by derivatives

    What should be zero at the end is the hand's distance from the point, three numbers, and the
    joints' rates, seven. Reverse mode gives the 10 x 350 derivatives. A small weight on u makes the
    answer the one with small accelerations among the many that there are.

    What gives the accelerations is an argument, for another program at the end. Compilation is told
    in seconds of processor time, a Jacobian as the least of five.
    """)
    return


@app.cell
def _(dynamics, jax, jnp, least_squares, motion, np, places, steps, target, time):
    def reach(accelerations, options=None):
        """u, what it misses, its slopes, and in words what they took."""

        def ends(u):
            """(10,) of the end: distances [1/30 m] and rates [1/3 rad/s]."""
            q, qd = (x[-1] for x in motion(u, accelerations))
            return jnp.concatenate([30 * (places(q)[-1] - target), 3 * qd])

        none, weight, began, times = np.zeros(7 * steps), 0.005, time.process_time(), []
        of_u = [jax.jit(f, compiler_options=options).lower(none) for f in (ends, jax.jacrev(ends))]
        missed, slopes = (one.compile() for one in of_u)
        compiled = time.process_time() - began
        for _ in range(5):
            began = time.perf_counter()
            np.asarray(slopes(none))
            times.append(time.perf_counter() - began)
        found = least_squares(
            lambda u: np.concatenate([missed(u), weight * u]),
            none,
            lambda u: np.vstack([slopes(u), weight * np.eye(7 * steps)]),
            max_nfev=40,
        )
        off = np.linalg.norm(missed(found.x)[:3]) / 30
        took = f"compiled in {compiled:.0f} s, a Jacobian in {1e3 * min(times):.0f} ms"
        told = f"{found.njev} derivatives: off by {1e3 * off:.1f} mm; {took}"
        return found.x, missed, slopes, told

    u, missed, slopes, told = reach(dynamics)
    rate = np.abs(missed(u)[3:]).max() / 3
    print(f"to_jax: {told}\nthe joints turn at {rate:.0e} rad/s at the end")
    return missed, reach, slopes, told, u


@app.cell
def _(figures, limit, motion, np, places, start, step, steps, style, target, torques, u):
    q = np.asarray(motion(u)[0])
    look = figures.theme(style=style)
    with figures.settings():
        figure = figures.new_figure("double", 3.0, look)
        figure.set_layout_engine("constrained")
        above, lines = figure.subplots(1, 2)
        for k in range(0, steps, 4):
            between = np.asarray(places(q[k]))
            above.plot(*between[:, :2].T, "-", color=look.series[0], alpha=0.15 + 0.5 * k / steps)
        first, last = (np.asarray(places(x)) for x in (start, q[-1]))
        above.plot(*first[:, :2].T, "o--", color=look.ink, linewidth=1, markersize=2.5)
        above.plot(*last[:, :2].T, "o-", color=look.series[1], linewidth=2.5, markersize=4)
        above.plot(*target[:2], "x", color=look.ink, markersize=10)
        above.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
        above.set_title("from above: the start dashed, the end bold", color=look.ink)
        shares, times = np.asarray(torques(u)) / limit, step * np.arange(steps)
        for k in range(7):
            line, colour = ("-", "--")[k // 4], look.series[k % 4]
            lines.plot(times, shares[:, k], line, color=colour, label=f"joint {k + 1}")
        lines.set_xlabel("time [s]", color=look.ink)
        lines.set_title("torques, as parts of their limits", color=look.ink)
        lines.legend(frameon=False, labelcolor=look.ink, fontsize=7, ncols=2)
        for ax in (above, lines):
            figures.style_axes(ax, look, grid="both")
    figure
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## Are the derivatives right?

    Along one direction they must be the difference quotients of the ten numbers.
    """)
    return


@app.cell
def _(missed, np, slopes, u):
    along, small = np.random.default_rng(0).standard_normal(u.size), 1e-6
    slope = np.asarray(slopes(u)) @ along
    ahead, behind = (np.asarray(missed(u + sign * small * along)) for sign in (1, -1))
    apart = np.abs((ahead - behind) / (2 * small) - slope).max() / np.abs(slope).max()
    print(f"derivatives and difference quotients: {apart:.0e} apart")
    return


@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    ## The same reach through MJX

    MJX is MuJoCo in JAX, and JAX differentiates it operation by operation. It gets the same seven
    bodies, masses and frames, and the same fifty steps; contacts, joint limits and all else that
    MuJoCo calls constraints are off, and its own integrator has no part. What differs is how
    accelerations are found (M by composite bodies, factored), and derived.

    XLA is told not to fuse MJX's operations. Else it repeats on a processor the pose of a body in
    each body that hangs on it, and so for that one again: one state of this arm takes 60 ms.
    """)
    return


@app.cell
def _(arm, contextlib, io, np, reach, told):
    def by_mjx():
        """Accelerations of the arm by MJX."""
        import mujoco

        with contextlib.redirect_stdout(io.StringIO()):  # MJX prints that there is no GPU's part
            from mujoco import mjx

        spec, at = mujoco.MjSpec(), {}
        at[-1] = spec.worldbody
        for k in range(arm.n):
            turn, J = np.zeros(4), arm.inertia[k]
            mujoco.mju_mat2Quat(turn, arm.R[k].ravel())
            heavy = (
                {}
                if not J.any()
                else {
                    "explicitinertial": True,
                    "mass": arm.mass[k],
                    "ipos": arm.com[k],
                    "fullinertia": J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
                }
            )
            at[k] = at[int(arm.parent[k])].add_body(pos=arm.p[k], quat=turn, **heavy)
            if arm.dof[k]:
                at[k].add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=arm.axis[k, 0])
        model = spec.compile()
        model.opt.gravity[:] = arm.gravity
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        numbers, fresh = mjx.put_model(model), mjx.make_data(model)

        def accelerations(q, qd, tau):
            data = fresh.replace(qpos=q, qvel=qd, qfrc_applied=tau)
            return mjx.forward(numbers, data).qacc

        return accelerations

    try:
        accelerations = by_mjx()
    except ImportError:
        print("MJX is not installed: pip install mujoco-mjx")
    else:
        theirs = reach(accelerations, {"xla_disable_hlo_passes": "fusion"})[3]
        print(f"to_jax: {told}\nMJX:    {theirs}")
    return


if __name__ == "__main__":
    app.run()
