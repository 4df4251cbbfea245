"""The loop around a program's pieces, as LLVM's intermediate language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """What a program is compiled for."""

    number: str  # "double" or "float"
    lanes: int  # states in one vector; 1: scalars
    given: tuple[int, ...]  # numbers of a state in each array of inputs
    relaxed: bool = False  # a product may be fused with a sum, a quotient be by a reciprocal

    @property
    def type(self) -> str:
        return self.number if self.lanes == 1 else f"<{self.lanes} x {self.number}>"

    @property
    def suffix(self) -> str:
        """Of the type, in the names of intrinsic functions."""
        bits = "f64" if self.number == "double" else "f32"
        return bits if self.lanes == 1 else f"v{self.lanes}{bits}"


def driver(shape: Shape, inputs: int, outputs: int, pieces: int) -> str:
    """i64 run(table): 0, or 1 where an input is not finite.

    The table holds, each in 8 bytes, the addresses of the arrays of inputs, of the outputs, of the
    constants and of the work array, and the number m of states.
    Arrays hold one state after another.  A block of states is copied into rows of the work array,
    inputs first, then outputs; the last block repeats the last state in lanes without a state.
    """
    T, t, lanes = shape.type, shape.number, shape.lanes
    mask = "i1" if lanes == 1 else f"<{lanes} x i1>"
    names = [*(f"x{j}" for j in range(len(shape.given))), "y", "c", "w"]
    table = "".join(_entry(i, name, "ptr") for i, name in enumerate(names))
    table += _entry(len(names), "m", "i64")
    rows = [sum(shape.given[:j]) for j in range(len(shape.given))]
    gathers = "".join(
        _gather(shape, *place) for place in enumerate(zip(shape.given, rows, strict=True))
    )
    calls = "".join(f"  call void @piece{piece}(ptr %c, ptr %w)\n" for piece in range(pieces))
    helpers = _COPY.format(t=t) + _INFINITE.format(T=T, mask=mask, inputs=inputs)
    return f"""{helpers}
define i64 @run(ptr %table) {{
entry:
{table}  %last = sub i64 %m, 1
  br label %block
block:
  %k = phi i64 [0, %entry], [%knext, %work]
  %left = sub i64 %m, %k
  %part = icmp ult i64 %left, {lanes}
  %here = select i1 %part, i64 %left, i64 {lanes}
  %spare = sub i64 {lanes}, %here
{gathers}  %bad = call {mask} @infinite(ptr %w)
  %word = bitcast {mask} %bad to i{lanes}
  %any = icmp ne i{lanes} %word, 0
  br i1 %any, label %refuse, label %work
refuse:
  ret i64 1
work:
{calls}  %ystart = mul i64 %k, {outputs}
  %yk = getelementptr {t}, ptr %y, i64 %ystart
  %yrow = getelementptr {T}, ptr %w, i64 {inputs}
  call void @copy(ptr %yrow, i64 {lanes}, i64 1, ptr %yk, i64 1, i64 {outputs},
                  i64 {outputs}, i64 %here)
  %knext = add i64 %k, {lanes}
  %again = icmp ult i64 %knext, %m
  br i1 %again, label %block, label %done
done:
  ret i64 0
}}
"""


def _entry(i: int, name: str, type: str) -> str:
    """Read one entry of the table."""
    return f"""\
  %at_{name} = getelementptr i64, ptr %table, i64 {i}
  %{name} = load {type}, ptr %at_{name}
"""


def _gather(shape: Shape, j: int, place: tuple[int, int]) -> str:
    """Copy array j of inputs, ``count`` numbers a state, into rows."""
    (count, row), T, t, lanes = place, shape.type, shape.number, shape.lanes
    return f"""\
  %start{j} = mul i64 %k, {count}
  %from{j} = getelementptr {t}, ptr %x{j}, i64 %start{j}
  %row{j} = getelementptr {T}, ptr %w, i64 {row}
  call void @copy(ptr %from{j}, i64 1, i64 {count}, ptr %row{j}, i64 {lanes}, i64 1,
                  i64 {count}, i64 %here)
  %end{j} = mul i64 %last, {count}
  %again{j} = getelementptr {t}, ptr %x{j}, i64 %end{j}
  %rest{j} = getelementptr {t}, ptr %row{j}, i64 %here
  call void @copy(ptr %again{j}, i64 1, i64 0, ptr %rest{j}, i64 {lanes}, i64 1,
                  i64 {count}, i64 %spare)
"""


# to[i ti + l tl] = from[i fi + l fl] for i < count, l < lanes
_COPY = """
define internal void @copy(ptr %from, i64 %fi, i64 %fl, ptr %to, i64 %ti, i64 %tl,
                           i64 %count, i64 %lanes) noinline {{
entry:
  br label %lane
lane:
  %l = phi i64 [0, %entry], [%lnext, %leave]
  %lmore = icmp ult i64 %l, %lanes
  br i1 %lmore, label %enter, label %done
enter:
  %f0 = mul i64 %l, %fl
  %t0 = mul i64 %l, %tl
  br label %number
number:
  %i = phi i64 [0, %enter], [%inext, %move]
  %imore = icmp ult i64 %i, %count
  br i1 %imore, label %move, label %leave
move:
  %f1 = mul i64 %i, %fi
  %t1 = mul i64 %i, %ti
  %f2 = add i64 %f0, %f1
  %t2 = add i64 %t0, %t1
  %source = getelementptr {t}, ptr %from, i64 %f2
  %target = getelementptr {t}, ptr %to, i64 %t2
  %value = load {t}, ptr %source
  store {t} %value, ptr %target
  %inext = add i64 %i, 1
  br label %number
leave:
  %lnext = add i64 %l, 1
  br label %lane
done:
  ret void
}}
"""

# x - x is 0, or not a number where x is infinite or not a number
_INFINITE = """
define internal {mask} @infinite(ptr %w) noinline {{
entry:
  br label %row
row:
  %r = phi i64 [0, %entry], [%rnext, %add]
  %sum = phi {T} [zeroinitializer, %entry], [%more, %add]
  %in = icmp ult i64 %r, {inputs}
  br i1 %in, label %add, label %done
add:
  %p = getelementptr {T}, ptr %w, i64 %r
  %v = load {T}, ptr %p
  %zero = fsub {T} %v, %v
  %more = fadd {T} %sum, %zero
  %rnext = add i64 %r, 1
  br label %row
done:
  %bad = fcmp uno {T} %sum, %sum
  ret {mask} %bad
}}
"""
