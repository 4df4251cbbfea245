"""Tuples of arrays in compiled loops, whose references need not be counted."""

from __future__ import annotations

from typing import Any

from numba.extending import intrinsic


def _borrowed(context, arrays):  # pragma: no cover
    """The same named tuple of arrays without a count of references.

    Counts would be kept up in every call, by all threads in the same place.  The caller holds the
    arrays.
    """

    def code(target, builder, signature, arguments):
        result = arguments[0]
        for i, kind in enumerate(signature.args[0].types):
            array = target.make_array(kind)(target, builder, builder.extract_value(result, i))
            array.meminfo = array.meminfo.type(None)
            result = builder.insert_value(result, array._getvalue(), i)
        return result

    return arrays(arrays), code


borrowed: Any = intrinsic(_borrowed)
