"""Compile a program's text with LLVM, for this processor, and call it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .driver import Shape
from .emission import PIECE, Source, source_of
from .program import Program

ALIGNMENT = 64  # bytes, of a row
LONG = 100_000  # operations, from where on code is made in little time rather than to be fast
LONGEST = 1_000_000  # that become machine code


@cache
def width() -> int:
    """Bytes of this processor's vectors."""
    import llvmlite.binding as llvm

    has = llvm.get_host_cpu_features()
    return 64 if has.get("avx512f") else 32 if has.get("avx") else 16


@dataclass(frozen=True)
class Native:
    """Machine code of one program for one number of lanes."""

    lanes: int
    pieces: int  # functions that the program is cut into
    rows: int  # of the work array
    outputs: int  # numbers of a state
    given: tuple[int, ...]  # numbers of a state in each array of inputs
    constants: NDArray
    function: Any  # of the address of a table
    engine: Any  # owns the code

    def run(self, inputs: list[NDArray], out: NDArray) -> bool:
        """Fill out (m, outputs) from arrays (m, ...), contiguous and of the program's number type.

        False where an input is not finite.
        """
        work = _aligned(self.rows * self.lanes, self.constants.dtype)
        arrays = [*inputs, out, self.constants, work]
        table = np.array([*(a.ctypes.data for a in arrays), len(out)], dtype=np.int64)
        return not self.function(table.ctypes.data)


class Desk:
    """Arrays of one state or of m, their addresses looked up once: what a call costs counts."""

    def __init__(self, native: Native, shapes: Sequence[tuple[int, ...]], many: int | None) -> None:
        """``shapes`` of x, qd, tau and, where it is an input, wrench, for one state."""
        self.dtype = dtype = native.constants.dtype
        front = () if many is None else (many,)
        self.x, self.qd, self.tau, *rest = (np.zeros((*front, *s), dtype=dtype) for s in shapes)
        self.wrench = rest[0] if rest else None
        self.out: NDArray = np.zeros((*front, native.outputs), dtype=dtype)
        self.work = _aligned(native.rows * native.lanes, dtype)
        arrays = [self.x, self.qd, self.tau, *rest, self.out, native.constants, self.work]
        table = [*(a.ctypes.data for a in arrays), 1 if many is None else many]
        self.table = np.array(table, dtype=np.int64)
        self.address = self.table.ctypes.data
        self.shapes = self.x.shape, self.qd.shape, self.tau.shape
        self.zero = np.zeros_like(self.tau)
        self.function = native.function

    def takes(self, x: Any, qd: Any, tau: Any, wrench: Any) -> bool:
        """Fill ``out``, and True, for finite states in arrays of these shapes and number type."""
        if tau is None:
            tau = self.zero
        try:
            if (x.shape, qd.shape, tau.shape) != self.shapes:
                return False
            dtype = self.dtype
            if x.dtype is not dtype or qd.dtype is not dtype or tau.dtype is not dtype:
                return False
            if wrench is not None or self.wrench is not None:
                if self.wrench is None or wrench.shape != self.wrench.shape:
                    return False
                if wrench.dtype is not dtype:
                    return False
                self.wrench[...] = wrench
            self.x[...] = x
            self.qd[...] = qd
            self.tau[...] = tau
        except AttributeError:  # no arrays
            return False
        return not self.function(self.address)


def compiled(
    program: Program, dtype: Any, lanes: int, given: tuple[int, ...], piece: int = PIECE
) -> Native:
    """Machine code for ``lanes`` states side by side; ``given``: sizes of the arrays of inputs."""
    shape = Shape("double" if dtype is np.float64 else "float", lanes, given)
    source = source_of(program, shape, piece)
    engine, address = _load(source, level=0 if len(program) > LONG else 1)
    constants = _aligned(1 + len(program.constants), dtype)
    constants[0] = 1
    constants[1:] = program.constants
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
    return Native(
        lanes, source.pieces, source.rows, len(program.outputs), given, constants, function, engine
    )


def _load(source: Source, level: int) -> tuple[Any, int]:
    """The engine and the address of ``run``; ``level`` is that of code generation alone."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        codemodel="jitdefault",
    )
    module = llvm.parse_assembly(source.text)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine, engine.get_function_address("run")


def _aligned(count: int, dtype: Any) -> NDArray:
    """Zeros (count,) that start on a whole vector."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count * size + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + count * size].view(dtype)
