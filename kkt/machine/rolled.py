"""A program rolled up: equal segments become one function, each call of which has a table row.

Operands of a function are its own results, or are read from outside: rows of the work array or
constants.  The places of these differ from call to call and are given by the table.  Places whose
distance is the same in all calls share one entry, and a place that never changes has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Address:
    """A row of the work array, or a constant: ``offset`` beyond an entry of the table."""

    constant: bool
    column: int  # of the table's row for a call; -1: no entry, ``offset`` alone
    offset: int


@dataclass(frozen=True)
class Function:
    """Operations on the function's own results (0, 1, ...) and on values read (-1, -2, ...)."""

    op: NDArray[np.int8]  # (L,)
    a: Ints  # (L,)
    b: Ints  # (L,)
    reads: tuple[Address, ...]
    writes: dict[int, Address]  # by the number of a result
    columns: int  # entries of the table for one call


@dataclass(frozen=True)
class Rolled:
    """A program as functions and their calls."""

    inputs: int
    length: int  # operations of the program
    functions: tuple[Function, ...]
    runs: NDArray[np.int32]  # (R, 3) function, number of consecutive calls, its columns
    table: NDArray[np.int32]  # entries of all calls, one after another
    constants: NDArray[np.float64]  # one, and all constants that are read
    rows: int  # of the work array: inputs, outputs, and results that other calls read
    row_outputs: NDArray[np.int32]  # (., 3) output, row, and whether its sign changes
    constant_outputs: NDArray[np.int32]  # (., 3) output, constant, and the same

    def __len__(self) -> int:
        return self.length

    @property
    def code(self) -> int:
        """The number of operations in all functions, each counted once."""
        return sum(len(f.op) for f in self.functions)

    @property
    def calls(self) -> int:
        return int(self.runs[:, 1].sum())

    @property
    def outputs(self) -> int:
        return len(self.row_outputs) + len(self.constant_outputs)

    def arrays(self) -> dict[str, NDArray]:
        """The program as arrays to be stored, for :meth:`from_arrays`."""
        functions = self.functions
        reads = [(p.constant, p.column, p.offset) for f in functions for p in f.reads]
        writes = [(j, p.column, p.offset) for f in functions for j, p in f.writes.items()]
        sizes = [(len(f.op), len(f.reads), len(f.writes), f.columns) for f in functions]
        whole = {name: np.array(getattr(self, name)) for name in _PARTS}
        for name in ("op", "a", "b"):
            whole[name] = np.concatenate([np.zeros(0, int), *(getattr(f, name) for f in functions)])
        whole["sizes"] = np.array(sizes, dtype=np.int64).reshape(-1, 4)
        whole["reads"] = np.array(reads, dtype=np.int64).reshape(-1, 3)
        whole["writes"] = np.array(writes, dtype=np.int64).reshape(-1, 3)
        return whole

    @classmethod
    def from_arrays(cls, kept: Mapping[str, NDArray]) -> Rolled:
        functions = []
        at = np.zeros(4, dtype=np.int64)
        for size in kept["sizes"]:
            i, r, w, _ = at.tolist()
            at += size
            j, s, x, _ = at.tolist()
            functions.append(
                Function(
                    kept["op"][i:j].astype(np.int8),
                    kept["a"][i:j],
                    kept["b"][i:j],
                    tuple(Address(bool(c), p, o) for c, p, o in kept["reads"][r:s].tolist()),
                    {k: Address(False, p, o) for k, p, o in kept["writes"][w:x].tolist()},
                    int(size[3]),
                )
            )
        numbers = {name: int(kept[name]) for name in ("inputs", "length", "rows")}
        rest = {name: kept[name] for name in _PARTS if name not in numbers}
        return cls(functions=tuple(functions), **numbers, **rest)  # type: ignore[arg-type]


_PARTS = ("inputs", "length", "runs", "table", "constants", "rows", "row_outputs", "constant_outputs")
