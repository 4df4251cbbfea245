"""Spatial algebra on stacks."""

import numpy as np

from pivotree.kkt.model.spatial import matvec


def test_long_stacks_have_the_bits_of_short_ones():
    draw = np.random.default_rng(1)
    a, x = draw.normal(size=(2500, 6, 6)), draw.normal(size=(2500, 6))
    short = np.concatenate([matvec(a[i : i + 100], x[i : i + 100]) for i in range(0, 2500, 100)])
    np.testing.assert_array_equal(matvec(a, x), short)
