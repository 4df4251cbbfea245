"""The worst state of every order and format: saved, certified, and where its digits went."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pivotree.kkt import Block, CertificationError, System, write_model
from pivotree.kkt.arithmetic import Format, get_format
from pivotree.kkt.base.files import made, stems
from pivotree.kkt.matrix.system import least_size

from ..comparison import verdict
from ..states.traced import Pair, TracedOrder
from ..study.measure import OK, WHY
from .summary import Cell, Notebook, Reference, Setup, Worst, worst_state

PROVED = 30  # digits of the certified answers
SAMPLE = 8  # states that are certified in every format, beside the worst ones
FOLDER = "worst"


class Inspector:
    """Looks at single states again, with balls."""

    def __init__(self, notes: Notebook, folder: Path | None, model: str) -> None:
        self.notes = notes
        self.folder = folder
        self.model = model
        self.setup: Setup = notes.setup
        self.certified: int = 0
        self.disagreement: float = 0.0
        self.smallest: float = math.inf
        self.trouble: str | None = None
        self.proofs: dict[tuple[int, str], Pair | None] = {}
        setup = self.setup
        self.stems: dict[str, str] = stems(f"{o}_{f}" for o in setup.orders for f in setup.format_names)
        if folder is not None:
            made(folder / FOLDER)

    def worst(self, cell: Cell) -> Worst:
        """The worst state of one order in one format."""
        i = list(self.setup.orders).index(cell.order)
        j = self.setup.format_names.index(cell.format)
        row = worst_state(self.notes, i, j)
        number, failed = int(self.notes.numbers[row]), int(self.notes.failed[row, i, j])
        system, chosen = self.setup.system_at(number), self.setup.formats[j]
        order = self.setup.orders[cell.order].fitting(system)
        error: float | None = None
        certified, parts = False, [WHY[failed]] if failed else []
        if failed == OK:
            error = float(self.notes.error[row, i, j])
            proof = self.prove(number, system, chosen)
            if proof is not None:
                values = chosen.cast(order.values(system)[None])
                off = proof.error(order.answered(chosen, values)[0])
                exact = float(off.max())
                parts.append(f"largest at {system.tree.freedom_names[int(off.argmax())]}")
                certified = math.isfinite(exact)
                error = exact if certified else error
                self.smallest = min(self.smallest, error or math.inf)
        parts.append(where_lost(order, system, chosen, order.tape.program.name))
        why = "; ".join(part for part in parts if part)
        file, replay = self.save(system, cell, number)
        return Worst(number, error, certified, why, file, replay)

    def save(self, system: System, cell: Cell, number: int) -> tuple[str | None, str | None]:
        if self.folder is None:
            return None, None
        file = f"{FOLDER}/{self.stems[f'{cell.order}_{cell.format}']}.json"
        seed = self.setup.seed
        write_model(self.folder / file, system.state, f"{self.model}, seed {seed}, state {number}")
        order = self.from_folder(cell.order)
        words = ["blame", file, "--order", order, "--format", cell.format]
        return file, f"pivotree {shlex.join(words)}"

    def from_folder(self, order: str) -> str:
        """An order as it is called from the report's folder: files of one's own lie elsewhere."""
        path, colon, function = order.rpartition(":") if ".py:" in order else (order, "", "")
        if self.folder is None or not path.endswith((".py", ".json")):
            return order
        return os.path.relpath(path, self.folder) + colon + function

    def prove(self, number: int, system: System, chosen: Format) -> Pair | None:
        """The certified answer, held against the double-double one; None where there is none."""
        key = (number, chosen.name)
        if key not in self.proofs:
            self.proofs[key] = self._prove(number, system, chosen)
        return self.proofs[key]

    def _prove(self, number: int, system: System, chosen: Format) -> Pair | None:
        order = self.setup.proof.fitting(system)
        found = order.truth(chosen, order.values(system)[None], np.array([least_size(system)]))
        if not found.known[0]:
            return None
        try:
            proof = order.certified(system, PROVED, chosen)
        except CertificationError as error:
            self.trouble = f"state {number} in {chosen.name}: {error}"
            return None
        off = float(proof.largest(found.high[0], found.low[0]))
        self.certified += 1
        if not math.isfinite(off):
            self.trouble = f"state {number} in {chosen.name}: balls and double-double disagree"
        else:
            self.disagreement = max(self.disagreement, off)
        return proof

    def sample(self, progress: Callable[[str], None] = lambda text: None) -> None:
        """Certify a few states in every format, evenly among those that were measured."""
        notes = self.notes
        rows = np.unique(np.linspace(0, notes.done - 1, min(SAMPLE, notes.done)).astype(int))
        for row in rows.tolist():
            number = int(notes.numbers[row])
            system = self.setup.system_at(number)
            for j, chosen in enumerate(self.setup.formats):
                progress(f"certifying state {number} in {chosen.name}")
                if self.prove(number, system, chosen) is None:
                    continue
                errors = notes.error[row, :, j]
                positive = errors[errors > 0.0]
                self.smallest = min(self.smallest, float(np.min(positive, initial=math.inf)))

    @property
    def reference(self) -> Reference:
        smallest = self.smallest if math.isfinite(self.smallest) else None
        return Reference(self.certified, self.disagreement, smallest, self.trouble)


def where_lost(order: TracedOrder, system: System, chosen: Format, name: str) -> str:
    """Where the pivots go wrong: each against the same pivot in double-double."""
    tape, slots = order.tape, order.wanted[1]
    values = chosen.cast(order.values(system)[None])
    if not np.isfinite(values).all() or not len(slots):
        return ""
    (own,), (exact,) = (order.found(f, values, slots)[0] for f in (chosen, get_format("dd")))
    with np.errstate(all="ignore"):
        off = np.abs((own.astype(float) - exact.real) - exact.imag) / np.abs(exact.real)
    off = np.nan_to_num(off, nan=np.inf, posinf=np.inf)
    errors: dict[int, float] = {}
    blocks: dict[int, list[Block]] = {}
    for number in tape.pivots:
        record = tape.program.pivots[number]
        worst = float(np.max(off[tape.pivot_records == number], initial=0.0))
        errors[record.step] = max(errors.get(record.step, 0.0), worst)
        blocks.setdefault(record.step, []).extend(record.blocks)
    steps = [verdict.PivotError(s + 1, tuple(blocks[s]), errors[s]) for s in sorted(errors)]
    return verdict.where_lost(steps, chosen.unit, name)
