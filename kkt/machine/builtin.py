"""Machine code as a built-in function of CPython, since the cost of a call counts for small robots.

The function is the same machine code for all programs.  It reads numpy's arrays in place, as any
extension module does, and has numpy make the array of outputs.  For anything but contiguous arrays
of the right class, number type and shape it returns None, so that the caller takes another way.  It
keeps nothing from one call to the next, so that threads may share it.

Reading objects by offsets is sound because the offsets are part of the stable binary interface
that numpy promises to every extension module, and because :func:`known` compares each of them with
what Python says of an array before the first call.  Where one differs, as on builds without the
interpreter's lock, whose objects have longer heads, there is no such function, and kernels are
called through ctypes, with the same bits.
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

HELD = 1_000_000  # operations during which the lock may be held: some tenths of a millisecond
FEW = 4096  # states of one call at most
NEVER = -100  # a rank that no array has
FASTCALL = 0x80  # METH_FASTCALL: arguments are self, an array of arguments, and their number
TYPE, NEW = 2, 93  # PyArray_Type and PyArray_New in numpy's table, whose order never changes
PYTHON = (
    "PyBytes_AsString",
    "PyMem_RawMalloc",
    "PyMem_RawFree",
    "Py_IncRef",
    "Py_DecRef",
    "PyTuple_New",
    "PyTuple_SetItem",
)


class Table(bytes):
    """The ``self`` of the function: a table that starts as :data:`kkt.machine.caller.ENTRIES`."""

    kept: tuple[Any, ...]  # objects that must live as long as the function


class Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(
    address: int,
    run: int,
    shapes: Sequence[tuple[int, ...]],
    *,
    many: bool,
    most: int,
    outputs: int,
    parts: Sequence[tuple[int, ...]],
    work: int,
    constants: NDArray,
    owners: tuple[Any, ...],
) -> Builtin:
    """A function of x, qd, tau and wrench that returns outputs (outputs,), or (m, outputs).

    It takes one state, or m states if ``many``, at most ``most``.  With ``parts``, shapes of rank 1
    or 2, the outputs of one state are returned as arrays of these shapes, several as a tuple.

    ``address`` is that of the function of :mod:`kkt.machine.caller`, ``run`` that of a program's
    function (:func:`kkt.machine.driver.driver`), and ``owners`` keep both alive; ``shapes`` are
    those of the arrays of one state, with a wrench where it is an input; ``work`` is the size of
    the work array in bytes.  tau and wrench are zero where None.  The function returns None for
    arguments that it cannot read, and for a number that is not finite.  It may be made only where
    :func:`known` holds.
    """
    dtype = constants.dtype
    states = most if many else 1
    zeros = np.zeros(states * max(int(np.prod(shape)) for shape in shapes), dtype=dtype)
    words = [
        run,
        id(np.ndarray),
        id(None),
        _number(zeros),
        dtype.num,
        many,
        most,
        outputs,
        work,
        constants.ctypes.data,
        len(shapes),
        len(parts),
        outputs * dtype.itemsize if parts else 0,
    ]
    for j in range(ARRAYS):
        if j < len(shapes):
            instead = zeros.ctypes.data if j > 1 else 0
            words += [instead, len(shapes[j]), *shapes[j], *[0] * (2 - len(shapes[j]))]
        else:
            words += [1, NEVER, 0, 0]  # only None is accepted
    for part in parts:
        sizes = [*part, *[0] * (2 - len(part))]
        words += [len(part), *sizes, int(np.prod(part)) * dtype.itemsize]
    table = Table(np.array(words, dtype=np.int64).tobytes())
    definition = Definition(b"outputs", address, FASTCALL, None)
    table.kept = (definition, zeros, constants, *owners)
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    new = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    return new(ctypes.addressof(definition), table, None)


@cache
def known() -> bool:
    """Whether objects of this Python and this numpy have the layout that the function reads."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16:
        return False  # on builds without the interpreter's lock an object's head is longer
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
    """Addresses of the functions that the built-in function calls."""
    found = {name: _address(getattr(ctypes.pythonapi, name)) for name in PYTHON}
    return {**found, "memmove": _address(ctypes.memmove), "PyArray_New": _numpy(NEW)}


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _number(array: NDArray) -> int:
    """An array's number type as one word: kind, letter, byte order and number."""
    return _word(_word(id(array) + AT["descr"]) + AT["number"])


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _short(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def _numpy(entry: int) -> int:
    """An address in numpy's table for extension modules; 0 if there is no table."""
    try:
        table = import_module("numpy._core._multiarray_umath")._ARRAY_API
    except (ImportError, AttributeError):
        return 0
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    return _word(pointer(table, None) + 8 * entry)
