"""Nested tuples of arrays that compiled loops use without counting references."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _borrowed(context, arrays):  # pragma: no cover
    """The same named tuple of arrays, without reference counts.

    Otherwise every call would change the counts, and all threads would write to the same memory.
    The caller must hold the arrays.
    """

    def lend(target, builder, kinds, result):
        for i, kind in enumerate(kinds.types):
            part = builder.extract_value(result, i)
            if isinstance(kind, types.BaseTuple):
                part = lend(target, builder, kind, part)
            else:
                array = target.make_array(kind)(target, builder, part)
                array.meminfo = array.meminfo.type(None)
                part = array._getvalue()
            result = builder.insert_value(result, part, i)
        return result

    def code(target, builder, signature, arguments):
        return lend(target, builder, signature.args[0], arguments[0])

    return arrays(arrays), code


borrowed: Any = intrinsic(_borrowed)
