"""Passes compiled to machine code, which is cached in memory and on disk."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..machine import native, store
from .classes import Kind
from .emission import DECLARED
from .factor import passes
from .passes import END, entries
from .plan import Part
from .template import Bodywise

LEVEL = 2  # of LLVM's code generation
Addresses = dict[str, int]


@dataclass(frozen=True)
class Code:
    """Machine code of the passes for some kinds of bodies."""

    entries: tuple[str, ...]  # names of the entries of a table
    streams: dict[str, tuple[int, ...]]  # of each stream, the count of numbers by kind of body
    tip_to_base: frozenset[str]  # names of the passes that go from tip to base
    functions: dict[str, Any]  # by the name of the pass; each takes the address of a table
    engine: Any  # owns the code

    def table(self, part: Part, numbers: Addresses) -> NDArray[np.int64]:
        """The table for a part of the walk; ``numbers`` are the addresses of contiguous arrays."""
        known = {**part.addresses, **numbers}
        for name, sizes in self.streams.items():
            known[name + END] = known[name] + 8 * part.total(sizes)
        return np.array([known[name] for name in self.entries], dtype=np.int64)


@lru_cache(maxsize=32)
def compiled(order: Bodywise, kinds: tuple[Kind, ...], relaxed: bool) -> Code:
    """Machine code of an order's two passes for the kinds of a tree's bodies."""
    import llvmlite.binding as llvm

    made = passes(order, kinds)
    table = entries(made)
    target, about = native._target(LEVEL)
    name = store.key("passes", about, order, kinds, relaxed)
    kept = store.read(name)
    if kept is None:
        lines = (line for it in made for line in it.text(table, relaxed))
        code = native._object("\n".join([DECLARED, *lines]), target)
        kept = {"code": np.frombuffer(code, dtype=np.uint8)}
        store.write(name, kept)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(kept["code"].tobytes()))
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64)
    functions = {it.name: kind(engine.get_function_address(it.name)) for it in made}
    streams = {name: sizes for it in made for name, sizes in it.sizes.items()}
    upwards = frozenset(it.name for it in made if it.tip_to_base)
    return Code(table, streams, upwards, functions, engine)
