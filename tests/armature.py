"""Random terms of joints on a tree, for several test files, and equation (4) with them."""

import numpy as np

from pivotree import kkt

SPRINGS = ("revolute", "continuous", "prismatic", "cylindrical", "universal")


def with_terms(tree, seed, springs=True, floating=True):
    """The tree with armature, damping, friction and springs of order 1 on its joints."""
    rng, compiled = np.random.default_rng(seed), kkt.compile_tree(tree)
    for name, kind, dof in zip(compiled.names, compiled.joint, compiled.dof, strict=True):
        data = tree.nodes[name]
        if not dof or (kind == "floating" and not floating):
            continue
        data["armature"] = rng.uniform(0.01, 1.0, dof)
        data["damping"] = rng.uniform(0.0, 2.0, dof)
        data["friction"] = rng.uniform(0.0, 1.0, dof)
        if springs and kind in SPRINGS:
            data["stiffness"], data["rest"] = rng.uniform(0.0, 5.0, dof), rng.normal(size=dof)
    return tree


def terms_of(tree):
    """armature, damping, friction, stiffness, rest (N,) as the nodes have them."""
    compiled = kkt.compile_tree(tree)
    return [
        np.concatenate(
            [
                np.broadcast_to(np.asarray(tree.nodes[name].get(field, 0.0), float), (dof,))
                for name, dof in zip(compiled.names, compiled.dof, strict=True)
            ]
        )
        for field in ("armature", "damping", "friction", "stiffness", "rest")
    ]


def bare(tree):
    """The tree without the terms of its joints."""
    result = tree.copy()
    for _, data in result.nodes(data=True):
        for field in ("armature", "damping", "friction", "stiffness", "rest"):
            data.pop(field, None)
    return result
