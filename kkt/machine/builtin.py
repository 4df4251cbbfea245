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

The offsets are those of PyObject, PyArrayObject_fields and PyArray_Descr.  Everything else comes from
the table, the function's ``self``.  Its text is in LLVM's intermediate language.
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

ARRAYS = 4  # arguments: x, qd, tau, wrench
CONTIGUOUS, ALIGNED = 0x1, 0x100  # flags of an array

# 64-bit words at the start of the table.  Four words for each argument follow: the address that is
# used where the argument is None (0: None is refused), the rank for one state, and two sizes.
ENTRIES = {
    "run": "ptr",  # the program's function
    "type": "ptr",  # numpy.ndarray
    "none": "ptr",  # None
    "number": "i64",  # kind, letter, order of bytes and number of a number type
    "typenum": "i64",  # its number
    "many": "i64",  # 1: arrays have an axis of states in front
    "most": "i64",  # states of a call at most
    "held": "i64",  # states of a call at most during which the interpreter's lock is held
    "outputs": "i64",  # numbers that a state's outputs have
    "work": "i64",  # bytes of the work array
    "c": "ptr",  # constants
    "arrays": "i64",  # arguments that the program reads
}


# bytes from the start of an object, of an array, and of a number type
AT = {"type": 8, "data": 16, "rank": 24, "dims": 32, "descr": 56, "flags": 64, "number": 24}


def text() -> str:
    """The text of the function ``call``, of self, the arguments, and their number."""
    first, *rest = (_ask(j) for j in range(ARRAYS))
    return _TEXT.format(
        **AT,
        side=CONTIGUOUS | ALIGNED,
        given=ARRAYS,
        entries=_read(*ENTRIES),
        some=_read("type", "none", "number", "many"),
        first=first,
        rest="".join(rest),
    )


def _read(*names: str) -> str:
    """Code that reads entries of the table."""
    places = list(ENTRIES)
    return "".join(
        f"  %at_{name} = getelementptr i64, ptr %t, i64 {places.index(name)}\n"
        f"  %{name} = load {ENTRIES[name]}, ptr %at_{name}\n"
        for name in names
    )


def _ask(j: int) -> str:
    """Code that puts the address of an argument's numbers into the program's table."""
    return f"""\
  %at{j} = getelementptr ptr, ptr %args, i64 {j}
  %a{j} = load ptr, ptr %at{j}
  %want{j} = getelementptr i64, ptr %t, i64 {len(ENTRIES) + 4 * j}
  %x{j} = call ptr @numbers(ptr %a{j}, ptr %t, ptr %want{j}, i64 {"%m" if j else -1})
  %no{j} = icmp eq ptr %x{j}, null
  br i1 %no{j}, label %decline, label %have{j}
have{j}:
  %slot{j} = getelementptr i64, ptr %table, i64 {j}
  store ptr %x{j}, ptr %slot{j}
"""


# @numbers returns the data of an array of the wanted rank and sizes, and null for anything else;
# m < 0 allows any number of states.
_TEXT = """
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)

define internal ptr @numbers(ptr %a, ptr %t, ptr %want, i64 %m) {{
entry:
{some}  %absent = icmp eq ptr %a, %none
  br i1 %absent, label %default, label %object
default:
  %instead = load ptr, ptr %want
  ret ptr %instead
object:
  %p_type = getelementptr i8, ptr %a, i64 {type}
  %its_type = load ptr, ptr %p_type
  %an_array = icmp eq ptr %its_type, %type
  br i1 %an_array, label %array, label %no
array:
  %p_flags = getelementptr i8, ptr %a, i64 {flags}
  %flags = load i32, ptr %p_flags
  %set = and i32 %flags, {side}
  %lies = icmp eq i32 %set, {side}
  %p_descr = getelementptr i8, ptr %a, i64 {descr}
  %descr = load ptr, ptr %p_descr
  %p_number = getelementptr i8, ptr %descr, i64 {number}
  %its_number = load i64, ptr %p_number
  %same = icmp eq i64 %its_number, %number
  %p_rank = getelementptr i8, ptr %a, i64 {rank}
  %rank32 = load i32, ptr %p_rank
  %rank = zext i32 %rank32 to i64
  %want_rank = getelementptr i64, ptr %want, i64 1
  %one_rank = load i64, ptr %want_rank
  %all_rank = add i64 %one_rank, %many
  %level = icmp eq i64 %rank, %all_rank
  %fit0 = and i1 %lies, %same
  %fit = and i1 %fit0, %level
  br i1 %fit, label %shape, label %no
shape:
  %p_dims = getelementptr i8, ptr %a, i64 {dims}
  %dims = load ptr, ptr %p_dims
  %any = icmp slt i64 %m, 0
  %one = icmp eq i64 %many, 0
  %free = or i1 %any, %one
  br i1 %free, label %sizes, label %states
states:
  %its_m = load i64, ptr %dims
  %agree = icmp eq i64 %its_m, %m
  br i1 %agree, label %sizes, label %no
sizes:
  %of_one = getelementptr i64, ptr %dims, i64 %many
  %want_sizes = getelementptr i64, ptr %want, i64 2
  br label %size
size:
  %i = phi i64 [0, %sizes], [%next, %compare]
  %more = icmp slt i64 %i, %one_rank
  br i1 %more, label %compare, label %yes
compare:
  %p_here = getelementptr i64, ptr %of_one, i64 %i
  %here = load i64, ptr %p_here
  %p_there = getelementptr i64, ptr %want_sizes, i64 %i
  %there = load i64, ptr %p_there
  %next = add i64 %i, 1
  %equal = icmp eq i64 %here, %there
  br i1 %equal, label %size, label %no
yes:
  %p_data = getelementptr i8, ptr %a, i64 {data}
  %data = load ptr, ptr %p_data
  ret ptr %data
no:
  ret ptr null
}}

define ptr @call(ptr %self, ptr %args, i64 %count) {{
entry:
  %table = alloca i64, i64 8
  %shape = alloca i64, i64 2
  %t = call ptr @PyBytes_AsString(ptr %self)
{entries}  %counted = icmp eq i64 %count, {given}
  br i1 %counted, label %ask, label %decline
ask:
{first}  %typenum32 = trunc i64 %typenum to i32
  %one = icmp eq i64 %many, 0
  br i1 %one, label %between, label %length
length:
  %p_dims = getelementptr i8, ptr %a0, i64 {dims}
  %dims = load ptr, ptr %p_dims
  %its_m = load i64, ptr %dims
  br label %between
between:
  %m = phi i64 [1, %have0], [%its_m, %length]
  %low = icmp sge i64 %m, 1
  %high = icmp sle i64 %m, %most
  %right = and i1 %low, %high
  br i1 %right, label %others, label %decline
others:
{rest}  br label %ready
ready:
  store i64 %m, ptr %shape
  %inner = getelementptr i64, ptr %shape, i64 %many
  store i64 %outputs, ptr %inner
  %many32 = trunc i64 %many to i32
  %rank = add i32 %many32, 1
  %out = call ptr @PyArray_New(ptr %type, i32 %rank, ptr %shape, i32 %typenum32, ptr null,
                               ptr null, i32 0, i32 0, ptr null)
  %failed = icmp eq ptr %out, null
  br i1 %failed, label %raise, label %made
made:
  %p_y = getelementptr i8, ptr %out, i64 {data}
  %y = load ptr, ptr %p_y
  %wide = add i64 %work, 63
  %raw = call ptr @PyMem_RawMalloc(i64 %wide)
  %full = icmp eq ptr %raw, null
  br i1 %full, label %drop, label %go
go:
  %raw64 = ptrtoint ptr %raw to i64
  %up = add i64 %raw64, 63
  %aligned = and i64 %up, -64
  %w = inttoptr i64 %aligned to ptr
  %slot_y = getelementptr i64, ptr %table, i64 %arrays
  store ptr %y, ptr %slot_y
  %slot_c = getelementptr i64, ptr %slot_y, i64 1
  store ptr %c, ptr %slot_c
  %slot_w = getelementptr i64, ptr %slot_y, i64 2
  store ptr %w, ptr %slot_w
  %slot_m = getelementptr i64, ptr %slot_y, i64 3
  store i64 %m, ptr %slot_m
  %long = icmp sgt i64 %m, %held
  br i1 %long, label %alone, label %locked
alone:
  %thread = call ptr @PyEval_SaveThread()
  %wrong_alone = call i64 %run(ptr %table)
  call void @PyEval_RestoreThread(ptr %thread)
  br label %over
locked:
  %wrong_locked = call i64 %run(ptr %table)
  br label %over
over:
  %wrong = phi i64 [%wrong_alone, %alone], [%wrong_locked, %locked]
  %finite = icmp eq i64 %wrong, 0
  call void @PyMem_RawFree(ptr %raw)
  br i1 %finite, label %good, label %drop
good:
  ret ptr %out
drop:
  call void @Py_DecRef(ptr %out)
  br label %decline
raise:
  ret ptr null
decline:
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}}
"""


Builtin = Callable[[Any, Any, Any, Any], NDArray[Any] | None]

HELD = 1_000_000  # operations during which the lock may be held: some tenths of a millisecond
FEW = 4096  # states of one call at most, of which there are zeros for what is None
NEVER = -100  # a rank that no array has
FASTCALL = 0x80  # METH_FASTCALL: arguments are self, an array of arguments, and their number
TYPE, NEW = 2, 93  # PyArray_Type and PyArray_New in numpy's table, whose order never changes
PYTHON = ["PyBytes_AsString", "PyMem_RawMalloc", "PyMem_RawFree", "Py_IncRef", "Py_DecRef"]
PYTHON += ["PyEval_SaveThread", "PyEval_RestoreThread"]


class Table(bytes):
    """The ``self`` of the function: a table that starts as :data:`kkt.machine.builtin.ENTRIES`."""

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
    held: int,
    outputs: int,
    work: int,
    constants: NDArray[Any],
    owners: tuple[Any, ...],
) -> Builtin:
    """A function of x, qd, tau and wrench that returns outputs (outputs,), or (m, outputs).

    It takes one state, or m states if ``many``, at most :data:`FEW`, and lets other threads run where
    they are more than ``held``.

    ``address`` is that of the function of :mod:`kkt.machine.builtin`, ``run`` that of a program's
    function (:func:`kkt.machine.emission.driver`), and ``owners`` keep both alive; ``shapes`` are
    those of the arrays of one state, with a wrench where it is an input; ``work`` is the size of
    the work array in bytes.  tau and wrench are zero where None.  The function returns None for
    arguments that it cannot read, and for a number that is not finite.  It may be made only where
    :func:`known` holds.
    """
    dtype = constants.dtype
    states = FEW if many else 1
    zeros = np.zeros(states * max(int(np.prod(shape)) for shape in shapes), dtype=dtype)
    words = [
        run,
        id(np.ndarray),
        id(None),
        _number(zeros),
        dtype.num,
        many,
        states,
        held,
        outputs,
        work,
        constants.ctypes.data,
        len(shapes),
    ]
    for j in range(ARRAYS):
        if j < len(shapes):
            instead = zeros.ctypes.data if j > 1 else 0
            words += [instead, len(shapes[j]), *shapes[j], *[0] * (2 - len(shapes[j]))]
        else:
            words += [1, NEVER, 0, 0]  # only None is accepted
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
    functions = {name: getattr(ctypes.pythonapi, name) for name in PYTHON}
    found = {name: ctypes.cast(function, ctypes.c_void_p).value or 0 for name, function in functions.items()}
    return {**found, "PyArray_New": _numpy(NEW)}


def _number(array: NDArray[Any]) -> int:
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
