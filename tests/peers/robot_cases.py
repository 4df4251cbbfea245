"""Robots of files on a fixed base and floating, fixed joints kept or merged: which of these CI reads."""

from itertools import product

import pytest


def readings(names, floating_only=()):
    """(name, floating, merged): each robot on both bases, kept on the one and merged on the other.

    Its two other readings are soak.
    """
    found = []
    for (k, name), floats, merged in product(enumerate(names), (False, True), (False, True)):
        if floats or name not in floating_only:
            told = f"{name}-{('fixed', 'floating')[floats]}-{('kept', 'merged')[merged]}"
            marks = [pytest.mark.soak] if (k + floats + merged) % 2 else []
            found.append(pytest.param(name, floats, merged, id=told, marks=marks))
    return found
