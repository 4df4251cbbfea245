"""A hash for each result of each order on each model, so that no change of a bit goes unseen.

``python tests/guard/bits.py`` compares them with ``bits.json`` beside it, prints what differs, by
model, order and column, and exits with 1 where anything does.  ``--write`` keeps the new ones, and
prints the same.  A commit that changes bits.json says which of its columns change, and why.

===========  ======================================================================================
program      instructions of the block program: operation, operands, shapes, place by blocks' names
tape         scalar operations, and the slots of the unknowns
fill, operations, cancelled, absorbed
             of an elimination in float32: its blocks, its operations, most bits that a step loses
steps        all that its records say of each group of pivots, and its mark
FORMATS      bits of qdd, pdd, f and lambda in each, or why there is no answer
code         operations and constants of what ``kkt.compile`` makes in float64
kernel       bits of its machine code: qdd, from joint positions
large        bits of ``kkt.solve_large``
derivatives  bits of dqdd/dq, dqdd/dqd and dqdd/dtau, likewise of lambda, and their operations
===========  ======================================================================================

What is refused keeps the sentence; one that stands alone is for all columns.  A row ``entries`` holds
equation (4) before orders touch it.  Of inverse dynamics tau is kept.  Orders that place multipliers
are left out where there are none: there they are CRBM or ABM.  ``has`` leaves out what takes long.

Numbers are the same on every machine: numpy's sines and products through BLAS differ between
processors in the last bit, so that numbers of models, poses and subspaces are rounded first, to 30
bits behind the point, or 30 in all.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from pivotree import kkt, orderings
from pivotree.analysis.cli.progress import progress_shown
from pivotree.kkt.matrix.entries import LETTERS, assemble
from pivotree.kkt.matrix.state import Subspaces

gc.set_threshold(50_000, 20, 20)  # of each process: a sixth of the time otherwise
KEPT = Path(__file__).with_suffix(".json")
HOSTILE = sorted((Path(__file__).parents[1] / "models" / "hostile").glob("*.json"))
FORMATS = ("float32", "float64", "bfloat16:zero", "dd", "mp:50", "exact")
RECORDS = ("program", "tape", "fill", "operations", "cancelled", "absorbed", "steps")
COLUMNS = (*RECORDS, *FORMATS, "code", "kernel", "large", "derivatives")
MECHANISMS = ("crbm", "crbm_com", "abm", "gain_abm", "square_root_abm", "divide_and_conquer")
DEAR = {  # model -> columns that the orders of MECHANISMS alone have, one for each way of pivoting
    "decades": ("dd", "mp:50", "exact", "derivatives"),
    "every_joint": ("dd", "mp:50", "exact", "derivatives"),
    "humanoid": ("dd", "mp:50", "code", "large"),
}


def has(model: str, order: str, column: str) -> bool:
    """Whether a column is computed: not where it takes long, and other orders or models have it."""
    if model == "humanoid" and column in ("exact", "kernel", "derivatives"):
        return order == "abm" or (order == "crbm" and column == "kernel")
    return order in MECHANISMS or column not in ("kernel", *DEAR.get(model, ()))


# -- models ---------------------------------------------------------------------------------------


def every_joint() -> nx.DiGraph:
    """Twelve bodies on universal, spherical, planar and helical joints."""
    tree = kkt.random_tree(12, seed=2, joints="universal+spherical+planar+revolute")
    for data in tree.nodes.values():
        if data["joint"] == "revolute":  # a screw with a pitch of 0.05 m/rad
            axis = np.asarray(data["axis"])
            data.update(joint="general", S=np.concatenate([axis, 0.05 * axis])[:, None])
    return tree


def four_bar() -> nx.DiGraph:
    """A linkage in motion, its pin soft, with armature and damping in its joints."""
    tree = kkt.four_bar()
    (pin,) = tree.graph["loops"]
    soft = replace(pin, compliance=np.array([1e-3, 2e-3]))
    tree.graph.update(loops=(soft,), qd=np.array([1.0, -0.5, 0.25]))
    tree.nodes["crank"].update(armature=0.125, damping=0.25)
    tree.nodes["rocker"].update(damping=0.5)
    return tree


def massless() -> nx.DiGraph:
    """Links on joints of three types, each with a massless flange fixed to it."""
    tree = kkt.new_tree("massless")
    turn = ((0.6, -0.8, 0.0), (0.8, 0.6, 0.0), (0.0, 0.0, 1.0))
    for k, joint in enumerate(("revolute", "prismatic", "cylindrical", "revolute")):
        on, axis = f"flange{k - 1}" if k else None, np.eye(3)[k % 3]
        box = {"mass": 1.0 + k, "com": (0.1, 0.02 * k, 0.05), "inertia": np.diag((0.02, 0.03, 0.04))}
        kkt.add_body(tree, f"link{k}", on, joint=joint, axis=axis, p=(0.3, 0.0, 0.1), **box)
        kkt.add_body(tree, f"flange{k}", f"link{k}", joint="fixed", mass=0.0, R=turn, p=(0.2, 0.1, 0.0))
    return kkt.default_state(tree)


def decades() -> nx.DiGraph:
    """Masses over twelve decades: in short formats little is right."""
    return kkt.random_tree(6, seed=4, mass_ratio=1e12, joints="revolute+prismatic+cylindrical+floating")


MODELS: dict[str, Callable[[], nx.DiGraph]] = {
    "humanoid": kkt.humanoid,  # first, since it takes longest
    "every_joint": every_joint,
    "decades": decades,
    "chain:5": lambda: kkt.chain(5),
    "four_bar": four_bar,
    "massless": massless,
    **{path.stem: lambda path=path: kkt.load(str(path)) for path in HOSTILE},
}


def on_grid(x: Any) -> np.ndarray:
    """The nearest multiple of 2^-30, or of that share of a larger number's power of two."""
    bits = 30 - np.maximum(np.frexp(x)[1], 0)
    return np.ldexp(np.rint(np.ldexp(x, bits)), -bits)


@cache
def system_of(model: str) -> kkt.System:
    """Equation (4) of a model whose numbers, also those of its poses, are on the grid."""
    tree = MODELS[model]()
    for data in (tree.graph, *tree.nodes.values()):
        for field in ("q", "qd", "tau", "mass", "com", "inertia", "axis", "R", "p", "S"):
            if data.get(field) is not None:
                data[field] = on_grid(data[field])
    system = kkt.build(tree)
    state = system.state
    poses = {field: on_grid(getattr(state, field)) for field in ("R", "p", "joint_bias")}
    S = Subspaces(on_grid(state.S.columns), state.S.offset)
    loops = tuple(replace(loop, R=on_grid(loop.R), p=on_grid(loop.p)) for loop in state.loops)
    state = replace(state, **poses, S=S, loops=loops)
    return replace(system, state=state, entries=assemble(state))


# -- hashes ---------------------------------------------------------------------------------------


def canonical(x: Any) -> str:
    """A text that is the same for the same bits, wherever and in whatever Python it is made."""
    if isinstance(x, np.ndarray) and x.dtype != object:
        x = x.astype(x.dtype.newbyteorder("<") if x.dtype.kind == "f" else "<i8")
        x[np.isnan(x)] = np.nan if x.dtype.kind == "f" else 0  # one of all nans
        return f"{x.dtype.str}{x.shape}{x.tobytes().hex()}"
    if isinstance(x, tuple | list | np.ndarray):
        return f"({','.join(map(canonical, x))})"
    if hasattr(x, "_mpf_"):  # of mpmath: sign, mantissa, exponent
        return canonical([int(part) for part in x._mpf_[:3]])
    if isinstance(x, np.generic):
        return canonical(x.item())
    if x is None or isinstance(x, str | int | Fraction):
        return repr(x)
    raise TypeError(f"{type(x).__name__} has no canonical text")


def digest(*parts: Any) -> str:
    return blake2b(canonical(parts).encode(), digest_size=6).hexdigest()


def tried(make: Callable[[], Any]) -> Any:
    """What is made, or the sentence of its refusal."""
    try:
        return make()
    except kkt.PivotreeError as error:
        return f"{type(error).__name__}: {error}"


def instructions(program: Any) -> list[list]:
    """The block program, one instruction after another; blocks by their names."""
    name, found = program.symbolic.plan.graph.block, []
    for i, place in zip(program.instructions, program.places, strict=True):
        blocks = [str(name(b)) if b >= 0 else "right" for b in place.blocks]
        operands = [None if ref is None else (ref.value, ref.transposed, ref.sign) for ref in i.args]
        made = [i.op, i.out, program.shapes[i.out], operands, i.step, i.symmetric, i.info]
        found.append([*made, place.label, blocks, place.pivot, place.back])
    return found


def described(system: kkt.System, tape: Any) -> dict[str, Any]:
    """The columns of RECORDS."""
    operations = [np.concatenate(part) for part in zip(*tape.chunks(), strict=True)]
    found = {
        "program": digest(instructions(tape.program)),
        "tape": digest(operations, list(tape.solution.values()), tape.found),
        "operations": tape.flops,
    }
    run = tried(lambda: kkt.eliminate(system, tape, "float32"))
    if isinstance(run, str):
        return found | {"steps": run}
    steps = []
    for step in run.steps:
        counts = [step.fill_blocks, step.fill_entries, step.flops, step.cancelled_bits, step.exact_zeros]
        lost = [f"{x:.6g}" for x in (step.growth, step.pivot_error, step.absorbed_bits, step.absorbed)]
        steps.append([list(map(str, step.blocks)), counts, lost, np.array(step.pivots, dtype=float)])
    return found | {
        "fill": run.fill,
        "cancelled": max(step.cancelled_bits for step in run.steps),
        "absorbed": round(float(max(step.absorbed_bits for step in run.steps)), 2),
        "steps": digest(steps, run.marked),
    }


def answer(system: kkt.System, tape: Any, format: str) -> str:
    found = kkt.eliminate(system, tape, format, records=False)
    return digest(found.qdd, found.pdd, found.f, found.lam, found.failed_at)


def code(system: kkt.System, order: Any) -> str:
    program = kkt.compile(system, order).straight
    return digest(program.constants, program.op, program.a, program.b, program.outputs)


def kernel(system: kkt.System, order: Any) -> str:
    made = kkt.compile(system, order)
    return digest(made(on_grid(made.configuration()), system.state.qd, system.state.tau))


def large(system: kkt.System, order: Any) -> str:
    found = kkt.solve_large(system, order)
    return digest(found.qdd, found.pdd, found.f)


def derived(system: kkt.System, tape: Any) -> str:
    found = kkt.derivatives(system, tape)
    parts = [found] if found.dlam is None else [found, found.dlam]
    return digest([[x.dq, x.dqd, x.dtau] for x in parts], found.operations)


def row(model: str, name: str) -> str | dict[str, Any]:
    """Column -> hash, number or sentence, of one order on one model; or one text for all."""
    system = system_of(model)
    if name == "entries":
        return digest([getattr(system.entries, letter) for letter in LETTERS])
    order = orderings.get(name)
    if order.problem == "tau":
        qdd = np.arange(len(system.entries.tau)) / 8.0
        return tried(lambda: {f: digest(kkt.inverse_dynamics(system, qdd, order, f).tau) for f in FORMATS})
    tape = tried(lambda: kkt.trace(system, order))
    if isinstance(tape, str):
        return tape
    made: dict[str, Callable[[], str]] = {f: lambda f=f: answer(system, tape, f) for f in FORMATS}
    made |= {part.__name__: lambda part=part: part(system, order) for part in (code, kernel, large)}
    made["derivatives"] = lambda: derived(system, tape)
    found = {column: tried(make) for column, make in made.items() if has(model, name, column)}
    return described(system, tape) | found


# -- what is kept ---------------------------------------------------------------------------------


def computed() -> str:
    """All rows, a line each: a text, or the values of COLUMNS, "" where there is none."""
    tasks = [(model, name) for model in MODELS for name in ("entries", *orderings.ORDERS)]
    tasks += [("four_bar", name) for name in orderings.LOOPS]
    lines: dict[str, Any] = {"columns": COLUMNS}
    quiet = {"initializer": warnings.simplefilter, "initargs": ("ignore",)}
    pool = ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), **quiet)
    with progress_shown("hashes", len(tasks)) as told, pool:
        found = pool.map(row, *zip(*tasks, strict=True))
        for done, key in enumerate(map("/".join, tasks)):
            told(key, done, len(tasks))
            columns = next(found)
            whole = isinstance(columns, str)
            lines[key] = columns if whole else [columns.get(column, "") for column in COLUMNS]
    each = (f"{json.dumps(key)}:{json.dumps(x, separators=(',', ':'))}" for key, x in lines.items())
    return "{\n" + ",\n".join(each) + "\n}\n"


def entries(text: str) -> dict[str, Any]:
    """model/order/column -> hash, number or sentence."""
    rows, found = json.loads(text), {}
    columns = rows.pop("columns")
    for key, values in rows.items():
        parts = {"": values} if isinstance(values, str) else dict(zip(columns, values, strict=True))
        found |= {f"{key}/{column}".rstrip("/"): x for column, x in parts.items() if x != ""}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare hashes of results with those that are kept.")
    parser.add_argument("--write", action="store_true", help="keep those found; say why in the commit")
    keep, began = parser.parse_args().write, time.monotonic()
    text = computed()
    kept, found = entries(KEPT.read_text("utf-8")), entries(text)
    changed = [key for key in dict.fromkeys((*kept, *found)) if kept.get(key) != found.get(key)]
    for key in changed:
        print(f"{key}: {kept.get(key, 'nothing')} -> {found.get(key, 'nothing')}")
    if keep:
        KEPT.write_text(text, "utf-8")
    print(f"{len(changed)} of {len(found)} hashes differ, in {time.monotonic() - began:.0f} s")
    return 1 if changed and not keep else 0


if __name__ == "__main__":
    sys.exit(main())
