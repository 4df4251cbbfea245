"""Tuples of arrays, and of such tuples, in compiled loops, whose references need not be counted."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic


def _borrowed(context, arrays):  # pragma: no cover
    """The same named tuple of arrays without a count of references.

    Counts would be kept up in every call, by all threads in the same place.  The caller holds the
    arrays.
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
