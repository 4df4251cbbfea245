"""Conversion of states to the arrays that a program reads, with checks, and of its outputs back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.errors import ModelError
from ..tape.derivatives import DERIVED


@dataclass(frozen=True)
class Fields:
    """Names and shapes of a kernel's inputs and outputs, for one state."""

    n: int  # bodies
    N: int  # degrees of freedom
    nx: int  # configuration numbers
    wrench: bool  # whether external wrenches are an input
    outputs: tuple[str, ...]
    rows: int = 0  # multipliers of loops and contacts

    @cached_property
    def given(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs, in the order in which the program takes them."""
        shapes: dict[str, tuple[int, ...]] = {"x": (self.nx,), "qd": (self.N,), "tau": (self.N,)}
        return {**shapes, "wrench": (self.n, 6)} if self.wrench else shapes

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of one state in each input."""
        return tuple(int(np.prod(shape)) for shape in self.given.values())

    @cached_property
    def made(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all outputs that a kernel can have."""
        n, N = self.n, self.N
        six = {"pdd": (n, 6), "f": (n, 6)}
        derived = {name: (N if of == "qdd" else self.rows, N) for name, (of, _) in DERIVED.items()}
        own = {"qdd": (N,), "inertia": (N, N), "lambda": (self.rows,), "status": ()}
        return {**own, **six, **derived}

    def size_of(self, output: str) -> int:
        """Numbers of one state in an output."""
        return int(np.prod(self.made[output]))

    @cached_property
    def numbers(self) -> int:
        """Numbers of one state in all outputs."""
        return sum(map(self.size_of, self.outputs))

    def arrays(self, dtype: Any, values: dict[str, Any]) -> tuple[list[NDArray[Any]], int | None]:
        """Contiguous arrays (m, ...) of the inputs, and m; arrays (1, ...) and None for one state.

        tau and wrench are zero where None.  Raises ModelError for a wrong shape and for values that
        are not real numbers; :meth:`require_finite` refuses those that are not finite.
        """
        if values["wrench"] is not None and not self.wrench:
            raise ModelError(
                "state",
                "'wrench' is given, but is no input of this kernel",
                "compile it with inputs=('wrench',)",
            )
        many: int | None = None
        arrays = []
        for name, shape in self.given.items():
            value = values[name]
            if value is None and name in ("tau", "wrench"):
                value = np.zeros(shape)
            array = real_numbers(name, value, dtype)
            stacked = array.ndim == len(shape) + 1
            if array.shape[stacked:] != shape:
                wanted = " x ".join(map(str, shape))
                raise ModelError(
                    "state",
                    f"field {name!r} has shape {array.shape}",
                    f"give {wanted} numbers, or m x {wanted} for m states",
                )
            if stacked and many not in (None, len(array)):
                raise ModelError(
                    "state",
                    f"field {name!r} has {len(array)} states, and another {many}",
                    "give as many of each, or one for all",
                )
            many = len(array) if stacked else many
            arrays.append(array)
        count = 1 if many is None else many
        whole = []
        for array, shape in zip(arrays, self.given.values(), strict=True):
            if array.ndim == len(shape):
                array = array[None] if count == 1 else np.broadcast_to(array, (count, *shape))
            whole.append(np.ascontiguousarray(array))
        return whole, many

    def require_finite(self, arrays: list[NDArray[Any]]) -> None:
        """Raise ModelError, naming the field, where a number is not finite in the format."""
        for name, array in zip(self.given, arrays, strict=True):
            wrong = np.argwhere(~np.isfinite(array))
            if len(wrong):
                state, *at = wrong[0].tolist()
                raise ModelError(
                    "state",
                    f"field {name!r} holds {array[state][tuple(at)]} at {at}, state {state}",
                    f"give finite numbers in the range of {array.dtype}",
                )

    def shaped(self, values: NDArray[Any]) -> Any:
        """Results (..., all numbers) split into outputs: an array, or a tuple for several outputs."""
        found = list[Any]()
        for part, shape in self._parts:
            own = values[..., part]
            if len(shape) > 1:
                own = own.reshape(*own.shape[:-1], *shape)
            found.append(own if shape else _whole(own[..., 0]))
        return tuple(found) if len(found) > 1 else found[0]

    @cached_property
    def _parts(self) -> list[tuple[slice, tuple[int, ...]]]:
        """The slice of each output in the results, and its shape."""
        stops = np.cumsum([0, *map(self.size_of, self.outputs)]).tolist()
        return [(slice(i, j), self.made[x]) for (i, j), x in zip(pairwise(stops), self.outputs, strict=True)]


def _whole(status: Any) -> Any:
    """A status, or those of many states, as whole numbers."""
    return status.astype(np.int32) if status.ndim else int(status)


def real_numbers(name: str, value: Any, dtype: Any) -> NDArray[Any]:
    """A field's values as an array; raises ModelError where they are not real numbers."""
    if type(value) is np.ndarray and value.dtype == dtype:  # the common case, without a copy
        return value
    try:
        array = np.asarray(value)
        # numpy would convert complex numbers, dates and records, and would drop a mask
        if array.dtype.kind in "cmMV" or np.ma.is_masked(value):
            raise TypeError
        with np.errstate(over="ignore"):
            return np.asarray(array, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ModelError("state", f"field {name!r} holds no real numbers", "give an array") from None
