"""What a comparison of simulations says, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from .run import Simulation

ALIKE = 1.1  # ratios of evaluations that are no difference


def verdict(found: Sequence[Simulation]) -> str:
    """Whether the cheapest evaluation is the cheapest motion, format by format."""
    sentences = []
    for format in dict.fromkeys(s.format for s in found):
        here = [s for s in found if s.format == format]
        sentences.append(_of_format(format, here))
    return " ".join(sentences)


def _of_format(format: str, here: list[Simulation]) -> str:
    text = _compared(format, here)
    doubts = [f"{s.order}'s accelerations do not hold at {s.doubt}." for s in here if s.doubt]
    return " ".join([text, *doubts])


def _compared(format: str, here: list[Simulation]) -> str:
    broken = [s for s in here if s.failed]
    sound = [s for s in here if not s.failed]
    lost = "; ".join(f"{s.order} gives up ({s.why})" for s in broken)
    if not sound:
        return f"In {format} no order reaches the end: {lost}."
    if len(here) == 1:
        s = here[0]
        return (
            f"In {format} {s.order} takes {s.mean:,.0f} evaluations for {s.seconds:g} s, "
            f"{s.mean * s.operations:.2g} operations."
        )
    best = min(sound, key=lambda s: s.mean * s.operations)
    cheap = min(here, key=lambda s: s.operations)
    text = f"In {format} {best.order} does it with the fewest operations"
    if cheap is not best and not cheap.failed and _work(cheap) < ALIKE * _work(best):
        names = f"{cheap.order} and {best.order}"
        text = f"In {format} {names} cost the same, {_work(best):.2g} operations"
    elif cheap is not best and not cheap.failed:
        ratio, work = cheap.mean / best.mean, _work(cheap) / _work(best)
        text = (
            f"In {format} {cheap.order} is cheaper by the evaluation ({cheap.operations:,} "
            f"operations, {best.order} {best.operations:,}), but takes {ratio:.2f} times as many: "
            f"{work:.2f} times the operations in all"
        )
    elif best is cheap:
        others = [s for s in sound if s is not best]
        if others:
            next_best = min(others, key=_work)
            ratio = next_best.mean / best.mean
            how = "as many" if 1 / ALIKE < ratio < ALIKE else f"{ratio:.2f} times as many"
            took = f"{_work(next_best):.2g} operations"
            if _work(best):  # a body that turns about its axis of symmetry takes none
                took = f"{_work(next_best) / _work(best):.2f} times the operations"
            text += f": {_work(best):.2g}; {next_best.order} takes {how} evaluations and {took}"
    return f"{text}{'; ' + lost if lost else ''}."


def _work(s: Simulation) -> float:
    return s.mean * s.operations
