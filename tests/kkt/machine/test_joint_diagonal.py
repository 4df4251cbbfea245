"""Armature, damping, friction and springs of every kind of joint act alike in every way of solving.

``kkt.eliminate`` builds equation (4) from numbers in one state; what is compiled traces the same
terms once for all states, and must not keep what it saw in the state that it was traced in.
"""

import numpy as np
import pytest
from designs import listed
from machine_kernels import COMPILERS, STRICT, built, called

from pivotree import kkt, orderings
from pivotree.analysis.simulation import Motion
from pivotree.kkt.matrix.configuration import Configuration
from pivotree.kkt.model.joints import GENERAL, TYPES

ABM = orderings.get("abm")
SPRUNG = [name for name, kind in TYPES.items() if kind.dof and not (kind.orientation or kind.rate)]
TURNED = [name for name, kind in TYPES.items() if kind.orientation or kind.rate]
SLIDES = np.eye(6)[:, 3:]
CYLINDER = np.array([[0, 0.6, 0.8, 0, 0, 0], [0, 0, 0, 0, 0.6, 0.8]]).T
MOTIONS = {"cylinder": CYLINDER, "slides": SLIDES, "screws": CYLINDER @ [[1.0, 1.0], [0.1, -0.2]]}


def robot(joint, terms):
    """Two links on joints of one kind, the terms in each, no state that is simple."""
    tree, dof = kkt.new_tree("table"), MOTIONS[joint].shape[1] if joint in MOTIONS else TYPES[joint].dof
    kind = {"joint": GENERAL, "S": MOTIONS[joint]} if joint in MOTIONS else {"joint": joint}
    axes = {0: {}, 1: {"axis": (0.6, 0.0, 0.8)}, 2: {"axis": ((0.6, 0.0, 0.8), (0.8, 0.0, -0.6))}}
    kind |= axes[TYPES[joint].axes] if joint not in MOTIONS else {}
    each = {field: np.linspace(low, high, dof) for field, (low, high) in terms.items()}
    body = {"mass": 1.5, "com": (0.1, 0.2, 0.3), "inertia": np.diag([1.0, 1.2, 1.1]), "p": (0.1, 0.2, 0.0)}
    kkt.add_body(tree, "lower", None, **kind, **each, **body)
    kkt.add_body(tree, "upper", "lower", **kind, **each, **body)
    rng = np.random.default_rng(3)
    tree.graph.update(q=rng.normal(size=2 * dof), qd=rng.normal(size=2 * dof))
    return tree


DRAG = {"armature": (0.1, 0.5), "damping": (0.3, 1.7)}
SPRING = DRAG | {"stiffness": (100.0, 30.0), "rest": (0.4, -0.7)}
CASES = [(joint, SPRING) for joint in (*MOTIONS, *SPRUNG)] + [(joint, DRAG) for joint in TURNED]
STEPS = [(*case, (None, 0.01)[k % 2]) for k, case in enumerate(CASES)]


@pytest.mark.product
@pytest.mark.parametrize(("joint", "terms", "step"), STEPS)
def test_every_way_of_solving_has_the_terms_of_every_joint(joint, terms, step, tmp_path):
    tree = robot(joint, terms)
    system = kkt.build(tree, implicit=step)
    q, qd, tau = tree.graph["q"], system.state.qd, system.state.tau
    right = kkt.eliminate(system, ABM).qdd
    resting = kkt.build(tree, np.zeros_like(q), implicit=step)
    kernel = kkt.compile(resting, ABM)
    checked = kkt.compile(resting, ABM, check=True)
    x = kernel.configuration(q)
    others = [("crbm", "own"), ("abm", "world")] + [("square_root_abm", "own")] * (joint == "revolute")
    found = {
        "kernel": kernel(x, qd, tau),
        "checked": checked(x, qd, tau)[0],
        "batch": kernel(*(np.tile(part, (3, 1)) for part in (x, qd, tau)))[2],
        "solve_large": kkt.solve_large(system, ABM).qdd,
        "refreshed": kkt.solve_large(resting.refresh(q, qd, tau)).qdd,
    }
    for order, frames in others:
        found[order, frames] = kkt.compile(resting, orderings.get(order), frames=frames)(x, qd, tau)
    if joint in ("cylindrical", *MOTIONS) and not step:  # a model file has general joints alone
        kkt.write_model(tmp_path / "robot.json", system.state)
        read = kkt.compile(kkt.read_model(tmp_path / "robot.json"), ABM)
        found["model file"] = read(read.configuration(), qd, tau)
    if not step:
        motion = Motion.of(tree, ABM, tau=tau)
        found["motion"] = motion.rates(np.concatenate([x, qd])[None])[0, kernel.nx :]
    if COMPILERS:
        source, _ = kernel.export_c(tmp_path / "robot.c", "robot")
        library, told = built(COMPILERS[0], source, STRICT.replace("-O2", "-O0"))
        assert told.returncode == 0, told.stderr
        code, found["C"] = called(library, "robot", [x, qd, tau], [kernel.N], float)
        assert code == 0
    for way, qdd in found.items():
        assert np.abs(qdd - right).max() < 1e-12 * np.abs(right).max(), way


@pytest.mark.parametrize(("joint", "terms", "step"), listed(STEPS, unmarked=3))
def test_every_format_has_the_terms_of_every_joint(joint, terms, step):
    """Dry friction too, which no kernel has; against equation (4) written densely, from the terms."""
    tree = robot(joint, terms | {"friction": (0.2, 0.9)})
    system, bare = kkt.build(tree, implicit=step), kkt.build(robot(joint, {}))
    assert bare.state.terms is None
    M = np.linalg.inv(kkt.joint_space_inverse(bare, ABM, "dd").values.astype(float))
    own, h, dof = dict(terms), step or 0.0, len(tree.graph["q"]) // 2
    armature, damping, stiffness, rest = (
        np.tile(np.linspace(*own.get(name, (0.0, 0.0)), dof), 2) for name in SPRING
    )
    q, qd = system.state.q, system.state.qd
    pull = (
        damping * qd + stiffness * (q + h * qd - rest) + np.tile(np.linspace(0.2, 0.9, dof), 2) * np.sign(qd)
    )
    left = M @ kkt.eliminate(bare, ABM, "dd").qdd.astype(float) - pull
    right = np.linalg.solve(M + np.diag(armature + h * damping + h * h * stiffness), left)
    for format, close in (
        ("float32", 1e-4),
        ("float64", 1e-11),
        ("dd", 1e-11),
        ("mp:30", 1e-11),
        ("ball:20", 1e-11),
        ("exact", 1e-11),
        ("bfloat16", 0.5),
    ):
        for order in ("abm", "crbm"):
            found = kkt.eliminate(system, orderings.get(order), format, records=False).qdd
            found = np.array([float(x) for x in found])
            assert np.abs(found - right).max() < close * np.abs(right).max(), (format, order)


def test_a_spring_without_coordinates_of_its_own_is_refused():
    """Of motions that do not commute a program knows the pose, and not the q that the spring asks."""
    tree = robot("slides", {})
    tree.nodes["upper"].update(S=np.eye(6)[:, :2], stiffness=2.0)
    tree.graph.update(q=np.zeros(5), qd=np.zeros(5))
    with pytest.raises(kkt.ModelError, match=r"body .upper. do not commute.*; leave the spring out"):
        kkt.compile(tree, ABM)
    del tree.nodes["upper"]["stiffness"]
    assert Configuration(kkt.compile_tree(tree), tree).size == 3 + 7
