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
    rest = [case for case in product(*axes) if case not in design]
    marks = [()] * unmarked + [pytest.mark.product] * (len(design) - unmarked)
    marks += [pytest.mark.soak] * len(rest)
    return [pytest.param(*case, marks=mark) for case, mark in zip(design + rest, marks, strict=True)]


def listed(cases, unmarked=2, rest=pytest.mark.product):
    """Cases, each a value or a tuple of values: the first have no mark, the others this one."""
    cases = [case if isinstance(case, tuple) else (case,) for case in cases]
    few = [pytest.param(*case) for case in cases[:unmarked]]
    return few + [pytest.param(*case, marks=rest) for case in cases[unmarked:]]
