"""Compile a program's text with LLVM for this processor, and call the machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import store
from .builtin import HELD, Builtin, builtin, known, symbols, text
from .emission import PIECE, SHORT, WIDE, Shape, driver, source_of
from .recorder import ScalarProgram, depth_first

LONG = 200_000  # operations beyond which short compile time matters more than fast code
LONGEST = 1_000_000  # operations of machine code at most
HALVED = 600  # operations on vectors beyond which one piece may be two, for blocks of states in turn
WAITING = 1 / 25  # of the operations, those in one sequence that wait for each other, from which it is two
ROW = 64  # bytes, of the longest row of the work array


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
    length: int  # operations of a state
    work: int  # bytes of the work array
    outputs: int  # numbers of a state
    given: tuple[int, ...]  # numbers of a state in each array of inputs
    constants: NDArray[Any]
    function: Any  # ``run``; it takes the address of a table (:mod:`.emission`)
    engine: Any  # owns the code

    def run(self, inputs: Sequence[NDArray[Any]], out: NDArray[Any]) -> bool:
        """Fill out (m, outputs) from arrays (m, ...), contiguous and of the program's number type.

        Returns False where an input is not finite.  Other threads run meanwhile.
        """
        room = np.empty(self.work + ROW, dtype=np.uint8)
        work = address_of(room)
        words = [*map(address_of, inputs), address_of(out), address_of(self.constants)]
        words += [work + -work % ROW, len(out)]
        return not self.function((ctypes.c_int64 * len(words))(*words))

    def builtin(self, shapes: Sequence[tuple[int, ...]]) -> Builtin | None:
        """A built-in function for one state, or for vectors of states; ``shapes`` are one state's.

        None where the layout of Python's objects is not known.
        """
        if not known():
            return None
        engine, address = _caller()
        run = ctypes.cast(self.function, ctypes.c_void_p).value or 0
        return builtin(
            address,
            run,
            shapes,
            many=self.lanes > 1,
            held=HELD * self.lanes // self.length,
            outputs=self.outputs,
            work=self.work,
            constants=self.constants,
            owners=(engine, self.engine),
        )


def address_of(array: NDArray[Any]) -> int:
    """The address of a contiguous array."""
    try:  # a fifth of the time of ``array.ctypes``
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError):  # read only, or empty
        return array.ctypes.data


def compiled(
    program: ScalarProgram,
    dtype: Any,
    lanes: int,
    given: tuple[int, ...],
    piece: int = PIECE,
    relaxed: bool = False,
    loose: bool = False,
) -> Native:
    """Machine code for ``lanes`` states side by side; ``given``: sizes of the arrays of inputs.

    Inputs that are not finite are refused unless the code is ``loose``.

    Code that was made before on a processor of this kind is read from the disk.
    """
    shape = Shape("double" if dtype is np.float64 else "float", lanes, given, relaxed, loose)
    inputs, outputs = program.inputs, len(program.outputs)
    target, about = _target(level=0 if len(program) > LONG else 1)
    content = (inputs, program.op, program.a, program.b, program.outputs, len(program.constants))
    piece = min(piece, WIDE[relaxed]) if lanes > 1 else piece
    name = store.key("code", about, astuple(shape), piece, *content)
    kept = store.read(name)
    if kept is None:
        if len(program) > piece:
            program, piece = depth_first(program), min(piece, SHORT[relaxed or lanes == 1])
        elif lanes > 1 and len(program) > HALVED and program.depth > WAITING * len(program):
            piece = len(program) // 2 + 1
        source = source_of(program, shape, piece)
        root = f"declare {shape.type} @llvm.sqrt.{shape.suffix}({shape.type})\n"
        code = _object(root + source.text + driver(shape, inputs, outputs, source), target)
        work = source.blocks * source.rows * lanes * np.dtype(dtype).itemsize
        kept = {"code": np.frombuffer(code, dtype=np.uint8), "work": np.array(work)}
        store.write(name, kept)
    engine, address = _load(kept["code"].tobytes(), target)
    constants = _aligned(1 + len(program.constants), dtype)
    constants[:] = 1.0, *program.constants
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
    return Native(lanes, max(len(program), 1), int(kept["work"]), outputs, given, constants, function, engine)


def _target(level: int) -> tuple[Any, tuple[str, ...]]:
    """LLVM's target for this processor, and its description; ``level`` is of code generation."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, codemodel="jitdefault", jit=True
    )
    versions = llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info))
    return target, (*versions, triple, cpu, features, str(level))


def _object(text: str, target: Any) -> bytes:
    """A module's text as object code."""
    import llvmlite.binding as llvm

    return target.emit_object(llvm.parse_assembly(text))


def _load(code: bytes, target: Any, name: str = "run") -> tuple[Any, int]:
    """The engine that holds object code, and the address of one of its functions."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, engine.get_function_address(name)


@cache
def _caller() -> tuple[Any, int]:
    """The function that all built-in functions share: the engine that holds it, its address."""
    import llvmlite.binding as llvm

    target, _ = _target(level=1)
    for name, address in symbols().items():
        llvm.add_symbol(name, address)
    return _load(_object(text(), target), target, "call")


def _aligned(count: int, dtype: Any) -> NDArray[Any]:
    """Zeros (count,), aligned to ROW bytes."""
    size = np.dtype(dtype).itemsize
    room = np.zeros(count * size + ROW, dtype=np.uint8)
    start = -room.ctypes.data % ROW
    return room[start : start + count * size].view(dtype)
