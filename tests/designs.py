"""Products of orders, models and formats: CI tests a covering design, and all the rest is soak."""

from itertools import product

import pytest


def covering(*axes, unmarked=2):
    """All combinations of the axes' values as pytest's parameters, marked for what they are.

    Case i of the design takes value i of every axis, shorter axes over and over, so that it meets
    each value of each axis.  Its first cases have no mark, the rest of them are ``product``, and all
    other combinations are ``soak``.
    """
    axes = [list(axis) for axis in axes]
    design = [tuple(axis[i % len(axis)] for axis in axes) for i in range(max(map(len, axes)))]
    for i, case in enumerate(design):
        yield pytest.param(*case, marks=() if i < unmarked else pytest.mark.product)
    for case in product(*axes):
        if case not in design:
            yield pytest.param(*case, marks=pytest.mark.soak)
