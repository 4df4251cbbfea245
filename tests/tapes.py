"""A tape is lowered once in a process for the same content: a program, and what a robot gives it.

A tape is never changed.  Its key holds all that lowering reads, tuples as they are and the rest as
bytes, so that a tape is taken again only for equal content: the same program on the same robot.
"""

import pickle
from dataclasses import fields

from pivotree.kkt.tape.tape import lower

LOWERING = [f"pivotree.kkt.{name}" for name in ("tape.trace", "tape.derivatives", "solution.refine")]
LOWERING += ["pivotree.analysis.inertia", "pivotree.analysis.gradients"]
LONGEST = 800_000  # operations of a tape that is kept

kept = {}


def lowered_once(program, system, beside=()):
    """:func:`pivotree.kkt.tape.tape.lower`, or the tape that it gave for the same content."""
    given = {field.name: getattr(program, field.name) for field in fields(program)}
    rest = given.pop("symbolic"), system.tree, system.pattern, system.state.S, system.structure.ties, beside
    solutions = (given.pop("solution"), *given.pop("columns"))
    try:
        key = *given.values(), *(tuple(x.items()) for x in solutions), *map(pickle.dumps, rest)
        hash(key)
    except (pickle.PicklingError, AttributeError, TypeError):  # a user's names of bodies
        return lower(program, system, beside)
    if key not in kept:
        tape = lower(program, system, beside)
        if tape.length > LONGEST:
            return tape
        kept[key] = tape
    return kept[key]
