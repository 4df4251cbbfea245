"""A record for each pivot from what a run left behind."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..matrix.blocks import Block
from ..rounding.observe import Observation
from ..tape.record import Against, StepRecord
from ..tape.tape import Tape


def step_records(
    tape: Tape,
    pivots: dict[int, Any],
    operations: NDArray[np.int64],
    solution: dict[Block, Any],
    reference: Any = None,
    seen: Observation | None = None,
) -> tuple[StepRecord, ...]:
    """One record for each group; ``operations`` (groups,); ``seen`` where rounding was."""
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
            **({} if seen is None else _rounding(seen, g)),
        )
        for g in range(count)
    )


def _rounding(seen: Observation, g: int) -> dict[str, Any]:
    steps, largest, exact = seen.steps, seen.largest, seen.steps.exact
    return {
        "growth": float(steps.size[g] / largest),
        "cancelled_bits": int(steps.cancelled[g]),
        "absorbed_bits": float(steps.absorbed_bits[g]),
        "pivot_error": float(seen.pivot_errors[g]),
        "absorbed": float(steps.absorbed[g]),
        "exact_zeros": int(steps.zeros[g]),
        "radius_bits": None if seen.radius_bits is None else float(seen.radius_bits[g]),
        "against": None if exact is None else Against(*(int(column[g]) for column in exact)),
    }
