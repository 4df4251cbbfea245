"""Blocks that a program takes as inputs beside those of (4): their zeros and ones, and numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..program.program import Ref, Writer


class Given:
    """Blocks that a program takes as inputs beside those of (4): patterns and numbers."""

    def __init__(self, write: Writer) -> None:
        self.write = write
        self._blocks: list[tuple[NDArray[np.int64], NDArray]] = []
        self.names: list[str] = []  # of the blocks, for readers that describe a program

    def block(
        self, values: NDArray, codes: NDArray[np.int64] | None = None, name: str = "given"
    ) -> Ref | None:
        """An input block with these values; None where all are zero.

        ``codes`` say where it is zero (0), one (1) and another number (2), in every state.
        """
        codes = codes_of(values) if codes is None else codes
        if not codes.any():
            return None
        self._blocks.append((codes, values.ravel()))
        self.names.append(name)
        return self.write.input("beside", len(self._blocks) - 1, codes.shape)

    @property
    def patterns(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(codes for codes, _ in self._blocks)

    @property
    def numbers(self) -> NDArray:
        return np.concatenate([np.zeros(0), *(values for _, values in self._blocks)])


def codes_of(values: NDArray) -> NDArray[np.int64]:
    """Where values are zero (0), one (1) and another number (2)."""
    return np.where(values == 0.0, 0, np.where(values == 1.0, 1, 2))
