"""A record for each pivot from what a run left behind."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from ..blocks import Block
from .observe import Observation
from .record import StepRecord
from .tape import Tape


def step_records(
    tape: Tape,
    pivots: dict[int, Any],
    operations: NDArray[np.int64],
    solution: dict[Block, Any],
    reference: Any = None,
    seen: Observation | None = None,
    format: Format | None = None,
) -> tuple[StepRecord, ...]:
    """One record for each group; ``operations`` (groups,); ``seen`` and its format for floats."""
    factor = tape.program.symbolic
    assert factor is not None
    count = factor.plan.groups
    fill = np.bincount(factor.fill_step, minlength=count)
    entries = np.bincount(
        factor.fill_step, weights=factor.size[factor.fill].prod(axis=0), minlength=count
    )
    blocks: dict[int, list[Block]] = defaultdict(list)
    values: dict[int, list[Any]] = defaultdict(list)
    for i, record in enumerate(tape.program.pivots):
        blocks[record.step] += record.blocks
        values[record.step] += list(pivots.get(i, ()))
    return tuple(
        StepRecord(
            step=g + 1,
            blocks=tuple(blocks[g]),
            fill_blocks=int(fill[g]),
            fill_entries=int(entries[g]),
            flops=int(operations[g]),
            error=None if reference is None else reference.block_error(blocks[g], solution),
            pivots=tuple(values[g]),
            **({} if seen is None or format is None else _rounding(seen, g, format)),
        )
        for g in range(count)
    )


def _rounding(seen: Observation, g: int, format: Format) -> dict[str, Any]:
    steps, largest = seen.steps, seen.largest
    fraction = float(steps.absorbed[g])
    bits = math.log2(fraction / format.unit) if fraction > 0.0 else 0.0
    return {
        "growth": float(steps.size[g] / largest),
        "cancelled_bits": int(steps.cancelled[g]),
        "absorbed_bits": max(0.0, bits),
        "pivot_error": float(seen.pivot_errors[g]),
        "absorbed": fraction,
        "exact_zeros": int(steps.zeros[g]),
    }
