"""Whether wrong answers say so: every order on the robots of example-robot-data.

Run ``python benchmarks/soundness.py [ROBOT ...] [--states N] [--merge-fixed] [--json FILE]``.
Every URDF file of the package, on a fixed and on a floating base, in random states, is solved by
every order in float32 and float64, and held against the certified answer for the data rounded to
the format.  An answer is *wrong* where its error is beyond half of the format's digits, the bound
of :mod:`pivotree.kkt.proof.soundness`; wrong and neither refused nor marked it is *silent*.
Where (4) is singular for the data no answer is right.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pivotree import kkt, orderings
from pivotree.analysis.states import ranges_of, system_at
from pivotree.kkt.arithmetic import get_format
from pivotree.kkt.model import robot_files

FORMATS = ("float32", "float64")
KINDS = ("right", "marked, right", "marked, wrong", "refused", "ruled out", "silent")


class Case(NamedTuple):
    """One order in one format, on one robot in one state."""

    robot: str
    base: str
    state: int
    order: str
    format: str
    kind: str  # of KINDS
    error: float | None
    backward_error: float | None
    says: str | None  # why it is refused or marked


def files() -> dict[str, Path]:
    """Every file once, by the first of its short names."""
    first = {path: name for name, (path, _) in reversed(robot_files().items())}
    return {name: path for path, name in sorted(first.items())}


def cases(name: str, path: Path, floating: bool, merge_fixed: bool, states: int) -> Iterator[Case]:
    """All orders and formats of one robot."""
    base = "floating" if floating else "fixed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mimic joints, which move freely, and of inertias
        given = kkt.build(kkt.read_urdf(path, floating, merge_fixed))
    ranges = ranges_of(given)
    for state in range(states):
        system = system_at(given, ranges, 0, state)
        exact = {f: _exact(system, f) for f in FORMATS}
        for order in orderings.names():
            try:
                tape = kkt.trace(system, orderings.get(order))
            except kkt.PivotreeError as error:
                for format in FORMATS:
                    says = str(error)
                    yield Case(name, base, state, order, format, "ruled out", None, None, says)
                continue
            for format in FORMATS:
                found = _one(system, tape, format, exact[format])
                yield Case(name, base, state, order, format, *found)


def _exact(system: kkt.System, format: str) -> kkt.Certified | None:
    try:
        return kkt.certify(system, 25, rounded_to=format)
    except (kkt.CertificationError, kkt.SingularError):
        return None


def _one(
    system: kkt.System, tape: Any, format: str, exact: kkt.Certified | None
) -> tuple[str, float | None, float | None, str | None]:
    try:
        found = kkt.eliminate(system, tape, format, records=False)
    except kkt.PivotreeError as error:
        return "refused", None, None, str(error)
    if found.failed_at is not None:
        return "refused", None, None, found.failed_at
    error = math.inf if exact is None else exact.error(found.qdd)
    right = error <= math.sqrt(get_format(format).unit)
    kind = ("marked, right" if right else "marked, wrong") if found.marked else "silent"
    if right and not found.marked:
        kind = "right"
    backward = found.backward_error
    return kind, error, None if backward is None else backward.normwise, found.marked


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("robots", nargs="*")
    asked.add_argument("--states", type=int, default=1)
    asked.add_argument("--json", type=Path)
    asked.add_argument("--merge-fixed", action="store_true")
    options = asked.parse_args()
    found: list[Case] = []
    known = files()
    for name in options.robots or known:
        for floating in (False, True):
            try:
                found += cases(name, known[name], floating, options.merge_fixed, options.states)
            except kkt.ModelError as error:  # nothing moves
                print(error, file=sys.stderr)
        print(f"{name}: {_summary(found)}", file=sys.stderr, flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps([case._asdict() for case in found], indent=0))
    for format in FORMATS:
        print(f"{format}: {_summary(case for case in found if case.format == format)}")
    for case in found:
        if case.kind not in ("right", "refused", "ruled out"):
            print(*(part for part in case if part is not None), sep=" | ")


def _summary(found: Any) -> str:
    kinds = Counter(case.kind for case in found)
    return f"{sum(kinds.values())} answers: " + ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)


if __name__ == "__main__":
    main()
