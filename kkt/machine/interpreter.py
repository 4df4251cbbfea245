"""An interpreter of programs: one operation after another, each rounded to a format."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.formats import Format
from .recorder import COS, SIN
from .scalar_program import ScalarProgram


class Interpreter:
    """Runs a program state by state; sines and cosines are those of float64, rounded once."""

    def __init__(self, program: ScalarProgram, chosen: Format) -> None:
        self.program, self.format = program, chosen
        trigonometry = np.isin(program.op, (SIN, COS))
        cuts = np.flatnonzero(np.diff(trigonometry.astype(np.int8))) + 1
        bounds = [0, *cuts.tolist(), len(program)]
        self.pieces = [
            (bool(trigonometry[i]), program.chunk.part(slice(i, j)))
            for i, j in itertools.pairwise(bounds)
            if i < j
        ]
        self.places, self.signs = np.abs(program.outputs), np.sign(program.outputs)

    def run(self, inputs: NDArray) -> NDArray:
        """(m, outputs) at inputs (m, inputs), in the type that carries the format."""
        program, chosen = self.program, self.format
        dtype = chosen.dtype
        assert dtype is not None
        out: NDArray = np.empty((len(inputs), len(self.places)), dtype=dtype)
        v: NDArray = np.zeros(program.first + len(program), dtype=dtype)
        v[1] = 1
        v[2 + program.inputs : program.first] = program.constants
        given = chosen.cast(inputs)
        with np.errstate(all="ignore"):
            for i in range(len(inputs)):
                v[2 : 2 + program.inputs] = given[i]
                self._run(v)
                out[i] = self.signs * v[self.places]
        return out

    def _run(self, v: NDArray) -> None:
        runner = self.format.runner(None)
        for trigonometry, chunk in self.pieces:
            if not trigonometry:
                runner.run(chunk, v)
                continue
            angle = v[chunk.a].astype(float)
            value = np.where(chunk.op == SIN, np.sin(angle), np.cos(angle))
            v[chunk.dst] = self.format.cast(value)
