"""A number format that a user writes: one function of an operation, or a class of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import FormatError
from ..base.foreign import foreign
from .formats import SUB, Format, Runner


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
        if not isinstance(self.unit, float) or not 0.0 < self.unit < 1.0:
            raise FormatError(
                f"format {self.name!r}",
                f"unit is {self.unit!r}",
                "give the unit roundoff, a number between 0 and 1 such as 2.0**-24",
            )
        if not callable(self.operate):
            raise FormatError(
                f"format {self.name!r}",
                f"operate is {self.operate!r}",
                "give a function operate(op, x, y) or a class of numbers",
            )
        objects = isinstance(self.operate, type)
        object.__setattr__(self, "kind", "object" if objects else "float")
        object.__setattr__(self, "dtype", None if objects else np.float64)

    def cast(self, x: NDArray[Any]) -> NDArray[Any]:
        values = np.asarray(x, dtype=float)
        one = self.datum or (self.operate if self.kind == "object" else lambda x: self.operate(SUB, x, 0.0))
        with foreign(f"format {self.name!r}", FormatError):
            flat = [one(value) for value in values.ravel().tolist()]
            if self.kind == "float":
                return np.array(flat, dtype=float).reshape(values.shape)
        return np.array([*flat, None], dtype=object)[:-1].reshape(values.shape)

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
