"""Passes as machine code, kept in memory and on disk by what they are made for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine import native, store
from .classes import Outline
from .emission import DECLARED
from .passes import END, Pass, entries
from .plan import Part
from .template import Bodywise

LEVEL = 2  # of LLVM's code generation
Addresses = dict[str, int]
Make = Callable[[Bodywise, Sequence[Any]], tuple[Pass, ...]]


@dataclass(frozen=True)
class Code:
    """Machine code of the passes for some kinds of bodies."""

    entries: tuple[str, ...]  # of the table
    streams: dict[str, tuple[int, ...]]  # numbers of a body of each kind
    tip_to_base: frozenset[str]  # passes
    functions: dict[str, Any]  # of the address of a table, by the name of the pass
    engine: Any  # owns the code

    def table(self, part: Part, numbers: Addresses) -> NDArray[np.int64]:
        """The table of passes over a part of the walk, of contiguous arrays."""
        known = {**part.addresses, **numbers}
        for name, sizes in self.streams.items():
            known[name + END] = known[name] + 8 * part.total(sizes)
        return np.array([known[name] for name in self.entries], dtype=np.int64)


def address(array: NDArray[Any]) -> int:
    """Where a contiguous array begins."""
    try:
        return ctypes.addressof(ctypes.c_double.from_buffer(array.data))
    except (TypeError, ValueError):  # read only, or empty
        return array.ctypes.data


@lru_cache(maxsize=32)
def compiled(make: Make, order: Bodywise, kinds: tuple[Outline, ...], relaxed: bool) -> Code:
    """Machine code of the passes that ``make`` makes for the kinds of a tree's bodies."""
    import llvmlite.binding as llvm

    passes = make(order, kinds)
    table = entries(passes)
    target, about = native._target(LEVEL)
    name = store.key("passes", about, make.__module__, make.__qualname__, order, kinds, relaxed)
    kept = store.read(name)
    if kept is None:
        lines = (line for it in passes for line in it.text(table, relaxed))
        code = native._object("\n".join([DECLARED, *lines]), target)
        kept = {"code": np.frombuffer(code, dtype=np.uint8)}
        store.write(name, kept)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(kept["code"].tobytes()))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64)
    functions = {it.name: kind(engine.get_function_address(it.name)) for it in passes}
    streams = {name: sizes for it in passes for name, sizes in it.sizes.items()}
    upwards = frozenset(it.name for it in passes if it.tip_to_base)
    return Code(table, streams, upwards, functions, engine)
