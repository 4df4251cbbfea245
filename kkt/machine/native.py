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
from .emission import Source, source_of
from .program import Program

ALIGNMENT = 64  # bytes, of a row
LEVEL = 2  # of LLVM's code generation; nothing else is optimised, and nothing is reordered


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
    pieces: int
    address: int
    outputs: int
    dtype: Any
    arrays: int  # of inputs
    constants: NDArray
    work: NDArray  # aligned
    engine: Any  # owns the code

    def call(self, inputs: Sequence[int], out: int, m: int) -> int:
        """Run m states between addresses; 0, or 1 where an input is not finite."""
        return self.function(*inputs, out, self.constants.ctypes.data, self.work.ctypes.data, m)

    @property
    def function(self) -> Any:
        pointers = [ctypes.c_void_p] * (self.arrays + 3)
        return ctypes.CFUNCTYPE(ctypes.c_int64, *pointers, ctypes.c_int64)(self.address)


def compiled(program: Program, dtype: Any, lanes: int, given: tuple[int, ...]) -> Native:
    """Machine code for ``lanes`` states side by side; ``given``: sizes of the arrays of inputs."""
    shape = Shape("double" if dtype is np.float64 else "float", lanes, given)
    source = source_of(program, shape)
    engine, address = _load(source)
    rows = _aligned(source.rows * lanes, dtype)
    constants = _aligned(1 + len(program.constants), dtype)
    constants[0] = 1
    constants[1:] = program.constants
    return Native(
        lanes, source.pieces, address, len(program.outputs), dtype, len(given),
        constants, rows, engine,
    )  # fmt: skip


def _load(source: Source) -> tuple[Any, int]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=LEVEL,
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
