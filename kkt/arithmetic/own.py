"""Formats of one's own: others for some kinds of operations or some bodies, and what a user writes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError, nearest
from ..base.foreign import foreign
from .binary import Binary
from .formats import MUL, SUB, Chunk, Format, Hardware, Runner
from .objects import each

ROLES = ("add", "mul", "div", "sqrt", "D", "operands")
ROLE_OF_OPERATION = ("add", "add", "mul", "div", "sqrt")  # by the code of an operation


@dataclass(frozen=True)
class Mixed(Format):
    """A base format, and others for some operations: ``float32+mul=bfloat16@torso=float64``.

    An operation first rounds its operands to its own format; its result is rounded once.  ``D`` is
    the format of all operations that form, factor or solve with the diagonal blocks D_k
    (:func:`kkt.program.readers.diagonal`).  ``operands`` is the format of the operands of products; products
    themselves are rounded to ``mul`` or the base, as in tensor cores.  ``bodies`` are pairs of a
    body's name and the format of all operations of that body, which may be mixed too.  Data are
    rounded to the base everywhere.  Raises FormatError for a part that is neither float64 nor has
    at most 25 bits.

    >>> from pivotree.kkt.arithmetic import Mixed, get_format
    >>> float32, bfloat16 = get_format("float32"), get_format("bfloat16")
    >>> Mixed("core", float32, operands=bfloat16).unit == bfloat16.unit
    True
    >>> system, abm = pt.build(pt.chain(3)), pt.orderings.get("abm")
    >>> pt.eliminate(system, abm, "float32@j1=float64").format
    'float32@j1=float64'
    """

    name: str
    base: Format  # data, and operations without a format of their own
    add: Format | None = None  # sums and differences
    mul: Format | None = None
    div: Format | None = None
    sqrt: Format | None = None
    D: Format | None = None
    operands: Format | None = None
    bodies: tuple[tuple[str, Format], ...] = ()
    kind: str = field(default="float", init=False)
    dtype: type = field(default=np.float64, init=False)

    def __post_init__(self) -> None:
        for part in self.parts:
            if not isinstance(part, Binary | Hardware):
                what = f"{part.name} cannot be mixed"
                raise FormatError(f"format {self.name!r}", what, "use float64 and formats of at most 25 bits")

    @property
    def parts(self) -> tuple[Format, ...]:
        """The base and the formats of the roles and bodies that have one."""
        chosen = (getattr(self, role) for role in ROLES)
        own = (self.base, *(part for part in chosen if part is not None))
        others = (getattr(other, "parts", (other,)) for _, other in self.bodies)
        return (*own, *(part for parts in others for part in parts))

    @property
    def unit(self) -> float:
        """The largest unit roundoff of the parts."""
        return max(part.unit for part in self.parts)

    @property
    def places(self) -> int:
        return max(part.places for part in self.parts)

    @property
    def on_tapes(self) -> bool:
        """Whether a tape must say to which body or D_k an operation belongs."""
        return self.D is not None or bool(self.bodies)

    def kind_of(self, names: Sequence[Hashable]) -> NDArray[np.int64]:
        """(n + 1,) which of ``bodies`` each of the bodies ``names`` is, from 1 on; the last is for no body.

        Raises FormatError where this format names a body that is not among them.
        """
        given = {str(name): k for k, name in enumerate(names)}
        result = np.zeros(len(names) + 1, dtype=np.int64)
        for i, (name, _) in enumerate(self.bodies):
            if name not in given:
                raise FormatError(f"format {self.name!r}", f"body {name!r} is unknown", nearest(name, given))
            result[given[name]] = i + 1
        return result

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.base.cast(x).astype(np.float64)

    def runner(self, tape: Any) -> ByRole:
        return ByRole(self, tape)


def by_operation(format: Format) -> list[list[list[Format]]]:
    """Formats of results and of operands by operation, each outside of D_k, then on D_k."""
    if not isinstance(format, Mixed):
        return [[[format] * len(ROLE_OF_OPERATION)] * 2] * 2
    result = [getattr(format, role) or format.base for role in ROLE_OF_OPERATION]
    operand = [*result[:MUL], format.operands or result[MUL], *result[MUL + 1 :]]
    inside = None if format.D is None else [format.D] * len(ROLE_OF_OPERATION)
    return [[result, inside or result], [operand, inside or operand]]


class ByRole(Runner):
    """Runs a tape, each operation in the format of its role and its body."""

    def __init__(self, mixed: Mixed, tape: Any) -> None:
        rows = {part: i for i, part in enumerate(dict.fromkeys(mixed.parts))}  # rows of grids
        self.grids: NDArray[Any] = np.concatenate([_grid(part) for part in rows])
        # by body, then outside of D_k and on it, then by operation
        kinds = [by_operation(kind) for kind in (mixed, *(other for _, other in mixed.bodies))]
        self.result, self.operand = (
            np.array([[[rows[p] for p in each] for each in kind[k]] for kind in kinds], dtype=np.int8)
            for k in range(2)
        )
        self.tape: Any | None = tape if mixed.on_tapes else None
        self.kind_of: NDArray[np.int64] | None = mixed.kind_of(tape.inputs.names) if mixed.bodies else None
        self.done: int = 0  # operations of earlier chunks

    def record(
        self, chunk: Chunk, v: NDArray[Any], x: NDArray[Any], y: NDArray[Any], r: NDArray[Any]
    ) -> None:
        """x and y are the operands before they are rounded to the operation's format."""
        from . import grids

        inside: Any = 0
        kind: Any = 0
        here = self.done, self.done + len(chunk)
        if self.tape is not None:
            inside = self.tape.on_diagonal(*here).astype(np.int8)
            if self.kind_of is not None:
                kind = self.kind_of[self.tape.bodies(*here, chunk.step)]
        which = kind, inside, chunk.op
        result, operand = self.result[which], self.operand[which]
        grids.rounded(chunk, v, result, operand, self.grids, self.done, (x, y, r))
        self.done += len(chunk)


def _grid(part: Format) -> NDArray[Any]:
    if isinstance(part, Binary):
        return part.grid
    if part.dtype is np.float32:
        return Binary("float32", 24).grid
    from . import grids

    native = np.zeros(1, dtype=grids.GRID)
    native["mode"] = grids.NATIVE
    return native


# written by a user -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Custom(Format):
    """A format that a user writes; it can stand wherever a format's name can.

    ``operate`` is one of

    * a function ``operate(op, x, y) -> float``: op is ADD, SUB, MUL, DIV or SQRT of
      :mod:`kkt.arithmetic` and x, y are float64.  Compiled by numba.njit, it runs in a compiled
      loop; otherwise it is called for every operation;
    * a class of numbers with + - * / and negation, made from a float: Decimal, a posit, an
      interval.  Orders that take roots call a method sqrt(), and the error needs float().

    ``datum`` rounds one entry of (4); where it is None, the class is called with the float, or
    the function as ``operate(SUB, x, 0.0)``, which keeps the sign of a zero.  Raises FormatError
    for a unit roundoff that is not between 0 and 1, and for an ``operate`` that cannot be called.

    >>> from decimal import Decimal
    >>> from pivotree.kkt.arithmetic import Custom
    >>> system, abm = pt.build(pt.chain(3)), pt.orderings.get("abm")
    >>> found = pt.eliminate(system, abm, Custom("decimal", 1e-28, Decimal))
    >>> type(found.qdd[0]).__name__
    'Decimal'
    """

    name: str
    unit: float  # unit roundoff; it says how many digits an answer can have
    operate: Callable[..., Any]
    datum: Callable[[float], Any] | None = None  # rounds one entry of (4)
    kind: str = field(default="", init=False)  # "float" or "object"
    dtype: type | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        where = f"format {self.name!r}"
        if not isinstance(self.unit, float) or not 0.0 < self.unit < 1.0:
            told = "give the unit roundoff, a number between 0 and 1 such as 2.0**-24"
            raise FormatError(where, f"unit is {self.unit!r}", told)
        if not callable(self.operate):
            told = "give a function operate(op, x, y) or a class of numbers"
            raise FormatError(where, f"operate is {self.operate!r}", told)
        objects = isinstance(self.operate, type)
        object.__setattr__(self, "kind", "object" if objects else "float")
        object.__setattr__(self, "dtype", None if objects else np.float64)

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        values = np.asarray(x, dtype=float)
        one = self.datum or (self.operate if self.kind == "object" else lambda x: self.operate(SUB, x, 0.0))
        with foreign(f"format {self.name!r}", FormatError):
            found = each(one, values)
            return found.astype(float) if self.kind == "float" else found

    def runner(self, tape: Any) -> Runner:
        """Calls the user's function for every operation."""
        loop = _compiled_loop() if hasattr(self.operate, "py_func") else _loop  # by numba
        return Runner(foreign(f"format {self.name!r}", FormatError)(partial(loop, self.operate)))


@cache
def _compiled_loop() -> Callable[..., None]:
    from numba import njit

    return njit(_loop)


def _loop(operate, op, dst, a, b, v, xs, ys, rs):
    keep = len(xs) > 0
    for i in range(len(op)):
        x, y = v[a[i]], v[b[i]]
        r = operate(op[i], x, y)
        v[dst[i]] = r
        if keep:
            xs[i], ys[i], rs[i] = x, y, r


# by name ----------------------------------------------------------------------------------------

Read = Callable[[str], Format]  # the format of a part's name


def by_role(name: str, read: Read) -> Format:
    """A base and formats of roles, as in float32+mul=bfloat16+D=float64."""
    base, *overrides = name.split("+")
    if not base:
        raise FormatError(f"format {name!r}", "has no base", "use float32+mul=bfloat16")
    told = f"use {base}+mul=bfloat16, with one of the roles {', '.join(ROLES)} each"
    return Mixed(name, read(base), **_parts(name, read, overrides, ROLES, "role", "", told))


def by_body(name: str, read: Read) -> Format:
    """A format and others of bodies, as in float32@torso=float64@hand=p20+add=float32."""
    rest, *others = name.split("@")
    if not rest:
        raise FormatError(f"format {name!r}", "has no format before @", "use float32@torso=float64")
    bodies = tuple(
        _parts(name, read, others, None, "body", "@", f"use {rest}@torso=float64, once a body").items()
    )
    default = read(rest)
    if isinstance(default, Mixed):
        return replace(default, name=name, bodies=bodies)
    return Mixed(name, default, bodies=bodies)


def _parts(
    name: str, read: Read, given: list[str], known: Sequence[str] | None, what: str, sign: str, told: str
) -> dict[str, Any]:
    """Formats by role or by body, as ``given`` has them: mul=bfloat16; ``known`` are all there are."""
    parts: dict[str, Any] = {}
    for text in given:
        key, _, value = text.partition("=")
        if not key or not value or key in parts or (known is not None and key not in known):
            wrong = "is given twice" if key in parts else f"is no {what} and format"
            raise FormatError(f"format {name!r}", f"{sign + text!r} {wrong}", told)
        parts[key] = read(value)
    return parts
