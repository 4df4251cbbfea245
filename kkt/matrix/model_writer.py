"""A tree in one state as a model file, which :mod:`kkt.model.modelfile` reads."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ..base.errors import ModelError
from ..base.files import write_whole
from ..base.foreign import of_kind
from ..model.fields import Floats
from ..model.modelfile import SCHEMA, WITH_TERMS, loop_document
from ..model.spatial import levels
from .state import State


@of_kind
def write_model(
    path: str | os.PathLike[str], state: State, name: str = "tree", expected: dict[str, Any] | None = None
) -> None:
    """Write a state as a model file, parents before children, whole or not at all.

    Names of bodies become texts.  The schema is ``pivotree-model/1``, or ``/2`` where joints have
    terms of their own or there are loops.  Raises ModelError where two bodies or two loops would
    share a name, where a number is not finite, and for a state that was built with a step, and
    FormatError where the file cannot be written.

    >>> system = pt.build(pt.chain(2), q=[0.1, 0.2])
    >>> pt.write_model("arm.json", system.state, name="arm")
    >>> again = pt.build(pt.load("arm.json"))
    >>> bool(abs(again.matrix - system.matrix).max() == 0)
    True
    """
    if not (hasattr(state, "S") and hasattr(state, "terms")):
        told = f"write_model: {type(state).__name__} is no state"
        raise ModelError(f"{told}; give a path first, then build(...).state")
    if state.terms is not None and state.step:
        raise ModelError(
            f"{os.fspath(path)}: a file holds no step, and this state was built with "
            f"implicit={state.step!r}; write the one built without"
        )
    names = [str(body) for body in state.names]
    if len(set(names)) < len(names):
        twice = next(body for body in names if names.count(body) > 1)
        raise ModelError(f"body {twice!r}: name is used twice; every body needs its own name")
    parent = np.asarray(state.parent, dtype=np.int64)
    early = (parent < np.arange(len(parent))).all()
    order = np.arange(len(parent)) if early else np.concatenate([*levels(parent), parent[:0]])
    if len(order) < len(parent):
        raise ModelError("tree: bodies form a cycle; a tree has none")
    stop = np.cumsum([S.shape[1] for S in state.S])
    start = stop - [S.shape[1] for S in state.S]
    bodies = []
    for k in (int(k) for k in order):
        body: dict[str, Any] = {
            "name": names[k],
            "parent": names[parent[k]] if parent[k] >= 0 else None,
            "R": _list(state.R[k]),
            "p": _list(state.p[k]),
            "S": _list(state.S[k]),
            "mass": float(state.mass[k]),
            "com": _list(state.com[k]),
            "inertia_com": _list(state.inertia[k]),
        }
        for key, vector in (("bias", state.joint_bias[k]), ("wrench", state.wrench[k])):
            if np.any(vector != 0.0):
                body[key] = _list(vector)
        if state.terms is not None:
            for key, vector in vars(state.terms).items():
                if vector[start[k] : stop[k]].any():
                    body[key] = _list(vector[start[k] : stop[k]])
        bodies.append(body)
    rates, efforts = (
        [float(x) for k in order for x in vector[start[k] : stop[k]]] for vector in (state.qd, state.tau)
    )
    loops = [loop_document(closure.from_here) for closure in state.loops]
    if len({loop["name"] for loop in loops}) < len(loops):
        raise ModelError("loops: two would have one name as texts; give every loop its own")
    schema = SCHEMA if state.terms is None and not loops else WITH_TERMS
    head: dict[str, Any] = {"schema": schema, "name": name, "gravity": _list(state.gravity)}
    tail: dict[str, Any] = {"velocity": rates, "effort": efforts}
    if loops:
        tail["loops"] = loops
    if expected:
        tail["expected"] = expected
    try:  # one body a line
        lines = ",\n".join(json.dumps(body, allow_nan=False) for body in bodies)
        first, last = json.dumps(head, allow_nan=False), json.dumps(tail, allow_nan=False)
    except ValueError:
        raise ModelError(f"{os.fspath(path)}: a number is not finite; nothing written") from None
    except TypeError as error:
        told = f"{os.fspath(path)}: 'expected' cannot be written ({error})"
        raise ModelError(f"{told}; give texts, numbers, lists and mappings") from None
    write_whole(path, f'{first[:-1]}, "bodies": [\n{lines}\n], {last[1:]}\n')


def _list(array: Floats) -> list[Any]:
    result: list[Any] = np.asarray(array, dtype=float).tolist()
    return result
