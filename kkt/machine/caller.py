"""The function of :mod:`kkt.machine.builtin`, in LLVM's intermediate language.

It reads arrays as any extension module does, at offsets that never change (PyObject,
PyArrayObject_fields, PyArray_Descr).  Everything else comes from the table, its ``self``.
"""

from __future__ import annotations

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
    "outputs": "i64",  # numbers that a state's outputs have
    "work": "i64",  # bytes of the work array
    "c": "ptr",  # constants
    "arrays": "i64",  # arguments that the program reads
    "parts": "i64",  # arrays into which a state's outputs are split; 0: they are one array
    "bytes": "i64",  # of these arrays together
}
PART = ("rank", "first", "second", "size")  # words of each such array, after those of arguments


# bytes from the start of an object, of an array, and of a number type
AT = {"type": 8, "data": 16, "rank": 24, "dims": 32, "descr": 56, "flags": 64, "number": 24}


def text() -> str:
    """The text of the function ``call``, of self, the arguments, and their number."""
    first, *rest = (_ask(j) for j in range(ARRAYS))
    return _TEXT.format(
        **AT,
        first_part=len(ENTRIES) + 4 * ARRAYS,
        words=len(PART),
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
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @memmove(ptr, ptr, i64)
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
  %whole = icmp eq i64 %parts, 0
  br i1 %whole, label %make, label %room
make:
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
  %its_y = load ptr, ptr %p_y
  br label %room
room:
  %held = phi ptr [null, %ready], [%out, %made]
  %own_y = phi ptr [null, %ready], [%its_y, %made]
  %both = add i64 %work, %bytes
  %wide = add i64 %both, 63
  %raw = call ptr @PyMem_RawMalloc(i64 %wide)
  %full = icmp eq ptr %raw, null
  br i1 %full, label %drop, label %go
go:
  %raw64 = ptrtoint ptr %raw to i64
  %up = add i64 %raw64, 63
  %aligned = and i64 %up, -64
  %w = inttoptr i64 %aligned to ptr
  %beyond = getelementptr i8, ptr %w, i64 %work
  %y = select i1 %whole, ptr %own_y, ptr %beyond
  %slot_y = getelementptr i64, ptr %table, i64 %arrays
  store ptr %y, ptr %slot_y
  %slot_c = getelementptr i64, ptr %slot_y, i64 1
  store ptr %c, ptr %slot_c
  %slot_w = getelementptr i64, ptr %slot_y, i64 2
  store ptr %w, ptr %slot_w
  %slot_m = getelementptr i64, ptr %slot_y, i64 3
  store i64 %m, ptr %slot_m
  %wrong = call i64 %run(ptr %table)
  %finite = icmp eq i64 %wrong, 0
  br i1 %finite, label %good, label %free
good:
  br i1 %whole, label %leave, label %several
several:
  %alone = icmp eq i64 %parts, 1
  br i1 %alone, label %part, label %hold
hold:
  %tuple = call ptr @PyTuple_New(i64 %parts)
  %none_made = icmp eq ptr %tuple, null
  br i1 %none_made, label %leave, label %part
part:
  %given = phi ptr [null, %several], [%tuple, %hold], [%given, %kept]
  %k = phi i64 [0, %several], [0, %hold], [%k_next, %kept]
  %from = phi ptr [%y, %several], [%y, %hold], [%from_next, %kept]
  %words = mul i64 %k, {words}
  %word = add i64 %words, {first_part}
  %p_rank = getelementptr i64, ptr %t, i64 %word
  %its_rank = load i64, ptr %p_rank
  %its_rank32 = trunc i64 %its_rank to i32
  %its_dims = getelementptr i64, ptr %p_rank, i64 1
  %p_size = getelementptr i64, ptr %p_rank, i64 3
  %size = load i64, ptr %p_size
  %array = call ptr @PyArray_New(ptr %type, i32 %its_rank32, ptr %its_dims, i32 %typenum32,
                                 ptr null, ptr null, i32 0, i32 0, ptr null)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %lose, label %fill
fill:
  %p_to = getelementptr i8, ptr %array, i64 {data}
  %to = load ptr, ptr %p_to
  call ptr @memmove(ptr %to, ptr %from, i64 %size)
  br i1 %alone, label %leave, label %keep
keep:
  %set = call i32 @PyTuple_SetItem(ptr %given, i64 %k, ptr %array)
  br label %kept
kept:
  %from_next = getelementptr i8, ptr %from, i64 %size
  %k_next = add i64 %k, 1
  %on = icmp ult i64 %k_next, %parts
  br i1 %on, label %part, label %leave
lose:
  br i1 %alone, label %leave, label %forget
forget:
  call void @Py_DecRef(ptr %given)
  br label %leave
leave:
  %found = phi ptr [%held, %good], [null, %hold], [%array, %fill], [%given, %kept],
                   [null, %lose], [null, %forget]
  call void @PyMem_RawFree(ptr %raw)
  ret ptr %found
free:
  call void @PyMem_RawFree(ptr %raw)
  br label %drop
drop:
  %has = phi ptr [%held, %room], [%held, %free]
  %nothing = icmp eq ptr %has, null
  br i1 %nothing, label %decline, label %give
give:
  call void @Py_DecRef(ptr %has)
  br label %decline
raise:
  ret ptr null
decline:
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}}
"""
