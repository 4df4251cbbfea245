"""Machine code as a built-in function of CPython: where a state is small, a call's cost counts.

The function, the same machine code for all programs, reads numpy's arrays where they lie, as any
extension module does, and has numpy make the array of outputs.  Of anything but arrays of the
right type, number type and shape, side by side in memory, it returns None, which leaves the rest
to the caller.  It keeps nothing from one call to the next, so that threads may share it.

Reading objects by offsets is sound because the offsets are part of the stable binary interface
that numpy promises every extension module, and because :func:`known` holds each of them against
what Python itself says of an array before the first call.  Where one differs, as on builds without
the interpreter's lock, whose objects have longer heads, there is no such function, and kernels are
called by way of ctypes, with the same bits.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .caller import ARRAYS, AT

Builtin = Callable[[Any, Any, Any, Any], NDArray | None]

HELD = 1_000_000  # operations, some tenths of a millisecond, for which the lock may be held
FEW = 4096  # states, and no more at a time
NEVER = -100  # a rank that no array has
FASTCALL = 0x80  # METH_FASTCALL: self, the arguments as an array, how many
TYPE, NEW = 2, 93  # PyArray_Type and PyArray_New in numpy's table, whose order never changes
PYTHON = (
    "PyBytes_AsString", "PyMem_RawMalloc", "PyMem_RawFree", "Py_IncRef", "Py_DecRef",
    "PyTuple_New", "PyTuple_SetItem",
)  # fmt: skip


class Table(bytes):
    """What the function reads, :data:`kkt.machine.caller.ENTRIES` first; it is its ``self``."""

    kept: tuple[Any, ...]  # what must live as long as the function


class Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(
    address: int, run: int, shapes: Sequence[tuple[int, ...]], *, many: bool, most: int,
    outputs: int, parts: Sequence[tuple[int, ...]], work: int, constants: NDArray,
    owners: tuple[Any, ...],
) -> Builtin:  # fmt: skip
    """The function of x, qd, tau and wrench, to outputs (outputs,), or (m, outputs) if ``many``.

    With ``parts``, shapes of one or two sizes, a state's outputs come as arrays of these shapes, as
    a tuple where there are several.

    ``address`` is that of :mod:`kkt.machine.caller`'s function, ``run`` that of a program's, as
    :func:`kkt.machine.driver.driver` has it, and ``owners`` keep both; ``shapes`` are those of the
    arrays of one state, a wrench among them where it is an input; ``most`` states come at a time;
    ``work`` is the size of the work array in bytes.  tau and wrench are zero where None.  The
    function returns None for what it does not take, a number that is not finite included.  There
    is one only where :func:`known`.
    """
    dtype = constants.dtype
    states = most if many else 1
    zeros = np.zeros(states * max(int(np.prod(shape)) for shape in shapes), dtype=dtype)
    words = [
        run, id(np.ndarray), id(None), _number(zeros), dtype.num, many, most, outputs, work,
        constants.ctypes.data, len(shapes), len(parts), outputs * dtype.itemsize if parts else 0,
    ]  # fmt: skip
    for j in range(ARRAYS):
        if j < len(shapes):
            instead = zeros.ctypes.data if j > 1 else 0
            words += [instead, len(shapes[j]), *shapes[j], *[0] * (2 - len(shapes[j]))]
        else:
            words += [1, NEVER, 0, 0]  # None, and nothing else
    for part in parts:
        sizes = [*part, *[0] * (2 - len(part))]
        words += [len(part), *sizes, int(np.prod(part)) * dtype.itemsize]
    table = Table(np.array(words, dtype=np.int64).tobytes())
    definition = Definition(b"outputs", address, FASTCALL, None)
    table.kept = (definition, zeros, constants, *owners)
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    )
    new = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    return new(ctypes.addressof(definition), table, None)


@cache
def known() -> bool:
    """Whether this Python and this numpy hold their objects as the function reads them."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16:
        return False  # also where an object's head holds more, without the interpreter's lock
    array = np.zeros((2, 3), dtype=np.float32)
    here, descr = id(array), array.dtype
    if min(np.ndarray.__basicsize__ - AT["flags"], type(descr).__basicsize__ - AT["number"]) < 8:
        return False
    told = tuple(_word(here + AT[name]) for name in ("type", "data", "descr"))
    if told != (id(np.ndarray), array.ctypes.data, id(descr)):
        return False
    dims = _word(here + AT["dims"])
    kind, letter, order, _, *rest = _number(array).to_bytes(8, sys.byteorder)
    return (
        _short(here + AT["rank"]) == array.ndim
        and _short(here + AT["flags"]) == array.flags.num
        and (_word(dims), _word(dims + 8)) == array.shape
        and bytes((kind, letter, order)).decode() == descr.kind + descr.char + descr.byteorder
        and int.from_bytes(rest, sys.byteorder) == descr.num
        and _numpy(TYPE) == id(np.ndarray)
    )


def symbols() -> dict[str, int]:
    """Addresses of what the function calls."""
    found = {name: _address(getattr(ctypes.pythonapi, name)) for name in PYTHON}
    return {**found, "memmove": _address(ctypes.memmove), "PyArray_New": _numpy(NEW)}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _number(array: NDArray) -> int:
    """Of an array's number type: kind, letter, order of bytes and number, as one word."""
    return _word(_word(id(array) + AT["descr"]) + AT["number"])


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _short(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _numpy(entry: int) -> int:
    """An address in numpy's table for extension modules, 0 where there is none."""
    try:
        table = import_module("numpy._core._multiarray_umath")._ARRAY_API
    except (ImportError, AttributeError):
        return 0
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    return _word(pointer(table, None) + 8 * entry)
