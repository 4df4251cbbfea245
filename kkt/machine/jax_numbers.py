"""JAX arrays behind numpy's protocols, so that the formulas of (4) run on them unchanged.

Poses, bias and transforms are written once, for arrays of doubles, fractions or traced scalars
(:mod:`kkt.model.spatial`, :mod:`kkt.matrix.bias`).  ``Numbers`` maps numpy's functions to those of
``jax.numpy``, and allows assignments, which a JAX array does not.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Numbers(NDArrayOperatorsMixin):
    """A JAX array for numpy's functions and for assignments; constants get its precision."""

    dtype = np.dtype(object)  # as for fractions, so that compiled code for doubles is not used

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.x.shape)

    @property
    def ndim(self) -> int:
        return int(self.x.ndim)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def __getitem__(self, place: Any) -> Numbers:
        return Numbers(self.x[place])

    def __setitem__(self, place: Any, value: Any) -> None:
        self.x = self.x.at[place].set(_bare(value, self.x.dtype))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        (out,) = options.pop("out", (None,))  # given by x += y, where it is x
        if method != "__call__" or options or not (out is None or out is inputs[0]):
            return NotImplemented
        found = _called(ufunc.__name__, inputs, {})
        if out is None:
            return found
        self.x = found.x
        return self

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _called(function.__name__, args, options)


def _called(name: str, args: tuple, options: dict[str, Any]) -> Numbers:
    leaves = jax.tree.leaves((args, options), is_leaf=lambda x: isinstance(x, Numbers))
    dtype = jnp.result_type(*(x.x for x in leaves if isinstance(x, Numbers)))
    bare = jax.tree.map(lambda x: _bare(x, dtype), (args, options), is_leaf=lambda x: isinstance(x, Numbers))
    return Numbers(getattr(jnp, name)(*bare[0], **bare[1]))


def _bare(value: Any, dtype: Any) -> Any:
    """The JAX array of ``value``, or a float64 array in the precision ``dtype``; else ``value``."""
    if isinstance(value, Numbers):
        return value.x
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return jnp.asarray(value, dtype)
    return value
